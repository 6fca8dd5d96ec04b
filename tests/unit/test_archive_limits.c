/* test_archive_limits.c - output shards at the limits of the zip format: 4 GiB, 65,535 members. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/output.h"
#include "fake_member.h"
#include "scratch.h"
#include "write/archive_out.h"

#include <zip.h>
#include <zlib.h>

/* Counts that do not fit the classic end record. */
static void test_many_members(void **state)
{
    static const size_t counts[] = {65534, 65535, 65536, 66000};
    struct error err = {0};

    (void)state;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        struct archive_out *archive = archive_new(scratch("a.npz"), ARCHIVE_OUT_NPZ, true, &err);
        struct fake *fakes = calloc(counts[i], sizeof *fakes);
        char(*names)[32] = calloc(counts[i], sizeof *names);
        uint64_t n_bytes;
        char sha256[65];
        int zip_err;
        zip_t *zip;

        for (size_t k = 0; k < counts[i]; k++) {
            fakes[k].head.size_known = true;
            snprintf(names[k], sizeof names[k], "m%zu", k);
            assert_int_equal(fake_add(archive, &fakes[k], names[k], &err), 0);
        }
        if (write_and_commit(archive, &n_bytes, sha256, &err) != 0)
            fail_msg("%zu members: %s", counts[i], err.message);
        archive_free(archive);
        zip = zip_open(scratch("a.npz"), ZIP_RDONLY, &zip_err);
        assert_non_null(zip);
        assert_int_equal(zip_get_num_entries(zip, 0), counts[i]);
        zip_discard(zip);
        free(fakes);
        free(names);
    }
}

/*
 * An entry, or the directory, at or around offset 0xFFFFFFFF. A hole in front of the archive
 * stands for the gigabytes that would really be there.
 */
static void test_offset_of_4_gib(void **state)
{
    enum { ENTRY_NBYTES = 30 + 2 + 100 }; /* header, name, data */
    uint8_t *raw = make_raw(100);

    (void)state;
    for (int n_before = 0; n_before < 4; n_before++) {
        for (int shift = -2; shift < 3; shift++) {
            struct fake fakes[3];
            struct error err = {0};
            struct archive_out *archive =
                archive_new(scratch("a.npz"), ARCHIVE_OUT_NPZ, true, &err);
            int zip_err;
            zip_t *zip;

            assert_non_null(archive);
            archive->comment = "symaug";
            archive->output.offset = archive->output.n_bytes =
                UINT64_C(0xffffffff) - (uint64_t)(n_before * ENTRY_NBYTES) + (uint64_t)shift;
            for (int i = 0; i < 3; i++) {
                static char names[3][3] = {"m0", "m1", "m2"};

                fake_init(&fakes[i], raw, 100, false, true);
                assert_int_equal(fake_add(archive, &fakes[i], names[i], &err), 0);
            }
            if (npz_out_write(archive, &err) != 0)
                fail_msg("%d %d: %s", n_before, shift, err.message);
            assert_int_equal(output_commit(&archive->output, true, &err), 0);
            archive_free(archive);
            zip = zip_open(scratch("a.npz"), ZIP_RDONLY, &zip_err);
            if (zip == NULL)
                fail_msg("%d entries before, shift %d: libzip %d", n_before, shift, zip_err);
            assert_int_equal(zip_get_num_entries(zip, 0), 3);
            for (zip_uint64_t i = 0; i < 3; i++) {
                assert_member(zip, i, fakes[i].head.name, &fakes[i], false);
                fake_release(&fakes[i]);
            }
            zip_discard(zip);
        }
    }
    free(raw);
}

/* Runs of which only the lengths matter. */
struct lengths {
    struct member head;
    uint64_t run_nbytes[3];
    size_t n_runs, next;
};

static int lengths_pull(struct member *member, struct error *err)
{
    static const uint8_t run[1];
    struct lengths *lengths = (struct lengths *)member;

    (void)err;
    member->bytes = run;
    member->n_bytes = lengths->next < lengths->n_runs ? lengths->run_nbytes[lengths->next++] : 0;
    member->made_nbytes = 1;
    return 0;
}

/* A deflated member never packs to exactly 0xFFFFFFFF bytes: an empty block is put in. */
static void test_packed_size_of_4_gib(void **state)
{
    static const struct {
        uint64_t run_nbytes[3];
        size_t n_runs;
        uint64_t packed;
        size_t padded_run; /* the empty block goes before it; 3: nowhere */
    } cases[] = {
        {{0xfffffffe}, 1, 0xfffffffe, 3},
        {{0xffffffff}, 1, 0x100000004, 0},
        {{0x100000000}, 1, 0x100000000, 3},
        {{0xfffff000, 0xffd, 2}, 3, 0x100000004, 2},
        {{0xfffff000, 0xfff, 2}, 3, 0x100000006, 1},
        {{1, 0xffffffff, 0}, 2, 0x100000000, 3},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct lengths lengths = {
            .head = {.name = "a", .zip_method = CODEC_ZIP_DEFLATE, .pull = lengths_pull},
            .n_runs = cases[i].n_runs};
        struct member *const pull = &lengths.head;
        struct error err = {0};

        memcpy(lengths.run_nbytes, cases[i].run_nbytes, sizeof lengths.run_nbytes);
        for (size_t run = 0; run < cases[i].n_runs; run++) {
            assert_int_equal(member_next(pull, &err), 0);
            if (run == cases[i].padded_run) {
                assert_int_equal(pull->n_bytes, 5);
                assert_memory_equal(pull->bytes, "\0\0\0\xff\xff", 5);
                assert_int_equal(member_next(pull, &err), 0);
            }
            assert_int_equal(pull->n_bytes, cases[i].run_nbytes[run]);
            assert_false(pull->ended);
        }
        assert_int_equal(member_next(pull, &err), 0);
        assert_true(pull->ended);
        assert_int_equal(pull->packed_nbytes, cases[i].packed);
    }
}

