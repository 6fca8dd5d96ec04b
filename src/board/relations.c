/* relations.c - see relations.h. */
#include "board/relations.h"

#include <stdlib.h>
#include <string.h>

static uint64_t edge_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int compare_cells(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int compare_lines(const void *a, const void *b)
{
    const struct relations_line *x = a, *y = b;

    if (x->n_cells != y->n_cells)
        return x->n_cells < y->n_cells ? -1 : 1;
    for (uint32_t i = 0; i < x->n_cells; i++)
        if (x->cells[i] != y->cells[i])
            return x->cells[i] < y->cells[i] ? -1 : 1;
    return 0;
}

static void sort_edges(struct relations *r)
{
    const struct board *b = r->board;

    for (uint32_t i = 0; i < b->n_edges; i++)
        r->edges[i] = edge_key(b->edges[i][0], b->edges[i][1]);
    if (b->n_edges > 0)
        qsort(r->edges, b->n_edges, sizeof *r->edges, compare_keys);
}

static void sort_lines(struct relations *r)
{
    const struct board *b = r->board;

    for (uint32_t i = 0; i < b->n_lines; i++) {
        const uint32_t start = b->line_start[i];
        const uint32_t n = b->line_start[i + 1] - start;

        if (n > 0) {
            memcpy(r->cells + start, b->line_cells + start, n * sizeof *r->cells);
            qsort(r->cells + start, n, sizeof *r->cells, compare_cells);
        }
        r->lines[i] = (struct relations_line){r->cells + start, n};
    }
    if (b->n_lines > 0)
        qsort(r->lines, b->n_lines, sizeof *r->lines, compare_lines);
}

int relations_init(struct relations *r, const struct board *b, struct error *err)
{
    const size_t n_line_cells = b->n_lines > 0 ? b->line_start[b->n_lines] : 0;

    *r = (struct relations){.board = b};
    r->edges = calloc((size_t)b->n_edges + 1, sizeof *r->edges);
    r->lines = calloc((size_t)b->n_lines + 1, sizeof *r->lines);
    r->cells = calloc(n_line_cells + 1, sizeof *r->cells);
    r->scratch = calloc(n_line_cells + 1, sizeof *r->scratch);
    if (r->edges == NULL || r->lines == NULL || r->cells == NULL || r->scratch == NULL) {
        relations_release(r);
        return error_no_memory(err, "edges and lines of a board");
    }
    sort_edges(r);
    sort_lines(r);
    return 0;
}

void relations_release(struct relations *r)
{
    free(r->edges);
    free(r->lines);
    free(r->cells);
    free(r->scratch);
    *r = (struct relations){0};
}

uint32_t relations_edges_kept(const struct relations *r, const uint32_t *dst, uint32_t *lost)
{
    const struct board *b = r->board;
    uint32_t n_kept = 0;

    *lost = b->n_edges;
    for (uint32_t i = 0; i < b->n_edges; i++) {
        uint64_t key = edge_key(dst[b->edges[i][0]], dst[b->edges[i][1]]);

        if (bsearch(&key, r->edges, b->n_edges, sizeof key, compare_keys) != NULL)
            n_kept++;
        else if (*lost == b->n_edges)
            *lost = i;
    }
    return n_kept;
}

uint32_t relations_lines_kept(struct relations *r, const uint32_t *dst, uint32_t *lost)
{
    const struct board *b = r->board;
    uint32_t n_kept = 0;

    *lost = b->n_lines;
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const uint32_t *cells = b->line_cells + b->line_start[i];
        const struct relations_line image = {r->scratch, b->line_start[i + 1] - b->line_start[i]};

        for (uint32_t k = 0; k < image.n_cells; k++)
            r->scratch[k] = dst[cells[k]];
        qsort(r->scratch, image.n_cells, sizeof *r->scratch, compare_cells);
        if (bsearch(&image, r->lines, b->n_lines, sizeof image, compare_lines) != NULL)
            n_kept++;
        else if (*lost == b->n_lines)
            *lost = i;
    }
    return n_kept;
}
