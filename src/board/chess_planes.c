/* chess_planes.c - see chess_moves.h: the codes with a plane for each kind of move. */
#include "board/chess_moves.h"

#include <stdlib.h>

#define N_LINES           (CHESS_N_DIRECTIONS * CHESS_MAX_DISTANCE)
#define FIRST_PROMOTION   (N_LINES + CHESS_N_JUMPS)
#define N_PROMOTION_STEPS 3

/* Both ways between rank * 8 + file and file * 8 + rank. */
static uint32_t turned(uint32_t square)
{
    return square % 8 * 8 + square / 8;
}

/* PettingZoo counts steps by file, then by rank. */
static const struct chess_step file_first_directions[CHESS_N_DIRECTIONS] = {
    {-1, -1}, {0, -1}, {1, -1}, {-1, 0}, {1, 0}, {-1, 1}, {0, 1}, {1, 1},
};

static const struct chess_step file_first_jumps[CHESS_N_JUMPS] = {
    {-1, -2}, {1, -2}, {-2, -1}, {2, -1}, {-2, 1}, {2, 1}, {-1, 2}, {1, 2},
};

static const struct chess_step *directions_of(const struct chess_code *code)
{
    return code->file_first ? file_first_directions : chess_directions;
}

static const struct chess_step *jumps_of(const struct chess_code *code)
{
    return code->file_first ? file_first_jumps : chess_jumps;
}

static uint32_t n_planes(const struct chess_code *code)
{
    return FIRST_PROMOTION + N_PROMOTION_STEPS * code->n_pieces;
}

static void decode_promotion(const struct chess_code *code, uint32_t index, struct chess_move *move)
{
    uint32_t piece = code->piece_first ? index / N_PROMOTION_STEPS : index % code->n_pieces;
    uint32_t step = code->piece_first ? index % N_PROMOTION_STEPS : index / code->n_pieces;

    move->d_rank = 1;
    move->d_file = (int)step - 1;
    move->promotion = (enum chess_piece)(CHESS_KNIGHT + piece);
}

static void decode_line(const struct chess_code *code, uint32_t plane, struct chess_move *move)
{
    uint32_t d = code->file_first ? plane % CHESS_N_DIRECTIONS : plane / CHESS_MAX_DISTANCE;
    uint32_t far = code->file_first ? plane / CHESS_N_DIRECTIONS : plane % CHESS_MAX_DISTANCE;
    const struct chess_step *step = &directions_of(code)[d];

    move->d_rank = step->d_rank * ((int)far + 1);
    move->d_file = step->d_file * ((int)far + 1);
}

void chess_planes_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    uint32_t square = code->plane_first ? action % CHESS_N_SQUARES : action / n_planes(code);
    uint32_t plane = code->plane_first ? action / CHESS_N_SQUARES : action % n_planes(code);

    move->from = (int)(code->file_first ? turned(square) : square);
    move->promotion = CHESS_NO_PIECE;
    if (plane < N_LINES) {
        decode_line(code, plane, move);
    } else if (plane < FIRST_PROMOTION) {
        move->d_rank = jumps_of(code)[plane - N_LINES].d_rank;
        move->d_file = jumps_of(code)[plane - N_LINES].d_file;
    } else {
        decode_promotion(code, plane - FIRST_PROMOTION, move);
    }
}

static uint32_t line_plane(const struct chess_code *code, const struct chess_move *move)
{
    const struct chess_step *directions = directions_of(code);
    int distance = abs(move->d_rank) > abs(move->d_file) ? abs(move->d_rank) : abs(move->d_file);
    uint32_t d = 0, far = (uint32_t)distance - 1;

    while (directions[d].d_rank * distance != move->d_rank ||
           directions[d].d_file * distance != move->d_file)
        d++;
    return code->file_first ? far * CHESS_N_DIRECTIONS + d : d * CHESS_MAX_DISTANCE + far;
}

static uint32_t jump_plane(const struct chess_code *code, const struct chess_move *move)
{
    const struct chess_step *jumps = jumps_of(code);
    uint32_t k = 0;

    while (jumps[k].d_rank != move->d_rank || jumps[k].d_file != move->d_file)
        k++;
    return N_LINES + k;
}

static uint32_t promotion_plane(const struct chess_code *code, const struct chess_move *move)
{
    uint32_t piece = (uint32_t)(move->promotion - CHESS_KNIGHT);
    uint32_t step = (uint32_t)(move->d_file + 1);

    return FIRST_PROMOTION +
           (code->piece_first ? piece * N_PROMOTION_STEPS + step : step * code->n_pieces + piece);
}

uint32_t chess_planes_encode(const struct chess_code *code, const struct chess_move *move)
{
    uint32_t square = (uint32_t)move->from;
    uint32_t plane;

    if (move->promotion != CHESS_NO_PIECE)
        plane = promotion_plane(code, move);
    else if (abs(move->d_rank * move->d_file) == 2)
        plane = jump_plane(code, move);
    else
        plane = line_plane(code, move);
    if (code->file_first)
        square = turned(square);
    return code->plane_first ? plane * CHESS_N_SQUARES + square : square * n_planes(code) + plane;
}
