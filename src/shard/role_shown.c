/*
 * role_shown.c - numbers under a name that says nothing may be moves all the same, which the planes
 * and the policy beside them show: in every row they name empty cells, or cells with stones, or
 * actions that have mass, or most of it. They are read in many ways: as actions and as pairs, from
 * any corner, from 0 or 1 or as fractions of the board, from a column, a record, a string or the
 * place of a single one. What other numbers would do so by chance is told from how often each cell
 * that they name is empty. A cell counts once, since the rows of a game say the same.
 */
#include "shard/planes.h"
#include "shard/role_parts.h"

#include <ctype.h>

#define LOOK_ITEMS       (1u << 18) /* actions of all rows that are looked at */
#define SURE             7          /* evidence: one in a thousand, */
#define MUST_HAVE_MASS   32         /* rows, in one of which at least */
#define MUST_HAVE_STONES 32         /* of stones that rest on one another */
#define TEXT_NBYTES      256        /* of strings, as many are read */
#define MUST_BE          10         /* and where there are many readings */

/* What an action may have in a row: bits of marks. */
enum { IS_EMPTY, HAS_STONE, HAS_MASS, HAS_MOST, N_MARKS };

/* --- stones that fall --- */

/* True when every stone rests on another one or on the lowest cell of its column, whose cells
 * follow each other by `step`; with `up`, when it hangs from another one or from the highest. */
static bool all_rest(const uint8_t *marks, const struct board *board, uint64_t step, bool up)
{
    for (uint64_t i = 0; i < board->n_cells; i++)
        if (marks[i] == 1 << HAS_STONE && i / step % board->rows != (up ? 0 : board->rows - 1) &&
            marks[up ? i - step : i + step] != 1 << HAS_STONE)
            return false;
    return true;
}

/* Where all stones rest, or hang, keep the marks of empty cells only where the next one would. */
static void mark_where_stones_rest(uint8_t *marks, const struct board *board)
{
    const bool up = !all_rest(marks, board, board->cols, false);
    const uint64_t step = up ? -(uint64_t)board->cols : board->cols; /* beyond cells at the edge */

    if (up && !all_rest(marks, board, board->cols, true))
        return;
    for (uint64_t i = 0; i < board->n_cells; i++)
        if (i + step < board->n_cells && marks[i + step] != 1 << HAS_STONE)
            marks[i] &= (uint8_t) ~(1u << IS_EMPTY);
}

bool role_lies_by_columns(const struct role_case *a)
{
    const struct board *board = a->c->board;
    const struct planes_form form = planes_form_of(a->b, &a->h->dtype);
    /* Of each of three planes, and of the first two: what all rows show, and how many stones do. */
    enum { N_SETS = 5 };
    unsigned by_columns[N_SETS] = {0, 3, 3, 3, 3}; /* bits: they rest, they hang */
    uint64_t n_odd[N_SETS] = {0};                  /* of rows that do neither as they stand */
    uint8_t *marks;
    bool found = false;
    struct walk walk;

    if (action_layout_by_name(board, "columns") == NULL || form.axis != board->n_cells ||
        !dtype_is_number(&a->h->dtype) || a->array->row_nbytes == 0)
        return false;
    marks = malloc(form.axis);
    role_begin_look(a, &walk);
    if (marks == NULL)
        walk.status = error_no_memory(walk.err, "stones of a row");
    while (marks != NULL && walk.number * form.axis < LOOK_ITEMS && walk_next(&walk))
        for (unsigned set = 1; set < N_SETS; set++) {
            uint64_t n = 0;

            memset(marks, 0, form.axis);
            for (unsigned plane = 0; plane < smaller(form.n_planes, 3); plane++)
                if (set >> plane & 1)
                    n += planes_mark(&form, walk.rows->bytes, plane, 1 << HAS_STONE, marks);
            for (unsigned up = 0; up < 2; up++)
                if (!all_rest(marks, board, 1, up))
                    by_columns[set] &= ~(1u << up);
            if (!all_rest(marks, board, board->cols, false) &&
                !all_rest(marks, board, board->cols, true))
                n_odd[set] += n;
        }
    free(marks);
    for (unsigned set = 1; set < N_SETS; set++)
        found |= by_columns[set] != 0 && n_odd[set] >= MUST_HAVE_STONES;
    return role_end_look(a, walk_end(&walk)) && found;
}

