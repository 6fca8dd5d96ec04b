/*
 * grid_kernel.h - the inner loops, written once and compiled for every instruction set.
 *
 * Included by one source file per set, after it has defined
 *   GRID_TARGET           the function attribute that selects the set
 *   struct window         GRID_WINDOW bytes, loaded
 *   window_load(p)        -> struct window
 *   window_prefix(w, q)   -> how many leading bytes of w equal those at q, 0 to GRID_WINDOW
 *   window_nonzero(w, n)  -> bit i is set when element i, of n bytes, is not 0; n is 2, 4 or 8
 *   lowest_bit(x)         -> index of the lowest set bit of x, which is not 0; 32 bits
 *   lowest_bit_64(x)      -> the same for 64 bits
 * These are exact, so that every set gives the same results.
 */
#include "codec/grid_bits.h"
#include "codec/grid_state.h"

#include <string.h>

#define GRID_INLINE static inline __attribute__((always_inline)) GRID_TARGET

GRID_INLINE uint16_t load_16(const uint8_t *p)
{
    uint16_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

GRID_INLINE uint32_t load_32(const uint8_t *p)
{
    uint32_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

GRID_INLINE uint64_t load_64(const uint8_t *p)
{
    uint64_t value;

    memcpy(&value, p, sizeof value);
    return value;
}

/* Length of a match that is known to reach `length`, looked at up to `most`. */
GRID_INLINE uint32_t extend(const uint8_t *p, size_t distance, uint32_t length, uint32_t most)
{
    while (length < most) {
        const unsigned more = window_prefix(window_load(p + length), p + length - distance);

        length += more;
        if (more < GRID_WINDOW)
            break;
    }
    return length < most ? length : most;
}

/* Length of the match of the window at p, up to `most`. */
GRID_INLINE uint32_t match_length(const struct window *window, const uint8_t *p, size_t distance,
                                  uint32_t most)
{
    const unsigned length = window_prefix(*window, p - distance);

    if (length == GRID_WINDOW)
        return extend(p, distance, length, most);
    return length < most ? length : most;
}

GRID_INLINE uint32_t match_limit(const uint8_t *p, const uint8_t *stop)
{
    return stop - p < DEFLATE_MAX_MATCH ? (uint32_t)(stop - p) : DEFLATE_MAX_MATCH;
}

static GRID_TARGET void measure(const uint8_t *bytes, const uint8_t *stop,
                                const uint32_t *distances, size_t n_distances, uint16_t *lengths)
{
    const struct window window = window_load(bytes);
    const uint32_t most = match_limit(bytes, stop);

    for (size_t i = 0; i < n_distances; i++)
        lengths[i] = (uint16_t)match_length(&window, bytes, distances[i], most);
}

#include "codec/grid_kernel_emit.h"
#include "codec/grid_kernel_greedy.h"
#include "codec/grid_kernel_index.h"
#include "codec/grid_kernel_optimal.h"
#include "codec/grid_kernel_sparse.h"
#include "codec/grid_kernel_values.h"

#define GRID_KERNELS(set, supported)                 \
    const struct grid_kernels grid_kernels_##set = { \
        .name = #set,                                \
        .is_supported = supported,                   \
        .parse = {[GRID_GREEDY] = greedy,            \
                  [GRID_SPARSE] = sparse,            \
                  [GRID_VALUES] = values,            \
                  [GRID_OPTIMAL] = optimal},         \
        .count = count,                              \
        .emit = emit,                                \
        .measure = measure,                          \
    }
