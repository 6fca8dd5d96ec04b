/*
 * select.c - leaving images out by setting bits in the plan's selection: --pick draws images of
 * each row by a hash of seed and row number, so that the choice depends on nothing else, and
 * --unique drops images that equal an earlier one of their row (unique.c).
 */
#include "engine/select.h"

#include "engine/order.h"
#include "engine/unique.h"

#include <string.h>

/* Every image is selected until something leaves it out. */
static int begin(struct plan *plan, struct error *err)
{
    if (!plan->selected && selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) != 0)
        return -1;
    plan->selected = true;
    return 0;
}

/* The images of a row that may be chosen; the identity, when it is kept, comes first. */
static uint32_t list_images(const struct plan *plan, uint64_t row, uint8_t *images)
{
    uint32_t n = 0;

    for (uint32_t k = 0; k < plan->n_chosen; k++)
        if (selection_has(&plan->selection, row, k))
            images[n++] = (uint8_t)k;
    return n;
}

/* Shuffle images[first ..] as far as n_keep, each time drawing from what is left. */
static void draw(uint8_t *images, uint32_t first, uint32_t n, uint32_t n_keep, uint64_t seed,
                 uint64_t row)
{
    for (uint32_t i = first; i < n_keep; i++) {
        uint64_t random = shuffle_hash(shuffle_hash(seed, row), i) >> 32;
        uint32_t from = i + (uint32_t)(random * (n - i) >> 32);
        uint8_t image = images[from];

        images[from] = images[i];
        images[i] = image;
    }
}

int select_pick(struct plan *plan, uint32_t n_keep, uint64_t seed, bool keep_identity,
                struct error *err)
{
    uint8_t images[BOARD_MAX_TRANSFORMS];

    if (begin(plan, err) != 0)
        return -1;
    if (keep_identity && plan->chosen[0] != 0)
        return error_set(err, ERROR_USAGE,
                         "--keep-identity: transform 0 is not among the chosen ones");
    for (uint64_t row = 0; row < plan->n_rows; row++) {
        uint32_t n = list_images(plan, row, images);

        if (n <= n_keep)
            continue;
        draw(images, keep_identity ? 1 : 0, n, n_keep, seed, row);
        for (uint32_t i = n_keep; i < n; i++)
            selection_clear(&plan->selection, row, images[i]);
    }
    return 0;
}

int select_unique(struct plan *plan, int n_threads, struct error *err)
{
    return begin(plan, err) != 0 ? -1 : unique_drop(plan, n_threads, err);
}
