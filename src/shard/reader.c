/*
 * reader.c - the rows of one array, or of the same array of several shards.
 *
 * In sequence, array.c unpacks bytes as they are asked for; headers are skipped but count towards
 * the CRC, and the end of each array is checked as soon as its last row is delivered. At random,
 * stored arrays in C order are read in place; deflated ones are unpacked once, and Fortran order is
 * turned into C order on the way. Reading short rows and lists in place is slow: they are copied to
 * memory if the budget has room for them.
 */
#include "shard/batch.h"

#define CHUNK_NBYTES     (64u << 10)
#define LINE_NBYTES      64u
#define BLOCK_NBYTES     (2u << 20)
#define BLOCK_MAX_NBYTES (32u << 20)
#define IN_PLACE_NBYTES  4096u /* of a unit: reading a shorter one where it is takes longer */
#define EXPECTED_NBYTES  256u  /* of a row: processors fetch the rest in time */
#define RUN_MIN_NBYTES   1024u /* reading a shorter run costs more than copying it */

/* One array of a table. */
struct reader_part {
    uint64_t first;  /* unit, over all arrays */
    uint64_t offset; /* of that unit, in the input or in the scratch */
    bool in_place;
};

bool reader_can_stream(const struct array *const *arrays, size_t n_arrays)
{
    for (size_t i = 0; i < n_arrays; i++)
        if (array_is_fortran(arrays[i]))
            return false;
    return true;
}

/* --- in sequence --- */

/* Begin the next array that has rows, `current` or one after it: its header is skipped, but counts
 * towards the CRC. Arrays without rows are checked on the way. */
static int begin_array(struct reader *r, struct error *err)
{
    for (; r->current < r->n_arrays; r->current++) {
        const struct array *array = r->arrays[r->current];

        if (unpack_start(&r->unpack, array, err) != 0 ||
            unpack_read(&r->unpack, NULL, array->header.header_nbytes, err) != 0)
            return -1;
        if (array->n_rows > 0)
            return 0;
        if (unpack_finish(&r->unpack, err) != 0)
            return -1;
    }
    return 0;
}

/* Read the next n units to out; skip them if out is NULL. */
static int read_next(struct reader *r, uint64_t n, uint8_t *out, struct error *err)
{
    while (n > 0) {
        const uint64_t end = r->parts[r->current].first + r->arrays[r->current]->n_rows;
        const uint64_t take = smaller(n, end - r->next), n_bytes = take * r->unit_nbytes;

        if (unpack_read(&r->unpack, out, n_bytes, err) != 0)
            return -1;
        if (out != NULL)
            out += n_bytes;
        n -= take;
        r->next += take;
        if (r->next < end)
            continue;
        r->current++;
        if (unpack_finish(&r->unpack, err) != 0 || begin_array(r, err) != 0)
            return -1;
    }
    return 0;
}

/* --- from Fortran order --- */

/* In Fortran order, the elements at one place of all rows are contiguous: a column. A block of rows
 * is assembled from as many columns at a time as fill a cache line of a row, each read as one run,
 * so that neither side is accessed element by element. */
struct columns {
    uint8_t *bytes; /* owned */
    size_t n;       /* read at a time */
    size_t stride;  /* bytes from one column to the next */
};

/* rows[r][c] = columns[c][r], for rows of row_nbytes; item_nbytes is a constant when inlined for
 * the usual sizes. */
static inline __attribute__((always_inline)) void interleave(const struct columns *columns,
                                                             size_t n_rows, uint8_t *rows,
                                                             size_t row_nbytes,
                                                             const size_t item_nbytes)
{
    for (size_t r = 0; r < n_rows; r++)
        for (size_t c = 0; c < columns->n; c++)
            memcpy(rows + r * row_nbytes + c * item_nbytes,
                   columns->bytes + c * columns->stride + r * item_nbytes, item_nbytes);
}

/* Append the data of an array in Fortran order (two or more dimensions, no objects) to `out` in C
 * order. `unpacked` holds the data, or is NULL for an array that is stored as it is. */
static int transpose_to_rows(const struct array *array, const struct scratch *unpacked,
                             struct scratch *out, struct error *err)
{
    const struct npy_header *header = &array->header;
    const uint64_t n_rows = header->shape[0], data_at = array->offset + header->header_nbytes;
    const size_t item_nbytes = header->dtype.itemsize;
    struct columns columns = {0};
    int status = 0;

