/* kernel_gather_avx512.c - the gather for x86-64 servers since about 2017. */
#if defined(__x86_64__)

#include "engine/kernel_gather_kernels.h"

#include <immintrin.h>

#define TARGET __attribute__((target("avx2,avx512f,avx512bw")))

/* Planes of 16-bit elements are looked up in parts of 64 elements: two registers. */
#define PART      64
#define LANES     32
#define MAX_PARTS 4 /* beyond, gather instructions are as fast */

void TARGET gather_avx512_64(const struct gather_tile *tile)
{
    const size_t n = tile->n;

    if (n < 8) {
        gather_avx2_64(tile);
        return;
    }
    for (size_t p = 0; p < tile->n_planes; p++)
        for (size_t k = 0; 8 * k < n; k++) {
            const size_t at = gather_part(k, 8, n);
            const __m256i index =
                _mm256_loadu_si256((const __m256i *)(const void *)(tile->src + at));

            _mm512_storeu_si512(tile->out + (p * n + at) * 8,
                                _mm512_i32gather_epi64(index, tile->from[p], 8));
        }
}

/* 32 lanes: where each looks in its part, and which part it looks into. */
struct lookups {
    __m512i offset, part;
};

static inline TARGET __m512i narrow(__m512i low, __m512i high)
{
    return _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi32_epi16(low)),
                              _mm512_cvtepi32_epi16(high), 1);
}

/* The look-up takes the low six bits of an offset, so that an index is its own offset in every part
 * but the last, which may begin anywhere. */
static inline TARGET struct lookups set_lookups(const uint32_t *src, size_t n_parts, size_t n)
{
    const __m512i low = _mm512_loadu_si512(src), high = _mm512_loadu_si512(src + 16);
    const __m512i index = narrow(low, high), part = _mm512_srli_epi16(index, 6);
    const __mmask32 is_last =
        _mm512_cmpeq_epi16_mask(part, _mm512_set1_epi16((short)(n_parts - 1)));
    const __m512i last_begin = _mm512_set1_epi16((short)(n - PART));

    return (struct lookups){_mm512_mask_sub_epi16(index, is_last, index, last_begin), part};
}

static inline TARGET __m512i look_up(__m512i offset, const uint8_t *part)
{
    return _mm512_permutex2var_epi16(_mm512_loadu_si512(part), offset,
                                     _mm512_loadu_si512(part + 64));
}

/* n_parts is a constant where this is called, so that the masks stay in registers. */
static inline __attribute__((always_inline)) TARGET void move_lanes(const struct gather_tile *tile,
                                                                    const struct lookups *l,
                                                                    size_t n_parts, size_t at)
{
    uint8_t *out = tile->out + 2 * at;
    __mmask32 in_part[MAX_PARTS];
    size_t begin[MAX_PARTS];

#pragma GCC unroll 4
    for (size_t s = 0; s < n_parts; s++) {
        in_part[s] = _mm512_cmpeq_epi16_mask(l->part, _mm512_set1_epi16((short)s));
        begin[s] = 2 * gather_part(s, PART, tile->n);
    }
    for (size_t p = 0; p < tile->n_planes; p++, out += 2 * tile->n) {
        const uint8_t *in = tile->from[p];
        __m512i found = look_up(l->offset, in + begin[0]);

#pragma GCC unroll 4
        for (size_t s = 1; s < n_parts; s++)
            found = _mm512_mask_blend_epi16(in_part[s], found, look_up(l->offset, in + begin[s]));
        _mm512_storeu_si512(out, found);
    }
}

void TARGET gather_avx512_16(const struct gather_tile *tile)
{
    const size_t n = tile->n, n_parts = (n + PART - 1) / PART;

    if (n < PART || n_parts > MAX_PARTS || tile->n_planes < GATHER_WORTH_PLANES) {
        gather_avx2_16(tile);
        return;
    }
    for (size_t k = 0; LANES * k < n; k++) {
        const size_t at = gather_part(k, LANES, n);
        const struct lookups l = set_lookups(tile->src + at, n_parts, n);

        switch (n_parts) {
        case 1:
            move_lanes(tile, &l, 1, at);
            break;
        case 2:
            move_lanes(tile, &l, 2, at);
            break;
        case 3:
            move_lanes(tile, &l, 3, at);
            break;
        default:
            move_lanes(tile, &l, MAX_PARTS, at);
        }
    }
}

#else
typedef int kernel_gather_avx512_is_empty; /* a translation unit must not be empty */
#endif
