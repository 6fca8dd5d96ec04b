/* test_chess.c - chess policies: what an index means, and its mirror image. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "action_image.h"
#include "board/actions.h"
#include "board/board.h"

#include <string.h>

static struct board *new_chess(void)
{
    struct error err = {0};
    struct board *b = board_new("chess", &err);

    assert_string_equal(err.message, "");
    assert_non_null(b);
    return b;
}

static const struct action_layout *layout_of(const struct board *b, const char *name)
{
    const struct action_layout *layout = action_layout_by_name(b, name);

    if (layout == NULL)
        fail_msg("no layout %s", name);
    return layout;
}

/* A layout is also found without its family, and with ':' for '-'. */
static void test_short_names(void **state)
{
    static const struct {
        const char *name, *layout; /* NULL: there is none */
    } cases[] = {
        {"1814", "chess-1814"},
        {"chess-1814", "chess-1814"},
        {"4672:crazyara", "chess-4672-crazyara"},
        {"4672-crazyara", "chess-4672-crazyara"},
        {"4672:pettingzoo", "chess-4672-pettingzoo"},
        {"4864:crazyara:squares", "chess-4864-crazyara-squares"},
        {"from-to", "from-to"},
        {"from:to", NULL},
        {"4672:", NULL},
        {"467", NULL},
        {"chess:4672", NULL},
        {":4672", NULL},
        {"", NULL},
    };
    struct board *b = new_chess();

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct action_layout *layout = action_layout_by_name(b, cases[i].name);

        if (cases[i].layout == NULL)
            assert_null(layout);
        else
            assert_string_equal(layout_of(b, cases[i].name)->name, cases[i].layout);
    }
    board_free(b);
}

static void test_board(void **state)
{
    struct board *b = new_chess();
    struct error err = {0};

    (void)state;
    assert_string_equal(b->name, "chess");
    assert_int_equal(b->rows, 8);
    assert_int_equal(b->cols, 8);
    assert_int_equal(b->n_transforms, 2);
    for (uint32_t square = 0; square < 64; square++) {
        assert_int_equal(b->transforms[0].dst[square], square);
        assert_int_equal(b->transforms[1].dst[square], square / 8 * 8 + 7 - square % 8);
    }
    board_free(b);
    assert_null(board_new("chess:8", &err));
    assert_int_equal(err.kind, ERROR_USAGE);
}

/* A policy's length alone chooses the plain numbering, never a variant. */
static void test_layout_by_length(void **state)
{
    static const struct {
        uint64_t length;
        const char *name;
    } cases[] = {
        {1814, "chess-1814"}, {1880, "chess-1880"}, {1858, "chess-1858"},
        {4674, "chess-4674"}, {4096, "from-to"},    {4672, "chess-4672"},
        {4864, "chess-4864"}, {64, "cells"},        {65, "cells+pass"},
    };
    struct board *b = new_chess();

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++)
        assert_string_equal(action_layout_by_length(b, cases[i].length)->name, cases[i].name);
    assert_null(action_layout_by_length(b, 4671));
    assert_null(action_layout_by_length(b, 1857));
    board_free(b);
}

/* Indices, moves and mirror images. Golden: chess_mirror_maps.npz, and by hand for the variants:
 * squares e2 = 12, a7 = 48, b7 = 49, g7 = 54; kinds of move 1 (north 2), 64.. promotions. */
