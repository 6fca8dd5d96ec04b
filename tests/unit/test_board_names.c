/* test_board_names.c - boards by name: the registry, presets, sizes, and what is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "board/board.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct board *open_board(const char *name)
{
    struct error err = {0};
    struct board *b = board_new(name, &err);

    if (b == NULL)
        fail_msg("board %s: %s", name, err.message);
    return b;
}

static void test_presets(void **state)
{
    static const struct {
        const char *name, *board;
        uint32_t rows, cols, n_on_board, n_transforms;
    } cases[] = {
        {"hex8", "hexagon:4", 9, 9, 61, 12},       {"hexagonal", "hexagon:12", 25, 25, 469, 12},
        {"square8", "square:8", 8, 8, 64, 8},      {"square19", "square:19", 19, 19, 361, 8},
        {"gomoku15", "square:15", 15, 15, 225, 8}, {"go9", "square:9", 9, 9, 81, 8},
        {"go13", "square:13", 13, 13, 169, 8},     {"go19", "square:19", 19, 19, 361, 8},
        {"tictactoe", "square:3", 3, 3, 9, 8},     {"othello", "square:8", 8, 8, 64, 8},
        {"hex11", "rhombus:11", 11, 11, 121, 4},   {"hex13", "rhombus:13", 13, 13, 169, 4},
        {"hex14", "rhombus:14", 14, 14, 196, 4},   {"hex19", "rhombus:19", 19, 19, 361, 4},
        {"connect4", "mirror:6x7", 6, 7, 42, 2},   {"chess", "chess", 8, 8, 64, 2},
    };

    (void)state;
    assert_int_equal(board_n_presets, COUNT(cases));
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct board *b = open_board(cases[i].name);
        struct board *canonical = open_board(cases[i].board);

        assert_string_equal(board_presets[i].name, cases[i].name);
        assert_true(strlen(board_presets[i].note) > 0);
        assert_string_equal(b->preset, cases[i].name);
        assert_string_equal(b->name, cases[i].board);
        assert_string_equal(canonical->name, cases[i].board);
        assert_string_equal(canonical->preset, cases[i].board);
        assert_int_equal(b->rows, cases[i].rows);
        assert_int_equal(b->cols, cases[i].cols);
        assert_int_equal(b->n_on_board, cases[i].n_on_board);
        assert_int_equal(b->n_transforms, cases[i].n_transforms);
        for (uint32_t t = 0; t < b->n_transforms; t++)
            assert_memory_equal(b->transforms[t].dst, canonical->transforms[t].dst,
                                b->n_cells * sizeof(uint32_t));
        board_free(b);
        board_free(canonical);
    }
}

static void test_hex8_note_names_rhombus(void **state)
{
    (void)state;
    assert_string_equal(board_presets[0].name, "hex8");
    assert_non_null(strstr(board_presets[0].note, "rhombus:8"));
}

static void test_names_are_canonical(void **state)
{
    static const char *const cases[][2] = {
        {"hexagon:04", "hexagon:4"},
        {"square:019", "square:19"},
        {"mirror:06x007", "mirror:6x7"},
        {"grid:3x3", "grid:3x3"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct board *b = open_board(cases[i][0]);

        assert_string_equal(b->name, cases[i][1]);
        assert_string_equal(b->preset, cases[i][1]);
        board_free(b);
    }
}

static void test_largest_and_smallest(void **state)
{
    static const struct {
        const char *name;
        uint32_t n_cells;
    } cases[] = {
        {"hexagon:1", 9},      {"hexagon:127", 65025},    {"square:2", 4},
        {"square:256", 65536}, {"rhombus:2", 4},          {"rhombus:256", 65536},
        {"grid:2x2", 4},       {"grid:2x32768", 65536},   {"mirror:1x2", 2},
        {"mirror:2x2", 4},     {"mirror:1x65536", 65536},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct board *b = open_board(cases[i].name);

        assert_int_equal(b->n_cells, cases[i].n_cells);
        board_free(b);
    }
}

static void test_refused_names(void **state)
{
    /* What the message must hold: the reason, or the name that was meant. */
    static const char *const cases[][2] = {
        {"hexagon:0", "1 to 127"},
        {"hexagon:128", "1 to 127"},
        {"hexagon:99999999999999999999", "1 to 127"},
        {"hexagon:-1", "'-1' is not a size"},
        {"hexagon:+1", "'+1' is not a size"},
        {"hexagon:4 ", "'4 ' is not a size"},
        {"hexagon:4x4", "'4x4' is not a size"},
        {"hexagon", "hexagon:R"},
        {"hexagon:", "hexagon:R"},
        {"square:1", "2 to 256"},
        {"square:257", "2 to 256"},
        {"rhombus:1", "2 to 256"},
        {"rhombus:257", "2 to 256"},
        {"grid:1x2", "at least 2 rows"},
        {"grid:2x1", "2 columns"},
        {"grid:256x257", "65536"},
        {"grid:4294967297x4294967297", "65536"},
        {"grid:99999999999999999999x2", "at most 65536 cells"},
        {"grid:3", "'3' is not a size"},
        {"grid:3x", "not a size"},
        {"grid:x3", "not a size"},
        {"grid:3x4x5", "not a size"},
        {"grid:3X4", "not a size"},
        {"mirror:0x2", "at least 1 row "},
        {"mirror:1x1", "2 columns"},
        {"hex9", "did you mean hex8"},
        {"go10", "did you mean go13, go19, go9, square:10;"},
        {"hex12", ", rhombus:12;"},
        {"hex0", "did you mean hex8, hex11, hex13;"},
        {"hex1", "did you mean hex8, hex11, hex13;"},
        {"hex07", ", rhombus:7;"},
        {"go7", ", square:7;"},
        {"gomoku19", "did you mean gomoku15, square:19;"},
        {"gomoku", "did you mean gomoku15;"},
        {"Othello", "did you mean othello"},
        {"tic-tac-toe", "did you mean tictactoe"},
        {"GOMOKU15", "did you mean gomoku15"},
        {"hexagn:4", "hexagon:R"},
        {"rhombus8", "did you mean rhombus:N"},
        {"", "unknown board ''"},
        {"zzzzzzzzzzzz", "unknown board 'zzzzzzzzzzzz'; "},
        {"hex8:4", "unknown board 'hex8:4'"},
        {"a\x1b[31mb", "\\x1b"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error err = {0};

        assert_null(board_new(cases[i][0], &err));
        assert_int_equal(err.kind, ERROR_USAGE);
        if (strstr(err.message, cases[i][1]) == NULL)
            fail_msg("board '%s': '%s' does not hold '%s'", cases[i][0], err.message, cases[i][1]);
        assert_null(strchr(err.message, '\x1b'));
    }
}

