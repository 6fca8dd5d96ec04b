/*
 * heat.c - the policy of a row as shares: on which cells it lies, what lies on no cell, and the
 * largest entries in words. Dense and sparse policies are read through the same entries; weights
 * that are negative or not a number count as none. Where a policy names columns, a piece is let
 * fall onto its cell.
 */
#include "show/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define N_TOP 3

struct heat_share heat_share_text(double share)
{
    struct heat_share text;

    snprintf(text.text, sizeof text.text, share > 0 && share < 0.0995 ? "%.1f%%" : "%.0f%%",
             100 * share);
    return text;
}

/* An entry of a policy, dense or sparse. */
struct entry {
    uint64_t action;
    uint64_t origin; /* the same action in the source */
    double weight;
};

struct policy {
    const struct plan *plan;
    const struct plan_array *array;
    const struct role_binding *binding;
    uint32_t transform;          /* that made the row's image */
    const struct field *field;   /* weights, or indices with: */
    const struct field *weights; /* borrowed, or NULL: dense, or every index counts as one */
    uint64_t n;
    struct entry top[N_TOP + 1]; /* the largest ones */
    size_t n_top;
    double total, tail; /* of all weights, and of those on no cell */
};

/* --- finding it --- */

static bool is_called_policy(const char *key)
{
    return strncasecmp(key, "pol", 3) == 0 || strncasecmp(key, "pi", 2) == 0 ||
           strncasecmp(key, "prob", 4) == 0;
}

/* A dense policy, of several the one that is called so; or a sparse one. */
static bool find(struct policy *policy, const struct fields *fields)
{
    const struct plan *plan = fields->plan;
    int i = fields_find(fields, ROLE_POLICY);

    for (size_t k = plan->n_arrays; k-- > 0;)
        if (plan->arrays[k].binding.role == ROLE_POLICY && fields->items[k].n > 0 &&
            is_called_policy(plan->arrays[k].key))
            i = (int)k;
    const bool is_dense = i >= 0;

    if (!is_dense)
        i = fields_find(fields, ROLE_POLICY_INDEX);
    if (i < 0)
        return false;
    *policy = (struct policy){.plan = plan,
                              .array = &plan->arrays[i],
                              .binding = &plan->arrays[i].binding,
                              .field = &fields->items[i],
                              .n = fields->items[i].n};
    if (policy->binding->layout == NULL || !dtype_is_number(&policy->field->dtype))
        return false;
    if (is_dense && policy->binding->n_actions < policy->n) /* of several channels the first one */
        policy->n = policy->binding->n_actions;
    if (!is_dense && policy->binding->value_array >= 0)
        policy->weights = &fields->items[policy->binding->value_array];
    return true;
}

/* Entry k; weights below zero (logits) and NaN count as none. */
static struct entry get(const struct policy *policy, uint64_t k)
{
    const struct action_space *space = policy->array->spec.space;
    struct entry entry = {k, k, 1};

    if (policy->binding->role == ROLE_POLICY) {
        entry.weight = field_number(policy->field, k);
    } else {
        const int64_t index = field_integer(policy->field, k);

        entry.action = index >= 0 ? (uint64_t)index : UINT64_MAX;
        if (policy->weights != NULL)
            entry.weight = k < policy->weights->n ? field_number(policy->weights, k) : 0;
    }
    if (!(entry.weight > 0) || entry.weight > 1e300 || entry.action == UINT64_MAX)
        entry.weight = 0;
    else if (space != NULL && entry.action < space->length)
        entry.origin = space->src[policy->transform * space->length + entry.action];
    return entry;
}

/* --- cells --- */

/* The cell that an action is about. A piece that is dropped into a column comes to rest on the last
 * row, or, if pieces hang from the first one, below those. */
static int64_t cell_of(const struct policy *policy, const struct picture *picture, uint64_t action)
{
    const struct board *board = policy->plan->board;
    const uint32_t cols = board->cols;
    bool hangs = false;

    if (strcmp(policy->binding->layout->name, "columns") != 0 || action >= cols)
        return planes_cell_of(board, policy->binding, action);
    for (uint32_t c = 0; c < cols; c++)
        hangs |= picture->cells[c].piece != PICTURE_EMPTY &&
                 picture->cells[(board->rows - 1) * cols + c].piece == PICTURE_EMPTY;
    for (uint32_t row = 0; row < board->rows; row++) {
        const uint64_t at = (hangs ? row : board->rows - 1 - row) * cols + action;

        if (picture->cells[at].piece == PICTURE_EMPTY)
            return (int64_t)at;
    }
    return (int64_t)action;
}

