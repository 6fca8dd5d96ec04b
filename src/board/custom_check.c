/* custom_check.c - see custom.h: do the transforms keep the board's edges and lines? */
#include "board/custom.h"

#include "base/text.h"
#include "board/relations.h"

/* A line's cells in a message are at most so many. */
#define MAX_CELLS_SHOWN 8

static int refuse_edge(const struct custom *c, const struct custom_element *e, uint32_t n_kept,
                       uint32_t lost, struct error *err)
{
    const struct board *b = c->board;
    const uint32_t *edge = b->edges[lost];

    return custom_refuse(c, err,
                         "transform %s keeps %u of %u edges: cells %u and %u are neighbours, but "
                         "not %u and %u, where they go",
                         text_quote(e->name).text, n_kept, b->n_edges, edge[0], edge[1],
                         e->map[edge[0]], e->map[edge[1]]);
}

static int refuse_line(const struct custom *c, const struct custom_element *e, uint32_t n_kept,
                       uint32_t lost, struct error *err)
{
    const struct board *b = c->board;
    const uint32_t start = b->line_start[lost], n = b->line_start[lost + 1] - start;
    struct text cells = {0}, images = {0};
    int status = 0;

    for (uint32_t k = 0; k < n && k < MAX_CELLS_SHOWN && status == 0; k++) {
        uint32_t cell = b->line_cells[start + k];

        status = text_append(&cells, err, " %u", cell);
        if (status == 0)
            status = text_append(&images, err, " %u", e->map[cell]);
    }
    if (status == 0 && n > MAX_CELLS_SHOWN)
        status = text_append(&images, err, " ...");
    if (status == 0)
        status = custom_refuse(c, err,
                               "transform %s keeps %u of %u lines: line %u, cells%s%s, goes to "
                               "cells%s, which are no line",
                               text_quote(e->name).text, n_kept, b->n_lines, lost, cells.text,
                               n > MAX_CELLS_SHOWN ? " ..." : "", images.text);
    text_release(&cells);
    text_release(&images);
    return status;
}

int custom_check(const struct custom *c, struct error *err)
{
    const struct board *b = c->board;
    /* What the generators keep, their products keep. */
    const uint32_t n = c->n_transforms + 1 < c->n_elements ? c->n_transforms + 1 : c->n_elements;
    struct relations relations = {0};
    int status = 0;

    if (relations_init(&relations, b, err) != 0)
        return -1;
    for (uint32_t i = 1; i < n && status == 0; i++) {
        const struct custom_element *e = &c->elements[i];
        uint32_t lost_edge, lost_line;
        uint32_t n_edges = relations_edges_kept(&relations, e->map, &lost_edge);
        uint32_t n_lines = relations_lines_kept(&relations, e->map, &lost_line);

        if (n_edges < b->n_edges)
            status = refuse_edge(c, e, n_edges, lost_edge, err);
        else if (n_lines < b->n_lines)
            status = refuse_line(c, e, n_lines, lost_line, err);
    }
    relations_release(&relations);
    return status;
}
