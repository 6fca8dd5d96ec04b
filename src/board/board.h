/*
 * board.h - a board: its cells, its group of transforms, and the registry that names it.
 *
 * A cell has a flat index row * cols + col, row 0 on top. Boards without a rectangle (rows == 0)
 * number their cells 0..n_cells-1. Every map covers the whole box: off-board cells stay in place,
 * so every map is a permutation and groups close on the box.
 *
 * A board is built once and const from then on; it may be shared between threads.
 */
#pragma once

#include "base/error.h"

#define BOARD_MAX_TRANSFORMS 255
#define BOARD_MAX_CELLS      65536 /* rows * cols of the largest board that is accepted */

struct action_layout;
struct board;
struct board_box;
struct board_element;

/* One element of a board's group. Its id is its index in board->transforms. */
struct board_transform {
    char *name;         /* owned: "rotate-60", "transpose-swap"; unique on the board, no spaces */
    bool swaps_colours; /* also exchanges the two colours (the game of Hex) */
    uint32_t *dst;      /* owned, n_cells: cell i goes to dst[i]; then planes and actions */
    uint32_t *src;      /* owned, n_cells: inverse of dst, cell j comes from src[j] */
    uint64_t hash;      /* of all maps, for group.c */

    /* Within dst, or NULL where the board has none: plane or action i goes to [i]. */
    uint32_t *planes;  /* board->n_planes entries */
    uint32_t *actions; /* board->n_actions entries */

    /* For a board from a file, where cells have rows and columns: the turn or mirror of its box
     * that moves cells so, or NULL. */
    const struct board_element *turn;

    /* Take It Easy: new[k] = old[number_src[k]] on a tile's three numbers; {0,1,2} elsewhere. */
    uint8_t number_src[3];
};

/* Who may have more stones, where planes 0 and 1 hold the stones of the two players. */
enum board_lead {
    BOARD_LEAD_NONE,     /* they are not known to hold stones */
    BOARD_LEAD_FREE,     /* they do; anybody may have more */
    BOARD_LEAD_BALANCED, /* nobody has two more than the other */
    BOARD_LEAD_TO_MOVE,  /* the player to move has as many as the other, or one less */
};

/* What is played on boards of a family, for samples. */
enum board_game {
    BOARD_GAME_STONES = 1, /* stones fall on free cells */
    BOARD_GAME_GO,         /* the same, with a pass in the policy */
    BOARD_GAME_LINE,       /* so many stones in a line win */
    BOARD_GAME_DROP,       /* the same, and stones fall to the bottom */
    BOARD_GAME_HEX,
    BOARD_GAME_RINGS, /* RingRift's stacks */
    BOARD_GAME_CHESS,
    BOARD_GAME_OTHELLO, /* the first of those that play_men.c has, to Bridg-It */
    BOARD_GAME_BREAKTHROUGH,
    BOARD_GAME_LIBERTIES, /* Go by its rules, on any board */
    BOARD_GAME_GONNECT,   /* Go, won by joining opposite sides */
    BOARD_GAME_HAVANNAH,
    BOARD_GAME_Y,
    BOARD_GAME_BRIDGES,  /* Bridg-It */
    BOARD_GAME_TILES,    /* Take It Easy */
    BOARD_GAME_KATAGO,   /* Go, in KataGo's shards */
    BOARD_GAME_KATAGOMO, /* another game, in shards of the same members */
};

/* Cells of the largest board on which games are played whose positions are kept for each ply. */
#define BOARD_GAME_MAX_CELLS 400

/* What the shapes of a shard's arrays show; 0 where they do not. */
struct board_seen {
    uint64_t n_planes, rows, cols, n_actions;
    bool is_ringrift; /* by its policy_encoding */
    bool any_planes;  /* boards with other numbers of planes are meant, too */
};

/* Rights to castle: king's side, queen's side, and the other player's, each a plane. */
struct board_castling {
    uint32_t n_planes;  /* of a position whose castling planes need not be told */
    uint32_t planes[4]; /* of such a position */
};
extern const struct board_castling board_castling_usual; /* of 25 planes, as chess has it */

