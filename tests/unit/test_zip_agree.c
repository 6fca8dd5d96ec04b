/* test_zip_agree.c - libzip's opinion of a directory: where it differs, the archive is refused. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "codec/codec.h"
#include "npz_maker.h"
#include "zip/parts.h"

static const struct made_array arrays[] = {
    {.name = "a.npy", .descr = "'<f4'", .n_dims = 1, .shape = {90}, .item_nbytes = 4},
    {.name = "b.npy", .descr = "'<i8'", .n_dims = 1, .shape = {90}, .item_nbytes = 8, .salt = 1},
};

enum field { FIELD_NONE, FIELD_NAME, FIELD_SIZE, FIELD_PACKED, FIELD_CRC, FIELD_METHOD, FIELD_N };

static void belie(struct zip_directory *directory, enum field field)
{
    struct zip_entry *entry = &directory->entries[1];

    entry->name = field == FIELD_NAME ? "c.npy" : entry->name;
    entry->unpacked_nbytes += field == FIELD_SIZE;
    entry->packed_nbytes += field == FIELD_PACKED;
    entry->crc ^= field == FIELD_CRC;
    entry->method = field == FIELD_METHOD ? CODEC_ZIP_DEFLATE : entry->method;
    directory->n_entries -= field == FIELD_N;
}

static void test_differences(void **state)
{
    static const struct {
        enum field field;
        const char *words;
    } cases[] = {
        {FIELD_NONE, NULL},
        {FIELD_NAME, "all.npz: c.npy: expected libzip to agree about its name"},
        {FIELD_SIZE, "all.npz: b.npy: expected libzip to agree about its size"},
        {FIELD_PACKED, "all.npz: b.npy: expected libzip to agree about its packed size"},
        {FIELD_CRC, "all.npz: b.npy: expected libzip to agree about its CRC"},
        {FIELD_METHOD, "all.npz: b.npy: expected libzip to agree about its compression method"},
        {FIELD_N, "all.npz: expected libzip to find 1 members, found 2"},
    };

    (void)state;
    make_npz(scratch("all.npz"), arrays, 2);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct zip_directory directory = {0};
        struct warnings warnings = {0};
        struct error err = {0};
        struct input in;
        int result;

        assert_int_equal(input_open(&in, scratch("all.npz"), false, &err), 0);
        assert_int_equal(zip_check(&in, &directory, &warnings, &err), 0);
        belie(&directory, cases[i].field);
        result = zip_agree(&(struct zip_reader){.in = &in, .err = &err}, &directory);
        if (cases[i].words == NULL ? result != 0 : strstr(err.message, cases[i].words) == NULL)
            fail_msg("expected '%s', found '%s'", cases[i].words, err.message);
        assert_int_equal(err.kind, cases[i].words == NULL ? ERROR_NONE : ERROR_DATA);
        zip_directory_release(&directory);
        text_list_release(&warnings.list);
        input_close(&in);
    }
}

/* A file that is no archive, behind zip_check's back. */
static void test_no_archive(void **state)
{
    struct zip_directory directory = {0};
    struct error err = {0};
    struct input in;

    (void)state;
    put_bytes(scratch("text.npz"), FILE_OF("PK\3\4 and then nothing that makes a zip file"));
    assert_int_equal(input_open(&in, scratch("text.npz"), false, &err), 0);
    assert_int_equal(zip_agree(&(struct zip_reader){.in = &in, .err = &err}, &directory), -1);
    assert_int_equal(err.kind, ERROR_DATA);
    assert_non_null(strstr(err.message, "text.npz: expected libzip to read the zip directory"));
    input_close(&in);
}

int main(void)
{
    const struct CMUnitTest tests[] = {IN_SCRATCH(test_differences), IN_SCRATCH(test_no_archive)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
