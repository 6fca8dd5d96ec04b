/*
 * row_table.c - see rows.h: random access to rows. Stored arrays in C order are read where they
 * are; deflated ones are unpacked once, and Fortran order becomes C order on the way.
 *
 * In Fortran order the elements of one place of all rows stand together: a column. A block of rows
 * is put together in memory from as many columns at a time as fill a cache line of a row, each
 * read as one run, so that neither side is touched element by element.
 */
#include "shard/rows.h"

#include "shard/scratch.h"
#include "shard/unpack.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_NBYTES     (256u << 10)
#define LINE_NBYTES      64u
#define BLOCK_NBYTES     (2u << 20)
#define BLOCK_MAX_NBYTES (32u << 20)
#define RUN_MIN_NBYTES   1024u /* shorter runs cost more to ask for than to copy */

/* --- from Fortran order --- */

/* Where the elements in Fortran order are: any n_bytes at an offset from the first of them. */
struct transpose_source {
    const void *self;
    int (*read)(const void *self, uint64_t offset, void *out, size_t n_bytes, struct error *err);
};

/*
 * Append the data of an array with that header (two or more dimensions, no objects), which the
 * source holds in Fortran order, to `out` in C order.
 */
struct transpose {
    const struct npy_header *header;
    const struct transpose_source *source;
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
    const uint64_t *shape = t->header->shape;
    uint64_t stride[NPY_MAX_DIMS];

    stride[0] = 1;
    for (unsigned i = 1; i < t->header->n_dims; i++)
        stride[i] = stride[i - 1] * shape[i - 1];
    for (unsigned i = t->header->n_dims - 1; i > 0; i--) {
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
    const struct transpose_source *source = t->source;

    memset(t->index, 0, sizeof t->index);
    t->column = 0;
    for (uint64_t item = 0; item < t->row_items; item += t->n_columns) {
        const size_t n = (size_t)smaller(t->n_columns, t->row_items - item);

        for (size_t c = 0; c < n; c++) {
            if (source->read(source->self, (t->column + first) * t->item_nbytes,
                             t->columns + c * t->column_stride, n_rows * t->item_nbytes, err) != 0)
                return -1;
            next_column(t);
        }
        interleave(t, n, n_rows, t->block + item * t->item_nbytes);
    }
    return 0;
}

static int transpose_to_rows(const struct npy_header *header, const struct transpose_source *source,
                             struct scratch *out, struct error *err)
{
    struct transpose t = {.header = header, .source = source};
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

/* --- tables --- */

/* The rows of one array. */
struct part {
    const struct array *array; /* borrowed */
    uint64_t first_row;        /* counted over all arrays */
    uint64_t offset;           /* of its first row: in the input, or in the table's scratch */
    bool in_place;
};

struct row_table {
    struct part *parts; /* owned */
    size_t n_parts;
    uint64_t row_nbytes;
    uint64_t n_rows;
    struct scratch scratch;
};

static bool is_in_place(const struct array *array)
{
    return array->decoder == NULL && !array_is_fortran(array);
}

/* Lay out the parts; *n_bytes is what those need that are not in place. */
static int lay_out(struct row_table *table, const struct array *const *arrays, size_t n_arrays,
                   uint64_t *n_bytes, struct error *err)
{
    *n_bytes = 0;
    table->parts = calloc(n_arrays + 1, sizeof *table->parts);
    if (table->parts == NULL)
        return error_no_memory(err, "row table");
    table->n_parts = n_arrays;
    table->row_nbytes = n_arrays > 0 ? arrays[0]->row_nbytes : 0;
    for (size_t i = 0; i < n_arrays; i++) {
        const struct array *array = arrays[i];
        struct part *part = &table->parts[i];

        if (array->header.n_dims == 0 || array->header.dtype.kind == DTYPE_OBJECT ||
            array->row_nbytes != table->row_nbytes)
            return array_fail(array, err,
                              "expected an array with rows of %llu bytes, found another one",
                              (unsigned long long)table->row_nbytes);
        part->array = array;
        part->first_row = table->n_rows;
        part->in_place = is_in_place(array);
        part->offset = part->in_place ? array->offset + array->header.header_nbytes : *n_bytes;
        if (__builtin_add_overflow(table->n_rows, array->n_rows, &table->n_rows) ||
            (!part->in_place &&
             __builtin_add_overflow(*n_bytes, array->header.data_nbytes, n_bytes)))
            return array_fail(array, err, "expected rows that fit 64-bit sizes, found more");
    }
    return 0;
}

/* The array's data, unpacked and checked, in its own order. */
static int unpack_data(const struct array *array, struct unpack *unpack, struct scratch *out,
                       struct error *err)
{
    uint64_t left = array->header.data_nbytes;
    uint8_t *chunk = malloc(CHUNK_NBYTES);
    int result = -1;

