/* test_grid_huffman.c - prefix codes: complete, limited, optimal. */
#include "codec/grid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

static uint64_t seed = 1;

static uint32_t next_random(void)
{
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(seed >> 33);
}

static uint64_t total(const uint32_t *counts, const uint8_t *lengths, size_t n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += (uint64_t)counts[i] * lengths[i];
    return sum;
}

/* Every used symbol has a code, none is too long, and the code is complete. */
static void check_lengths(const uint32_t *counts, const uint8_t *lengths, size_t n, unsigned limit)
{
    uint32_t kraft = 0;
    size_t n_used = 0;

    for (size_t i = 0; i < n; i++) {
        assert_in_range(lengths[i], counts[i] != 0, limit);
        if (lengths[i] != 0) {
            kraft += 1u << (limit - lengths[i]);
            n_used++;
        }
    }
    assert_true(n_used >= 2);
    assert_int_equal(kraft, 1u << limit);
}

/* No code is the beginning of another one, first bit lowest. */
static void check_codes(const uint8_t *lengths, const uint16_t *codes, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            if (i != j && lengths[i] != 0 && lengths[i] <= lengths[j])
                assert_int_not_equal(codes[j] & ((1u << lengths[i]) - 1), codes[i]);
        }
    }
}

static void test_few_symbols(void **state)
{
    static const struct {
        uint32_t counts[5];
        uint8_t lengths[5];
    } cases[] = {
        {{0, 0, 0, 0, 0}, {1, 1, 0, 0, 0}}, {{9, 0, 0, 0, 0}, {1, 1, 0, 0, 0}},
        {{0, 9, 0, 0, 0}, {1, 1, 0, 0, 0}}, {{0, 0, 0, 0, 9}, {1, 0, 0, 0, 1}},
        {{0, 0, 3, 0, 9}, {0, 0, 1, 0, 1}}, {{0, 1, 2, 0, 9}, {0, 2, 2, 0, 1}},
        {{1, 1, 1, 1, 0}, {2, 2, 2, 2, 0}}, {{1, 1, 2, 4, 8}, {4, 4, 3, 2, 1}},
    };

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        uint8_t lengths[5];

        grid_huffman_lengths(cases[i].counts, 5, 15, lengths);
        assert_memory_equal(lengths, cases[i].lengths, 5);
    }
}

/* The smallest total of all codes for n counts, by trying every combination of lengths. */
static uint64_t smallest_total(const uint32_t *counts, size_t n, unsigned limit, uint32_t room)
{
    uint64_t best = UINT64_MAX;

    if (n == 0)
        return 0;
    for (unsigned length = 1; length <= limit; length++) {
        const uint32_t part = 1u << (limit - length);
        const uint64_t rest =
            part <= room ? smallest_total(counts + 1, n - 1, limit, room - part) : UINT64_MAX;

        if (rest != UINT64_MAX && rest + (uint64_t)counts[0] * length < best)
            best = rest + (uint64_t)counts[0] * length;
    }
    return best;
}

static void test_optimal(void **state)
{
    (void)state;
    for (int round = 0; round < 1500; round++) {
        const size_t n = 2 + next_random() % 6;
        const unsigned limit = 3 + next_random() % 3;
        uint32_t counts[8];
        uint8_t lengths[8];

        for (size_t i = 0; i < n; i++)
            counts[i] = 1 + next_random() % (1u << next_random() % 12);
        grid_huffman_lengths(counts, n, limit, lengths);
        check_lengths(counts, lengths, n, limit);
        assert_int_equal(total(counts, lengths, n), smallest_total(counts, n, limit, 1u << limit));
    }
}

static void test_any_table(void **state)
{
    static const struct {
        size_t n;
        unsigned limit;
    } cases[] = {{286, 15}, {286, 14}, {286, 9}, {30, 15}, {30, 5}, {19, 7}, {288, 15}, {2, 1}};

    (void)state;
    for (size_t round = 0; round < 4000; round++) {
        const size_t n = cases[round % ARRAY_SIZE(cases)].n;
        const unsigned limit = cases[round % ARRAY_SIZE(cases)].limit;
        const uint32_t density = next_random() % 100;
        const unsigned spread = next_random() % 23;
        uint32_t counts[GRID_HUFFMAN_MAX_SYMBOLS];
        uint8_t lengths[GRID_HUFFMAN_MAX_SYMBOLS];
        uint16_t codes[GRID_HUFFMAN_MAX_SYMBOLS];

        for (size_t i = 0; i < n; i++)
            counts[i] = next_random() % 100 < density
                            ? 1 + (next_random() & GRID_HUFFMAN_MAX_COUNT >> 1) %
                                      (1u << next_random() % (spread + 1))
                            : 0;
        grid_huffman_lengths(counts, n, limit, lengths);
        check_lengths(counts, lengths, n, limit);
        grid_huffman_codes(lengths, n, codes);
        if (round % 16 == 0)
            check_codes(lengths, codes, n);
    }
}

/* Fibonacci numbers make the deepest trees there are. */
static void test_deepest(void **state)
{
    uint32_t counts[30];
    uint8_t free_lengths[30], lengths[30];

    (void)state;
    for (size_t n = 3; n <= 30; n++) {
        counts[0] = counts[1] = 1;
        for (size_t i = 2; i < n; i++)
            counts[i] = counts[i - 1] + counts[i - 2];
        for (unsigned limit = 5; limit <= 15; limit++) {
            grid_huffman_lengths(counts, n, limit, lengths);
            check_lengths(counts, lengths, n, limit);
            if (limit > 5)
                assert_true(total(counts, lengths, n) <= total(counts, free_lengths, n));
            memcpy(free_lengths, lengths, n);
        }
        if (n <= 16)
            assert_int_equal(lengths[0], n - 1);
    }
}

/* The example of RFC 1951, 3.2.2, with the bits of each code reversed. */
static void test_canonical(void **state)
{
    static const uint8_t lengths[8] = {3, 3, 3, 3, 3, 2, 4, 4};
    static const uint16_t expected[8] = {2, 6, 1, 5, 3, 0, 7, 15};
    uint16_t codes[8];

    (void)state;
    grid_huffman_codes(lengths, 8, codes);
    assert_memory_equal(codes, expected, sizeof expected);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_few_symbols), cmocka_unit_test(test_optimal),
        cmocka_unit_test(test_any_table),   cmocka_unit_test(test_deepest),
        cmocka_unit_test(test_canonical),
    };

    return cmocka_run_group_tests_name("grid_huffman", tests, NULL, NULL);
}
