/* report_transforms.c - see report.h: order, inverse, and what each transform keeps. */
#include "board/report.h"

#include "base/perm.h"
#include "board/families.h"
#include "board/relations.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* What a column says where there is nothing to say. */
#define NOTHING "-"

struct kept {
    bool known; /* false: the cell map is no permutation */
    uint32_t n_edges, lost_edge;
    uint32_t n_lines, lost_line;
};

static void order_text(const struct board *b, uint32_t t, bool known, char *text, size_t n_bytes)
{
    const uint64_t order = known ? perm_order(b->transforms[t].dst, b->n_cells) : 0;

    snprintf(text, n_bytes, NOTHING);
    if (order != 0)
        snprintf(text, n_bytes, "%" PRIu64, order);
}

static void inverse_text(const struct report *r, uint32_t t, char *text, size_t n_bytes)
{
    const uint32_t n = r->board->n_transforms;

    snprintf(text, n_bytes, NOTHING);
    for (uint32_t u = 0; r->products != NULL && u < n; u++)
        if (r->products[t * n + u] == 0)
            snprintf(text, n_bytes, "%u", u);
}

static void share_text(bool known, uint32_t n, uint32_t of, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, NOTHING);
    if (known && of > 0)
        snprintf(text, n_bytes, "%u/%u", n, of);
}

static int report_row(const struct report *r, uint32_t t, const struct kept *kept)
{
    const struct board *b = r->board;
    char order[24], inverse[12], edges[24], lines[24];

    order_text(b, t, kept->known, order, sizeof order);
    inverse_text(r, t, inverse, sizeof inverse);
    share_text(kept->known, kept->n_edges, b->n_edges, edges, sizeof edges);
    share_text(kept->known, kept->n_lines, b->n_lines, lines, sizeof lines);
    return text_append(r->out, r->err, "  %3u  %5s  %7s  %13s  %11s  %-7s  %s\n", t, order, inverse,
                       edges, lines, b->transforms[t].swaps_colours ? "swapped" : "kept",
                       b->transforms[t].name != NULL ? b->transforms[t].name : NOTHING);
}

static int report_lost_edge(struct report *r, uint32_t t, uint32_t edge)
{
    const struct board *b = r->board;
    const uint32_t *dst = b->transforms[t].dst;
    char text[4][32];

    for (uint32_t k = 0; k < 2; k++) {
        board_cell_text(b, b->edges[edge][k], text[k], sizeof text[k]);
        board_cell_text(b, dst[b->edges[edge][k]], text[k + 2], sizeof text[k + 2]);
    }
    return report_verdict(r, false,
                          "%s takes the neighbours %s and %s to %s and %s, which are none",
                          report_name(r, t).text, text[0], text[1], text[2], text[3]);
}

static int report_edges(struct report *r, const struct kept *kept)
{
    const struct board *b = r->board;
    bool all_kept = true;

    for (uint32_t t = 0; t < b->n_transforms; t++) {
        if (!kept[t].known || kept[t].n_edges == b->n_edges)
            continue;
        all_kept = false;
        if (report_lost_edge(r, t, kept[t].lost_edge) != 0)
            return -1;
    }
    if (!all_kept || b->n_edges == 0)
        return 0;
    return report_verdict(r, true, "neighbours stay neighbours (%u edges)", b->n_edges);
}

static int report_lines(struct report *r, const struct kept *kept)
{
    const struct board *b = r->board;
    bool all_kept = true;

    for (uint32_t t = 0; t < b->n_transforms; t++) {
        if (!kept[t].known || kept[t].n_lines == b->n_lines)
            continue;
        all_kept = false;
        if (report_verdict(r, false, "%s keeps %u of %u lines; line %u becomes none",
                           report_name(r, t).text, kept[t].n_lines, b->n_lines,
                           kept[t].lost_line) != 0)
            return -1;
    }
    if (!all_kept || b->n_lines == 0)
        return 0;
    return report_verdict(r, true, "lines stay lines (%u lines)", b->n_lines);
}

static int report_table(const struct report *r, const struct kept *kept)
{
    if (text_append(r->out, r->err, "  %3s  %5s  %7s  %13s  %11s  %-7s  %s\n", "id", "order",
                    "inverse", "edges kept", "lines kept", "colours", "name") != 0)
        return -1;
    for (uint32_t t = 0; t < r->board->n_transforms; t++)
        if (report_row(r, t, &kept[t]) != 0)
            return -1;
    return 0;
}

static int find_kept(const struct report *r, struct kept *kept)
{
    const struct board *b = r->board;
    struct relations relations = {0};
    int status = -1;

    if (relations_init(&relations, b, r->err) != 0)
        return -1;
    for (uint32_t t = 0; t < b->n_transforms; t++) {
        const uint32_t *dst = b->transforms[t].dst;
        size_t fault = perm_first_fault(dst, b->n_cells, r->err);

        if (fault == SIZE_MAX)
            goto out;
        kept[t].known = fault == b->n_cells;
        if (!kept[t].known)
            continue;
        kept[t].n_edges = relations_edges_kept(&relations, dst, &kept[t].lost_edge);
        kept[t].n_lines = relations_lines_kept(&relations, dst, &kept[t].lost_line);
    }
    status = 0;
out:
    relations_release(&relations);
    return status;
}

int report_transforms(struct report *r)
{
    struct kept *kept = calloc(r->board->n_transforms, sizeof *kept);
    int status = -1;

    if (kept == NULL)
        return error_no_memory(r->err, "report on transforms");
    if (find_kept(r, kept) == 0 && report_edges(r, kept) == 0 && report_lines(r, kept) == 0 &&
        report_table(r, kept) == 0)
        status = 0;
    free(kept);
    return status;
}
