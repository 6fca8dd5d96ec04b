/*
 * shape.h - where the cells of a board are drawn: squares, hexagons, or a row of cells.
 *
 * Lengths are in distances between neighbours; x grows to the right, y downwards. The drawing of
 * every image of a position has the same shape: only what stands on the cells moves.
 */
#ifndef SYMAUG_SHOW_SHAPE_H
#define SYMAUG_SHOW_SHAPE_H

#include "base/error.h"
#include "board/board.h"

#include <stdbool.h>
#include <stdint.h>

enum shape_form { SHAPE_SQUARES, SHAPE_HEXAGONS };

#define SHAPE_MAX_CORNERS 6
#define LINE_OF_HEXAGONS  0.86602540378443865 /* between them: half the square root of 3 */

struct shape_point {
    double x, y;
};

/* A place in a text: half columns, so that lines of hexagons can be shifted by half a cell. */
struct shape_place {
    int32_t line, half;
};

struct shape {
    const struct board *board; /* borrowed */
    enum shape_form form;
    struct shape_point *centres;    /* owned, one per cell of the box */
    struct shape_place *places;     /* owned, from 0 on */
    struct shape_point least, most; /* the box around all cells that are drawn */
    int32_t n_lines, n_halves;
    uint32_t first, second; /* the ends of the top line: first is where the mark F stands */
};

/* Place the cells. The caller releases it. */
int shape_init(struct shape *shape, const struct board *board, struct error *err);
void shape_release(struct shape *shape);

/* The corners of a cell, measured from its centre, clockwise from the upper left one (hexagons:
 * from the top). Returns how many. */
size_t shape_corners(const struct shape *shape, struct shape_point corners[SHAPE_MAX_CORNERS]);

/* The linear part of a move of the plane: x' = xx * x + xy * y, y' = yx * x + yy * y. */
struct shape_turn {
    double xx, xy, yx, yy;
};

/* How transform t turns the drawing. False when its cells do not move like a figure in the plane
 * (boards from a file); then *turn is the identity. */
bool shape_turn_of(const struct shape *shape, uint32_t t, struct shape_turn *turn);

#endif
