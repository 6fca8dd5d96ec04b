/*
 * play_men.c - games on boards of up to BOARD_GAME_MAX_CELLS cells whose men are flipped, moved,
 * captured or connected. A group is the men of one player that are connected by neighbours.
 *
 * - Othello: a stone flips the other player's stones between it and another own one. A player who
 *   cannot move passes; when nobody can move, more stones win.
 * - Breakthrough: a man goes one step ahead, straight to a free square, or diagonally, where it may
 *   capture. Whoever reaches the last row, or captures all, wins. The first player goes down.
 * - Y, Havannah, Bridg-It: stones are put on free cells. In Y a group that touches three sides
 *   wins; in Havannah one that touches two corners or three sides (corners are on no side), or
 *   surrounds a cell, whatever is on it. A bridge of Bridg-It lies down or across, by its cell and
 *   player, and is connected to the bridges that end at the same posts.
 * - Go: a group without free neighbours is captured; suicide is illegal, and so is repeating the
 *   position before the last move. After two passes more cells win: stones, and free cells that
 *   only one player's stones surround. Gonnect: joining opposite sides wins; there is no pass.
 *
 * Otherwise, a player who cannot move has lost. A game's moves hold the action of each ply and the
 * position before it. A game that does not end is drawn.
 */
#include "sample/play.h"

#define MAX_PLIES_PER_CELL 4 /* two rows of men go all the way; stones, and passes */
#define MAX_CELLS          BOARD_GAME_MAX_CELLS

/* A position: a byte for each cell, 0 where it is free, 1 for the first player, 2 for the second;
 * and the words of this ply, which follow those of the n plies before. */
struct position {
    const struct board *board;
    const struct play_game *game; /* its scratch space */
    uint8_t *men;
    uint8_t man; /* of the player to move */
    uint32_t n;
    const uint32_t *ply;
};

/* Words of a ply: the action, then the men before it. */
static size_t ply_words(const struct board *b)
{
    return 1 + (b->n_cells + 3) / 4;
}

/* The action n plies ago; 1 is the last one. */
static uint32_t action_before(const struct position *p, uint32_t n)
{
    return n > p->n ? PLAY_NOWHERE : *(p->ply - n * ply_words(p->board));
}

/* --- Othello --- */

/* How many stones a stone put on that cell flips; with `flip`, do it. */
static uint32_t flip_stones(const struct board *b, uint8_t *men, uint8_t man, uint32_t cell,
                            bool flip)
{
    uint32_t n_flipped = 0;

    for (uint32_t way = 0; way < PLAY_N_WAYS; way++) {
        uint32_t n = 1, to;

        while ((to = play_step(b, cell, way, n)) != PLAY_NOWHERE && men[to] == 3 - man)
            n++;
        if (to == PLAY_NOWHERE || men[to] != man)
            continue;
        n_flipped += n - 1;
        while (flip && --n > 0)
            men[play_step(b, cell, way, n)] = man;
    }
    return n_flipped;
}

/* A pass (after the cells) is possible only when the other player could move. */
static uint32_t list_flips(const struct position *p, uint32_t *actions)
{
    const uint32_t n_cells = p->board->n_cells;
    uint32_t n = 0, n_theirs = 0;

    for (uint32_t cell = 0; cell < n_cells; cell++) {
        if (p->men[cell] != 0)
            continue;
        if (flip_stones(p->board, p->men, p->man, cell, false) > 0)
            actions[n++] = cell;
        else
            n_theirs += flip_stones(p->board, p->men, 3 - p->man, cell, false) > 0;
    }
    if (n == 0 && n_theirs > 0)
        actions[n++] = n_cells;
    return n;
}

/* --- Breakthrough --- */

/* None when a man has reached the last row: the game is over. */
static uint32_t list_steps(const struct position *p, uint32_t *actions)
{
    static const uint8_t ways[2][3] = {{4, 2, 6}, {7, 3, 5}}; /* left, ahead, right */
    const struct board *b = p->board;
    uint32_t n = 0;

    if (memchr(p->men, 2, b->cols) != NULL ||
        memchr(p->men + b->n_cells - b->cols, 1, b->cols) != NULL)
        return 0;
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        for (uint32_t side = 0; side < 3 && p->men[cell] == p->man; side++) {
            const uint32_t to = play_step(b, cell, ways[p->man - 1][side], 1);

            if (to != PLAY_NOWHERE && p->men[to] != p->man && (p->men[to] == 0 || side != 1))
                actions[n++] = cell * b->n_cells + to;
        }
    return n;
}

