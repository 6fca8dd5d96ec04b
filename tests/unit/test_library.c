/* test_library.c - the public API as a data loader uses it. */
#include "symaug.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define N_OF(a) (sizeof(a) / sizeof *(a))

static symaug_board *board_of(const char *name)
{
    char message[256] = "";
    symaug_board *board = symaug_board_new(name, message, sizeof message);

    if (board == NULL)
        fail_msg("%s: %s", name, message);
    assert_string_equal(message, "");
    return board;
}

static void test_boards(void **state)
{
    static const struct {
        const char *name, *canonical;
        uint32_t rows, cols, cells, on_board, transforms;
    } boards[] = {
        {"hex8", "hexagon:4", 9, 9, 81, 61, 12},
        {"go19", "square:19", 19, 19, 361, 361, 8},
        {"hex11", "rhombus:11", 11, 11, 121, 121, 4},
        {"connect4", "mirror:6x7", 6, 7, 42, 42, 2},
        {"grid:3x4", "grid:3x4", 3, 4, 12, 12, 4},
        {"takeiteasy", "takeiteasy", 0, 0, 19, 19, 12},
        {"file:tests/data/boards/triangle.json", "file:triangle-15", 0, 0, 15, 15, 6},
    };

    (void)state;
    assert_true(strlen(symaug_version()) >= 5);
    for (size_t i = 0; i < N_OF(boards); i++) {
        symaug_board *board = board_of(boards[i].name);
        uint32_t on_board = 0;

        assert_string_equal(symaug_board_name(board), boards[i].canonical);
        assert_int_equal(symaug_board_rows(board), boards[i].rows);
        assert_int_equal(symaug_board_cols(board), boards[i].cols);
        assert_int_equal(symaug_board_cells(board), boards[i].cells);
        assert_int_equal(symaug_board_transforms(board), boards[i].transforms);
        for (uint32_t cell = 0; cell < boards[i].cells; cell++)
            on_board += symaug_board_on_board(board, cell) != 0;
        assert_int_equal(on_board, boards[i].on_board);
        symaug_board_free(board);
    }
    symaug_board_free(NULL);
}

static void test_refused(void **state)
{
    char message[256] = "", few[8] = "xxxxxxx";
    symaug_board *board = board_of("tictactoe");

    (void)state;
    assert_null(symaug_board_new("nope", message, sizeof message));
    assert_non_null(strstr(message, "nope"));
    assert_null(symaug_board_new("nope", few, sizeof few));
    assert_int_equal(few[7], '\0');
    assert_memory_equal(few, message, 7);
    assert_null(symaug_board_new("nope", NULL, 0));
    assert_null(symaug_board_new("file:none.json", message, sizeof message));
    assert_non_null(strstr(message, "none.json"));
    assert_null(symaug_actions_new(board, NULL, 12, message, sizeof message));
    assert_non_null(strstr(message, "12"));
    assert_non_null(strstr(message, "cells+pass (10)"));
    assert_null(symaug_actions_new(board, "ringrift", 0, message, sizeof message));
    assert_null(symaug_actions_new(board, "cells+pass", 9, message, sizeof message));
    assert_null(symaug_actions_new(board, NULL, 0, NULL, 0));
    assert_int_equal(symaug_transform_find(board, "turn"), -1);
    assert_int_equal(symaug_transform_find(board, "8"), -1);
    symaug_board_free(board);
}

static void test_group(void **state)
{
    static const char *const names[] = {"hex8", "square:5", "rhombus:4", "chess", "takeiteasy"};

    (void)state;
    for (size_t i = 0; i < N_OF(names); i++) {
        symaug_board *board = board_of(names[i]);
        const uint32_t n = symaug_board_transforms(board), n_cells = symaug_board_cells(board);

        for (uint32_t a = 0; a < n; a++) {
            const uint32_t *dst = symaug_cell_dst(board, a), *src = symaug_cell_src(board, a);

            assert_int_equal(symaug_transform_find(board, symaug_transform_name(board, a)), a);
            assert_int_equal(symaug_transform_compose(board, a, symaug_transform_inverse(board, a)),
                             0);
            for (uint32_t cell = 0; cell < n_cells; cell++)
                assert_int_equal(src[dst[cell]], cell);
            for (uint32_t b = 0; b < n; b++) {
                const uint32_t *both =
                    symaug_cell_dst(board, symaug_transform_compose(board, a, b));

                for (uint32_t cell = 0; cell < n_cells; cell++)
                    assert_int_equal(both[cell], symaug_cell_dst(board, b)[dst[cell]]);
                assert_int_equal(
                    symaug_transform_swaps_colours(board, symaug_transform_compose(board, a, b)),
                    symaug_transform_swaps_colours(board, a) ^
                        symaug_transform_swaps_colours(board, b));
            }
        }
        symaug_board_free(board);
    }
}

