/*
 * sparse.h - means of sparse policies: of the rows of one position, the union of what they name.
 */
#ifndef SYMAUG_POSITIONS_SPARSE_H
#define SYMAUG_POSITIONS_SPARSE_H

#include "engine/plan.h"
#include "positions/boxes.h"

/* A row of a position that has several. Told in any order of positions, in order of rows within. */
struct sparse_member {
    uint64_t first, row; /* the position's first row, and this one */
    uint64_t weight;
    uint64_t transform; /* that takes this one to the first */
};

/* Zero-initialise. */
struct sparse_means {
    struct plan *plan;              /* borrowed */
    struct sparse_policy *policies; /* owned */
    size_t n_policies;
    struct boxes members; /* by first row */
};

/* Find the sparse policies of a plan and what transforms do to them: before plan_keep_rows. They
 * hold about max_nbytes of members in memory. ERROR_DATA for types that have no means. Release them
 * in any case. */
int sparse_find(struct sparse_means *means, struct plan *plan, uint64_t max_nbytes,
                struct error *err);

/* Tell a row of a position that has several. */
int sparse_add(struct sparse_means *means, const struct sparse_member *member, struct error *err);

/* Put the means in the place of the plan's arrays: they are there for the rows that are selected.
 * ERROR_DATA for rows that are no lists of indices and values. */
int sparse_write(struct sparse_means *means, struct error *err);

/* Accepts a zeroed one. */
void sparse_release(struct sparse_means *means);

#endif
