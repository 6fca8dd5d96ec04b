/*
 * sample_pieces.h - pieces of a sample's arrays: rows are drawn when they are asked for.
 */
#ifndef SYMAUG_SAMPLE_SAMPLE_PIECES_H
#define SYMAUG_SAMPLE_SAMPLE_PIECES_H

#include "sample/play.h"
#include "write/member.h"

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

/*
 * Pieces of one array: of rows of row_nbytes, of pickled items, or of a header that holds the text.
 * All borrowed (they must outlive the pieces), but for `header`, the .npy header, which is taken
 * over and zeroed.
 */
struct pieces *sample_pieces_new(const struct sample_games *games, const struct play_array *array,
                                 uint64_t row_nbytes, struct bytes *header, struct error *err);

#endif
