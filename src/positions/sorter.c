/*
 * sorter.c - an external sort. Records gather in memory, an eighth of which at a time is sorted
 * into a run. When the memory is full its runs are appended to an unlinked temp file. Reading
 * merges all runs through a heap: in memory, or where there is a file, each through a buffer of its
 * own.
 *
 * Most keys are hashes: each record is put straight where its key belongs among n evenly spread
 * ones, and the few that share a place are sorted there. Records that begin with a row share one
 * place.
 */
#include "positions/parts.h"

#define MIN_RUN_NBYTES    4096 /* however little memory there is */
#define MIN_BUFFER_NBYTES 1024 /* of a run that is read */

/* Sorted records. The file, and what is in memory after it, are one sequence of bytes. */
struct run {
    uint64_t offset, end; /* in the sequence: what has not been read */
    uint8_t *records;     /* borrowed: what has, n_bytes of it */
    size_t at, n_bytes;   /* at: the next record */
};

static size_t step_of(const struct sorter *sorter)
{
    return (sorter->record_nbytes + 15) / 16 * 16;
}

void sorter_release(struct sorter *sorter)
{
    bytes_release(&sorter->records);
    bytes_release(&sorter->current);
    free(sorter->runs);
    scratch_close(&sorter->file);
    *sorter = (struct sorter){0};
}

/* --- sorting --- */

static int compare_records(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    for (int i = 0; i < 3 && *a == *b; i++)
        a++, b++;
    return order_of(*a, *b);
}

/* Records mostly come in the order of rows, so that those of one position are sorted already. */
static void sort_place(uint8_t *records, size_t n, size_t step)
{
    for (size_t i = 1; i < n; i++)
        if (compare_records(records + (i - 1) * step, records + i * step) > 0) {
            qsort(records, n, step, compare_records);
            return;
        }
}

/* Where a record belongs among n, by its first number. */
static size_t place_of(const uint8_t *record, size_t n)
{
    const uint64_t number = *(const uint64_t *)(const void *)record;

    return (size_t)(((unsigned __int128)number * n) >> 64);
}

/* Sort what has been added since the last run into another one. */
static int end_run(struct sorter *sorter, struct error *err)
{
    const uint64_t offset = sorter->n_runs > 0 ? sorter->runs[sorter->n_runs - 1].end : 0;
    const size_t step = step_of(sorter), before = offset - sorter->file.n_bytes,
                 n = (sorter->records.n_bytes - before) / step;
    uint8_t *records = sorter->records.data + before;
    const struct run run = {.offset = offset, .end = offset + n * step};
    size_t *ends = calloc(n + 2, sizeof *ends);
    uint8_t *sorted = malloc(n * step + 1);
    int status = list_room(&sorter->runs, sorter->n_runs + 1, sizeof run, "runs of records", err);

    if (status == 0 && (ends == NULL || sorted == NULL))
        status = error_no_memory(err, "keys of positions");
    for (size_t i = 0; i < n && status == 0; i++)
        ends[place_of(records + i * step, n) + 2]++;
    for (size_t i = 2; i <= n && status == 0; i++)
        ends[i] += ends[i - 1];
    for (size_t i = 0; i < n && status == 0; i++) {
        const uint8_t *record = records + i * step;

        memcpy(sorted + ends[place_of(record, n) + 1]++ * step, record, step);
    }
    for (size_t i = 0; i < n && status == 0; i++)
        sort_place(sorted + ends[i] * step, ends[i + 1] - ends[i], step);
    if (status == 0) {
        memcpy(records, sorted, n * step);
        sorter->runs[sorter->n_runs++] = run;
    }
    free(ends);
    free(sorted);
    return status;
}

/* Append what is in memory to the file. */
static int spill(struct sorter *sorter, struct error *err)
{
    struct bytes *list = &sorter->records;

    if ((!sorter->file.has_file &&
         scratch_open(&sorter->file, INT64_MAX, sorter->budget, err) != 0) ||
        scratch_append(&sorter->file, list->data, list->n_bytes, err) != 0)
        return -1;
    list->n_bytes = 0;
    return 0;
}

