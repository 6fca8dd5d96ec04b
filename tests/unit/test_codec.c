/* test_codec.c - every codec: pieces that join to one deflate stream, the same ones every time. */
#include "codec/codec.h"

#include "codec_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

enum {
    MEMBER_MAX = 3 << 20,
    PIECE_MAX = 1 << 20,
    N_PIECES_MAX = 64,
    CANARY_NBYTES = 32,
};

/* The member, with what a codec may read behind it. */
static uint8_t member[MEMBER_MAX + CODEC_READ_SLACK];
static uint8_t encoded[2 * MEMBER_MAX], unpacked[MEMBER_MAX + 1];

/* A choice of one codec, trained on the member where it wants that. */
static struct codec_choice choice_of(const struct codec *codec, int level, size_t n_bytes)
{
    const struct codec_member about = {
        .n_bytes = n_bytes,
        .item_nbytes = 1,
        .periods = {81},
        .n_periods = 1,
        .sample = member,
        .sample_nbytes = n_bytes < CODEC_TRIAL_NBYTES ? n_bytes : CODEC_TRIAL_NBYTES,
    };
    struct codec_choice choice = {.codec = codec, .level = level};
    struct error err = {0};

    if (codec->train != NULL)
        assert_int_equal(codec->train(&about, &choice.trained, &err), 0);
    return choice;
}

/* ISA-L has one level, which no user can name. */
static int first_level(const struct codec *codec)
{
    return codec->n_levels > 0 || strcmp(codec->name, "isal") == 0;
}

static int last_level(const struct codec *codec)
{
    return codec->n_levels > 0 ? codec->n_levels : first_level(codec);
}

/* Encode a piece and check that nothing is written beyond the bound. The caller frees. */
static uint8_t *encode_piece(const struct codec *codec, void *state, size_t at, size_t n_bytes,
                             bool last, size_t *n_encoded)
{
    const size_t bound = codec->bound(n_bytes);
    const struct codec_piece piece = {
        member + at, n_bytes, at < CODEC_HISTORY_NBYTES ? at : CODEC_HISTORY_NBYTES, last, at};
    uint8_t *out = malloc(bound + CANARY_NBYTES);
    struct error err = {0};

    memset(out + bound, 0xc5, CANARY_NBYTES);
    *n_encoded = codec->encode(state, &piece, out, &err);
    assert_int_equal(err.kind, ERROR_NONE);
    assert_true(*n_encoded <= bound);
    assert_true(*n_encoded > 0 || codec->zip_method == CODEC_ZIP_STORED);
    for (size_t i = 0; i < CANARY_NBYTES; i++)
        assert_int_equal(out[bound + i], 0xc5);
    return out;
}

/* Cut n bytes in pieces of odd sizes, some of them empty; returns their number. */
static size_t cut(size_t n_bytes, uint64_t seed, size_t sizes[N_PIECES_MAX])
{
    uint64_t random = seed * 2 + 1;
    size_t n = 0;

    while (n_bytes > 0 && n < N_PIECES_MAX - 2) {
        size_t limit = (size_t)1 << random_below(&random, 22);
        size_t size = n < 5 ? n : random_below(&random, limit < PIECE_MAX ? limit : PIECE_MAX);

        size = size < n_bytes ? size : n_bytes;
        sizes[n++] = size;
        n_bytes -= size;
    }
    if (n_bytes > 0 || n == 0)
        sizes[n++] = n_bytes;
    if (seed % 3 == 0)
        sizes[n++] = 0; /* an empty last piece */
    return n;
}

/* The whole of `encoded` must be one raw deflate stream of the member. */
static void check_stream(size_t n_encoded, size_t n_bytes)
{
    z_stream z = {0};

    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    z.next_in = encoded;
    z.avail_in = (uInt)n_encoded;
    z.next_out = unpacked;
    z.avail_out = sizeof unpacked;
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.avail_in, 0);
    assert_int_equal(z.total_out, n_bytes);
    inflateEnd(&z);
    assert_memory_equal(unpacked, member, n_bytes);
}

