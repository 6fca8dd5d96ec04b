/* sample_games.c - see sample_games.h. */
#include "sample/sample_games.h"

#include <stdlib.h>

static int add_game(struct sample_games *games, uint64_t *capacity, uint64_t row, struct error *err)
{
    if (games->n_games == *capacity) {
        const uint64_t more = *capacity > 0 ? 2 * *capacity : 64;
        uint64_t *grown = reallocarray(games->first_row, more, sizeof *grown);

        if (grown == NULL)
            return error_no_memory(err, "the index of the games");
        games->first_row = grown;
        *capacity = more;
    }
    games->first_row[games->n_games++] = row;
    return 0;
}

int sample_games_init(struct sample_games *games, const struct play *play, uint64_t n_rows,
                      struct error *err)
{
    struct play_game game;
    uint64_t capacity = 0, row = 0;
    int status = 0;

    *games = (struct sample_games){.play = play, .n_rows = n_rows};
    if (play_game_init(&game, play, err) != 0)
        return -1;
    while (row < n_rows && status == 0) {
        play_game(play, games->n_games, &game);
        status = add_game(games, &capacity, row, err);
        row += game.n_plies;
    }
    play_game_release(&game);
    if (status != 0)
        sample_games_release(games);
    return status;
}

uint64_t sample_games_find(const struct sample_games *games, uint64_t row)
{
    uint64_t low = 0, high = games->n_games;

    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        if (games->first_row[middle] <= row)
            low = middle;
        else
            high = middle;
    }
    return low;
}

void sample_games_release(struct sample_games *games)
{
    free(games->first_row);
    *games = (struct sample_games){0};
}
