/*
 * group.h - the group of a board's transforms: tables, closure, and the proof that it is one.
 */
#ifndef SYMAUG_BOARD_GROUP_H
#define SYMAUG_BOARD_GROUP_H

#include "base/error.h"
#include "base/text.h"
#include "board/board.h"

/*
 * Fill src, compose and inverse from the transforms' dst maps, colour flags, plane maps, action
 * maps and number maps taken jointly. A map that is no permutation, a missing identity, two equal
 * transforms, or a product that is not in the set is ERROR_DATA, naming transform, cell and reason.
 */
int group_complete(struct board *board, struct error *err);

/*
 * Write the whole report of a board: order of each map, closure, inverses, composition, action
 * layouts (each a group action), and, where the board has them, edges and lines kept. Goes on
 * after a failure. *ok is false when any check failed. Returns -1 only when there is no memory.
 */
int group_report(const struct board *board, struct text *report, bool *ok, struct error *err);

#endif
