/*
 * play.c - what the games share: scratch space, random numbers, the order in which cells are
 * filled, policies, planes. Every random number is a hash of seed, game, purpose, ply and a
 * counter, so that no row depends on another and threads need not communicate.
 */
#include "sample/play.h"

#include "engine/order.h"

uint64_t play_dim(const struct play *play, int dim)
{
    const struct board *b = play->board;
    const uint64_t n = b->n_cells;
    const uint64_t sizes[] = {
        [-PLAY_ROWS] = b->rows > 0 ? b->rows : n,
        [-PLAY_COLS] = b->cols,
        [-PLAY_CELLS] = n,
        [-PLAY_PLANES] = play->n_planes,
        [-PLAY_ACTIONS] = play->n_actions,
        [-PLAY_PACKED] = (n + 7) / 8,
        [-PLAY_SCORES] = 2 * (n + 60),
    };

    return dim >= 0 ? (uint64_t)dim : sizes[-dim];
}

/* --- random numbers --- */

struct play_random play_random_of(const struct play *play, const struct play_game *game,
                                  enum play_purpose purpose, uint32_t ply)
{
    const uint64_t game_key = shuffle_hash(play->seed, game->number);

    return (struct play_random){.key = shuffle_hash(game_key, (uint64_t)purpose << 32 | ply)};
}

uint32_t play_below(struct play_random *random, uint32_t n)
{
    return (uint32_t)((shuffle_hash(random->key, random->n++) >> 32) * n >> 32);
}

void play_shuffle(struct play_random *random, uint32_t *numbers, uint32_t n)
{
    for (uint32_t i = n; i > 1; i--) {
        const uint32_t k = play_below(random, i);
        const uint32_t last = numbers[i - 1];

        numbers[i - 1] = numbers[k];
        numbers[k] = last;
    }
}

/* --- games --- */

int play_game_init(struct play_game *game, const struct play *play, struct error *err)
{
    const size_t n_cells = (size_t)play->board->n_cells + PLAY_N_TILES;
    const size_t n_actions = n_cells > play->n_encodable ? n_cells : play->n_encodable;

    *game = (struct play_game){0};
    game->cells = calloc(n_cells, sizeof *game->cells);
    game->when = calloc(n_cells, sizeof *game->when);
    game->kinds = calloc(n_cells, sizeof *game->kinds);
    game->actions = calloc(n_actions, sizeof *game->actions);
    game->visits = calloc(n_actions, sizeof *game->visits);
    if (game->cells != NULL && game->when != NULL && game->kinds != NULL && game->actions != NULL &&
        game->visits != NULL)
        return 0;
    play_game_release(game);
    return error_no_memory(err, "a game");
}

void play_game_release(struct play_game *game)
{
    free(game->cells);
    free(game->when);
    free(game->kinds);
    free(game->actions);
    free(game->visits);
    *game = (struct play_game){0};
}

void play_game(const struct play *play, uint64_t number, struct play_game *game)
{
    const struct board *b = play->board;
    const struct play_kind *kind = play->kind;

    game->number = number;
    struct play_random moves = play_random_of(play, game, PLAY_FOR_MOVES, 0);
    struct play_random result = play_random_of(play, game, PLAY_FOR_RESULT, 0);
    memcpy(game->cells, b->order, b->n_on_board * sizeof *game->cells);
    game->cells[b->n_on_board] = PLAY_NOWHERE;
    play_shuffle(&moves, game->cells, b->n_on_board);
    if (kind->arrange != NULL)
        kind->arrange(play, game);
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        game->when[cell] = PLAY_NOWHERE;
    for (uint32_t i = 0; i < b->n_on_board; i++)
        game->when[game->cells[i]] = i;
    game->n_plies =
        kind->n_plies > 0 ? kind->n_plies : (3 * (b->n_on_board - play->n_before) + 4) / 5;
    game->winner = (int)play_below(&result, 2);
    if (play->wins == NULL)
        return;
    game->winner = -1;
    for (game->n_plies = 0; game->n_plies < b->n_on_board && game->winner < 0;) {
        const int player = (int)(game->n_plies++ & 1);

        game->winner = play->wins(b, game) ? player : -1;
    }
}

int play_result(const struct play_row *r)
{
    if (r->game->winner < 0)
        return 0;
    return r->game->winner == (int)(r->ply & 1) ? 1 : -1;
}

/* --- policies --- */

bool play_action_of(const struct play *play, uint32_t index, struct play_action *action)
{
    const struct action_layout *layout = play->layout;
    const struct action_about about = layout->about(layout, play->board, index, NULL);

    *action = (struct play_action){index, layout->are_columns ? index : PLAY_NOWHERE,
                                   strcmp(about.kind, "placement") == 0};
    if (about.cell >= 0)
        action->cell = (uint32_t)about.cell;
    return (about.flags & ACTION_ENCODABLE) != 0;
}

