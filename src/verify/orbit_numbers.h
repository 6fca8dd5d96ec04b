/*
 * orbit_numbers.h - is one number what a colour swap, or a permuted tile, makes of another?
 */
#ifndef SYMAUG_VERIFY_ORBIT_NUMBERS_H
#define SYMAUG_VERIFY_ORBIT_NUMBERS_H

#include "verify/lane.h"

/* The n elements at b are those at a with the colours swapped; 1 - a within one unit in the last
 * place of 1. */
bool orbit_is_flipped(enum label_op flip, const struct dtype *dtype, const uint8_t *a,
                      const uint8_t *b, uint64_t n);

/* The tile code at b is that at a with its digits taken from number_src; 0 stays. */
bool orbit_is_code(const struct dtype *dtype, const uint8_t number_src[3], const uint8_t *a,
                   const uint8_t *b);

/* Rows of pickled objects that are equal in type and value. */
bool orbit_same_items(const struct lane_row *a, const struct lane_row *b);

#endif
