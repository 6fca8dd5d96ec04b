/*
 * test_grid_sparse.c - the grid encoder's parsers for policies, at their edges: elements of every
 * size, runs of zeros of every length, pieces that end or begin anywhere, elements that come again
 * at the end of deflate's reach, images that move their elements, or that are said to do so and do
 * not; and the counting of symbols. All instruction sets agree.
 */
#include "test_grid_encoder.h"

#define MAX_NBYTES ((size_t)300000)

static const struct parser {
    const struct codec *codec;
    size_t item_nbytes;
} parsers[] = {{&codec_grid_sparse, 4},
               {&codec_grid_sparse, 8},
               {&codec_grid_moved, 2},
               {&codec_grid_moved, 4},
               {&codec_grid_moved, 8}};

static struct codec_member member_of_items(size_t item_nbytes, size_t n)
{
    const struct data_kind kind = {.item_nbytes = item_nbytes};

    return member_of(&kind, n);
}

/* The part of the data from `at` on, with some of the rest as history, by all instruction sets. */
static void check_behind(struct encoder *e, const uint8_t *data, size_t n, size_t at,
                         size_t history_nbytes)
{
    uint8_t *const all = malloc(2 * n + 1000);
    size_t before_nbytes = 0, first_nbytes = 0;
    uint8_t *before = NULL;

    e->state->kernels = grid_kernels_best();
    before = encode_piece(e, data, 0, at, 0, false, 0, &before_nbytes);
    memcpy(all, before, before_nbytes);
    for (size_t i = 0; i < grid_kernels_n_table; i++) {
        size_t out_nbytes;
        uint8_t *out;

        if (!grid_kernels_table[i]->is_supported())
            continue;
        e->state->kernels = grid_kernels_table[i];
        out =
            encode_piece(e, data, at, n - at, history_nbytes, true, (unsigned)(i * i), &out_nbytes);
        if (first_nbytes == 0) {
            first_nbytes = out_nbytes;
            memcpy(all + before_nbytes, out, out_nbytes);
            check_inflates(all, before_nbytes + out_nbytes, data, n);
        }
        assert_int_equal(out_nbytes, first_nbytes);
        assert_memory_equal(out, all + before_nbytes, first_nbytes);
        free(out);
    }
    free(before);
    free(all);
}

/* Policies, thin and dense, of few and of many values; cut anywhere. */
static void test_policies(void **state)
{
    static const struct {
        uint32_t zeros; /* percent */
        uint32_t n_values;
    } cases[] = {{0, 1u << 30}, {0, 3}, {30, 1u << 30}, {40, 20}, {70, 200}, {95, 6}, {99, 1}};
    uint8_t *const data = malloc(MAX_NBYTES);

    (void)state;
    for (size_t k = 0; k < ARRAY_SIZE(cases) * ARRAY_SIZE(parsers); k++) {
        const struct parser *parser = &parsers[k % ARRAY_SIZE(parsers)];
        const size_t item_nbytes = parser->item_nbytes;
        const size_t i = k / ARRAY_SIZE(parsers), n = MAX_NBYTES - k;
        const struct codec_member member = member_of_items(item_nbytes, n);
        struct random r = {k};
        struct encoder e;

        data_policy(&r, data, n, item_nbytes, cases[i].zeros, cases[i].n_values);
        encoder_init(&e, parser->codec, &member, data, n);
        check_whole(&e, data, n);
        check_cut(&e, &r, data, n, 70000, CODEC_HISTORY_NBYTES);
        check_cut(&e, &r, data, n / 8, 3000, random_below(&r, 5000));
        encoder_release(&e);
    }
    free(data);
}