/* Planes move by src, whatever their element size. */
static void test_move_planes(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 4, 8, 16};
    symaug_board *board = board_of("hex8");
    uint8_t *in = malloc(3 * 81 * 16), *out = malloc(3 * 81 * 16);

    (void)state;
    assert_non_null(in);
    assert_non_null(out);
    for (size_t i = 0; i < 3 * 81 * 16; i++)
        in[i] = (uint8_t)(i * 2654435761u >> 11);
    for (size_t s = 0; s < N_OF(sizes); s++)
        for (uint32_t t = 0; t < 12; t++) {
            const uint32_t *dst = symaug_cell_dst(board, t);

            symaug_move_planes(board, t, in, out, 3, sizes[s]);
            for (size_t plane = 0; plane < 3; plane++)
                for (size_t cell = 0; cell < 81; cell++)
                    assert_memory_equal(out + (plane * 81 + dst[cell]) * sizes[s],
                                        in + (plane * 81 + cell) * sizes[s], sizes[s]);
        }
    free(in);
    free(out);
    symaug_board_free(board);
}

static void test_actions(void **state)
{
    symaug_board *board = board_of("hex8");
    symaug_actions *by_length = symaug_actions_new(board, NULL, 4500, NULL, 0);
    symaug_actions *by_name = symaug_actions_new(board, "ringrift", 0, NULL, 0);
    static const struct {
        uint32_t t;
        int64_t from, to;
    } known[] = {{1, 123, 147},   {1, 2212, 2604}, {6, 2212, 2604},
                 {7, 2212, 2212}, {5, 4131, 4131}, {3, -1, -1}};
    float *in = calloc(4500, sizeof *in), *out = calloc(4500, sizeof *out);

    (void)state;
    assert_non_null(in);
    assert_non_null(out);
    assert_int_equal(symaug_actions_length(by_length), 4500);
    assert_int_equal(symaug_actions_length(by_name), 4132);
    for (size_t i = 0; i < N_OF(known); i++) {
        int64_t index = known[i].from;

        assert_int_equal(symaug_move_indices(by_name, known[i].t, &index, &index, 1), 0);
        assert_int_equal(index, known[i].to);
    }
    for (int i = 0; i < 4500; i++)
        in[i] = (float)i;
    for (uint32_t t = 0; t < 12; t++) {
        symaug_move_policy(by_length, t, in, out, sizeof *in);
        for (uint32_t a = 0; a < 4500; a++) {
            assert_int_equal((uint32_t)out[symaug_actions_dst(by_length, t)[a]], a);
            assert_int_equal((uint32_t)out[a], symaug_actions_src(by_length, t)[a]);
        }
    }
    free(in);
    free(out);
    symaug_actions_free(by_length);
    symaug_actions_free(by_name);
    symaug_actions_free(NULL);
    symaug_board_free(board);
}

static void test_index_out_of_range(void **state)
{
    symaug_board *board = board_of("tictactoe");
    symaug_actions *actions = symaug_actions_new(board, "cells+pass", 0, NULL, 0);
    static const int64_t bad[] = {10, 11, INT64_MAX};

    (void)state;
    for (size_t i = 0; i < N_OF(bad); i++) {
        int64_t in[2] = {3, bad[i]}, out[2];

        assert_int_equal(symaug_move_indices(actions, 1, in, out, 2), -1);
        assert_int_equal(symaug_move_indices(actions, 1, in, out, 1), 0);
        assert_int_equal(out[0], 1); /* (1,0) goes to (0,1) */
    }
    symaug_actions_free(actions);
    symaug_board_free(board);
}

/* The same draw for the same sample, all ids about equally often, other seeds other draws. */
static void test_random_transform(void **state)
{
    symaug_board *board = board_of("hexagonal");
    unsigned counts[12] = {0}, n_equal = 0;

    (void)state;
    for (uint64_t i = 0; i < 12000; i++) {
        uint32_t t = symaug_random_transform(board, 5, i);

        assert_in_range(t, 0, 11);
        counts[t]++;
        assert_int_equal(symaug_random_transform(board, 5, i), t);
        n_equal += symaug_random_transform(board, 6, i) == t;
    }
    for (size_t t = 0; t < 12; t++)
        assert_in_range(counts[t], 850, 1150);
    assert_in_range(n_equal, 850, 1150);
    symaug_board_free(board);
}

