/*
 * kernel_gather_avx2.c - the gather for x86-64 machines since about 2013. Bytes and bits are looked
 * up with pshufb in parts of 16 bytes of the plane, all parts joined with OR; the look-up tables
 * cost something to make, so they are made once for a tile of planes. 16-bit elements use gather
 * instructions. Planes for which this does not pay go to the plain variant.
 */
#if defined(__x86_64__)

#include "engine/kernel_gather.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx2")))

/* A plane is looked up in parts of 16 bytes: pshufb, once for each part. */
#define PART       16
#define MAX_PARTS  12 /* beyond, the look-ups cost more than loads of single bytes */
#define BIT_PARTS  8
#define BYTE_LANES 32
#define BIT_BYTES  4 /* of output, made from as many lanes as above */

static inline TARGET __m256i load(const void *p)
{
    return _mm256_loadu_si256(p);
}

static inline TARGET __m256i load_part(const uint8_t *p)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)p));
}

/* --- 16-bit elements: gather instructions --- */

/* Eight 16-bit elements through loads of 32 bits; the last element of a plane is the upper half of
 * the load before it. */
static inline TARGET __m256i eight_halves(const uint32_t *src, const int *in, __m256i last_pair)
{
    const __m256i index = load(src), from = _mm256_min_epu32(index, last_pair);
    const __m256i shift = _mm256_slli_epi32(_mm256_sub_epi32(index, from), 4);
    const __m256i pairs = _mm256_srlv_epi32(_mm256_i32gather_epi32(in, from, 2), shift);

    return _mm256_and_si256(pairs, _mm256_set1_epi32(0xffff));
}

void TARGET gather_avx2_16(const struct gather_tile *tile)
{
    const size_t n = tile->n;
    const __m256i last_pair = _mm256_set1_epi32((int)n - 2);

    if (n < 16) {
        gather_plain_16(tile);
        return;
    }
    for (size_t p = 0; p < tile->n_planes; p++) {
        const int *in = (const int *)(const void *)tile->from[p];

        for (size_t k = 0; 16 * k < n; k++) {
            const size_t at = gather_part(k, 16, n);
            const __m256i low = eight_halves(tile->src + at, in, last_pair);
            const __m256i high = eight_halves(tile->src + at + 8, in, last_pair);
            const __m256i packed = _mm256_packus_epi32(low, high);

            _mm256_storeu_si256((__m256i *)(void *)(tile->out + (p * n + at) * 2),
                                _mm256_permute4x64_epi64(packed, 0xd8));
        }
    }
}

/* --- bytes and bits: look-ups --- */

/* The bytes of 32 integers below 256. */
static inline TARGET __m256i narrow(__m256i a, __m256i b, __m256i c, __m256i d)
{
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i ab = _mm256_packus_epi32(a, b), cd = _mm256_packus_epi32(c, d);

    return _mm256_permutevar8x32_epi32(_mm256_packus_epi16(ab, cd), order);
}

/* pshufb indices of 32 lanes for every part: those of another part give 0. `offset` counts within
 * the part, whose number is `part`. */
static inline TARGET void set_lookups(__m256i *lookups, size_t n_parts, __m256i offset,
                                      __m256i part)
{
    const __m256i ones = _mm256_set1_epi8(-1);

    for (size_t s = 0; s < n_parts; s++) {
        const __m256i is_here = _mm256_cmpeq_epi8(part, _mm256_set1_epi8((char)s));

        lookups[s] = _mm256_or_si256(offset, _mm256_xor_si256(is_here, ones));
    }
}

static inline TARGET void set_byte_lookups(__m256i *lookups, size_t n_parts, const uint32_t *src,
                                           size_t n)
{
    const __m256i last = _mm256_set1_epi32((int)n_parts - 1);
    const __m256i last_begin = _mm256_set1_epi32((int)n - PART);
    __m256i offset[4], part[4];

    for (size_t i = 0; i < 4; i++) {
        const __m256i index = load(src + 8 * i);

        part[i] = _mm256_srli_epi32(index, 4);
        offset[i] = _mm256_blendv_epi8(_mm256_and_si256(index, _mm256_set1_epi32(PART - 1)),
                                       _mm256_sub_epi32(index, last_begin),
                                       _mm256_cmpeq_epi32(part[i], last));
    }
    set_lookups(lookups, n_parts, narrow(offset[0], offset[1], offset[2], offset[3]),
                narrow(part[0], part[1], part[2], part[3]));
}

