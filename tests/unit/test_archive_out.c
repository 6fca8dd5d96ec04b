/* test_archive_out.c - output shards: what libzip and zlib read back, and failures on the way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/bytes.h"
#include "base/input.h"
#include "fake_member.h"
#include "manifest/digest.h"
#include "scratch.h"
#include "write/archive_out.h"

#include <zip.h>
#include <zlib.h>

static void assert_digest(const char *path, uint64_t n_bytes, const char *sha256)
{
    struct error err = {0};
    struct input in;
    char found[65];
    uint8_t *bytes = malloc(n_bytes + 1);

    assert_int_equal(input_open(&in, path, true, &err), 0);
    assert_int_equal(in.n_bytes, n_bytes);
    assert_int_equal(input_read(&in, 0, bytes, n_bytes, &err), 0);
    digest_bytes(bytes, n_bytes, found);
    free(bytes);
    assert_string_equal(found, sha256);
    input_close(&in);
}

static void test_round_trip(void **state)
{
    static const struct {
        const char *name;
        size_t n_bytes;
        bool deflated, size_known;
    } cases[] = {
        {"planes.npy", 3000000, true, true},        {"policy_values.npy", 3000000, true, false},
        {"stored.npy", 3000000, false, true},       {"stored-unknown.npy", 5000, false, false},
        {"binaryInputNCHWPacked", 200, true, true}, {"sub/b\xc3\xb6\xc3\xb6l.npy", 100, true, true},
        {"latin-\xe9\xff.npy", 100, false, true},   {"empty-deflated.npy", 0, true, true},
        {"empty-stored.npy", 0, false, true},
    };
    enum { N = sizeof cases / sizeof *cases };
    struct fake fakes[N];
    struct error err = {0};
    struct archive_out *archive = archive_new(scratch("a.npz"), ARCHIVE_OUT_NPZ, false, &err);
    uint8_t *raw = make_raw(3000000);
    uint64_t n_bytes;
    char sha256[65];
    int zip_err, comment_nbytes;
    zip_t *zip;

    (void)state;
    assert_non_null(archive);
    archive->comment = "symaug 1 hex8";
    for (size_t i = 0; i < N; i++) {
        fake_init(&fakes[i], raw, cases[i].n_bytes, cases[i].deflated, cases[i].size_known);
        assert_int_equal(fake_add(archive, &fakes[i], cases[i].name, &err), 0);
    }
    if (write_and_commit(archive, &n_bytes, sha256, &err) != 0)
        fail_msg("%s", err.message);
    archive_free(archive);
    assert_int_equal(scratch_count(), 1);
    assert_digest(scratch("a.npz"), n_bytes, sha256);

    zip = zip_open(scratch("a.npz"), ZIP_RDONLY | ZIP_CHECKCONS, &zip_err);
    assert_non_null(zip);
    assert_int_equal(zip_get_num_entries(zip, 0), N);
    assert_memory_equal(zip_get_archive_comment(zip, &comment_nbytes, 0), "symaug 1 hex8", 13);
    assert_int_equal(comment_nbytes, 13);
    for (size_t i = 0; i < N; i++) {
        assert_member(zip, i, cases[i].name, &fakes[i], cases[i].deflated);
        fake_release(&fakes[i]);
    }
    zip_discard(zip);
    free(raw);
}

/* Local header of the first member, straight from the file. */
static void write_small(const char *name, bool size_known, uint64_t bound, uint8_t header[30])
{
    struct fake fake;
    struct error err = {0};
    struct archive_out *archive = archive_new(scratch(name), ARCHIVE_OUT_NPZ, true, &err);
    uint64_t n_bytes;
    char sha256[65], *file;

    fake_init(&fake, (const uint8_t *)"data", 4, true, size_known);
    if (!size_known)
        fake.head.unpacked_nbytes = bound;
    assert_int_equal(fake_add(archive, &fake, "a.npy", &err), 0);
    assert_int_equal(write_and_commit(archive, &n_bytes, sha256, &err), 0);
    archive_free(archive);
    fake_release(&fake);
    file = scratch_get(name, NULL);
    memcpy(header, file, 30);
    free(file);
}

