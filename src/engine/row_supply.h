/*
 * row_supply.h - the input rows that a member is made from: two windows that leapfrog over them, or
 * a table of all of them when they are needed in no order.
 *
 * A supply outlives the pieces that draw on it, so that an output cut into several shards reads
 * its input once.
 */
#ifndef SYMAUG_ENGINE_ROW_SUPPLY_H
#define SYMAUG_ENGINE_ROW_SUPPLY_H

#include "base/bytes.h"
#include "base/error.h"
#include "engine/order.h"
#include "shard/array.h"
#include "shard/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How random access is paid for when an order does not stream; see rows.h. */
struct row_access {
    uint64_t *memory_left; /* borrowed: bytes of memory that may still be used; lowered */
    const char *tmpdir;
};

/* Where the rows come from. All borrowed; they must outlive the supply. */
struct row_arrays {
    const struct array *const
        *arrays; /* one per input shard, in order; equal dtype and row shape */
    const struct array *const *values; /* a second row for each: padded policies; else NULL */
    size_t n_arrays;
    struct row_access access;
};

/* Input rows [begin, end) in memory. */
struct row_window {
    uint64_t begin, end;
    struct bytes rows, values;
};

/* Zero-initialise; closed until it is opened. */
struct row_supply {
    bool is_open;
    bool streams;
    struct row_arrays from;
    uint64_t row_nbytes, value_row_nbytes; /* the latter 0 without values */
    uint64_t memory_nbytes;                /* taken of *memory_left */
    struct row_window windows[2];
    unsigned latest;            /* of the windows */
    struct rows *rows, *values; /* sequential sources; their cursor is the latest window's end */
    struct row_table *table, *value_table;
};

/* True when these arrays can be read through windows: they are in C order. */
bool row_supply_can_stream(const struct array *const *arrays, size_t n_arrays);

/* Open it: as windows if `streams` (and the arrays are in C order), else as a table. */
int row_supply_open(struct row_supply *supply, const struct row_arrays *from, bool streams,
                    struct error *err);

/* Windows: fetch rows [begin, end) (no row before those of the latest window) into the older one,
 * which becomes the latest: *window tells which. May run while others read the one before. Tables:
 * nothing to do. */
int row_supply_load(struct row_supply *supply, uint64_t begin, uint64_t end, unsigned *window,
                    struct error *err);

/* Rows of a window from row on, and its values (NULL without). */
const uint8_t *row_supply_rows(const struct row_supply *supply, unsigned window, uint64_t row,
                               const uint8_t **values);

/* Tables: copy a row to room, and its values (NULL without) behind it. room has
 * row_supply_room_nbytes bytes. Thread-safe. */
int row_supply_get(const struct row_supply *supply, uint64_t row, uint8_t *room,
                   const uint8_t **values, struct error *err);
size_t row_supply_room_nbytes(const struct row_supply *supply);

/* Put file, array and row in front of a reason; always -1. */
int row_supply_fail(const struct row_supply *supply, uint64_t row, const struct error *reason,
                    struct error *err);

/* Close it and give its memory back; accepts a closed one. */
void row_supply_close(struct row_supply *supply);

#endif
