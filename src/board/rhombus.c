/*
 * rhombus.c - the board of the game of Hex: an N x N rhombus of hexagonal cells, with four
 * transforms. The two reflections exchange the sides that the players join, so that they are
 * symmetries only together with an exchange of the colours; what that does to planes and labels is
 * for the conventions to say.
 */
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>

#define RHOMBUS_MAX_SIDE 256

/* A reflection exchanges the goal edges of the players, so it must exchange the colours too. */
static const struct board_element elements[4] = {
    {"identity", {1, 0, 0, 1}, false},
    {"rotate-180", {-1, 0, 0, -1}, false},
    {"long-diagonal-swap", {0, 1, 1, 0}, true},
    {"short-diagonal-swap", {0, -1, -1, 0}, true},
};

static const struct board_step steps[3] = {{0, 1}, {1, 0}, {1, -1}};
static const struct board_box box = {elements, 4, steps, 3, NULL, 2, 0, RHOMBUS_MAX_SIDE};

static const struct action_layout *const layouts[] = {
    &action_layout_cells,
    &action_layout_cells_pass,
};

/* Stones, stones and the player to move, or OpenSpiel's planes. */
static unsigned guess(const struct board_seen *seen, char *name, size_t n_bytes)
{
    if (!board_seen_is_square(seen) ||
        (!seen->any_planes && seen->n_planes != 2 && seen->n_planes != 3 && seen->n_planes != 9))
        return 0;
    snprintf(name, n_bytes, "rhombus:%" PRIu64, seen->rows);
    return 2;
}

const struct board_family board_family_rhombus = {
    .name = "rhombus",
    .syntax = "rhombus:N",
    .summary = "the game of Hex on N x N cells, 4 transforms, two of which swap colours",
    .example = "rhombus:5",
    .box = &box,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .lead = BOARD_LEAD_TO_MOVE,
    .joins_edges = true,
    .guess = guess,
    .game = BOARD_GAME_HEX,
};
