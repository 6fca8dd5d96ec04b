/*
 * planes.h - an array of planes or a grid as numbers by cell, whatever its layout and type.
 */
#ifndef SYMAUG_SHOW_PLANES_H
#define SYMAUG_SHOW_PLANES_H

#include "show/fields.h"

struct planes {
    uint32_t n_cells; /* of the box */
    uint64_t n;
    double *numbers; /* owned: plane p of cell c is numbers[p * n_cells + c] */
};

/* The cell that element i along an array's axis stands for; -1 for none. Policies: the cell that
 * the action is about. */
int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i);

/* Elements per plane-like unit: how element e of a row is (plane, position on the axis). */
void planes_position(const struct role_binding *binding, uint64_t e, uint64_t *plane, uint64_t *i);

/* The numbers of array `i` (planes, packed planes or a grid). The caller releases them. */
int planes_read(struct planes *planes, const struct plan *plan, const struct fields *fields,
                size_t i, struct error *err);
void planes_release(struct planes *planes);

static inline double planes_at(const struct planes *planes, uint64_t plane, uint32_t cell)
{
    return plane < planes->n ? planes->numbers[plane * planes->n_cells + cell] : 0;
}

#endif
