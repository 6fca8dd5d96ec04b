/*
 * bind.c - what a transform does to each array of a plan: its spec, made from role and conventions,
 * and what a colour swap does to codes, values, winners and the player to move.
 *
 * The conventions say what the numbers mean. The data of all inputs must not contradict them, since
 * nobody would notice a wrong label: the first row out of bounds is refused, and rows of shares
 * that do not add up. Where only the data can tell (codes -1 or 2), it decides; where nothing does,
 * the array is refused with the flags that would settle it.
 */
#include "engine/plan.h"

#include "engine/survey.h"

#define MOST_CODE_ROWS 4096 /* rows that are searched for the code of empty cells */

/* --- what is not as expected --- */

/* What the elements of an array may be. */
struct bounds {
    double low, high;
    bool whole;           /* no fractions */
    bool no_zero;         /* 0 is not allowed */
    const char *expected; /* in words */
    bool first_column;    /* only what is there is looked at */
};

/* Find the range of an array, and refuse the first row that is out of bounds. Of a first column the
 * range is not found. */
static int check_bounds(const struct plan *plan, const struct plan_array *array,
                        const struct bounds *bounds, struct number_range *range, struct error *err)
{
    struct walk s;

    if (!bounds->first_column && survey_range(plan, array, range, err) != 0)
        return -1;
    if (!bounds->first_column &&
        (range->n == 0 || (range->min >= bounds->low && range->max <= bounds->high &&
                           !(bounds->whole && range->has_fraction) &&
                           !(bounds->no_zero && (range->codes & NUMBER_CODE(0))))))
        return 0;
    survey_begin(&s, plan, SURVEY_OF(array), err);
    while (walk_next(&s))
        for (uint64_t i = 0; i < (bounds->first_column ? 1 : s.rows[0].n) && s.status == 0; i++) {
            const double value = row_double(&s.rows[0], i);

            if (value < bounds->low || value > bounds->high ||
                (bounds->whole && value != floor(value)) || (bounds->no_zero && value == 0))
                s.status = plan_refuse(
                    plan, array, err, "row %llu: %g%s, expected %s", (unsigned long long)s.number,
                    value, bounds->first_column ? " in the first column" : "", bounds->expected);
        }
    return walk_end(&s);
}

/* Refuse the first row whose columns are not shares of one game: not negative, with a sum of 1 (or
 * 0: unknown) or whole counts; or, signed, opposite numbers. */
static int check_shares(const struct plan *plan, const struct plan_array *array, bool is_signed,
                        const char *expected, struct error *err)
{
    struct walk s;

    survey_begin(&s, plan, SURVEY_OF(array), err);
    while (walk_next(&s)) {
        const struct row_summary row = row_summarize(&s.rows[0], 0, s.rows[0].n);

        if (!label_are_shares(s.rows[0].dtype, is_signed, row.min, row.sum))
            s.status = plan_refuse(plan, array, err,
                                   "row %llu: columns from %g with the sum %g, expected %s",
                                   (unsigned long long)s.number, row.min, row.sum, expected);
    }
    return walk_end(&s);
}

/* --- what a colour swap does to numbers --- */

