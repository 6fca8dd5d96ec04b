/* test_pickle_write.c - writing object arrays: exact bytes, parts, and the way back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "pickle_text.h"

static const struct dtype f4 = {.kind = DTYPE_FLOAT, .itemsize = 4};
static const struct dtype big_f8 = {.kind = DTYPE_FLOAT, .itemsize = 8, .big_endian = true};
static const struct dtype i1 = {.kind = DTYPE_INT, .itemsize = 1};

/* A document of items that are all on the caller's side. */
static struct pickle_document document_of(const struct pickle_item *items, uint64_t n_items)
{
    return (struct pickle_document){
        .n_dims = 1, .shape = {n_items}, .n_items = n_items, .items = items};
}

static struct pickle_item array_item(const struct pickle_ndarray *array)
{
    return (struct pickle_item){
        .kind = PICKLE_ARRAY, .n_bytes_or_items = (uint32_t)array->n_bytes, .as.array = array};
}

/* Two float32 arrays, of two elements and of one: 233 bytes where numpy 1.24 writes 285. */
static void test_worked_example(void **state)
{
    static const uint8_t expected[] =
        "\x80\x03"
        "cnumpy.core.multiarray\n_reconstruct\nq\x00"
        "cnumpy\nndarray\nq\x01K\x00\x85"
        "C\x01"
        "bq\x02\x87R(K\x01K\x02\x85"
        "cnumpy\ndtype\nq\x03X\x02\x00\x00\x00O8\x89\x88\x87"
        "Rq\x04(K\x03X\x01\x00\x00\x00|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?tb\x89](h\x00h\x01K"
        "\x00\x85h\x02\x87R(K\x01K\x02\x85h\x03X\x02\x00\x00\x00"
        "f4\x89\x88\x87Rq\x05(K\x03X\x01"
        "\x00\x00\x00<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb\x89"
        "C\x08\x00\x00@?\x00\x00\x80"
        ">tbh\x00h\x01K\x00\x85h\x02\x87R(K\x01K\x01\x85h\x05\x89"
        "C\x04\x00\x00\x80?tbetb.";
    static const uint8_t data[] = {0, 0, 0x40, 0x3f, 0, 0, 0x80, 0x3e, 0, 0, 0x80, 0x3f};
    static const uint64_t two[] = {2}, one[] = {1};
    const struct pickle_ndarray arrays[] = {
        {.dtype = f4, .n_dims = 1, .shape = two, .n_elements = 2, .n_bytes = 8, .data = data},
        {.dtype = f4, .n_dims = 1, .shape = one, .n_elements = 1, .n_bytes = 4, .data = data + 8}};
    const struct pickle_item items[] = {array_item(&arrays[0]), array_item(&arrays[1])};
    const struct pickle_document document = document_of(items, 2);
    struct bytes out = document_pickle(&document);

    (void)state;
    assert_int_equal(sizeof expected - 1, 233);
    assert_int_equal(out.n_bytes, 233);
    assert_memory_equal(out.data, expected, 233);
    bytes_release(&out);
}

static struct pickle_item int_item(int64_t value)
{
    return (struct pickle_item){.kind = PICKLE_INT, .as.integer = value};
}

