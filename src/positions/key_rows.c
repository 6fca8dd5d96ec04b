/*
 * key_rows.c - the keys of all rows of a plan, and hashes of other arrays: a walk whose rows a crew
 * works on.
 *
 * Also, the two options of `expand` that use keys: --canonical keeps one image of each row, through
 * the same selection as --pick; --orbit-key adds the keys as an array, which repeats for all images
 * of a row. Both share one reading of the rows.
 */
#include "positions/key.h"

#include "base/meter.h"
#include "engine/kernel.h"
#include "positions/parts.h"
#include "positions/positions.h"

#include <xxhash.h>

#define CHUNK_NBYTES (4u << 20)
#define MAX_ROWS     16384

/* Add a row, moved by transform t, to a hash. */
static int add_hash(uint64_t *hash, const struct spec *spec, uint32_t t, const uint8_t *row,
                    struct bytes *moved, struct error *err)
{
    const uint64_t n = spec->row_nbytes;
    uint8_t *out = bytes_reserve(moved, n + 1, err);

    if (out == NULL || kernel_row(spec, t, row, NULL, out, err) != 0)
        return -1;
    /* As it is after two swaps of colours, 1 - v is rounded in either orientation. */
    for (int i = 0; i < 2 && spec_swap(spec) == LABEL_COMPLEMENT; i++)
        label_apply(LABEL_COMPLEMENT, &spec->dtype, out, out, n / spec->dtype.itemsize);
    /* -0.0 becomes 0.0: a negated draw is still a draw. */
    for (uint64_t at = 0; spec->dtype.kind == DTYPE_FLOAT && at < n; at += spec->dtype.itemsize)
        if (dtype_get_double(&spec->dtype, out + at) == 0)
            memset(out + at, 0, spec->dtype.itemsize);
    *hash = XXH3_64bits_withSeed(out, n, *hash);
    return 0;
}

/* Compute all that is wanted of a row of the chunk. */
static int do_row(void *self, uint64_t i, int worker, struct error *err)
{
    const struct key_rows *rows = self;
    const struct key *key = rows->key;
    struct key_room *room = &rows->rooms[worker];
    struct key_found *found = &rows->found[i];
    struct error why;

    for (size_t k = 0; k < key->n_arrays; k++)
        room->from[k] = batch_row(&rows->walk.batches[k], i).bytes;
    found->key = key_of(key, room);
    if (room->misfit != NULL)
        return reader_fail(rows->walk.batches[room->misfit - key->arrays].reader,
                           rows->walk.first + i, &room->why, err);
    found->ties = room->ties;
    if (rows->sorters[1] != NULL)
        found->exact = key_of_image(key, room, 0);
    found->hash = 0;
    for (size_t k = 0; k < rows->n_beside; k++) {
        const struct batch *batch = key_rows_beside(rows, k);

        if (rows->beside[k].spec == NULL ||
            add_hash(&found->hash, rows->beside[k].spec, key_lowest_tie(key, &found->ties),
                     batch_row(batch, i).bytes, &room->moved, err) == 0)
            continue;
        why = *err;
        *err = (struct error){0};
        return reader_fail(batch->reader, rows->walk.first + i, &why, err);
    }
    return 0;
}

void key_rows_begin(struct key_rows *rows, struct error *err)
{
    static const char what[] = "keys of positions";
    const struct plan *plan = rows->plan;
    const size_t n_keys = rows->key->n_arrays, n = n_keys + rows->n_beside;
    const int n_workers = plan->settings->n_threads;
    struct walk *walk = &rows->walk;
    struct reader *readers;
    int status = new_items(&readers, n, what, err);

    for (size_t k = 0; k < n && status == 0; k++)
        readers[k] =
            (struct reader){.arrays = k < n_keys ? plan->arrays[rows->key->arrays[k].index].sources
                                                 : rows->beside[k - n_keys].sources,
                            .n_arrays = plan->n_inputs};
    walk_begin(walk, readers, status == 0 ? n : 0, plan->settings->budget, err);
    free(readers);
    walk->at_once = smaller(CHUNK_NBYTES / (walk->row_nbytes + 1) + 1, MAX_ROWS);
    for (int k = 0; k < 2 && rows->sorters[k] != NULL; k++)
        walk->at_once = smaller(walk->at_once, sorter_most(rows->sorters[k]));
    if (status != 0 || new_items(&rows->found, walk->at_once, what, err) != 0 ||
        new_items(&rows->rooms, (size_t)n_workers, what, err) != 0)
        walk->status = -1;
    for (int i = 0; i < n_workers && walk->status == 0; i++)
        walk->status = key_room_init(&rows->rooms[i], rows->key, err);
    meter_begin(plan->settings->meter, "reading", plan->inputs[0].archive.path);
}

