/*
 * grid_avx512.c - the grid encoder's inner loops for x86-64 machines with AVX-512: a window of 64
 * bytes is one register, and comparisons give masks at once. Only the primitives that grid_kernel.h
 * asks for are written here; results are those of grid_plain.c, bit for bit.
 */
#if defined(__x86_64__)

#include "codec/grid.h"

#include <immintrin.h>

#define GRID_TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx2,bmi,bmi2,popcnt")))

struct window {
    __m512i all;
};

static inline GRID_TARGET struct window window_load(const uint8_t *p)
{
    return (struct window){_mm512_loadu_si512(p)};
}

static inline GRID_TARGET unsigned window_prefix(struct window window, const uint8_t *q)
{
    return (unsigned)_tzcnt_u64(_mm512_cmpneq_epi8_mask(window.all, _mm512_loadu_si512(q)));
}

static inline GRID_TARGET uint32_t window_nonzero(struct window window, size_t item_nbytes)
{
    switch (item_nbytes) {
    case 2:
        return _mm512_test_epi16_mask(window.all, window.all);
    case 4:
        return _mm512_test_epi32_mask(window.all, window.all);
    default:
        return _mm512_test_epi64_mask(window.all, window.all);
    }
}

#include "codec/grid_kernel.h"

GRID_KERNELS(avx512, __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                         __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx2") &&
                         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
                         __builtin_cpu_supports("popcnt"));

#else
typedef int grid_avx512_is_empty; /* a translation unit must not be empty */
#endif
