/* kernel_bits.c - see kernel_bits.h. */
#include "engine/kernel_bits.h"

#include <string.h>

static inline unsigned get_bit(const uint8_t *bytes, uint32_t i, bool lsb_first)
{
    return bytes[i >> 3] >> (lsb_first ? (i & 7) : 7 - (i & 7)) & 1u;
}

static void move_plane(const uint32_t *src, const uint8_t *in, uint8_t *out, size_t n_bits,
                       bool lsb_first)
{
    size_t n_bytes = (n_bits + 7) / 8;

    for (size_t b = 0; b < n_bytes; b++) {
        size_t end = n_bits - 8 * b < 8 ? n_bits - 8 * b : 8;
        unsigned byte = 0;

        for (size_t k = 0; k < end; k++) {
            uint32_t cell = (uint32_t)(8 * b + k);
            unsigned bit = get_bit(in, src != NULL ? src[cell] : cell, lsb_first);

            byte |= bit << (lsb_first ? k : 7 - k);
        }
        out[b] = (uint8_t)byte;
    }
}

void kernel_bits_row(const struct row_move *move, const struct move_step *step, const uint8_t *in,
                     uint8_t *out)
{
    const size_t plane_nbytes = (move->axis + 7) / 8;

    for (uint64_t o = 0; o < move->outer; o++) {
        uint64_t from = step->plane_src != NULL ? step->plane_src[o] : o;

        move_plane(step->src, in + from * plane_nbytes, out + o * plane_nbytes, move->axis,
                   move->lsb_first);
    }
}
