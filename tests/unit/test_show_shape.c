/* test_show_shape.c - where cells are drawn, and how transforms turn the drawing: held against
 * rotations and reflections of the plane that are written down here once more. */
#include "show/show.h"

#include "custom_file.h"

#include <math.h>

#define NEAR 1e-9

static struct board *open_board(const char *name, struct shape *shape)
{
    struct error err = {0};
    struct board *board = board_new(name, &err);

    assert_non_null(board);
    assert_int_equal(shape_init(shape, board, &err), 0);
    return board;
}

static void close_board(struct board *board, struct shape *shape)
{
    shape_release(shape);
    board_free(board);
}

static double distance(struct shape_point a, struct shape_point b)
{
    return hypot(a.x - b.x, a.y - b.y);
}

/* A turn of the plane: clockwise by so many degrees (y grows downwards), after a reflection that
 * leaves the direction of `axis` degrees where it is. */
static struct shape_turn turn_by(double degrees, bool reflects, double axis)
{
    const double a = (reflects ? 2 * axis + degrees : degrees) * M_PI / 180;

    return reflects ? (struct shape_turn){cos(a), sin(a), sin(a), -cos(a)}
                    : (struct shape_turn){cos(a), -sin(a), sin(a), cos(a)};
}

static void same_turn(const struct shape_turn *found, const struct shape_turn *expected)
{
    assert_true(fabs(found->xx - expected->xx) < NEAR && fabs(found->xy - expected->xy) < NEAR &&
                fabs(found->yx - expected->yx) < NEAR && fabs(found->yy - expected->yy) < NEAR);
}

/* --- turns --- */

/* Ids 0 to 5 rotate by 60 degrees each; 6 to 11 do the same and then exchange the two axes of the
 * board, which lie at 0 and 60 degrees. */
static void test_hexagon(void **state)
{
    struct shape shape;
    struct board *board = open_board("hexagon:3", &shape);

    (void)state;
    for (uint32_t t = 0; t < 12; t++) {
        struct shape_turn turn, expected = turn_by(60 * (t % 6), false, 0);

        if (t >= 6) /* a reflection after the rotation turns back what it turned */
            expected = turn_by(-60.0 * (t - 6), true, 30);
        assert_true(shape_turn_of(&shape, t, &turn));
        same_turn(&turn, &expected);
    }
    close_board(board, &shape);
}

static void test_square(void **state)
{
    static const struct shape_turn expected[8] = {
        {1, 0, 0, 1},  {0, -1, 1, 0}, {-1, 0, 0, -1}, {0, 1, -1, 0},
        {-1, 0, 0, 1}, {1, 0, 0, -1}, {0, 1, 1, 0},   {0, -1, -1, 0},
    };
    struct shape shape;
    struct board *board = open_board("square:5", &shape);

    (void)state;
    for (uint32_t t = 0; t < 8; t++) {
        struct shape_turn turn;

        assert_true(shape_turn_of(&shape, t, &turn));
        same_turn(&turn, &expected[t]);
    }
    close_board(board, &shape);
}

/* The long diagonal runs down to the right at 30 degrees, the short one across it. */
static void test_rhombus(void **state)
{
    const struct shape_turn expected[4] = {turn_by(0, false, 0), turn_by(180, false, 0),
                                           turn_by(0, true, 30), turn_by(0, true, 120)};
    struct shape shape;
    struct board *board = open_board("rhombus:4", &shape);

    (void)state;
    for (uint32_t t = 0; t < 4; t++) {
        struct shape_turn turn;

        assert_true(shape_turn_of(&shape, t, &turn));
        same_turn(&turn, &expected[t]);
    }
    close_board(board, &shape);
}

/* Every cell's centre goes to the centre of the cell that the map names. */
static void test_cells_follow(void **state)
{
    static const char *const names[] = {"hexagon:4",
                                        "square:6",
                                        "rhombus:5",
                                        "grid:3x5",
                                        "mirror:6x7",
                                        "mirror:1x4",
                                        "chess",
                                        "takeiteasy",
                                        "katago:7",
                                        "file:tests/data/boards/triangle.json",
                                        "file:share/boards/alquerque.json"};

    (void)state;
    for (size_t i = 0; i < N_OF(names); i++) {
        struct shape shape;
        struct board *board = open_board(names[i], &shape);
        const struct shape_point middle = {(shape.least.x + shape.most.x) / 2,
                                           (shape.least.y + shape.most.y) / 2};

        for (uint32_t t = 0; t < board->n_transforms; t++) {
            const struct shape_point *from = &shape.centres[shape.first];
            const uint32_t *dst = board->transforms[t].dst;
            struct shape_turn turn;

            assert_true(shape_turn_of(&shape, t, &turn));
            for (uint32_t c = 0; c < board->n_cells; c++) {
                const double x = shape.centres[c].x - from->x, y = shape.centres[c].y - from->y;
                const struct shape_point to = {
                    shape.centres[dst[shape.first]].x + turn.xx * x + turn.xy * y,
                    shape.centres[dst[shape.first]].y + turn.yx * x + turn.yy * y};

                if (board->on_board[c])
                    assert_true(distance(to, shape.centres[dst[c]]) < NEAR);
            }
            if (strstr(names[i], "triangle") == NULL)
                assert_true(fabs(distance(*from, middle) -
                                 distance(shape.centres[dst[shape.first]], middle)) < NEAR);
        }
        close_board(board, &shape);
    }
}

