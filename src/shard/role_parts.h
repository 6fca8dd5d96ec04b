/*
 * role_parts.h - what the files that infer roles share: the context of one inference, how arrays
 * fit roles, sparse policies, and KataGo's shards. Nothing else includes it.
 */
#ifndef SYMAUG_SHARD_ROLE_PARTS_H
#define SYMAUG_SHARD_ROLE_PARTS_H

#include "shard/role.h"

/* --- the context --- */

/* What is known about one array before its shape is looked at. */
struct role_case {
    const struct role_override *told; /* the last override of the array, or NULL */
    struct role_named named;          /* what its name says */
    int sparse_index;                 /* the index array of the sparse policy that it is a part of
                                         (itself, perhaps), or -1 */
    bool is_refused;                  /* one of the problems */
};

struct role_context {
    const struct archive_in *archive;
    const struct board *board;
    const struct role_request *request;
    struct role_binding *bindings;
    struct role_case *cases;
    const struct array **by_key; /* the arrays sorted by key */
    uint64_t n_rows;
    size_t rows_array;     /* the array that n_rows was taken from */
    bool rows_are_guessed; /* no name tells which arrays have rows, and one differs: */
    size_t differing_array;
    uint32_t box_rows, box_cols; /* of planes (5 x 5 on Take It Easy), 0 where there is no box */
    bool swaps_colours;
    struct role_problems *problems; /* borrowed */
    struct error failed;            /* no memory, unread objects: nothing that a flag settles */
};

/* Position of the array of that key (n_bytes of key, then ending), or -1. */
int role_find(const struct role_context *c, const char *key, size_t n_bytes, const char *ending);

/*
 * Add the problem "FILE: ARRAY: dtype <f4, shape (6, 81): REASON; use --role ARRAY=ROLE or --copy
 * ARRAY [shape]". Without a role only --copy is offered, and to leave it out. An array has one
 * problem, the first. Returns -1.
 */
int role_refuse(struct role_context *c, size_t i, const char *role, const char *reason);

/* The same with another code and with flags for the message written by the caller, or NULL. */
int role_refuse_with(struct role_context *c, size_t i, const char *role, const char *flags,
                     enum error_code code, const char *reason);

/* A problem of the shard as a whole, which no flag settles. */
void role_refuse_shard(struct role_context *c, enum error_code code, const char *reason);

/* The role that array i is told or named to have. */
enum role role_wanted(const struct role_context *c, size_t i);

/* The first role that an array of that shape could have, unless its numbers speak against it;
 * "ROLE" when there is none. What has no row for each position is metadata, or cannot be told. */
const char *role_suggest(const struct role_context *c, size_t i);

/* The likeliest role of a label that a colour swap may change, of those that fit its numbers as
 * colours are coded unless the user says otherwise, and the flags that go with it; or NULL. */
const char *role_suggest_label(const struct role_context *c, size_t i, const char **flags);

/* Try what the problems suggest: a role that would be refused in turn becomes "drop", which never
 * is. What else would be undecided then is one more problem. -1 with err set: no memory. */
int role_settle(struct role_context *c, struct error *err);

/* A problem [rows], and -1, unless the array has n_rows rows. */
int role_check_rows(struct role_context *c, size_t i);

/* True when a name suggests move indices or coordinates (move, pos, cell, best, ...). */
bool role_name_suggests_cells(const char *key);

/* --- fits --- */

#define ROLE_REASON_NBYTES 320

/* Why an array does not fit. Zero-initialise. */
struct role_reason {
    char text[ROLE_REASON_NBYTES];
};

/* Set the reason, printf-style. Returns false, so that `return role_unfit(...)` reads well. */
bool role_unfit(struct role_reason *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#define ROLE_FIT(name)                                                                         \
    bool role_fit_##name(const struct role_context *c, size_t i, struct role_binding *binding, \
                         struct role_reason *reason)
ROLE_FIT(planes);
ROLE_FIT(packed);
ROLE_FIT(grid);
ROLE_FIT(policy);
ROLE_FIT(action);
ROLE_FIT(coord);
ROLE_FIT(value);
ROLE_FIT(wdl);
ROLE_FIT(to_move);
ROLE_FIT(tile);

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

/* --- numbers and strings --- */

/* The lowest and highest number of an array's rows, of the first max_nbytes; false when there are
 * none, or they cannot be read. */
bool role_find_range(const struct array *array, uint64_t max_nbytes, double *low, double *high);

/* True when a string of the array could be a position: FEN, or as long as the board has cells (but
 * not where is_named: names say that it is something else). */
bool role_may_hold_positions(const struct role_context *c, size_t i, bool is_named);

/* --- sparse policies --- */

/* The parts of a sparse policy: PREFIX_indices, PREFIX_values or _data, PREFIX_offsets or _indptr.
 */
enum sparse_part {
    SPARSE_INDICES,
    SPARSE_VALUES,
    SPARSE_DATA,
    SPARSE_OFFSETS,
    SPARSE_INDPTR,
    N_SPARSE_PARTS
};

/* Find the sparse policies of the archive by the names of their arrays and by what was told, and
 * enter them in c->cases and in the positions of the bindings. A missing part is a problem. */
void role_sparse_find(struct role_context *c);

/* The number of rows that array i, a part of a sparse policy, stands for. */
uint64_t role_sparse_rows(const struct role_context *c, size_t i);

/* Bind all parts of the sparse policy whose index array is i; c->n_rows is known. */
int role_sparse_bind(struct role_context *c, size_t i);

/* What array i, one of `indices`, `data` and `indptr` as scipy names them, would be told as when
 * they go together: a role with its layout in `role`; false when they do not. */
bool role_sparse_of_scipy(const struct role_context *c, size_t i, char role[64]);

/* --- KataGo --- */

/* True when the archive holds every member that a KataGo shard must have, and no others. */
bool role_katago_is_shard(const struct archive_in *archive);

/* Bind array i of a shard on a KataGo board. */
int role_katago_bind(struct role_context *c, size_t i);

/* The first member that is missing, or NULL. */
const char *role_katago_missing(const struct archive_in *archive);

#endif