    if (header->data_nbytes == 0)
        return 0;
    const uint64_t row_items = header->n_elements / n_rows;
    const uint64_t row_nbytes = row_items * item_nbytes;
    const uint64_t run_rows = RUN_MIN_NBYTES / item_nbytes;
    uint64_t rows = BLOCK_NBYTES / row_nbytes;
    if (rows < run_rows)
        rows = smaller(run_rows, BLOCK_MAX_NBYTES / row_nbytes);
    const size_t block_rows = (size_t)smaller(rows > 0 ? rows : 1, n_rows);
    size_t most = item_nbytes < LINE_NBYTES ? LINE_NBYTES / item_nbytes : 1;
    most = (size_t)smaller(most, row_items);
    /* An odd number of cache lines, so that columns do not compete for the same cache sets. */
    columns.stride = (block_rows * item_nbytes / LINE_NBYTES | 1) * LINE_NBYTES;
    if (columns.stride < block_rows * item_nbytes)
        columns.stride += 2 * LINE_NBYTES;
    columns.bytes = malloc(most * columns.stride);
    uint8_t *block = malloc(block_rows * (size_t)row_nbytes);
    if (columns.bytes == NULL || block == NULL)
        status = error_no_memory(err, "block of rows");
    for (uint64_t first = 0, n = 0; first < n_rows && status == 0; first += n) {
        n = smaller(block_rows, n_rows - first);
        for (uint64_t item = 0; item < row_items && status == 0; item += columns.n) {
            uint8_t *to = block + item * item_nbytes;

            columns.n = (size_t)smaller(most, row_items - item);
            for (size_t c = 0; c < columns.n && status == 0; c++) {
                uint64_t at = first, stride = header->n_elements, left = item + c;
                uint8_t *column = columns.bytes + c * columns.stride;

                /* The last dimension varies fastest in a row, the first one in the array. */
                for (unsigned i = header->n_dims - 1; i > 0; left /= header->shape[i--]) {
                    stride /= header->shape[i];
                    at += left % header->shape[i] * stride;
                }
                at *= item_nbytes;
                status = unpacked != NULL ? scratch_read(unpacked, at, column, n * item_nbytes, err)
                                          : input_read_scattered(array->input, data_at + at, column,
                                                                 n * item_nbytes, err);
            }
            if (item_nbytes == 1)
                interleave(&columns, n, to, row_nbytes, 1);
            else if (item_nbytes == 2)
                interleave(&columns, n, to, row_nbytes, 2);
            else if (item_nbytes == 4)
                interleave(&columns, n, to, row_nbytes, 4);
            else if (item_nbytes == 8)
                interleave(&columns, n, to, row_nbytes, 8);
            else
                interleave(&columns, n, to, row_nbytes, item_nbytes);
        }
        if (status == 0)
            status = scratch_append(out, block, n * (size_t)row_nbytes, err);
    }
    free(columns.bytes);
    free(block);
    return status;
}

/* --- at random --- */

/* Append the array's data, unpacked and checked, in its own order. */
static int unpack_data(const struct array *array, struct unpack *unpack, struct scratch *out,
                       struct error *err)
{
    uint8_t chunk[CHUNK_NBYTES];
    int status = unpack_start(unpack, array, err);

    if (status == 0)
        status = unpack_read(unpack, NULL, array->header.header_nbytes, err);
    for (uint64_t left = array->header.data_nbytes, n; left > 0 && status == 0; left -= n) {
        n = smaller(left, CHUNK_NBYTES);
        status = unpack_read(unpack, chunk, n, err);
        if (status == 0)
            status = scratch_append(out, chunk, (size_t)n, err);
    }
    if (status == 0)
        status = unpack_finish(unpack, err);
    return status;
}

/* Set where each array's units are; returns the bytes needed for those that are not read in place.
 */
static uint64_t lay_out(struct reader *r, bool in_place)
{
    uint64_t first = 0, n_bytes = 0;

    for (size_t i = 0; i < r->n_arrays; i++) {
        const struct array *array = r->arrays[i];
        struct reader_part *part = &r->parts[i];

        part->first = first;
        part->in_place = in_place && array->decoder == NULL && !array_is_fortran(array);
        part->offset = part->in_place ? array->offset + array->header.header_nbytes : n_bytes;
        first += array->n_rows;
        n_bytes += part->in_place ? 0 : array->header.data_nbytes;
    }
    return n_bytes;
}

/* The array that a unit is in: the last one that begins at or before it, which is never an empty
 * one. */
static size_t find_part(const struct reader *r, uint64_t unit)
{
    return find_last(&r->parts->first, sizeof *r->parts, 0, r->n_arrays, unit);
}

void reader_expect(const struct reader *r, uint64_t row)
{
    const uint64_t unit = reader_unit(r, row);
    const struct reader_part *part = &r->parts[find_part(r, unit)];

    if (part->in_place || r->scratch.memory == NULL)
        return;
    const uint8_t *bytes = r->scratch.memory + part->offset + (unit - part->first) * r->unit_nbytes;
    for (uint64_t at = 0; at < smaller(r->unit_nbytes, EXPECTED_NBYTES); at += LINE_NBYTES)
        __builtin_prefetch(bytes + at);
}

/* --- both --- */

