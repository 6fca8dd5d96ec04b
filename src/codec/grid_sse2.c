/*
 * grid_sse2.c - the grid encoder's inner loops for every x86-64 machine: a window of 64 bytes is
 * four registers. Only the primitives that grid_kernel.h asks for are written here; results are
 * those of grid_plain.c, bit for bit.
 */
#if defined(__x86_64__)

#include "codec/grid.h"

#include <emmintrin.h>

#define GRID_TARGET

struct window {
    __m128i part[4];
};

static inline __m128i load_part(const uint8_t *p, int i)
{
    return _mm_loadu_si128((const __m128i *)(const void *)p + i);
}

static inline struct window window_load(const uint8_t *p)
{
    return (struct window){{load_part(p, 0), load_part(p, 1), load_part(p, 2), load_part(p, 3)}};
}

static inline unsigned window_prefix(struct window window, const uint8_t *q)
{
    for (int i = 0; i < 4; i++) {
        const __m128i equal = _mm_cmpeq_epi8(window.part[i], load_part(q, i));
        const unsigned differ = (unsigned)_mm_movemask_epi8(equal) ^ 0xffff;

        if (differ != 0)
            return 16 * (unsigned)i + (unsigned)__builtin_ctz(differ);
    }
    return GRID_WINDOW;
}

/* Bit i: 16-bit element i of both together is -1. */
static inline uint32_t true_16(__m128i low, __m128i high)
{
    return (uint32_t)_mm_movemask_epi8(_mm_packs_epi16(low, high));
}

static inline uint32_t zeros_16(const __m128i *part)
{
    const __m128i zero = _mm_setzero_si128();

    return true_16(_mm_cmpeq_epi16(part[0], zero), _mm_cmpeq_epi16(part[1], zero));
}

static inline __m128i zeros_32(const __m128i *part)
{
    const __m128i zero = _mm_setzero_si128();

    return _mm_packs_epi32(_mm_cmpeq_epi32(part[0], zero), _mm_cmpeq_epi32(part[1], zero));
}

static inline uint32_t zeros_64(const __m128i part)
{
    const __m128i halves = _mm_cmpeq_epi32(part, _mm_setzero_si128());
    const __m128i others = _mm_shuffle_epi32(halves, _MM_SHUFFLE(2, 3, 0, 1));

    return (uint32_t)_mm_movemask_pd(_mm_castsi128_pd(_mm_and_si128(halves, others)));
}

static inline uint32_t window_nonzero(struct window window, size_t item_nbytes)
{
    const __m128i *const part = window.part;

    switch (item_nbytes) {
    case 2:
        return ~(zeros_16(part) | zeros_16(part + 2) << 16);
    case 4:
        return true_16(zeros_32(part), zeros_32(part + 2)) ^ 0xffff;
    default:
        return (zeros_64(part[0]) | zeros_64(part[1]) << 2 | zeros_64(part[2]) << 4 |
                zeros_64(part[3]) << 6) ^
               0xff;
    }
}

#include "codec/grid_kernel.h"

GRID_KERNELS(sse2, true);

#else
typedef int grid_sse2_is_empty; /* a translation unit must not be empty */
#endif
