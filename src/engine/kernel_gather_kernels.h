/*
 * kernel_gather_kernels.h - the variants that the table in kernel_gather.c is made of. A variant
 * falls back to a plainer one for planes it has nothing to offer for.
 */
#ifndef SYMAUG_ENGINE_KERNEL_GATHER_KERNELS_H
#define SYMAUG_ENGINE_KERNEL_GATHER_KERNELS_H

#include "engine/kernel_gather.h"

/* Fewer planes than this do not earn back the preparation of a map. */
#define GATHER_WORTH_PLANES 4

/* Where part k of a plane of n begins, for parts of `lanes` elements: the last one overlaps the one
 * before it instead of reaching over the end (n >= lanes). */
static inline size_t gather_part(size_t k, size_t lanes, size_t n)
{
    return (k + 1) * lanes <= n ? k * lanes : n - lanes;
}

/* For n_lanes output bits (8 or more, at most 64) from a byte on: which source byte each lane
 * looks at, and which bit of it; no bit in lanes behind the plane. Lane k is bit k % 8, counted
 * from the lowest, of byte k / 8. */
struct gather_bit_lanes {
    uint8_t byte[64], bit[64];
};

void gather_bit_lanes_set(struct gather_bit_lanes *lanes, const struct gather_tile *tile,
                          size_t first_byte, size_t n_lanes);

gather_fn gather_plain_8, gather_plain_16, gather_plain_32, gather_plain_64, gather_plain_bits;

#if defined(__x86_64__)
gather_fn gather_avx2_8, gather_avx2_16, gather_avx2_32, gather_avx2_64, gather_avx2_bits;
gather_fn gather_avx512_16, gather_avx512_64;
gather_fn gather_vbmi_8, gather_vbmi_bits;
#endif

#endif
