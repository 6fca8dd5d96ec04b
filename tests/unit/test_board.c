/* test_board.c - the cell maps and edges of every family against the formulas that define them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "board/board.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 25
#define COUNT(a) (sizeof(a) / sizeof(a)[0])

static struct board *open_board(const char *name)
{
    struct error err = {0};
    struct board *b = board_new(name, &err);

    if (b == NULL)
        fail_msg("board %s: %s", name, err.message);
    return b;
}

static struct board *open_number(const char *family, int size)
{
    char name[32];

    snprintf(name, sizeof name, "%s:%d", family, size);
    return open_board(name);
}

/* (r, c) goes to (rr r + rc c + rn n, cr r + cc c + cn n), n = N - 1. */
struct formula {
    int rr, rc, rn, cr, cc, cn;
    bool swaps;
};

static const struct formula square_formulas[8] = {
    {1, 0, 0, 0, 1, 0, false},  {0, 1, 0, -1, 0, 1, false},  {-1, 0, 1, 0, -1, 1, false},
    {0, -1, 1, 1, 0, 0, false}, {1, 0, 0, 0, -1, 1, false},  {-1, 0, 1, 0, 1, 0, false},
    {0, 1, 0, 1, 0, 0, false},  {0, -1, 1, -1, 0, 1, false},
};
static const struct formula rhombus_formulas[4] = {
    {1, 0, 0, 0, 1, 0, false},
    {-1, 0, 1, 0, -1, 1, false},
    {0, 1, 0, 1, 0, 0, true},
    {0, -1, 1, -1, 0, 1, true},
};

static void check_formulas(const char *family, const struct formula *formulas, uint32_t n_formulas)
{
    for (int size = 2; size <= MAX_SIZE; size++) {
        struct board *b = open_number(family, size);
        const int n = size - 1;

        assert_int_equal(b->n_transforms, n_formulas);
        assert_int_equal(b->n_cells, size * size);
        assert_int_equal(b->n_on_board, size * size);
        assert_int_equal(b->size, size);
        for (uint32_t t = 0; t < n_formulas; t++) {
            const struct formula *f = &formulas[t];

            assert_int_equal(b->transforms[t].swaps_colours, f->swaps);
            for (int r = 0; r < size; r++) {
                for (int c = 0; c < size; c++) {
                    const int row = f->rr * r + f->rc * c + f->rn * n;
                    const int col = f->cr * r + f->cc * c + f->cn * n;

                    assert_int_equal(b->transforms[t].dst[r * size + c], row * size + col);
                    assert_int_equal(b->transforms[t].src[row * size + col], r * size + c);
                }
            }
        }
        board_free(b);
    }
}

static void test_square_maps(void **state)
{
    (void)state;
    check_formulas("square", square_formulas, 8);
}

static void test_rhombus_maps(void **state)
{
    (void)state;
    check_formulas("rhombus", rhombus_formulas, 4);
}

/* (0,1) on square:5, and the corner that shows which way 90 degrees turn. */
static void test_square_example(void **state)
{
    static const uint32_t images[8] = {0 * 5 + 1, 1 * 5 + 4, 4 * 5 + 3, 3 * 5 + 0,
                                       0 * 5 + 3, 4 * 5 + 1, 1 * 5 + 0, 3 * 5 + 4};
    struct board *b = open_board("square:5");

    (void)state;
    for (uint32_t t = 0; t < 8; t++)
        assert_int_equal(b->transforms[t].dst[1], images[t]);
    assert_int_equal(b->transforms[1].dst[0], 4);  /* top left to top right: clockwise */
    assert_int_equal(b->transforms[1].src[0], 20); /* where the gather reads it */
    board_free(b);
}

