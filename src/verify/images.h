/*
 * images.h - is one row the image of another? Compared element by element through the dst map of
 * the transform that leads from the one to the other, by loops that `expand` has no part in.
 */
#ifndef SYMAUG_VERIFY_IMAGES_H
#define SYMAUG_VERIFY_IMAGES_H

#include "verify/lane.h"

/* What a comparison may look over. */
enum orbit_liberty {
    ORBIT_EXACT = 0,
    ORBIT_ON_BOARD_ONLY = 1, /* cells of the box that are not on board */
    ORBIT_NO_EXCHANGE = 2,   /* as if no plane took the place of another */
    ORBIT_NO_COMPLEMENT = 4, /* as if the to-move plane were copied */
    ORBIT_NO_FLIP = 8,       /* as if a colour swap left numbers alone */
    ORBIT_NO_PADDING = 16,   /* trailing entries of value 0 of a padded sparse row */
    ORBIT_SWAP_ANYWAY = 32,  /* as if the transform swapped colours, which it does not */
};

/* Whether the images of a lane are compared. */
static inline bool lane_is_compared(const struct lane *lane)
{
    return lane->is_mapped && !lane->is_broken;
}

/* Bit `cell` of plane p in a row of packed planes. */
static inline bool orbit_bit(const struct spec *spec, const uint8_t *row, uint64_t p, uint64_t cell)
{
    const uint8_t byte = row[p * ((spec->axis + 7) / 8) + cell / 8];

    return byte >> (spec->lsb_first ? cell & 7 : 7 - (cell & 7)) & 1;
}

/* Two rows of one lane. */
struct orbit_pair {
    const struct window *window;
    const struct lanes *lanes;
    size_t lane;
    uint64_t base, image; /* positions in the window */
    uint64_t channel;     /* compare channel - 1 of AXIS arrays only; 0: all */
};

/* True when the row at `image` is the row at `base` under transform u. */
bool orbit_same(const struct orbit_pair *pair, uint32_t u, unsigned liberties);

/* --- parts of it --- */

/* The n elements at b are those at a with the colours swapped; 1 - a within one unit in the last
 * place of 1. */
bool orbit_is_flipped(enum label_op flip, const struct dtype *dtype, const uint8_t *a,
                      const uint8_t *b, uint64_t n);

/* How the bits of planes lie, and where they go. */
struct orbit_bits {
    uint64_t n;              /* of a plane; it takes (n + 7) / 8 bytes */
    const uint32_t *dst;     /* n: where each bit stands in the image; NULL: in place */
    const uint8_t *on_board; /* n: which ones count; NULL: all */
    bool lsb_first;          /* in a byte */
};

/* Whether all bits that count of `plane` are those of `image`, or, inverted, are not. */
bool orbit_same_bits(const struct orbit_bits *bits, const uint8_t *plane, const uint8_t *image,
                     bool inverted);

/* Whether the bits behind the last one are 0. */
bool orbit_no_pad_bits(const struct orbit_bits *bits, const uint8_t *plane);

#endif
