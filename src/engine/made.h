/*
 * made.h - arrays that are made and not read: they get rows of their own beside the inputs' arrays,
 * and are written as those are.
 */
#ifndef SYMAUG_ENGINE_MADE_H
#define SYMAUG_ENGINE_MADE_H

#include "engine/plan.h"

/* What an array is to be. */
struct made_form {
    const char *key; /* borrowed */
    struct dtype dtype;
    unsigned n_dims; /* of a row, at most 7 */
    uint64_t row_shape[7];
    uint64_t n_elements; /* of a list without rows: its length, over all inputs; else 0 */
};

/*
 * Make room in an unlinked temp file for an array with a row for each row of the plan, zeros at
 * first; of objects (rows have no shape), in memory, None at first. It is known to the plan from
 * made_put on. NULL with err set; the plan owns it.
 */
struct made *made_new(struct plan *plan, const struct made_form *form, struct error *err);

/* Write n rows from row `row` on. */
int made_write(struct made *made, uint64_t row, const void *rows, uint64_t n, struct error *err);

/* Of objects: row `row` is an item that outlives the plan's work, or n numbers, which are copied.
 */
void made_put_item(struct made *made, uint64_t row, const struct pickle_item *item);
int made_put_list(struct made *made, uint64_t row, const struct dtype *dtype, const void *numbers,
                  uint64_t n, struct error *err);

/* Make it one of the plan's arrays: in the place of the array of its key, whose role it keeps, or
 * as a new one that is repeated for each image. */
int made_put(struct plan *plan, struct made *made, struct error *err);

/* Accepts NULL. */
void made_free(struct made *made);

#endif
