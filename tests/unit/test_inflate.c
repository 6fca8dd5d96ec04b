/* test_inflate.c - the streaming inflater: any steps, the exact end, truncation, reset, size. */
#include "inflate_cases.h"

static void test_any_steps_find_the_exact_end(void **test_state)
{
    static const size_t steps[][2] = {
        {IN_MAX, OUT_MAX}, {1, OUT_MAX},  {IN_MAX, 1},   {1, 1},
        {7, 13},           {4096, 65536}, {65536, 1000}, {IN_MAX, 40000}};
    static const size_t sizes[] = {0, 1, 2, 300, 5000, 70000, 400000};
    void *stream = decoder_deflate.state_new(NULL);

    (void)test_state;
    for (int kind = 0; kind < N_DATA_KINDS; kind++) {
        for (size_t p = 0; p < N_PACKINGS; p++) {
            for (size_t s = 0; s < sizeof sizes / sizeof sizes[0]; s++) {
                const size_t n = sizes[s];
                const size_t n_packed = pack_as(kind, n, p);

                for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
                    const size_t n_junk = (i + s + p) % 10;
                    struct outcome o;

                    if (n > 5000 && (steps[i][0] < 4096 || steps[i][1] < 1000))
                        continue; /* slow, and the smaller sizes show it */
                    memset(packed + n_packed, 0xff, n_junk);
                    o = inflate_by_us(stream, packed, n_packed + n_junk, steps[i][0], unpacked, n,
                                      steps[i][1]);
                    assert_int_equal(o.result, 1);
                    assert_int_equal(o.n_out, n);
                    assert_int_equal(o.n_left, n_junk);
                    assert_memory_equal(unpacked, plain, n);
                }
            }
        }
    }
    decoder_deflate.state_free(stream);
}

/* Small streams, so that the end falls on every bit; every kind and amount of junk behind it. */
static void test_bytes_behind_the_end_stay(void **test_state)
{
    static const uint8_t junk[] = {0x00, 0xff, 0x03, 0x55};
    static const size_t in_steps[] = {1, 2, 3, 5, 8, 9, 100000};
    void *stream = decoder_deflate.state_new(NULL);

    (void)test_state;
    for (size_t n = 0; n < 120; n++) {
        for (size_t p = 0; p < N_PACKINGS; p++) {
            const size_t n_packed = pack_as(n % 2 ? DATA_SKEWED : DATA_FLOAT, n, p);

            for (size_t n_junk = 0; n_junk < 10; n_junk++) {
                for (size_t i = 0; i < sizeof in_steps / sizeof in_steps[0]; i++) {
                    struct outcome o;

                    memset(packed + n_packed, junk[(n + i) % 4], n_junk);
                    o = inflate_by_us(stream, packed, n_packed + n_junk, in_steps[i], unpacked, n,
                                      1 + i * 30);
                    assert_int_equal(o.result, 1);
                    assert_int_equal(o.n_out, n);
                    assert_int_equal(o.n_left, n_junk);
                    assert_memory_equal(unpacked, plain, n);
                }
            }
        }
    }
    decoder_deflate.state_free(stream);
}

static void test_truncated_stream_is_not_done(void **test_state)
{
    void *stream = decoder_deflate.state_new(NULL);

    (void)test_state;
    for (size_t p = 0; p < N_PACKINGS; p++) {
        const size_t n_packed = pack_as(DATA_PLANES, 3000, p);

        for (size_t n_in = 0; n_in < n_packed; n_in++) {
            struct outcome o =
                inflate_by_us(stream, packed, n_in, n_in % 50 + 1, unpacked, OUT_MAX, 5000);

            assert_int_equal(o.result, 0);
            assert_int_equal(o.n_left, 0);
            assert_true(o.n_out <= 3000);
            assert_memory_equal(unpacked, plain, o.n_out);
        }
    }
    decoder_deflate.state_free(stream);
}

/* With less room than the stream has output it is neither done nor an error. */
static void test_longer_than_expected_is_not_done(void **test_state)
{
    void *stream = decoder_deflate.state_new(NULL);

    (void)test_state;
    for (size_t p = 0; p < N_PACKINGS; p++) {
        const size_t n_packed = pack_as(DATA_SPARSE, 100000, p);

        for (size_t n_out = 0; n_out < 100000; n_out += n_out < 40 ? 1 : 33333) {
            struct outcome o =
                inflate_by_us(stream, packed, n_packed, IN_MAX, unpacked, n_out, 7000);

            assert_int_equal(o.result, 0);
            assert_int_equal(o.n_out, n_out);
            assert_memory_equal(unpacked, plain, n_out);
        }
    }
    decoder_deflate.state_free(stream);
}

