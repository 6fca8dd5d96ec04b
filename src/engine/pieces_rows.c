/* pieces_rows.c - see pieces_rows.h. */
#include "engine/pieces_rows.h"

#include "codec/codec.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_CHUNK 512 /* images looked up at a time, on the stack */

struct rows_pieces {
    struct pieces head;
    struct row_input in;
    enum provenance provenance; /* when in.supply is NULL */
    struct bytes header;
    uint64_t row_nbytes;
    uint64_t rows_per_piece;
    uint64_t n_rows; /* output rows */
};

static uint64_t first_row(const struct rows_pieces *self, uint64_t piece)
{
    return piece * self->rows_per_piece;
}

static uint64_t end_row(const struct rows_pieces *self, uint64_t piece)
{
    uint64_t end = (piece + 1) * self->rows_per_piece;

    return end < self->n_rows ? end : self->n_rows;
}

static uint64_t history_rows(const struct rows_pieces *self, uint64_t first, size_t n_bytes)
{
    uint64_t n = self->row_nbytes > 0 ? (n_bytes + self->row_nbytes - 1) / self->row_nbytes : 0;

    return n < first ? n : first;
}

static int rows_load(struct pieces *pieces, uint64_t first, uint64_t n, unsigned *window,
                     struct error *err)
{
    struct rows_pieces *self = (struct rows_pieces *)pieces;
    uint64_t out_begin = first_row(self, first), out_end = end_row(self, first + n - 1), begin, end;

    *window = 0;
    if (self->in.supply == NULL)
        return 0;
    out_begin -= history_rows(self, out_begin, CODEC_HISTORY_NBYTES);
    order_span(self->in.order, out_begin, out_end - out_begin, &begin, &end);
    /* The array's last rows are read even if no image needs them: its CRC stands at the end. */
    if (first + n == pieces->n_pieces && order_is_last(self->in.order))
        end = self->in.order->n_rows;
    return row_supply_load(self->in.supply, begin, end, window, err);
}

/* --- making rows --- */

/* n rows in a row under one transform. */
static int move_run(const struct rows_pieces *self, uint32_t t, uint64_t row, uint64_t n,
                    const uint8_t *in, const uint8_t *values, uint8_t *out, struct error *err)
{
    struct error reason = {0};
    uint64_t failed;

    if (kernel_rows(self->in.move, t, in, values, out, n, &failed, &reason) != 0)
        return row_supply_fail(self->in.supply, row + failed, &reason, err);
    return 0;
}

static int make_from_window(const struct rows_pieces *self, unsigned window,
                            const struct image *images, size_t n, uint8_t *out, struct error *err)
{
    for (size_t i = 0, run; i < n; i += run) {
        const uint8_t *values, *rows;

        rows = row_supply_rows(self->in.supply, window, images[i].row, &values);
        for (run = 1; i + run < n && images[i + run].row == images[i].row + run &&
                      images[i + run].transform == images[i].transform;)
            run++;
        if (move_run(self, images[i].transform, images[i].row, run, rows, values,
                     out + i * self->row_nbytes, err) != 0)
            return -1;
    }
    return 0;
}

static int make_from_table(const struct rows_pieces *self, const struct image *images, size_t n,
                           uint8_t *room, uint8_t *out, struct error *err)
{
    const uint8_t *values;

    for (size_t i = 0; i < n; i++)
        if (row_supply_get(self->in.supply, images[i].row, room, &values, err) != 0 ||
            move_run(self, images[i].transform, images[i].row, 1, room, values,
                     out + i * self->row_nbytes, err) != 0)
            return -1;
    return 0;
}

static void make_provenance(const struct rows_pieces *self, const struct image *images, size_t n,
                            uint8_t *out)
{
    for (size_t i = 0; i < n; i++) {
        if (self->provenance == PROVENANCE_SOURCE)
            bytes_put_le(out + 8 * i, images[i].row, 8);
        else
            out[i] = (uint8_t)images[i].transform;
    }
}

