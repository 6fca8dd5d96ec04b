/*
 * role_parts.h - internal to the files that infer roles: an array under inference, whether it fits
 * a role, what it is likely to be, sparse policies, and KataGo's shards.
 */
#pragma once

#include "shard/batch.h"
#include "shard/role.h"

/* An array under inference. */
struct role_case {
    struct role_context *c;
    const struct array *array;
    const struct npy_header *h;       /* the array's */
    struct role_binding *b;           /* what it becomes */
    const struct role_override *told; /* the override that counts; an empty one unless is_told */
    bool is_told;
    bool is_refused;          /* one of the problems */
    const char *flags;        /* static: other flags that go with its problem; or NULL */
    struct role_named named;  /* what its name says */
    char reason[320];         /* why it does not fit what was tried last, by role_unfit */
    struct role_case *sparse; /* the index array of the sparse policy that it is a part of, which
                                 may be itself; or NULL */
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
    const struct role_case *differing; /* an array of another length, where no role says which
                                          arrays have rows; or NULL */
    uint32_t box_rows, box_cols;       /* of planes (5 x 5 on Take It Easy); 0: there is no box */
    bool swaps_colours;
    uint32_t wanted;             /* bits: the roles that arrays have by override or by name */
    const struct array *longest; /* of the policies among them, or NULL; its length, and that of */
    uint64_t lengths[2];         /* the longest of the others */
    struct role_beside *beside;  /* owned: what role_shown reads beside numbers; NULL: not yet */
    struct role_problems *problems; /* borrowed */
    struct error why;               /* of the look that failed last */
    struct error failed;            /* what no flag settles: no memory, unread objects */
};

/* The array of that key (n_bytes of key, then ending), or NULL. */
struct role_case *role_find(const struct role_context *c, const char *key, size_t n_bytes,
                            const char *ending);

/* Begin a walk through an array alone. Its errors go to c->why. */
void role_begin_look(const struct role_case *a, struct walk *walk);

/* After a look at an array, which may have failed (status, c->why): whether it went well. A disk
 * that fails, or lack of memory, ends the inference: nothing may be copied because nobody could
 * look. Damaged data is refused where it is read in earnest. */
bool role_end_look(const struct role_case *a, int status);

/* The role that the array has by override or by name. */
enum role role_wanted(const struct role_case *a);

/* --- problems --- */

/* Add a problem of an array, or -1, and return it, to be filled in; NULL: no memory. */
struct role_problem *role_problem_add(struct role_problems *problems, int array, struct error *err);

/* Add a problem of the shard as a whole, which no flag settles. If there is no memory, c->failed is
 * set. */
void role_refuse_shard(struct role_context *c, enum error_code code, const char *reason);

/* Flags that may go with a history on a board that swaps colours, likeliest first, up to a NULL.
 * The last is empty and recognised by its address: the user must decide. */
extern const char *const role_flags_of_frames[];

/*
 * Add the problem "FILE: ARRAY: dtype <f4, shape (6, 81): REASON; use --role ARRAY=ROLE or --copy
 * ARRAY [shape]". If role is NULL only --copy is offered, and dropping the array settles it. With
 * another code, or to say something else, advice tells what to use; or it is NULL. An array has one
 * problem, the first; a->flags go with it. Returns -1.
 */
#define ROLE_ADVICE "; use " /* before advice */
int role_refuse_as(struct role_case *a, const char *role, enum error_code code, const char *advice,
                   const char *format, ...) __attribute__((format(printf, 5, 6)));

#define role_refuse(a, role, ...) role_refuse_as(a, role, ERROR_CODE_SHAPE, NULL, __VA_ARGS__)

/* 0 if the array has n_rows rows; else add a problem [rows] and return -1. */
int role_check_rows(struct role_case *a);

/* --- fits: each sets the reason when it returns false --- */

/* Set the reason, printf-style. Returns false, so that `return role_unfit(...)` reads well. */
bool role_unfit(struct role_case *a, const char *format, ...) __attribute__((format(printf, 2, 3)));

role_fit role_fit_planes, role_fit_packed, role_fit_grid, role_fit_policy, role_fit_action,
    role_fit_coord, role_fit_value, role_fit_wdl, role_fit_to_move, role_fit_globals, role_fit_tile;

/* True when elements of the type can be moved: numbers, and opaque bytes (bfloat16). */
bool role_dtype_moves(const struct dtype *dtype);

/* The layout given for the array (:layout=, else --policy), NULL if none was. False with a reason
 * if the board has no such layout. */
bool role_told_layout(struct role_case *a, const struct action_layout **layout);

/*
 * True when a product of adjacent dimensions from first_dim on equals the board's cells, the bytes
 * of a packed plane, or the length of a policy; in strict requests also when it is a multiple of
 * one, or when rows may be bitboards or bytes per cell. The reason then says which.
 */
