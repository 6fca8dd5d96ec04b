/*
 * table.c - keys numbered in the order in which they first come: open addressing with linear steps,
 * which keys that are hashes need nothing more for.
 */
#include "positions/table.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BOXES 4096

/* Slots for twice the keys that there is room for. */
static int grow(struct table *table, struct error *err)
{
    const size_t capacity = table->capacity > 0 ? 2 * table->capacity : 1024;
    struct key_value *keys = NULL;
    uint32_t *slots = NULL;

    if (capacity <= UINT32_MAX / 2) {
        keys = realloc(table->keys, capacity * sizeof *keys);
        slots = calloc(2 * capacity, sizeof *slots);
    }
    if (keys != NULL)
        table->keys = keys;
    if (keys == NULL || slots == NULL) {
        free(slots);
        return error_no_memory(err, "keys of positions");
    }
    free(table->slots);
    table->slots = slots;
    table->n_slots = 2 * capacity;
    table->capacity = capacity;
    for (size_t i = 0; i < table->n; i++) {
        size_t at = table->keys[i].low & (table->n_slots - 1);

        while (slots[at] != 0)
            at = (at + 1) & (table->n_slots - 1);
        slots[at] = (uint32_t)i + 1;
    }
    return 0;
}

int table_put(struct table *table, struct key_value key, size_t *number, struct error *err)
{
    size_t at;

    if (table->n == table->capacity && grow(table, err) != 0)
        return -1;
    for (at = key.low & (table->n_slots - 1); table->slots[at] != 0;
         at = (at + 1) & (table->n_slots - 1)) {
        const struct key_value *there = &table->keys[table->slots[at] - 1];

        if (there->high == key.high && there->low == key.low) {
            *number = table->slots[at] - 1;
            return 0;
        }
    }
    *number = table->n;
    table->keys[table->n++] = key;
    table->slots[at] = (uint32_t)table->n;
    return 0;
}

void table_clear(struct table *table)
{
    table->n = 0;
    if (table->slots != NULL)
        memset(table->slots, 0, table->n_slots * sizeof *table->slots);
}

void table_release(struct table *table)
{
    free(table->keys);
    free(table->slots);
    *table = (struct table){0};
}

size_t table_n_boxes(uint64_t n_records, uint64_t record_nbytes, uint64_t max_nbytes)
{
    size_t n = 1;

    while (n < MAX_BOXES && n_records / n * record_nbytes > max_nbytes)
        n *= 2;
    return n;
}
