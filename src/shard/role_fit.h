/*
 * role_fit.h - does an array fit a role by its dtype and shape, and how are its rows addressed.
 */
#ifndef SYMAUG_SHARD_ROLE_FIT_H
#define SYMAUG_SHARD_ROLE_FIT_H

#include "shard/role_context.h"

#define ROLE_REASON_NBYTES 320

/* Why an array does not fit. Zero-initialise. */
struct role_reason {
    char text[ROLE_REASON_NBYTES];
};

/* Set the reason, printf-style. Returns false, so that `return role_unfit(...)` reads well. */
bool role_unfit(struct role_reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Try array i, which has the right number of rows, as one role. True: *binding is complete but for
 * the layout of an action that was not told one. False: reason says what was expected.
 */
typedef bool (*role_fit)(const struct role_context *c, size_t i, struct role_binding *binding,
                         struct role_reason *reason);

bool role_fit_planes(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason);
bool role_fit_packed(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason);
bool role_fit_grid(const struct role_context *c, size_t i, struct role_binding *binding,
                   struct role_reason *reason);
bool role_fit_policy(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason);
bool role_fit_action(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason);
bool role_fit_coord(const struct role_context *c, size_t i, struct role_binding *binding,
                    struct role_reason *reason);
bool role_fit_value(const struct role_context *c, size_t i, struct role_binding *binding,
                    struct role_reason *reason);
bool role_fit_wdl(const struct role_context *c, size_t i, struct role_binding *binding,
                  struct role_reason *reason);
bool role_fit_to_move(const struct role_context *c, size_t i, struct role_binding *binding,
                      struct role_reason *reason);
bool role_fit_tile(const struct role_context *c, size_t i, struct role_binding *binding,
                   struct role_reason *reason);

/* True when the dimensions number the cells of a board without rows and columns: (3,3,3) of 27. */
bool role_dims_are_cells(const struct board *board, const uint64_t *dims, unsigned n_dims);

/* True when elements of the type can be moved about: numbers, and opaque bytes (bfloat16). */
bool role_dtype_moves(const struct dtype *dtype);

/*
 * The layout that was told for array i (:layout=, or --policy when it holds for this array), or
 * NULL with reason empty when none was; NULL with a reason when the board has none of that name.
 */
const struct action_layout *role_told_layout(const struct role_context *c, size_t i,
                                             struct role_reason *reason);

/*
 * True when a product of neighbouring dimensions from first_dim on equals the board's cells, the
 * bytes of a packed plane, or the length of a policy; reason then says which.
 */
bool role_is_spatial(const struct role_context *c, size_t i, unsigned first_dim,
                     struct role_reason *reason);

#endif
