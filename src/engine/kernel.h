/*
 * kernel.h - moving rows: the spec of an array applied to rows of it.
 *
 * Bits are moved, never interpreted, except where a colour swap computes a label. There is no
 * mutable state and no OpenMP: all functions may be called from any thread, and after fork.
 */
#pragma once

#include "shard/spec.h"

/*
 * Apply transform t to one row. `values` is the row of the paired value array (PADDED only, else
 * NULL). in and out hold row_nbytes each, are aligned to the item size, and must not overlap.
 * ERROR_DATA for an index outside the action space, a coordinate off the board, or a code that is
 * no tile; the message is the reason alone ("index 91876, expected below 91876").
 */
int kernel_row(const struct spec *spec, uint32_t t, const void *in, const void *values, void *out,
               struct error *err);

/* The same for n consecutive rows, which share the preparation of the map. On an error *failed is
 * the row that it is about, counted from 0. */
int kernel_rows(const struct spec *spec, uint32_t t, const void *in, const void *values, void *out,
                uint64_t n, uint64_t *failed, struct error *err);

/* Move n integer indices of a sparse row; their order is kept, and so are duplicates and negative
 * numbers. */
int kernel_indices(const struct spec *spec, uint32_t t, const struct dtype *dtype, const void *in,
                   void *out, uint64_t n, struct error *err);

/*
 * --- the gather ---
 *
 * Moving planes, out[p][j] = in[p][src[j]], for elements of 1, 2, 4 and 8 bytes and for packed
 * bits. Most variants have to prepare a map before they can use it, so planes come in tiles: as
 * many planes under one map as fit into the first-level cache. Variants differ in speed only, never
 * in a bit, and read and write nothing outside the planes.
 */

#define GATHER_TILE_PLANES 256

/* Planes moved by one call. */
struct gather_tile {
    const uint32_t *src; /* n entries below n, which is at most INT32_MAX */
    const uint32_t *dst; /* its inverse: of packed bits only */
    size_t n;            /* elements of a plane */
    size_t plane_nbytes; /* for moves that do not know the size of an element */
    size_t n_planes;     /* at most GATHER_TILE_PLANES */
    uint8_t *out;        /* the moved planes, one after another; overlaps no source */
    bool lsb_first;      /* packed bits: cell 0 is the lowest bit of byte 0, not the highest */
    const uint8_t *from[GATHER_TILE_PLANES];
};

typedef void gather_fn(const struct gather_tile *tile);

enum gather_width { GATHER_8, GATHER_16, GATHER_32, GATHER_64, GATHER_BITS, GATHER_N_WIDTHS };

/* The gathers of one instruction set. Planes of elements are aligned to the element; a plane of
 * packed bits takes (n + 7) / 8 bytes, and the pad bits of the output are 0. */
struct gather_kernels {
    const char *name;
    bool (*is_supported)(void);
    gather_fn *move[GATHER_N_WIDTHS];
};

/* Best first; the last row is plain C and is supported everywhere. */
extern const struct gather_kernels gather_kernels_table[];
extern const size_t gather_kernels_n_table;

const struct gather_kernels *gather_kernels_best(void);
