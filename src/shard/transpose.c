/*
 * transpose.c - the data of an array from Fortran order into C order.
 *
 * In Fortran order the elements of one place of all rows stand together: a column. A block of rows
 * is put together in memory from as many columns at a time as fill a cache line of a row, each
 * read as one run, so that neither side is touched element by element.
 */
#include "shard/transpose.h"

#include <stdlib.h>
#include <string.h>

#define LINE_NBYTES      64u
#define BLOCK_NBYTES     (2u << 20)
#define BLOCK_MAX_NBYTES (32u << 20)
#define RUN_MIN_NBYTES   1024u /* shorter runs cost more to ask for than to copy */

struct transpose {
    const struct array *array;
    const struct scratch *unpacked; /* its data, or NULL: it is read where it is stored */
    size_t item_nbytes;
    uint64_t n_rows;
    uint64_t row_items;
    size_t block_rows;
    size_t n_columns;     /* that are read at a time */
    size_t column_stride; /* bytes from one column to the next in `columns` */
    uint8_t *columns;     /* owned */
    uint8_t *block;       /* owned: block_rows rows */

    /* The next column: its place along each dimension, and as an element's number. */
    uint64_t index[NPY_MAX_DIMS];
    uint64_t column;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static void choose_sizes(struct transpose *t)
{
    const uint64_t row_nbytes = t->row_items * t->item_nbytes;
    uint64_t rows = BLOCK_NBYTES / row_nbytes;
    const uint64_t run_rows = RUN_MIN_NBYTES / t->item_nbytes;

    if (rows < run_rows)
        rows = smaller(run_rows, BLOCK_MAX_NBYTES / row_nbytes);
    if (rows == 0)
        rows = 1;
    t->block_rows = (size_t)smaller(rows, t->n_rows);
    t->n_columns = t->item_nbytes < LINE_NBYTES ? LINE_NBYTES / t->item_nbytes : 1;
    t->n_columns = (size_t)smaller(t->n_columns, t->row_items);
    /* an odd number of cache lines: columns must not compete for the same cache sets */
    t->column_stride = (t->block_rows * t->item_nbytes / LINE_NBYTES | 1) * LINE_NBYTES;
    if (t->column_stride < t->block_rows * t->item_nbytes)
        t->column_stride += 2 * LINE_NBYTES;
}

/* Step to the column of the next element of a row in C order: the last dimension runs fastest. */
static void next_column(struct transpose *t)
{
    const uint64_t *shape = t->array->header.shape;
    uint64_t stride[NPY_MAX_DIMS];

    stride[0] = 1;
    for (unsigned i = 1; i < t->array->header.n_dims; i++)
        stride[i] = stride[i - 1] * shape[i - 1];
    for (unsigned i = t->array->header.n_dims - 1; i > 0; i--) {
        t->column += stride[i];
        if (++t->index[i] < shape[i])
            return;
        t->column -= stride[i] * shape[i];
        t->index[i] = 0;
    }
}

/* rows[r][c] = columns[c][r]; item_nbytes is a constant where it matters. */
static inline __attribute__((always_inline)) void interleave_items(const struct transpose *t,
                                                                   size_t n_columns, size_t n_rows,
                                                                   uint8_t *rows,
                                                                   const size_t item_nbytes)
{
    const size_t row_nbytes = (size_t)t->row_items * item_nbytes;

    for (size_t r = 0; r < n_rows; r++)
        for (size_t c = 0; c < n_columns; c++)
            memcpy(rows + r * row_nbytes + c * item_nbytes,
                   t->columns + c * t->column_stride + r * item_nbytes, item_nbytes);
}

static void interleave(const struct transpose *t, size_t n_columns, size_t n_rows, uint8_t *rows)
{
    switch (t->item_nbytes) {
    case 1:
        interleave_items(t, n_columns, n_rows, rows, 1);
        break;
    case 2:
        interleave_items(t, n_columns, n_rows, rows, 2);
        break;
    case 4:
        interleave_items(t, n_columns, n_rows, rows, 4);
        break;
    case 8:
        interleave_items(t, n_columns, n_rows, rows, 8);
        break;
    default:
        interleave_items(t, n_columns, n_rows, rows, t->item_nbytes);
    }
}

/* Rows first to first + n_rows - 1 into the block. */
static int fill_block(struct transpose *t, uint64_t first, size_t n_rows, struct error *err)
{
    const uint64_t data_at = t->array->offset + t->array->header.header_nbytes;

    memset(t->index, 0, sizeof t->index);
    t->column = 0;
    for (uint64_t item = 0; item < t->row_items; item += t->n_columns) {
        const size_t n = (size_t)smaller(t->n_columns, t->row_items - item);

        for (size_t c = 0; c < n; c++) {
            const uint64_t offset = (t->column + first) * t->item_nbytes;
            const size_t n_bytes = n_rows * t->item_nbytes;
            uint8_t *to = t->columns + c * t->column_stride;

            if (t->unpacked != NULL ? scratch_read(t->unpacked, offset, to, n_bytes, err) != 0
                                    : input_read_scattered(t->array->input, data_at + offset, to,
                                                           n_bytes, err) != 0)
                return -1;
            next_column(t);
        }
        interleave(t, n, n_rows, t->block + item * t->item_nbytes);
    }
    return 0;
}

int transpose_to_rows(const struct array *array, const struct scratch *unpacked,
                      struct scratch *out, struct error *err)
{
    const struct npy_header *header = &array->header;
    struct transpose t = {.array = array, .unpacked = unpacked};
    int result = -1;

    if (header->data_nbytes == 0)
        return 0;
    t.item_nbytes = header->dtype.itemsize;
    t.n_rows = header->shape[0];
    t.row_items = header->n_elements / t.n_rows;
    choose_sizes(&t);
    t.columns = malloc(t.n_columns * t.column_stride);
    t.block = malloc(t.block_rows * (size_t)t.row_items * t.item_nbytes);
    if (t.columns == NULL || t.block == NULL) {
        error_no_memory(err, "block of rows");
        goto out;
    }
    for (uint64_t first = 0; first < t.n_rows; first += t.block_rows) {
        const size_t n = (size_t)smaller(t.block_rows, t.n_rows - first);

        if (fill_block(&t, first, n, err) != 0 ||
            scratch_append(out, t.block, n * (size_t)t.row_items * t.item_nbytes, err) != 0)
            goto out;
    }
    result = 0;
out:
    free(t.columns);
    free(t.block);
    return result;
}