/* --- readings --- */

/* What of a row may be moves: all of its numbers, or pairs of them; the places of its bits, from
 * the lowest of each byte or from the highest; or one of the columns that read_columns finds, or
 * two of them side by side. */
enum { ALL_NUMBERS, ALL_PAIRS, LOW_BITS, HIGH_BITS, COLUMN, N_COLUMNS = 14 };
enum { COLUMN_PAIR = COLUMN + N_COLUMNS, N_UNITS = COLUMN_PAIR + N_COLUMNS - 1 };

/* How n rows, columns or cells may be numbered: v is number v * by + at, where `by` is a multiple
 * of n and a rest, and so is `at`. */
static const struct scale {
    bool is_whole;
    double by_n, by, at_n, at;
} scales[] = {
    {true, 0, 1, 0, 0},           /* from 0 to n - 1 */
    {true, 0, 1, 0, -1},          /* from 1 to n */
    {true, 0, 1, 0.5, -0.5},      /* from the middle, */
    {true, 0, 0.5, 0.5, -0.5},    /* in steps of 2 */
    {false, 1, -1, 0, 0},         /* from 0 to 1 */
    {false, 1, 0, 0, 0},          /* from 0 to below 1 */
    {false, 1, 0, 0, -0.5},       /* the middles of cells */
    {false, 0.5, -0.5, 0.5, -0.5} /* from -1 to 1 */
};

/* A reading: a unit, the order of its cells, how they are numbered. */
enum { N_SCALES = N_OF(scales), N_READINGS = N_UNITS * ACTION_N_FLIPS * N_SCALES };

struct reading {
    unsigned unit, scale;
    enum action_flip flip;
    bool is_pair;
    const char *role; /* "drop": none reads so */
};

static struct reading reading_of(unsigned r)
{
    static const char *const roles[2][ACTION_N_FLIPS] = {
        {"action", "action:flipud", "action:fliplr", "action:rot180", "action:transpose",
         "action:rot90", "action:rot270", "action:anti-transpose"},
        {[ACTION_AS_IS] = "coord", [ACTION_TRANSPOSE] = "coord:colrow"}};
    const unsigned unit = r / (ACTION_N_FLIPS * N_SCALES);
    struct reading reading = {.unit = unit,
                              .scale = r % N_SCALES,
                              .flip = r / N_SCALES % ACTION_N_FLIPS,
                              .is_pair = unit == ALL_PAIRS || unit >= COLUMN_PAIR,
                              .role = "drop"};

    if (unit <= ALL_PAIRS && reading.scale == 0 && roles[unit][reading.flip] != NULL)
        reading.role = roles[unit][reading.flip];
    return reading;
}

/* Whether an array can be read in that way, if actions can be in the orders of can_flip. */
static bool can_read(const struct role_case *a, const struct reading *reading, const bool *can_flip)
{
    const struct dtype *dtype = &a->h->dtype;
    const bool is_number = dtype_is_number(dtype) || a->array->objects != NULL;
    const bool is_as_is = reading->flip == ACTION_AS_IS && reading->scale == 0;
    const uint64_t n = a->h->n_dims > 1 ? a->h->shape[a->h->n_dims - 1] : 1;
    const bool is_composed = reading->unit >= COLUMN && n == 1 && dtype_is_integer(dtype);

    if (reading->unit == LOW_BITS || reading->unit == HIGH_BITS)
        return is_as_is && !a->named.is_known && !a->is_refused && dtype->kind != DTYPE_FLOAT &&
               8 * a->array->row_nbytes >= a->c->board->n_cells;
    if ((reading->unit <= ALL_PAIRS ? !is_number : a->named.is_known) ||
        (!scales[reading->scale].is_whole && dtype->kind != DTYPE_FLOAT))
        return false;
    /* Few others read so. */
    if ((reading->scale > 1 && scales[reading->scale].is_whole &&
         (!reading->is_pair || is_composed)) ||
        (reading->unit > ALL_PAIRS && !reading->is_pair && reading->flip != ACTION_AS_IS) ||
        (is_composed && reading->is_pair && (reading->unit - COLUMN_PAIR) % 2 != 0))
        return false;
    if (reading->is_pair)
        return a->c->board->rows > 0 && (reading->unit != ALL_PAIRS || n % 2 == 0);
    return a->b->role != ROLE_COORD && can_flip[reading->flip];
}