static const struct {
    const char *layout;
    uint64_t action;
    const char *move;
    uint64_t image;
    int64_t cell;
} moves[] = {
    {"chess-1814", 0, "a1a2", 171, 0},
    {"chess-1814", 304, "e2e4", 275, 12},
    {"chess-1814", 1403, "a7b5", 1615, 48},
    {"chess-1814", 1404, "a7a8=Q", 1619, 48},
    {"chess-1814", 1405, "a7b8=Q", 1618, 48},
    {"chess-1814", 1813, "h8f7", 1641, 63},
    {"chess-1880", 304, "e2e4", 275, 12},
    {"chess-1880", 1404, "a7a8=Q", 1682, 48},
    {"chess-1880", 1407, "a7a8=N", 1685, 48},
    {"chess-1880", 1408, "a7b8=Q", 1678, 48},
    {"from-to", 12 * 64 + 28, "e2e4", 11 * 64 + 27, 12},
    {"from-to", 4 * 64 + 6, "e1g1", 3 * 64 + 1, 4},
    {"from-to", 0, "a1a1", 7 * 64 + 7, 0},
    {"chess-4672", 877, "e2e4", 804, 12},
    {"chess-4672", 501, "g1f3", 129, 6},
    {"chess-4672", 3576, "a7b8=R", 4081, 48},
    {"chess-4672", 6, "a1a8", 7 * 73 + 6, 0},
    {"chess-4672", 7, "a1b2", 7 * 73 + 49, 0},
    {"chess-4672", 28, "a1 (-1,+0) leaves the board", 7 * 73 + 28, 0},
    {"chess-4672", 49 * 73 + 64 + 2, "b7a8=R", 54 * 73 + 64 + 8, 49},
    {"chess-4672", 49 * 73 + 64 + 3, "b7b8=N", 54 * 73 + 64 + 3, 49},
    {"chess-4672-planes", 64 + 12, "e2e4", 64 + 11, 12},
    {"chess-4672-planes", 66 * 64 + 49, "b7a8=R", 72 * 64 + 54, 49},
    {"chess-4672-crazyara", 877, "e2e4", 804, 12},
    {"chess-4672-crazyara", 49 * 73 + 64 + 6, "b7a8=R", 54 * 73 + 64 + 8, 49},
    {"chess-4672-crazyara", 49 * 73 + 64 + 1, "b7b8=N", 54 * 73 + 64 + 1, 49},
    {"chess-4672-crazyara-planes", 70 * 64 + 49, "b7a8=R", 72 * 64 + 54, 49},
    {"chess-4672-pettingzoo", 2421, "e2e4", 1837, 12},
    {"chess-4672-pettingzoo", 2413, "e2e3", 1829, 12},
    {"chess-4672-pettingzoo", 3563, "g1f3", 645, 6},
    {"chess-4672-pettingzoo", 55, "a1h8", 4138, 0},
    {"chess-4672-pettingzoo", 54, "a1h1", 4137, 0},
    {"chess-4672-pettingzoo", 4089, "h1g1", 6, 7},
    {"chess-4672-pettingzoo", 0, "a1 (-1,-1) leaves the board", 4093, 0},
    {"chess-4672-pettingzoo", 1088, "b7a8=R", 4014, 49},
    {"chess-4672-pettingzoo", 1089, "b7b8=N", 4009, 49},
    {"chess-4672-pettingzoo-planes", 801, "e2e4", 793, 12},
    {"chess-4672-pettingzoo-planes", 3824, "g1f3", 3912, 6},
    {"chess-4864", 76, "e2e4", 75, 12},
    {"chess-4864", 4038, "g1f3", 3585, 6},
    {"chess-4864", 4656, "a7b8=N", 4151, 48},
    {"chess-4864", 67 * 64 + 49, "b7a8=Q", 75 * 64 + 54, 49},
    {"chess-4864-squares", 12 * 76 + 1, "e2e4", 11 * 76 + 1, 12},
    {"chess-4864-squares", 49 * 76 + 67, "b7a8=Q", 54 * 76 + 75, 49},
    {"chess-4864-crazyara", 73 * 64 + 49, "b7a8=Q", 75 * 64 + 54, 49},
    {"chess-4864-crazyara-squares", 49 * 76 + 73, "b7a8=Q", 54 * 76 + 75, 49},
};

