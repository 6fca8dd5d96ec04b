/*
 * orbit_bits.h - whether a plane of packed bits is the image of another one.
 */
#ifndef SYMAUG_VERIFY_ORBIT_BITS_H
#define SYMAUG_VERIFY_ORBIT_BITS_H

#include <stdbool.h>
#include <stdint.h>

/* How the bits of planes lie, and where they go. */
struct orbit_bits {
    uint64_t n;              /* of a plane; it takes (n + 7) / 8 bytes */
    const uint32_t *dst;     /* n: where each bit stands in the image; NULL: in place */
    const uint8_t *on_board; /* n: which ones count; NULL: all */
    bool lsb_first;          /* in a byte */
};

/* Whether all bits that count of `plane` are those of `image`, or, inverted, are not. */
bool orbit_same_bits(const struct orbit_bits *bits, const uint8_t *plane, const uint8_t *image,
                     bool inverted);

/* Whether the bits behind the last one are 0. */
bool orbit_no_pad_bits(const struct orbit_bits *bits, const uint8_t *plane);

#endif
