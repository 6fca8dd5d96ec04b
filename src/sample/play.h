/*
 * play.h - games played at random: what the rows of a sample are made from.
 *
 * A game is a function of the seed and its number alone, and a row one of a game and a ply: row k
 * of a game is the position before its move k. So rows can be made anywhere, in any order, on any
 * thread. Only whole numbers and single divisions go into them: the same bytes on every machine.
 */
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "board/board.h"
#include "board/chess.h"

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

#define PLAY_MAX_DIMS  3  /* of a row */
#define PLAY_MAX_ITEMS 16 /* in a row of an object array */

/* What is played, where. Const while rows are made. */
struct play {
    const struct board *board; /* borrowed */
    const struct play_kind *kind;
    uint64_t seed;
    uint32_t n_moves;   /* room for those of a game */
    const char *planes; /* see play_planes; NULL: none are drawn so */
    uint32_t n_planes;  /* of arrays with PLAY_PLANES, the first of `planes`; else 0 */
    uint32_t n_actions; /* of arrays with PLAY_ACTIONS; else 0 */
};

/* One game, and room to play and draw it. */
struct play_game {
    uint64_t number;
    uint32_t n_plies; /* at least 1 */
    int winner;       /* 0 who moved first, 1 the other, -1 nobody */
    uint32_t *moves;  /* owned: of the kind, at most n_moves of the play */
    uint32_t *work;   /* owned: scratch, PLAY_WORK more than the board has cells */
    uint8_t *stones;  /* owned: scratch, twice the board's cells */
};

#define PLAY_WORK 512

#define PLAY_NOWHERE UINT32_MAX /* no cell on board, or no action */

/* Dimensions of a row that depend on the board. */
enum play_size {
    PLAY_ROWS = -1, /* on a board without rows its cells, */
    PLAY_COLS = -2, /* and no dimension for columns */
    PLAY_CELLS = -3,
    PLAY_PLANES = -4,
    PLAY_ACTIONS = -5,
    PLAY_CELLS_PASS = -6, /* cells + 1 */
    PLAY_PACKED = -7,     /* bytes for a bit per cell */
    PLAY_SCORES = -8,     /* 2 * (cells + 60): KataGo's scores with their halves */
};

/* A row to draw: the position before a game's move number ply. */
struct play_row {
    const struct play *play;
    struct play_game *game;
    uint32_t ply;
    uint8_t *to; /* its elements, zeroed */
};

/* One array of a sample. Exactly one of render, render_items and text is set. */
struct play_array {
    const char *name;
    const char *dtype;       /* "<f4"; of the items in an object array */
    int dims[PLAY_MAX_DIMS]; /* of a row: numbers or enum play_size; 0 after the last */

    void (*render)(const struct play_row *r); /* draw it */

    /* The same for an object array of ndarrays: returns how many of PLAY_MAX_ITEMS it has. */
    uint32_t (*render_items)(const struct play_row *r);

    const char *text; /* of a 0-d string; "": the name that the board was asked for by */
};

/* A game for a family of boards: a row of the table in sample.c. */
struct play_kind {
    enum board_game game;
    bool (*fits)(const struct board *board); /* which of its boards, or NULL: all */
    void (*set_up)(struct play *play);       /* what differs from board to board; or NULL */
    const char *planes;
    void (*play)(const struct play *play, struct play_game *game);   /* moves, n_plies, winner */
    bool (*wins)(const struct board *board, struct play_game *game); /* the last stone does */
    bool bare_names; /* members are called as the arrays, without .npy */
    const struct play_array *arrays;
    size_t n_arrays;
};

/* The length of a dimension; 0 after the last. */
uint64_t play_dim(const struct play *play, int dim);

/* Make room for games; the caller releases it. */
int play_game_init(struct play_game *game, const struct play *play, struct error *err);
void play_game_release(struct play_game *game);

/* Play game `number`. */
void play_game(const struct play *play, uint64_t number, struct play_game *game);

extern const struct play_kind play_hex, play_gomoku, play_connect4, play_ringrift;
extern const struct play_kind play_chess, play_men, play_takeiteasy, play_katago, play_any;

