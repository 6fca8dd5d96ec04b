/*
 * board.h - a board: its cells, its group of transforms, and the registry that names it.
 *
 * A cell has a flat index row * cols + col, row 0 on top. Boards without a box (rows == 0) number
 * their cells 0..n_cells-1. Every map covers the whole box: off-board cells stay in place, so every
 * map is a permutation of the box.
 *
 * A board is const once built and may be shared between threads.
 */
#pragma once

#include "base/error.h"

#define BOARD_MAX_TRANSFORMS 255
#define BOARD_MAX_CELLS      65536 /* rows * cols of the largest board that is accepted */
#define BOARD_NO_CELL        UINT32_MAX
#define BOARD_N_NUMBERS      3 /* of a tile of Take It Easy, one for each direction of lines */

struct action_layout;
struct board;
struct board_box;
struct board_element;

/* One element of a board's group. Its id is its index in board->transforms. */
struct board_transform {
    char *name;          /* owned: "rotate-60", "transpose-swap"; unique on the board, no spaces */
    bool swaps_colours;  /* also exchanges the two colours (the game of Hex) */
    uint32_t *dst;       /* owned, n_cells: cell i goes to dst[i]; then the other maps */
    const uint32_t *src; /* dst of the inverse: cell j comes from src[j] */
    uint64_t hash;       /* of all maps, for group.c */

    /* Within dst, or NULL where the board has none: plane, action or number i goes to [i]. */
    uint32_t *planes;  /* board->n_planes entries */
    uint32_t *actions; /* board->n_actions entries */
    uint32_t *numbers; /* board->n_numbers entries: of a tile, Take It Easy's */

    /* For a board from a file, where cells have rows and columns: the turn or mirror of its box
     * that moves cells so, or NULL. */
    const struct board_element *turn;
};

/* How the players' numbers of stones may differ, where planes 0 and 1 hold their stones. */
enum board_lead {
    BOARD_LEAD_NONE,     /* the planes are not known to hold stones */
    BOARD_LEAD_FREE,     /* by any number */
    BOARD_LEAD_BALANCED, /* by one at most */
    BOARD_LEAD_TO_MOVE,  /* the player to move has as many as the other, or one fewer */
};

/* The game that `sample` makes rows of. */
enum board_game {
    BOARD_GAME_STONES, /* stones on empty cells, without other rules */
    BOARD_GAME_LINE,   /* a line of stones wins */
    BOARD_GAME_DROP,   /* the same, and stones drop to the bottom */
    BOARD_GAME_HEX,
    BOARD_GAME_RINGS, /* RingRift's stacks */
    BOARD_GAME_CHESS,
    BOARD_GAME_TILES,   /* Take It Easy */
    BOARD_GAME_MOVES,   /* stones, with a policy of their moves: Breakthrough */
    BOARD_GAME_OTHELLO, /* stones; from here on, policies end in a pass */
    BOARD_GAME_GO,
    BOARD_GAME_KATAGO,   /* Go, in KataGo's shards */
    BOARD_GAME_KATAGOMO, /* another game, in shards with the same members */
};

/* What the shapes of a shard's arrays tell; 0 where they tell nothing. */
struct board_seen {
    uint64_t n_planes, rows, cols, n_actions;
    bool is_ringrift; /* its policy_encoding is one of RingRift's */
    bool any_planes;  /* also guess families that are known with other numbers of planes */
};

/* The planes of castling rights: king side, queen side, then the opponent's. */
struct board_castling {
    uint32_t n_planes;  /* of a position whose castling planes are known */
    uint32_t planes[4]; /* which these are */
};
extern const struct board_castling board_castling_usual; /* of the 25 planes of chess */

/* A family of boards: a row of BOARD_FAMILIES in families.h. What is particular to a family is a
 * field, 0 in most families; no other code asks for a family by its name. */
struct board_family {
    const char *name;    /* "hexagon" */
    const char *syntax;  /* "hexagon:R" */
    const char *summary; /* one line for `symaug boards` */
    const char *example; /* a name of a small board of this family, for help and tests */

