/* shuffle.c - see shuffle.h. */
#include "engine/shuffle.h"

#define N_ROUNDS 4

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t x)
{
    x ^= x >> 30;
    x *= 0xbf58476d1ce4e5b9u;
    x ^= x >> 27;
    x *= 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

uint64_t shuffle_hash(uint64_t a, uint64_t b)
{
    return mix(mix(a + 0x9e3779b97f4a7c15u) ^ (b + 0xd1b54a32d192ed03u));
}

uint64_t shuffle_hash_text(uint64_t a, const char *text)
{
    for (; *text != '\0'; text++)
        a = shuffle_hash(a, (unsigned char)*text);
    return a;
}

static uint64_t feistel(uint64_t x, unsigned half_bits, uint64_t seed)
{
    const uint64_t mask = (UINT64_C(1) << half_bits) - 1;
    uint64_t left = x >> half_bits, right = x & mask;

    for (unsigned round = 0; round < N_ROUNDS; round++) {
        uint64_t next = left ^ (shuffle_hash(seed + round, right) & mask);

        left = right;
        right = next;
    }
    return left << half_bits | right;
}

uint64_t shuffle_source(uint64_t i, uint64_t n, uint64_t seed)
{
    unsigned half_bits = 1;

    while (half_bits < 32 && (UINT64_C(1) << (2 * half_bits)) < n)
        half_bits++;
    do {
        i = feistel(i, half_bits, seed);
    } while (i >= n);
    return i;
}
