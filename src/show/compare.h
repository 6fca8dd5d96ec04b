/*
 * compare.h - a stored image against the one that is recomputed: on which cells do they differ?
 */
#ifndef SYMAUG_SHOW_COMPARE_H
#define SYMAUG_SHOW_COMPARE_H

#include "show/fields.h"
#include "show/picture.h"

/*
 * Mark the cells of the picture on which any array differs, and name the arrays in its faults.
 * u is the transform that the recomputed row was made with: numbers that a swap of colours computes
 * may differ by their last bit.
 */
int compare_rows(const struct plan *plan, const struct fields *stored,
                 const struct fields *recomputed, uint32_t u, struct picture *picture,
                 struct error *err);

#endif
