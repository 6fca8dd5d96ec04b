/* test_member.c - pieces made in parallel and delivered in order: one deflate stream, whatever the
 * threads; the first failure is the one that is told. */
#include "write/member.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "codec/codec.h"

#include <zlib.h>

/* --- pieces of made-up bytes --- */

static atomic_bool went_wrong; /* a window was filled too early */

struct fake {
    struct member head;
    struct members all;
    uint64_t window_begin[2], window_end[2];        /* loaded bytes, which are its rows */
    unsigned latest;                                /* of the windows */
    int64_t slow;                                   /* making this piece takes a while; -1: none */
    int64_t make_fails, make_fails_too, load_fails; /* at this piece; -1: never */
    const char *codec;                              /* expected, or NULL */
    struct pulled {
        uint8_t *bytes;
        size_t n_bytes;
    } pulled;
    int n_closed;
    struct error err;
};

/* The member's byte at a place: structured, so that history and matches count. */
static uint8_t byte_at(uint64_t at)
{
    return (uint8_t)((at / 37) % 11 == 0 ? at * 2654435761u >> 13 : at / 4096);
}

static int fake_load(struct member *member, struct piece_rows *rows, struct error *err)
{
    struct fake *fake = (struct fake *)member;
    const uint64_t end = fake->window_end[fake->latest];

    /* Runs are asked for in order, each with what is made again for its first piece. */
    assert_true(rows->begin <= end && end - rows->begin <= CODEC_HISTORY_NBYTES);
    assert_true(end == 0 || end - rows->begin == CODEC_HISTORY_NBYTES || rows->begin == 0);
    assert_true(rows->end > end && rows->end <= member->n_rows);
    rows->window = fake->latest = !fake->latest;
    fake->window_begin[rows->window] = rows->begin;
    fake->window_end[rows->window] = rows->end;
    if (fake->load_fails >= 0 && (uint64_t)fake->load_fails * member->rows_per_piece < rows->end)
        return error_set(err, ERROR_IO, "load %lld", (long long)fake->load_fails);
    return 0;
}

static int fake_make(struct member *member, const struct piece_rows *rows, struct bytes *out,
                     struct error *err)
{
    struct fake *fake = (struct fake *)member;
    const int64_t i = (int64_t)((rows->end - 1) / member->rows_per_piece);

    if (i == fake->slow)
        usleep(20000);
    if (rows->begin < fake->window_begin[rows->window] ||
        rows->end > fake->window_end[rows->window])
        went_wrong = true;
    if (i == fake->make_fails || i == fake->make_fails_too)
        return error_set(err, ERROR_DATA, "piece %lld", (long long)i);
    if (bytes_reserve(out, rows->end - rows->begin, err) == NULL)
        return -1;
    for (uint64_t at = rows->begin; at < rows->end; at++)
        out->data[out->n_bytes++] = byte_at(at);
    return 0;
}

static void fake_close(struct member *member)
{
    ((struct fake *)member)->n_closed++;
}

static const struct member_ops fake_ops = {NULL, fake_load, fake_make, fake_close};

static struct fake fake_of(uint64_t n_bytes, uint64_t piece_nbytes, struct codec_level level)
{
    return (struct fake){.head = {.name = "a.npy",
                                  .ops = &fake_ops,
                                  .zip_method = codec_level_method(&level),
                                  .size_known = true,
                                  .unpacked_nbytes = n_bytes,
                                  .n_rows = n_bytes,
                                  .rows_per_piece = piece_nbytes,
                                  .row_nbytes = 1},
                         .all.level = level,
                         .make_fails = -1,
                         .make_fails_too = -1,
                         .load_fails = -1,
                         .slow = -1};
}

/* --- pulling --- */

static int pull_all(struct member *m, struct pulled *all, struct error *err)
{
    *all = (struct pulled){0};
    for (;;) {
        if (member_next(m, err) != 0)
            return -1;
        if (m->ended)
            return 0;
        all->bytes = realloc(all->bytes, all->n_bytes + m->n_bytes);
        assert_non_null(all->bytes);
        memcpy(all->bytes + all->n_bytes, m->bytes, m->n_bytes);
        all->n_bytes += m->n_bytes;
    }
}

