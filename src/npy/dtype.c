/*
 * dtype.c - element types: numpy's descr strings, parsed strictly by a table of kinds and sizes and
 * written as numpy spells them; single elements, read and stored as integers or doubles. Half
 * precision is converted bit by bit, since C has no type for it.
 */
#include "npy/dtype.h"

#include "base/text.h"

#include <math.h>

#define ANY_SIZE UINT32_MAX

/* The item sizes of each kind: bit n is set for n bytes. */
static const uint32_t sizes[128] = {
    [DTYPE_BOOL] = 1u << 1,
    [DTYPE_INT] = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8,
    [DTYPE_UINT] = 1u << 1 | 1u << 2 | 1u << 4 | 1u << 8,
    [DTYPE_FLOAT] = 1u << 2 | 1u << 4 | 1u << 8,
    [DTYPE_COMPLEX] = 1u << 8 | 1u << 16,
    [DTYPE_DATE] = 1u << 8,
    [DTYPE_DURATION] = 1u << 8,
    [DTYPE_OBJECT] = 1u << 8,
    [DTYPE_BYTES] = ANY_SIZE,
    [DTYPE_UNICODE] = ANY_SIZE,
    [DTYPE_VOID] = ANY_SIZE,
};

/* The units of dates and durations by numpy's names; struct dtype has the index in this table. */
static const char units[][8] = {"",    "[Y]",  "[M]",  "[W]",  "[D]",  "[h]",  "[m]",
                                "[s]", "[ms]", "[us]", "[ns]", "[ps]", "[fs]", "[as]"};

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

struct text_quoted dtype_name(const struct dtype *dtype)
{
    const uint32_t count = dtype->kind == DTYPE_UNICODE ? dtype->itemsize / 4 : dtype->itemsize;
    const char order = !dtype_has_byte_order(dtype) ? '|' : dtype->big_endian ? '>' : '<';

    if (dtype->structured)
        return text_format("structured(%u bytes)", (unsigned)dtype->itemsize);
    if (dtype->kind == DTYPE_OBJECT)
        return text_format("|O");
    return text_format("%c%c%u%s", order, dtype->kind, (unsigned)count, units[dtype->unit]);
}

int dtype_parse(const char *descr, size_t n_bytes, struct dtype *dtype, struct error *err)
{
    const struct text_quoted quoted = text_quote_bytes(descr, n_bytes);
    const bool has_order = n_bytes > 0 && strchr("<>|=", descr[0]) != NULL && descr[0] != '\0';
    const size_t start = has_order ? 1 : 0;
    const char kind = n_bytes > start ? descr[start] : '\0', *digits = descr + start + 1;
    const uint32_t allowed = (uint8_t)kind < 128 ? sizes[(uint8_t)kind] : 0;
    const char *bracket = memchr(descr, '[', n_bytes); /* "[ns]", of a date or duration */
    uint64_t count = 8;                                /* if 'O' comes without a number */
    uint32_t itemsize = 0;
    unsigned unit = 0;
    const char *fault = NULL;

    *dtype = (struct dtype){0};
    if ((kind == DTYPE_DATE || kind == DTYPE_DURATION) && bracket != NULL &&
        descr[n_bytes - 1] == ']') {
        const size_t n_unit = n_bytes - (size_t)(bracket - descr);

        for (unit = 1; unit < N_OF(units); unit++)
            if (strlen(units[unit]) == n_unit && memcmp(units[unit], bracket, n_unit) == 0)
                break;
        n_bytes -= n_unit;
    }
    if (n_bytes == start)
        fault = "no kind, expected a letter of 'biufcMmSUVO'";
    else if (allowed == 0)
        fault = "unknown kind, expected a letter of 'biufcMmSUVO'";
    else if (unit == N_OF(units))
        fault = "unit of time not known, expected one of Y M W D h m s ms us ns ps fs as";
    else if ((kind != DTYPE_OBJECT || n_bytes > start + 1) &&
             (text_parse_digits(digits, n_bytes - start - 1, &count) != 0 || count > UINT32_MAX ||
              (*digits == '0' && n_bytes - start > 2)))
        fault = "not an item size, expected digits alone";
    else if (count == 0 ||
             __builtin_mul_overflow(count, kind == DTYPE_UNICODE ? 4u : 1u, &itemsize) ||
             (allowed != ANY_SIZE && (itemsize > 16 || (allowed >> itemsize & 1) == 0)))
        return error_set(err, ERROR_DATA, "dtype %s: item size %u is impossible", quoted.text,
                         (unsigned)count);
    if (fault != NULL)
        return error_set(err, ERROR_DATA, "dtype %s: %s", quoted.text, fault);
    dtype->kind = kind;
    dtype->unit = (uint8_t)unit;
    dtype->itemsize = kind == DTYPE_OBJECT ? 0 : itemsize;
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
    if (dtype->kind != DTYPE_BOOL && !dtype_is_integer(dtype))
        return -1;
    bytes_put_uint(element, (uint64_t)value, dtype->itemsize, dtype->big_endian);
    return dtype_get_int(dtype, element) == value ? 0 : -1;
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
    const uint64_t sign = signbit(value) ? 0x8000 : 0;
    int exponent = 0;
    uint64_t bits;

    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        return sign | 0x7e00 | (bits >> 42 & 0x1ff);
    value = fabs(value);
    if (value >= 65520)
        return sign | 0x7c00;
    (void)frexp(value, &exponent);
    if (value < 0x1p-14) /* zero and denormals: multiples of 2^-24 */
        exponent = -13;
    /* 1024 to 2048 of the last digit's units: 1024 is the leading bit, and 2048 carries. */
    return sign |
           (((uint64_t)exponent + 13) * 1024 + (uint64_t)nearbyint(ldexp(value, 11 - exponent)));
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
