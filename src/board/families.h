/*
 * families.h - what the sources of src/board share: the registry's rows, the helpers that build
 * functions are made of, the layouts that more than one family lists, and a board's maps taken
 * jointly.
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
#define BOARD_FAMILIES(row)                                                                \
    row(hexagon) row(square) row(rhombus) row(grid) row(mirror) row(chess) row(takeiteasy) \
        row(katago) row(file)

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

    /* Which cells are on board; NULL: all. Others stay in place and have no neighbours. */
    bool (*is_on_board)(const struct board *b, int row, int col);
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

/*
 * Parse the size behind "NAME:", a number from min to max (b->size) or a box "HxW" of at least
 * min_rows and min_cols, and set the board's name. NULL, text that is no size, and sizes out of
 * range are ERROR_USAGE, naming b->family.
 */
int board_parse_number(struct board *b, const char *size, uint32_t min, uint32_t max,
                       struct error *err);
int board_parse_box(struct board *b, const char *size, uint32_t min_rows, uint32_t min_cols,
                    struct error *err);

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

/* --- the maps of a transform --- */

/* Parts with maps of their own. Only boards from a file have planes and actions. */
enum board_part { BOARD_CELLS, BOARD_PLANES, BOARD_ACTIONS, BOARD_N_PARTS };

static inline uint32_t *board_part_length(struct board *b, enum board_part part)
{
    return part == BOARD_CELLS ? &b->n_cells : part == BOARD_PLANES ? &b->n_planes : &b->n_actions;
}

static inline uint32_t **board_part_map(struct board_transform *t, enum board_part part)
{
    return part == BOARD_CELLS ? &t->dst : part == BOARD_PLANES ? &t->planes : &t->actions;
}

/*
 * A transform as one permutation of everything it moves: the cells, planes and actions of the
 * board, a tile's numbers, and the two colours.
 */
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

/* The map of transform t. */
static inline const uint32_t *joint_map(const struct joint *j, uint32_t t)
{
    return j->maps + (size_t)t * j->n_points;
}

/* What point i of a joint map is, "cell", "plane", "action", "number", "colour"; *first is the
 * first point of its kind. */
const char *joint_unit(const struct board *b, uint32_t i, uint32_t *first);

/* Put the product of a, then b, behind the last transform; it counts when n_transforms is raised.
 */
int joint_try_product(struct joint *j, uint32_t a, uint32_t b, struct error *err);

/* The transform with that map, or -1. */
int joint_find(const struct joint *j, const uint32_t *map);

/* Give a transform its maps and colours from joint map t. */
int joint_split(const struct joint *j, uint32_t t, struct board_transform *to, struct error *err);

/* The first pair of equal transforms. Returns 1 and fills a < b, or 0 when all differ. */
int joint_find_equal(const struct joint *j, uint32_t *a, uint32_t *b);

/* The transform that equals a followed by b, or -1 when the set has none. */
int joint_product(const struct joint *j, uint32_t a, uint32_t b);

/* "cell (0,1) goes to (3,4)", flat "cell 1 goes to 14": the first thing that a joint map, or two,
 * one after the other (else NULL), move. */
struct text_quoted joint_move_text(const struct joint *j, const uint32_t *first,
                                   const uint32_t *then, bool flat);

/* --- edges and lines, sorted so that images can be looked up --- */

/* A line as a set: its cells in ascending order. */
struct relations_line {
    const uint32_t *cells; /* borrowed from relations.cells */
    uint32_t n_cells;
};

struct relations {
    const struct board *board;    /* borrowed */
    uint64_t *edges;              /* owned, board->n_edges keys, ascending */
    struct relations_line *lines; /* owned, board->n_lines, ascending */
    uint32_t *cells;              /* owned: the cells of all lines, ascending in each */
    uint32_t *scratch;            /* owned: room for the image of a line */
};

int relations_init(struct relations *r, const struct board *board, struct error *err);

/* Free it; accepts a zeroed one. */
void relations_release(struct relations *r);

/* How many edges a cell map takes to edges. *lost is the index of the first it does not. */
uint32_t relations_edges_kept(const struct relations *r, const uint32_t *dst, uint32_t *lost);

/* How many lines a cell map takes to lines, as sets of cells. *lost as above. */
uint32_t relations_lines_kept(struct relations *r, const uint32_t *dst, uint32_t *lost);

#endif
