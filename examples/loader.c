/*
 * loader.c - a random image of every row of a training set in memory.
 *
 *   cc loader.c $(pkg-config --cflags --libs symaug) -o loader
 *   loader BOARD N_PLANES SEED <rows >images
 *
 * A row is made of float32: N_PLANES planes of the board's cells, a policy with an entry per cell,
 * and a value. What they mean is what `symaug expand` would take them for: on boards that swap
 * colours (the game of Hex) planes of the two colours, then the player to move as 0 or 1, and
 * values from 0 to 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <symaug.h>

enum { PLANES, POLICY, VALUE, N_ARRAYS };

struct set {
    uint64_t n_rows, shapes[N_ARRAYS][4];
    size_t row_nfloats[N_ARRAYS];
    float *data[N_ARRAYS]; /* owned */
};

/* Read rows to the end of standard input, each array apart. */
static int read_rows(struct set *set)
{
    for (uint64_t room = 0;; set->n_rows++) {
        for (int k = 0; k < N_ARRAYS && set->n_rows == room; k++) {
            const size_t n = (size_t)(room == 0 ? 1024 : 2 * room) * set->row_nfloats[k];
            float *grown = realloc(set->data[k], n * sizeof *grown);

            if (grown == NULL)
                return -1;
            set->data[k] = grown;
        }
        if (set->n_rows == room)
            room = room == 0 ? 1024 : 2 * room;
        for (int k = 0; k < N_ARRAYS; k++) {
            const size_t n = set->row_nfloats[k];

            if (fread(set->data[k] + set->n_rows * n, sizeof(float), n, stdin) != n)
                return ferror(stdin) ? -1 : 0;
        }
    }
}

static symaug_mover *make_mover(struct set *set, const char *board, struct symaug_failure *failure)
{
    static const char *const names[] = {"features", "policy", "value"};
    static const unsigned n_dims[] = {4, 2, 1};
    struct symaug_array arrays[N_ARRAYS];
    char option[256];
    const char *const options[] = {option};

    for (int k = 0; k < N_ARRAYS; k++) {
        set->shapes[k][0] = set->n_rows;
        arrays[k] = (struct symaug_array){
            names[k],  "'<f4'",      set->shapes[k],
            n_dims[k], set->data[k], set->n_rows * set->row_nfloats[k] * sizeof(float)};
    }
    snprintf(option, sizeof option, "board=%s", board);
    return symaug_mover_new(arrays, N_ARRAYS, options, 1, failure);
}

/* Every row once, under a transform that depends on its number and the seed alone. */
static int write_images(const struct set *set, const symaug_mover *mover, uint64_t seed,
                        struct symaug_failure *failure)
{
    float *image = malloc(set->row_nfloats[PLANES] * sizeof *image); /* no row is longer */
    int status = image != NULL ? 0 : -1;

    for (int64_t i = 0; status == 0 && (uint64_t)i < set->n_rows; i++) {
        const uint8_t t =
            (uint8_t)symaug_random_transform(symaug_mover_board(mover), seed, (uint64_t)i);

        for (size_t k = 0; status == 0 && k < N_ARRAYS; k++) {
            const struct symaug_rows rows = {
                .data = set->data[k], .n_data = set->n_rows, .rows = &i, .transforms = &t, .n = 1};

            status = symaug_mover_move(mover, k, &rows, image, failure);
            if (status == 0 &&
                fwrite(image, sizeof *image, set->row_nfloats[k], stdout) != set->row_nfloats[k])
                status = -1;
        }
    }
    free(image);
    return status == 0 && fflush(stdout) == 0 ? 0 : -1;
}

int main(int argc, char **argv)
{
    struct symaug_failure failure = {.message = "usage: loader BOARD N_PLANES SEED"};
    struct set set = {0};
    symaug_board *board = NULL;
    symaug_mover *mover = NULL;
    int status = 1;

    if (argc == 4)
        board = symaug_board_new(argv[1], failure.message, sizeof failure.message);
    if (board != NULL) {
        const uint64_t n_planes = strtoull(argv[2], NULL, 10), n_cells = symaug_board_cells(board);

        set = (struct set){
            .row_nfloats = {n_planes * n_cells, n_cells, 1},
            .shapes = {{0, n_planes, symaug_board_rows(board), symaug_board_cols(board)},
                       {0, n_cells}}};
        snprintf(failure.message, sizeof failure.message, "the rows cannot be read");
        if (n_planes > 0 && read_rows(&set) == 0)
            mover = make_mover(&set, argv[1], &failure);
    }
    if (mover != NULL && write_images(&set, mover, strtoull(argv[3], NULL, 10), &failure) == 0)
        status = 0;
    else
        fprintf(stderr, "loader: %s\n", failure.message);
    symaug_mover_free(mover);
    symaug_board_free(board);
    for (int k = 0; k < N_ARRAYS; k++)
        free(set.data[k]);
    return status;
}
