/*
 * pieces.c - the input rows that a member is made from, and pieces of images (rows of equal size,
 * provenance, the offsets and elements of a sparse policy in CSR form) and of arrays that are
 * copied as they are.
 *
 * In orders that stream, two windows leapfrog over the input: while pieces are made from one, the
 * next rows are read into the other, and rows that both need are copied. Other orders, and Fortran
 * arrays, have every row at hand. Values beside padded indices go through a second reader in step
 * with the first.
 *
 * Images are looked up some hundred at a time. Where an order streams, the input rows of a run of
 * pieces are in a window of the supply, and neighbours under one transform are moved together; else
 * each row comes out of a table. In CSR form the input's offsets say where each row's elements are,
 * numbered over all input shards; a piece holds the images of so many rows, whatever their length.
 */
#include "engine/expand.h"

#include "base/text.h"
#include "engine/survey.h"
#include "shard/array.h"

#define CSR_ROWS_PER_PIECE 16384
#define EXPECTED_AHEAD     12 /* images: rows of a table come from anywhere in memory */

/* --- where input rows come from --- */

#define ROW_ALIGNMENT 16

int row_supply_open(struct row_supply *supply, const struct plan *plan,
                    const struct plan_array *array, bool streams, struct error *err)
{
    const bool has_values = array->spec.kind == SPEC_PADDED && array->values != NULL;

    streams = streams && reader_can_stream(array->sources, plan->n_archives) &&
              (!has_values || reader_can_stream(array->values, plan->n_archives));
    *supply = (struct row_supply){.is_open = true, .streams = streams, .n = has_values ? 2 : 1};
    for (unsigned i = 0; i < supply->n; i++) {
        supply->readers[i] = (struct reader){.arrays = i == 0 ? array->sources : array->values,
                                             .n_arrays = plan->n_archives,
                                             .csr = i == 0 ? array->csr : NULL,
                                             .at_random = !streams};
        supply->windows[i][0].reader = supply->windows[i][1].reader = &supply->readers[i];
        if (reader_open(&supply->readers[i], plan->settings->budget, err) != 0) {
            row_supply_close(supply);
            return -1;
        }
    }
    return 0;
}

/* Windows: fetch rows [begin, end) (no row before those of the latest window) into the older one,
 * which becomes the latest: *window tells which. May run while others read the one before. */
static int supply_load(struct row_supply *supply, uint64_t begin, uint64_t end, unsigned *window,
                       struct error *err)
{
    const unsigned from = supply->latest, to = !from;
    const uint64_t known = supply->windows[0][from].first + supply->windows[0][from].n;

    *window = 0;
    if (!supply->streams)
        return 0;
    if (end < known)
        end = known;
    for (unsigned i = 0; i < supply->n; i++)
        if (batch_follow(&supply->windows[i][to], &supply->windows[i][from], begin, end - begin,
                         err) != 0)
            return -1;
    if (supply->kept != NULL)
        stone_watch_see(supply->watch, supply->kept, &supply->windows[0][to]);
    *window = supply->latest = to;
    return 0;
}

static size_t aligned_row_nbytes(const struct row_supply *supply)
{
    return (supply->readers[0].unit_nbytes + ROW_ALIGNMENT - 1) / ROW_ALIGNMENT * ROW_ALIGNMENT;
}

/* A row as bytes, and its values (NULL without). Those of a window stay until it is loaded again,
 * others are copied to `room`: an aligned row, and its values. Thread-safe. */
static int supply_get(struct row_supply *supply, unsigned window, uint64_t row, uint8_t *room,
                      const uint8_t *both[2], struct error *err)
{
    both[1] = NULL;
    for (unsigned i = 0; i < supply->n; i++) {
        const struct batch *rows = &supply->windows[i][window];
        uint8_t *to = i == 0 ? room : room + aligned_row_nbytes(supply);

        both[i] = supply->streams
                      ? rows->bytes.data + (row - rows->first) * supply->readers[i].unit_nbytes
                      : to;
        if (!supply->streams && reader_read(&supply->readers[i], row, 1, to, err) != 0)
            return -1;
    }
    return 0;
}

void row_supply_close(struct row_supply *supply)
{
    for (unsigned i = 0; i < 2; i++) {
        batch_release(&supply->windows[i][0]);
        batch_release(&supply->windows[i][1]);
        reader_close(&supply->readers[i]);
    }
    *supply = (struct row_supply){0};
}

/* --- images --- */

void image_walk_begin(struct image_walk *walk, const struct order *order, uint64_t first,
                      uint64_t end)
{
    walk->order = order;
    walk->next = first;
    walk->end = end;
}

