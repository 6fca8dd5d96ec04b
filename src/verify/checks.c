/*
 * checks.c - see checks.h.
 *
 * A table tells which checks the rows of a role get: some every image, some the source's own row
 * alone. A check makes at most one finding of a kind for a row, at the first element that is wrong.
 */
#include "verify/checks.h"

#include "engine/turn.h"
#include "verify/numbers.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define N_OF(table)   (sizeof(table) / sizeof(table)[0])
#define SUM_TOLERANCE 1e-3
#define VALUE_SLACK   1e-6

/* One row under the eyes of a check. */
struct subject {
    const struct row_check *check;
    const struct lane *lane;
    struct row row;
    uint64_t at;
};

/* A finding about the row: code, expected, found, message. */
#define TELL(s, code, ...)                                                               \
    findings_add((s)->check->findings,                                                   \
                 &(const struct finding_place){(code), false, (s)->lane->array->key,     \
                                               (s)->check->window->images[(s)->at].row}, \
                 __VA_ARGS__)
#define WARN(s, code, ...)                                                               \
    findings_add((s)->check->findings,                                                   \
                 &(const struct finding_place){(code), true, (s)->lane->array->key,      \
                                               (s)->check->window->images[(s)->at].row}, \
                 __VA_ARGS__)

/* The same row of the values of a sparse policy; empty when there are none. */
static struct row values_of(const struct subject *s)
{
    if (s->lane->values < 0)
        return (struct row){0};
    return window_row(s->check->window, s->check->lanes, (size_t)s->lane->values, s->at);
}

/* --- numbers that are none --- */

/* Arrays that go into training as numbers; other copies may hold NaN for "not known". */
static bool must_be_finite(const struct lane *lane)
{
    static const char *const names[] = {"globals",         "gf",      "globalInputNC",
                                        "globalTargetsNC", "weights", "sample_weights"};

    for (size_t i = 0; i < N_OF(names); i++)
        if (strcasecmp(lane->array->key, names[i]) == 0)
            return true;
    return lane->binding->role != ROLE_COPY;
}

static bool is_finite(const struct subject *s)
{
    uint64_t first = s->row.n;

    if (s->row.bytes != NULL)
        first = numbers_first_nan(s->row.dtype, s->row.bytes, s->row.n);
    else
        for (uint64_t i = 0; i < s->row.n && first == s->row.n; i++)
            if (s->row.items[i].kind == PICKLE_FLOAT && !isfinite(s->row.items[i].as.number))
                first = i;
    if (first == s->row.n)
        return true;
    TELL(s, FINDING_NAN, "a finite number", finding_format("%g", row_double(&s->row, first)).text,
         "element %llu", (unsigned long long)first);
    return false;
}

/* --- policies --- */

static void judge_policy(const struct subject *s, const struct numbers_summary *sum)
{
    if (sum->min < 0)
        TELL(s, FINDING_POLICY_NEGATIVE, "no negative mass", finding_format("%g", sum->min).text,
             "negative mass");
    if (!s->lane->binding->is_counts &&
        !(fabs(sum->sum - 1) <= SUM_TOLERANCE || fabs(sum->sum) <= SUM_TOLERANCE))
        TELL(s, FINDING_POLICY_SUM, "1, or 0, within 0.001", finding_format("%.9g", sum->sum).text,
             "sum of a policy");
}

static void check_policy(const struct subject *s)
{
    const uint64_t outer = s->lane->binding->axes.outer;
    const uint64_t n = outer > 0 ? s->row.n / outer : 0;

    if (s->row.dtype->kind != DTYPE_FLOAT)
        return;
    for (uint64_t o = 0; o < outer && n > 0; o++) {
        const struct numbers_summary sum =
            numbers_summarize(s->row.dtype, s->row.bytes + o * n * s->row.dtype->itemsize, n);

        judge_policy(s, &sum);
    }
}

