/* test_ringrift.c - RingRift's policy heads: the published examples, directions, and sections. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "action_image.h"
#include "board/actions.h"

#include <string.h>

#define COUNT(a) (sizeof(a) / sizeof(a)[0])

struct fixture {
    struct board *board;
    const struct action_layout *layout;
};

static struct fixture open_board(const char *name)
{
    struct error err = {0};
    struct fixture f = {.board = board_new(name, &err)};

    if (f.board == NULL)
        fail_msg("board %s: %s", name, err.message);
    f.layout = action_layout_by_name(f.board, "ringrift");
    assert_non_null(f.layout);
    return f;
}

static void test_examples(void **state)
{
    static const struct {
        uint32_t t;
        uint64_t from, to;
    } cases[] = {
        {1, 123, 147},   {1, 2212, 2604}, {6, 2212, 2604},
        {7, 2212, 2212}, {1, 4131, 4131}, /* skip stays */
        {1, 0, 0},       {1, 2, 2},       /* placements off board stay */
        {1, 243, 243},   {1, 290, 290},   /* movements from there too */
    };
    struct fixture f = open_board("hex8");

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++)
        assert_int_equal(action_image(f.layout, f.board, cases[i].t, cases[i].from), cases[i].to);
    board_free(f.board);
}

static void test_encodable_counts(void **state)
{
    static const struct {
        const char *board;
        uint32_t n_encodable, n_ambiguous;
    } cases[] = {
        {"hex8", 1288, 0},
        {"hexagonal", 27376, 0},
        {"square8", 3838, 64 * 4 + 2048},
        {"square19", 34803, 361 * 4 + 11552},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f = open_board(cases[i].board);
        uint32_t n_encodable = 0, n_ambiguous = 0;

        for (uint64_t a = 0; a < f.layout->length(f.layout, f.board); a++) {
            const unsigned flags = action_flags(f.layout, f.board, a);

            assert_int_equal(flags & ACTION_PLACEMENT, 0);
            n_encodable += (flags & ACTION_ENCODABLE) != 0;
            n_ambiguous += (flags & ACTION_AMBIGUOUS) != 0;
        }
        assert_int_equal(n_encodable, cases[i].n_encodable);
        assert_int_equal(n_ambiguous, cases[i].n_ambiguous);
        board_free(f.board);
    }
}

/* Directions from the centre of square:19, distance 2, against the published table. */
static void test_square_directions(void **state)
{
    static const uint32_t directions[8][8] = {
        {0, 1, 2, 3, 4, 5, 6, 7}, {2, 4, 7, 1, 6, 0, 3, 5}, {7, 6, 5, 4, 3, 2, 1, 0},
        {5, 3, 0, 6, 1, 7, 4, 2}, {2, 1, 0, 4, 3, 7, 6, 5}, {5, 6, 7, 3, 4, 0, 1, 2},
        {0, 3, 5, 1, 6, 2, 4, 7}, {7, 4, 2, 6, 1, 5, 3, 0},
    };
    struct fixture f = open_board("square19");
    const uint64_t base = 1083 + 180 * 8 * 18; /* the centre stays under every transform */

    (void)state;
    for (uint32_t t = 0; t < 8; t++)
        for (uint32_t d = 0; d < 8; d++)
            assert_int_equal(action_image(f.layout, f.board, t, base + d * 18 + 1),
                             base + directions[t][d] * 18 + 1);
    board_free(f.board);
}

/*
 * A movement's image must end on the image of its target. This ties directions to cells on every
 * board, also where a table could be wrong in the same way twice.
 */
static void check_targets(const char *name, uint32_t n_directions, const int (*steps)[2],
                          uint64_t base)
{
    struct fixture f = open_board(name);
    const struct board *b = f.board;
    const int side = (int)b->cols;
    const uint32_t distances = b->cols - 1;
    uint32_t n_checked = 0;

    for (uint64_t i = 0; i < (uint64_t)b->n_cells * n_directions * distances; i++) {
        const int cell = (int)(i / distances / n_directions);
        const int *step = steps[i / distances % n_directions];
        const int distance = (int)(i % distances) + 1;
        const int x = cell % side + step[0] * distance, y = cell / side + step[1] * distance;

        if ((action_flags(f.layout, b, base + i) & ACTION_ENCODABLE) == 0)
            continue;
        assert_true(x >= 0 && x < side && y >= 0 && y < side && b->on_board[y * side + x]);
        for (uint32_t t = 0; t < b->n_transforms; t++) {
            const uint64_t to = action_image(f.layout, b, t, base + i) - base;
            const int to_cell = (int)(to / distances / n_directions);
            const int *to_step = steps[to / distances % n_directions];
            const int to_x = to_cell % side + to_step[0] * distance;
            const int to_y = to_cell / side + to_step[1] * distance;

            assert_int_equal(to % distances, distance - 1);
            assert_int_equal(to_cell, b->transforms[t].dst[cell]);
            assert_int_equal(to_y * side + to_x, b->transforms[t].dst[y * side + x]);
        }
        n_checked++;
    }
    assert_true(n_checked > 0);
    board_free(f.board);
}