static void check_content(const struct pulled *packed, bool stored, uint64_t n_bytes)
{
    uint8_t *bytes = malloc(n_bytes + 1);
    z_stream z = {.next_in = packed->bytes,
                  .avail_in = (uInt)packed->n_bytes,
                  .next_out = bytes,
                  .avail_out = (uInt)n_bytes + 1};

    assert_non_null(bytes);
    if (stored) {
        assert_int_equal(packed->n_bytes, n_bytes);
        memcpy(bytes, packed->bytes, n_bytes);
    } else {
        assert_int_equal(inflateInit2(&z, -15), Z_OK);
        assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
        assert_int_equal(z.avail_in, 0);
        assert_int_equal(z.total_out, n_bytes);
        inflateEnd(&z);
    }
    for (uint64_t at = 0; at < n_bytes; at++)
        if (bytes[at] != byte_at(at))
            fail_msg("byte %llu is wrong", (unsigned long long)at);
    free(bytes);
}

static uint32_t crc_of(uint64_t n_bytes)
{
    uint8_t *bytes = malloc(n_bytes + 1);
    uint32_t crc;

    assert_non_null(bytes);
    for (uint64_t at = 0; at < n_bytes; at++)
        bytes[at] = byte_at(at);
    crc = crc_update(0, bytes, n_bytes);
    free(bytes);
    return crc;
}

/* For the leader of a crew: */
static void fake_begin(struct fake *fake, struct crew *crew)
{
    fake->all.crew = crew;
    assert_int_equal(members_add(&fake->all, &fake->head, &fake->err), 0);
}

static int pull_whole(void *self, struct crew *crew)
{
    struct fake *fake = self;
    int status;

    fake_begin(fake, crew);
    status = pull_all(&fake->head, &fake->pulled, &fake->err);
    if (status == 0) {
        assert_int_equal(fake->head.made_nbytes, fake->head.n_rows);
        assert_int_equal(fake->all.made_nbytes, fake->head.n_rows);
        assert_int_equal(fake->head.packed_nbytes, fake->pulled.n_bytes);
        assert_int_equal(fake->head.crc, crc_of(fake->head.n_rows));
        assert_int_equal(fake->n_closed, 1);
        if (fake->codec != NULL)
            assert_string_equal(fake->head.codec, fake->codec);
    }
    members_release(&fake->all);
    assert_int_equal(fake->n_closed, 1);
    assert_false(went_wrong);
    return status;
}

static struct pulled run(const char *name, int n_threads, uint64_t n_bytes, uint64_t piece_nbytes)
{
    const bool is_named = strchr(name, ':') != NULL || strcmp(name, "store") == 0;
    struct codec_level level;

    assert_int_equal(codec_level_parse(name, &level, NULL), 0);
    struct fake fake = fake_of(n_bytes, piece_nbytes, level);
    fake.codec = is_named ? name : NULL;
    assert_int_equal(crew_run(n_threads, pull_whole, &fake), 0);
    check_content(&fake.pulled, strcmp(name, "store") == 0, n_bytes);
    return fake.pulled;
}

static void test_levels_and_threads(void **state)
{
    static const char *const levels[] = {"store", "fast", "default", "best", "zlib:1", "zlib:9"};
    static const uint64_t sizes[][2] = {{1, 4096},     {4096, 4096},    {4097, 4096},
                                        {50000, 1000}, {300000, 40000}, {70000, 300000}};

    (void)state;
    for (size_t l = 0; l < N_OF(levels); l++)
        for (size_t s = 0; s < N_OF(sizes); s++) {
            struct pulled one = run(levels[l], 1, sizes[s][0], sizes[s][1]);

            for (int n_threads = 2; n_threads <= 8; n_threads += 3) {
                struct pulled more = run(levels[l], n_threads, sizes[s][0], sizes[s][1]);

                assert_int_equal(more.n_bytes, one.n_bytes);
                assert_memory_equal(more.bytes, one.bytes, one.n_bytes);
                free(more.bytes);
            }
            free(one.bytes);
        }
}

