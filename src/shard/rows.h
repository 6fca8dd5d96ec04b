/*
 * rows.h - row sources: the rows of one array, or of the same array of several shards in order.
 *
 * Rows come out in C order, in the array's own byte order and size. A sequential source inflates
 * or copies as it goes and keeps no more than its buffers; a table has every row at hand.
 * Object arrays have neither: their items are indexed by pickle_document.
 */
#ifndef SYMAUG_SHARD_ROWS_H
#define SYMAUG_SHARD_ROWS_H

#include "base/error.h"
#include "shard/array.h"

#include <stddef.h>
#include <stdint.h>

struct rows;

/* A sequential source over n_arrays arrays of equal dtype and row shape (checked by the caller),
 * C order. `arrays` is copied, the arrays are borrowed. NULL with err set on failure. */
struct rows *rows_open(const struct array *const *arrays, size_t n_arrays, struct error *err);

/* Copy the next n rows to out (n * row_nbytes). After an array's last row its CRC and size are
 * checked, so the call that ends an array may fail. Messages: "FILE: MEMBER: ...". */
int rows_read(struct rows *rows, uint64_t n, void *out, struct error *err);

/* Close a source; accepts NULL. */
void rows_close(struct rows *rows);

/* Random access. */
struct row_table;

/*
 * All rows of the arrays. Stored, C-order arrays are read in place, row by row; others are
 * inflated (and put into C order) once, into memory while *memory_left lasts (which is lowered),
 * else into an unlinked temp file in tmpdir. NULL with err set on failure.
 */
struct row_table *row_table_open(const struct array *const *arrays, size_t n_arrays,
                                 uint64_t *memory_left, const char *tmpdir, struct error *err);

/* Copy n rows from row i on (counted over all arrays) to out. Thread-safe. */
int row_table_read(const struct row_table *table, uint64_t i, uint64_t n, void *out,
                   struct error *err);

/* The same for one row. */
static inline int row_table_get(const struct row_table *table, uint64_t i, void *out,
                                struct error *err)
{
    return row_table_read(table, i, 1, out, err);
}

/* Close a table; accepts NULL. */
void row_table_close(struct row_table *table);

#endif
