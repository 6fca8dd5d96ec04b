/*
 * unique.c - --unique: images of a row that equal an earlier one of it in every array that moves.
 * The inputs are read once, a few hundred rows at a time, all arrays in step; each image is moved
 * as for the output and hashed into 128 bits, array by array, and equal hashes are taken for equal
 * images. A crew hashes the rows of a chunk.
 */
#include "engine/unique.h"

#include "base/crew.h"
#include "engine/pieces.h"
#include "engine/source.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define ROWS_AT_ONCE 256
#define ROWS_PER_JOB 8 /* that one thread hashes */

/* One array that moves: its rows, and those of its values where they belong together. */
struct moving {
    const struct plan_array *array;
    struct source source, values;  /* numeric arrays */
    struct bytes rows, value_rows; /* a chunk of them */
    struct csr csr;                /* CSR: where the rows begin in `source` */
};

struct unique {
    struct plan *plan;
    struct moving *moving; /* owned, n_moving */
    size_t n_moving;
    XXH128_hash_t *hashes; /* owned, ROWS_AT_ONCE x n_chosen */
    struct bytes *rooms;   /* owned, one per thread: a moved row */
    int n_threads;
    struct error *errors; /* owned, ROWS_AT_ONCE */
    uint64_t first, n;    /* rows of the chunk */
    struct error *err;    /* borrowed */
};

static void release(struct unique *u)
{
    for (size_t i = 0; i < u->n_moving; i++) {
        source_close(&u->moving[i].source);
        source_close(&u->moving[i].values);
        bytes_release(&u->moving[i].rows);
        bytes_release(&u->moving[i].value_rows);
        csr_release(&u->moving[i].csr);
    }
    for (int i = 0; u->rooms != NULL && i < u->n_threads; i++)
        bytes_release(&u->rooms[i]);
    free(u->moving);
    free(u->hashes);
    free(u->errors);
    free(u->rooms);
}

/* Open an array's rows, unless it is pickled (those are in memory). */
static int open_moving(struct unique *u, const struct plan_array *array, struct error *err)
{
    const struct plan *plan = u->plan;
    struct moving *m = &u->moving[u->n_moving++];
    const uint64_t row_nbytes = array->sources[0]->row_nbytes;

    m->array = array;
    if (array->is_object)
        return 0;
    if (source_open(&m->source, array->sources, plan->n_archives, plan->max_memory, plan->tmpdir,
                    err) != 0)
        return -1;
    if (array->binding.sparse == SPARSE_CSR)
        return csr_open(&m->csr, plan->arrays[array->binding.offsets_array].sources, array->sources,
                        plan->n_archives, err);
    if (bytes_reserve(&m->rows, ROWS_AT_ONCE * row_nbytes, err) == NULL)
        return -1;
    if (array->spec.kind != SPEC_PADDED)
        return 0;
    return source_open(&m->values, array->values, plan->n_archives, plan->max_memory, plan->tmpdir,
                       err) != 0 ||
                   bytes_reserve(&m->value_rows, ROWS_AT_ONCE * array->spec.value_row_nbytes,
                                 err) == NULL
               ? -1
               : 0;
}

/* Values and offsets in CSR form are the same in all images of a row. */
static bool is_moving(const struct plan_array *array)
{
    return array->binding.role < ROLE_COPY &&
           (array->binding.sparse != SPARSE_CSR || array->binding.role == ROLE_POLICY_INDEX);
}

