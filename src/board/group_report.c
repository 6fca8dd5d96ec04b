/* group_report.c - see group.h: a board's group, checked from its maps alone. */
#include "board/group.h"

#include "base/perm.h"
#include "board/joint.h"
#include "board/report.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int report_verdict(struct report *r, bool passed, const char *format, ...)
{
    char line[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    r->ok = r->ok && passed;
    return text_append(r->out, r->err, "%-4s  %s\n", passed ? "ok" : "FAIL", line);
}

struct text_quoted report_name(const struct report *r, uint32_t t)
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
                       joint_moved_text(j, 0).text) != 0)
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
    return report_verdict(r, false,
                          "not closed: %u of %u products are no transforms of the board, the "
                          "first %s followed by %s (%s)",
                          n_missing, n_products, report_name(r, first / n).text,
                          report_name(r, first % n).text,
                          joint_product_text(j, first / n, first % n).text);
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
