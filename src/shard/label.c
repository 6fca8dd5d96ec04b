/*
 * label.c - what a colour swap does to numbers: the only place where an expansion computes values.
 * Each operation is defined on one element's bits (one IEEE subtraction in the element's type, half
 * precision rounded once); the commonest types have faster loops with the same result. Planes of
 * one number, such as to-move planes, are computed once and copied.
 */
#include "shard/spec.h"

#include <math.h>

#define SUM_TOLERANCE 2e-3

const char *label_op_name(enum label_op op)
{
    static const char *const names[] = {
        [LABEL_KEEP] = "kept",
        [LABEL_COMPLEMENT] = "1 - v",
        [LABEL_NEGATE] = "-v",
        [LABEL_EXCHANGE_01] = "0 and 1 exchanged",
        [LABEL_EXCHANGE_12] = "1 and 2 exchanged",
        [LABEL_FIRST_01] = "0 and 1 exchanged in the first column",
        [LABEL_REVERSE] = "columns reversed",
        [LABEL_EXCHANGE_TWO] = "first two columns exchanged",
    };

    return names[op];
}

/* The bits of 0.0, 1.0 or 2.0 in a float type; integers are their own code. */
static uint64_t code_bits(const struct dtype *dtype, unsigned code)
{
    static const uint64_t bits[9][2] = {[2] = {0x3c00, 0x4000},
                                        [4] = {0x3f800000, 0x40000000},
                                        [8] = {0x3ff0000000000000, 0x4000000000000000}};

    return dtype->kind != DTYPE_FLOAT || code == 0 ? code : bits[dtype->itemsize][code - 1];
}

bool label_fits(enum label_op op, const struct dtype *dtype)
{
    if (op == LABEL_NEGATE)
        return dtype->kind == DTYPE_INT || dtype->kind == DTYPE_FLOAT;
    return dtype_is_number(dtype) || op == LABEL_KEEP || op >= LABEL_REVERSE;
}

/* Apply an element-wise op to one element. */
static void one_element(enum label_op op, const struct dtype *dtype, const uint8_t *in,
                        uint8_t *out)
{
    const bool is_float = dtype->kind == DTYPE_FLOAT;
    const uint64_t sign = UINT64_C(1) << (8 * dtype->itemsize - 1);
    const uint64_t one = code_bits(dtype, 1), two = code_bits(dtype, 2);
    uint64_t bits = bytes_get_uint(in, dtype->itemsize, dtype->big_endian);

    switch (op) {
    case LABEL_COMPLEMENT:
        /* 1 - v of a half or a float is exact in a double, or rounds to the same result. */
        if (is_float) {
            dtype_put_double(dtype, 1.0 - dtype_get_double(dtype, in), out);
            return;
        }
        bits = 1 - bits; /* wraps within the width */
        break;
    case LABEL_NEGATE:
        if (is_float)
            bits = (bits & (sign - 1)) == 0 ? 0 : bits ^ sign;
        else
            bits = 0 - bits;
        break;
    case LABEL_EXCHANGE_01: /* -0.0 is the code 0 */
        if (bits == one)
            bits = 0;
        else if (bits == 0 || (is_float && bits == sign))
            bits = one;
        break;
    case LABEL_EXCHANGE_12:
        if (bits == one || bits == two)
            bits = bits == one ? two : one;
        break;
    default:
        break;
    }
    bytes_put_uint(out, bits, dtype->itemsize, dtype->big_endian);
}

/* Exchange two codes in elements of a native type. */
#define EXCHANGE(type)                                                                         \
    do {                                                                                       \
        const type one = (type)code_bits(dtype, 1), two = (type)code_bits(dtype, 2);           \
        const type *numbers = in;                                                              \
                                                                                               \
        for (size_t i = 0; i < n; i++)                                                         \
            ((type *)out)[i] = numbers[i] == one ? two : numbers[i] == two ? one : numbers[i]; \
    } while (0)

void label_apply(enum label_op op, const struct dtype *dtype, const void *in, void *out, size_t n)
{
    const size_t size = dtype->itemsize, n_bytes = n * size;
    const bool is_native = !dtype->big_endian || size == 1;
    const uint8_t *from = in;
    uint8_t *to = out;

    switch (op) {
    case LABEL_KEEP:
        memmove(to, from, n_bytes);
        return;
    case LABEL_FIRST_01:
        memmove(to, from, n_bytes);
        if (n > 0)
            one_element(LABEL_EXCHANGE_01, dtype, to, to);
        return;
    case LABEL_REVERSE:
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * size, from + (n - 1 - i) * size, size);
        return;
    case LABEL_EXCHANGE_TWO:
        memcpy(to, from, n_bytes);
        if (n >= 2) {
            memcpy(to, from + size, size);
            memcpy(to + size, from, size);
        }
        return;
    default:
        break;
    }
    /* All elements alike, as in a to-move plane: compute one and copy it. */
    if (n >= 2 && memcmp(from, from + size, n_bytes - size) == 0) {
        one_element(op, dtype, from, to);
        for (size_t done = size; done < n_bytes; done *= 2)
            memcpy(to + done, to, smaller(n_bytes - done, done));
    } else if (op == LABEL_EXCHANGE_12 && size == 1) {
        EXCHANGE(uint8_t);
    } else if (op == LABEL_EXCHANGE_12 && size == 2 && is_native) {
        EXCHANGE(uint16_t);
    } else if (op == LABEL_EXCHANGE_12 && size == 4 && is_native) {
        EXCHANGE(uint32_t);
    } else {
        for (size_t i = 0; i < n; i++)
            one_element(op, dtype, from + i * size, to + i * size);
    }
}

bool label_are_shares(const struct dtype *dtype, bool is_signed, double low, double sum)
{
    const bool is_whole = dtype->kind != DTYPE_FLOAT;

    if (isnan(sum)) /* an unknown row is moved as it is */
        return low >= (is_signed ? -1 : 0);
    if (is_signed)
        return low >= -1 && fabs(sum) <= SUM_TOLERANCE;
    return low >= 0 && (is_whole || fabs(sum - 1) <= SUM_TOLERANCE || sum == 0);
}
