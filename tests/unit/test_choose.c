/* test_choose.c - levels, and the codec that a member gets at each. */
#include "codec/codec.h"

#include "codec_data.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

enum { MEMBER_NBYTES = CODEC_TRIAL_NBYTES };

static uint8_t member[MEMBER_NBYTES + CODEC_READ_SLACK], encoded[2 * MEMBER_NBYTES];

static void test_piece_over_the_limit_is_refused(void **test_state)
{
    static const enum codec_level_kind kinds[] = {CODEC_STORE, CODEC_FAST, CODEC_DEFAULT};

    (void)test_state;
    for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
        const struct codec_level level = {.kind = kinds[k]};
        const struct codec_member about = {
            .n_bytes = 100, .item_nbytes = 1, .sample = member, .sample_nbytes = 100};
        struct codec_choice choice;
        struct error err = {0};
        void *state;

        assert_int_equal(codec_choose(&level, &about, &choice, &err), 0);
        state = choice.codec->state_new(&choice, NULL);
        assert_int_equal(choice.codec->encode(
                             state,
                             &(struct codec_piece){member, CODEC_PIECE_MAX_NBYTES + 1, 0, true, 0},
                             encoded, &err),
                         0);
        assert_int_equal(err.kind, ERROR_INTERNAL);
        choice.codec->state_free(state);
        codec_choice_release(&choice);
    }
}

static void test_level_parse(void **test_state)
{
    static const struct {
        const char *text;
        struct codec_level level;
    } good[] = {
        {"fast", {.kind = CODEC_FAST}},
        {"default", {.kind = CODEC_DEFAULT}},
        {"best", {.kind = CODEC_BEST}},
        {"store", {.kind = CODEC_STORE}},
        {"zlib:1", {CODEC_NAMED, 1, &codec_zlib}},
        {"zlib:6", {CODEC_NAMED, 6, &codec_zlib}},
        {"zlib:9", {CODEC_NAMED, 9, &codec_zlib}},
    };
    static const char *const bad[] = {"",        "Fast",    "zlib",    "zlib:",   "zlib:0",
                                      "zlib:10", "zlib:-1", "zlib: 6", "zlib:6 ", "zlib:6x",
                                      "6",       "grid",    "isal:1",  "faster",  "\n\x1b[2J"};

    (void)test_state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        struct codec_level level;
        struct error err = {0};

        assert_int_equal(codec_level_parse(good[i].text, &level, &err), 0);
        assert_int_equal(level.kind, good[i].level.kind);
        assert_int_equal(level.level, good[i].level.level);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct codec_level level;
        struct error err = {0};

        assert_int_equal(codec_level_parse(bad[i], &level, &err), -1);
        assert_int_equal(err.kind, ERROR_USAGE);
        assert_null(strchr(err.message, '\n'));
        assert_null(strchr(err.message, '\x1b'));
        assert_non_null(strstr(err.message, "zlib:9"));
    }
}

static void test_choose(void **test_state)
{
    static const struct {
        struct codec_level level;
        const char *name; /* of a small opaque member */
    } cases[] = {
        {{.kind = CODEC_STORE}, "store"},          {{CODEC_NAMED, 1, &codec_zlib}, "zlib:1"},
        {{CODEC_NAMED, 9, &codec_zlib}, "zlib:9"}, {{.kind = CODEC_DEFAULT}, "zlib:6"},
        {{.kind = CODEC_BEST}, "zlib:9"},
#ifdef HAVE_ISAL
        {{.kind = CODEC_FAST}, "isal:1"},
#else
        {{.kind = CODEC_FAST}, "zlib:1"},
#endif
    };
    static const size_t sizes[] = {0, 1, 1000, 16383};

    (void)test_state;
    data_fill(DATA_PLANES, 5, member, sizeof member);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
            const struct codec_member about = {
                .n_bytes = sizes[s], .item_nbytes = 1, .sample = member, .sample_nbytes = sizes[s]};
            struct codec_choice choice;
            struct error err = {0};

            assert_int_equal(codec_choose(&cases[i].level, &about, &choice, &err), 0);
            assert_string_equal(choice.name, cases[i].name);
            codec_choice_release(&choice);
        }
    }
}