/*
 * Encode the member in pieces twice: from the front with one state, and from the back with a new
 * state each. The bytes must be equal, and the pieces joined must give back the member.
 */
static void check_member(const struct codec *codec, int level, size_t n_bytes, uint64_t seed)
{
    struct codec_choice choice = choice_of(codec, level, n_bytes);
    size_t sizes[N_PIECES_MAX], at = 0, n_encoded = 0, starts[N_PIECES_MAX];
    const size_t n_pieces = cut(n_bytes, seed, sizes);
    void *state = codec->state_new(&choice, NULL);

    for (size_t i = 0; i < n_pieces; i++) {
        size_t n;
        uint8_t *out = encode_piece(codec, state, at, sizes[i], i == n_pieces - 1, &n);

        assert_true(n_encoded + n <= sizeof encoded);
        memcpy(encoded + n_encoded, out, n);
        starts[i] = n_encoded;
        n_encoded += n;
        at += sizes[i];
        free(out);
    }
    codec->state_free(state);
    if (codec->zip_method == CODEC_ZIP_STORED) {
        assert_int_equal(n_encoded, n_bytes);
        assert_memory_equal(encoded, member, n_bytes);
    } else {
        check_stream(n_encoded, n_bytes);
    }
    for (size_t i = n_pieces; i-- > 0;) {
        size_t n;
        uint8_t *out;

        at -= sizes[i];
        state = codec->state_new(&choice, NULL);
        out = encode_piece(codec, state, at, sizes[i], i == n_pieces - 1, &n);
        assert_int_equal(n, (i + 1 < n_pieces ? starts[i + 1] : n_encoded) - starts[i]);
        assert_memory_equal(out, encoded + starts[i], n);
        free(out);
        codec->state_free(state);
    }
    codec_choice_release(&choice);
}

static void test_pieces_join_to_the_member(void **test_state)
{
    static const size_t sizes[] = {0, 1, 2, 3, 100, 33000, 300000, MEMBER_MAX};

    (void)test_state;
    for (int kind = 0; kind < N_DATA_KINDS; kind++) {
        data_fill((enum data_kind)kind, 1, member, sizeof member);
        for (size_t c = 0; c < codec_n_table; c++) {
            const struct codec *codec = codec_table[c];

            for (int level = first_level(codec); level <= last_level(codec); level++) {
                /* The higher levels of zlib are slow, and do nothing new for large members. */
                const size_t limit = level <= 1 ? MEMBER_MAX : 33000;

                for (size_t i = 0; i < sizeof sizes / sizeof sizes[0] && sizes[i] <= limit; i++)
                    check_member(codec, level, sizes[i], i + (size_t)level);
            }
        }
    }
}

/* Nor does where a state lies in memory: ISA-L by itself would fail in one of 8192 cases. */
static void test_address_does_not_matter(void **test_state)
{
    enum { N_STATES = 32, N = 250, BOUND_MAX = 2000 };
    static uint8_t first[BOUND_MAX], other[BOUND_MAX];
    uint64_t random = 3;

    (void)test_state;
    for (size_t c = 0; c < codec_n_table; c++) {
        const struct codec *codec = codec_table[c];
        struct codec_choice choice = {.codec = codec, .level = first_level(codec)};
        void *states[N_STATES];

        if (choice.level == 0)
            continue; /* our own code: no address enters it */
        assert_true(codec->bound(N) <= BOUND_MAX);
        for (size_t i = 0; i < N_STATES; i++)
            states[i] = codec->state_new(&choice, NULL);
        for (int round = 0; round < 1500; round++) {
            const struct codec_piece piece = {.bytes = member, .n_bytes = N};
            size_t n;

            for (size_t i = 0; i < N; i++)
                member[i] = (uint8_t)random_next(&random);
            for (size_t i = 20; i < 240; i += 20) /* what starts at the second byte comes again */
                memcpy(member + i, member + 1, 8);
            n = codec->encode(states[0], &piece, first, NULL);
            for (size_t i = 1; i < N_STATES; i++) {
                assert_int_equal(codec->encode(states[i], &piece, other, NULL), n);
                assert_memory_equal(other, first, n);
            }
        }
        for (size_t i = 0; i < N_STATES; i++)
            codec->state_free(states[i]);
    }
}

