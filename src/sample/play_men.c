/*
 * play_men.c - games in which what stands on the board is turned over, moved or taken:
 *
 * - Othello: a stone turns over the other player's stones that lie between it and one's own; who
 *   cannot move passes, and when nobody can, more stones win.
 * - Breakthrough: a man goes one step ahead, to a free square or aslant, where it may take what
 *   stands there; who comes to the last row has won, or takes all. The first player goes down.
 *
 * A game keeps the action of each ply and the position before it.
 */
#include "sample/play.h"

#define MAX_SQUARES        400 /* positions are kept for each ply */
#define MAX_PLIES_PER_CELL 4   /* two rows of men go all the way; stones, and passes */

/* Words of a ply in game->moves: the action, then a byte for each cell: 0 where it is free, 1 for
 * the first player, 2 for the second. */
static size_t ply_words(const struct board *b)
{
    return 1 + (b->n_cells + 3) / 4;
}

/* --- Othello --- */

/* How many stones a stone of that man on a cell turns over; they are, if so wanted. */
static uint32_t turn_over(const struct board *b, uint8_t *men, uint8_t man, uint32_t cell,
                          bool turn)
{
    uint32_t n_turned = 0;

    for (uint32_t way = 0; way < 9; way++) {
        const uint32_t down = way / 3 - 1, right = way % 3 - 1;
        uint32_t row = cell / b->cols + down, col = cell % b->cols + right, n = 0;

        for (; row < b->rows && col < b->cols && men[row * b->cols + col] == 3 - man; n++) {
            row += down;
            col += right;
        }
        if (row >= b->rows || col >= b->cols || men[row * b->cols + col] != man)
            continue;
        n_turned += n;
        for (; n > 0 && turn; n--) {
            row -= down;
            col -= right;
            men[row * b->cols + col] = man;
        }
    }
    return n_turned;
}

/* A pass, after the cells, where the other player can move and this one cannot. */
static uint32_t list_flips(const struct board *b, uint8_t *men, uint8_t man, uint32_t *actions)
{
    uint32_t n = 0, n_theirs = 0;

    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        if (men[cell] != 0)
            continue;
        if (turn_over(b, men, man, cell, false) > 0)
            actions[n++] = cell;
        else
            n_theirs += turn_over(b, men, 3 - man, cell, false) > 0;
    }
    if (n == 0 && n_theirs > 0)
        actions[n++] = b->n_cells;
    return n;
}

static void make_flips(const struct board *b, uint8_t *men, uint8_t man, uint32_t action)
{
    if (action == b->n_cells)
        return;
    turn_over(b, men, man, action, true);
    men[action] = man;
}

/* Black, who begins, stands at the upper right and the lower left of the centre. */
static void start_othello(const struct board *b, uint8_t *men)
{
    const uint32_t centre = (b->rows / 2 - 1) * b->cols + b->cols / 2 - 1;

    men[centre] = men[centre + b->cols + 1] = 2;
    men[centre + 1] = men[centre + b->cols] = 1;
}

static int winner_of_othello(const struct board *b, const uint8_t *men, uint8_t man)
{
    int lead = 0;

    (void)man;
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        lead += men[cell] == 0 ? 0 : men[cell] == 1 ? 1 : -1;
    return lead == 0 ? -1 : lead < 0;
}

/* --- Breakthrough; actions are (from * 6 + step) * 2 + capture, the first three steps down --- */

static void start_breakthrough(const struct board *b, uint8_t *men)
{
    const uint32_t n = (b->rows < 6 ? 1 : 2) * b->cols;

    memset(men, 1, n);
    memset(men + b->n_cells - n, 2, n);
}

static uint32_t target_of(const struct board *b, uint32_t action)
{
    const uint32_t ahead = action / 6 % 2 == 0 ? b->cols : -b->cols;

    return action / 12 + ahead + action / 2 % 3 - 1;
}

/* None where a man stands on the last row: the game is over. */
static uint32_t list_steps(const struct board *b, uint8_t *men, uint8_t man, uint32_t *actions)
{
    uint32_t n = 0;

    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        const uint32_t row = cell / b->cols, col = cell % b->cols;

        if ((men[cell] == 1 && row == b->rows - 1) || (men[cell] == 2 && row == 0))
            return 0;
        for (uint32_t side = 0; side < 3 && men[cell] == man; side++) {
            uint32_t action = ((cell * 2 + man - 1) * 3 + side) * 2;

            if (col + side == 0 || col + side > b->cols)
                continue;
            const uint8_t there = men[target_of(b, action)];

            if (there == 0)
                actions[n++] = action;
            else if (there != man && side != 1)
                actions[n++] = action + 1;
        }
    }
    return n;
}

