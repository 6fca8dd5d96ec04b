/*
 * images.h - what `expand` takes from the keys of positions: the canonical image of each row as the
 * only one, and the key itself as an array.
 */
#ifndef SYMAUG_POSITIONS_IMAGES_H
#define SYMAUG_POSITIONS_IMAGES_H

#include "engine/plan.h"

/* What --canonical and --orbit-key ask of a plan that is built for all images. */
int images_of_keys(struct plan *plan, const struct settings *settings, struct error *err);

/* The row of an array of keys: high and low half, little-endian. */
#define KEY_ROW_NBYTES 16

#endif