static void test_very_long_name(void **state)
{
    static char name[100000];
    struct error err = {0};

    (void)state;
    memset(name, 'h', sizeof name - 1);
    assert_null(board_new(name, &err));
    assert_int_equal(err.kind, ERROR_USAGE);
}

static void test_find_transform(void **state)
{
    static const struct {
        const char *text;
        int id;
    } cases[] = {
        {"0", 0},
        {"identity", 0},
        {"7", 7},
        {"rotate-90", 1},
        {"anti-transpose", 7},
        {"8", -1},
        {"", -1},
        {"rotate-60", -1},
        {"-1", -1},
        {"mirror-left-right", 4},
        {"07", 7},
        {"1 ", -1},
        {"Rotate-90", -1},
        {"rotate", -1},
        {"18446744073709551616", -1},
    };
    struct board *b = open_board("square:4");

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(board_find_transform(b, cases[i].text), cases[i].id);
    board_free(b);
}

/* Every family of the registry, by its example. A file's family has none that exists. */
static void test_registry(void **state)
{
    (void)state;
    for (size_t i = 0; i < board_n_families; i++) {
        const struct board_family *family = board_families[i];
        struct board *b;

        assert_true(strlen(family->summary) > 0);
        assert_memory_equal(family->syntax, family->name, strlen(family->name));
        if (strcmp(family->name, "file") == 0)
            continue;
        b = open_board(family->example);
        assert_ptr_equal(b->family, family);
        assert_ptr_equal(b->family, family);
        for (uint32_t t = 0; t < b->n_transforms; t++)
            assert_int_equal(board_find_transform(b, b->transforms[t].name), t);
        assert_true(board_is_exact(b, 0));
        if (b->rows > 0)
            assert_non_null(b->edges);
        board_free(b);
    }
}

static void test_colours_and_defaults(void **state)
{
    static const struct {
        const char *name;
        bool swaps;
        uint32_t n_exact;
    } cases[] = {
        {"hexagon:2", false, 12}, {"square:3", false, 8},   {"rhombus:3", true, 4},
        {"grid:3x4", false, 4},   {"mirror:3x4", false, 2}, {"takeiteasy", false, 2},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct board *b = open_board(cases[i].name);
        uint32_t n_exact = 0;

        assert_int_equal(board_swaps_colours(b), cases[i].swaps);
        for (uint32_t t = 0; t < b->n_transforms; t++)
            n_exact += board_is_exact(b, t);
        assert_int_equal(n_exact, cases[i].n_exact);
        board_free(b);
    }
}

static void test_unchecked_board_has_no_tables(void **state)
{
    struct error err = {0};
    struct board *b = board_new_unchecked("hex8", &err);

    (void)state;
    assert_non_null(b);
    assert_string_equal(b->preset, "hex8");
    assert_null(b->compose);
    assert_null(b->inverse);
    board_free(b);
    board_free(NULL);
}

/* What a guess names is a board of these rows and columns. */
static void test_guesses(void **state)
{
    static const uint32_t sides[] = {1, 2, 3, 5, 255, 256, 257, 300, 65536};

    (void)state;
    for (size_t i = 0; i < COUNT(sides) * COUNT(sides); i++) {
        const struct board_seen seen = {
            .n_planes = 2, .rows = sides[i / COUNT(sides)], .cols = sides[i % COUNT(sides)]};
        char names[BOARD_MAX_GUESSES][64];
        const size_t n = board_guess(&seen, names);

        assert_int_equal(n > 0, seen.rows * seen.cols <= BOARD_MAX_CELLS && seen.cols > 1);
        for (size_t k = 0; k < n; k++) {
            struct board *b = open_board(names[k]);

            assert_int_equal(b->rows, seen.rows);
            assert_int_equal(b->cols, seen.cols);
            board_free(b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_presets),
        cmocka_unit_test(test_hex8_note_names_rhombus),
        cmocka_unit_test(test_names_are_canonical),
        cmocka_unit_test(test_largest_and_smallest),
        cmocka_unit_test(test_refused_names),
        cmocka_unit_test(test_very_long_name),
        cmocka_unit_test(test_find_transform),
        cmocka_unit_test(test_registry),
        cmocka_unit_test(test_colours_and_defaults),
        cmocka_unit_test(test_unchecked_board_has_no_tables),
        cmocka_unit_test(test_guesses),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
