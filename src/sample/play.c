/*
 * play.c - what the games share: scratch space, random numbers, policies, results. Every random
 * number is a hash of seed, game, purpose, ply and a counter, so that no row depends on another and
 * threads need not communicate.
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

int play_game_init(struct play_game *game, const struct play *play, struct error *err)
{
    const size_t n_cells = play->board->n_cells, n_work = n_cells + PLAY_SPARE;
    const size_t n = play->n_actions > n_work ? play->n_actions : n_work;

    *game = (struct play_game){0};
    if (new_items(&game->moves, n, "a game", err) != 0 ||
        new_items(&game->work, n, "a game", err) != 0 ||
        new_items(&game->visits, n, "a game", err) != 0 ||
        new_items(&game->stones, 2 * n_cells + 1, "a game", err) != 0)
        return -1;
    return 0;
}

void play_game_release(struct play_game *game)
{
    free(game->moves);
    free(game->work);
    free(game->visits);
    free(game->stones);
    *game = (struct play_game){0};
}

void play_game(const struct play *play, uint64_t number, struct play_game *game)
{
    game->number = number;
    play->kind->play(play, game);
}

/* --- shared by the games --- */

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

uint32_t play_shuffle_cells(const struct play *play, struct play_game *game)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_MOVES, 0);
    uint32_t n = 0;

    for (uint32_t cell = 0; cell < play->board->n_cells; cell++)
        if (play->board->on_board[cell])
            game->moves[n++] = cell;
    play_shuffle(&random, game->moves, n);
    return n;
}

void play_place_stones(const struct play *play, struct play_game *game)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_RESULT, 0);
    const uint32_t n = play_shuffle_cells(play, game);

    game->n_plies = (3 * n + 4) / 5;
    game->winner = (int)play_below(&random, 2);
}

uint32_t play_visits(const struct play_row *r, uint32_t n)
{
    struct play_random random = play_random_of(r->play, r->game, PLAY_FOR_POLICY, r->ply);
    uint32_t total = 0;

    for (uint32_t i = 0; i < n; i++) {
        const uint32_t k = play_below(&random, 16);

        r->game->visits[i] = k * k * k / 64 + (i == 0 ? 64 : 0);
        total += r->game->visits[i];
    }
    return total;
}

void play_policy(const struct play_row *r, const uint32_t *actions, uint32_t n)
{
    const uint32_t total = play_visits(r, n);

    for (uint32_t i = 0; i < n; i++)
        play_put(r, actions != NULL ? actions[i] : i, (double)r->game->visits[i] / total);
}

int play_result(const struct play_row *r)
{
    return r->game->winner < 0 ? 0 : r->game->winner == (int)(r->ply & 1) ? 1 : -1;
}

void play_render_result(const struct play_row *r)
{
    play_put(r, 0, play_result(r));
}

void play_render_ply(const struct play_row *r)
{
    play_put(r, 0, r->ply);
}
