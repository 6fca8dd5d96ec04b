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

/* --- rows that these games share --- */

/* Planes that a board from a file has not are left out. */
static void put(const struct play_row *r, uint32_t plane, uint32_t cell)
{
    if (r->play->n_planes == 0 || plane < r->play->n_planes)
        play_put_float(r->to, (uint64_t)plane * r->play->board->n_cells + cell, 1);
}

static void fill_plane(const struct play_row *r, uint32_t plane)
{
    for (uint32_t cell = 0; cell < r->play->board->n_cells; cell++)
        put(r, plane, cell);
}

/* The stones of the first player and of the second, or of the player to move and of the other; then
 * the last stones, each in a plane of its own: by player, or the latest first. */
static void put_stones(const struct play_row *r, bool by_player, uint32_t n_last)
{
    const uint32_t *moves = r->game->moves;

    for (uint32_t k = 0; k < r->ply; k++)
        put(r, (by_player ? k : r->ply - k) & 1, moves[k]);
    for (uint32_t k = 1; k <= n_last && k <= r->ply; k++)
        put(r, by_player ? 2 + ((r->ply - k) & 1) : 1 + k, moves[r->ply - k]);
}

/* The stones of the first player, of the second, and the player to move. */
static void render_colours(const struct play_row *r)
{
    put_stones(r, true, 0);
    if ((r->ply & 1) == 1)
        fill_plane(r, 2);
}

/* Free cells; all actions where they are no cells. */
static void render_policy(const struct play_row *r)
{
    if (r->play->n_actions == 0 || r->play->n_actions >= r->play->board->n_cells) {
        play_policy(r, r->game->moves + r->ply, r->play->board->n_on_board - r->ply);
        return;
    }
    for (uint32_t a = 0; a < r->play->n_actions; a++)
        r->game->work[a] = a;
    play_policy(r, r->game->work, r->play->n_actions);
}

/* --- Hex --- */

/* Beyond the cells: the edges that the first player joins, then those of the second. */
#define N_EDGES 4

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

static void play_hex_game(const struct play *play, struct play_game *game)
{
    static const int steps[6][2] = {{-1, 0}, {1, 0}, {0, -1}, {0, 1}, {1, -1}, {-1, 1}};
    const uint32_t n = play->board->rows, n_cells = n * n;

    play_shuffle_cells(play, game);
    memset(game->stones, 0, n_cells);
    for (uint32_t i = 0; i < n_cells + N_EDGES; i++)
        game->work[i] = i;
    for (uint32_t ply = 0; ply < n_cells; ply++) {
        const uint32_t cell = game->moves[ply], row = cell / n, col = cell % n, player = ply & 1;
        const uint32_t edges = n_cells + 2 * player, across = player == 0 ? row : col;

        game->stones[cell] = (uint8_t)(player + 1);
        for (size_t i = 0; i < N_OF(steps); i++) {
            const uint32_t y = row + (uint32_t)steps[i][0], x = col + (uint32_t)steps[i][1];

            if (y < n && x < n && game->stones[y * n + x] == player + 1)
                join(game->work, cell, y * n + x);
        }
        if (across == 0)
            join(game->work, cell, edges);
        if (across == n - 1)
            join(game->work, cell, edges + 1);
        game->n_plies = ply + 1;
        game->winner = (int)player;
        if (chain_of(game->work, edges) == chain_of(game->work, edges + 1))
            return;
    }
}

