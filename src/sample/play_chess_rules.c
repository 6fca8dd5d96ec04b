/* play_chess_rules.c - see play_chess_rules.h. */
#include "sample/play_chess_rules.h"

#include <stdlib.h>

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
static void add(struct move_list *list, int from, int to)
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
            add(list, from, to);
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
            add(list, from, to);
    }
}

static void add_pawn(struct move_list *list, int from)
{
    static const struct chess_step captures[2] = {{1, -1}, {1, 1}};
    const int8_t *men = list->position->men;

    if (men[from + 8] == MAN_NONE) {
        add(list, from, from + 8);
        if (from / 8 == 1 && men[from + 16] == MAN_NONE)
            add(list, from, from + 16);
    }
    for (size_t i = 0; i < 2; i++) {
        const int to = step_from(from, &captures[i]);

        if (to >= 0 && men[to] < 0)
            add(list, from, to);
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