static void check_sparse_values(const struct subject *s)
{
    struct numbers_summary sum = {0};
    bool is_floating = s->row.items == NULL && s->row.dtype->kind == DTYPE_FLOAT;

    for (uint64_t i = 0; i < s->row.n; i++) {
        const double v = row_double(&s->row, i);

        is_floating |= s->row.items != NULL && s->row.items[i].kind == PICKLE_FLOAT;
        sum.min = i == 0 || v < sum.min ? v : sum.min;
        sum.sum += v;
    }
    if (is_floating)
        judge_policy(s, &sum);
}

/* Mass on actions that no encoder makes. */
static void warn_unencodable(const struct subject *s, int64_t action)
{
    WARN(s, FINDING_POLICY_UNENCODABLE, "mass on moves that exist",
         finding_format("action %lld", (long long)action).text,
         "mass on an action that no encoder makes");
}

static void check_mass(const struct subject *s)
{
    const struct action_space *space = s->lane->is_mapped ? s->lane->spec.space : NULL;

    for (uint64_t i = 0; space != NULL && i < s->row.n; i++)
        if (!(space->flags[i % space->length] & ACTION_ENCODABLE) &&
            !numbers_is_zero(s->row.dtype, s->row.bytes + i * s->row.dtype->itemsize)) {
            warn_unencodable(s, (int64_t)(i % space->length));
            return;
        }
}

static void check_sparse_mass(const struct subject *s)
{
    const struct action_space *space = s->lane->is_mapped ? s->lane->spec.space : NULL;
    const struct row values = values_of(s);

    for (uint64_t i = 0; space != NULL && i < s->row.n && i < values.n; i++) {
        const int64_t action = row_int(&s->row, i);

        if (action >= 0 && (uint64_t)action < space->length &&
            !(space->flags[action] & ACTION_ENCODABLE) && row_double(&values, i) != 0) {
            warn_unencodable(s, action);
            return;
        }
    }
}

/* --- indices and moves --- */

static void check_range(const struct subject *s)
{
    const uint64_t end = s->lane->binding->n_actions > 0 ? s->lane->binding->n_actions : UINT64_MAX;

    for (uint64_t i = 0; i < s->row.n; i++) {
        const int64_t index = row_int(&s->row, i);

        if (index >= -1 && (index < 0 || (uint64_t)index < end))
            continue;
        TELL(s, FINDING_INDEX_RANGE, finding_format("-1 to %llu", (unsigned long long)end - 1).text,
             finding_format("%lld", (long long)index).text, "index at %llu", (unsigned long long)i);
        return;
    }
}

/* A move to a cell of the box that is not on board, or one that no encoder makes. */
static void check_action(const struct subject *s)
{
    const struct action_space *space = s->lane->is_mapped ? s->lane->spec.space : NULL;
    const bool is_pairs = s->lane->binding->is_pairs;

    if (!is_pairs)
        check_range(s);
    for (uint64_t i = 0; space != NULL && i < s->row.n; i += 1 + is_pairs) {
        const int64_t action = row_int(&s->row, i);
        struct finding_text found;
        char meaning[128];

        if (is_pairs && action >= 0 && (uint64_t)action >= space->length) {
            found = finding_format("%lld", (long long)action);
            TELL(s, FINDING_INDEX_RANGE, "an action below the policy's length, or -1", found.text,
                 "index of a pair");
            return;
        }
        if (action < 0 || (uint64_t)action >= space->length ||
            (is_pairs && row_int(&s->row, i + 1) == 0) || (space->flags[action] & ACTION_ENCODABLE))
            continue;
        action_describe(space->layout, space->board, (uint64_t)action, meaning, sizeof meaning);
        found = finding_format("%lld (%s)", (long long)action, meaning);
        if (strncmp(space->layout->name, "cells", 5) == 0)
            TELL(s, FINDING_INDEX_RANGE, "a move that exists, or -1", found.text, "move");
        else
            WARN(s, FINDING_POLICY_UNENCODABLE, "a move that exists, or -1", found.text, "move");
        return;
    }
}

