/*
 * label.c - what a colour swap does to numbers: the only place where an expansion computes a value.
 * Each operation is defined on one element's bits (one IEEE subtraction in the element's own type,
 * half precision rounded once), and the commonest types have loops that do the same. Planes of one
 * number, as to-move planes are, are computed once and copied.
 */
#include "shard/label.h"

#include "base/bytes.h"

#include <math.h>
#include <string.h>

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

/* What becomes of an element's bits; not of a complemented float. */
static uint64_t element_op(enum label_op op, const struct dtype *dtype, uint64_t bits)
{
    const bool is_float = dtype->kind == DTYPE_FLOAT;
    const uint64_t sign = UINT64_C(1) << (8 * dtype->itemsize - 1);

    switch (op) {
    case LABEL_COMPLEMENT:
        return 1 - bits; /* wraps within the width */
    case LABEL_NEGATE:
        if (!is_float)
            return 0 - bits;
        return (bits & (sign - 1)) == 0 ? 0 : bits ^ sign;
    case LABEL_EXCHANGE_01:
        if (is_float && bits == sign) /* -0.0 is the code 0 */
            bits = 0;
        if (bits == code_bits(dtype, 1))
            return 0;
        return bits == 0 ? code_bits(dtype, 1) : bits;
    case LABEL_EXCHANGE_12:
        if (bits == code_bits(dtype, 1))
            return code_bits(dtype, 2);
        return bits == code_bits(dtype, 2) ? code_bits(dtype, 1) : bits;
    default:
        return bits;
    }
}

bool label_fits(enum label_op op, const struct dtype *dtype)
{
    if (op == LABEL_NEGATE)
        return dtype->kind == DTYPE_INT || dtype->kind == DTYPE_FLOAT;
    return dtype_is_number(dtype) || op == LABEL_KEEP || op >= LABEL_REVERSE;
}

static void one_element(enum label_op op, const struct dtype *dtype, const uint8_t *in,
                        uint8_t *out)
{
    const size_t size = dtype->itemsize;
    const uint64_t bits = bytes_get_uint(in, size, dtype->big_endian);

    /* Rounded once: a double holds 1 - v of a half or a float exactly, or rounds as they do. */
    if (op == LABEL_COMPLEMENT && dtype->kind == DTYPE_FLOAT)
        dtype_put_double(dtype, 1.0 - dtype_get_double(dtype, in), out);
    else
        bytes_put_uint(out, element_op(op, dtype, bits), size, dtype->big_endian);
}

/* Elements all alike, as those of a to-move plane are: one is computed, the others are copies. */
static bool constant_elements(enum label_op op, const struct dtype *dtype, const uint8_t *in,
                              uint8_t *out, size_t n)
{
    const size_t size = dtype->itemsize, n_bytes = n * size;

    if (n < 2 || memcmp(in, in + size, n_bytes - size) != 0)
        return false;
    one_element(op, dtype, in, out);
    for (size_t done = size; done < n_bytes; done *= 2)
        memcpy(out + done, out, n_bytes - done < done ? n_bytes - done : done);
    return true;
}

/* The commonest elements, in the byte order of the machine, without a look at their type for each
 * of them. */
#define DEFINE_EXCHANGE(bits)                                                               \
    static void exchange_##bits(const struct dtype *dtype, const uint8_t *in, uint8_t *out, \
                                size_t n)                                                   \
    {                                                                                       \
        const uint##bits##_t one = (uint##bits##_t)code_bits(dtype, 1);                     \
        const uint##bits##_t two = (uint##bits##_t)code_bits(dtype, 2);                     \
        const uint##bits##_t *from = (const uint##bits##_t *)(const void *)in;              \
        uint##bits##_t *to = (uint##bits##_t *)(void *)out;                                 \
                                                                                            \
        for (size_t i = 0; i < n; i++)                                                      \
            to[i] = from[i] == one ? two : from[i] == two ? one : from[i];                  \
    }

DEFINE_EXCHANGE(8)
DEFINE_EXCHANGE(16)
DEFINE_EXCHANGE(32)

static void complement_floats(const struct dtype *dtype, const uint8_t *in, uint8_t *out, size_t n)
{
    const float *from = (const float *)(const void *)in;
    float *to = (float *)(void *)out;

    (void)dtype;
    for (size_t i = 0; i < n; i++)
        to[i] = 1.0f - from[i];
}

typedef void elements_fn(const struct dtype *dtype, const uint8_t *in, uint8_t *out, size_t n);

static elements_fn *fast_elements(enum label_op op, const struct dtype *dtype)
{
    static elements_fn *const exchanges[] = {
        [1] = exchange_8, [2] = exchange_16, [4] = exchange_32};
    const size_t size = dtype->itemsize;

    if (dtype->big_endian && size > 1)
        return NULL;
    if (op == LABEL_COMPLEMENT && dtype->kind == DTYPE_FLOAT && size == 4)
        return complement_floats;
    if (op == LABEL_EXCHANGE_12 && size <= 4)
        return exchanges[size];
    return NULL;
}

static void element_ops(enum label_op op, const struct dtype *dtype, const uint8_t *in,
                        uint8_t *out, size_t n)
{
    elements_fn *fast;

    if (constant_elements(op, dtype, in, out, n))
        return;
    fast = fast_elements(op, dtype);
    if (fast != NULL) {
        fast(dtype, in, out, n);
        return;
    }
    for (size_t i = 0; i < n; i++)
        one_element(op, dtype, in + i * dtype->itemsize, out + i * dtype->itemsize);
}

void label_apply(enum label_op op, const struct dtype *dtype, const void *in, void *out, size_t n)
{
    const size_t size = dtype->itemsize;
    const uint8_t *from = in;
    uint8_t *to = out;

    switch (op) {
    case LABEL_KEEP:
        memmove(to, from, n * size);
        break;
    case LABEL_FIRST_01:
        memmove(to, from, n * size);
        if (n > 0)
            one_element(LABEL_EXCHANGE_01, dtype, to, to);
        break;
    case LABEL_REVERSE:
        for (size_t i = 0; i < n; i++)
            memcpy(to + i * size, from + (n - 1 - i) * size, size);
        break;
    case LABEL_EXCHANGE_TWO:
        memcpy(to, from, n * size);
        if (n >= 2) {
            memcpy(to, from + size, size);
            memcpy(to + size, from, size);
        }
        break;
    default:
        element_ops(op, dtype, from, to, n);
    }
}

bool label_are_shares(const struct dtype *dtype, bool is_signed, double low, double sum)
{
    const bool is_whole = dtype->kind != DTYPE_FLOAT;

    if (isnan(sum)) /* a row of which nothing is known is moved as it is */
        return low >= (is_signed ? -1 : 0);
    if (is_signed)
        return low >= -1 && fabs(sum) <= SUM_TOLERANCE;
    return low >= 0 && (is_whole || fabs(sum - 1) <= SUM_TOLERANCE || sum == 0);
}
