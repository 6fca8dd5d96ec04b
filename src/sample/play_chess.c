/*
 * play_chess.c - chess by random legal moves (no castling, no en passant) until mate, stalemate, or
 * MAX_PLIES moves. Every position is seen from the player to move.
 */
#include "sample/play_tools.h"

#include "board/actions.h"
#include "sample/play_chess_rules.h"

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

#define MAX_PLIES 100
#define N_ACTIONS 1814

/* The policy of 1814 moves: promotions to a queen only. */
static const struct chess_code code = {.length = N_ACTIONS, .n_pieces = 1};

enum plane {
    PLANE_MINE = 0,
    PLANE_THEIRS = 6,
    PLANE_RIGHTS = 12,
    PLANE_OCCUPIED = 16, /* mine, theirs */
    PLANE_CHECKERS = 18,
    PLANE_MATERIAL = 19, /* of each piece mine less theirs */
    N_PLANES = 25,
};

/* What game->moves holds of a ply: the move's index, and the position before it. */
#define POSITION_WORDS ((sizeof(struct chess_position) + 3) / 4)
#define PLY_WORDS      (1 + POSITION_WORDS)

static uint32_t max_moves(const struct board *board)
{
    (void)board;
    return MAX_PLIES * PLY_WORDS;
}

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
            if (chess_attackers(&position, chess_king(&position)) != 0)
                game->winner = (int)((game->n_plies + 1) & 1);
            return;
        }
        const struct chess_move *move = &moves[play_below(&random, n)];

        words[0] = chess_list_encode(&code, move);
        memcpy(words + 1, &position, sizeof position);
        chess_make_move(&position, move);
    }
}

static struct chess_position position_at(const struct play_game *game, uint32_t ply)
{
    struct chess_position position;

    memcpy(&position, game->moves + ply * PLY_WORDS + 1, sizeof position);
    return position;
}

static void fill_plane(uint32_t plane, int value, uint8_t *row)
{
    memset(row + plane * CHESS_N_SQUARES, (uint8_t)value, CHESS_N_SQUARES);
}

static void render_states(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    const struct chess_position position = position_at(game, ply);
    const uint64_t checkers = chess_attackers(&position, chess_king(&position));
    int material[MAN_KING + 1] = {0};

    (void)play;
    for (uint32_t square = 0; square < CHESS_N_SQUARES; square++) {
        const int man = position.men[square];
        const uint32_t theirs = man < 0, piece = (uint32_t)(man < 0 ? -man : man);

        if (man == MAN_NONE)
            continue;
        row[((theirs ? PLANE_THEIRS : PLANE_MINE) + piece - 1) * CHESS_N_SQUARES + square] = 1;
        row[(PLANE_OCCUPIED + theirs) * CHESS_N_SQUARES + square] = 1;
        row[PLANE_CHECKERS * CHESS_N_SQUARES + square] = checkers >> square & 1;
        material[piece] += theirs ? -1 : 1;
    }
    for (uint32_t i = 0; i < N_RIGHTS; i++)
        fill_plane(PLANE_RIGHTS + i, position.rights[i], row);
    for (uint32_t piece = MAN_PAWN; piece <= MAN_KING; piece++)
        fill_plane(PLANE_MATERIAL + piece - 1, material[piece], row);
}

/* The legal moves, the one played first. */
static void render_policies(const struct play *play, struct play_game *game, uint32_t ply,
                            uint8_t *row)
{
    const struct chess_position position = position_at(game, ply);
    const uint32_t played = game->moves[ply * PLY_WORDS];
    struct chess_move moves[CHESS_MAX_MOVES];
    const uint32_t n_moves = chess_legal_moves(&position, moves);
    uint32_t n = 0;

    game->work[n++] = played;
    for (uint32_t i = 0; i < n_moves; i++) {
        const uint32_t index = chess_list_encode(&code, &moves[i]);

        if (index != played)
            game->work[n++] = index;
    }
    play_policy(play, game, ply, game->work, n, row);
}

static const struct play_array arrays[] = {
    {"states", "|i1", {N_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_states},
    {"policies", "<f4", {N_ACTIONS}, .render = render_policies},
    {"values", "<f4", {0}, .render = play_render_result},
};

const struct play_kind play_chess = {
    .game = BOARD_GAME_CHESS,
    .max_moves = max_moves,
    .play = play_to_the_end,
    .arrays = arrays,
    .n_arrays = N_OF(arrays),
};
