/* shape_embed.c - see shape.h: places for cells of which only the neighbours are known. */
#include "show/shape.h"

#include <stdlib.h>

#define MAX_CELLS 400    /* beyond, boards are drawn in rows */
#define MAX_STEPS 200000 /* tries before giving up */

/* Steps to a neighbour as (lines, half columns). What comes first is tried first: a triangle that
 * is numbered from its apex stands on its base, a grid is read as usual. */
static const struct shape_place hexagon_steps[6] = {{1, -1}, {1, 1},   {0, 2},
                                                    {0, -2}, {-1, -1}, {-1, 1}};
static const struct shape_place square_steps[4] = {{0, 2}, {1, 0}, {0, -2}, {-1, 0}};

struct embedding {
    const struct board *board;
    const struct shape_place *steps;
    size_t n_steps;
    struct shape_place *places;
    uint8_t *adjacent; /* n x n */
    uint32_t *order;   /* cells so that each has a neighbour before it */
    uint32_t *parent;  /* that neighbour */
    uint8_t *tried;    /* per position in the order: steps tried */
    uint32_t n_tries;
};

static bool touch(const struct embedding *e, struct shape_place a, struct shape_place b)
{
    for (size_t i = 0; i < e->n_steps; i++)
        if (b.line - a.line == e->steps[i].line && b.half - a.half == e->steps[i].half)
            return true;
    return false;
}

/* May the k-th cell stand where it does? Exactly its neighbours touch it. */
static bool fits(const struct embedding *e, uint32_t k)
{
    const uint32_t n = e->board->n_cells, cell = e->order[k];
    const struct shape_place at = e->places[cell];

    for (uint32_t i = 0; i < k; i++) {
        const struct shape_place other = e->places[e->order[i]];

        if ((at.line == other.line && at.half == other.half) ||
            touch(e, at, other) != (e->adjacent[cell * n + e->order[i]] != 0))
            return false;
    }
    return true;
}

/* Cells breadth first from cell 0; false when not all are reached. */
static bool find_order(struct embedding *e)
{
    const uint32_t n = e->board->n_cells;
    uint32_t n_found = 1;

    e->order[0] = 0;
    for (uint32_t k = 0; k < n_found; k++) {
        for (uint32_t cell = 0; cell < n; cell++) {
            uint32_t i = 0;

            while (i < n_found && e->order[i] != cell)
                i++;
            if (i < n_found || !e->adjacent[e->order[k] * n + cell])
                continue;
            e->parent[n_found] = e->order[k];
            e->order[n_found++] = cell;
        }
    }
    return n_found == n;
}

/* Try steps from the parent until all cells are placed, going back where none fits. */
static bool search(struct embedding *e)
{
    uint32_t k = 1;

    e->places[0] = (struct shape_place){0, 0};
    while (k > 0 && k < e->board->n_cells && e->n_tries++ < MAX_STEPS) {
        const struct shape_place from = e->places[e->parent[k]];

        if (e->tried[k] == e->n_steps) {
            e->tried[k--] = 0;
            continue;
        }
        const struct shape_place *step = &e->steps[e->tried[k]++];

        e->places[e->order[k]] =
            (struct shape_place){from.line + step->line, from.half + step->half};
        if (fits(e, k))
            k++;
    }
    return k == e->board->n_cells;
}

bool shape_embed(const struct board *board, bool hexagons, struct shape_place *places)
{
    const uint32_t n = board->n_cells;
    struct embedding e = {
        .board = board,
        .steps = hexagons ? hexagon_steps : square_steps,
        .n_steps = hexagons ? 6 : 4,
        .places = places,
    };
    bool found = false;

    if (n > MAX_CELLS || board->n_edges == 0)
        return false;
    e.adjacent = calloc(n, n);
    e.order = calloc(n, sizeof *e.order);
    e.parent = calloc(n, sizeof *e.parent);
    e.tried = calloc(n, 1);
    if (e.adjacent != NULL && e.order != NULL && e.parent != NULL && e.tried != NULL) {
        for (uint32_t i = 0; i < board->n_edges; i++) {
            e.adjacent[board->edges[i][0] * n + board->edges[i][1]] = 1;
            e.adjacent[board->edges[i][1] * n + board->edges[i][0]] = 1;
        }
        found = find_order(&e) && search(&e);
    }
    free(e.adjacent);
    free(e.order);
    free(e.parent);
    free(e.tried);
    return found;
}
