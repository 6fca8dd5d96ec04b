/*
 * chess.h - chess moves and their numbers in a policy, for `sample`.
 *
 * Squares are rank * 8 + file, a1 = 0.
 */
#pragma once

#include "board/board.h"

#define CHESS_N_SQUARES    64
#define CHESS_N_DIRECTIONS 8
#define CHESS_N_JUMPS      8

enum chess_piece {
    CHESS_NO_PIECE, /* the move is not a promotion */
    CHESS_KNIGHT,
    CHESS_BISHOP,
    CHESS_ROOK,
    CHESS_QUEEN,
    CHESS_CASTLING, /* the king moves two files, wherever he stands */
};

/* A move. The step may leave the board: some layouts have entries for such moves. */
struct chess_move {
    int from;
    int d_rank, d_file;
    enum chess_piece promotion;
};

/* The eight directions clockwise from north, and the knight's eight jumps clockwise; rows are
 * ranks, columns files. */
extern const struct board_step chess_directions[CHESS_N_DIRECTIONS];
extern const struct board_step chess_jumps[CHESS_N_JUMPS];

/* The square a move goes to, or -1 off the board. */
static inline int chess_target(const struct chess_move *move)
{
    const int rank = move->from / 8 + move->d_rank, file = move->from % 8 + move->d_file;

    return rank < 0 || rank > 7 || file < 0 || file > 7 ? -1 : rank * 8 + file;
}

/* The index of a playable move in the layout chess-1814. */
uint32_t chess_index_1814(const struct chess_move *move);
