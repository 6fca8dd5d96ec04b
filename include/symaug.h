/*
 * symaug.h - boards, their symmetries, and rows of training data moved by them: what a data loader
 * needs to augment on the fly.
 *
 * A board is made once and read-only from then on: it may be shared between threads and remains
 * valid after fork, and so does an action space. No function keeps mutable state, prints, or exits.
 * Names and ids are those of `symaug boards`. Cells have flat indices row * cols + col, row 0 on
 * top; boards whose cells form no box number them from 0.
 *
 * A `dst` map is a scatter: element i goes to dst[i]. A `src` map is its inverse: element j comes
 * from src[j]. Both are permutations. Planes and dense policies move by src, move indices and
 * coordinates by dst.
 *
 * Pointers must not be NULL unless stated otherwise. Cells and transform ids are not checked: they
 * must be below symaug_board_cells and symaug_board_transforms. Functions that can fail say so; the
 * others cannot.
 *
 * The functions for boards and action spaces move cells and actions only. Everything else that a
 * transform does to a position is up to the caller: exchanging colours
 * (symaug_transform_swaps_colours), the planes of castling rights in chess, the numbers of tiles in
 * Take It Easy (all transforms except 0 and 3 permute them), and the plane maps of a board from a
 * file. `symaug expand` and the movers below do these, too.
 */
#ifndef SYMAUG_H
#define SYMAUG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SYMAUG_API __attribute__((visibility("default")))

/* A board and its group of transforms. Opaque; made by symaug_board_new. */
typedef struct board symaug_board;

/* The action space of a policy on a board: a layout at a length. Opaque; made by
 * symaug_actions_new. */
typedef struct action_space symaug_actions;

/* The library's version, "1.0.0"; static. */
SYMAUG_API const char *symaug_version(void);

/*
 * Make the board called `name`: a preset ("hex8"), FAMILY:SIZE ("square:15") or file:PATH, which is
 * read here and not needed afterwards. Returns NULL on failure (an unknown name, a bad board file,
 * no memory), with the reason in message: at most message_nbytes bytes, cut if need be,
 * NUL-terminated. message may be NULL; on success it is left unchanged. The caller frees the board
 * with symaug_board_free.
 */
SYMAUG_API symaug_board *symaug_board_new(const char *name, char *message, size_t message_nbytes);

/* Free a board and all that it owns (name, maps); accepts NULL. Free its action spaces first. */
SYMAUG_API void symaug_board_free(symaug_board *board);

/* The canonical name, "hexagon:4"; owned by the board. */
SYMAUG_API const char *symaug_board_name(const symaug_board *board);

/* The rows and columns of the box, both 0 for boards whose cells form none; and the number of
 * cells, including off-board corners: rows * cols where there is a box. */
SYMAUG_API uint32_t symaug_board_rows(const symaug_board *board);
SYMAUG_API uint32_t symaug_board_cols(const symaug_board *board);
SYMAUG_API uint32_t symaug_board_cells(const symaug_board *board);

/* 1 when the cell is on board, 0 when it is an off-board corner of the box, which every transform
 * leaves in place. */
SYMAUG_API int symaug_board_on_board(const symaug_board *board, uint32_t cell);

/* The number of transforms n, at least 1; their ids are 0 (the identity) to n - 1. */
SYMAUG_API uint32_t symaug_board_transforms(const symaug_board *board);

/* The id of a transform by its name ("rotate-60") or by its id in decimal digits ("1"); -1 when the
 * board has no such transform. */
SYMAUG_API int symaug_transform_find(const symaug_board *board, const char *name);

/* A transform's name; owned by the board. */
SYMAUG_API const char *symaug_transform_name(const symaug_board *board, uint32_t transform);

/* 1 when the transform is a symmetry only together with an exchange of the two colours (the game of
 * Hex), so that the caller must also swap stone planes, player to move and value; else 0. */
SYMAUG_API int symaug_transform_swaps_colours(const symaug_board *board, uint32_t transform);

/* The id of the transform that undoes this one. */
SYMAUG_API uint32_t symaug_transform_inverse(const symaug_board *board, uint32_t transform);

/* The id of the transform that is a first, then b. */
SYMAUG_API uint32_t symaug_transform_compose(const symaug_board *board, uint32_t a, uint32_t b);

/* The cell maps of a transform: symaug_board_cells entries, owned by the board. */
SYMAUG_API const uint32_t *symaug_cell_dst(const symaug_board *board, uint32_t transform);
SYMAUG_API const uint32_t *symaug_cell_src(const symaug_board *board, uint32_t transform);

