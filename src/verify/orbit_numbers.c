/*
 * orbit_numbers.c - is one number what a colour swap, or a turned tile, makes of another? The rules
 * are written out anew, from the definition of each label operation, and not shared with the code
 * that expands. Only 1 - v may differ by one unit in the last place of 1, as other programs round
 * it elsewhere. Pickled items are compared by type and value.
 */
#include "verify/orbit_numbers.h"

#include <math.h>
#include <string.h>

/* What 1 - v may be off by: one unit in the last place of 1, nothing where it is exact. */
static double slack(const struct dtype *dtype, double v)
{
    if (dtype->kind != DTYPE_FLOAT || v == 0 || v == 1)
        return 0;
    return dtype->itemsize == 2 ? 0x1p-10 : dtype->itemsize == 4 ? 0x1p-23 : 0x1p-52;
}

static bool is_one_less(const struct dtype *dtype, double v, double found)
{
    if (isnan(v) || isnan(found))
        return isnan(v) && isnan(found);
    return 1 - v == found || fabs(1 - v - found) <= slack(dtype, v);
}

static double swap_code(double code, double low)
{
    return code == low ? low + 1 : code == low + 1 ? low : code;
}

/* Element `from` of a row of n that stands at place i once the colours are swapped. */
static uint64_t place_of(enum label_op flip, uint64_t i, uint64_t n)
{
    if (flip == LABEL_REVERSE)
        return n - 1 - i;
    return flip == LABEL_EXCHANGE_TWO && i < 2 && n >= 2 ? 1 - i : i;
}

bool orbit_is_flipped(enum label_op flip, const struct dtype *dtype, const uint8_t *a,
                      const uint8_t *b, uint64_t n)
{
    const size_t item = dtype->itemsize;
    const bool computes = flip == LABEL_COMPLEMENT || flip == LABEL_NEGATE ||
                          flip == LABEL_EXCHANGE_01 || flip == LABEL_EXCHANGE_12;

    if (computes && !dtype_is_number(dtype))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const uint8_t *from = a + place_of(flip, i, n) * item, *to = b + i * item;
        double v, expected, found;

        if (!computes) {
            if (memcmp(from, to, item) != 0)
                return false;
            continue;
        }
        v = dtype_get_double(dtype, from);
        found = dtype_get_double(dtype, to);
        expected = flip == LABEL_NEGATE ? -v : swap_code(v, flip == LABEL_EXCHANGE_01 ? 0 : 1);
        if (flip == LABEL_COMPLEMENT ? !is_one_less(dtype, v, found)
                                     : expected != found && !(isnan(v) && isnan(found)))
            return false;
    }
    return true;
}

bool orbit_is_code(const struct dtype *dtype, const uint8_t number_src[3], const uint8_t *a,
                   const uint8_t *b)
{
    const int64_t code = dtype_get_int(dtype, a), found = dtype_get_int(dtype, b);
    const int64_t digits[3] = {code / 100, code / 10 % 10, code % 10};

    if (code <= 0 || code > 999)
        return code == found;
    return found ==
           100 * digits[number_src[0]] + 10 * digits[number_src[1]] + digits[number_src[2]];
}

static bool same_item(const struct pickle_item *a, const struct pickle_item *b)
{
    if (a->kind != b->kind)
        return false;
    switch (a->kind) {
    case PICKLE_BOOL:
    case PICKLE_INT:
        return a->as.integer == b->as.integer;
    case PICKLE_FLOAT:
        return memcmp(&a->as.number, &b->as.number, sizeof a->as.number) == 0;
    case PICKLE_STRING:
        return a->n_bytes_or_items == b->n_bytes_or_items &&
               memcmp(a->as.bytes, b->as.bytes, a->n_bytes_or_items) == 0;
    case PICKLE_LIST:
        if (a->n_bytes_or_items != b->n_bytes_or_items)
            return false;
        for (uint32_t i = 0; i < a->n_bytes_or_items; i++)
            if (!same_item(&a->as.items[i], &b->as.items[i]))
                return false;
        return true;
    case PICKLE_ARRAY:
        return a->as.array->n_bytes == b->as.array->n_bytes &&
               a->as.array->dtype.kind == b->as.array->dtype.kind &&
               memcmp(a->as.array->data, b->as.array->data, a->as.array->n_bytes) == 0;
    default:
        return true;
    }
}

bool orbit_same_items(const struct lane_row *a, const struct lane_row *b)
{
    if (a->n != b->n || a->items == NULL || b->items == NULL)
        return a->n == 0 && b->n == 0;
    for (uint64_t i = 0; i < a->n; i++)
        if (!same_item(&a->items[i], &b->items[i]))
            return false;
    return true;
}
