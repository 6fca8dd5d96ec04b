/*
 * key_rows.c - the keys of all rows of a plan, and hashes of other arrays. Rows are read in chunks,
 * with two buffers: while a crew works on the rows of one chunk, one of its jobs reads the next.
 * Where a key has the types of another set, rows are converted, or refused. When a job comes upon a
 * row that fails, the leader goes over the chunk again to report the first such row.
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

/* The rows of an array of the key, or of one beside it. */
struct column {
    struct reader reader;
    struct batch batches[2];        /* a chunk each */
    const struct spec *hashed;      /* or NULL */
    const struct plan_array *array; /* of the key */
    const struct dtype *from, *to;  /* to: NULL where rows need no conversion */
    uint64_t at;                    /* of a converted row in a room */
};

/* What a worker needs for a row. */
struct room {
    struct key_room key;
    uint8_t *converted; /* owned */
    struct bytes moved;
    struct error failure; /* of the last row that failed; large, so it is not cleared for each */
};

struct run {
    const struct key_reader *reader;
    struct column *columns; /* owned: of the key, then those beside it */
    size_t n_columns;
    struct room *rooms; /* owned, one per worker */
    int n_workers;
    uint64_t n_rows, row_nbytes, converted_nbytes, chunk_rows;
    struct key_rows rows;          /* the chunk that is worked on; its lists are owned */
    uint64_t n_next;               /* rows of the next chunk */
    unsigned front;                /* the batch of the chunk */
    atomic_bool has_failed;        /* in some row of the chunk */
    struct error read_error, *err; /* err is borrowed */
};

static int read_chunk(struct run *run, unsigned chunk, uint64_t first, struct error *err)
{
    run->n_next = smaller(run->n_rows - first, run->chunk_rows);
    for (size_t k = 0; k < run->n_columns && run->n_next > 0; k++)
        if (batch_read(&run->columns[k].batches[chunk], first, run->n_next, err) != 0)
            return -1;
    return 0;
}

/* Convert a row of the key to the other set's type. */
static int convert_row(const struct run *run, const struct column *column, uint64_t row,
                       const uint8_t *in, uint8_t *out, struct error *err)
{
    const struct dtype *from = column->from, *to = column->to;

    for (uint64_t n = column->reader.unit_nbytes / from->itemsize; n > 0; n--) {
        if (!convert(from, in, to, out))
            return plan_refuse(run->reader->plan, column->array, err,
                               "row %" PRIu64 ": %g is not exact in the other set's type", row,
                               dtype_get_double(from, in));
        in += from->itemsize;
        out += to->itemsize;
    }
    return 0;
}

/* Add a row, moved by transform t, to a hash. */
static int add_hash(uint64_t *hash, const struct spec *spec, uint32_t t, const uint8_t *row,
                    struct bytes *moved, struct error *err)
{
    const uint64_t n = spec->row_nbytes;
    uint8_t *out = bytes_reserve(moved, n + 1, err);

    if (out == NULL || kernel_row(spec, t, row, NULL, out, err) != 0)
        return -1;
    /* -0.0 becomes 0.0: a negated draw is still a draw. */
    for (uint64_t at = 0; spec->dtype.kind == DTYPE_FLOAT && at < n; at += spec->dtype.itemsize)
        if (dtype_get_double(&spec->dtype, out + at) == 0)
            memset(out + at, 0, spec->dtype.itemsize);
    *hash = XXH3_64bits_withSeed(out, n, *hash);
    return 0;
}

/* Compute all that is wanted of a row of the chunk. */
static int do_row(const struct run *run, uint64_t i, struct room *room, struct error *err)
{
    const struct key *key = run->reader->key;
    const struct key_rows *rows = &run->rows;

    for (size_t k = 0; k < run->n_columns; k++) {
        struct column *column = &run->columns[k];
        const uint8_t *row = batch_row(&column->batches[run->front], i).bytes;

        if (k < key->n_arrays)
            room->key.from[k] = column->to != NULL ? room->converted + column->at : row;
        if (column->to != NULL &&
            convert_row(run, column, rows->first + i, row, room->converted + column->at, err) != 0)
            return -1;
        if (k + 1 == key->n_arrays) {
            rows->keys[i] = key_of(key, &room->key);
            rows->ties[i] = room->key.ties;
            if (run->reader->wants_exact)
                rows->exact[i] = key_of_image(key, &room->key, 0);
            rows->hashes[i] = 0;
        }
        if (column->hashed != NULL &&
            add_hash(&rows->hashes[i], column->hashed, key_lowest_tie(key, &rows->ties[i]), row,
                     &room->moved, err) != 0) {
            const struct error why = *err;

            *err = (struct error){0};
            return reader_fail(&column->reader, rows->first + i, &why, err);
        }
    }
    return 0;
}

/* Job 0 reads the next chunk; each other job works on some rows of this one. */
static void do_job(void *self, int64_t job, int worker)
{
    struct run *run = self;
    const uint64_t begin = (uint64_t)(job - 1) * ROWS_PER_JOB, end = begin + ROWS_PER_JOB;

    if (job == 0) {
        read_chunk(run, !run->front, run->rows.first + run->rows.n, &run->read_error);
        return;
    }
    for (uint64_t i = begin; i < end && i < run->rows.n && !run->has_failed; i++)
        if (do_row(run, i, &run->rooms[worker], &run->rooms[worker].failure) != 0)
            run->has_failed = true;
}

