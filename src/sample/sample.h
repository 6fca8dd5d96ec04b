/*
 * sample.h - synthetic shards: games played at random, stored as the programs for each game do.
 */
#pragma once

#include "engine/settings.h"

/* What was written. */
struct sample_result {
    uint64_t n_games;
    uint64_t unpacked_nbytes;
    uint64_t n_bytes; /* of the file */
};

/*
 * Write settings->n_rows rows to an .npz file: the consecutive positions of one game after another,
 * of which the last may be cut short. The bytes depend on board, n_rows and seed alone. Memory: 8
 * bytes for each game, and a few pieces for each thread.
 */
int sample_write(const char *path, const struct settings *settings, struct sample_result *result,
                 struct error *err);