/* The number that v is on a scale of n; INT64_MAX: none of them, -1: no cell. */
static int64_t number_of(double v, const struct scale *scale, double n)
{
    const double at = v * (scale->by_n * n + scale->by) + scale->at_n * n + scale->at;
    const double slack = scale->is_whole ? 0 : 0.01;

    return isnan(v)                                            ? -1
           : fabs(at - rint(at)) <= slack && fabs(at) < 0x1p31 ? (int64_t)rint(at)
                                                               : INT64_MAX;
}

/* The action, or cell, that v, or v and w as a pair, are. -1: none, as which `none` is written,
 * too. */
static int64_t action_named(double v, double w, const struct reading *reading, double none,
                            const struct board *board)
{
    const struct scale *const scale = &scales[reading->scale];
    const bool is_pair = reading->is_pair, exchanges = action_flip_exchanges(reading->flip);
    const uint64_t rows = board->rows, cols = board->cols > 0 ? board->cols : 1;

    if ((v == none || v == -1) && (!is_pair || v == w))
        return -1;
    int64_t y = number_of(is_pair && exchanges ? w : v, scale,
                          is_pair ? (double)rows : (double)board->n_cells);
    int64_t x = is_pair ? number_of(exchanges ? v : w, scale, (double)cols) : 0;
    if (y < 0 && (x < 0 || !is_pair))
        return -1;
    if (!is_pair)
        return reading->flip != ACTION_AS_IS && y < board->n_cells
                   ? (int64_t)action_flip_cell(board, reading->flip, (uint64_t)y)
                   : y;
    if (x < 0 || y < 0 || x >= (int64_t)cols || y >= (int64_t)rows)
        return INT64_MAX;
    if (reading->flip & ACTION_FLIPUD)
        y = (int64_t)rows - 1 - y;
    if (reading->flip & ACTION_FLIPLR)
        x = (int64_t)cols - 1 - x;
    return y * (int64_t)cols + x;
}

/* --- columns --- */

/* The numbers in a string, and of cells such as d4 the column, the row, and the column if there is
 * no letter i. Words for no cell are -1. False: the row is not a string. */
static bool read_text(const struct row *row, double *columns)
{
    static const char *const words[] = {"pass", "none", "null", "resign"};
    char text[TEXT_NBYTES + 2] = "  ", *at = text + 2;
    unsigned n_found = 0;

    if (!role_read_string(row, 0, at, TEXT_NBYTES))
        return false;
    bool is_none = *at == '\0';
    for (unsigned k = 0; k < N_OF(words); k++)
        is_none |= text_contains_caseless(at, words[k]);
    for (unsigned k = 0; k < N_COLUMNS && is_none; k++)
        columns[k] = -1;
    while (*(at += strcspn(at, "0123456789")) != '\0' && n_found + 3 <= N_COLUMNS) {
        const bool is_cell = isalpha((unsigned char)at[-1]) && !isalpha((unsigned char)at[-2]);
        const int letter = tolower((unsigned char)at[-1]) - 'a';

        if (is_cell)
            columns[n_found++] = letter + 1;
        columns[n_found++] = (double)strtoul(at, &at, 10);
        if (is_cell)
            columns[n_found++] = letter + (letter < 8);
    }
    return true;
}

