/* test_folder_out.c - output shards as folders of .npy files, and digests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fake_member.h"
#include "manifest/digest.h"
#include "scratch.h"
#include "write/archive_out.h"

static void add_stored(struct archive_out *archive, struct fake *fake, const char *name,
                       const char *text)
{
    struct error err = {0};

    fake_init(fake, (const uint8_t *)text, strlen(text), false, true);
    if (fake_add(archive, fake, name, &err) != 0)
        fail_msg("%s", err.message);
}

static void test_folder(void **state)
{
    static const char *const texts[] = {"first", "second"};
    struct fake fakes[2];
    uint64_t n_bytes;
    char sha256[65], expected[65], lines[300], hex[2][65];
    struct error err = {0};

    (void)state;
    for (int round = 0; round < 2; round++) {
        struct archive_out *archive =
            archive_new(scratch("out"), ARCHIVE_OUT_NPY_FOLDER, round == 1, &err);
        char *file;

        assert_non_null(archive);
        add_stored(archive, &fakes[1], "planes.npy", texts[1]);
        add_stored(archive, &fakes[0], "bare", texts[0]);
        assert_int_equal(write_and_commit(archive, &n_bytes, sha256, &err), 0);
        archive_free(archive);
        assert_int_equal(n_bytes, 11);
        for (int i = 0; i < 2; i++) {
            digest_bytes(texts[i], strlen(texts[i]), hex[i]);
            fake_release(&fakes[i]);
        }
        snprintf(lines, sizeof lines, "bare.npy %s\nplanes.npy %s\n", hex[0], hex[1]);
        digest_bytes(lines, strlen(lines), expected);
        assert_string_equal(sha256, expected);
        file = scratch_get("out/planes.npy", NULL);
        assert_string_equal(file, "second");
        free(file);
        assert_int_equal(scratch_count(), 1);
    }
    assert_null(archive_new(scratch("out"), ARCHIVE_OUT_NPY_FOLDER, false, &err));
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
}

static void test_folder_refused(void **state)
{
    struct error err = {0};
    struct archive_out *archive = archive_new(scratch("out"), ARCHIVE_OUT_NPY_FOLDER, false, &err);
    struct fake fakes[2];
    struct member member = {.name = "a/b.npy", .zip_method = CODEC_ZIP_STORED};
    uint64_t n_bytes;
    char sha256[65];

    (void)state;
    assert_int_equal(archive_out_add(archive, &member, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    err = (struct error){0};
    member.name = ".a.npy"; /* whoever reads the folder would skip it */
    assert_int_equal(archive_out_add(archive, &member, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    err = (struct error){0};
    member = (struct member){.name = "a.npy", .zip_method = CODEC_ZIP_DEFLATE};
    assert_int_equal(archive_out_add(archive, &member, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERNAL);
    err = (struct error){0};
    add_stored(archive, &fakes[0], "a", "x"); /* two members, one file */
    add_stored(archive, &fakes[1], "a.npy", "y");
    assert_int_equal(archive_out_write(archive, &n_bytes, sha256, &err), -1);
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    archive_free(archive);
    fake_release(&fakes[0]);
    fake_release(&fakes[1]);
    assert_int_equal(scratch_count(), 0);
}

static void test_digest(void **state)
{
    /* FIPS 180-2, appendix B.1 and B.3; and the empty string */
    static const struct {
        const char *text;
        size_t repeat;
        const char *hex;
    } cases[] = {
        {"abc", 1, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"a", 1000000, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"},
        {"", 1, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct digest digest;
        char hex[65];

        digest_begin(&digest);
        for (size_t k = 0; k < cases[i].repeat; k++)
            digest_update(&digest, cases[i].text, strlen(cases[i].text));
        digest_finish(&digest, hex);
        assert_string_equal(hex, cases[i].hex);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_folder),
        TEST(test_folder_refused),
        TEST(test_digest),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
