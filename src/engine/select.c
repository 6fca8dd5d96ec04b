/*
 * select.c - leaving out images by clearing bits in the plan's selection. --pick draws images of
 * each row by a hash of seed and row number, so that the choice depends on nothing else; --unique
 * drops images that equal an earlier one of their row in every array that moves. Each option is
 * noted in the plan, for the manifest.
 *
 * For --unique the inputs are read once, in chunks of a few hundred rows, all arrays in step. Each
 * image is moved as for the output and hashed to 128 bits, array by array; equal hashes are taken
 * for equal images. The rows of a chunk are hashed in parallel.
 */
#include "engine/plan.h"

#include "engine/kernel.h"

#include <xxhash.h>

#define ROWS_AT_ONCE   4096
#define NBYTES_AT_ONCE (8u << 20) /* in all arrays, about */

struct room {
    _Alignas(CACHE_LINE_NBYTES) struct bytes row; /* owned: one that was moved */
};

struct unique {
    struct plan *plan;
    const struct plan_array **moving; /* owned, n_moving: the arrays that move */
    size_t n_moving;
    struct walk rows;   /* of these, and of each one's values if it is of padded indices */
    struct room *rooms; /* owned, one per thread */
};

/* Set `to` to what a row's image has of an array: of objects, the indices alone, since all else is
 * the same in all images. */
static int move_row(const struct plan_array *array, uint32_t t, const struct row *in,
                    const uint8_t *values, struct bytes *to, struct error *err)
{
    static const struct dtype int64 = {.kind = DTYPE_INT, .itemsize = 8};
    const struct spec *spec = &array->spec;
    const struct dtype *dtype = in->items != NULL ? &int64 : in->dtype;
    uint64_t failed;

    to->n_bytes = 0;
    uint8_t *out = bytes_reserve(to, in->n * dtype->itemsize + 1, err);
    if (out == NULL)
        return -1;
    to->n_bytes = in->n * dtype->itemsize;
    if (!array->is_object)
        return kernel_rows(spec, t, in->bytes, values, out, array->csr != NULL ? in->n : 1, &failed,
                           err);
    for (uint64_t i = 0; in->items != NULL && i < in->n; i++)
        bytes_put_le(out + 8 * i, (uint64_t)row_int(in, i), 8);
    return kernel_indices(spec, t, dtype, in->items != NULL ? out : in->bytes, out, in->n, err);
}

/* Of a row of the chunk, drop the images that equal an earlier one. */
static int drop_equal(void *self, uint64_t at, int worker, struct error *err)
{
    struct unique *u = self;
    struct selection *selection = &u->plan->selection;
    const uint64_t row = u->rows.first + at;
    const uint32_t n = u->plan->n_chosen;
    struct bytes *room = &u->rooms[worker].row;
    XXH128_hash_t hashes[BOARD_MAX_TRANSFORMS];
    struct error reason = {0};

    memset(hashes, 0, n * sizeof *hashes);
    for (size_t i = 0; i < u->n_moving * n; i++) {
        const struct plan_array *array = u->moving[i / n];
        const struct batch *rows = &u->rows.batches[i / n * 2], *values = rows + 1;
        const struct row in = batch_row(rows, at);
        const uint8_t *value = values->n > 0 ? batch_row(values, at).bytes : NULL;
        XXH128_hash_t both[2] = {hashes[i % n]}; /* of the arrays before, and of this one */

        if (move_row(array, u->plan->chosen[i % n], &in, value, room, &reason) != 0)
            return reader_fail(rows->reader, row, &reason, err);
        both[1] = XXH3_128bits(room->data, room->n_bytes);
        hashes[i % n] = XXH3_128bits(both, sizeof both);
    }
    for (uint32_t k = 1; k < n; k++)
        for (uint32_t before = 0; before < k; before++)
            if (selection_has(selection, row, before) && XXH128_isEqual(hashes[k], hashes[before]))
                selection_clear(selection, row, k);
    return 0;
}

static int drop_equal_images(struct plan *plan, struct error *err)
{
    const int n_threads = plan->settings->n_threads;
    struct reader *readers = calloc(2 * plan->n_arrays + 1, sizeof *readers);
    struct unique u = {.plan = plan};
    int status = selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err);

    u.moving = calloc(plan->n_arrays + 1, sizeof *u.moving);
    u.rooms = bytes_new_apart((size_t)n_threads * sizeof *u.rooms);
    if (readers == NULL || u.moving == NULL || u.rooms == NULL)
        status = error_no_memory(err, "--unique");
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];
        struct reader *reader = &readers[2 * u.n_moving];

        /* Values and offsets of lists are the same in all images of a row. */
        if (array->binding.role >= ROLE_COPY ||
            ((array->is_object || array->binding.sparse == SPARSE_CSR) &&
             array->spec.kind != SPEC_INDICES))
            continue;
        u.moving[u.n_moving++] = array;
        reader[0] = plan_reader(plan, array);
        if (array->spec.kind == SPEC_PADDED)
            reader[1] = (struct reader){.arrays = array->values, .n_arrays = plan->n_inputs};
    }
    if (status == 0) {
        walk_begin(&u.rows, readers, 2 * u.n_moving, plan->settings->budget, err);
        u.rows.at_once = smaller(NBYTES_AT_ONCE / (u.rows.row_nbytes + 1) + 1, ROWS_AT_ONCE);
        while (walk_each(&u.rows, n_threads, drop_equal, &u))
            ;
        status = walk_end(&u.rows);
    }
    for (int i = 0; u.rooms != NULL && i < n_threads; i++)
        bytes_release(&u.rooms[i].row);
    free(readers);
    free(u.moving);
    free(u.rooms);
    return status;
}

int plan_select(struct plan *plan, struct error *err)
{
    const uint32_t n_keep = plan->settings->pick;
    const bool keep_identity = plan->settings->keep_identity;
    const uint64_t seed = plan_seed(plan);

    if (plan->settings->unique && drop_equal_images(plan, err) != 0)
        return -1;
    if (n_keep == 0)
        return 0;
    /* Draw among the images that are still selected; rows with no more than --pick keep them all.
     */
    if (selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) != 0)
        return -1;
    plan_note(plan, "keep-identity", keep_identity ? "yes" : "no", 0);
    if (keep_identity && plan->chosen[0] != 0)
        return error_set(err, ERROR_USAGE,
                         "--keep-identity: transform 0 is not among the chosen ones");
    for (uint64_t row = 0; row < plan->n_rows; row++) {
        uint8_t images[BOARD_MAX_TRANSFORMS];
        uint32_t n = 0;

        /* Those to draw from; the identity, if it is to be kept, comes first. */
        for (uint32_t k = 0; k < plan->n_chosen; k++)
            if (selection_has(&plan->selection, row, k))
                images[n++] = (uint8_t)k;
        if (n <= n_keep)
            continue;
        /* Shuffle the first n_keep places, drawing each from what is left. */
        for (uint32_t i = keep_identity ? 1 : 0; i < n_keep; i++) {
            const uint64_t random = shuffle_hash(shuffle_hash(seed, row), i) >> 32;
            const uint32_t from = i + (uint32_t)(random * (n - i) >> 32);
            const uint8_t image = images[from];

            images[from] = images[i];
            images[i] = image;
        }
        for (uint32_t i = n_keep; i < n; i++)
            selection_clear(&plan->selection, row, images[i]);
    }
    return 0;
}
