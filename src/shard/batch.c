/*
 * batch.c - rows in memory: numbers one row after the other, lists with the places where they
 * begin, objects by their numbers, since their pickle is in memory all the time. Also where the
 * lists of an array in CSR form begin, which all that read it share.
 */
#include "shard/batch.h"

#include <math.h>

#define RANGE_NBYTES   (32u << 10) /* of numbers read at once */
#define STRETCH_NBYTES (8u << 10)  /* in which rows are picked out */

/* --- lists in CSR form --- */

#define OFFSETS_AT_ONCE 4096

int csr_open(struct csr *csr, const struct array *const *offsets,
             const struct array *const *elements, size_t n_arrays, struct error *err)
{
    uint64_t base = 0, n_rows = 0;
    int status = 0;

    *csr = (struct csr){0};
    for (size_t i = 0; i < n_arrays; i++)
        n_rows += offsets[i]->n_rows;
    if (new_items(&csr->first, n_rows + 1, "offsets of a sparse policy", err) != 0)
        return -1;
    for (size_t k = 0; k < n_arrays && status == 0; base += elements[k++]->n_rows) {
        const struct array *array = offsets[k];
        const struct dtype *dtype = &array->header.dtype;
        const uint64_t n_elements = elements[k]->n_rows;
        struct batch batch = {.own = {.arrays = &array, .n_arrays = 1}};
        uint64_t before = 0;

        status = batch_open(&batch, NULL, err);
        while (status == 0 && (status = batch_next(&batch, OFFSETS_AT_ONCE, err)) == 0 &&
               batch.n > 0)
            for (uint64_t i = 0; i < batch.n && status == 0; i++) {
                const int64_t at = dtype_get_int(dtype, batch.bytes.data + i * dtype->itemsize);
                const uint64_t row = batch.first + i;
                const bool is_last = row + 1 == array->n_rows;

                if (at < (int64_t)before || (uint64_t)at > n_elements || (row == 0 && at != 0) ||
                    (is_last && (uint64_t)at != n_elements))
                    status = error_set_at(
                        err, ERROR_DATA, ARRAY_PLACE(array, .has_row = true, .row = row),
                        "offset %" PRId64 ", expected %" PRIu64 " to %" PRIu64, at,
                        is_last ? n_elements : before, row == 0 ? 0 : n_elements);
                before = (uint64_t)at;
                if (!is_last)
                    csr->first[csr->n_rows++] = base + before;
            }
        batch_release(&batch);
    }
    csr->first[csr->n_rows] = base;
    if (status != 0)
        csr_release(csr);
    return status;
}

void csr_release(struct csr *csr)
{
    free(csr->first);
    *csr = (struct csr){0};
}

/* --- batches --- */

/* The number of the first unit of a row; of the row after the last one: the number of all. */
static uint64_t unit_of(const struct reader *reader, uint64_t row)
{
    return reader->csr != NULL ? reader->csr->first[row] : row;
}

/* Room for n rows, and n_units more units: where these go, or NULL. */
static uint8_t *reserve(struct batch *batch, uint64_t n, uint64_t n_units, struct error *err)
{
    const struct reader *reader = batch->reader;

    if ((reader->csr != NULL || reader->is_object) && n + 1 > batch->n_starts) {
        const uint64_t wanted = n + 1 > 2 * batch->n_starts ? n + 1 : 2 * batch->n_starts;

        if (list_room(&batch->starts, wanted, sizeof *batch->starts, "batch of rows", err) != 0)
            return NULL;
        batch->n_starts = wanted;
    }
    /* of units that an array has: their bytes fit 64 bits */
    return bytes_reserve(&batch->bytes, n_units * reader->unit_nbytes + 1, err);
}

int batch_open(struct batch *batch, struct budget *budget, struct error *err)
{
    batch->reader = &batch->own;
    return reader_open(&batch->own, budget, err);
}

int batch_follow(struct batch *batch, const struct batch *before, uint64_t first, uint64_t n,
                 struct error *err)
{
    struct reader *reader = batch->reader;
    const uint64_t begin = unit_of(reader, first), n_units = unit_of(reader, first + n) - begin;
    uint64_t n_kept = 0;