/* Others go on while one piece takes long, through several runs of pieces, and wait for it in the
 * end: its window must not be filled again meanwhile. */
static void test_slow_piece(void **state)
{
    static const int64_t slow[] = {0, 7, 8, 31, 59};

    (void)state;
    for (size_t i = 0; i < N_OF(slow); i++)
        for (int n_threads = 1; n_threads <= 3; n_threads++) {
            struct fake fake =
                fake_of(60000, 1000, (struct codec_level){CODEC_NAMED, 1, &codec_zlib});

            fake.slow = slow[i];
            assert_int_equal(crew_run(n_threads, pull_whole, &fake), 0);
            check_content(&fake.pulled, false, 60000);
            free(fake.pulled.bytes);
        }
}

/* --- failures --- */

static void check_failure(int64_t make, int64_t make_too, int64_t load, const char *message)
{
    for (int n_threads = 1; n_threads <= 5; n_threads += 2) {
        struct fake fake = fake_of(60000, 1000, (struct codec_level){CODEC_NAMED, 1, &codec_zlib});

        fake.make_fails = make;
        fake.make_fails_too = make_too;
        fake.load_fails = load;
        assert_int_equal(crew_run(n_threads, pull_whole, &fake), -1);
        if (message != NULL)
            assert_string_equal(fake.err.message, message);
        free(fake.pulled.bytes);
    }
}

static void test_failures(void **state)
{
    (void)state;
    check_failure(0, -1, -1, "piece 0");
    check_failure(33, -1, -1, "piece 33");
    check_failure(59, -1, -1, "piece 59");
    check_failure(23, 22, -1, "piece 22"); /* made at the same time: the lowest number */
    check_failure(-1, -1, 0, "load 0");
    check_failure(-1, -1, 45, "load 45");
    check_failure(3, -1, 45, "piece 3"); /* in the order of the pieces */
}

static int pull_once(void *self, struct crew *crew)
{
    struct fake *fake = self;

    fake_begin(fake, crew);
    assert_int_equal(member_next(&fake->head, &fake->err), 0);
    assert_true(fake->head.n_bytes > 0);
    members_release(&fake->all); /* while more pieces are being made */
    assert_int_equal(fake->n_closed, 1);
    return 0;
}

static void test_release_before_end(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        struct fake fake = fake_of(60000, 1000, (struct codec_level){.kind = CODEC_DEFAULT});

        assert_int_equal(crew_run(n_threads, pull_once, &fake), 0);
    }
}

/* What fails beside the members ends the next pull. */
static int pull_until_stopped(void *self, struct crew *crew)
{
    struct fake *fake = self;
    struct error failure = {0};

    fake_begin(fake, crew);
    assert_int_equal(member_next(&fake->head, &fake->err), 0);
    error_set(&failure, ERROR_DATA, "the survey refuses it");
    fake->all.stop = &failure;
    assert_int_equal(member_next(&fake->head, &fake->err), -1);
    assert_string_equal(fake->err.message, "the survey refuses it");
    members_release(&fake->all);
    assert_int_equal(fake->n_closed, 1);
    return 0;
}

static void test_stop(void **state)
{
    (void)state;
    for (int n_threads = 1; n_threads <= 3; n_threads++) {
        struct fake fake = fake_of(60000, 1000, (struct codec_level){.kind = CODEC_FAST});

        assert_int_equal(crew_run(n_threads, pull_until_stopped, &fake), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_levels_and_threads),
        cmocka_unit_test(test_slow_piece),
        cmocka_unit_test(test_failures),
        cmocka_unit_test(test_release_before_end),
        cmocka_unit_test(test_stop),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
