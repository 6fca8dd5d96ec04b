/*
 * families.h - what the sources of src/board share: the rows of the registry, layouts, and the
 * functions that build boards.
 *
 * A function that builds a board fills in its cells, dst maps, names and edges, and leaves the rest
 * to board_new. On failure it returns -1; board_new frees what there is.
 */
#pragma once

#include "base/bytes.h"
#include "board/actions.h"

/* KataGomo's games, in KataGo's shards: name, box, description. */
/* clang-format off */
#define KATAGOMO_GAMES(row)                                            \
    row(hex, box_katago_hex, "Hex, 4 transforms, two of which swap colours") \
    row(hexgo, box_katago_hexgo, "HexGo, 4 transforms")                           \
    row(gomoku, board_box_square, "Gomoku, 8 transforms")                         \
    row(renju, board_box_square, "Renju, 8 transforms")                           \
    row(caro, board_box_square, "Caro, 8 transforms")                             \
    row(connect6, board_box_square, "Connect Six, 8 transforms")                  \
    row(reversi, board_box_square, "Reversi, 8 transforms")                       \
    row(ataxx, board_box_square, "Ataxx, 8 transforms")                           \
    row(amazons, board_box_square, "Amazons, 8 transforms")                       \
    row(nogo, board_box_square, "NoGo, 8 transforms")                             \
    row(capturego, board_box_square, "Capture-Go, 8 transforms")                  \
    row(lifego, board_box_square, "Life-and-death Go, 8 transforms")              \
    row(ultimate, board_box_square, "Ultimate Tic-tac-toe, 8 transforms")         \
    row(dotsandboxes, board_box_square, "Dots and Boxes, 8 transforms")           \
    row(breakthrough, box_katago_mirror, "Breakthrough, 2 transforms")            \
    row(connect4, box_katago_mirror, "Connect Four, 2 transforms")
/* clang-format on */

/* The registry: all families, in the order in which `symaug boards` lists them. */
#define BOARD_FAMILIES(row, game)                                                            \
    row(hexagon) row(square) row(rhombus) row(grid) row(mirror) row(chess) row(breakthrough) \
        row(takeiteasy) row(katago) KATAGOMO_GAMES(game) row(file)

#define BOARD_DECLARE_FAMILY(id)           extern const struct board_family board_family_##id;
#define BOARD_DECLARE_GAME(id, form, what) BOARD_DECLARE_FAMILY(katago_##id)
BOARD_FAMILIES(BOARD_DECLARE_FAMILY, BOARD_DECLARE_GAME)

/* --- layouts --- */

/* An action is a cell of the box, or an on-board cell where these differ; perhaps a pass follows.
 */
extern const struct action_layout action_layout_cells, action_layout_cells_pass;
extern const struct action_layout action_layout_cells_box, action_layout_cells_box_pass;
extern const struct action_layout action_layout_cells_board, action_layout_cells_board_pass;

extern const struct action_layout action_layout_columns; /* pieces drop into them (Connect 4) */
extern const struct action_layout action_layout_moves;   /* from * cells + to */
extern const struct action_layout action_layout_breakthrough;
extern const struct action_layout action_layout_file; /* the actions of a board file */
/* RingRift's, on hexagons and on squares of 8 and 19. */
extern const struct action_layout action_layout_ringrift_hexagon, action_layout_ringrift_square;

/* The layouts of a family, for its table; those of cells come in pairs. */
#define BOARD_CELLS &action_layout_cells, &action_layout_cells_pass
#define BOARD_LAYOUTS(...)                                                    \
    .layouts = (const struct action_layout *const[]){__VA_ARGS__},            \
    .n_layouts = sizeof((const struct action_layout *const[]){__VA_ARGS__}) / \
                 sizeof(struct action_layout *)

/* The layouts of chess. */
#define CHESS_N_LAYOUTS 17
extern const struct action_layout *const chess_layouts[CHESS_N_LAYOUTS];

/* --- building boards --- */

/* Give b n_cells cells (at most BOARD_MAX_CELLS, which the reader of a size checks), all on board,
 * n_transforms unnamed identities, and room for BOARD_MAX_TRANSFORMS + 2 transforms, those after
 * n_transforms without maps. */
int board_alloc_cells(struct board *b, uint32_t n_cells, uint32_t n_transforms, struct error *err);

