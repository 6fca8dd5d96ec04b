/*
 * table.h - keys numbered in the order in which they first come.
 */
#ifndef SYMAUG_POSITIONS_TABLE_H
#define SYMAUG_POSITIONS_TABLE_H

#include "positions/key.h"

/* Zero-initialise. */
struct table {
    struct key_value *keys; /* owned: by number */
    size_t n, capacity;
    uint32_t *slots; /* owned: number + 1, 0 free; a power of 2 */
    size_t n_slots;
};

/* The number of a key, which is the number of keys before if it is new. ERROR_INTERNAL without
 * memory. */
int table_put(struct table *table, struct key_value key, size_t *number, struct error *err);

/* Forget all keys; memory is kept. */
void table_clear(struct table *table);
void table_release(struct table *table);

/* Into how many boxes of leading bits so many records go, so that the records of one box, with
 * record_nbytes each, need no more than max_nbytes; a power of 2. */
size_t table_n_boxes(uint64_t n_records, uint64_t record_nbytes, uint64_t max_nbytes);

/* The box of a key. */
static inline size_t table_box(struct key_value key, size_t n_boxes)
{
    return (size_t)(((unsigned __int128)key.high * n_boxes) >> 64);
}

#endif
