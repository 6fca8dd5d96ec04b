/*
 * play_takeiteasy.c - Take It Easy: the 27 tiles are drawn in a random order, each is put on a
 * random free cell, until all 19 cells are full. A line whose tiles all have the same number scores
 * that number for each of its cells. A game's moves are the cells, then the tiles, in their orders.
 */
#include "sample/play.h"

#define N_CELLS    19
#define N_NUMBERS  3
#define LINES_EACH 5 /* lines in each direction, which the board lists in turn */
#define N_TILES    27

/* The numbers on tiles, by the direction of their line. */
static const uint8_t numbers[N_NUMBERS][3] = {{1, 5, 9}, {2, 6, 7}, {3, 4, 8}};

static uint32_t number_of(uint32_t tile, uint32_t direction)
{
    static const uint32_t divisors[N_NUMBERS] = {9, 3, 1};

    return numbers[direction][tile / divisors[direction] % 3];
}

static void play_to_the_end(const struct play *play, struct play_game *game)
{
    struct play_random random = play_random_of(play, game, PLAY_FOR_CHOICES, 0);

    play_shuffle_cells(play, game);
    for (uint32_t tile = 0; tile < N_TILES; tile++)
        game->moves[N_CELLS + tile] = tile;
    play_shuffle(&random, game->moves + N_CELLS, N_TILES);
    game->n_plies = N_CELLS;
    game->winner = -1;
}

/* Each cell's tile with numbers a, b, c as 100 a + 10 b + c; 0 where there is none yet. */
static void render_plateau(const struct play_row *r)
{
    for (uint32_t k = 0; k < r->ply; k++) {
        const uint32_t tile = r->game->moves[N_CELLS + k];

        play_put(r, r->game->moves[k],
                 (100 * number_of(tile, 0) + 10 * number_of(tile, 1) + number_of(tile, 2)));
    }
}

static void render_tile(const struct play_row *r)
{
    for (uint32_t i = 0; i < N_NUMBERS; i++)
        play_put(r, i, number_of(r->game->moves[N_CELLS + r->ply], i));
}

static void render_position(const struct play_row *r)
{
    play_put(r, 0, r->game->moves[r->ply]);
}

static void render_final_score(const struct play_row *r)
{
    const struct board *b = r->play->board;
    uint32_t tiles[N_CELLS], score = 0;

    for (uint32_t k = 0; k < N_CELLS; k++)
        tiles[r->game->moves[k]] = r->game->moves[N_CELLS + k];
    for (uint32_t line = 0; line < b->n_lines; line++) {
        const uint32_t *cell = b->line_cells + b->line_start[line];
        const uint32_t n = b->line_start[line + 1] - b->line_start[line];
        const uint32_t number = number_of(tiles[*cell], line / LINES_EACH);
        uint32_t k = 1;

        while (k < n && number_of(tiles[cell[k]], line / LINES_EACH) == number)
            k++;
        score += k == n ? n * number : 0;
    }
    play_put(r, 0, score);
}

const struct play_kind play_takeiteasy = {
    .play = play_to_the_end,
    .arrays =
        {
            {"plateau.npy", "<i4", {PLAY_CELLS}, .render = render_plateau},
            {"tile.npy", "<i4", {N_NUMBERS}, .render = render_tile},
            {"position.npy", "<i4", {0}, .render = render_position},
            {"final_score.npy", "<i4", {0}, .render = render_final_score},
        },
};