enum label_op bind_label(struct conventions *c, const struct role_binding *b,
                         const struct array *array, bool has_players,
                         const struct number_range *range)
{
    const bool is_winner = b->options & ROLE_WINNER, per_player = b->options & ROLE_PLAYERS;
    const bool is_told = c->to_move_said || (is_winner && has_players);
    const bool has_minus = range->codes & NUMBER_CODE(-1), has_two = range->codes & NUMBER_CODE(2);
    const uint64_t n = array->row_nbytes / array->header.dtype.itemsize; /* of a row */
    enum to_move_coding coding = c->to_move;

    switch (role_kinds[b->role].swap) {
    case ROLE_SWAP_CODES:
        if (c->planes == PLANES_MOVER)
            return LABEL_KEEP;
        return has_minus || (!has_two && (range->codes & NUMBER_CODE(1)) && c->to_move_said &&
                             coding == TO_MOVE_PM1 && array->header.dtype.kind != DTYPE_UINT)
                   ? LABEL_NEGATE
                   : LABEL_EXCHANGE_12;
    case ROLE_SWAP_VALUES:
        if (c->value == VALUE_MOVER && !(n >= 2 && per_player))
            return LABEL_KEEP;
        if (b->role == ROLE_WDL || (n == 3 && !per_player))
            return LABEL_REVERSE;
        if (n >= 2)
            return LABEL_EXCHANGE_TWO;
        return (c->value_said ? c->value == VALUE_COLOUR11 : range->min < 0) ? LABEL_NEGATE
                                                                             : LABEL_COMPLEMENT;
    case ROLE_SWAP_PLAYER:
        if (!is_told && has_minus && !has_two)
            coding = TO_MOVE_PM1;
        else if (!is_told && has_two &&
                 (is_winner || !(has_minus || (range->codes & NUMBER_CODE(0)))))
            coding = TO_MOVE_12;
        if (!is_winner)
            c->to_move = coding;
        /* What is neither of two winners is nobody, and stays. */
        return is_winner && coding == TO_MOVE_01 ? LABEL_EXCHANGE_01 : spec_swap_of_coding(coding);
    case ROLE_SWAP_FIRST:
        return LABEL_FIRST_01;
    case ROLE_SWAP_NOTHING: /* the specs of planes have it from their convention */
        break;
    }
    return LABEL_KEEP;
}

/* The codes that a colour swap exchanges must be the two colours, whose numbers of stones differ by
 * one at most. Refuse codes for which this is only true if the empty cells are not 0. Warn of codes
 * that may be the mover's and the other's: the mover never has one stone more. */
static int check_stone_codes(struct plan *plan, const struct plan_array *array, enum label_op op,
                             struct error *err)
{
    const double codes[3] = {0, 1, op == LABEL_NEGATE ? -1 : 2};
    const struct plan_array *to_move = survey_find(plan, ROLE_TO_MOVE);
    unsigned long long n_rows = 0, n_level[3] = {0}; /* rows in which the two others are level */
    unsigned long long n_told = 0, n_excess = 0; /* rows whose mover is told, and has one more */
    unsigned long long first = UINT64_MAX;       /* the first in which those besides 0 are not */
    unsigned long long n_more[3] = {0}; /* rows with one more of this code than of the other */
    struct walk s;

    survey_begin(&s, plan, SURVEY_OF(array, survey_has_numbers(to_move) ? to_move : NULL), err);
    while (n_rows < MOST_CODE_ROWS && walk_next(&s)) {
        const int player = turn_by_array(&plan->conventions, &s.rows[1]);
        uint64_t n[3] = {0};

        for (uint64_t i = 0; i < s.rows[0].n; i++) {
            const double code = row_double(&s.rows[0], i);

            for (int k = 0; k < 3; k++)
                n[k] += code == codes[k];
        }
        for (int k = 0; k < 3; k++) {
            const uint64_t a = n[(k + 1) % 3], b = n[(k + 2) % 3];
            const bool is_level = a <= b + 1 && b <= a + 1;

            n_level[k] += is_level;
            if (k == 0 && !is_level && s.number < first)
                first = s.number;
        }
        n_more[1] += n[1] == n[2] + 1;
        n_more[2] += n[2] == n[1] + 1;
        n_told += player >= 0;
        n_excess += player >= 0 && turn_lead(false, player, &n[1]).declared == 1;
        n_rows++;
    }
    if (walk_end(&s) != 0)
        return -1;
    for (int k = 1; k < 3; k++)
        if (2 * n_level[0] < n_rows && 20 * n_level[k] >= 19 * n_rows)
            return plan_refuse(
                plan, array, err,
                "row %llu: code %g seems to be the empty cells, expected 0: in %llu of %llu rows "
                "the other two codes stand on as many cells; write empty cells as 0",
                first, codes[k], n_level[k], n_rows);
    if (!plan->board->family->joins_edges || n_more[1] > 0 || n_more[2] == 0)
        return 0;
    if (n_excess > 0 && n_told == n_rows && n_level[0] == n_rows)
        return plan_refuse(plan, array, err,
                           "%llu of %llu rows have one stone more of the player to move than of "
                           "the other, which --planes colour rules out and --planes mover explains",
                           n_excess, n_rows);
    return plan_warn(plan, err,
                     "%s: code %g stands on one cell more than code 1 in %llu of %llu rows and on "
                     "one less in none: if 1 is the player to move, use --planes mover, or images "
                     "that swap colours are wrong",
                     text_path(array->key).text, codes[2], n_more[2], n_rows);
}

