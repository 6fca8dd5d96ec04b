/*
 * play_men.c - games on boards of up to BOARD_GAME_MAX_CELLS cells in which what stands there is
 * turned over, moved or taken, or groups are made, men of one player that stand side by side:
 *
 * - Othello: a stone turns over the other player's stones that lie between it and one's own; who
 *   cannot move passes, and when nobody can, more stones win.
 * - Breakthrough: a man goes one step ahead, to a free square or aslant, where it may take what
 *   stands there; who comes to the last row has won, or takes all. The first player goes down.
 * - Y, Havannah, Bridg-It: stones are put on free cells. In Y a group joins the three sides; in
 *   Havannah two corners, or three sides, whose corners do not count, or it is a ring about a cell,
 *   whatever is on it. A bridge of Bridg-It lies down or across, as its cell and player say, and
 *   bridges are in a group where they end at one post.
 * - Go: a group is taken when no free cell is beside it; nobody takes his own, nor makes the
 *   position of a move before. After two passes who has more cells wins: his stones, and free cells
 *   between them alone. Gonnect: who joins opposite sides has won, and there is no pass.
 *
 * Who cannot move has lost, unless the above says otherwise. A game keeps the action of each ply
 * and the position before it. One that does not end is drawn.
 */
#include "sample/play.h"

#define MAX_PLIES_PER_CELL 4 /* two rows of men go all the way; stones, and passes */
#define MAX_CELLS          BOARD_GAME_MAX_CELLS
#define N_WAYS             8

/* A position of a game: a byte for each cell, 0 where it is free, 1 for the first player, 2 for the
 * second; and the words of this ply, after those of the n plies before. */
struct position {
    const struct board *board;
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

/* The action so many plies ago, from 1. */
static uint32_t action_before(const struct position *p, uint32_t n)
{
    return n > p->n ? PLAY_NOWHERE : *(p->ply - n * ply_words(p->board));
}

/* The cell n steps on in one of N_WAYS ways: first four along rows and columns, then two more of
 * hexagonal cells, then the others. */
static uint32_t step(const struct board *b, uint32_t cell, uint32_t way, uint32_t n)
{
    static const int steps[N_WAYS][2] = {{0, 1},  {1, 0},  {0, -1}, {-1, 0},
                                         {1, -1}, {-1, 1}, {1, 1},  {-1, -1}};
    const uint32_t row = cell / b->cols + n * (uint32_t)steps[way][0];
    const uint32_t col = cell % b->cols + n * (uint32_t)steps[way][1];

    cell = row * b->cols + col;
    return row < b->rows && col < b->cols && b->on_board[cell] ? cell : PLAY_NOWHERE;
}

/* --- Othello --- */

/* How many stones a stone of that man on a cell turns over; they are, if so wanted. */
static uint32_t turn_over(const struct board *b, uint8_t *men, uint8_t man, uint32_t cell,
                          bool turn)
{
    uint32_t n_turned = 0;

    for (uint32_t way = 0; way < N_WAYS; way++) {
        uint32_t n = 1, to;

        while ((to = step(b, cell, way, n)) != PLAY_NOWHERE && men[to] == 3 - man)
            n++;
        if (to == PLAY_NOWHERE || men[to] != man)
            continue;
        n_turned += n - 1;
        while (turn && --n > 0)
            men[step(b, cell, way, n)] = man;
    }
    return n_turned;
}

/* A pass, after the cells, where the other player can move and this one cannot. */
static uint32_t list_flips(const struct position *p, uint32_t *actions)
{
    const uint32_t n_cells = p->board->n_cells;
    uint32_t n = 0, n_theirs = 0;

    for (uint32_t cell = 0; cell < n_cells; cell++) {
        if (p->men[cell] != 0)
            continue;
        if (turn_over(p->board, p->men, p->man, cell, false) > 0)
            actions[n++] = cell;
        else
            n_theirs += turn_over(p->board, p->men, 3 - p->man, cell, false) > 0;
    }
    if (n == 0 && n_theirs > 0)
        actions[n++] = n_cells;
    return n;
}

/* --- Breakthrough --- */

/* None where a man stands on the last row: the game is over. */
static uint32_t list_steps(const struct position *p, uint32_t *actions)
{
    static const uint8_t ways[2][3] = {{4, 1, 6}, {7, 3, 5}}; /* left, ahead, right */
    const struct board *b = p->board;
    uint32_t n = 0;

    if (memchr(p->men, 2, b->cols) != NULL ||
        memchr(p->men + b->n_cells - b->cols, 1, b->cols) != NULL)
        return 0;
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        for (uint32_t side = 0; side < 3 && p->men[cell] == p->man; side++) {
            const uint32_t to = step(b, cell, ways[p->man - 1][side], 1);

            if (to != PLAY_NOWHERE && p->men[to] != p->man && (p->men[to] == 0 || side != 1))
                actions[n++] = cell * b->n_cells + to;
        }
    return n;
}

/* --- Y, Havannah, Bridg-It, Go, Gonnect --- */

/* A group, or the free cells that are side by side. */
struct group {
    uint32_t n_cells, cells[MAX_CELLS];
    uint32_t beside;    /* a bit for each man that is beside it; bit 0: a free cell is */
    uint32_t sides;     /* a bit for each side that it touches, as its man sees it */
    uint32_t n_corners; /* of a hexagon */
};

static bool has_captures(const struct board *b)
{
    return b->game == BOARD_GAME_LIBERTIES || b->game == BOARD_GAME_GONNECT;
}

/* The cell beside a cell in one of N_WAYS ways, as that man's groups have it; or PLAY_NOWHERE. */
static uint32_t beside(const struct board *b, uint8_t man, uint32_t cell, uint32_t way)
{
    if (b->game == BOARD_GAME_BRIDGES && way < 4)
        return way % 2 == (cell / b->cols + man) % 2 ? step(b, cell, way, 2) : PLAY_NOWHERE;
    if (b->game != BOARD_GAME_BRIDGES && way >= (b->is_hexagonal ? 6 : 4))
        return PLAY_NOWHERE;
    return step(b, cell, way, 1);
}

/* The group of a cell. */
static void find_group(const struct board *b, const uint8_t *men, uint32_t cell,
                       struct group *group)
{
    const uint32_t last = b->rows - 1;
    const uint8_t man = men[cell];
    bool seen[MAX_CELLS] = {false};

