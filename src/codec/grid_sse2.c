/* grid_sse2.c - the inner loops for every x86-64 machine. */
#if defined(__x86_64__)

#include "codec/grid_state.h"

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

static inline uint64_t window_nonzero(struct window window)
{
    uint64_t zero = 0;

    for (int i = 0; i < 4; i++) {
        const __m128i equal = _mm_cmpeq_epi8(window.part[i], _mm_setzero_si128());

        zero |= (uint64_t)(unsigned)_mm_movemask_epi8(equal) << 16 * i;
    }
    return ~zero;
}

static inline unsigned lowest_bit(uint32_t x)
{
    return (unsigned)__builtin_ctz(x);
}

static inline unsigned lowest_bit_64(uint64_t x)
{
    return (unsigned)__builtin_ctzll(x);
}

#include "codec/grid_kernel.h"

static bool is_supported(void)
{
    return true;
}

GRID_KERNELS(sse2, is_supported);

#else
typedef int grid_sse2_is_empty; /* a translation unit must not be empty */
#endif
