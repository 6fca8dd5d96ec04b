/* play_tools.c - see play_tools.h. */
#include "sample/play_tools.h"

#include "engine/shuffle.h"

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

/* Most actions get few visits or none; the first one, which was played, leads. */
static uint32_t next_visits(struct play_random *random, uint32_t i)
{
    const uint32_t r = play_below(random, 16);

    return r * r * r / 64 + (i == 0 ? 64 : 0);
}

void play_visits(const struct play *play, const struct play_game *game, uint32_t ply,
                 uint32_t *visits, uint32_t n)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_POLICY, ply);

    for (uint32_t i = 0; i < n; i++)
        visits[i] = next_visits(&random, i);
}

void play_policy(const struct play *play, const struct play_game *game, uint32_t ply,
                 const uint32_t *actions, uint32_t n, uint8_t *row)
{
    const struct play_random start = play_random_of(play, game, PLAY_FOR_POLICY, ply);
    struct play_random random = start;
    uint32_t total = 0;

    for (uint32_t i = 0; i < n; i++)
        total += next_visits(&random, i);
    random = start; /* the same numbers again, rather than room for them */
    for (uint32_t i = 0; i < n; i++)
        play_put_float(row, actions[i], (float)next_visits(&random, i) / (float)total);
}

int play_result_for_mover(const struct play_game *game, uint32_t ply)
{
    if (game->winner < 0)
        return 0;
    return game->winner == (int)(ply & 1) ? 1 : -1;
}

void play_render_result(const struct play *play, struct play_game *game, uint32_t ply, uint8_t *row)
{
    (void)play;
    play_put_float(row, 0, (float)play_result_for_mover(game, ply));
}

void play_render_ply(const struct play *play, struct play_game *game, uint32_t ply, uint8_t *row)
{
    (void)play, (void)game;
    play_put_int(row, 0, (int32_t)ply);
}
