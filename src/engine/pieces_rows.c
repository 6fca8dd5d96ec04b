/*
 * pieces_rows.c - pieces of rows of equal size (the images of an array's rows, provenance) and of
 * arrays that are copied as they are.
 *
 * Images are looked up some hundred at a time. Where an order streams, the input rows of a run of
 * pieces are in a window of the supply, and neighbours under one transform are moved together; else
 * each row comes out of a table.
 */
#include "engine/pieces.h"

#include "shard/unpack.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_CHUNK 512 /* images looked up at a time, on the stack */

/* --- images --- */

struct image_pieces {
    struct pieces head;
    struct image_input in;
    enum provenance provenance; /* when in.supply is NULL */
};

int image_input_load(const struct image_input *in, const struct pieces *pieces,
                     struct piece_rows *rows, struct error *err)
{
    uint64_t begin, end;

    order_span(in->order, rows->begin, rows->end - rows->begin, &begin, &end);
    /* The array's last rows are read even if no image needs them: its CRC stands at the end. */
    if (rows->end == pieces->n_rows && order_is_last(in->order))
        end = in->order->n_rows;
    return row_supply_load(in->supply, begin, end, &rows->window, err);
}

static int images_load(struct pieces *pieces, struct piece_rows *rows, struct error *err)
{
    const struct image_pieces *self = (const struct image_pieces *)pieces;

    return self->in.supply != NULL ? image_input_load(&self->in, pieces, rows, err) : 0;
}

/* The images of rows: neighbours under one transform are moved together, if a window holds them. */
static int make_images(const struct image_pieces *self, unsigned window, const struct image *images,
                       size_t n, uint8_t *room, uint8_t *out, struct error *err)
{
    struct row_supply *supply = self->in.supply;
    const size_t most = supply->streams ? n : 1;

    for (size_t i = 0, run; i < n; i += run) {
        struct error reason = {0};
        const uint8_t *rows[2];
        uint64_t failed;

        for (run = 1; run < most && i + run < n && images[i + run].row == images[i].row + run &&
                      images[i + run].transform == images[i].transform;)
            run++;
        if (row_supply_get(supply, window, images[i].row, room, rows, err) != 0)
            return -1;
        if (kernel_rows(&self->in.array->spec, images[i].transform, rows[0], rows[1],
                        out + i * self->head.row_nbytes, run, &failed, &reason) != 0)
            return reader_fail(&supply->rows, images[i].row + failed, &reason, err);
    }
    return 0;
}

static void make_provenance(const struct image_pieces *self, const struct image *images, size_t n,
                            uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        if (self->provenance == PROVENANCE_SOURCE)
            bytes_put_le(out + 8 * i, images[i].row, 8);
        else
            out[i] = (uint8_t)images[i].transform;
    }
}

static int images_make(const struct pieces *pieces, const struct piece_rows *rows,
                       struct bytes *out, struct error *err)
{
    const struct image_pieces *self = (const struct image_pieces *)pieces;
    const struct row_supply *supply = self->in.supply;
    const size_t n_bytes = (rows->end - rows->begin) * pieces->row_nbytes;
    const size_t room_nbytes = supply != NULL ? row_supply_room_nbytes(supply) + 16 : 0;
    struct image images[IMAGE_CHUNK];
    /* A header is a multiple of 16, so that the rows stay aligned for the kernels. */
    uint8_t *to = bytes_reserve(out, n_bytes + room_nbytes + CODEC_READ_SLACK, err), *room;

    if (to == NULL)
        return -1;
    room = to + (n_bytes + 15) / 16 * 16; /* of a table's row */
    for (uint64_t row = rows->begin; row < rows->end;) {
        const size_t n = rows->end - row < IMAGE_CHUNK ? (size_t)(rows->end - row) : IMAGE_CHUNK;

        order_images(self->in.order, row, n, images);
        if (supply == NULL)
            make_provenance(self, images, n, to);
        else if (make_images(self, rows->window, images, n, room, to, err) != 0)
            return -1;
        row += n;
        to += n * pieces->row_nbytes;
    }
    out->n_bytes += n_bytes;
    return 0;
}

static void images_free(struct pieces *pieces)
{
    bytes_release(&pieces->header);
    free(pieces);
}

static const struct pieces_ops image_ops = {images_load, images_make, images_free};

