/*
 * play_chess.c - chess by random legal moves, without castling and en passant, until mate,
 * stalemate or MAX_PLIES moves. Positions are always seen from the player to move.
 */
#include "sample/play.h"

/* --- rules --- */

/* How far a piece goes along straight and diagonal steps, which alternate in chess_directions. */
static const int reaches[][2] = {
    [MAN_KNIGHT] = {1, 1}, [MAN_BISHOP] = {0, 7}, [MAN_ROOK] = {7, 0},
    [MAN_QUEEN] = {7, 7},  [MAN_KING] = {1, 1},
};

/* The square one step on, or -1. */
static int step_from(int square, const struct board_step *step)
{
    return chess_target(&(const struct chess_move){square, step->rows, step->cols, CHESS_NO_PIECE});
}

void chess_position_start(struct chess_position *position)
{
    static const int8_t back_rank[8] = {MAN_ROOK, MAN_KNIGHT, MAN_BISHOP, MAN_QUEEN,
                                        MAN_KING, MAN_BISHOP, MAN_KNIGHT, MAN_ROOK};

    *position = (struct chess_position){.rights = {1, 1, 1, 1}};
    for (int file = 0; file < 8; file++) {
        position->men[file] = back_rank[file];
        position->men[8 + file] = MAN_PAWN;
        position->men[48 + file] = -MAN_PAWN;
        position->men[56 + file] = (int8_t)-back_rank[file];
    }
}

/* The squares of the pieces that give check to the player to move, a bit each. */
static uint64_t checkers_of(const struct chess_position *position)
{
    uint64_t checkers = 0;
    int king = 0;

    while (position->men[king] != MAN_KING)
        king++;
    for (size_t d = 0; d < CHESS_N_DIRECTIONS; d++) {
        const struct board_step *step = &chess_directions[d];
        int at = step_from(king, step), distance = 1;

        for (; at >= 0 && position->men[at] == 0; distance++)
            at = step_from(at, step);
        const int man = at >= 0 ? -position->men[at] : 0;
        /* Their pawns go down the board. */
        if (man == MAN_PAWN ? distance == 1 && step->rows == 1 && step->cols != 0
                            : man >= MAN_BISHOP && distance <= reaches[man][d % 2])
            checkers |= UINT64_C(1) << at;
    }
    for (size_t k = 0; k < CHESS_N_JUMPS; k++) {
        const int at = step_from(king, &chess_jumps[k]);

        if (at >= 0 && position->men[at] == -MAN_KNIGHT)
            checkers |= UINT64_C(1) << at;
    }
    return checkers;
}

/* --- moves --- */

static void put_man(struct chess_position *position, const struct chess_move *move)
{
    position->men[chess_target(move)] =
        move->promotion == CHESS_QUEEN ? MAN_QUEEN : position->men[move->from];
    position->men[move->from] = MAN_NONE;
}

/* A pawn moves straight ahead to free squares, two from its first rank, and captures diagonally. A
 * move that leaves the own king in check is illegal. */
uint32_t chess_legal_moves(const struct chess_position *position, struct chess_move *moves)
{
    static const struct board_step pawn_steps[3] = {{1, 0}, {1, -1}, {1, 1}};
    const int8_t *men = position->men;
    uint32_t n = 0;

    for (int from = 0; from < CHESS_N_SQUARES; from++) {
        const int man = men[from];
        const bool is_pawn = man == MAN_PAWN;
        const struct board_step *steps = is_pawn             ? pawn_steps
                                         : man == MAN_KNIGHT ? chess_jumps
                                                             : chess_directions;

        for (int d = 0; d < (is_pawn ? 3 : 8) && man > 0; d++) {
            int reach = is_pawn ? 1 + (d == 0 && from / 8 == 1) : reaches[man][d % 2];

            for (int to = from; reach > 0; reach--) {
                to = step_from(to, &steps[d]);
                if (to < 0 || men[to] > 0 || (is_pawn && (men[to] < 0) != (d > 0)))
                    break;
                struct chess_position after = *position;
                moves[n] =
                    (struct chess_move){from, to / 8 - from / 8, to % 8 - from % 8,
                                        is_pawn && to / 8 == 7 ? CHESS_QUEEN : CHESS_NO_PIECE};
                put_man(&after, &moves[n]);
                n += checkers_of(&after) == 0;
                if (men[to] != 0)
                    break;
            }
        }
    }
    return n;
}

