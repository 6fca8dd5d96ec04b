/* test_takeiteasy.c - Take It Easy and KataGo: maps by number, and scores that must not change. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "board/actions.h"
#include "board/board.h"

#include <string.h>

#define N_CELLS 19

static struct board *new_board(const char *name)
{
    struct error err = {0};
    struct board *b = board_new(name, &err);

    assert_string_equal(err.message, "");
    assert_non_null(b);
    return b;
}

static void test_board(void **state)
{
    struct board *b = new_board("takeiteasy");
    struct error err = {0};

    (void)state;
    assert_string_equal(b->name, "takeiteasy");
    assert_int_equal(b->rows, 0);
    assert_int_equal(b->cols, 0);
    assert_int_equal(b->n_cells, N_CELLS);
    assert_int_equal(b->n_on_board, N_CELLS);
    assert_int_equal(b->n_transforms, 12);
    for (uint32_t t = 0; t < 12; t++)
        assert_int_equal(board_is_exact(b, t), t == 0 || t == 3);
    assert_int_equal(b->n_edges, 42);
    assert_int_equal(b->n_lines, 15);
    assert_string_equal(action_layout_by_length(b, N_CELLS)->name, "cells");
    assert_null(action_layout_by_length(b, N_CELLS + 1));
    board_free(b);
    assert_null(board_new("takeiteasy:2", &err));
    assert_int_equal(err.kind, ERROR_USAGE);
}

/* Golden: fwd of takeiteasy_maps.npz. */
static void test_maps(void **state)
{
    static const struct {
        uint32_t id;
        uint32_t dst[N_CELLS];
    } cases[] = {
        {1, {2, 6, 11, 1, 5, 10, 15, 0, 4, 9, 14, 18, 3, 8, 13, 17, 7, 12, 16}},
        {2, {11, 15, 18, 6, 10, 14, 17, 2, 5, 9, 13, 16, 1, 4, 8, 12, 0, 3, 7}},
        {3, {18, 17, 16, 15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}},
        {7, {16, 17, 18, 12, 13, 14, 15, 7, 8, 9, 10, 11, 3, 4, 5, 6, 0, 1, 2}},
        {10, {2, 1, 0, 6, 5, 4, 3, 11, 10, 9, 8, 7, 15, 14, 13, 12, 18, 17, 16}},
    };
    struct board *b = new_board("takeiteasy");
    const uint8_t *compose = b->compose;

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_memory_equal(b->transforms[cases[i].id].dst, cases[i].dst, sizeof cases[i].dst);
    assert_int_equal(compose[1 * 12 + 6], 7);  /* a turn, then the reflection */
    assert_int_equal(compose[6 * 12 + 1], 11); /* the other way round */
    assert_int_equal(b->inverse[1], 5);
    assert_int_equal(b->inverse[7], 7);
    board_free(b);
}

/* Golden: tile_gather of takeiteasy_maps.npz. */
static void test_numbers(void **state)
{
    static const char *const gather[12] = {"012", "120", "201", "012", "120", "201",
                                           "210", "021", "102", "210", "021", "102"};
    struct board *b = new_board("takeiteasy");

    (void)state;
    for (uint32_t t = 0; t < 12; t++)
        for (size_t k = 0; k < 3; k++)
            assert_int_equal(b->transforms[t].numbers[gather[t][k] - '0'], k);
    board_free(b);
}

static void test_lines(void **state)
{
    static const struct {
        uint32_t line, n;
        uint32_t cells[5];
    } cases[] = {
        {0, 3, {0, 1, 2}},       {2, 5, {7, 8, 9, 10, 11}}, {5, 3, {0, 3, 7}},
        {8, 4, {6, 10, 14, 17}}, {10, 3, {7, 12, 16}},      {12, 5, {0, 4, 9, 14, 18}},
    };
    struct board *b = new_board("takeiteasy");

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        uint32_t start = b->line_start[cases[i].line];

        assert_int_equal(b->line_start[cases[i].line + 1] - start, cases[i].n);
        assert_memory_equal(b->line_cells + start, cases[i].cells, cases[i].n * sizeof(uint32_t));
    }
    board_free(b);
}