static void test_moves(void **state)
{
    struct board *b = new_chess();

    (void)state;
    for (size_t i = 0; i < N_OF(moves); i++) {
        const struct action_layout *layout = layout_of(b, moves[i].layout);
        char text[ACTION_TEXT_NBYTES];

        layout->about(layout, b, moves[i].action, text);
        assert_string_equal(text, moves[i].move);
        assert_int_equal(action_cell(layout, b, moves[i].action), moves[i].cell);
        assert_int_equal(action_image(layout, b, 1, moves[i].action), moves[i].image);
        assert_int_equal(action_image(layout, b, 1, moves[i].image), moves[i].action);
        assert_int_equal(action_image(layout, b, 0, moves[i].action), moves[i].action);
    }
    board_free(b);
}

/* The kinds of move in the order of the planes: lines clockwise from north, each by distance, then
 * jumps clockwise, then promotions. */
static void test_kinds_of_move(void **state)
{
    static const struct {
        uint64_t square;
        const char *first[8];
        uint64_t kind, step;
    } cases[] = {
        {27, {"d4d5", "d4e5", "d4e4", "d4e3", "d4d3", "d4c3", "d4c4", "d4c5"}, 0, 7},
        {27, {"d4d7", "d4g7", "d4g4", "d4g1", "d4d1", "d4a1", "d4a4", "d4a7"}, 2, 7},
        {27, {"d4e6", "d4f5", "d4f3", "d4e2", "d4c2", "d4b3", "d4b5", "d4c6"}, 56, 1},
        {51,
         {"d7c8=N", "d7c8=B", "d7c8=R", "d7d8=N", "d7d8=B", "d7d8=R", "d7e8=N", "d7e8=B"},
         64,
         1},
    };
    struct board *b = new_chess();
    const struct action_layout *layout = layout_of(b, "chess-4672");
    char text[ACTION_TEXT_NBYTES];

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        for (uint64_t k = 0; k < 8; k++) {
            uint64_t action = cases[i].square * 73 + cases[i].kind + k * cases[i].step;

            layout->about(layout, b, action, text);
            assert_string_equal(text, cases[i].first[k]);
        }
    }
    board_free(b);
}

/* Mirror the text of a move that stays on the board; false when it leaves it. */
static bool mirror_text(char *text)
{
    if (strchr(text, ' ') != NULL)
        return false;
    text[0] = (char)('a' + 'h' - text[0]);
    text[2] = (char)('a' + 'h' - text[2]);
    return true;
}

/* PettingZoo: lines by distance first; steps by file, then by rank. */
static void test_pettingzoo_kinds(void **state)
{
    static const struct {
        uint64_t kind;
        const char *first[8];
    } cases[] = {
        {0, {"d4c3", "d4c4", "d4c5", "d4d3", "d4d5", "d4e3", "d4e4", "d4e5"}},
        {8, {"d4b2", "d4b4", "d4b6", "d4d2", "d4d6", "d4f2", "d4f4", "d4f6"}},
        {56, {"d4b3", "d4b5", "d4c2", "d4c6", "d4e2", "d4e6", "d4f3", "d4f5"}},
    };
    struct board *b = new_chess();
    const struct action_layout *layout = layout_of(b, "4672:pettingzoo");
    char text[ACTION_TEXT_NBYTES];

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        for (uint64_t k = 0; k < 8; k++) {
            layout->about(layout, b, 27 * 73 + cases[i].kind + k, text);
            assert_string_equal(text, cases[i].first[k]);
        }
    }
    board_free(b);
}

