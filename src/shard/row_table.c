/* row_table.c - see rows.h: random access to rows. */
#include "shard/rows.h"

#include "shard/scratch.h"
#include "shard/transpose.h"
#include "shard/unpack.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_NBYTES (256u << 10)

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
                              "expected an array with rows of %llu bytes, found "
                              "another one",
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

int row_table_get(const struct row_table *table, uint64_t i, void *out, struct error *err)
{
    const struct part *part;
    uint64_t offset;

    if (i >= table->n_rows)
        return error_set(err, ERROR_INTERNAL, "row %llu of a table of %llu", (unsigned long long)i,
                         (unsigned long long)table->n_rows);
    if (table->row_nbytes == 0)
        return 0;
    part = find_part(table, i);
    offset = part->offset + (i - part->first_row) * table->row_nbytes;
    if (part->in_place)
        return input_read_scattered(part->array->input, offset, out, (size_t)table->row_nbytes,
                                    err);
    return scratch_read(&table->scratch, offset, out, (size_t)table->row_nbytes, err);
}

void row_table_close(struct row_table *table)
{
    if (table == NULL)
        return;
    scratch_close(&table->scratch);
    free(table->parts);
    free(table);
}