static int read_all(void *self, struct crew *crew)
{
    struct run *run = self;
    struct key_rows *rows = &run->rows;
    struct meter *meter = run->reader->plan->settings->meter;
    int status = read_chunk(run, 0, 0, run->err);

    meter_begin(meter, "reading", run->reader->plan->inputs[0].archive.path);
    for (rows->n = run->n_next; status == 0 && rows->n > 0; rows->n = run->n_next) {
        crew_each(crew, (int64_t)((rows->n - 1) / ROWS_PER_JOB + 2), do_job, run);
        for (uint64_t i = 0; i < rows->n && run->has_failed && status == 0; i++)
            status = do_row(run, i, &run->rooms[0], run->err);
        run->has_failed = false;
        for (size_t k = run->reader->key->n_arrays; k < run->n_columns; k++)
            rows->beside[k - run->reader->key->n_arrays] = &run->columns[k].batches[run->front];
        if (status == 0)
            status = run->reader->visit(run->reader->self, rows, run->err);
        if (status == 0 && run->read_error.kind != ERROR_NONE)
            status = error_pass(run->err, &run->read_error);
        rows->first += rows->n;
        run->front = !run->front;
        meter_step(meter, rows->first * run->row_nbytes, run->n_rows * run->row_nbytes);
    }
    return status;
}

static int open_column(struct run *run, const struct array *const *sources, struct error *err)
{
    const struct plan *plan = run->reader->plan;
    struct column *column = &run->columns[run->n_columns++];

    column->reader = (struct reader){.arrays = sources, .n_arrays = plan->n_inputs};
    column->batches[0].reader = column->batches[1].reader = &column->reader;
    if (reader_open(&column->reader, plan->settings->budget, err) != 0)
        return -1;
    run->row_nbytes += column->reader.unit_nbytes;
    return 0;
}

static int open_run(struct run *run, struct error *err)
{
    static const char what[] = "keys of positions";
    const struct key_reader *reader = run->reader;
    const struct key *key = reader->key;
    struct key_rows *rows = &run->rows;

    if (new_items(&run->columns, key->n_arrays + reader->n_beside, what, err) != 0 ||
        new_items(&run->rooms, (size_t)run->n_workers, what, err) != 0 ||
        new_items(&rows->beside, reader->n_beside, what, err) != 0)
        return -1;
    for (size_t k = 0; k < key->n_arrays; k++) {
        const struct dtype *to = &key->arrays[k].dtype;
        struct column *column = &run->columns[k];

        column->array = &reader->plan->arrays[key->arrays[k].index];
        column->from = &column->array->sources[0]->header.dtype;
        column->at = run->converted_nbytes;
        if (to->kind != column->from->kind || to->itemsize != column->from->itemsize)
            column->to = to;
        if (open_column(run, column->array->sources, err) != 0)
            return -1;
        run->converted_nbytes += column->reader.unit_nbytes * to->itemsize;
    }
    for (size_t k = 0; k < reader->n_beside; k++) {
        run->columns[run->n_columns].hashed = reader->beside[k].spec;
        if (open_column(run, reader->beside[k].sources, err) != 0)
            return -1;
    }
    run->chunk_rows = smaller(CHUNK_NBYTES / (run->row_nbytes + 1) + 1, MAX_ROWS);
    if (new_items(&rows->keys, run->chunk_rows, what, err) != 0 ||
        new_items(&rows->exact, run->chunk_rows, what, err) != 0 ||
        new_items(&rows->ties, run->chunk_rows, what, err) != 0 ||
        new_items(&rows->hashes, run->chunk_rows, what, err) != 0)
        return -1;
    for (struct room *room = run->rooms; room < run->rooms + run->n_workers; room++)
        if (key_room_init(&room->key, key, err) != 0 ||
            new_items(&room->converted, run->converted_nbytes, what, err) != 0)
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
        batch_release(&run.columns[i].batches[0]);
        batch_release(&run.columns[i].batches[1]);
        reader_close(&run.columns[i].reader);
    }
    for (int i = 0; run.rooms != NULL && i < run.n_workers; i++) {
        key_room_release(&run.rooms[i].key);
        free(run.rooms[i].converted);
        bytes_release(&run.rooms[i].moved);
    }
    free(run.columns);
    free(run.rooms);
    free(run.rows.keys);
    free(run.rows.exact);
    free(run.rows.ties);
    free(run.rows.hashes);
    free(run.rows.beside);
    return status;
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
    const struct key_reader reader = {.plan = plan, .key = &x.key, .visit = visit, .self = &x};
    int status = -1;

    if (settings->orbit_key && plan->board->family->only_known_members)
        return error_set(err, ERROR_USAGE,
                         "--orbit-key: %s: KataGo's reader takes no further member",
                         text_path(plan->inputs[0].archive.path).text);
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