/*
 * Make the action space of a policy of `length` entries on the board. layout: a name shown by
 * `symaug boards BOARD`, or NULL for the first layout of that length. length: 0 for the length of
 * the named layout; a longer policy is padded, and the entries after the layout's own stay in
 * place. Returns NULL on failure (no such layout, a length below the layout's, no memory), with the
 * reason in message as in symaug_board_new. The board is borrowed and must outlive the space, which
 * the caller frees with symaug_actions_free. All maps are computed here: 8 bytes per transform and
 * entry.
 */
SYMAUG_API symaug_actions *symaug_actions_new(const symaug_board *board, const char *layout,
                                              uint64_t length, char *message,
                                              size_t message_nbytes);

/* Free an action space and its maps; accepts NULL. */
SYMAUG_API void symaug_actions_free(symaug_actions *actions);

/* The number of entries of the policy. */
SYMAUG_API uint64_t symaug_actions_length(const symaug_actions *actions);

/* A run of actions of one kind: "placement", "movement", "special", "pass", "unused" ... */
struct symaug_span {
    const char *name; /* static */
    uint64_t start, stop;
};

/* Write the first n runs of the policy, in order; entries after the layout's own are "unused".
 * Returns how many runs there are, at most 16. spans may be NULL when n is 0. */
SYMAUG_API size_t symaug_actions_spans(const symaug_actions *actions, struct symaug_span *spans,
                                       size_t n);

/* The action maps of a transform: symaug_actions_length entries, owned by `actions`. The map of
 * transform 0 begins a table of all transforms, transforms x length. */
SYMAUG_API const uint32_t *symaug_actions_dst(const symaug_actions *actions, uint32_t transform);
SYMAUG_API const uint32_t *symaug_actions_src(const symaug_actions *actions, uint32_t transform);

/*
 * Move n_planes planes of symaug_board_cells elements, channels first: shape (planes, rows, cols),
 * or (planes, cells). Elements have item_nbytes bytes (from 1 to 2^32 - 1; 1, 2, 4 and 8 are
 * fastest) and are copied, never interpreted. in and out hold n_planes * cells * item_nbytes bytes,
 * are aligned to the element size where that is 2, 4 or 8, and must not overlap.
 */
SYMAUG_API void symaug_move_planes(const symaug_board *board, uint32_t transform, const void *in,
                                   void *out, size_t n_planes, size_t item_nbytes);

/* Move one row of a dense policy in the same way: in and out hold symaug_actions_length elements of
 * item_nbytes bytes and must not overlap. */
SYMAUG_API void symaug_move_policy(const symaug_actions *actions, uint32_t transform,
                                   const void *in, void *out, size_t item_nbytes);

/* Move n move indices; negative ones (no move) stay. in and out hold n indices and may be the same
 * array. Returns 0, or -1 when an index is not below symaug_actions_length: then out holds only
 * part of the images. */
SYMAUG_API int symaug_move_indices(const symaug_actions *actions, uint32_t transform,
                                   const int64_t *in, int64_t *out, size_t n);

/* A random transform id for sample number i of a run with this seed: uniform over all ids, those
 * that swap colours included, and a function of board, seed and i alone: the same on every machine,
 * in any order and from any thread. */
SYMAUG_API uint32_t symaug_random_transform(const symaug_board *board, uint64_t seed, uint64_t i);

/*
 * --- movers: whole rows, as `symaug expand` moves them ---
 *
 * A mover knows the arrays of a shard with their roles, and what every transform does to each:
 * planes, packed planes, dense and sparse policies, moves, coordinates and labels. It also swaps
 * colours, exchanges castling planes and inverts values where the transform requires it. Making one
 * reads the data once, as `expand` does before it writes, and refuses what it cannot move exactly.
 * From then on it is read-only: it may be shared between threads and remains valid after fork.
 */

/* A mover. Opaque; made by symaug_mover_new or symaug_mover_open. */
typedef struct symaug_mover symaug_mover;

/* Why a call failed. */
struct symaug_failure {
    int code;        /* as the program's exit code: 64 usage, 65 data, 66 no input, 70 ... */
    int64_t row;     /* -1: not about a row */
    char array[128]; /* "": not about an array */
    char file[1024]; /* "": not about a file */
    char message[4096];
};

/* An array in the caller's memory. */
struct symaug_array {
    const char *name;
    const char *descr;     /* its dtype as in a .npy header: "'<f4'", "[('a', '<i4')]" */
    const uint64_t *shape; /* n_dims lengths */
    unsigned n_dims;
    const void *data; /* n_bytes, in C order; of an object array ("'|O'") its pickle */
    uint64_t n_bytes;
};

/*
 * Make a mover for arrays in memory. options are those of `symaug expand` that say what arrays mean
 * and which images there are, without dashes: "board=hex13", "value=colour01", "role=x=planes",
 * "transforms=0,3". The data is read here and not needed afterwards. Returns NULL on failure, with
 * the reason in failure (which may be NULL, here and below). The caller frees the mover with
 * symaug_mover_free.
 */