/* Golden: grid5x5_rowcol of takeiteasy_maps.npz. */
static void test_grid(void **state)
{
    static const uint8_t row_col[N_CELLS][2] = {
        {1, 0}, {2, 0}, {3, 0}, {1, 1}, {2, 1}, {3, 1}, {4, 1}, {0, 2}, {1, 2}, {2, 2},
        {3, 2}, {4, 2}, {1, 3}, {2, 3}, {3, 3}, {4, 3}, {1, 4}, {2, 4}, {3, 4},
    };

    struct board *b = board_new("takeiteasy", NULL);

    (void)state;
    assert_int_equal(b->family->grid_side, 5);
    for (uint32_t cell = 0; cell < N_CELLS; cell++)
        assert_int_equal(b->family->grid_cells[cell], row_col[cell][0] * 5 + row_col[cell][1]);
    board_free(b);
}

struct tile {
    int number[3];
};

/* The rules of the game: a line whose tiles carry the same number counts it once for each. */
static int score(const struct board *b, const struct tile *plateau)
{
    int sum = 0;

    for (uint32_t line = 0; line < b->n_lines; line++) {
        uint32_t first = b->line_start[line], end = b->line_start[line + 1];
        int number = plateau[b->line_cells[first]].number[line / 5];

        for (uint32_t i = first; i < end; i++)
            if (plateau[b->line_cells[i]].number[line / 5] != number)
                number = 0;
        sum += number * (int)(end - first);
    }
    return sum;
}

/* A plateau on which the lines of a score 9, of b mostly 6, of c partly nothing. */
static void fill_plateau(const struct board *b, struct tile *plateau)
{
    for (uint32_t line = 0; line < b->n_lines; line++)
        for (uint32_t i = b->line_start[line]; i < b->line_start[line + 1]; i++) {
            uint32_t k = line / 5, place = line % 5;
            int number[3] = {place == 0 ? 1 : 9, place < 2 ? 2 : 6, i % 2 == 0 ? 3 : 8};

            plateau[b->line_cells[i]].number[k] = number[k];
        }
}

/* Moving the tiles keeps the score under the default transforms only; turning their numbers with
 * them keeps it under all, and turning the numbers the wrong way does not. */
static void test_scores(void **state)
{
    struct board *b = new_board("takeiteasy");
    struct tile plateau[N_CELLS], moved[N_CELLS], turned[N_CELLS], wrong[N_CELLS];
    uint32_t n_wrong = 0;
    int expected;

    (void)state;
    fill_plateau(b, plateau);
    expected = score(b, plateau);
    assert_true(expected > 100);
    for (uint32_t t = 0; t < 12; t++) {
        const struct board_transform *transform = &b->transforms[t];

        for (uint32_t cell = 0; cell < N_CELLS; cell++) {
            uint32_t to = transform->dst[cell];

            moved[to] = plateau[cell];
            for (size_t k = 0; k < 3; k++) {
                turned[to].number[transform->numbers[k]] = plateau[cell].number[k];
                wrong[to].number[k] = plateau[cell].number[transform->numbers[k]];
            }
        }
        assert_int_equal(score(b, turned), expected);
        assert_int_equal(score(b, moved) == expected, t == 0 || t == 3);
        n_wrong += score(b, wrong) != expected;
    }
    assert_int_equal(n_wrong, 4); /* the turns by 60, 120, 240 and 300 degrees */
    board_free(b);
}

static void test_katago(void **state)
{
    static const char *const refused[] = {"katago", "katago:", "katago:1", "katago:257",
                                          "katago:x"};
    struct board *b = new_board("katago:7"), *square = new_board("square:7");

    (void)state;
    assert_string_equal(b->name, "katago:7");
    assert_int_equal(b->size, 7);
    assert_int_equal(b->n_transforms, 8);
    for (uint32_t t = 0; t < 8; t++) {
        assert_memory_equal(b->transforms[t].dst, square->transforms[t].dst, 49 * sizeof(uint32_t));
        assert_string_equal(b->transforms[t].name, square->transforms[t].name);
    }
    assert_string_equal(b->family->layouts[0]->name, "cells+pass");
    assert_string_equal(action_layout_by_length(b, 50)->name, "cells+pass");
    assert_string_equal(action_layout_by_length(b, 49)->name, "cells");
    board_free(b);
    board_free(square);
    for (size_t i = 0; i < N_OF(refused); i++) {
        struct error err = {0};

        assert_null(board_new(refused[i], &err));
        assert_int_equal(err.kind, ERROR_USAGE);
        if (i < 2)
            assert_non_null(strstr(err.message, "size from the shard"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board),  cmocka_unit_test(test_maps), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_lines),  cmocka_unit_test(test_grid), cmocka_unit_test(test_scores),
        cmocka_unit_test(test_katago),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
