/*
 * bytes.h - little-endian loads and stores, checked sizes, a growable byte buffer.
 */
#pragma once

#include "base/error.h"

static inline uint16_t bytes_get_le16(const uint8_t *p)
{
    return (uint16_t)(p[0] | p[1] << 8);
}

static inline uint32_t bytes_get_le32(const uint8_t *p)
{
    return (uint32_t)bytes_get_le16(p) | (uint32_t)bytes_get_le16(p + 2) << 16;
}

static inline uint64_t bytes_get_le64(const uint8_t *p)
{
    return (uint64_t)bytes_get_le32(p) | (uint64_t)bytes_get_le32(p + 4) << 32;
}

/* Load an unsigned integer of n_bytes (1 to 8) in either byte order. Most elements of arrays are
 * read here: inline, the usual sizes become single loads. */
static inline uint64_t bytes_get_uint(const uint8_t *p, size_t n_bytes, bool big_endian)
{
    uint64_t value = 0;

    switch (n_bytes) {
    case 1:
        return *p;
    case 2:
        return big_endian ? __builtin_bswap16(bytes_get_le16(p)) : bytes_get_le16(p);
    case 4:
        return big_endian ? __builtin_bswap32(bytes_get_le32(p)) : bytes_get_le32(p);
    case 8:
        return big_endian ? __builtin_bswap64(bytes_get_le64(p)) : bytes_get_le64(p);
    default:
        for (size_t i = 0; i < n_bytes; i++)
            value = value << 8 | p[big_endian ? i : n_bytes - 1 - i];
        return value;
    }
}

/* Store the low n_bytes (1 to 8) of value, least significant first. */
static inline void bytes_put_le(uint8_t *p, uint64_t value, size_t n_bytes)
{
    for (size_t i = 0; i < n_bytes; i++)
        p[i] = (uint8_t)(value >> (8 * i));
}

/* The same in either byte order. */
static inline void bytes_put_uint(uint8_t *p, uint64_t value, size_t n_bytes, bool big_endian)
{
    if (big_endian)
        value = __builtin_bswap64(value) >> (64 - 8 * n_bytes);
    switch (n_bytes) {
    case 1:
        *p = (uint8_t)value;
        break;
    case 2:
        bytes_put_le(p, value, 2);
        break;
    case 4:
        bytes_put_le(p, value, 4);
        break;
    case 8:
        bytes_put_le(p, value, 8);
        break;
    default:
        bytes_put_le(p, value, n_bytes);
    }
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Three-way comparison of two numbers; of two uint32_t, for qsort and bsearch. */
static inline int order_of(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static inline int order_of_u32(const void *a, const void *b)
{
    return order_of(*(const uint32_t *)a, *(const uint32_t *)b);
}

/* Of ascending numbers, each the first of an item of n_bytes: the last one of low .. end - 1, at
 * least one, that is not above x; `low` also if none is. */
static inline uint64_t find_last(const uint64_t *numbers, size_t n_bytes, uint64_t low,
                                 uint64_t end, uint64_t x)
{
    while (end - low > 1) {
        const uint64_t middle = low + (end - low) / 2;

        if (numbers[middle * (n_bytes / sizeof *numbers)] <= x)
            low = middle;
        else
            end = middle;
    }
    return low;
}

/* The finaliser of splitmix64 (Steele, Lea, Flood 2014): numbers that look random. */
static inline uint64_t scramble(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* True when all bytes are 0. */
static inline bool bytes_are_zero(const uint8_t *p, size_t n_bytes)
{
    return n_bytes == 0 || (p[0] == 0 && memcmp(p, p + 1, n_bytes - 1) == 0);
}

/* Multiply n factors. Returns 0, or -1 (no error set) when the product does not fit 64 bits. */
int bytes_product(const uint64_t *factors, size_t n, uint64_t *product);

/* What a core fetches from memory at once. Where two threads write to one line, both wait. */
#define CACHE_LINE_NBYTES 64u

/* Zeros in cache lines of their own, for one thread's work. Free them with free. NULL: no memory.
 */
void *bytes_new_apart(size_t n_bytes);

/* Have memory that is not used yet come in pages of 2 MiB, where there are any. */
void bytes_want_huge_pages(void *memory, size_t n_bytes);

/* Reallocate an owned list, a pointer whose address is given, to n items. Returns 0, or -1 when
 * there is no memory for `what`; the list is then unchanged. */
int list_room(void *list, size_t n, size_t item_nbytes, const char *what, struct error *err);

/* A growable byte buffer. Zero-initialise; data is owned. */
struct bytes {
    uint8_t *data;
    size_t n_bytes;
    size_t capacity;
};

/* Make room for n_bytes more and return where they go, or NULL (err set). The caller adds what it
 * stores there to b->n_bytes. */
uint8_t *bytes_reserve(struct bytes *b, size_t n_bytes, struct error *err);

/* Append a copy. Returns 0 or -1. */
int bytes_append(struct bytes *b, const void *data, size_t n_bytes, struct error *err);

/* Free the buffer; accepts a zeroed one. */
void bytes_release(struct bytes *b);
