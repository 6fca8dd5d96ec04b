/*
 * pieces_csr.c - pieces of a sparse policy in CSR form: offsets, indices, values.
 *
 * The input's offsets say where each row's elements are; a piece holds the images of so many rows,
 * whatever their length. Elements are numbered over all input shards.
 */
#include "engine/pieces.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_CHUNK    512
#define ROWS_PER_PIECE 16384 /* of the input's rows, whose images may be of any length */

static uint64_t row_length(const struct csr *csr, uint64_t row)
{
    return csr->first[row + 1] - csr->first[row];
}

static uint64_t images_length(const struct csr *csr, const struct order *order, uint64_t first,
                              uint64_t end)
{
    struct image images[IMAGE_CHUNK];
    uint64_t length = 0;

    while (first < end) {
        size_t n = end - first < IMAGE_CHUNK ? (size_t)(end - first) : IMAGE_CHUNK;

        order_images(order, first, n, images);
        for (size_t i = 0; i < n; i++)
            length += row_length(csr, images[i].row);
        first += n;
    }
    return length;
}

uint64_t csr_length(const struct csr *csr, const struct order *order)
{
    return images_length(csr, order, 0, order->n_images);
}

/* --- pieces --- */

struct csr_pieces {
    struct pieces head;
    enum csr_part part;
    struct image_input in;
    uint64_t *piece_element; /* owned, one a piece: output element at which it begins */
};

static int csr_load(struct pieces *pieces, struct piece_rows *rows, struct error *err)
{
    const struct csr_pieces *self = (const struct csr_pieces *)pieces;

    return self->part == CSR_ELEMENTS ? image_input_load(&self->in, pieces, rows, err) : 0;
}

static int put_offset(const struct csr_pieces *self, uint64_t offset, struct bytes *out,
                      struct error *err)
{
    const struct array *array = self->in.array->sources[0];
    const struct dtype *dtype = &array->header.dtype;
    uint8_t *to = bytes_reserve(out, dtype->itemsize, err);

    if (to == NULL)
        return -1;
    if (offset > INT64_MAX || dtype_put_int(dtype, (int64_t)offset, to) != 0)
        return error_set(err, ERROR_DATA,
                         "%s: %s: offset %llu of the expanded policy does not fit %u-byte integers",
                         text_path(array->input->path).text, text_path(array->member).text,
                         (unsigned long long)offset, dtype->itemsize);
    out->n_bytes += dtype->itemsize;
    return 0;
}

/* A row's elements. */
static int put_elements(const struct csr_pieces *self, unsigned window, const struct image *image,
                        struct bytes *out, struct error *err)
{
    struct row_supply *supply = self->in.supply;
    const struct spec *spec = &self->in.array->spec;
    const uint64_t first = self->in.array->csr->first[image->row];
    const uint64_t n = self->in.array->csr->first[image->row + 1] - first;
    const uint64_t n_bytes = n * supply->rows.unit_nbytes;
    uint8_t *to = bytes_reserve(out, n_bytes + 1, err);
    const uint8_t *from = to;
    struct error reason = {0};

    if (to == NULL)
        return -1;
    if (supply->streams) {
        const struct batch *rows = &supply->windows[window];

        from = batch_row(rows, image->row - rows->first).bytes;
    } else if (reader_read(&supply->rows, first, n, to, err) != 0) {
        return -1;
    }
    if (spec->kind == SPEC_INDICES) {
        if (kernel_indices(spec, image->transform, &spec->dtype, from, to, n, &reason) != 0)
            return reader_fail(&supply->rows, image->row, &reason, err);
    } else if (from != to) {
        memcpy(to, from, n_bytes);
    }
    out->n_bytes += n_bytes;
    return 0;
}

static int csr_make(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                    struct error *err)
{
    const struct csr_pieces *self = (const struct csr_pieces *)pieces;
    uint64_t element = self->piece_element[rows->begin / ROWS_PER_PIECE];
    struct image image;

    for (uint64_t row = rows->begin; row < rows->end; row++) {
        order_images(self->in.order, row, 1, &image);
        if (self->part == CSR_OFFSETS ? put_offset(self, element, out, err) != 0
                                      : put_elements(self, rows->window, &image, out, err) != 0)
            return -1;
        element += row_length(self->in.array->csr, image.row);
    }
    if (self->part == CSR_OFFSETS && rows->end == pieces->n_rows)
        return put_offset(self, element, out, err);
    return 0;
}

static void csr_free(struct pieces *pieces)
{
    struct csr_pieces *self = (struct csr_pieces *)pieces;

    bytes_release(&pieces->header);
    free(self->piece_element);
    free(self);
}

static const struct pieces_ops csr_ops = {csr_load, csr_make, csr_free};

struct pieces *pieces_of_csr(enum csr_part part, const struct image_input *in, struct bytes *header,
                             struct error *err)
{
    struct csr_pieces *self = calloc(1, sizeof *self);
    const uint64_t n_rows = in->order->n_images;
    uint64_t n_pieces, element = 0;

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    *self = (struct csr_pieces){
        .head = {.ops = &csr_ops,
                 .header = *header,
                 .n_rows = n_rows,
                 .rows_per_piece = ROWS_PER_PIECE},
        .part = part,
        .in = *in,
    };
    *header = (struct bytes){0};
    n_pieces = pieces_count(&self->head);
    self->piece_element = calloc(n_pieces, sizeof *self->piece_element);
    if (self->piece_element == NULL) {
        error_no_memory(err, "pieces of a sparse policy");
        csr_free(&self->head);
        return NULL;
    }
    for (uint64_t i = 0; i < n_pieces; i++) {
        const uint64_t first = i * ROWS_PER_PIECE, end = first + ROWS_PER_PIECE;

        self->piece_element[i] = element;
        element += images_length(in->array->csr, in->order, first, end < n_rows ? end : n_rows);
    }
    return &self->head;
}