/* Output rows [first, end) to out, which has room for a table's row behind them. */
static int make_rows(const struct rows_pieces *self, unsigned window, uint64_t first, uint64_t end,
                     uint8_t *out, uint8_t *room, struct error *err)
{
    struct image images[IMAGE_CHUNK];

    while (first < end) {
        size_t n = end - first < IMAGE_CHUNK ? (size_t)(end - first) : IMAGE_CHUNK;

        order_images(self->in.order, first, n, images);
        if (self->in.supply == NULL)
            make_provenance(self, images, n, out);
        else if (self->in.supply->streams ? make_from_window(self, window, images, n, out, err) != 0
                                          : make_from_table(self, images, n, room, out, err) != 0)
            return -1;
        first += n;
        out += n * self->row_nbytes;
    }
    return 0;
}

static int rows_make(const struct pieces *pieces, uint64_t i, unsigned window,
                     struct bytes *scratch, size_t *history_nbytes, struct error *err)
{
    const struct rows_pieces *self = (const struct rows_pieces *)pieces;
    const uint64_t first = first_row(self, i), end = end_row(self, i);
    const uint64_t n_history = history_rows(self, first, *history_nbytes);
    const size_t n_bytes = (end - first + n_history) * self->row_nbytes;
    const size_t room_nbytes =
        self->in.supply != NULL ? row_supply_room_nbytes(self->in.supply) + 16 : 0;
    size_t aligned, header_nbytes = i == 0 ? self->header.n_bytes : 0;
    uint8_t *rows;

    scratch->n_bytes = 0;
    if (bytes_append(scratch, self->header.data, header_nbytes, err) != 0)
        return -1;
    /* A header is a multiple of 16, so that the rows stay aligned for the kernels. */
    rows = bytes_reserve(scratch, n_bytes + room_nbytes + CODEC_READ_SLACK, err);
    if (rows == NULL)
        return -1;
    aligned = (n_bytes + 15) / 16 * 16;
    if (make_rows(self, window, first - n_history, end, rows, rows + aligned, err) != 0)
        return -1;
    scratch->n_bytes += n_bytes;
    *history_nbytes = n_history * self->row_nbytes;
    return 0;
}

static void rows_free(struct pieces *pieces)
{
    struct rows_pieces *self = (struct rows_pieces *)pieces;

    bytes_release(&self->header);
    free(self);
}

static const struct pieces_ops rows_ops = {rows_load, rows_make, rows_free};

/* --- opening --- */

static int count_pieces(struct rows_pieces *self, struct error *err)
{
    uint64_t data_nbytes, piece_nbytes;

    if (__builtin_mul_overflow(self->n_rows, self->row_nbytes, &data_nbytes) ||
        data_nbytes > (UINT64_C(1) << 62))
        return error_set(err, ERROR_DATA, "%llu rows of %llu bytes are too many",
                         (unsigned long long)self->n_rows, (unsigned long long)self->row_nbytes);
    piece_nbytes = piece_nbytes_for(data_nbytes);
    if (self->row_nbytes == 0)
        self->rows_per_piece = self->n_rows > 0 ? self->n_rows : 1;
    else
        self->rows_per_piece =
            self->row_nbytes < piece_nbytes ? piece_nbytes / self->row_nbytes : 1;
    self->head.n_pieces = self->n_rows == 0 ? 1 : (self->n_rows - 1) / self->rows_per_piece + 1;
    self->head.size_known = true;
    self->head.unpacked_nbytes = self->header.n_bytes + data_nbytes;
    return 0;
}

static struct rows_pieces *new_rows_pieces(const struct order *order, uint64_t row_nbytes,
                                           struct bytes *header, struct error *err)
{
    struct rows_pieces *self = calloc(1, sizeof *self);

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    self->head.ops = &rows_ops;
    self->in.order = order;
    self->n_rows = order->n_images;
    self->row_nbytes = row_nbytes;
    self->header = *header;
    *header = (struct bytes){0};
    if (count_pieces(self, err) != 0) {
        rows_free(&self->head);
        return NULL;
    }
    return self;
}

struct pieces *pieces_of_rows(const struct row_input *input, struct bytes *header,
                              struct error *err)
{
    struct rows_pieces *self = new_rows_pieces(input->order, input->move->row_nbytes, header, err);

    if (self == NULL)
        return NULL;
    self->in = *input;
    return &self->head;
}

struct pieces *pieces_of_provenance(enum provenance what, const struct order *order,
                                    struct bytes *header, struct error *err)
{
    struct rows_pieces *self =
        new_rows_pieces(order, what == PROVENANCE_SOURCE ? 8 : 1, header, err);

    if (self == NULL)
        return NULL;
    self->provenance = what;
    return &self->head;
}
