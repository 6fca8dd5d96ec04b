/* pieces_copy.c - see pieces_copy.h. */
#include "engine/pieces_copy.h"

#include "shard/unpack.h"

#include <stdlib.h>
#include <string.h>

/* The bytes of a run of pieces. */
struct run {
    uint64_t begin; /* offset of the first byte in the array */
    struct bytes bytes;
};

struct copy_pieces {
    struct pieces head;
    struct unpack unpack;
    struct run front, back;
};

static int copy_load(struct pieces *pieces, uint64_t first, uint64_t n, struct error *err)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;
    const uint64_t begin = first * PIECE_NBYTES, left = pieces->unpacked_nbytes - begin;
    const uint64_t n_bytes = left < n * PIECE_NBYTES ? left : n * PIECE_NBYTES;

    self->back.begin = begin;
    self->back.bytes.n_bytes = 0;
    if (bytes_reserve(&self->back.bytes, n_bytes + 1, err) == NULL ||
        unpack_read(&self->unpack, self->back.bytes.data, n_bytes, err) != 0)
        return -1;
    self->back.bytes.n_bytes = n_bytes;
    return n_bytes == left ? unpack_finish(&self->unpack, err) : 0;
}

static void copy_turn(struct pieces *pieces)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;
    struct run front = self->front;

    self->front = self->back;
    self->back = front;
}

static int copy_make(const struct pieces *pieces, uint64_t i, struct bytes *scratch,
                     size_t *history_nbytes, struct error *err)
{
    const struct copy_pieces *self = (const struct copy_pieces *)pieces;
    const uint64_t at = i * PIECE_NBYTES - self->front.begin;
    const uint64_t left = self->front.bytes.n_bytes - at;

    *history_nbytes = 0;
    scratch->n_bytes = 0;
    return bytes_append(scratch, self->front.bytes.data + at,
                        left < PIECE_NBYTES ? left : PIECE_NBYTES, err);
}

static void copy_free(struct pieces *pieces)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;

    unpack_release(&self->unpack);
    bytes_release(&self->front.bytes);
    bytes_release(&self->back.bytes);
    free(self);
}

static const struct pieces_ops copy_ops = {copy_load, copy_turn, copy_make, copy_free};

struct pieces *pieces_of_copy(const struct array *array, struct error *err)
{
    struct copy_pieces *self = calloc(1, sizeof *self);

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    self->head.ops = &copy_ops;
    self->head.size_known = true;
    self->head.unpacked_nbytes = array->unpacked_nbytes;
    self->head.n_pieces =
        array->unpacked_nbytes == 0 ? 1 : (array->unpacked_nbytes - 1) / PIECE_NBYTES + 1;
    if (unpack_start(&self->unpack, array, err) == 0)
        return &self->head;
    copy_free(&self->head);
    return NULL;
}
