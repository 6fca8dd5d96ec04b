/*
 * kernel.h - moving rows: the spec of an array applied to any row by any thread.
 *
 * Bits are moved, never interpreted, except where a colour swap computes a label. No mutable state
 * and no OpenMP: safe to call from any thread and after fork.
 */
#ifndef SYMAUG_ENGINE_KERNEL_H
#define SYMAUG_ENGINE_KERNEL_H

#include "base/error.h"
#include "shard/spec.h"

#include <stdint.h>

/*
 * Apply transform t to one row. `values` is the row of the paired value array (PADDED only, else
 * NULL). in and out must not overlap; both hold row_nbytes, and are aligned to the item size.
 * ERROR_DATA when an index lies outside the action space: the message is the reason alone
 * ("index 91876, expected below 91876").
 */
int kernel_row(const struct spec *spec, uint32_t t, const void *in, const void *values, void *out,
               struct error *err);

/* The same for n rows in a row: what a map costs to prepare is paid once. *failed is the row that
 * an error is about, counted from 0. */
int kernel_rows(const struct spec *spec, uint32_t t, const void *in, const void *values, void *out,
                uint64_t n, uint64_t *failed, struct error *err);

/* Move n integer indices (of a sparse row, as they come: order and duplicates are kept). */
int kernel_indices(const struct spec *spec, uint32_t t, const struct dtype *dtype, const void *in,
                   void *out, uint64_t n, struct error *err);

#endif
