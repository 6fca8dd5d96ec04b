/*
 * report.c - what `symaug boards --check` says of a board, from its maps alone: permutations,
 * identity, closure, inverses, tables, edges and lines kept, action layouts that move as the cells
 * do. Each check is a line; a failure does not end the report.
 */
#include "board/group.h"

#include "base/perm.h"
#include "board/families.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A report being written. Every function that adds to it returns 0, or -1 without memory. */
struct report {
    const struct board *board; /* borrowed */
    struct text *out;          /* borrowed */
    struct error *err;         /* borrowed */
    bool ok;                   /* no check failed so far */
    int32_t *products; /* owned, n_transforms squared: the transform that is a, then b; -1 where
                          there is none. NULL as long as some map is no permutation. */
};

static int report_verdict(struct report *r, bool passed, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Add the line of one check, "ok ..." or "FAIL ...". */
static int report_verdict(struct report *r, bool passed, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    r->ok = r->ok && passed;
    return text_append(r->out, r->err, "%-4s  %s\n", passed ? "ok" : "FAIL", line);
}

static struct text_quoted report_name(const struct report *r, uint32_t t)
{
    const char *name = r->board->transforms[t].name;

    return text_quote(name != NULL ? name : "(no name)");
}

static int report_head(const struct report *r)
{
    const struct board *b = r->board;
    const char *preset = b->preset != NULL ? b->preset : b->name;
    const bool has_preset = strcmp(preset, b->name) != 0;

    if (text_append(r->out, r->err, "board %s%s%s%s: ", b->name, has_preset ? " (" : "",
                    has_preset ? preset : "", has_preset ? ")" : "") != 0)
        return -1;
    if (b->rows > 0 && text_append(r->out, r->err, "box %u x %u, ", b->rows, b->cols) != 0)
        return -1;
    return text_append(r->out, r->err, "%u cells, %u transform%s\n", b->n_on_board, b->n_transforms,
                       b->n_transforms == 1 ? "" : "s");
}

/* Check each map by itself. *all_fine tells whether the maps can be multiplied. */
static int report_maps(struct report *r, bool *all_fine)
{
    *all_fine = true;
    for (uint32_t t = 0; t < r->board->n_transforms; t++) {
        struct text_quoted fault;

        if (joint_fault(r->board, t, &fault, r->err) != 0)
            return -1;
        if (fault.text[0] == '\0')
            continue;
        *all_fine = false;
        if (report_verdict(r, false, "%s is no permutation: %s", report_name(r, t).text,
                           fault.text) != 0)
            return -1;
    }
    return *all_fine ? report_verdict(r, true, "every map is a permutation") : 0;
}

static int report_elements(struct report *r, const struct joint *j)
{
    const bool has_identity = perm_is_identity(j->maps, j->n_points);
    uint32_t a, b;

    if (report_verdict(r, has_identity,
                       has_identity ? "id 0 is the identity" : "id 0 is not the identity: %s",
                       joint_move_text(j, j->maps, NULL, false).text) != 0)
        return -1;
    if (joint_find_equal(j, &a, &b))
        return report_verdict(r, false, "%s and %s are the same transform", report_name(r, a).text,
                              report_name(r, b).text);
    return report_verdict(r, true, "all transforms differ");
}

static int report_closure(struct report *r, const struct joint *j)
{
    const uint32_t n = j->n_transforms;
    const uint32_t n_products = n * n;
    uint32_t n_missing = 0, first = 0;

    for (uint32_t i = n_products; i-- > 0;) {
        r->products[i] = joint_product(j, i / n, i % n);
        if (r->products[i] >= 0)
            continue;
        n_missing++;
        first = i;
    }
    if (n_missing == 0)
        return report_verdict(r, true, "closed: all %u products are transforms of the board",
                              n_products);
    return report_verdict(
        r, false,
        "not closed: %u of %u products are no transforms of the board, the "
        "first %s followed by %s (%s)",
        n_missing, n_products, report_name(r, first / n).text, report_name(r, first % n).text,
        joint_move_text(j, joint_map(j, first / n), joint_map(j, first % n), false).text);
}

/* The transform that undoes t, or -1. */
static int inverse_of(const struct report *r, uint32_t t)
{
    const uint32_t n = r->board->n_transforms;

    for (uint32_t u = 0; u < n; u++)
        if (r->products[t * n + u] == 0 && r->products[u * n + t] == 0)
            return (int)u;
    return -1;
}

static int report_inverses(struct report *r)
{
    const uint32_t n = r->board->n_transforms;

    for (uint32_t t = 0; t < n; t++)
        if (inverse_of(r, t) < 0)
            return report_verdict(r, false, "%s has no inverse among the transforms",
                                  report_name(r, t).text);
    return report_verdict(r, true, "every transform has its inverse");
}

/* The tables that the rest of the program uses must be those found here. */
static int report_tables(struct report *r)
{
    const struct board *b = r->board;
    const uint32_t n = b->n_transforms;
    bool agree = true;

    if (b->compose == NULL || b->inverse == NULL)
        return 0;
    for (uint32_t i = 0; i < n * n; i++)
        agree = agree && b->compose[i] == r->products[i];
    for (uint32_t t = 0; t < n; t++) {
        agree = agree && (int)b->inverse[t] == inverse_of(r, t);
        for (uint32_t cell = 0; cell < b->n_cells; cell++)
            agree = agree && b->transforms[t].src[b->transforms[t].dst[cell]] == cell;
    }
    return report_verdict(r, agree, "the tables of products and inverses %s the maps",
                          agree ? "agree with" : "contradict");
}

static int report_on_board(struct report *r)
{
    const struct board *b = r->board;

    for (uint32_t t = 0; t < b->n_transforms; t++)
        for (uint32_t cell = 0; cell < b->n_cells; cell++)
            if (b->on_board[cell] ? !b->on_board[b->transforms[t].dst[cell]]
                                  : b->transforms[t].dst[cell] != cell)
                return report_verdict(r, false, "%s moves cell %u across the edge of the board",
                                      report_name(r, t).text, cell);
    return report_verdict(r, true, "cells on board stay on board, all others in place");
}

static int report_group(struct report *r)
{
    const size_t n = r->board->n_transforms;
    struct joint j = {0};
    int status = -1;

    r->products = malloc(n * n * sizeof *r->products);
    if (r->products == NULL)
        return error_no_memory(r->err, "table of products");
    if (joint_init(&j, r->board, r->err) != 0)
        return -1;
    if (report_elements(r, &j) == 0 && report_closure(r, &j) == 0 && report_inverses(r) == 0 &&
        report_tables(r) == 0 && report_on_board(r) == 0)
        status = 0;
    joint_release(&j);
    return status;
}

/* --- order, inverse, and what each transform keeps --- */

/* What a column says where there is nothing to say. */
#define NOTHING "-"

struct kept {
    bool known; /* false: the cell map is no permutation */
    uint32_t n_edges, lost_edge;
    uint32_t n_lines, lost_line;
};

static void share_text(bool known, uint32_t n, uint32_t of, char *text, size_t n_bytes)
{
    snprintf(text, n_bytes, NOTHING);
    if (known && of > 0)
        snprintf(text, n_bytes, "%u/%u", n, of);
}

static int report_row(const struct report *r, uint32_t t, const struct kept *kept)
{
    const struct board *b = r->board;
    const uint32_t n = b->n_transforms;
    const uint64_t found = kept->known ? perm_order(b->transforms[t].dst, b->n_cells) : 0;
    char order[24] = NOTHING, inverse[12] = NOTHING, edges[24], lines[24];

    if (found != 0)
        snprintf(order, sizeof order, "%" PRIu64, found);
    for (uint32_t u = 0; r->products != NULL && u < n; u++)
        if (r->products[t * n + u] == 0)
            snprintf(inverse, sizeof inverse, "%u", u);
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

static int report_transforms(struct report *r)
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

/* --- action layouts --- */

/* Layouts whose tables would be longer than this are not checked: 64 MiB of maps. */
#define MAX_TABLE ((uint64_t)1 << 24)

/* A layout's maps and what its actions are. */
struct table {
    const struct action_layout *layout; /* borrowed */
    uint32_t length;
    uint32_t *maps; /* owned, n_transforms x length */
    int64_t *cells; /* owned, length: the cell of each action, -1 without */
    uint8_t *flags; /* owned, length */
};

static const uint32_t *map_of(const struct table *table, uint32_t t)
{
    return table->maps + (size_t)t * table->length;
}

static void table_release(struct table *table)
{
    free(table->maps);
    free(table->cells);
    free(table->flags);
}

static int table_init(struct table *table, const struct board *b,
                      const struct action_layout *layout, struct error *err)
{
    const size_t length = layout->length(layout, b);

    *table = (struct table){.layout = layout, .length = (uint32_t)length};
    table->maps = malloc(b->n_transforms * length * sizeof *table->maps);
    table->cells = malloc(length * sizeof *table->cells);
    table->flags = malloc(length * sizeof *table->flags);
    if (table->maps == NULL || table->cells == NULL || table->flags == NULL) {
        table_release(table);
        return error_no_memory(err, "maps of an action layout");
    }
    for (uint32_t t = 0; t < b->n_transforms; t++)
        action_layout_map(b, layout, t, table->maps + t * length);
    for (size_t a = 0; a < length; a++) {
        table->cells[a] = layout->cell(layout, b, a);
        table->flags[a] = (uint8_t)layout->flags(layout, b, a);
    }
    return 0;
}

/* Add the failure of one action under one transform. */
static int report_action(struct report *r, const struct table *table, uint32_t t, uint32_t action,
                         const char *what)
{
    char meaning[128];

    table->layout->describe(table->layout, r->board, action, meaning, sizeof meaning);
    return report_verdict(r, false, "actions %s (%u): %s takes action %u (%s) to %u, %s",
                          table->layout->name, table->length, report_name(r, t).text, action,
                          meaning, map_of(table, t)[action], what);
}

/* Check that transform t permutes the actions, and takes each to one of its kind on the image of
 * its cell. *passed is false when a failure was added. */
static int check_map(struct report *r, const struct table *table, uint32_t t, bool *passed)
{
    const uint32_t *map = map_of(table, t);
    const uint32_t *dst = r->board->transforms[t].dst;
    const size_t fault = perm_first_fault(map, table->length, r->err);

    if (fault == SIZE_MAX)
        return -1;
    *passed = false;
    if (fault < table->length)
        return report_action(r, table, t, (uint32_t)fault, "which is taken or out of range");
    for (uint32_t a = 0; a < table->length; a++) {
        const int64_t cell = table->cells[a];

        if (table->flags[map[a]] != table->flags[a])
            return report_action(r, table, t, a, "an action of another kind");
        if (table->cells[map[a]] != (cell < 0 ? cell : (int64_t)dst[cell]))
            return report_action(r, table, t, a, "which is on another cell");
    }
    *passed = true;
    return 0;
}

/* Check that a, then b, moves the actions as their product does. */
static int check_product(struct report *r, const struct table *table, uint32_t a, uint32_t b,
                         bool *passed)
{
    const int32_t product = r->products[a * r->board->n_transforms + b];
    const uint32_t *first = map_of(table, a);
    const uint32_t *then = map_of(table, b);
    const uint32_t *map;

    if (product < 0)
        return 0;
    map = map_of(table, (uint32_t)product);
    for (uint32_t i = 0; i < table->length; i++) {
        if (then[first[i]] == map[i])
            continue;
        *passed = false;
        return report_action(r, table, (uint32_t)product, i,
                             "not where the two transforms it is made of take it");
    }
    return 0;
}

static int check_table(struct report *r, const struct table *table)
{
    const uint32_t n = r->board->n_transforms;
    bool passed = true;

    for (uint32_t t = 0; t < n && passed; t++)
        if (check_map(r, table, t, &passed) != 0)
            return -1;
    for (uint32_t i = 0; i < n * n && passed; i++)
        if (check_product(r, table, i / n, i % n, &passed) != 0)
            return -1;
    if (!passed)
        return 0;
    return report_verdict(r, true, "actions %s (%u): permuted as the cells are",
                          table->layout->name, table->length);
}

static int check_layout(struct report *r, const struct action_layout *layout)
{
    const uint64_t length = layout->length(layout, r->board);
    struct table table;
    int status;

    if (length == 0)
        return 0;
    if (length > MAX_TABLE / r->board->n_transforms)
        return text_append(r->out, r->err,
                           "%-4s  actions %s (%" PRIu64 "): too long to be checked here\n", "-",
                           layout->name, length);
    if (table_init(&table, r->board, layout, r->err) != 0)
        return -1;
    status = check_table(r, &table);
    table_release(&table);
    return status;
}

static int report_actions(struct report *r)
{
    for (size_t i = 0; i < r->board->family->n_layouts; i++)
        if (check_layout(r, r->board->family->layouts[i]) != 0)
            return -1;
    return 0;
}

int group_report(const struct board *b, struct text *out, bool *ok, struct error *err)
{
    struct report r = {.board = b, .out = out, .err = err, .ok = true};
    bool can_multiply;
    int status = -1;

    if (report_head(&r) != 0 || report_maps(&r, &can_multiply) != 0)
        goto out;
    if (can_multiply && report_group(&r) != 0)
        goto out;
    if (report_transforms(&r) != 0)
        goto out;
    if (can_multiply && report_actions(&r) != 0)
        goto out;
    status = 0;
out:
    free(r.products);
    *ok = r.ok;
    return status;
}
