/*
 * checks.c - checks of single rows that hold for every game: numbers that are not finite, policies
 * that are no distributions, indices and codes that mean nothing.
 *
 * A table says which checks the rows of a role get: some for every image, some only for the first
 * image of a source. A check makes at most one finding of a kind per row, at the first element that
 * is wrong. Little-endian float32, the type of most planes, is searched for what is not finite two
 * numbers at a time.
 */
#include "verify/parts.h"

#define SUM_TOLERANCE 1e-3
#define VALUE_SLACK   1e-6

/* --- rows of numbers --- */

uint64_t numbers_first_nan(const struct dtype *dtype, const uint8_t *bytes, uint64_t n)
{
    const uint64_t item = dtype->itemsize, ones = 0x0080000000800000;
    /* NaN and the infinities have an exponent of all ones. */
    const uint64_t mask = item == 2 ? 0x7c00 : item == 4 ? 0x7f800000 : 0x7ff0000000000000;
    uint64_t found = 0, i = 0;

    if (dtype->kind != DTYPE_FLOAT)
        return n;
    /* Two at a time: adding 1 to an exponent of all ones carries into the sign bit, no further. */
    for (; item == 4 && !dtype->big_endian && i + 2 <= n; i += 2) {
        uint64_t pair;

        memcpy(&pair, bytes + 4 * i, 8);
        found |= (pair & 0x7f8000007f800000) + ones;
    }
    for (i = (found & 0x8000000080000000) != 0 ? 0 : i; i < n; i++)
        if ((bytes_get_uint(bytes + i * item, item, dtype->big_endian) & mask) == mask)
            return i;
    return n;
}

/* --- the row that is checked --- */

struct subject {
    const struct window *window;
    size_t number; /* of the lane */
    const struct shard *shard;
    const struct board *board; /* or NULL */
    const struct lane *lane;
    struct row row, values; /* values: beside a list of indices; else empty */
    const struct lane_image *image;
    struct findings *findings;
};

/* Add an error about the row: code, expected, found, message. */
#define TELL(s, code, ...) \
    findings_add((s)->findings, ERROR_AT(code, (s)->lane->array->key, (s)->image->row), __VA_ARGS__)

/* --- policies --- */

/* Dense policies, and the values beside lists of indices. */
static void check_policy(const struct subject *s)
{
    const struct role_binding *b = s->lane->binding;
    const struct row *row = &s->row;
    const bool is_list = b->role == ROLE_POLICY_VALUE;
    const uint64_t outer = is_list ? 1 : b->axes.outer, n = outer > 0 ? row->n / outer : 0;
    bool is_floating = row->items == NULL && row->dtype->kind == DTYPE_FLOAT;

    for (uint64_t i = 0; i < n && row->items != NULL; i++)
        is_floating |= row->items[i].kind == PICKLE_FLOAT;
    for (uint64_t o = 0; o < outer && n > 0 && is_floating; o++) {
        const struct row_summary sum = row_summarize(row, o * n, n);

        if (sum.min < 0)
            TELL(s, FINDING_POLICY_NEGATIVE, "no negative mass", text_format("%g", sum.min).text,
                 "negative mass");
        if (!b->is_counts && !(fabs(sum.sum - 1) <= SUM_TOLERANCE) &&
            !(fabs(sum.sum) <= SUM_TOLERANCE))
            TELL(s, FINDING_POLICY_SUM, "1, or 0, within 0.001", text_format("%.9g", sum.sum).text,
                 "sum of a policy");
    }
}

int64_t check_find_mass(const struct window *window, size_t i, uint64_t at, unsigned flag,
                        bool is_set)
{
    const struct lane *lane = &window->lanes->items[i];
    const struct action_space *space = lane->is_mapped ? lane->spec.space : NULL;
    const bool is_list = lane->binding->role == ROLE_POLICY_INDEX;
    const bool has_values = is_list && lane->values >= 0;
    const struct row row = window_row(window, i, at);
    const struct row values = has_values ? window_row(window, (size_t)lane->values, at) : row;

    for (uint64_t k = 0, own = 0; space != NULL && k < row.n && k < values.n; k++, own++) {
        own = own < space->length ? own : 0; /* a row may hold several dense policies */
        const int64_t action = is_list ? row_int(&row, k) : (int64_t)own;

        if (action >= 0 && (uint64_t)action < space->length &&
            ((space->flags[action] & flag) != 0) == is_set &&
            ((is_list && !has_values) || row_double(&values, k) != 0))
            return action;
    }
    return -1;
}

