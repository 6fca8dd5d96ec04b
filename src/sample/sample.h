/*
 * sample.h - a synthetic shard: games played at random, in the form their programs write.
 */
#ifndef SYMAUG_SAMPLE_SAMPLE_H
#define SYMAUG_SAMPLE_SAMPLE_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>

#define SAMPLE_MAX_ROWS UINT64_C(1000000000)

struct sample_settings {
    const char *board; /* borrowed: a name for board_new */
    uint64_t n_rows;   /* at most SAMPLE_MAX_ROWS */
    uint64_t seed;
    bool force; /* replace an existing output */
    int n_threads;
};

/* What was written. */
struct sample_result {
    uint64_t n_games;
    uint64_t unpacked_nbytes;
    uint64_t n_bytes; /* of the file */
};

/*
 * Write a shard of n_rows rows, consecutive positions of one game after another (the last game may
 * be cut short), to an .npz file at path. The bytes depend on board, n_rows and seed alone. Memory:
 * 8 bytes for each game, and a few pieces for each thread.
 */
int sample_write(const char *path, const struct sample_settings *settings,
                 struct sample_result *result, struct error *err);

#endif