/* The opcodes of one item, as Python chooses them. */
static void test_items(void **state)
{
    static const struct pickle_item in_list[] = {{.kind = PICKLE_NONE},
                                                 {.kind = PICKLE_INT, .as.integer = 5}};
    static const struct {
        struct pickle_item item;
        const char *expected;
        size_t n_bytes;
    } cases[] = {
#define WRITES(bytes) bytes, sizeof(bytes) - 1
        {{.kind = PICKLE_NONE}, WRITES("N")},
        {{.kind = PICKLE_BOOL, .as.integer = 1}, WRITES("\x88")},
        {{.kind = PICKLE_BOOL, .as.integer = 0}, WRITES("\x89")},
        {{.kind = PICKLE_INT, .as.integer = 0}, WRITES("K\x00")},
        {{.kind = PICKLE_INT, .as.integer = 255}, WRITES("K\xff")},
        {{.kind = PICKLE_INT, .as.integer = 256}, WRITES("M\x00\x01")},
        {{.kind = PICKLE_INT, .as.integer = 65535}, WRITES("M\xff\xff")},
        {{.kind = PICKLE_INT, .as.integer = 65536}, WRITES("J\x00\x00\x01\x00")},
        {{.kind = PICKLE_INT, .as.integer = -1}, WRITES("J\xff\xff\xff\xff")},
        {{.kind = PICKLE_INT, .as.integer = INT32_MIN}, WRITES("J\x00\x00\x00\x80")},
        {{.kind = PICKLE_INT, .as.integer = INT64_C(2147483648)},
         WRITES("\x8a\x05\x00\x00\x00\x80\x00")},
        {{.kind = PICKLE_INT, .as.integer = INT64_C(-2147483649)},
         WRITES("\x8a\x05\xff\xff\xff\x7f\xff")},
        {{.kind = PICKLE_INT, .as.integer = INT64_C(549755813887)},
         WRITES("\x8a\x05\xff\xff\xff\xff\x7f")},
        {{.kind = PICKLE_INT, .as.integer = INT64_C(549755813888)},
         WRITES("\x8a\x06\x00\x00\x00\x00\x80\x00")},
        {{.kind = PICKLE_INT, .as.integer = INT64_MAX},
         WRITES("\x8a\x08\xff\xff\xff\xff\xff\xff\xff\x7f")},
        {{.kind = PICKLE_INT, .as.integer = INT64_MIN},
         WRITES("\x8a\x08\x00\x00\x00\x00\x00\x00\x00\x80")},
        {{.kind = PICKLE_FLOAT, .as.number = -0.5}, WRITES("G\xbf\xe0\x00\x00\x00\x00\x00\x00")},
        {{.kind = PICKLE_STRING, .n_bytes_or_items = 3, .as.bytes = (const uint8_t *)"abc"},
         WRITES("X\x03\x00\x00\x00"
                "abc")},
        {{.kind = PICKLE_STRING}, WRITES("X\x00\x00\x00\x00")},
        {{.kind = PICKLE_LIST}, WRITES("]")},
        {{.kind = PICKLE_LIST, .n_bytes_or_items = 2, .as.items = in_list},
         WRITES("](NK\x05"
                "e")},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct pickle_writer writer;
        struct bytes out = {0};
        struct error err = {0};

        assert_int_equal(pickle_writer_init(&writer, &(const uint64_t){3}, 1, &err), 0);
        assert_int_equal(pickle_write_item(&writer, 1, &cases[i].item, &out, &err), 0);
        if (out.n_bytes != cases[i].n_bytes ||
            memcmp(out.data, cases[i].expected, out.n_bytes) != 0)
            fail_msg("case %zu", i);
        bytes_release(&out);
    }
}

static void append(struct bytes *b, const char *bytes, size_t n_bytes)
{
    struct error err = {0};

    assert_int_equal(bytes_append(b, bytes, n_bytes, &err), 0);
}

/* MARK and APPENDS around every 1000 items, and nothing around none. */
static void test_batches(void **state)
{
    static const size_t counts[] = {0, 1, 999, 1000, 1001, 2000, 2001};
    struct pickle_item *items = calloc(2001, sizeof *items);

    (void)state;
    assert_non_null(items);
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint64_t shape = counts[i];
        struct bytes out = {0}, expected = {0};
        struct pickle_writer writer;
        struct error err = {0};

        for (size_t k = 0; k < counts[i]; k++) {
            if (k % 1000 == 0)
                append(&expected, k > 0 ? "e(" : "(", k > 0 ? 2 : 1);
            append(&expected, "N", 1);
        }
        if (counts[i] > 0)
            append(&expected, "etb.", 4);
        assert_int_equal(pickle_writer_init(&writer, &shape, 1, &err), 0);
        for (size_t k = 0; k < counts[i]; k++)
            assert_int_equal(pickle_write_item(&writer, k, &items[k], &out, &err), 0);
        assert_int_equal(out.n_bytes, expected.n_bytes);
        if (out.n_bytes > 0)
            assert_memory_equal(out.data, expected.data, out.n_bytes);
        bytes_release(&out);
        bytes_release(&expected);
    }
    free(items);
}

#define N_RANDOM 2600

/* Items of every kind, with what they refer to. */
struct random_items {
    struct pickle_item items[N_RANDOM];
    struct pickle_item lists[N_RANDOM][3];
    struct pickle_ndarray arrays[N_RANDOM];
    uint64_t shapes[N_RANDOM][PICKLE_MAX_DIMS];
    uint8_t data[4096];
};

static const char *const numbers[] = {"|b1", "|i1", "|u1", "<i2", ">i2", "<i4", ">i4",
                                      "<i8", ">i8", "<u2", ">u2", "<u4", ">u4", "<u8",
                                      ">u8", "<f2", ">f2", "<f4", ">f4", "<f8", ">f8"};

