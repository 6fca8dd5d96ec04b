/* test_crc.c - CRC-32 against known values and against zlib. */
#include "codec/codec.h"

#include "codec_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

enum { N_BYTES = 200000 };

static uint8_t data[N_BYTES];

static int fill(void **test_state)
{
    (void)test_state;
    data_fill(DATA_RANDOM, 1, data, N_BYTES);
    return 0;
}

static void test_known_values(void **test_state)
{
    (void)test_state;
    assert_int_equal(crc_update(0, NULL, 0), 0);
    assert_int_equal(crc_update(0, "123456789", 9), 0xcbf43926);
    assert_int_equal(crc_update(0, "a", 1), 0xe8b7be43);
    assert_int_equal(crc_update(0x12345678, NULL, 0), 0x12345678);
}

/* Every length and alignment that a vector loop treats differently. */
static void test_as_zlib(void **test_state)
{
    (void)test_state;
    for (size_t from = 0; from < 20; from++)
        for (size_t n = 0; n < 600; n++)
            assert_int_equal(crc_update(0, data + from, n), crc32(0, data + from, (uInt)n));
    assert_int_equal(crc_update(0, data, N_BYTES), crc32(0, data, N_BYTES));
}

static void test_in_parts_and_combined(void **test_state)
{
    const uint32_t whole = crc_update(0, data, N_BYTES);
    uint64_t random = 3;

    (void)test_state;
    for (int i = 0; i < 300; i++) {
        const size_t a = i < 20 ? (size_t)i : random_below(&random, N_BYTES);
        const uint32_t crc_a = crc_update(0, data, a);
        const uint32_t crc_b = crc_update(0, data + a, N_BYTES - a);

        assert_int_equal(crc_update(crc_a, data + a, N_BYTES - a), whole);
        assert_int_equal(crc_combine(crc_a, crc_b, N_BYTES - a), whole);
    }
}

/* Lengths beyond 32 bits; the two values were computed byte by byte with Python's zlib. */
static void test_combine_long(void **test_state)
{
    static const uint8_t zero[1] = {0};
    uint32_t zeros = crc_update(0, zero, 1); /* of 2^i zeros */

    (void)test_state;
    for (int i = 0; i < 32; i++)
        zeros = crc_combine(zeros, zeros, UINT64_C(1) << i);
    assert_int_equal(zeros, 0xd202ef8d);
    assert_int_equal(crc_combine(crc_update(0, "123456789", 9), zeros, UINT64_C(1) << 32),
                     0x00c49e49);
    assert_int_equal(crc_combine(0x01020304, 0, 0), 0x01020304);
}

/* Code without AVX that runs after a CRC would be slow if upper halves of registers were filled. */
static void test_leaves_registers_clear(void **test_state)
{
    (void)test_state;
#ifdef __x86_64__
    unsigned a = 0, b, c = 0, d, in_use;

    if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & bit_OSXSAVE) ||
        !__get_cpuid_count(0xd, 1, &a, &b, &c, &d) || !(a & 4))
        skip(); /* the processor does not tell */
    (void)crc_update(0, data, N_BYTES);
    __asm__ volatile("xgetbv" : "=a"(in_use), "=d"(d) : "c"(1));
    assert_int_equal(in_use & 0x44, 0); /* of ymm0 to ymm15, and of zmm0 to zmm15 */
#else
    skip();
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_known_values),           cmocka_unit_test(test_as_zlib),
        cmocka_unit_test(test_in_parts_and_combined),  cmocka_unit_test(test_combine_long),
        cmocka_unit_test(test_leaves_registers_clear),
    };

    return cmocka_run_group_tests(tests, fill, NULL);
}
