/*
 * hexagon.c - hexagonal boards of radius R in a box of side 2R + 1, for RingRift: six turns of 60
 * degrees and their mirror images, as matrices on axial coordinates. Cells in two corners of the
 * box are off board and stay in place under every transform.
 */
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The largest R with (2R + 1)^2 cells allowed. */
#define HEXAGON_MAX_RADIUS 127

/* With axial coordinates q to the right and r down, ids 0-5 are that many turns of 60 degrees,
 * (q, r) to (-r, q + r); ids 6-11 the same, then q and r exchanged. */
static const struct board_element elements[12] = {
    {"identity", {1, 0, 0, 1}, false},     {"rotate-60", {1, 1, -1, 0}, false},
    {"rotate-120", {0, 1, -1, -1}, false}, {"rotate-180", {-1, 0, 0, -1}, false},
    {"rotate-240", {-1, -1, 1, 0}, false}, {"rotate-300", {0, -1, 1, 1}, false},
    {"reflect-0", {0, 1, 1, 0}, false},    {"reflect-1", {-1, 0, 1, 1}, false},
    {"reflect-2", {-1, -1, 0, 1}, false},  {"reflect-3", {0, -1, -1, 0}, false},
    {"reflect-4", {1, 0, -1, -1}, false},  {"reflect-5", {1, 1, 0, -1}, false},
};

static bool is_on_board(const struct board *b, int row, int col)
{
    return abs(row + col - 2 * (int)b->size) <= (int)b->size;
}

static const struct board_step steps[3] = {{0, 1}, {1, 0}, {1, -1}};
const struct board_box board_box_hexagon = {elements,    12, steps, 3,
                                            is_on_board, 1,  0,     HEXAGON_MAX_RADIUS};

static const struct action_layout *const layouts[] = {
    &action_layout_cells_box,        &action_layout_cells_board, &action_layout_cells_box_pass,
    &action_layout_cells_board_pass, &action_layout_ringrift,
};

static const struct board_shape shapes[] = {
    {"hex8", 9, 9, 4132, true},        {"hex8", 9, 9, 4500, true},
    {"hex8", 9, 9, 61, false},         {"hexagonal", 25, 25, 91876, true},
    {"hexagonal", 25, 25, 469, false}, {NULL, 0, 0, 0, false},
};

/* A policy of this family has one of the shapes above, or one that does not tell. */
static unsigned guess(const struct board_seen *seen, char *name, size_t n_bytes)
{
    if (seen->rows != seen->cols || seen->rows % 2 == 0 || seen->n_actions != 0)
        return 0;
    snprintf(name, n_bytes, "hexagon:%" PRIu64, seen->rows / 2);
    return 3;
}

const struct board_family board_family_hexagon = {
    .name = "hexagon",
    .syntax = "hexagon:R",
    .summary = "a hexagon of radius R (side R + 1) in a box of side 2R + 1, 12 transforms",
    .example = "hexagon:3",
    .box = &board_box_hexagon,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .lead = BOARD_LEAD_FREE,
    .shapes = shapes,
    .guess = guess,
    .game = BOARD_GAME_RINGS,
    .stack_planes = {40, 64},
};