/* The bytes behind a piece may have any value. */
static void test_slack_does_not_matter(void **test_state)
{
    enum { N = 50000 };

    (void)test_state;
    for (int kind = 0; kind < N_DATA_KINDS; kind++) {
        for (size_t c = 0; c < codec_n_table; c++) {
            const struct codec *codec = codec_table[c];
            struct codec_choice choice;
            uint8_t *out[2];
            size_t n[2];

            data_fill((enum data_kind)kind, 2, member, N);
            choice = choice_of(codec, first_level(codec), N);
            for (int i = 0; i < 2; i++) {
                void *state = codec->state_new(&choice, NULL);

                memset(member + N, i == 0 ? 0 : member[N - 1], CODEC_READ_SLACK);
                out[i] = encode_piece(codec, state, 20000, N - 20000, false, &n[i]);
                codec->state_free(state);
            }
            assert_int_equal(n[0], n[1]);
            assert_memory_equal(out[0], out[1], n[0]);
            free(out[0]);
            free(out[1]);
            codec_choice_release(&choice);
        }
    }
}

/* History is worth having: a piece that repeats what is in front of it is nearly free. */
static void test_history_is_used(void **test_state)
{
    enum { N = 20000 };

    (void)test_state;
    data_fill(DATA_RANDOM, 3, member, N);
    memcpy(member + N, member, N);
    for (size_t c = 0; c < codec_n_table; c++) {
        const struct codec *codec = codec_table[c];
        struct codec_choice choice = choice_of(codec, first_level(codec), 2 * N);
        void *state = codec->state_new(&choice, NULL);
        size_t n;
        uint8_t *out = encode_piece(codec, state, N, N, false, &n);

        if (strcmp(codec->name, "zlib") == 0) /* the others look at few distances, or at none */
            assert_true(n < 1000);
        free(out);
        codec->state_free(state);
        codec_choice_release(&choice);
    }
}

/* What cannot be compressed grows by 0.1 % and a constant at most. */
static void test_incompressible_hardly_grows(void **test_state)
{
    static const size_t sizes[] = {1, 100, 5000, 70000, PIECE_MAX, MEMBER_MAX};

    (void)test_state;
    data_fill(DATA_RANDOM, 4, member, sizeof member);
    for (size_t c = 0; c < codec_n_table; c++) {
        const struct codec *codec = codec_table[c];

        for (int level = first_level(codec); level <= last_level(codec); level++) {
            struct codec_choice choice = choice_of(codec, level, MEMBER_MAX);
            void *state = codec->state_new(&choice, NULL);

            for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
                size_t n;

                free(encode_piece(codec, state, 0, sizes[i], true, &n));
                if (n > sizes[i] + sizes[i] / 1000 + 64)
                    fail_msg("%s:%d: %zu bytes grow to %zu", codec->name, level, sizes[i], n);
            }
            codec->state_free(state);
            codec_choice_release(&choice);
        }
    }
}

/* What an encoder writes can be read; stored members need no decoder, and others have none. */
static void test_methods(void **test_state)
{
    (void)test_state;
    for (size_t c = 0; c < codec_n_table; c++) {
        const struct decoder *decoder = codec_decoder(codec_table[c]->zip_method);

        if (codec_table[c]->zip_method == CODEC_ZIP_STORED) {
            assert_null(decoder);
        } else {
            assert_non_null(decoder);
            assert_int_equal(decoder->zip_method, codec_table[c]->zip_method);
            assert_non_null(strstr(codec_methods, decoder->name));
        }
    }
    assert_null(codec_decoder(9));
    assert_null(codec_decoder(12));
    assert_null(codec_decoder(UINT16_MAX));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_join_to_the_member),
        cmocka_unit_test(test_address_does_not_matter),
        cmocka_unit_test(test_slack_does_not_matter),
        cmocka_unit_test(test_history_is_used),
        cmocka_unit_test(test_methods),
        cmocka_unit_test(test_incompressible_hardly_grows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
