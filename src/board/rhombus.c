/* rhombus.c - the board of the game of Hex: an N x N rhombus of hexagonal cells. */
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>

#define RHOMBUS_MAX_SIDE 256

/* A reflection exchanges the goal edges of the players, so it must exchange the colours too. */
static const struct {
    const char *name;
    bool swaps_colours;
    struct board_turn turn;
} elements[4] = {
    {"identity", false, {1, 0, 0, 1}},
    {"rotate-180", false, {-1, 0, 0, -1}},
    {"long-diagonal-swap", true, {0, 1, 1, 0}},
    {"short-diagonal-swap", true, {0, -1, -1, 0}},
};

static const struct board_step steps[] = {{0, 1}, {1, 0}, {1, -1}};

static int build(struct board *b, const char *size, struct error *err)
{
    uint32_t n;

    if (board_parse_number(b, size, 2, RHOMBUS_MAX_SIDE, &n, err) != 0)
        return -1;
    if (board_set_name(b, err, "%s:%u", b->family->name, n) != 0 ||
        board_alloc(b, n, n, 4, err) != 0 ||
        board_set_edges(b, steps, sizeof steps / sizeof steps[0], err) != 0)
        return -1;
    b->size = n;
    for (uint32_t t = 0; t < 4; t++) {
        if (board_set_transform_name(b, t, elements[t].name, err) != 0)
            return -1;
        b->transforms[t].swaps_colours = elements[t].swaps_colours;
        board_set_turn(b, t, &elements[t].turn);
    }
    return 0;
}

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
    .build = build,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .lead = BOARD_LEAD_TO_MOVE,
    .joins_edges = true,
    .guess = guess,
    .game = BOARD_GAME_HEX,
};