/* Columns of a row, INFINITY where there are none: its numbers if they are few; what a single one
 * is composed of, as from * 64 + to; those in a record or a string; where its only number other
 * than 0 stands, in the last column, or, where rows and columns of the board are told so one after
 * the other, both in the last two. */
static void read_columns(const struct role_case *a, const struct row *row, double *columns)
{
    const struct board *board = a->c->board;
    const uint64_t n_rows = board->rows, n = row->n;
    const bool are_two = n_rows > 0 && n == n_rows + board->cols;
    double *const of_ones = &columns[N_COLUMNS - 2];

    for (unsigned k = 0; k < N_COLUMNS; k++)
        columns[k] = INFINITY;
    if (n == 1 && a->h->n_fields > 0) {
        const struct dtype *field = a->h->fields;
        const uint8_t *at = row->bytes;

        for (unsigned k = 0; field < a->h->fields + a->h->n_fields; at += field++->itemsize)
            if (dtype_is_number(field) && k < N_COLUMNS)
                columns[k++] = dtype_get_double(field, at);
    } else if (n == 1 && read_text(row, columns)) {
        return;
    } else if (n == 1 && (row->items != NULL || dtype_is_integer(row->dtype))) {
        const int64_t v = row_int(row, 0);
        const int64_t bases[N_COLUMNS / 2] = {
            board->cols, board->rows, board->cols + 2, board->n_cells, 16, 100, 256};

        for (size_t k = 0; k < N_COLUMNS / 2; k++) {
            const bool is_none = v < 0 || bases[k] == 0;
            const int64_t high = is_none ? -1 : v / bases[k], low = is_none ? -1 : v % bases[k];

            columns[2 * k] = (double)high;
            columns[2 * k + 1] = (double)low;
        }
    } else if (n == 1 && row->dtype->kind == DTYPE_COMPLEX) {
        struct dtype part = *row->dtype;

        part.kind = DTYPE_FLOAT;
        part.itemsize /= 2;
        columns[0] = dtype_get_double(&part, row->bytes);
        columns[1] = dtype_get_double(&part, row->bytes + part.itemsize);
    } else if (row->items == NULL && dtype_is_number(row->dtype)) {
        for (uint64_t k = 0; n > 1 && n <= N_COLUMNS - 2 && k < n; k++)
            columns[k] = row_double(row, k);
        if (!are_two && n <= N_COLUMNS - 2)
            return;
        of_ones[0] = are_two ? -1 : INFINITY;
        of_ones[1] = -1;
        for (uint64_t k = 0; k < n; k++) {
            double *const one = &of_ones[!are_two || k >= n_rows];

            if (row_double(row, k) != 0)
                *one = *one == -1 ? (double)(are_two && k >= n_rows ? k - n_rows : k) : INFINITY;
        }
    }
}

/* --- what they show --- */

/* What stands beside all numbers: planes, of which those of stones, and a policy. */
struct role_beside {
    struct walk walk; /* through both, as far as they were needed */
    struct error why; /* it failed */
    struct planes_form form;
    uint64_t n;                  /* actions */
    const struct board *falling; /* whose stones fall, or NULL */
    uint64_t n_rows;             /* that were marked: */
    uint8_t *marks;              /* owned: n of each row */
    uint64_t *has;               /* owned: by mark and action, how many rows have it there */
    const struct action_layout *cells;
    bool is_of_cells;              /* the policy, if there is one, numbers nothing else */
    bool can_flip[ACTION_N_FLIPS]; /* so that actions can be in that order */
};

/* Find them once for all arrays. Returns NULL, with c->failed set, if there is no memory. */
static struct role_beside *find_beside(struct role_context *c)
{
    const char *men = c->board->family->men != NULL ? c->board->family->men : "o";
    struct role_beside *beside = c->beside;
    struct reader readers[2] = {{.arrays = NULL}}; /* planes, policy */

