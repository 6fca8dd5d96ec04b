/*
 * spill.h - records put into boxes by a number, and given back box by box: in memory while there is
 * room, then in an unlinked temp file.
 */
#ifndef SYMAUG_POSITIONS_SPILL_H
#define SYMAUG_POSITIONS_SPILL_H

#include "base/bytes.h"
#include "base/error.h"
#include "shard/scratch.h"

#include <stddef.h>
#include <stdint.h>

/* A part of a box in the file. */
struct spill_run {
    uint64_t offset, n_bytes;
};

struct spill_box {
    struct bytes bytes;     /* what is not in the file */
    struct spill_run *runs; /* owned */
    size_t n_runs, capacity;
};

/* Zero-initialise. */
struct spill {
    struct spill_box *boxes; /* owned */
    size_t n_boxes;
    uint64_t held_nbytes, max_nbytes; /* in memory, and how much may be */
    struct scratch file;
    bool has_file;
    struct budget no_memory; /* but a folder for the file */
};

/* Boxes that hold max_nbytes in memory. */
int spill_init(struct spill *spill, size_t n_boxes, uint64_t max_nbytes, const char *tmpdir,
               struct error *err);

/* Room for a record of n_bytes at the end of a box, to be filled before the next call. */
uint8_t *spill_add(struct spill *spill, size_t box, size_t n_bytes, struct error *err);

/* All bytes of a box in the order in which they were added, some whole records at a time. */
int spill_each(const struct spill *spill, size_t box,
               int (*visit)(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err),
               void *self, struct error *err);

/* Forget the bytes of a box that are in memory. */
void spill_empty(struct spill *spill, size_t box);

void spill_release(struct spill *spill);

#endif