/* --- what games share: random numbers, random orders, policies, elements of rows --- */

/* A stream of random numbers. */
struct play_random {
    uint64_t key, n;
};

/* What a stream is for: streams of one game do not depend on each other. */
enum play_purpose { PLAY_FOR_MOVES, PLAY_FOR_RESULT, PLAY_FOR_POLICY, PLAY_FOR_CHOICES };

/* The stream of a game, or of a ply of it (0 for the whole game). */
struct play_random play_random_of(const struct play *play, const struct play_game *game,
                                  enum play_purpose purpose, uint32_t ply);

/* The next number from 0 to n - 1. */
uint32_t play_below(struct play_random *random, uint32_t n);

/* Put n numbers into a random order. */
void play_shuffle(struct play_random *random, uint32_t *numbers, uint32_t n);

/* Moves become all on-board cells in a random order. Returns their number. */
uint32_t play_shuffle_cells(const struct play *play, struct play_game *game);

/* Play until three cells of five are taken; who wins is drawn. */
void play_place_stones(const struct play *play, struct play_game *game);

/* Visits of n actions as a search might leave them: the first action, the one played, has most. */
void play_visits(const struct play_row *r, uint32_t *visits, uint32_t n);

/* The same divided by their sum: float32 elements of row at the actions' places, or if actions is
 * NULL, from the first one. */
void play_policy(const struct play_row *r, const uint32_t *actions, uint32_t n);

/*
 * The planes, of float32 numbers 0 and 1, from the stones of game->stones (1 of the first player, 2
 * of the second) and the places played last and before. A letter for each: stones of the first and
 * second player (F, S), of the player to move and the other (M, T); the places played last and
 * before (1, 2), or last by the first and the second player (3, 4); ones where the first or second
 * is to move (f, s), on board (o), on all cells (a).
 */
void play_planes(const struct play_row *r, uint32_t last, uint32_t before);

/* The result as the player to move sees it: 1 won, -1 lost, 0 drawn. */
int play_result_for_mover(const struct play_game *game, uint32_t ply);

/* Rows that many games have: that result as float32, and the number of the ply as int32. */
void play_render_result(const struct play_row *r);
void play_render_ply(const struct play_row *r);

/* And of boards that may swap the colours 1 where the second player wins and 0.5 where nobody does,
 * of others that result; the player to move, 0 or 1. */
void play_render_value(const struct play_row *r);
void play_render_player(const struct play_row *r);

/* Store element i of a row of float32, int32, int16 numbers. */
static inline void play_put_float(uint8_t *row, uint64_t i, float value)
{
    uint32_t bits;

    memcpy(&bits, &value, sizeof bits);
    bytes_put_le(row + 4 * i, bits, 4);
}

static inline void play_put_int(uint8_t *row, uint64_t i, int32_t value)
{
    bytes_put_le(row + 4 * i, (uint32_t)value, 4);
}

static inline void play_put_short(uint8_t *row, uint64_t i, int32_t value)
{
    bytes_put_le(row + 2 * i, (uint32_t)value, 2);
}

/* --- chess: positions and legal moves, without castling and en passant. The player to move always
 * goes up the board: after a move the ranks are turned over and the colours exchanged --- */

#define CHESS_MAX_MOVES 256 /* of any position: 218 are known */

/* Pieces of the player to move are positive, the other's negative. */
enum chess_man { MAN_NONE, MAN_PAWN, MAN_KNIGHT, MAN_BISHOP, MAN_ROOK, MAN_QUEEN, MAN_KING };

struct chess_position {
    int8_t men[CHESS_N_SQUARES]; /* by rank * 8 + file */
    uint8_t rights[4]; /* to castle, my king's side and queen's side, then theirs: 1 as long as king
                          and rook have not moved */
};

void chess_position_start(struct chess_position *position);

/* Fill moves (CHESS_MAX_MOVES) and return how many there are. Promotions are to a queen. */
uint32_t chess_legal_moves(const struct chess_position *position, struct chess_move *moves);

/* Make a move, and turn the board over to the other player. */
void chess_make_move(struct chess_position *position, const struct chess_move *move);
