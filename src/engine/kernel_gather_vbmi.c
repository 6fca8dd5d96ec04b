/*
 * kernel_gather_vbmi.c - the gather of bytes and bits for machines with AVX-512 VBMI, whose vpermb
 * looks up 64 bytes at once: a plane of 19 x 19 bytes is six such parts. Masks keep the lanes of
 * each part, so that nothing needs to be joined. Planes for which this does not pay go to the AVX2
 * variant.
 */
#if defined(__x86_64__)

#include "engine/kernel_gather.h"

#include <immintrin.h>
#include <string.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define INLINE static inline __attribute__((always_inline)) TARGET

/* A plane is looked up in parts of one register; parts of a group have their lane masks in mask
 * registers. */
#define PART      64
#define GROUP     8
#define MAX_PARTS 16 /* beyond, loads of single bytes gain on the look-ups */
#define BIT_BYTES 8  /* of output, made at a time */
#define BIT_PARTS 2

/* 64 lanes: where each looks in its part, and which part it looks into. */
struct lookups {
    __m512i offset, part;
};

INLINE __m512i narrow(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i all = _mm512_castsi128_si512(_mm512_cvtepi32_epi8(a));

    all = _mm512_inserti32x4(all, _mm512_cvtepi32_epi8(b), 1);
    all = _mm512_inserti32x4(all, _mm512_cvtepi32_epi8(c), 2);
    return _mm512_inserti32x4(all, _mm512_cvtepi32_epi8(d), 3);
}

/* vpermb takes the low six bits of an offset, so that an index is its own offset in every part but
 * the last, which may begin anywhere. */
INLINE struct lookups set_lookups(const uint32_t *src, size_t n_parts, size_t n)
{
    const __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 16);
    const __m512i c = _mm512_loadu_si512(src + 32), d = _mm512_loadu_si512(src + 48);
    const __m512i index = narrow(a, b, c, d);
    const __m512i part = narrow(_mm512_srli_epi32(a, 6), _mm512_srli_epi32(b, 6),
                                _mm512_srli_epi32(c, 6), _mm512_srli_epi32(d, 6));
    const __mmask64 is_last = _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8((char)(n_parts - 1)));
    const __m512i last_begin = _mm512_set1_epi8((char)(n - PART));

    return (struct lookups){_mm512_mask_sub_epi8(index, is_last, index, last_begin), part};
}

/* Lanes of the parts first .. first + n_parts - 1; lanes of parts behind them are filled later.
 * n_parts is a constant where this is called. */
INLINE void move_group(const struct gather_tile *tile, const struct lookups *l, size_t first,
                       size_t n_parts, size_t at)
{
    const size_t n = tile->n;
    __mmask64 in_part[GROUP];
    size_t begin[GROUP];
    uint8_t *out = tile->out + at;

#pragma GCC unroll 8
    for (size_t s = 0; s < n_parts; s++) {
        in_part[s] = _mm512_cmpeq_epi8_mask(l->part, _mm512_set1_epi8((char)(first + s)));
        begin[s] = gather_part(first + s, PART, n);
    }
    for (size_t p = 0; p < tile->n_planes; p++, out += n) {
        const uint8_t *in = tile->from[p];
        __m512i found = first == 0 ? _mm512_setzero_si512() : _mm512_loadu_si512(out);

#pragma GCC unroll 8
        for (size_t s = 0; s < n_parts; s++)
            found = _mm512_mask_permutexvar_epi8(found, in_part[s], l->offset,
                                                 _mm512_loadu_si512(in + begin[s]));
        _mm512_storeu_si512(out, found);
    }
}

static TARGET void move_parts(const struct gather_tile *tile, const struct lookups *l, size_t first,
                              size_t n_parts, size_t at)
{
    switch (n_parts) {
    case 1:
        move_group(tile, l, first, 1, at);
        break;
    case 2:
        move_group(tile, l, first, 2, at);
        break;
    case 3:
        move_group(tile, l, first, 3, at);
        break;
    case 4:
        move_group(tile, l, first, 4, at);
        break;
    case 5:
        move_group(tile, l, first, 5, at);
        break;
    case 6:
        move_group(tile, l, first, 6, at);
        break;
    case 7:
        move_group(tile, l, first, 7, at);
        break;
    default:
        move_group(tile, l, first, GROUP, at);
    }
}

