/* test_choose_transforms.c - which transforms a list of ids, names and words chooses. */
#include "engine/plan.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct choice {
    const char *board, *planes, *tiles; /* conventions; NULL: default */
    const char *text;
    const char *ids; /* as a list, or NULL: refused */
    const char *why; /* part of the message */
};

static const struct choice choices[] = {
    {"square:5", NULL, NULL, NULL, "0 1 2 3 4 5 6 7", NULL},
    {"square:5", NULL, NULL, "all", "0 1 2 3 4 5 6 7", NULL},
    {"square:5", NULL, NULL, "rotations", "0 1 2 3", NULL},
    {"square:5", NULL, NULL, "reflections", "4 5 6 7", NULL},
    {"square:5", NULL, NULL, "rotations,reflections", "0 1 2 3 4 5 6 7", NULL},
    {"square:5", NULL, NULL, "transpose,0", "0 6", NULL},
    {"square:5", NULL, NULL, "7,3", "3 7", NULL},
    {"square:5", NULL, NULL, "5,all", "0 1 2 3 4 5 6 7", NULL},
    {"square:5", NULL, NULL, "identity", "0", NULL},
    {"square:5", NULL, NULL, "8", NULL, "no transform '8'"},
    {"square:5", NULL, NULL, "-1", NULL, "no transform '-1'"},
    {"square:5", NULL, NULL, "0,", NULL, "no transform ''"},
    {"square:5", NULL, NULL, "", NULL, "no transform ''"},
    {"square:5", NULL, NULL, " 1", NULL, "no transform ' 1'"},
    {"square:5", NULL, NULL, "1x", NULL, "no transform '1x'"},
    {"square:5", NULL, NULL, "3,3", NULL, "3 (rotate-270) is listed twice"},
    {"square:5", NULL, NULL, "all,6", NULL, "6 (transpose) is listed twice"},
    {"square:5", NULL, NULL, "turn", NULL, "`symaug boards square:5` lists them"},
    {"hex8", NULL, NULL, "rotations", "0 1 2 3 4 5", NULL},
    {"hex8", NULL, NULL, "reflections", "6 7 8 9 10 11", NULL},
    {"hex8", NULL, NULL, "11,10,1", "1 10 11", NULL},
    {"connect4", NULL, NULL, "rotations", "0", NULL},
    {"connect4", NULL, NULL, "reflections", "1", NULL},
    {"rhombus:5", NULL, NULL, "all", "0 1 2 3", NULL},
    {"rhombus:5", "mover", NULL, "all", "0 1 2 3", NULL},
    {"rhombus:5", "canonical", NULL, "all", "0 1", NULL},
    {"rhombus:5", "canonical", NULL, "2", NULL, "repeats another image"},
    {"rhombus:5", "canonical", NULL, "reflections", NULL, "leaves no image"},
    {"takeiteasy", NULL, NULL, "all", "0 3", NULL},
    {"takeiteasy", NULL, NULL, "rotations", "0 3", NULL},
    {"takeiteasy", NULL, NULL, "reflections", NULL, "leaves no image"},
    {"takeiteasy", NULL, NULL, "1", NULL, "--tiles permute"},
    {"takeiteasy", NULL, "permute", "all", "0 1 2 3 4 5 6 7 8 9 10 11", NULL},
    {"takeiteasy", NULL, "permute", "7", "7", NULL},
};

static void list_ids(const struct plan *plan, char *text, size_t n_bytes)
{
    *text = '\0';
    for (uint32_t k = 0; k < plan->n_chosen; k++)
        snprintf(text + strlen(text), n_bytes - strlen(text), "%s%u", k > 0 ? " " : "",
                 plan->chosen[k]);
}

static void check(const struct choice *c)
{
    struct error err = {0};
    struct plan plan = {.conventions = conventions_default, .board = board_new(c->board, &err)};
    char ids[128];
    int status;

    assert_non_null(plan.board);
    if (c->planes != NULL)
        assert_int_equal(conventions_set(&plan.conventions, "planes", c->planes, &err), 0);
    if (c->tiles != NULL)
        assert_int_equal(conventions_set(&plan.conventions, "tiles", c->tiles, &err), 0);
    status = choose_transforms(&plan, c->text, &err);
    if (c->ids == NULL) {
        if (status != -1 || err.kind != ERROR_USAGE || strstr(err.message, c->why) == NULL)
            fail_msg("%s, %s: status %d, message '%s'", c->board, c->text, status, err.message);
    } else {
        bool swaps = false;

        assert_int_equal(status, 0);
        list_ids(&plan, ids, sizeof ids);
        assert_string_equal(ids, c->ids);
        for (uint32_t k = 0; k < plan.n_chosen; k++)
            swaps |= plan.board->transforms[plan.chosen[k]].swaps_colours;
        assert_int_equal(plan.swaps, swaps);
    }
    board_free(plan.board);
}

static void test_choices(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(choices); i++)
        check(&choices[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_choices)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
