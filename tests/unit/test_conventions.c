/* test_conventions.c - the words of --planes, --value, --to-move and their relatives. */
#include "shard/conventions.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static int set(struct conventions *c, const char *option, const char *text)
{
    struct error err = {0};
    int status;

    *c = conventions_default;
    status = conventions_set(c, option, text, &err);
    assert_int_equal(err.kind, status == 0 ? ERROR_NONE : ERROR_USAGE);
    if (status != 0) {
        assert_memory_equal(err.message, "--", 2);
        assert_memory_equal(err.message + 2, option, strlen(option));
    }
    return status;
}

static void test_words(void **state)
{
    static const struct {
        const char *option, *words[5];
    } options[] = {
        {"planes", {"colour", "mover", "canonical", "openspiel"}},
        {"value", {"colour01", "colour11", "colour-wdl", "mover"}},
        {"to-move", {"01", "12", "pm1"}},
        {"ambiguous", {"map", "keep", "drop"}},
        {"castling", {"swap", "skip"}},
        {"tiles", {"keep", "permute"}},
        {"to-move-plane", {"01", "12", "pm1"}},
    };
    static const char *const bad[] = {"", "x", "colou", "colour01x", "Mover", " mover", "mapp"};
    struct conventions c;

    (void)state;
    for (size_t i = 0; i < N_OF(options); i++) {
        assert_string_equal(conventions_text(&conventions_default, options[i].option).text,
                            options[i].words[0]);
        assert_false(conventions_is_said(&conventions_default, options[i].option));
        for (size_t k = 0; options[i].words[k] != NULL; k++) {
            assert_int_equal(set(&c, options[i].option, options[i].words[k]), 0);
            assert_string_equal(conventions_text(&c, options[i].option).text, options[i].words[k]);
            assert_true(conventions_is_said(&c, options[i].option));
            assert_int_equal(c.value_said, strcmp(options[i].option, "value") == 0);
            assert_int_equal(c.to_move_said, strcmp(options[i].option, "to-move") == 0);
        }
        for (size_t k = 0; k < N_OF(bad); k++)
            assert_int_equal(set(&c, options[i].option, bad[k]), -1);
    }
}

static void test_error_lists_words(void **state)
{
    struct conventions c = conventions_default;
    struct error err = {0};

    (void)state;
    assert_int_equal(conventions_set(&c, "to-move", "blue", &err), -1);
    assert_string_equal(err.message, "--to-move: 'blue' is none of 01, 12, pm1");
}

static void test_permutation(void **state)
{
    static const struct {
        const char *text;
        uint32_t n_planes;
        uint8_t dst[4];
        int to_move_plane;
    } good[] = {
        {"0", 1, {0}, -1},
        {"1,0", 2, {1, 0}, -1},
        {"1,0,~2", 3, {1, 0, 2}, 2},
        {"~0", 1, {0}, 0},
        {"2,0,1", 3, {2, 0, 1}, -1},
        {"1,~2,0", 3, {1, 2, 0}, 2},
        {"3,2,~1,0", 4, {3, 2, 1, 0}, 1},
        {"1,0,-2", 3, {1, 0, 2}, 2},
        {"=0,2,1", 3, {0, 2, 1}, 0},
    };
    static const char *const bad[] = {
        "1",  "0,0",    "1,0,", "0,2",  "0;1",  "0,1x",  "0,~", "~",
        "64", "0,1,64", "0,,1", "1, 0", "0,+1", "0,-1-", "--0", "0,18446744073709551616"};
    struct conventions c;

    (void)state;
    for (size_t i = 0; i < N_OF(good); i++) {
        assert_int_equal(set(&c, "planes", good[i].text), 0);
        assert_int_equal(c.planes, PLANES_PERMUTATION);
        assert_int_equal(c.n_planes, good[i].n_planes);
        assert_memory_equal(c.plane_dst, good[i].dst, good[i].n_planes);
        assert_int_equal(c.to_move_plane, good[i].to_move_plane);
        assert_string_equal(conventions_text(&c, "planes").text, good[i].text);
    }
    for (size_t i = 0; i < N_OF(bad); i++)
        if (set(&c, "planes", bad[i]) != -1)
            fail_msg("--planes %s was accepted", bad[i]);
}

/* As many planes as fit, and one more. */
static void test_long_permutation(void **state)
{
    char text[512] = "63";
    struct conventions c;

    (void)state;
    for (int i = 62; i >= 0; i--) {
        size_t n = strlen(text);

        snprintf(text + n, sizeof text - n, ",%d", i);
    }
    assert_int_equal(set(&c, "planes", text), 0);
    assert_int_equal(c.n_planes, 64);
    assert_int_equal(c.plane_dst[0], 63);
    assert_string_equal(conventions_text(&c, "planes").text, text);
    strcat(text, ",64");
    assert_int_equal(set(&c, "planes", text), -1);
}

static void test_castling_planes(void **state)
{
    static const char *const bad[] = {"",         "1",           "1,2,3",   "1,2,3,4,5",
                                      "1,2,3,x",  "1,2,3,99999", "none,",   "1;2;3;4",
                                      "1, 2,3,4", "1,1,2,3",     "1,2,2,3", "+1,2,3,4"};
    struct conventions c;

    (void)state;
    assert_string_equal(conventions_text(&conventions_default, "castling-planes").text,
                        "12,13,14,15");
    assert_int_equal(set(&c, "castling-planes", "none"), 0);
    assert_string_equal(conventions_text(&c, "castling-planes").text, "none");
    assert_int_equal(c.n_castling_planes, -1);
    assert_int_equal(set(&c, "castling-planes", "7,5,6,4"), 0);
    assert_int_equal(c.n_castling_planes, 4);
    assert_int_equal(c.castling_planes[0], 7);
    assert_int_equal(c.castling_planes[3], 4);
    assert_string_equal(conventions_text(&c, "castling-planes").text, "7,5,6,4");
    for (size_t i = 0; i < N_OF(bad); i++)
        if (set(&c, "castling-planes", bad[i]) != -1)
            fail_msg("--castling-planes %s was accepted", bad[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),           cmocka_unit_test(test_error_lists_words),
        cmocka_unit_test(test_permutation),     cmocka_unit_test(test_long_permutation),
        cmocka_unit_test(test_castling_planes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
