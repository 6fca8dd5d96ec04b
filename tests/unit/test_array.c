/* test_array.c - single values and object arrays. */
#include "npz_maker.h"

#include "shard/archive_in.h"
#include "shard/array.h"

/* A .npy file of one value, with these bytes of data. */
static void put_scalar(const char *descr, const void *data, size_t n_bytes)
{
    const uint64_t shape = 0;
    struct bytes npy = {0};
    struct error err = {0};

    assert_int_equal(npy_header_write(descr, &shape, 0, 0, &npy, &err), 0);
    assert_int_equal(bytes_append(&npy, data, n_bytes, &err), 0);
    put_bytes(scratch("s.npy"), npy.data, npy.n_bytes);
    bytes_release(&npy);
}

static void test_scalars(void **state)
{
    static const struct {
        const char *descr;
        const char *data;
        size_t n_bytes;
        const char *text; /* NULL: no string */
        bool is_int;
        int64_t integer;
    } cases[] = {
        {"'<U2'", FILE_OF("h\0\0\0\xe9\0\0\0"), "h\xc3\xa9", false, 0},
        {"'>U2'", FILE_OF("\0\0\0h\0\0\0\xe9"), "h\xc3\xa9", false, 0},
        {"'<U3'", FILE_OF("h\0\0\0\0\0\0\0\0\0\0\0"), "h", false, 0},
        {"'<U1'", FILE_OF("\0\0\0\0"), "", false, 0},
        {"'<U2'", FILE_OF("\0\0\0\0h\0\0\0"), NULL, false, 0},
        {"'<U1'", FILE_OF("\0\xd8\0\0"), NULL, false, 0},
        {"'<U1'", FILE_OF("\0\0\x11\0"), NULL, false, 0},
        {"'<U1'", FILE_OF("\x00\xf6\x01\0"), "\xf0\x9f\x98\x80", false, 0},
        {"'<U8'", FILE_OF("h\0\0\0e\0\0\0x\0\0\0a\0\0\0g\0\0\0o\0\0\0n\0\0\0s\0\0\0"), NULL, false,
         0},
        {"'|S4'", FILE_OF("hex8"), "hex8", false, 0},
        {"'|S4'", FILE_OF("ab\0\0"), "ab", false, 0},
        {"'|S4'", FILE_OF("a\0b\0"), NULL, false, 0},
        {"'|S1'", FILE_OF("\xe9"), NULL, false, 0},
        {"'|S8'", FILE_OF("hexagons"), NULL, false, 0},
        {"'<i8'", FILE_OF("\xfe\xff\xff\xff\xff\xff\xff\xff"), NULL, true, -2},
        {"'>i4'", FILE_OF("\0\0\1\2"), NULL, true, 258},
        {"'|u1'", FILE_OF("\xff"), NULL, true, 255},
        {"'<f4'", FILE_OF("\0\0\0\0"), NULL, false, 0},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct archive_in archive;
        struct error err = {0};
        char text[8] = "before";
        int64_t integer = 77;

        put_scalar(cases[i].descr, cases[i].data, cases[i].n_bytes);
        assert_int_equal(archive_in_open(&archive, scratch("s.npy"), true, &err), 0);
        if (array_read_string(&archive.arrays[0], text, sizeof text) !=
                (cases[i].text == NULL ? -1 : 0) ||
            strcmp(text, cases[i].text == NULL ? "" : cases[i].text) != 0)
            fail_msg("case %zu: '%s'", i, text);
        assert_int_equal(array_read_int(&archive.arrays[0], &integer), cases[i].is_int ? 0 : -1);
        assert_int_equal(integer, cases[i].is_int ? cases[i].integer : 77);
        archive_in_close(&archive);
    }
    {
        struct made_array made = {.descr = "'<i4'", .n_dims = 1, .shape = {1}, .item_nbytes = 4};
        struct archive_in archive;
        struct error err = {0};
        int64_t integer;
        char text[8];

        make_npy_file(scratch("s.npy"), &made);
        assert_int_equal(archive_in_open(&archive, scratch("s.npy"), true, &err), 0);
        assert_int_equal(array_read_int(&archive.arrays[0], &integer), -1);
        assert_int_equal(array_read_string(&archive.arrays[0], text, sizeof text), -1);
        archive_in_close(&archive);
    }
}