/* Constant members around 4 GiB: one run of 1 MiB of zeros, again and again. */
struct zeros {
    struct member head;
    uint8_t *run;
    size_t run_nbytes;
    uint8_t tail[65600]; /* the last run: the rest of the bytes, and the end of the stream */
    size_t tail_nbytes;
    uint64_t n_runs, next, unpacked_nbytes;
    uint32_t crc;
};

static int zeros_pull(struct member *member, struct error *err)
{
    struct zeros *zeros = (struct zeros *)member;

    (void)err;
    member->bytes = zeros->next < zeros->n_runs ? zeros->run : zeros->tail;
    member->n_bytes = zeros->next < zeros->n_runs    ? zeros->run_nbytes
                      : zeros->next == zeros->n_runs ? zeros->tail_nbytes
                                                     : 0;
    member->crc = zeros->crc;
    member->made_nbytes = zeros->unpacked_nbytes;
    zeros->next++;
    return 0;
}

static size_t pack_zeros(const uint8_t *zeros, size_t n_bytes, bool last, uint8_t *run,
                         size_t bound)
{
    z_stream z = {0};

    assert_int_equal(deflateInit2(&z, 6, Z_DEFLATED, -15, 8, 0), Z_OK);
    z.next_in = (Bytef *)(uintptr_t)zeros;
    z.avail_in = (uInt)n_bytes;
    z.next_out = run;
    z.avail_out = (uInt)bound;
    deflate(&z, last ? Z_FINISH : Z_FULL_FLUSH);
    deflateEnd(&z);
    return bound - z.avail_out;
}

static void zeros_init(struct zeros *zeros, uint64_t n_bytes)
{
    const size_t piece_nbytes = 1 << 20;
    uint8_t *piece = calloc(1, piece_nbytes);
    uint32_t piece_crc = (uint32_t)crc32_z(0, piece, piece_nbytes);
    size_t rest = (size_t)(n_bytes % piece_nbytes);

    *zeros = (struct zeros){.unpacked_nbytes = n_bytes, .n_runs = n_bytes / piece_nbytes};
    zeros->run = malloc(piece_nbytes);
    zeros->run_nbytes = pack_zeros(piece, piece_nbytes, false, zeros->run, piece_nbytes);
    zeros->tail_nbytes = pack_zeros(piece, rest, true, zeros->tail, sizeof zeros->tail);
    for (uint64_t i = 0; i < zeros->n_runs; i++)
        zeros->crc = (uint32_t)crc32_combine(zeros->crc, piece_crc, (z_off_t)piece_nbytes);
    zeros->crc =
        (uint32_t)crc32_combine(zeros->crc, (uint32_t)crc32_z(0, piece, rest), (z_off_t)rest);
    free(piece);
}

static void assert_zeros(zip_t *zip, uint64_t n_bytes)
{
    zip_file_t *file = zip_fopen_index(zip, 0, 0);
    uint8_t *buffer = malloc(1 << 20);
    uint64_t total = 0;
    zip_int64_t n;

    assert_non_null(file);
    while ((n = zip_fread(file, buffer, 1 << 20)) > 0) {
        assert_int_equal(buffer[0] | buffer[n - 1], 0);
        total += (uint64_t)n;
    }
    assert_int_equal(n, 0); /* the CRC is right, too */
    assert_int_equal(total, n_bytes);
    zip_fclose(file);
    free(buffer);
}

static void test_unpacked_size_of_4_gib(void **state)
{
    static const struct {
        uint64_t n_bytes;
        bool size_known, refused;
    } cases[] = {
        {UINT64_C(0xeffffff0), true, false},  {UINT64_C(0xf0000001), true, false},
        {UINT64_C(0xfffffffe), true, false},  {UINT64_C(0xffffffff), false, true},
        {UINT64_C(0x100000000), true, false}, {UINT64_C(0x100000000), false, false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct error err = {0};
        struct archive_out *archive = archive_new(scratch("a.npz"), ARCHIVE_OUT_NPZ, true, &err);
        struct zeros zeros;
        uint64_t n_bytes;
        char sha256[65];
        int rc, zip_err;
        zip_t *zip;

        zeros_init(&zeros, cases[i].n_bytes);
        zeros.head = (struct member){.name = "a.npy",
                                     .zip_method = CODEC_ZIP_DEFLATE,
                                     .size_known = cases[i].size_known,
                                     .unpacked_nbytes = cases[i].n_bytes,
                                     .pull = zeros_pull};
        assert_int_equal(archive_out_add(archive, &zeros.head, &err), 0);
        rc = write_and_commit(archive, &n_bytes, sha256, &err);
        archive_free(archive);
        free(zeros.run);
        assert_int_equal(rc, cases[i].refused ? -1 : 0);
        if (cases[i].refused)
            continue;
        zip = zip_open(scratch("a.npz"), ZIP_RDONLY, &zip_err);
        assert_non_null(zip);
        if (getenv("SYMAUG_TEST_LARGE") != NULL) /* some seconds each */
            assert_zeros(zip, cases[i].n_bytes);
        zip_discard(zip);
    }
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, scratch_setup, scratch_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_many_members),
        TEST(test_offset_of_4_gib),
        TEST(test_packed_size_of_4_gib),
        TEST(test_unpacked_size_of_4_gib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
