/*
 * play_ringrift.c - stacks on hexagons and squares, in the form of RingRift's shards. First stacks
 * of one to three rings are placed on free cells, then stacks move along lines: onto free cells,
 * onto own stacks (they grow), onto others' that are no higher (captured). Who owns more rings at
 * the end wins. This is like that game, not its rules.
 */
#include "engine/play_tools.h"

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

#define N_MOVES      24 /* behind the placements */
#define MAX_HEIGHT   5
#define N_HISTORY    3
#define N_TRIES      32 /* at a move, before a player passes */
#define N_CANDIDATES 12 /* tries at the moves that a policy holds */
#define N_GLOBALS    20

/* The planes; the last one is 1 on board. */
enum plane {
    PLANE_MINE,
    PLANE_THEIRS,
    PLANE_MY_HEIGHT, /* as a part of MAX_HEIGHT */
    PLANE_THEIR_HEIGHT,
    PLANE_MY_HEIGHT_IS, /* 1 to MAX_HEIGHT */
    PLANE_THEIR_HEIGHT_IS = PLANE_MY_HEIGHT_IS + MAX_HEIGHT,
    PLANE_HISTORY = PLANE_THEIR_HEIGHT_IS + MAX_HEIGHT, /* mine, theirs; the latest first */
    PLANE_PLACING = PLANE_HISTORY + 2 * N_HISTORY,
    PLANE_FIRST_TO_MOVE,
};

/* RingRift's own order of directions, as steps of (row, column). */
static const int hexagon_steps[6][2] = {{0, 1}, {1, 0}, {1, -1}, {0, -1}, {-1, 0}, {-1, 1}};
static const int square_steps[8][2] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                       {0, 1},   {1, -1}, {1, 0},  {1, 1}};

static bool fits_hexagon(const struct board *board)
{
    return board_is(board, "hexagon");
}

static bool fits_square(const struct board *board)
{
    static const char *const names[] = {"square8", "square19", NULL};

    return play_is_preset(board, names);
}

static bool is_hexagon(const struct play *play)
{
    return play->kind == &play_ringrift_hexagon;
}

static uint32_t n_placements(const struct board *board)
{
    const uint32_t third = board->n_on_board / 3;

    return third < 2 ? 2 : third > 24 ? 24 : third;
}

/* --- the position: stones[cell] is owner * 8 + height, 0 for a free cell --- */

static uint32_t owner_of(uint8_t stack)
{
    return stack / 8;
}

static uint32_t height_of(uint8_t stack)
{
    return stack % 8;
}

static uint8_t new_stack(uint32_t owner, uint32_t height)
{
    return (uint8_t)(owner * 8 + (height < MAX_HEIGHT ? height : MAX_HEIGHT));
}

/* An action, and what it does. */
struct action {
    uint32_t index; /* in the policy */
    uint32_t from;  /* of a move */
    uint32_t to;
};

static uint32_t passing_index(const struct play *play)
{
    const uint32_t n_cells = play->board->n_cells, distances = play->board->cols - 1;

    /* On squares: skip placement, behind placements, moves, lines and eliminations. */
    return is_hexagon(play) ? 3 * n_cells + 6 * n_cells * distances
                            : 3 * n_cells + 8 * n_cells * distances + 5 * n_cells;
}

/* Where a stack that moves from a cell ends; false when it may not move so. */
static bool try_move(const struct play *play, const uint8_t *stones, struct action *action,
                     const int step[2], uint32_t distance)
{
    const struct board *board = play->board;
    uint32_t row = action->from / board->cols, col = action->from % board->cols;

    for (uint32_t k = 1; k <= distance; k++) {
        row += (uint32_t)step[0];
        col += (uint32_t)step[1];
        if (row >= board->rows || col >= board->cols || !board->on_board[row * board->cols + col])
            return false;
        action->to = row * board->cols + col;
        if (k < distance && stones[action->to] != 0)
            return false;
    }
    return stones[action->to] == 0 ||
           owner_of(stones[action->to]) == owner_of(stones[action->from]) ||
           height_of(stones[action->to]) <= height_of(stones[action->from]);
}

/* A random cell with the player's stack (1 or 2), or a free one (0). False when there is none. */
static bool draw_cell(const struct play *play, const uint8_t *stones, uint32_t owner,
                      struct play_random *random, uint32_t *cell)
{
    const struct board *board = play->board;
    uint32_t n = 0, wanted;

    for (uint32_t i = 0; i < board->n_cells; i++)
        n += board->on_board[i] && owner_of(stones[i]) == owner;
    if (n == 0)
        return false;
    wanted = play_below(random, n);
    for (*cell = 0;; ++*cell)
        if (board->on_board[*cell] && owner_of(stones[*cell]) == owner && wanted-- == 0)
            return true;
}

