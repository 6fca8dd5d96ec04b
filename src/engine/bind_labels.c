/* bind_labels.c - what a colour swap does to codes, values and the player to move. */
#include "base/text.h"
#include "engine/bind.h"
#include "engine/survey.h"

#include <strings.h>

/* Elements of one row. */
static uint64_t row_elements(const struct plan_array *array)
{
    return array->sources[0]->row_nbytes / array->sources[0]->header.dtype.itemsize;
}

/* Codes of a grid: {0,1,2} or {-1,0,1}, as the data shows. */
static int grid_label(const struct plan *plan, const struct plan_array *array, enum label_op *op,
                      struct error *err)
{
    struct survey_range range;

    if (plan->conventions.planes == PLANES_MOVER) {
        *op = LABEL_KEEP;
        return 0;
    }
    if (survey_range(plan, array, &range, err) != 0)
        return -1;
    if (!range.has_fraction && range.min >= -1 && range.min < 0 && range.max <= 1) {
        *op = LABEL_NEGATE;
        return 0;
    }
    if (!range.has_fraction && range.min >= 0 && range.max <= 2) {
        *op = plan->conventions.to_move_said && plan->conventions.to_move == TO_MOVE_PM1
                  ? LABEL_NEGATE
                  : LABEL_EXCHANGE_12;
        return 0;
    }
    return plan_refuse(plan, array, err,
                       "codes from %g to %g, expected 0, 1, 2 or -1, 0, 1; use --role NAME=copy if "
                       "they name no colour",
                       range.min, range.max);
}

/* Bounds of each value convention, and the flag that the data may be hinting at. */
static int value_label(const struct plan *plan, const struct plan_array *array, enum label_op *op,
                       struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const bool signed_values = c->value == VALUE_COLOUR11;
    const struct survey_bounds bounds = {.low = signed_values ? -1 : 0, .high = 1};
    struct survey_range range;

    if (survey_range(plan, array, &range, err) != 0)
        return -1;
    *op = signed_values ? LABEL_NEGATE : LABEL_COMPLEMENT;
    if (range.min >= bounds.low && range.max <= bounds.high)
        return 0;
    return survey_refuse(plan, array, &bounds,
                         signed_values
                             ? "values from -1 to 1 (--value colour11)"
                             : "values from 0 to 1 (--value colour01); for values from -1 to 1 use "
                               "--value colour11, for values of the player to move --value mover",
                         err);
}

/* Values of one, two (by colour), three (WDL) or more (per player) columns. */
static int values_label(const struct plan *plan, const struct plan_array *array, enum label_op *op,
                        struct error *err)
{
    const enum value_convention value = plan->conventions.value;
    const uint64_t n = row_elements(array);

    if (value == VALUE_MOVER) {
        *op = LABEL_KEEP;
        return 0;
    }
    if (array->binding.role == ROLE_WDL || n == 3) {
        *op = LABEL_REVERSE;
        return n == 3 ? 0
                      : plan_refuse(plan, array, err, "%llu columns, expected 3 (win, draw, loss)",
                                    (unsigned long long)n);
    }
    if (n >= 2) {
        *op = LABEL_EXCHANGE_TWO;
        return 0;
    }
    if (value == VALUE_COLOUR_WDL)
        return plan_refuse(plan, array, err,
                           "%llu columns, but --value colour-wdl means 3; use --value colour01, "
                           "colour11 or mover",
                           (unsigned long long)n);
    return value_label(plan, array, op, err);
}

struct coding {
    struct survey_bounds bounds;
    enum label_op op;
    const char *expected;
};

static const struct coding codings[] = {
    [TO_MOVE_01] = {{0, 1, true, false},
                    LABEL_COMPLEMENT,
                    "0 or 1 (--to-move 01); for 1 and 2 use --to-move 12, for 1 and -1 --to-move "
                    "pm1"},
    [TO_MOVE_12] = {{1, 2, true, false}, LABEL_EXCHANGE_12, "1 or 2 (--to-move 12)"},
    [TO_MOVE_PM1] = {{-1, 1, true, true}, LABEL_NEGATE, "1 or -1 (--to-move pm1)"},
};

/* A winner is coded as the player to move is, and 0 may be a draw; the codes 2 and -1 say which
 * coding it is when the user has not. */
static struct coding winner_coding(const struct conventions *c, const struct survey_range *range)
{
    struct coding coding = codings[c->to_move];

    if (!c->to_move_said && range->max == 2)
        coding = codings[TO_MOVE_12];
    else if (!c->to_move_said && range->min == -1)
        coding = codings[TO_MOVE_PM1];
    if (coding.bounds.low > 0)
        coding.bounds.low = 0;
    coding.bounds.no_zero = false;
    return coding;
}

static int to_move_label(const struct plan *plan, const struct plan_array *array, enum label_op *op,
                         struct error *err)
{
    struct survey_range range;
    struct coding coding = codings[plan->conventions.to_move];

    if (survey_range(plan, array, &range, err) != 0)
        return -1;
    if (strncasecmp(array->key, "winner", 6) == 0)
        coding = winner_coding(&plan->conventions, &range);
    *op = coding.op;
    if (range.n > 0 && (range.min < coding.bounds.low || range.max > coding.bounds.high ||
                        range.has_fraction || (coding.bounds.no_zero && range.has_zero)))
        return survey_refuse(plan, array, &coding.bounds, coding.expected, err);
    return 0;
}

int bind_swap_label(const struct plan *plan, const struct plan_array *array, enum label_op *op,
                    struct error *err)
{
    const struct dtype *dtype = &array->sources[0]->header.dtype;
    char name[32];
    int status = 0;

    *op = LABEL_KEEP;
    switch (array->binding.role) {
    case ROLE_GRID:
        status = grid_label(plan, array, op, err);
        break;
    case ROLE_VALUE:
    case ROLE_WDL:
        status = values_label(plan, array, op, err);
        break;
    case ROLE_TO_MOVE:
        status = to_move_label(plan, array, op, err);
        break;
    default:
        break;
    }
    if (status == 0 && !label_fits(*op, dtype)) {
        dtype_name(dtype, name, sizeof name);
        return plan_refuse(plan, array, err,
                           "a colour swap cannot be computed in %s; use --value or --to-move, or "
                           "--role NAME=copy",
                           name);
    }
    return status;
}
