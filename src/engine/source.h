/*
 * source.h - the rows of an array in order, whatever its storage: for passes that look at the data.
 */
#ifndef SYMAUG_ENGINE_SOURCE_H
#define SYMAUG_ENGINE_SOURCE_H

#include "base/error.h"
#include "shard/array.h"
#include "shard/rows.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialise. Reads rows 0, 1, ... of the arrays (equal dtype and row shape) one after
 * another; Fortran-order arrays go through a table. */
struct source {
    struct rows *rows;       /* owned, or */
    struct row_table *table; /* owned */
    uint64_t next;           /* row that comes next */
    uint64_t n_rows;
    uint64_t row_nbytes;
    uint64_t memory_left;
};

/* Open over n arrays. max_memory and tmpdir as for row_table_open. The caller closes it. */
int source_open(struct source *source, const struct array *const *arrays, size_t n,
                uint64_t max_memory, const char *tmpdir, struct error *err);

/* The next n rows into out. */
int source_read(struct source *source, uint64_t n, void *out, struct error *err);

/* Close it; accepts a zeroed one. */
void source_close(struct source *source);

#endif
