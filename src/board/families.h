/*
 * families.h - what the families of boards share: their registry rows, the helpers their build
 * functions are made of, and the layouts that more than one of them lists.
 *
 * A build function calls board_alloc (or board_alloc_cells), fills dst, names and edges, and
 * leaves the rest to board_new. On failure it just returns -1: board_new frees what there is.
 */
#ifndef SYMAUG_BOARD_FAMILIES_H
#define SYMAUG_BOARD_FAMILIES_H

#include "base/error.h"
#include "board/actions.h"
#include "board/board.h"

#include <stddef.h>
#include <stdint.h>

extern const struct board_family board_family_hexagon;
extern const struct board_family board_family_square;
extern const struct board_family board_family_rhombus;
extern const struct board_family board_family_grid;
extern const struct board_family board_family_mirror;
extern const struct board_family board_family_chess;
extern const struct board_family board_family_takeiteasy;
extern const struct board_family board_family_katago;
extern const struct board_family board_family_file;

/* Layouts for every family: the action is a cell (n_cells entries); the same with pass last. */
extern const struct action_layout action_layout_cells;
extern const struct action_layout action_layout_cells_pass;

/* The same where not the whole box is on board, under the names "cells-box" and "cells-box+pass",
 * and the layouts that count on-board cells only (hexagons). */
extern const struct action_layout action_layout_cells_box;
extern const struct action_layout action_layout_cells_box_pass;
extern const struct action_layout action_layout_cells_board;
extern const struct action_layout action_layout_cells_board_pass;

/* RingRift's policy heads, on hexagons and on the squares 8 and 19. */
extern const struct action_layout action_layout_ringrift;

/*
 * Make b a box of rows x cols cells with n_transforms transforms: every cell on board, every
 * dst map and number map the identity, src allocated, names missing. More than BOARD_MAX_CELLS
 * cells is ERROR_USAGE, more than BOARD_MAX_TRANSFORMS transforms ERROR_DATA.
 */
int board_alloc(struct board *b, uint32_t rows, uint32_t cols, uint32_t n_transforms,
                struct error *err);

/* The same for n_cells cells that form no box (rows and cols are 0). */
int board_alloc_cells(struct board *b, uint32_t n_cells, uint32_t n_transforms, struct error *err);

/* Set the canonical name, printf-style. Without it board_new takes "FAMILY" or "FAMILY:SIZE". */
int board_set_name(struct board *b, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Set (or replace) the name of transform t with a copy. */
int board_set_transform_name(struct board *b, uint32_t t, const char *name, struct error *err);

/* Name all transforms from a table of n_transforms names. */
int board_set_transform_names(struct board *b, const char *const *names, struct error *err);

/* Set default_ids to a copy. Without it board_new takes every transform. */
int board_set_default_ids(struct board *b, const uint8_t *ids, uint32_t n_ids, struct error *err);

/*
 * The linear part of a transform of a box, on (row, col) measured from the centre of the box:
 * row' = rr * row + rc * col, col' = cr * row + cc * col.
 */
struct board_turn {
    int rr, rc, cr, cc;
};

/* Fill dst of transform t from its linear part. A turn that exchanges rows and columns needs a
 * square box. */
void board_set_turn(struct board *b, uint32_t t, const struct board_turn *turn);

/*
 * Add the edges of a box: every on-board cell with each on-board neighbour one step away. Of two
 * opposite steps list one. board_steps_orthogonal has 2 entries, (0, 1) and (1, 0).
 */
int board_set_edges(struct board *b, const struct board_step *steps, size_t n_steps,
                    struct error *err);
extern const struct board_step board_steps_orthogonal[2];

/*
 * Parse the size behind "NAME:", a number from min to max or a box "HxW" of at least min_rows and
 * min_cols. NULL, text that is no size, and sizes out of range are ERROR_USAGE, naming b->family.
 */
int board_parse_number(const struct board *b, const char *size, uint32_t min, uint32_t max,
                       uint32_t *number, struct error *err);
int board_parse_box(const struct board *b, const char *size, uint32_t min_rows, uint32_t min_cols,
                    uint32_t *rows, uint32_t *cols, struct error *err);

/* A board from a file, from the file's text instead: label is its name where the text gives none.
 */
int board_build_from_text(struct board *b, const char *label, const char *text, struct error *err);

/* True for a square box, and a policy of its cells with or without pass, or none. */
static inline bool board_seen_is_square(const struct board_seen *seen)
{
    const uint64_t n_cells = seen->rows * seen->cols;

    return seen->rows == seen->cols &&
           (seen->n_actions == 0 || seen->n_actions == n_cells || seen->n_actions == n_cells + 1);
}

/* The linear parts of square:N's transforms, by id. */
extern const struct board_turn board_square_turns[8];

/* The geometry of square:N (box, D4, names, edges; b->size = n), for families on the same board. */
int board_build_square(struct board *b, uint32_t n, struct error *err);

/* The geometry of mirror:HxW (box, left-right mirror, names, edges). */
int board_build_mirror(struct board *b, uint32_t rows, uint32_t cols, struct error *err);

/* Write a cell as "(row,col)", or as "cell 7" on a board without a box. */
void board_cell_text(const struct board *b, uint32_t cell, char *text, size_t n_bytes);

/* Write the known names nearest to an unknown one into text: "hex8, hex11", or "" if none is. */
void board_suggest(const char *name, char *text, size_t n_bytes);

#endif
