/*
 * pieces_csr.c - pieces of a sparse policy in CSR form: offsets, indices, values.
 *
 * The input's offsets say where each row's elements are; a piece holds the images of so many rows,
 * whatever their length. Elements are numbered over all input shards.
 */
#include "engine/pieces.h"

#include "base/text.h"
#include "engine/source.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_CHUNK    512
#define ROWS_PER_PIECE 16384 /* of the input's rows, whose images may be of any length */

/* --- offsets --- */

static int bad_offset(const struct array *array, uint64_t row, int64_t found, uint64_t low,
                      uint64_t high, struct error *err)
{
    struct error reason = {0};

    error_set(&reason, ERROR_DATA, "offset %lld, expected %llu to %llu", (long long)found,
              (unsigned long long)low, (unsigned long long)high);
    return array_fail_row(array, row, &reason, err);
}

static int read_offsets(struct csr *csr, const struct array *offsets, const struct array *elements,
                        uint64_t base, struct error *err)
{
    const struct dtype *dtype = &offsets->header.dtype;
    struct source source;
    uint8_t element[16];
    uint64_t before = 0;
    int status = source_open(&source, &offsets, 1, 0, NULL, err);

    for (uint64_t row = 0; row < offsets->n_rows && status == 0; row++) {
        int64_t at;

        status = source_read(&source, 1, element, err);
        if (status != 0)
            break;
        at = dtype_get_int(dtype, element);
        if (at < (int64_t)before || (uint64_t)at > elements->n_rows || (row == 0 && at != 0) ||
            (row + 1 == offsets->n_rows && (uint64_t)at != elements->n_rows)) {
            status =
                bad_offset(offsets, row, at, row + 1 == offsets->n_rows ? elements->n_rows : before,
                           row == 0 ? 0 : elements->n_rows, err);
            break;
        }
        before = (uint64_t)at;
        if (row + 1 < offsets->n_rows)
            csr->first[csr->n_rows++] = base + before;
    }
    source_close(&source);
    return status;
}

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

int csr_open(struct csr *csr, const struct array *const *offsets,
             const struct array *const *elements, size_t n_arrays, struct error *err)
{
    uint64_t base = 0, n_rows = 0;

    *csr = (struct csr){0};
    for (size_t i = 0; i < n_arrays; i++)
        n_rows += offsets[i]->n_rows;
    csr->first = calloc(n_rows + 1, sizeof *csr->first);
    if (csr->first == NULL)
        return error_no_memory(err, "offsets of a sparse policy");
    for (size_t i = 0; i < n_arrays; i++) {
        if (read_offsets(csr, offsets[i], elements[i], base, err) != 0) {
            csr_release(csr);
            return -1;
        }
        base += elements[i]->n_rows;
    }
    csr->first[csr->n_rows] = base;
    return 0;
}

void csr_release(struct csr *csr)
{
    free(csr->first);
    *csr = (struct csr){0};
}

uint64_t csr_length(const struct csr *csr, const struct order *order)
{
    return images_length(csr, order, 0, order->n_images);
}

/* --- pieces --- */

struct csr_pieces {
    struct pieces head;
    enum csr_part part;
    struct csr csr; /* borrowed */
    struct image_input in;
    uint64_t *piece_element; /* owned, one a piece: output element at which it begins */
};

static int put_offset(const struct csr_pieces *self, uint64_t offset, struct bytes *out,
                      struct error *err)
{
    const struct array *array = self->in.arrays[0];
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

/* A row's elements, some at a time. */
static int put_elements(const struct csr_pieces *self, const struct image *image, struct bytes *out,
                        struct error *err)
{
    const struct array *array = self->in.arrays[0];
    const struct spec *spec = self->in.spec;
    const size_t item = array->row_nbytes;
    const uint64_t end = self->csr.first[image->row + 1];
    uint64_t room[512]; /* aligned for all of them */

    for (uint64_t e = self->csr.first[image->row], n; e < end; e += n) {
        uint8_t *to;
        struct error reason = {0};

        n = end - e < sizeof room / item ? end - e : sizeof room / item;
        to = bytes_reserve(out, n * item, err);
        if (to == NULL || row_table_read(self->in.supply->table, e, n, room, err) != 0)
            return -1;
        if (spec->kind != SPEC_INDICES)
            memcpy(to, room, n * item);
        else if (kernel_indices(spec, image->transform, &spec->dtype, room, to, n, &reason) != 0)
            return array_fail_row(array, image->row, &reason, err);
        out->n_bytes += n * item;
    }
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
                                      : put_elements(self, &image, out, err) != 0)
            return -1;
        element += row_length(&self->csr, image.row);
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

static const struct pieces_ops csr_ops = {NULL, csr_make, csr_free};

struct pieces *pieces_of_csr(enum csr_part part, const struct csr *csr,
                             const struct image_input *in, struct bytes *header, struct error *err)
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
        .csr = *csr,
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
        element += images_length(csr, in->order, first, end < n_rows ? end : n_rows);
    }
    return &self->head;
}