    group->n_cells = 1;
    group->cells[0] = cell;
    group->beside = group->sides = group->n_corners = 0;
    seen[cell] = true;
    for (uint32_t i = 0; i < group->n_cells; i++) {
        const uint32_t row = group->cells[i] / b->cols, col = group->cells[i] % b->cols;
        uint32_t sides =
            (row == 0 ? 1 : 0) | (row == last ? 2 : 0) | (col == 0 ? 4 : 0) | (col == last ? 8 : 0);

        if (b->game == BOARD_GAME_Y)
            sides = (sides & 10) | (row + col == last ? 1 : 0);
        else if (b->game == BOARD_GAME_HAVANNAH)
            sides |= (row + col == last / 2 ? 16 : 0) | (row + col == last / 2 * 3 ? 32 : 0);
        else if (b->game == BOARD_GAME_BRIDGES)
            sides &= man == 1 ? 3 : 12;
        if (b->game == BOARD_GAME_HAVANNAH && (sides & (sides - 1)) != 0)
            group->n_corners++;
        else
            group->sides |= sides;
        for (uint32_t way = 0; way < N_WAYS; way++) {
            const uint32_t to = beside(b, man, group->cells[i], way);

            if (to == PLAY_NOWHERE || seen[to])
                continue;
            if (men[to] != man) {
                group->beside |= 1U << men[to];
                continue;
            }
            seen[to] = true;
            group->cells[group->n_cells++] = to;
        }
    }
}

/* True when the stone that was put last has won. In Havannah, too, by a ring: from a cell beside
 * it, be it one of the group, no way leads to a side past the others of the group. */
static bool has_won(const struct position *p)
{
    const struct board *b = p->board;
    const uint32_t last = action_before(p, 1);
    uint8_t men[MAX_CELLS] = {0};
    struct group group, inside;

    if (last == PLAY_NOWHERE || b->game == BOARD_GAME_LIBERTIES)
        return false;
    find_group(b, p->men, last, &group);
    if (b->game != BOARD_GAME_HAVANNAH && b->game != BOARD_GAME_Y)
        return (group.sides & 3) == 3 || (group.sides & 12) == 12;
    if (group.n_corners > 1 || __builtin_popcount(group.sides) > 2)
        return true;
    for (uint32_t i = 0; i < group.n_cells; i++)
        men[group.cells[i]] = 1;
    for (uint32_t way = 0; way < N_WAYS && b->game == BOARD_GAME_HAVANNAH; way++) {
        const uint32_t cell = beside(b, 0, last, way);

        if (cell == PLAY_NOWHERE)
            continue;
        const uint8_t man = men[cell];
        men[cell] = 0;
        find_group(b, men, cell, &inside);
        if (inside.sides == 0 && inside.n_corners == 0)
            return true;
        men[cell] = man;
    }
    return false;
}

/* --- all of them --- */

/* An action is a cell that is taken, from * cells + to in Breakthrough; or, after the cells, a
 * pass, which also comes last where actions are listed. */
static bool has_pass(const struct board *b)
{
    return b->game == BOARD_GAME_OTHELLO || b->game == BOARD_GAME_LIBERTIES;
}

/* Make of the men what an action does. */
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
        turn_over(b, p->men, p->man, action, true);
    for (uint32_t way = 0; way < N_WAYS && has_captures(b); way++) {
        const uint32_t to = beside(b, p->man, action, way);

        if (to == PLAY_NOWHERE || p->men[to] != 3 - p->man)
            continue;
        find_group(b, p->men, to, &group);
        for (uint32_t i = 0; i < group.n_cells && (group.beside & 1) == 0; i++)
            p->men[group.cells[i]] = 0;
    }
}

