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
    uint32_t bits = 0;

    for (unsigned i = 0; i < GRID_WINDOW / item_nbytes; i++) {
        uint64_t item = 0;

        memcpy(&item, window.bytes + i * item_nbytes, item_nbytes);
        bits |= (uint32_t)(item != 0) << i;
    }
    return bits;
}

#include "codec/grid_kernel.h"

GRID_KERNELS(plain, true);