bool play_may(const struct play_row *r, const struct play_action *action)
{
    if (action->cell == PLAY_NOWHERE)
        return true;
    const uint32_t man = r->game->when[play_turned(r, action->cell)];

    return action->is_placement ? man >= play_n_men(r)
                                : man < play_n_men(r) && ((man ^ r->ply) & 1) == 0;
}

uint32_t play_visits(const struct play_row *r, uint32_t n)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_POLICY, r->ply);
    uint32_t total = 0;

    /* Most actions get few visits or none; of all ways to move a man some 32 are looked at. */
    for (uint32_t i = 0; i < n; i++) {
        const bool is_left_out = i > 0 && r->play->n_before > 0 && play_below(&random, n) >= 32;
        const uint32_t k = is_left_out ? 0 : play_below(&random, 16);

        r->game->visits[i] = k * k * k / 64 + (i == 0 ? 64 : 0);
        total += r->game->visits[i];
    }
    return total;
}

uint32_t play_list(const struct play_row *r)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_CHOICES, r->ply);
    uint32_t *actions = r->game->actions, next = r->game->cells[play_n_men(r)];
    uint32_t n = 0, first = PLAY_NOWHERE;

    if (r->play->layout->are_columns && next != PLAY_NOWHERE)
        next %= r->play->board->cols;
    for (uint32_t i = 0; i < r->play->n_encodable; i++) {
        const struct play_action *action = &r->play->actions[i];

        if (!play_may(r, action))
            continue;
        if (action->cell == next)
            first = n;
        actions[n++] = action->index;
    }
    if (first == PLAY_NOWHERE)
        first = play_below(&random, n);
    const uint32_t played = actions[first];
    actions[first] = actions[0];
    actions[0] = played;
    return n;
}

void play_draw_policy(const struct play_row *r)
{
    const uint32_t n = play_list(r), total = play_visits(r, n);

    for (uint32_t i = 0; i < n; i++)
        play_put(r, r->game->actions[i], (double)r->game->visits[i] / total);
}

/* --- planes --- */

void play_draw_plane(const struct play_row *r, uint64_t plane, char letter)
{
    static const char players[] = "FS", movers[] = "MT", history[] = "uvwxyz";
    static const char kinds[] = "PNBRQKpnbrqk";
    const struct board *b = r->play->board;
    const uint32_t n = play_n_men(r), mover = r->ply & 1;
    uint32_t begin = 0, end = n, kind = 0, owner = 2; /* men of a kind, of a player; or of any */
    const char *at;

    if (letter == 'o' || letter == 'f' || letter == 's')
        end = letter == 'o' || (letter == 'f' && mover == 0) ? b->n_on_board : 0;
    else if ((at = strchr(players, letter)) != NULL)
        owner = (uint32_t)(at - players);
    else if ((at = strchr(movers, letter)) != NULL)
        owner = mover ^ (uint32_t)(at - movers);
    else if ((at = strchr(kinds, letter)) != NULL) {
        owner = mover ^ (uint32_t)(at - kinds) / 6;
        kind = 1 + (uint32_t)(at - kinds) % 6;
    } else if ((at = strchr(history, letter)) != NULL) {
        owner = mover ^ (uint32_t)(at - history) / 3;
        end -= (uint32_t)smaller(end, 1 + (uint32_t)(at - history) % 3);
    } else if (letter >= '1' && letter <= '5') {
        end = n + 1 - (uint32_t)smaller(n + 1, (uint32_t)(letter - '0'));
        begin = end - (end > 0);
    }
    for (uint32_t man = begin; man < end; man++) {
        const uint32_t cell = play_turned(r, r->game->cells[man]);

        if ((owner < 2 && (man & 1) != owner) || (kind > 0 && r->game->kinds[man] != kind))
            continue;
        if (r->dtype->kind == DTYPE_UINT)
            r->to[plane * play_dim(r->play, PLAY_PACKED) + cell / 8] |= (uint8_t)(0x80 >> cell % 8);
        else
            play_put(r, plane * b->n_cells + play_place(r, cell), 1);
    }
    for (uint32_t cell = 0; cell < b->n_cells && letter == 's' && mover == 1; cell++)
        play_put(r, plane * b->n_cells + cell, 1);
}

void play_draw_planes(const struct play_row *r)
{
    for (uint32_t p = 0; p < r->play->n_planes && r->play->planes[p] != '\0'; p++)
        if (r->play->planes[p] != '.')
            play_draw_plane(r, p, r->play->planes[p]);
}
