/*
 * chess_moves.c - chess moves, their mirror, and the codes that number them: as lists of the moves
 * of every square, as from * 64 + to, or with a plane for each kind of move. A code decodes an
 * index into a move and encodes it again, so that the image of an index is that of the mirrored
 * move. Moves are steps, which may leave the board: plane codes number such moves too.
 */
#include "board/chess_moves.h"

#include <stdio.h>
#include <stdlib.h>

const struct chess_step chess_directions[CHESS_N_DIRECTIONS] = {
    {1, 0}, {1, 1}, {0, 1}, {-1, 1}, {-1, 0}, {-1, -1}, {0, -1}, {1, -1},
};

const struct chess_step chess_jumps[CHESS_N_JUMPS] = {
    {2, 1}, {1, 2}, {-1, 2}, {-2, 1}, {-2, -1}, {-1, -2}, {1, -2}, {2, -1},
};

/* How many lines and jumps the squares before this one have together. */
static const uint16_t moves_before[CHESS_N_SQUARES + 1] = {
    0,    23,   47,   72,   97,   122,  147,  171,  194,  218,  245,  274,  303,
    332,  361,  388,  412,  437,  466,  499,  532,  565,  598,  627,  652,  677,
    706,  739,  774,  809,  842,  871,  896,  921,  950,  983,  1018, 1053, 1086,
    1115, 1140, 1165, 1194, 1227, 1260, 1293, 1326, 1355, 1380, 1404, 1431, 1460,
    1489, 1518, 1547, 1574, 1598, 1621, 1645, 1670, 1695, 1720, 1745, 1769, 1792,
};

#define RANK_7 6

/* Of one square: 27 of a queen, 8 of a knight, 3 x 4 promotions, and one that is being tried. */
#define MAX_MOVES 48

int chess_target(const struct chess_move *move)
{
    int rank = move->from / 8 + move->d_rank;
    int file = move->from % 8 + move->d_file;

    return rank < 0 || rank > 7 || file < 0 || file > 7 ? -1 : rank * 8 + file;
}

bool chess_is_playable(const struct chess_move *move)
{
    int n_ranks = abs(move->d_rank), n_files = abs(move->d_file);

    if (chess_target(move) < 0)
        return false;
    if (move->promotion != CHESS_NO_PIECE)
        return move->from / 8 == RANK_7 && move->d_rank == 1 && n_files <= 1;
    return (n_ranks == 0) != (n_files == 0) || (n_ranks == n_files && n_ranks > 0) ||
           n_ranks * n_files == 2;
}

void chess_mirror(struct chess_move *move)
{
    move->from ^= 7;
    move->d_file = -move->d_file;
}

void chess_describe(const struct chess_move *move, char *text, size_t n_bytes)
{
    static const char *const promotions[] = {"", "=N", "=B", "=R", "=Q"};
    int to = chess_target(move);
    char from_file = (char)('a' + move->from % 8), from_rank = (char)('1' + move->from / 8);

    if (to < 0)
        snprintf(text, n_bytes, "%c%c (%+d,%+d)%s leaves the board", from_file, from_rank,
                 move->d_rank, move->d_file, promotions[move->promotion]);
    else
        snprintf(text, n_bytes, "%c%c%c%c%s", from_file, from_rank, 'a' + to % 8, '1' + to / 8,
                 promotions[move->promotion]);
}

static size_t add_if_on_board(struct chess_move moves[MAX_MOVES], size_t n, struct chess_move move)
{
    moves[n] = move;
    return chess_target(&move) >= 0 ? n + 1 : n;
}

/* The moves of one square in the order of the list. Returns how many. */
static size_t list_moves(int from, uint32_t n_pieces, struct chess_move moves[MAX_MOVES])
{
    size_t n = 0;

    for (size_t d = 0; d < CHESS_N_DIRECTIONS; d++)
        for (int distance = 1; distance <= CHESS_MAX_DISTANCE; distance++)
            n = add_if_on_board(moves, n,
                                (struct chess_move){from, chess_directions[d].d_rank * distance,
                                                    chess_directions[d].d_file * distance,
                                                    CHESS_NO_PIECE});
    for (size_t k = 0; k < CHESS_N_JUMPS; k++)
        n = add_if_on_board(moves, n,
                            (struct chess_move){from, chess_jumps[k].d_rank, chess_jumps[k].d_file,
                                                CHESS_NO_PIECE});
    for (int d_file = -1; from / 8 == RANK_7 && d_file <= 1; d_file++)
        for (uint32_t k = 0; k < n_pieces; k++)
            n = add_if_on_board(
                moves, n,
                (struct chess_move){from, 1, d_file, (enum chess_piece)(CHESS_QUEEN - k)});
    return n;
}

/* The index of the first move of a square. On rank 7 the edge files have 2 promotions, others 3. */
static uint32_t list_start(int from, uint32_t n_pieces)
{
    int n_before = from - RANK_7 * 8;
    int n_targets = n_before <= 0 ? 0 : n_before >= 8 ? 22 : 3 * n_before - 1;

    return moves_before[from] + (uint32_t)n_targets * n_pieces;
}

void chess_list_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    struct chess_move moves[MAX_MOVES];
    int from = 0;

    while (from + 1 < CHESS_N_SQUARES && list_start(from + 1, code->n_pieces) <= action)
        from++;
    list_moves(from, code->n_pieces, moves);
    *move = moves[action - list_start(from, code->n_pieces)];
}

uint32_t chess_list_encode(const struct chess_code *code, const struct chess_move *move)
{
    struct chess_move moves[MAX_MOVES];
    size_t n = list_moves(move->from, code->n_pieces, moves);
    uint32_t i = 0;

    while (i + 1 < n && (moves[i].d_rank != move->d_rank || moves[i].d_file != move->d_file ||
                         moves[i].promotion != move->promotion))
        i++;
    return list_start(move->from, code->n_pieces) + i;
}

void chess_from_to_decode(const struct chess_code *code, uint32_t action, struct chess_move *move)
{
    int from = (int)(action / CHESS_N_SQUARES), to = (int)(action % CHESS_N_SQUARES);

    (void)code;
    *move = (struct chess_move){from, to / 8 - from / 8, to % 8 - from % 8, CHESS_NO_PIECE};
}

uint32_t chess_from_to_encode(const struct chess_code *code, const struct chess_move *move)
{
    (void)code;
    return (uint32_t)(move->from * CHESS_N_SQUARES + chess_target(move));
}

/* --- codes by planes --- */

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
