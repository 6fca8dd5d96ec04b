/*
 * test_group.c - products and inverses against brute force on every family and size, and sets of
 * maps that are no group.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "board/families.h"
#include "board/group.h"
#include "group_cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SIZE 25

static bool same_element(const struct board *b, uint32_t product, uint32_t one, uint32_t other)
{
    const struct board_transform *p = &b->transforms[product];
    const struct board_transform *x = &b->transforms[one];
    const struct board_transform *y = &b->transforms[other];

    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        if (p->dst[cell] != y->dst[x->dst[cell]])
            return false;
    for (uint32_t k = 0; k < b->n_numbers; k++)
        if (p->numbers[k] != y->numbers[x->numbers[k]])
            return false;
    return p->swaps_colours == (x->swaps_colours != y->swaps_colours);
}

static void check_group(const char *name)
{
    struct board *b = open_board(name);
    const uint32_t n = b->n_transforms;

    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        assert_int_equal(b->transforms[0].dst[cell], cell);
    for (uint32_t x = 0; x < n; x++) {
        for (uint32_t cell = 0; cell < b->n_cells; cell++) {
            assert_int_equal(b->transforms[x].src[b->transforms[x].dst[cell]], cell);
            assert_int_equal(b->transforms[x].dst[b->transforms[x].src[cell]], cell);
        }
        assert_int_equal(b->compose[x * n + b->inverse[x]], 0);
        assert_int_equal(b->compose[b->inverse[x] * n + x], 0);
        for (uint32_t y = 0; y < n; y++)
            assert_true(same_element(b, b->compose[x * n + y], x, y));
    }
    board_free(b);
}

static void test_every_size(void **state)
{
    (void)state;
    for (uint32_t n = 1; n <= MAX_SIZE; n++) {
        char name[32];

        snprintf(name, sizeof name, "hexagon:%u", n);
        check_group(name);
        for (uint32_t cols = 2; cols <= MAX_SIZE; cols += 4) {
            snprintf(name, sizeof name, "mirror:%ux%u", n, cols);
            check_group(name);
            snprintf(name, sizeof name, "grid:%ux%u", n + 1, cols);
            check_group(name);
        }
        snprintf(name, sizeof name, "square:%u", n + 1);
        check_group(name);
        snprintf(name, sizeof name, "rhombus:%u", n + 1);
        check_group(name);
    }
}

static void test_every_family(void **state)
{
    (void)state;
    for (size_t i = 0; i < board_n_families; i++)
        if (strcmp(board_families[i]->name, "file") != 0)
            check_group(board_families[i]->example);
}

static uint32_t mod6(int k)
{
    return (uint32_t)((k % 6 + 6) % 6);
}

static void test_hexagon_products(void **state)
{
    struct board *b = open_board("hexagon:4");

    (void)state;
    for (uint32_t x = 0; x < 12; x++) {
        for (uint32_t y = 0; y < 12; y++) {
            const int r1 = (int)(x % 6), r2 = (int)(y % 6);
            uint32_t product;

            if (x < 6)
                product = y < 6 ? mod6(r1 + r2) : 6 + mod6(r1 + r2);
            else
                product = y < 6 ? 6 + mod6(r1 - r2) : mod6(r1 - r2);
            assert_int_equal(b->compose[x * 12 + y], product);
        }
    }
    board_free(b);
}

static void test_small_tables(void **state)
{
    static const uint8_t square_inverse[8] = {0, 3, 2, 1, 4, 5, 6, 7};
    static const uint8_t hexagon_inverse[12] = {0, 5, 4, 3, 2, 1, 6, 7, 8, 9, 10, 11};
    struct board *square = open_board("square:2");
    struct board *hexagon = open_board("hexagon:1");
    struct board *rhombus = open_board("rhombus:2");

    (void)state;
    assert_memory_equal(square->inverse, square_inverse, sizeof square_inverse);
    assert_memory_equal(hexagon->inverse, hexagon_inverse, sizeof hexagon_inverse);
    assert_int_equal(square->compose[1 * 8 + 4], 6); /* clockwise, then left-right: transpose */
    assert_int_equal(square->compose[4 * 8 + 1], 7);
    for (uint32_t x = 0; x < 4; x++)
        for (uint32_t y = 0; y < 4; y++)
            assert_int_equal(rhombus->compose[x * 4 + y], x ^ y);
    board_free(square);
    board_free(hexagon);
    board_free(rhombus);
}