static void test_local_header(void **state)
{
    static const struct {
        bool size_known;
        uint64_t bound;
        uint16_t extra_nbytes; /* 20 when it is a zip64 header */
    } cases[] = {{true, 0, 0}, {false, 0, 20}, {false, 4, 0}, {false, UINT64_C(1) << 32, 20}};
    uint8_t header[30];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        write_small("a.npz", cases[i].size_known, cases[i].bound, header);
        assert_int_equal(bytes_get_le32(header), 0x04034b50);
        assert_int_equal(bytes_get_le16(header + 6) & 8, 0); /* no data descriptor */
        assert_int_equal(bytes_get_le16(header + 8), 8);
        assert_int_equal(bytes_get_le32(header + 14), crc32(0, (const Bytef *)"data", 4));
        assert_int_equal(bytes_get_le32(header + 18), 6);
        assert_int_equal(bytes_get_le32(header + 22), 4);
        assert_int_equal(bytes_get_le16(header + 28), cases[i].extra_nbytes);
    }
}

static void test_time_stamps(void **state)
{
    static const struct {
        const char *epoch, *zone;
        uint16_t clock, date;
    } cases[] = {
        {NULL, "UTC0", 0, 0x21},
        {NULL, "America/New_York", 0, 0x21},
        {NULL, "XXX-14", 0, 0x21},
        {"", "UTC0", 0, 0x21},
        {"0", "UTC0", 0, 0x21},
        {"1700000001", "UTC0", 22 << 11 | 13 << 5 | 10, 43 << 9 | 11 << 5 | 14},
        {"1700000001", "XXX9", 22 << 11 | 13 << 5 | 10, 43 << 9 | 11 << 5 | 14},
        {"99999999999", "UTC0", 23 << 11 | 59 << 5 | 29, 127 << 9 | 12 << 5 | 31},
    };
    struct error err = {0};
    struct archive_out *archive;
    struct fake fake;
    uint8_t header[30];
    uint64_t n_bytes;
    char sha256[65];

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        if (cases[i].epoch != NULL)
            setenv("SOURCE_DATE_EPOCH", cases[i].epoch, 1);
        setenv("TZ", cases[i].zone, 1);
        write_small("a.npz", true, 0, header);
        assert_int_equal(bytes_get_le16(header + 10), cases[i].clock);
        assert_int_equal(bytes_get_le16(header + 12), cases[i].date);
    }
    unsetenv("TZ");
    setenv("SOURCE_DATE_EPOCH", "yesterday", 1);
    fake_init(&fake, (const uint8_t *)"data", 4, true, true);
    archive = archive_new(scratch("b.npz"), ARCHIVE_OUT_NPZ, true, &err);
    assert_int_equal(fake_add(archive, &fake, "a.npy", &err), 0);
    assert_int_equal(archive_out_write(archive, &n_bytes, sha256, &err), -1);
    assert_int_equal(err.kind, ERROR_USAGE);
    archive_free(archive);
    fake_release(&fake);
    unsetenv("SOURCE_DATE_EPOCH");
    assert_int_equal(scratch_count(), 1);
}

/* What can go wrong with the second of two members: the cause is told, and nothing is left. */
static void test_failures(void **state)
{
    static const struct {
        const char *message;
        enum error_kind kind;
        bool deflated;
        size_t fail_at;
        bool wrong_crc, wrong_size, twice;
    } cases[] = {
        {"in.npz: 'planes': row 7: broken", ERROR_DATA, true, 1, false, false, false},
        {"in.npz: 'planes': row 7: broken", ERROR_DATA, true, 3, false, false, false},
        {"in.npz: 'planes': row 7: broken", ERROR_DATA, false, 3, false, false, false},
        {"in.npz: 'planes': row 7: broken", ERROR_DATA, true, 6, false, false, false},
        {"member 'b.npy': CRC ", ERROR_INTERNAL, false, 0, true, false, false},
        {"member 'b.npy' has 100001 bytes, 100000 were", ERROR_INTERNAL, false, 0, false, true,
         false},
        {"member 'b.npy' has 100001 bytes, 100000 were announced", ERROR_INTERNAL, true, 0, false,
         true, false},
        {"libzip: 'a.npy': ", ERROR_INTERNAL, true, 0, false, false, true},
    };
    static const enum archive_out_form forms[] = {ARCHIVE_OUT_NPZ, ARCHIVE_OUT_NPY_FOLDER};
    uint8_t *raw = make_raw(100000);

    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        enum archive_out_form form = forms[i % 2];
        struct error err = {0};
        struct fake fakes[2];
        struct archive_out *archive;
        uint64_t n_bytes;
        char sha256[65];

        if (form == ARCHIVE_OUT_NPY_FOLDER && (cases[i / 2].deflated || cases[i / 2].twice))
            continue;
        archive = archive_new(scratch("a"), form, false, &err);
        for (int k = 0; k < 2; k++) {
            bool stored = k == 0 ? form != ARCHIVE_OUT_NPZ : !cases[i / 2].deflated;

            fake_init(&fakes[k], raw, 100000, !stored, true);
            assert_int_equal(fake_add(archive, &fakes[k],
                                      k == 0 || cases[i / 2].twice ? "a.npy" : "b.npy", &err),
                             0);
        }
        fakes[1].fail_at = cases[i / 2].fail_at;
        fakes[1].crc ^= cases[i / 2].wrong_crc;
        fakes[1].made_nbytes += cases[i / 2].wrong_size;
        assert_int_equal(archive_out_write(archive, &n_bytes, sha256, &err), -1);
        assert_int_equal(err.kind, cases[i / 2].kind);
        if (strncmp(err.message, cases[i / 2].message, strlen(cases[i / 2].message)) != 0)
            fail_msg("case %zu: %s", i, err.message);
        err = (struct error){0};
        assert_int_equal(archive_out_commit(archive, &err), -1);
        assert_int_equal(err.kind, ERROR_INTERNAL);
        archive_free(archive);
        fake_release(&fakes[0]);
        fake_release(&fakes[1]);
        assert_int_equal(scratch_count(), 0);
    }
    free(raw);
}

