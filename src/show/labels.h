/*
 * labels.h - what a row says beside its planes and policy: values, the player to move, tiles, and
 * cells that coordinates and actions point to.
 */
#ifndef SYMAUG_SHOW_LABELS_H
#define SYMAUG_SHOW_LABELS_H

#include "show/fields.h"
#include "show/picture.h"

/* The name of a side on this board: "blue". */
const char *labels_side_name(const struct plan *plan, enum picture_side side);

/* What else there is to say of this board's pieces, or NULL. */
const char *labels_pieces(const struct plan *plan);

/* Append a line to the caption and mark cells. */
int labels_read(const struct plan *plan, const struct fields *fields, struct picture *picture,
                struct error *err);

/* The cell that an array of coordinates or actions points to, or -1. */
int64_t labels_cell_of(const struct plan *plan, size_t i, const struct field *field);

#endif
