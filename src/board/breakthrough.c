/*
 * breakthrough.c - Breakthrough: H x W squares; the first player goes down to the last row, the
 * second up to the first, so that what turns the board upside down exchanges the colours too. The
 * policy is OpenSpiel's: of every square six steps (down, then up, each to the left, ahead, to the
 * right), and each with and without a capture.
 */
#include "board/families.h"

#include <stdio.h>

#define N_STEPS 6
#define N_KINDS (2 * N_STEPS)

static const struct board_element elements[4] = {
    {"identity", {1, 0, 0, 1}, false},
    {"rotate-180-swap", {-1, 0, 0, -1}, true},
    {"mirror-left-right", {1, 0, 0, -1}, false},
    {"mirror-up-down-swap", {-1, 0, 0, 1}, true},
};

static const struct board_step neighbours[4] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
static const struct board_box box = {elements, 4, neighbours, 4, NULL, 2, 2, 0};

static const struct board_step steps[N_STEPS] = {{1, -1},  {1, 0},  {1, 1},
                                                 {-1, -1}, {-1, 0}, {-1, 1}};

static uint64_t length(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return (uint64_t)b->n_cells * N_KINDS;
}

static uint64_t image(const struct action_layout *layout, const struct board *b, uint32_t t,
                      uint64_t action)
{
    const struct board_turn *turn = &elements[t].turn;
    const struct board_step *from = &steps[action % N_KINDS / 2];
    uint64_t to = 0;

    (void)layout;
    while (steps[to].rows != turn->rr * from->rows || steps[to].cols != turn->cc * from->cols)
        to++;
    return b->transforms[t].dst[action / N_KINDS] * (uint64_t)N_KINDS + 2 * to + action % 2;
}

/* The cell that the action goes to, or -1. */
static int64_t target(const struct board *b, uint64_t action)
{
    const struct board_step *step = &steps[action % N_KINDS / 2];
    const int64_t row = (int64_t)(action / N_KINDS / b->cols) + step->rows;
    const int64_t col = (int64_t)(action / N_KINDS % b->cols) + step->cols;

    return row < 0 || row >= b->rows || col < 0 || col >= b->cols ? -1 : row * b->cols + col;
}

static unsigned flags(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    const bool is_straight = steps[action % N_KINDS / 2].cols == 0;

    (void)layout;
    return target(b, action) >= 0 && !(is_straight && action % 2 == 1) ? ACTION_ENCODABLE : 0;
}

static int64_t cell(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    (void)layout, (void)b;
    return (int64_t)(action / N_KINDS);
}

static const char *kind(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    (void)layout, (void)b, (void)action;
    return "movement";
}

static void describe(const struct action_layout *layout, const struct board *b, uint64_t action,
                     char *text, size_t n_bytes)
{
    const int64_t to = target(b, action);
    char from[32], at[32] = "off the board";

    (void)layout;
    board_cell_text(b, (uint32_t)(action / N_KINDS), from, sizeof from);
    if (to >= 0)
        board_cell_text(b, (uint32_t)to, at, sizeof at);
    snprintf(text, n_bytes, "move %s -> %s%s", from, at, action % 2 == 1 ? ", capture" : "");
}

static const struct action_layout layout_moves = {
    .name = "breakthrough",
    .summary = "OpenSpiel's: (from * 6 + step) * 2 + capture",
    .length = length,
    .image = image,
    .flags = flags,
    .cell = cell,
    .kind = kind,
    .describe = describe,
};

static const struct action_layout *const layouts[] = {
    &layout_moves,
    &action_layout_cells,
    &action_layout_cells_pass,
};

static const struct board_shape shapes[] = {
    {"breakthrough:8x8", 8, 8, 768, false},
    {NULL, 0, 0, 0, false},
};

const struct board_family board_family_breakthrough = {
    .name = "breakthrough",
    .syntax = "breakthrough:HxW",
    .summary = "Breakthrough on H x W squares, 4 transforms, two of which swap colours",
    .example = "breakthrough:8x8",
    .box = &box,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .lead = BOARD_LEAD_FREE,
    .shapes = shapes,
};