static void check_rectangle(const char *family, int rows, int cols)
{
    char name[32];
    struct board *b;
    const bool is_grid = strcmp(family, "grid") == 0;

    snprintf(name, sizeof name, "%s:%dx%d", family, rows, cols);
    b = open_board(name);
    assert_string_equal(b->name, name);
    assert_int_equal(b->rows, rows);
    assert_int_equal(b->cols, cols);
    assert_int_equal(b->size, 0);
    assert_int_equal(b->n_transforms, is_grid ? 4 : 2);
    for (int r = 0; r < rows; r++) {
        for (int c = 0; c < cols; c++) {
            const int cell = r * cols + c;
            const int left_right = r * cols + cols - 1 - c;

            assert_int_equal(b->transforms[0].dst[cell], cell);
            assert_int_equal(b->transforms[is_grid ? 2 : 1].dst[cell], left_right);
            if (!is_grid)
                continue;
            assert_int_equal(b->transforms[1].dst[cell], rows * cols - 1 - cell);
            assert_int_equal(b->transforms[3].dst[cell], (rows - 1 - r) * cols + c);
        }
    }
    board_free(b);
}

static void test_rectangle_maps(void **state)
{
    (void)state;
    for (int rows = 1; rows <= MAX_SIZE; rows++) {
        for (int cols = 2; cols <= MAX_SIZE; cols++) {
            check_rectangle("mirror", rows, cols);
            if (rows >= 2)
                check_rectangle("grid", rows, cols);
        }
    }
}

/* (q, r) goes to (qq q + qr r, rq q + rr r). */
static const struct {
    int qq, qr, rq, rr;
} hexagon_formulas[12] = {
    {1, 0, 0, 1}, {0, -1, 1, 1}, {-1, -1, 1, 0}, {-1, 0, 0, -1}, {0, 1, -1, -1}, {1, 1, -1, 0},
    {0, 1, 1, 0}, {1, 1, 0, -1}, {1, 0, -1, -1}, {0, -1, -1, 0}, {-1, -1, 0, 1}, {-1, 0, 1, 1},
};

static bool is_on_hexagon(int q, int r, int radius)
{
    return abs(q) <= radius && abs(r) <= radius && abs(q + r) <= radius;
}

static void check_hexagon(const struct board *b, uint32_t t, int radius)
{
    const int side = 2 * radius + 1;

    for (int r = -radius; r <= radius; r++) {
        for (int q = -radius; q <= radius; q++) {
            const int cell = (r + radius) * side + q + radius;
            const int to_q = hexagon_formulas[t].qq * q + hexagon_formulas[t].qr * r;
            const int to_r = hexagon_formulas[t].rq * q + hexagon_formulas[t].rr * r;
            const bool on_board = is_on_hexagon(q, r, radius);
            const int to = on_board ? (to_r + radius) * side + to_q + radius : cell;

            assert_int_equal(b->on_board[cell], on_board);
            assert_int_equal(b->transforms[t].dst[cell], to);
            assert_int_equal(b->transforms[t].src[to], cell);
        }
    }
}

static void test_hexagon_maps(void **state)
{
    (void)state;
    for (int radius = 1; radius <= MAX_SIZE; radius++) {
        struct board *b = open_number("hexagon", radius);

        assert_int_equal(b->n_transforms, 12);
        assert_int_equal(b->rows, 2 * radius + 1);
        assert_int_equal(b->cols, 2 * radius + 1);
        assert_int_equal(b->size, radius);
        assert_int_equal(b->n_on_board, 3 * radius * radius + 3 * radius + 1);
        for (uint32_t t = 0; t < 12; t++)
            check_hexagon(b, t, radius);
        board_free(b);
    }
}

/* 60 degrees clockwise on the screen: right, down right, down left, left, up left, up right. */
static void test_hexagon_turns_clockwise(void **state)
{
    static const uint32_t ring[6] = {41, 49, 48, 39, 31, 32}; /* around cell 40 of hexagon:4 */
    struct board *b = open_board("hex8");

    (void)state;
    for (uint32_t t = 0; t < 6; t++)
        for (uint32_t k = 0; k < 6; k++)
            assert_int_equal(b->transforms[t].dst[ring[k]], ring[(k + t) % 6]);
    board_free(b);
}

static bool has_edge(const struct board *b, uint32_t x, uint32_t y)
{
    for (uint32_t i = 0; i < b->n_edges; i++)
        if ((b->edges[i][0] == x && b->edges[i][1] == y) ||
            (b->edges[i][0] == y && b->edges[i][1] == x))
            return true;
    return false;
}