/* A family of boards is a row of BOARD_FAMILIES in families.h. What its boards have beyond cells,
 * transforms and actions are fields, which are 0 where a family is like most: nobody asks for a
 * family by its name. */
struct board_family {
    const char *name;    /* "hexagon" */
    const char *syntax;  /* "hexagon:R" */
    const char *summary; /* one line for `symaug boards` */
    const char *example; /* a name of a small board of this family, for help and tests */

    const struct board_box *box; /* what its boards are made of; NULL: a file describes them */
    uint32_t fixed_size;         /* R or N where names have no size, else 0 */

    /* Policy layouts of this family, in the order in which a length is tried. */
    const struct action_layout *const *layouts;
    size_t n_layouts;

    /* How likely a box is one of this family's among other families' boards, 1 most to 3; 0: it is
     * not guessed. Where numbers of planes are given, only with one of them. */
    unsigned guess_rank;
    uint32_t guess_planes[3];

    /* --- planes --- */

    enum board_lead lead; /* a preset may know more: see board->lead */

    /* The game of Hex: the first player joins top and bottom, the second left and right. Of three
     * planes the last is the player to move; OpenSpiel's nine are known. */
    bool joins_edges;

    const struct board_castling *castling; /* NULL: no castling, every transform is exact */
    const struct action_layout *xy_layout; /* with such a policy, planes are [c][x][y], or NULL */

    /* Cells that form no box: in planes of grid_side squared places (0: there are none), cell i
     * has the place grid_cells[i]. The places without a cell stay where they are. */
    uint32_t grid_side;
    const uint8_t *grid_cells;

    bool has_tiles; /* codes of cells are tiles of three numbers, which transforms permute by
                       number_src */

    bool only_known_members; /* a shard's reader refuses others: nothing is added to its outputs */

    /* --- pictures and samples --- */

    enum board_game game; /* 0: BOARD_GAME_STONES; a preset may know better: see board->game */
    const char *men; /* letters of the pieces in planes 0, 1 ..: the mover's, then the other's */
    uint32_t stack_planes[2]; /* such numbers of planes are RingRift's, with heights of stacks */
    uint32_t packed_stones;   /* packed planes: the first of the two planes of stones */
    bool bottom_up;           /* row 0 is drawn at the bottom */

    /* Cells that form no box, drawn as lines of so many hexagons about one axis, up to 0; or NULL:
     * neighbours tell where they are. */
    const uint8_t *drawn_lines;
};

/* Cells of one colour: a goal edge, a promotion row, a centre. */
struct board_colour {
    char *name;      /* owned */
    uint32_t *cells; /* owned, n_cells, ascending */
    uint32_t n_cells;
};

struct board {
    char *name;         /* owned, canonical: "hexagon:4" */
    const char *preset; /* the preset it was asked for by, "hex8"; name when by none */
    const struct board_family *family;
    char *file_text; /* owned: of a board from a file, what the file says; else NULL */
    char *fault; /* owned: why its transforms are no group, where they cannot show it; or NULL */

    uint32_t rows, cols; /* the box, 0 x 0 when the cells form none */
    uint32_t n_cells;    /* rows * cols where there is a box */
    uint32_t size;       /* R or N of the family, 0 where there is no such number */
    uint8_t *on_board;   /* owned, n_cells: 1 on board, 0 in the corners of the box */
    uint32_t n_on_board;
    uint32_t *order; /* owned, n_on_board: the cells on board, ascending */

    uint32_t n_transforms;
    struct board_transform *transforms; /* owned, n_transforms; [0] is the identity */
    uint8_t *compose;                   /* owned, n_transforms squared: [a * n_transforms + b] is
                                           a first, then b */
    uint8_t *inverse;                   /* owned, n_transforms */