/* --- Y, Havannah, Bridg-It, Go, Gonnect; and who has won in Hex --- */

/* A group, or a region of connected free cells. */
struct group {
    uint32_t n_cells;   /* they are listed in game->visits until the next group is found */
    uint32_t beside;    /* a bit for each man next to it; bit 0: a free cell */
    uint32_t sides;     /* a bit for each side that it touches and that counts for its player */
    uint32_t n_corners; /* of a hexagon */
};

static bool has_captures(const struct board *b)
{
    return b->game == BOARD_GAME_LIBERTIES || b->game == BOARD_GAME_GONNECT;
}

/* The neighbour of a cell, by which that man's groups are connected; or PLAY_NOWHERE. */
static uint32_t beside(const struct board *b, uint8_t man, uint32_t cell, uint32_t way)
{
    if (b->game == BOARD_GAME_BRIDGES && way < PLAY_N_SQUARE_WAYS)
        return way / 2 == (cell / b->cols + man) % 2 ? play_step(b, cell, way, 2) : PLAY_NOWHERE;
    if (b->game != BOARD_GAME_BRIDGES &&
        way >= (b->is_hexagonal || b->game == BOARD_GAME_HEX ? PLAY_N_HEXAGON_WAYS
                                                             : PLAY_N_SQUARE_WAYS))
        return PLAY_NOWHERE;
    return play_step(b, cell, way, 1);
}

/* Find the group of a cell. */
static void find_group(const struct board *b, const struct play_game *game, const uint8_t *men,
                       uint32_t cell, struct group *group)
{
    const uint32_t last = b->rows - 1;
    const uint8_t man = men[cell];
    uint8_t *seen = game->stones + b->n_cells;
    uint32_t *cells = game->visits;

    memset(seen, 0, b->n_cells);
    group->n_cells = 1;
    cells[0] = cell;
    group->beside = group->sides = group->n_corners = 0;
    seen[cell] = true;
    for (uint32_t i = 0; i < group->n_cells; i++) {
        const uint32_t row = cells[i] / b->cols, col = cells[i] % b->cols;
        uint32_t sides =
            (row == 0 ? 1 : 0) | (row == last ? 2 : 0) | (col == 0 ? 4 : 0) | (col == last ? 8 : 0);

        if (b->game == BOARD_GAME_Y)
            sides = (sides & 10) | (row + col == last ? 1 : 0);
        else if (b->game == BOARD_GAME_HAVANNAH)
            sides |= (row + col == last / 2 ? 16 : 0) | (row + col == last / 2 * 3 ? 32 : 0);
        else if (b->game == BOARD_GAME_BRIDGES || b->game == BOARD_GAME_HEX)
            sides &= man == 1 ? 3 : 12;
        if (b->game == BOARD_GAME_HAVANNAH && (sides & (sides - 1)) != 0)
            group->n_corners++;
        else
            group->sides |= sides;
        for (uint32_t way = 0; way < PLAY_N_WAYS; way++) {
            const uint32_t to = beside(b, man, cells[i], way);

            if (to == PLAY_NOWHERE || seen[to])
                continue;
            if (men[to] != man) {
                group->beside |= 1U << men[to];
                continue;
            }
            seen[to] = true;
            cells[group->n_cells++] = to;
        }
    }
}

bool play_joins_sides(const struct board *b, struct play_game *game)
{
    struct group group;

    find_group(b, game, game->stones, game->moves[game->n_plies - 1], &group);
    return group.sides == 3 || group.sides == 12;
}

/* True when the last stone has won. Havannah's rings are found from inside: from a cell beside the
 * stone, which may be one of the group, the rest of the group cuts off every side. */
static bool has_won(const struct position *p)
{
    const struct board *b = p->board;
    const uint32_t last = action_before(p, 1);
    uint8_t men[MAX_CELLS] = {0};
    struct group group, inside;

    if (last == PLAY_NOWHERE || b->game == BOARD_GAME_LIBERTIES)
        return false;
    find_group(b, p->game, p->men, last, &group);
    if (b->game != BOARD_GAME_HAVANNAH && b->game != BOARD_GAME_Y)
        return (group.sides & 3) == 3 || (group.sides & 12) == 12;
    if (group.n_corners > 1 || __builtin_popcount(group.sides) > 2)
        return true;
    for (uint32_t i = 0; i < group.n_cells; i++)
        men[p->game->visits[i]] = 1;
    for (uint32_t way = 0; way < PLAY_N_WAYS && b->game == BOARD_GAME_HAVANNAH; way++) {
        const uint32_t cell = beside(b, 0, last, way);

        if (cell == PLAY_NOWHERE)
            continue;
        const uint8_t man = men[cell];
        men[cell] = 0;
        find_group(b, p->game, men, cell, &inside);
        if (inside.sides == 0 && inside.n_corners == 0)
            return true;
        men[cell] = man;
    }
    return false;
}

