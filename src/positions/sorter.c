/*
 * sorter.c - an external sort. Records gather in memory, each sixteenth of which becomes a run.
 * When the memory is full its runs are sorted, several at once, and appended to an unlinked temp
 * file. Reading merges all runs through a heap: in memory, or where there is a file, each through a
 * buffer of its own, an equal share of the memory.
 *
 * The first numbers of records are hashes or the numbers of rows, both spread evenly: each record
 * is put straight where its number belongs, and the few that share a place are sorted there.
 */
#include "positions/parts.h"

#include "base/crew.h"

#include <stdatomic.h>

#define N_RUNS         16   /* that the memory holds */
#define MIN_RUN_NBYTES 2048 /* however little memory there is */

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

/* Of the sequence of the file and what is in memory: where the records that are in no run begin. */
static uint64_t end_of_runs(const struct sorter *sorter)
{
    return sorter->n_runs > 0 ? sorter->runs[sorter->n_runs - 1].end : 0;
}

static size_t run_nbytes_of(const struct sorter *sorter)
{
    return sorter->max_nbytes / N_RUNS > MIN_RUN_NBYTES ? sorter->max_nbytes / N_RUNS
                                                        : MIN_RUN_NBYTES;
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

static uint64_t number_of(const uint8_t *record)
{
    return *(const uint64_t *)(const void *)record;
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

struct sorting {
    struct sorter *sorter;
    atomic_bool has_failed; /* there was no memory */
};

/* Sort a run in memory. */
static void sort_run(void *self, int64_t job, int worker)
{
    struct sorting *sorting = self;
    struct sorter *sorter = sorting->sorter;
    const struct run *run = &sorter->runs[sorter->n_sorted + (size_t)job];
    const size_t step = step_of(sorter), n_bytes = run->end - run->offset,
                 n_places = 2 * (n_bytes / step + 1);
    uint8_t *records = sorter->records.data + (run->offset - sorter->file.n_bytes);
    size_t *ends = calloc(n_places, sizeof *ends);
    uint8_t *sorted = malloc(n_bytes);
    uint64_t most = 0;
    unsigned shift = 0;

    (void)worker;
    if (ends == NULL || sorted == NULL) {
        sorting->has_failed = true;
        free(ends);
        free(sorted);
        return;
    }
    for (size_t at = 0; at < n_bytes; at += step)
        most |= number_of(records + at);
    while (most >> shift >= n_places - 1)
        shift++;
    for (size_t at = 0; at < n_bytes; at += step)
        ends[(number_of(records + at) >> shift) + 1] += step;
    for (size_t i = 1; i < n_places; i++)
        ends[i] += ends[i - 1];
    for (size_t at = 0; at < n_bytes; at += step) {
        size_t *end = &ends[number_of(records + at) >> shift];

        memcpy(sorted + *end, records + at, step);
        *end += step;
    }
    for (size_t i = 0, at = 0; i < n_places; at = ends[i++])
        sort_place(sorted + at, (ends[i] - at) / step, step);
    memcpy(records, sorted, n_bytes);
    free(ends);
    free(sorted);
}

/* What has been added since the last run is another one. */
static int end_run(struct sorter *sorter, struct error *err)
{
    const uint64_t offset = end_of_runs(sorter);
    const struct run run = {.offset = offset,
                            .end = sorter->file.n_bytes + sorter->records.n_bytes};

    if (list_room(&sorter->runs, sorter->n_runs + 1, sizeof run, "runs of records", err) != 0)
        return -1;
    sorter->runs[sorter->n_runs++] = run;
    return 0;
}

static int sort_runs(struct sorter *sorter, struct error *err)
{
    struct sorting sorting = {.sorter = sorter};

    crew_run_each(sorter->n_threads > 0 ? sorter->n_threads : 1,
                  (int64_t)(sorter->n_runs - sorter->n_sorted), sort_run, &sorting);
    sorter->n_sorted = sorter->n_runs;
    return sorting.has_failed ? error_no_memory(err, "keys of positions") : 0;
}

/* Append what is in memory to the file. */
static int spill(struct sorter *sorter, struct error *err)
{
    struct bytes *list = &sorter->records;

    if (sort_runs(sorter, err) != 0 ||
        (!sorter->file.has_file &&
         scratch_open(&sorter->file, INT64_MAX, sorter->budget, err) != 0) ||
        scratch_append(&sorter->file, list->data, list->n_bytes, err) != 0)
        return -1;
    list->n_bytes = 0;
    return 0;
}

size_t sorter_most(const struct sorter *sorter)
{
    const size_t n = run_nbytes_of(sorter) / step_of(sorter);

    return n > 0 ? n : 1;
}

void *sorter_room(struct sorter *sorter, size_t n, struct error *err)
{
    struct bytes *list = &sorter->records;
    const size_t n_bytes = n * step_of(sorter), run_nbytes = run_nbytes_of(sorter);
    const uint64_t n_new = sorter->file.n_bytes + list->n_bytes - end_of_runs(sorter);

    if (n_new > 0 && n_new + n_bytes > run_nbytes &&
        (end_run(sorter, err) != 0 ||
         (list->n_bytes + run_nbytes > sorter->max_nbytes && spill(sorter, err) != 0)))
        return NULL;
    uint8_t *to = bytes_reserve(list, n_bytes, err);
    if (to != NULL)
        list->n_bytes += n_bytes;
    return to;
}

void *sorter_add(struct sorter *sorter, const void *record, size_t n_bytes, struct error *err)
{
    uint8_t *to = sorter_room(sorter, 1, err);

    return to != NULL ? (uint8_t *)memcpy(to, record, n_bytes) + n_bytes : NULL;
}

/* --- merging --- */

/* The runs are a heap: let the one at a place sink below all whose next record is less. */
static void sink(struct sorter *sorter, size_t i)
{
    struct run *heap = sorter->runs;

    for (size_t child = 2 * i + 1; child < sorter->n_runs; child = 2 * i + 1) {
        const struct run own = heap[i];

        if (child + 1 < sorter->n_runs &&
            compare_records(heap[child + 1].records + heap[child + 1].at,
                            heap[child].records + heap[child].at) < 0)
            child++;
        if (compare_records(own.records + own.at, heap[child].records + heap[child].at) <= 0)
            return;
        heap[i] = heap[child];
        heap[child] = own;
        i = child;
    }
}

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

/* Take the least record off the heap. */
static int take(struct sorter *sorter, struct error *err)
{
    struct run *run = sorter->runs;
    const size_t step = step_of(sorter);

    memcpy(sorter->current.data, run->records + run->at, step);
    run->at += step;
    if (run->at == run->n_bytes && run->offset < run->end && fill_buffer(sorter, run, err) != 0)
        return -1;
    if (run->at == run->n_bytes)
        *run = sorter->runs[--sorter->n_runs];
    sink(sorter, 0);
    return 0;
}

static int begin_merge(struct sorter *sorter, struct error *err)
{
    const bool has_file = sorter->file.has_file;
    const size_t step = step_of(sorter);

    sorter->is_read = sorter->is_last = true; /* the next record is a first one */
    if (sorter->records.n_bytes == 0)
        return 0;
    if (end_run(sorter, err) != 0 || bytes_reserve(&sorter->current, step, err) == NULL ||
        sort_runs(sorter, err) != 0 || (has_file && spill(sorter, err) != 0))
        return -1;
    if (has_file) {
        const size_t n_records = N_RUNS * run_nbytes_of(sorter) / sorter->n_runs / step;

        sorter->buffer_nbytes = n_records > 0 ? n_records * step : step;
        if (bytes_reserve(&sorter->records, sorter->n_runs * sorter->buffer_nbytes, err) == NULL)
            return -1;
    }
    for (size_t i = 0; i < sorter->n_runs; i++) {
        struct run *run = &sorter->runs[i];

        run->records = sorter->records.data + (has_file ? i * sorter->buffer_nbytes : run->offset);
        if (has_file && fill_buffer(sorter, run, err) != 0)
            return -1;
        if (!has_file) {
            run->n_bytes = run->end - run->offset;
            run->offset = run->end;
        }
    }
    for (size_t i = sorter->n_runs; i-- > 0;)
        sink(sorter, i);
    return 0;
}

int sorter_next(struct sorter *sorter, void *record, struct error *err)
{
    if (!sorter->is_read && begin_merge(sorter, err) != 0)
        return -1;
    if (sorter->n_runs == 0)
        return 0;
    if (take(sorter, err) != 0)
        return -1;
    const struct run *next = sorter->runs;
    sorter->is_first = sorter->is_last;
    sorter->is_last = sorter->n_runs == 0 || memcmp(next->records + next->at, sorter->current.data,
                                                    sizeof(struct key_value)) != 0;
    memcpy(record, &sorter->current.data, sizeof sorter->current.data);
    return 1;
}
