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
#define NOWHERE            UINT32_MAX /* no cell on board, or no action */

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
    return n > p->n ? NOWHERE : *(p->ply - n * ply_words(p->board));
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
    return row < b->rows && col < b->cols && b->on_board[cell] ? cell : NOWHERE;
}

/* --- Othello --- */

/* How many stones a stone of that man on a cell turns over; they are, if so wanted. */
static uint32_t turn_over(const struct board *b, uint8_t *men, uint8_t man, uint32_t cell,
                          bool turn)
{
    uint32_t n_turned = 0;

    for (uint32_t way = 0; way < N_WAYS; way++) {
        uint32_t n = 1, to;

        while ((to = step(b, cell, way, n)) != NOWHERE && men[to] == 3 - man)
            n++;
        if (to == NOWHERE || men[to] != man)
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

static void make_flips(const struct position *p, uint32_t action)
{
    if (action == p->board->n_cells)
        return;
    turn_over(p->board, p->men, p->man, action, true);
    p->men[action] = p->man;
}

/* Black, who begins, stands at the upper right and the lower left of the centre. */
static void start_othello(const struct board *b, uint8_t *men)
{
    const uint32_t centre = (b->rows / 2 - 1) * b->cols + b->cols / 2 - 1;

    men[centre] = men[centre + b->cols + 1] = 2;
    men[centre + 1] = men[centre + b->cols] = 1;
}

static int winner_of_othello(const struct position *p)
{
    int lead = 0;

    for (uint32_t cell = 0; cell < p->board->n_cells; cell++)
        lead += p->men[cell] == 0 ? 0 : p->men[cell] == 1 ? 1 : -1;
    return lead == 0 ? -1 : lead < 0;
}

/* --- Breakthrough --- */

static void start_breakthrough(const struct board *b, uint8_t *men)
{
    const uint32_t n = (b->rows < 6 ? 1 : 2) * b->cols;

    memset(men, 1, n);
    memset(men + b->n_cells - n, 2, n);
}

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

            if (to != NOWHERE && p->men[to] != p->man && (p->men[to] == 0 || side != 1))
                actions[n++] = cell * b->n_cells + to;
        }
    return n;
}

/* A group, or the free cells that are side by side. */
struct group {
    uint32_t n_cells, cells[MAX_CELLS];
    uint32_t beside;    /* a bit for each man that is beside it; bit 0: a free cell is */
    uint32_t sides;     /* a bit for each side that it touches */
    uint32_t n_corners; /* of a hexagon */
};

/* --- groups --- */

/* The cell beside a cell in one of N_WAYS ways, as that man's groups have it; or NOWHERE. */
static uint32_t beside(const struct board *b, uint8_t man, uint32_t cell, uint32_t way)
{
    if (b->game == BOARD_GAME_BRIDGES && way < 4)
        return way % 2 == (cell / b->cols + man) % 2 ? step(b, cell, way, 2) : NOWHERE;
    if (b->game != BOARD_GAME_BRIDGES && way >= (b->is_hexagonal ? 6 : 4))
        return NOWHERE;
    return step(b, cell, way, 1);
}

/* A bit for each side that a cell is on, as that man sees it. */
static uint32_t sides_of(const struct board *b, uint8_t man, uint32_t cell)
{
    const uint32_t row = cell / b->cols, col = cell % b->cols, last = b->rows - 1;
    const uint32_t sides =
        (row == 0 ? 1 : 0) | (row == last ? 2 : 0) | (col == 0 ? 4 : 0) | (col == last ? 8 : 0);

    if (b->game == BOARD_GAME_Y)
        return (sides & 10) | (row + col == last ? 1 : 0);
    if (b->game == BOARD_GAME_HAVANNAH)
        return sides | (row + col == last / 2 ? 16 : 0) | (row + col == last / 2 * 3 ? 32 : 0);
    return b->game == BOARD_GAME_BRIDGES ? sides & (man == 1 ? 3 : 12) : sides;
}

/* The group of a cell. */
static void find_group(const struct board *b, const uint8_t *men, uint32_t cell,
                       struct group *group)
{
    const uint8_t man = men[cell];
    bool seen[MAX_CELLS] = {false};

