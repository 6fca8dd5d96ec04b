/*
 * batch.c - rows in memory: numbers row after row, lists with the places where they begin, and
 * objects by row number alone, since their pickle is in memory anyway. Also the checked offsets of
 * arrays in CSR form, and the range of an array's numbers.
 */
#include "shard/batch.h"

#include "base/crew.h"

#include <math.h>
#include <stdatomic.h>

#define WALK_NBYTES    (256u << 10) /* of rows that a walk reads at once, */
#define WALK_ROWS      1024         /* but no more than these */
#define STRETCH_NBYTES (8u << 10)   /* read at once to pick rows from */
#define JOBS_AT_ONCE   64           /* of a crew that works on rows, at most */

/* --- lists in CSR form --- */

int csr_open(struct csr *csr, const struct array *const *offsets,
             const struct array *const *elements, size_t n_arrays, struct error *err)
{
    uint64_t base = 0, n_rows = 0;
    int status = 0;

    *csr = (struct csr){0};
    for (size_t i = 0; i < n_arrays; i++)
        n_rows += offsets[i]->n_rows;
    if (new_items(&csr->first, n_rows + 1, "offsets of a sparse policy", err) != 0 ||
        new_items(&csr->shard_rows, n_arrays + 1, "offsets of a sparse policy", err) != 0)
        status = -1;
    for (size_t k = 0; k < n_arrays && status == 0; base += elements[k++]->n_rows) {
        const struct array *array = offsets[k];
        const uint64_t n_elements = elements[k]->n_rows;
        uint64_t before = 0;
        struct walk walk;

        walk_begin(&walk, &(struct reader){.arrays = &array, .n_arrays = 1}, 1, NULL, err);
        while (walk_next(&walk)) {
            const int64_t at = row_int(walk.rows, 0);
            const uint64_t row = walk.number;
            const bool is_last = row + 1 == array->n_rows;

            if (at < (int64_t)before || (uint64_t)at > n_elements || (row == 0 && at != 0) ||
                (is_last && (uint64_t)at != n_elements))
                walk.status =
                    error_set_at(err, ERROR_DATA, ARRAY_PLACE(array, .has_row = true, .row = row),
                                 "offset %" PRId64 ", expected %" PRIu64 " to %" PRIu64, at,
                                 is_last ? n_elements : before, row == 0 ? 0 : n_elements);
            before = (uint64_t)at;
            if (!is_last) {
                csr->first[csr->n_rows++] = base + before;
                csr->shard_rows[k]++;
            }
        }
        status = walk_end(&walk);
    }
    if (status == 0)
        csr->first[csr->n_rows] = base;
    else
        csr_release(csr);
    return status;
}

void csr_release(struct csr *csr)
{
    free(csr->first);
    free(csr->shard_rows);
    *csr = (struct csr){0};
}

/* --- batches --- */

int batch_open(struct batch *batch, struct budget *budget, struct error *err)
{
    batch->reader = &batch->own;
    return reader_open(&batch->own, budget, err);
}

/* Append rows first .. first + n - 1, copied from `from` if that is not NULL, else read. */
static int append(struct batch *batch, uint64_t first, uint64_t n, const uint8_t *from,
                  struct error *err)
{
    struct reader *reader = batch->reader;
    const uint64_t begin = reader_unit(reader, first),
                   n_units = reader_unit(reader, first + n) - begin;
    const uint64_t n_bytes = n_units * reader->unit_nbytes; /* of an array: it fits 64 bits */
    const uint64_t n_starts = batch->n + n + 1;

    if ((reader->csr != NULL || reader->is_object) && n_starts > batch->n_starts) {
        const uint64_t wanted = n_starts > 2 * batch->n_starts ? n_starts : 2 * batch->n_starts;

        if (list_room(&batch->starts, wanted, sizeof *batch->starts, "batch of rows", err) != 0)
            return -1;
        batch->n_starts = wanted;
    }
    uint8_t *to = bytes_reserve(&batch->bytes, n_bytes + 1, err);
    if (to == NULL)
        return -1;
    if (reader->csr != NULL && batch->n == 0)
        batch->starts[0] = 0;
    for (uint64_t i = 0; i < n; i++, batch->n++)
        if (reader->csr != NULL)
            batch->starts[batch->n + 1] = batch->starts[batch->n] +
                                          reader_unit(reader, first + i + 1) -
                                          reader_unit(reader, first + i);
        else if (reader->is_object)
            batch->starts[batch->n] = first + i;
    if (reader->is_object)
        return 0;
    batch->bytes.n_bytes += n_bytes;
    if (from == NULL)
        return reader_read(reader, begin, n_units, to, err);
    memcpy(to, from, n_bytes);
    return 0;
}