SYMAUG_API symaug_mover *symaug_mover_new(const struct symaug_array *arrays, size_t n_arrays,
                                          const char *const *options, size_t n_options,
                                          struct symaug_failure *failure);

/* Make a mover for the rows of all these files together (.npz, .npy, folders of .npy): roles and
 * encodings are decided once for all of them. */
SYMAUG_API symaug_mover *symaug_mover_open(const char *const *paths, size_t n_paths,
                                           const char *const *options, size_t n_options,
                                           struct symaug_failure *failure);

/* Free a mover; accepts NULL. */
SYMAUG_API void symaug_mover_free(symaug_mover *mover);

/* Its board, owned by the mover. */
SYMAUG_API const symaug_board *symaug_mover_board(const symaug_mover *mover);

/* Set *ids, owned by the mover, to the transforms that give exact images under the options,
 * ascending, and return their number. Only these may be applied. */
SYMAUG_API size_t symaug_mover_transforms(const symaug_mover *mover, const uint8_t **ids);

/* The number of rows of file i, or of the arrays in memory (i is 0). */
SYMAUG_API uint64_t symaug_mover_rows(const symaug_mover *mover, size_t i);

/* How the rows of an array are moved. */
enum symaug_form {
    SYMAUG_META,           /* it has no rows or is left out */
    SYMAUG_ROWS,           /* by symaug_mover_move: rows of row_nbytes */
    SYMAUG_OBJECTS,        /* rows of objects that no transform changes */
    SYMAUG_OBJECT_INDICES, /* rows of lists of indices: by symaug_mover_move_lists, as int64 */
    SYMAUG_CSR_OFFSETS,    /* where the list of each row begins; recomputed by the caller */
    SYMAUG_CSR_INDICES,    /* lists of indices: by symaug_mover_move_lists, in the array's type */
    SYMAUG_CSR_VALUES,     /* lists that no transform changes */
};

struct symaug_moved {
    const char *name; /* owned by the mover */
    const char *role; /* ROLE[:option,...]; owned by the mover */
    enum symaug_form form;
    uint64_t row_nbytes; /* SYMAUG_ROWS */
    int values;          /* for padded sparse indices, the number of the array of values; else -1 */
    int offsets;         /* for CSR, the number of the array of offsets; else -1 */
    int is_key;          /* 1: part of the position, needed by symaug_mover_keys; else 0 */
};

/* The number of arrays, and array i below that number, in the order of the shard. */
SYMAUG_API size_t symaug_mover_arrays(const symaug_mover *mover);
SYMAUG_API struct symaug_moved symaug_mover_array(const symaug_mover *mover, size_t i);

/* Rows to move: image k is row rows[k] under transform transforms[k]. */
struct symaug_rows {
    const void *data;          /* n_data rows of the array, aligned to its elements */
    const void *values;        /* the same rows of the array `values`; NULL where there is none */
    uint64_t n_data;           /* rows in data */
    const int64_t *rows;       /* n numbers below n_data; NULL: 0, 1, 2, ... */
    const uint8_t *transforms; /* n ids */
    size_t n;                  /* images */
};

/*
 * Move rows of an array of the form SYMAUG_ROWS: out takes n rows of row_nbytes, aligned to the
 * array's elements, and must not overlap any input. Returns 0, or -1 with failure set (a row that
 * does not exist, a transform that may not be applied, padded indices without their values, an
 * index outside the policy): then the contents of out are unspecified.
 */
SYMAUG_API int symaug_mover_move(const symaug_mover *mover, size_t array,
                                 const struct symaug_rows *rows, void *out,
                                 struct symaug_failure *failure);

/*
 * Move n lists of indices: list k are the elements starts[k] to starts[k + 1] - 1 of `in`, under
 * transforms[k]. out has as many elements and may be `in`. Elements are int64 for
 * SYMAUG_OBJECT_INDICES and of the array's type for SYMAUG_CSR_INDICES. Negative indices stay.
 * Returns 0, or -1 with failure set; for a bad index its row is k.
 */
SYMAUG_API int symaug_mover_move_lists(const symaug_mover *mover, size_t array,
                                       const int64_t *starts, const uint8_t *transforms, size_t n,
                                       const void *in, void *out, struct symaug_failure *failure);

/*
 * Compute the orbit keys of n rows, as `symaug expand --orbit-key` writes them: two rows have the
 * same key when one's position is an image of the other's. data[i] points to the rows of array i,
 * aligned to its elements; only arrays with is_key are read. keys takes two numbers per row, the
 * high half first. Returns 0, or -1 with failure set: the arrays form no key, or no memory.
 */
SYMAUG_API int symaug_mover_keys(const symaug_mover *mover, const void *const *data, size_t n,
                                 uint64_t *keys, struct symaug_failure *failure);

#ifdef __cplusplus
}
#endif

#endif
