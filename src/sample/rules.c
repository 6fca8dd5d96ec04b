/*
 * rules.c - when the last man that was put on the board has won: in Hex, where blue, who begins,
 * joins top and bottom, red left and right; in TicTacToe, Gomoku and Connect 4, where 3, 5 or more,
 * and 4 in a line win; and on boards whose file gives lines of one length, which are to be filled.
 */
#include "sample/play.h"

/* The ways to step from a cell: along rows and columns, then the two other ways of hexagonal cells,
 * then the other diagonals. way ^ 1 is the opposite of way. */
#define N_WAYS         8
#define N_HEXAGON_WAYS 6

#define TICTACTOE_SIDE 3

/* The number of the last man. */
static uint32_t last_of(const struct play_game *game)
{
    return game->n_plies - 1;
}

/* True when the player of the last man has a man on that cell. */
static bool is_own(const struct play_game *game, uint32_t cell)
{
    return game->when[cell] < game->n_plies && ((game->when[cell] ^ last_of(game)) & 1) == 0;
}

/* The cell n steps away if the player of the last man has a man there, else PLAY_NOWHERE. */
static uint32_t step(const struct board *b, const struct play_game *game, uint32_t way, uint32_t n)
{
    static const int steps[N_WAYS][2] = {{0, 1},  {0, -1}, {1, 0}, {-1, 0},
                                         {1, -1}, {-1, 1}, {1, 1}, {-1, -1}};
    const uint32_t from = game->cells[last_of(game)];
    const uint32_t row = from / b->cols + n * (uint32_t)steps[way][0];
    const uint32_t col = from % b->cols + n * (uint32_t)steps[way][1];

    return row < b->rows && col < b->cols && is_own(game, row * b->cols + col) ? row * b->cols + col
                                                                               : PLAY_NOWHERE;
}

/* The chain that a cell or edge belongs to; the parents form a forest (union-find). */
static uint32_t chain_of(uint32_t *parents, uint32_t at)
{
    while (parents[at] != at) {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    return at;
}

/* The edges are numbered after the cells: the two that the first player joins, then those of the
 * second. */
bool play_joins_edges(const struct board *b, struct play_game *game)
{
    const uint32_t last = last_of(game), player = last & 1, cell = game->cells[last];
    const uint32_t edges = b->n_cells + 2 * player;
    const uint32_t across = player == 0 ? cell / b->cols : cell % b->cols;
    uint32_t *parents = game->actions;

    for (uint32_t i = 0; i < b->n_cells + 4 && last == 0; i++)
        parents[i] = i;
    for (uint32_t way = 0; way < N_HEXAGON_WAYS; way++) {
        const uint32_t to = step(b, game, way, 1);

        if (to != PLAY_NOWHERE)
            parents[chain_of(parents, cell)] = chain_of(parents, to);
    }
    if (across == 0)
        parents[chain_of(parents, cell)] = chain_of(parents, edges);
    if (across == b->rows - 1)
        parents[chain_of(parents, cell)] = chain_of(parents, edges + 1);
    return chain_of(parents, edges) == chain_of(parents, edges + 1);
}

bool play_completes_line(const struct board *b, struct play_game *game)
{
    const uint32_t wanted = b->game == BOARD_GAME_DROP ? 4 : b->size == TICTACTOE_SIDE ? 3 : 5;
    uint32_t length = 0;

    for (uint32_t way = 0; way < N_WAYS; way++) {
        uint32_t n = 1;

        while (step(b, game, way, n) != PLAY_NOWHERE)
            n++;
        length = way % 2 == 0 ? n : length + n - 1;
        if (length >= wanted)
            return true;
    }
    return false;
}

bool play_fills_line(const struct board *b, struct play_game *game)
{
    for (uint32_t i = 0; i < b->n_lines; i++) {
        bool has_last = false, fills = true;

        for (uint32_t k = b->line_start[i]; k < b->line_start[i + 1] && fills; k++) {
            has_last |= b->line_cells[k] == game->cells[last_of(game)];
            fills = is_own(game, b->line_cells[k]);
        }
        if (fills && has_last)
            return true;
    }
    return false;
}