bool image_walk_next(struct image_walk *walk)
{
    const uint64_t left = walk->end - walk->next;

    walk->first = walk->next;
    walk->n = left < IMAGES_AT_ONCE ? (size_t)left : IMAGES_AT_ONCE;
    walk->next += walk->n;
    order_images(walk->order, walk->first, walk->n, walk->images);
    return walk->n > 0;
}

static int images_load(struct pieces *pieces, struct piece_rows *rows, struct error *err)
{
    const struct out_member *of = ((const struct image_pieces *)pieces)->of;
    const struct order *order = of->job->order;
    uint64_t begin, end;

    if (of->supply == NULL)
        return 0;
    order_span(order, rows->begin, rows->end - rows->begin, &begin, &end);
    /* The array's last rows are read even if no image needs them: its CRC stands at the end. */
    if (rows->end == pieces->n_rows && order_is_last(order))
        end = order->n_rows;
    return supply_load(of->supply, begin, end, &rows->window, err);
}

/* The images of rows: neighbours under one transform are moved together, if a window holds them. */
static int make_images(const struct image_pieces *self, unsigned window,
                       const struct image_walk *walk, uint8_t *room, uint8_t *out,
                       struct error *err)
{
    struct row_supply *supply = self->of->supply;
    const struct image *images = walk->images;
    const size_t most = supply->streams ? walk->n : 1;

    for (size_t i = 0, run; i < walk->n; i += run) {
        struct error reason = {0};
        const uint8_t *rows[2] = {NULL, NULL};
        uint64_t failed;

        for (run = 1; run < most && i + run < walk->n &&
                      images[i + run].row == images[i].row + run &&
                      images[i + run].transform == images[i].transform;)
            run++;
        if (!supply->streams && i + EXPECTED_AHEAD < walk->n)
            reader_expect(&supply->readers[0], images[i + EXPECTED_AHEAD].row);
        if (supply_get(supply, window, images[i].row, room, rows, err) != 0)
            return -1;
        if (kernel_rows(&self->of->array->spec, images[i].transform, rows[0], rows[1],
                        out + i * self->head.row_nbytes, run, &failed, &reason) != 0)
            return reader_fail(&supply->readers[0], images[i].row + failed, &reason, err);
    }
    return 0;
}

static int images_make(const struct pieces *pieces, const struct piece_rows *rows,
                       struct bytes *out, struct error *err)
{
    const struct image_pieces *self = (const struct image_pieces *)pieces;
    const struct row_supply *supply = self->of->supply;
    const size_t n_bytes = (rows->end - rows->begin) * pieces->row_nbytes;
    const size_t room_nbytes =
        supply != NULL ? aligned_row_nbytes(supply) + supply->readers[1].unit_nbytes + 16 : 0;
    struct image_walk walk;
    /* A header is a multiple of 16, so that the rows stay aligned for the kernels. */
    uint8_t *to = bytes_reserve(out, n_bytes + room_nbytes + CODEC_READ_SLACK, err);

    if (to == NULL)
        return -1;
    uint8_t *room = to + (n_bytes + 15) / 16 * 16; /* of a table's row */
    image_walk_begin(&walk, self->of->job->order, rows->begin, rows->end);
    for (; image_walk_next(&walk); to += walk.n * pieces->row_nbytes) {
        if (supply != NULL && make_images(self, rows->window, &walk, room, to, err) != 0)
            return -1;
        for (size_t i = 0; supply == NULL && i < walk.n; i++)
            if (self->of->kind == PIECES_SOURCE)
                bytes_put_le(to + 8 * i, walk.images[i].row, 8);
            else
                to[i] = (uint8_t)walk.images[i].transform;
    }
    out->n_bytes += n_bytes;
    return 0;
}

static void images_free(struct pieces *pieces)
{
    bytes_release(&pieces->header);
    free(((struct image_pieces *)pieces)->piece_element);
}

/* --- CSR --- */

static uint64_t row_length(const struct csr *csr, uint64_t row)
{
    return csr->first[row + 1] - csr->first[row];
}

uint64_t csr_length(const struct csr *csr, const struct order *order, uint64_t first, uint64_t end)
{
    struct image_walk walk;
    uint64_t length = 0;

    image_walk_begin(&walk, order, first, end);
    while (image_walk_next(&walk))
        for (size_t i = 0; i < walk.n; i++)
            length += row_length(csr, walk.images[i].row);
    return length;
}

static int put_offset(const struct image_pieces *self, uint64_t offset, struct bytes *out,
                      struct error *err)
{
    const struct array *array = self->of->array->sources[0];
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
static int put_elements(const struct image_pieces *self, unsigned window, const struct image *image,
                        struct bytes *out, struct error *err)
{
    struct row_supply *supply = self->of->supply;
    const struct spec *spec = &self->of->array->spec;
    const struct csr *csr = self->of->array->csr;
    const uint64_t n = row_length(csr, image->row), n_bytes = n * supply->readers[0].unit_nbytes;
    uint8_t *to = bytes_reserve(out, n_bytes + 1, err);
    const uint8_t *from = to;
    struct error reason = {0};

