/*
 * dtype.c - element types: numpy's descr strings read strictly against a table of kinds and sizes
 * and written back as numpy spells them, and single elements read and stored as integers or
 * doubles. Half precision is converted by its bits, as C has no type for it.
 */
#include "npy/dtype.h"

#include "base/bytes.h"
#include "base/text.h"

#include <math.h>

/* The kinds and the item sizes each may have, one bit per size. */
struct dtype_rule {
    char kind;
    uint32_t sizes;       /* bit n: n bytes are allowed; 0: any from 1 up */
    uint32_t unit_nbytes; /* what the number after the letter counts */
};

#define SIZE_BIT(n) (1u << (n))

static const struct dtype_rule dtype_rules[] = {
    {DTYPE_BOOL, SIZE_BIT(1), 1},
    {DTYPE_INT, SIZE_BIT(1) | SIZE_BIT(2) | SIZE_BIT(4) | SIZE_BIT(8), 1},
    {DTYPE_UINT, SIZE_BIT(1) | SIZE_BIT(2) | SIZE_BIT(4) | SIZE_BIT(8), 1},
    {DTYPE_FLOAT, SIZE_BIT(2) | SIZE_BIT(4) | SIZE_BIT(8), 1},
    {DTYPE_COMPLEX, SIZE_BIT(8) | SIZE_BIT(16), 1},
    {DTYPE_DATE, SIZE_BIT(8), 1},
    {DTYPE_DURATION, SIZE_BIT(8), 1},
    {DTYPE_BYTES, 0, 1},
    {DTYPE_UNICODE, 0, 4},
    {DTYPE_VOID, 0, 1},
    {DTYPE_OBJECT, SIZE_BIT(8), 1},
};

/* What dates and durations count; numpy's names, in struct dtype as places in this table. */
static const char units[][8] = {"",    "[Y]",  "[M]",  "[W]",  "[D]",  "[h]",  "[m]",
                                "[s]", "[ms]", "[us]", "[ns]", "[ps]", "[fs]", "[as]"};

#define N_UNITS (sizeof units / sizeof *units)

bool dtype_equal(const struct dtype *a, const struct dtype *b)
{
    return a->kind == b->kind && a->itemsize == b->itemsize && a->big_endian == b->big_endian &&
           a->unit == b->unit && a->structured == b->structured;
}

bool dtype_is_number(const struct dtype *dtype)
{
    return dtype->kind == DTYPE_BOOL || dtype->kind == DTYPE_FLOAT || dtype_is_integer(dtype);
}

bool dtype_is_integer(const struct dtype *dtype)
{
    return dtype->kind == DTYPE_INT || dtype->kind == DTYPE_UINT;
}

bool dtype_has_byte_order(const struct dtype *dtype)
{
    return dtype->kind == DTYPE_UNICODE ||
           (dtype->itemsize > 1 && strchr("iufcMm", dtype->kind) != NULL);
}

struct dtype_text dtype_name(const struct dtype *dtype)
{
    struct dtype_text name;
    uint32_t count = dtype->kind == DTYPE_UNICODE ? dtype->itemsize / 4 : dtype->itemsize;
    char order = '|';

    if (dtype_has_byte_order(dtype))
        order = dtype->big_endian ? '>' : '<';
    if (dtype->structured)
        snprintf(name.text, sizeof name.text, "structured(%u bytes)", (unsigned)dtype->itemsize);
    else if (dtype->kind == DTYPE_OBJECT)
        snprintf(name.text, sizeof name.text, "|O");
    else
        snprintf(name.text, sizeof name.text, "%c%c%u%s", order, dtype->kind, (unsigned)count,
                 units[dtype->unit]);
    return name;
}

int dtype_parse(const char *descr, size_t n_bytes, struct dtype *dtype, struct error *err)
{
    const struct text_quoted quoted = text_quote_bytes(descr, n_bytes);
    const struct dtype_rule *rule = NULL;
    const bool has_order = n_bytes > 0 && strchr("<>|=", descr[0]) != NULL && descr[0] != '\0';
    const size_t start = has_order ? 1 : 0;
    const char *digits = descr + start + 1;
    const char *bracket = memchr(descr, '[', n_bytes); /* "[ns]", of a date or duration */
    uint64_t count = 8;                                /* of 'O', which may come without a number */
    uint32_t itemsize;

    *dtype = (struct dtype){0};
    if (n_bytes == start)
        return error_set(err, ERROR_DATA, "dtype %s: no kind, expected a letter of 'biufcMmSUVO'",
                         quoted.text);
    for (size_t i = 0; i < sizeof dtype_rules / sizeof *dtype_rules; i++)
        if (dtype_rules[i].kind == descr[start])
            rule = &dtype_rules[i];
    if (rule == NULL)
        return error_set(err, ERROR_DATA,
                         "dtype %s: unknown kind, expected a letter of 'biufcMmSUVO'", quoted.text);
    if ((rule->kind == DTYPE_DATE || rule->kind == DTYPE_DURATION) && bracket != NULL &&
        descr[n_bytes - 1] == ']') {
        const size_t n_unit = n_bytes - (size_t)(bracket - descr);

        for (dtype->unit = 1; dtype->unit < N_UNITS; dtype->unit++)
            if (strlen(units[dtype->unit]) == n_unit &&
                memcmp(units[dtype->unit], bracket, n_unit) == 0)
                break;
        n_bytes -= n_unit;
    }
    if (dtype->unit == N_UNITS)
        return error_set(err, ERROR_DATA,
                         "dtype %s: unit of time not known, expected one of Y M W D h m s ms us ns "
                         "ps fs as",
                         quoted.text);
    if (rule->kind != DTYPE_OBJECT || n_bytes > start + 1)
        if (text_parse_digits(digits, n_bytes - start - 1, &count) != 0 || count > UINT32_MAX ||
            (*digits == '0' && n_bytes - start > 2))
            return error_set(err, ERROR_DATA, "dtype %s: not an item size, expected digits alone",
                             quoted.text);
    if (count == 0 || __builtin_mul_overflow(count, rule->unit_nbytes, &itemsize) ||
        (rule->sizes != 0 && (itemsize > 16 || (rule->sizes & SIZE_BIT(itemsize)) == 0)))
        return error_set(err, ERROR_DATA, "dtype %s: item size %u is impossible", quoted.text,
                         (unsigned)count);
    dtype->kind = rule->kind;
    dtype->itemsize = rule->kind == DTYPE_OBJECT ? 0 : itemsize;
    dtype->big_endian = descr[0] == '>' && dtype_has_byte_order(dtype);
    return 0;
}

