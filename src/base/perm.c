/*
 * perm.c - permutations as arrays of uint32_t. The check keeps one bit per index; the order is the
 * least common multiple of the cycle lengths.
 */
#include "base/perm.h"

size_t perm_first_fault(const uint32_t *map, size_t n, struct error *err)
{
    uint8_t *taken = calloc(n / 8 + 1, 1);
    size_t i;

    if (taken == NULL) {
        error_no_memory(err, "permutation check");
        return SIZE_MAX;
    }
    for (i = 0; i < n; i++) {
        uint32_t to = map[i];
        uint8_t bit = (uint8_t)(1u << (to & 7));

        if (to >= n || (taken[to >> 3] & bit))
            break;
        taken[to >> 3] |= bit;
    }
    free(taken);
    return i;
}

bool perm_is_identity(const uint32_t *map, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (map[i] != i)
            return false;
    return true;
}

uint64_t perm_order(uint64_t order, const uint32_t *map, size_t n)
{
    uint8_t *seen = calloc(n + 1, 1);

    if (seen == NULL)
        return 0;
    for (size_t i = 0; i < n && order != 0; i++) {
        uint64_t length = 0, divisor = order, rest;

        for (size_t j = i; !seen[j]; j = map[j]) {
            seen[j] = 1;
            length++;
        }
        if (length < 2)
            continue;
        for (uint64_t k = length; k != 0; k = rest) { /* Euclid's */
            rest = divisor % k;
            divisor = k;
        }
        if (__builtin_mul_overflow(order, length / divisor, &order))
            order = 0;
    }
    free(seen);
    return order;
}
