/*
 * shuffle.h - a fixed pseudo-random permutation of 0..n-1 without a table.
 *
 * A four-round Feistel network over the smallest even number of bits that holds n, walked along its
 * cycle until the image falls below n (fewer than four steps on average).
 */
#ifndef SYMAUG_ENGINE_SHUFFLE_H
#define SYMAUG_ENGINE_SHUFFLE_H

#include <stdint.h>

/* Where position i (< n) of the shuffled sequence comes from. A bijection of 0..n-1. */
uint64_t shuffle_source(uint64_t i, uint64_t n, uint64_t seed);

/* A well-mixed 64-bit hash of two numbers: the same on every machine. */
uint64_t shuffle_hash(uint64_t a, uint64_t b);

/* The same of a number and a string. */
uint64_t shuffle_hash_text(uint64_t a, const char *text);

#endif
