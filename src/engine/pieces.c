/*
 * pieces.c - the input rows that a member is made from, and pieces of images (rows of equal size,
 * provenance, the offsets and elements of a sparse policy in CSR form, pickled objects) and of
 * arrays that are copied as they are.
 *
 * In orders that stream, two windows leapfrog over the input: while pieces are made from one, the
 * next rows are read into the other, and rows that both need are copied. Other orders, and Fortran
 * arrays, have every row at hand. Values beside padded indices go through a second reader in step
 * with the first.
 *
 * Images are looked up some hundred at a time. Where an order streams, the input rows of a run of
 * pieces are in a window of the supply, and neighbours under one transform are moved together; else
 * each row comes out of a table. In CSR form the input's offsets say where each row's elements are,
 * numbered over all input shards; a piece holds the images of so many rows, fewer where lists are
 * long on average.
 *
 * A pickle's writer must know beforehand where in the output each dtype comes first, because that
 * is where it is written out; later items refer to it.
 */
#include "engine/expand.h"

#include "engine/survey.h"
#include "shard/array.h"

#define CSR_ROWS_PER_PIECE   16384
#define CSR_PIECE_MAX_NBYTES (4 * PIECE_NBYTES) /* on average */
#define PIECE_MIN_NBYTES     (1u << 18)
#define EXPECTED_AHEAD       12 /* images: rows of a table come from anywhere in memory */
#define IMAGES_AT_ONCE       512
#define ROW_ALIGNMENT        16

/* --- where input rows come from --- */

