/* test_sample.c - random games: the same wherever and whenever they are played, and by the rules.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sample/play.h"
#include "sample/sample.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A board with its game. */
static struct board *start(struct play *play, const char *name)
{
    struct error err = {0};
    struct board *board = board_new(name, &err);

    assert_string_equal(err.message, "");
    play_init(play, board, 7);
    return board;
}

/* Every kind of game takes its boards, and no other does. */
static void test_kinds(void **state)
{
    static const struct {
        const char *board;
        const struct play_kind *kind;
    } cases[] = {
        {"hex8", &play_ringrift},
        {"hexagon:1", &play_ringrift},
        {"square8", &play_ringrift},
        {"square19", &play_ringrift},
        {"square:8", &play_any},
        {"square:19", &play_gomoku},
        {"gomoku15", &play_gomoku},
        {"square:9", &play_gomoku},
        {"tictactoe", &play_gomoku},
        {"go9", &play_any},
        {"go19", &play_any},
        {"othello", &play_any},
        {"breakthrough:20x20", &play_any},
        {"square:4", &play_any},
        {"rhombus:2", &play_hex},
        {"hex14", &play_hex},
        {"connect4", &play_connect4},
        {"mirror:6x7", &play_connect4},
        {"mirror:7x6", &play_any},
        {"grid:6x7", &play_any},
        {"chess", &play_chess},
        {"katago:5", &play_katago},
        {"takeiteasy", &play_takeiteasy},
        {"file:tests/data/boards/triangle.json", &play_any},
        {"file:share/boards/alquerque.json", &play_any},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct play play;
        struct board *board = start(&play, cases[i].board);

        if (play.kind != cases[i].kind)
            fail_msg("%s is played otherwise", cases[i].board);
        board_free(board);
    }
}

static struct dtype dtype_of(const struct play_array *array)
{
    struct error err = {0};
    struct dtype dtype;

    assert_int_equal(dtype_parse(array->dtype, strlen(array->dtype), &dtype, &err), 0);
    return dtype;
}

/* The length of a row of an array, and room for it. */
static size_t row_nbytes(const struct play *play, const struct play_array *array)
{
    uint64_t n = dtype_of(array).itemsize;

    for (size_t d = 0; d < PLAY_MAX_DIMS && array->dims[d] != 0; d++)
        n *= play_dim(play, array->dims[d]);
    return array->render_items != NULL ? 4 * PLAY_MAX_ITEMS : (size_t)n;
}

static void draw(const struct play *play, struct play_game *game, uint32_t ply,
                 const struct play_array *array, uint8_t *row)
{
    const struct dtype dtype = dtype_of(array);
    const struct play_row r = {play, game, ply, &dtype, row};

    memset(row, 0, row_nbytes(play, array));
    if (array->render != NULL)
        array->render(&r);
    else if (array->render_items != NULL)
        assert_in_range(array->render_items(&r), 1, PLAY_MAX_ITEMS);
}

static const char *const some_boards[] = {
    "hex8",     "hexagon:1", "square8",    "rhombus:4", "gomoku15",   "tictactoe",
    "connect4", "chess",     "takeiteasy", "katago:5",  "mirror:3x3", "breakthrough:4x4"};

/* A row is the same whatever was played and drawn before it: scratch room carries nothing over. */
static void test_rows_depend_on_nothing_else(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(some_boards); i++) {
        struct play play;
        struct board *board = start(&play, some_boards[i]);
        struct play_game used, fresh;
        struct error err = {0};

        assert_int_equal(play_game_init(&used, &play, &err), 0);
        play_game(&play, 9, &used);
        play_game(&play, 4, &used);
        for (uint32_t ply = used.n_plies; ply-- > 0;) {
            for (size_t k = 0; play.kind->arrays[k].name != NULL; k++) {
                const struct play_array *array = &play.kind->arrays[k];
                uint8_t *a, *b;

                if (array->text != NULL)
                    continue;
                a = malloc(row_nbytes(&play, array));
                b = malloc(row_nbytes(&play, array));
                assert_int_equal(play_game_init(&fresh, &play, &err), 0);
                play_game(&play, 4, &fresh);
                assert_int_equal(fresh.n_plies, used.n_plies);
                draw(&play, &used, ply, array, a);
                draw(&play, &fresh, ply, array, b);
                assert_memory_equal(a, b, row_nbytes(&play, array));
                play_game_release(&fresh);
                free(a);
                free(b);
            }
        }
        play_game_release(&used);
        board_free(board);
    }
}

/* Literal numbers: a change here changes every sample, on some machine or on all. */
static void test_random_numbers(void **state)
{
    static const uint32_t expected[] = {583914331, 286659526, 787177665, 949678832};
    struct play play;
    struct board *board = start(&play, "rhombus:2");
    struct play_game game = {.number = 3};
    struct play_random random = play_random_of(&play, &game, PLAY_FOR_MOVES, 0);
    struct play_random other = play_random_of(&play, &game, PLAY_FOR_MOVES, 1);
    uint32_t counts[5] = {0}, n_equal = 0;

    (void)state;
    for (size_t i = 0; i < N_OF(expected); i++) {
        const uint32_t r = play_below(&random, 1000000000);

        n_equal += r == play_below(&other, 1000000000);
        if (r != expected[i])
            fail_msg("number %zu is %u", i, r);
    }
    assert_int_equal(n_equal, 0);
    for (int i = 0; i < 50000; i++)
        counts[play_below(&random, 5)]++;
    for (size_t i = 0; i < N_OF(counts); i++)
        assert_in_range(counts[i], 9500, 10500);
    board_free(board);
}

/* Writing refuses what it cannot do, before anything is created. */
static void test_refused(void **state)
{
    static const struct {
        const char *board, *path;
        enum error_kind kind;
    } cases[] = {
        {"nosuch", "/tmp/never.npz", ERROR_USAGE},
        {"katago", "/tmp/never.npz", ERROR_USAGE},
        {"file:/no/such.json", "/tmp/never.npz", ERROR_NO_INPUT},
        {"hex8", "/no/such/folder/never.npz", ERROR_CANT_CREATE},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct settings settings = {.board = cases[i].board, .n_rows = 3, .n_threads = 1};
        struct sample_result result;
        struct error err = {0};

        assert_int_equal(sample_write(cases[i].path, &settings, &result, &err), -1);
        assert_int_equal(err.kind, cases[i].kind);
        assert_int_not_equal(access(cases[i].path, F_OK), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_kinds),
        cmocka_unit_test(test_rows_depend_on_nothing_else),
        cmocka_unit_test(test_random_numbers),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
