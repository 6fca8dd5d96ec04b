/*
 * mirror.c - rectangles: the family `mirror` with the left-right mirror alone, as where pieces fall
 * (Connect 4), and `grid` with all four symmetries of a rectangle, also where it is a square.
 * Connect 4's policy has an entry for each column, which moves as the cells of a row do.
 */
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>

static const struct board_element elements_mirror[2] = {
    {"identity", {1, 0, 0, 1}, false},
    {"mirror-left-right", {1, 0, 0, -1}, false},
};

static const struct board_element elements_grid[4] = {
    {"identity", {1, 0, 0, 1}, false},
    {"rotate-180", {-1, 0, 0, -1}, false},
    {"mirror-left-right", {1, 0, 0, -1}, false},
    {"mirror-up-down", {-1, 0, 0, 1}, false},
};

const struct board_box board_box_mirror = {
    elements_mirror, 2, board_steps_orthogonal, 2, NULL, 1, 2, 0};
static const struct board_box box_grid = {
    elements_grid, 4, board_steps_orthogonal, 2, NULL, 2, 2, 0};

static uint64_t columns_length(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return b->cols;
}

static uint64_t columns_image(const struct action_layout *layout, const struct board *b, uint32_t t,
                              uint64_t action)
{
    (void)layout;
    return b->transforms[t].dst[action];
}

static const char *columns_kind(const struct action_layout *layout, const struct board *b,
                                uint64_t action)
{
    (void)layout, (void)b, (void)action;
    return "placement";
}

static void columns_describe(const struct action_layout *layout, const struct board *b,
                             uint64_t action, char *text, size_t n_bytes)
{
    (void)layout, (void)b;
    snprintf(text, n_bytes, "column %u", (unsigned)action);
}

/* Row 0 of the box moves as the columns do: the mirror keeps rows. */
static const struct action_layout layout_columns = {
    .name = "columns",
    .summary = "the column a piece is dropped into, W entries (Connect 4)",
    .length = columns_length,
    .image = columns_image,
    .flags = action_always_encodable,
    .cell = action_without_cell,
    .kind = columns_kind,
    .describe = columns_describe,
};

static const struct action_layout *const layouts_mirror[] = {
    &action_layout_cells,
    &action_layout_cells_pass,
    &layout_columns,
};

static const struct action_layout *const layouts_grid[] = {
    &action_layout_cells,
    &action_layout_cells_pass,
};

static const struct board_shape shapes_mirror[] = {
    {"connect4", 6, 7, 0, false},
    {NULL, 0, 0, 0, false},
};

static unsigned guess_mirror(const struct board_seen *seen, char *name, size_t n_bytes)
{
    if (seen->rows == seen->cols)
        return 0;
    snprintf(name, n_bytes, "mirror:%" PRIu64 "x%" PRIu64, seen->rows, seen->cols);
    return 1;
}

const struct board_family board_family_mirror = {
    .name = "mirror",
    .syntax = "mirror:HxW",
    .summary = "H x W cells with the left-right mirror only, 2 transforms (Connect 4)",
    .example = "mirror:6x7",
    .box = &board_box_mirror,
    .layouts = layouts_mirror,
    .n_layouts = sizeof layouts_mirror / sizeof layouts_mirror[0],
    .lead = BOARD_LEAD_FREE,
    .shapes = shapes_mirror,
    .guess = guess_mirror,
    .game = BOARD_GAME_DROP,
};

static unsigned guess_grid(const struct board_seen *seen, char *name, size_t n_bytes)
{
    if (seen->rows == seen->cols)
        return 0;
    snprintf(name, n_bytes, "grid:%" PRIu64 "x%" PRIu64, seen->rows, seen->cols);
    return 2;
}

const struct board_family board_family_grid = {
    .name = "grid",
    .syntax = "grid:HxW",
    .summary = "a rectangle of H x W cells, 4 transforms, also when H = W",
    .example = "grid:3x5",
    .box = &box_grid,
    .layouts = layouts_grid,
    .n_layouts = sizeof layouts_grid / sizeof layouts_grid[0],
    .lead = BOARD_LEAD_FREE,
    .guess = guess_grid,
};
