/*
 * play_ringrift.c - games with stacks of rings on hexagons and squares, as RingRift writes shards.
 *
 * First stacks of one to three rings are placed on free cells; then stacks move along lines onto
 * free cells, onto own stacks (which grow) or onto others' that are no higher (which are captured).
 * Whoever has more rings at the end wins. This resembles RingRift but does not follow its rules.
 */
#include "sample/play.h"

#include "board/actions.h"

#define N_MOVES      24 /* after the placements */
#define N_HISTORY    3
#define N_TRIES      32 /* to draw a move, before a player passes */
#define N_CANDIDATES 12 /* tries to draw further moves for a policy */
#define N_GLOBALS    20
#define MAX_HEIGHT   5

/* --- rules --- */

/* What a player does: ACTION_WORDS of game->moves for each ply. game->stones holds the owners of
 * all cells (1, 2, or 0 for nobody), then the heights of all cells. */
struct action {
    uint32_t index; /* in the policy */
    uint32_t from;  /* of a move */
    uint32_t to;
};

#define ACTION_WORDS 3

static struct action *action_at(const struct play_game *game, uint32_t ply)
{
    return (struct action *)(void *)(game->moves + ACTION_WORDS * ply);
}

/* The number of plies in which stacks are placed. */
static uint32_t n_placements(const struct board *board)
{
    const uint32_t third = board->n_on_board / 3;

    return third < 2 ? 2 : third > 24 ? 24 : third;
}

/* The index of a pass: on hexagons after placements and moves; on squares that of a skipped
 * placement, after placements, moves, lines and eliminations. */
static uint32_t passing_index(const struct board *board)
{
    uint32_t n_directions;

    ringrift_directions(board, &n_directions);
    return board->n_cells * ((n_directions == 6 ? 3 : 8) + n_directions * (board->cols - 1));
}

/* A random cell on the board of that owner (0: a free one). False when there is none. */
static bool draw_cell(const struct board *board, const uint8_t *owners, uint32_t owner,
                      struct play_random *random, uint32_t *cell)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < board->n_cells; i++)
        n += board->on_board[i] && owners[i] == owner;
    if (n == 0)
        return false;
    uint32_t wanted = play_below(random, n);
    for (*cell = 0;; ++*cell)
        if (board->on_board[*cell] && owners[*cell] == owner && wanted-- == 0)
            return true;
}

/* Draw an action of the player to move. False when the draw is not a legal one; try again. */
static bool draw_action(const struct board *board, const uint8_t *owners, uint32_t ply,
                        struct play_random *random, struct action *action)
{
    const uint8_t *heights = owners + board->n_cells;
    const uint32_t distances = board->cols - 1;
    uint32_t n_directions, owner = 0;
    const struct board_step *steps = ringrift_directions(board, &n_directions);

    *action = (struct action){0};
    if (ply < n_placements(board)) {
        if (!draw_cell(board, owners, 0, random, &action->to))
            return false;
        action->index = action->to * 3 + play_below(random, 3);
        return true;
    }
    const uint32_t d = play_below(random, n_directions);
    const uint32_t distance = 1 + play_below(random, distances < 3 ? distances : 3);
    if (!draw_cell(board, owners, 1 + (ply & 1), random, &action->from))
        return false;
    for (uint32_t i = 1; i <= distance; i++) {
        action->to = board_cell_after(board, action->from, steps[d], i);
        if (action->to == BOARD_NO_CELL || owner != 0)
            return false;
        owner = owners[action->to];
    }
    action->index =
        3 * board->n_cells + (action->from * n_directions + d) * distances + distance - 1;
    return owner == 0 || owner == owners[action->from] ||
           heights[action->to] <= heights[action->from];
}

/* --- games --- */

/* Planes, in pairs of mine and theirs; the last one of all is 1 on the board. */
enum plane {
    PLANE_STACKS,
    PLANE_HEIGHT = 2,                                 /* as a fraction of MAX_HEIGHT */
    PLANE_HEIGHT_IS = 4,                              /* 1 to MAX_HEIGHT, mine; then theirs */
    PLANE_HISTORY = PLANE_HEIGHT_IS + 2 * MAX_HEIGHT, /* latest first */
    PLANE_PLACING = PLANE_HISTORY + 2 * N_HISTORY,
    PLANE_FIRST_TO_MOVE,
};

static bool set_up(struct play *play)
{
    play->n_moves = ACTION_WORDS * (n_placements(play->board) + N_MOVES);
    play->n_planes = play->board->family->stack_planes[0];
    return true;
}

/* Do what the player of a ply did. */
static void make_move(const struct play *play, const struct play_game *game, uint32_t ply)
{
    const struct action *action = action_at(game, ply);
    uint8_t *owners = game->stones, *heights = owners + play->board->n_cells;
    uint32_t height = action->index % 3 + 1;

    if (action->index == passing_index(play->board))
        return;
    if (ply >= n_placements(play->board)) {
        height = (uint32_t)heights[action->from] + heights[action->to];
        owners[action->from] = heights[action->from] = 0;
    }
    owners[action->to] = (uint8_t)(1 + (ply & 1));
    heights[action->to] = (uint8_t)(height < MAX_HEIGHT ? height : MAX_HEIGHT);
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    uint32_t rings[3] = {0};

    game->n_plies = n_placements(play->board) + N_MOVES;
    memset(game->stones, 0, 2 * (size_t)play->board->n_cells);
    for (uint32_t ply = 0; ply < game->n_plies; ply++) {
        struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, ply);
        struct action *action = action_at(game, ply);
        int tries = 0;

        while (tries < N_TRIES && !draw_action(play->board, game->stones, ply, &random, action))
            tries++;
        if (tries == N_TRIES)
            *action = (struct action){.index = passing_index(play->board)};
        make_move(play, game, ply);
    }
    for (uint32_t cell = 0; cell < play->board->n_cells; cell++)
        rings[game->stones[cell]] += game->stones[play->board->n_cells + cell];
    game->winner = rings[1] == rings[2] ? -1 : rings[1] < rings[2];
}