static void check_edges(const char *name, uint32_t n_edges)
{
    struct board *b = open_board(name);

    assert_int_equal(b->n_edges, n_edges);
    for (uint32_t i = 0; i < b->n_edges; i++) {
        const uint32_t x = b->edges[i][0], y = b->edges[i][1];

        assert_true(b->on_board[x] && b->on_board[y]);
        for (uint32_t t = 0; t < b->n_transforms; t++)
            assert_true(has_edge(b, b->transforms[t].dst[x], b->transforms[t].dst[y]));
    }
    board_free(b);
}

static void test_edges(void **state)
{
    (void)state;
    for (uint32_t n = 2; n <= 9; n++) {
        char name[32];

        snprintf(name, sizeof name, "square:%u", n);
        check_edges(name, 2 * n * (n - 1));
        snprintf(name, sizeof name, "rhombus:%u", n);
        check_edges(name, 3 * n * n - 4 * n + 1);
        snprintf(name, sizeof name, "hexagon:%u", n - 1);
        check_edges(name, 9 * (n - 1) * (n - 1) + 3 * (n - 1));
        snprintf(name, sizeof name, "grid:%ux4", n);
        check_edges(name, 3 * n + 4 * (n - 1));
        snprintf(name, sizeof name, "mirror:%ux4", n);
        check_edges(name, 3 * n + 4 * (n - 1));
    }
}

/* Rotations by 90 degrees and single mirrors break the neighbourhood of a rhombus. */
static void test_rhombus_neighbours(void **state)
{
    struct board *b = open_board("rhombus:4");

    (void)state;
    assert_true(has_edge(b, 5, 6));
    assert_true(has_edge(b, 5, 9));
    assert_true(has_edge(b, 5, 8)); /* (1,1) and (2,0) */
    assert_true(has_edge(b, 5, 2)); /* (1,1) and (0,2) */
    assert_false(has_edge(b, 5, 0));
    assert_false(has_edge(b, 5, 10));
    board_free(b);
}

/* Moving a plane stored as [x][y] with the map of the answer must do what t does on [y][x]. */
static void test_xy_planes(void **state)
{
    static const char *const names[] = {"square:5", "square:8", "katago:5", "hexagon:3",
                                        "rhombus:4"};
    static const uint32_t square[8] = {0, 3, 2, 1, 5, 4, 6, 7};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct board *b = open_board(names[i]);
        const uint32_t n = b->cols;

        for (uint32_t t = 0; t < b->n_transforms; t++) {
            const uint32_t u = board_xy_plane_transform(b, t);

            assert_true(u < b->n_transforms);
            if (strcmp(b->family->name, "square") == 0)
                assert_int_equal(u, square[t]);
            for (uint32_t cell = 0; cell < b->n_cells; cell++) {
                const uint32_t to = b->transforms[t].dst[cell];
                const uint32_t cell_xy = cell % n * n + cell / n;

                assert_int_equal(b->transforms[u].dst[cell_xy], to % n * n + to / n);
            }
        }
        board_free(b);
    }
}

static void test_no_xy_planes(void **state)
{
    static const char *const names[] = {"grid:4x4", "grid:3x4", "mirror:4x4", "takeiteasy"};

    (void)state;
    for (size_t i = 0; i < COUNT(names); i++) {
        struct board *b = open_board(names[i]);

        assert_int_equal(board_xy_plane_transform(b, 1), UINT32_MAX);
        board_free(b);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_square_maps),    cmocka_unit_test(test_rhombus_maps),
        cmocka_unit_test(test_square_example), cmocka_unit_test(test_rectangle_maps),
        cmocka_unit_test(test_hexagon_maps),   cmocka_unit_test(test_hexagon_turns_clockwise),
        cmocka_unit_test(test_edges),          cmocka_unit_test(test_rhombus_neighbours),
        cmocka_unit_test(test_xy_planes),      cmocka_unit_test(test_no_xy_planes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
