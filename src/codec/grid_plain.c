/*
 * grid_plain.c - the grid encoder's inner loops in plain C, for every other machine: eight bytes at
 * a time through memcpy. They are the reference for the versions with vector instructions.
 */
#include "codec/grid.h"

#define GRID_TARGET

struct window {
    const uint8_t *bytes;
};

static inline struct window window_load(const uint8_t *p)
{
    return (struct window){p};
}

static inline unsigned window_prefix(struct window window, const uint8_t *q)
{
    for (unsigned i = 0; i < GRID_WINDOW; i += 8) {
        uint64_t a, b;

        memcpy(&a, window.bytes + i, sizeof a);
        memcpy(&b, q + i, sizeof b);
        if (a != b)
            return i + (unsigned)__builtin_ctzll(a ^ b) / 8;
    }
    return GRID_WINDOW;
}

static inline uint32_t window_nonzero(struct window window, size_t item_nbytes)
{
    const uint64_t tops = 0x8000800080008000;
    uint32_t bits = 0;

    for (unsigned i = 0; i < GRID_WINDOW / 8; i++) {
        uint64_t eight;

        memcpy(&eight, window.bytes + 8 * i, sizeof eight);
        if (item_nbytes == 2) /* highest bits of elements that are not 0, then brought together */
            eight =
                (((((eight & ~tops) + ~tops) | eight) & tops) >> 15) * 0x1000200040008 >> 48 & 15;
        else if (item_nbytes == 4)
            eight = (uint64_t)(eight >> 32 != 0) << 1 | ((uint32_t)eight != 0);
        else
            eight = eight != 0;
        bits |= (uint32_t)eight << 8 / item_nbytes * i;
    }
    return bits;
}

#include "codec/grid_kernel.h"

GRID_KERNELS(plain, true);
