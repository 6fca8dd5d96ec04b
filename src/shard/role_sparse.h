/*
 * role_sparse.h - sparse policies: which arrays belong together, in which form, on which layout.
 */
#ifndef SYMAUG_SHARD_ROLE_SPARSE_H
#define SYMAUG_SHARD_ROLE_SPARSE_H

#include "shard/role_context.h"
#include "shard/role_fit.h"

/*
 * Find the sparse policies of the archive by the names of their arrays and by what was told, and
 * enter them in c->cases and in the positions of the bindings. ERROR_DATA when a part is missing.
 */
int role_sparse_find(struct role_context *c, struct error *err);

/* The number of rows that array i, a part of a sparse policy, stands for. */
uint64_t role_sparse_rows(const struct role_context *c, size_t i);

/* Bind all parts of the sparse policy whose index array is i; c->n_rows is known. */
int role_sparse_bind(const struct role_context *c, size_t i, struct error *err);

/* The layout of the sparse policy whose index array is i, and the length of its action axis: as
 * told, else by policy_size, else by signs of RingRift, else cells. NULL with a reason. */
const struct action_layout *role_sparse_layout(const struct role_context *c, size_t i,
                                               uint64_t *length, struct role_reason *reason);

/* True when the objects of array i are all scalars and strings. Else *row is the first other. */
bool role_objects_are_plain(const struct array *array, uint64_t *row);

#endif
