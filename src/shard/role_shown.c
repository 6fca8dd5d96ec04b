/*
 * role_shown.c - integers under a name that says nothing may be moves all the same, which the
 * planes and the policy beside them show: in every row they name empty cells, or cells with stones,
 * or actions that have mass, or most of it. What other numbers would do so by chance is told from
 * how often each cell that they name is empty. A cell counts once, since the rows of a game say the
 * same.
 */
#include "shard/batch.h"
#include "shard/planes.h"
#include "shard/role_parts.h"

#define LOOK_ITEMS (1u << 21) /* actions of all rows that are looked at */
#define SURE       7          /* evidence: one in a thousand */

/* What an action may have in a row: bits of marks. */
enum { IS_EMPTY, HAS_STONE, HAS_MASS, HAS_MOST, N_MARKS };

/* Mark n actions by a row of planes of stones, of which there may be none, and one of a policy. */
static void mark_actions(const struct planes_form *form, const struct row *planes,
                         const struct row *policy, uint8_t *marks, uint64_t n)
{
    const double most = row_summarize(policy, 0, policy->n).max;

    memset(marks, 0, n);
    for (uint64_t k = 0; k < form->n_planes; k++)
        planes_mark(form, planes->bytes, k, 1 << HAS_STONE, marks);
    for (uint64_t i = 0; i < n; i++) {
        if (i >= form->axis) /* a pass says nothing */
            marks[i] = 1 << IS_EMPTY | 1 << HAS_STONE;
        else if (marks[i] == 0 && form->n_planes > 0)
            marks[i] = 1 << IS_EMPTY;
        if (i < policy->n && row_double(policy, i) > 0)
            marks[i] |= 1 << HAS_MASS | (row_double(policy, i) == most) << HAS_MOST;
    }
}

static int64_t whole_number(const struct row *row, uint64_t k)
{
    const double v = row_double(row, k);

    return isnan(v) ? -1 : v == floor(v) && fabs(v) < 0x1p31 ? (int64_t)v : INT64_MAX;
}

/* The action that element k is; or, with the next one, the cell at (row, col) or (col, row). -1:
 * none, as which `none` is written, too. */
static int64_t action_named(const struct row *row, unsigned reading, uint64_t k, int64_t none,
                            const struct board *board)
{
    const int64_t first = whole_number(row, k),
                  second = reading > 0 ? whole_number(row, k + 1) : first;
    const int64_t y = reading == 1 ? first : second, x = reading == 1 ? second : first;

    if ((first == none || first == -1) && second == first)
        return -1;
    if (reading == 0)
        return first;
    return x >= 0 && y >= 0 && x < board->cols && y < board->rows ? y * board->cols + x : INT64_MAX;
}

const char *role_shown(const struct role_case *a, const char **what)
{
    static const char *const roles[] = {"action", "coord", "coord:colrow"};
    static const char *const shown[] = {"empty cells", "cells with stones", "actions with mass",
                                        "the actions with most mass"};
    const struct board *board = a->c->board;
    const char *men = board->family->men != NULL ? board->family->men : "o";
    const unsigned n_readings =
        a->h->n_dims == 2 && a->h->shape[1] == 2 && board->rows > 0 ? N_OF(roles) : 1;
    struct planes_form form = {.axis = board->n_cells};
    struct reader readers[] = {{.arrays = &a->array, .n_arrays = 1}, {NULL}, {NULL}};
    uint64_t n = form.axis + 1, n_rows = 0;
    unsigned common[] = {~0u, ~0u, ~0u}; /* to all actions named, by reading */
    double low, high, most = SURE;
    const char *role = NULL;
    bool is_of_cells = true; /* the policy, if there is one */
    struct walk walk;

    for (const struct role_case *at = a->c->cases; at < a->c->cases + a->c->n; at++) {
        const struct role_binding *b = at->b;
        const bool is_policy = (b->role == ROLE_POLICY || b->role == ROLE_MASK) &&
                               b->axes.outer == 1 && b->flip == ACTION_AS_IS;
        const bool is_planes = role_is_on_cells(b->role) && b->layout == NULL && !b->plane_xy &&
                               b->axes.axis == form.axis;

        if (!(is_policy || is_planes) || readers[1 + is_policy].arrays != NULL ||
            !dtype_is_number(&at->h->dtype) || at->array->row_nbytes == 0)
            continue;
        readers[1 + is_policy] = (struct reader){.arrays = &at->array, .n_arrays = 1};
        if (is_planes) {
            form = planes_form_of(b, &at->h->dtype);
            form.n_planes = smaller(form.n_planes, 2 * strlen(men)); /* of stones */
        } else if (b->n_actions > n) {
            n = b->n_actions;
        }
        is_of_cells &= is_planes || b->n_actions - form.axis <= 1;
    }
    if (a->h->n_dims > 2 || !role_find_range(a->array, UINT64_MAX, &low, &high) || low < -1)
        return NULL;
    const int64_t none = high >= (double)n && high < 0x1p31 ? (int64_t)high : -1;
    const bool can_move = dtype_is_integer(&a->h->dtype) && none == -1;
    /* By action: in how many rows it has what; whether it is named, by reading; its marks. */
    uint64_t *has = calloc(n * N_MARKS, sizeof *has);
    uint8_t *named = calloc(n, N_OF(roles) + 1);
    walk_begin(&walk, readers, N_OF(readers), NULL, NULL);
    for (; has != NULL && named != NULL && n_rows * n < LOOK_ITEMS && walk_next(&walk); n_rows++) {
        uint8_t *const marks = named + N_OF(roles) * n;

        mark_actions(&form, &walk.rows[1], &walk.rows[2], marks, n);
        for (uint64_t i = 0; i < n * N_MARKS; i++)
            has[i] += marks[i % n] >> i / n & 1;
        for (unsigned r = 0; r < n_readings; r++)
            for (uint64_t k = 0; k + (r > 0) < walk.rows->n; k += r > 0 ? 2 : 1) {
                const int64_t at = action_named(walk.rows, r, k, none, board);

                common[r] &= at < 0 ? ~0u : at < (int64_t)n ? marks[at] : 0;
                if (at >= 0 && at < (int64_t)n)
                    named[r * n + (uint64_t)at] = 1;
            }
    }
    for (unsigned i = 0; i < n_readings * N_MARKS && walk.status == 0 && n_rows > 0; i++) {
        const unsigned r = i / N_MARKS, mark = i % N_MARKS;
        const bool is_cell = r == 0 && !is_of_cells && mark <= HAS_STONE;
        /* In columns that fill up numbers of moves name empty cells, too. */
        const bool is_shown = common[r] >> mark & 1 && !(is_cell && mark == IS_EMPTY);
        double evidence = 0;

        for (uint64_t at = 0; at < n && is_shown; at++)
            if (named[r * n + at] != 0)
                evidence -= log((double)has[mark * n + at] / (double)n_rows);
        if (evidence > most) {
            most = evidence;
            role = !can_move ? "drop" : is_cell ? role_action_of_cells(board) : roles[r];
            *what = shown[mark];
        }
    }
    free(has);
    free(named);
    return walk_end(&walk) == 0 ? role : NULL;
}