bool key_rows_next(struct key_rows *rows)
{
    struct walk *walk = &rows->walk;
    const struct settings *settings = rows->plan->settings;

    if (!walk_each(walk, settings->n_threads, do_row, rows))
        return false;
    meter_step(settings->meter, (walk->first + walk->n) * walk->row_nbytes,
               rows->plan->n_rows * walk->row_nbytes);
    for (int k = 0; k < 2 && rows->sorters[k] != NULL && walk->status == 0; k++) {
        rows->records[k] = sorter_room(rows->sorters[k], walk->n, walk->err);
        walk->status = rows->records[k] != NULL ? 0 : -1;
    }
    return walk->status == 0;
}

int key_rows_end(struct key_rows *rows)
{
    for (int i = 0; rows->rooms != NULL && i < rows->plan->settings->n_threads; i++)
        key_room_release(&rows->rooms[i]);
    free(rows->rooms);
    free(rows->found);
    return walk_end(&rows->walk);
}

int key_rows_each(struct key_rows *rows, walk_do use_row, void *self, struct error *err)
{
    key_rows_begin(rows, err);
    while (key_rows_next(rows))
        walk_again(&rows->walk, rows->plan->settings->n_threads, use_row, self);
    return key_rows_end(rows);
}

/* --- expand --- */

#define KEY_ROW_NBYTES 16 /* a row of an array of keys: high and low half, little-endian */

int images_of_keys(struct plan *plan, const struct settings *settings, struct error *err)
{
    const struct npy_header form = {
        .dtype = {.kind = DTYPE_UINT, .itemsize = 8}, .n_dims = 2, .shape = {plan->n_rows, 2}};
    struct key key = {0};
    struct key_rows rows = {.plan = plan, .key = &key};
    struct made *made = NULL; /* of the plan */
    struct bytes list = {0};
    int status = 0;

    if (settings->orbit_key && plan->board->family->only_known_members)
        return error_set(err, ERROR_USAGE,
                         "--orbit-key: %s: KataGo's reader takes no further member",
                         text_path(plan->inputs[0].archive.path).text);
    if ((settings->orbit_key && (made = made_new(plan, PLAN_ORBIT_KEY, &form, err)) == NULL) ||
        (settings->canonical &&
         selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) != 0) ||
        key_of_plan(&key, plan, NULL, err) != 0 || key_note(plan, &key, err) != 0) {
        key_release(&key);
        return -1;
    }
    key_rows_begin(&rows, err);
    while (key_rows_next(&rows)) {
        const uint64_t first = rows.walk.first, n = rows.walk.n;
        uint8_t *keys = bytes_reserve(&list, n * KEY_ROW_NBYTES, err);

        for (uint64_t i = 0; i < n && keys != NULL; i++) {
            const uint32_t id = key_lowest_tie(&key, &rows.found[i].ties);

            for (uint32_t k = 0; settings->canonical && k < plan->n_chosen; k++)
                if (plan->chosen[k] != id)
                    selection_clear(&plan->selection, first + i, k);
            bytes_put_le(keys + i * KEY_ROW_NBYTES, rows.found[i].key.high, 8);
            bytes_put_le(keys + i * KEY_ROW_NBYTES + 8, rows.found[i].key.low, 8);
        }
        if (keys == NULL || (made != NULL && made_write(made, first, keys, n, err) != 0))
            rows.walk.status = -1;
    }
    status = key_rows_end(&rows);
    if (status == 0 && made != NULL)
        status = made_put(plan, made, err);
    if (status == 0 && settings->canonical)
        status = plan_set_order(plan, err);
    bytes_release(&list);
    key_release(&key);
    return status;
}
