/*
 * label.h - what a colour swap does to numbers: the only place where a value is computed.
 */
#ifndef SYMAUG_SHARD_LABEL_H
#define SYMAUG_SHARD_LABEL_H

#include "npy/dtype.h"

enum label_op {
    LABEL_KEEP,
    LABEL_COMPLEMENT,   /* 1 - v: one IEEE subtraction in the element's own type */
    LABEL_NEGATE,       /* -v: the sign bit flipped; zero stays +0 */
    LABEL_EXCHANGE_01,  /* codes 0 and 1 exchanged, everything else kept */
    LABEL_EXCHANGE_12,  /* codes 1 and 2 exchanged, everything else kept */
    LABEL_FIRST_01,     /* codes 0 and 1 exchanged in the row's first element */
    LABEL_REVERSE,      /* the elements of the row in reverse order (WDL, values by colour) */
    LABEL_EXCHANGE_TWO, /* the first two elements of the row exchanged (values_mp) */
    LABEL_N_OPS
};

/* Apply op to n elements of a row: numbers (b, i, u, f2, f4, f8) of either byte order. in and out
 * are aligned to the element size; they may be the same array for the element-wise ops (not
 * REVERSE, not EXCHANGE_TWO), else must not overlap. */
void label_apply(enum label_op op, const struct dtype *dtype, const void *in, void *out, size_t n);

/* What an op does, in words: "1 - v", "1 and 2 exchanged". */
const char *label_op_name(enum label_op op);

/* True when op is defined for the type: numbers for the arithmetic ones, any for the others. */
bool label_fits(enum label_op op, const struct dtype *dtype);

/* True when columns of one game can be shares of it: none below 0, with the sum 1 (0 or NaN:
 * unknown), or whole counts; or, signed, opposite numbers. low is the lowest of them. */
bool label_are_shares(const struct dtype *dtype, bool is_signed, double low, double sum);

#endif