    if (beside != NULL)
        return beside;
    c->beside = beside = calloc(1, sizeof *beside);
    if (beside == NULL) {
        error_no_memory(&c->failed, "roles");
        return NULL;
    }
    beside->form.axis = c->board->n_cells;
    beside->n = beside->form.axis + 1;
    beside->falling = action_layout_by_name(c->board, "columns") != NULL ? c->board : NULL;
    beside->is_of_cells = true;
    for (const struct role_case *at = c->cases; at < c->cases + c->n; at++) {
        const struct role_binding *b = at->b;
        const bool is_policy = (b->role == ROLE_POLICY || b->role == ROLE_MASK) &&
                               b->axes.outer == 1 && b->flip == ACTION_AS_IS;
        const bool is_planes = role_is_on_cells(b->role) && b->layout == NULL && !b->plane_xy &&
                               b->axes.axis == beside->form.axis;

        if (!(is_policy || is_planes) || readers[is_policy].arrays != NULL ||
            !dtype_is_number(&at->h->dtype) || at->array->row_nbytes == 0)
            continue;
        readers[is_policy] = (struct reader){.arrays = &at->array, .n_arrays = 1};
        if (is_planes) {
            beside->form = planes_form_of(b, &at->h->dtype);
            beside->form.n_planes = smaller(beside->form.n_planes, 2 * strlen(men)); /* of stones */
        } else if (b->n_actions > beside->n) {
            beside->n = b->n_actions;
        }
        beside->is_of_cells &= is_planes || b->n_actions - beside->form.axis <= 1;
    }
    beside->cells = action_layout_by_length(c->board, c->board->n_cells);
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        beside->can_flip[flip] =
            flip == ACTION_AS_IS ||
            (beside->is_of_cells && beside->cells != NULL && board_keeps_flip(c->board, flip));
    if (readers[0].arrays == NULL) /* of which no planes are looked at */
        readers[0] = readers[1];
    walk_begin(&beside->walk, readers, 2, NULL, &beside->why);
    if (new_items(&beside->marks, LOOK_ITEMS + 2 * beside->n, "marks of actions", &beside->why) !=
            0 ||
        new_items(&beside->has, N_MARKS * beside->n, "marks of actions", &beside->why) != 0)
        beside->walk.status = -1;
    return beside;
}

void role_beside_free(struct role_beside *beside)
{
    if (beside == NULL)
        return;
    (void)walk_end(&beside->walk);
    free(beside->marks);
    free(beside->has);
    free(beside);
}

/* What each action has in the current row of a walk through an array, which ends if that cannot be
 * read: NULL. */
static const uint8_t *marks_of(struct role_beside *beside, struct walk *walk)
{
    const struct planes_form *form = &beside->form;
    const uint64_t n = beside->n;
    uint8_t *marks = beside->marks + walk->number * n;

    if (walk->number < beside->n_rows)
        return marks;
    if (!walk_next(&beside->walk)) {
        walk->status = error_pass(walk->err, &beside->why);
        return NULL;
    }
    const struct row *policy = &beside->walk.rows[1];
    const double most = row_summarize(policy, 0, policy->n).max;
    for (uint64_t k = 0; k < form->n_planes; k++)
        planes_mark(form, beside->walk.rows[0].bytes, k, 1 << HAS_STONE, marks);
    for (uint64_t i = 0; i < n; i++)
        if (i >= form->axis) /* a pass says nothing */
            marks[i] = 1 << IS_EMPTY | 1 << HAS_STONE;
        else if (marks[i] == 0 && form->n_planes > 0)
            marks[i] = 1 << IS_EMPTY;
    if (beside->falling != NULL)
        mark_where_stones_rest(marks, beside->falling);
    for (uint64_t i = 0; i < smaller(n, policy->n); i++)
        if (row_double(policy, i) > 0)
            marks[i] |= 1 << HAS_MASS | (row_double(policy, i) == most) << HAS_MOST;
    for (unsigned mark = 0; mark < N_MARKS; mark++)
        for (uint64_t i = 0; i < n; i++)
            beside->has[mark * n + i] += marks[i] >> mark & 1;
    beside->n_rows++;
    return marks;
}