static void test_existing_target(void **state)
{
    struct error err = {0};
    uint8_t header[30];
    char *file;

    (void)state;
    scratch_put("a.npz", "old");
    assert_null(archive_new(scratch("a.npz"), ARCHIVE_OUT_NPZ, false, &err));
    assert_int_equal(err.kind, ERROR_CANT_CREATE);
    err = (struct error){0};
    archive_free(archive_new(scratch("a.npz"), ARCHIVE_OUT_NPZ, true, &err));
    file = scratch_get("a.npz", NULL);
    assert_string_equal(file, "old");
    free(file);
    write_small("a.npz", true, 0, header);
    assert_int_equal(scratch_count(), 1);
}

/* An old manifest is removed when the new output comes, but not that of a run that was faster. */
static void test_old_manifest(void **state)
{
    static const struct {
        bool force, was_faster;
    } cases[] = {{true, false}, {true, true}, {false, false}, {false, true}};

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool stays = cases[i].was_faster && !cases[i].force;
        struct fake fake;
        struct error err = {0};
        struct archive_out *archive =
            archive_new(scratch("a.npz"), ARCHIVE_OUT_NPZ, cases[i].force, &err);
        uint64_t n_bytes;
        char sha256[65];

        fake_init(&fake, (const uint8_t *)"data", 4, true, true);
        assert_int_equal(fake_add(archive, &fake, "a.npy", &err), 0);
        scratch_put("a.npz.manifest.json", "{}");
        if (cases[i].was_faster)
            scratch_put("a.npz", "other");
        assert_int_equal(write_and_commit(archive, &n_bytes, sha256, &err), stays ? -1 : 0);
        assert_int_equal(access(scratch("a.npz.manifest.json"), F_OK) == 0, stays);
        archive_free(archive);
        fake_release(&fake);
        unlink(scratch("a.npz"));
    }
}

static void test_refused(void **state)
{
    struct error err = {0};
    struct archive_out *archive = archive_new(scratch("a"), ARCHIVE_OUT_NPZ, false, &err);
    struct member member = {.zip_method = CODEC_ZIP_DEFLATE, .size_known = true};
    char *name = malloc(70001);
    uint64_t n_bytes;
    char sha256[65];

    (void)state;
    memset(name, 'n', 70000);
    name[70000] = '\0';
    assert_int_equal(archive_out_write(archive, &n_bytes, sha256, &err), -1);
    err = (struct error){0};
    member.name = name;
    assert_int_equal(archive_out_add(archive, &member, &err), -1);
    err = (struct error){0};
    member.name = "a.npy";
    member.unpacked_nbytes = UINT32_MAX;
    assert_int_equal(archive_out_add(archive, &member, &err), -1);
    assert_int_equal(err.kind, ERROR_INTERNAL);
    archive_free(archive);
    free(name);
    assert_int_equal(scratch_count(), 0);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_round_trip), TEST(test_local_header),    TEST(test_time_stamps),
        TEST(test_failures),   TEST(test_existing_target), TEST(test_old_manifest),
        TEST(test_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
