/*
 * key_rows.c - the keys of all rows of a plan. Rows are read in chunks, with two buffers: while a
 * crew computes the keys of one chunk, one of its jobs reads the next. Where a key has the types of
 * another set, rows are converted as they are read, or refused.
 *
 * Also, the two options of `expand` that use keys: --canonical keeps one image of each row, through
 * the same selection as --pick; --orbit-key adds the keys as an array, which repeats for all images
 * of a row. Both share one reading of the rows.
 */
#include "positions/key.h"

#include "base/crew.h"
#include "base/meter.h"
#include "base/text.h"
#include "positions/positions.h"
#include "shard/batch.h"

#include <math.h>
#include <xxhash.h>

#define CHUNK_NBYTES (4u << 20)
#define MAX_ROWS     16384
#define ROWS_PER_JOB 64

/* --- another type --- */

/* Convert an element to another type. False when its value would change. */
static bool convert(const struct dtype *from, const uint8_t *in, const struct dtype *to,
                    uint8_t *out)
{
    if (from->kind == DTYPE_FLOAT) {
        const double v = dtype_get_double(from, in);

        if (to->kind != DTYPE_FLOAT)
            return fabs(v) < 0x1p63 && v == floor(v) && dtype_put_int(to, (int64_t)v, out) == 0;
        dtype_put_double(to, v, out);
        return dtype_get_double(to, out) == v;
    }
    const int64_t whole = dtype_get_int(from, in);
    if (whole == INT64_MAX) /* or larger, and clamped */
        return false;
    if (to->kind != DTYPE_FLOAT)
        return dtype_put_int(to, whole, out) == 0;
    dtype_put_double(to, (double)whole, out);
    return fabs((double)whole) < 0x1p63 && (int64_t)(double)whole == whole &&
           dtype_get_double(to, out) == (double)whole;
}

/* --- rows --- */

/* The rows of one array of the key. */
struct column {
    const struct plan_array *array;
    struct reader source;
    struct batch batches[2];       /* a chunk each */
    const struct dtype *from, *to; /* to: NULL where rows need no conversion */
    uint64_t row_nbytes;           /* after conversion */
    uint8_t *converted[2];         /* owned: the converted chunks */
};

struct run {
    const struct key_reader *reader;
    struct column *columns; /* owned */
    size_t n_columns;
    struct key_room *rooms; /* owned, one per worker */
    int n_workers;
    uint64_t n_rows, row_nbytes, chunk_rows;
    struct key_rows chunks[2];     /* their lists are owned */
    unsigned front;                /* the chunk whose keys are being computed */
    struct error read_error, *err; /* err is borrowed */
};

/* Read the next rows into a chunk, converting them where types differ. */
static int read_chunk(struct run *run, unsigned chunk, uint64_t first, struct error *err)
{
    struct key_rows *rows = &run->chunks[chunk];

    rows->first = first;
    rows->n = smaller(run->n_rows - first, run->chunk_rows);
    for (size_t k = 0; k < run->n_columns && rows->n > 0; k++) {
        struct column *column = &run->columns[k];
        const struct dtype *from = column->from, *to = column->to;
        const struct batch *batch = &column->batches[chunk];
        const uint64_t n_items = to != NULL ? column->row_nbytes / to->itemsize : 0;

        if (batch_read(&column->batches[chunk], first, rows->n, err) != 0)
            return -1;
        for (uint64_t i = 0; i < batch->n * n_items; i++) {
            const uint8_t *element = batch->bytes.data + i * from->itemsize;

            if (!convert(from, element, to, column->converted[chunk] + i * to->itemsize))
                return plan_refuse(run->reader->plan, column->array, err,
                                   "row %" PRIu64 ": %g is not exact in the other set's type",
                                   first + i / n_items, dtype_get_double(from, element));
        }
    }
    return 0;
}

