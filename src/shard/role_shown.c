/*
 * role_shown.c - integers under a name that says nothing may be moves all the same, which the
 * planes and the policy beside them show: in every row they name empty cells, or cells with stones,
 * or actions that have mass, or most of it. What other numbers would do so by chance is told from
 * how often each cell that they name is empty. A cell counts once, since the rows of a game say the
 * same.
 */
#include "shard/planes.h"
#include "shard/role_parts.h"

#define LOOK_ITEMS (1u << 18) /* actions of all rows that are looked at */
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

/* How numbers may be read: as actions, whose cells are in some order, or pairs of them as cells. */
static const struct reading {
    const char *role;
    enum action_flip flip;
    unsigned row, col; /* which of a pair is what; both 0: no pairs */
    int64_t base;      /* the number of the first action; no role says so, if it is not 0 */
} readings[] = {
    {.role = "action"},
    {.role = "coord", .col = 1},
    {.role = "coord:colrow", .row = 1},
    {.role = "drop", .base = 1},
    {.role = "drop", .col = 1, .base = 1},
    {.role = "drop", .row = 1, .base = 1},
    {.role = "drop", .col = 1, .flip = ACTION_FLIPUD},
    {.role = "drop", .col = 1, .flip = ACTION_ROT90}, /* x, and y from the bottom */
    {.role = "action:flipud", .flip = ACTION_FLIPUD},
    {.role = "action:fliplr", .flip = ACTION_FLIPLR},
    {.role = "action:rot180", .flip = ACTION_ROT180},
    {.role = "action:transpose", .flip = ACTION_TRANSPOSE},
    {.role = "action:rot90", .flip = ACTION_ROT90},
    {.role = "action:rot270", .flip = ACTION_ROT270},
    {.role = "action:anti-transpose", .flip = ACTION_ANTI_TRANSPOSE},
};

enum { N_READINGS = N_OF(readings) };

static bool is_of_pairs(const struct reading *reading)
{
    return reading->row != reading->col;
}

/* Whether an array can be read in that way. */
static bool can_read(const struct role_case *a, const struct reading *reading, bool is_of_cells)
{
    const struct board *board = a->c->board;
    const struct action_layout *cells = action_layout_by_length(board, board->n_cells);

    if (reading->flip != ACTION_AS_IS &&
        (!is_of_cells || cells == NULL || !action_can_flip(board, cells, reading->flip)))
        return false;
    return is_of_pairs(reading) ? a->h->n_dims == 2 && a->h->shape[1] == 2 && board->rows > 0
                                : a->b->role != ROLE_COORD;
}

/* The action, or cell, that element k is, with the next one if pairs are read. -1: none, as which
 * `none` is written, too. */
static int64_t action_named(const struct row *row, const struct reading *reading, uint64_t k,
                            int64_t none, const struct board *board)
{
    int64_t y = whole_number(row, k + reading->row), x = whole_number(row, k + reading->col);

    if ((x == none || x == -1) && x == y)
        return -1;
    x -= reading->base;
    y -= reading->base;
    if (is_of_pairs(reading))
        x = x >= 0 && y >= 0 && x < board->cols && y < board->rows ? y * board->cols + x
                                                                   : INT64_MAX;
    return reading->flip != ACTION_AS_IS && x >= 0 && x < board->n_cells
               ? (int64_t)action_flip_cell(board, reading->flip, (uint64_t)x)
               : x;
}

/* -ln of the probability that as many other actions would have what these have in all rows. */
static double evidence_of(const uint8_t *named, const uint64_t *has, uint64_t n, uint64_t n_rows)
{
    double evidence = 0;

    for (uint64_t at = 0; at < n; at++)
        if (named[at] != 0)
            evidence -= log((double)has[at] / (double)n_rows);
    return evidence;
}

/* What stands beside all numbers: planes, of which those of stones, and a policy. */
struct role_beside {
    struct reader readers[3]; /* the first is for the numbers */
    struct planes_form form;
    uint64_t n;       /* actions */
    bool is_of_cells; /* the policy, if there is one, numbers nothing else */
};