static void make_step(const struct board *b, uint8_t *men, uint8_t man, uint32_t action)
{
    men[action / 12] = 0;
    men[target_of(b, action)] = man;
}

/* Who cannot move has lost. */
static int winner_of_breakthrough(const struct board *b, const uint8_t *men, uint8_t man)
{
    (void)b;
    (void)men;
    return man == 1;
}

/* --- both --- */

/* A player's actions, none at the end; what an action makes of the men; who has won when a player
 * has no action, as in play_game. */
static const struct rules {
    enum board_game game;
    uint32_t actions_per_cell, n_more_actions;
    void (*start)(const struct board *b, uint8_t *men);
    uint32_t (*list)(const struct board *b, uint8_t *men, uint8_t man, uint32_t *actions);
    void (*make)(const struct board *b, uint8_t *men, uint8_t man, uint32_t action);
    int (*winner)(const struct board *b, const uint8_t *men, uint8_t man);
} games[] = {
    {BOARD_GAME_OTHELLO, 1, 1, start_othello, list_flips, make_flips, winner_of_othello},
    {BOARD_GAME_BREAKTHROUGH, 12, 0, start_breakthrough, list_steps, make_step,
     winner_of_breakthrough},
};

/* Those of a board's game; NULL where it has none. */
static const struct rules *rules_of(const struct board *b)
{
    for (size_t i = 0; i < N_OF(games); i++)
        if (games[i].game == b->game && b->n_cells <= MAX_SQUARES)
            return &games[i];
    return NULL;
}

static bool fits(const struct board *board)
{
    return rules_of(board) != NULL;
}

static void set_up(struct play *play)
{
    const struct board *b = play->board;
    const struct rules *rules = rules_of(b);

    play->n_moves = MAX_PLIES_PER_CELL * b->n_cells * (uint32_t)ply_words(b);
    play->n_planes = board_swaps_colours(b) ? 3 : 4;
    play->n_actions = rules->actions_per_cell * b->n_cells + rules->n_more_actions;
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;
    const struct rules *rules = rules_of(b);
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);
    uint8_t *men = game->stones, man = 1;
    uint32_t n;

    memset(men, 0, b->n_cells);
    rules->start(b, men);
    for (game->n_plies = 0; (n = rules->list(b, men, man, game->work)) > 0; game->n_plies++) {
        uint32_t *ply = game->moves + game->n_plies * ply_words(b);

        ply[0] = game->work[play_below(&random, n)];
        memcpy(ply + 1, men, b->n_cells);
        rules->make(b, men, man, ply[0]);
        man = 3 - man;
    }
    game->winner = rules->winner(b, men, man);
}

/* Of boards whose colours swap: the first player's men, the second's, and the player to move; else
 * mine, theirs, the cell that was played last, and ones. */
static void render_state(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const uint32_t *ply = r->game->moves + r->ply * ply_words(b), player = r->ply & 1;
    const uint8_t *men = (const uint8_t *)(ply + 1);
    const bool swaps = board_swaps_colours(b);

    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        if (men[cell] != 0)
            play_put_float(r->to, ((men[cell] - 1U) ^ (swaps ? 0 : player)) * b->n_cells + cell, 1);
        if (!swaps || player == 1)
            play_put_float(r->to, (swaps ? 2 : 3) * b->n_cells + cell, 1);
    }
    if (!swaps && r->ply > 0 && ply[-(ptrdiff_t)ply_words(b)] < b->n_cells)
        play_put_float(r->to, 2 * b->n_cells + ply[-(ptrdiff_t)ply_words(b)], 1);
}

/* The actions there are, the one played first. */
static void render_policy(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const uint32_t *ply = r->game->moves + r->ply * ply_words(b);
    uint32_t *actions = r->game->work, n;

    memcpy(r->game->stones, ply + 1, b->n_cells);
    n = rules_of(b)->list(b, r->game->stones, (uint8_t)(1 + (r->ply & 1)), actions);
    for (uint32_t i = 0; i < n; i++)
        if (actions[i] == ply[0]) {
            actions[i] = actions[0];
            actions[0] = ply[0];
        }
    play_policy(r, actions, n);
}

static const struct play_array arrays[] = {
    {"state", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_state},
    {"policy", "<f4", {PLAY_ACTIONS}, .render = render_policy},
    {"value", "<f4", {0}, .render = play_render_value},
    {"current_player", "|i1", {0}, .render = play_render_player},
};

const struct play_kind play_men = {
    .fits = fits,
    .set_up = set_up,
    .play = play_to_the_end,
    .arrays = arrays,
    .n_arrays = N_OF(arrays),
};