/* An array, what stands beside it, and what is found. */
struct look {
    const struct role_case *a;
    struct role_beside *beside;
    double none;                 /* the number that stands for no cell, besides -1 */
    const uint8_t *marks;        /* of the actions, in one row */
    uint8_t *named;              /* owned: by reading and action, a bit: it is named */
    unsigned common[N_READINGS]; /* marks of all actions that are named */
};

/* Enter what a row names when it is read in way r. */
static void look_at(struct look *l, const struct row *row, const double *columns, unsigned r)
{
    const struct reading reading = reading_of(r);
    const bool is_all = reading.unit <= ALL_PAIRS, is_pair = reading.is_pair;
    const bool are_bits = reading.unit == LOW_BITS || reading.unit == HIGH_BITS;
    const struct board *board = l->a->c->board;
    const uint64_t n_nbytes = l->a->array->row_nbytes, n_plane = (board->n_cells + 7) / 8;
    const uint64_t n = are_bits ? 8 * n_nbytes : is_all ? row->n : 1u + is_pair;
    const uint64_t n_actions = l->beside->n;
    const unsigned at = reading.unit - (is_pair ? COLUMN_PAIR : COLUMN);

    for (uint64_t k = 0; k + is_pair < n && l->common[r] != 0; k += 1u + is_pair) {
        int64_t named;

        if (are_bits && !plane_bit(row->bytes, k, reading.unit == LOW_BITS))
            continue;
        if (are_bits)
            named = (int64_t)(n_nbytes % n_plane == 0 ? k % (8 * n_plane) : k);
        else if (is_all)
            named = action_named(row_double(row, k), is_pair ? row_double(row, k + 1) : 0, &reading,
                                 l->none, board);
        else
            named =
                action_named(columns[at], is_pair ? columns[at + 1] : 0, &reading, l->none, board);
        if (named < 0)
            continue;
        const uint64_t bit = r * n_actions + (uint64_t)named;
        l->common[r] &= named < (int64_t)n_actions ? l->marks[named] : 0;
        if (named < (int64_t)n_actions)
            l->named[bit / 8] |= (uint8_t)(1 << bit % 8);
    }
}

/* -ln of the probability that as many other actions would have what these have in all rows. */
static double evidence_of(const struct look *l, unsigned r, unsigned mark)
{
    const struct role_beside *const beside = l->beside;
    const uint64_t n = beside->n;
    double evidence = 0;

    for (uint64_t at = 0, bit = r * n; at < n; at++, bit++)
        if (l->named[bit / 8] >> bit % 8 & 1)
            evidence -= log((double)beside->has[mark * n + at] / (double)beside->n_rows);
    return evidence;
}

/* Find what all actions named have, by reading. */
static int look_at_rows(struct look *l, unsigned own)
{
    struct role_beside *const beside = l->beside;
    double columns[N_COLUMNS];
    unsigned open[N_READINGS], n_open = 0;
    bool is_open = true; /* what is not known */
    struct walk walk;

    for (unsigned r = 0; r < N_READINGS; r++) {
        const struct reading reading = reading_of(r);

        if (can_read(l->a, &reading, beside->can_flip)) {
            l->common[r] = (1u << N_MARKS) - 1;
            open[n_open++] = r;
        }
    }
    role_begin_look(l->a, &walk);
    if (l->named == NULL)
        walk.status = error_no_memory(walk.err, "numbers that may be moves");
    while (is_open && walk.number * beside->n < LOOK_ITEMS && walk_next(&walk) &&
           (l->marks = marks_of(beside, &walk)) != NULL) {
        read_columns(l->a, walk.rows, columns);
        const unsigned n_before = n_open;
        is_open = false;
        n_open = 0;
        for (unsigned k = 0; k < n_before; k++) {
            const unsigned r = open[k];

            look_at(l, walk.rows, columns, r);
            if (l->common[r] != 0)
                open[n_open++] = r;
            is_open |= l->common[r] != 0 && r != own;
        }
    }
    return role_end_look(l->a, walk_end(&walk)) ? 0 : -1;
}