static bool draw_placement(const struct play *play, const uint8_t *stones,
                           struct play_random *random, struct action *action)
{
    if (!draw_cell(play, stones, 0, random, &action->to))
        return false;
    action->index = action->to * 3 + play_below(random, 3);
    return true;
}

static bool draw_move(const struct play *play, const uint8_t *stones, uint32_t owner,
                      struct play_random *random, struct action *action)
{
    const uint32_t n_directions = is_hexagon(play) ? 6 : 8, distances = play->board->cols - 1;
    const uint32_t d = play_below(random, n_directions);
    const uint32_t distance = 1 + play_below(random, distances < 3 ? distances : 3);

    if (!draw_cell(play, stones, owner, random, &action->from) ||
        !try_move(play, stones, action, is_hexagon(play) ? hexagon_steps[d] : square_steps[d],
                  distance))
        return false;
    action->index =
        3 * play->board->n_cells + (action->from * n_directions + d) * distances + distance - 1;
    return true;
}

/* Something the player may do at a ply; false when nothing was found at the first try. */
static bool draw_action(const struct play *play, const uint8_t *stones, uint32_t ply,
                        struct play_random *random, struct action *action)
{
    *action = (struct action){0};
    if (ply < n_placements(play->board))
        return draw_placement(play, stones, random, action);
    return draw_move(play, stones, 1 + (ply & 1), random, action);
}

static uint32_t max_plies(const struct board *board)
{
    return n_placements(board) + N_MOVES;
}

/* Moves take three numbers each. */
static uint32_t max_moves(const struct board *board)
{
    return 3 * max_plies(board);
}

static void store(struct play_game *game, uint32_t ply, const struct action *action)
{
    game->moves[3 * ply] = action->index;
    game->moves[3 * ply + 1] = action->from;
    game->moves[3 * ply + 2] = action->to;
}

/* Make the stored move of a ply. A placement's index tells its height. */
static void make_move(const struct play *play, const struct play_game *game, uint32_t ply)
{
    const uint32_t *move = &game->moves[3 * ply], owner = 1 + (ply & 1);
    uint8_t *stones = game->stones;

    if (move[0] == passing_index(play))
        return;
    if (ply < n_placements(play->board)) {
        stones[move[2]] = new_stack(owner, move[0] % 3 + 1);
        return;
    }
    stones[move[2]] = new_stack(owner, height_of(stones[move[1]]) + height_of(stones[move[2]]));
    stones[move[1]] = 0;
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    uint32_t rings[3] = {0};

    game->n_plies = max_plies(play->board);
    memset(game->stones, 0, play->board->n_cells);
    for (uint32_t ply = 0; ply < game->n_plies; ply++) {
        struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, ply);
        struct action action;
        int tries = 0;

        while (tries < N_TRIES && !draw_action(play, game->stones, ply, &random, &action))
            tries++;
        if (tries == N_TRIES)
            action = (struct action){.index = passing_index(play)};
        store(game, ply, &action);
        make_move(play, game, ply);
    }
    for (uint32_t cell = 0; cell < play->board->n_cells; cell++)
        rings[owner_of(game->stones[cell])] += height_of(game->stones[cell]);
    game->winner = rings[1] == rings[2] ? -1 : rings[1] < rings[2];
}

/* --- rows --- */

/* Planes of hexagons are stored by row and column, those of squares by column and row. */
static void put(const struct play *play, uint32_t plane, uint32_t cell, float value, uint8_t *row)
{
    const struct board *board = play->board;
    uint64_t at = cell;

    if (!is_hexagon(play))
        at = cell % board->cols * board->rows + cell / board->cols;
    play_put_float(row, (uint64_t)plane * board->n_cells + at, value);
}

/* Both players' stacks into two planes. */
static void put_stacks(const struct play *play, const uint8_t *stones, uint32_t mover,
                       uint32_t plane, uint8_t *row)
{
    for (uint32_t cell = 0; cell < play->board->n_cells; cell++)
        if (stones[cell] != 0)
            put(play, plane + (owner_of(stones[cell]) != mover), cell, 1, row);
}

static void put_heights(const struct play *play, const uint8_t *stones, uint32_t mover,
                        uint8_t *row)
{
    for (uint32_t cell = 0; cell < play->board->n_cells; cell++) {
        const uint32_t height = height_of(stones[cell]);
        const bool mine = owner_of(stones[cell]) == mover;

        if (height == 0)
            continue;
        put(play, mine ? PLANE_MY_HEIGHT : PLANE_THEIR_HEIGHT, cell, (float)height / MAX_HEIGHT,
            row);
        put(play, (mine ? PLANE_MY_HEIGHT_IS : PLANE_THEIR_HEIGHT_IS) + height - 1, cell, 1, row);
    }
}