/* Codes of a grid are 0, 1, 2 or -1, 0, 1: the data of all inputs decides. */
static int check_grid(struct plan *plan, const struct plan_array *array, struct number_range *range,
                      struct error *err)
{
    const unsigned decisive = NUMBER_CODE(-1) | NUMBER_CODE(2);
    struct conventions *c = &plan->conventions;

    if (c->planes == PLANES_MOVER)
        return 0;
    if (survey_range(plan, array, range, err) != 0)
        return -1;
    if (range->has_fraction || range->min < -1 || range->max > 2 ||
        (range->min < 0 && range->max > 1))
        return plan_refuse(plan, array, err,
                           "codes from %g to %g, expected 0, 1, 2 or -1, 0, 1; use --role "
                           "NAME=copy if they name no colour",
                           range->min, range->max);
    survey_widen(plan->settings->seen, array, range);
    if ((range->codes & decisive) == decisive)
        return plan_refuse(
            plan, array, err,
            "codes -1 here or in another input, and 2 in one: the inputs are coded differently");
    if (!(range->codes & decisive) && (range->codes & NUMBER_CODE(1)) && !c->to_move_said &&
        array->sources[0]->header.dtype.kind != DTYPE_UINT)
        return plan_refuse(
            plan, array, err,
            "codes 0 and 1 only: the other player is 2 (--to-move 12) or -1 (--to-move pm1)?");
    return check_stone_codes(plan, array,
                             bind_label(c, &array->binding, array->sources[0], false, range), err);
}

/* Values of one column, two (blue and red), three (WDL) or more (per player: the first two columns
 * are the two colours, even where other values are the mover's). They must be within the bounds of
 * their convention. */
static int check_values(struct plan *plan, const struct plan_array *array,
                        struct number_range *range, struct error *err)
{
    static const char *const expected[2][2] = {
        {"values from 0 to 1 (--value colour01); for values from -1 to 1 use --value colour11, for "
         "values of the player to move --value mover",
         "values from -1 to 1 (--value colour11)"},
        {"values from 0 to 1, for blue and red (--value colour01); for values from -1 to 1 use "
         "--value colour11, for values of the player to move --value mover",
         "values from -1 to 1, for blue and red"}};
    const enum value_convention value = plan->conventions.value;
    const bool is_signed = value == VALUE_COLOUR11, is_wdl = array->binding.role == ROLE_WDL;
    const uint64_t n =
        array->sources[0]->row_nbytes / array->sources[0]->header.dtype.itemsize; /* of a row */
    const struct bounds bounds = {
        .low = is_signed ? -1 : 0, .high = 1, .expected = expected[n == 2][is_signed]};

    if (value == VALUE_MOVER && !(n >= 2 && (array->binding.options & ROLE_PLAYERS)))
        return 0;
    if (is_wdl &&
        role_value_contradicts(&array->binding, array->key, plan->board, &plan->conventions))
        return plan_refuse(plan, array, err,
                           "3 columns, but --value %s is for one or two; use --role NAME=wdl (blue "
                           "wins, draw, red wins) or NAME=value:players",
                           conventions_text(&plan->conventions, "value").text);
    if (is_wdl)
        return check_shares(plan, array, false,
                            "blue wins, draw, red wins, which are not negative and have the sum 1; "
                            "use --value mover, or --role NAME=value:players or NAME=copy",
                            err);
    if (n >= 2 &&
        (array->binding.options & ROLE_PLAYERS)) /* these may be scores, which have no bounds */
        return 0;
    if (n > 2)
        return plan_refuse(plan, array, err,
                           "%llu columns of values: which of them are a colour's is not known; use "
                           "--role NAME=wdl, NAME=value:players (one per player) or NAME=copy",
                           (unsigned long long)n);
    if (n < 2 && value == VALUE_COLOUR_WDL)
        return plan_refuse(
            plan, array, err,
            "1 column, but --value colour-wdl means 3; use --value colour01, colour11 or mover");
    if (check_bounds(plan, array, &bounds, range, err) != 0)
        return -1;
    if (n == 2)
        return check_shares(
            plan, array, is_signed,
            is_signed ? "opposite values of blue and red (--value colour11); if they are something "
                        "else, --role NAME=value:players or NAME=copy"
                      : "values of blue and red whose sum is 1 (--value colour01); use --value "
                        "colour11 or mover, or --role NAME=value:players or NAME=copy",
            err);
    struct number_range all = *range;
    survey_widen(plan->settings->seen, array, &all);
    if (!is_signed || all.min < 0 || all.n == 0)
        return 0;
    return plan_warn(plan, err,
                     "%s: no value is negative: --value colour11 makes v -v; values from 0 to 1 "
                     "(red wins) are --value colour01",
                     text_path(array->key).text);
}