static void test_targets(void **state)
{
    static const int hexagon[6][2] = {{1, 0}, {0, 1}, {-1, 1}, {-1, 0}, {0, -1}, {1, -1}};
    static const int square[8][2] = {{-1, -1}, {0, -1}, {1, -1}, {-1, 0},
                                     {1, 0},   {-1, 1}, {0, 1},  {1, 1}};

    (void)state;
    check_targets("hex8", 6, hexagon, 243);
    check_targets("hexagon:7", 6, hexagon, 3 * 225);
    check_targets("square8", 8, square, 192);
    check_targets("square19", 8, square, 1083);
}

/* The first and last entries of every section of the square heads. */
static void test_square_sections(void **state)
{
    static const struct {
        const char *board;
        uint64_t first, last;
        int first_cell, last_cell; /* as `cell` tells them: placements and movements only */
        unsigned flags;            /* of the first entry */
        uint64_t image;            /* of the first under id 1, (0,0) to (0,N-1) */
    } cases[] = {
        {"square8", 0, 191, 0, 63, 1, 21},        /* placement */
        {"square8", 192, 3775, 0, 63, 0, 598},    /* movement up left: turns to up right */
        {"square8", 3776, 4031, -1, -1, 3, 3804}, /* process line */
        {"square8", 4032, 4095, -1, -1, 1, 4039}, /* elimination */
        {"square8", 4096, 4102, -1, -1, 1, 4096}, /* skips, swap, line choice */
        {"square8", 4103, 6150, -1, -1, 3, 4327}, /* territory choice */
        {"square8", 6151, 6157, -1, -1, 1, 6151}, /* specials */
        {"square8", 6158, 6999, -1, -1, 0, 6158}, /* unused */
        {"square19", 0, 1082, 0, 360, 1, 54},
        {"square19", 1083, 53066, 0, 360, 0, 3711},
        {"square19", 53067, 54510, -1, -1, 3, 53139},
        {"square19", 54511, 54871, -1, -1, 1, 54529},
        {"square19", 54872, 54878, -1, -1, 1, 54872},
        {"square19", 54879, 66430, -1, -1, 3, 55455},
        {"square19", 66431, 66437, -1, -1, 1, 66431},
        {"square19", 66438, 66999, -1, -1, 0, 66438},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f = open_board(cases[i].board);

        assert_int_equal(action_cell(f.layout, f.board, cases[i].first), cases[i].first_cell);
        assert_int_equal(action_cell(f.layout, f.board, cases[i].last), cases[i].last_cell);
        assert_int_equal(action_flags(f.layout, f.board, cases[i].first), cases[i].flags);
        assert_int_equal(action_image(f.layout, f.board, 1, cases[i].first), cases[i].image);
        board_free(f.board);
    }
}

/* Only slot 0 of a line is written, but all four move. */
static void test_line_slots(void **state)
{
    struct fixture f = open_board("square8");

    (void)state;
    for (uint64_t slot = 0; slot < 4; slot++) {
        assert_int_equal(action_image(f.layout, f.board, 1, 3776 + slot), 3804 + slot);
        assert_int_equal(action_flags(f.layout, f.board, 3776 + slot),
                         slot == 0 ? ACTION_ENCODABLE | ACTION_AMBIGUOUS : ACTION_AMBIGUOUS);
    }
    board_free(f.board);
}

static void test_descriptions(void **state)
{
    static const struct {
        const char *board;
        uint64_t action;
        const char *text;
    } cases[] = {
        {"hex8", 123, "place 1 at (4,5)"},
        {"hex8", 2, "place 3 at (0,0), off board"},
        {"hex8", 2212, "move (4,5) -> (4,7), distance 2"},
        {"hex8", 2218, "move (4,5) -> (4,13), distance 8, leaves the board"},
        {"hex8", 4131, "skip, or another action without a cell"},
        {"square8", 192, "move (0,0) -> (-1,-1), distance 1, leaves the board"},
        {"square8", 221, "move (0,0) -> (0,2), distance 2"},
        {"square8", 3781, "process the line at (0,1), slot 1"},
        {"square8", 4033, "eliminate at (0,1)"},
        {"square8", 4096, "skip placement"},
        {"square8", 4097, "swap sides"},
        {"square8", 4098, "skip recovery"},
        {"square8", 4102, "line choice 4"},
        {"square8", 4103 + 32 + 7 * 4 + 2,
         "choose the territory at (0,1), size 8 or more, player 3"},
        {"square8", 6157, "special action 7"},
        {"square8", 6158, "unused"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct fixture f = open_board(cases[i].board);
        char text[128];

        f.layout->about(f.layout, f.board, cases[i].action, text);
        assert_string_equal(text, cases[i].text);
        board_free(f.board);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_examples),          cmocka_unit_test(test_encodable_counts),
        cmocka_unit_test(test_square_directions), cmocka_unit_test(test_targets),
        cmocka_unit_test(test_square_sections),   cmocka_unit_test(test_line_slots),
        cmocka_unit_test(test_descriptions),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