const char *role_shown(const struct role_case *a, const char **what)
{
    static const char *const shown[] = {"empty cells", "cells with stones", "actions with mass",
                                        "the actions with most mass"};
    const bool is_known = a->named.is_known && !a->is_refused;
    /* How a known one is read. */
    const unsigned own = !is_known                  ? N_READINGS
                         : a->b->role == ROLE_COORD ? ALL_PAIRS * ACTION_N_FLIPS * N_SCALES
                                                    : 0;
    struct role_beside *const beside = find_beside(a->c);
    double low, high, most = 0;
    const char *role = NULL;

    const bool has_range = role_find_range(a, UINT64_MAX, &low, &high);
    if (beside == NULL || (has_range && low == high && dtype_is_number(&a->h->dtype)))
        return NULL;
    const uint64_t n = beside->n;
    struct look l = {.a = a,
                     .beside = beside,
                     .none = has_range && high >= (double)n && high < 0x1p31 ? high : -1};
    const bool can_move = dtype_is_integer(&a->h->dtype) && l.none == -1;

    l.named = calloc(n * N_READINGS / 8 + 1, 1);
    const bool looked = look_at_rows(&l, own) == 0 && beside->n_rows > 0;
    for (unsigned i = 0; i < N_READINGS * N_MARKS && looked; i++) {
        const unsigned r = i / N_MARKS, mark = i % N_MARKS;
        const struct reading reading = reading_of(r);
        const bool is_usual =
            reading.flip == ACTION_AS_IS || (reading.is_pair && reading.flip == ACTION_TRANSPOSE);
        const bool is_cell = !reading.is_pair && !beside->is_of_cells && mark <= HAS_STONE;
        /* A policy may be stored in another order itself, and known moves to come are held against
         * stones elsewhere. */
        const bool is_shown = l.common[r] >> mark & 1 &&
                              (is_usual || mark == HAS_STONE || (mark == IS_EMPTY && !is_known)) &&
                              !(is_known && (l.common[own] >> mark & 1));
        /* A column may be an action of its own, in Connect 4, say. */
        const bool is_likelier = role == NULL || reading.unit <= ALL_PAIRS;
        const double evidence = is_shown && is_likelier ? evidence_of(&l, r, mark) : 0;

        if (evidence > most &&
            evidence > (reading.unit <= ALL_PAIRS && reading.scale < 2 ? SURE : MUST_BE)) {
            most = evidence;
            role = !can_move || (!reading.is_pair &&
                                 !action_can_flip(a->c->board, beside->cells, reading.flip))
                       ? "drop"
                   : is_cell && r == 0 ? role_action_of_cells(a->c->board)
                                       : reading.role;
            *what = shown[mark];
        }
    }
    free(l.named);
    return role;
}

bool role_lacks_mass(const struct role_case *a)
{
    struct role_beside *const beside = find_beside(a->c);
    const uint8_t *marks;
    uint64_t n_with_mass = 0, n_on_mass = 0, n_on_cells = 0, n_moves = 0;
    struct walk walk;

    if (beside == NULL || beside->n <= beside->form.axis + 1 || a->array->n_rows == 0)
        return false;
    role_begin_look(a, &walk);
    while (walk.number * beside->n < LOOK_ITEMS && walk_next(&walk) &&
           (marks = marks_of(beside, &walk)) != NULL) {
        const int64_t move = row_int(walk.rows, 0);
        unsigned found = 0;

        for (uint64_t i = 0; i < beside->n; i++)
            found |= marks[i];
        n_moves += move >= 0;
        n_on_cells += move >= 0 && (uint64_t)move <= beside->form.axis;
        if (move < 0 || !(found >> HAS_MASS & 1))
            continue;
        n_with_mass++;
        n_on_mass += (uint64_t)move < beside->n && marks[move] >> HAS_MASS & 1;
    }
    /* Moves made before have none. */
    return role_end_look(a, walk_end(&walk)) && 2 * n_on_mass < n_with_mass &&
           ((n_moves > 2 && n_on_cells == n_moves) ||
            (a->named.role == ROLE_ACTION && n_on_mass == 0 && n_with_mass >= MUST_HAVE_MASS));
}