int row_supply_open(struct row_supply *supply, const struct plan *plan,
                    const struct plan_array *array, bool streams, struct error *err)
{
    const bool has_values = array->spec.kind == SPEC_PADDED && array->values != NULL;

    *supply = (struct row_supply){.is_open = true, .streams = streams, .n = has_values ? 2 : 1};
    for (unsigned i = 0; i < supply->n; i++) {
        supply->readers[i] = (struct reader){.arrays = i == 0 ? array->sources : array->values,
                                             .n_arrays = plan->n_archives,
                                             .csr = i == 0 ? array->csr : NULL,
                                             .at_random = !streams};
        supply->windows[i][0].reader = supply->windows[i][1].reader = &supply->readers[i];
        if (reader_open(&supply->readers[i], plan->settings->budget, err) != 0)
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

/* The images of output rows from `first` on, up to `end`, IMAGES_AT_ONCE at most: how many. */
static size_t images_from(const struct order *order, uint64_t first, uint64_t end,
                          struct image *images)
{
    const size_t n = (size_t)smaller(end - first, IMAGES_AT_ONCE);

    order_images(order, first, n, images);
    return n;
}

/* What a window's rows are numbered by. Where every row has one image at most, those that have none
 * are not held, however many stand between two that have: image `at` of the shard by its number. */
static uint64_t number_of(const struct order *order, uint64_t at, const struct image *image)
{
    return order->n_chosen == 1 ? order->first_image + at : image->row;
}

/* Hold the rows of images begin .. end - 1 of the whole, of which the first may be in `before`. */
static int load_single(struct batch *to, const struct batch *before, const struct order *order,
                       uint64_t begin, uint64_t end, struct error *err)
{
    const uint64_t unit_nbytes = to->reader->unit_nbytes, known = before->first + before->n;
    struct image images[IMAGES_AT_ONCE];
    uint64_t rows[IMAGES_AT_ONCE];

    batch_clear(to);
    to->first = begin;
    if (begin < known) { /* of numbers: no row of a list is asked for twice */
        to->n = known - begin;
        if (bytes_append(&to->bytes, before->bytes.data + (begin - before->first) * unit_nbytes,
                         to->n * unit_nbytes, err) != 0)
            return -1;
    }
    for (uint64_t at = begin + to->n, n; at < end; at += n) {
        n = images_from(order, at - order->first_image, end - order->first_image, images);
        for (size_t i = 0; i < n; i++)
            rows[i] = images[i].row;
        if (batch_add(to, rows, n, err) != 0)
            return -1;
    }
    return 0;
}

/* Fetch what input rows need, none of which is before those of the latest window, into the older
 * one, which becomes the latest, unless the latest holds them all. Others may read the one before
 * meanwhile. */
static int images_load(struct pieces *pieces, struct piece_rows *rows, struct error *err)
{
    const struct out_member *of = ((const struct image_pieces *)pieces)->of;
    const struct order *order = of->job->order;
    const bool is_single = order->n_chosen == 1;
    struct row_supply *supply = of->supply;
    uint64_t begin = order->first_image + rows->begin, end = order->first_image + rows->end;

    rows->window = 0;
    if (supply == NULL || !supply->streams)
        return 0;
    if (!is_single)
        order_span(order, rows->begin, rows->end - rows->begin, &begin, &end);
    const unsigned from = supply->latest, to = !from;
    const bool is_new = end > supply->windows[0][from].first + supply->windows[0][from].n;
    for (unsigned i = 0; i < supply->n && is_new; i++) {
        struct batch *windows = supply->windows[i];

        if (is_single && order->selection != NULL
                ? load_single(&windows[to], &windows[from], order, begin, end, err) != 0
                : batch_follow(&windows[to], &windows[from], begin, end - begin, err) != 0)
            return -1;
    }
    if (is_new)
        stone_watch_see(&of->job->watch, of->array, &supply->windows[0][to]);
    rows->window = supply->latest = is_new ? to : from;
    /* The array's last rows are read even if no image needs them: its CRC stands at the end. */
    for (unsigned i = 0; i < supply->n && rows->end == pieces->n_rows && order_is_last(order); i++)
        if (reader_read(&supply->readers[i], supply->readers[i].n_units, 0, NULL, err) != 0)
            return -1;
    return 0;
}

/* Rows of equal size: neighbours under one transform are moved together, if a window holds them. */
static int images_make(const struct pieces *pieces, const struct piece_rows *rows,
                       struct bytes *out, struct error *err)
{
    const struct out_member *of = ((const struct image_pieces *)pieces)->of;
    struct row_supply *supply = of->supply;
    const size_t n_bytes = (rows->end - rows->begin) * pieces->row_nbytes;
    const bool streams = supply != NULL && supply->streams;
    size_t room_nbytes[2] = {0}; /* of a table's row, and of its values */
    struct image images[IMAGES_AT_ONCE];
    struct error reason = {0};

    for (unsigned i = 0; supply != NULL && i < supply->n; i++)
        room_nbytes[i] = (supply->readers[i].unit_nbytes / ROW_ALIGNMENT + 1) * ROW_ALIGNMENT;
    /* A header is a multiple of 16, so that the rows stay aligned for the kernels. */
    uint8_t *to = bytes_reserve(
        out, n_bytes + ROW_ALIGNMENT + room_nbytes[0] + room_nbytes[1] + CODEC_READ_SLACK, err);
    if (to == NULL)
        return -1;
    uint8_t *room = to + (n_bytes / ROW_ALIGNMENT + 1) * ROW_ALIGNMENT;
    for (uint64_t at = rows->begin, n; (n = images_from(of->job->order, at, rows->end, images)) > 0;
         at += n)
        for (size_t i = 0, run; i < n; i += run, to += run * pieces->row_nbytes) {
            const uint8_t *from[2] = {NULL, NULL};
            const struct image *image = &images[i];
            uint64_t failed;

            run = 1;
            if (supply == NULL) {
                if (of->kind == PIECES_SOURCE)
                    bytes_put_le(to, image->row, 8);
                else
                    *to = (uint8_t)image->transform;
                continue;
            }
            const uint64_t number = number_of(of->job->order, at + i, image);
            while (streams && i + run < n && image[run].transform == image->transform &&
                   number_of(of->job->order, at + i + run, &image[run]) == number + run)
                run++;
            if (!streams && i + EXPECTED_AHEAD < n)
                reader_expect(&supply->readers[0], image[EXPECTED_AHEAD].row);
            for (unsigned k = 0; k < supply->n; k++) {
                const struct batch *window = &supply->windows[k][rows->window];
                uint8_t *copy = k == 0 ? room : room + room_nbytes[0];

                from[k] = streams ? window->bytes.data +
                                        (number - window->first) * supply->readers[k].unit_nbytes
                                  : copy;
                if (!streams && reader_read(&supply->readers[k], image->row, 1, copy, err) != 0)
                    return -1;
            }
            if (kernel_rows(&of->array->spec, image->transform, from[0], from[1], to, run, &failed,
                            &reason) != 0)
                return reader_fail(&supply->readers[0], image[failed].row, &reason, err);
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

uint64_t csr_length(const struct csr *csr, const struct order *order, uint64_t first, uint64_t end)
{
    struct image images[IMAGES_AT_ONCE];
    uint64_t length = 0;

    for (uint64_t n; (n = images_from(order, first, end, images)) > 0; first += n)
        for (size_t i = 0; i < n; i++)
            length += csr->first[images[i].row + 1] - csr->first[images[i].row];
    return length;
}

static int put_offset(const struct out_member *of, uint64_t offset, struct bytes *out,
                      struct error *err)
{
    const struct array *array = of->array->sources[0];
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

static int csr_make(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                    struct error *err)
{
    const struct image_pieces *self = (const struct image_pieces *)pieces;
    const struct out_member *of = self->of;
    const struct csr *csr = of->array->csr;
    const struct spec *spec = &of->array->spec;
    const bool is_offsets = of->kind == PIECES_OFFSETS;
    struct reader *reader = is_offsets ? NULL : &of->supply->readers[0];
    const struct batch *window = is_offsets ? NULL : &of->supply->windows[0][rows->window];
    uint64_t element = is_offsets ? self->piece_element[rows->begin / CSR_ROWS_PER_PIECE] : 0;
    struct image images[IMAGES_AT_ONCE];
    struct error reason = {0};

    for (uint64_t at = rows->begin, n; (n = images_from(of->job->order, at, rows->end, images)) > 0;
         at += n)
        for (size_t i = 0; i < n; i++) {
            const uint64_t row = images[i].row, length = csr->first[row + 1] - csr->first[row];

            if (is_offsets && put_offset(of, element, out, err) != 0)
                return -1;
            element += length;
            if (reader == NULL)
                continue;
            const uint64_t n_bytes = length * reader->unit_nbytes;
            uint8_t *to = bytes_reserve(out, n_bytes + 1, err);
            const uint8_t *from = to;
            if (to == NULL)
                return -1;
            if (of->supply->streams)
                from =
                    batch_row(window, number_of(of->job->order, at + i, &images[i]) - window->first)
                        .bytes;
            else if (reader_read(reader, csr->first[row], length, to, err) != 0)
                return -1;
            if (spec->kind != SPEC_INDICES && from != to)
                memcpy(to, from, n_bytes);
            if (spec->kind == SPEC_INDICES &&
                kernel_indices(spec, images[i].transform, &spec->dtype, from, to, length,
                               &reason) != 0)
                return reader_fail(reader, row, &reason, err);
            out->n_bytes += n_bytes;
        }
    return is_offsets && rows->end == pieces->n_rows ? put_offset(of, element, out, err) : 0;
}

/* --- objects --- */

/* What moved items are kept in: an array, or the data of one, or a list. Its bytes are owned. */
struct room {
    struct pickle_ndarray array;
    struct bytes bytes;
};

/* An integer, or a list or an array of some: roles were given to nothing else. */
static int move_item(const struct spec *spec, uint32_t t, struct pickle_item *item,
                     struct room *room, struct error *err)
{
    static const struct dtype int64 = {.kind = DTYPE_INT, .itemsize = 8};
    struct pickle_item *items = item;
    size_t n = 1;

    room->bytes.n_bytes = 0;
    if (item->kind == PICKLE_ARRAY) {
        room->array = *item->as.array;
        room->array.data = bytes_reserve(&room->bytes, room->array.n_bytes + 1, err);
        if (room->array.data == NULL ||
            kernel_indices(spec, t, &room->array.dtype, item->as.array->data, room->bytes.data,
                           room->array.n_elements, err) != 0)
            return -1;
        item->as.array = &room->array;
        return 0;
    }
    if (item->kind == PICKLE_LIST) {
        n = item->n_bytes_or_items;
        if (bytes_append(&room->bytes, item->as.items, n * sizeof *items, err) != 0)
            return -1;
        items = (struct pickle_item *)(void *)room->bytes.data;
        item->as.items = items;
    } else if (item->kind != PICKLE_INT) {
        return error_set(err, ERROR_DATA, "an element is no integer, list or array of integers");
    }
    for (size_t i = 0; i < n; i++) {
        const int64_t from = items[i].as.integer;

        if (kernel_indices(spec, t, &int64, &from, &items[i].as.integer, 1, err) != 0)
            return -1;
    }
    return 0;
}

static int objects_make(const struct pieces *pieces, const struct piece_rows *rows,
                        struct bytes *out, struct error *err)
{
    const struct image_pieces *self = (const struct image_pieces *)pieces;
    const struct reader *reader = &self->of->supply->readers[0];
    const struct spec *spec = &self->of->array->spec;
    struct image images[IMAGES_AT_ONCE];
    struct room room = {0};
    int status = 0;

    for (uint64_t at = rows->begin, n;
         status == 0 && (n = images_from(self->of->job->order, at, rows->end, images)) > 0; at += n)
        for (uint64_t i = 0; i < n * reader->n_items && status == 0; i++) {
            const struct image *image = &images[i / reader->n_items];
            struct pickle_item item = reader_items(reader, image->row)[i % reader->n_items];
            struct error reason = {0};

            if (spec->kind == SPEC_INDICES &&
                move_item(spec, image->transform, &item, &room, &reason) != 0)
                status = reader_fail(reader, image->row, &reason, err);
            else
                status =
                    pickle_write_item(&self->writer, at * reader->n_items + i, &item, out, err);
        }
    bytes_release(&room.bytes);
    return status == 0 && rows->end == pieces->n_rows ? pickle_write_trailer(out, err) : status;
}

/* Begin the pickle, whose writer is told where in the output each dtype comes first: as soon as all
 * that the input has are known, no further images are looked at. */
static int begin_objects(struct image_pieces *self, struct error *err)
{
    const struct reader *reader = &self->of->supply->readers[0];
    const struct npy_header *header = &reader->arrays[0]->header;
    const uint64_t n_items = reader->n_items;
    uint64_t shape[PICKLE_MAX_DIMS] = {0}, n_bytes = 0;
    struct pickle_writer all = {.n_items = UINT64_MAX}; /* those of the input */
    struct image images[IMAGES_AT_ONCE];

    memcpy(shape, header->shape, header->n_dims * sizeof *shape);
    shape[0] = self->head.n_rows;
    if (pickle_writer_init(&self->writer, shape, header->n_dims, err) != 0)
        return -1;
    for (uint64_t i = 0; i < reader->n_rows * n_items; i++)
        if (pickle_writer_note(&all, i, &reader_items(reader, i / n_items)[i % n_items], err) != 0)
            return -1;
    for (uint64_t at = 0, n;
         self->writer.n_dtypes < all.n_dtypes &&
         (n = images_from(self->of->job->order, at, self->head.n_rows, images)) > 0;
         at += n)
        for (uint64_t i = 0; i < n * n_items; i++)
            if (pickle_writer_note(&self->writer, at * n_items + i,
                                   &reader_items(reader, images[i / n_items].row)[i % n_items],
                                   err) != 0)
                return -1;
    /* A piece of about PIECE_NBYTES, from the size of the input's pickles. */
    for (size_t i = 0; i < reader->n_arrays; i++)
        n_bytes += reader->arrays[i]->unpacked_nbytes;
    const uint64_t row_nbytes = reader->n_rows > 0 ? n_bytes / reader->n_rows + 1 : 1;
    self->head.rows_per_piece = row_nbytes < PIECE_NBYTES ? PIECE_NBYTES / row_nbytes : 1;
    return pickle_write_prelude(&self->writer, &self->head.header, err);
}

int object_row_bytes(const struct reader *reader, uint64_t row, const struct spec *spec, uint32_t t,
                     struct bytes *out, struct error *err)
{
    struct pickle_writer writer = {.n_items = UINT64_MAX};
    struct room room = {0};
    int status = 0;

    for (uint64_t sub = 0; sub < reader->n_items && status == 0; sub++) {
        struct pickle_item item = reader_items(reader, row)[sub];

        if (spec->kind == SPEC_INDICES)
            status = move_item(spec, t, &item, &room, err);
        if (status == 0)
            status = pickle_writer_note(&writer, sub, &item, err);
        if (status == 0)
            status = pickle_write_item(&writer, sub, &item, out, err);
    }
    bytes_release(&room.bytes);
    return status;
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
    struct run windows[2];
    unsigned latest; /* of the windows */
};

uint64_t pieces_copy_nbytes(const struct array *array)
{
    const bool pad = member_size_is_unsafe(array->unpacked_nbytes);

    return array->unpacked_nbytes + (pad ? PADDING_NBYTES : 0);
}

static int copy_load(struct pieces *pieces, struct piece_rows *rows, struct error *err)
{
    struct copy_pieces *self = (struct copy_pieces *)pieces;
    struct run *run = &self->windows[!self->latest];
    const uint64_t n_bytes = rows->end - rows->begin;

    rows->window = self->latest = !self->latest;
    run->begin = rows->begin;
    if (bytes_reserve(&run->bytes, n_bytes + 1, err) == NULL ||
        unpack_read(&self->unpack, run->bytes.data, n_bytes, err) != 0)
        return -1;
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
    bytes_release(&pieces->header);
    bytes_release(&self->windows[0].bytes);
    bytes_release(&self->windows[1].bytes);
    free(self);
}

static const struct pieces_ops copy_ops = {copy_load, copy_make, copy_free};

struct pieces *pieces_of_copy(const struct array *array, struct error *err)
{
    struct copy_pieces *self = calloc(1, sizeof *self);
    const size_t n = array->header.header_nbytes;

    if (self == NULL) {
        error_no_memory(err, "member");
        return NULL;
    }
    self->head = (struct pieces){
        .ops = &copy_ops, .n_rows = array->unpacked_nbytes, .rows_per_piece = PIECE_NBYTES};
    int status = unpack_start(&self->unpack, array, err);
    if (status == 0 && pieces_copy_nbytes(array) != array->unpacked_nbytes) {
        /* Add spaces in front of the newline at the end of the array's header. */
        uint8_t *p = bytes_reserve(&self->head.header, n + PADDING_NBYTES, err);

        status = p != NULL ? unpack_read(&self->unpack, p, n, err) : -1;
        if (status == 0) {
            p[n + PADDING_NBYTES - 1] = p[n - 1];
            memset(p + n - 1, ' ', PADDING_NBYTES);
            if (array->header.version == 1)
                bytes_put_le(p + 8, bytes_get_le16(p + 8) + PADDING_NBYTES, 2);
            else
                bytes_put_le(p + 8, bytes_get_le32(p + 8) + (uint64_t)PADDING_NBYTES, 4);
            self->head.header.n_bytes = n + PADDING_NBYTES;
            self->head.n_rows -= n;
        }
    }
    if (status == 0)
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
    const struct order *order = out->job->order;
    struct image_pieces *self = &out->pieces;
    uint64_t element = 0;
    int status = 0;

    if (kind == PIECES_COPY)
        return pieces_of_copy(out->array->sources[0], err);
    self->of = out;
    self->head.n_rows = order->n_images;
    if (kind == PIECES_ELEMENTS) {
        const uint64_t row_nbytes = csr_row_nbytes(out->array->csr, out->item_nbytes);

        self->head.ops = &csr_ops;
        self->head.rows_per_piece =
            smaller(CSR_ROWS_PER_PIECE, CSR_PIECE_MAX_NBYTES / (row_nbytes + 1) + 1);
    } else if (kind == PIECES_OFFSETS) {
        self->head.ops = &csr_ops;
        self->head.rows_per_piece = CSR_ROWS_PER_PIECE;
        const uint64_t n_pieces = pieces_count(&self->head);
        status = new_items(&self->piece_element, n_pieces, "pieces of a sparse policy", err);
        for (uint64_t i = 0, first = 0; i < n_pieces && status == 0; i++) {
            const uint64_t end = smaller(first + CSR_ROWS_PER_PIECE, order->n_images);

            self->piece_element[i] = element;
            element += csr_length(out->array->csr, order, first, end);
            first = end;
        }
    } else if (kind == PIECES_OBJECTS) {
        self->head.ops = &object_ops;
        status = begin_objects(self, err);
    } else {
        const uint64_t n = kind == PIECES_ROWS ? out->array->spec.row_nbytes : out->item_nbytes;
        uint64_t n_bytes;

        self->head.ops = &image_ops;
        self->head.row_nbytes = n;
        if (__builtin_mul_overflow(order->n_images, n, &n_bytes) || n_bytes > (UINT64_C(1) << 62))
            status = error_set(err, ERROR_DATA, "%llu rows of %llu bytes are too many",
                               (unsigned long long)order->n_images, (unsigned long long)n);
        /* Small members are cut finer, so that all threads have something to do. */
        n_bytes = n_bytes / 4 < PIECE_MIN_NBYTES ? PIECE_MIN_NBYTES : n_bytes / 4;
        self->head.rows_per_piece = n > 0 ? smaller(n_bytes, PIECE_NBYTES) / n : order->n_images;
        if (self->head.rows_per_piece == 0)
            self->head.rows_per_piece = 1;
    }
    if (status == 0)
        return &self->head;
    images_free(&self->head);
    return NULL;
}
