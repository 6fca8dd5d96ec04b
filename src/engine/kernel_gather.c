/*
 * kernel_gather.c - the gather in plain C, the reference for the other variants, and for x86-64
 * machines with AVX-512 VBMI.
 *
 * Of bytes, vpermb looks up 64 at once: a plane of 19 x 19 is six parts, and masks keep the lanes
 * that belong to each part, so that nothing needs to be joined. The look-up tables are made once
 * for a tile of planes. A plane of packed bits is one register: the byte of each bit is looked up,
 * then the bit is tested. Larger elements are moved in plain C everywhere: what the instruction
 * sets offer, even to move only those that are not zero, gains nothing that is seen beside the
 * compression. A variant leaves planes that it cannot speed up to plain C.
 */
#include "engine/kernel.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

/* --- plain C --- */

/* The many planes of equal elements are their own images. */
#define DEFINE_PLAIN(bits)                                                                  \
    static void gather_plain_##bits(const struct gather_tile *tile)                         \
    {                                                                                       \
        uint##bits##_t *out = (uint##bits##_t *)(void *)tile->out;                          \
        const uint32_t *const src = tile->src;                                              \
        const size_t n = tile->n;                                                           \
                                                                                            \
        for (size_t p = 0; p < tile->n_planes; p++, out += n) {                             \
            const uint##bits##_t *in = (const uint##bits##_t *)(const void *)tile->from[p]; \
                                                                                            \
            if (memcmp(in, in + 1, (n - 1) * sizeof *in) == 0)                              \
                memcpy(out, in, n * sizeof *in);                                            \
            else                                                                            \
                _Pragma("GCC unroll 4") for (size_t j = 0; j < n; j++) out[j] = in[src[j]]; \
        }                                                                                   \
    }

DEFINE_PLAIN(8)
DEFINE_PLAIN(16)
DEFINE_PLAIN(32)
DEFINE_PLAIN(64)

/* In a plane few bits are set, or few are clear (in a plane of the points on board): each of the
 * few goes where the map takes it. */
static void gather_plain_bits(const struct gather_tile *tile)
{
    const size_t n = tile->n, n_bytes = (n + 7) / 8;
    const unsigned flip = tile->lsb_first ? 0 : 7, n_pad = (unsigned)(8 * n_bytes - n);

    for (size_t p = 0; p < tile->n_planes; p++) {
        const uint8_t *in = tile->from[p];
        uint8_t *out = tile->out + p * n_bytes;
        const bool is_full = in[0] == 0xff;

        memset(out, is_full ? 0xff : 0, n_bytes);
        for (size_t at = 0; at < n_bytes; at += 8) {
            uint64_t few = 0;

            memcpy(&few, in + at, n_bytes - at < 8 ? n_bytes - at : 8);
            for (few = is_full ? ~few : few; few != 0; few &= few - 1) {
                const size_t cell = 8 * at + ((unsigned)__builtin_ctzll(few) ^ flip);

                if (cell < n)
                    out[tile->dst[cell] >> 3] ^= (uint8_t)(1u << ((tile->dst[cell] & 7) ^ flip));
            }
        }
        out[n_bytes - 1] &= (uint8_t)(tile->lsb_first ? 0xff >> n_pad : 0xff << n_pad);
    }
}

/* --- AVX-512 VBMI --- */

#if defined(__x86_64__)

#define VBMI        __attribute__((target("avx512f,avx512bw,avx512vbmi")))
#define INLINE_VBMI static inline __attribute__((always_inline)) VBMI

#define VBMI_PART       64
#define VBMI_MAX_PARTS  16 /* with more, loads of single bytes are as fast as look-ups */
#define VBMI_MIN_PLANES 4  /* preparing a map does not pay for fewer */

/* Where part k of a plane of n bytes begins, for parts of `most` bytes: the last part overlaps the
 * one before it rather than reach past the end (n >= most). */
INLINE_VBMI size_t part_at(size_t k, size_t most, size_t n)
{
    return smaller(k * most, n - most);
}

INLINE_VBMI __m512i narrow512(__m512i a, __m512i b, __m512i c, __m512i d)
{
    __m512i all = _mm512_castsi128_si512(_mm512_cvtepi32_epi8(a));

    all = _mm512_inserti32x4(all, _mm512_cvtepi32_epi8(b), 1);
    all = _mm512_inserti32x4(all, _mm512_cvtepi32_epi8(c), 2);
    return _mm512_inserti32x4(all, _mm512_cvtepi32_epi8(d), 3);
}

/* For each part of the moved planes, look up which part of the source its bytes come from, and
 * where in that part. vpermb takes the low six bits of an offset, so that an index is its own
 * offset in every part but the last, which may begin anywhere. */
