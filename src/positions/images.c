/*
 * images.c - what `expand` takes from the keys of positions. --canonical leaves one image of each
 * row, by the same selection as --pick; --orbit-key makes an array of the keys, which all images of
 * a row repeat. The rows are read once for both.
 */
#include "positions/positions.h"

#include "base/text.h"
#include "engine/made.h"
#include "positions/key.h"

#define KEY_ROW_NBYTES 16 /* of an array of keys: high and low half, little-endian */

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

    for (uint64_t i = 0; x->canonical && i < rows->n; i++) {
        struct plan *plan = x->plan;
        const uint8_t id = x->key.ids[key_lowest_tie(rows->ties + i * key_ties_nbytes(&x->key))];

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

static int set_up(struct images *x, const struct settings *settings, struct error *err)
{
    const struct made_form form = {.key = PLAN_ORBIT_KEY,
                                   .dtype = {.kind = DTYPE_UINT, .itemsize = 8},
                                   .n_dims = 1,
                                   .row_shape = {2}};
    struct plan *plan = x->plan;

    if (settings->orbit_key && plan->board->family->only_known_members)
        return error_set(err, ERROR_USAGE,
                         "--orbit-key: %s: KataGo's reader takes no further member",
                         text_path(plan->archives[0].path).text);
    if (settings->orbit_key && (x->made = made_new(plan, &form, err)) == NULL)
        return -1;
    if (x->canonical && plan_select_all(plan, err) != 0)
        return -1;
    return key_of_plan(&x->key, plan, NULL, err) != 0 ? -1 : key_note(plan, &x->key, err);
}

int images_of_keys(struct plan *plan, const struct settings *settings, struct error *err)
{
    struct images x = {.plan = plan, .canonical = settings->canonical};
    const struct key_reader reader = {plan, &x.key, settings, false, visit, &x};
    int status = set_up(&x, settings, err);

    if (status == 0)
        status = key_reader_run(&reader, err);
    if (status == 0 && x.made != NULL)
        status =
            made_put(plan, x.made, err) != 0 || plan_note(plan, "orbit-key", "yes", 0, err) != 0
                ? -1
                : 0;
    if (status == 0 && x.canonical)
        status = plan_note(plan, "canonical", "yes", 0, err) != 0 || plan_set_order(plan, err) != 0
                     ? -1
                     : 0;
    bytes_release(&x.list);
    key_release(&x.key);
    return status;
}