/* Short pieces of every length behind a history of any length, shorter than an element too. */
static void test_ends(void **state)
{
    enum { LONGEST = 170 };
    uint8_t data[LONGEST + 40];

    (void)state;
    for (size_t k = 0; k < 4 * ARRAY_SIZE(parsers); k++) {
        const struct parser *parser = &parsers[k % ARRAY_SIZE(parsers)];
        const size_t item_nbytes = parser->item_nbytes;
        const struct codec_member member = member_of_items(item_nbytes, sizeof data);
        struct random r = {k};
        struct encoder e;

        data_policy(&r, data, sizeof data, item_nbytes, k % 2 ? 60 : 10, k < 10 ? 2 : 5);
        encoder_init(&e, parser->codec, &member, data, sizeof data);
        for (size_t n = 0; n <= LONGEST; n++) {
            const size_t at = random_below(&r, 40);

            check_whole(&e, data + at, n);
            check_behind(&e, data, at + n, at, random_below(&r, (uint32_t)at + 1));
        }
        encoder_release(&e);
    }
}

/* Runs of zeros of every length, behind elements that end with a zero byte or do not. */
static void test_zeros(void **state)
{
    enum { MAX_RUN = 2 * DEFLATE_MAX_MATCH + 40 };
    uint8_t data[MAX_RUN * 8 + 200];

    (void)state;
    for (size_t k = 0; k < 2 * ARRAY_SIZE(parsers); k++) {
        const struct parser *parser = &parsers[k / 2];
        const size_t item_nbytes = parser->item_nbytes;
        const size_t value_at = k % 2 ? item_nbytes - 1 : 0;
        const struct codec_member member = member_of_items(item_nbytes, sizeof data);
        struct encoder e;

        memset(data, 0, sizeof data);
        data[3 * item_nbytes + value_at] = 5;
        encoder_init(&e, parser->codec, &member, data, sizeof data);
        for (size_t run = 0; run <= MAX_RUN; run += run < 20 ? 1 : 7) {
            const size_t at = (4 + run) * item_nbytes + value_at;

            data[at] = 5;
            check_whole(&e, data, at + 1 + run % 100);
            data[at] = 0;
            check_whole(&e, data + 4 * item_nbytes, run * item_nbytes);
        }
        encoder_release(&e);
    }
}

/* One pair of elements comes again, as far away as deflate can reach or farther, after many other
 * elements have been entered. It is found within reach alone. */
static void test_reach(void **state)
{
    const size_t at = 200000;
    uint8_t *const data = malloc(MAX_NBYTES);

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const size_t item_nbytes = parsers[k].item_nbytes, n = at + 60 * 40;
        const struct codec_member member = member_of_items(item_nbytes, n);
        size_t sizes[5];

        for (size_t i = 0; i < ARRAY_SIZE(sizes); i++) {
            const size_t distance = DEFLATE_MAX_DISTANCE + i * item_nbytes - 2 * item_nbytes;
            struct random r = {7};
            struct encoder e;

            data_random(&r, data, n);
            for (size_t p = at; p < n; p += 60)
                memcpy(data + p - p % 8, data + p - p % 8 - distance, 48);
            encoder_init(&e, &codec_grid_sparse, &member, data, n);
            sizes[i] = check_whole(&e, data, n);
            encoder_release(&e);
        }
        assert_true(sizes[0] < n - 500 && sizes[1] < n - 500 && sizes[2] < n - 500);
        assert_true(sizes[3] > n && sizes[4] > n);
    }
    free(data);
}

/* Rows in blocks, whose images have their elements elsewhere, with a header in front: `zeros` of
 * 100 elements are 0, the others are all different. Returns how many bytes there are. */
static size_t fill_images(struct random *r, const struct codec_member *about, uint32_t zeros,
                          uint8_t *data, size_t n)
{
    const size_t item = about->item_nbytes, n_items = about->row_nbytes / item;
    const size_t image_nbytes = about->image_nrows * about->row_nbytes;
    uint16_t *const from = calloc(about->n_images * n_items, sizeof *from);
    size_t at = about->header_nbytes;

    data_random(r, data, at);
    for (size_t i = 0; i < about->n_images * n_items; i++)
        from[i] = (uint16_t)(i % n_items);
    for (size_t i = n_items; i < about->n_images * n_items; i++) {
        const size_t other = i + random_below(r, (uint32_t)(n_items - i % n_items));
        const uint16_t kept = from[i];

        from[i] = from[other];
        from[other] = kept;
    }
    for (; at + about->n_images * image_nbytes <= n; at += about->n_images * image_nbytes) {
        for (size_t i = 0; i < image_nbytes; i += item)
            data_random(r, data + at + i, item);
        for (size_t i = 0; i < image_nbytes; i += item)
            if (random_below(r, 100) < zeros)
                memset(data + at + i, 0, item);
        for (size_t i = image_nbytes; i < about->n_images * image_nbytes; i += item) {
            const size_t row = i % image_nbytes / about->row_nbytes * about->row_nbytes;
            const size_t element = i % about->row_nbytes / item;

            memcpy(data + at + i,
                   data + at + row + from[i / image_nbytes * n_items + element] * item, item);
        }
    }
    free(from);
    return at;
}

