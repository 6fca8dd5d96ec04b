/*
 * codec_data.h - reproducible random numbers and the kinds of data that the codec tests share.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* xorshift64*: the state must not be 0. */
static inline uint32_t random_next(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return (uint32_t)(*state * UINT64_C(2685821657736338717) >> 32);
}

/* 0 to limit - 1. */
static inline size_t random_below(uint64_t *state, size_t limit)
{
    return (size_t)((uint64_t)random_next(state) * limit >> 32);
}

enum data_kind {
    DATA_RANDOM,
    DATA_CONSTANT,
    DATA_SPARSE,
    DATA_FLOAT,
    DATA_PLANES,
    DATA_SKEWED, /* literals with codes of many lengths */
    N_DATA_KINDS,
};

static inline uint8_t data_byte(enum data_kind kind, uint64_t *state, const uint8_t *data, size_t i)
{
    switch (kind) {
    case DATA_RANDOM:
        return (uint8_t)random_next(state);
    case DATA_SPARSE:
        return random_below(state, 100) == 0 ? (uint8_t)random_next(state) : 0;
    case DATA_FLOAT: /* float32 in (0, 1): a narrow exponent, a wide mantissa */
        return i % 4 == 3   ? 0x3e + (random_next(state) & 1)
               : i % 4 == 2 ? (uint8_t)(random_next(state) & 0x7f)
                            : (uint8_t)random_next(state);
    case DATA_PLANES: /* boards of 81 bytes that differ from the one before in a few cells */
        return i < 81 || random_below(state, 40) == 0 ? random_next(state) & 1 : data[i - 81];
    case DATA_SKEWED:
        return (uint8_t)(__builtin_ctz(random_next(state) | 1u << 20) * 7);
    default:
        return 0x5a;
    }
}

static inline void data_fill(enum data_kind kind, uint64_t seed, uint8_t *data, size_t n_bytes)
{
    uint64_t state = seed * 2 + 1;

    for (size_t i = 0; i < n_bytes; i++)
        data[i] = data_byte(kind, &state, data, i);
}
