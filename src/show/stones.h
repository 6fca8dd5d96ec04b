/*
 * stones.h - from planes to pieces on cells, as the programs for each game write them.
 */
#ifndef SYMAUG_SHOW_STONES_H
#define SYMAUG_SHOW_STONES_H

#include "show/picture.h"
#include "show/planes.h"

/* Who is to move, as the row says; SIDE_NONE when it does not. */
enum picture_side stones_to_move(const struct plan *plan, const struct fields *fields);

/* Put the pieces of a row on the cells. */
int stones_read(const struct plan *plan, const struct fields *fields, struct picture *picture,
                struct error *err);

/* What the two sides of this board are called and look like. */
enum stones_style { STONES_BLUE_RED, STONES_OWN_THEIRS, STONES_FIRST_PLANES, STONES_CHESS };

enum stones_style stones_style_of(const struct plan *plan);

/* Do the planes look like RingRift's, whose stacks have heights? */
bool stones_are_stacks(const struct plan *plan);

#endif
