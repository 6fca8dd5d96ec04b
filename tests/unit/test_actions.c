/*
 * test_actions.c - layouts by length and name, and their maps: bijective, composed like the cells,
 * the same one by one as in bulk, and the published examples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "action_image.h"
#include "base/perm.h"
#include "board/actions.h"

#include <stdio.h>
#include <stdlib.h>
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

static const struct action_layout *find_layout(const struct board *b, const char *name)
{
    const struct action_layout *layout = action_layout_by_name(b, name);

    if (layout == NULL)
        fail_msg("no layout %s on %s", name, b->name);
    return layout;
}

static void test_lengths(void **state)
{
    /* length 0: the layout does not exist on the board. */
    static const struct {
        const char *board, *layout;
        uint64_t length, padded;
    } cases[] = {
        {"hex8", "ringrift", 4132, 4500},    {"hex8", "cells-box", 81, 0},
        {"hex8", "cells-board", 61, 0},      {"hex8", "cells-box+pass", 82, 0},
        {"hex8", "cells-board+pass", 62, 0}, {"hex8", "cells", 0, 0},
        {"hexagonal", "ringrift", 91876, 0}, {"hexagonal", "cells-board", 469, 0},
        {"hexagon:1", "ringrift", 136, 0},   {"hexagon:127", "ringrift", 99293176, 0},
        {"square8", "ringrift", 7000, 0},    {"square19", "ringrift", 67000, 0},
        {"square:9", "ringrift", 0, 0},      {"square:9", "cells", 81, 0},
        {"square:9", "cells+pass", 82, 0},   {"square:9", "columns", 0, 0},
        {"hex13", "cells", 169, 0},          {"hex13", "cells+pass", 170, 0},
        {"hex13", "ringrift", 0, 0},         {"grid:3x5", "cells+pass", 16, 0},
        {"grid:3x5", "columns", 0, 0},       {"connect4", "columns", 7, 0},
        {"connect4", "cells", 42, 0},        {"connect4", "cells+pass", 43, 0},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct board *b = open_board(cases[i].board);
        const struct action_layout *layout = action_layout_by_name(b, cases[i].layout);

        if (cases[i].length == 0) {
            assert_null(layout);
        } else {
            assert_non_null(layout);
            assert_int_equal(layout->length(layout, b), cases[i].length);
            assert_ptr_equal(action_layout_by_length(b, cases[i].length), layout);
        }
        if (cases[i].padded != 0)
            assert_ptr_equal(action_layout_by_length(b, cases[i].padded), layout);
        board_free(b);
    }
}

static void test_lengths_of_no_layout(void **state)
{
    static const struct {
        const char *board;
        uint64_t length;
    } cases[] = {
        {"hex8", 0},      {"hex8", 1},         {"hex8", 4131},    {"hex8", 4133},
        {"hex8", 4501},   {"hexagon:5", 4500}, {"square8", 4132}, {"square:9", 7000},
        {"square:9", 83}, {"hex13", 0},        {"grid:6x7", 7},   {"square:9", UINT64_MAX},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct board *b = open_board(cases[i].board);

        assert_null(action_layout_by_length(b, cases[i].length));
        board_free(b);
    }
}

/* One row of W cells: W is the length of both, and cells comes first. */
static void test_cells_come_first(void **state)
{
    struct board *b = open_board("mirror:1x7");

    (void)state;
    assert_string_equal(action_layout_by_length(b, 7)->name, "cells");
    assert_string_equal(action_layout_by_name(b, "columns")->name, "columns");
    board_free(b);
}

static void test_list(void **state)
{
    static const char expected[] = "cells-box (81), cells-board (61), cells-box+pass (82), "
                                   "cells-board+pass (62), ringrift (4132 or 4500)";
    struct board *b = open_board("hex8");
    char text[256];

    (void)state;
    action_layout_list(b, text, sizeof text);
    assert_string_equal(text, expected);
    for (size_t n = 1; n < sizeof expected; n++) {
        memset(text, '#', sizeof text);
        action_layout_list(b, text, n);
        assert_int_equal(text[n], '#');
        assert_true(strlen(text) < n && strncmp(text, expected, strlen(text)) == 0);
    }
    board_free(b);
}

static void check_images(const struct action_space *space)
{
    const struct board *b = space->board;
    const struct action_layout *layout = space->layout;
    const uint64_t own = layout->length(layout, b);

    for (uint32_t t = 0; t < b->n_transforms; t++) {
        const uint32_t *dst = space->dst + t * space->length;
        uint32_t *images = malloc(own * sizeof *images);

        assert_non_null(images);
        layout->images(layout, b, t, images);
        for (uint64_t a = 0; a < space->length; a++) {
            assert_int_equal(dst[a], a < own ? images[a] : a);
            assert_int_equal(action_space_src(space, t)[dst[a]], a);
            assert_int_equal(space->flags[dst[a]], space->flags[a]);
            if (a < own) {
                assert_int_equal(space->flags[a], action_flags(layout, b, a));
                const int64_t cell = action_cell(layout, b, a);
                const int64_t to = action_cell(layout, b, dst[a]);

                assert_int_equal(to, cell < 0 ? -1 : (int64_t)b->transforms[t].dst[cell]);
            }
        }
        free(images);
    }
}

static void check_products(const struct action_space *space)
{
    const uint32_t n = space->board->n_transforms;

    assert_true(perm_is_identity(space->dst, space->length));
    for (uint32_t x = 0; x < n; x++) {
        for (uint32_t y = 0; y < n; y++) {
            const uint32_t *first = space->dst + x * space->length;
            const uint32_t *then = space->dst + y * space->length;
            const uint32_t *map = space->dst + space->board->compose[x * n + y] * space->length;

            for (uint64_t a = 0; a < space->length; a++)
                if (then[first[a]] != map[a])
                    fail_msg("%s %s: %u, then %u, action %u", space->board->name,
                             space->layout->name, x, y, (unsigned)a);
        }
    }
}

