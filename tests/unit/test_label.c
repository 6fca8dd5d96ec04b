/* test_label.c - what a colour swap does to numbers of every type, bit for bit. */
#include "shard/spec.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/bytes.h"

struct label_case {
    enum label_op op;
    char kind;
    uint32_t itemsize;
    uint64_t in, out; /* bits */
};

static const struct label_case cases[] = {
    /* 1 - v */
    {LABEL_COMPLEMENT, 'f', 4, 0x00000000, 0x3f800000}, /* 0 -> 1 */
    {LABEL_COMPLEMENT, 'f', 4, 0x80000000, 0x3f800000}, /* -0 -> 1 */
    {LABEL_COMPLEMENT, 'f', 4, 0x3f800000, 0x00000000}, /* 1 -> +0 */
    {LABEL_COMPLEMENT, 'f', 4, 0x3dcccccd, 0x3f666666}, /* 0.1f: one rounding in float */
    {LABEL_COMPLEMENT, 'f', 4, 0x00000001, 0x3f800000}, /* a denormal vanishes */
    {LABEL_COMPLEMENT, 'f', 8, 0x3fb999999999999a, 0x3feccccccccccccd}, /* 0.1 */
    {LABEL_COMPLEMENT, 'f', 2, 0x0000, 0x3c00},
    {LABEL_COMPLEMENT, 'f', 2, 0x3c00, 0x0000},
    {LABEL_COMPLEMENT, 'f', 2, 0x2e66, 0x3b33}, /* 0.0999756 -> 0.900024, a tie-free rounding */
    {LABEL_COMPLEMENT, 'f', 2, 0x3bff, 0x1000}, /* 0.99951 -> 0.00048828, exact */
    {LABEL_COMPLEMENT, 'f', 2, 0x0001, 0x3c00}, /* the least denormal */
    {LABEL_COMPLEMENT, 'f', 2, 0xbc00, 0x4000}, /* -1 -> 2 */
    {LABEL_COMPLEMENT, 'i', 1, 0, 1},
    {LABEL_COMPLEMENT, 'i', 8, 1, 0},
    {LABEL_COMPLEMENT, 'u', 4, 0, 1},
    {LABEL_COMPLEMENT, 'b', 1, 1, 0},
    /* -v */
    {LABEL_NEGATE, 'f', 4, 0x3f800000, 0xbf800000},
    {LABEL_NEGATE, 'f', 4, 0xbf800000, 0x3f800000},
    {LABEL_NEGATE, 'f', 4, 0x00000000, 0x00000000}, /* zero stays +0 */
    {LABEL_NEGATE, 'f', 4, 0x80000000, 0x00000000},
    {LABEL_NEGATE, 'f', 4, 0x7fc12345, 0xffc12345}, /* a NaN keeps its payload */
    {LABEL_NEGATE, 'f', 2, 0x3800, 0xb800},
    {LABEL_NEGATE, 'f', 8, 0x3ff0000000000000, 0xbff0000000000000},
    {LABEL_NEGATE, 'i', 1, 1, 0xff},
    {LABEL_NEGATE, 'i', 4, 0xffffffff, 1},
    {LABEL_NEGATE, 'i', 2, 0, 0},
    /* codes */
    {LABEL_EXCHANGE_12, 'i', 1, 1, 2},
    {LABEL_EXCHANGE_12, 'i', 1, 2, 1},
    {LABEL_EXCHANGE_12, 'i', 1, 0, 0},
    {LABEL_EXCHANGE_12, 'u', 8, 2, 1},
    {LABEL_EXCHANGE_12, 'f', 4, 0x3f800000, 0x40000000},
    {LABEL_EXCHANGE_12, 'f', 2, 0x4000, 0x3c00},
    {LABEL_EXCHANGE_12, 'f', 8, 0, 0},
};

