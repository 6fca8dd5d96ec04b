/* play.c - see play.h: the table of games. */
#include "sample/play.h"

#include <stdlib.h>

/* In the order in which a board is tried: the last ones take what is left. */
static const struct play_kind *const kinds[] = {
    &play_hex,
    &play_gomoku,
    &play_connect4,
    &play_ringrift_hexagon,
    &play_ringrift_square,
    &play_chess,
    &play_katago,
    &play_takeiteasy,
    &play_box,
    &play_cells,
};

int play_init(struct play *play, const struct board *board, uint64_t seed, struct error *err)
{
    *play = (struct play){.board = board, .seed = seed};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds && play->kind == NULL; i++)
        if ((kinds[i]->game == 0 || kinds[i]->game == board->game) &&
            (kinds[i]->fits == NULL || kinds[i]->fits(board)))
            play->kind = kinds[i];
    if (play->kind == NULL)
        return error_set(err, ERROR_USAGE, "no game is known for board %s", board->name);
    if (play->kind->set_up != NULL)
        play->kind->set_up(play);
    return 0;
}

uint64_t play_dim(const struct play *play, int dim)
{
    const uint64_t n_cells = play->board->n_cells;

    switch (dim) {
    case PLAY_ROWS:
        return play->board->rows;
    case PLAY_COLS:
        return play->board->cols;
    case PLAY_CELLS:
        return n_cells;
    case PLAY_PLANES:
        return play->n_planes;
    case PLAY_ACTIONS:
        return play->n_actions;
    case PLAY_CELLS_PASS:
        return n_cells + 1;
    case PLAY_PACKED:
        return (n_cells + 7) / 8;
    case PLAY_SCORES:
        return 2 * (n_cells + 60);
    default:
        return (uint64_t)dim;
    }
}

int play_game_init(struct play_game *game, const struct play *play, struct error *err)
{
    const size_t n_cells = play->board->n_cells;

    *game = (struct play_game){0};
    game->moves = calloc(play->kind->max_moves(play->board) + 1, sizeof *game->moves);
    game->work = calloc(n_cells + PLAY_WORK, sizeof *game->work);
    game->stones = calloc(2 * n_cells + 1, 1);
    if (game->moves != NULL && game->work != NULL && game->stones != NULL)
        return 0;
    play_game_release(game);
    return error_no_memory(err, "a game");
}

void play_game_release(struct play_game *game)
{
    free(game->moves);
    free(game->work);
    free(game->stones);
    *game = (struct play_game){0};
}

void play_game(const struct play *play, uint64_t number, struct play_game *game)
{
    game->number = number;
    play->kind->play(play, game);
}