void chess_make_move(struct chess_position *position, const struct chess_move *move)
{
    /* A right is lost when a move leaves, or captures on, the king's or the rook's home square. */
    static const int homes[4][2] = {{4, 7}, {4, 0}, {60, 63}, {60, 56}};

    put_man(position, move);
    struct chess_position before = *position;
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < 2; k++)
            if (homes[i][k] == move->from || homes[i][k] == chess_target(move))
                before.rights[i] = 0;
    for (int square = 0; square < CHESS_N_SQUARES; square++)
        position->men[square] = (int8_t)-before.men[square ^ 56]; /* ranks mirrored */
    for (size_t i = 0; i < 4; i++)
        position->rights[i] = before.rights[(i + 2) % 4];
}

/* --- games --- */

#define MAX_PLIES 100
#define N_ACTIONS 1814 /* chess-1814: promotions to a queen only */

enum plane {
    PLANE_MINE = 0,
    PLANE_THEIRS = 6,
    PLANE_RIGHTS = 12,
    PLANE_OCCUPIED = 16, /* mine, theirs */
    PLANE_CHECKERS = 18,
    PLANE_MATERIAL = 19, /* of each kind of piece: mine minus theirs */
    N_PLANES = 25,
};

/* Words of game->moves for a ply: the move's index, then the position before it. */
#define PLY_WORDS (1 + (sizeof(struct chess_position) + 3) / 4)

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);
    struct chess_move moves[CHESS_MAX_MOVES];
    struct chess_position position;

    chess_position_start(&position);
    game->winner = -1;
    for (game->n_plies = 0; game->n_plies < MAX_PLIES; game->n_plies++) {
        const uint32_t n = chess_legal_moves(&position, moves);
        uint32_t *words = game->moves + game->n_plies * PLY_WORDS;

        if (n == 0) {
            if (checkers_of(&position) != 0)
                game->winner = (int)((game->n_plies + 1) & 1);
            return;
        }
        const struct chess_move *move = &moves[play_below(&random, n)];

        words[0] = chess_index_1814(move);
        memcpy(words + 1, &position, sizeof position);
        chess_make_move(&position, move);
    }
}

static const struct chess_position *position_at(const struct play_row *r)
{
    return (const void *)(r->game->moves + r->ply * PLY_WORDS + 1);
}

static void render_states(const struct play_row *r)
{
    const struct chess_position *position = position_at(r);
    const uint64_t checkers = checkers_of(position);
    int material[MAN_KING + 1] = {0};

    for (uint32_t square = 0; square < CHESS_N_SQUARES; square++) {
        const int man = position->men[square];
        const uint32_t theirs = man < 0, piece = (uint32_t)(man < 0 ? -man : man);

        if (man == MAN_NONE)
            continue;
        r->to[((theirs ? PLANE_THEIRS : PLANE_MINE) + piece - 1) * CHESS_N_SQUARES + square] = 1;
        r->to[(PLANE_OCCUPIED + theirs) * CHESS_N_SQUARES + square] = 1;
        r->to[PLANE_CHECKERS * CHESS_N_SQUARES + square] = checkers >> square & 1;
        material[piece] += theirs ? -1 : 1;
    }
    for (uint32_t i = 0; i < 4; i++)
        memset(r->to + (PLANE_RIGHTS + i) * CHESS_N_SQUARES, position->rights[i], CHESS_N_SQUARES);
    for (uint32_t piece = MAN_PAWN; piece <= MAN_KING; piece++)
        memset(r->to + (PLANE_MATERIAL + piece - 1) * CHESS_N_SQUARES, material[piece],
               CHESS_N_SQUARES);
}

/* The legal moves, the one played first. */
static void render_policies(const struct play_row *r)
{
    const uint32_t played = r->game->moves[r->ply * PLY_WORDS];
    struct chess_move moves[CHESS_MAX_MOVES];
    const uint32_t n_moves = chess_legal_moves(position_at(r), moves);
    uint32_t n = 1;

    r->game->work[0] = played;
    for (uint32_t i = 0; i < n_moves; i++) {
        const uint32_t index = chess_index_1814(&moves[i]);

        if (index != played)
            r->game->work[n++] = index;
    }
    play_policy(r, r->game->work, n);
}

const struct play_kind play_chess = {
    .game = BOARD_GAME_CHESS,
    .n_moves = MAX_PLIES * PLY_WORDS,
    .play = play_to_the_end,
    .arrays =
        {
            {"states", "|i1", {N_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_states},
            {"policies", "<f4", {N_ACTIONS}, .render = render_policies},
            {"values", "<f4", {0}, .render = play_render_result},
        },
};