static void check_mass(const struct subject *s)
{
    const int64_t action =
        check_find_mass(s->window, s->number, s->image->at, ACTION_ENCODABLE, false);

    if (action >= 0)
        findings_add(s->findings,
                     WARNING_AT(FINDING_POLICY_UNENCODABLE, s->lane->array->key, s->image->row),
                     "mass on moves that exist", text_format("action %" PRId64, action).text,
                     "mass on an action that no encoder makes");
}

/* --- indices and moves --- */

static void check_range(const struct subject *s)
{
    const uint64_t end = s->lane->binding->n_actions; /* 0: not known */
    const uint64_t step = s->lane->binding->options & ROLE_PAIRS ? 2 : 1;

    for (uint64_t i = 0; i < s->row.n; i += step) {
        const int64_t index = row_int(&s->row, i);

        if (index >= -1 && (index < 0 || end == 0 || (uint64_t)index < end))
            continue;
        TELL(s, FINDING_INDEX_RANGE,
             end > 0 ? text_format("-1 to %" PRIu64, end - 1).text : "-1 or more",
             text_format("%" PRId64, index).text, "index at %" PRIu64, i);
        return;
    }
}

/* Moves to off-board cells of the box, and others that no encoder makes. */
static void check_action(const struct subject *s)
{
    const struct action_space *space = s->lane->is_mapped ? s->lane->spec.space : NULL;
    const bool is_pairs = s->lane->binding->options & ROLE_PAIRS;

    check_range(s);
    for (uint64_t i = 0; space != NULL && i < s->row.n; i += 1 + is_pairs) {
        const int64_t action = row_int(&s->row, i);
        char meaning[128];

        if (action < 0 || (uint64_t)action >= space->length ||
            (is_pairs && row_int(&s->row, i + 1) == 0) || (space->flags[action] & ACTION_ENCODABLE))
            continue;
        space->layout->about(
            space->layout, space->board,
            action_of_entry(space->board, space->flip, space->length, (uint64_t)action), meaning);
        const bool is_warning = strncmp(space->layout->name, "cells", 5) != 0;
        findings_add(s->findings,
                     &(const struct finding_place){is_warning ? FINDING_POLICY_UNENCODABLE
                                                              : FINDING_INDEX_RANGE,
                                                   is_warning, s->lane->array->key, s->image->row},
                     "a move that exists, or -1",
                     text_format("%" PRId64 " (%s)", action, meaning).text, "move");
        return;
    }
}

static void check_sparse_indices(const struct subject *s)
{
    const struct row *values = &s->values;
    const uint64_t n = s->row.n;
    uint64_t i = 0, first = n;

    check_range(s);
    if (s->lane->values < 0)
        return;
    if (values->n != n) {
        TELL(s, FINDING_LENGTH_MISMATCH, text_format("%" PRIu64 " values", n).text,
             text_format("%" PRIu64, values->n).text, "indices and values of a row");
        return;
    }
    while (i < n && (row_int(&s->row, i) != -1 || row_double(values, i) == 0))
        i++;
    if (i < n)
        TELL(s, FINDING_INDEX_RANGE, "no mass on index -1",
             text_format("%g", row_double(values, i)).text, "entry %" PRIu64, i);
    /* Padding moved as if it were index 0: the entries after the last value all have one index. */
    while (first > 0 && row_double(values, first - 1) == 0)
        first--;
    if (s->lane->binding->sparse != SPARSE_PADDED || n - first < 2)
        return;
    const int64_t index = row_int(&s->row, n - 1);
    while (first < n && row_int(&s->row, first) == index)
        first++;
    if (first == n && index > 0)
        TELL(s, FINDING_PADDING, "0", text_format("%" PRId64, index).text, "index of the padding");
}

static void check_coord(const struct subject *s)
{
    const struct board *board = s->board;
    const bool col_first = s->lane->binding->options & ROLE_COLROW;

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
             text_format("a cell of %s%u x %u, or (-1, -1)",
                         board->n_on_board < board->n_cells ? "the board in " : "", board->rows,
                         board->cols)
                 .text,
             text_format("(%" PRId64 ", %" PRId64 ")", row, col).text, "coordinate");
        return;
    }
}

