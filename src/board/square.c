/*
 * square.c - square boards and their eight transforms, as matrices about the centre; and the family
 * `katago`, the same square with the rules of KataGo's shards: its size comes from the shard, a
 * policy ends in a pass, nothing is added to the members.
 */
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>

/* The largest N with N * N cells allowed. */
#define SQUARE_MAX_SIDE 256

/* By id: (row, col) from the centre goes to (rr, rc; cr, cc) times it. */
static const struct board_element elements[8] = {
    {"identity", {1, 0, 0, 1}, false},           {"rotate-90", {0, 1, -1, 0}, false},
    {"rotate-180", {-1, 0, 0, -1}, false},       {"rotate-270", {0, -1, 1, 0}, false},
    {"mirror-left-right", {1, 0, 0, -1}, false}, {"mirror-up-down", {-1, 0, 0, 1}, false},
    {"transpose", {0, 1, 1, 0}, false},          {"anti-transpose", {0, -1, -1, 0}, false},
};

const struct board_box board_box_square = {elements, 8, board_steps_orthogonal, 2, NULL,
                                           2,        0, SQUARE_MAX_SIDE};

static const struct action_layout *const layouts[] = {
    &action_layout_cells,
    &action_layout_cells_pass,
    &action_layout_ringrift,
};

static const struct board_shape shapes[] = {
    {"square8", 8, 8, 7000, true}, {"square19", 19, 19, 67000, true},
    {"tictactoe", 3, 3, 0, false}, {"gomoku15", 15, 15, 225, false},
    {NULL, 0, 0, 0, false},
};

static unsigned guess(const struct board_seen *seen, char *name, size_t n_bytes)
{
    if (!board_seen_is_square(seen))
        return 0;
    snprintf(name, n_bytes, "square:%" PRIu64, seen->rows);
    return 1;
}

const struct board_family board_family_square = {
    .name = "square",
    .syntax = "square:N",
    .summary = "N x N cells, 8 transforms: rotations and mirrors (Go, Gomoku, Othello, TicTacToe)",
    .example = "square:5",
    .box = &board_box_square,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .lead = BOARD_LEAD_FREE,
    .xy_layout = &action_layout_ringrift,
    .shapes = shapes,
    .guess = guess,
    .game = BOARD_GAME_LINE,
    .stack_planes = {56},
};

/* --- KataGo's shards: the square they were written for; engines are built for 19 unless told
 * otherwise --- */

static int build_katago(struct board *b, const char *size, struct error *err)
{
    if (size == NULL || *size == '\0')
        return error_set(err, ERROR_USAGE,
                         "board katago takes its size from the shard: without one write %s, such "
                         "as %s",
                         b->family->syntax, b->family->example);
    return board_build_sized(b, size, err);
}

/* The engine's policies always end in a pass. */
static const struct action_layout *const layouts_katago[] = {
    &action_layout_cells_pass,
    &action_layout_cells,
};

const struct board_family board_family_katago = {
    .name = "katago",
    .syntax = "katago:L",
    .summary = "KataGo training shards, L x L cells, 8 transforms; L is read from the shard",
    .example = "katago:5",
    .box = &board_box_square,
    .build = build_katago,
    .layouts = layouts_katago,
    .n_layouts = sizeof layouts_katago / sizeof layouts_katago[0],
    .only_known_members = true,
    .game = BOARD_GAME_KATAGO,
    .packed_stones = 1,
};
