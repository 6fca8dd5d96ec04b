/*
 * role_parts.h - what the files that infer roles share: an array whose role is looked for, how it
 * fits roles, what it is likely to be, sparse policies, and KataGo's shards. Nothing else includes
 * it.
 */
#pragma once

#include "shard/role.h"

/* An array whose role is looked for. */
struct role_case {
    struct role_context *c;
    const struct array *array;
    const struct npy_header *h;       /* the array's */
    struct role_binding *b;           /* what it becomes */
    const struct role_override *told; /* the last override of it; unless is_told one that says
                                         nothing */
    bool is_told;
    bool is_refused;          /* one of the problems */
    const char *flags;        /* static: other flags that go with its problem; or NULL */
    struct role_named named;  /* what its name says */
    struct role_case *sparse; /* the index array of the sparse policy that it is a part of (itself,
                                 perhaps), or NULL */
};

struct role_context {
    const struct archive_in *archive;
    const struct board *board;
    const struct role_request *request;
    struct role_case *cases; /* owned: n, one per array, in the archive's order */
    size_t n;
    struct role_case **by_key; /* owned: sorted by key */
    uint64_t n_rows;
    const struct role_case *rows;      /* the array that n_rows was taken from */
    const struct role_case *differing; /* no name tells which arrays have rows, and this one has
                                          another number of them; or NULL */
    uint32_t box_rows, box_cols; /* of planes (5 x 5 on Take It Easy), 0 where there is no box */
    bool swaps_colours;
    char reason[320];               /* why the array that was tried last does not fit: role_unfit */
    struct role_problems *problems; /* borrowed */
    struct error failed;            /* no memory, unread objects: nothing that a flag settles */
};

/* The array of that key (n_bytes of key, then ending), or NULL. */
struct role_case *role_find(const struct role_context *c, const char *key, size_t n_bytes,
                            const char *ending);

/* The role that the array is told or named to have. */
enum role role_wanted(const struct role_case *a);

/* --- problems --- */

/* A new one, of the array at that place or of the shard (-1), which the role would settle; NULL
 * with c->failed set. */
struct role_problem *role_problem_add(struct role_context *c, int array, const char *role);

/*
 * Add the problem "FILE: ARRAY: dtype <f4, shape (6, 81): REASON; use --role ARRAY=ROLE or --copy
 * ARRAY [shape]". Without a role only --copy is offered, and to leave it out. An array has one
 * problem, the first. Returns -1.
 */
int role_refuse(struct role_case *a, const char *role, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* The same with another code, and with what to use, if anything, in the message of the caller. */
int role_refuse_as(struct role_case *a, const char *role, enum error_code code, const char *format,
                   ...) __attribute__((format(printf, 4, 5)));

/* A problem [rows], and -1, unless the array has n_rows rows. */
int role_check_rows(struct role_case *a);

/* --- fits: each sets c->reason when it is false --- */

/* Set the reason, printf-style. Returns false, so that `return role_unfit(...)` reads well. */
bool role_unfit(struct role_case *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

role_fit role_fit_planes, role_fit_packed, role_fit_grid, role_fit_policy, role_fit_action,
    role_fit_coord, role_fit_value, role_fit_wdl, role_fit_to_move, role_fit_globals, role_fit_tile;

/* True when elements of the type can be moved about: numbers, and opaque bytes (bfloat16). */
bool role_dtype_moves(const struct dtype *dtype);

/* The layout that was told for the array (:layout=, or --policy when it holds for this array), NULL
 * when none was. False with a reason when the board has none of that name. */
bool role_told_layout(struct role_case *a, const struct action_layout **layout);

/*
 * True when a product of neighbouring dimensions from first_dim on equals the board's cells, the
 * bytes of a packed plane, or the length of a policy; the reason then says which.
 */
bool role_is_spatial(struct role_case *a, unsigned first_dim);

/* --- what is likely: none of these changes the reason --- */

/* True when a name suggests move indices or coordinates (move, pos, cell, best, ...). */
bool role_name_suggests_cells(const char *key);

/* The first role that an array of that shape could have, unless its numbers speak against it;
 * "ROLE" when there is none. What has no row for each position is metadata, or cannot be told. */
const char *role_suggest(const struct role_case *of);

/* The likeliest role of a label that a colour swap may change, of those that its numbers fit; or
 * NULL. Sets a->flags to what must go with it. */
const char *role_suggest_label(struct role_case *a);

/* The lowest and highest number of an array's rows, of the first max_nbytes; false when there are
 * none, or they cannot be read. */
bool role_find_range(const struct array *array, uint64_t max_nbytes, double *low, double *high);

/* True when a string of the array could be a position: FEN, or as long as the board has cells (but
 * not where the name says that it is something else). */
bool role_may_hold_positions(const struct role_case *a);

/* Boards of 33 to 64 cells fit into 64 bits: numbers that need more than 32 of them tell. Fields of
 * a structured type are not looked into. */
bool role_may_be_bitboards(const struct role_case *a);

/* --- sparse policies --- */

/* Find the sparse policies of the archive by the names of their arrays and by what was told, and
 * enter them in the cases and in the positions of their bindings. A missing part is a problem. */
void role_sparse_find(struct role_context *c);

/* Bind all parts of the sparse policy of that index array; c->n_rows is known. */
int role_sparse_bind(struct role_case *a);

/* What an array, one of `indices`, `data` and `indptr` as scipy names them, would be told as when
 * they go together: a role with its layout in `role`; false when they do not. */
bool role_sparse_of_scipy(const struct role_case *a, char role[64]);

/* --- KataGo --- */

/* The first member that a KataGo shard must have and the archive has not, or NULL; *n_found: how
 * many of its arrays are members. */
const char *role_katago_missing(const struct archive_in *archive, size_t *n_found);

/* Give the array its role if it is a member, else refuse it. Returns 0 or -1. */
int role_katago_bind(struct role_case *a);
