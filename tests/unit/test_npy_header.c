/* test_npy_header.c - .npy headers: what is read and what is refused. */
#include "npy/header.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

/* A whole array: magic, version, length field, dictionary. Exactly as large as its contents, so
 * that AddressSanitizer sees every byte too many that is read. */
struct image {
    uint8_t *bytes;
    size_t n_bytes;
};

static struct image image_of(unsigned version, const char *dictionary, size_t n)
{
    const size_t prefix = version == 1 ? 10 : 12;
    struct image image = {malloc(prefix + n), prefix + n};

    assert_non_null(image.bytes);
    memcpy(image.bytes, "\x93NUMPY", 6);
    image.bytes[6] = (uint8_t)version;
    image.bytes[7] = 0;
    bytes_put_le(image.bytes + 8, n, prefix - 8);
    memcpy(image.bytes + prefix, dictionary, n);
    return image;
}

static int parse(unsigned version, const char *dictionary, struct npy_header *header,
                 struct error *err)
{
    struct image image = image_of(version, dictionary, strlen(dictionary));
    int result = npy_header_parse(image.bytes, image.n_bytes, header, err);

    free(image.bytes);
    return result;
}

#define HEAD  "{'descr': '<f4', 'fortran_order': False, 'shape': "
#define PLAIN HEAD "(2, 3), }  \n"

static void test_accepted(void **state)
{
    static const struct {
        unsigned version;
        const char *dictionary;
        const char *descr;
        const char *name;
        bool fortran_order;
        unsigned n_dims;
        uint64_t shape[4];
        uint64_t n_elements, data_nbytes;
        const char *oddity; /* a part of it, or NULL */
    } cases[] = {
        {1, PLAIN, "'<f4'", "<f4", false, 2, {2, 3}, 6, 24, NULL},
        {2, PLAIN, "'<f4'", "<f4", false, 2, {2, 3}, 6, 24, NULL},
        {3, PLAIN, "'<f4'", "<f4", false, 2, {2, 3}, 6, 24, NULL},
        {1, HEAD "()}\n", "'<f4'", "<f4", false, 0, {0}, 1, 4, NULL},
        {1, HEAD "(7,)}\n", "'<f4'", "<f4", false, 1, {7}, 7, 28, NULL},
        {1, HEAD "(7 , 1,)}\n", "'<f4'", "<f4", false, 2, {7, 1}, 7, 28, NULL},
        {1, HEAD "(6L, 4L)}\n", "'<f4'", "<f4", false, 2, {6, 4}, 24, 96, NULL},
        {1, HEAD "(0, 5)}\n", "'<f4'", "<f4", false, 2, {0, 5}, 0, 0, NULL},
        {1,
         HEAD "(2305843009213693951,)}\n",
         "'<f4'",
         "<f4",
         false,
         1,
         {2305843009213693951u},
         2305843009213693951u,
         9223372036854775804u,
         NULL},
        {1,
         "{\"shape\":(2,),\"fortran_order\":True,\"descr\":\">i8\"}\n",
         "\">i8\"",
         ">i8",
         true,
         1,
         {2},
         2,
         16,
         NULL},
        {1,
         "{ 'descr' :\t'<f4' ,\n 'fortran_order' : False , 'shape' : ( 2 , ) }\n",
         "'<f4'",
         "<f4",
         false,
         1,
         {2},
         2,
         8,
         NULL},
        {1,
         "{'descr': 'f4', 'fortran_order': False, 'shape': (2,)}\n",
         "'f4'",
         "<f4",
         false,
         1,
         {2},
         2,
         8,
         NULL},
        {1,
         "{'descr': '|O', 'fortran_order': False, 'shape': (2,)}\n",
         "'|O'",
         "|O",
         false,
         1,
         {2},
         2,
         0,
         NULL},
        {1,
         "{'descr': '|f4', 'fortran_order': False, 'shape': (2,)}\n",
         "'|f4'",
         "<f4",
         false,
         1,
         {2},
         2,
         8,
         "byte order '|'"},
        {1,
         "{'descr': '=f4', 'fortran_order': False, 'shape': (2,)}\n",
         "'=f4'",
         "<f4",
         false,
         1,
         {2},
         2,
         8,
         "byte order '='"},
        {1,
         "{'descr': '<M8[ms]', 'fortran_order': False, 'shape': (2,)}\n",
         "'<M8[ms]'",
         "<M8[ms]",
         false,
         1,
         {2},
         2,
         16,
         NULL},
        {1, HEAD "(2,)}", "'<f4'", "<f4", false, 1, {2}, 2, 8, "newline"},
        {1, HEAD "(2,)}   ", "'<f4'", "<f4", false, 1, {2}, 2, 8, "newline"},
        {1,
         "{'descr': [('a', '<i4'), ('b', '|u1', (2, 3))], 'fortran_order': False, "
         "'shape': (2,)}\n",
         "[('a', '<i4'), ('b', '|u1', (2, 3))]",
         "structured(10 bytes)",
         false,
         1,
         {2},
         2,
         20,
         NULL},
        {1,
         "{'descr': [(('title', 'a'), '<f8', 3), ('', '|V4'), ('', '|V4'), "
         "('s', [('x', '<U2')], (2L,)), ('t', ('<i2', (2,)))], 'fortran_order': False, "
         "'shape': ()}\n",
         "[(('title', 'a'), '<f8', 3), ('', '|V4'), ('', '|V4'), ('s', [('x', '<U2')], (2L,)), "
         "('t', ('<i2', (2,)))]",
         "structured(52 bytes)",
         false,
         0,
         {0},
         1,
         52,
         NULL},
        {1,
         "{'descr': [('\xe9', '<i4')], 'fortran_order': False, 'shape': ()}\n",
         "[('\xc3\xa9', '<i4')]",
         "structured(4 bytes)",
         false,
         0,
         {0},
         1,
         4,
         NULL},
        {3,
         "{'descr': [('\xe6\xbc\xa2', '<i4')], 'fortran_order': False, 'shape': ()}\n",
         "[('\xe6\xbc\xa2', '<i4')]",
         "structured(4 bytes)",
         false,
         0,
         {0},
         1,
         4,
         NULL},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct npy_header header;

        if (parse(cases[i].version, cases[i].dictionary, &header, &err) != 0)
            fail_msg("case %zu refused: %s", i, err.message);
        assert_string_equal(dtype_name(&header.dtype).text, cases[i].name);
        assert_string_equal(header.descr, cases[i].descr);
        assert_int_equal(header.version, cases[i].version);
        assert_int_equal(header.fortran_order, cases[i].fortran_order);
        assert_int_equal(header.n_dims, cases[i].n_dims);
        for (unsigned k = 0; k < header.n_dims; k++)
            assert_int_equal(header.shape[k], cases[i].shape[k]);
        assert_int_equal(header.n_elements, cases[i].n_elements);
        assert_int_equal(header.data_nbytes, cases[i].data_nbytes);
        assert_int_equal(header.header_nbytes,
                         (cases[i].version == 1 ? 10 : 12) + strlen(cases[i].dictionary));
        assert_int_equal(header.oddity != NULL, cases[i].oddity != NULL);
        if (cases[i].oddity != NULL)
            assert_non_null(strstr(header.oddity, cases[i].oddity));
        npy_header_release(&header);
        assert_null(header.descr);
    }
}