/* Padding that was moved as if it were index 0: the entries after the last value all name one and
 * the same action. */
static void check_padding(const struct subject *s, const struct row *values)
{
    uint64_t n = s->row.n, first = n;
    int64_t index;

    while (first > 0 && row_double(values, first - 1) == 0)
        first--;
    if (n - first < 2)
        return;
    index = row_int(&s->row, n - 1);
    for (uint64_t i = first; i < n; i++)
        if (row_int(&s->row, i) != index)
            return;
    if (index > 0)
        TELL(s, FINDING_PADDING, "0", finding_format("%lld", (long long)index).text,
             "index of the padding");
}

static void check_sparse_indices(const struct subject *s)
{
    const struct row values = values_of(s);

    check_range(s);
    if (s->lane->values < 0)
        return;
    if (values.n != s->row.n) {
        TELL(s, FINDING_LENGTH_MISMATCH,
             finding_format("%llu values", (unsigned long long)s->row.n).text,
             finding_format("%llu", (unsigned long long)values.n).text,
             "indices and values of a row");
        return;
    }
    for (uint64_t i = 0; i < s->row.n; i++)
        if (row_int(&s->row, i) == -1 && row_double(&values, i) != 0) {
            TELL(s, FINDING_INDEX_RANGE, "no mass on index -1",
                 finding_format("%g", row_double(&values, i)).text, "entry %llu",
                 (unsigned long long)i);
            break;
        }
    if (s->lane->binding->sparse == SPARSE_PADDED)
        check_padding(s, &values);
}

static void check_coord(const struct subject *s)
{
    const struct board *board = s->check->lanes->shard->found.board;
    const bool col_first = s->lane->binding->col_first;

    if (board == NULL || board->rows == 0)
        return;
    for (uint64_t i = 0; i + 1 < s->row.n; i += 2) {
        const int64_t row = row_int(&s->row, i + col_first);
        const int64_t col = row_int(&s->row, i + !col_first);

        if ((row == -1 && col == -1) ||
            (row >= 0 && col >= 0 && row < board->rows && col < board->cols &&
             board->on_board[row * board->cols + col]))
            continue;
        TELL(s, FINDING_INDEX_RANGE,
             finding_format("a cell of %s%u x %u, or (-1, -1)",
                            board->n_on_board < board->n_cells ? "the board in " : "", board->rows,
                            board->cols)
                 .text,
             finding_format("(%lld, %lld)", (long long)row, (long long)col).text, "coordinate");
        return;
    }
}

/* --- values and codes --- */

/* Integers may be codes of results, which no convention bounds. */
static void check_bounds(const struct subject *s, double low)
{
    const struct numbers_summary sum = numbers_summarize(s->row.dtype, s->row.bytes, s->row.n);

    if (s->row.dtype->kind == DTYPE_FLOAT && sum.n > 0 &&
        (sum.min < low - VALUE_SLACK || sum.max > 1 + VALUE_SLACK))
        TELL(s, FINDING_VALUE_RANGE, finding_format("%g to 1", low).text,
             finding_format("%.9g", sum.max > 1 + VALUE_SLACK ? sum.max : sum.min).text, "value");
}