/* By enum to_move_coding. */
static const struct bounds players[] = {
    [TO_MOVE_01] =
        {0, 1, true, false,
         "0 or 1 (--to-move 01); for 1 and 2 use --to-move 12, for 1 and -1 --to-move pm1", false},
    [TO_MOVE_12] = {1, 2, true, false, "1 or 2 (--to-move 12)", false},
    [TO_MOVE_PM1] = {-1, 1, true, true, "1 or -1 (--to-move pm1)", false},
};

/*
 * A winner is coded like the player to move; what is not a player (a draw, nobody yet) is kept.
 * Codes that contradict the array of players to move, or without one fit several codings, are
 * refused.
 */
static int check_winner(const struct plan *plan, const struct plan_array *array,
                        struct number_range *range, struct error *err)
{
    const unsigned minus = NUMBER_CODE(-1), zero = NUMBER_CODE(0), one = NUMBER_CODE(1);
    const unsigned two = NUMBER_CODE(2);
    /* Declared, or checked against an array of players to move. */
    const bool known = plan->conventions.to_move_said || survey_find(plan, ROLE_TO_MOVE) != NULL;
    const enum to_move_coding coding = plan->conventions.to_move;
    struct bounds bounds = {.low = -1,
                            .high = 2,
                            .whole = true,
                            .expected = "the code of a player, or one of -1, 0, 2 for nobody"};

    if (known && coding == TO_MOVE_PM1) {
        bounds.high = 1;
        bounds.expected = "1, -1, or 0 for nobody (--to-move pm1)";
    }
    if (check_bounds(plan, array, &bounds, range, err) != 0)
        return -1;
    survey_widen(plan->settings->seen, array, range);
    const unsigned codes = range->codes;
    const bool is_01 = !(codes & (minus | two));
    const bool fits =
        !known ? is_01 || codes == (minus | one) || !(codes & ~(one | two))
               : coding == TO_MOVE_PM1 || (coding == TO_MOVE_12 ? !(codes & minus) || (codes & two)
                                                                : is_01 || (codes & zero));
    if (plan->conventions.to_move_said || fits)
        return 0;
    return plan_refuse(plan, array, err,
                       "codes%s%s%s%s: %s; use --to-move 01, 12 or pm1 if the players are coded so "
                       "here, too, or --role NAME=value with --value, or NAME=copy",
                       codes & minus ? " -1" : "", codes & zero ? " 0" : "",
                       codes & one ? " 1" : "", codes & two ? " 2" : "",
                       known ? "the player to move is 0 or 1 here, and these are not"
                             : "which of them are the two players is not known");
}

/* Set what transforms that swap colours do to the array's numbers. */
static int bind_swap(struct plan *plan, struct plan_array *array, struct error *err)
{
    static const struct bounds first = {
        .high = 1,
        .whole = true,
        .expected = "0 or 1, the player to move: these are not rows of this game, or they are "
                    "written differently",
        .first_column = true};
    const struct dtype *dtype = &array->spec.dtype;
    const struct role_binding *b = &array->binding;
    const bool has_players = survey_find(plan, ROLE_TO_MOVE) != NULL;
    struct number_range range = {0};
    int status = 0;

    switch (role_kinds[b->role].swap) {
    case ROLE_SWAP_CODES:
        status = check_grid(plan, array, &range, err);
        break;
    case ROLE_SWAP_VALUES:
        status = check_values(plan, array, &range, err);
        break;
    case ROLE_SWAP_PLAYER:
        status = b->options & ROLE_WINNER
                     ? check_winner(plan, array, &range, err)
                     : check_bounds(plan, array, &players[plan->conventions.to_move], &range, err);
        break;
    case ROLE_SWAP_FIRST:
        status = check_bounds(plan, array, &first, &range, err);
        break;
    case ROLE_SWAP_NOTHING:
        return 0;
    }
    if (status != 0)
        return -1;
    const enum label_op op =
        bind_label(&plan->conventions, b, array->sources[0], has_players, &range);
    if (!label_fits(op, dtype))
        return plan_refuse(
            plan, array, err,
            "a colour swap cannot be computed in %s; use --value or --to-move, or --role NAME=copy",
            dtype_name(dtype).text);
    spec_set_swap(&array->spec, op);
    return 0;
}

