/*
 * play_chess.c - chess by random legal moves (no castling, no en passant) until mate, stalemate, or
 * MAX_PLIES moves. Every position is seen from the player to move.
 */
#include "sample/play_chess.h"
#include "sample/play.h"

#include <stdlib.h>

/* --- rules --- */

#define LAST_RANK 7
#define FLIP_RANK 56 /* square ^ 56 is the square on the turned-over board */

/* Which of chess_directions, clockwise from north, a piece goes along: every other one. */
struct reach {
    bool straight, diagonal;
    int distance;
};

static const struct reach reaches[] = {
    [MAN_BISHOP] = {false, true, 7},
    [MAN_ROOK] = {true, false, 7},
    [MAN_QUEEN] = {true, true, 7},
    [MAN_KING] = {true, true, 1},
};

static bool goes_along(enum chess_man man, size_t direction)
{
    return direction % 2 == 0 ? reaches[man].straight : reaches[man].diagonal;
}

/* The square one step on, or -1. */
static int step_from(int square, const struct chess_step *step)
{
    const int rank = square / 8 + step->d_rank, file = square % 8 + step->d_file;

    return rank < 0 || rank > LAST_RANK || file < 0 || file > 7 ? -1 : rank * 8 + file;
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

int chess_king(const struct chess_position *position)
{
    int square = 0;

    while (position->men[square] != MAN_KING)
        square++;
    return square;
}

/* The first piece of theirs along a direction that attacks from there, or -1. */
static int attacker_along(const struct chess_position *position, int square, size_t direction)
{
    const struct chess_step *step = &chess_directions[direction];
    int at = square;

    for (int distance = 1; (at = step_from(at, step)) >= 0; distance++) {
        const int man = -position->men[at];

        if (man == 0)
            continue;
        if (man == MAN_PAWN) /* theirs go down the board */
            return distance == 1 && step->d_rank == 1 && step->d_file != 0 ? at : -1;
        return man >= MAN_BISHOP && goes_along((enum chess_man)man, direction) &&
                       distance <= reaches[man].distance
                   ? at
                   : -1;
    }
    return -1;
}

uint64_t chess_attackers(const struct chess_position *position, int square)
{
    uint64_t attackers = 0;

    for (size_t d = 0; d < CHESS_N_DIRECTIONS; d++) {
        const int at = attacker_along(position, square, d);

        if (at >= 0)
            attackers |= UINT64_C(1) << at;
    }
    for (size_t k = 0; k < CHESS_N_JUMPS; k++) {
        const int at = step_from(square, &chess_jumps[k]);

        if (at >= 0 && position->men[at] == -MAN_KNIGHT)
            attackers |= UINT64_C(1) << at;
    }
    return attackers;
}

/* --- moves --- */

struct move_list {
    const struct chess_position *position;
    struct chess_move *moves;
    uint32_t n;
};

/* The piece that a move puts on its target. */
static int8_t man_after(const struct chess_position *position, const struct chess_move *move)
{
    return move->promotion == CHESS_QUEEN ? MAN_QUEEN : position->men[move->from];
}

/* Add a move unless it leaves the own king attacked. */
static void add_move(struct move_list *list, int from, int to)
{
    struct chess_position after = *list->position;
    struct chess_move move = {.from = from,
                              .d_rank = to / 8 - from / 8,
                              .d_file = to % 8 - from % 8,
                              .promotion = CHESS_NO_PIECE};

    if (after.men[from] == MAN_PAWN && to / 8 == LAST_RANK)
        move.promotion = CHESS_QUEEN;
    after.men[to] = man_after(&after, &move);
    after.men[from] = MAN_NONE;
    if (chess_attackers(&after, chess_king(&after)) == 0)
        list->moves[list->n++] = move;
}

static void add_lines(struct move_list *list, int from, enum chess_man man)
{
    for (size_t d = 0; d < CHESS_N_DIRECTIONS; d++) {
        int to = from;

        if (!goes_along(man, d))
            continue;
        for (int distance = 1; distance <= reaches[man].distance; distance++) {
            to = step_from(to, &chess_directions[d]);
            if (to < 0 || list->position->men[to] > 0)
                break;
            add_move(list, from, to);
            if (list->position->men[to] != 0)
                break;
        }
    }
}

static void add_jumps(struct move_list *list, int from)
{
    for (size_t k = 0; k < CHESS_N_JUMPS; k++) {
        const int to = step_from(from, &chess_jumps[k]);

        if (to >= 0 && list->position->men[to] <= 0)
            add_move(list, from, to);
    }
}

static void add_pawn(struct move_list *list, int from)
{
    static const struct chess_step captures[2] = {{1, -1}, {1, 1}};
    const int8_t *men = list->position->men;

    if (men[from + 8] == MAN_NONE) {
        add_move(list, from, from + 8);
        if (from / 8 == 1 && men[from + 16] == MAN_NONE)
            add_move(list, from, from + 16);
    }
    for (size_t i = 0; i < 2; i++) {
        const int to = step_from(from, &captures[i]);

        if (to >= 0 && men[to] < 0)
            add_move(list, from, to);
    }
}

uint32_t chess_legal_moves(const struct chess_position *position, struct chess_move *moves)
{
    struct move_list list = {.position = position, .moves = moves};

    for (int from = 0; from < CHESS_N_SQUARES; from++) {
        const int man = position->men[from];

        if (man == MAN_PAWN)
            add_pawn(&list, from);
        else if (man == MAN_KNIGHT)
            add_jumps(&list, from);
        else if (man > 0)
            add_lines(&list, from, (enum chess_man)man);
    }
    return list.n;
}

/* A right is lost when its king's or rook's home square is left or taken. */
static void lose_rights(struct chess_position *position, int square)
{
    static const int homes[N_RIGHTS][2] = {{4, 7}, {4, 0}, {60, 63}, {60, 56}};

    for (size_t i = 0; i < N_RIGHTS; i++)
        if (square == homes[i][0] || square == homes[i][1])
            position->rights[i] = 0;
}

void chess_make_move(struct chess_position *position, const struct chess_move *move)
{
    const int to = chess_target(move);
    const struct chess_position *before = position;
    struct chess_position turned;

    position->men[to] = man_after(position, move);
    position->men[move->from] = MAN_NONE;
    lose_rights(position, move->from);
    lose_rights(position, to);
    for (int square = 0; square < CHESS_N_SQUARES; square++)
        turned.men[square] = (int8_t)-before->men[square ^ FLIP_RANK];
    for (size_t i = 0; i < N_RIGHTS; i++)
        turned.rights[i] = before->rights[(i + 2) % N_RIGHTS];
    *position = turned;
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
    PLANE_MATERIAL = 19, /* of each piece mine less theirs */
    N_PLANES = 25,
};

/* What game->moves holds of a ply: the move's index, and the position before it. */
#define POSITION_WORDS ((sizeof(struct chess_position) + 3) / 4)
#define PLY_WORDS      (1 + POSITION_WORDS)

static void set_up(struct play *play)
{
    play->n_moves = MAX_PLIES * PLY_WORDS;
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

        words[0] = chess_index_1814(move);
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

static void render_states(const struct play_row *r)
{
    const struct chess_position position = position_at(r->game, r->ply);
    const uint64_t checkers = chess_attackers(&position, chess_king(&position));
    int material[MAN_KING + 1] = {0};

    for (uint32_t square = 0; square < CHESS_N_SQUARES; square++) {
        const int man = position.men[square];
        const uint32_t theirs = man < 0, piece = (uint32_t)(man < 0 ? -man : man);

        if (man == MAN_NONE)
            continue;
        r->to[((theirs ? PLANE_THEIRS : PLANE_MINE) + piece - 1) * CHESS_N_SQUARES + square] = 1;
        r->to[(PLANE_OCCUPIED + theirs) * CHESS_N_SQUARES + square] = 1;
        r->to[PLANE_CHECKERS * CHESS_N_SQUARES + square] = checkers >> square & 1;
        material[piece] += theirs ? -1 : 1;
    }
    for (uint32_t i = 0; i < N_RIGHTS; i++)
        fill_plane(PLANE_RIGHTS + i, position.rights[i], r->to);
    for (uint32_t piece = MAN_PAWN; piece <= MAN_KING; piece++)
        fill_plane(PLANE_MATERIAL + piece - 1, material[piece], r->to);
}

/* The legal moves, the one played first. */
static void render_policies(const struct play_row *r)
{
    const struct chess_position position = position_at(r->game, r->ply);
    const uint32_t played = r->game->moves[r->ply * PLY_WORDS];
    struct chess_move moves[CHESS_MAX_MOVES];
    const uint32_t n_moves = chess_legal_moves(&position, moves);
    uint32_t n = 0;

    r->game->work[n++] = played;
    for (uint32_t i = 0; i < n_moves; i++) {
        const uint32_t index = chess_index_1814(&moves[i]);

        if (index != played)
            r->game->work[n++] = index;
    }
    play_policy(r, r->game->work, n);
}

static const struct play_array arrays[] = {
    {"states", "|i1", {N_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_states},
    {"policies", "<f4", {N_ACTIONS}, .render = render_policies},
    {"values", "<f4", {0}, .render = play_render_result},
};

const struct play_kind play_chess = {
    .game = BOARD_GAME_CHESS,
    .set_up = set_up,
    .play = play_to_the_end,
    .arrays = arrays,
    .n_arrays = N_OF(arrays),
};
