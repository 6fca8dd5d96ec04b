/* test_bytes.c - loads and stores in both byte orders, checked products, growing buffers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"

#include <string.h>

static void test_loads(void **state)
{
    static const uint8_t p[] = {0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0xf8};

    (void)state;
    assert_int_equal(bytes_get_le16(p), 0x0201);
    assert_int_equal(bytes_get_le32(p), 0x04030201);
    assert_true(bytes_get_le64(p) == 0xf807060504030201u);
    assert_true(bytes_get_uint(p, 8, false) == 0xf807060504030201u);
    assert_true(bytes_get_uint(p, 8, true) == 0x01020304050607f8u);
    assert_true(bytes_get_uint(p, 3, true) == 0x010203u);
    assert_true(bytes_get_uint(p + 7, 1, false) == 0xf8u);
}

static void test_stores_are_read_back(void **state)
{
    (void)state;
    for (size_t n = 1; n <= 8; n++) {
        const uint64_t value = 0x8182838485868788u >> (64 - 8 * n);
        uint8_t p[9] = {0};

        for (int big_endian = 0; big_endian < 2; big_endian++) {
            bytes_put_uint(p, value, n, big_endian);
            assert_true(bytes_get_uint(p, n, big_endian) == value);
            assert_int_equal(p[n], 0);
        }
        bytes_put_le(p, value, n);
        assert_true(bytes_get_uint(p, n, false) == value);
    }
}

static void test_products(void **state)
{
    const uint64_t fits[] = {UINT64_C(1) << 32, (UINT64_C(1) << 32) - 1, 1};
    const uint64_t too_large[] = {UINT64_C(1) << 32, UINT64_C(1) << 32};
    /* A zero does not excuse an overflow in front of it. */
    const uint64_t zero_behind[] = {UINT64_C(1) << 32, UINT64_C(1) << 32, 0};
    uint64_t product = 7;

    (void)state;
    assert_int_equal(bytes_product(fits, 3, &product), 0);
    assert_true(product == fits[0] * fits[1]);
    assert_int_equal(bytes_product(too_large, 2, &product), -1);
    assert_int_equal(bytes_product(zero_behind, 3, &product), -1);
    assert_int_equal(bytes_product(fits, 0, &product), 0);
    assert_int_equal(product, 1);
}

/* Nothing appended to nothing is no failure: a failure without a reason once lost whole pieces. */
static void test_append_of_nothing(void **state)
{
    struct error err = {0};
    struct bytes b = {0};

    (void)state;
    assert_int_equal(bytes_append(&b, NULL, 0, &err), 0);
    assert_int_equal(b.n_bytes, 0);
    assert_non_null(bytes_reserve(&b, 0, &err));
    assert_int_equal(err.kind, ERROR_NONE);
    bytes_release(&b);
}

static void test_growing(void **state)
{
    struct error err = {0};
    struct bytes b = {0};

    (void)state;
    for (unsigned i = 0; i < 5000; i++) {
        uint8_t byte = (uint8_t)(i * 7);

        assert_int_equal(bytes_append(&b, &byte, 1, &err), 0);
    }
    assert_int_equal(b.n_bytes, 5000);
    for (unsigned i = 0; i < 5000; i++)
        assert_int_equal(b.data[i], (uint8_t)(i * 7));
    assert_null(bytes_reserve(&b, SIZE_MAX - 4999, &err));
    assert_int_equal(err.kind, ERROR_INTERNAL);
    bytes_release(&b);
    assert_null(b.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loads),    cmocka_unit_test(test_stores_are_read_back),
        cmocka_unit_test(test_products), cmocka_unit_test(test_append_of_nothing),
        cmocka_unit_test(test_growing),
    };

    return cmocka_run_group_tests_name("bytes", tests, NULL, NULL);
}
