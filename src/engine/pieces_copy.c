/* pieces_copy.c - see pieces_copy.h. */
#include "engine/pieces_copy.h"

#include "shard/archive_out.h"
#include "shard/unpack.h"

#include <stdlib.h>
#include <string.h>

#define PADDING_NBYTES 64 /* keeps the data aligned */

/* The bytes of a run of pieces. */
struct run {
    uint64_t begin; /* offset of the first byte in the array */
    struct bytes bytes;
};

struct copy_pieces {
    struct pieces head;
    struct unpack unpack;
    struct bytes header; /* a longer one, that takes the place of the array's own; or empty */
    size_t header_done;  /* bytes of it that have been read */
    struct run windows[2];
    unsigned latest; /* of the windows */
};

uint64_t pieces_copy_nbytes(const struct array *array)
{
    const bool pad = zip_size_is_unsafe(array->unpacked_nbytes);

    return array->unpacked_nbytes + (pad ? PADDING_NBYTES : 0);
}

/* Read the array's header, and add spaces in front of the newline at its end. */
static int pad_header(struct copy_pieces *self, const struct array *array, struct error *err)
{
    const size_t n = array->header.header_nbytes;
    uint8_t *p = bytes_reserve(&self->header, n + PADDING_NBYTES, err);

    if (p == NULL || unpack_read(&self->unpack, p, n, err) != 0)
        return -1;
    p[n + PADDING_NBYTES - 1] = p[n - 1];
    memset(p + n - 1, ' ', PADDING_NBYTES);
    if (array->header.version == 1)
        bytes_put_le(p + 8, bytes_get_le16(p + 8) + PADDING_NBYTES, 2);
    else
        bytes_put_le(p + 8, bytes_get_le32(p + 8) + (uint64_t)PADDING_NBYTES, 4);
    self->header.n_bytes = n + PADDING_NBYTES;
    return 0;
}

static int read_next(struct copy_pieces *self, uint8_t *out, uint64_t n_bytes, struct error *err)
{
    const size_t left = self->header.n_bytes - self->header_done;
    const size_t n = n_bytes < left ? (size_t)n_bytes : left;

    if (n > 0)
        memcpy(out, self->header.data + self->header_done, n);
    self->header_done += n;
    return unpack_read(&self->unpack, out + n, n_bytes - n, err);
}

static int copy_load(struct pieces *pieces, uint64_t first, uint64_t n, unsigned *window,
                     struct error *err)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;
    struct run *run = &self->windows[!self->latest];
    const uint64_t begin = first * PIECE_NBYTES, left = pieces->unpacked_nbytes - begin;
    const uint64_t n_bytes = left < n * PIECE_NBYTES ? left : n * PIECE_NBYTES;

    *window = self->latest = !self->latest;
    run->begin = begin;
    run->bytes.n_bytes = 0;
    if (bytes_reserve(&run->bytes, n_bytes + 1, err) == NULL ||
        read_next(self, run->bytes.data, n_bytes, err) != 0)
        return -1;
    run->bytes.n_bytes = n_bytes;
    return n_bytes == left ? unpack_finish(&self->unpack, err) : 0;
}

static int copy_make(const struct pieces *pieces, uint64_t i, unsigned window,
                     struct bytes *scratch, size_t *history_nbytes, struct error *err)
{
    const struct copy_pieces *self = (const struct copy_pieces *)pieces;
    const struct run *run = &self->windows[window];
    const uint64_t at = i * PIECE_NBYTES - run->begin;
    const uint64_t left = run->bytes.n_bytes - at;

    *history_nbytes = 0;
    scratch->n_bytes = 0;
    return bytes_append(scratch, run->bytes.data + at, left < PIECE_NBYTES ? left : PIECE_NBYTES,
                        err);
}

static void copy_free(struct pieces *pieces)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;

    unpack_release(&self->unpack);
    bytes_release(&self->header);
    bytes_release(&self->windows[0].bytes);
    bytes_release(&self->windows[1].bytes);
    free(self);
}

static const struct pieces_ops copy_ops = {copy_load, copy_make, copy_free};

struct pieces *pieces_of_copy(const struct array *array, struct error *err)
{
    struct copy_pieces *self = calloc(1, sizeof *self);
    const uint64_t n_bytes = pieces_copy_nbytes(array);

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    self->head.ops = &copy_ops;
    self->head.size_known = true;
    self->head.unpacked_nbytes = n_bytes;
    self->head.n_pieces = n_bytes == 0 ? 1 : (n_bytes - 1) / PIECE_NBYTES + 1;
    if (unpack_start(&self->unpack, array, err) == 0 &&
        (n_bytes == array->unpacked_nbytes || pad_header(self, array, err) == 0))
        return &self->head;
    copy_free(&self->head);
    return NULL;
}
