/*
 * grid_deflate.h - the deflate format's symbols, computed instead of tabulated (RFC 1951, 3.2.5).
 */
#ifndef SYMAUG_CODEC_GRID_DEFLATE_H
#define SYMAUG_CODEC_GRID_DEFLATE_H

#include <stdint.h>

#define DEFLATE_MIN_MATCH    3
#define DEFLATE_MAX_MATCH    258
#define DEFLATE_MAX_DISTANCE 32768

#define DEFLATE_N_LITLEN   286 /* literals, end of block, lengths */
#define DEFLATE_N_DISTANCE 30
#define DEFLATE_N_CODELEN  19
#define DEFLATE_END        256
#define DEFLATE_MAX_STORED 65535

/* Index of the highest set bit; value must not be 0. */
static inline unsigned deflate_log2(uint32_t value)
{
    return 31u - (unsigned)__builtin_clz(value);
}

/* Number of extra bits that follow a match length, and its literal/length symbol. */
static inline unsigned deflate_length_extra(unsigned length)
{
    const unsigned x = length - DEFLATE_MIN_MATCH;

    return x < 8 || length == DEFLATE_MAX_MATCH ? 0 : deflate_log2(x) - 2;
}

static inline unsigned deflate_length_symbol(unsigned length)
{
    const unsigned x = length - DEFLATE_MIN_MATCH;
    const unsigned extra = deflate_length_extra(length);

    if (length == DEFLATE_MAX_MATCH)
        return 285;
    return 257 + 4 * extra + (x >> extra);
}

/* The same for a distance. */
static inline unsigned deflate_distance_extra(uint32_t distance)
{
    const unsigned top = deflate_log2((distance - 1) | 2);

    return top - 1;
}

static inline unsigned deflate_distance_symbol(uint32_t distance)
{
    const unsigned extra = deflate_distance_extra(distance);

    return 2 * extra + ((distance - 1) >> extra);
}

/* The number of extra bits of a distance symbol. */
static inline unsigned deflate_symbol_extra(unsigned symbol)
{
    return symbol < 4 ? 0 : symbol / 2 - 1;
}

/* The greatest distance of a symbol. */
static inline uint32_t deflate_symbol_end(unsigned symbol)
{
    const unsigned extra = deflate_symbol_extra(symbol);

    return symbol < 4 ? symbol + 1 : ((2 + (symbol & 1)) + 1) << extra;
}

#endif
