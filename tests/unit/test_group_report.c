/* test_group_report.c - the report: what it says of good boards, what it finds in others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "board/group.h"
#include "group_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char *report_on(const struct board *b, bool *ok)
{
    struct text report = {0};
    struct error err = {0};

    assert_int_equal(group_report(b, &report, ok, &err), 0);
    assert_non_null(report.text);
    return report.text;
}

static void test_report_of_good_boards(void **state)
{
    static const char *const parts[] = {"every map is a permutation", "id 0 is the identity",
                                        "closed: all", "every transform has its inverse",
                                        "permuted as the cells are"};

    (void)state;
    for (size_t i = 0; i < board_n_families; i++) {
        struct board *b;
        char *report;
        bool ok = false;

        if (strcmp(board_families[i]->name, "file") == 0)
            continue;
        b = open_board(board_families[i]->example);
        report = report_on(b, &ok);
        if (!ok || strstr(report, "FAIL") != NULL)
            fail_msg("%s", report);
        for (size_t k = 0; k < COUNT(parts); k++)
            assert_non_null(strstr(report, parts[k]));
        free(report);
        board_free(b);
    }
}

static void test_report_of_hexagon(void **state)
{
    struct board *b = open_board("hex8");
    bool ok = false;
    char *report = report_on(b, &ok);

    (void)state;
    assert_true(ok);
    assert_non_null(strstr(report, "board hexagon:4 (hex8): box 9 x 9, 61 cells, 12 transforms"));
    assert_non_null(strstr(report, "neighbours stay neighbours (156 edges)"));
    assert_non_null(strstr(report, "1      6        5        156/156"));
    assert_non_null(strstr(report, "actions ringrift (4132): permuted"));
    free(report);
    board_free(b);
}

static void test_report_of_spoilt_boards(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(spoilt_cases); i++) {
        struct board *b = spoil(&spoilt_cases[i]);
        bool ok = false;
        char *report = report_on(b, &ok);

        if (ok != (spoilt_cases[i].messages[0] == NULL) || ok != (strstr(report, "FAIL") == NULL))
            fail_msg("case %zu:\n%s", i, report);
        free(report);
        board_free(b);
    }
}

/* One broken thing in a good board, and the line of the report that names it. */
static void spoil_edges(struct board *b)
{
    b->edges[0][1] = 4; /* (0,0) and (1,1) as neighbours */
}

static void spoil_lines(struct board *b)
{
    static const uint32_t cells[] = {0, 1, 2, 0, 3, 6}; /* the top row and the left column */

    b->line_cells = copy_of(cells, COUNT(cells));
    b->line_start = copy_of((const uint32_t[]){0, 3, 6}, 3);
    b->n_lines = 2;
}

static void spoil_on_board(struct board *b)
{
    b->on_board[1] = 0;
}

static void test_report_names_what_broke(void **state)
{
    static const struct {
        void (*spoil)(struct board *b);
        const char *line;
    } cases[] = {
        {spoil_edges, "FAIL  transform 'rotate-90' keeps 10 of 12 edges: edge 0 ((0,0), (1,1)) "
                      "goes to ((0,2), (1,1))"},
        {spoil_lines,
         "FAIL  transform 'rotate-90' keeps 1 of 2 lines: line 0 ((0,0), (0,1), (0,2)) goes to"},
        {spoil_on_board, "FAIL  'rotate-90' moves cell 1 across the edge of the board"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        struct board *b = open_board("square:3");
        bool ok = true;
        char *report;

        cases[i].spoil(b);
        report = report_on(b, &ok);
        assert_false(ok);
        if (strstr(report, cases[i].line) == NULL)
            fail_msg("'%s' in\n%s", cases[i].line, report);
        free(report);
        board_free(b);
    }
}

/* A rectangle's quarter turn taken for a symmetry of the game of Hex. */
static void test_report_of_a_foreign_turn(void **state)
{
    struct board *b = open_board("rhombus:5");
    struct board *square = open_board("square:5");
    bool ok = true;
    char *report;

    (void)state;
    set_map(b, 2, square->transforms[1].dst);
    report = report_on(b, &ok);
    assert_false(ok);
    assert_non_null(strstr(report, "FAIL  the transforms are no group ("));
    assert_non_null(strstr(report, "FAIL  transform 'long-diagonal-swap' keeps "));
    assert_non_null(strstr(report, "    2      4        -"));
    free(report);
    board_free(square);
    board_free(b);
}

/* Two numbers of a tile exchanged, in the map of one transform after the other. */
static void test_report_of_tile_numbers(void **state)
{
    (void)state;
    for (uint32_t t = 0; t < 12; t++) {
        struct board *b = open_board("takeiteasy");
        uint32_t *numbers = b->transforms[t].numbers;
        const uint32_t first = numbers[t % 3], other = numbers[(t + 1) % 3];
        const char *line = t == 0
                               ? "FAIL  id 0, 'identity', is not the identity: number 0 goes to 1"
                               : "moves the cells as '";
        bool ok = true;
        char *report;

        numbers[t % 3] = other;
        numbers[(t + 1) % 3] = first;
        report = report_on(b, &ok);
        assert_false(ok);
        if (strstr(report, line) == NULL || strstr(report, "but not the numbers of tiles") == NULL)
            fail_msg("'%s' in\n%s", line, report);
        free(report);
        numbers[t % 3] = first;
        report = report_on(b, &ok);
        assert_false(ok);
        assert_non_null(strstr(report, "is not a permutation: numbers "));
        free(report);
        board_free(b);
    }
}

/* Layouts of square:3 that are wrong in one way each: their scheme. */
struct bad {
    uint64_t (*image)(const struct action_layout *layout, const struct board *b, uint32_t t,
                      uint64_t action);
};

static void images_of(const struct action_layout *layout, const struct board *b, uint32_t t,
                      uint32_t *dst)
{
    for (uint64_t a = 0; a < layout->length(layout, b); a++)
        dst[a] = (uint32_t)((const struct bad *)layout->scheme)->image(layout, b, t, a);
}

static uint64_t nine(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return b->n_cells;
}

static uint64_t image_constant(const struct action_layout *layout, const struct board *b,
                               uint32_t t, uint64_t action)
{
    (void)layout;
    return t == 1 ? 4 : b->transforms[t].dst[action];
}

static uint64_t image_too_large(const struct action_layout *layout, const struct board *b,
                                uint32_t t, uint64_t action)
{
    (void)layout;
    return t == 1 && action == 3 ? 9 : b->transforms[t].dst[action];
}

static uint64_t image_inverse(const struct action_layout *layout, const struct board *b, uint32_t t,
                              uint64_t action)
{
    (void)layout;
    return b->transforms[t].src[action];
}

static uint64_t image_right(const struct action_layout *layout, const struct board *b, uint32_t t,
                            uint64_t action)
{
    (void)layout;
    return b->transforms[t].dst[action];
}

static struct action_about on_cell(const struct action_layout *layout, const struct board *b,
                                   uint64_t action, char *text)
{
    (void)layout;
    (void)b;
    if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "number %u", (unsigned)action);
    return (struct action_about){ACTION_ENCODABLE, (int64_t)action, "action"};
}

