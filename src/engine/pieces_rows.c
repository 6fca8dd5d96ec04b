/* pieces_rows.c - see pieces_rows.h. */
#include "engine/pieces_rows.h"

#include "base/text.h"
#include "codec/codec.h"
#include "shard/rows.h"

#include <stdlib.h>
#include <string.h>

#define IMAGE_CHUNK 512 /* images looked up at a time, on the stack */

/* Input rows [begin, end) in memory. */
struct window {
    uint64_t begin, end;
    struct bytes rows, values;
};

struct rows_pieces {
    struct pieces head;
    struct row_input in;
    enum provenance provenance; /* when in.move is NULL */
    struct bytes header;
    uint64_t row_nbytes;
    uint64_t rows_per_piece;
    uint64_t n_rows; /* output rows */

    bool streams;
    struct window front, back;
    struct rows *rows, *values; /* sequential sources; the cursor is back.end */
    struct row_table *table, *value_table;
};

/* --- windows --- */

/* Rows [begin, end) into buffer: what the old window holds is copied, the rest is read; rows that
 * no image needs are read over. */
static int fill_window(struct bytes *buffer, const struct bytes *old, const struct window *from,
                       uint64_t begin, uint64_t end, uint64_t row_nbytes, struct rows *rows,
                       struct error *err)
{
    uint64_t kept = begin < from->end ? from->end - begin : 0, n_bytes;

    if (kept > end - begin)
        kept = end - begin;
    buffer->n_bytes = 0;
    if (__builtin_mul_overflow(end - begin, row_nbytes, &n_bytes) || n_bytes >= SIZE_MAX)
        return error_no_memory(err, "row window");
    if (bytes_reserve(buffer, n_bytes > row_nbytes ? n_bytes : row_nbytes, err) == NULL)
        return -1;
    for (uint64_t skip = from->end; skip < begin; skip++)
        if (rows_read(rows, 1, buffer->data, err) != 0)
            return -1;
    if (kept > 0)
        memcpy(buffer->data, old->data + (begin - from->begin) * row_nbytes, kept * row_nbytes);
    return rows_read(rows, end - begin - kept, buffer->data + kept * row_nbytes, err);
}

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

static int rows_load(struct pieces *pieces, uint64_t first, uint64_t n, struct error *err)
{
    struct rows_pieces *self = (struct rows_pieces *)pieces;
    const struct window *from = &self->front;
    uint64_t out_begin = first_row(self, first), out_end = end_row(self, first + n - 1), begin, end;

    if (!self->streams)
        return 0;
    out_begin -= history_rows(self, out_begin, CODEC_HISTORY_NBYTES);
    order_span(self->in.order, out_begin, out_end - out_begin, &begin, &end);
    /* The array's last rows are read even if no image needs them: its CRC stands at the end. */
    if (first + n == pieces->n_pieces)
        end = self->in.order->n_rows;
    if (end < from->end)
        end = from->end;
    if (fill_window(&self->back.rows, &from->rows, from, begin, end, self->row_nbytes, self->rows,
                    err) != 0)
        return -1;
    if (self->values != NULL &&
        fill_window(&self->back.values, &from->values, from, begin, end,
                    self->in.move->value_row_nbytes, self->values, err) != 0)
        return -1;
    self->back.begin = begin;
    self->back.end = end;
    return 0;
}

static void rows_turn(struct pieces *pieces)
{
    struct rows_pieces *self = (struct rows_pieces *)pieces;
    struct window front = self->front;

    self->front = self->back;
    self->back = front;
}

/* --- making rows --- */

/* Put file, array and row in front of a kernel's reason. */
static int name_row(const struct rows_pieces *self, uint64_t row, const struct error *reason,
                    struct error *err)
{
    const struct array *array = self->in.arrays[0];

    for (size_t i = 0; i < self->in.n_arrays; i++) {
        array = self->in.arrays[i];
        if (row < array->n_rows)
            break;
        row -= array->n_rows;
    }
    return error_set(err, reason->kind, "%s: %s: row %llu: %s", text_path(array->input->path).text,
                     text_path(array->member).text, (unsigned long long)row, reason->message);
}

/* n rows in a row under one transform. */
static int move_run(const struct rows_pieces *self, uint32_t t, uint64_t row, uint64_t n,
                    const uint8_t *in, const uint8_t *values, uint8_t *out, struct error *err)
{
    struct error reason = {0};
    uint64_t failed;

    if (kernel_rows(self->in.move, t, in, values, out, n, &failed, &reason) != 0)
        return name_row(self, row + failed, &reason, err);
    return 0;
}

static int make_from_window(const struct rows_pieces *self, const struct image *images, size_t n,
                            uint8_t *out, struct error *err)
{
    const struct window *w = &self->front;

    for (size_t i = 0, run; i < n; i += run) {
        uint64_t at = images[i].row - w->begin;
        const uint8_t *values =
            self->values != NULL ? w->values.data + at * self->in.move->value_row_nbytes : NULL;

        for (run = 1; i + run < n && images[i + run].row == images[i].row + run &&
                      images[i + run].transform == images[i].transform;)
            run++;
        if (move_run(self, images[i].transform, images[i].row, run,
                     w->rows.data + at * self->row_nbytes, values, out + i * self->row_nbytes,
                     err) != 0)
            return -1;
    }
    return 0;
}