int reader_open(struct reader *r, struct budget *budget, struct error *err)
{
    int status = 0;

    r->is_object = r->n_arrays > 0 && r->arrays[0]->header.dtype.kind == DTYPE_OBJECT;
    r->unit_nbytes = r->n_arrays > 0 ? r->arrays[0]->row_nbytes : 0;
    for (size_t i = 0; i < r->n_arrays; i++) {
        const struct array *array = r->arrays[i];

        if (array->header.n_dims == 0 || array->row_nbytes != r->unit_nbytes ||
            (array->header.dtype.kind == DTYPE_OBJECT) != r->is_object)
            return array_fail(array, err,
                              "expected an array with rows of %llu bytes, found another",
                              (unsigned long long)r->unit_nbytes);
        if (__builtin_add_overflow(r->n_units, array->n_rows, &r->n_units))
            return array_fail(array, err, "expected rows that fit 64-bit sizes, found more");
        if (r->is_object && array->objects == NULL)
            return array_fail(array, err, "expected objects that were read, found none");
        if (r->is_object && array->n_rows > 0)
            r->n_items = array->objects->n_items / array->n_rows;
    }
    r->n_rows = r->csr != NULL ? r->csr->n_rows : r->n_units;
    if (new_items(&r->parts, r->n_arrays + 1, "rows of an array", err) != 0)
        return -1;
    r->has_table = !r->is_object && (r->at_random || !reader_can_stream(r->arrays, r->n_arrays));
    uint64_t n_bytes = lay_out(r, r->unit_nbytes >= IN_PLACE_NBYTES);
    if (!r->has_table)
        return r->is_object ? 0 : begin_array(r, err);
    /* Short rows that do not fit in memory are read in place, too, if they can be. */
    if (budget == NULL || n_bytes > budget->left)
        n_bytes = lay_out(r, true);
    if (n_bytes > 0 && scratch_open(&r->scratch, n_bytes, budget, err) != 0)
        return -1;
    for (size_t i = 0; status == 0 && i < r->n_arrays; i++) {
        const struct array *array = r->arrays[i];
        const bool is_fortran = array_is_fortran(array), is_packed = array->decoder != NULL;
        struct scratch unpacked = {0};

        /* Columns of a packed array can only be found once it is unpacked. */
        if (is_fortran && is_packed)
            status = scratch_open(&unpacked, array->header.data_nbytes, budget, err);
        if (status == 0 && (r->parts[i].in_place || (is_fortran && !is_packed)))
            status = array->has_crc ? array_read_all(array, NULL, err) : 0;
        else if (status == 0)
            status = unpack_data(array, &r->unpack, is_fortran ? &unpacked : &r->scratch, err);
        if (status == 0 && is_fortran)
            status = transpose_to_rows(array, is_packed ? &unpacked : NULL, &r->scratch, err);
        scratch_close(&unpacked);
    }
    unpack_release(&r->unpack);
    return status;
}

int reader_read(struct reader *r, uint64_t first, uint64_t n, void *out, struct error *err)
{
    uint8_t *to = out;

    if (first > r->n_units || n > r->n_units - first || (!r->has_table && first < r->next) ||
        r->is_object)
        return error_set(err, ERROR_INTERNAL, "row %llu of %llu", (unsigned long long)(first + n),
                         (unsigned long long)r->n_units);
    if (!r->has_table) {
        const size_t i = find_part(r, first);

        if (r->is_checked && i > r->current) {
            r->current = i;
            r->next = r->parts[i].first;
            if (begin_array(r, err) != 0)
                return -1;
        }
        return first > r->next && read_next(r, first - r->next, NULL, err) != 0
                   ? -1
                   : read_next(r, n, to, err);
    }
    while (n > 0 && r->unit_nbytes > 0) {
        const size_t i = find_part(r, first);
        const struct reader_part *part = &r->parts[i];
        const uint64_t n_here = smaller(n, part->first + r->arrays[i]->n_rows - first);
        const size_t n_bytes = (size_t)(n_here * r->unit_nbytes);
        const uint64_t offset = part->offset + (first - part->first) * r->unit_nbytes;

        if (part->in_place
                ? input_read_scattered(r->arrays[i]->input, offset, to, n_bytes, err) != 0
                : scratch_read(&r->scratch, offset, to, n_bytes, err) != 0)
            return -1;
        first += n_here;
        n -= n_here;
        to += n_bytes;
    }
    return 0;
}

/* The array that a row is in; *row becomes its number within that array. */
static const struct array *array_of(const struct reader *r, uint64_t *row)
{
    size_t i = 0;

    if (r->csr != NULL) {
        for (; *row >= r->csr->shard_rows[i]; i++)
            *row -= r->csr->shard_rows[i];
    } else {
        i = find_part(r, *row);
        *row -= r->parts[i].first;
    }
    return r->arrays[i];
}

const struct pickle_item *reader_items(const struct reader *r, uint64_t row)
{
    const struct array *array = array_of(r, &row);

    return &array->objects->items[row * r->n_items];
}

int reader_fail(const struct reader *r, uint64_t row, const struct error *reason, struct error *err)
{
    const struct array *array = array_of(r, &row);

    return error_set_at(err, reason->kind, ARRAY_PLACE(array, .has_row = true, .row = row), "%s",
                        reason->message);
}

void reader_close(struct reader *r)
{
    unpack_release(&r->unpack);
    scratch_close(&r->scratch);
    free(r->parts);
    *r = (struct reader){0};
}