void *sorter_add(struct sorter *sorter, const void *record, size_t n_bytes, struct error *err)
{
    struct bytes *list = &sorter->records;
    const size_t step = step_of(sorter);
    const uint64_t end = sorter->n_runs > 0 ? sorter->runs[sorter->n_runs - 1].end : 0;
    const uint64_t n_new = sorter->file.n_bytes + list->n_bytes - end,
                   eighth = sorter->max_nbytes / 8;
    const uint64_t run_nbytes = eighth > MIN_RUN_NBYTES ? eighth : MIN_RUN_NBYTES;

    if (n_new > 0 && n_new + step > run_nbytes &&
        (end_run(sorter, err) != 0 ||
         (list->n_bytes + run_nbytes > sorter->max_nbytes && spill(sorter, err) != 0)))
        return NULL;
    uint8_t *to = bytes_reserve(list, step, err);
    if (to == NULL)
        return NULL;
    memcpy(to, record, n_bytes);
    list->n_bytes += step;
    return to + n_bytes;
}

/* --- merging --- */

/* Read on in a run whose buffer is done. */
static int fill_buffer(struct sorter *sorter, struct run *run, struct error *err)
{
    run->at = 0;
    run->n_bytes = smaller(sorter->buffer_nbytes, run->end - run->offset);
    if (scratch_read(&sorter->file, run->offset, run->records, run->n_bytes, err) != 0)
        return -1;
    run->offset += run->n_bytes;
    return 0;
}

/* Let the run at a place of the heap sink below all whose next record is less. */
static void sink(struct sorter *sorter, size_t i)
{
    struct run *runs = sorter->runs;

    for (size_t child = 2 * i + 1; child < sorter->n_runs; child = 2 * i + 1) {
        const struct run own = runs[i];

        if (child + 1 < sorter->n_runs &&
            compare_records(runs[child + 1].records + runs[child + 1].at,
                            runs[child].records + runs[child].at) < 0)
            child++;
        if (compare_records(own.records + own.at, runs[child].records + runs[child].at) <= 0)
            return;
        runs[i] = runs[child];
        runs[child] = own;
        i = child;
    }
}

static int begin_merge(struct sorter *sorter, struct error *err)
{
    struct bytes *list = &sorter->records;
    const size_t step = step_of(sorter);
    uint8_t *buffers = NULL; /* where there is a file */

    sorter->is_read = sorter->is_last = true; /* the next record is a first one */
    if (list->n_bytes == 0)
        return 0;
    if (end_run(sorter, err) != 0 || bytes_reserve(&sorter->current, step, err) == NULL)
        return -1;
    if (sorter->file.has_file) {
        const uint64_t share = sorter->max_nbytes / sorter->n_runs;
        const size_t n_records = (share > MIN_BUFFER_NBYTES ? share : MIN_BUFFER_NBYTES) / step;

        sorter->buffer_nbytes = n_records > 0 ? n_records * step : step;
        if (spill(sorter, err) != 0 ||
            (buffers = bytes_reserve(list, sorter->n_runs * sorter->buffer_nbytes, err)) == NULL)
            return -1;
    }
    for (size_t i = 0; i < sorter->n_runs; i++) {
        struct run *run = &sorter->runs[i];

        if (buffers != NULL) {
            run->records = buffers + i * sorter->buffer_nbytes;
            if (fill_buffer(sorter, run, err) != 0)
                return -1;
        } else {
            run->records = list->data + run->offset;
            run->n_bytes = run->end - run->offset;
            run->offset = run->end;
        }
    }
    for (size_t i = sorter->n_runs; i-- > 0;)
        sink(sorter, i);
    return 0;
}

int sorter_next(struct sorter *sorter, const void **record, struct error *err)
{
    const size_t step = step_of(sorter);

    if (!sorter->is_read && begin_merge(sorter, err) != 0)
        return -1;
    if (sorter->n_runs == 0)
        return 0;

    uint8_t *current = sorter->current.data;
    struct run *run = sorter->runs;

    memcpy(current, run->records + run->at, step);
    run->at += step;
    if (run->at == run->n_bytes && run->offset < run->end && fill_buffer(sorter, run, err) != 0)
        return -1;
    if (run->at == run->n_bytes)
        *run = sorter->runs[--sorter->n_runs];
    sink(sorter, 0);
    sorter->is_first = sorter->is_last;
    sorter->is_last = sorter->n_runs == 0 ||
                      memcmp(run->records + run->at, current, sizeof(struct key_value)) != 0;
    *record = current;
    return 1;
}
