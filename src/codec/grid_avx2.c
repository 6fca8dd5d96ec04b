/*
 * grid_avx2.c - the grid encoder's inner loops for x86-64 machines since about 2013: a window of 64
 * bytes is two registers, and movemask turns comparisons into bits to count. Only the primitives
 * that grid_kernel.h asks for are written here; the loops themselves are there, once for all sets.
 */
#if defined(__x86_64__)

#include "codec/grid.h"

#include <immintrin.h>

#define GRID_TARGET __attribute__((target("avx2,bmi,bmi2,popcnt")))

struct window {
    __m256i part[2];
};

static inline GRID_TARGET __m256i load_part(const uint8_t *p, int i)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)p + i);
}

static inline GRID_TARGET struct window window_load(const uint8_t *p)
{
    return (struct window){{load_part(p, 0), load_part(p, 1)}};
}

static inline GRID_TARGET unsigned window_prefix(struct window window, const uint8_t *q)
{
    const __m256i low = _mm256_cmpeq_epi8(window.part[0], load_part(q, 0));
    const __m256i high = _mm256_cmpeq_epi8(window.part[1], load_part(q, 1));
    const uint64_t equal =
        (uint32_t)_mm256_movemask_epi8(low) | (uint64_t)(uint32_t)_mm256_movemask_epi8(high) << 32;

    return (unsigned)_tzcnt_u64(~equal);
}

static inline GRID_TARGET uint32_t window_nonzero(struct window window, size_t item_nbytes)
{
    const __m256i zero = _mm256_setzero_si256();
    uint32_t is_zero = 0;

    if (item_nbytes == 2) {
        const __m256i low = _mm256_cmpeq_epi16(window.part[0], zero);
        const __m256i high = _mm256_cmpeq_epi16(window.part[1], zero);
        const __m256i mixed = _mm256_packs_epi16(low, high); /* in each half, of both */

        return ~(uint32_t)_mm256_movemask_epi8(
            _mm256_permute4x64_epi64(mixed, _MM_SHUFFLE(3, 1, 2, 0)));
    }
    for (unsigned i = 0; i < 2; i++) {
        const __m256i four = _mm256_cmpeq_epi32(window.part[i], zero);
        const __m256i eight = _mm256_cmpeq_epi64(window.part[i], zero);

        is_zero |= item_nbytes == 4
                       ? (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(four)) << 8 * i
                       : (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(eight)) << 4 * i;
    }
    return is_zero ^ (item_nbytes == 4 ? 0xffff : 0xff);
}

#include "codec/grid_kernel.h"

GRID_KERNELS(avx2, __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") &&
                       __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("popcnt"));

#else
typedef int grid_avx2_is_empty; /* a translation unit must not be empty */
#endif