static void test_refused(void **state)
{
    static const struct {
        unsigned version;
        const char *dictionary;
        const char *message; /* a part of it */
    } cases[] = {
        {1, "", "'{' at the start"},
        {1, "{}\n", "no key 'descr'"},
        {1, "{'descr': '<f4', 'shape': (2,)}\n", "no key 'fortran_order'"},
        {1, "{'descr': '<f4', 'fortran_order': False}\n", "no key 'shape'"},
        {1, HEAD "(2,), 'x': 1}\n", "unknown key 'x'"},
        {1, HEAD "(2,), 'shape': (2,)}\n", "key 'shape' twice"},
        {1, HEAD "(2,) 'x': 1}\n", "',' or '}'"},
        {1, HEAD "(2,),, }\n", "a string is expected"},
        {1, "{'descr': '<f4', 'fortran_order': 1==2, 'shape': (2,)}\n", "True or False"},
        {1, "{'descr': '<f4', 'fortran_order': 0, 'shape': (2,)}\n", "True or False"},
        {1, "{'descr': '<f4', 'fortran_order': Falsey, 'shape': (2,)}\n", "True or False"},
        {1, HEAD "(np.int64(6),)}\n", "a whole number is expected"},
        {1, HEAD "1944}\n", "a tuple"},
        {1, HEAD "[2, 3]}\n", "a tuple"},
        {1, HEAD "(7)}\n", "not a tuple"},
        {1, HEAD "(,)}\n", "a whole number is expected"},
        {1, HEAD "(6,4,9,,9)}\n", "a whole number is expected"},
        {1, HEAD "(6 4)}\n", "',' or ')'"},
        {1, HEAD "(6, 4\n", "',' or ')'"},
        {1, HEAD "(-1,4)}\n", "negative dimension"},
        {1, HEAD "(+1,4)}\n", "signed dimension"},
        {1, HEAD "(0009,4)}\n", "leading zero"},
        {1, HEAD "(00,4)}\n", "leading zero"},
        {1, HEAD "(0x9,4)}\n", "end of a decimal number"},
        {1, HEAD "(1_0,4)}\n", "end of a decimal number"},
        {1, HEAD "(1.0,4)}\n", "end of a decimal number"},
        {1, HEAD "(6 L,4)}\n", "',' or ')'"},
        {1, HEAD "(6LL,4)}\n", "end of a decimal number"},
        {3, HEAD "(6L,4)}\n", "end of a decimal number"},
        {1, HEAD "(18446744073709551616,)}\n", "does not fit 64 bits"},
        {1, HEAD "(9223372036854775808,)}\n", "too large"},
        {1, HEAD "(2305843009213693952,)}\n", "too large"},
        {1, HEAD "(4294967296,4294967296)}\n", "too large"},
        {1, HEAD "(0,9223372036854775807,9,9)}\n", "too large"},
        {1, HEAD "(1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1)}\n",
         "more than 32 dimensions"},
        {1, HEAD "(2,), } xyz\n", "after its dictionary"},
        {1, HEAD "(2,), }{}\n", "after its dictionary"},
        {1, HEAD "(2,), } # hi\n", "after its dictionary"},
        {1, HEAD "(2,), }\n\n", "after its dictionary"},
        {1, HEAD "(2,), }\n ", "after its dictionary"},
        {1, "{'descr': '<f4\n", "unterminated string"},
        {1, "{'descr': '<f4", "unterminated string"},
        {1, "{'descr': '\\x3cf4', 'fortran_order': False, 'shape': (2,)}\n", "escape sequence"},
        {1, "{'descr': u'<f4', 'fortran_order': False, 'shape': (2,)}\n", "the descr"},
        {1, "{'descr': 4, 'fortran_order': False, 'shape': (2,)}\n", "the descr"},
        {1, "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (2,)}\n", "the descr"},
        {1, "{'descr': '<i5', 'fortran_order': False, 'shape': (2,)}\n", "item size 5"},
        {3, "{'descr': '<f4\xff', 'fortran_order': False, 'shape': (2,)}\n", "not UTF-8"},
        {1, "{'descr': [], 'fortran_order': False, 'shape': ()}\n", "without data"},
        {1, "{'descr': [('a', '<i4'), ('a', '<f4')], 'fortran_order': False, 'shape': ()}\n",
         "two fields are named 'a'"},
        {1, "{'descr': [(('a', 'a'), '<i4')], 'fortran_order': False, 'shape': ()}\n",
         "two fields are named 'a'"},
        {1, "{'descr': [('a', '|O')], 'fortran_order': False, 'shape': ()}\n", "objects"},
        {1, "{'descr': [('a', '<i4', -1)], 'fortran_order': False, 'shape': ()}\n", "negative"},
        {1, "{'descr': [('a', '<i4', 4294967296)], 'fortran_order': False, 'shape': ()}\n",
         "too large"},
        {1,
         "{'descr': [('a', '<i8', (4294967296, 4294967296))], 'fortran_order': False, "
         "'shape': ()}\n",
         "too large"},
        {1, "{'descr': [('a',)], 'fortran_order': False, 'shape': ()}\n", "a string"},
        {1, "{'descr': [('a', '<i4') ('b', '<i4')], 'fortran_order': False, 'shape': ()}\n",
         "list of fields"},
        {1,
         "{'descr': [('a', [('a', [('a', [('a', [('a', '<i4')])])])])], "
         "'fortran_order': False, 'shape': ()}\n",
         "nested too deeply"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct npy_header header;

        if (parse(cases[i].version, cases[i].dictionary, &header, &err) == 0)
            fail_msg("case %zu accepted: %s", i, cases[i].dictionary);
        assert_int_equal(err.kind, ERROR_DATA);
        if (strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %zu: message is '%s'", i, err.message);
        assert_null(header.descr);
    }
}

static void test_nul_padding(void **state)
{
    static const char dictionary[] = HEAD "(2,)}\0\0\0\n";
    struct image image = image_of(1, dictionary, sizeof dictionary - 1);
    struct npy_header header;
    struct error err = {0};

    (void)state;
    assert_int_equal(npy_header_parse(image.bytes, image.n_bytes, &header, &err), -1);
    assert_non_null(strstr(err.message, "after its dictionary"));
    free(image.bytes);
}

static void test_length(void **state)
{
    static const struct {
        const char *bytes;
        size_t n_bytes;
        size_t length;       /* 0: refused */
        const char *message; /* a part of it */
    } cases[] = {
        {"\x93NUMPY\x01\x00\x76\x00{'", 12, 128, NULL},
        {"\x93NUMPY\x02\x00\x74\x00\x00\x00", 12, 128, NULL},
        {"\x93NUMPY\x03\x00\x74\x00\x00\x00", 12, 128, NULL},
        {"\x93NUMPY\x01\x00\x10\x27", 10, 10010, NULL},
        {"\x93NUMPY\x01\x00\x11\x27{'", 12, 0, "header of 10001 bytes"},
        {"\x93NUMPY\x02\x00\xf0\xff\xff\xff", 12, 0, "header of 4294967280 bytes"},
        {"\x93NUMPY\x02\x00\x10\x27\x00\x00", 12, 10012, NULL},
        {"", 0, 0, "empty"},
        {"\x93NUMPY", 6, 0, "ends inside"},
        {"\x93NUMPY\x01\x00v", 9, 0, "ends inside"},
        {"\x93NUMPY\x02\x00v\x00", 10, 0, "ends inside"},
        {"\x93NUM", 4, 0, "ends inside"},
        {"PK\x03\x04", 4, 0, "not a .npy array"},
        {"\x00NUMPY\x01\x00v\x00{'", 12, 0, "not a .npy array"},
        {"\x93NUMPY\x00\x01v\x00{'", 12, 0, "version 0.1"},
        {"\x93NUMPY\x02\x02v\x00{'", 12, 0, "version 2.2"},
        {"\x93NUMPY\xff\xffv\x00{'", 12, 0, "version 255.255"},
        {"\x93NUMPY\x04\x00v\x00{'", 12, 0, "version 4.0"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint8_t *bytes = (const uint8_t *)cases[i].bytes;
        struct error err = {0};
        size_t length = 0;
        int result = npy_header_length(bytes, cases[i].n_bytes, &length, &err);

        assert_int_equal(result, cases[i].length == 0 ? -1 : 0);
        assert_int_equal(length, cases[i].length);
        if (result != 0 && strstr(err.message, cases[i].message) == NULL)
            fail_msg("case %zu: message is '%s'", i, err.message);
    }
}

/* Every beginning of a good header is refused, and nothing behind it is read. */
static void test_truncated(void **state)
{
    struct image whole = image_of(2, PLAIN, sizeof PLAIN - 1);

    (void)state;
    for (size_t n = 0; n < whole.n_bytes; n++) {
        uint8_t *part = malloc(n > 0 ? n : 1);
        struct npy_header header;
        struct error err = {0};

        assert_non_null(part);
        memcpy(part, whole.bytes, n);
        assert_int_equal(npy_header_parse(part, n, &header, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        free(part);
    }
    free(whole.bytes);
}

static uint64_t random_next(uint64_t *seed)
{
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    return *seed;
}

/* Random damage never crashes; what is still accepted is consistent. */
static void test_mutations(void **state)
{
    static const char *const seeds[] = {
        PLAIN, "{'descr': [('a', '<i4'), (('t', 'b'), [('c', '|S3', (2,))], 3)], "
               "'fortran_order': True, 'shape': (12L, 0)}   \n"};
    static const char tokens[] = "()[]{},:'\"\\ \n\tL0129-+xFT<>|#_.\xc3\xa9\xff";
    uint64_t seed = 362436069;
    unsigned n_accepted = 0;

    (void)state;
    for (int i = 0; i < 40000; i++) {
        const char *source = seeds[i % 2];
        struct image image = image_of(1 + (unsigned)(i / 2 % 3), source, strlen(source));
        const size_t prefix = image.bytes[6] == 1 ? 10 : 12;
        struct npy_header header;
        struct error err = {0};

        for (uint64_t n = 1 + random_next(&seed) % 3; n > 0; n--)
            image.bytes[prefix + random_next(&seed) % (image.n_bytes - prefix)] =
                (uint8_t)tokens[random_next(&seed) % (sizeof tokens - 1)];
        if (npy_header_parse(image.bytes, image.n_bytes, &header, &err) == 0) {
            n_accepted++;
            assert_int_equal(header.data_nbytes, header.n_elements * header.dtype.itemsize);
            npy_header_release(&header);
        } else {
            assert_int_equal(err.kind, ERROR_DATA);
        }
        free(image.bytes);
    }
    assert_true(n_accepted > 400);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_accepted),    cmocka_unit_test(test_refused),
        cmocka_unit_test(test_nul_padding), cmocka_unit_test(test_length),
        cmocka_unit_test(test_truncated),   cmocka_unit_test(test_mutations),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