    if (chunk == NULL)
        return error_no_memory(err, "input buffer");
    if (unpack_start(unpack, array, err) != 0 ||
        unpack_skip(unpack, array->header.header_nbytes, err) != 0)
        goto out;
    while (left > 0) {
        const size_t n = left < CHUNK_NBYTES ? (size_t)left : CHUNK_NBYTES;

        if (unpack_read(unpack, chunk, n, err) != 0 || scratch_append(out, chunk, n, err) != 0)
            goto out;
        left -= n;
    }
    result = unpack_finish(unpack, err);
out:
    free(chunk);
    return result;
}

/* Nothing but the check of size and CRC: the rows are read where they are. */
static int check_data(const struct array *array, struct unpack *unpack, struct error *err)
{
    if (!array->has_crc)
        return 0;
    if (unpack_start(unpack, array, err) != 0)
        return -1;
    return unpack_finish(unpack, err);
}

static int read_stored(const void *self, uint64_t offset, void *out, size_t n_bytes,
                       struct error *err)
{
    const struct array *array = self;

    return input_read_scattered(array->input, array->offset + array->header.header_nbytes + offset,
                                out, n_bytes, err);
}

static int read_unpacked(const void *self, uint64_t offset, void *out, size_t n_bytes,
                         struct error *err)
{
    return scratch_read(self, offset, out, n_bytes, err);
}

/* Packed data is unpacked first, as a column's place in the stream is not known. */
static int transpose_array(const struct array *array, struct unpack *unpack, struct scratch *out,
                           uint64_t *memory_left, const char *tmpdir, struct error *err)
{
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): callers pass an array */
    const uint64_t n_bytes = array->header.data_nbytes;
    struct scratch unpacked;
    struct transpose_source source = {array, read_stored};
    int result;

    if (array->decoder == NULL) {
        result = check_data(array, unpack, err);
        return result != 0 ? result : transpose_to_rows(&array->header, &source, out, err);
    }
    if (scratch_open(&unpacked, n_bytes, memory_left, tmpdir, err) != 0)
        return -1;
    source = (struct transpose_source){&unpacked, read_unpacked};
    result = unpack_data(array, unpack, &unpacked, err);
    if (result == 0)
        result = transpose_to_rows(&array->header, &source, out, err);
    if (unpacked.memory != NULL)
        *memory_left += n_bytes;
    scratch_close(&unpacked);
    return result;
}

static int load(struct row_table *table, uint64_t *memory_left, const char *tmpdir,
                struct error *err)
{
    struct unpack unpack = {0};
    int result = 0;

    for (size_t i = 0; result == 0 && i < table->n_parts; i++) {
        const struct part *part = &table->parts[i];

        if (part->in_place)
            result = check_data(part->array, &unpack, err);
        else if (array_is_fortran(part->array))
            result =
                transpose_array(part->array, &unpack, &table->scratch, memory_left, tmpdir, err);
        else
            result = unpack_data(part->array, &unpack, &table->scratch, err);
    }
    unpack_release(&unpack);
    return result;
}

struct row_table *row_table_open(const struct array *const *arrays, size_t n_arrays,
                                 uint64_t *memory_left, const char *tmpdir, struct error *err)
{
    struct row_table *table = calloc(1, sizeof *table);
    uint64_t n_bytes;

    if (table == NULL) {
        error_no_memory(err, "row table");
        return NULL;
    }
    if (lay_out(table, arrays, n_arrays, &n_bytes, err) != 0 ||
        (n_bytes > 0 && scratch_open(&table->scratch, n_bytes, memory_left, tmpdir, err) != 0) ||
        load(table, memory_left, tmpdir, err) != 0) {
        row_table_close(table);
        return NULL;
    }
    return table;
}

/* The part that row i is in: the last one that begins at or before it, so that empty ones, which
 * begin where the next one does, are never taken. */
static const struct part *find_part(const struct row_table *table, uint64_t i)
{
    size_t low = 0, high = table->n_parts;

    while (high - low > 1) {
        const size_t middle = low + (high - low) / 2;

        if (table->parts[middle].first_row <= i)
            low = middle;
        else
            high = middle;
    }
    return &table->parts[low];
}

int row_table_read(const struct row_table *table, uint64_t i, uint64_t n, void *out,
                   struct error *err)
{
    uint8_t *to = out;

    if (i > table->n_rows || n > table->n_rows - i)
        return error_set(err, ERROR_INTERNAL, "row %llu of a table of %llu",
                         (unsigned long long)(i + n - 1), (unsigned long long)table->n_rows);
    while (n > 0 && table->row_nbytes > 0) {
        const struct part *part = find_part(table, i);
        const uint64_t left = part->first_row + part->array->n_rows - i;
        const uint64_t n_here = n < left ? n : left;
        const size_t n_bytes = (size_t)(n_here * table->row_nbytes);
        const uint64_t offset = part->offset + (i - part->first_row) * table->row_nbytes;

        if (part->in_place ? input_read_scattered(part->array->input, offset, to, n_bytes, err) != 0
                           : scratch_read(&table->scratch, offset, to, n_bytes, err) != 0)
            return -1;
        i += n_here;
        n -= n_here;
        to += n_bytes;
    }
    return 0;
}

void row_table_close(struct row_table *table)
{
    if (table == NULL)
        return;
    scratch_close(&table->scratch);
    free(table->parts);
    free(table);
}
