/*
 * play_stones.c - games in which stones fall on free cells, one a move:
 *
 * - Hex: blue, who begins, joins top and bottom, red left and right; random moves until somebody
 * has.
 * - So many in a line: TicTacToe (3), Gomoku (5 or more), Connect 4 (4, stones fall to the bottom).
 * - Boards without a game of their own: who first fills a line that a file gives has won; without
 * lines of one length until three cells of five are taken, and who wins is drawn.
 *
 * The cells of a game's moves are drawn beforehand: those behind the last move are the free ones.
 */
#include "sample/play.h"

#define TICTACTOE_SIDE 3
#define GOMOKU_SIDE    9 /* at least */

/* --- what these games share --- */

/* The moves of a whole board into columns. */
static void drop_stones(const struct play *play, struct play_game *game)
{
    const uint32_t n_cells = play->board->n_cells, cols = play->board->cols;
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);

    memset(game->stones, 0, n_cells);
    for (uint32_t ply = 0; ply < n_cells; ply++) {
        uint32_t cell;

        do
            cell = play_below(&random, cols);
        while (game->stones[cell] != 0);
        while (cell + cols < n_cells && game->stones[cell + cols] == 0)
            cell += cols;
        game->moves[ply] = cell;
        game->stones[cell] = 1;
    }
}

/* Put the stones of a game's moves on all cells, in turn, until one of them wins, if ever. The
 * cells are in a random order; or stones fall down random columns. */
static void play_to_the_end(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;

    if (play->kind == &play_connect4)
        drop_stones(play, game);
    else
        play_shuffle_cells(play, game);
    game->winner = -1;
    memset(game->stones, 0, b->n_cells);
    for (uint32_t ply = 0; ply < b->n_on_board && game->winner < 0; ply++) {
        game->stones[game->moves[ply]] = (uint8_t)((ply & 1) + 1);
        game->n_plies = ply + 1;
        if (play->kind->wins(b, game))
            game->winner = (int)(ply & 1);
    }
}

static void render_planes(const struct play_row *r)
{
    const uint32_t *moves = r->game->moves + r->ply;

    memset(r->game->stones, 0, r->play->board->n_cells);
    for (uint32_t k = 0; k < r->ply; k++)
        r->game->stones[r->game->moves[k]] = (uint8_t)((k & 1) + 1);
    play_planes(r, r->ply > 0 ? moves[-1] : PLAY_NOWHERE, r->ply > 1 ? moves[-2] : PLAY_NOWHERE);
}

/* Free cells; all actions where they are no cells. */
static void render_policy(const struct play_row *r)
{
    if (r->play->n_actions == 0 || r->play->n_actions >= r->play->board->n_cells)
        play_policy(r, r->game->moves + r->ply, r->play->board->n_on_board - r->ply);
    else
        play_policy(r, NULL, r->play->n_actions);
}

/* --- Hex --- */

/* The chain that a cell or edge belongs to; parents are a forest (union-find). */
static uint32_t chain_of(uint32_t *parents, uint32_t at)
{
    while (parents[at] != at) {
        parents[at] = parents[parents[at]];
        at = parents[at];
    }
    return at;
}

/* True when a stone joins its player's edges. Beyond the cells are the edges that the first player
 * joins, then those of the second. */
static bool joins_edges(const struct board *b, struct play_game *game)
{
    static const int steps[6][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {1, -1}, {-1, 1}};
    const uint32_t n = b->rows, n_cells = n * n, ply = game->n_plies - 1, player = ply & 1;
    const uint32_t cell = game->moves[ply], row = cell / n, col = cell % n;
    const uint32_t edges = n_cells + 2 * player, across = player == 0 ? row : col;
    uint32_t *parents = game->work;

    for (uint32_t i = 0; i < n_cells + 4 && ply == 0; i++)
        parents[i] = i;
    for (size_t i = 0; i < N_OF(steps); i++) {
        const uint32_t y = row + (uint32_t)steps[i][0], x = col + (uint32_t)steps[i][1];

        if (y < n && x < n && game->stones[y * n + x] == player + 1)
            parents[chain_of(parents, cell)] = chain_of(parents, y * n + x);
    }
    if (across == 0)
        parents[chain_of(parents, cell)] = chain_of(parents, edges);
    if (across == n - 1)
        parents[chain_of(parents, cell)] = chain_of(parents, edges + 1);
    return chain_of(parents, edges) == chain_of(parents, edges + 1);
}

