/* test_dtype.c - descr strings, and elements as integers and doubles. */
#include "npy/dtype.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

static struct dtype parsed(const char *descr)
{
    struct error err = {0};
    struct dtype dtype;

    if (dtype_parse(descr, strlen(descr), &dtype, &err) != 0)
        fail_msg("'%s' refused: %s", descr, err.message);
    return dtype;
}

static void test_accepted(void **state)
{
    static const struct {
        const char *descr;
        const char *name;
        char kind;
        uint32_t itemsize;
        bool big_endian, number, integer;
    } cases[] = {
        {"|b1", "|b1", 'b', 1, false, true, false},
        {"|i1", "|i1", 'i', 1, false, true, true},
        {"<i2", "<i2", 'i', 2, false, true, true},
        {">i4", ">i4", 'i', 4, true, true, true},
        {"<i8", "<i8", 'i', 8, false, true, true},
        {"|u1", "|u1", 'u', 1, false, true, true},
        {"<u2", "<u2", 'u', 2, false, true, true},
        {">u8", ">u8", 'u', 8, true, true, true},
        {"<f2", "<f2", 'f', 2, false, true, false},
        {"f4", "<f4", 'f', 4, false, true, false},
        {"|f4", "<f4", 'f', 4, false, true, false},
        {">f8", ">f8", 'f', 8, true, true, false},
        {">u1", "|u1", 'u', 1, false, true, true},
        {"|S12", "|S12", 'S', 12, false, false, false},
        {">S3", "|S3", 'S', 3, false, false, false},
        {"<U7", "<U7", 'U', 28, false, false, false},
        {">U1", ">U1", 'U', 4, true, false, false},
        {"<U1073741823", "<U1073741823", 'U', 4294967292u, false, false, false},
        {"|V2", "|V2", 'V', 2, false, false, false},
        {"|O", "|O", 'O', 0, false, false, false},
        {"|O8", "|O", 'O', 0, false, false, false},
        {"O", "|O", 'O', 0, false, false, false},
        {"=f4", "<f4", 'f', 4, false, true, false}, /* the order of the machine that wrote it */
        {"=u1", "|u1", 'u', 1, false, true, true},
        {"=U3", "<U3", 'U', 12, false, false, false},
        {"<c8", "<c8", 'c', 8, false, false, false},
        {">c16", ">c16", 'c', 16, true, false, false},
        {"<M8[s]", "<M8[s]", 'M', 8, false, false, false},
        {">M8[ns]", ">M8[ns]", 'M', 8, true, false, false},
        {"<M8", "<M8", 'M', 8, false, false, false},
        {"<m8[D]", "<m8[D]", 'm', 8, false, false, false},
        {"=m8[as]", "<m8[as]", 'm', 8, false, false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dtype dtype = parsed(cases[i].descr);

        assert_string_equal(dtype_name(&dtype).text, cases[i].name);
        assert_int_equal(dtype.kind, cases[i].kind);
        assert_int_equal(dtype.itemsize, cases[i].itemsize);
        assert_int_equal(dtype.big_endian, cases[i].big_endian);
        assert_int_equal(dtype_is_number(&dtype), cases[i].number);
        assert_int_equal(dtype_is_integer(&dtype), cases[i].integer);
        assert_false(dtype.structured);
    }
}

static void test_refused(void **state)
{
    static const struct {
        const char *descr;
        const char *message;
    } cases[] = {
        {"", "no kind"},
        {"<", "no kind"},
        {"<f0", "item size 0"},
        {"<i5", "item size 5"},
        {"<i16", "item size 16"},
        {"<f16", "item size 16"},
        {"<f1", "item size 1"},
        {"<b2", "item size 2"},
        {"<U0", "item size 0"},
        {"|S0", "item size 0"},
        {"|V0", "item size 0"},
        {"|O4", "item size 4"},
        {"<f4294967300", "not an item size"},
        {"<U1073741824", "item size 1073741824"},
        {"<f04", "not an item size"},
        {"<f", "not an item size"},
        {"<f4,<f4", "not an item size"},
        {"<f+4", "not an item size"},
        {"<f 4", "not an item size"},
        {"<f4 ", "not an item size"},
        {"<Z4", "unknown kind"},
        {"?", "unknown kind"},
        {"<<f4", "unknown kind"},
        {"<c4", "item size 4"},
        {"<c32", "item size 32"},
        {"<g16", "unknown kind"},
        {"<M4", "item size 4"},
        {"<M8[x]", "unit of time"},
        {"<M8[]", "unit of time"},
        {"<M8[s", "not an item size"},
        {"<M8[25s]", "unit of time"},
        {"<f8[s]", "not an item size"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct dtype dtype;

        if (dtype_parse(cases[i].descr, strlen(cases[i].descr), &dtype, &err) == 0)
            fail_msg("'%s' accepted", cases[i].descr);
        assert_int_equal(err.kind, ERROR_DATA);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("'%s': message is '%s'", cases[i].descr, err.message);
    }
}

static void test_structured_name(void **state)
{
    const struct dtype dtype = {.kind = DTYPE_VOID, .structured = true, .itemsize = UINT32_MAX};

    (void)state;
    assert_string_equal(dtype_name(&dtype).text, "structured(4294967295 bytes)");
}

static void test_integers(void **state)
{
    static const struct {
        const char *descr;
        uint8_t bytes[8];
        int64_t value;
    } cases[] = {
        {"|b1", {1}, 1},
        {"|b1", {0}, 0},
        {"|i1", {0x80}, -128},
        {"|u1", {0x80}, 128},
        {"<i2", {0xfe, 0xff}, -2},
        {">i2", {0xff, 0xfe}, -2},
        {"<u2", {0x34, 0x12}, 0x1234},
        {">u4", {0xff, 0, 0, 1}, 0xff000001},
        {"<i4", {0, 0, 0, 0x80}, INT32_MIN},
        {"<i8", {0, 0, 0, 0, 0, 0, 0, 0x80}, INT64_MIN},
        {">i8", {0x7f, 255, 255, 255, 255, 255, 255, 255}, INT64_MAX},
        {"<u8", {1, 2, 0, 0, 0, 0, 0, 0}, 513},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dtype dtype = parsed(cases[i].descr);
        uint8_t stored[8] = {0};

        assert_int_equal(dtype_get_int(&dtype, cases[i].bytes), cases[i].value);
        assert_int_equal(dtype_put_int(&dtype, cases[i].value, stored), 0);
        assert_memory_equal(stored, cases[i].bytes, dtype.itemsize);
    }
}

static void test_integer_limits(void **state)
{
    static const struct {
        const char *descr;
        int64_t lowest, highest;
    } cases[] = {
        {"|b1", 0, 1},          {"|i1", -128, 127}, {"|u1", 0, 255},
        {"<i2", -32768, 32767}, {">u2", 0, 65535},  {"<i4", INT32_MIN, INT32_MAX},
        {"<u4", 0, UINT32_MAX},
    };
    const uint8_t all_ones[8] = {255, 255, 255, 255, 255, 255, 255, 255};
    const uint8_t two = 2;
    struct dtype dtype;
    uint8_t element[8];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        dtype = parsed(cases[i].descr);
        assert_int_equal(dtype_put_int(&dtype, cases[i].lowest, element), 0);
        assert_int_equal(dtype_get_int(&dtype, element), cases[i].lowest);
        assert_int_equal(dtype_put_int(&dtype, cases[i].highest, element), 0);
        assert_int_equal(dtype_get_int(&dtype, element), cases[i].highest);
        assert_int_equal(dtype_put_int(&dtype, cases[i].lowest - 1, element), -1);
        assert_int_equal(dtype_put_int(&dtype, cases[i].highest + 1, element), -1);
    }
    dtype = parsed("<u8");
    assert_int_equal(dtype_get_int(&dtype, all_ones), INT64_MAX); /* saturates */
    assert_int_equal(dtype_put_int(&dtype, -1, element), -1);
    assert_int_equal(dtype_put_int(&dtype, INT64_MAX, element), 0);
    dtype = parsed("|b1");
    assert_int_equal(dtype_get_int(&dtype, &two), 1);
    dtype = parsed("<f4");
    assert_int_equal(dtype_put_int(&dtype, 1, element), -1);
}

static void test_doubles(void **state)
{
    static const struct {
        const char *descr;
        uint8_t bytes[8];
        double value;
    } cases[] = {
        {"|b1", {1}, 1.0},
        {"|i1", {0xff}, -1.0},
        {"<u8", {0, 0, 0, 0, 0, 0, 0, 0x80}, 0x1p63},
        {">u2", {1, 2}, 258.0},
        {"<f2", {0x00, 0x3c}, 1.0},
        {">f2", {0x3c, 0x00}, 1.0},
        {"<f2", {0x01, 0x00}, 0x1p-24},
        {"<f2", {0xff, 0x03}, 1023 * 0x1p-24},
        {"<f2", {0x00, 0x04}, 0x1p-14},
        {"<f2", {0xff, 0x7b}, 65504.0},
        {"<f2", {0x00, 0xfc}, -INFINITY},
        {"<f2", {0x55, 0xb5}, -0.333251953125},
        {"<f4", {0, 0, 0x80, 0x3f}, 1.0},
        {">f4", {0xbf, 0x40, 0, 0}, -0.75},
        {"<f4", {1, 0, 0, 0}, 0x1p-149},
        {"<f8", {0, 0, 0, 0, 0, 0, 0xf8, 0x3f}, 1.5},
        {">f8", {0xbf, 0xf8, 0, 0, 0, 0, 0, 0}, -1.5},
    };
    const uint8_t minus_zero[4] = {0x00, 0x80}, not_a_number[4] = {0x01, 0x7e};
    const struct dtype half = parsed("<f2");

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct dtype dtype = parsed(cases[i].descr);
        const double value = dtype_get_double(&dtype, cases[i].bytes);

        if (!(value >= cases[i].value && value <= cases[i].value))
            fail_msg("%s, case %zu: %a, expected %a", cases[i].descr, i, value, cases[i].value);
    }
    assert_true(signbit(dtype_get_double(&half, minus_zero)) != 0);
    assert_true(isnan(dtype_get_double(&half, not_a_number)) != 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_structured_name), cmocka_unit_test(test_integers),
        cmocka_unit_test(test_integer_limits),  cmocka_unit_test(test_doubles),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