/* Two rows of a Hex shard: (blue, red, to move), a policy, a value of blue's. */
static void test_mover(void **state)
{
    enum { SIDE = 5, CELLS = SIDE * SIDE, N = 2 };
    static const uint64_t shapes[3][4] = {{N, 3, SIDE, SIDE}, {N, CELLS}, {N}};
    static const char *const options[] = {"board=rhombus:5", "value=colour01"};
    static const char *const bad_options[] = {"board=rhombus:5", "colour=yes"};
    float planes[N][3][CELLS] = {{{0}}}, policy[N][CELLS] = {{0}}, value[N] = {0, 1};
    float moved[3][CELLS], moved_policy[CELLS], moved_value[3];
    const struct symaug_array arrays[] = {
        {"features", "'<f4'", shapes[0], 4, planes, sizeof planes},
        {"policy", "'<f4'", shapes[1], 2, policy, sizeof policy},
        {"value", "'<f4'", shapes[2], 1, value, sizeof value},
    };
    const int64_t second = 1, none = 2;
    struct symaug_failure failure;
    symaug_mover *mover;
    const symaug_board *board;
    const uint8_t *ids;
    uint8_t swap = 0;
    const uint32_t *dst;

    (void)state;
    for (int row = 0; row < N; row++) {
        planes[row][0][1] = planes[row][1][7] = planes[row][0][11] = policy[row][3] = 1;
        for (int cell = 0; cell < CELLS; cell++)
            planes[row][2][cell] = (float)row;
    }
    planes[1][1][20] = 1;
    mover = symaug_mover_new(arrays, N_OF(arrays), options, N_OF(options), &failure);
    if (mover == NULL)
        fail_msg("%s", failure.message);
    board = symaug_mover_board(mover);
    assert_int_equal(symaug_mover_transforms(mover, &ids), 4);
    while (!symaug_transform_swaps_colours(board, ids[swap]))
        swap++;
    swap = ids[swap];
    dst = symaug_cell_dst(board, swap);
    assert_int_equal(symaug_mover_arrays(mover), 3);
    assert_int_equal(symaug_mover_rows(mover, 0), N);
    assert_string_equal(symaug_mover_array(mover, 1).name, "policy");
    assert_int_equal(symaug_mover_array(mover, 0).form, SYMAUG_ROWS);
    assert_int_equal(symaug_mover_array(mover, 0).row_nbytes, sizeof planes[0]);

    struct symaug_rows rows = {
        .data = planes, .n_data = N, .rows = &second, .transforms = &swap, .n = 1};
    assert_int_equal(symaug_mover_move(mover, 0, &rows, moved, &failure), 0);
    for (int cell = 0; cell < CELLS; cell++) {
        assert_true(moved[0][dst[cell]] == planes[1][1][cell]);
        assert_true(moved[1][dst[cell]] == planes[1][0][cell]);
        assert_true(moved[2][cell] == 0);
    }
    rows.data = policy;
    assert_int_equal(symaug_mover_move(mover, 1, &rows, moved_policy, &failure), 0);
    assert_true(moved_policy[dst[3]] == 1);
    rows.data = value;
    assert_int_equal(symaug_mover_move(mover, 2, &rows, moved_value, &failure), 0);
    assert_true(moved_value[0] == 0);

    const void *data[3] = {planes, NULL, NULL}, *image[3] = {moved, NULL, NULL};
    uint64_t keys[2 * N], image_key[2];
    assert_int_equal(symaug_mover_array(mover, 0).is_key, 1);
    assert_int_equal(symaug_mover_array(mover, 1).is_key, 0);
    assert_int_equal(symaug_mover_keys(mover, data, N, keys, &failure), 0);
    assert_int_equal(symaug_mover_keys(mover, image, 1, image_key, &failure), 0);
    assert_memory_equal(image_key, &keys[2], sizeof image_key);
    assert_memory_not_equal(image_key, keys, sizeof image_key);

    rows.rows = &none;
    assert_int_equal(symaug_mover_move(mover, 2, &rows, moved_value, &failure), -1);
    assert_int_equal(failure.code, 64);
    assert_int_equal(symaug_mover_move(mover, 3, &rows, moved_value, &failure), -1);
    rows.n_data = 0;
    assert_int_equal(symaug_mover_move(mover, 2, &rows, moved_value, &failure), -1);
    assert_non_null(strstr(failure.message, "but there are only 0 rows"));
    symaug_mover_free(mover);
    mover = symaug_mover_new(arrays + 1, 1, options, 1, &failure);
    assert_non_null(mover);
    assert_int_equal(symaug_mover_keys(mover, data, 1, keys, &failure), -1);
    assert_int_equal(failure.code, 65);
    symaug_mover_free(mover);
    assert_null(symaug_mover_new(arrays, 3, bad_options, 2, &failure));
    assert_int_equal(failure.code, 64);
    assert_non_null(strstr(failure.message, "colour"));
    assert_null(symaug_mover_open(NULL, 0, options, 2, &failure));
    symaug_mover_free(NULL);
}