int64_t dtype_get_int(const struct dtype *dtype, const void *element)
{
    uint64_t value = bytes_get_uint(element, dtype->itemsize, dtype->big_endian);
    unsigned unused_bits = 64 - 8 * dtype->itemsize;

    if (dtype->kind == DTYPE_BOOL)
        return value != 0;
    if (dtype->kind == DTYPE_INT)
        return (int64_t)(value << unused_bits) >> unused_bits;
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

int dtype_put_int(const struct dtype *dtype, int64_t value, void *element)
{
    const unsigned n_bits = 8 * dtype->itemsize;
    bool fits = false;

    if (dtype->kind == DTYPE_BOOL)
        fits = value == 0 || value == 1;
    else if (dtype->kind == DTYPE_INT)
        fits = n_bits == 64 ||
               (value >= -(INT64_C(1) << (n_bits - 1)) && value < INT64_C(1) << (n_bits - 1));
    else if (dtype->kind == DTYPE_UINT)
        fits = value >= 0 && (n_bits == 64 || value < INT64_C(1) << n_bits);
    if (!fits)
        return -1;
    bytes_put_uint(element, (uint64_t)value, dtype->itemsize, dtype->big_endian);
    return 0;
}

double dtype_get_any_double(const struct dtype *dtype, const void *element)
{
    uint64_t bits = bytes_get_uint(element, dtype->itemsize, dtype->big_endian);
    const uint32_t low = (uint32_t)bits;
    double value;
    float single;

    if (dtype->kind == DTYPE_UINT)
        return (double)bits;
    if (dtype->kind != DTYPE_FLOAT)
        return (double)dtype_get_int(dtype, element);
    if (dtype->itemsize == 4) {
        memcpy(&single, &low, sizeof single);
        return (double)single;
    }
    if (dtype->itemsize == 2) {
        const uint64_t sign = bits >> 15 << 63, exponent = bits >> 10 & 31, fraction = bits & 1023;

        if (exponent == 0) /* zero and denormals: multiples of 2^-24 */
            return (sign != 0 ? -0x1p-24 : 0x1p-24) * (double)fraction;
        bits = sign | fraction << 42 | (exponent == 31 ? UINT64_C(2047) : exponent + 1008) << 52;
    }
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The nearest half, ties to even. */
static uint64_t half_bits(double value)
{
    uint64_t bits;
    int shift = 42;

    memcpy(&bits, &value, sizeof bits);
    const uint64_t sign = bits >> 48 & 0x8000;
    const int exponent = (int)(bits >> 52 & 2047) - (1023 - 15);
    uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);
    if (exponent == 2047 - (1023 - 15))
        return sign | 0x7c00 | (fraction != 0 ? 0x200 | fraction >> 42 : 0);
    if (exponent >= 31)
        return sign | 0x7c00;
    if (exponent < -10)
        return sign;
    uint64_t half = (uint64_t)exponent << 10;
    if (exponent <= 0) { /* subnormal: the whole mantissa in its place */
        fraction |= UINT64_C(1) << 52;
        shift = 43 - exponent;
        half = 0;
    }
    half |= fraction >> shift;
    const uint64_t rest = fraction & ((UINT64_C(1) << shift) - 1);
    const uint64_t tie = UINT64_C(1) << (shift - 1);
    return sign | (half + (rest > tie || (rest == tie && (half & 1)))); /* may carry to infinity */
}

void dtype_put_double(const struct dtype *dtype, double value, void *element)
{
    uint64_t bits = 0;

    if (dtype->kind != DTYPE_FLOAT) {
        const double whole = nearbyint(value);

        if (dtype->kind == DTYPE_UINT && whole >= 0x1p63)
            bits = whole < 0x1p64 ? (uint64_t)whole : UINT64_MAX;
        else
            bits = (uint64_t)(int64_t)whole;
    } else if (dtype->itemsize == 2) {
        bits = half_bits(value);
    } else if (dtype->itemsize == 4) {
        const float single = (float)value;

        memcpy(&bits, &single, sizeof single);
    } else {
        memcpy(&bits, &value, sizeof value);
    }
    bytes_put_uint(element, bits, dtype->itemsize, dtype->big_endian);
}