/* Columns by colour, which a swap exchanges: shares of the game, as `expand` wants them. */
static void check_shares(const struct subject *s, uint64_t n_columns)
{
    const struct conventions *c = s->check->conventions;
    const struct board *board = s->check->lanes->shard->found.board;
    const bool may_be_signed = n_columns == 2 && (!c->value_said || c->value == VALUE_COLOUR11);
    const bool may_be_shares = n_columns == 3 || !c->value_said || c->value != VALUE_COLOUR11;
    struct numbers_summary sum;

    if (board == NULL || !board_swaps_colours(board) || c->value == VALUE_MOVER ||
        s->row.n != n_columns || s->lane->binding->per_player)
        return;
    sum = numbers_summarize(s->row.dtype, s->row.bytes, s->row.n);
    if (sum.n < n_columns ||
        (may_be_shares && label_are_shares(s->row.dtype, false, sum.min, sum.sum)) ||
        (may_be_signed && label_are_shares(s->row.dtype, true, sum.min, sum.sum)))
        return;
    TELL(s, FINDING_VALUE_RANGE,
         n_columns == 3   ? "not negative, with the sum 1"
         : !may_be_signed ? "not negative, with the sum 1 (--value colour01)"
         : !may_be_shares ? "opposite numbers (--value colour11)"
                          : "not negative, with the sum 1, or opposite numbers",
         finding_format("columns from %.9g with the sum %.9g", sum.min, sum.sum).text,
         n_columns == 3 ? "blue wins, draw, red wins" : "values of blue and red");
}

/* As many columns as --value is for, as `expand` wants them; a manifest says that it was asked. */
static void check_columns(const struct subject *s)
{
    const struct conventions *c = s->check->conventions;
    const struct shard *shard = s->check->lanes->shard;
    const struct role_binding *b = s->lane->binding;
    const bool is_value = b->role == ROLE_VALUE && !b->per_player;

    if (shard->found.board == NULL || !board_swaps_colours(shard->found.board) ||
        c->value == VALUE_MOVER || shard->recall.output != NULL)
        return;
    if (role_value_contradicts(b, s->lane->array->key, shard->found.board, c) ||
        (is_value && (s->row.n > 2 || (s->row.n == 1 && c->value == VALUE_COLOUR_WDL))))
        TELL(s, FINDING_VALUE_RANGE,
             finding_format("%s (--value %s)",
                            c->value == VALUE_COLOUR_WDL ? "3 columns" : "1 or 2 columns",
                            conventions_text(c, "value").text)
                 .text,
             finding_format("%llu", (unsigned long long)s->row.n).text, "columns of values");
}

static void check_value(const struct subject *s)
{
    const struct conventions *c = s->check->conventions;

    check_bounds(s, c->value_said && c->value == VALUE_COLOUR01 && s->row.n == 1 ? 0 : -1);
    check_shares(s, 2);
    check_columns(s);
}

static void check_wdl(const struct subject *s)
{
    check_bounds(s, 0);
    check_shares(s, 3);
    check_columns(s);
}

/* The codes of the two players mean something only where they are exchanged. */
static void check_player(const struct subject *s)
{
    static const char *const codes[] = {
        [TO_MOVE_01] = "0 or 1", [TO_MOVE_12] = "1 or 2", [TO_MOVE_PM1] = "1 or -1"};
    const enum to_move_coding coding = s->check->conventions->to_move;

    if (s->lane->is_mapped && board_swaps_colours(s->lane->spec.board) && s->row.n == 1 &&
        !s->lane->binding->is_winner && turn_player(coding, row_double(&s->row, 0)) < 0)
        TELL(s, FINDING_TO_MOVE, codes[coding], finding_format("%g", row_double(&s->row, 0)).text,
             "player to move");
}

/* A whole number below 1000, or -1. */
static int64_t small_number(const struct row *row, uint64_t i)
{
    const double v = i < row->n ? row_double(row, i) : -1;

    return v >= 0 && v < 1000 && v == floor(v) ? (int64_t)v : -1;
}

/* Take It Easy's tiles have one number of each of three kinds; under some transforms in another
 * order. */
static bool is_tile(const int64_t numbers[3])
{
    static const char kinds[10] = {0, 1, 2, 4, 4, 1, 2, 2, 4, 1};
    int found = 0;

    for (int k = 0; k < 3; k++)
        found |= numbers[k] >= 0 && numbers[k] <= 9 ? kinds[numbers[k]] : 0;
    return found == 7;
}