    enum board_lead lead; /* of the preset, or else of the family */
    enum board_game game; /* of the board file, of the preset, or else of the family */

    uint32_t n_planes;  /* boards from a file with plane maps, else 0 */
    uint32_t n_actions; /* boards from a file with action maps, else 0 */

    /* Undirected edges between neighbours, for the check: always there on boards with a box that
     * are built in. Lines of cells, where a family or file gives them:
     * line i is line_cells[line_start[i]] .. line_cells[line_start[i + 1] - 1]. */
    uint32_t (*edges)[2]; /* owned, n_edges, or NULL */
    uint32_t n_edges;
    uint32_t *line_cells; /* owned */
    uint32_t *line_start; /* owned, n_lines + 1 */
    uint32_t n_lines;

    /* Boards from a file: colours of cells. The first n_pairs pairs are a colour of the first
     * player and the like one of the second. */
    struct board_colour *colours; /* owned, n_colours */
    uint32_t n_colours, n_pairs;
    bool is_hexagonal; /* a box of hexagonal cells in axial coordinates */
};

/* A preset is another name of a board: "hex8" for "hexagon:4". */
struct board_preset {
    const char *name;
    const char *board;
    const char *note;     /* what it is, one line */
    enum board_lead lead; /* BOARD_LEAD_NONE: the family's */
    enum board_game game; /* 0: the family's */
};

extern const struct board_family *const board_families[];
extern const size_t board_n_families;
extern const struct board_preset board_presets[];
extern const size_t board_n_presets;

/* Whether a name is that of a family alone whose size the shard tells: "katago". */
bool board_has_size_of_shard(const char *name);

/* The preset of that name, or NULL. */
const struct board_preset *board_find_preset(const char *name);

/*
 * Build the board called `name`: FAMILY:SIZE, a preset, or file:PATH. An unknown name or a size
 * out of range is ERROR_USAGE with the nearest names listed; a bad board file is ERROR_DATA.
 * Returns an owned board for board_free, or NULL with err set.
 */
struct board *board_new(const char *name, struct error *err);

/* Build the board that a board file describes from its text, as board->name and board->file_text
 * gave them. The same returns. */
struct board *board_new_from_text(const char *name, const char *text, struct error *err);

/* The same for group_report only: the maps are not checked, and src, compose and inverse are NULL.
 */
struct board *board_new_unchecked(const char *name, struct error *err);

/* The board that alone has these shapes, or NULL. */
const char *board_by_shape(const struct board_seen *seen);

/* True when a board with a shape of its own has that box. */
bool board_shape_is_known(uint64_t rows, uint64_t cols);

/* The names of boards of all families that what was seen allows, most likely first; returns how
 * many there are. */
#define BOARD_MAX_GUESSES 8
size_t board_guess(const struct board_seen *seen, char names[BOARD_MAX_GUESSES][64]);

/* Free a board; accepts NULL. */
void board_free(struct board *board);

/* The id of a transform given as a number or a name; -1 when the board has none such. */
int board_find_transform(const struct board *board, const char *id_or_name);

/* 1 where transform t turns the board (and for the identity), -1 where it mirrors it, 0 where cells
 * of a board from a file move as in neither. Where these have no coordinates, names must tell. */
int board_sense(const struct board *board, uint32_t t);

/* True when transform t leaves every label exact: all do, but those that turn the numbers of Take
 * It Easy's tiles. */
static inline bool board_is_exact(const struct board *board, uint32_t t)
{
    return board->transforms[t].number_src[0] == 0 && board->transforms[t].number_src[1] == 1;
}

/* True when any transform of the board swaps colours. */
bool board_swaps_colours(const struct board *board);

/*
 * The transform whose map moves planes stored as [c][x][y] when transform t is asked for: t
 * between two transpositions, [0,3,2,1,5,4,6,7][t] on squares. UINT32_MAX when the board's group
 * has no transposition, so that such planes cannot be moved.
 */
uint32_t board_xy_plane_transform(const struct board *board, uint32_t t);