static void fill(const struct play *play, uint32_t plane, uint8_t *row)
{
    for (uint32_t cell = 0; cell < play->board->n_cells; cell++)
        if (play->board->on_board[cell])
            put(play, plane, cell, 1, row);
}

static void render_features(const struct play *play, struct play_game *game, uint32_t ply,
                            uint8_t *row)
{
    const uint32_t mover = 1 + (ply & 1);
    const uint32_t n_planes = (uint32_t)play->kind->arrays[0].dims[0];

    memset(game->stones, 0, play->board->n_cells);
    for (uint32_t k = 0; k < ply; k++) {
        if (ply - k <= N_HISTORY)
            put_stacks(play, game->stones, mover, PLANE_HISTORY + 2 * (ply - k - 1), row);
        make_move(play, game, k);
    }
    put_stacks(play, game->stones, mover, PLANE_MINE, row);
    put_heights(play, game->stones, mover, row);
    if (ply < n_placements(play->board))
        fill(play, PLANE_PLACING, row);
    if (mover == 1)
        fill(play, PLANE_FIRST_TO_MOVE, row);
    fill(play, n_planes - 1, row);
}

/* How far the game is, whose turn, which phase; the rest is 0. */
static void render_globals(const struct play *play, struct play_game *game, uint32_t ply,
                           uint8_t *row)
{
    play_put_float(row, 0, (float)ply / (float)game->n_plies);
    play_put_float(row, 1, (float)(ply & 1));
    play_put_float(row, 2, ply < n_placements(play->board));
}

/* The move played and some others that might have been. Returns their number. */
static uint32_t list_candidates(const struct play *play, struct play_game *game, uint32_t ply,
                                uint32_t *indices)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_CHOICES, ply);
    uint32_t n = 1;

    memset(game->stones, 0, play->board->n_cells);
    for (uint32_t k = 0; k < ply; k++)
        make_move(play, game, k);
    indices[0] = game->moves[3 * ply];
    for (int i = 0; i < N_CANDIDATES && indices[0] != passing_index(play); i++) {
        struct action action;
        uint32_t k = 0;

        if (!draw_action(play, game->stones, ply, &random, &action))
            continue;
        while (k < n && indices[k] != action.index)
            k++;
        indices[k] = action.index;
        n += k == n;
    }
    return n;
}

static uint32_t render_indices(const struct play *play, struct play_game *game, uint32_t ply,
                               uint8_t *row)
{
    uint32_t indices[N_CANDIDATES + 1];
    const uint32_t n = list_candidates(play, game, ply, indices);

    for (uint32_t i = 0; i < n; i++)
        play_put_int(row, i, (int32_t)indices[i]);
    return n;
}

static uint32_t render_values(const struct play *play, struct play_game *game, uint32_t ply,
                              uint8_t *row)
{
    uint32_t indices[N_CANDIDATES + 1];
    const uint32_t n = list_candidates(play, game, ply, indices);

    for (uint32_t i = 0; i < n; i++)
        indices[i] = i;
    play_policy(play, game, ply, indices, n, row);
    return n;
}

static const char *board_type(const struct play *play)
{
    return play->board->preset;
}

static const char *policy_encoding(const struct play *play)
{
    (void)play;
    return "board_aware";
}

#define ARRAYS(n_planes)                                                                  \
    {                                                                                     \
        {"features", "<f4", {n_planes, PLAY_ROWS, PLAY_COLS}, .render = render_features}, \
            {"globals", "<f4", {N_GLOBALS}, .render = render_globals},                    \
            {"values", "<f4", {0}, .render = play_render_result},                         \
            {"policy_indices", "<i4", {0}, .render_items = render_indices},               \
            {"policy_values", "<f4", {0}, .render_items = render_values},                 \
            {"move_numbers", "<i4", {0}, .render = play_render_ply},                      \
            {"board_type", "<U", {0}, .text = board_type},                                \
            {"policy_encoding", "<U", {0}, .text = policy_encoding},                      \
    }

static const struct play_array hexagon_arrays[] = ARRAYS(40);
static const struct play_array square_arrays[] = ARRAYS(56);

const struct play_kind play_ringrift_hexagon = {
    .fits = fits_hexagon,
    .max_moves = max_moves,
    .play = play_to_the_end,
    .arrays = hexagon_arrays,
    .n_arrays = N_OF(hexagon_arrays),
};

const struct play_kind play_ringrift_square = {
    .fits = fits_square,
    .max_moves = max_moves,
    .play = play_to_the_end,
    .arrays = square_arrays,
    .n_arrays = N_OF(square_arrays),
};