/* --- values and codes --- */

/* Values, and win, draw and loss: what `expand` requires. */
static void check_value(const struct subject *s)
{
    const struct conventions *c = &s->shard->conventions;
    const struct role_binding *b = s->lane->binding;
    const bool is_wdl = b->role == ROLE_WDL;
    const uint64_t n = s->row.n, n_columns = is_wdl ? 3 : 2;
    const bool may_be_signed = !is_wdl && (!c->value_said || c->value == VALUE_COLOUR11);
    const bool may_be_shares = is_wdl || !c->value_said || c->value != VALUE_COLOUR11;
    const struct row_summary sum = row_summarize(&s->row, 0, n);
    const double low = is_wdl || (c->value_said && c->value == VALUE_COLOUR01 && n == 1) ? 0 : -1;

    /* Integers may be codes of results, which have no bounds. */
    if (s->row.dtype->kind == DTYPE_FLOAT &&
        (sum.min < low - VALUE_SLACK || sum.max > 1 + VALUE_SLACK))
        TELL(s, FINDING_VALUE_RANGE, text_format("%g to 1", low).text,
             text_format("%.9g", sum.max > 1 + VALUE_SLACK ? sum.max : sum.min).text, "value");
    if (s->board == NULL || !board_swaps_colours(s->board) || c->value == VALUE_MOVER)
        return;
    /* Columns by colour, which a swap exchanges, are shares of the game. */
    if (n == n_columns && !(b->options & ROLE_PLAYERS) &&
        !(may_be_shares && label_are_shares(s->row.dtype, false, sum.min, sum.sum)) &&
        !(may_be_signed && label_are_shares(s->row.dtype, true, sum.min, sum.sum)))
        TELL(s, FINDING_VALUE_RANGE,
             is_wdl           ? "not negative, with the sum 1"
             : !may_be_signed ? "not negative, with the sum 1 (--value colour01)"
             : !may_be_shares ? "opposite numbers (--value colour11)"
                              : "not negative, with the sum 1, or opposite numbers",
             text_format("columns from %.9g with the sum %.9g", sum.min, sum.sum).text,
             is_wdl ? "blue wins, draw, red wins" : "values of blue and red");
    /* --value must fit the number of columns. If there is a manifest, `expand` has checked it. */
    if (s->shard->recall.output == NULL &&
        (role_value_contradicts(b, s->lane->array->key, s->board, c) ||
         (b->role == ROLE_VALUE && !(b->options & ROLE_PLAYERS) &&
          (n > 2 || (n == 1 && c->value == VALUE_COLOUR_WDL)))))
        TELL(s, FINDING_VALUE_RANGE,
             text_format("%s (--value %s)",
                         c->value == VALUE_COLOUR_WDL ? "3 columns" : "1 or 2 columns",
                         conventions_text(c, "value").text)
                 .text,
             text_format("%" PRIu64, n).text, "columns of values");
}

/* The codes of the two players matter only where a transform exchanges them. */
static void check_player(const struct subject *s)
{
    static const char *const codes[] = {
        [TO_MOVE_01] = "0 or 1", [TO_MOVE_12] = "1 or 2", [TO_MOVE_PM1] = "1 or -1"};
    const enum to_move_coding coding = role_coding(s->lane->binding->role, &s->shard->conventions);

    if (s->lane->is_mapped && board_swaps_colours(s->lane->spec.board) && s->row.n > 0 &&
        !(s->lane->binding->options & ROLE_WINNER) &&
        turn_player(coding, row_double(&s->row, 0)) < 0)
        TELL(s, FINDING_TO_MOVE, codes[coding], text_format("%g", row_double(&s->row, 0)).text,
             "player to move");
}

/* A whole number below 1000, or -1. */
static int64_t small_number(const struct row *row, uint64_t i)
{
    const double v = i < row->n ? row_double(row, i) : -1;

    return v >= 0 && v < 1000 && v == floor(v) ? (int64_t)v : -1;
}

/* Take It Easy's tiles, as codes 100a + 10b + c or as three numbers; all 0: no tile. A tile has one
 * number of each of three kinds, which some transforms put in another order. */