bool role_is_spatial(struct role_case *a, unsigned first_dim);

/* "planes:nhwc" if planes that may be in either order, in rows (N, C*cells) or (N, n, n, n), hold
 * the stones of two players when they are read cell by cell, and hardly ever plane by plane.
 * "packed:lsb" if packed planes have pad bits set when the first cell is the highest bit of a byte,
 * and none when it is the lowest. Else NULL. */
const char *role_order_of(const struct role_case *a, enum role role);

/* --- what is likely: these leave the reason alone --- */

/* True when an array's name has one of the words, which are separated by spaces; ^ and $ are the
 * ends of the name, and case does not matter. */
bool role_name_has(const struct role_case *a, const char *words);

/* Words that suggest move indices or coordinates. */
extern const char role_words_of_cells[];

/* True for integers under a name that is as often a move's as another label's (y, target), if they
 * go beyond those of win, draw and loss, but not beyond moves. */
bool role_label_suggests_cells(const struct role_case *a);

/* True for rows (N, k) of integers that seem to be lists of actions, each of which is in its list
 * once: some are padded with -1, or they have values beside them, where 0 is padding, too. */
bool role_are_lists(const struct role_case *a, bool have_values);

/* The first role that an array of that shape could have, unless its numbers speak against it;
 * "ROLE" if there is none. An array without a row per position is "meta", or "drop" if it may be
 * spatial. */
const char *role_suggest(const struct role_case *of);

/* The role of pairs of integers that may be cells, or NULL. */
const char *role_suggest_coord(const struct role_case *a);

/* The role of moves that number the cells of the box; NULL: the board has no such layout. */
const char *role_action_of_cells(const struct board *board);

/* The first object that is a list or an array; UINT64_MAX: none is. */
uint64_t role_first_list(const struct role_case *a);

/* The role of numbers that name, in all rows and hardly by chance, what `what` is then set to:
 * "empty cells", say; or NULL. The other roles are known. */
const char *role_shown(const struct role_case *a, const char **what);

/* True for planes or a grid whose stones rest on one another, in a game in which they fall, if the
 * cells are read column by column, and do not as they stand. */
bool role_lies_by_columns(const struct role_case *a);

/* Free what it keeps from array to array; NULL: nothing. */
void role_beside_free(struct role_beside *beside);

/* True when moves are no actions with mass in most rows of a policy that numbers more than cells
 * and a pass: they number something else. */
bool role_lacks_mass(const struct role_case *a);

/* The likeliest role of a label that a colour swap may change, of those that its numbers fit; or
 * NULL. Sets a->flags to what must go with it. */
const char *role_suggest_label(struct role_case *a);

/* The lowest and highest number in the first max_nbytes of an array; false if there are none or
 * they cannot be read. */
bool role_find_range(const struct role_case *a, uint64_t max_nbytes, double *low, double *high);

/* Write string i of a row to `text`, of n_bytes, in ASCII: anything else is '?', and a NUL ends it.
 * False if it is not a string. */
bool role_read_string(const struct row *row, uint64_t i, char *text, size_t n_bytes);

/* True when rows that are to be copied could be positions: strings that are FEN, or, unless the
 * name gives a role, strings or numbers as long as the board has cells, or bits. */
bool role_may_hold_positions(const struct role_case *a);

/* True when what is no number, under a name that gives no role, is called moves (best_move), or
 * when all strings seem to be moves: "d4", "e2e4", "Nf3", "dd", "(3, 4)". */
bool role_spells_cells(const struct role_case *a);

/* True when 64-bit integers may be bitboards: the board has 33 to 64 cells, and some number needs
 * more than 32 bits. Structured types count if they have 64-bit fields. */
bool role_may_be_bitboards(const struct role_case *a);

/* --- sparse policies --- */

/* Find the sparse policies of the archive by overrides and by the names of their arrays, and enter
 * them in the cases and their bindings. A missing part is a problem. */
void role_sparse_find(struct role_context *c);

/* Bind all parts of the sparse policy of that index array; c->n_rows is known. */
int role_sparse_bind(struct role_case *a);

/* Refuse indices, of moves or of a sparse policy, beyond the actions of a layout: true. */
bool role_goes_beyond(struct role_case *a, const struct action_layout *layout, uint64_t length);

/* True when the array is one of a matching set named as scipy does: `indices`, `data` and `indptr`.
 * `role` is then what it could be given: a role with its layout. */
bool role_sparse_of_scipy(const struct role_case *a, char role[64]);

/* --- KataGo --- */

/* The first required member of a KataGo shard that the archive lacks, or NULL; *n_found is how many
 * of its arrays are members. */
const char *role_katago_missing(const struct archive_in *archive, size_t *n_found);

/* Give the array its role if it is a member, else refuse it. */
int role_katago_bind(struct role_case *a);