static void test_elements(void **state)
{
    (void)state;
    for (size_t i = 0; i < N_OF(cases); i++) {
        for (int big_endian = 0; big_endian < 2; big_endian++) {
            const struct label_case *c = &cases[i];
            const struct dtype dtype = {
                .kind = c->kind, .itemsize = c->itemsize, .big_endian = big_endian};
            uint64_t in[3], out[3];

            assert_true(label_fits(c->op, &dtype));
            for (size_t k = 0; k < 3; k++)
                bytes_put_uint((uint8_t *)in + k * c->itemsize, c->in, c->itemsize, big_endian);
            label_apply(c->op, &dtype, in, out, 3);
            for (size_t k = 0; k < 3; k++) {
                uint64_t found =
                    bytes_get_uint((uint8_t *)out + k * c->itemsize, c->itemsize, big_endian);

                if (found != c->out)
                    fail_msg("case %zu, %s-endian: %llx, expected %llx", i,
                             big_endian ? "big" : "little", (unsigned long long)found,
                             (unsigned long long)c->out);
            }
        }
    }
}

/* A second swap gives the first row back wherever the arithmetic is exact. */
static void test_twice_is_nothing(void **state)
{
    static const float values[] = {0, 1, 0.5f, 0.25f};
    const struct dtype dtype = {.kind = DTYPE_FLOAT, .itemsize = 4};
    float once[4], twice[4];

    (void)state;
    label_apply(LABEL_COMPLEMENT, &dtype, values, once, 4);
    label_apply(LABEL_COMPLEMENT, &dtype, once, twice, 4);
    assert_memory_equal(values, twice, sizeof values);
}

static void test_columns(void **state)
{
    static const int16_t row[] = {10, 20, 30, 40};
    static const int16_t reversed[] = {40, 30, 20, 10}, exchanged[] = {20, 10, 30, 40};
    const struct dtype dtype = {.kind = DTYPE_INT, .itemsize = 2};
    int16_t out[4];

    (void)state;
    label_apply(LABEL_REVERSE, &dtype, row, out, 4);
    assert_memory_equal(out, reversed, sizeof out);
    label_apply(LABEL_EXCHANGE_TWO, &dtype, row, out, 4);
    assert_memory_equal(out, exchanged, sizeof out);
    label_apply(LABEL_KEEP, &dtype, row, out, 4);
    assert_memory_equal(out, row, sizeof out);
}

static void test_types_without_a_sign(void **state)
{
    const struct dtype unsigned_byte = {.kind = DTYPE_UINT, .itemsize = 1};
    const struct dtype flag = {.kind = DTYPE_BOOL, .itemsize = 1};
    const struct dtype opaque = {.kind = DTYPE_VOID, .itemsize = 2};

    (void)state;
    assert_false(label_fits(LABEL_NEGATE, &unsigned_byte));
    assert_false(label_fits(LABEL_NEGATE, &flag));
    assert_false(label_fits(LABEL_COMPLEMENT, &opaque));
    assert_true(label_fits(LABEL_REVERSE, &opaque));
}

/* Sums are held to their rule; NaN says that nothing is known, but never excuses a number. */
static void test_shares(void **state)
{
    const struct dtype type = {.kind = DTYPE_FLOAT, .itemsize = 4};

    (void)state;
    assert_true(label_are_shares(&type, false, 0, 1));
    assert_false(label_are_shares(&type, false, 0, 0.5));
    assert_true(label_are_shares(&type, false, 0, (double)NAN));
    assert_false(label_are_shares(&type, false, -0.5, (double)NAN));
    assert_true(label_are_shares(&type, true, -1, (double)NAN));
    assert_false(label_are_shares(&type, true, -2, (double)NAN));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_elements), cmocka_unit_test(test_twice_is_nothing),
        cmocka_unit_test(test_columns),  cmocka_unit_test(test_types_without_a_sign),
        cmocka_unit_test(test_shares),
    };

    return cmocka_run_group_tests_name("label", tests, NULL, NULL);
}
