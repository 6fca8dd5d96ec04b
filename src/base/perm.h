/*
 * perm.h - permutations of 0..n-1 as arrays of uint32_t.
 *
 * A map is read as a scatter: element i goes to map[i]. Its inverse is the gather: out[j] comes
 * from inverse[j].
 */
#pragma once

#include "base/error.h"

/* The first index whose image is out of range or already taken; n if map is a permutation; SIZE_MAX
 * with err set if there is no memory. */
size_t perm_first_fault(const uint32_t *map, size_t n, struct error *err);

static inline void perm_set_identity(uint32_t *map, size_t n)
{
    for (size_t i = 0; i < n; i++)
        map[i] = (uint32_t)i;
}

bool perm_is_identity(const uint32_t *map, size_t n);

/* inverse[map[i]] = i. map must be a permutation; the arrays must not overlap. */
static inline void perm_invert(const uint32_t *map, size_t n, uint32_t *inverse)
{
    for (size_t i = 0; i < n; i++)
        inverse[map[i]] = (uint32_t)i;
}

/* Apply first, then `then`: out[i] = then[first[i]]. out may be `first`. */
static inline void perm_compose(const uint32_t *first, const uint32_t *then, size_t n,
                                uint32_t *out)
{
    for (size_t i = 0; i < n; i++)
        out[i] = then[first[i]];
}

/* The smallest multiple k > 0 of `order` (1: any number) with map applied k times = identity; 0 if
 * it does not fit 64 bits or memory is short. map must be a permutation. */
uint64_t perm_order(uint64_t order, const uint32_t *map, size_t n);
