/*
 * transpose.h - from Fortran order to C order.
 */
#ifndef SYMAUG_SHARD_TRANSPOSE_H
#define SYMAUG_SHARD_TRANSPOSE_H

#include "shard/array.h"
#include "shard/scratch.h"

/* Append the data of an array in Fortran order (two or more dimensions, no objects) to `out` in C
 * order. `unpacked` holds the data, or is NULL for an array that is stored as it is. */
int transpose_to_rows(const struct array *array, const struct scratch *unpacked,
                      struct scratch *out, struct error *err);

#endif
