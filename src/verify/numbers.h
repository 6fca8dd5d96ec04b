/*
 * numbers.h - scanning rows of numbers: what is no number, sums, the lowest and the highest.
 */
#ifndef SYMAUG_VERIFY_NUMBERS_H
#define SYMAUG_VERIFY_NUMBERS_H

#include "npy/dtype.h"

#include <stdbool.h>
#include <stdint.h>

/* What n numbers have in common. */
struct numbers_summary {
    double sum, min, max; /* of the finite ones; 0 when there are none */
    uint64_t n;           /* finite ones */
};

/* The first of n floats that is NaN or infinite, or n. Other types have none. */
uint64_t numbers_first_nan(const struct dtype *dtype, const uint8_t *bytes, uint64_t n);

/* Sum and range of n numbers of any type. */
struct numbers_summary numbers_summarize(const struct dtype *dtype, const uint8_t *bytes,
                                         uint64_t n);

/* True when the element's bytes are all zero, or it is a negative zero. */
bool numbers_is_zero(const struct dtype *dtype, const uint8_t *element);

#endif
