/*
 * joint.h - a transform as one permutation of everything it moves: the cells, planes and actions
 * of the board, a tile's numbers, and the two colours. Only src/board uses this.
 */
#ifndef SYMAUG_BOARD_JOINT_H
#define SYMAUG_BOARD_JOINT_H

#include "base/error.h"
#include "base/text.h"
#include "board/board.h"

#include <stdint.h>

struct joint {
    const struct board *board; /* borrowed */
    uint32_t n_points;
    uint32_t n_transforms;
    uint32_t *maps; /* owned, n_transforms x n_points: point i goes to maps[t * n_points + i] */
    uint32_t *base; /* owned, n_base points whose images tell any two transforms apart */
    uint32_t n_base;
};

/* What is wrong with the maps of transform t, "cells 3 and 5 both go to 7", or an empty text.
 * Returns -1 when there is no memory. */
int joint_fault(const struct board *board, uint32_t t, struct text_quoted *fault,
                struct error *err);

/* Join the maps of all transforms, none of which may have a fault. */
int joint_init(struct joint *j, const struct board *board, struct error *err);

/* Free it; accepts a zeroed one. */
void joint_release(struct joint *j);

/* The first pair of equal transforms. Returns 1 and fills a < b, or 0 when all differ. */
int joint_find_equal(const struct joint *j, uint32_t *a, uint32_t *b);

/* The transform that equals a followed by b, or -1 when the set has none. */
int joint_product(const struct joint *j, uint32_t a, uint32_t b);

/* "cell (0,1) goes to (3,4)": the first thing that t, or a followed by b, moves. */
struct text_quoted joint_moved_text(const struct joint *j, uint32_t t);
struct text_quoted joint_product_text(const struct joint *j, uint32_t a, uint32_t b);

#endif
