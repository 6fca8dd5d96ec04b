/*
 * play_chess.h - chess positions and their legal moves, without castling and en passant.
 *
 * The player to move always goes up the board: after a move the ranks are turned over and the
 * colours exchanged. Squares are rank * 8 + file.
 */
#ifndef SYMAUG_SAMPLE_PLAY_CHESS_H
#define SYMAUG_SAMPLE_PLAY_CHESS_H

#include "board/chess.h"

#include <stdbool.h>
#include <stdint.h>

#define CHESS_MAX_MOVES 256 /* of any position: 218 are known */

/* Pieces of the player to move are positive, the other's negative. */
enum chess_man { MAN_NONE, MAN_PAWN, MAN_KNIGHT, MAN_BISHOP, MAN_ROOK, MAN_QUEEN, MAN_KING };

enum chess_right {
    RIGHT_MY_KING_SIDE,
    RIGHT_MY_QUEEN_SIDE,
    RIGHT_THEIR_KING_SIDE,
    RIGHT_THEIR_QUEEN_SIDE,
    N_RIGHTS
};

struct chess_position {
    int8_t men[CHESS_N_SQUARES];
    uint8_t rights[N_RIGHTS]; /* 1: king and rook have not moved yet */
};

void chess_position_start(struct chess_position *position);

/* The other's pieces that attack a square, a bit each. */
uint64_t chess_attackers(const struct chess_position *position, int square);

/* The square of the king of the player to move. */
int chess_king(const struct chess_position *position);

/* Fill moves (CHESS_MAX_MOVES) and return how many there are. Promotions are to a queen. */
uint32_t chess_legal_moves(const struct chess_position *position, struct chess_move *moves);

/* Make a move, and turn the board over to the other player. */
void chess_make_move(struct chess_position *position, const struct chess_move *move);

#endif