/* Elements are found where a transform moved them from, in pieces that begin anywhere, if what is
 * said of the rows is true; if it is not, the data comes back all the same. */
static void test_images(void **state)
{
    static const struct {
        size_t item_nbytes, n_items, n_rows, n_images;
        uint32_t zeros;
        bool are_small;
    } cases[] = {
        {4, 169, 16, 4, 20, true},  {4, 225, 16, 8, 70, true},  {8, 225, 16, 8, 0, true},
        {4, 50, 1, 12, 0, true},    {4, 481, 16, 2, 10, true},  {4, 483, 16, 2, 10, true},
        {4, 484, 16, 2, 10, false}, {4, 361, 30, 8, 10, false}, {2, 361, 16, 8, 0, false},
    };
    uint8_t *const data = malloc(MAX_NBYTES);

    (void)state;
    for (size_t k = 0; k < 4 * ARRAY_SIZE(cases); k++) {
        const size_t i = k / 4;
        struct codec_member about = member_of_items(cases[i].item_nbytes, MAX_NBYTES);
        struct random r = {k};
        struct encoder e;
        size_t n, n_encoded;

        about.header_nbytes = k % 4 == 1 ? 192 : 128;
        about.row_nbytes = cases[i].n_items * cases[i].item_nbytes;
        about.image_nrows = cases[i].n_rows;
        about.n_images = cases[i].n_images;
        n = fill_images(&r, &about, cases[i].zeros, data, MAX_NBYTES);
        if (k % 4 == 2) /* not true */
            about.image_nrows--;
        if (k % 4 == 3)
            about.header_nbytes += 4;
        encoder_init(&e, &codec_grid_moved, &about, data, n);
        n_encoded = check_whole(&e, data, n);
        check_cut(&e, &r, data, n, 70000, CODEC_HISTORY_NBYTES);
        check_cut(&e, &r, data, n, 9000, random_below(&r, 9000));
        if (k % 4 < 2 && cases[i].are_small) {
            const size_t literals = n / 100 * (100 - cases[i].zeros);
            const size_t moves = literals / about.item_nbytes * 21 / 8;
            const size_t zeros = (n - literals) / about.item_nbytes * 14 / 8;

            assert_in_range(n_encoded, literals / about.n_images,
                            literals / about.n_images + moves + zeros);
        } else if (k % 4 < 2) {
            assert_true(n_encoded > n / 100 * (100 - cases[i].zeros));
        }
        encoder_release(&e);
    }
    free(data);
}

/* The codes of a sample are used for the rows after it, but not for other ones: a piece whose rows
 * change to dearer ones takes little more than its parts do, and never more than its bound. */