/* `room` holds one row, and one row of values behind it. */
static int make_from_table(const struct rows_pieces *self, const struct image *images, size_t n,
                           uint8_t *room, uint8_t *out, struct error *err)
{
    uint8_t *values = NULL;

    for (size_t i = 0; i < n; i++) {
        if (row_table_get(self->table, images[i].row, room, err) != 0)
            return -1;
        if (self->value_table != NULL) {
            values = room + (self->row_nbytes + 15) / 16 * 16;
            if (row_table_get(self->value_table, images[i].row, values, err) != 0)
                return -1;
        }
        if (move_run(self, images[i].transform, images[i].row, 1, room, values,
                     out + i * self->row_nbytes, err) != 0)
            return -1;
    }
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
static int make_rows(const struct rows_pieces *self, uint64_t first, uint64_t end, uint8_t *out,
                     uint8_t *room, struct error *err)
{
    struct image images[IMAGE_CHUNK];

    while (first < end) {
        size_t n = end - first < IMAGE_CHUNK ? (size_t)(end - first) : IMAGE_CHUNK;

        order_images(self->in.order, first, n, images);
        if (self->in.move == NULL)
            make_provenance(self, images, n, out);
        else if (self->streams ? make_from_window(self, images, n, out, err) != 0
                               : make_from_table(self, images, n, room, out, err) != 0)
            return -1;
        first += n;
        out += n * self->row_nbytes;
    }
    return 0;
}

static int rows_make(const struct pieces *pieces, uint64_t i, struct bytes *scratch,
                     size_t *history_nbytes, struct error *err)
{
    const struct rows_pieces *self = (const struct rows_pieces *)pieces;
    const uint64_t first = first_row(self, i), end = end_row(self, i);
    const uint64_t n_history = history_rows(self, first, *history_nbytes);
    const size_t n_bytes = (end - first + n_history) * self->row_nbytes;
    const size_t room_nbytes =
        self->row_nbytes + (self->in.move != NULL ? self->in.move->value_row_nbytes : 0) + 32;
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
    if (make_rows(self, first - n_history, end, rows, rows + aligned, err) != 0)
        return -1;
    scratch->n_bytes += n_bytes;
    *history_nbytes = n_history * self->row_nbytes;
    return 0;
}

static void rows_free(struct pieces *pieces)
{
    struct rows_pieces *self = (struct rows_pieces *)pieces;

    bytes_release(&self->header);
    bytes_release(&self->front.rows);
    bytes_release(&self->front.values);
    bytes_release(&self->back.rows);
    bytes_release(&self->back.values);
    rows_close(self->rows);
    rows_close(self->values);
    row_table_close(self->table);
    row_table_close(self->value_table);
    free(self);
}

static const struct pieces_ops rows_ops = {rows_load, rows_turn, rows_make, rows_free};

/* --- opening --- */

static bool any_fortran(const struct array *const *arrays, size_t n)
{
    for (size_t i = 0; arrays != NULL && i < n; i++)
        if (array_is_fortran(arrays[i]))
            return true;
    return false;
}

static int open_sources(struct rows_pieces *self, struct error *err)
{
    const struct row_input *in = &self->in;

    self->streams = order_streams(in->order, self->row_nbytes) &&
                    !any_fortran(in->arrays, in->n_arrays) &&
                    !any_fortran(in->values, in->n_arrays);
    if (self->streams) {
        self->rows = rows_open(in->arrays, in->n_arrays, err);
        if (self->rows == NULL)
            return -1;
        if (in->values != NULL)
            self->values = rows_open(in->values, in->n_arrays, err);
        return in->values != NULL && self->values == NULL ? -1 : 0;
    }
    self->table =
        row_table_open(in->arrays, in->n_arrays, in->access.memory_left, in->access.tmpdir, err);
    if (self->table == NULL)
        return -1;
    if (in->values != NULL)
        self->value_table = row_table_open(in->values, in->n_arrays, in->access.memory_left,
                                           in->access.tmpdir, err);
    return in->values != NULL && self->value_table == NULL ? -1 : 0;
}

static int count_pieces(struct rows_pieces *self, struct error *err)
{
    uint64_t data_nbytes;

    if (__builtin_mul_overflow(self->n_rows, self->row_nbytes, &data_nbytes) ||
        data_nbytes > (UINT64_C(1) << 62))
        return error_set(err, ERROR_DATA, "%llu rows of %llu bytes are too many",
                         (unsigned long long)self->n_rows, (unsigned long long)self->row_nbytes);
    if (self->row_nbytes == 0)
        self->rows_per_piece = self->n_rows > 0 ? self->n_rows : 1;
    else
        self->rows_per_piece =
            self->row_nbytes < PIECE_NBYTES ? PIECE_NBYTES / self->row_nbytes : 1;
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
    if (open_sources(self, err) != 0) {
        rows_free(&self->head);
        return NULL;
    }
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