int batch_follow(struct batch *batch, const struct batch *before, uint64_t first, uint64_t n,
                 struct error *err)
{
    const struct reader *reader = batch->reader;
    uint64_t n_kept = 0;

    batch_clear(batch);
    batch->first = first;
    if (before != NULL && first < before->first + before->n && !reader->is_object) {
        const uint64_t at = reader_unit(reader, first) - reader_unit(reader, before->first);

        n_kept = smaller(n, before->first + before->n - first);
        if (append(batch, first, n_kept, before->bytes.data + at * reader->unit_nbytes, err) != 0)
            return -1;
    }
    return n == n_kept ? 0 : append(batch, first + n_kept, n - n_kept, NULL, err);
}

int batch_read(struct batch *batch, uint64_t first, uint64_t n, struct error *err)
{
    return batch_follow(batch, NULL, first, n, err);
}

int batch_add(struct batch *batch, const uint64_t *rows, uint64_t n, struct error *err)
{
    struct reader *reader = batch->reader;
    const uint64_t row_nbytes = reader->unit_nbytes;
    const bool skips = reader->csr == NULL && !reader->is_object && !reader->has_table;

    for (uint64_t i = 0, run; i < n; i += run) {
        uint8_t stretch[STRETCH_NBYTES];

        /* In sequence, rows between the wanted ones are unpacked anyway. */
        for (run = 1; skips && i + run < n && rows[i + run] > rows[i + run - 1] &&
                      (rows[i + run] - rows[i] + 1) * row_nbytes <= STRETCH_NBYTES;)
            run++;
        if (run > 1 &&
            reader_read(reader, rows[i], rows[i + run - 1] - rows[i] + 1, stretch, err) != 0)
            return -1;
        for (uint64_t k = i; k < i + run; k++)
            if (append(batch, rows[k], 1,
                       run > 1 ? stretch + (rows[k] - rows[i]) * row_nbytes : NULL, err) != 0)
                return -1;
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

    /* Eight at a time, so that compilers vectorise. */
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

struct row_summary row_summarize(const struct row *row, uint64_t first, uint64_t n)
{
    struct row_summary s = {.min = INFINITY, .max = -INFINITY};
    double numbers[64];

    for (uint64_t i = 0; i < n; i += 64) {
        const uint64_t n_here = smaller(n - i, 64);

        row_doubles(row, first + i, n_here, numbers);
        for (uint64_t k = 0; k < n_here; k++) {
            s.sum += numbers[k];
            s.min = numbers[k] < s.min ? numbers[k] : s.min;
            s.max = numbers[k] > s.max ? numbers[k] : s.max;
        }
    }
    return s;
}

/* --- walks --- */

void walk_begin(struct walk *walk, const struct reader *readers, size_t n, struct budget *budget,
                struct error *err)
{
    *walk = (struct walk){.n_arrays = n, .err = err};
    if (new_items(&walk->rows, n, "rows", err) != 0 ||
        new_items(&walk->batches, n, "rows", err) != 0)
        walk->status = -1;
    for (size_t i = 0; i < n && walk->status == 0; i++) {
        struct reader *reader = &walk->batches[i].own;

        *reader = readers[i];
        if (reader->n_arrays == 0)
            continue;
        walk->rows[i].dtype = &reader->arrays[0]->header.dtype;
        walk->status = batch_open(&walk->batches[i], budget, err);
        walk->row_nbytes += reader->csr == NULL ? reader->unit_nbytes
                                                : csr_row_nbytes(reader->csr, reader->unit_nbytes);
    }
    walk->at_once = smaller(WALK_ROWS, WALK_NBYTES / (walk->row_nbytes + 1) + 1);
}

/* Read the rows after the current ones. */
static int read_on(struct walk *walk, struct batch *batches, struct error *err)
{
    const uint64_t first = walk->first + walk->n;

    walk->n_ahead = 0;
    for (size_t i = 0; i < walk->n_arrays; i++) {
        struct batch *batch = &batches[i];

        if (batch->reader == NULL)
            continue;
        const uint64_t n_left = batch->reader->n_rows - smaller(first, batch->reader->n_rows);
        if (i == 0)
            walk->n_ahead = smaller(walk->at_once, n_left);
        if (batch_read(batch, first, smaller(walk->n_ahead, n_left), err) != 0)
            return -1;
    }
    return 0;
}

/* The rows that were read are the current ones from now on. False if there are none. */
static bool go_on(struct walk *walk)
{
    walk->first += walk->n;
    walk->n = walk->n_ahead;
    walk->at = 0;
    return walk->status == 0 && walk->n > 0;
}

struct each {
    struct walk *walk;
    walk_do do_row;
    void *self;
    bool reads_on;
    atomic_bool has_failed; /* some row */
    struct error read_error;
};

/* Job 0 reads the next rows; each other job works on some of the current ones. */
static void each_job(void *self, int64_t job, int worker)
{
    struct each *each = self;
    const uint64_t n = each->walk->n / JOBS_AT_ONCE + 1, begin = (uint64_t)(job - 1) * n;
    struct error why = {0};

    if (job == 0 && each->reads_on)
        (void)read_on(each->walk, each->walk->ahead, &each->read_error);
    for (uint64_t i = begin; job > 0 && i < begin + n && i < each->walk->n && !each->has_failed;
         i++)
        if (each->do_row(each->self, i, worker, &why) != 0)
            each->has_failed = true;
}

static bool do_current(struct each *each, int n_threads)
{
    struct walk *walk = each->walk;

    crew_run_each(n_threads, JOBS_AT_ONCE + 1, each_job, each);
    for (uint64_t i = 0; i < walk->n && each->has_failed && walk->status == 0; i++)
        walk->status = each->do_row(each->self, i, 0, walk->err);
    if (walk->status == 0 && each->read_error.kind != ERROR_NONE)
        walk->status = error_pass(walk->err, &each->read_error);
    return walk->status == 0;
}

bool walk_each(struct walk *walk, int n_threads, walk_do do_row, void *self)
{
    struct each each = {.walk = walk, .do_row = do_row, .self = self, .reads_on = true};

    if (walk->status == 0 && walk->ahead == NULL) {
        walk->status = new_items(&walk->ahead, walk->n_arrays, "rows", walk->err);
        for (size_t i = 0; i < walk->n_arrays && walk->status == 0; i++)
            walk->ahead[i].reader = walk->batches[i].reader;
        if (walk->status == 0)
            walk->status = read_on(walk, walk->ahead, walk->err);
    }
    struct batch *read = walk->ahead;
    walk->ahead = walk->batches;
    walk->batches = read;
    return go_on(walk) && do_current(&each, n_threads);
}

bool walk_again(struct walk *walk, int n_threads, walk_do do_row, void *self)
{
    return do_current(&(struct each){.walk = walk, .do_row = do_row, .self = self}, n_threads);
}

bool walk_next(struct walk *walk)
{
    if (walk->status == 0 && ++walk->at >= walk->n) {
        walk->status = read_on(walk, walk->batches, walk->err);
        (void)go_on(walk);
    }
    if (walk->status != 0 || walk->n == 0)
        return false;
    walk->number = walk->first + walk->at;
    for (size_t i = 0; i < walk->n_arrays; i++)
        walk->rows[i] = walk->at < walk->batches[i].n ? batch_row(&walk->batches[i], walk->at)
                                                      : (struct row){.dtype = walk->rows[i].dtype};
    return true;
}

int walk_end(struct walk *walk)
{
    for (size_t i = 0; i < walk->n_arrays && walk->batches != NULL; i++)
        batch_release(&walk->batches[i]);
    for (size_t i = 0; i < walk->n_arrays && walk->ahead != NULL; i++)
        batch_release(&walk->ahead[i]);
    free(walk->batches);
    free(walk->ahead);
    free(walk->rows);
    const int status = walk->status;
    *walk = (struct walk){.status = status};
    return status;
}

/* --- numbers --- */

int number_range_find(const struct array *const *arrays, size_t n_arrays, uint64_t max_nbytes,
                      struct number_range *range, struct error *err)
{
    const bool are_objects = arrays[0]->objects != NULL;
    uint64_t n_bytes = 0;
    struct walk walk;

    *range = (struct number_range){0};
    walk_begin(&walk, &(struct reader){.arrays = arrays, .n_arrays = n_arrays}, 1, NULL, err);
    while (n_bytes < max_nbytes && walk_next(&walk) && (are_objects || walk.rows->bytes != NULL)) {
        struct row row = *walk.rows;

        if (!are_objects) { /* all rows that were read, at once */
            row.n *= walk.n;
            walk.at = walk.n - 1;
            n_bytes += walk.n * walk.row_nbytes;
        }
        for (uint64_t i = 0; i < row.n; i++) {
            const double value = row_double(&row, i);

            if (isnan(value))
                continue;
            if (range->n == 0 || value < range->min)
                range->min = value;
            if (range->n == 0 || value > range->max)
                range->max = value;
            range->has_fraction =
                range->has_fraction || (!dtype_is_integer(row.dtype) && value != floor(value));
            if (value == -1 || value == 0 || value == 1 || value == 2)
                range->codes |= NUMBER_CODE((int)value);
            range->n++;
        }
    }
    return walk_end(&walk);
}