static void test_following(void **state)
{
    enum { N_KINDS = 5, PART_NBYTES = 300000, N_ITEMS = 169 };
    static const uint32_t zeros[N_KINDS] = {50, 0, 95, 100, 20};
    uint8_t *const data = malloc(2 * PART_NBYTES);

    (void)state;
    for (size_t k = 0; k < 3 * N_KINDS * N_KINDS; k++) {
        const size_t item = 2u << k % 3, first = k / 3 % N_KINDS, second = k / 3 / N_KINDS;
        struct codec_member about = member_of_items(item, 2 * PART_NBYTES);
        struct random r = {k};
        struct encoder e;
        size_t n, n_first, apart, together;

        about.row_nbytes = N_ITEMS * item;
        about.image_nrows = 4;
        about.n_images = 4;
        n_first = fill_images(&r, &about, zeros[first], data, PART_NBYTES);
        n = n_first + fill_images(&r, &about, zeros[second], data + n_first, PART_NBYTES);
        for (size_t i = 0; i < n_first && k % 2 == 0;
             i++) /* small numbers, whose codes are short */
            data[i] = i % item == 0 ? data[i] % 8 : 0;
        encoder_init(&e, &codec_grid_moved, &about, data, n);
        apart = check_whole(&e, data, n_first) + check_whole(&e, data + n_first, n - n_first);
        together = check_whole(&e, data, n);
        check_cut(&e, &r, data, n, 250000, CODEC_HISTORY_NBYTES);
        assert_in_range(together, 0, apart + apart / 7);
        encoder_release(&e);
    }
    /* Bytes that the sample lacks have the longest codes: too many to be written on. */
    enum { SAMPLE_NBYTES = 128 << 10, OTHER_NBYTES = 8 << 10, N_BYTES = 192 << 10 };
    struct codec_member about = member_of_items(8, N_BYTES);
    struct random r = {1};
    struct encoder e;

    data_random(&r, data, N_BYTES);
    for (size_t i = 0; i < N_BYTES; i++)
        data[i] =
            i / OTHER_NBYTES == SAMPLE_NBYTES / OTHER_NBYTES ? 251 + data[i] % 5 : data[i] % 251;
    encoder_init(&e, &codec_grid_moved, &about, data, N_BYTES);
    check_whole(&e, data, N_BYTES);
    encoder_release(&e);
    free(data);
}

/* Sequences of every kind of length and number are counted as one by one. */
static void test_count(void **state)
{
    enum { N_SEQUENCES = 3000, N_BYTES = 400000 };
    uint8_t *const data = malloc(N_BYTES + CODEC_READ_SLACK);
    struct grid_sequence sequences[N_SEQUENCES];
    struct random r = {1};

    (void)state;
    data_skewed(&r, data, N_BYTES + CODEC_READ_SLACK);
    for (size_t round = 0; round < 60; round++) {
        const size_t n_sequences = round < 8 ? round : random_below(&r, N_SEQUENCES);
        struct grid_counts expected = {.litlen[3] = 7, .distance[2] = 1};
        struct grid_counts counts[2];
        size_t n = 0, tail = random_below(&r, 40);

        counts[0] = expected;
        for (size_t i = 0; i < n_sequences; i++) {
            const uint32_t n_literals = random_below(&r, 1u << random_below(&r, 7));
            const uint32_t length = 3 + random_below(&r, random_below(&r, 2) ? 20 : 256);
            const uint32_t distance = 1 + random_below(&r, 1u << random_below(&r, 16));

            for (size_t j = 0; j < n_literals; j++)
                expected.litlen[data[n + j]]++;
            expected.litlen[deflate_length_symbol(length)]++;
            expected.distance[deflate_distance_symbol(distance)]++;
            assert_int_equal(deflate_litlen_extra(deflate_length_symbol(length)),
                             deflate_length_extra(length));
            assert_int_equal(deflate_symbol_extra(deflate_distance_symbol(distance)),
                             deflate_distance_extra(distance));
            sequences[i] =
                (struct grid_sequence){n_literals, (uint16_t)length, (uint16_t)(distance - 1)};
            n += n_literals + length;
            if (n > N_BYTES - 1000)
                fail_msg("too few bytes for the sequences");
        }
        for (size_t j = 0; j < tail; j++)
            expected.litlen[data[n + j]]++;
        for (size_t i = 0; i < grid_kernels_n_table; i++) {
            if (!grid_kernels_table[i]->is_supported())
                continue;
            counts[1] = counts[0];
            grid_kernels_table[i]->count(data, n + tail, sequences, n_sequences, &counts[1]);
            assert_memory_equal(&counts[1], &expected, sizeof expected);
        }
    }
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_policies), cmocka_unit_test(test_ends),
        cmocka_unit_test(test_zeros),    cmocka_unit_test(test_reach),
        cmocka_unit_test(test_images),   cmocka_unit_test(test_following),
        cmocka_unit_test(test_count),
    };

    return cmocka_run_group_tests_name("grid_sparse", tests, NULL, NULL);
}
