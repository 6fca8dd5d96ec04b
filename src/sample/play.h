/*
 * play.h - games played at random, from which the rows of a sample are made.
 *
 * In every game the players put men on free cells in turn, and no man is moved or taken. So a game
 * is an order of the cells, and the position before move k is the first men of that order. The
 * rules of Hex, of lines, and of stones that fall are kept; elsewhere positions are only plausible.
 *
 * A game depends on the seed and its number alone, and row k of it is the position before move k,
 * so that rows can be made in any order, on any thread. They are computed from integers and single
 * divisions: the bytes are the same on every machine.
 */
#pragma once

#include "board/actions.h"
#include "npy/dtype.h"

#define PLAY_MAX_DIMS   3 /* of a row */
#define PLAY_MAX_ARRAYS 8
#define PLAY_MAX_ITEMS  16 /* in a row of an object array */
#define PLAY_N_TILES    27 /* of Take It Easy */

#define PLAY_NOWHERE UINT32_MAX /* no cell on the board */

struct play_game;

/* An action that the policy's layout can encode: it puts a man on a free cell, or moves one away
 * from there. */
struct play_action {
    uint32_t index;
    uint32_t cell; /* of a column the one on top; PLAY_NOWHERE: the action is about no cell */
    bool is_placement;
};

/* The game played on a board. Const while rows are made. */
struct play {
    const struct board *board; /* borrowed */
    const struct play_kind *kind;
    uint64_t seed;
    const struct action_layout *layout; /* of the policy; static */
    uint32_t n_actions;                 /* its length */
    struct play_action *actions;        /* owned: those that can be encoded; none of RingRift's */
    uint32_t n_encodable;
    const char *planes; /* see play_planes */
    uint32_t n_planes;  /* the size PLAY_PLANES; those without a letter in `planes` stay 0 */
    uint32_t n_before;  /* men on the board when a game begins, as many of each player */
    bool (*wins)(const struct board *board, struct play_game *game); /* see play_kind; or NULL */
};

/* One game, with scratch space. Man number i is the first player's if i is even. */
struct play_game {
    uint64_t number;
    uint32_t n_plies;  /* at least 1 */
    int winner;        /* 0 the player who moved first, 1 the other, -1 nobody */
    uint32_t *cells;   /* owned: of men in the order in which they are put, at last PLAY_NOWHERE */
    uint32_t *when;    /* owned: the number of the man on each cell, PLAY_NOWHERE off the board */
    uint32_t *kinds;   /* owned, of each man: what the kind of game decides */
    uint32_t *actions; /* owned: scratch, see play_list */
    uint32_t *visits;  /* owned: scratch, see play_list */
};

/* Dimensions of a row that depend on the board. */
enum play_size {
    PLAY_ROWS = -1, /* on a board without rows: its cells, */
    PLAY_COLS = -2, /* and no dimension for columns */
    PLAY_CELLS = -3,
    PLAY_PLANES = -4,
    PLAY_ACTIONS = -5,
    PLAY_PACKED = -6, /* bytes for a bit per cell */
    PLAY_SCORES = -7, /* 2 * (cells + 60): KataGo's scores in steps of a half */
};

/* A row to draw: the position before move number `ply` of a game. */
struct play_row {
    const struct play *play;
    struct play_game *game;
    const struct dtype *dtype; /* of its elements */
    uint32_t ply;
    uint8_t *to; /* its elements, zeroed */
};

/* One array of a sample. Exactly one of draw, draw_items and text is set. */
struct play_array {
    const char *name;
    const char *dtype;       /* "<f4"; of the items in an object array */
    int dims[PLAY_MAX_DIMS]; /* of a row: numbers or enum play_size; 0 after the last */

    void (*draw)(const struct play_row *r); /* draw the row */

    /* Draw the ndarray that is the row of an object array. Returns how many elements it has, at
     * most PLAY_MAX_ITEMS. */
    uint32_t (*draw_items)(const struct play_row *r);

    const char *text; /* of a 0-d string; "": the name that the board was asked for by */
};

/* A game and the arrays of its shards: one of those in kinds.c. */
struct play_kind {
    const char *planes;
    const char *layout; /* the name of play->layout; NULL: see play_init */
    uint32_t n_plies;   /* of a game without `wins`; 0: until three fifths of the cells are full */

    /* Change the order in which cells are filled, set the kinds of men. Or NULL. */
    void (*arrange)(const struct play *play, struct play_game *game);
    bool (*wins)(const struct board *board, struct play_game *game); /* the last man wins */

