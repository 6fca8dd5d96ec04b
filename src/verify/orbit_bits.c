/*
 * orbit_bits.c - whether a plane of packed bits is the image of another one, perhaps inverted. Most
 * bits of most planes are 0, so each bit that is set is followed to its image, and the counts must
 * agree.
 */
#include "verify/orbit_bits.h"

#include <stddef.h>

static unsigned get_bit(const struct orbit_bits *bits, const uint8_t *plane, uint64_t i)
{
    return plane[i >> 3] >> (bits->lsb_first ? i & 7 : 7 - (i & 7)) & 1;
}

static uint64_t place_of(const struct orbit_bits *bits, uint64_t i)
{
    return bits->dst != NULL ? bits->dst[i] : i;
}

static uint64_t count_bits(const struct orbit_bits *bits, const uint8_t *plane)
{
    uint64_t n_set = 0, i = 0;

    for (; i + 8 <= bits->n; i += 8)
        n_set += (unsigned)__builtin_popcount(plane[i >> 3]);
    for (; i < bits->n; i++)
        n_set += get_bit(bits, plane, i);
    return n_set;
}

/* Every bit that is set has its image set, and the image has no others: most bits are not. */
static bool same_all(const struct orbit_bits *bits, const uint8_t *plane, const uint8_t *image)
{
    uint64_t n_set = 0;

    for (uint64_t first = 0; first < bits->n; first += 8) {
        const uint64_t end = first + 8 < bits->n ? first + 8 : bits->n;

        for (uint64_t i = first; plane[first >> 3] != 0 && i < end; i++) {
            if (!get_bit(bits, plane, i))
                continue;
            if (!get_bit(bits, image, place_of(bits, i)))
                return false;
            n_set++;
        }
    }
    return count_bits(bits, image) == n_set;
}

bool orbit_same_bits(const struct orbit_bits *bits, const uint8_t *plane, const uint8_t *image,
                     bool inverted)
{
    unsigned differ = 0;

    if (bits->on_board == NULL && !inverted)
        return same_all(bits, plane, image);
    for (uint64_t i = 0; i < bits->n; i++)
        if (bits->on_board == NULL || bits->on_board[i])
            differ |= get_bit(bits, plane, i) ^ get_bit(bits, image, place_of(bits, i)) ^ inverted;
    return differ == 0;
}

bool orbit_no_pad_bits(const struct orbit_bits *bits, const uint8_t *plane)
{
    for (uint64_t i = bits->n; i < (bits->n + 7) / 8 * 8; i++)
        if (get_bit(bits, plane, i))
            return false;
    return true;
}
