/* test_npy_header_write.c - .npy headers as numpy 1.24 writes them, byte for byte. */
#include "npy/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

static void assert_written(const char *descr, const uint64_t *shape, unsigned n_dims, size_t extra,
                           const char *prefix, size_t prefix_nbytes, const char *dictionary,
                           size_t n_spaces)
{
    struct bytes out = {0};
    struct error err = {0};
    const size_t n = strlen(dictionary);

    assert_int_equal(npy_header_write(descr, shape, n_dims, extra, &out, &err), 0);
    assert_int_equal(out.n_bytes, prefix_nbytes + n + n_spaces + 1);
    assert_memory_equal(out.data, prefix, prefix_nbytes);
    assert_memory_equal(out.data + prefix_nbytes, dictionary, n);
    for (size_t i = 0; i < n_spaces; i++)
        assert_int_equal(out.data[prefix_nbytes + n + i], ' ');
    assert_int_equal(out.data[out.n_bytes - 1], '\n');
    bytes_release(&out);
}

/* Bytes as numpy 1.24 writes them. */
static void test_written(void **state)
{
    static const char v1_128[] = "\x93NUMPY\x01\x00\x76\x00";
    static const char v1_192[] = "\x93NUMPY\x01\x00\xb6\x00";
    static const char v3_128[] = "\x93NUMPY\x03\x00\x74\x00\x00\x00";
    static const uint64_t shape[] = {22, 4, 9, 9};
    static const uint64_t long_shape[] = {1, 11111, 11111, 11111, 111111};

    (void)state;
    assert_written("'<f4'", shape, 4, 0, v1_128, 10,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': (22, 4, 9, 9), }", 51);
    assert_written("'<f4'", shape, 4, 64, v1_192, 10,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': (22, 4, 9, 9), }", 115);
    assert_written("'|O'", shape, 1, 0, v1_128, 10,
                   "{'descr': '|O', 'fortran_order': False, 'shape': (22,), }", 60);
    assert_written("'<f4'", shape, 0, 0, v1_128, 10,
                   "{'descr': '<f4', 'fortran_order': False, 'shape': (), }", 62);
    assert_written("'<i8'", long_shape, 5, 0, v1_128, 10,
                   "{'descr': '<i8', 'fortran_order': False, 'shape': (1, 11111, 11111, 11111, "
                   "111111), }",
                   32);
    /* Growth room that does not fit the first 128 bytes. */
    assert_written("[('row', '<i4'), ('col', '<i4'), ('x', '|u1')]", shape, 1, 0, v1_192, 10,
                   "{'descr': [('row', '<i4'), ('col', '<i4'), ('x', '|u1')], 'fortran_order': "
                   "False, 'shape': (22,), }",
                   82);
    /* Exactly 21 digits of room: one byte less and one byte more of a name. */
    assert_written("[('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '<f4')]", shape, 1, 0, v1_128, 10,
                   "{'descr': [('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '<f4')], 'fortran_order': "
                   "False, 'shape': (22,), }",
                   20);
    assert_written("[('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '<f4')]", shape, 1, 0, v1_192, 10,
                   "{'descr': [('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '<f4')], 'fortran_order': "
                   "False, 'shape': (22,), }",
                   83);
    /* UTF-8 becomes Latin-1 where it fits, else version 3. */
    assert_written("[('\xc3\xa9', '<f4')]", shape, 0, 0, v1_128, 10,
                   "{'descr': [('\xe9', '<f4')], 'fortran_order': False, 'shape': (), }", 53);
    assert_written("[('\xc4\x80', '<f4')]", shape, 0, 0, v3_128, 12,
                   "{'descr': [('\xc4\x80', '<f4')], 'fortran_order': False, 'shape': (), }", 50);
    assert_written("[('\xe6\xbc\xa2', '<f4')]", shape, 0, 0, v3_128, 12,
                   "{'descr': [('\xe6\xbc\xa2', '<f4')], 'fortran_order': False, 'shape': (), }",
                   49);
}

/* A dictionary that ends at a multiple of 64 gets a whole 64 of padding, as numpy's does. */
static void test_written_alignment(void **state)
{
    char descr[200];

    (void)state;
    for (size_t n = 1; n < 130; n++) {
        struct bytes out = {0};
        struct error err = {0};
        struct npy_header header;
        size_t dictionary;

        snprintf(descr, sizeof descr, "[('%0*d', '<f4')]", (int)n, 7);
        assert_int_equal(npy_header_write(descr, NULL, 0, 0, &out, &err), 0);
        assert_int_equal(out.n_bytes % 64, 0);
        dictionary = strlen("{'descr': , 'fortran_order': False, 'shape': (), }") + strlen(descr);
        assert_true(out.n_bytes - 10 - dictionary - 1 >= 1);
        assert_true(out.n_bytes - 10 - dictionary - 1 <= 64);
        assert_int_equal(npy_header_parse(out.data, out.n_bytes, &header, &err), 0);
        assert_string_equal(header.descr, descr);
        npy_header_release(&header);
        bytes_release(&out);
    }
}

/* 64 KiB is the most that version 1 can hold. */
static void test_written_version_2(void **state)
{
    static char descr[70000];
    static const struct {
        size_t n_name;
        unsigned version;
    } cases[] = {{65395, 1}, {65461, 1}, {65462, 2}, {69000, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes out = {0};
        struct error err = {0};
        size_t prefix = cases[i].version == 1 ? 10 : 12;

        snprintf(descr, sizeof descr, "[('%0*d', '<f4')]", (int)cases[i].n_name, 7);
        assert_int_equal(npy_header_write(descr, NULL, 0, 0, &out, &err), 0);
        assert_int_equal(out.data[6], cases[i].version);
        assert_int_equal(bytes_get_uint(out.data + 8, prefix - 8, false), out.n_bytes - prefix);
        assert_int_equal(out.n_bytes % 64, 0);
        bytes_release(&out);
    }
}

static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* What is written is read again. */
static void test_round_trip(void **state)
{
    static const char *const descrs[] = {"'<f4'", "'|b1'", "'>i8'",
                                         "'<U7'", "'|V2'", "[('a', '<i4'), ('b', '<f8', (2,))]"};
    uint64_t seed = 88172645463325252u;

    (void)state;
    for (int i = 0; i < 2000; i++) {
        const char *descr = descrs[random_next(&seed) % 6];
        const unsigned n_dims = (unsigned)(random_next(&seed) % 9);
        struct bytes out = {0};
        struct error err = {0};
        struct npy_header header;
        uint64_t shape[8];

        for (unsigned k = 0; k < n_dims; k++)
            shape[k] = random_next(&seed) % (k == 0 ? 1000000 : 30);
        assert_int_equal(npy_header_write(descr, shape, n_dims, 0, &out, &err), 0);
        if (npy_header_parse(out.data, out.n_bytes, &header, &err) != 0)
            fail_msg("%s", err.message);
        assert_string_equal(header.descr, descr);
        assert_int_equal(header.n_dims, n_dims);
        assert_memory_equal(header.shape, shape, n_dims * sizeof *shape);
        assert_int_equal(header.header_nbytes, out.n_bytes);
        assert_null(header.oddity);
        npy_header_release(&header);
        bytes_release(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_written_alignment),
        cmocka_unit_test(test_written_version_2),
        cmocka_unit_test(test_round_trip),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
