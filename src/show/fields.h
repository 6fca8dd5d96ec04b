/*
 * fields.h - one row of every array, as numbers in memory, and its images.
 *
 * Images are made by the kernels that `expand` moves rows with.
 */
#ifndef SYMAUG_SHOW_FIELDS_H
#define SYMAUG_SHOW_FIELDS_H

#include "base/bytes.h"
#include "engine/plan.h"

/* One array's part: n elements of dtype. Objects become int64 (indices) or double. */
struct field {
    struct bytes bytes; /* owned */
    struct dtype dtype;
    uint64_t n;
};

struct fields {
    struct field *items; /* owned, one per array of the plan; without elements for arrays that have
                            no rows or no numbers */
    size_t n;
};

/* Read n_rows rows of the plan's one input, which are listed in ascending order, into as many
 * zeroed fields. The caller releases each of them, also on failure. */
int fields_read(const struct plan *plan, const uint64_t *rows, size_t n_rows, struct fields *fields,
                struct error *err);

/* The image of a row under transform t. The caller releases it, also on failure. */
int fields_move(const struct plan *plan, const struct fields *from, uint32_t t, struct fields *to,
                struct error *err);

void fields_release(struct fields *fields);

static inline double field_number(const struct field *field, uint64_t i)
{
    return dtype_get_double(&field->dtype, field->bytes.data + i * field->dtype.itemsize);
}

/* The field of the first array of that role that has elements, or -1. */
int fields_find(const struct plan *plan, const struct fields *fields, enum role role);

#endif
