/* test_inflate_strict.c - the inflater accepts and refuses exactly what zlib does. */
#include "inflate_cases.h"

static uint8_t expected[OUT_MAX + 64];

/* Code lengths of 'a' 'b' 'c', end of block and length 3, and of the first four distances; then
 * the bits behind the header. */
static const struct {
    const char *what;
    uint8_t a, b, c, end, three, distances[4];
    const char *body;
    int result;
} codes[] = {
    {"complete", 2, 2, 0, 2, 2, {1, 1, 0, 0}, "00 11 0 10", 1},
    {"one distance", 2, 2, 0, 2, 2, {1, 0, 0, 0}, "00 11 0 10", 1},
    {"its unused half", 2, 2, 0, 2, 2, {1, 0, 0, 0}, "00 11 1 10", -1},
    {"no distance", 2, 2, 0, 2, 2, {0, 0, 0, 0}, "00 01 10", 1},
    {"no distance, but used", 2, 2, 0, 2, 2, {0, 0, 0, 0}, "00 11 0 10", -1},
    {"distance too far", 2, 2, 0, 2, 2, {1, 1, 0, 0}, "00 11 1 10", -1},
    {"end of block alone", 0, 0, 0, 1, 0, {0, 0, 0, 0}, "0", 1},
    {"its unused half", 0, 0, 0, 1, 0, {0, 0, 0, 0}, "1", -1},
    {"end of block alone, too long", 0, 0, 0, 2, 0, {0, 0, 0, 0}, "00", -1},
    {"no end of block", 1, 1, 0, 0, 0, {0, 0, 0, 0}, "0 1 0", -1},
    {"incomplete literals", 2, 0, 0, 2, 2, {1, 1, 0, 0}, "00 10 0 01", -1},
    {"incomplete long literals", 1, 2, 14, 3, 0, {1, 1, 0, 0}, "0 10 110", -1},
    {"literals oversubscribed", 1, 1, 1, 1, 0, {1, 1, 0, 0}, "0 1", -1},
    {"incomplete distances", 2, 2, 0, 2, 2, {2, 2, 2, 0}, "00 11 00 10", -1},
    {"one long distance", 2, 2, 0, 2, 2, {2, 0, 0, 0}, "00 11 00 10", -1},
    {"one very long distance", 2, 2, 0, 2, 2, {15, 0, 0, 0}, "00 11 000000000000000 10", -1},
    {"incomplete very long distances", 2, 2, 0, 2, 2, {1, 2, 13, 13}, "00 11 111 10", -1},
    {"distances oversubscribed", 2, 2, 0, 2, 2, {1, 1, 1, 0}, "00 11 0 10", -1},
    {"very long distances", 2, 2, 0, 2, 2, {1, 2, 3, 3}, "00 11 0 10", 1},
};

static void test_code_sets_as_zlib_takes_them(void **test_state)
{
    void *stream = decoder_deflate.state_new(NULL);

    (void)test_state;
    for (size_t i = 0; i < sizeof codes / sizeof codes[0]; i++) {
        uint8_t literals[258] = {0};
        struct bits b = {0};
        struct outcome z, o;

        literals['a'] = codes[i].a;
        literals['b'] = codes[i].b;
        literals['c'] = codes[i].c;
        literals[256] = codes[i].end;
        literals[257] = codes[i].three;
        put_header(&b, literals, 258, codes[i].distances, 4);
        for (const char *c = codes[i].body; *c != '\0'; c++)
            if (*c != ' ')
                bits_put(&b, *c == '1', 1);
        z = inflate_by_zlib(b.bytes, sizeof b.bytes, expected, OUT_MAX);
        o = inflate_by_us(stream, b.bytes, sizeof b.bytes, 1 + i * 40, unpacked, OUT_MAX, 1000);
        if (o.result != codes[i].result || z.result != codes[i].result)
            fail_msg("%s: %d, zlib %d", codes[i].what, o.result, z.result);
        if (o.result == 1) {
            assert_int_equal(o.n_left, z.n_left);
            assert_int_equal(o.n_out, z.n_out);
            assert_memory_equal(unpacked, expected, o.n_out);
        }
    }
    decoder_deflate.state_free(stream);
}