/* --- all of them --- */

/* Actions are cells, in Breakthrough from * cells + to. A pass is numbered after the cells, and is
 * the last in a list of actions. */
static bool has_pass(const struct board *b)
{
    return b->game == BOARD_GAME_OTHELLO || b->game == BOARD_GAME_LIBERTIES;
}

/* Apply an action to the men. */
static void make(const struct position *p, uint32_t action)
{
    const struct board *b = p->board;
    struct group group;

    if (b->game == BOARD_GAME_BREAKTHROUGH) {
        p->men[action / b->n_cells] = 0;
        p->men[action % b->n_cells] = p->man;
        return;
    }
    if (action == b->n_cells)
        return;
    p->men[action] = p->man;
    if (b->game == BOARD_GAME_OTHELLO)
        flip_stones(b, p->men, p->man, action, true);
    for (uint32_t way = 0; way < PLAY_N_WAYS && has_captures(b); way++) {
        const uint32_t to = beside(b, p->man, action, way);

        if (to == PLAY_NOWHERE || p->men[to] != 3 - p->man)
            continue;
        find_group(b, p->game, p->men, to, &group);
        for (uint32_t i = 0; i < group.n_cells && (group.beside & 1) == 0; i++)
            p->men[p->game->visits[i]] = 0;
    }
}

/* Where stones are captured: legal with a free neighbour; else the move has to be tried. */
static bool may_put(const struct position *p, uint32_t cell)
{
    const struct board *b = p->board;
    uint8_t men[MAX_CELLS];
    struct position after = *p;
    struct group group;

    for (uint32_t way = 0; way < PLAY_N_WAYS; way++) {
        const uint32_t to = beside(b, p->man, cell, way);

        if (to != PLAY_NOWHERE && p->men[to] == 0)
            return true;
    }
    after.men = memcpy(men, p->men, b->n_cells);
    make(&after, cell);
    find_group(b, p->game, men, cell, &group);
    return (group.beside & 1) != 0 &&
           (p->n == 0 || memcmp(men, p->ply - ply_words(b) + 1, b->n_cells) != 0);
}

/* List the actions of the player to move; none when the game is over. */
static uint32_t list_actions(const struct position *p, uint32_t *actions)
{
    const struct board *b = p->board;
    const bool is_go = b->game == BOARD_GAME_LIBERTIES;
    uint32_t n = 0;

    if (b->game == BOARD_GAME_OTHELLO)
        return list_flips(p, actions);
    if (b->game == BOARD_GAME_BREAKTHROUGH)
        return list_steps(p, actions);
    if (has_won(p) ||
        (is_go && action_before(p, 1) == b->n_cells && action_before(p, 2) == b->n_cells))
        return 0;
    for (uint32_t i = 0; i < b->n_on_board; i++)
        if (p->men[b->order[i]] == 0 && (!has_captures(b) || may_put(p, b->order[i])))
            actions[n++] = b->order[i];
    if (is_go)
        actions[n++] = b->n_cells;
    return n;
}

/* Who has won, as in play_game, when the player to move has no action. Havannah's board may be full
 * without a winner. */
static int winner_of(const struct position *p)
{
    const struct board *b = p->board;
    struct group group;
    int lead = 0;

    if (!has_pass(b))
        return b->game == BOARD_GAME_HAVANNAH && !has_won(p) ? -1 : 2 - p->man;
    for (uint32_t i = 0; i < b->n_on_board; i++) {
        const uint8_t man = p->men[b->order[i]];

        group.beside = 0;
        if (man == 0 && has_captures(b))
            find_group(b, p->game, p->men, b->order[i], &group);
        lead += man == 1 || group.beside == 1 << 1;
        lead -= man == 2 || group.beside == 1 << 2;
    }
    return lead == 0 ? -1 : lead < 0;
}

/* The family Breakthrough numbers its policy as (from * 6 + step) * 2 + capture; the first three
 * steps go down. Board files use from * cells + to. */
