/*
 * play.h - games played at random, from which the rows of a sample are made.
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

/* The game played on a board. Const while rows are made. */
struct play {
    const struct board *board; /* borrowed */
    const struct play_kind *kind;
    uint64_t seed;
    const char *planes; /* see play_stones.c; NULL: the kind draws its own */
    uint32_t n_planes;  /* the size PLAY_PLANES; those without a letter in `planes` stay 0 */
    uint32_t n_actions; /* the size PLAY_ACTIONS: as a board file says; else cells, in Go a pass */
    const struct action_layout *layout; /* static; or NULL */
};

/* One game, with scratch space to play and draw it. */
struct play_game {
    uint64_t number;
    uint32_t n_plies; /* at least 1 */
    int winner;       /* 0 the player who moved first, 1 the other, -1 nobody */
    uint32_t *moves;  /* owned; the kind decides what they hold */
    uint32_t *work;   /* owned: scratch */
    uint32_t *visits; /* owned: scratch, see play_visits; and the cells of a group */
    uint8_t *stones;  /* owned: scratch, twice the board's cells */
};

/* Moves, work and visits have room for all actions, and for so many more than there are cells. */
#define PLAY_SPARE 32

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
    uint32_t ply;
    const struct dtype *dtype; /* of its elements */
    uint8_t *to;               /* these, zeroed */
};

/* One array of a sample. Exactly one of render, render_items and text is set. */
struct play_array {
    const char *name;        /* of the member */
    const char *dtype;       /* "<f4"; of the items in an object array */
    int dims[PLAY_MAX_DIMS]; /* of a row: numbers or enum play_size; 0 after the last */

    void (*render)(const struct play_row *r); /* draw the row */

    /* Draw the ndarray that is the row of an object array. Returns how many elements it has, at
     * most PLAY_MAX_ITEMS. */
    uint32_t (*render_items)(const struct play_row *r);

    const char *text; /* of a 0-d string; "": the name that the board was asked for by */
};

/* A game and the arrays of its shards: one of the kinds in sample.c. */
struct play_kind {
    const char *planes;                      /* play->planes */
    bool (*fits)(const struct board *board); /* NULL: the game is played on all its boards */
    void (*set_up)(struct play *play);       /* set what differs from board to board; or NULL */

    void (*play)(const struct play *play, struct play_game *game);   /* moves, n_plies, winner */
    bool (*wins)(const struct board *board, struct play_game *game); /* the last stone wins */
    struct play_array arrays[PLAY_MAX_ARRAYS + 1];                   /* the last one has no name */
};

/* Choose the game for a board, which is borrowed. */
void play_init(struct play *play, const struct board *board, uint64_t seed);

/* The length of a dimension; 0 after the last. */
uint64_t play_dim(const struct play *play, int dim);

/* Allocate a game; the caller releases it, also on failure. */
int play_game_init(struct play_game *game, const struct play *play, struct error *err);
void play_game_release(struct play_game *game);

/* Play game `number`. */
void play_game(const struct play *play, uint64_t number, struct play_game *game);

extern const struct play_kind play_hex, play_gomoku, play_connect4, play_ringrift;
extern const struct play_kind play_chess, play_takeiteasy, play_katago, play_any;

/* --- shared by the games: random numbers, steps, policies, elements of rows --- */

/* A stream of random numbers. */
struct play_random {
    uint64_t key, n;
};

/* What a stream is for: streams of one game are independent of each other. */
enum play_purpose { PLAY_FOR_MOVES, PLAY_FOR_RESULT, PLAY_FOR_POLICY, PLAY_FOR_CHOICES };

/* The stream of a game, or of a ply of it (0 for the whole game). */
struct play_random play_random_of(const struct play *play, const struct play_game *game,
                                  enum play_purpose purpose, uint32_t ply);

/* The next number from 0 to n - 1. */
uint32_t play_below(struct play_random *random, uint32_t n);

/* Put n numbers into a random order. */
void play_shuffle(struct play_random *random, uint32_t *numbers, uint32_t n);

/* Fill moves with the cells on the board in a random order. Returns their number. */
uint32_t play_shuffle_cells(const struct play *play, struct play_game *game);

/* Fill three fifths of the cells; the winner is random. */
void play_place_stones(const struct play *play, struct play_game *game);

/* Draw the visits of n actions as a search might leave them: most get few or none, the first one,
 * which was played, gets most. Returns their sum. */
uint32_t play_visits(const struct play_row *r, uint32_t n);

/* The visits of n actions divided by their sum, as float32 elements of the row at the indices in
 * `actions`, or, if that is NULL, at 0 to n - 1. */
void play_policy(const struct play_row *r, const uint32_t *actions, uint32_t n);

/* The result for the player to move: 1 won, -1 lost, 0 drawn. */
int play_result(const struct play_row *r);

/* Rows of several games: that result, and the number of the ply. */
void play_render_result(const struct play_row *r);
void play_render_ply(const struct play_row *r);

/* Store element i of a row. */
static inline void play_put(const struct play_row *r, uint64_t i, double value)
{
    dtype_put_double(r->dtype, value, r->to + i * r->dtype->itemsize);
}
