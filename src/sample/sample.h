/*
 * sample.h - a synthetic shard: games played at random, in the form their programs write.
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
 * Write a shard of settings->n_rows rows, consecutive positions of one game after another (the last
 * game may be cut short), to an .npz file at path. The bytes depend on board, n_rows and seed
 * alone. Memory: 8 bytes for each game, and a few pieces for each thread.
 */
int sample_write(const char *path, const struct settings *settings, struct sample_result *result,
                 struct error *err);

struct play;

/* Decide what is played on a board, which is borrowed. */
void play_init(struct play *play, const struct board *board, uint64_t seed);
