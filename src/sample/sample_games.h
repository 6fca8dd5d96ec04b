/*
 * sample_games.h - which game, and which ply of it, a row of a sample is.
 */
#ifndef SYMAUG_SAMPLE_SAMPLE_GAMES_H
#define SYMAUG_SAMPLE_SAMPLE_GAMES_H

#include "sample/play.h"

/* The games that a sample needs. Const while rows are made. */
struct sample_games {
    const struct play *play; /* borrowed */
    uint64_t n_rows;
    uint64_t *first_row; /* owned: of each game, ascending */
    uint64_t n_games;
};

/* Play games until there are n_rows rows. The caller releases it. */
int sample_games_init(struct sample_games *games, const struct play *play, uint64_t n_rows,
                      struct error *err);

/* The game that row (< n_rows) belongs to. */
uint64_t sample_games_find(const struct sample_games *games, uint64_t row);

/* Free it; accepts a zeroed one. */
void sample_games_release(struct sample_games *games);

#endif
