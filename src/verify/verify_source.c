/* verify_source.c - see verify_source.h. */
#include "verify/verify_source.h"

#include "verify/verify_numbers.h"

#include <math.h>
#include <string.h>
#include <strings.h>

#define N_OF(table)   (sizeof(table) / sizeof(table)[0])
#define SUM_TOLERANCE 1e-3
#define VALUE_SLACK   1e-6

/* One row under the eyes of a check. */
struct subject {
    const struct source_check *check;
    const struct lane *lane;
    struct lane_row row;
    uint64_t at;
};

static struct finding_place place_of(const struct subject *s, enum finding_code code)
{
    return (struct finding_place){code, false, s->lane->array->key,
                                  s->check->window->images[s->at].row};
}

/* --- numbers that are none --- */

/* Arrays that go into training as numbers; other copies may hold NaN for "not known". */
static bool must_be_finite(const struct lane *lane)
{
    static const char *const names[] = {"globals",         "gf",      "globalInputNC",
                                        "globalTargetsNC", "weights", "sample_weights"};

    if (lane->binding->role != ROLE_COPY)
        return true;
    for (size_t i = 0; i < N_OF(names); i++)
        if (strcasecmp(lane->array->key, names[i]) == 0)
            return true;
    return false;
}

static bool check_finite(const struct subject *s)
{
    const struct finding_place place = place_of(s, FINDING_NAN);
    uint64_t first = s->row.n;

    if (s->row.bytes != NULL)
        first = numbers_first_nan(s->row.dtype, s->row.bytes, s->row.n);
    else
        for (uint64_t i = 0; i < s->row.n && first == s->row.n; i++)
            if (s->row.items[i].kind == PICKLE_FLOAT && !isfinite(s->row.items[i].as.number))
                first = i;
    if (first == s->row.n)
        return true;
    findings_add(s->check->findings, &place, "a finite number",
                 finding_format("%g", lane_row_double(&s->row, first)).text, "element %llu",
                 (unsigned long long)first);
    return false;
}

/* --- policies --- */

