/* hexagon.c - hexagonal boards of radius R in a box of side 2R + 1, and their twelve transforms. */
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* The largest R with (2R + 1)^2 cells allowed. */
#define HEXAGON_MAX_RADIUS 127

static const char *const names[12] = {"identity",   "rotate-60",  "rotate-120", "rotate-180",
                                      "rotate-240", "rotate-300", "reflect-0",  "reflect-1",
                                      "reflect-2",  "reflect-3",  "reflect-4",  "reflect-5"};

static const struct board_step steps[] = {{0, 1}, {1, 0}, {1, -1}};

/* Axial coordinates from the centre: q to the right, r down. */
struct axial {
    int q, r;
};

/* Ids 0-5: that many turns of 60 degrees; 6-11: the same, then q and r exchanged. */
static struct axial image(struct axial p, uint32_t t)
{
    for (uint32_t k = 0; k < t % 6; k++)
        p = (struct axial){-p.r, p.q + p.r};
    return t < 6 ? p : (struct axial){p.r, p.q};
}

static void fill_map(struct board *b, uint32_t t)
{
    const int radius = (int)b->size;

    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        struct axial p = {(int)(cell % b->cols) - radius, (int)(cell / b->cols) - radius};

        if (!b->on_board[cell])
            continue;
        p = image(p, t);
        b->transforms[t].dst[cell] = (uint32_t)(p.r + radius) * b->cols + (uint32_t)(p.q + radius);
    }
}

static void mark_corners(struct board *b)
{
    const int radius = (int)b->size;

    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        int q = (int)(cell % b->cols) - radius;
        int r = (int)(cell / b->cols) - radius;

        if (abs(q + r) <= radius)
            continue;
        b->on_board[cell] = 0;
        b->n_on_board--;
    }
}

static int build(struct board *b, const char *size, struct error *err)
{
    uint32_t radius;

    if (board_parse_number(b, size, 1, HEXAGON_MAX_RADIUS, &radius, err) != 0)
        return -1;
    if (board_set_name(b, err, "%s:%u", b->family->name, radius) != 0 ||
        board_alloc(b, 2 * radius + 1, 2 * radius + 1, 12, err) != 0 ||
        board_set_transform_names(b, names, err) != 0)
        return -1;
    b->size = radius;
    mark_corners(b);
    for (uint32_t t = 0; t < 12; t++)
        fill_map(b, t);
    return board_set_edges(b, steps, sizeof steps / sizeof steps[0], err);
}

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
    .build = build,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .lead = BOARD_LEAD_FREE,
    .shapes = shapes,
    .guess = guess,
    .game = BOARD_GAME_RINGS,
    .stack_planes = {40, 64},
};
