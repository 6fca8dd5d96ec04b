/*
 * play_place.c - boards without a game of their own: stones fall on free cells in a random order
 * until three cells of five are taken; who wins is drawn.
 */
#include "sample/play_tools.h"

#include "board/actions.h"

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

static bool fits_box(const struct board *board)
{
    return board->rows > 0;
}

static bool fits_cells(const struct board *board)
{
    return board->rows == 0;
}

static uint32_t max_moves(const struct board *board)
{
    return board->n_cells;
}

static uint64_t length_of(const struct board *board, const char *name)
{
    const struct action_layout *layout = action_layout_by_name(board, name);

    return layout != NULL ? layout->length(board) : 0;
}

/* Planes as the board's swaps of colours want them; a policy of the file's own actions where it
 * has some, with a pass where the game knows it, else of cells. */
static void set_up(struct play *play)
{
    const struct board *board = play->board;

    play->n_planes = board_swaps_colours(board) ? 3 : 4;
    if (board->n_planes > 0)
        play->n_planes = board->n_planes;
    play->n_actions = board->n_cells;
    if (board->n_actions > 0)
        play->n_actions = board->n_actions;
    else if (board->game == BOARD_GAME_GO)
        play->n_actions = (uint32_t)length_of(board, "cells+pass");
}

static void place(const struct play *play, struct play_game *game)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_RESULT, 0);
    const uint32_t n = play_shuffle_cells(play, game);

    game->n_plies = (3 * n + 4) / 5;
    game->winner = (int)play_below(&random, 2);
}

static void put(const struct play *play, uint32_t plane, uint32_t cell, uint8_t *row)
{
    if (plane < play->n_planes)
        play_put_float(row, (uint64_t)plane * play->board->n_cells + cell, 1);
}

/* Without swaps of colours: mine, theirs, the last move, and ones. */
static void render_mover(const struct play *play, const struct play_game *game, uint32_t ply,
                         uint8_t *row)
{
    for (uint32_t k = 0; k < ply; k++)
        put(play, (ply - k) & 1, game->moves[k], row);
    if (ply > 0)
        put(play, 2, game->moves[ply - 1], row);
    for (uint32_t cell = 0; cell < play->board->n_cells; cell++)
        put(play, 3, cell, row);
}

/* Stones of the first player and of the second; then the player to move or, where a file has planes
 * of its own, the latest stone of one and of the other. */
static void render_colours(const struct play *play, const struct play_game *game, uint32_t ply,
                           uint8_t *row)
{
    for (uint32_t k = 0; k < ply; k++)
        put(play, k & 1, game->moves[k], row);
    if (play->board->n_planes == 0) {
        for (uint32_t cell = 0; cell < play->board->n_cells && (ply & 1) == 1; cell++)
            put(play, 2, cell, row);
        return;
    }
    for (uint32_t k = 1; k <= 2 && k <= ply; k++)
        put(play, 2 + ((ply - k) & 1), game->moves[ply - k], row);
}

static bool by_colour(const struct play *play)
{
    return board_swaps_colours(play->board) || play->board->n_planes > 0;
}

static void render_state(const struct play *play, struct play_game *game, uint32_t ply,
                         uint8_t *row)
{
    if (by_colour(play))
        render_colours(play, game, ply, row);
    else
        render_mover(play, game, ply, row);
}

/* Free cells; all actions where they are no cells. */
static void render_policy(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    const uint32_t n_cells = play->board->n_cells;

    if (play->n_actions >= n_cells) {
        play_policy(play, game, ply, game->moves + ply, play->board->n_on_board - ply, row);
        return;
    }
    for (uint32_t a = 0; a < play->n_actions; a++)
        game->work[a] = a;
    play_policy(play, game, ply, game->work, play->n_actions, row);
}

/* 1 where the second player wins, if a transform may swap the colours; else 1 for the player to
 * move and -1 for the other. */
static void render_value(const struct play *play, struct play_game *game, uint32_t ply,
                         uint8_t *row)
{
    if (board_swaps_colours(play->board))
        play_put_float(row, 0, (float)game->winner);
    else
        play_render_result(play, game, ply, row);
}

static void render_player(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    (void)play, (void)game;
    row[0] = (uint8_t)(ply & 1);
}

static const struct play_array box_arrays[] = {
    {"state", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_state},
    {"policy", "<f4", {PLAY_ACTIONS}, .render = render_policy},
    {"value", "<f4", {0}, .render = render_value},
    {"current_player", "|i1", {0}, .render = render_player},
};

const struct play_kind play_box = {
    .fits = fits_box,
    .set_up = set_up,
    .max_moves = max_moves,
    .play = place,
    .arrays = box_arrays,
    .n_arrays = N_OF(box_arrays),
};

static const struct play_array cells_arrays[] = {
    {"state", "<f4", {PLAY_PLANES, PLAY_CELLS}, .render = render_state},
    {"policy", "<f4", {PLAY_ACTIONS}, .render = render_policy},
    {"value", "<f4", {0}, .render = render_value},
    {"current_player", "|i1", {0}, .render = render_player},
};

const struct play_kind play_cells = {
    .fits = fits_cells,
    .set_up = set_up,
    .max_moves = max_moves,
    .play = place,
    .arrays = cells_arrays,
    .n_arrays = N_OF(cells_arrays),
};