/* At every level the choice for a large member is usable, the same the second time, and (but for
 * what a trial cannot see) no larger than that of the faster level. */
static void test_choose_large(void **test_state)
{
    static const enum codec_level_kind kinds[] = {CODEC_FAST, CODEC_DEFAULT, CODEC_BEST};

    (void)test_state;
    for (int kind = 0; kind < N_DATA_KINDS; kind++) {
        const struct codec_member about = {.n_bytes = MEMBER_NBYTES,
                                           .sample = member,
                                           .sample_nbytes = CODEC_TRIAL_NBYTES,
                                           .item_nbytes = kind == DATA_FLOAT ? 4 : 1,
                                           .periods = {81},
                                           .n_periods = 1};
        size_t previous = SIZE_MAX / 2;

        data_fill((enum data_kind)kind, 6, member, sizeof member);
        for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
            const struct codec_level level = {.kind = kinds[k]};
            struct codec_choice choice[2];
            void *state;
            size_t n;

            for (int i = 0; i < 2; i++)
                assert_int_equal(codec_choose(&level, &about, &choice[i], NULL), 0);
            assert_string_equal(choice[0].name, choice[1].name);
            assert_ptr_equal(choice[0].codec, choice[1].codec);
            if (kinds[k] != CODEC_FAST)
                assert_string_not_equal(choice[0].codec->name, "isal");
            state = choice[0].codec->state_new(&choice[0], NULL);

            n = choice[0].codec->encode(
                state, &(struct codec_piece){member, CODEC_TRIAL_NBYTES, 0, true, 0}, encoded,
                NULL);
            /* A constant member has a few bytes of either. Codes of skewed letters alone are worth
             * less to the default level than the time that the matches between them take. */
            assert_true(n <= previous + previous / (kind == DATA_SKEWED ? 6 : 50) + 64);
            previous = n;
            choice[0].codec->state_free(state);
            codec_choice_release(&choice[0]);
            codec_choice_release(&choice[1]);
            codec_choice_release(&choice[1]); /* a released one is accepted */
        }
    }
}

/* Visit counts: 16 rows of few different numbers, then the same rows moved, and so on. */
static void fill_visits(uint8_t *out, size_t n_bytes)
{
    enum { N_CELLS = 361, N_ROWS = 16, N_IMAGES = 8 };
    static uint16_t rows[N_ROWS * N_CELLS];
    uint64_t random = 9;

    for (size_t i = 0; 2 * i + 1 < n_bytes; i++) {
        const size_t cell = i % N_CELLS, row = i / N_CELLS % N_ROWS;
        const size_t image = i / (N_ROWS * N_CELLS) % N_IMAGES;

        if (image == 0)
            rows[i % (N_ROWS * N_CELLS)] =
                random_below(&random, 2) == 0
                    ? 0
                    : (uint16_t)(1 + random_below(&random, 12) * random_below(&random, 12));
        memcpy(out + 2 * i, &rows[row * N_CELLS + cell * (2 * image + 1) % N_CELLS], 2);
    }
}

static size_t encoded_nbytes(const struct codec_choice *choice)
{
    void *state = choice->codec->state_new(choice, NULL);
    const size_t n = choice->codec->encode(
        state, &(struct codec_piece){member, CODEC_TRIAL_NBYTES, 0, true, 0}, encoded, NULL);

    choice->codec->state_free(state);
    return n;
}

/* Moved numbers need not be left to zlib, which takes several times as long. */
static void test_moved_numbers(void **test_state)
{
    const struct codec_level ours = {.kind = CODEC_DEFAULT}, zlib = {CODEC_NAMED, 6, &codec_zlib};
    const struct codec_member about = {.n_bytes = (uint64_t)64 << 20,
                                       .sample = member,
                                       .sample_nbytes = CODEC_TRIAL_NBYTES,
                                       .item_nbytes = 2,
                                       .periods = {2, 722, 722 * 16},
                                       .n_periods = 3};
    struct codec_choice choice, reference;

    (void)test_state;
    fill_visits(member, MEMBER_NBYTES);
    assert_int_equal(codec_choose(&ours, &about, &choice, NULL), 0);
    assert_int_equal(codec_choose(&zlib, &about, &reference, NULL), 0);
    assert_string_not_equal(choice.codec->name, "zlib");
    assert_true(encoded_nbytes(&choice) < encoded_nbytes(&reference) * 105 / 100);
    codec_choice_release(&choice);
    codec_choice_release(&reference);
}