/* Job 0 reads the next chunk; each other job computes the keys of some rows. */
static void do_job(void *self, int64_t job, int number)
{
    struct run *run = self;
    const struct key *key = run->reader->key;
    struct key_rows *rows = &run->chunks[run->front];
    struct key_room *room = &run->rooms[number];
    const uint64_t begin = (uint64_t)(job - 1) * ROWS_PER_JOB, end = begin + ROWS_PER_JOB;

    if (job == 0) {
        read_chunk(run, !run->front, rows->first + rows->n, &run->read_error);
        return;
    }
    for (uint64_t i = begin; i < end && i < rows->n; i++) {
        for (size_t k = 0; k < run->n_columns; k++) {
            const struct column *column = &run->columns[k];
            const uint8_t *all = column->to != NULL ? column->converted[run->front]
                                                    : column->batches[run->front].bytes.data;

            room->from[k] = all + i * column->row_nbytes;
        }
        rows->keys[i] = key_of(key, room);
        rows->ties[i] = room->ties;
        if (run->reader->wants_exact)
            rows->exact[i] = key_of_image(key, room, 0);
    }
}

static int read_all(void *self, struct crew *crew)
{
    struct run *run = self;
    struct meter *meter = run->reader->plan->settings->meter;
    int status = read_chunk(run, 0, 0, run->err);

    meter_begin(meter, "reading", run->reader->plan->archives[0].path);
    while (status == 0 && run->chunks[run->front].n > 0) {
        const struct key_rows *rows = &run->chunks[run->front];

        crew_each(crew, (int64_t)((rows->n + ROWS_PER_JOB - 1) / ROWS_PER_JOB + 1), do_job, run);
        status = run->reader->visit(run->reader->self, rows, run->err);
        if (status == 0 && run->read_error.kind != ERROR_NONE)
            status = error_pass(run->err, &run->read_error);
        meter_step(meter, (rows->first + rows->n) * run->row_nbytes, run->n_rows * run->row_nbytes);
        run->front = !run->front;
    }
    return status;
}

static int open_run(struct run *run, struct error *err)
{
    const struct key_reader *reader = run->reader;
    const struct plan *plan = reader->plan;

    if (new_items(&run->columns, reader->key->n_arrays, "keys of positions", err) != 0 ||
        new_items(&run->rooms, (size_t)run->n_workers, "keys of positions", err) != 0)
        return -1;
    for (size_t k = 0; k < reader->key->n_arrays; k++) {
        const struct key_array *a = &reader->key->arrays[k];
        const struct plan_array *array = &plan->arrays[a->index];
        const struct array *source = array->sources[0];
        const struct dtype *from = &source->header.dtype;
        struct column *column = &run->columns[run->n_columns++];

        *column =
            (struct column){.array = array,
                            .from = from,
                            .row_nbytes = source->row_nbytes / from->itemsize * a->dtype.itemsize,
                            .source = {.arrays = array->sources, .n_arrays = plan->n_archives}};
        if (a->dtype.kind != from->kind || a->dtype.itemsize != from->itemsize)
            column->to = &a->dtype;
        run->row_nbytes += column->row_nbytes;
        if (reader_open(&column->source, plan->settings->budget, err) != 0)
            return -1;
        column->batches[0].reader = column->batches[1].reader = &column->source;
    }
    run->chunk_rows = smaller(CHUNK_NBYTES / (run->row_nbytes + 1) + 1, MAX_ROWS);
    for (int k = 0; k < 2; k++) {
        struct key_rows *rows = &run->chunks[k];

        if (new_items(&rows->keys, run->chunk_rows, "keys of positions", err) != 0 ||
            new_items(&rows->exact, run->chunk_rows, "keys of positions", err) != 0 ||
            new_items(&rows->ties, run->chunk_rows, "keys of positions", err) != 0)
            return -1;
        for (struct column *c = run->columns; c < run->columns + run->n_columns; c++)
            if (c->to != NULL &&
                (c->converted[k] = malloc(run->chunk_rows * c->row_nbytes + 1)) == NULL)
                return error_no_memory(err, "keys of positions");
    }
    for (int i = 0; i < run->n_workers; i++)
        if (key_room_init(&run->rooms[i], reader->key, err) != 0)
            return -1;
    return 0;
}