static const struct play_array hex_arrays[] = {
    {"boards", "<f4", {3, PLAY_ROWS, PLAY_COLS}, .render = render_colours},
    {"policy", "<f4", {PLAY_CELLS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_value},
    {"player_to_move", "|i1", {0}, .render = play_render_player},
    {"ply", "<i4", {0}, .render = play_render_ply},
};

const struct play_kind play_hex = {
    .game = BOARD_GAME_HEX,
    .play = play_hex_game,
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

/* Put the stone of a ply; true when it completes a line of so many, which ends the game. */
static bool put_stone(const struct play *play, struct play_game *game, uint32_t ply,
                      uint32_t wanted)
{
    static const int steps[4][2] = {{0, 1}, {1, 0}, {1, 1}, {1, -1}};
    const uint32_t cell = game->moves[ply], rows = play->board->rows, cols = play->board->cols;
    const uint8_t stone = (uint8_t)((ply & 1) + 1);

    game->stones[cell] = stone;
    game->n_plies = ply + 1;
    for (size_t i = 0; i < N_OF(steps); i++) {
        uint32_t length = 1;

        for (int way = -1; way <= 1; way += 2) {
            const uint32_t down = (uint32_t)(way * steps[i][0]),
                           right = (uint32_t)(way * steps[i][1]);
            uint32_t row = cell / cols + down, col = cell % cols + right;

            for (; row < rows && col < cols && game->stones[row * cols + col] == stone; length++) {
                row += down;
                col += right;
            }
        }
        if (length < wanted)
            continue;
        game->winner = (int)(ply & 1);
        return true;
    }
    return false;
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

/* Mine, theirs, the last move, the one before it, and ones when the first player is to move. */
static void render_gomoku(const struct play_row *r)
{
    put_stones(r, false, 2);
    if ((r->ply & 1) == 0)
        fill_plane(r, 4);
}

/* Mine, theirs, and ones when the first player is to move. */
static void render_connect4(const struct play_row *r)
{
    put_stones(r, false, 0);
    if ((r->ply & 1) == 0)
        fill_plane(r, 2);
}

/* The columns that are not full, the one played first. */
static void render_columns(const struct play_row *r)
{
    const uint32_t n_cols = r->play->board->cols, played = r->game->moves[r->ply] % n_cols;
    uint32_t n = 0;

    memset(r->game->stones, 0, n_cols);
    for (uint32_t k = 0; k < r->ply; k++)
        if (r->game->moves[k] < n_cols)
            r->game->stones[r->game->moves[k]] = 1;
    r->game->work[n++] = played;
    for (uint32_t col = 0; col < n_cols; col++)
        if (r->game->stones[col] == 0 && col != played)
            r->game->work[n++] = col;
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
    {"state", "<f4", {5, PLAY_ROWS, PLAY_COLS}, .render = render_gomoku},
    {"policy", "<f4", {PLAY_CELLS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_result},
    {"last_move", "<i4", {2}, .render = render_last_move},
    {"current_player", "|i1", {0}, .render = render_sign},
};

const struct play_kind play_gomoku = {
    .game = BOARD_GAME_LINE,
    .fits = fits_gomoku,
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
    .play = play_connect4_game,
    .arrays = connect4_arrays,
    .n_arrays = N_OF(connect4_arrays),
};

/* --- boards without a game of their own --- */

/* Planes as the board's swaps of colours want them; a policy of the file's own actions where it
 * has some, with a pass where the game knows it, else of cells. */
static void set_up(struct play *play)
{
    const struct board *b = play->board;

    play->n_planes = b->n_planes > 0 ? b->n_planes : board_swaps_colours(b) ? 3 : 4;
    play->n_actions =
        b->n_actions > 0 ? b->n_actions : b->n_cells + (b->game == BOARD_GAME_GO ? 1 : 0);
}

/* Without swaps of colours: mine, theirs, the last move, and ones. A file with planes of its own:
 * the first player's, the second's, the latest stone of one and of the other, as far as it goes. */
static void render_state(const struct play_row *r)
{
    if (r->play->board->n_planes > 0) {
        put_stones(r, true, 2);
    } else if (board_swaps_colours(r->play->board)) {
        render_colours(r);
    } else {
        put_stones(r, false, 1);
        fill_plane(r, 3);
    }
}

static bool fills_line(const struct board *b, const uint8_t *stones, uint32_t cell)
{
    bool fills = false;

    for (uint32_t i = 0; i < b->n_lines && !fills; i++) {
        bool has_cell = false;

        fills = true;
        for (uint32_t k = b->line_start[i]; k < b->line_start[i + 1] && fills; k++) {
            has_cell |= b->line_cells[k] == cell;
            fills = stones[b->line_cells[k]] == stones[cell];
        }
        fills &= has_cell;
    }
    return fills;
}

static void play_any_game(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;
    bool has_lines = b->n_lines > 0;

    for (uint32_t i = 0; i < b->n_lines; i++)
        has_lines &= b->line_start[i + 1] - b->line_start[i] == b->line_start[1];
    play_place_stones(play, game);
    if (!has_lines)
        return;
    game->winner = -1;
    memset(game->stones, 0, b->n_cells);
    for (uint32_t ply = 0; ply < b->n_on_board && game->winner < 0; ply++) {
        game->stones[game->moves[ply]] = (uint8_t)((ply & 1) + 1);
        game->n_plies = ply + 1;
        if (fills_line(b, game->stones, game->moves[ply]))
            game->winner = (int)(ply & 1);
    }
}

static const struct play_array any_arrays[] = {
    {"state", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_state},
    {"policy", "<f4", {PLAY_ACTIONS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_value},
    {"current_player", "|i1", {0}, .render = play_render_player},
};

const struct play_kind play_any = {
    .set_up = set_up,
    .play = play_any_game,
    .arrays = any_arrays,
    .n_arrays = N_OF(any_arrays),
};