    if (to == NULL)
        return -1;
    if (supply->streams) {
        const struct batch *rows = &supply->windows[0][window];

        from = batch_row(rows, image->row - rows->first).bytes;
    } else if (reader_read(&supply->readers[0], csr->first[image->row], n, to, err) != 0) {
        return -1;
    }
    if (spec->kind == SPEC_INDICES) {
        if (kernel_indices(spec, image->transform, &spec->dtype, from, to, n, &reason) != 0)
            return reader_fail(&supply->readers[0], image->row, &reason, err);
    } else if (from != to) {
        memcpy(to, from, n_bytes);
    }
    out->n_bytes += n_bytes;
    return 0;
}

static int csr_make(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                    struct error *err)
{
    const struct image_pieces *self = (const struct image_pieces *)pieces;
    const bool is_offsets = self->of->kind == PIECES_OFFSETS;
    uint64_t element = self->piece_element[rows->begin / CSR_ROWS_PER_PIECE];
    struct image_walk walk;

    image_walk_begin(&walk, self->of->job->order, rows->begin, rows->end);
    while (image_walk_next(&walk))
        for (size_t i = 0; i < walk.n; i++) {
            if (is_offsets ? put_offset(self, element, out, err) != 0
                           : put_elements(self, rows->window, &walk.images[i], out, err) != 0)
                return -1;
            element += row_length(self->of->array->csr, walk.images[i].row);
        }
    return is_offsets && rows->end == pieces->n_rows ? put_offset(self, element, out, err) : 0;
}

static int begin_csr(struct image_pieces *self, struct error *err)
{
    const struct order *order = self->of->job->order;
    uint64_t element = 0;

    self->head.rows_per_piece = CSR_ROWS_PER_PIECE;
    const uint64_t n_pieces = pieces_count(&self->head);
    self->piece_element = calloc(n_pieces, sizeof *self->piece_element);
    if (self->piece_element == NULL)
        return error_no_memory(err, "pieces of a sparse policy");
    for (uint64_t i = 0; i < n_pieces; i++) {
        const uint64_t first = i * CSR_ROWS_PER_PIECE, left = order->n_images - first;

        self->piece_element[i] = element;
        element += csr_length(self->of->array->csr, order, first,
                              first + (left < CSR_ROWS_PER_PIECE ? left : CSR_ROWS_PER_PIECE));
    }
    return 0;
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

static int copy_load(struct pieces *pieces, struct piece_rows *rows, struct error *err)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;
    struct run *run = &self->windows[!self->latest];
    const uint64_t n_bytes = rows->end - rows->begin;
    const size_t left = self->longer.n_bytes - self->header_done;
    const size_t n = n_bytes < left ? (size_t)n_bytes : left; /* of the longer header */

    rows->window = self->latest = !self->latest;
    run->begin = rows->begin;
    run->bytes.n_bytes = 0;
    if (bytes_reserve(&run->bytes, n_bytes + 1, err) == NULL)
        return -1;
    if (n > 0)
        memcpy(run->bytes.data, self->longer.data + self->header_done, n);
    self->header_done += n;
    if (unpack_read(&self->unpack, run->bytes.data + n, n_bytes - n, err) != 0)
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

/* --- any --- */

static const struct pieces_ops image_ops = {images_load, images_make, images_free};
static const struct pieces_ops csr_ops = {images_load, csr_make, images_free};
static const struct pieces_ops object_ops = {NULL, objects_make, images_free};

struct pieces *pieces_new(struct out_member *out, struct error *err)
{
    const enum pieces_kind kind = out->kind;
    const bool is_csr = kind == PIECES_OFFSETS || kind == PIECES_ELEMENTS;
    struct image_pieces *self = &out->pieces;
    int status;

    if (kind == PIECES_COPY)
        return pieces_of_copy(out->array->sources[0], err);
    self->of = out;
    self->head.ops = is_csr ? &csr_ops : kind == PIECES_OBJECTS ? &object_ops : &image_ops;
    self->head.n_rows = out->job->order->n_images;
    if (is_csr)
        status = begin_csr(self, err);
    else if (kind == PIECES_OBJECTS)
        status = objects_begin(self, err);
    else
        status = pieces_of_equal_rows(
            &self->head, self->head.n_rows,
            kind == PIECES_ROWS ? out->array->spec.row_nbytes : out->item_nbytes, err);
    if (status == 0)
        return &self->head;
    images_free(&self->head);
    return NULL;
}
