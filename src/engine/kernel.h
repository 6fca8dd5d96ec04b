/*
 * kernel.h - moving rows: one const description per array, applied to any row by any thread.
 *
 * Bits are moved, never interpreted, except where a colour swap computes a label. No mutable state
 * and no OpenMP: safe to call from any thread and after fork.
 */
#ifndef SYMAUG_ENGINE_KERNEL_H
#define SYMAUG_ENGINE_KERNEL_H

#include "base/error.h"
#include "board/board.h"
#include "engine/label.h"
#include "engine/order.h"
#include "npy/dtype.h"

#include <stdbool.h>
#include <stdint.h>

enum move_kind {
    MOVE_COPY,    /* the row as it is */
    MOVE_GATHER,  /* out[o][j][i] = in[plane_src[o]][src[j]][plane_src[i]] */
    MOVE_BITS,    /* the same over packed bits, one plane per outer element */
    MOVE_INDEX,   /* integers: new = dst[old]; negative ones stay */
    MOVE_PADDED,  /* the same for a padded sparse row: needs the values beside the indices */
    MOVE_COORD,   /* (row, col) pairs of integers; negative ones stay */
    MOVE_NUMBERS, /* Take It Easy: a tile's three numbers */
    MOVE_CODES,   /* Take It Easy: gather, and permute the digits of non-zero codes */
};

/* What one transform does to the rows of one array. NULL maps are identities. */
struct move_step {
    const uint32_t *src;       /* borrowed, axis entries: gather */
    const uint32_t *dst;       /* borrowed, n_actions or n_cells entries: scatter */
    const uint32_t *plane_src; /* borrowed, one per plane: where plane p comes from */
    enum label_op label;       /* applied to the moved elements */
    int label_plane;           /* only this plane's elements (to-move plane); -1: all */
    uint8_t number_src[3];
};

struct row_move {
    enum move_kind kind;
    struct dtype dtype;
    uint64_t row_nbytes;
    uint64_t outer, axis, inner; /* elements of a row = outer * axis * inner (GATHER, BITS: axis in
                                    bits, a plane takes (axis + 7) / 8 bytes) */
    bool channels_last;          /* planes are the inner elements */
    bool lsb_first;              /* BITS */
    bool col_first;              /* COORD */
    uint32_t cols;               /* COORD: of the box */
    uint64_t n_targets;          /* INDEX, PADDED: length of dst; COORD: cells */
    struct dtype value_dtype;    /* PADDED: of the values beside the indices */
    uint64_t value_row_nbytes;   /* PADDED */
    struct move_step *steps;     /* owned, one per transform of the board */
    uint32_t n_steps;
    uint32_t *axis_maps;  /* owned: maps made for this array alone, or NULL */
    uint32_t *plane_maps; /* owned: storage of plane_src, or NULL */
};

/*
 * Apply transform t to one row. `values` is the row of the paired value array (PADDED only, else
 * NULL). in and out must not overlap; both hold row_nbytes, and are aligned to the item size.
 * ERROR_DATA when an index lies outside the action space: the message is the reason alone
 * ("index 91876, expected below 91876").
 */
int kernel_row(const struct row_move *move, uint32_t t, const void *in, const void *values,
               void *out, struct error *err);

/* The same for n rows in a row: what a map costs to prepare is paid once. *failed is the row that
 * an error is about, counted from 0. */
int kernel_rows(const struct row_move *move, uint32_t t, const void *in, const void *values,
                void *out, uint64_t n, uint64_t *failed, struct error *err);

/* Move n integer indices (of a sparse row, as they come: order and duplicates are kept). */
int kernel_indices(const struct row_move *move, uint32_t t, const struct dtype *dtype,
                   const void *in, void *out, uint64_t n, struct error *err);

/* Free what a move owns; accepts a zeroed one. */
void row_move_release(struct row_move *move);

#endif
