/* kernel_gather_plain.c - the gather in plain C: the reference of all other variants. */
#include "engine/kernel_gather_kernels.h"

/* Four loads before the first store: the compiler cannot know that a store changes no map. */
#define DEFINE_PLAIN(bits)                                                                    \
    static void plane_##bits(const uint32_t *restrict src, const uint##bits##_t *restrict in, \
                             uint##bits##_t *restrict out, size_t n)                          \
    {                                                                                         \
        size_t j = 0;                                                                         \
                                                                                              \
        for (; j + 4 <= n; j += 4) {                                                          \
            const uint##bits##_t a = in[src[j]], b = in[src[j + 1]];                          \
            const uint##bits##_t c = in[src[j + 2]], d = in[src[j + 3]];                      \
                                                                                              \
            out[j] = a;                                                                       \
            out[j + 1] = b;                                                                   \
            out[j + 2] = c;                                                                   \
            out[j + 3] = d;                                                                   \
        }                                                                                     \
        for (; j < n; j++)                                                                    \
            out[j] = in[src[j]];                                                              \
    }                                                                                         \
                                                                                              \
    void gather_plain_##bits(const struct gather_tile *tile)                                  \
    {                                                                                         \
        uint##bits##_t *out = (uint##bits##_t *)(void *)tile->out;                            \
                                                                                              \
        for (size_t p = 0; p < tile->n_planes; p++)                                           \
            plane_##bits(tile->src, (const uint##bits##_t *)(const void *)tile->from[p],      \
                         out + p * tile->n, tile->n);                                         \
    }

DEFINE_PLAIN(8)
DEFINE_PLAIN(16)
DEFINE_PLAIN(32)
DEFINE_PLAIN(64)

static unsigned get_bit(const uint8_t *bytes, uint32_t i, bool lsb_first)
{
    return (unsigned)bytes[i >> 3] >> (lsb_first ? (i & 7) : 7 - (i & 7)) & 1u;
}

void gather_plain_bits(const struct gather_tile *tile)
{
    const size_t n_bytes = (tile->n + 7) / 8;

    for (size_t p = 0; p < tile->n_planes; p++) {
        uint8_t *out = tile->out + p * n_bytes;

        for (size_t b = 0; b < n_bytes; b++) {
            const uint32_t *src = tile->src + 8 * b;
            const size_t end = tile->n - 8 * b < 8 ? tile->n - 8 * b : 8;
            unsigned byte = 0;

            for (size_t k = 0; k < end; k++)
                byte |= get_bit(tile->from[p], src[k], tile->lsb_first)
                        << (tile->lsb_first ? k : 7 - k);
            out[b] = (uint8_t)byte;
        }
    }
}

void gather_bit_lanes_set(struct gather_bit_lanes *lanes, const struct gather_tile *tile,
                          size_t first_byte, size_t n_lanes)
{
    const unsigned flip = tile->lsb_first ? 0 : 7;

    for (size_t k = 0; k < n_lanes; k++) {
        const size_t cell = 8 * first_byte + (k ^ flip);
        const uint32_t src = cell < tile->n ? tile->src[cell] : 0;

        lanes->byte[k] = (uint8_t)(src >> 3);
        lanes->bit[k] = (uint8_t)(cell < tile->n ? 1u << ((src & 7) ^ flip) : 0u);
    }
}
