/*
 * test_grid.c - the grid encoder: what it writes inflates to what it was given, is not too long,
 * and does not depend on the instruction set, on what a state did before, or on bytes that are not
 * the member's.
 *
 * SYMAUG_TEST_N=200000 makes the test of random inputs longer.
 */
#include "test_grid_encoder.h"

#define MAX_NBYTES     ((size_t)5 << 20)
#define SMALL_NBYTES   ((size_t)96 << 10)
#define HISTORY_NBYTES CODEC_HISTORY_NBYTES

static void test_tiny(void **state)
{
    uint8_t data[300];

    (void)state;
    for (size_t k = 0; k < DATA_N_KINDS; k++) {
        const struct codec_member member = member_of(&data_kinds[k], sizeof data);
        struct random r = {k};

        data_kinds[k].fill(&r, data, sizeof data);
        for (size_t c = 0; c < ARRAY_SIZE(codecs); c++) {
            struct encoder e;

            encoder_init(&e, codecs[c], &member, data, sizeof data);
            for (size_t n = 0; n <= sizeof data; n++)
                check_whole(&e, data, n);
            encoder_release(&e);
        }
    }
}

static void test_kinds(void **state)
{
    uint8_t *const data = malloc(MAX_NBYTES);

    (void)state;
    for (size_t k = 0; k < DATA_N_KINDS; k++) {
        const size_t n = k % 5 == 2 ? MAX_NBYTES : SMALL_NBYTES + k;
        const struct codec_member member = member_of(&data_kinds[k], n);
        struct random r = {k};

        data_kinds[k].fill(&r, data, n);
        for (size_t c = 0; c < ARRAY_SIZE(codecs); c++) {
            struct encoder e;

            encoder_init(&e, codecs[c], &member, data, n);
            check_whole(&e, data, n);
            check_cut(&e, &r, data, SMALL_NBYTES, 20000, HISTORY_NBYTES);
            check_cut(&e, &r, data, SMALL_NBYTES / 4, 900, random_below(&r, 3000));
            check_cut(&e, &r, data, SMALL_NBYTES / 4, 50, 0);
            encoder_release(&e);
        }
    }
    free(data);
}

/* Many blocks, full at any place: more sequences than a block holds. */
static void test_large(void **state)
{
    const size_t n = ((size_t)3 << 20) + 5;
    uint8_t *const data = malloc(n);

    (void)state;
    for (size_t k = 0; k < DATA_N_KINDS; k++) {
        const struct codec_member member = member_of(&data_kinds[k], n);
        struct random r = {k};

        data_kinds[k].fill(&r, data, n);
        for (size_t c = 0; c < ARRAY_SIZE(codecs); c++) {
            struct encoder e;

            encoder_init(&e, codecs[c], &member, data, n);
            check_whole(&e, data, n);
            encoder_release(&e);
        }
    }
    free(data);
}

/* Blocks that end within a long run of zeros. */
static void test_runs(void **state)
{
    const size_t n = (size_t)2 << 20;
    uint8_t *const data = malloc(n);

    (void)state;
    for (uint64_t seed = 0; seed < 24; seed++) {
        const struct data_kind *const kind = &data_kinds[DATA_N_KINDS - 1 - seed % 2];
        const struct codec_member member = member_of(kind, n);
        struct random r = {seed};
        struct encoder e;
        size_t out_nbytes;
        uint8_t *out;

        kind->fill(&r, data, n);
        encoder_init(&e, &codec_grid_sparse, &member, data, n);
        out = encode_piece(&e, data, 0, n, 0, true, 0, &out_nbytes);
        check_inflates(out, out_nbytes, data, n);
        free(out);
        encoder_release(&e);
    }
    free(data);
}