/* Whether trailing zeros of padded indices are moves, only the values tell. */
static void test_padded(void **state)
{
    enum { K = 3, CELLS = 9 };
    static const uint64_t shapes[2][4] = {{1, 2, 3, 3}, {1, K}};
    static const char *const options[] = {"board=square:3"};
    static const float planes[2][CELLS], values[K] = {0.5F, 0.5F, 0};
    static const int32_t indices[K] = {1, 0, 0};
    const struct symaug_array arrays[] = {
        {"planes", "'<f4'", shapes[0], 4, planes, sizeof planes},
        {"policy_indices", "'<i4'", shapes[1], 2, indices, sizeof indices},
        {"policy_values", "'<f4'", shapes[1], 2, values, sizeof values},
    };
    const uint8_t turn = 1; /* (0,1) to (1,2), (0,0) to (0,2) */
    struct symaug_rows rows = {.data = indices, .values = values, .n_data = 1, .n = 1};
    struct symaug_failure failure;
    int32_t moved[K];
    symaug_mover *mover = symaug_mover_new(arrays, N_OF(arrays), options, 1, &failure);

    (void)state;
    if (mover == NULL)
        fail_msg("%s", failure.message);
    rows.transforms = &turn;
    assert_int_equal(symaug_mover_array(mover, 1).values, 2);
    assert_int_equal(symaug_mover_move(mover, 1, &rows, moved, &failure), 0);
    assert_memory_equal(moved, ((const int32_t[K]){5, 2, 0}), sizeof moved);
    rows.values = NULL;
    assert_int_equal(symaug_mover_move(mover, 1, &rows, moved, &failure), -1);
    assert_int_equal(failure.code, 64);
    assert_non_null(strstr(failure.message, "values"));
    symaug_mover_free(mover);
}

static void test_spans(void **state)
{
    static const struct {
        const char *board, *layout;
        uint64_t length;
        size_t n;
        struct symaug_span spans[9];
    } cases[] = {
        {"go9", NULL, 81, 1, {{"placement", 0, 81}}},
        {"go9", NULL, 82, 2, {{"placement", 0, 81}, {"pass", 81, 82}}},
        {"connect4", NULL, 7, 1, {{"placement", 0, 7}}},
        {"chess", NULL, 4672, 1, {{"movement", 0, 4672}}},
        {"hex8",
         NULL,
         4500,
         4,
         {{"placement", 0, 243},
          {"movement", 243, 4131},
          {"special", 4131, 4132},
          {"unused", 4132, 4500}}},
        {"square8",
         "ringrift",
         7001,
         8,
         {{"placement", 0, 192},
          {"movement", 192, 3776},
          {"line", 3776, 4032},
          {"elimination", 4032, 4096},
          {"special", 4096, 4103},
          {"territory", 4103, 6151},
          {"special", 6151, 6158},
          {"unused", 6158, 7001}}},
    };
    struct symaug_span found[16];

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        symaug_board *board = board_of(cases[i].board);
        symaug_actions *actions =
            symaug_actions_new(board, cases[i].layout, cases[i].length, NULL, 0);

        assert_non_null(actions);
        assert_int_equal(symaug_actions_spans(actions, NULL, 0), cases[i].n);
        assert_int_equal(symaug_actions_spans(actions, found, 16), cases[i].n);
        for (size_t k = 0; k < cases[i].n; k++) {
            assert_string_equal(found[k].name, cases[i].spans[k].name);
            assert_int_equal(found[k].start, cases[i].spans[k].start);
            assert_int_equal(found[k].stop, cases[i].spans[k].stop);
        }
        symaug_actions_free(actions);
        symaug_board_free(board);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_boards),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_group),
        cmocka_unit_test(test_move_planes),
        cmocka_unit_test(test_actions),
        cmocka_unit_test(test_index_out_of_range),
        cmocka_unit_test(test_random_transform),
        cmocka_unit_test(test_spans),
        cmocka_unit_test(test_mover),
        cmocka_unit_test(test_padded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
