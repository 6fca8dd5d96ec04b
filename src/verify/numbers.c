/*
 * numbers.c - scans over rows of numbers: the first NaN or infinity, and sum and range of the
 * finite ones. Little-endian float32, which most planes and policies are, has loops of its own that
 * look at several numbers at a time; every other type goes through dtype_get_double.
 */
#include "verify/numbers.h"

#include "base/bytes.h"

#include <math.h>
#include <string.h>

/* The exponent of NaN and the infinities: all ones. */
static uint64_t exponent_mask(const struct dtype *dtype)
{
    return dtype->itemsize == 2 ? 0x7c00 : dtype->itemsize == 4 ? 0x7f800000 : 0x7ff0000000000000;
}

/* Is there any among n native floats? Two at a time: adding 1 to an exponent of all ones carries
 * into the sign's place, and no further. */
static bool any_nan32(const uint8_t *bytes, uint64_t n)
{
    const uint64_t exponents = 0x7f8000007f800000, ones = 0x0080000000800000;
    uint64_t found = 0, i = 0;

    for (; i + 2 <= n; i += 2) {
        uint64_t pair;

        memcpy(&pair, bytes + 4 * i, 8);
        found |= (pair & exponents) + ones;
    }
    if (i < n) {
        uint32_t last;

        memcpy(&last, bytes + 4 * i, 4);
        found |= (last & exponents) + ones;
    }
    return (found & 0x8000000080000000) != 0;
}

uint64_t numbers_first_nan(const struct dtype *dtype, const uint8_t *bytes, uint64_t n)
{
    uint64_t mask;

    if (dtype->kind != DTYPE_FLOAT)
        return n;
    if (dtype->itemsize == 4 && !dtype->big_endian && !any_nan32(bytes, n))
        return n;
    mask = exponent_mask(dtype);
    for (uint64_t i = 0; i < n; i++)
        if ((bytes_get_uint(bytes + i * dtype->itemsize, dtype->itemsize, dtype->big_endian) &
             mask) == mask)
            return i;
    return n;
}

/* Four sums at a time, so that additions need not wait for each other. */
static struct numbers_summary summarize32(const uint8_t *bytes, uint64_t n)
{
    struct numbers_summary s = {.n = n};
    double sums[4] = {0};
    float low[4] = {0}, high[4] = {0}, v;
    uint64_t i = 0;

    if (n == 0)
        return s;
    memcpy(&v, bytes, 4);
    for (int k = 0; k < 4; k++)
        low[k] = high[k] = v;
    for (; i + 4 <= n; i += 4) {
        float four[4];

        memcpy(four, bytes + 4 * i, 16);
        for (int k = 0; k < 4; k++) {
            sums[k] += four[k];
            low[k] = four[k] < low[k] ? four[k] : low[k];
            high[k] = four[k] > high[k] ? four[k] : high[k];
        }
    }
    for (; i < n; i++) {
        memcpy(&v, bytes + 4 * i, 4);
        sums[0] += v;
        low[0] = v < low[0] ? v : low[0];
        high[0] = v > high[0] ? v : high[0];
    }
    s.sum = sums[0] + sums[1] + sums[2] + sums[3];
    s.min = low[0];
    s.max = high[0];
    for (int k = 1; k < 4; k++) {
        s.min = low[k] < s.min ? low[k] : s.min;
        s.max = high[k] > s.max ? high[k] : s.max;
    }
    return s;
}

struct numbers_summary numbers_summarize(const struct dtype *dtype, const uint8_t *bytes,
                                         uint64_t n)
{
    struct numbers_summary s = {0};

    if (dtype->kind == DTYPE_FLOAT && dtype->itemsize == 4 && !dtype->big_endian) {
        s = summarize32(bytes, n);
        if (isfinite(s.sum))
            return s;
        s = (struct numbers_summary){0};
    }
    for (uint64_t i = 0; i < n; i++) {
        const double v = dtype_get_double(dtype, bytes + i * dtype->itemsize);

        if (!isfinite(v))
            continue;
        s.min = s.n == 0 || v < s.min ? v : s.min;
        s.max = s.n == 0 || v > s.max ? v : s.max;
        s.sum += v;
        s.n++;
    }
    return s;
}

bool numbers_is_zero(const struct dtype *dtype, const uint8_t *element)
{
    uint64_t bits = bytes_get_uint(element, dtype->itemsize, dtype->big_endian);

    if (dtype->kind == DTYPE_FLOAT)
        bits &= ~(UINT64_C(1) << (8 * dtype->itemsize - 1));
    return bits == 0;
}