    batch_clear(batch);
    uint8_t *to = reserve(batch, n, n_units, err);
    if (to == NULL)
        return -1;
    batch->first = first;
    batch->n = n;
    for (uint64_t i = 0; i <= n && reader->csr != NULL; i++)
        batch->starts[i] = unit_of(reader, first + i) - begin;
    for (uint64_t i = 0; i < n && reader->is_object; i++)
        batch->starts[i] = first + i;
    if (reader->is_object)
        return 0;
    if (before != NULL && first < before->first + before->n) {
        const uint64_t at = begin - unit_of(reader, before->first);

        n_kept = unit_of(reader, smaller(first + n, before->first + before->n)) - begin;
        memcpy(to, before->bytes.data + at * reader->unit_nbytes, n_kept * reader->unit_nbytes);
    }
    batch->bytes.n_bytes = n_units * reader->unit_nbytes;
    return reader_read(reader, begin + n_kept, n_units - n_kept, to + n_kept * reader->unit_nbytes,
                       err);
}

int batch_read(struct batch *batch, uint64_t first, uint64_t n, struct error *err)
{
    return batch_follow(batch, NULL, first, n, err);
}

int batch_next(struct batch *batch, uint64_t at_most, struct error *err)
{
    const uint64_t first = batch->first + batch->n, left = batch->reader->n_rows - first;

    return batch_read(batch, first, smaller(left, at_most), err);
}

int batch_reserve(struct batch *batch, uint64_t n, struct error *err)
{
    return reserve(batch, batch->n + n, batch->reader->csr == NULL ? n : 0, err) != NULL ? 0 : -1;
}

/* The lists or objects of one row more. */
static int add_list(struct batch *batch, uint64_t row, struct error *err)
{
    struct reader *reader = batch->reader;
    const uint64_t begin = unit_of(reader, row), n_units = unit_of(reader, row + 1) - begin;
    uint8_t *to = reserve(batch, batch->n + 1, n_units, err);

    if (to == NULL)
        return -1;
    if (reader->is_object) {
        batch->starts[batch->n++] = row;
        return 0;
    }
    batch->starts[batch->n] = batch->bytes.n_bytes / reader->unit_nbytes;
    batch->starts[++batch->n] = batch->bytes.n_bytes / reader->unit_nbytes + n_units;
    batch->bytes.n_bytes += n_units * reader->unit_nbytes;
    return reader_read(reader, begin, n_units, to, err);
}

/* Read n ascending rows, of which several lie within STRETCH_NBYTES, one behind another. */
static int pick_rows(struct reader *reader, const uint64_t *rows, uint64_t n, uint8_t *to,
                     struct error *err)
{
    const uint64_t row_nbytes = reader->unit_nbytes;
    uint8_t stretch[STRETCH_NBYTES];

    if (n == 1)
        return reader_read(reader, rows[0], 1, to, err);
    if (reader_read(reader, rows[0], rows[n - 1] - rows[0] + 1, stretch, err) != 0)
        return -1;
    for (uint64_t i = 0; i < n; i++)
        memcpy(to + i * row_nbytes, stretch + (rows[i] - rows[0]) * row_nbytes, row_nbytes);
    return 0;
}

int batch_add(struct batch *batch, const uint64_t *rows, uint64_t n, struct error *err)
{
    struct reader *reader = batch->reader;
    const uint64_t row_nbytes = reader->unit_nbytes;

    for (uint64_t i = 0, run; i < n; i += run) {
        run = 1;
        if (reader->csr != NULL || reader->is_object) {
            if (add_list(batch, rows[i], err) != 0)
                return -1;
            continue;
        }
        /* In sequence, rows between the wanted ones are unpacked anyway. */
        while (!reader->has_table && i + run < n && rows[i + run] > rows[i + run - 1] &&
               (rows[i + run] - rows[i] + 1) * row_nbytes <= STRETCH_NBYTES)
            run++;
        uint8_t *to = reserve(batch, batch->n + run, run, err);
        if (to == NULL || pick_rows(reader, rows + i, run, to, err) != 0)
            return -1;
        batch->n += run;
        batch->bytes.n_bytes += run * row_nbytes;
    }
    return 0;
}

