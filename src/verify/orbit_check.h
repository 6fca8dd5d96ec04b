/*
 * orbit_check.h - is one row the image of another? Compared element by element through the dst map
 * of the transform that leads from the one to the other.
 */
#ifndef SYMAUG_VERIFY_ORBIT_CHECK_H
#define SYMAUG_VERIFY_ORBIT_CHECK_H

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

#endif
