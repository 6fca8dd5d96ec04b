/*
 * play_stones.c - games in which each move puts a stone on a free cell:
 *
 * - Hex: blue, who begins, joins top and bottom, red left and right.
 * - Lines: TicTacToe (3 in a line win), Gomoku (5 or more), Connect 4 (4; stones fall down
 * columns).
 * - Any other board: whoever first fills one of the lines that its file gives wins; if there are no
 *   lines of one length, three fifths of the cells are filled and the winner is random. Policies of
 *   moves hold what the layout encodes.
 *
 * The whole board is filled at random beforehand: a game's moves are the cells in their order, and
 * those after the last move played are free.
 */
#include "sample/play.h"

#define TICTACTOE_SIDE 3
#define GOMOKU_SIDE    9 /* at least */

/* --- shared by these games --- */

/* The ways to step from a cell: along rows and columns, then the two other ways of hexagonal cells,
 * then the other diagonals. way ^ 1 is the opposite of way. */
#define N_WAYS         8
#define N_HEXAGON_WAYS 6

/* The cell n steps away, or BOARD_NO_CELL. */
static uint32_t step(const struct board *b, uint32_t cell, uint32_t way, uint32_t n)
{
    static const struct board_step steps[N_WAYS] = {{0, 1},  {0, -1}, {1, 0}, {-1, 0},
                                                    {1, -1}, {-1, 1}, {1, 1}, {-1, -1}};

    return board_cell_after(b, cell, steps[way], n);
}

/* Fill moves as stones fall down random columns. */
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

/* Both players put stones in turn until one wins or the board is full. */
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

/* How many stones there are before the first ply: each player has one where stones move. */
static uint32_t n_before(const struct play *play)
{
    return play->layout != NULL ? 2 : 0;
}

/*
 * Draw planes, of float32 numbers 0 and 1. One letter for each: stones of the first and second
 * player (F, S), of the player to move and the other (M, T); the cells of the last move and the one
 * before (1, 2), of the last moves of the first and the second player (3, 4); ones where the first
 * or second is to move (f, s), on all cells (a).
 */
static void render_planes(const struct play_row *r)
{
    static const char of_stones[] = "FSMT", of_player[] = "fs";
    const struct board *b = r->play->board;
    const char *planes = r->play->planes;
    const uint32_t n = n_before(r->play) + r->ply, player = r->ply & 1;
    const uint32_t *moves = r->game->moves;
    const uint32_t last = n > 0 ? moves[n - 1] : BOARD_NO_CELL;
    const uint32_t before = n > 1 ? moves[n - 2] : BOARD_NO_CELL;
    const uint32_t places[] = {last, before, player == 1 ? last : before,
                               player == 1 ? before : last};
    const uint8_t men[] = {1, 2, (uint8_t)(1 + player), (uint8_t)(2 - player)};
    uint8_t *stones = r->game->stones;

    memset(stones, 0, b->n_cells);
    for (uint32_t k = 0; k < n; k++)
        stones[moves[k]] = men[k & 1];
    for (uint32_t p = 0; p < r->play->n_planes && planes[p] != '\0'; p++) {
        const char *man = strchr(of_stones, planes[p]), *turn = strchr(of_player, planes[p]);
        const bool is_place = planes[p] <= '4';
        const uint64_t begin = is_place ? places[planes[p] - '1'] : 0;
        const uint64_t end = is_place ? smaller(begin + 1, b->n_cells) : b->n_cells;

        for (uint64_t cell = begin; cell < end && (turn == NULL || turn == of_player + player);
             cell++)
            if (man == NULL || stones[cell] == men[man - of_stones])
                play_put(r, (uint64_t)p * b->n_cells + cell, 1);
    }
}

/* On boards that swap colours 1 where the second player wins, 0.5 where nobody does; else as the
 * player to move sees it. */
static void render_value(const struct play_row *r)
{
    if (board_swaps_colours(r->play->board))
        play_put(r, 0, r->game->winner < 0 ? 0.5 : r->game->winner);
    else
        play_render_result(r);
}

static void render_player(const struct play_row *r)
{
    play_put(r, 0, r->ply & 1);
}

/* The free cells; where stones move, what a layout with as many actions for each cell encodes of
 * the player's own; all actions where actions are neither. */
static void render_policy(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const struct action_layout *layout = r->play->layout;
    const uint32_t each = r->play->n_actions / b->n_cells;
    uint32_t *actions = r->game->work, n = 0;

    if (layout == NULL && each > 0) {
        play_policy(r, r->game->moves + r->ply, b->n_on_board - r->ply);
        return;
    }
    for (uint32_t k = r->ply & 1; k < n_before(r->play) + r->ply; k += 2)
        for (uint32_t i = 0; i < each; i++) {
            actions[n] = r->game->moves[k] * each + i;
            n += action_flags(layout, b, actions[n]) & ACTION_ENCODABLE;
        }
    play_policy(r, n > 0 ? actions : NULL, n > 0 ? n : r->play->n_actions);
}

/* --- Hex --- */

