/*
 * play_hex.c - the game of Hex: blue, who begins, joins top and bottom, red left and right. Stones
 * fall in a random order until somebody has won.
 */
#include "sample/play_tools.h"

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

enum edge { EDGE_TOP, EDGE_BOTTOM, EDGE_LEFT, EDGE_RIGHT, N_EDGES };

static uint32_t max_moves(const struct board *board)
{
    return board->n_cells;
}

/* The chain that a cell or edge belongs to; parents are a forest (union-find). */
static uint32_t chain_of(uint32_t *parents, uint32_t at)
{
    while (parents[at] != at) {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    return at;
}

static void join(uint32_t *parents, uint32_t a, uint32_t b)
{
    parents[chain_of(parents, a)] = chain_of(parents, b);
}

/* Join a new stone to its neighbours of the same colour and to its colour's edges. */
static void join_stone(struct play_game *game, uint32_t n, uint32_t cell)
{
    static const int steps[6][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {1, -1}, {-1, 1}};
    const uint32_t row = cell / n, col = cell % n, edges = n * n;
    const uint8_t colour = game->stones[cell];

    for (size_t i = 0; i < N_OF(steps); i++) {
        const uint32_t r = row + (uint32_t)steps[i][0], c = col + (uint32_t)steps[i][1];

        if (r < n && c < n && game->stones[r * n + c] == colour)
            join(game->work, cell, r * n + c);
    }
    if ((colour == 1 ? row : col) == 0)
        join(game->work, cell, edges + (colour == 1 ? EDGE_TOP : EDGE_LEFT));
    if ((colour == 1 ? row : col) == n - 1)
        join(game->work, cell, edges + (colour == 1 ? EDGE_BOTTOM : EDGE_RIGHT));
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    const uint32_t n = play->board->rows, edges = n * n;

    play_shuffle_cells(play, game);
    memset(game->stones, 0, edges);
    for (uint32_t i = 0; i < edges + N_EDGES; i++)
        game->work[i] = i;
    for (uint32_t ply = 0; ply < edges; ply++) {
        const uint32_t cell = game->moves[ply], colour = ply & 1;
        const uint32_t first = edges + (colour == 0 ? EDGE_TOP : EDGE_LEFT);

        game->stones[cell] = (uint8_t)(colour + 1);
        join_stone(game, n, cell);
        game->n_plies = ply + 1;
        game->winner = (int)colour;
        if (chain_of(game->work, first) == chain_of(game->work, first + 1))
            return;
    }
}

/* Blue stones, red stones, the player to move. */
static void render_boards(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    const uint32_t n_cells = play->board->n_cells;

    for (uint32_t k = 0; k < ply; k++)
        play_put_float(row, (k & 1) * n_cells + game->moves[k], 1);
    for (uint32_t cell = 0; cell < n_cells && (ply & 1) == 1; cell++)
        play_put_float(row, 2 * n_cells + cell, 1);
}

/* The cells that are still free are the rest of the order. */
static void render_policy(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    play_policy(play, game, ply, game->moves + ply, play->board->n_cells - ply, row);
}

static void render_value(const struct play *play, struct play_game *game, uint32_t ply,
                         uint8_t *row)
{
    (void)play, (void)ply;
    play_put_float(row, 0, (float)game->winner);
}

static void render_player(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    (void)play, (void)game;
    row[0] = (uint8_t)(ply & 1);
}

static const struct play_array arrays[] = {
    {"boards", "<f4", {3, PLAY_ROWS, PLAY_COLS}, .render = render_boards},
    {"policy", "<f4", {PLAY_CELLS}, .render = render_policy},
    {"value", "<f4", {0}, .render = render_value},
    {"player_to_move", "|i1", {0}, .render = render_player},
    {"ply", "<i4", {0}, .render = play_render_ply},
};

const struct play_kind play_hex = {
    .game = BOARD_GAME_HEX,
    .max_moves = max_moves,
    .play = play_to_the_end,
    .arrays = arrays,
    .n_arrays = N_OF(arrays),
};
