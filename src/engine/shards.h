/*
 * shards.h - an output cut into several shards: which rows each holds, and what it is called.
 *
 * A block of the row order never straddles two shards; orders without blocks (transform, shuffled)
 * are cut after exactly so many rows. A plan that folds its inputs together may give each of them a
 * shard of its own.
 */
#ifndef SYMAUG_ENGINE_SHARDS_H
#define SYMAUG_ENGINE_SHARDS_H

#include "base/error.h"
#include "base/text.h"
#include "engine/plan.h"

#include <stdbool.h>
#include <stdint.h>

/* How a plan's output is cut. */
enum shards_cut {
    SHARDS_ONE,    /* not at all */
    SHARDS_ROWS,   /* after exactly so many rows */
    SHARDS_BLOCKS, /* after so many blocks */
    SHARDS_REACH,  /* after the block that reaches so many rows */
    SHARDS_INPUTS, /* one for each input */
};
enum shards_cut shards_cut(const struct plan *plan);

/* Shard i, which begins at output row `first`, where the one before ends. */
struct order shards_slice(const struct plan *plan, uint64_t i, uint64_t first);

/* The number of shards; at least 1. */
uint64_t shards_count(const struct plan *plan);

/* What shard i of an output is called: OUT.npz -> OUT-00000.npz, x%03d.npz -> x000.npz; the name
 * itself for the only one of an output that is not cut; the name of its input in the folder OUT
 * where each input has a shard. Appended to name. */
int shards_name(const struct plan *plan, const char *output, uint64_t i, struct text *name,
                struct error *err);

/* Output rows of a block in which no image is left out but by --pick. */
uint64_t shards_block_rows(const struct plan *plan);

/* The rows of a full shard where that is less than was asked for, because blocks stay whole: else
 * 0. */
uint64_t shards_rounded(const struct plan *plan);

#endif
