/*
 * takeiteasy.c - Take It Easy: 19 hexagonal cells without a box, numbered row by row in a hexagon
 * of radius 2, whose twelve transforms they take over. A tile has a number for each of the three
 * directions, so most transforms keep the score only if tiles are turned too (number_src); the
 * identity and the half turn keep it as they are, and are the default.
 */
#include "board/families.h"

#include <stdlib.h>
#include <string.h>

#define RADIUS       2
#define SIDE         5 /* of the hexagon's box: lines of each number */
#define N_CELLS      19
#define N_TRANSFORMS 12
#define N_NUMBERS    3

/* The row * 5 + col of every cell in a plane of 5 x 5; six places are unused. */
static const uint8_t grid_cells[N_CELLS] = {
    5, 10, 15, 6, 11, 16, 21, 2, 7, 12, 17, 22, 8, 13, 18, 23, 9, 14, 19,
};

/* new[k] = old[number_src[t][k]] when the numbers of a tile turn with the board. */
static const uint8_t number_src[N_TRANSFORMS][N_NUMBERS] = {
    {0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}, {1, 2, 0}, {2, 0, 1},
    {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2},
};

/* The transforms that leave the tiles' numbers alone: identity and half turn. */
static const uint8_t default_ids[] = {0, 3};

/* The cells are those on board of a hexagon in its box, row by row: places[i] is cell i's place
 * there, and cells[place] the cell. Every cell lies on one line of each number: number 0 along
 * rows, 1 and 2 along the two other directions. */
static int copy_hexagon(struct board *b, const struct board *hexagon, struct error *err)
{
    uint32_t places[N_CELLS] = {0}, cells[SIDE * SIDE] = {0}, n = 0;

    b->edges = malloc(hexagon->n_edges * sizeof *b->edges);
    b->line_cells = malloc(N_CELLS * N_NUMBERS * sizeof *b->line_cells);
    b->line_start = calloc(N_NUMBERS * SIDE + 1, sizeof *b->line_start);
    if (b->edges == NULL || b->line_cells == NULL || b->line_start == NULL)
        return error_no_memory(err, "edges and lines of a board");
    for (uint32_t place = 0; place < hexagon->n_cells; place++) {
        cells[place] = n;
        if (hexagon->on_board[place])
            places[n++] = place;
    }
    for (uint32_t t = 0; t < N_TRANSFORMS; t++) {
        const struct board_transform *from = &hexagon->transforms[t];

        if (board_set_transform_name(b, t, from->name, err) != 0)
            return -1;
        for (uint32_t cell = 0; cell < N_CELLS; cell++)
            b->transforms[t].dst[cell] = cells[from->dst[places[cell]]];
        memcpy(b->transforms[t].number_src, number_src[t], sizeof number_src[t]);
    }
    for (; b->n_edges < hexagon->n_edges; b->n_edges++)
        for (int k = 0; k < 2; k++)
            b->edges[b->n_edges][k] = cells[hexagon->edges[b->n_edges][k]];
    n = 0;
    for (uint32_t line = 0; line < N_NUMBERS * SIDE; line++) {
        for (uint32_t cell = 0; cell < N_CELLS; cell++) {
            const uint32_t row = places[cell] / SIDE, col = places[cell] % SIDE;
            const uint32_t along[N_NUMBERS] = {row, row + col - RADIUS, col};

            if (along[line / SIDE] == line % SIDE)
                b->line_cells[n++] = cell;
        }
        b->line_start[line + 1] = n;
    }
    b->n_lines = N_NUMBERS * SIDE;
    return 0;
}

static int build(struct board *b, const char *size, struct error *err)
{
    struct board *hexagon;
    int status = -1;

    if (board_parse_nothing(b, size, err) != 0 ||
        board_alloc_cells(b, N_CELLS, N_TRANSFORMS, err) != 0 ||
        board_set_default_ids(b, default_ids, sizeof default_ids, err) != 0)
        return -1;
    hexagon = calloc(1, sizeof *hexagon);
    if (hexagon == NULL)
        return error_no_memory(err, "board");
    hexagon->size = RADIUS;
    if (board_build_box(hexagon, SIDE, SIDE, &board_box_hexagon, err) == 0)
        status = copy_hexagon(b, hexagon, err);
    board_free(hexagon);
    return status;
}

static const struct action_layout *const layouts[] = {
    &action_layout_cells,
};

static const uint8_t drawn_lines[] = {3, 4, 5, 4, 3, 0};

const struct board_family board_family_takeiteasy = {
    .name = "takeiteasy",
    .syntax = "takeiteasy",
    .summary = "Take It Easy, 19 cells, 12 transforms; 2 of them when the tiles stay as they are",
    .example = "takeiteasy",
    .build = build,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
    .grid_side = 5,
    .grid_cells = grid_cells,
    .has_tiles = true,
    .game = BOARD_GAME_TILES,
    .drawn_lines = drawn_lines,
};
