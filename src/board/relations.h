/*
 * relations.h - the edges and lines of a board, sorted so that images can be looked up. Only
 * src/board uses this.
 */
#ifndef SYMAUG_BOARD_RELATIONS_H
#define SYMAUG_BOARD_RELATIONS_H

#include "base/error.h"
#include "board/board.h"

#include <stdint.h>

/* A line as a set: its cells in ascending order. */
struct relations_line {
    const uint32_t *cells; /* borrowed from relations.cells */
    uint32_t n_cells;
};

struct relations {
    const struct board *board;    /* borrowed */
    uint64_t *edges;              /* owned, board->n_edges keys, ascending */
    struct relations_line *lines; /* owned, board->n_lines, ascending */
    uint32_t *cells;              /* owned: the cells of all lines, ascending in each */
    uint32_t *scratch;            /* owned: room for the image of a line */
};

int relations_init(struct relations *r, const struct board *board, struct error *err);

/* Free it; accepts a zeroed one. */
void relations_release(struct relations *r);

/* How many edges a cell map takes to edges. *lost is the index of the first it does not. */
uint32_t relations_edges_kept(const struct relations *r, const uint32_t *dst, uint32_t *lost);

/* How many lines a cell map takes to lines, as sets of cells. *lost as above. */
uint32_t relations_lines_kept(struct relations *r, const uint32_t *dst, uint32_t *lost);

#endif
