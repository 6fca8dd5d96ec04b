/* pieces_csr.c - see pieces_csr.h. */
#include "engine/pieces_csr.h"

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
    return error_set(err, ERROR_DATA, "%s: %s: row %llu: offset %lld, expected %llu to %llu",
                     text_path(array->input->path).text, text_path(array->member).text,
                     (unsigned long long)row, (long long)found, (unsigned long long)low,
                     (unsigned long long)high);
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
             const struct array *const *elements, size_t n_arrays, const struct order *order,
             struct error *err)
{
    uint64_t base = 0;

    *csr = (struct csr){0};
    csr->first = calloc(order->n_rows + 1, sizeof *csr->first);
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
    csr->n_out = images_length(csr, order, 0, order->n_images);
    return 0;
}

void csr_release(struct csr *csr)
{
    free(csr->first);
    *csr = (struct csr){0};
}

/* --- pieces --- */

struct csr_pieces {
    struct pieces head;
    enum csr_part part;
    struct csr_input in;
    struct bytes header;
    uint64_t *piece_element; /* owned, n_pieces: output element at which a piece begins */
};

static int csr_load(struct pieces *pieces, uint64_t first, uint64_t n, unsigned *window,
                    struct error *err)
{
    (void)pieces, (void)first, (void)n, (void)err;
    *window = 0;
    return 0;
}

static int put_offset(const struct csr_pieces *self, uint64_t offset, struct bytes *out,
                      struct error *err)
{
    const struct array *array = self->in.array;
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

static int put_elements(const struct csr_pieces *self, const struct image *image, struct bytes *out,
                        struct error *err)
{
    const struct array *array = self->in.array;
    const struct row_move *move = self->in.move;
    const struct csr *csr = self->in.csr;
    const size_t item = array->row_nbytes;
    const uint8_t *none;
    uint8_t element[256], moved[256];
    struct error reason = {0};

    for (uint64_t e = csr->first[image->row]; e < csr->first[image->row + 1]; e++) {
        if (row_supply_get(self->in.supply, e, element, &none, err) != 0)
            return -1;
        if (move->kind == MOVE_INDEX) {
            if (kernel_indices(move, image->transform, &move->dtype, element, moved, 1, &reason) !=
                0)
                return error_set(err, reason.kind, "%s: %s: row %llu: %s",
                                 text_path(array->input->path).text, text_path(array->member).text,
                                 (unsigned long long)image->row, reason.message);
            memcpy(element, moved, item);
        }
        if (bytes_append(out, element, item, err) != 0)
            return -1;
    }
    return 0;
}

static int csr_make(const struct pieces *pieces, uint64_t i, unsigned window, struct bytes *scratch,
                    size_t *history_nbytes, struct error *err)
{
    const struct csr_pieces *self = (const struct csr_pieces *)pieces;
    const struct order *order = self->in.order;
    uint64_t row = i * ROWS_PER_PIECE, element = self->piece_element[i];
    uint64_t end = row + ROWS_PER_PIECE < order->n_images ? row + ROWS_PER_PIECE : order->n_images;
    struct image image;

    (void)window;
    *history_nbytes = 0;
    scratch->n_bytes = 0;
    if (i == 0 && bytes_append(scratch, self->header.data, self->header.n_bytes, err) != 0)
        return -1;
    for (; row < end; row++) {
        order_images(order, row, 1, &image);
        if (self->part == CSR_OFFSETS ? put_offset(self, element, scratch, err) != 0
                                      : put_elements(self, &image, scratch, err) != 0)
            return -1;
        element += row_length(self->in.csr, image.row);
    }
    if (self->part == CSR_OFFSETS && i + 1 == pieces->n_pieces)
        return put_offset(self, element, scratch, err);
    return 0;
}

static void csr_free(struct pieces *pieces)
{
    struct csr_pieces *self = (struct csr_pieces *)pieces;

    bytes_release(&self->header);
    free(self->piece_element);
    free(self);
}

static const struct pieces_ops csr_ops = {csr_load, csr_make, csr_free};

static int open_csr(struct csr_pieces *self, struct error *err)
{
    const struct order *order = self->in.order;
    const uint64_t n_rows = order->n_images, item = self->in.array->row_nbytes;
    uint64_t element = 0;

    self->head.n_pieces = n_rows > 0 ? (n_rows - 1) / ROWS_PER_PIECE + 1 : 1;
    self->head.size_known = true;
    self->head.unpacked_nbytes =
        self->header.n_bytes +
        item * (self->part == CSR_OFFSETS ? n_rows + 1 : self->in.csr->n_out);
    self->piece_element = calloc(self->head.n_pieces, sizeof *self->piece_element);
    if (self->piece_element == NULL || item > 16)
        return error_no_memory(err, "pieces of a sparse policy");
    for (uint64_t i = 0; i < self->head.n_pieces; i++) {
        uint64_t first = i * ROWS_PER_PIECE, end = first + ROWS_PER_PIECE;

        self->piece_element[i] = element;
        element += images_length(self->in.csr, order, first, end < n_rows ? end : n_rows);
    }
    return 0;
}

struct pieces *pieces_of_csr(enum csr_part part, const struct csr_input *input,
                             struct bytes *header, struct error *err)
{
    struct csr_pieces *self = calloc(1, sizeof *self);

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    self->head.ops = &csr_ops;
    self->part = part;
    self->in = *input;
    self->header = *header;
    *header = (struct bytes){0};
    if (open_csr(self, err) == 0)
        return &self->head;
    csr_free(&self->head);
    return NULL;
}