static void check_layouts(const char *name)
{
    struct board *b = open_board(name);

    for (size_t i = 0; i < b->family->n_layouts; i++) {
        const struct action_layout *layout = b->family->layouts[i];
        const uint64_t own = layout->length(layout, b);

        /* Also one entry longer than the layout needs. */
        for (uint64_t extra = 0; extra < 2 && own > 0; extra++) {
            struct error err = {0};
            struct action_space *space = action_space_new(b, layout, own + extra, 0, &err);

            assert_non_null(space);
            assert_ptr_equal(space->board, b);
            assert_ptr_equal(space->layout, layout);
            assert_int_equal(space->length, own + extra);
            check_images(space);
            check_products(space);
            action_space_free(space);
        }
    }
    board_free(b);
}

static void test_every_family(void **state)
{
    (void)state;
    for (size_t i = 0; i < board_n_families; i++)
        if (strcmp(board_families[i]->name, "file") != 0)
            check_layouts(board_families[i]->example);
}

static void test_sizes(void **state)
{
    static const char *const names[] = {
        "hexagon:1", "hexagon:2", "hexagon:4", "hexagon:5",  "square:2",   "square:3",
        "square:8",  "square:9",  "rhombus:2", "rhombus:3",  "rhombus:6",  "grid:2x2",
        "grid:2x5",  "grid:5x2",  "grid:4x4",  "mirror:1x2", "mirror:6x7", "mirror:7x6",
    };

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++)
        check_layouts(names[i]);
}

static void test_space_lengths(void **state)
{
    static const struct {
        const char *layout;
        uint64_t length, expected; /* 0: refused */
    } cases[] = {
        {"ringrift", 0, 4132},        {"ringrift", 4132, 4132},     {"ringrift", 4500, 4500},
        {"ringrift", 5000, 5000},     {"ringrift", 4131, 0},        {"cells-box", 1, 0},
        {"cells-box", 1ull << 32, 0}, {"cells-box", UINT64_MAX, 0},
    };
    struct board *b = open_board("hex8");

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct error err = {0};
        struct action_space *space =
            action_space_new(b, find_layout(b, cases[i].layout), cases[i].length, 0, &err);

        if (cases[i].expected == 0) {
            assert_null(space);
            assert_int_equal(err.kind, ERROR_DATA);
            continue;
        }
        assert_non_null(space);
        assert_int_equal(space->length, cases[i].expected);
        for (uint64_t a = 4132; a < space->length; a++) {
            assert_int_equal(space->flags[a], 0);
            assert_int_equal(space->dst[11 * space->length + a], a);
            assert_int_equal(action_space_src(space, 11)[a], a);
        }
        action_space_free(space);
    }
    action_space_free(NULL);
    board_free(b);
}

static void test_layout_of_another_board(void **state)
{
    struct board *with = open_board("square:8");
    struct board *without = open_board("square:9");
    struct error err = {0};

    (void)state;
    assert_null(action_space_new(without, find_layout(with, "ringrift"), 0, 0, &err));
    assert_int_equal(err.kind, ERROR_DATA);
    board_free(with);
    board_free(without);
}

static void test_cells_and_columns(void **state)
{
    struct board *b = open_board("connect4");
    const struct action_layout *columns = find_layout(b, "columns");
    const struct action_layout *pass = find_layout(b, "cells+pass");

    (void)state;
    for (uint32_t c = 0; c < 7; c++)
        assert_int_equal(action_image(columns, b, 1, c), 6 - c);
    assert_int_equal(action_flags(columns, b, 3), ACTION_ENCODABLE);
    assert_int_equal(action_image(pass, b, 1, 8), 12); /* (1,1) to (1,5) */
    assert_int_equal(action_image(pass, b, 1, 42), 42);
    assert_int_equal(action_cell(pass, b, 42), -1);
    assert_int_equal(action_cell(pass, b, 41), 41);
    assert_int_equal(action_flags(pass, b, 42), ACTION_ENCODABLE);
    assert_int_equal(action_flags(pass, b, 41), ACTION_ENCODABLE | ACTION_PLACEMENT);
    board_free(b);
}

/* The numbers of on-board cells, counted one by one. */
static void test_cells_of_hexagons(void **state)
{
    static const char *const names[] = {"hexagon:1", "hexagon:2", "hexagon:7", "hexagon:12",
                                        "hexagon:40"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct board *b = open_board(names[i]);
        const struct action_layout *board_cells = find_layout(b, "cells-board");
        const struct action_layout *box = find_layout(b, "cells-box");
        uint32_t rank = 0;

        for (uint32_t cell = 0; cell < b->n_cells; cell++) {
            assert_int_equal(action_flags(box, b, cell),
                             b->on_board[cell] ? ACTION_ENCODABLE | ACTION_PLACEMENT : 0);
            assert_int_equal(action_cell(box, b, cell), cell);
            if (b->on_board[cell])
                assert_int_equal(action_cell(board_cells, b, rank++), cell);
        }
        assert_int_equal(rank, board_cells->length(board_cells, b));
        board_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lengths),           cmocka_unit_test(test_lengths_of_no_layout),
        cmocka_unit_test(test_cells_come_first),  cmocka_unit_test(test_list),
        cmocka_unit_test(test_every_family),      cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_space_lengths),     cmocka_unit_test(test_layout_of_another_board),
        cmocka_unit_test(test_cells_and_columns), cmocka_unit_test(test_cells_of_hexagons),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