/* Every layout: the image of a move is the mirrored move, which is of the same kind. */
static void test_every_move_is_mirrored(void **state)
{
    static const struct {
        const char *layout;
        uint64_t length, n_playable;
    } cases[] = {
        {"chess-1814", 1814, 1814},
        {"chess-1880", 1880, 1880},
        {"chess-1858", 1858, 1858},
        {"from-to", 4096, 1792},
        {"chess-4672", 4672, 1858},
        {"chess-4672-planes", 4672, 1858},
        {"chess-4672-crazyara", 4672, 1858},
        {"chess-4672-crazyara-planes", 4672, 1858},
        {"chess-4672-pettingzoo", 4672, 1858},
        {"chess-4672-pettingzoo-planes", 4672, 1858},
        {"chess-4864", 4864, 1880},
        {"chess-4864-squares", 4864, 1880},
        {"chess-4864-crazyara", 4864, 1880},
        {"chess-4864-crazyara-squares", 4864, 1880},
    };
    struct board *b = new_chess();

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct action_layout *layout = layout_of(b, cases[i].layout);
        uint64_t n_playable = 0;

        assert_int_equal(layout->length(layout, b), cases[i].length);
        for (uint64_t a = 0; a < cases[i].length; a++) {
            uint64_t image = action_image(layout, b, 1, a);
            char text[ACTION_TEXT_NBYTES], mirrored[ACTION_TEXT_NBYTES];

            assert_true(image < cases[i].length);
            layout->about(layout, b, a, text);
            layout->about(layout, b, image, mirrored);
            if (mirror_text(text))
                assert_string_equal(mirrored, text);
            else
                assert_non_null(strstr(mirrored, "leaves the board"));
            assert_int_equal(action_image(layout, b, 1, image), a);
            assert_int_equal(action_flags(layout, b, image), action_flags(layout, b, a));
            n_playable += action_flags(layout, b, a) == ACTION_ENCODABLE;
        }
        assert_int_equal(n_playable, cases[i].n_playable);
    }
    board_free(b);
}

/* Moves that no piece makes, and promotions from other ranks. */
static void test_flags(void **state)
{
    static const struct {
        const char *layout;
        uint64_t action;
        unsigned flags;
    } cases[] = {
        {"from-to", 0, 0},                              /* a1a1 */
        {"from-to", 10, ACTION_ENCODABLE},              /* a1c2 */
        {"from-to", 11, 0},                             /* a1d2 */
        {"from-to", 63, ACTION_ENCODABLE},              /* a1h8 */
        {"chess-4672", 6, ACTION_ENCODABLE},            /* a1a8 */
        {"chess-4672", 28, 0},                          /* a1 south */
        {"chess-4672", 8 * 73 + 6, 0},                  /* a2 north 7 */
        {"chess-4672", 48 * 73 + 64, 0},                /* a7 to the left */
        {"chess-4672", 48 * 73 + 67, ACTION_ENCODABLE}, /* a7a8=N */
        {"chess-4672", 40 * 73 + 67, 0},                /* a6a7=N */
        {"chess-4672", 56 * 73 + 67, 0},                /* a8 north, =N */
    };
    struct board *b = new_chess();

    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        const struct action_layout *layout = layout_of(b, cases[i].layout);

        assert_int_equal(action_flags(layout, b, cases[i].action), cases[i].flags);
    }
    /* The rest of a longer head, however long. */
    for (size_t i = 0; i < b->family->n_layouts; i++) {
        const struct action_layout *layout = b->family->layouts[i];
        const uint64_t beyond[] = {layout->length(layout, b), UINT32_MAX};

        for (size_t k = 0; k < N_OF(beyond); k++) {
            char text[ACTION_TEXT_NBYTES];
            const struct action_about about = layout->about(layout, b, beyond[k], text);

            assert_true(about.flags == 0 && about.cell == -1);
            assert_string_equal(text, "unused");
        }
    }
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_board),
        cmocka_unit_test(test_short_names),
        cmocka_unit_test(test_layout_by_length),
        cmocka_unit_test(test_moves),
        cmocka_unit_test(test_kinds_of_move),
        cmocka_unit_test(test_pettingzoo_kinds),
        cmocka_unit_test(test_every_move_is_mirrored),
        cmocka_unit_test(test_flags),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