void batch_clear(struct batch *batch)
{
    batch->bytes.n_bytes = 0;
    batch->n = 0;
}

void batch_release(struct batch *batch)
{
    bytes_release(&batch->bytes);
    free(batch->starts);
    reader_close(&batch->own);
    *batch = (struct batch){0};
}

struct row batch_row(const struct batch *batch, uint64_t i)
{
    const struct reader *reader = batch->reader;
    const struct array *array = reader->arrays[0];
    struct row row = {.dtype = &array->header.dtype};

    if (reader->is_object) {
        const struct pickle_item *item = reader_items(reader, batch->starts[i]);
        const bool is_single = array->header.n_dims == 1;

        if (is_single && item->kind == PICKLE_ARRAY)
            return (struct row){item->as.array->data, NULL, &item->as.array->dtype,
                                item->as.array->n_elements};
        const bool is_list = is_single && item->kind == PICKLE_LIST;
        row.items = is_list ? item->as.items : item;
        row.n = is_list ? item->n_bytes_or_items : reader->n_items;
    } else if (reader->unit_nbytes > 0) {
        const bool is_list = reader->csr != NULL;

        row.bytes = batch->bytes.data + (is_list ? batch->starts[i] : i) * reader->unit_nbytes;
        row.n = is_list ? batch->starts[i + 1] - batch->starts[i]
                        : reader->unit_nbytes / row.dtype->itemsize;
    }
    return row;
}

void row_doubles(const struct row *row, uint64_t first, uint64_t n, double *out)
{
    const struct dtype *dtype = row->dtype;
    const bool is_number = row->items == NULL && !dtype->big_endian;
    uint64_t i = 0;

    /* Eight at a time, which compilers make few instructions of. */
    if (is_number && dtype->kind == DTYPE_FLOAT && dtype->itemsize == 4)
        for (; i + 8 <= n; i += 8) {
            float eight[8];

            memcpy(eight, row->bytes + 4 * (first + i), sizeof eight);
            for (uint64_t k = 0; k < 8; k++)
                out[i + k] = eight[k];
        }
    else if (is_number && dtype->itemsize == 1 && dtype->kind != DTYPE_INT)
        for (; i + 8 <= n; i += 8) {
            uint8_t eight[8];

            memcpy(eight, row->bytes + first + i, sizeof eight);
            for (uint64_t k = 0; k < 8; k++)
                out[i + k] = eight[k];
        }
    for (; i < n; i++)
        out[i] = row_double(row, first + i);
}

int number_range_find(const struct array *const *arrays, size_t n_arrays, uint64_t max_nbytes,
                      struct number_range *range, struct error *err)
{
    uint8_t bytes[RANGE_NBYTES];
    struct unpack unpack = {0};
    uint64_t n_bytes = 0;
    int status = 0;

    *range = (struct number_range){0};
    for (size_t k = 0; k < n_arrays && status == 0 && n_bytes < max_nbytes; k++) {
        const struct npy_header *header = &arrays[k]->header;
        uint64_t left = header->data_nbytes;

        status = unpack_start(&unpack, arrays[k], err);
        if (status == 0)
            status = unpack_skip(&unpack, header->header_nbytes, err);
        while (status == 0 && left > 0 && n_bytes < max_nbytes) {
            const size_t n = (size_t)smaller(left, sizeof bytes);

            status = unpack_read(&unpack, bytes, n, err);
            for (size_t at = 0; at < n && status == 0; at += header->dtype.itemsize) {
                const double value = dtype_get_double(&header->dtype, bytes + at);

                if (isnan(value))
                    continue;
                if (range->n == 0 || value < range->min)
                    range->min = value;
                if (range->n == 0 || value > range->max)
                    range->max = value;
                range->has_fraction |= value != floor(value);
                if (value == -1 || value == 0 || value == 1 || value == 2)
                    range->codes |= NUMBER_CODE((int)value);
                range->n++;
            }
            left -= n;
            n_bytes += n;
        }
        if (status == 0 && left == 0)
            status = unpack_finish(&unpack, err);
    }
    unpack_release(&unpack);
    return status;
}
