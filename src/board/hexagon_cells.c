/* hexagon_cells.c - the layouts of a hexagon that number its on-board cells in row-major order. */
#include "board/families.h"

#include <stdio.h>

/* On-board cells in the rows above `row`; each row of the upper half is one longer than the last.
 */
static uint32_t cells_above(const struct board *b, uint32_t row)
{
    const uint32_t radius = b->size;
    const uint32_t below = b->rows - row;

    if (row <= radius)
        return row * (radius + 1) + row * (row - 1) / 2;
    return b->n_on_board - (below * (radius + 1) + below * (below - 1) / 2);
}

/* The first on-board column of a row. */
static uint32_t first_column(const struct board *b, uint32_t row)
{
    return row < b->size ? b->size - row : 0;
}

static uint32_t rank_of(const struct board *b, uint32_t at)
{
    const uint32_t row = at / b->cols;

    return cells_above(b, row) + at % b->cols - first_column(b, row);
}

static uint32_t cell_of(const struct board *b, uint32_t rank)
{
    uint32_t row = 0;

    while (cells_above(b, row + 1) <= rank)
        row++;
    return row * b->cols + first_column(b, row) + rank - cells_above(b, row);
}

static uint64_t length(const struct board *b)
{
    return b->n_on_board;
}

static uint64_t length_pass(const struct board *b)
{
    return (uint64_t)b->n_on_board + 1;
}

static uint64_t image(const struct board *b, uint32_t t, uint64_t action)
{
    if (action == b->n_on_board)
        return action;
    return rank_of(b, b->transforms[t].dst[cell_of(b, (uint32_t)action)]);
}

static unsigned flags(const struct board *b, uint64_t action)
{
    return action == b->n_on_board ? ACTION_ENCODABLE : ACTION_ENCODABLE | ACTION_PLACEMENT;
}

static int64_t cell(const struct board *b, uint64_t action)
{
    return action == b->n_on_board ? -1 : (int64_t)cell_of(b, (uint32_t)action);
}

static void describe(const struct board *b, uint64_t action, char *text, size_t n_bytes)
{
    char at[32];

    if (action == b->n_on_board) {
        snprintf(text, n_bytes, "pass");
        return;
    }
    board_cell_text(b, cell_of(b, (uint32_t)action), at, sizeof at);
    snprintf(text, n_bytes, "play at %s", at);
}

const struct action_layout action_layout_cells_board = {
    .name = "cells-board",
    .summary = "one entry per on-board cell, in row-major order",
    .length = length,
    .image = image,
    .flags = flags,
    .cell = cell,
    .describe = describe,
};

const struct action_layout action_layout_cells_board_pass = {
    .name = "cells-board+pass",
    .summary = "one entry per on-board cell, in row-major order, then pass",
    .length = length_pass,
    .image = image,
    .flags = flags,
    .cell = cell,
    .describe = describe,
};