    const struct board_box *box; /* what its boards are made of; NULL: a file describes them */
    uint32_t fixed_size;         /* R or N where names have no size, else 0 */

    /* Policy layouts; of those with the same length, the first is the default. */
    const struct action_layout *const *layouts;
    size_t n_layouts;

    /* How likely a box is of this family: 1 (most likely) to 3; 0: never guessed. With
     * guess_planes, only where a position has one of these numbers of planes. */
    unsigned guess_rank;
    uint32_t guess_planes[3];

    /* --- planes --- */

    enum board_lead lead; /* the default of board->lead */

    /* The game of Hex: the first player joins top and bottom, the second left and right. The last
     * of three planes is the player to move; nine planes may be OpenSpiel's. */
    bool joins_edges;

    const struct board_castling *castling; /* NULL: no castling, every transform is exact */
    const struct action_layout *xy_layout; /* with this policy planes are [c][x][y]; or NULL */

    /* Cells that form no box: in square planes of side grid_side (0: none are known), cell i is at
     * place grid_cells[i]. Places without a cell stay in place. */
    uint32_t grid_side;
    const uint8_t *grid_cells;

    bool has_tiles; /* codes of cells are tiles of three numbers, which transforms permute */

    bool only_known_members; /* readers refuse other members: none are added to outputs */

    /* --- pictures and samples --- */

    enum board_game game;     /* the default of board->game */
    const char *men;          /* letters of the pieces in planes 0, 1, ...: the mover's, then the
                                 opponent's */
    uint32_t stack_planes[2]; /* numbers of planes with which positions are RingRift's, with heights
                                 of stacks */
    uint32_t packed_stones;   /* of packed planes: the first of the two planes of stones */
    bool bottom_up;           /* row 0 is drawn at the bottom */
};

/* The cells of one colour: a goal edge, a promotion row, a centre. */
struct board_colour {
    char *name;      /* owned */
    uint32_t *cells; /* owned, n_cells, ascending */
    uint32_t n_cells;
};

struct board {
    char *name;         /* owned, canonical: "hexagon:4" */
    const char *preset; /* the preset it was asked for by, "hex8"; name when by none */
    const struct board_family *family;
    char *file_text; /* owned: the text of its board file, or NULL */
    char *fault; /* owned: why its transforms are not a group, where they cannot show it; or NULL */

    uint32_t rows, cols; /* the box; 0 x 0 when the cells form none */
    uint32_t n_cells;    /* rows * cols where there is a box */
    uint32_t size;       /* R or N of its family, 0 where it has no such number */
    uint8_t *on_board;   /* owned, n_cells: 1 on board, 0 in the corners of the box */
    uint32_t n_on_board;
    uint32_t *order; /* owned, n_on_board: the cells on board, ascending */

    uint32_t n_transforms;
    struct board_transform *transforms; /* owned, n_transforms; [0] is the identity */
    uint8_t *compose;                   /* owned, n_transforms squared: [a * n_transforms + b] is
                                           a first, then b */
    uint8_t *inverse;                   /* owned, n_transforms */

    enum board_lead lead; /* of the preset, or else of the family */
    enum board_game game; /* of the preset, or else of the family */

    uint32_t n_planes;  /* entries of plane maps; 0 where the board has none */
    uint32_t n_actions; /* entries of action maps; 0 where the board has none */
    uint32_t n_numbers; /* of a tile, BOARD_N_NUMBERS; 0 where the board has no tiles */

    /* Undirected edges between neighbours; all built-in boards have them. Lines of cells, where the
     * family or file gives them: line i is line_cells[line_start[i]] up to, but without,
     * line_cells[line_start[i + 1]]. */
    uint32_t (*edges)[2]; /* owned, n_edges, or NULL */
    uint32_t n_edges;
    uint32_t *line_cells; /* owned */
    uint32_t *line_start; /* owned, n_lines + 1 */
    uint32_t n_lines;

