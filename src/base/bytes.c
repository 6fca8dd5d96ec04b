/*
 * bytes.c - the parts of bytes.h that are not inline: checked products, memory, the growable
 * buffer. The buffer grows to half as much again as is needed, so that appending byte by byte stays
 * linear; sizes that could overflow are refused as lack of memory. Small buffers are larger than a
 * cache line, so that those of several threads are not in one.
 */
#include "base/bytes.h"

#include <sys/mman.h>

int bytes_product(const uint64_t *factors, size_t n, uint64_t *product)
{
    uint64_t p = 1;

    for (size_t i = 0; i < n; i++)
        if (__builtin_mul_overflow(p, factors[i], &p))
            return -1;
    *product = p;
    return 0;
}

void *bytes_new_apart(size_t n_bytes)
{
    const size_t n = (n_bytes / CACHE_LINE_NBYTES + 1) * CACHE_LINE_NBYTES;
    void *memory = aligned_alloc(CACHE_LINE_NBYTES, n);

    return memory != NULL ? memset(memory, 0, n) : NULL;
}

void bytes_want_huge_pages(void *memory, size_t n_bytes)
{
    const size_t skip = -(uintptr_t)memory % (2u << 20);

    if (n_bytes > skip)
        madvise((uint8_t *)memory + skip, n_bytes - skip, MADV_HUGEPAGE);
}

int list_room(void *list, size_t n, size_t item_nbytes, const char *what, struct error *err)
{
    void *items;

    memcpy(&items, list, sizeof items);
    items = reallocarray(items, n, item_nbytes);
    if (items == NULL)
        return error_no_memory(err, what);
    memcpy(list, &items, sizeof items);
    return 0;
}

uint8_t *bytes_reserve(struct bytes *b, size_t n_bytes, struct error *err)
{
    size_t needed;

    if (__builtin_add_overflow(b->n_bytes, n_bytes, &needed) || needed > SIZE_MAX / 2) {
        error_no_memory(err, "byte buffer");
        return NULL;
    }
    if (needed > b->capacity || b->data == NULL) {
        const size_t capacity = needed + needed / 2 + 4 * CACHE_LINE_NBYTES;

        if (list_room(&b->data, capacity, 1, "byte buffer", err) != 0)
            return NULL;
        b->capacity = capacity;
    }
    return b->data + b->n_bytes;
}

int bytes_append(struct bytes *b, const void *data, size_t n_bytes, struct error *err)
{
    uint8_t *to = bytes_reserve(b, n_bytes, err);

    if (to == NULL)
        return -1;
    if (n_bytes > 0)
        memcpy(to, data, n_bytes);
    b->n_bytes += n_bytes;
    return 0;
}

void bytes_release(struct bytes *b)
{
    free(b->data);
    *b = (struct bytes){0};
}
