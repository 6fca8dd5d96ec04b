/*
 * takeiteasy.h - what Take It Easy has beyond cells and transforms: planes of 5 x 5.
 *
 * The 19 cells form no box. A network's planes have shape (N, C, 5, 5): every cell has a place in
 * them, six places are unused and stay in place. A transform is no symmetry of that square: move
 * place grid_cells[i] to place grid_cells[dst[i]].
 */
#ifndef SYMAUG_BOARD_TAKEITEASY_H
#define SYMAUG_BOARD_TAKEITEASY_H

#include <stdint.h>

#define TAKEITEASY_N_CELLS    19
#define TAKEITEASY_GRID_SIDE  5
#define TAKEITEASY_N_NUMBERS  3
#define TAKEITEASY_N_LINES    15
#define TAKEITEASY_LINES_EACH 5 /* line i carries number i / 5 of the tiles on it */

#endif
