/*
 * chess_moves.h - chess moves, and the codes that number them for a policy.
 *
 * Squares are rank * 8 + file, a1 = 0. A code turns an action index into a move and back; the
 * mirror of an index is the index of the mirrored move, so that one mirror serves every code.
 */
#ifndef SYMAUG_BOARD_CHESS_MOVES_H
#define SYMAUG_BOARD_CHESS_MOVES_H

#include "board/actions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CHESS_N_SQUARES    64
#define CHESS_N_DIRECTIONS 8
#define CHESS_MAX_DISTANCE 7
#define CHESS_N_JUMPS      8

enum chess_piece {
    CHESS_NO_PIECE, /* the move is no promotion */
    CHESS_KNIGHT,
    CHESS_BISHOP,
    CHESS_ROOK,
    CHESS_QUEEN,
};

/* A move by its step, which may leave the board: plane codes number such moves, too. */
struct chess_move {
    int from;
    int d_rank, d_file;
    enum chess_piece promotion;
};

struct chess_step {
    int d_rank, d_file;
};

/* The eight directions clockwise from north, and the knight's eight jumps clockwise. */
extern const struct chess_step chess_directions[CHESS_N_DIRECTIONS];
extern const struct chess_step chess_jumps[CHESS_N_JUMPS];

/* One way to number moves. Which fields it reads depends on its functions. */
struct chess_code {
    uint32_t length;
    void (*decode)(const struct chess_code *code, uint32_t action, struct chess_move *move);
    uint32_t (*encode)(const struct chess_code *code, const struct chess_move *move);
    uint32_t n_pieces; /* that have promotions of their own */

    /* Codes by planes of kinds of move only. */
    bool plane_first; /* plane * 64 + square, else square * planes + plane */
    bool piece_first; /* promotions piece * 3 + file step, else file step * pieces + piece */
    bool file_first;  /* PettingZoo's order: squares file * 8 + rank, else rank * 8 + file; lines
                         distance * 8 + direction, else direction * 7 + distance; directions and
                         jumps by file, then rank, else clockwise */
};

/* The square a move goes to, or -1 off the board. */
int chess_target(const struct chess_move *move);

/* True when a piece can make the move: on the board, along a line or a knight's jump, and a
 * promotion only by a pawn's step from rank 7. */
bool chess_is_playable(const struct chess_move *move);

/* Exchange the files a and h, b and g, ... */
void chess_mirror(struct chess_move *move);

/* "e2e4", "a7a8=R", "a1 (-1,+0) leaves the board". */
void chess_describe(const struct chess_move *move, char *text, size_t n_bytes);

/*
 * The code that lists the moves of every square in turn: lines by direction and distance, knight's
 * jumps, promotions. n_pieces is 1 (queen) or 4 (queen, rook, bishop, knight).
 */
void chess_list_decode(const struct chess_code *code, uint32_t action, struct chess_move *move);
uint32_t chess_list_encode(const struct chess_code *code, const struct chess_move *move);

/* The code from * 64 + to. */
void chess_from_to_decode(const struct chess_code *code, uint32_t action, struct chess_move *move);
uint32_t chess_from_to_encode(const struct chess_code *code, const struct chess_move *move);

/*
 * The codes with a plane for each kind of move: 56 lines, 8 jumps, and 3 promotions for each of
 * n_pieces pieces (from knight upwards).
 */
void chess_planes_decode(const struct chess_code *code, uint32_t action, struct chess_move *move);
uint32_t chess_planes_encode(const struct chess_code *code, const struct chess_move *move);

#endif