/* True when the group of the last stone joins the sides of its player. */
static bool joins_sides(const struct board *b, struct play_game *game)
{
    uint8_t *seen = game->stones + b->n_cells;
    uint32_t *cells = game->visits, n = 1, sides = 0;
    const uint8_t man = game->stones[game->moves[game->n_plies - 1]];

    memset(seen, 0, b->n_cells);
    cells[0] = game->moves[game->n_plies - 1];
    seen[cells[0]] = true;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t at = man == 1 ? cells[i] / b->cols : cells[i] % b->cols;

        sides |= (at == 0 ? 1 : 0) | (at == b->rows - 1 ? 2 : 0);
        for (uint32_t way = 0; way < N_HEXAGON_WAYS; way++) {
            const uint32_t to = step(b, cells[i], way, 1);

            if (to == BOARD_NO_CELL || seen[to] || game->stones[to] != man)
                continue;
            seen[to] = true;
            cells[n++] = to;
        }
    }
    return sides == 3;
}

const struct play_kind play_hex = {
    .planes = "FSs",
    .play = play_to_the_end,
    .wins = joins_sides,
    .arrays =
        {
            {"boards.npy", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
            {"policy.npy", "<f4", {PLAY_CELLS}, .render = render_policy},
            {"value.npy", "<f4", {0}, .render = render_value},
            {"player_to_move.npy", "|i1", {0}, .render = render_player},
            {"ply.npy", "<i4", {0}, .render = play_render_ply},
        },
};

/* --- lines --- */

static bool fits_lines(const struct board *b)
{
    return b->game == BOARD_GAME_DROP ? b->rows == 6 && b->cols == 7
                                      : b->size == TICTACTOE_SIDE || b->size >= GOMOKU_SIDE;
}

/* True when the last stone completes a line that is long enough. */
static bool completes_line(const struct board *b, struct play_game *game)
{
    const uint32_t cell = game->moves[game->n_plies - 1];
    const uint32_t wanted = b->game == BOARD_GAME_DROP ? 4 : b->size == TICTACTOE_SIDE ? 3 : 5;
    uint32_t length = 0;

    for (uint32_t way = 0; way < N_WAYS; way++) {
        uint32_t n = 1, to;

        while ((to = step(b, cell, way, n)) != BOARD_NO_CELL &&
               game->stones[to] == game->stones[cell])
            n++;
        length = way % 2 == 0 ? n : length + n - 1;
        if (length >= wanted)
            return true;
    }
    return false;
}

/* The columns that are not full, the one played first. */
static void render_columns(const struct play_row *r)
{
    const uint32_t n_cols = r->play->board->cols, played = r->game->moves[r->ply] % n_cols;
    uint32_t n = 1, k;

    r->game->work[0] = played;
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
    const int n_cols = (int)r->play->board->cols;
    const int last = r->ply > 0 ? (int)r->game->moves[r->ply - 1] : -1;

    play_put(r, 0, last < 0 ? -1 : last / n_cols);
    play_put(r, 1, last < 0 ? -1 : last % n_cols);
}

/* The player to move as 1 or -1, the way programs for these games store it. */
static void render_sign(const struct play_row *r)
{
    play_put(r, 0, (r->ply & 1) == 0 ? 1 : -1);
}

const struct play_kind play_gomoku = {
    .fits = fits_lines,
    .planes = "MT12f",
    .play = play_to_the_end,
    .wins = completes_line,
    .arrays =
        {
            {"state.npy", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
            {"policy.npy", "<f4", {PLAY_CELLS}, .render = render_policy},
            {"value.npy", "<f4", {0}, .render = play_render_result},
            {"last_move.npy", "<i4", {2}, .render = render_last_move},
            {"current_player.npy", "|i1", {0}, .render = render_sign},
        },
};

const struct play_kind play_connect4 = {
    .fits = fits_lines,
    .planes = "MTf",
    .play = play_to_the_end,
    .wins = completes_line,
    .arrays =
        {
            {"states.npy", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
            {"policies.npy", "<f4", {PLAY_COLS}, .render = render_columns},
            {"values.npy", "<f4", {0}, .render = play_render_result},
        },
};

/* --- any other board --- */

/* Planes by whether the board swaps colours, or as many as a board file has: stones, then the last
 * moves. */
static void set_up_any(struct play *play)
{
    const struct board *b = play->board;

    play->planes = b->n_planes > 0 ? "FS34" : board_swaps_colours(b) ? "FSs" : "MT1a";
    play->n_planes = b->n_planes;
    if (b->game != BOARD_GAME_MOVES)
        return;
    play->layout = b->family->layouts[0];
    play->n_actions = (uint32_t)play->layout->length(play->layout, b);
}

/* True when the last stone completes a line of the board with stones of its player. */
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
    if (has_lines) {
        play_to_the_end(play, game);
        return;
    }
    play_place_stones(play, game);
    game->n_plies -= n_before(play);
}

const struct play_kind play_any = {
    .set_up = set_up_any,
    .play = play_any_game,
    .wins = fills_line,
    .arrays =
        {
            {"state.npy", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_planes},
            {"policy.npy", "<f4", {PLAY_ACTIONS}, .render = render_policy},
            {"value.npy", "<f4", {0}, .render = render_value},
            {"current_player.npy", "|i1", {0}, .render = render_player},
        },
};
