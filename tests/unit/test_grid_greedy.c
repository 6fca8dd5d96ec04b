/*
 * test_grid_greedy.c - what the greedy parser has to find out by itself: that literals may be
 * cheap, that a match may wait for an element, and, from its training, what repeats among empty
 * planes.
 */
#include "test_grid_encoder.h"

#define N_BYTES ((size_t)1 << 18)

/* The size in one piece; in several pieces the data has to come back, too. */
static size_t encoded_nbytes(const struct data_kind *kind, const uint8_t *data, size_t n)
{
    const struct codec_member member = member_of(kind, n);
    struct random r = {0};
    struct encoder e;
    size_t n_encoded;

    encoder_init(&e, &codec_grid, &member, data, n);
    n_encoded = check_whole(&e, data, n);
    check_cut(&e, &r, data, n, 20000, CODEC_HISTORY_NBYTES);
    encoder_release(&e);
    return n_encoded;
}

/* Four letters at random take little more than 2 bits each. Matches of seven of them are
 * everywhere, and take 3 bits a letter. */
static void test_literals_are_cheap(void **state)
{
    const struct data_kind kind = {"", NULL, 1, {100}, 1};
    uint8_t *const data = malloc(N_BYTES);
    struct random r = {1};

    (void)state;
    for (size_t i = 0; i < N_BYTES; i++)
        data[i] = (uint8_t)random_below(&r, 4);
    assert_true(encoded_nbytes(&kind, data, N_BYTES) < N_BYTES * 26 / 80);
    free(data);
}

/* Elements that are 1 or 0, repeated at a distance but for a few. One that is different takes
 * literals and the next match; to match it somewhere else, as a short match does, takes more. */
static void test_match_waits(void **state)
{
    static const struct {
        size_t item_nbytes;
        uint32_t one_in;   /* elements is 1 */
        size_t most_nbits; /* for one that is different */
    } cases[] = {{1, 2, 65}, {4, 16, 48}};
    enum { PERIOD = 4000, EVERY = 400 };
    uint8_t *const data = malloc(N_BYTES);

    (void)state;
    for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
        const size_t item = cases[c].item_nbytes;
        const struct data_kind kind = {"", NULL, item, {PERIOD}, 1};
        struct random r = {2};
        size_t n_changes = 0;

        memset(data, 0, N_BYTES);
        for (size_t i = item - 1; i < PERIOD; i += item)
            data[i] = random_below(&r, cases[c].one_in) == 0;
        for (size_t i = PERIOD; i < N_BYTES; i++)
            data[i] = data[i - PERIOD];
        for (size_t i = PERIOD; i < N_BYTES; i += 1 + random_below(&r, 2 * EVERY)) {
            data[i / item * item + item - 1] ^= 1;
            n_changes++;
        }
        assert_true(encoded_nbytes(&kind, data, N_BYTES) * 8 < n_changes * cases[c].most_nbits);
    }
    free(data);
}

/* Nearly all is zero; the rest repeats, which the training has to see. */
static void test_runs_do_not_hide_periods(void **state)
{
    enum { PERIOD = 24548 };
    const size_t n = (size_t)1 << 20;
    const struct data_kind kind = {"", NULL, 4, {76, 1444, PERIOD}, 3};
    const struct codec_member member = member_of(&kind, 16 * n);
    uint8_t *const data = calloc(1, n);
    struct random r = {3};
    struct encoder e;
    bool found = false;

    (void)state;
    for (int i = 0; i < 12; i++)
        data[4 * random_below(&r, PERIOD / 4)] = 1;
    for (size_t i = PERIOD; i < n; i++)
        data[i] = data[i - PERIOD];
    encoder_init(&e, &codec_grid, &member, data, n);
    for (size_t i = 0; i < e.state->trained.n_distances; i++)
        found |= e.state->trained.distances[i] == PERIOD;
    assert_true(found);
    encoder_release(&e);
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_literals_are_cheap),
        cmocka_unit_test(test_match_waits),
        cmocka_unit_test(test_runs_do_not_hide_periods),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
