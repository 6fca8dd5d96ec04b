/*
 * families.h - what the sources of src/board share: the registry's rows, the helpers that build
 * functions are made of, and the layouts that more than one family lists.
 *
 * A build function calls board_build_box (or board_alloc_cells, and fills dst, names and edges),
 * and leaves the rest to board_new. On failure it just returns -1: board_new frees what there is.
 */
#ifndef SYMAUG_BOARD_FAMILIES_H
#define SYMAUG_BOARD_FAMILIES_H

#include "base/error.h"
#include "base/text.h"
#include "board/actions.h"
#include "board/board.h"

#include <stddef.h>
#include <stdint.h>

/* The registry: a row for each family, in the order in which they are listed. */
#define BOARD_FAMILIES(row)                                                                  \
    row(hexagon) row(square) row(rhombus) row(grid) row(mirror) row(chess) row(breakthrough) \
        row(takeiteasy) row(katago) row(file)

#define BOARD_DECLARE_FAMILY(id) extern const struct board_family board_family_##id;
BOARD_FAMILIES(BOARD_DECLARE_FAMILY)

/* Layouts for every family: the action is a cell (n_cells entries); the same with pass last. */
extern const struct action_layout action_layout_cells;
extern const struct action_layout action_layout_cells_pass;

/* The same where not the whole box is on board, under the names "cells-box" and "cells-box+pass",
 * and the layouts that count on-board cells only (hexagons). */
extern const struct action_layout action_layout_cells_box;
extern const struct action_layout action_layout_cells_box_pass;
extern const struct action_layout action_layout_cells_board;
extern const struct action_layout action_layout_cells_board_pass;

/* flags and cell of layouts in which every action is written and none belongs to a cell. */
unsigned action_always_encodable(const struct action_layout *layout, const struct board *board,
                                 uint64_t action);
int64_t action_without_cell(const struct action_layout *layout, const struct board *board,
                            uint64_t action);

/* RingRift's policy heads, on hexagons and on the squares 8 and 19. */
extern const struct action_layout action_layout_ringrift;

/* Make b a board of n_cells cells that form no box, with n_transforms identities without names.
 * More than BOARD_MAX_CELLS cells is ERROR_USAGE, more than BOARD_MAX_TRANSFORMS ERROR_DATA. */
int board_alloc_cells(struct board *b, uint32_t n_cells, uint32_t n_transforms, struct error *err);

/* The same with room for n_room transforms; a box must be set before. Transforms that are added
 * later have no maps yet. */
int board_alloc_transforms(struct board *b, uint32_t n_cells, uint32_t n_transforms,
                           uint32_t n_room, struct error *err);

/* Free what a transform owns; free transform t and move those behind it up. */
void board_release_transform(struct board_transform *t);
void board_remove_transform(struct board *b, uint32_t t);

/* Set the canonical name, printf-style. Without it board_new takes "FAMILY" or "FAMILY:SIZE". */
int board_set_name(struct board *b, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Set (or replace) the name of transform t with a copy. */
int board_set_transform_name(struct board *b, uint32_t t, const char *name, struct error *err);

/* Set default_ids to a copy. Without it board_new takes every transform. */
int board_set_default_ids(struct board *b, const uint8_t *ids, uint32_t n_ids, struct error *err);

/*
 * The linear part of a transform of a box, on (row, col) measured from the centre of the box:
 * row' = rr * row + rc * col, col' = cr * row + cc * col.
 */
struct board_turn {
    int rr, rc, cr, cc;
};

/* A transform of a box. */
struct board_element {
    const char *name;
    struct board_turn turn;
    bool swaps_colours;
};

/* What boards in a box are made of. */
struct board_box {
    const struct board_element *elements; /* by id: the identity first */
    uint32_t n_elements;
    const struct board_step *steps; /* to neighbours: of two opposite steps one */
    uint32_t n_steps;

    /* Which cells are on board of a hexagon of radius b->size; NULL: all. Others stay in place and
     * have no neighbours. */
    bool (*is_on_board)(const struct board *b, int row, int col);

    /* The sizes of a family of such boards: from min_rows to max_size, or if that is 0, HxW of at
     * least min_rows and min_cols. */
    uint32_t min_rows, min_cols, max_size;
};

/* Build the box with everything but the board's name. A turn that exchanges rows and columns needs
 * a square box. */
int board_build_box(struct board *b, uint32_t rows, uint32_t cols, const struct board_box *box,
                    struct error *err);

/* Boxes that several families have: all eight transforms of a square, the left-right mirror alone,
 * a hexagon; and steps to the four neighbours. */
extern const struct board_box board_box_square;
extern const struct board_box board_box_mirror;
extern const struct board_box board_box_hexagon; /* of radius b->size */
extern const struct board_step board_steps_orthogonal[2];

/* The build function of families with a box: the size after "NAME:" says how large it is. NULL,
 * text that is not a size, and sizes out of range are ERROR_USAGE, naming b->family. */
int board_build_sized(struct board *b, const char *size, struct error *err);

/* ERROR_USAGE unless size is NULL: for boards of one size. */
int board_parse_nothing(const struct board *b, const char *size, struct error *err);

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

/* Write a cell as "(row,col)", or as "cell 7" on a board without a box. */
void board_cell_text(const struct board *b, uint32_t cell, char *text, size_t n_bytes);

/* Write the known names nearest to an unknown one into text: "hex8, hex11", or "" if none is. */
void board_suggest(const char *name, char *text, size_t n_bytes);

#endif