static void fill_array(struct random_items *random, size_t i, uint64_t *seed)
{
    struct pickle_ndarray *array = &random->arrays[i];
    const char *descr = numbers[random_next(seed) % (sizeof numbers / sizeof *numbers)];
    struct error err = {0};

    assert_int_equal(dtype_parse(descr, strlen(descr), &array->dtype, &err), 0);
    array->fortran_order = random_next(seed) % 5 == 0;
    array->n_dims = (uint8_t)(random_next(seed) % (PICKLE_MAX_DIMS + 1));
    array->n_elements = 1;
    for (unsigned k = 0; k < array->n_dims; k++) {
        random->shapes[i][k] = k < 2 ? random_next(seed) % 15 : 1;
        array->n_elements *= random->shapes[i][k];
    }
    array->shape = random->shapes[i];
    array->n_bytes = array->n_elements * array->dtype.itemsize;
    array->data = random->data + random_next(seed) % 1000;
    random->items[i] = array_item(array);
}

static void fill_item(struct random_items *random, size_t i, uint64_t *seed)
{
    struct pickle_item *item = &random->items[i];

    switch (random_next(seed) % 8) {
    case 0:
        item->kind = PICKLE_BOOL;
        item->as.integer = (int64_t)(random_next(seed) % 2);
        break;
    case 1:
        *item = int_item((int64_t)random_next(seed) >> random_next(seed) % 64);
        break;
    case 2:
        item->kind = PICKLE_FLOAT;
        item->as.number = (double)random_next(seed) / 3;
        break;
    case 3:
        item->kind = PICKLE_STRING;
        item->n_bytes_or_items = (uint32_t)(random_next(seed) % 26);
        item->as.bytes = (const uint8_t *)"abcdefghijklmnopqrstuvwxyz";
        break;
    case 4:
        item->kind = PICKLE_LIST;
        item->n_bytes_or_items = (uint32_t)(random_next(seed) % 4);
        item->as.items = random->lists[i];
        for (int k = 0; k < 3; k++)
            random->lists[i][k] = int_item((int64_t)(random_next(seed) % 100000));
        break;
    case 5: /* None */
        break;
    default:
        fill_array(random, i, seed);
    }
}

static struct random_items *random_items_new(uint64_t seed)
{
    struct random_items *random = calloc(1, sizeof *random);

    assert_non_null(random);
    for (size_t i = 0; i < sizeof random->data; i++)
        random->data[i] = (uint8_t)random_next(&seed);
    for (size_t i = 0; i < N_RANDOM; i++)
        fill_item(random, i, &seed);
    return random;
}

/* How often a needle occurs. */
static size_t count(const struct bytes *bytes, const char *needle, size_t n)
{
    size_t found = 0;

    for (size_t i = 0; i + n <= bytes->n_bytes; i++)
        found += memcmp(bytes->data + i, needle, n) == 0;
    return found;
}

/* What is written is read again; each dtype is declared once. */
static void test_round_trip(void **state)
{
    struct random_items *random = random_items_new(521288629);
    const struct pickle_document document = document_of(random->items, N_RANDOM);
    struct bytes out = document_pickle(&document);
    struct pickle_document again;
    struct error err = {0};
    char *before, *after;

    (void)state;
    if (pickle_read(out.data, out.n_bytes, &pickle_default_limits, &again, &err) != 0)
        fail_msg("%s", err.message);
    before = document_text(&document);
    after = document_text(&again);
    assert_string_equal(before, after);
    assert_int_equal(count(&out, "\x89\x88\x87Rq", 5), 1 + sizeof numbers / sizeof *numbers);
    assert_int_equal(count(&out, "numpy\n", 6), 2);
    free(before);
    free(after);
    pickle_release(&again);
    bytes_release(&out);
    free(random);
}

