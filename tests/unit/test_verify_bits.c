/* test_verify_bits.c - planes of packed bits: any bit of the image that is wrong is seen. */
#include "verify/parts.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define MAX_BITS 40

static void put_bit(uint8_t *plane, uint64_t i, bool lsb_first, bool value)
{
    const uint8_t mask = (uint8_t)(1u << (lsb_first ? i % 8 : 7 - i % 8));

    plane[i / 8] = (uint8_t)(value ? plane[i / 8] | mask : plane[i / 8] & ~mask);
}

/* A plane and its image under a map that is no involution; on_board leaves out every third. */
struct pair {
    struct orbit_bits bits;
    uint32_t dst[MAX_BITS];
    uint8_t on_board[MAX_BITS];
    uint8_t plane[MAX_BITS / 8], image[MAX_BITS / 8];
    bool values[MAX_BITS];
};

static void make_pair(struct pair *pair, uint64_t n, bool lsb_first, bool partly, bool inverted)
{
    static uint32_t random = 1;

    memset(pair, 0, sizeof *pair);
    pair->bits = (struct orbit_bits){n, pair->dst, partly ? pair->on_board : NULL, lsb_first};
    for (uint64_t i = 0; i < n; i++) {
        random = random * 1664525 + 1013904223;
        pair->values[i] = random >> 30 == 0;
        pair->dst[i] = (uint32_t)((i + 3) % n);
        pair->on_board[i] = i % 3 != 0;
        put_bit(pair->plane, i, lsb_first, pair->values[i]);
        put_bit(pair->image, pair->dst[i], lsb_first, pair->values[i] != inverted);
    }
}

static void check_every_bit(struct pair *pair, bool inverted)
{
    const struct orbit_bits *bits = &pair->bits;

    assert_true(orbit_same_bits(bits, pair->plane, pair->image, inverted));
    for (uint64_t i = 0; i < bits->n; i++) {
        const bool counts = bits->on_board == NULL || bits->on_board[i];
        const bool is_set = pair->values[i] != inverted;

        put_bit(pair->image, pair->dst[i], bits->lsb_first, !is_set);
        assert_int_equal(orbit_same_bits(bits, pair->plane, pair->image, inverted), !counts);
        put_bit(pair->image, pair->dst[i], bits->lsb_first, is_set);
    }
}

/* As many bits, one of them elsewhere. */
static void check_moved_bit(struct pair *pair)
{
    const struct orbit_bits *bits = &pair->bits;

    for (uint64_t i = 0; i + 1 < bits->n; i++) {
        if (pair->values[i] == pair->values[i + 1])
            continue;
        put_bit(pair->image, pair->dst[i], bits->lsb_first, pair->values[i + 1]);
        put_bit(pair->image, pair->dst[i + 1], bits->lsb_first, pair->values[i]);
        assert_false(orbit_same_bits(bits, pair->plane, pair->image, false));
        put_bit(pair->image, pair->dst[i], bits->lsb_first, pair->values[i]);
        put_bit(pair->image, pair->dst[i + 1], bits->lsb_first, pair->values[i + 1]);
    }
}

static void test_every_bit(void **state)
{
    (void)state;
    for (uint64_t n = 1; n <= MAX_BITS; n++)
        for (int kind = 0; kind < 8; kind++) {
            struct pair pair;

            make_pair(&pair, n, kind & 1, kind & 2, kind & 4);
            check_every_bit(&pair, kind & 4);
            if (kind < 2)
                check_moved_bit(&pair);
        }
}

static void test_in_place(void **state)
{
    const struct orbit_bits bits = {.n = 13};
    const uint8_t plane[2] = {0x12, 0x08}, other[2] = {0x12, 0x10}, pad[2] = {0x12, 0x0c};

    (void)state;
    assert_true(orbit_same_bits(&bits, plane, plane, false));
    assert_false(orbit_same_bits(&bits, plane, other, false));
    assert_true(orbit_same_bits(&bits, plane, pad, false)); /* pad bits are asked for apart */
    assert_true(plane_pad_bits(plane, bits.n, bits.lsb_first) == 0);
    assert_false(plane_pad_bits(pad, bits.n, bits.lsb_first) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_bit),
        cmocka_unit_test(test_in_place),
    };

    return cmocka_run_group_tests_name("verify_bits", tests, NULL, NULL);
}