int key_reader_run(const struct key_reader *reader, struct error *err)
{
    const int n_threads = reader->plan->settings->n_threads;
    struct run run = {.reader = reader,
                      .n_workers = n_threads > 0 ? n_threads : 1,
                      .n_rows = reader->plan->n_rows,
                      .err = err};
    const int status = open_run(&run, err) == 0 ? crew_run(run.n_workers, read_all, &run) : -1;

    for (size_t i = 0; i < run.n_columns; i++) {
        for (int k = 0; k < 2; k++) {
            batch_release(&run.columns[i].batches[k]);
            free(run.columns[i].converted[k]);
        }
        reader_close(&run.columns[i].source);
    }
    for (int i = 0; run.rooms != NULL && i < run.n_workers; i++)
        key_room_release(&run.rooms[i]);
    for (int k = 0; k < 2; k++) {
        free(run.chunks[k].keys);
        free(run.chunks[k].exact);
        free(run.chunks[k].ties);
    }
    free(run.columns);
    free(run.rooms);
    return status;
}

int key_hash_add(struct key_hash *hash, const struct spec *spec, uint32_t t, const uint8_t *row,
                 struct error *err)
{
    const uint64_t n = spec->row_nbytes;

    hash->room.n_bytes = 0;
    uint8_t *in = bytes_reserve(&hash->room, 2 * n + 64, err);
    if (in == NULL)
        return -1;
    uint8_t *out = in + (n + 15) / 16 * 16;
    memcpy(in, row, n);
    if (kernel_row(spec, t, in, NULL, out, err) != 0)
        return -1;
    /* -0.0 becomes 0.0: a negated draw is still a draw. */
    for (uint64_t at = 0; spec->dtype.kind == DTYPE_FLOAT && at < n; at += spec->dtype.itemsize)
        if (dtype_get_double(&spec->dtype, out + at) == 0)
            memset(out + at, 0, spec->dtype.itemsize);
    hash->value = XXH3_64bits_withSeed(out, n, hash->value);
    return 0;
}

/* --- expand --- */

#define KEY_ROW_NBYTES 16 /* a row of an array of keys: high and low half, little-endian */

struct images {
    struct plan *plan; /* borrowed */
    struct key key;    /* owned */
    bool canonical;
    struct made *made; /* of the plan; NULL: no array of keys */
    struct bytes list; /* owned: keys of a chunk */
};

static int visit(void *self, const struct key_rows *rows, struct error *err)
{
    struct images *x = self;
    struct plan *plan = x->plan;

    for (uint64_t i = 0; x->canonical && i < rows->n; i++) {
        const uint32_t id = key_lowest_tie(&x->key, &rows->ties[i]);

        for (uint32_t k = 0; k < plan->n_chosen; k++)
            if (plan->chosen[k] != id)
                selection_clear(&plan->selection, rows->first + i, k);
    }
    if (x->made == NULL)
        return 0;
    x->list.n_bytes = 0;
    if (bytes_reserve(&x->list, rows->n * KEY_ROW_NBYTES, err) == NULL)
        return -1;
    for (uint64_t i = 0; i < rows->n; i++) {
        bytes_put_le(x->list.data + i * KEY_ROW_NBYTES, rows->keys[i].high, 8);
        bytes_put_le(x->list.data + i * KEY_ROW_NBYTES + 8, rows->keys[i].low, 8);
    }
    return made_write(x->made, rows->first, x->list.data, rows->n, err);
}

int images_of_keys(struct plan *plan, const struct settings *settings, struct error *err)
{
    const struct made_form form = {.key = PLAN_ORBIT_KEY,
                                   .dtype = {.kind = DTYPE_UINT, .itemsize = 8},
                                   .n_dims = 1,
                                   .row_shape = {2},
                                   .n_rows = plan->n_rows};
    struct images x = {.plan = plan, .canonical = settings->canonical};
    const struct key_reader reader = {plan, &x.key, false, visit, &x};
    int status = -1;

    if (settings->orbit_key && plan->board->family->only_known_members)
        return error_set(err, ERROR_USAGE,
                         "--orbit-key: %s: KataGo's reader takes no further member",
                         text_path(plan->archives[0].path).text);
    if ((!settings->orbit_key || (x.made = made_new(plan, &form, err)) != NULL) &&
        (!x.canonical ||
         selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) == 0) &&
        key_of_plan(&x.key, plan, NULL, err) == 0 && key_note(plan, &x.key, err) == 0 &&
        key_reader_run(&reader, err) == 0 && (x.made == NULL || made_put(plan, x.made, err) == 0) &&
        (!x.canonical || plan_set_order(plan, err) == 0))
        status = 0;
    bytes_release(&x.list);
    key_release(&x.key);
    return status;
}
