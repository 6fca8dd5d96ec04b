/*
 * grid_bits.h - writing bits, first one lowest, eight bytes at a time.
 */
#ifndef SYMAUG_CODEC_GRID_BITS_H
#define SYMAUG_CODEC_GRID_BITS_H

#include "codec/grid_state.h"

#include <string.h>

#define GRID_BITS_MAX_PUT 56 /* bits that fit beside the up to 7 pending ones */

/* Append n_bits; all higher bits of value must be 0. */
static inline void grid_bits_put(struct grid_bits *bits, uint64_t value, unsigned n_bits)
{
    bits->pending |= value << bits->n_pending;
    bits->n_pending += n_bits;
    memcpy(bits->out, &bits->pending, sizeof bits->pending);
    bits->out += bits->n_pending >> 3;
    bits->pending >>= bits->n_pending & ~7u;
    bits->n_pending &= 7;
}

/* Fill up the last byte with zeros. */
static inline void grid_bits_align(struct grid_bits *bits)
{
    grid_bits_put(bits, 0, -bits->n_pending & 7);
}

#endif