static bool has_steps(const struct board *b)
{
    return b->game == BOARD_GAME_BREAKTHROUGH && b->file_text == NULL;
}

static bool set_up(struct play *play)
{
    const struct board *b = play->board;

    play->n_moves = MAX_PLIES_PER_CELL * b->n_cells * (uint32_t)ply_words(b);
    play->planes = board_swaps_colours(b) ? "FSs" : "MT1o";
    play->n_actions = b->n_cells + has_pass(b);
    if (b->game == BOARD_GAME_BREAKTHROUGH)
        play->n_actions = b->n_cells * (has_steps(b) ? 12 : b->n_cells);
    return b->n_cells <= MAX_CELLS;
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);
    struct position p = {b, game, game->stones, 1, 0, game->moves};
    uint32_t n;

    memset(p.men, 0, b->n_cells);
    if (b->game == BOARD_GAME_OTHELLO) {
        /* Black, who begins, has the upper right and the lower left of the centre. */
        const uint32_t centre = (b->rows / 2 - 1) * b->cols + b->cols / 2 - 1;

        p.men[centre] = p.men[centre + b->cols + 1] = 2;
        p.men[centre + 1] = p.men[centre + b->cols] = 1;
    } else if (b->game == BOARD_GAME_BREAKTHROUGH) {
        n = (b->rows < 6 ? 1 : 2) * b->cols;
        memset(p.men, 1, n);
        memset(p.men + b->n_cells - n, 2, n);
    }
    while ((n = list_actions(&p, game->work)) > 0 && p.n < MAX_PLIES_PER_CELL * b->n_cells) {
        uint32_t *ply = game->moves + p.n * ply_words(b);
        const bool may_pass = has_pass(b) && game->work[n - 1] == b->n_cells;
        const uint32_t k = play_below(&random, n - (may_pass && n > 1));

        /* Nobody passes voluntarily until there have been as many plies as cells. */
        ply[0] = game->work[may_pass && p.n >= b->n_on_board ? n - 1 : k];
        memcpy(ply + 1, p.men, b->n_cells);
        make(&p, ply[0]);
        p.man = 3 - p.man;
        p.n++;
        p.ply += ply_words(b);
    }
    game->n_plies = p.n;
    game->winner = n > 0 ? -1 : winner_of(&p);
}

static void render_state(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const uint32_t *ply = r->game->moves + r->ply * ply_words(b);
    uint32_t last = r->ply > 0 ? ply[-(ptrdiff_t)ply_words(b)] : PLAY_NOWHERE;

    if (last != PLAY_NOWHERE && b->game == BOARD_GAME_BREAKTHROUGH)
        last %= b->n_cells;
    memcpy(r->game->stones, ply + 1, b->n_cells);
    play_planes(r, last, PLAY_NOWHERE);
}

/* The possible actions, the one played first. */
static void render_policy(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const uint32_t *ply = r->game->moves + r->ply * ply_words(b);
    const struct position p = {b,      r->game, r->game->stones, (uint8_t)(1 + (r->ply & 1)),
                               r->ply, ply};
    uint32_t *actions = r->game->work;

    memcpy(p.men, ply + 1, b->n_cells);
    const uint32_t n = list_actions(&p, actions);
    for (uint32_t i = 0; i < n; i++)
        if (actions[i] == ply[0]) {
            actions[i] = actions[0];
            actions[0] = ply[0];
        }
    for (uint32_t i = 0; i < n && has_steps(b); i++) {
        const uint32_t from = actions[i] / b->n_cells, to = actions[i] % b->n_cells;
        const uint32_t side = to % b->cols + 1 - from % b->cols;

        actions[i] = (from * 6 + (to > from ? 0 : 3) + side) * 2 + (p.men[to] != 0);
    }
    play_policy(r, actions, n);
}

const struct play_kind play_men = {
    .game = BOARD_GAME_OTHELLO,
    .last_game = BOARD_GAME_BRIDGES,
    .set_up = set_up,
    .play = play_to_the_end,
    .arrays =
        {
            {"state.npy", "<f4", {PLAY_PLANES, PLAY_ROWS, PLAY_COLS}, .render = render_state},
            {"policy.npy", "<f4", {PLAY_ACTIONS}, .render = render_policy},
            {"value.npy", "<f4", {0}, .render = play_render_value},
            {"current_player.npy", "|i1", {0}, .render = play_render_player},
        },
};
