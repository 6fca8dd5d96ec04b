/*
 * transpose.h - arrays in Fortran order put into C order, block by block.
 */
#ifndef SYMAUG_SHARD_TRANSPOSE_H
#define SYMAUG_SHARD_TRANSPOSE_H

#include "base/error.h"
#include "npy/header.h"
#include "shard/scratch.h"

#include <stddef.h>
#include <stdint.h>

/* Where the elements in Fortran order are: any n_bytes at an offset from the first of them. */
struct transpose_source {
    const void *self;
    int (*read)(const void *self, uint64_t offset, void *out, size_t n_bytes, struct error *err);
};

/*
 * Append the data of an array with that header (two or more dimensions, no objects), which the
 * source holds in Fortran order, to `out` in C order.
 */
int transpose_to_rows(const struct npy_header *header, const struct transpose_source *source,
                      struct scratch *out, struct error *err);

#endif