void TARGET gather_vbmi_8(const struct gather_tile *tile)
{
    const size_t n = tile->n, n_parts = (n + PART - 1) / PART;

    if (n < PART || n_parts > MAX_PARTS || tile->n_planes < GATHER_WORTH_PLANES) {
        gather_avx2_8(tile);
        return;
    }
    for (size_t k = 0; PART * k < n; k++) {
        const size_t at = gather_part(k, PART, n);
        const struct lookups l = set_lookups(tile->src + at, n_parts, n);

        for (size_t first = 0; first < n_parts; first += GROUP)
            move_parts(tile, &l, first, n_parts - first < GROUP ? n_parts - first : GROUP, at);
    }
}

/* --- bits --- */

/* The bytes of every eight in reverse. */
INLINE __m512i swap_bytes(__m512i bytes)
{
    const __m512i order = _mm512_set_epi64(
        0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607,
        0x08090a0b0c0d0e0f, 0x0001020304050607, 0x08090a0b0c0d0e0f, 0x0001020304050607);

    return _mm512_shuffle_epi8(bytes, order);
}

/* 64 output bits: which byte each looks at, and which bit of it (none behind the plane). */
struct bit_lookups {
    __m512i byte, bit;
};

INLINE struct bit_lookups set_bit_lookups(const struct gather_tile *tile, size_t first_byte)
{
    const __m512i seven = _mm512_set1_epi32(7);
    const uint64_t rising = 0x8040201008040201u; /* bit i in byte i */
    const size_t first = 8 * first_byte, left = tile->n - first;
    const __mmask64 is_cell = left < 64 ? ~(~UINT64_C(0) << left) : ~UINT64_C(0);
    struct bit_lookups l;
    __m512i src[4], bit;

    for (size_t i = 0; i < 4; i++)
        src[i] =
            _mm512_maskz_loadu_epi32((__mmask16)(is_cell >> 16 * i), tile->src + first + 16 * i);
    bit = narrow(_mm512_and_si512(src[0], seven), _mm512_and_si512(src[1], seven),
                 _mm512_and_si512(src[2], seven), _mm512_and_si512(src[3], seven));
    l.byte = narrow(_mm512_srli_epi32(src[0], 3), _mm512_srli_epi32(src[1], 3),
                    _mm512_srli_epi32(src[2], 3), _mm512_srli_epi32(src[3], 3));
    if (tile->lsb_first) {
        l.bit = _mm512_maskz_shuffle_epi8(is_cell, _mm512_set1_epi64((long long)rising), bit);
        return l;
    }
    bit = _mm512_maskz_shuffle_epi8(is_cell,
                                    _mm512_set1_epi64((long long)__builtin_bswap64(rising)), bit);
    l.bit = swap_bytes(bit);
    l.byte = swap_bytes(l.byte);
    return l;
}

/* n_parts is a constant where this is called. */
INLINE void move_bit_lanes(const struct gather_tile *tile, size_t n_bytes, size_t n_parts,
                           size_t at)
{
    const size_t n_last = n_bytes - (n_parts - 1) * PART;
    const __mmask64 last_part = ~UINT64_C(0) >> (PART - n_last);
    const struct bit_lookups l = set_bit_lookups(tile, at);
    uint8_t *out = tile->out + at;

    for (size_t p = 0; p < tile->n_planes; p++, out += n_bytes) {
        const uint8_t *plane = tile->from[p];
        const __m512i last = _mm512_maskz_loadu_epi8(last_part, plane + (n_parts - 1) * PART);
        const __m512i found =
            n_parts == 1 ? _mm512_permutexvar_epi8(l.byte, last)
                         : _mm512_permutex2var_epi8(_mm512_loadu_si512(plane), l.byte, last);
        const uint64_t bits = _mm512_test_epi8_mask(found, l.bit);

        memcpy(out, &bits, BIT_BYTES);
    }
}

void TARGET gather_vbmi_bits(const struct gather_tile *tile)
{
    const size_t n_bytes = (tile->n + 7) / 8;

    if (n_bytes < BIT_BYTES || n_bytes > BIT_PARTS * PART) {
        gather_avx2_bits(tile);
        return;
    }
    for (size_t k = 0; BIT_BYTES * k < n_bytes; k++) {
        const size_t at = gather_part(k, BIT_BYTES, n_bytes);

        if (n_bytes <= PART)
            move_bit_lanes(tile, n_bytes, 1, at);
        else
            move_bit_lanes(tile, n_bytes, BIT_PARTS, at);
    }
}

#else
typedef int kernel_gather_vbmi_is_empty; /* a translation unit must not be empty */
#endif