    group->n_cells = 1;
    group->cells[0] = cell;
    group->beside = group->sides = group->n_corners = 0;
    seen[cell] = true;
    for (uint32_t i = 0; i < group->n_cells; i++) {
        const uint32_t sides = sides_of(b, man, group->cells[i]);

        if (b->game == BOARD_GAME_HAVANNAH && (sides & (sides - 1)) != 0)
            group->n_corners++;
        else
            group->sides |= sides;
        for (uint32_t way = 0; way < N_WAYS; way++) {
            const uint32_t to = beside(b, man, group->cells[i], way);

            if (to == NOWHERE || seen[to])
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

/* True when the stone put last made its group a ring: from a cell beside it, be it one of the
 * group, no way leads to a side past the others of the group. */
static bool is_ring(const struct board *b, uint32_t last, const struct group *group)
{
    uint8_t men[MAX_CELLS] = {0};
    struct group inside;

    for (uint32_t i = 0; i < group->n_cells; i++)
        men[group->cells[i]] = 1;
    for (uint32_t way = 0; way < N_WAYS; way++) {
        const uint32_t cell = beside(b, 0, last, way);
        const uint8_t man = cell != NOWHERE ? men[cell] : 0;

        if (cell == NOWHERE)
            continue;
        men[cell] = 0;
        find_group(b, men, cell, &inside);
        if (inside.sides == 0 && inside.n_corners == 0)
            return true;
        men[cell] = man;
    }
    return false;
}

/* --- Y, Havannah, Bridg-It, Go, Gonnect --- */

static bool has_captures(const struct board *b)
{
    return b->game == BOARD_GAME_LIBERTIES || b->game == BOARD_GAME_GONNECT;
}

/* True when the stone that was put last has won. */
static bool has_won(const struct position *p)
{
    const uint32_t last = action_before(p, 1);
    struct group group;

    if (last == NOWHERE || p->board->game == BOARD_GAME_LIBERTIES)
        return false;
    find_group(p->board, p->men, last, &group);
    if (p->board->game == BOARD_GAME_HAVANNAH || p->board->game == BOARD_GAME_Y)
        return group.n_corners > 1 || __builtin_popcount(group.sides) > 2 ||
               (p->board->game == BOARD_GAME_HAVANNAH && is_ring(p->board, last, &group));
    return (group.sides & 3) == 3 || (group.sides & 12) == 12;
}

static void make_stone(const struct position *p, uint32_t cell)
{
    const struct board *b = p->board;
    struct group group;

    if (cell == b->n_cells)
        return;
    p->men[cell] = p->man;
    for (uint32_t way = 0; way < N_WAYS && has_captures(b); way++) {
        const uint32_t to = beside(b, p->man, cell, way);

        if (to == NOWHERE || p->men[to] != 3 - p->man)
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

        if (to != NOWHERE && p->men[to] == 0)
            return true;
    }
    after.men = memcpy(men, p->men, b->n_cells);
    make_stone(&after, cell);
    find_group(b, men, cell, &group);
    return (group.beside & 1) != 0 &&
           (p->n == 0 || memcmp(men, p->ply - ply_words(b) + 1, b->n_cells) != 0);
}

static uint32_t list_stones(const struct position *p, uint32_t *actions)
{
    const struct board *b = p->board;
    const bool has_pass = b->game == BOARD_GAME_LIBERTIES;
    uint32_t n = 0;

    if (has_won(p) ||
        (has_pass && action_before(p, 1) == b->n_cells && action_before(p, 2) == b->n_cells))
        return 0;
    for (uint32_t i = 0; i < b->n_on_board; i++)
        if (p->men[b->order[i]] == 0 && (!has_captures(b) || may_put(p, b->order[i])))
            actions[n++] = b->order[i];
    if (has_pass)
        actions[n++] = b->n_cells;
    return n;
}

/* A board of Havannah may be full. */
static int winner_of_havannah(const struct position *p)
{
    return has_won(p) ? 2 - p->man : -1;
}

static int winner_by_cells(const struct position *p)
{
    struct group group;
    int lead = 0;

    for (uint32_t i = 0; i < p->board->n_on_board; i++) {
        const uint32_t cell = p->board->order[i];

        find_group(p->board, p->men, cell, &group);
        if (p->men[cell] != 0)
            lead += p->men[cell] == 1 ? 1 : -1;
        else
            lead += group.beside == 1 << 1 ? 1 : group.beside == 1 << 2 ? -1 : 0;
    }
    return lead == 0 ? -1 : lead < 0;
}

/* --- all of them --- */

/* What is done in a move, and how actions are numbered. */
enum action {
    ACTION_CELL,         /* a cell is taken */
    ACTION_CELL_OR_PASS, /* the same; a pass comes last, also where actions are listed */
    ACTION_MOVE,         /* from * cells + to */
};

/* A player's actions, none at the end; what an action makes of the men (NULL: the move); who has
 * won when a player has no action, as in play_game (NULL: the other one). */
static const struct rules {
    enum board_game game;
    enum action action;
    void (*start)(const struct board *b, uint8_t *men); /* NULL: nothing is on the board */
    uint32_t (*list)(const struct position *p, uint32_t *actions);
    void (*make)(const struct position *p, uint32_t action);
    int (*winner)(const struct position *p);
} games[] = {
    {BOARD_GAME_OTHELLO, ACTION_CELL_OR_PASS, start_othello, list_flips, make_flips,
     winner_of_othello},
    {BOARD_GAME_BREAKTHROUGH, ACTION_MOVE, start_breakthrough, list_steps, NULL, NULL},
    {BOARD_GAME_Y, ACTION_CELL, NULL, list_stones, make_stone, NULL},
    {BOARD_GAME_HAVANNAH, ACTION_CELL, NULL, list_stones, make_stone, winner_of_havannah},
    {BOARD_GAME_BRIDGES, ACTION_CELL, NULL, list_stones, make_stone, NULL},
    {BOARD_GAME_GONNECT, ACTION_CELL, NULL, list_stones, make_stone, NULL},
    {BOARD_GAME_LIBERTIES, ACTION_CELL_OR_PASS, NULL, list_stones, make_stone, winner_by_cells},
};

/* Those of a board's game; NULL where it has none. */
static const struct rules *rules_of(const struct board *b)
{
    for (size_t i = 0; i < N_OF(games); i++)
        if (games[i].game == b->game && b->n_cells <= MAX_CELLS)
            return &games[i];
    return NULL;
}

/* The family Breakthrough has a numbering of its own: (from * 6 + step) * 2 + capture, the first
 * three steps down. */
static bool has_steps(const struct board *b)
{
    return b->game == BOARD_GAME_BREAKTHROUGH && b->file_text == NULL;
}

static uint32_t number_of_step(const struct board *b, const uint8_t *men, uint32_t action)
{
    const uint32_t from = action / b->n_cells, to = action % b->n_cells;
    const uint32_t side = to % b->cols + 1 - from % b->cols;

    return (from * 6 + (to > from ? 0 : 3) + side) * 2 + (men[to] != 0);
}

static bool fits(const struct board *board)
{
    return rules_of(board) != NULL;
}

static void set_up(struct play *play)
{
    const struct board *b = play->board;
    const enum action action = rules_of(b)->action;

    play->n_moves = MAX_PLIES_PER_CELL * b->n_cells * (uint32_t)ply_words(b);
    play->n_planes = board_swaps_colours(b) ? 3 : 4;
    play->n_actions = has_steps(b)            ? 12 * b->n_cells
                      : action == ACTION_MOVE ? b->n_cells * b->n_cells
                                              : b->n_cells + (action == ACTION_CELL_OR_PASS);
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    const struct board *b = play->board;
    const struct rules *rules = rules_of(b);
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);
    struct position p = {b, game->stones, 1, 0, game->moves};
    uint32_t n;

    memset(p.men, 0, b->n_cells);
    if (rules->start != NULL)
        rules->start(b, p.men);
    while ((n = rules->list(&p, game->work)) > 0 && p.n < MAX_PLIES_PER_CELL * b->n_cells) {
        uint32_t *ply = game->moves + p.n * ply_words(b);
        const bool may_pass =
            rules->action == ACTION_CELL_OR_PASS && game->work[n - 1] == b->n_cells;
        const uint32_t k = play_below(&random, n - (may_pass && n > 1));

        /* Nobody passes who need not, until there have been as many plies as cells. */
        ply[0] = game->work[may_pass && p.n >= b->n_on_board ? n - 1 : k];
        memcpy(ply + 1, p.men, b->n_cells);
        if (rules->make != NULL) {
            rules->make(&p, ply[0]);
        } else {
            p.men[ply[0] / b->n_cells] = 0;
            p.men[ply[0] % b->n_cells] = p.man;
        }
        p.man = 3 - p.man;
        p.n++;
        p.ply += ply_words(b);
    }
    game->n_plies = p.n;
    game->winner = n > 0 ? -1 : rules->winner != NULL ? rules->winner(&p) : 2 - p.man;
}

/* Of boards whose colours swap: the first player's men, the second's, and the player to move; else
 * mine, theirs, the cell that was played last, and ones. */
static void render_state(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const uint32_t *ply = r->game->moves + r->ply * ply_words(b), player = r->ply & 1;
    const uint8_t *men = (const uint8_t *)(ply + 1);
    const bool swaps = board_swaps_colours(b);
    uint32_t last = r->ply > 0 ? ply[-(ptrdiff_t)ply_words(b)] : NOWHERE;

    if (last != NOWHERE && rules_of(b)->action == ACTION_MOVE)
        last %= b->n_cells;
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        if (men[cell] != 0)
            play_put_float(r->to, ((men[cell] - 1U) ^ (swaps ? 0 : player)) * b->n_cells + cell, 1);
        if (swaps ? player == 1 : b->on_board[cell])
            play_put_float(r->to, (swaps ? 2 : 3) * b->n_cells + cell, 1);
    }
    if (!swaps && last < b->n_cells)
        play_put_float(r->to, 2 * b->n_cells + last, 1);
}

/* The actions there are, the one played first. */
static void render_policy(const struct play_row *r)
{
    const struct board *b = r->play->board;
    const uint32_t *ply = r->game->moves + r->ply * ply_words(b);
    const struct position p = {b, r->game->stones, (uint8_t)(1 + (r->ply & 1)), r->ply, ply};
    uint32_t *actions = r->game->work;

    memcpy(p.men, ply + 1, b->n_cells);
    const uint32_t n = rules_of(b)->list(&p, actions);
    for (uint32_t i = 0; i < n; i++)
        if (actions[i] == ply[0]) {
            actions[i] = actions[0];
            actions[0] = ply[0];
        }
    for (uint32_t i = 0; i < n && has_steps(b); i++)
        actions[i] = number_of_step(b, p.men, actions[i]);
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