static void test_refusals(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(spoilt_cases); i++) {
        const struct spoilt *spoilt = &spoilt_cases[i];
        struct board *b = spoil(spoilt);
        struct error err = {0};
        const int status = group_complete(b, &err);

        assert_int_equal(status, spoilt->messages[0] == NULL ? 0 : -1);
        if (status != 0) {
            assert_int_equal(err.kind, ERROR_DATA);
            for (size_t k = 0; k < 2; k++)
                if (strstr(err.message, spoilt->messages[k]) == NULL)
                    fail_msg("case %zu: '%s' in '%s'", i, spoilt->messages[k], err.message);
        }
        board_free(b);
    }
}

/* Plane and action maps belong to the element: they make it different, and must close too. */
static void test_planes_and_actions(void **state)
{
    static const uint32_t turn[3] = {1, 2, 0}, back[3] = {2, 0, 1}, same[3] = {0, 1, 2};
    static const struct {
        const uint32_t *first, *second;
        bool is_group;
    } cases[] = {
        {turn, back, true},  {back, turn, true},  {turn, turn, false}, {turn, same, false},
        {same, same, false}, {NULL, NULL, false}, /* NULL is the identity: all three are the same */
    };

    (void)state;
    for (size_t i = 0; i < 2 * COUNT(cases); i++) {
        struct board *b = blank(4, 3);
        const uint32_t *maps[3] = {NULL, cases[i / 2].first, cases[i / 2].second};
        struct error err = {0};

        *(i % 2 == 0 ? &b->n_planes : &b->n_actions) = 3;
        for (uint32_t t = 0; t < 3; t++) {
            assert_int_equal(board_alloc_maps(b, t, &err), 0);
            if (maps[t] != NULL)
                memcpy(b->transforms[t].dst + b->n_cells, maps[t], 3 * sizeof *maps[t]);
        }
        assert_int_equal(group_complete(b, &err), cases[i / 2].is_group ? 0 : -1);
        if (cases[i / 2].is_group)
            assert_int_equal(b->inverse[1], 2);
        board_free(b);
    }
}

static void test_fault_in_planes(void **state)
{
    static const uint32_t bad[2] = {1, 1};
    struct board *b = blank(4, 2);
    struct error err = {0};

    (void)state;
    b->n_planes = 2;
    for (uint32_t t = 0; t < 2; t++)
        assert_int_equal(board_alloc_maps(b, t, &err), 0);
    memcpy(b->transforms[1].planes, bad, sizeof bad);
    assert_int_equal(group_complete(b, &err), -1);
    assert_non_null(strstr(err.message, "planes 0 and 1 both go to 1"));
    board_free(b);
}

/* The largest group: shifts of 255 cells among 361. */
static void test_largest_group(void **state)
{
    struct board *b = blank(361, 255);
    struct error err = {0};

    (void)state;
    for (uint32_t t = 0; t < 255; t++)
        for (uint32_t cell = 0; cell < 255; cell++)
            b->transforms[t].dst[cell + 106] = (cell + t) % 255 + 106;
    assert_int_equal(group_complete(b, &err), 0);
    for (uint32_t x = 0; x < 255; x++) {
        assert_int_equal(b->inverse[x], (255 - x) % 255);
        for (uint32_t y = 0; y < 255; y++)
            assert_int_equal(b->compose[x * 255 + y], (x + y) % 255);
    }
    board_free(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_size),       cmocka_unit_test(test_every_family),
        cmocka_unit_test(test_hexagon_products), cmocka_unit_test(test_small_tables),
        cmocka_unit_test(test_refusals),         cmocka_unit_test(test_planes_and_actions),
        cmocka_unit_test(test_fault_in_planes),  cmocka_unit_test(test_largest_group),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
