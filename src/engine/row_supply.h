/*
 * row_supply.h - the input rows that a member is made from: two batches that leapfrog over them, or
 * all of them at hand when they are needed in no order.
 *
 * A supply outlives the pieces that draw on it, so that an output cut into several shards reads
 * its input once.
 */
#ifndef SYMAUG_ENGINE_ROW_SUPPLY_H
#define SYMAUG_ENGINE_ROW_SUPPLY_H

#include "engine/plan.h"
#include "shard/batch.h"

/* Zero-initialise; closed until it is opened. It stays where it is while it is open. */
struct row_supply {
    bool is_open;
    bool streams;
    bool has_values;
    struct reader rows, values; /* values: beside padded indices */
    struct batch windows[2], value_windows[2];
    unsigned latest; /* of the windows */
};

/* Open it for an array of the plan: through windows if `streams` (and the arrays are in C order).
 */
int row_supply_open(struct row_supply *supply, const struct plan *plan,
                    const struct plan_array *array, bool streams, struct error *err);

/* Windows: fetch rows [begin, end) (no row before those of the latest window) into the older one,
 * which becomes the latest: *window tells which. May run while others read the one before. Else:
 * nothing to do. */
int row_supply_load(struct row_supply *supply, uint64_t begin, uint64_t end, unsigned *window,
                    struct error *err);

/* A row as bytes, and its values (NULL without). Those of a window stay until it is loaded again,
 * others are copied to `room` of row_supply_room_nbytes. Thread-safe. */
int row_supply_get(struct row_supply *supply, unsigned window, uint64_t row, uint8_t *room,
                   const uint8_t *both[2], struct error *err);
size_t row_supply_room_nbytes(const struct row_supply *supply);

/* Close it and give its memory back; accepts a closed one. */
void row_supply_close(struct row_supply *supply);

#endif