/* Object arrays are loaded once; other ones never. */
static void test_objects(void **state)
{
    struct archive_in archive;
    struct error err = {0};
    struct array *array;

    (void)state;
    assert_int_equal(archive_in_open(&archive, "tests/data/bad/p_ok_np1_p4.npz", true, &err), 0);
    array = archive_in_find(&archive, "policy_indices");
    assert_non_null(array);
    assert_int_equal(array->row_nbytes, 0);
    array->crc ^= 1;
    assert_int_equal(array_load_objects(array, &err), -1);
    assert_non_null(strstr(err.message, "policy_indices.npy: expected CRC "));
    assert_null(array->objects);
    array->crc ^= 1;
    err = (struct error){0};
    assert_int_equal(array_load_objects(array, &err), 0);
    assert_non_null(array->objects);
    assert_int_equal(array->objects->n_items, array->n_rows);
    assert_int_equal(array->objects->items[0].kind, PICKLE_ARRAY);
    assert_int_equal(array_load_objects(array, &err), 0);
    assert_int_equal(array_load_objects(archive_in_find(&archive, "features"), &err), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    archive_in_close(&archive);
}

/* Gigabytes that are no pickle are not read to find that out. */
static void test_huge_object_file(void **state)
{
    const uint64_t shape = 1000;
    struct bytes npy = {0};
    struct archive_in archive;
    struct error err = {0};

    (void)state;
    assert_int_equal(npy_header_write("'|O'", &shape, 1, 0, &npy, &err), 0);
    put_bytes(scratch("o.npy"), npy.data, npy.n_bytes);
    bytes_release(&npy);
    assert_int_equal(truncate(scratch("o.npy"), (off_t)5 << 30), 0);
    assert_int_equal(archive_in_open(&archive, scratch("o.npy"), false, &err), 0);
    assert_int_equal(array_load_objects(&archive.arrays[0], &err), -1);
    assert_non_null(strstr(err.message, "o.npy: expected a pickle of protocol 2 or later"));
    archive_in_close(&archive);
}

/* Header and pickle must agree about the shape, not about the number of items alone. */
static void test_object_shapes(void **state)
{
    struct archive_in archive;
    struct error err = {0};
    struct array *array;
    uint8_t *bytes, *at;

    (void)state;
    assert_int_equal(archive_in_open(&archive, "tests/data/bad/p_equal_len_trap.npz", true, &err),
                     0);
    array = archive_in_find(&archive, "policy_indices");
    assert_non_null(array);
    assert_int_equal(array_load_objects(array, &err), 0);
    bytes = malloc((size_t)array->unpacked_nbytes);
    assert_non_null(bytes);
    assert_int_equal(array_read_all(array, bytes, &err), 0);
    at = memmem(bytes, array->header.header_nbytes, "(4, 3)", 6);
    assert_non_null(at);
    memcpy(at, "(3, 4)", 6);
    put_bytes(scratch("o.npy"), bytes, (size_t)array->unpacked_nbytes);
    free(bytes);
    archive_in_close(&archive);
    assert_int_equal(archive_in_open(&archive, scratch("o.npy"), true, &err), 0);
    assert_int_equal(array_load_objects(&archive.arrays[0], &err), -1);
    assert_non_null(strstr(err.message, "of shape (3, 4), as in the header, found (4, 3)"));
    archive_in_close(&archive);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_SCRATCH(test_scalars),
        cmocka_unit_test(test_objects),
        IN_SCRATCH(test_huge_object_file),
        IN_SCRATCH(test_object_shapes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
