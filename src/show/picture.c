/* picture.c - see picture.h. */
#include "show/picture.h"

#include <stdio.h>
#include <stdlib.h>

struct picture_share picture_share_text(double share)
{
    struct picture_share text;

    snprintf(text.text, sizeof text.text, share > 0 && share < 0.0995 ? "%.1f%%" : "%.0f%%",
             100 * share);
    return text;
}

int picture_init(struct picture *picture, const struct board *board, uint32_t transform,
                 struct error *err)
{
    *picture = (struct picture){.transform = transform};
    for (int edge = 0; edge < N_EDGES; edge++)
        picture->edges[edge] = SIDE_NONE;
    picture->cells = calloc(board->n_cells, sizeof *picture->cells);
    if (picture->cells == NULL)
        return error_no_memory(err, "a picture");
    for (uint32_t i = 0; i < board->n_cells; i++)
        picture->cells[i].side = SIDE_NONE;
    return 0;
}

void picture_release(struct picture *picture)
{
    free(picture->cells);
    text_release(&picture->caption);
    text_release(&picture->faults);
    *picture = (struct picture){0};
}

/* The second cell of a side: it lies on no other one, unless the side has no more than two. */
static uint32_t cell_of_edge(const struct board *b, int edge)
{
    const uint32_t last = b->cols - 1;
    const uint32_t cells[N_EDGES] = {1, 2 * b->cols - 1, last * b->cols + 1, b->cols};

    return cells[edge];
}

static bool is_on_edge(const struct board *b, uint32_t cell, int edge)
{
    const uint32_t row = cell / b->cols, col = cell % b->cols;
    const bool on[N_EDGES] = {row == 0, col == b->cols - 1, row == b->rows - 1, col == 0};

    return on[edge];
}

/* The side of the board that two neighbouring cells are both on; the cells that an edge came
 * from. */
static int edge_of(const struct board *b, uint32_t one, uint32_t other)
{
    for (int edge = 0; edge < N_EDGES; edge++)
        if (is_on_edge(b, one, edge) && is_on_edge(b, other, edge))
            return edge;
    return -1;
}

/* A neighbour along the same side. */
static uint32_t along_edge(const struct board *b, uint32_t cell, int edge)
{
    return edge == EDGE_TOP || edge == EDGE_BOTTOM ? cell - 1 : cell - b->cols;
}

void picture_set_edges(struct picture *picture, const struct board *board)
{
    const struct board_transform *t = &board->transforms[picture->transform];

    for (int edge = 0; edge < N_EDGES; edge++) {
        const uint32_t cell = cell_of_edge(board, edge);
        const int from = edge_of(board, t->src[cell], t->src[along_edge(board, cell, edge)]);
        /* The first side joins top and bottom. */
        const bool is_first = (from == EDGE_TOP || from == EDGE_BOTTOM) != t->swaps_colours;

        picture->edges[edge] = from < 0 ? SIDE_NONE : is_first ? SIDE_FIRST : SIDE_SECOND;
    }
}