/* What each codec is for makes it small: at least these times smaller than the data. */
static void test_small(void **state)
{
    static const struct {
        size_t kind;
        size_t codec;
        size_t ratio;
    } cases[] = {{1, 0, 800},  {1, 1, 800}, {1, 2, 800}, {7, 0, 45}, {9, 0, 120}, {9, 2, 130},
                 {10, 0, 150}, {12, 1, 4},  {12, 2, 4},  {11, 1, 2}, {14, 1, 4},  {15, 1, 4},
                 {1, 3, 800},  {11, 3, 2},  {12, 3, 4},  {14, 3, 5}, {15, 3, 5}};
    const size_t n = (size_t)1 << 20;
    uint8_t *const data = malloc(n);

    (void)state;
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        const struct codec_member member = member_of(&data_kinds[cases[i].kind], n);
        struct random r = {i};
        struct encoder e;
        size_t out_nbytes;

        data_kinds[cases[i].kind].fill(&r, data, n);
        encoder_init(&e, codecs[cases[i].codec], &member, data, n);
        out_nbytes = check_whole(&e, data, n);
        if (out_nbytes * cases[i].ratio > n)
            fail_msg("%s with %s: 1:%.1f instead of 1:%zu", data_kinds[cases[i].kind].name,
                     e.choice.codec->name, (double)n / (double)out_nbytes, cases[i].ratio);
        encoder_release(&e);
    }
    free(data);
}

/* Data that repeats at one distance alone: it is learned, and history makes use of it. */
static void test_periods(void **state)
{
    const size_t n = (size_t)300000;
    uint8_t *const data = malloc(n);
    struct random r = {3};

    (void)state;
    for (uint32_t period = 1; period <= DEFLATE_MAX_DISTANCE; period += 1 + period / 3) {
        const struct data_kind kind = {"", NULL, 1, {period}, 1};
        const struct codec_member member = member_of(&kind, n);

        data_random(&r, data, period);
        for (size_t i = period; i < n; i++)
            data[i] = data[i % period];
        for (size_t i = period; i < n; i += 1 + random_below(&r, 800))
            data[i] = 0;
        for (size_t c = 0; c <= 2; c += 2) {
            struct encoder e;
            size_t i = 0;

            encoder_init(&e, codecs[c], &member, data, n);
            while (i < e.state->trained.n_distances && e.state->trained.distances[i] % period != 0)
                i++;
            if (i == e.state->trained.n_distances)
                fail_msg("period %u not learned", period);
            check_whole(&e, data, n);
            assert_true(check_cut(&e, &r, data, n, 100000, HISTORY_NBYTES) < n / 8 + 35000);
            encoder_release(&e);
        }
    }
    free(data);
}

/* Stretches that repeat just within deflate's reach, and just beyond. */
static void test_reach(void **state)
{
    const size_t n = (size_t)70000, at = (size_t)40000;
    const struct data_kind kind = {"", NULL, 4, {0}, 0};
    const struct codec_member member = member_of(&kind, n);
    uint8_t *const data = malloc(n);
    struct random r = {9};

    (void)state;
    for (size_t distance = DEFLATE_MAX_DISTANCE - 8; distance <= DEFLATE_MAX_DISTANCE + 8;
         distance++) {
        const bool is_near = distance <= DEFLATE_MAX_DISTANCE;

        data_random(&r, data, n);
        memcpy(data + at, data + at - distance, 20000);
        for (size_t c = 0; c < ARRAY_SIZE(codecs); c++) {
            struct encoder e;
            size_t out_nbytes;

            encoder_init(&e, codecs[c], &member, data, n);
            out_nbytes = check_whole(&e, data, n);
            if (codecs[c] != &codec_grid_moved &&
                (distance % kind.item_nbytes == 0 ||
                 (codecs[c] != &codec_grid_sparse && codecs[c] != &codec_grid_values)))
                assert_int_equal(out_nbytes < n - 15000, is_near);
            encoder_release(&e);
        }
    }
    free(data);
}

/* A state that has done other things writes the same as a new one, and one without training works.
 */
static void test_reuse(void **state)
{
    const size_t n = SMALL_NBYTES;
    uint8_t *const data = malloc(n), *const other = malloc(n);

    (void)state;
    for (size_t k = 0; k < DATA_N_KINDS; k++) {
        const struct codec_member member = member_of(&data_kinds[k], n);
        struct random r = {k};

        data_kinds[k].fill(&r, data, n);
        data_kinds[(k + 5) % DATA_N_KINDS].fill(&r, other, n);
        for (size_t c = 0; c < ARRAY_SIZE(codecs); c++) {
            uint8_t *first, *second;
            size_t first_nbytes, second_nbytes;
            struct encoder e;
            void *trained;

            encoder_init(&e, codecs[c], &member, data, n);
            first = encode_piece(&e, data, 40000, n - 40000, 30000, false, 1, &first_nbytes);
            check_whole(&e, other, n);
            second = encode_piece(&e, data, 40000, n - 40000, 30000, false, 2, &second_nbytes);
            assert_int_equal(first_nbytes, second_nbytes);
            assert_memory_equal(first, second, first_nbytes);
            free(first);
            free(second);

            codecs[c]->state_free(e.state);
            trained = e.choice.trained;
            e.choice.trained = NULL;
            e.state = codecs[c]->state_new(&e.choice, NULL);
            check_whole(&e, data, n);
            e.choice.trained = trained;
            encoder_release(&e);
        }
    }
    free(data);
    free(other);
}

