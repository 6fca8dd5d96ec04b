/* grid_huffman.c - prefix codes: Huffman's construction, and package-merge where it gets too deep.
 */
#include "codec/grid_huffman.h"

#include <string.h>

#define MAX_SYMBOLS GRID_HUFFMAN_MAX_SYMBOLS
#define SYMBOL_BITS 9 /* a sort key is count << SYMBOL_BITS | symbol */
#define SYMBOL_MASK ((1u << SYMBOL_BITS) - 1)

/* Keys of the used symbols, and one key each for symbols 0 and 1 while there are fewer than two. */
static size_t collect_keys(const uint32_t *counts, size_t n_symbols, uint32_t *keys)
{
    size_t n = 0;

    for (size_t i = 0; i < n_symbols; i++) {
        keys[n] = counts[i] << SYMBOL_BITS | (uint32_t)i;
        n += counts[i] != 0;
    }
    if (n == 0)
        keys[n++] = 0;
    if (n == 1) {
        const uint32_t other = (keys[0] & SYMBOL_MASK) == 0;

        keys[1] = keys[0];
        keys[0] = other;
        n = 2;
    }
    return n;
}

/* Sort by count; symbols are in order already. Byte-wise radix sort, skipping idle bytes. */
static void sort_keys(uint32_t *keys, size_t n)
{
    uint32_t spare[MAX_SYMBOLS];
    uint32_t all = 0;

    for (size_t i = 0; i < n; i++)
        all |= keys[i];
    for (unsigned shift = SYMBOL_BITS; shift < 32 && all >> shift != 0; shift += 8) {
        uint16_t start[257] = {0};

        for (size_t i = 0; i < n; i++)
            start[(keys[i] >> shift & 0xff) + 1]++;
        for (size_t i = 1; i < 256; i++)
            start[i] = (uint16_t)(start[i] + start[i - 1]);
        for (size_t i = 0; i < n; i++)
            spare[start[keys[i] >> shift & 0xff]++] = keys[i];
        memcpy(keys, spare, n * sizeof *keys);
    }
}

/* Depths of the leaves of a Huffman tree over sorted keys; returns the greatest. */
static unsigned huffman_depths(const uint32_t *keys, size_t n, uint8_t *depths)
{
    uint32_t weight[2 * MAX_SYMBOLS];
    uint16_t parent[2 * MAX_SYMBOLS];
    uint16_t depth[2 * MAX_SYMBOLS];
    const size_t root = 2 * n - 2;
    size_t leaf = 0, inner = n;
    unsigned deepest = 0;

    for (size_t i = 0; i < n; i++)
        weight[i] = keys[i] >> SYMBOL_BITS;
    for (size_t node = n; node <= root; node++) {
        weight[node] = 0;
        for (int child = 0; child < 2; child++) {
            const size_t pick =
                leaf < n && (inner == node || weight[leaf] <= weight[inner]) ? leaf++ : inner++;

            weight[node] += weight[pick];
            parent[pick] = (uint16_t)node;
        }
    }
    depth[root] = 0;
    for (size_t i = root; i-- > 0;) {
        depth[i] = (uint16_t)(depth[parent[i]] + 1);
        if (depth[i] > deepest)
            deepest = depth[i];
    }
    for (size_t i = 0; i < n; i++)
        depths[i] = (uint8_t)depth[i];
    return deepest;
}

/*
 * Package-merge (Larmore and Hirschberg 1990): `limit` rounds merge the sorted leaves with pairs
 * of the round before. Whether item i of a round is a leaf is all that has to be remembered: the
 * first 2n - 2 items of the last round are chosen, and every chosen package chooses two items of
 * the round below. A leaf's depth is the number of times it is chosen.
 */
static void package_merge(const uint32_t *keys, size_t n, unsigned limit, uint8_t *depths)
{
    uint8_t is_leaf[GRID_HUFFMAN_MAX_LENGTH][2 * MAX_SYMBOLS];
    uint32_t weight[2 * MAX_SYMBOLS], below[2 * MAX_SYMBOLS];
    size_t n_below = 0, chosen = 2 * n - 2;

    for (unsigned round = 0; round < limit; round++) {
        const size_t n_packages = n_below / 2;
        size_t leaf = 0, package = 0;

        for (size_t i = 0; i < n + n_packages; i++) {
            const uint32_t package_weight =
                package < n_packages ? below[2 * package] + below[2 * package + 1] : UINT32_MAX;

            is_leaf[round][i] = leaf < n && keys[leaf] >> SYMBOL_BITS <= package_weight;
            weight[i] = is_leaf[round][i] ? keys[leaf++] >> SYMBOL_BITS : package_weight;
            package += !is_leaf[round][i];
        }
        n_below = n + n_packages;
        memcpy(below, weight, n_below * sizeof *weight);
    }
    memset(depths, 0, n);
    for (unsigned round = limit; round-- > 0;) {
        size_t n_leaves = 0;

        for (size_t i = 0; i < chosen; i++)
            n_leaves += is_leaf[round][i];
        for (size_t i = 0; i < n_leaves; i++)
            depths[i]++;
        chosen = 2 * (chosen - n_leaves);
    }
}

void grid_huffman_lengths(const uint32_t *counts, size_t n_symbols, unsigned limit,
                          uint8_t *lengths)
{
    uint32_t keys[MAX_SYMBOLS + 1];
    uint8_t depths[MAX_SYMBOLS];
    const size_t n = collect_keys(counts, n_symbols, keys);

    sort_keys(keys, n);
    if (huffman_depths(keys, n, depths) > limit)
        package_merge(keys, n, limit, depths);
    memset(lengths, 0, n_symbols);
    for (size_t i = 0; i < n; i++)
        lengths[keys[i] & SYMBOL_MASK] = depths[i];
}

static uint16_t reverse_bits(uint16_t code, unsigned n_bits)
{
    unsigned x = code;

    x = (x & 0x5555) << 1 | (x >> 1 & 0x5555);
    x = (x & 0x3333) << 2 | (x >> 2 & 0x3333);
    x = (x & 0x0f0f) << 4 | (x >> 4 & 0x0f0f);
    x = (x & 0x00ff) << 8 | (x >> 8 & 0x00ff);
    return (uint16_t)(x >> (16 - n_bits));
}

void grid_huffman_codes(const uint8_t *lengths, size_t n_symbols, uint16_t *codes)
{
    uint16_t n_of[GRID_HUFFMAN_MAX_LENGTH + 1] = {0};
    uint16_t next[GRID_HUFFMAN_MAX_LENGTH + 2] = {0};

    for (size_t i = 0; i < n_symbols; i++)
        n_of[lengths[i]]++;
    n_of[0] = 0;
    for (unsigned bits = 1; bits <= GRID_HUFFMAN_MAX_LENGTH; bits++)
        next[bits + 1] = (uint16_t)((next[bits] + n_of[bits]) << 1);
    for (size_t i = 0; i < n_symbols; i++)
        codes[i] = lengths[i] == 0 ? 0 : reverse_bits(next[lengths[i]]++, lengths[i]);
}