/* --- rows --- */

/* Set a cell of a plane. Planes of hexagons are stored by row and column, of squares by column and
 * row. */
static void put(const struct play_row *r, uint32_t plane, uint32_t cell, float value)
{
    const struct board *board = r->play->board;
    uint64_t at = cell;

    if (board->family->xy_layout != NULL)
        at = cell % board->cols * board->rows + cell / board->cols;
    play_put_float(r->to, (uint64_t)plane * board->n_cells + at, value);
}

/* Draw both players' stacks into two planes; into PLANE_STACKS, also their heights. */
static void put_stacks(const struct play_row *r, uint32_t plane)
{
    const uint32_t n_cells = r->play->board->n_cells;

    for (uint32_t cell = 0; cell < n_cells; cell++) {
        const uint8_t owner = r->game->stones[cell], height = r->game->stones[n_cells + cell];
        const uint32_t theirs = owner != 1 + (r->ply & 1);

        if (owner == 0)
            continue;
        put(r, plane + theirs, cell, 1);
        if (plane != PLANE_STACKS)
            continue;
        put(r, PLANE_HEIGHT + theirs, cell, (float)height / MAX_HEIGHT);
        put(r, PLANE_HEIGHT_IS + theirs * MAX_HEIGHT + height - 1, cell, 1);
    }
}

static void fill(const struct play_row *r, uint32_t plane)
{
    for (uint32_t i = 0; i < r->play->board->n_on_board; i++)
        put(r, plane, r->play->board->order[i], 1);
}

static void render_features(const struct play_row *r)
{
    memset(r->game->stones, 0, 2 * (size_t)r->play->board->n_cells);
    for (uint32_t k = 0; k < r->ply; k++) {
        if (r->ply - k <= N_HISTORY)
            put_stacks(r, PLANE_HISTORY + 2 * (r->ply - k - 1));
        make_move(r->play, r->game, k);
    }
    put_stacks(r, PLANE_STACKS);
    if (r->ply < n_placements(r->play->board))
        fill(r, PLANE_PLACING);
    if ((r->ply & 1) == 0)
        fill(r, PLANE_FIRST_TO_MOVE);
    fill(r, r->play->n_planes - 1);
}

/* The share of plies played, whose turn it is, which phase; the rest is 0. */
static void render_globals(const struct play_row *r)
{
    play_put_float(r->to, 0, (float)r->ply / (float)r->game->n_plies);
    play_put_float(r->to, 1, (float)(r->ply & 1));
    play_put_float(r->to, 2, r->ply < n_placements(r->play->board));
}

/* The action played, then others that were possible. Returns their number. */
static uint32_t list_candidates(const struct play_row *r, uint32_t indices[N_CANDIDATES + 1])
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_CHOICES, r->ply);
    uint32_t n = 1;

    memset(r->game->stones, 0, 2 * (size_t)r->play->board->n_cells);
    for (uint32_t k = 0; k < r->ply; k++)
        make_move(r->play, r->game, k);
    indices[0] = action_at(r->game, r->ply)->index;
    for (int i = 0; i < N_CANDIDATES && indices[0] != passing_index(r->play->board); i++) {
        struct action action;
        uint32_t k = 0;

        if (!draw_action(r->play->board, r->game->stones, r->ply, &random, &action))
            continue;
        while (k < n && indices[k] != action.index)
            k++;
        indices[k] = action.index;
        n += k == n;
    }
    return n;
}

static uint32_t render_indices(const struct play_row *r)
{
    uint32_t indices[N_CANDIDATES + 1];
    const uint32_t n = list_candidates(r, indices);

    for (uint32_t i = 0; i < n; i++)
        play_put_int(r->to, i, (int32_t)indices[i]);
    return n;
}

static uint32_t render_values(const struct play_row *r)
{
    uint32_t indices[N_CANDIDATES + 1];
    const uint32_t n = list_candidates(r, indices);

    play_policy(r, NULL, n);
    return n;
}

const struct play_kind play_ringrift = {
    .game = BOARD_GAME_RINGS,
    .set_up = set_up,
    .play = play_to_the_end,
    .arrays =
        {
            {"features", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_features},
            {"globals", "<f4", {N_GLOBALS}, .render = render_globals},
            {"values", "<f4", {0}, .render = play_render_result},
            {"policy_indices", "<i4", {0}, .render_items = render_indices},
            {"policy_values", "<f4", {0}, .render_items = render_values},
            {"move_numbers", "<i4", {0}, .render = play_render_ply},
            {"board_type", "<U", {0}, .text = ""},
            {"policy_encoding", "<U", {0}, .text = "board_aware"},
        },
};