/* Random code lengths, mostly near a complete code, with a random body. */
static void test_random_code_sets_as_zlib(void **test_state)
{
    void *stream = decoder_deflate.state_new(NULL);
    uint64_t random = 20;
    size_t n_accepted = 0;

    (void)test_state;
    for (int round = 0; round < 20000; round++) {
        uint8_t literals[286] = {0}, distances[30] = {0};
        const unsigned n_distances = 1 + (unsigned)random_below(&random, 30);
        struct bits b = {0};
        struct outcome z, o;
        int left = 1 << 15;

        literals[256] = (uint8_t)(1 + random_below(&random, 4));
        left -= 1 << 15 >> literals[256];
        for (unsigned symbol = 250; symbol < 286 && left > 0; symbol++) {
            const uint8_t length = (uint8_t)(1 + random_below(&random, 15));

            if (symbol == 256 || 1 << 15 >> length > left)
                continue;
            literals[symbol] = length;
            left -= 1 << 15 >> length;
        }
        if (left > 0 && (left & (left - 1)) == 0 && random_below(&random, 8) > 0)
            literals['a'] = (uint8_t)(15 - __builtin_ctz((unsigned)left));
        left = 1 << 15;
        for (unsigned symbol = 0; symbol < n_distances && left > 0; symbol++) {
            const uint8_t length = (uint8_t)(1 + random_below(&random, 4));

            if (1 << 15 >> length > left)
                continue;
            distances[symbol] = length;
            left -= 1 << 15 >> length;
        }
        put_header(&b, literals, 286, distances, n_distances);
        while (b.n_bits < 8 * sizeof b.bytes)
            bits_put(&b, random_next(&random) & 1, 1);
        z = inflate_by_zlib(b.bytes, sizeof b.bytes, expected, OUT_MAX);
        o = inflate_by_us(stream, b.bytes, sizeof b.bytes,
                          round % 3 ? sizeof b.bytes : 1 + random_below(&random, 300), unpacked,
                          OUT_MAX, OUT_MAX);
        if (z.result != o.result)
            fail_msg("round %d: %d, zlib %d", round, o.result, z.result);
        if (z.result == 1) {
            n_accepted++;
            assert_int_equal(o.n_left, z.n_left);
            assert_int_equal(o.n_out, z.n_out);
            assert_memory_equal(unpacked, expected, o.n_out);
        }
    }
    assert_true(n_accepted > 500);
    decoder_deflate.state_free(stream);
}

static void mutate(uint8_t *bytes, size_t n_bytes, uint64_t *random)
{
    for (size_t i = 1 + random_below(random, 3); i > 0; i--) {
        /* Headers decide most: half of the changes go to the first bytes. */
        const size_t limit = random_next(random) & 1 && n_bytes > 100 ? 100 : n_bytes;
        const size_t at = random_below(random, limit);

        if (random_next(random) & 1)
            bytes[at] ^= (uint8_t)(1u << random_below(random, 8));
        else
            bytes[at] = (uint8_t)random_next(random);
    }
}

static void test_mutated_streams_as_zlib(void **test_state)
{
    static uint8_t mutated[IN_MAX + 400];
    void *stream = decoder_deflate.state_new(NULL);
    uint64_t random = 7;
    size_t n_results[3] = {0}, n_packed = 0;

    (void)test_state;
    for (int round = 0; round < 20000; round++) {
        struct outcome z, o;

        if (round % 50 == 0)
            n_packed = pack_as((round / 50) % N_DATA_KINDS, 1 + random_below(&random, 20000),
                               random_below(&random, N_PACKINGS));
        memcpy(mutated, packed, n_packed);
        memset(mutated + n_packed, 0, 400);
        mutate(mutated, n_packed, &random);
        z = inflate_by_zlib(mutated, n_packed, expected, OUT_MAX);
        o = inflate_by_us(stream, mutated, n_packed,
                          round % 2 ? n_packed : 1 + random_below(&random, 2000), unpacked, OUT_MAX,
                          round % 4 ? OUT_MAX : 1 + random_below(&random, 3000));
        if (z.result == 0 && o.result < 0) /* a header that zlib refuses some bytes later */
            z = inflate_by_zlib(mutated, n_packed + 400, expected, OUT_MAX);
        if (z.result != o.result)
            fail_msg("round %d: %d, zlib %d", round, o.result, z.result);
        n_results[z.result + 1]++;
        if (z.result == 1) {
            assert_int_equal(o.n_left, z.n_left);
            assert_int_equal(o.n_out, z.n_out);
        }
        if (z.result >= 0)
            assert_memory_equal(unpacked, expected, o.n_out < z.n_out ? o.n_out : z.n_out);
    }
    assert_true(n_results[0] > 1000 && n_results[1] > 100 && n_results[2] > 1000);
    decoder_deflate.state_free(stream);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_code_sets_as_zlib_takes_them),
        cmocka_unit_test(test_random_code_sets_as_zlib),
        cmocka_unit_test(test_mutated_streams_as_zlib),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