static void check_tile(const struct subject *s)
{
    static const char kinds[10] = {0, 1, 2, 4, 4, 1, 2, 2, 4, 1};
    const bool is_code = s->lane->binding->role == ROLE_GRID;
    const bool has_tiles = s->board != NULL && s->board->family->has_tiles;

    for (uint64_t i = 0; has_tiles && i < s->row.n; i += is_code ? 1 : 3) {
        int64_t numbers[3] = {small_number(&s->row, i)};
        int found = 0;

        numbers[1] = is_code ? numbers[0] / 10 % 10 : small_number(&s->row, i + 1);
        numbers[2] = is_code ? numbers[0] % 10 : small_number(&s->row, i + 2);
        if (is_code && numbers[0] >= 0)
            numbers[0] /= 100;
        for (int k = 0; k < 3; k++)
            found |= numbers[k] >= 0 && numbers[k] <= 9 ? kinds[numbers[k]] : 0;
        if (found == 7 || (numbers[0] == 0 && numbers[1] == 0 && numbers[2] == 0))
            continue;
        TELL(s, FINDING_VALUE_RANGE,
             is_code ? "0, or 100a + 10b + c of a tile" : "the numbers a, b, c of a tile",
             text_format("%g", row_double(&s->row, i)).text, "element %" PRIu64, i);
        return;
    }
}

/* Bits after the last cell of a packed plane. */
static void check_pad_bits(const struct subject *s)
{
    const struct role_binding *b = s->lane->binding;
    const uint64_t n_bytes = (b->axes.axis + 7) / 8;

    for (uint64_t p = 0; s->lane->is_mapped && (p + 1) * n_bytes <= s->row.n && n_bytes > 0; p++) {
        const uint8_t *plane = s->row.bytes + p * n_bytes;

        if (plane_pad_bits(plane, b->axes.axis, b->options & ROLE_LSB) == 0)
            continue;
        TELL(s, FINDING_PADDING, "0", text_format("byte 0x%02x", plane[n_bytes - 1]).text,
             "bits after the last cell of plane %" PRIu64, p);
        return;
    }
}

/* --- by role --- */

/* The checks of every image, and those of the first image of a source alone. */
static const struct role_checks {
    void (*every)(const struct subject *s);
    void (*own)(const struct subject *s);
} checks[ROLE_N_CHECKS] = {
    [ROLE_CHECK_PAD_BITS] = {check_pad_bits, NULL},
    [ROLE_CHECK_TILES] = {NULL, check_tile},
    [ROLE_CHECK_POLICY] = {check_policy, check_mass},
    [ROLE_CHECK_INDICES] = {check_sparse_indices, check_mass},
    [ROLE_CHECK_ACTION] = {check_action, NULL},
    [ROLE_CHECK_COORD] = {check_coord, NULL},
    [ROLE_CHECK_VALUE] = {check_value, NULL},
    [ROLE_CHECK_PLAYER] = {check_player, NULL},
};

void check_row(const struct window *window, size_t i, const struct lane_image *image, bool is_own,
               struct findings *findings)
{
    const struct shard *shard = window->lanes->shard;
    const struct lane *lane = &window->lanes->items[i];
    const struct role_checks *of_role = &checks[role_kinds[lane->binding->role].check];
    void (*check)(const struct subject *s) = is_own ? of_role->own : of_role->every;
    const bool must_be_finite = !is_own && lane->is_finite;
    uint64_t first = 0;

    if (lane->is_broken || (!must_be_finite && check == NULL))
        return;
    const struct row row = window_row(window, i, image->at);
    struct subject s = {.window = window,
                        .number = i,
                        .shard = shard,
                        .board = shard->found.board,
                        .lane = lane,
                        .row = row,
                        .image = image,
                        .findings = findings};
    if (lane->values >= 0)
        s.values = window_row(window, (size_t)lane->values, image->at);
    if (must_be_finite && row.bytes != NULL)
        first = numbers_first_nan(row.dtype, row.bytes, row.n);
    while (must_be_finite && row.bytes == NULL && first < row.n &&
           (row.items[first].kind != PICKLE_FLOAT || isfinite(row.items[first].as.number)))
        first++;
    if (must_be_finite && first < row.n)
        TELL(&s, FINDING_NAN, "a finite number", text_format("%g", row_double(&row, first)).text,
             "element %" PRIu64, first);
    else if (check != NULL)
        check(&s);
}