/* Operations add up from piece to piece, and codecs that count them count some. */
static void test_operations(void **test_state)
{
    (void)test_state;
    data_fill(DATA_PLANES, 7, member, sizeof member);
    for (size_t c = 0; c < codec_n_table; c++) {
        const struct codec *codec = codec_table[c];
        const struct codec_choice choice = {.codec = codec};
        uint64_t once;
        void *state;

        if (codec->n_operations == NULL)
            continue;
        state = codec->state_new(&choice, NULL);
        assert_int_equal(codec->n_operations(state), 0);
        codec->encode(state, &(struct codec_piece){member, 100000, 0, false, 0}, encoded, NULL);
        once = codec->n_operations(state);
        assert_true(once > 100000 / 4 && once < 100000 * (uint64_t)200);
        codec->encode(state, &(struct codec_piece){member, 100000, 0, false, 0}, encoded, NULL);
        assert_int_equal(codec->n_operations(state), 2 * once);
        codec->state_free(state);
    }
}

/* Elements of any size that come again, such as names of five bytes, come out as they went in. */
static void test_item_sizes(void **test_state)
{
    static const enum codec_level_kind kinds[] = {CODEC_FAST, CODEC_DEFAULT, CODEC_BEST};
    enum { N_DIFFERENT = 50, MAX_ITEM = 12 };
    static uint8_t decoded[MEMBER_NBYTES];
    const struct decoder *decoder = codec_decoder(CODEC_ZIP_DEFLATE);

    (void)test_state;
    for (size_t i = 0; i < 3 * MAX_ITEM; i++) {
        const struct codec_level level = {.kind = kinds[i % 3]};
        const uint32_t item = (uint32_t)i / 3 + 1;
        const struct codec_member about = {.n_bytes = (uint64_t)64 << 20,
                                           .item_nbytes = item,
                                           .periods = {item, 81 * item},
                                           .n_periods = 2,
                                           .row_nbytes = 81 * item,
                                           .image_nrows = 1,
                                           .n_images = 8,
                                           .sample = member,
                                           .sample_nbytes = MEMBER_NBYTES};
        struct codec_choice choice;
        uint64_t random = 7;
        void *state;

        for (size_t at = 0; at + item <= MEMBER_NBYTES; at += item) {
            const size_t name = random_below(&random, N_DIFFERENT);

            for (size_t k = 0; k < item; k++)
                member[at + k] = (uint8_t)('A' + name * (k + 1) % 26);
        }
        assert_int_equal(codec_choose(&level, &about, &choice, NULL), 0);
        state = choice.codec->state_new(&choice, NULL);
        const size_t n = choice.codec->encode(
            state, &(struct codec_piece){member, MEMBER_NBYTES, 0, true, 0}, encoded, NULL);
        choice.codec->state_free(state);
        state = decoder->state_new(NULL);
        struct decoding decoding = {encoded, n, decoded, sizeof decoded, false};
        assert_int_equal(decoder->decode(state, &decoding, NULL), 0);
        assert_int_equal(decoding.out_nbytes, 0);
        assert_memory_equal(decoded, member, sizeof decoded);
        decoder->state_free(state);
        codec_choice_release(&choice);
    }
}

static void test_libraries(void **test_state)
{
    (void)test_state;
    assert_non_null(strstr(codec_libraries(), "zlib 1."));
#ifdef HAVE_ISAL
    assert_non_null(strstr(codec_libraries(), ", ISA-L 2."));
#else
    assert_null(strstr(codec_libraries(), "ISA-L"));
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_piece_over_the_limit_is_refused),
        cmocka_unit_test(test_level_parse),
        cmocka_unit_test(test_choose),
        cmocka_unit_test(test_choose_large),
        cmocka_unit_test(test_moved_numbers),
        cmocka_unit_test(test_operations),
        cmocka_unit_test(test_item_sizes),
        cmocka_unit_test(test_libraries),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