/* Where stones are taken: a free cell beside it is enough; else the move is tried. */
static bool may_put(const struct position *p, uint32_t cell)
{
    const struct board *b = p->board;
    uint8_t men[MAX_CELLS];
    struct position after = *p;
    struct group group;

    for (uint32_t way = 0; way < N_WAYS; way++) {
        const uint32_t to = beside(b, p->man, cell, way);

        if (to != PLAY_NOWHERE && p->men[to] == 0)
            return true;
    }
    after.men = memcpy(men, p->men, b->n_cells);
    make(&after, cell);
    find_group(b, men, cell, &group);
    return (group.beside & 1) != 0 &&
           (p->n == 0 || memcmp(men, p->ply - ply_words(b) + 1, b->n_cells) != 0);
}

/* The actions of the player to move; none when the game is over. */
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

/* Who has won when the player to move has no action, as in play_game. A board of Havannah may be
 * full. */
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
            find_group(b, p->men, b->order[i], &group);
        lead += man == 1 || group.beside == 1 << 1;
        lead -= man == 2 || group.beside == 1 << 2;
    }
    return lead == 0 ? -1 : lead < 0;
}

/* The family Breakthrough has a numbering of its own: (from * 6 + step) * 2 + capture, the first
 * three steps down. */
static bool has_steps(const struct board *b)
{
    return b->game == BOARD_GAME_BREAKTHROUGH && b->file_text == NULL;
}

/* In the list of games these stand from Othello to Bridg-It. */
static bool fits(const struct board *b)
{
    return b->game >= BOARD_GAME_OTHELLO && b->game <= BOARD_GAME_BRIDGES &&
           b->n_cells <= MAX_CELLS;
}

static void set_up(struct play *play)
{
    const struct board *b = play->board;

    play->n_moves = MAX_PLIES_PER_CELL * b->n_cells * (uint32_t)ply_words(b);
    play->planes = board_swaps_colours(b) ? "FSs" : "MT1o";
    play->n_actions = b->n_cells + has_pass(b);
    if (b->game == BOARD_GAME_BREAKTHROUGH)
        play->n_actions = b->n_cells * (has_steps(b) ? 12 : b->n_cells);
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);
    struct position p = {b, game->stones, 1, 0, game->moves};
    uint32_t n;

    memset(p.men, 0, b->n_cells);
    if (b->game == BOARD_GAME_OTHELLO) {
        /* Black, who begins, stands at the upper right and the lower left of the centre. */
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

        /* Nobody passes who need not, until there have been as many plies as cells. */
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

/* The actions there are, the one played first. */
static void render_policy(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const uint32_t *ply = r->game->moves + r->ply * ply_words(b);
    const struct position p = {b, r->game->stones, (uint8_t)(1 + (r->ply & 1)), r->ply, ply};
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