static struct pieces *new_pieces(const struct image_pieces *like, uint64_t row_nbytes,
                                 struct bytes *header, struct error *err)
{
    struct image_pieces *self = malloc(sizeof *self);

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    *self = *like;
    self->head.ops = &image_ops;
    self->head.header = *header;
    *header = (struct bytes){0};
    if (pieces_of_equal_rows(&self->head, self->in.order->n_images, row_nbytes, err) == 0)
        return &self->head;
    images_free(&self->head);
    return NULL;
}

struct pieces *pieces_of_rows(const struct image_input *in, struct bytes *header, struct error *err)
{
    const struct image_pieces like = {.in = *in};

    return new_pieces(&like, in->array->spec.row_nbytes, header, err);
}

struct pieces *pieces_of_provenance(enum provenance what, const struct order *order,
                                    struct bytes *header, struct error *err)
{
    const struct image_pieces like = {.in = {.order = order}, .provenance = what};

    return new_pieces(&like, what == PROVENANCE_SOURCE ? 8 : 1, header, err);
}

/* --- copies --- */

#define PADDING_NBYTES 64 /* keeps the data aligned */

/* The bytes of a run of pieces, which are its rows. */
struct run {
    uint64_t begin; /* offset of the first byte in the array */
    struct bytes bytes;
};

struct copy_pieces {
    struct pieces head;
    struct unpack unpack;
    struct bytes longer; /* header that takes the place of the array's own; or empty */
    size_t header_done;  /* bytes of it that have been read */
    struct run windows[2];
    unsigned latest; /* of the windows */
};

uint64_t pieces_copy_nbytes(const struct array *array)
{
    const bool pad = member_size_is_unsafe(array->unpacked_nbytes);

    return array->unpacked_nbytes + (pad ? PADDING_NBYTES : 0);
}

/* Read the array's header, and add spaces in front of the newline at its end. */
static int pad_header(struct copy_pieces *self, const struct array *array, struct error *err)
{
    const size_t n = array->header.header_nbytes;
    uint8_t *p = bytes_reserve(&self->longer, n + PADDING_NBYTES, err);

    if (p == NULL || unpack_read(&self->unpack, p, n, err) != 0)
        return -1;
    p[n + PADDING_NBYTES - 1] = p[n - 1];
    memset(p + n - 1, ' ', PADDING_NBYTES);
    if (array->header.version == 1)
        bytes_put_le(p + 8, bytes_get_le16(p + 8) + PADDING_NBYTES, 2);
    else
        bytes_put_le(p + 8, bytes_get_le32(p + 8) + (uint64_t)PADDING_NBYTES, 4);
    self->longer.n_bytes = n + PADDING_NBYTES;
    return 0;
}

static int read_next(struct copy_pieces *self, uint8_t *out, uint64_t n_bytes, struct error *err)
{
    const size_t left = self->longer.n_bytes - self->header_done;
    const size_t n = n_bytes < left ? (size_t)n_bytes : left;

    if (n > 0)
        memcpy(out, self->longer.data + self->header_done, n);
    self->header_done += n;
    return unpack_read(&self->unpack, out + n, n_bytes - n, err);
}

static int copy_load(struct pieces *pieces, struct piece_rows *rows, struct error *err)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;
    struct run *run = &self->windows[!self->latest];
    const uint64_t n_bytes = rows->end - rows->begin;

    rows->window = self->latest = !self->latest;
    run->begin = rows->begin;
    run->bytes.n_bytes = 0;
    if (bytes_reserve(&run->bytes, n_bytes + 1, err) == NULL ||
        read_next(self, run->bytes.data, n_bytes, err) != 0)
        return -1;
    run->bytes.n_bytes = n_bytes;
    return rows->end == pieces->n_rows ? unpack_finish(&self->unpack, err) : 0;
}

static int copy_make(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                     struct error *err)
{
    const struct run *run = &((const struct copy_pieces *)pieces)->windows[rows->window];

    return bytes_append(out, run->bytes.data + (rows->begin - run->begin), rows->end - rows->begin,
                        err);
}

static void copy_free(struct pieces *pieces)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;

    unpack_release(&self->unpack);
    bytes_release(&self->longer);
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
    self->head.n_rows = n_bytes;
    self->head.rows_per_piece = PIECE_NBYTES;
    if (unpack_start(&self->unpack, array, err) == 0 &&
        (n_bytes == array->unpacked_nbytes || pad_header(self, array, err) == 0))
        return &self->head;
    copy_free(&self->head);
    return NULL;
}