/* Find them once for all arrays. Returns NULL, with c->failed set, if there is no memory. */
static const struct role_beside *find_beside(struct role_context *c)
{
    const char *men = c->board->family->men != NULL ? c->board->family->men : "o";
    struct role_beside *beside = c->beside;

    if (beside != NULL)
        return beside;
    c->beside = beside = calloc(1, sizeof *beside);
    if (beside == NULL) {
        error_no_memory(&c->failed, "roles");
        return NULL;
    }
    beside->form.axis = c->board->n_cells;
    beside->n = beside->form.axis + 1;
    beside->is_of_cells = true;
    for (const struct role_case *at = c->cases; at < c->cases + c->n; at++) {
        const struct role_binding *b = at->b;
        const bool is_policy = (b->role == ROLE_POLICY || b->role == ROLE_MASK) &&
                               b->axes.outer == 1 && b->flip == ACTION_AS_IS;
        const bool is_planes = role_is_on_cells(b->role) && b->layout == NULL && !b->plane_xy &&
                               b->axes.axis == beside->form.axis;

        if (!(is_policy || is_planes) || beside->readers[1 + is_policy].arrays != NULL ||
            !dtype_is_number(&at->h->dtype) || at->array->row_nbytes == 0)
            continue;
        beside->readers[1 + is_policy] = (struct reader){.arrays = &at->array, .n_arrays = 1};
        if (is_planes) {
            beside->form = planes_form_of(b, &at->h->dtype);
            beside->form.n_planes = smaller(beside->form.n_planes, 2 * strlen(men)); /* of stones */
        } else if (b->n_actions > beside->n) {
            beside->n = b->n_actions;
        }
        beside->is_of_cells &= is_planes || b->n_actions - beside->form.axis <= 1;
    }
    return beside;
}

const char *role_shown(const struct role_case *a, const char **what)
{
    static const char *const shown[] = {"empty cells", "cells with stones", "actions with mass",
                                        "the actions with most mass"};
    const struct board *board = a->c->board;
    const bool is_known = a->named.is_known;
    const unsigned own = a->b->role == ROLE_COORD; /* how a known one is read */
    struct reader readers[3] = {{.arrays = &a->array, .n_arrays = 1}};
    uint64_t n_rows = 0;
    unsigned common[N_READINGS], open = 1; /* to all actions named, and by what is not known */
    double low, high, most = SURE;
    const char *role = NULL;
    struct error why = {0};
    struct walk walk;

    if (a->h->n_dims > 2 || !role_find_range(a, UINT64_MAX, &low, &high) || low < -1 || low == high)
        return NULL;
    const struct role_beside *beside = find_beside(a->c);
    if (beside == NULL)
        return NULL;
    const uint64_t n = beside->n;
    readers[1] = beside->readers[1];
    readers[2] = beside->readers[2];
    const int64_t none = high >= (double)n && high < 0x1p31 ? (int64_t)high : -1;
    const bool can_move = dtype_is_integer(&a->h->dtype) && none == -1;
    /* By action: in how many rows it has what; whether it is named, by reading; its marks. */
    uint64_t *has = calloc(n * N_MARKS, sizeof *has);
    uint8_t *named = calloc(n, N_READINGS + 1);
    for (unsigned r = 0; r < N_READINGS; r++)
        common[r] = can_read(a, &readings[r], beside->is_of_cells) ? ~0u : 0;
    walk_begin(&walk, readers, N_OF(readers), NULL, &why);
    if (has == NULL || named == NULL)
        walk.status = error_no_memory(&why, "numbers that may be moves");
    while (open != 0 && n_rows * n < LOOK_ITEMS && walk_next(&walk)) {
        uint8_t *const marks = named + N_READINGS * n;

        mark_actions(&beside->form, &walk.rows[1], &walk.rows[2], marks, n);
        for (unsigned mark = 0; mark < N_MARKS; mark++)
            for (uint64_t at = 0; at < n; at++)
                has[mark * n + at] += marks[at] >> mark & 1;
        n_rows++;
        open = 0;
        for (unsigned r = 0; r < N_READINGS; r++) {
            for (uint64_t k = 0; k < walk.rows->n && common[r] != 0; k++) {
                const int64_t at = action_named(walk.rows, &readings[r], k, none, board);

                common[r] &= at < 0 ? ~0u : at < (int64_t)n ? marks[at] : 0;
                if (at >= 0 && at < (int64_t)n)
                    named[r * n + (uint64_t)at] = 1;
                k += is_of_pairs(&readings[r]);
            }
            open |= is_known && r == own ? 0 : common[r] & ((1u << N_MARKS) - 1);
        }
    }
    for (unsigned i = 0; i < N_READINGS * N_MARKS && walk.status == 0 && n_rows > 0; i++) {
        const unsigned r = i / N_MARKS, mark = i % N_MARKS;
        const bool is_cell = r == 0 && !beside->is_of_cells && mark <= HAS_STONE;
        /* In columns that fill up numbers of moves name empty cells, too. A policy may be stored
         * in another order itself, and known moves to come are held against stones elsewhere. */
        const bool is_shown = common[r] >> mark & 1 && !(is_cell && mark == IS_EMPTY) &&
                              (readings[r].flip == ACTION_AS_IS || mark == HAS_STONE ||
                               (mark == IS_EMPTY && !is_known)) &&
                              !(is_known && (common[own] >> mark & 1));
        const double evidence =
            is_shown ? evidence_of(named + r * n, has + mark * n, n, n_rows) : 0;

        if (evidence > most) {
            most = evidence;
            role = !can_move ? "drop" : is_cell ? role_action_of_cells(board) : readings[r].role;
            *what = shown[mark];
        }
    }
    free(has);
    free(named);
    return role_end_look(a, walk_end(&walk), &why) ? role : NULL;
}