static const struct play_array hex_arrays[] = {
    {"boards", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
    {"policy", "<f4", {PLAY_CELLS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_value},
    {"player_to_move", "|i1", {0}, .render = play_render_player},
    {"ply", "<i4", {0}, .render = play_render_ply},
};

const struct play_kind play_hex = {
    .game = BOARD_GAME_HEX,
    .planes = "FSs",
    .play = play_to_the_end,
    .wins = joins_edges,
    .arrays = hex_arrays,
    .n_arrays = N_OF(hex_arrays),
};

/* --- so many in a line --- */

static bool fits_gomoku(const struct board *board)
{
    return board->size == TICTACTOE_SIDE || board->size >= GOMOKU_SIDE;
}

static bool fits_connect4(const struct board *board)
{
    return board->rows == 6 && board->cols == 7;
}

/* True when a stone completes a line of so many as win. */
static bool completes_line(const struct board *b, struct play_game *game)
{
    static const int steps[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    const uint32_t cell = game->moves[game->n_plies - 1], rows = b->rows, cols = b->cols;
    const uint32_t wanted = b->game == BOARD_GAME_DROP ? 4 : b->size == TICTACTOE_SIDE ? 3 : 5;

    for (size_t i = 0; i < N_OF(steps); i++) {
        uint32_t length = 1;

        for (int way = -1; way <= 1; way += 2) {
            const uint32_t down = (uint32_t)(way * steps[i][0]);
            const uint32_t right = (uint32_t)(way * steps[i][1]);
            uint32_t row = cell / cols + down, col = cell % cols + right;

            for (; row < rows && col < cols && game->stones[row * cols + col] == game->stones[cell];
                 length++) {
                row += down;
                col += right;
            }
        }
        if (length >= wanted)
            return true;
    }
    return false;
}

/* The columns that are not full, the one played first. */
static void render_columns(const struct play_row *r)
{
    const uint32_t n_cols = r->play->board->cols, played = r->game->moves[r->ply] % n_cols;
    uint32_t n = 0, k;

    r->game->work[n++] = played;
    for (uint32_t col = 0; col < n_cols; col++) {
        for (k = 0; k < r->ply && r->game->moves[k] != col; k++)
            ;
        if (k == r->ply && col != played)
            r->game->work[n++] = col;
    }
    play_policy(r, r->game->work, n);
}

static void render_last_move(const struct play_row *r)
{
    const uint32_t n_cols = r->play->board->cols;

    play_put_int(r->to, 0, r->ply > 0 ? (int32_t)(r->game->moves[r->ply - 1] / n_cols) : -1);
    play_put_int(r->to, 1, r->ply > 0 ? (int32_t)(r->game->moves[r->ply - 1] % n_cols) : -1);
}

/* 1 and -1, as these games' programs have it. */
static void render_sign(const struct play_row *r)
{
    r->to[0] = (r->ply & 1) == 0 ? 0x01 : 0xff;
}

static const struct play_array gomoku_arrays[] = {
    {"state", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
    {"policy", "<f4", {PLAY_CELLS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_result},
    {"last_move", "<i4", {2}, .render = render_last_move},
    {"current_player", "|i1", {0}, .render = render_sign},
};

const struct play_kind play_gomoku = {
    .game = BOARD_GAME_LINE,
    .fits = fits_gomoku,
    .planes = "MT12f",
    .play = play_to_the_end,
    .wins = completes_line,
    .arrays = gomoku_arrays,
    .n_arrays = N_OF(gomoku_arrays),
};

static const struct play_array connect4_arrays[] = {
    {"states", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
    {"policies", "<f4", {PLAY_COLS}, .render = render_columns},
    {"values", "<f4", {0}, .render = play_render_result},
};

const struct play_kind play_connect4 = {
    .game = BOARD_GAME_DROP,
    .fits = fits_connect4,
    .planes = "MTf",
    .play = play_to_the_end,
    .wins = completes_line,
    .arrays = connect4_arrays,
    .n_arrays = N_OF(connect4_arrays),
};

/* --- boards without a game of their own --- */

/* Planes as the board's swaps of colours want them, or of a file that has planes of its own the
 * stones and the latest ones, as far as these go; a policy of the file's own actions where it has
 * some, with a pass where the game knows it, else of cells. */
static void set_up(struct play *play)
{
    const struct board *b = play->board;

    play->planes = b->n_planes > 0 ? "FS34" : board_swaps_colours(b) ? "FSs" : "MT1a";
    play->n_planes = b->n_planes;
    play->n_actions =
        b->n_actions > 0 ? b->n_actions : b->n_cells + (b->game == BOARD_GAME_GO ? 1 : 0);
}

/* True when a stone fills a line of the board with stones of its player. */
static bool fills_line(const struct board *b, struct play_game *game)
{
    const uint32_t cell = game->moves[game->n_plies - 1];

    for (uint32_t i = 0; i < b->n_lines; i++) {
        bool has_cell = false, fills = true;

        for (uint32_t k = b->line_start[i]; k < b->line_start[i + 1] && fills; k++) {
            has_cell |= b->line_cells[k] == cell;
            fills = game->stones[b->line_cells[k]] == game->stones[cell];
        }
        if (fills && has_cell)
            return true;
    }
    return false;
}

static void play_any_game(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;
    bool has_lines = b->n_lines > 0;

    for (uint32_t i = 0; i < b->n_lines; i++)
        has_lines &= b->line_start[i + 1] - b->line_start[i] == b->line_start[1];
    if (has_lines)
        play_to_the_end(play, game);
    else
        play_place_stones(play, game);
}

static const struct play_array any_arrays[] = {
    {"state", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
    {"policy", "<f4", {PLAY_ACTIONS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_value},
    {"current_player", "|i1", {0}, .render = play_render_player},
};

const struct play_kind play_any = {
    .set_up = set_up,
    .play = play_any_game,
    .wins = fills_line,
    .arrays = any_arrays,
    .n_arrays = N_OF(any_arrays),
};