static int open_all(struct unique *u, int n_threads, struct error *err)
{
    const struct plan *plan = u->plan;

    u->n_threads = n_threads > 0 ? n_threads : 1;
    u->moving = calloc(plan->n_arrays + 1, sizeof *u->moving);
    u->hashes = calloc((size_t)ROWS_AT_ONCE * plan->n_chosen, sizeof *u->hashes);
    u->errors = calloc(ROWS_AT_ONCE, sizeof *u->errors);
    u->rooms = calloc((size_t)u->n_threads, sizeof *u->rooms);
    if (u->moving == NULL || u->hashes == NULL || u->errors == NULL || u->rooms == NULL)
        return error_no_memory(err, "--unique");
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (is_moving(&plan->arrays[i]) && open_moving(u, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}

static XXH128_hash_t add(XXH128_hash_t hash, const void *bytes, size_t n_bytes)
{
    const XXH128_hash_t both[2] = {hash, XXH3_128bits(bytes, n_bytes)};

    return XXH3_128bits(both, sizeof both);
}

/* Row `at` of the chunk (row `row` of the plan) of one array under one transform. */
static int hash_image(const struct unique *u, const struct moving *m, uint64_t row, uint64_t at,
                      uint32_t t, struct bytes *room, XXH128_hash_t *hash, struct error *err)
{
    const struct spec *spec = &m->array->spec;

    room->n_bytes = 0;
    if (m->array->is_object) {
        const struct image_input in = {m->array->sources, u->plan->n_archives, spec,
                                       &u->plan->order, NULL};

        if (object_row_bytes(&in, row, t, room, err) != 0)
            return -1;
    } else if (m->csr.first != NULL) {
        const uint64_t first = m->csr.first[row], n = m->csr.first[row + 1] - first;
        const uint64_t before = first - m->csr.first[row - at];

        if (bytes_reserve(room, n * spec->dtype.itemsize + 1, err) == NULL ||
            kernel_indices(spec, t, &spec->dtype, m->rows.data + before * spec->dtype.itemsize,
                           room->data, n, err) != 0)
            return -1;
        room->n_bytes = n * spec->dtype.itemsize;
    } else {
        if (bytes_reserve(room, spec->row_nbytes + 1, err) == NULL ||
            kernel_row(spec, t, m->rows.data + at * spec->row_nbytes,
                       m->value_rows.data != NULL ? m->value_rows.data + at * spec->value_row_nbytes
                                                  : NULL,
                       room->data, err) != 0)
            return -1;
        room->n_bytes = spec->row_nbytes;
    }
    *hash = add(*hash, room->data, room->n_bytes);
    return 0;
}

static int hash_row(struct unique *u, uint64_t row, uint64_t at, struct bytes *room,
                    struct error *err)
{
    XXH128_hash_t *hashes = u->hashes + at * u->plan->n_chosen;

    memset(hashes, 0, u->plan->n_chosen * sizeof *hashes);
    for (size_t i = 0; i < u->n_moving; i++)
        for (uint32_t k = 0; k < u->plan->n_chosen; k++)
            if (hash_image(u, &u->moving[i], row, at, u->plan->chosen[k], room, &hashes[k], err) !=
                0)
                return -1;
    return 0;
}

static void drop_equal(struct unique *u, uint64_t row, uint64_t at)
{
    const XXH128_hash_t *hashes = u->hashes + at * u->plan->n_chosen;
    struct selection *selection = &u->plan->selection;

    for (uint32_t k = 1; k < u->plan->n_chosen; k++)
        for (uint32_t before = 0; before < k; before++)
            if (selection_has(selection, row, before) && XXH128_isEqual(hashes[k], hashes[before]))
                selection_clear(selection, row, k);
}

static int read_chunk(struct unique *u, struct error *err)
{
    for (size_t i = 0; i < u->n_moving; i++) {
        struct moving *m = &u->moving[i];

        if (m->array->is_object)
            continue;
        if (m->csr.first != NULL) {
            const uint64_t n = m->csr.first[u->first + u->n] - m->csr.first[u->first];

            m->rows.n_bytes = 0;
            if (bytes_reserve(&m->rows, n * m->array->spec.dtype.itemsize + 1, err) == NULL ||
                source_read(&m->source, n, m->rows.data, err) != 0)
                return -1;
            continue;
        }
        if (source_read(&m->source, u->n, m->rows.data, err) != 0 ||
            (m->value_rows.data != NULL &&
             source_read(&m->values, u->n, m->value_rows.data, err) != 0))
            return -1;
    }
    return 0;
}

/* A few rows of the chunk. */
static void hash_rows(void *self, int64_t job, int worker)
{
    struct unique *u = self;
    const uint64_t begin = (uint64_t)job * ROWS_PER_JOB, end = begin + ROWS_PER_JOB;

    for (uint64_t at = begin; at < end && at < u->n; at++)
        hash_row(u, u->first + at, at, &u->rooms[worker], &u->errors[at]);
}

static int drop_chunk(struct unique *u, struct crew *crew, struct error *err)
{
    crew_each(crew, (int64_t)(u->n / ROWS_PER_JOB + 1), hash_rows, u);
    for (uint64_t i = 0; i < u->n; i++) {
        if (u->errors[i].kind != ERROR_NONE)
            return error_set(err, u->errors[i].kind, "%s: row %llu: %s",
                             text_path(u->plan->archives[0].path).text,
                             (unsigned long long)(u->first + i), u->errors[i].message);
        drop_equal(u, u->first + i, i);
    }
    return 0;
}

static int drop_all(void *self, struct crew *crew)
{
    struct unique *u = self;
    const uint64_t n_rows = u->plan->n_rows;
    int status = 0;

    for (u->first = 0; u->first < n_rows && status == 0; u->first += u->n) {
        const uint64_t left = n_rows - u->first;

        u->n = left < ROWS_AT_ONCE ? left : ROWS_AT_ONCE;
        status = read_chunk(u, u->err);
        if (status == 0)
            status = drop_chunk(u, crew, u->err);
    }
    return status;
}

int unique_drop(struct plan *plan, int n_threads, struct error *err)
{
    struct unique u = {.plan = plan, .err = err};
    int status = open_all(&u, n_threads, err);

    if (status == 0)
        status = crew_run(u.n_threads, drop_all, &u);
    release(&u);
    return status;
}