    bool is_turned; /* positions are seen from the player to move: every other has its rows mirrored
                     */
    bool bare_names; /* members are named like the arrays, without .npy */
    struct play_array arrays[PLAY_MAX_ARRAYS + 1]; /* the last one has no name */
};

/* Choose the game for a board, which is borrowed. The caller releases it, also on failure. */
int play_init(struct play *play, const struct board *board, uint64_t seed, struct error *err);
void play_release(struct play *play);

/* The length of a dimension; 0 after the last. */
uint64_t play_dim(const struct play *play, int dim);

/* Allocate a game; the caller releases it, also on failure. */
int play_game_init(struct play_game *game, const struct play *play, struct error *err);
void play_game_release(struct play_game *game);

/* Play game `number`. */
void play_game(const struct play *play, uint64_t number, struct play_game *game);

/* --- rules.c: whether the last of game->n_plies men has won --- */

bool play_joins_edges(const struct board *board, struct play_game *game);    /* Hex */
bool play_completes_line(const struct board *board, struct play_game *game); /* 3, 4 or 5 */
bool play_fills_line(const struct board *board, struct play_game *game); /* one of board->lines */

/* --- shared by the games: random numbers, policies, planes --- */

/* A stream of random numbers. */
struct play_random {
    uint64_t key, n;
};

/* What a stream is for: streams of one game are independent of each other. */
enum play_purpose {
    PLAY_FOR_MOVES,
    PLAY_FOR_RESULT,
    PLAY_FOR_POLICY,
    PLAY_FOR_CHOICES,
    PLAY_FOR_KINDS,
};

/* The stream of a game, or of a ply of it (0 for the whole game). */
struct play_random play_random_of(const struct play *play, const struct play_game *game,
                                  enum play_purpose purpose, uint32_t ply);

/* The next number from 0 to n - 1. */
uint32_t play_below(struct play_random *random, uint32_t n);

/* Put n numbers into a random order. */
void play_shuffle(struct play_random *random, uint32_t *numbers, uint32_t n);

/* The number of men on the board of a row. */
static inline uint32_t play_n_men(const struct play_row *r)
{
    return r->play->n_before + r->ply;
}

/* The same cell on the board as the player to move sees it, who may play up the board. */
static inline uint32_t play_turned(const struct play_row *r, uint32_t cell)
{
    const struct board *b = r->play->board;

    return r->play->kind->is_turned && (r->ply & 1) == 1
               ? (b->rows - 1 - cell / b->cols) * b->cols + cell % b->cols
               : cell;
}

/* The place of a cell in a plane: planes of RingRift's squares are stored by column and row. */
static inline uint64_t play_place(const struct play_row *r, uint32_t cell)
{
    const struct board *b = r->play->board;

    return r->play->layout == b->family->xy_layout
               ? (uint64_t)(cell % b->cols) * b->rows + cell / b->cols
               : cell;
}

/* Set what an action of the layout is. False if it cannot be encoded. */
bool play_action_of(const struct play *play, uint32_t index, struct play_action *action);

/* True when the player to move could do that: the cell is free, or the man there is an own one. */
bool play_may(const struct play_row *r, const struct play_action *action);

/* Draw visits, as a search might leave them, for the n actions in game->actions; the first one has
 * most. Returns their sum. */
uint32_t play_visits(const struct play_row *r, uint32_t n);

/* Fill game->actions with the possible actions, that of the next move or else any one first, and
 * game->visits. Returns their number. */
uint32_t play_list(const struct play_row *r);

/* Draw the parts of all visits that each action has. */
void play_draw_policy(const struct play_row *r);

/*
 * Draw a plane of numbers 0 and 1: men of the first and second player (F, S), of the player to move
 * and the other (M, T); those of each kind from 1 to 6, of the player to move (PNBRQK) and the
 * other (pnbrqk); those before the last 1, 2 and 3 moves (uvw, xyz); the cell of the last move, of
 * the one before, and so on (1 to 5); all cells on board (o), if the first player is to move (f);
 * all cells if the second is (s). Unsigned elements are packed, a bit for each cell.
 */
void play_draw_plane(const struct play_row *r, uint64_t plane, char letter);

/* Draw the planes that play->planes has letters for. */
void play_draw_planes(const struct play_row *r);

/* The result for the player to move: 1 won, -1 lost, 0 drawn. */
int play_result(const struct play_row *r);

/* Store element i of a row. */
static inline void play_put(const struct play_row *r, uint64_t i, double value)
{
    dtype_put_double(r->dtype, value, r->to + i * r->dtype->itemsize);
}