/* The size of all maps of a transform in bytes. */
static inline size_t board_maps_nbytes(const struct board *b)
{
    return ((size_t)b->n_cells + b->n_planes + b->n_actions + b->n_numbers) * sizeof(uint32_t);
}

/* Replace the maps of transform t with new ones that leave everything in place. */
int board_alloc_maps(const struct board *b, uint32_t t, struct error *err);

/* Free what a transform owns and reset it; accepts one without maps. */
void board_release_transform(struct board_transform *t);

/* Set or replace a text that a board owns, such as a name, printf-style. */
int board_set_text(char **owned, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The linear part of a transform of a box, on (row, col) measured from the centre of the box:
 * row' = rr * row + rc * col, col' = cr * row + cc * col.
 */
struct board_turn {
    int rr, rc, cr, cc;
};

static inline struct board_step board_turned(const struct board_turn *turn, struct board_step step)
{
    return (struct board_step){turn->rr * step.rows + turn->rc * step.cols,
                               turn->cr * step.rows + turn->cc * step.cols};
}

/* Fill dst with where a turn about the middle of the board takes its cells. False when some leave
 * the board, or cells have no coordinates. */
bool board_turn_cells(const struct board *b, const struct board_turn *turn, uint32_t *dst);

/* A transform of a box. */
struct board_element {
    const char *name;
    struct board_turn turn;
    bool swaps_colours;
};

/* What boards with a box are made of. */
struct board_box {
    struct board_element elements[12]; /* by id, the identity first */
    uint32_t n_elements;
    const struct board_step *steps; /* to neighbours; only one of two opposite steps */
    uint32_t n_steps;

    /* Sizes: N from min_rows to max_size; or, if max_size is 0, HxW of at least min_rows and
     * min_cols. */
    uint32_t min_rows, min_cols, max_size;

    bool is_hexagon; /* of radius b->size; all other cells of the box are off board */
};

extern const struct board_box board_box_square, board_box_hexagon;

/* The box with the turns and mirrors that a board from a file may have. */
static inline const struct board_box *board_turns_of(const struct board *b)
{
    return b->is_hexagonal ? &board_box_hexagon : &board_box_square;
}

/* Build a board of a family with a box from the size after "NAME:", which is ignored where the size
 * is fixed. NULL, text that is not a size, and a size out of range are ERROR_USAGE. */
int board_build_box(struct board *b, const char *size, struct error *err);

/* A cell as "(row,col)", or as "cell 7" on a board without a box. */
static inline struct text_quoted board_cell_text(const struct board *b, uint32_t cell)
{
    return b->cols == 0 ? text_format("cell %u", cell)
                        : text_format("(%u,%u)", cell / b->cols, cell % b->cols);
}

/* --- boards from files --- */

/* Build a board from the file at path; or, where text is not NULL, from the text of one, with path
 * as its name if the text gives none. A bad board file is ERROR_DATA. */
int board_build_custom(struct board *b, const char *path, const char *text, struct error *err);

#define CUSTOM_MAX_DIMS 4

/* A board file being read: custom.c reads names and transforms, custom_shape.c cells, edges, lines
 * and colours. */
struct custom {
    const char *path;                       /* borrowed, for messages */
    struct error *err;                      /* borrowed */
    struct board *board;                    /* borrowed; transform 0 is the identity */
    size_t text_nbytes;                     /* of board->file_text */
    struct json_t *root;                    /* owned: the file's object */
    const char *label;                      /* borrowed from root: the board's name, or NULL */
    bool is_generated;                      /* the listed transforms are generators */
    uint8_t *marked;                        /* owned scratch, a byte for each cell */
    uint32_t n_coloured;                    /* cells of all colours so far */
    uint32_t n_dims, dims[CUSTOM_MAX_DIMS]; /* of the shape; two dimensions are rows and columns */
};

/* Set ERROR_DATA "PATH: ..."; the value is -1. */
#define custom_refuse(c, ...) \
    error_set_at((c)->err, ERROR_DATA, &(const struct error_place){.shown = (c)->path}, __VA_ARGS__)

/* Store a whole number below limit; false when the value is not one. */
bool custom_read_index(const struct json_t *value, uint64_t limit, uint32_t *index);

/* Read the shape, that is cells and the identity, then which cells are on board, edges, lines and
 * colours. */
int custom_parse_cells(struct custom *c);