static void VBMI gather_vbmi_8(const struct gather_tile *tile)
{
    const size_t n = tile->n, n_parts = (n + VBMI_PART - 1) / VBMI_PART;

    if (n < VBMI_PART || n_parts > VBMI_MAX_PARTS || tile->n_planes < VBMI_MIN_PLANES) {
        gather_plain_8(tile);
        return;
    }
    for (size_t k = 0; k < n_parts; k++) {
        const uint32_t *src = tile->src + part_at(k, VBMI_PART, n);
        const __m512i a = _mm512_loadu_si512(src), b = _mm512_loadu_si512(src + 16);
        const __m512i c = _mm512_loadu_si512(src + 32), d = _mm512_loadu_si512(src + 48);
        const __m512i index = narrow512(a, b, c, d);
        const __m512i part = narrow512(_mm512_srli_epi32(a, 6), _mm512_srli_epi32(b, 6),
                                       _mm512_srli_epi32(c, 6), _mm512_srli_epi32(d, 6));
        const __mmask64 in_last =
            _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8((char)(n_parts - 1)));
        const __m512i offset =
            _mm512_mask_sub_epi8(index, in_last, index, _mm512_set1_epi8((char)(n - VBMI_PART)));

        for (size_t p = 0; p < tile->n_planes; p++) {
            __m512i found = _mm512_setzero_si512();

            for (size_t s = 0; s < n_parts; s++)
                found = _mm512_mask_permutexvar_epi8(
                    found, _mm512_cmpeq_epi8_mask(part, _mm512_set1_epi8((char)s)), offset,
                    _mm512_loadu_si512(tile->from[p] + part_at(s, VBMI_PART, n)));
            _mm512_storeu_si512(tile->out + p * n + part_at(k, VBMI_PART, n), found);
        }
    }
}

/* --- packed bits --- */

#define BITS_PART       8  /* bytes of the output at a time */
#define BITS_MAX_NBYTES 64 /* of a plane: one register */

/* A plane is one register. For each of 64 cells in the order of the output's bits, vpermb brings
 * the byte that its source bit is in, and a test of that bit makes 64 bits of 64 bytes; pad bits
 * have no source. */
static void VBMI gather_vbmi_bits(const struct gather_tile *tile)
{
    const size_t n_bytes = (tile->n + 7) / 8;
    const unsigned flip = tile->lsb_first ? 0 : 7;

    if (n_bytes < BITS_PART || n_bytes > BITS_MAX_NBYTES || tile->n_planes < VBMI_MIN_PLANES) {
        gather_plain_bits(tile);
        return;
    }
    const __mmask64 whole = ~UINT64_C(0) >> (BITS_MAX_NBYTES - n_bytes);
    for (size_t k = 0; BITS_PART * k < n_bytes; k++) {
        const size_t at = part_at(k, BITS_PART, n_bytes);
        uint8_t byte[64] = {0}, bit[64] = {0};

        for (size_t i = 0; i < 64; i++) {
            const size_t cell = 8 * at + (i ^ flip);

            if (cell >= tile->n)
                continue;
            byte[i] = (uint8_t)(tile->src[cell] >> 3);
            bit[i] = (uint8_t)(1u << ((tile->src[cell] & 7) ^ flip));
        }
        for (size_t p = 0; p < tile->n_planes; p++) {
            const __m512i plane = _mm512_maskz_loadu_epi8(whole, tile->from[p]);
            const uint64_t bits = _mm512_test_epi8_mask(
                _mm512_permutexvar_epi8(_mm512_loadu_si512(byte), plane), _mm512_loadu_si512(bit));

            memcpy(tile->out + p * n_bytes + at, &bits, sizeof bits);
        }
    }
}

static bool vbmi_is_supported(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vbmi");
}
#endif

/* --- variants --- */

static bool plain_is_supported(void)
{
    return true;
}

const struct gather_kernels gather_kernels_table[] = {
#if defined(__x86_64__)
    {"avx512vbmi",
     vbmi_is_supported,
     {gather_vbmi_8, gather_plain_16, gather_plain_32, gather_plain_64, gather_vbmi_bits}},
#endif
    {"plain",
     plain_is_supported,
     {gather_plain_8, gather_plain_16, gather_plain_32, gather_plain_64, gather_plain_bits}},
};

const size_t gather_kernels_n_table = N_OF(gather_kernels_table);

const struct gather_kernels *gather_kernels_best(void)
{
    const struct gather_kernels *kernels = gather_kernels_table;

    while (!kernels->is_supported())
        kernels++;
    return kernels;
}
