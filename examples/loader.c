/*
 * loader.c - augment rows while they are read: a random image of every row.
 *
 *   cc loader.c $(pkg-config --cflags --libs symaug) -o loader
 *   loader BOARD N_PLANES SEED <rows >images
 *
 * A row is made of float32: N_PLANES planes of the board's cells, a policy with an entry per cell,
 * and a value. Boards that swap colours (the game of Hex) have the planes of the two colours first,
 * then the player to move as 0 or 1, and values from 0 to 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <symaug.h>

struct loader {
    symaug_board *board;
    symaug_actions *actions;
    size_t n_planes, n_cells;
};

/* What a colour swap does to a row whose planes have been moved. */
static void swap_colours(const struct loader *l, float *planes, float *value)
{
    for (size_t cell = 0; cell < l->n_cells; cell++) {
        const float first = planes[cell];

        planes[cell] = planes[l->n_cells + cell];
        planes[l->n_cells + cell] = first;
        if (l->n_planes > 2)
            planes[2 * l->n_cells + cell] = 1 - planes[2 * l->n_cells + cell];
    }
    *value = 1 - *value;
}

static void make_image(const struct loader *l, uint32_t transform, const float *row, float *image)
{
    const size_t n = l->n_planes * l->n_cells;

    symaug_move_planes(l->board, transform, row, image, l->n_planes, sizeof *row);
    symaug_move_policy(l->actions, transform, row + n, image + n, sizeof *row);
    image[n + l->n_cells] = row[n + l->n_cells];
    if (symaug_transform_swaps_colours(l->board, transform))
        swap_colours(l, image, &image[n + l->n_cells]);
}

static int run(const struct loader *l, uint64_t seed)
{
    const size_t n = (l->n_planes + 1) * l->n_cells + 1;
    float *row = malloc(n * sizeof *row), *image = malloc(n * sizeof *image);
    int ok = row != NULL && image != NULL;

    for (uint64_t i = 0; ok && fread(row, sizeof *row, n, stdin) == n; i++) {
        make_image(l, symaug_random_transform(l->board, seed, i), row, image);
        ok = fwrite(image, sizeof *image, n, stdout) == n;
    }
    free(row);
    free(image);
    return ok && !ferror(stdin) && fflush(stdout) == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    struct loader l = {0};
    char why[200] = "usage: loader BOARD N_PLANES SEED";
    int status = 1;

    if (argc == 4)
        l.board = symaug_board_new(argv[1], why, sizeof why);
    if (l.board != NULL) {
        l.n_planes = (size_t)atoi(argv[2]);
        l.n_cells = symaug_board_cells(l.board);
        l.actions = symaug_actions_new(l.board, NULL, l.n_cells, why, sizeof why);
    }
    if (l.actions != NULL && l.n_planes >= 2)
        status = run(&l, strtoull(argv[3], NULL, 10));
    else
        fprintf(stderr, "loader: %s\n", l.actions != NULL ? "at least 2 planes" : why);
    symaug_actions_free(l.actions);
    symaug_board_free(l.board);
    return status;
}