static void judge_policy(const struct subject *s, const struct numbers_summary *sum)
{
    struct finding_place place = place_of(s, FINDING_POLICY_NEGATIVE);

    if (sum->min < 0)
        findings_add(s->check->findings, &place, "no negative mass",
                     finding_format("%g", sum->min).text, "negative mass");
    place.code = FINDING_POLICY_SUM;
    if (!s->lane->binding->is_counts &&
        !(fabs(sum->sum - 1) <= SUM_TOLERANCE || fabs(sum->sum) <= SUM_TOLERANCE))
        findings_add(s->check->findings, &place, "1, or 0, within 0.001",
                     finding_format("%.9g", sum->sum).text, "sum of a policy");
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

static bool is_floating(const struct lane_row *row)
{
    if (row->items == NULL)
        return row->dtype->kind == DTYPE_FLOAT;
    for (uint64_t i = 0; i < row->n; i++)
        if (row->items[i].kind == PICKLE_FLOAT)
            return true;
    return false;
}

static void check_sparse_values(const struct subject *s)
{
    struct numbers_summary sum = {0};

    if (!is_floating(&s->row))
        return;
    for (uint64_t i = 0; i < s->row.n; i++) {
        const double v = lane_row_double(&s->row, i);

        sum.min = i == 0 || v < sum.min ? v : sum.min;
        sum.sum += v;
    }
    judge_policy(s, &sum);
}

/* --- indices --- */

static uint64_t n_actions(const struct lane *lane)
{
    return lane->binding->n_actions > 0 ? lane->binding->n_actions : UINT64_MAX;
}

static void check_indices(const struct subject *s)
{
    struct finding_place place = place_of(s, FINDING_INDEX_RANGE);
    const uint64_t end = n_actions(s->lane);

    for (uint64_t i = 0; i < s->row.n; i++) {
        const int64_t index = lane_row_int(&s->row, i);

        if (index >= -1 && (index < 0 || (uint64_t)index < end))
            continue;
        findings_add(s->check->findings, &place,
                     finding_format("-1 to %llu", (unsigned long long)end - 1).text,
                     finding_format("%lld", (long long)index).text, "index at %llu",
                     (unsigned long long)i);
        return;
    }
}

/* A move to a cell of the box that is not on board, or one that no encoder makes. */
static void check_on_board(const struct subject *s)
{
    const struct action_space *space = s->lane->is_mapped ? s->lane->map.space : NULL;
    struct finding_place place = place_of(s, FINDING_INDEX_RANGE);

    for (uint64_t i = 0; space != NULL && i < s->row.n; i++) {
        const int64_t action = lane_row_int(&s->row, i);
        char meaning[128];

        if (action < 0 || (uint64_t)action >= space->length ||
            (space->flags[action] & ACTION_ENCODABLE))
            continue;
        space->layout->describe(space->board, (uint64_t)action, meaning, sizeof meaning);
        if (strncmp(space->layout->name, "cells", 5) != 0) {
            place.code = FINDING_POLICY_UNENCODABLE;
            place.is_warning = true;
        }
        findings_add(s->check->findings, &place, "a move that exists, or -1",
                     finding_format("%lld (%s)", (long long)action, meaning).text, "move");
        return;
    }
}

/* Entries that name no action must have no mass. */
static void check_nameless(const struct subject *s, const struct lane_row *values)
{
    const struct finding_place place = place_of(s, FINDING_INDEX_RANGE);

    for (uint64_t i = 0; i < s->row.n && i < values->n; i++)
        if (lane_row_int(&s->row, i) == -1 && lane_row_double(values, i) != 0) {
            findings_add(s->check->findings, &place, "no mass on index -1",
                         finding_format("%g", lane_row_double(values, i)).text, "entry %llu",
                         (unsigned long long)i);
            return;
        }
}

/* Padding that was moved as if it were index 0: the entries behind the last value all name one and
 * the same action. */
static void check_padding(const struct subject *s, const struct lane_row *values)
{
    const struct finding_place place = place_of(s, FINDING_PADDING);
    uint64_t n = s->row.n, first = n;
    int64_t index;

    while (first > 0 && lane_row_double(values, first - 1) == 0)
        first--;
    if (n - first < 2)
        return;
    index = lane_row_int(&s->row, n - 1);
    for (uint64_t i = first; i < n; i++)
        if (lane_row_int(&s->row, i) != index)
            return;
    if (index > 0)
        findings_add(s->check->findings, &place, "0", finding_format("%lld", (long long)index).text,
                     "index of the padding");
}

static void check_sparse_indices(const struct subject *s)
{
    struct finding_place place = place_of(s, FINDING_LENGTH_MISMATCH);
    struct lane_row values;

    check_indices(s);
    if (s->lane->values < 0)
        return;
    values = window_row(s->check->window, s->check->lanes, (size_t)s->lane->values, s->at);
    if (values.n != s->row.n)
        findings_add(s->check->findings, &place,
                     finding_format("%llu values", (unsigned long long)s->row.n).text,
                     finding_format("%llu", (unsigned long long)values.n).text,
                     "indices and values of a row");
    else
        check_nameless(s, &values);
    if (values.n == s->row.n && s->lane->binding->sparse == SPARSE_PADDED)
        check_padding(s, &values);
}

static void check_coord(const struct subject *s)
{
    const struct board *board = s->check->lanes->shard->board;
    const struct finding_place place = place_of(s, FINDING_INDEX_RANGE);
    const bool col_first = s->lane->binding->col_first;
    const int64_t row = s->row.n >= 2 ? lane_row_int(&s->row, col_first) : -1;
    const int64_t col = s->row.n >= 2 ? lane_row_int(&s->row, !col_first) : -1;

    if (board == NULL || board->rows == 0 || (row == -1 && col == -1) ||
        (row >= 0 && col >= 0 && row < board->rows && col < board->cols &&
         board->on_board[row * board->cols + col]))
        return;
    findings_add(s->check->findings, &place,
                 finding_format("a cell of %s%u x %u, or (-1, -1)",
                                board->n_on_board < board->n_cells ? "the board in " : "",
                                board->rows, board->cols)
                     .text,
                 finding_format("(%lld, %lld)", (long long)row, (long long)col).text, "coordinate");
}

/* --- values --- */

/* Integers may be codes of results, which no convention bounds. */
static void check_value(const struct subject *s, double low)
{
    const struct finding_place place = place_of(s, FINDING_VALUE_RANGE);
    const struct numbers_summary sum = numbers_summarize(s->row.dtype, s->row.bytes, s->row.n);

    if (s->row.dtype->kind != DTYPE_FLOAT || sum.n == 0 ||
        (sum.min >= low - VALUE_SLACK && sum.max <= 1 + VALUE_SLACK))
        return;
    findings_add(s->check->findings, &place, finding_format("%g to 1", low).text,
                 finding_format("%.9g", sum.max > 1 + VALUE_SLACK ? sum.max : sum.min).text,
                 "value");
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

/* A whole number below 1000, or -1. */
static int64_t small_number(const struct lane_row *row, uint64_t i)
{
    const double v = i < row->n ? lane_row_double(row, i) : -1;

    return v >= 0 && v < 1000 && v == floor(v) ? (int64_t)v : -1;
}

/* Tiles as codes 100a + 10b + c, or as three numbers; all 0: no tile. */
static void check_tile(const struct subject *s)
{
    const struct finding_place place = place_of(s, FINDING_VALUE_RANGE);
    const bool is_code = s->lane->binding->role == ROLE_GRID;
    const struct board *board = s->check->lanes->shard->board;
    const bool has_tiles = board != NULL && board->family->has_tiles;

    for (uint64_t i = 0; has_tiles && i < s->row.n; i += is_code ? 1 : 3) {
        const int64_t code = small_number(&s->row, i);
        const int64_t a = is_code && code >= 0 ? code / 100 : code;
        const int64_t b = is_code ? code / 10 % 10 : small_number(&s->row, i + 1);
        const int64_t c = is_code ? code % 10 : small_number(&s->row, i + 2);

        if ((a == 0 && b == 0 && c == 0) || is_tile((const int64_t[]){a, b, c}))
            continue;
        findings_add(s->check->findings, &place,
                     is_code ? "0, or 100a + 10b + c of a tile" : "the numbers a, b, c of a tile",
                     finding_format("%g", lane_row_double(&s->row, i)).text, "element %llu",
                     (unsigned long long)i);
        return;
    }
}

/* The codes of the two players mean something only where they are exchanged. */
static void check_player(const struct subject *s)
{
    static const double codes[][2] = {
        [TO_MOVE_01] = {0, 1}, [TO_MOVE_12] = {1, 2}, [TO_MOVE_PM1] = {1, -1}};
    const double *known = codes[s->check->conventions->to_move];
    const struct finding_place place = place_of(s, FINDING_TO_MOVE);
    const double code = s->row.n == 1 ? lane_row_double(&s->row, 0) : known[0];

    if (!s->lane->is_mapped || !board_swaps_colours(s->lane->map.board) ||
        s->lane->binding->is_winner || code == known[0] || code == known[1])
        return;
    findings_add(s->check->findings, &place, finding_format("%g or %g", known[0], known[1]).text,
                 finding_format("%g", code).text, "player to move");
}

/* Bits behind the last cell of a packed plane. */
static void check_pad_bits(const struct subject *s)
{
    const struct role_axes *axes = &s->lane->binding->axes;
    const struct finding_place place = place_of(s, FINDING_PADDING);
    const uint64_t n_bytes = (axes->axis + 7) / 8;
    const unsigned n_bits = (unsigned)(axes->axis % 8);
    const unsigned pad = s->lane->binding->lsb_first ? 0xffu << n_bits & 0xff : 0xffu >> n_bits;

    for (uint64_t p = 0; n_bits > 0 && (p + 1) * n_bytes <= s->row.n; p++) {
        if ((s->row.bytes[(p + 1) * n_bytes - 1] & pad) == 0)
            continue;
        findings_add(s->check->findings, &place, "0",
                     finding_format("byte 0x%02x", s->row.bytes[(p + 1) * n_bytes - 1]).text,
                     "bits behind the last cell of plane %llu", (unsigned long long)p);
        return;
    }
}

/* --- one row --- */

void source_check_row(const struct source_check *check, size_t i, uint64_t at)
{
    const struct lane *lane = &check->lanes->items[i];
    const bool said01 =
        check->conventions->value_said && check->conventions->value == VALUE_COLOUR01;
    struct subject s = {check, lane, {0}, at};

    if (lane->is_broken)
        return;
    s.row = window_row(check->window, check->lanes, i, at);
    if (must_be_finite(lane) && !check_finite(&s))
        return;
    switch (lane->binding->role) {
    case ROLE_POLICY:
        check_policy(&s);
        break;
    case ROLE_POLICY_VALUE:
        check_sparse_values(&s);
        break;
    case ROLE_POLICY_INDEX:
        check_sparse_indices(&s);
        break;
    case ROLE_ACTION:
        check_indices(&s);
        check_on_board(&s);
        break;
    case ROLE_COORD:
        check_coord(&s);
        break;
    case ROLE_VALUE:
        check_value(&s, said01 && s.row.n == 1 ? 0 : -1);
        break;
    case ROLE_WDL:
        check_value(&s, 0);
        break;
    case ROLE_TO_MOVE:
        check_player(&s);
        break;
    case ROLE_PACKED:
        if (lane->is_mapped)
            check_pad_bits(&s);
        break;
    default:
        break;
    }
}

/* --- what the source's own row must be besides --- */

static void report_unencodable(const struct subject *s, int64_t action)
{
    struct finding_place place = place_of(s, FINDING_POLICY_UNENCODABLE);

    place.is_warning = true;
    findings_add(s->check->findings, &place, "mass on moves that exist",
                 finding_format("action %lld", (long long)action).text,
                 "mass on an action that no encoder makes");
}

void source_check_own(const struct source_check *check, size_t i, uint64_t at)
{
    const struct lane *lane = &check->lanes->items[i];
    const struct action_space *space = lane->is_mapped ? lane->map.space : NULL;
    const enum role role = lane->binding->role;
    struct subject s = {check, lane, {0}, at};

    if (lane->is_broken)
        return;
    if (role == ROLE_GRID || role == ROLE_TILE) {
        s.row = window_row(check->window, check->lanes, i, at);
        check_tile(&s);
    }
    if (space == NULL || (role != ROLE_POLICY && role != ROLE_POLICY_INDEX))
        return;
    s.row = window_row(check->window, check->lanes, i, at);
    if (role == ROLE_POLICY_INDEX) {
        struct lane_row values = {0};

        if (lane->values >= 0)
            values = window_row(check->window, check->lanes, (size_t)lane->values, at);
        for (uint64_t k = 0; k < s.row.n && k < values.n; k++) {
            const int64_t action = lane_row_int(&s.row, k);

            if (action >= 0 && (uint64_t)action < space->length &&
                !(space->flags[action] & ACTION_ENCODABLE) && lane_row_double(&values, k) != 0) {
                report_unencodable(&s, action);
                return;
            }
        }
        return;
    }
    for (uint64_t k = 0; k < s.row.n; k++) {
        const uint64_t action = k % space->length;

        if (!(space->flags[action] & ACTION_ENCODABLE) &&
            !numbers_is_zero(s.row.dtype, s.row.bytes + k * s.row.dtype->itemsize)) {
            report_unencodable(&s, (int64_t)action);
            return;
        }
    }
}