static void test_reset_forgets(void **test_state)
{
    /* A fixed block: one match of length 3 at distance 1, which nothing precedes. */
    static const uint8_t too_far[] = {0x03, 0x02, 0x00};
    void *stream = decoder_deflate.state_new(NULL);
    const size_t n_packed = pack_as(DATA_PLANES, 50000, 0);

    (void)test_state;
    for (int i = 0; i < 2; i++) {
        assert_int_equal(
            inflate_by_us(stream, packed, n_packed, 999, unpacked, OUT_MAX, 12345).result, 1);
        assert_int_equal(inflate_by_us(stream, too_far, 3, 3, unpacked, OUT_MAX, 100).result, -1);
        assert_int_equal(
            inflate_by_us(stream, packed, n_packed / 2, 999, unpacked, OUT_MAX, 100).result, 0);
    }
    decoder_deflate.state_free(stream);
    decoder_deflate.state_free(NULL);
}

static void test_an_error_stays(void **test_state)
{
    static const uint8_t reserved[] = {0x07, 0, 0, 0};
    void *stream = decoder_deflate.state_new(NULL);
    struct decoding io = {reserved, sizeof reserved, unpacked, 10, false};

    (void)test_state;
    for (int i = 0; i < 3; i++) {
        struct error err = {0};

        assert_int_equal(decoder_deflate.decode(stream, &io, &err), -1);
        assert_int_equal(err.kind, ERROR_DATA);
        assert_false(io.done);
    }
    decoder_deflate.state_free(stream);
}

/* 4 GiB + 8 MiB in one block, matched at distance 32768 all the time: 32 bits do not count it. */
static void test_more_than_4_gib(void **test_state)
{
    const uint64_t n_matches = ((UINT64_C(1) << 32) + (8 << 20)) / 258;
    /* A 0 for length 258, a 0 for the distance, 13 extra bits. */
    const uint64_t match = UINT64_C(0x7ffc);
    static uint8_t group[15 * 4096];
    const uint64_t wrap = (UINT64_C(1) << 32) + 1000;
    uint8_t literals[286] = {0}, distances[30] = {0};
    void *stream = decoder_deflate.state_new(NULL);
    struct error err = {0};
    struct bits b = {0};
    uint64_t n_out = 0, n_groups = n_matches * 15 / 8 / sizeof group;
    struct decoding io = {0};

    (void)test_state;
    literals[0] = 2;
    literals[256] = 2;
    literals[285] = 1;
    distances[0] = 2; /* 1 */
    distances[1] = 2; /* unused */
    distances[29] = 1;
    put_header(&b, literals, 286, distances, 30);
    bits_put_code(&b, 2, 2); /* a literal, then 127 runs and one more group of matches */
    for (int i = 0; i < 128; i++)
        bits_put_code(&b, 0 << 2 | 2, 3);
    while (b.n_bits % 8 != 0) /* reach a byte: each run adds 3 bits */
        bits_put_code(&b, 0 << 2 | 2, 3);
    for (unsigned i = 0; i < 8 * sizeof group; i++)
        group[i / 8] |= (uint8_t)((match >> i % 15 & 1) << i % 8);
    for (uint64_t i = 0; i <= n_groups && !io.done; i++) {
        io.in = i == 0 ? b.bytes : group;
        io.in_nbytes = i == 0 ? b.n_bits / 8 : sizeof group;
        while (io.in_nbytes > 0) {
            /* One call begins just behind the wrap. */
            const size_t step = n_out < wrap && wrap - n_out < OUT_MAX ? wrap - n_out : OUT_MAX;

            io.out = unpacked;
            io.out_nbytes = step;
            assert_int_equal(decoder_deflate.decode(stream, &io, &err), 0);
            n_out += step - io.out_nbytes;
        }
    }
    assert_true(n_out > wrap + OUT_MAX);
    decoder_deflate.state_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_steps_find_the_exact_end),
        cmocka_unit_test(test_bytes_behind_the_end_stay),
        cmocka_unit_test(test_truncated_stream_is_not_done),
        cmocka_unit_test(test_longer_than_expected_is_not_done),
        cmocka_unit_test(test_reset_forgets),
        cmocka_unit_test(test_an_error_stays),
        cmocka_unit_test(test_more_than_4_gib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