/* --- places --- */

static bool are_neighbours(const struct board *b, uint32_t one, uint32_t other)
{
    for (uint32_t i = 0; i < b->n_edges; i++)
        if ((b->edges[i][0] == one && b->edges[i][1] == other) ||
            (b->edges[i][0] == other && b->edges[i][1] == one))
            return true;
    return false;
}

/* Neighbours touch, others do not (on squares their corners may). */
static void test_neighbours(void **state)
{
    static const char *const names[] = {"hexagon:3", "square:4",
                                        "rhombus:4", "mirror:3x4",
                                        "chess",     "file:tests/data/boards/triangle.json"};

    (void)state;
    for (size_t i = 0; i < N_OF(names); i++) {
        struct shape shape;
        struct board *board = open_board(names[i], &shape);

        for (uint32_t a = 0; a < board->n_cells; a++)
            for (uint32_t b = 0; b < a; b++) {
                const double apart = distance(shape.centres[a], shape.centres[b]);

                if (!board->on_board[a] || !board->on_board[b])
                    continue;
                if (are_neighbours(board, a, b))
                    assert_true(fabs(apart - 1) < NEAR);
                else
                    assert_true(apart > 1.4);
            }
        close_board(board, &shape);
    }
}

static void test_places(void **state)
{
    static const struct {
        const char *board;
        uint32_t cell;
        int32_t line, half;
        int32_t n_lines, n_halves;
        enum shape_form form;
    } cases[] = {
        {"hexagon:2", 2, 0, 2, 5, 10, SHAPE_HEXAGONS},
        {"hexagon:2", 10, 2, 0, 5, 10, SHAPE_HEXAGONS},
        {"rhombus:3", 8, 2, 6, 3, 8, SHAPE_HEXAGONS},
        {"square:3", 5, 1, 4, 3, 6, SHAPE_SQUARES},
        {"chess", 0, 7, 0, 8, 16, SHAPE_SQUARES},
        {"chess", 63, 0, 14, 8, 16, SHAPE_SQUARES},
        {"mirror:1x4", 3, 0, 6, 1, 8, SHAPE_SQUARES},
        {"connect4", 41, 5, 12, 6, 14, SHAPE_SQUARES},
        {"takeiteasy", 7, 2, 0, 5, 10, SHAPE_HEXAGONS},
        {"takeiteasy", 18, 4, 6, 5, 10, SHAPE_HEXAGONS},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct shape shape;
        struct board *board = open_board(cases[i].board, &shape);

        assert_int_equal(shape.form, cases[i].form);
        assert_int_equal(shape.places[cases[i].cell].line, cases[i].line);
        assert_int_equal(shape.places[cases[i].cell].half, cases[i].half);
        assert_int_equal(shape.n_lines, cases[i].n_lines);
        assert_int_equal(shape.n_halves, cases[i].n_halves);
        close_board(board, &shape);
    }
}

/* --- boards of which only the neighbours are known --- */

#define SWAP_OF_4 "\"transforms\": [{\"name\": \"m\", \"dst\": [1, 0, 3, 2]}]"

static void test_files(void **state)
{
    static const struct {
        const char *json;
        enum shape_form form;
        bool is_in_row; /* nothing better was found */
        bool turns;     /* transform 1 moves the drawing like a figure */
    } cases[] = {
        /* a square of four: no hexagons have four neighbours in a ring */
        {"{\"name\": \"x\", \"cells\": 4, " SWAP_OF_4 ", \"edges\": [[0,1],[1,3],[3,2],[2,0]]}",
         SHAPE_SQUARES, false, true},
        /* two triangles that share a side */
        {"{\"name\": \"x\", \"cells\": 4, " SWAP_OF_4
         ", \"edges\": [[0,1],[0,2],[1,2],[0,3],[1,3]]}",
         SHAPE_HEXAGONS, false, true},
        /* all four are neighbours of each other: nowhere in the plane */
        {"{\"name\": \"x\", \"cells\": 4, " SWAP_OF_4
         ", \"edges\": [[0,1],[0,2],[0,3],[1,2],[1,3],[2,3]]}",
         SHAPE_SQUARES, true, false},
        /* in two parts */
        {"{\"name\": \"x\", \"cells\": 4, " SWAP_OF_4 ", \"edges\": [[0,1],[2,3]]}", SHAPE_SQUARES,
         true, false},
        {"{\"name\": \"x\", \"cells\": 4, " SWAP_OF_4 "}", SHAPE_SQUARES, true, false},
    };

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        struct error err = {0};
        struct shape shape;
        struct shape_turn turn;
        struct board *board;

        board = load(cases[i].json);
        assert_int_equal(shape_init(&shape, board, &err), 0);
        assert_int_equal(shape.form, cases[i].form);
        assert_int_equal(shape.n_lines == 1 && shape.n_halves == 8, cases[i].is_in_row);
        assert_true(shape_turn_of(&shape, 0, &turn));
        assert_int_equal(shape_turn_of(&shape, 1, &turn), cases[i].turns);
        if (!cases[i].turns)
            same_turn(&turn, &(struct shape_turn){1, 0, 0, 1});
        close_board(board, &shape);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_hexagon),    cmocka_unit_test(test_square),
        cmocka_unit_test(test_rhombus),    cmocka_unit_test(test_cells_follow),
        cmocka_unit_test(test_neighbours), cmocka_unit_test(test_places),
        cmocka_unit_test(test_files),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