/* The same bytes in whatever order dtypes are noted. */
static void test_notes(void **state)
{
    struct random_items *random = random_items_new(123456789);
    const struct pickle_document document = document_of(random->items, N_RANDOM);
    struct bytes whole = document_pickle(&document);

    (void)state;
    for (int round = 0; round < 20; round++) {
        struct pickle_writer writer;
        struct bytes out = {0};
        struct error err = {0};

        assert_int_equal(pickle_writer_init(&writer, document.shape, 1, &err), 0);
        for (size_t i = 0; i < N_RANDOM; i++) { /* 1399 has no common factor with N_RANDOM */
            const uint64_t k = round % 2 == 0 ? N_RANDOM - 1 - i : i * 1399 % N_RANDOM;

            assert_int_equal(pickle_writer_note(&writer, k, &random->items[k], &err), 0);
        }
        assert_int_equal(pickle_write_prelude(&writer, &out, &err), 0);
        for (size_t i = 0; i < N_RANDOM; i++)
            assert_int_equal(pickle_write_item(&writer, i, &random->items[i], &out, &err), 0);
        assert_int_equal(out.n_bytes, whole.n_bytes);
        assert_memory_equal(out.data, whole.data, out.n_bytes);
        bytes_release(&out);
    }
    bytes_release(&whole);
    free(random);
}

/* Array data from 256 bytes up has a four-byte length. */
static void test_data_lengths(void **state)
{
    static const uint8_t data[300];
    static const struct {
        uint64_t n;
        const char *opcode;
        size_t n_opcode;
    } cases[] = {{255,
                  "\x89"
                  "C\xff",
                  3},
                 {256,
                  "\x89"
                  "B\x00\x01\x00\x00",
                  6}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct pickle_ndarray array = {.dtype = i1,
                                             .n_dims = 1,
                                             .shape = &cases[i].n,
                                             .n_elements = cases[i].n,
                                             .n_bytes = cases[i].n,
                                             .data = data};
        const struct pickle_item item = array_item(&array);
        const struct pickle_document document = document_of(&item, 1);
        struct bytes out = document_pickle(&document);

        assert_int_equal(count(&out, cases[i].opcode, cases[i].n_opcode), 1);
        bytes_release(&out);
    }
}

static void test_refused(void **state)
{
    static const struct dtype text = {.kind = DTYPE_UNICODE, .itemsize = 4};
    static const uint64_t shape[33] = {4};
    const struct pickle_ndarray huge = {
        .dtype = f4, .n_dims = 1, .shape = shape, .n_bytes = UINT64_C(1) << 32};
    const struct pickle_ndarray deep = {.dtype = f4, .n_dims = 9, .shape = shape};
    const struct pickle_ndarray other = {.dtype = big_f8, .n_dims = 1, .shape = shape};
    const struct pickle_ndarray strings = {.dtype = text, .n_dims = 1, .shape = shape};
    struct pickle_item item = array_item(&other);
    const struct pickle_item list = {.kind = PICKLE_LIST, .n_bytes_or_items = 1, .as.items = &item};
    static const uint64_t too_large[] = {UINT64_C(1) << 40, UINT64_C(1) << 40};
    static const uint64_t too_long[] = {UINT64_C(1) << 63};
    struct pickle_writer writer;
    struct bytes out = {0};
    struct error err = {0};

    (void)state;
#define REFUSED(call, error_kind)               \
    do {                                        \
        err = (struct error){0};                \
        assert_int_equal(call, -1);             \
        assert_int_equal(err.kind, error_kind); \
    } while (0)
    REFUSED(pickle_writer_init(&writer, shape, 9, &err), ERROR_DATA);
    REFUSED(pickle_writer_init(&writer, too_large, 2, &err), ERROR_DATA);
    REFUSED(pickle_writer_init(&writer, too_long, 1, &err), ERROR_DATA);
    err = (struct error){0};
    assert_int_equal(pickle_writer_init(&writer, shape, 1, &err), 0);
    assert_int_equal(pickle_writer_note(&writer, 3, &item, &err), 0);
    REFUSED(pickle_write_item(&writer, 2, &item, &out, &err), ERROR_INTERNAL);
    REFUSED(pickle_write_item(&writer, 4, &item, &out, &err), ERROR_INTERNAL);
    REFUSED(pickle_write_item(&writer, 1, &list, &out, &err), ERROR_INTERNAL);
    item = array_item(&huge);
    REFUSED(pickle_write_item(&writer, 3, &item, &out, &err), ERROR_DATA);
    item = array_item(&deep);
    REFUSED(pickle_write_item(&writer, 3, &item, &out, &err), ERROR_DATA);
    item = array_item(&strings);
    REFUSED(pickle_writer_note(&writer, 0, &item, &err), ERROR_DATA);
    bytes_release(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_worked_example), cmocka_unit_test(test_items),
        cmocka_unit_test(test_batches),        cmocka_unit_test(test_round_trip),
        cmocka_unit_test(test_notes),          cmocka_unit_test(test_data_lengths),
        cmocka_unit_test(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
