/*
 * test_grid_data.h - inputs for the tests of the grid encoder: a random source, and kinds of data
 * that look like members of shards, or like nothing at all.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct random {
    uint64_t state;
};

static inline uint32_t random_next(struct random *r)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33);
}

/* Below n, which is not 0. */
static inline uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)((uint64_t)random_next(r) * n >> 31);
}

static inline void data_random(struct random *r, uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)random_below(r, 256);
}

static inline void data_zero(struct random *r, uint8_t *data, size_t n)
{
    (void)r;
    memset(data, 0, n);
}

static inline void data_constant(struct random *r, uint8_t *data, size_t n)
{
    memset(data, (int)random_below(r, 256), n);
}

static inline void data_two_letters(struct random *r, uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)('a' + random_below(r, 2));
}

/* Skewed counts: deep Huffman trees. */
static inline void data_skewed(struct random *r, uint8_t *data, size_t n)
{
    for (size_t i = 0; i < n; i++)
        data[i] = (uint8_t)__builtin_ctz(random_next(r) | 1u << 30);
}

/* All bytes equal but for rare random ones. */
static inline void data_rare(struct random *r, uint8_t *data, size_t n)
{
    memset(data, 7, n);
    for (size_t i = 0; i < n; i += 1 + random_below(r, 500))
        data[i] = (uint8_t)random_below(r, 256);
}

/* Runs of zeros, of very different lengths, between elements of 4 bytes. */
static inline void data_runs(struct random *r, uint8_t *data, size_t n)
{
    memset(data, 0, n);
    for (size_t i = 0; i + 4 < n; i += 4 + 4 * (size_t)random_below(r, 1u << random_below(r, 9)))
        data[i + 3] = (uint8_t)(1 + random_below(r, 200));
}

/* Copies of earlier stretches of any length at any distance, random bytes between them. */
static inline void data_copies(struct random *r, uint8_t *data, size_t n)
{
    size_t i = 0;

    while (i < n) {
        size_t length = 1 + random_below(r, 1u << random_below(r, 11));
        const size_t distance = 1 + random_below(r, 1u << random_below(r, 17));
        const int copies = i >= distance && random_below(r, 4) != 0;

        if (!copies)
            length = length % 8 + 1;
        for (; length > 0 && i < n; length--, i++)
            data[i] = copies ? data[i - distance] : (uint8_t)random_below(r, 256);
    }
}

static inline void put_element(uint8_t *data, size_t n, size_t at, const void *value, size_t nbytes)
{
    if (at < n)
        memcpy(data + at, value, nbytes < n - at ? nbytes : n - at);
}

/* One-hot planes of 9x9 cells, 8 planes a row; consecutive rows differ by a stone or two. */
static inline void data_planes(struct random *r, uint8_t *data, size_t n, size_t item_nbytes)
{
    static const uint64_t ones[9] = {
        [1] = 1, [2] = 0x3c00, [4] = 0x3f800000, [8] = 0x3ff0000000000000};
    uint8_t stones[8 * 81] = {0};

    for (size_t i = 0; i < n; i += sizeof stones * item_nbytes) {
        for (uint32_t k = random_below(r, 3); k > 0; k--)
            stones[random_below(r, sizeof stones)] ^= 1;
        for (size_t cell = 0; cell < sizeof stones; cell++) {
            const uint64_t value = stones[cell] ? ones[item_nbytes] : 0;

            put_element(data, n, i + cell * item_nbytes, &value, item_nbytes);
        }
    }
}

static inline void data_planes_1(struct random *r, uint8_t *data, size_t n)
{
    data_planes(r, data, n, 1);
}

static inline void data_planes_2(struct random *r, uint8_t *data, size_t n)
{
    data_planes(r, data, n, 2);
}

static inline void data_planes_4(struct random *r, uint8_t *data, size_t n)
{
    data_planes(r, data, n, 4);
}

static inline void data_planes_8(struct random *r, uint8_t *data, size_t n)
{
    data_planes(r, data, n, 8);
}

/* Policies over 81 actions: 16 rows, then the same rows rotated, and so on. `zeros` percent of the
 * elements are zero, the others have one of n_values values. */
static inline void data_policy(struct random *r, uint8_t *data, size_t n, size_t item_nbytes,
                               uint32_t zeros, uint32_t n_values)
{
    double row[16 * 81];
    size_t i = 0;

    while (i < n) {
        for (size_t k = 0; k < 16 * 81; k++)
            row[k] = random_below(r, 100) < zeros ? 0 : 1.0 / (1 + random_below(r, n_values));
        for (size_t image = 0; image < 8; image++) {
            for (size_t k = 0; k < 16 * 81; k++, i += item_nbytes) {
                const double wide = row[k - k % 81 + (k * (image + 1)) % 81];
                const float narrow = (float)wide;
                const int16_t whole = (int16_t)(wide * 1000);

                if (item_nbytes == 8)
                    put_element(data, n, i, &wide, 8);
                else if (item_nbytes == 4)
                    put_element(data, n, i, &narrow, 4);
                else
                    put_element(data, n, i, &whole, 2);
            }
        }
    }
}

static inline void data_policy_dense(struct random *r, uint8_t *data, size_t n)
{
    data_policy(r, data, n, 4, 20, 1u << 30);
}

static inline void data_policy_visits(struct random *r, uint8_t *data, size_t n)
{
    data_policy(r, data, n, 4, 60, 400);
}

static inline void data_policy_onehot(struct random *r, uint8_t *data, size_t n)
{
    data_policy(r, data, n, 4, 99, 1);
}

static inline void data_policy_int16(struct random *r, uint8_t *data, size_t n)
{
    data_policy(r, data, n, 2, 70, 50);
}

static inline void data_policy_double(struct random *r, uint8_t *data, size_t n)
{
    data_policy(r, data, n, 8, 50, 300);
}

static const struct data_kind {
    const char *name;
    void (*fill)(struct random *r, uint8_t *data, size_t n);
    size_t item_nbytes;
    uint32_t periods[4];
    size_t n_periods;
} data_kinds[] = {
    {"random", data_random, 1, {0}, 0},
    {"zero", data_zero, 1, {81, 648}, 2},
    {"constant", data_constant, 4, {36}, 1},
    {"two letters", data_two_letters, 1, {0}, 0},
    {"skewed", data_skewed, 1, {9}, 1},
    {"rare", data_rare, 2, {100, 4000000000u}, 2},
    {"copies", data_copies, 4, {32768, 32767, 1}, 3},
    {"planes of 1 byte", data_planes_1, 1, {9, 81, 648, 10368}, 4},
    {"planes of 2 bytes", data_planes_2, 2, {18, 162, 1296, 20736}, 4},
    {"planes of 4 bytes", data_planes_4, 4, {36, 324, 2592, 41472}, 4},
    {"planes of 8 bytes", data_planes_8, 8, {72, 648, 5184, 82944}, 4},
    {"dense policy", data_policy_dense, 4, {36, 324, 5184}, 3},
    {"visits policy", data_policy_visits, 4, {36, 324, 5184}, 3},
    {"one-hot policy", data_policy_onehot, 4, {36, 324, 5184}, 3},
    {"int16 policy", data_policy_int16, 2, {18, 162, 2592}, 3},
    {"double policy", data_policy_double, 8, {72, 648, 10368}, 3},
    {"runs", data_runs, 4, {0}, 0},
    {"runs of doubles", data_runs, 8, {0}, 0},
};

#define DATA_N_KINDS (sizeof data_kinds / sizeof *data_kinds)