/* --- words --- */

/* The largest entries in words, with commas between short ones, and what lies on no cell. */
static void write_caption(const struct policy *policy, struct pen *out)
{
    static const char play_at[] = "play at ";
    const struct board *board = policy->plan->board;
    const struct action_layout *layout = policy->binding->layout;
    const bool has_pass = strstr(layout->name, "+pass") != NULL;
    const bool is_short = strncmp(layout->name, "cells", 5) == 0 || board->family->men != NULL ||
                          strcmp(layout->name, "columns") == 0;

    if (policy->total == 0)
        pen_put(out, "policy all zero\n");
    for (size_t i = 0; i < policy->n_top; i++) {
        char what[96] = "an unused entry";
        const char *shown = what;
        uint64_t action = policy->top[i].action;

        if (action < board->n_cells) /* the move that it is, wherever its entry is stored */
            action = action_flip_cell(board, policy->binding->flip, action);
        if (action < layout->length(layout, board))
            action_describe(layout, board, action, what, sizeof what);
        if (strncmp(what, play_at, sizeof play_at - 1) == 0)
            shown += sizeof play_at - 1;
        pen_put(out, "%s %s%s", shown, heat_share_text(policy->top[i].weight / policy->total).text,
                is_short && i + 1 < policy->n_top ? ", " : "\n");
    }
    if (policy->total > 0 && (has_pass || policy->tail != 0))
        pen_put(out, "%s %s\n", has_pass ? "pass" : "on no cell",
                heat_share_text(policy->tail / policy->total).text);
}

/* Of equal shares the same ones lead in every image: those that come first in the source. */
static bool leads(double share, uint64_t origin, double other, uint64_t other_origin)
{
    const bool is_equal = fabs(share - other) <= 1e-9 * other;

    return is_equal ? origin < other_origin : share > other;
}

static void keep_top(struct entry *top, size_t *n, struct entry entry)
{
    size_t i = *n;

    if (entry.weight <= 0)
        return;
    while (i > 0 && leads(entry.weight, entry.origin, top[i - 1].weight, top[i - 1].origin))
        i--;
    if (i == N_TOP)
        return;
    if (*n < N_TOP)
        ++*n;
    memmove(top + i + 1, top + i, (*n - 1 - i) * sizeof *top);
    top[i] = entry;
}

/* --- all of it --- */

int heat_read(const struct fields *fields, struct picture *picture, struct error *err)
{
    const struct board *board = fields->plan->board;
    const uint32_t *src = board->transforms[picture->transform].src;
    struct pen out = {.out = &picture->caption, .err = err};
    struct policy policy;

    if (!find(&policy, fields))
        return 0;
    policy.transform = picture->transform;
    picture->has_policy = true;
    for (uint64_t k = 0; k < policy.n; k++)
        policy.total += get(&policy, k).weight;
    for (uint64_t k = 0; k < policy.n && policy.total > 0; k++) {
        const struct entry entry = get(&policy, k);

        if (entry.weight == 0)
            continue;
        const int64_t cell = cell_of(&policy, picture, entry.action);

        keep_top(policy.top, &policy.n_top, entry);
        if (cell >= 0)
            picture->cells[cell].share += entry.weight / policy.total;
        else
            policy.tail += entry.weight;
    }
    /* The cells with the largest shares have them written. */
    for (int k = 0; k < N_TOP; k++) {
        struct picture_cell *const cells = picture->cells;
        uint32_t best = board->n_cells;

        for (uint32_t i = 0; i < board->n_cells; i++)
            if (!cells[i].is_top && cells[i].share > 0 &&
                (best == board->n_cells ||
                 leads(cells[i].share, src[i], cells[best].share, src[best])))
                best = i;
        if (best < board->n_cells)
            cells[best].is_top = true;
    }
    write_caption(&policy, &out);
    return out.failed ? -1 : 0;
}