/* Tiles as codes 100a + 10b + c, or as three numbers; all 0: no tile. */
static void check_tile(const struct subject *s)
{
    const bool is_code = s->lane->binding->role == ROLE_GRID;
    const struct board *board = s->check->lanes->shard->found.board;
    const bool has_tiles = board != NULL && board->family->has_tiles;

    for (uint64_t i = 0; has_tiles && i < s->row.n; i += is_code ? 1 : 3) {
        const int64_t code = small_number(&s->row, i);
        const int64_t a = is_code && code >= 0 ? code / 100 : code;
        const int64_t b = is_code ? code / 10 % 10 : small_number(&s->row, i + 1);
        const int64_t c = is_code ? code % 10 : small_number(&s->row, i + 2);

        if ((a == 0 && b == 0 && c == 0) || is_tile((const int64_t[]){a, b, c}))
            continue;
        TELL(s, FINDING_VALUE_RANGE,
             is_code ? "0, or 100a + 10b + c of a tile" : "the numbers a, b, c of a tile",
             finding_format("%g", row_double(&s->row, i)).text, "element %llu",
             (unsigned long long)i);
        return;
    }
}

/* Bits after the last cell of a packed plane. */
static void check_pad_bits(const struct subject *s)
{
    const struct role_axes *axes = &s->lane->binding->axes;
    const uint64_t n_bytes = (axes->axis + 7) / 8;
    const unsigned n_bits = (unsigned)(axes->axis % 8);
    const unsigned pad = s->lane->binding->lsb_first ? 0xffu << n_bits & 0xff : 0xffu >> n_bits;

    for (uint64_t p = 0; s->lane->is_mapped && n_bits > 0 && (p + 1) * n_bytes <= s->row.n; p++) {
        const uint8_t last = s->row.bytes[(p + 1) * n_bytes - 1];

        if ((last & pad) == 0)
            continue;
        TELL(s, FINDING_PADDING, "0", finding_format("byte 0x%02x", last).text,
             "bits after the last cell of plane %llu", (unsigned long long)p);
        return;
    }
}

/* --- by role --- */

/* What is checked in every image, and in the source's own row. */
static const struct role_checks {
    void (*every)(const struct subject *s);
    void (*own)(const struct subject *s);
} checks[ROLE_N_CHECKS] = {
    [ROLE_CHECK_PAD_BITS] = {check_pad_bits, NULL},
    [ROLE_CHECK_TILES] = {NULL, check_tile},
    [ROLE_CHECK_POLICY] = {check_policy, check_mass},
    [ROLE_CHECK_INDICES] = {check_sparse_indices, check_sparse_mass},
    [ROLE_CHECK_INDEX_VALUES] = {check_sparse_values, NULL},
    [ROLE_CHECK_ACTION] = {check_action, NULL},
    [ROLE_CHECK_COORD] = {check_coord, NULL},
    [ROLE_CHECK_VALUE] = {check_value, NULL},
    [ROLE_CHECK_WDL] = {check_wdl, NULL},
    [ROLE_CHECK_PLAYER] = {check_player, NULL},
};

void check_row(const struct row_check *check, size_t i, uint64_t at)
{
    const struct lane *lane = &check->lanes->items[i];
    const struct role_checks *of_role = &checks[role_kinds[lane->binding->role].check];
    const bool finite = must_be_finite(lane);

    if (lane->is_broken || (!finite && of_role->every == NULL))
        return;
    const struct subject s = {check, lane, window_row(check->window, check->lanes, i, at), at};

    if ((!finite || is_finite(&s)) && of_role->every != NULL)
        of_role->every(&s);
}

void check_own_row(const struct row_check *check, size_t i, uint64_t at)
{
    const struct lane *lane = &check->lanes->items[i];
    const struct role_checks *of_role = &checks[role_kinds[lane->binding->role].check];

    if (lane->is_broken || of_role->own == NULL)
        return;
    const struct subject s = {check, lane, window_row(check->window, check->lanes, i, at), at};

    of_role->own(&s);
}