static struct action_about on_none(const struct action_layout *layout, const struct board *b,
                                   uint64_t action, char *text)
{
    (void)layout;
    (void)b;
    if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "number %u", (unsigned)action);
    return (struct action_about){ACTION_ENCODABLE, -1, "action"};
}

static struct action_about corner_flags(const struct action_layout *layout, const struct board *b,
                                        uint64_t action, char *text)
{
    (void)layout;
    (void)b;
    if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "number %u", (unsigned)action);
    return (struct action_about){action == 0 ? 0 : ACTION_ENCODABLE, (int64_t)action, "action"};
}

static struct action_about corner_cell(const struct action_layout *layout, const struct board *b,
                                       uint64_t action, char *text)
{
    (void)layout;
    (void)b;
    if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "number %u", (unsigned)action);
    return (struct action_about){ACTION_ENCODABLE, action == 0 ? 0 : -1, "action"};
}

static void test_report_of_bad_layouts(void **state)
{
    static const struct {
        struct bad bad;
        struct action_about (*about)(const struct action_layout *layout, const struct board *b,
                                     uint64_t action, char *text);
        const char *line;
    } cases[] = {
        {{image_right}, on_cell, "ok    actions bad (9): permuted"},
        {{image_right}, on_none, "ok    actions bad (9): permuted"},
        {{image_constant},
         on_none,
         "FAIL  actions bad (9): 'rotate-90' takes action 1 (number 1) to 4, which is taken"},
        {{image_too_large},
         on_none,
         "FAIL  actions bad (9): 'rotate-90' takes action 3 (number 3) to 9, which is taken or"},
        {{image_inverse},
         on_cell,
         "FAIL  actions bad (9): 'rotate-90' takes action 0 (number 0) to 6, which is on another"},
        {{image_right},
         corner_flags,
         "FAIL  actions bad (9): 'rotate-90' takes action 0 (number 0) to 2, an action of another"},
        {{image_right},
         corner_cell,
         "FAIL  actions bad (9): 'rotate-90' takes action 0 (number 0) to 2, which is on another"},
        {{image_inverse},
         on_none,
         "FAIL  actions bad (9): 'transpose' takes action 0 (number 0) to 0, not where"},
    };

    (void)state;
    for (size_t i = 0; i < COUNT(cases); i++) {
        const struct action_layout layout = {.name = "bad",
                                             .scheme = &cases[i].bad,
                                             .length = nine,
                                             .images = images_of,
                                             .about = cases[i].about};
        const struct action_layout *const layouts[] = {&layout};
        const struct board_family family = {.name = "bad", .layouts = layouts, .n_layouts = 1};
        struct board *b = open_board("square:3");
        bool ok = false;
        char *report;

        b->family = &family;
        report = report_on(b, &ok);
        assert_int_equal(ok, cases[i].line[0] == 'o');
        if (strstr(report, cases[i].line) == NULL)
            fail_msg("'%s' in\n%s", cases[i].line, report);
        free(report);
        board_free(b);
    }
}

static void test_report_leaves_long_layouts_out(void **state)
{
    struct board *b = open_board("hexagon:40");
    bool ok = false;
    char *report = report_on(b, &ok);

    (void)state;
    assert_true(ok);
    assert_non_null(
        strstr(report, "-     actions ringrift (3168964): too long to be checked here"));
    free(report);
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_report_of_good_boards),
        cmocka_unit_test(test_report_of_hexagon),
        cmocka_unit_test(test_report_of_spoilt_boards),
        cmocka_unit_test(test_report_names_what_broke),
        cmocka_unit_test(test_report_of_a_foreign_turn),
        cmocka_unit_test(test_report_of_tile_numbers),
        cmocka_unit_test(test_report_of_bad_layouts),
        cmocka_unit_test(test_report_leaves_long_layouts_out),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