/* Every instruction set learns the same. */
static void test_train(void **state)
{
    const size_t n = (size_t)400000;
    uint8_t *const data = malloc(n + CODEC_READ_SLACK);

    (void)state;
    for (size_t k = 0; k < DATA_N_KINDS; k++) {
        struct codec_member member = member_of(&data_kinds[k], n);
        struct random r = {k};

        data_kinds[k].fill(&r, data, n);
        for (size_t sample_nbytes = 0; sample_nbytes <= n; sample_nbytes += 1 + sample_nbytes * 2) {
            struct grid_trained first = {0}, other = {0};

            member.n_bytes = random_below(&r, 2) ? 0 : UINT64_C(1) << random_below(&r, 40);
            member.sample = data;
            member.sample_nbytes = sample_nbytes;
            memset(data + sample_nbytes, 1, CODEC_READ_SLACK);
            assert_int_equal(grid_train(&grid_kernels_plain, &member, &first, NULL), 0);
            for (size_t i = 0; i < grid_kernels_n_table; i++) {
                if (!grid_kernels_table[i]->is_supported())
                    continue;
                memset(&other, 0, sizeof other);
                memset(data + sample_nbytes, 2, CODEC_READ_SLACK);
                assert_int_equal(grid_train(grid_kernels_table[i], &member, &other, NULL), 0);
                assert_memory_equal(&first, &other, sizeof first);
            }
        }
    }
    free(data);
}

/* Random members: pieces of several kinds of data in one, any cuts. */
static void test_any(void **state)
{
    const char *const wish = getenv("SYMAUG_TEST_N");
    const unsigned long n_rounds = wish != NULL ? strtoul(wish, NULL, 10) : 1000;
    uint8_t *const data = malloc(SMALL_NBYTES);

    (void)state;
    for (unsigned long round = 0; round < n_rounds; round++) {
        struct random r = {round * 7919 + 1};
        const size_t n = random_below(&r, 1u << (1 + random_below(&r, round % 50 == 0 ? 16 : 12)));
        struct data_kind kind = data_kinds[random_below(&r, DATA_N_KINDS)];
        struct codec_member member;
        struct encoder e;

        kind.n_periods = 1 + random_below(&r, 4);
        for (size_t i = 0; i < kind.n_periods; i++)
            kind.periods[i] = random_below(&r, 1u << (1 + random_below(&r, 20)));
        kind.item_nbytes = 1u << random_below(&r, 4);
        for (size_t at = 0, part; at < n; at += part) {
            part = 1 + random_below(&r, (uint32_t)(n - at));
            data_kinds[random_below(&r, DATA_N_KINDS)].fill(&r, data + at, part);
        }
        member = member_of(&kind, n);
        encoder_init(&e, codecs[round % ARRAY_SIZE(codecs)], &member, data, n);
        check_whole(&e, data, n);
        check_cut(&e, &r, data, n, (uint32_t)n / 50 + 1 + random_below(&r, (uint32_t)n + 1),
                  random_below(&r, HISTORY_NBYTES + 1));
        encoder_release(&e);
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_tiny),    cmocka_unit_test(test_kinds), cmocka_unit_test(test_small),
        cmocka_unit_test(test_large),   cmocka_unit_test(test_runs),  cmocka_unit_test(test_reuse),
        cmocka_unit_test(test_periods), cmocka_unit_test(test_train), cmocka_unit_test(test_reach),
        cmocka_unit_test(test_any),
    };

    return cmocka_run_group_tests_name("grid", tests, NULL, NULL);
}