    /* Boards from a file: colours of cells. The first n_pairs pairs are a colour of the first
     * player and its counterpart of the second. */
    struct board_colour *colours; /* owned, n_colours */
    uint32_t n_colours, n_pairs;
    bool is_hexagonal; /* a box of hexagonal cells in axial coordinates */
};

/* Another name of a board: "hex8" for "hexagon:4". */
struct board_preset {
    const char *name;
    const char *board;
    const char *note;     /* one line for `symaug boards` */
    enum board_lead lead; /* BOARD_LEAD_NONE: the family's */
    enum board_game game; /* 0: the family's */
};

extern const struct board_family *const board_families[];
extern const size_t board_n_families;
extern const struct board_preset board_presets[];
extern const size_t board_n_presets;

/* Whether a name is that of a family without a size, which the shard tells: "katago". */
bool board_has_size_of_shard(const char *name);

/* The preset of that name, or NULL. */
const struct board_preset *board_find_preset(const char *name);

/*
 * Build the board called `name`: FAMILY:SIZE, a preset, or file:PATH. An unknown name (the message
 * lists the nearest ones) or a size out of range is ERROR_USAGE; a bad board file is ERROR_DATA.
 * Returns an owned board for board_free, or NULL with err set.
 */
struct board *board_new(const char *name, struct error *err);

/* Build a board from the text of a board file, as board->name and board->file_text of an earlier
 * board. Returns as board_new. */
struct board *board_new_from_text(const char *name, const char *text, struct error *err);

/* Build a board for group_report only: its maps are not checked, and src, compose and inverse are
 * NULL. */
struct board *board_new_unchecked(const char *name, struct error *err);

/* The one board that is known to be written with these shapes, or NULL. */
const char *board_by_shape(const struct board_seen *seen);

/* True when board_by_shape knows a board with that box. */
bool board_shape_is_known(uint64_t rows, uint64_t cols);

/* Write the names of the boards of all families that fit what was seen, most likely first. Returns
 * how many there are. */
#define BOARD_MAX_GUESSES 8
size_t board_guess(const struct board_seen *seen, char names[BOARD_MAX_GUESSES][64]);

/* Free a board; accepts NULL. */
void board_free(struct board *board);

/* The id of a transform given by number or name; -1 when the board has no such transform. */
int board_find_transform(const struct board *board, const char *id_or_name);

/* 1 when transform t turns the board or is the identity, -1 when it mirrors it, 0 when the cells of
 * a board from a file move in neither way. Where cells have no coordinates, the names decide. */
int board_sense(const struct board *board, uint32_t t);

/* True when transform t keeps every label exact: all do, except those that permute the numbers of
 * Take It Easy's tiles. */
static inline bool board_is_exact(const struct board *board, uint32_t t)
{
    const uint32_t *numbers = board->transforms[t].numbers;

    return numbers == NULL || (numbers[0] == 0 && numbers[1] == 1);
}

/* A step from one cell of the box to another. */
struct board_step {
    int rows, cols;
};

/* The cell on board that is n steps away; BOARD_NO_CELL: there is none. */
static inline uint32_t board_cell_after(const struct board *b, uint32_t cell,
                                        struct board_step step, uint32_t n)
{
    const uint32_t row = cell / b->cols + n * (uint32_t)step.rows;
    const uint32_t col = cell % b->cols + n * (uint32_t)step.cols;

    cell = row * b->cols + col;
    return row < b->rows && col < b->cols && b->on_board[cell] ? cell : BOARD_NO_CELL;
}

/* True when any transform of the board swaps colours. */
bool board_swaps_colours(const struct board *board);

/*
 * The transform whose map moves planes stored as [c][x][y] under transform t: t between two
 * transpositions, [0,3,2,1,5,4,6,7][t] on squares. UINT32_MAX when the board's group has no
 * transposition: such planes cannot be moved.
 */
uint32_t board_xy_plane_transform(const struct board *board, uint32_t t);
