/*
 * play_line.c - so many in a row: TicTacToe (3), Gomoku (5 or more), Connect 4 (4, stones fall to
 * the bottom). Random moves until somebody has the row or the board is full.
 */
#include "sample/play_tools.h"

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

#define TICTACTOE_SIDE 3
#define GOMOKU_SIDE    9 /* at least */

static bool fits_gomoku(const struct board *board)
{
    return board->size == TICTACTOE_SIDE || board->size >= GOMOKU_SIDE;
}

static bool fits_connect4(const struct board *board)
{
    return board->rows == 6 && board->cols == 7;
}

static uint32_t max_moves(const struct board *board)
{
    return board->n_cells;
}

/* Stones of one colour in a row through a cell, both ways along a step. */
static uint32_t length_of_row(const struct board *board, const uint8_t *stones, uint32_t cell,
                              const int step[2])
{
    uint32_t length = 1;

    for (int way = -1; way <= 1; way += 2) {
        uint32_t row = cell / board->cols, col = cell % board->cols;

        for (;;) {
            row += (uint32_t)(way * step[0]);
            col += (uint32_t)(way * step[1]);
            if (row >= board->rows || col >= board->cols ||
                stones[row * board->cols + col] != stones[cell])
                break;
            length++;
        }
    }
    return length;
}

static bool wins(const struct board *board, const uint8_t *stones, uint32_t cell, uint32_t wanted)
{
    static const int steps[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};

    for (size_t i = 0; i < N_OF(steps); i++)
        if (length_of_row(board, stones, cell, steps[i]) >= wanted)
            return true;
    return false;
}

/* Put the stone of a ply; ends the game when it completes a row. */
static bool put_stone(const struct play *play, struct play_game *game, uint32_t ply,
                      uint32_t wanted)
{
    const uint32_t cell = game->moves[ply];

    game->stones[cell] = (uint8_t)((ply & 1) + 1);
    game->n_plies = ply + 1;
    if (!wins(play->board, game->stones, cell, wanted))
        return false;
    game->winner = (int)(ply & 1);
    return true;
}

static void play_gomoku_game(const struct play *play, struct play_game *game)
{
    const uint32_t wanted = play->board->size == TICTACTOE_SIDE ? 3 : 5;
    const uint32_t n = play_shuffle_cells(play, game);

    game->winner = -1;
    memset(game->stones, 0, play->board->n_cells);
    for (uint32_t ply = 0; ply < n; ply++)
        if (put_stone(play, game, ply, wanted))
            return;
}

static void play_connect4_game(const struct play *play, struct play_game *game)
{
    const struct board *board = play->board;
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);

    game->winner = -1;
    memset(game->stones, 0, board->n_cells);
    for (uint32_t ply = 0; ply < board->n_cells; ply++) {
        uint32_t cell;

        do
            cell = play_below(&random, board->cols);
        while (game->stones[cell] != 0);
        while (cell + board->cols < board->n_cells && game->stones[cell + board->cols] == 0)
            cell += board->cols;
        game->moves[ply] = cell;
        if (put_stone(play, game, ply, 4))
            return;
    }
}

/* The stones of the player to move and of the other. */
static void render_stones(const struct play *play, const struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    for (uint32_t k = 0; k < ply; k++)
        play_put_float(row, ((ply - k) & 1) * play->board->n_cells + game->moves[k], 1);
}

static void fill_plane(const struct play *play, uint32_t plane, uint8_t *row)
{
    for (uint32_t cell = 0; cell < play->board->n_cells; cell++)
        play_put_float(row, plane * play->board->n_cells + cell, 1);
}

/* Mine, theirs, the last move, the one before it, and ones when the first player is to move. */
static void render_gomoku(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    render_stones(play, game, ply, row);
    for (uint32_t k = 1; k <= 2 && k <= ply; k++)
        play_put_float(row, (1 + k) * play->board->n_cells + game->moves[ply - k], 1);
    if ((ply & 1) == 0)
        fill_plane(play, 4, row);
}

/* Mine, theirs, and ones when the first player is to move. */
static void render_connect4(const struct play *play, struct play_game *game, uint32_t ply,
                            uint8_t *row)
{
    render_stones(play, game, ply, row);
    if ((ply & 1) == 0)
        fill_plane(play, 2, row);
}

static void render_policy(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    play_policy(play, game, ply, game->moves + ply, play->board->n_cells - ply, row);
}

/* The columns that are not full, the one played first. */
static void render_columns(const struct play *play, struct play_game *game, uint32_t ply,
                           uint8_t *row)
{
    const uint32_t n_cols = play->board->cols, played = game->moves[ply] % n_cols;
    uint32_t n = 0;

    memset(game->stones, 0, n_cols);
    for (uint32_t k = 0; k < ply; k++)
        if (game->moves[k] < n_cols)
            game->stones[game->moves[k]] = 1;
    game->work[n++] = played;
    for (uint32_t col = 0; col < n_cols; col++)
        if (game->stones[col] == 0 && col != played)
            game->work[n++] = col;
    play_policy(play, game, ply, game->work, n, row);
}

static void render_last_move(const struct play *play, struct play_game *game, uint32_t ply,
                             uint8_t *row)
{
    const uint32_t n_cols = play->board->cols;

    play_put_int(row, 0, ply > 0 ? (int32_t)(game->moves[ply - 1] / n_cols) : -1);
    play_put_int(row, 1, ply > 0 ? (int32_t)(game->moves[ply - 1] % n_cols) : -1);
}

/* 1 and -1, as these games' programs have it. */
static void render_player(const struct play *play, struct play_game *game, uint32_t ply,
                          uint8_t *row)
{
    (void)play, (void)game;
    row[0] = (ply & 1) == 0 ? 0x01 : 0xff;
}

static const struct play_array gomoku_arrays[] = {
    {"state", "<f4", {5, PLAY_ROWS, PLAY_COLS}, .render = render_gomoku},
    {"policy", "<f4", {PLAY_CELLS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_result},
    {"last_move", "<i4", {2}, .render = render_last_move},
    {"current_player", "|i1", {0}, .render = render_player},
};

const struct play_kind play_gomoku = {
    .game = BOARD_GAME_LINE,
    .fits = fits_gomoku,
    .max_moves = max_moves,
    .play = play_gomoku_game,
    .arrays = gomoku_arrays,
    .n_arrays = N_OF(gomoku_arrays),
};

static const struct play_array connect4_arrays[] = {
    {"states", "<f4", {3, PLAY_ROWS, PLAY_COLS}, .render = render_connect4},
    {"policies", "<f4", {PLAY_COLS}, .render = render_columns},
    {"values", "<f4", {0}, .render = play_render_result},
};

const struct play_kind play_connect4 = {
    .game = BOARD_GAME_DROP,
    .fits = fits_connect4,
    .max_moves = max_moves,
    .play = play_connect4_game,
    .arrays = connect4_arrays,
    .n_arrays = N_OF(connect4_arrays),
};
