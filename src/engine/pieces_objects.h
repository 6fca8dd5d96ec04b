/*
 * pieces_objects.h - pieces of object arrays: pickled items, indices moved where they are a
 * policy's.
 */
#ifndef SYMAUG_ENGINE_PIECES_OBJECTS_H
#define SYMAUG_ENGINE_PIECES_OBJECTS_H

#include "engine/kernel.h"
#include "engine/order.h"
#include "engine/pieces.h"
#include "shard/array.h"

/* All borrowed; they must outlive the pieces. The arrays' objects are loaded. */
struct object_input {
    const struct array *const *arrays; /* one per input shard, in order */
    size_t n_arrays;
    const struct row_move *move; /* MOVE_INDEX: integers in the items are moved; else copied */
    const struct order *order;
};

/* Pieces of an object array of one or more dimensions. Takes over `header`, which is zeroed. */
struct pieces *pieces_of_objects(const struct object_input *input, struct bytes *header,
                                 struct error *err);

/* Append what distinguishes one input row under one transform: its moved items' kinds and bytes.
 * Equal rows give equal bytes and different rows different ones. */
int object_row_bytes(const struct object_input *input, uint64_t row, uint32_t t, struct bytes *out,
                     struct error *err);

#endif
