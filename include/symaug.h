/*
 * symaug.h - boards, their symmetries, and moving rows of training data: what a data loader needs
 * to augment on the fly.
 *
 * A board is looked up once and is read-only from then on: it may be shared between threads and
 * survives fork. No function keeps mutable state, prints, or ends the program. Names and ids are
 * those of `symaug boards`. Cells have flat indices row * cols + col, row 0 on top.
 *
 * A `dst` map is a scatter: element i goes to dst[i]. A `src` map is its inverse: element j comes
 * from src[j]. Planes and dense policies move by src, move indices and coordinates by dst.
 */
#ifndef SYMAUG_H
#define SYMAUG_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define SYMAUG_API __attribute__((visibility("default")))

/* A board and its group. */
typedef struct board symaug_board;

/* The action space of a policy on a board: a layout at a length. */
typedef struct action_space symaug_actions;

/* "1.0.0". */
SYMAUG_API const char *symaug_version(void);

/*
 * The board called `name`: a preset ("hex8"), FAMILY:SIZE ("square:15") or file:PATH. NULL on
 * failure, with the reason in message (at most message_nbytes, NUL-terminated; may be NULL with 0).
 * The caller frees it with symaug_board_free.
 */
SYMAUG_API symaug_board *symaug_board_new(const char *name, char *message, size_t message_nbytes);

/* Free a board; accepts NULL. Its action spaces must be freed before. */
SYMAUG_API void symaug_board_free(symaug_board *board);

/* The canonical name ("hexagon:4"); owned by the board. */
SYMAUG_API const char *symaug_board_name(const symaug_board *board);

/* The box, 0 for boards whose cells form none; the number of cells, off-board corners included. */
SYMAUG_API uint32_t symaug_board_rows(const symaug_board *board);
SYMAUG_API uint32_t symaug_board_cols(const symaug_board *board);
SYMAUG_API uint32_t symaug_board_cells(const symaug_board *board);

/* 1 when the cell (below symaug_board_cells) is on board, 0 when it is a corner of the box. */
SYMAUG_API int symaug_board_on_board(const symaug_board *board, uint32_t cell);

/* The number of transforms; their ids are 0 (the identity) to this - 1. */
SYMAUG_API uint32_t symaug_board_transforms(const symaug_board *board);

/* The id of a transform by name or number; -1 when there is none. */
SYMAUG_API int symaug_transform_find(const symaug_board *board, const char *name);

/* For ids below symaug_board_transforms: the name; whether colours are exchanged too (then the
 * caller also swaps stone planes, player to move and value); the inverse; first a, then b. */
SYMAUG_API const char *symaug_transform_name(const symaug_board *board, uint32_t transform);
SYMAUG_API int symaug_transform_swaps_colours(const symaug_board *board, uint32_t transform);
SYMAUG_API uint32_t symaug_transform_inverse(const symaug_board *board, uint32_t transform);
SYMAUG_API uint32_t symaug_transform_compose(const symaug_board *board, uint32_t a, uint32_t b);

/* The cell maps of a transform: symaug_board_cells entries, owned by the board. */
SYMAUG_API const uint32_t *symaug_cell_dst(const symaug_board *board, uint32_t transform);
SYMAUG_API const uint32_t *symaug_cell_src(const symaug_board *board, uint32_t transform);

/*
 * The action space of a policy of `length` entries on the board. layout: a name of `symaug boards
 * BOARD`, or NULL for the one that has the length. length 0: the layout's own. NULL on failure, as
 * symaug_board_new. The board is borrowed. The caller frees it with symaug_actions_free.
 */
SYMAUG_API symaug_actions *symaug_actions_new(const symaug_board *board, const char *layout,
                                              uint64_t length, char *message,
                                              size_t message_nbytes);

/* Free an action space; accepts NULL. */
SYMAUG_API void symaug_actions_free(symaug_actions *actions);

/* Entries of the policy axis, and the maps of a transform: that many entries, owned by `actions`.
 */
SYMAUG_API uint64_t symaug_actions_length(const symaug_actions *actions);
SYMAUG_API const uint32_t *symaug_actions_dst(const symaug_actions *actions, uint32_t transform);
SYMAUG_API const uint32_t *symaug_actions_src(const symaug_actions *actions, uint32_t transform);

/*
 * Move n_planes planes of symaug_board_cells elements, item_nbytes each (1, 2, 4, 8 or any other),
 * channels first. Bits are moved, never interpreted. in and out hold n_planes * cells * item_nbytes
 * bytes, aligned to the element size, and must not overlap.
 */
SYMAUG_API void symaug_move_planes(const symaug_board *board, uint32_t transform, const void *in,
                                   void *out, size_t n_planes, size_t item_nbytes);

/* Move one dense policy row of symaug_actions_length elements in the same way. */
SYMAUG_API void symaug_move_policy(const symaug_actions *actions, uint32_t transform,
                                   const void *in, void *out, size_t item_nbytes);

/* Move n move indices; negative ones stay. in and out may be the same. Returns 0, or -1 when an
 * index is not below symaug_actions_length (out is undefined then). */
SYMAUG_API int symaug_move_indices(const symaug_actions *actions, uint32_t transform,
                                   const int64_t *in, int64_t *out, size_t n);

/* The transform for sample number i of a run with this seed: uniform over all ids, the same on
 * every machine, in any order and from any thread. */
SYMAUG_API uint32_t symaug_random_transform(const symaug_board *board, uint64_t seed, uint64_t i);

#ifdef __cplusplus
}
#endif

#endif
