/* test_perm.c - permutations: faults found, inverses, products, orders. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/perm.h"

#include <string.h>

static void test_first_fault(void **state)
{
    static const struct {
        uint32_t map[5];
        size_t n;
        size_t fault;
    } cases[] = {
        {{0}, 0, 0},
        {{0}, 1, 1},
        {{1}, 1, 0},
        {{0, 1, 2, 3, 4}, 5, 5},
        {{4, 3, 2, 1, 0}, 5, 5},
        {{0, 1, 2, 3, 5}, 5, 4},          /* out of range by one */
        {{0, 1, 0, 3, 4}, 5, 2},          /* the second of two equal images */
        {{UINT32_MAX, 1, 2, 3, 4}, 5, 0}, /* far out of range */
        {{0, 1, 2, 3, 2}, 4, 4},          /* entries behind the end do not count */
        {{1, 1, 9, 9, 9}, 5, 1},          /* the first of several */
    };
    struct error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(perm_first_fault(cases[i].map, cases[i].n, &err), cases[i].fault);
    assert_int_equal(err.kind, ERROR_NONE);
}

/* Lengths around the edges of the bytes that the check keeps its bits in. */
static void test_first_fault_at_every_place(void **state)
{
    uint32_t map[70];
    struct error err = {0};

    (void)state;
    for (size_t n = 2; n <= 70; n++) {
        perm_set_identity(map, n);
        assert_int_equal(perm_first_fault(map, n, &err), n);
        for (size_t i = 1; i < n; i++) {
            map[i] = (uint32_t)(i - 1);
            assert_int_equal(perm_first_fault(map, n, &err), i);
            map[i] = (uint32_t)n;
            assert_int_equal(perm_first_fault(map, n, &err), i);
            map[i] = (uint32_t)i;
        }
    }
}

static void test_identity(void **state)
{
    uint32_t map[4] = {9, 9, 9, 9};
    static const uint32_t swapped_last[4] = {0, 1, 3, 2};
    static const uint32_t no_permutation[2] = {1, 1};

    (void)state;
    perm_set_identity(map, 4);
    for (uint32_t i = 0; i < 4; i++)
        assert_int_equal(map[i], i);
    assert_true(perm_is_identity(map, 4));
    assert_true(perm_is_identity(swapped_last, 2));
    assert_false(perm_is_identity(swapped_last, 4));
    assert_false(perm_is_identity(no_permutation, 2));
    assert_true(perm_is_identity(map, 0));
}

/* A 3-cycle: not its own inverse, so that a map and its inverse cannot be confused. */
static void test_invert(void **state)
{
    static const uint32_t map[4] = {1, 2, 0, 3};
    static const uint32_t expected[4] = {2, 0, 1, 3};
    uint32_t inverse[4];

    (void)state;
    perm_invert(map, 4, inverse);
    assert_memory_equal(inverse, expected, sizeof expected);
}

static void test_compose(void **state)
{
    static const uint32_t first[3] = {1, 2, 0};
    static const uint32_t then[3] = {1, 0, 2};
    static const uint32_t expected[3] = {0, 2, 1}; /* 0 -> 1 -> 0, 1 -> 2 -> 2, 2 -> 0 -> 1 */
    uint32_t out[3], in_place[3];

    (void)state;
    perm_compose(first, then, 3, out);
    assert_memory_equal(out, expected, sizeof expected);
    memcpy(in_place, first, sizeof in_place);
    perm_compose(in_place, then, 3, in_place);
    assert_memory_equal(in_place, expected, sizeof expected);
}

static void test_order(void **state)
{
    static const struct {
        uint32_t map[7];
        size_t n;
        uint64_t order;
    } cases[] = {
        {{0}, 0, 1},
        {{0, 1, 2, 3, 4, 5, 6}, 7, 1},
        {{1, 0, 2, 3, 4, 5, 6}, 7, 2},
        {{1, 2, 0, 4, 3, 5, 6}, 7, 6},  /* cycles 3 and 2 */
        {{1, 2, 3, 0, 5, 4, 6}, 7, 4},  /* cycles 4 and 2 */
        {{1, 2, 3, 0, 5, 6, 4}, 7, 12}, /* cycles 4 and 3 */
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_int_equal(perm_order(1, cases[i].map, cases[i].n), cases[i].order);
}

/* Cycles of lengths 2, 3, 5, ... 61: the order needs 76 bits. */
static void test_order_that_does_not_fit(void **state)
{
    static const uint32_t primes[] = {2,  3,  5,  7,  11, 13, 17, 19, 23,
                                      29, 31, 37, 41, 43, 47, 53, 59, 61};
    uint32_t map[501];
    uint32_t n = 0;

    (void)state;
    for (size_t i = 0; i < sizeof primes / sizeof primes[0]; i++) {
        for (uint32_t k = 0; k < primes[i]; k++)
            map[n + k] = n + (k + 1) % primes[i];
        n += primes[i];
        if (primes[i] == 23)
            assert_int_equal(perm_order(1, map, n), 223092870);
    }
    assert_int_equal(n, 501);
    assert_int_equal(perm_order(1, map, n), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_first_fault),
        cmocka_unit_test(test_first_fault_at_every_place),
        cmocka_unit_test(test_identity),
        cmocka_unit_test(test_invert),
        cmocka_unit_test(test_compose),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_that_does_not_fit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