/* All parts but the last begin at multiples of their size; n_bytes is at least one part. */
static inline TARGET __m256i look_up(const __m256i *lookups, size_t n_parts, const uint8_t *plane,
                                     size_t n_bytes)
{
    __m256i found[2] = {
        _mm256_setzero_si256(),
        _mm256_shuffle_epi8(load_part(plane + n_bytes - PART), lookups[n_parts - 1])};
    size_t s = 0;

    for (; s + 2 < n_parts; s += 2)
        for (size_t i = 0; i < 2; i++)
            found[i] = _mm256_or_si256(
                found[i], _mm256_shuffle_epi8(load_part(plane + (s + i) * PART), lookups[s + i]));
    if (s + 1 < n_parts)
        found[0] =
            _mm256_or_si256(found[0], _mm256_shuffle_epi8(load_part(plane + s * PART), lookups[s]));
    return _mm256_or_si256(found[0], found[1]);
}

void TARGET gather_avx2_8(const struct gather_tile *tile)
{
    const size_t n = tile->n, n_parts = (n + PART - 1) / PART;
    __m256i lookups[MAX_PARTS];

    if (n < BYTE_LANES || n_parts > MAX_PARTS || tile->n_planes < GATHER_WORTH_PLANES) {
        gather_plain_8(tile);
        return;
    }
    for (size_t k = 0; BYTE_LANES * k < n; k++) {
        const size_t at = gather_part(k, BYTE_LANES, n);

        set_byte_lookups(lookups, n_parts, tile->src + at, n);
        for (size_t p = 0; p < tile->n_planes; p++)
            _mm256_storeu_si256((__m256i *)(void *)(tile->out + p * n + at),
                                look_up(lookups, n_parts, tile->from[p], n));
    }
}

/* For BYTE_LANES output bits from a byte on: which source byte each lane
 * looks at, and which bit of it; no bit in lanes behind the plane. Lane k is bit k % 8, counted
 * from the lowest, of byte k / 8. */
struct bit_lanes {
    uint8_t byte[BYTE_LANES], bit[BYTE_LANES];
};

static void bit_lanes_set(struct bit_lanes *lanes, const struct gather_tile *tile,
                          size_t first_byte)
{
    const unsigned flip = tile->lsb_first ? 0 : 7;

    for (size_t k = 0; k < BYTE_LANES; k++) {
        const size_t cell = 8 * first_byte + (k ^ flip);
        const uint32_t src = cell < tile->n ? tile->src[cell] : 0;

        lanes->byte[k] = (uint8_t)(src >> 3);
        lanes->bit[k] = (uint8_t)(cell < tile->n ? 1u << ((src & 7) ^ flip) : 0u);
    }
}

static inline TARGET void set_bit_lookups(__m256i *lookups, size_t n_parts, size_t n_bytes,
                                          const struct bit_lanes *lanes)
{
    const __m256i byte = load(lanes->byte), low = _mm256_set1_epi8(PART - 1);
    const __m256i part = _mm256_and_si256(_mm256_srli_epi16(byte, 4), low);
    const __m256i is_last = _mm256_cmpeq_epi8(part, _mm256_set1_epi8((char)(n_parts - 1)));
    const __m256i behind = _mm256_sub_epi8(byte, _mm256_set1_epi8((char)(n_bytes - PART)));

    set_lookups(lookups, n_parts, _mm256_blendv_epi8(_mm256_and_si256(byte, low), behind, is_last),
                part);
}

static inline TARGET void move_bit_lanes(const struct gather_tile *tile, size_t n_bytes, size_t at)
{
    const size_t padded = n_bytes < PART ? PART : n_bytes, n_parts = (padded + PART - 1) / PART;
    __m256i lookups[BIT_PARTS], bit;
    struct bit_lanes lanes;
    uint8_t room[PART] = {0};

    bit_lanes_set(&lanes, tile, at);
    set_bit_lookups(lookups, n_parts, padded, &lanes);
    bit = load(lanes.bit);
    for (size_t p = 0; p < tile->n_planes; p++) {
        const uint8_t *plane = tile->from[p];
        __m256i is_clear;
        uint32_t bits;

        if (n_bytes < PART)
            plane = memcpy(room, plane, n_bytes);
        is_clear = _mm256_and_si256(look_up(lookups, n_parts, plane, padded), bit);
        is_clear = _mm256_cmpeq_epi8(is_clear, _mm256_setzero_si256());
        bits = ~(uint32_t)_mm256_movemask_epi8(is_clear);
        memcpy(tile->out + p * n_bytes + at, &bits, BIT_BYTES);
    }
}

void TARGET gather_avx2_bits(const struct gather_tile *tile)
{
    const size_t n_bytes = (tile->n + 7) / 8;

    if (n_bytes < BIT_BYTES || n_bytes > BIT_PARTS * PART) {
        gather_plain_bits(tile);
        return;
    }
    for (size_t k = 0; BIT_BYTES * k < n_bytes; k++)
        move_bit_lanes(tile, n_bytes, gather_part(k, BIT_BYTES, n_bytes));
}

#else
typedef int kernel_gather_avx2_is_empty; /* a translation unit must not be empty */
#endif
