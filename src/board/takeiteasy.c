/* takeiteasy.c - Take It Easy: 19 hexagonal cells, twelve transforms, two of which keep the score
 * of every position when the tiles stay as they are. */
#include "board/takeiteasy.h"

#include "base/text.h"
#include "board/families.h"

#include <stdlib.h>
#include <string.h>

#define RADIUS       2
#define N_TRANSFORMS 12
#define N_EDGES      42

/* Axial coordinates from the centre; cells are numbered by r, then by q. */
struct axial {
    int q, r;
};

static const struct axial cells[TAKEITEASY_N_CELLS] = {
    {0, -2}, {1, -2}, {2, -2}, {-1, -1}, {0, -1}, {1, -1}, {2, -1}, {-2, 0}, {-1, 0}, {0, 0},
    {1, 0},  {2, 0},  {-2, 1}, {-1, 1},  {0, 1},  {1, 1},  {-2, 2}, {-1, 2}, {0, 2},
};

static const uint8_t grid_cells[TAKEITEASY_N_CELLS] = {
    5, 10, 15, 6, 11, 16, 21, 2, 7, 12, 17, 22, 8, 13, 18, 23, 9, 14, 19,
};

static const char *const names[N_TRANSFORMS] = {
    "identity",  "rotate-60", "rotate-120", "rotate-180", "rotate-240", "rotate-300",
    "reflect-0", "reflect-1", "reflect-2",  "reflect-3",  "reflect-4",  "reflect-5"};

/* new[k] = old[number_src[t][k]] when the numbers of a tile turn with the board. */
static const uint8_t number_src[N_TRANSFORMS][TAKEITEASY_N_NUMBERS] = {
    {0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 1, 2}, {1, 2, 0}, {2, 0, 1},
    {2, 1, 0}, {0, 2, 1}, {1, 0, 2}, {2, 1, 0}, {0, 2, 1}, {1, 0, 2},
};

/* The transforms that leave the tiles' numbers alone: identity and half turn. */
static const uint8_t default_ids[] = {0, 3};

/* The coordinate that is constant along the lines of each number. */
static int line_coordinate(struct axial p, uint32_t number)
{
    const int coordinate[TAKEITEASY_N_NUMBERS] = {p.r, p.q + p.r, p.q};

    return coordinate[number];
}

static uint32_t cell_at(struct axial p)
{
    uint32_t cell = 0;

    while (cells[cell].q != p.q || cells[cell].r != p.r)
        cell++;
    return cell;
}

/* Ids 0-5: that many turns of 60 degrees; 6-11: the same, then q and r exchanged. */
static struct axial image(struct axial p, uint32_t t)
{
    for (uint32_t k = 0; k < t % 6; k++)
        p = (struct axial){-p.r, p.q + p.r};
    return t < 6 ? p : (struct axial){p.r, p.q};
}

static bool adjacent(struct axial a, struct axial b)
{
    int q = a.q - b.q, r = a.r - b.r;

    return abs(q) <= 1 && abs(r) <= 1 && abs(q + r) <= 1 && (q != 0 || r != 0);
}

static int set_edges(struct board *b, struct error *err)
{
    b->edges = malloc(N_EDGES * sizeof *b->edges);
    if (b->edges == NULL)
        return error_no_memory(err, "edges of a board");
    for (uint32_t from = 0; from < TAKEITEASY_N_CELLS; from++) {
        for (uint32_t to = from + 1; to < TAKEITEASY_N_CELLS; to++) {
            if (!adjacent(cells[from], cells[to]))
                continue;
            b->edges[b->n_edges][0] = from;
            b->edges[b->n_edges][1] = to;
            b->n_edges++;
        }
    }
    return 0;
}

/* Every cell lies on one line of each number. */
static int set_lines(struct board *b, struct error *err)
{
    uint32_t n = 0;

    b->line_cells = malloc(TAKEITEASY_N_CELLS * TAKEITEASY_N_NUMBERS * sizeof *b->line_cells);
    b->line_start = malloc((TAKEITEASY_N_LINES + 1) * sizeof *b->line_start);
    if (b->line_cells == NULL || b->line_start == NULL)
        return error_no_memory(err, "lines of a board");
    for (uint32_t line = 0; line < TAKEITEASY_N_LINES; line++) {
        int value = (int)(line % TAKEITEASY_LINES_EACH) - RADIUS;

        b->line_start[line] = n;
        for (uint32_t cell = 0; cell < TAKEITEASY_N_CELLS; cell++)
            if (line_coordinate(cells[cell], line / TAKEITEASY_LINES_EACH) == value)
                b->line_cells[n++] = cell;
    }
    b->line_start[TAKEITEASY_N_LINES] = n;
    b->n_lines = TAKEITEASY_N_LINES;
    return 0;
}

static int build(struct board *b, const char *size, struct error *err)
{
    if (size != NULL)
        return error_set(err, ERROR_USAGE, "board takeiteasy has no size, not %s",
                         text_quote(size).text);
    if (board_alloc_cells(b, TAKEITEASY_N_CELLS, N_TRANSFORMS, err) != 0 ||
        board_set_transform_names(b, names, err) != 0 ||
        board_set_default_ids(b, default_ids, sizeof default_ids, err) != 0)
        return -1;
    for (uint32_t t = 0; t < N_TRANSFORMS; t++) {
        for (uint32_t cell = 0; cell < TAKEITEASY_N_CELLS; cell++)
            b->transforms[t].dst[cell] = cell_at(image(cells[cell], t));
        memcpy(b->transforms[t].number_src, number_src[t], sizeof number_src[t]);
    }
    if (set_edges(b, err) != 0)
        return -1;
    return set_lines(b, err);
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
    .grid_side = TAKEITEASY_GRID_SIDE,
    .grid_cells = grid_cells,
    .has_tiles = true,
    .game = BOARD_GAME_TILES,
    .drawn_lines = drawn_lines,
};