/* --- an array --- */

/* Keys depend on all images of a position, whichever are chosen. */
static bool is_keyed(const struct plan *plan, const struct plan_array *array)
{
    return plan->settings->orbit_key && board_swaps_colours(plan->board) &&
           plan->conventions.planes != PLANES_CANONICAL && plan_key_planes(plan, array) != NULL;
}

int bind_array(struct plan *plan, struct plan_array *array, struct error *err)
{
    const enum purpose purpose = plan->settings->purpose;
    const enum role role = array->binding.role;
    const struct role_binding kept = {.role = ROLE_COPY};
    struct spec *spec = &array->spec;
    struct error reason = {0};
    bool is_coded = false;
    /* Where rows are kept unchanged, labels that are not compared need not be understood. */
    const bool moves = purpose < FOR_KEYS || purpose == FOR_MEANS ||
                       (purpose == FOR_VALUES && (role == ROLE_VALUE || role == ROLE_WDL)) ||
                       plan_key_planes(plan, array) != NULL;

    if (spec_init(spec, &plan->maker, array->sources[0], moves ? &array->binding : &kept,
                  &reason) != 0)
        return reason.kind == ERROR_DATA ? plan_refuse(plan, array, err, "%s", reason.message)
                                         : error_pass(err, &reason);
    if (!moves)
        return 0;
    /* What the chosen transforms do to planes must be known; of others, the key will complain. */
    for (uint32_t t = 0; t < spec->n_steps; t++) {
        const bool is_chosen = memchr(plan->chosen, (int)t, plan->n_chosen) != NULL;
        struct spec_step *step = &spec->steps[t];

        if (!is_chosen && !is_keyed(plan, array))
            continue;
        if (step->is_unknown && is_chosen)
            return plan_refuse(plan, array, err, "%s", spec->doubt);
        if (step->label_plane < 0)
            continue;
        if (spec->kind == SPEC_BITS || !dtype_is_number(&spec->dtype))
            return plan_refuse(
                plan, array, err,
                "a to-move plane of packed or opaque elements cannot swap colours; write it as "
                "numbers%s",
                purpose >= FOR_KEYS || plan->settings->canonical || plan->settings->orbit_key
                    ? ""
                    : ", or use --transforms for the images that keep the colours");
        if (!is_coded &&
            survey_turn_coding(plan, array, (uint64_t)spec_turn_plane(spec, t), err) != 0)
            return -1;
        is_coded = true; /* the same for all of them */
        step->label = spec_swap_of_coding(plan->conventions.plane_coding);
    }
    if (spec->codes && !dtype_is_integer(&spec->dtype))
        return plan_refuse(plan, array, err,
                           "dtype %s, expected integers: --tiles permute permutes the numbers of "
                           "tile codes 100a+10b+c",
                           dtype_name(&spec->dtype).text);
    if (array->values != NULL) {
        spec->value_dtype = array->values[0]->header.dtype;
        spec->value_row_nbytes = array->values[0]->row_nbytes;
        if (spec->kind == SPEC_PADDED && (!dtype_is_number(&spec->value_dtype) ||
                                          spec->value_row_nbytes / spec->value_dtype.itemsize !=
                                              spec->row_nbytes / spec->dtype.itemsize))
            return plan_refuse(plan, array, err, "its values array is not of the same shape");
    }
    return plan->swaps || is_keyed(plan, array) ? bind_swap(plan, array, err) : 0;
}
