/*
 * rows.c - rows in sequence, over the same array of one shard or several: bytes come from unpack.c
 * as they are asked for, headers are read over but count for the CRC, and the end of each array is
 * checked as soon as its last row is delivered. Arrays without rows are checked on the way.
 */
#include "shard/rows.h"

#include "shard/unpack.h"

#include <stdlib.h>
#include <string.h>

struct rows {
    const struct array **arrays; /* owned list of borrowed arrays */
    size_t n_arrays;
    size_t current;       /* the array that the next row comes from */
    uint64_t n_rows_left; /* of the current array, once it is begun */
    bool begun;           /* the current array's header has been read */
    struct unpack unpack;
};

/* Begin the current array: its header is read over, but counts for the CRC. */
static int begin_array(struct rows *rows, struct error *err)
{
    const struct array *array = rows->arrays[rows->current];

    if (unpack_start(&rows->unpack, array, err) != 0 ||
        unpack_skip(&rows->unpack, array->header.header_nbytes, err) != 0)
        return -1;
    rows->n_rows_left = array->n_rows;
    rows->begun = true;
    return 0;
}

/* Check the end of the current array, whose rows are all read, and of empty ones behind it. */
static int end_arrays(struct rows *rows, struct error *err)
{
    while (rows->current < rows->n_arrays) {
        if (!rows->begun && rows->arrays[rows->current]->n_rows > 0)
            return 0;
        if (!rows->begun && begin_array(rows, err) != 0)
            return -1;
        if (unpack_finish(&rows->unpack, err) != 0)
            return -1;
        rows->begun = false;
        rows->current++;
    }
    return 0;
}

struct rows *rows_open(const struct array *const *arrays, size_t n_arrays, struct error *err)
{
    struct rows *rows = calloc(1, sizeof *rows);

    if (rows == NULL)
        goto no_memory;
    rows->arrays = malloc((n_arrays + 1) * sizeof *rows->arrays);
    if (rows->arrays == NULL)
        goto no_memory;
    memcpy(rows->arrays, arrays, n_arrays * sizeof *rows->arrays);
    rows->n_arrays = n_arrays;
    for (size_t i = 0; i < n_arrays; i++)
        if (array_is_fortran(arrays[i]) || arrays[i]->header.n_dims == 0 ||
            arrays[i]->header.dtype.kind == DTYPE_OBJECT) {
            array_fail(arrays[i], err, "expected an array whose rows can be read in sequence");
            rows_close(rows);
            return NULL;
        }
    if (end_arrays(rows, err) != 0) {
        rows_close(rows);
        return NULL;
    }
    return rows;
no_memory:
    rows_close(rows);
    error_no_memory(err, "row source");
    return NULL;
}

int rows_read(struct rows *rows, uint64_t n, void *out, struct error *err)
{
    uint8_t *at = out;

    while (n > 0) {
        uint64_t take, n_bytes;

        if (rows->current == rows->n_arrays)
            return error_set(err, ERROR_INTERNAL, "rows read past the last one");
        if (!rows->begun && begin_array(rows, err) != 0)
            return -1;
        take = n < rows->n_rows_left ? n : rows->n_rows_left;
        if (__builtin_mul_overflow(take, rows->arrays[rows->current]->row_nbytes, &n_bytes))
            return error_set(err, ERROR_INTERNAL, "rows read beyond 64-bit sizes");
        if (unpack_read(&rows->unpack, at, n_bytes, err) != 0)
            return -1;
        if (n_bytes > 0) /* rows of no bytes need no place to go to */
            at += n_bytes;
        n -= take;
        rows->n_rows_left -= take;
        if (rows->n_rows_left == 0 && end_arrays(rows, err) != 0)
            return -1;
    }
    return 0;
}

void rows_close(struct rows *rows)
{
    if (rows == NULL)
        return;
    unpack_release(&rows->unpack);
    free(rows->arrays);
    free(rows);
}
