/*
 * pieces.c - what members are made of: images (rows of equal size, provenance, the offsets and
 * elements of a sparse policy in CSR form, pickled objects), and arrays that are copied as they
 * are.
 *
 * In orders that stream, two windows leapfrog over the input: while pieces are made from one, the
 * next rows are read into the other, and rows that both need are copied. Neighbours under one
 * transform are then moved together. In other orders, and for Fortran arrays, every row is at hand
 * in a table, from which rows are taken one by one. The values beside padded indices come through a
 * second reader, in step with the first.
 *
 * In CSR form the input's offsets say where each row's elements are, numbered over all input
 * shards; a piece holds a fixed number of images, fewer where lists are long on average.
 *
 * A pickle's writer must know beforehand where in the output each dtype comes first, because that
 * is where it is written out; later items refer to it.
 */
#include "engine/expand.h"

#include "engine/kernel.h"

#define CSR_ROWS_PER_PIECE   16384
#define CSR_PIECE_MAX_NBYTES (4 * PIECE_NBYTES) /* on average */
#define PIECE_MIN_NBYTES     (1u << 18)
#define EXPECTED_AHEAD       12 /* images: how far ahead rows of a table are prefetched */
#define IMAGES_AT_ONCE       512
#define ROW_ALIGNMENT        16

/* --- where input rows come from --- */

static int open_input(struct out_member *out, struct error *err)
{
    const struct plan *plan = out->job->plan;
    const struct plan_array *array = out->array;
    const bool has_values = array->spec.kind == SPEC_PADDED && array->values != NULL;

    out->n_readers = has_values ? 2 : 1;
    for (unsigned i = 0; i < out->n_readers; i++) {
        out->readers[i] = (struct reader){.arrays = i == 0 ? array->sources : array->values,
                                          .n_arrays = plan->n_inputs,
                                          .csr = i == 0 ? array->csr : NULL,
                                          .at_random = !out->streams,
                                          .is_checked = out->job->is_checked};
        out->windows[i][0].reader = out->windows[i][1].reader = &out->readers[i];
        if (reader_open(&out->readers[i], plan->settings->budget, err) != 0)
            return -1;
    }
    return 0;
}

void pieces_release(struct out_member *out)
{
    for (unsigned i = 0; i < 2; i++) {
        batch_release(&out->windows[i][0]);
        batch_release(&out->windows[i][1]);
        reader_close(&out->readers[i]);
    }
    unpack_release(&out->unpack);
    out->n_readers = out->latest = 0;
}

/* --- images --- */

/* Look up the images of output rows from `first` to before `end`, at most IMAGES_AT_ONCE; returns
 * how many. */
static size_t images_from(const struct order *order, uint64_t first, uint64_t end,
                          struct image *images)
{
    const size_t n = (size_t)smaller(end - first, IMAGES_AT_ONCE);

    order_images(order, first, n, images);
    return n;
}

/* The number by which a window finds the row of image `at` of the shard. If every row has one image
 * at most, rows without an image are not held, however many there are: rows are then numbered by
 * their images. */
static uint64_t number_of(const struct order *order, uint64_t at, const struct image *image)
{
    return order->n_chosen == 1 ? order->first_image + at : image->row;
}

/* Hold the rows of images begin .. end - 1 of the whole order; `before` may hold the first ones. */
static int load_single(struct batch *to, const struct batch *before, const struct order *order,
                       uint64_t begin, uint64_t end, struct error *err)
{
    const uint64_t known = before->first + before->n;
    struct image images[IMAGES_AT_ONCE];
    uint64_t rows[IMAGES_AT_ONCE];

    /* Rows to be made again as history, never lists. */
    if (batch_follow(to, before, begin, begin < known ? known - begin : 0, err) != 0)
        return -1;
    for (uint64_t at = begin + to->n, n; at < end; at += n) {
        n = images_from(order, at - order->first_image, end - order->first_image, images);
        for (size_t i = 0; i < n; i++)
            rows[i] = images[i].row;
        if (batch_add(to, rows, n, err) != 0)
            return -1;
    }
    return 0;
}

/* Fetch the input rows that these rows need, none of which is before those of the latest window,
 * into the older window, which becomes the latest, unless the latest holds them all. Other threads
 * may read the latest one meanwhile. */
static int images_load(struct member *member, struct piece_rows *rows, struct error *err)
{
    struct out_member *out = (struct out_member *)member;
    const struct order *order = out->job->order;
    const bool is_single = order->n_chosen == 1;
    uint64_t begin = order->first_image + rows->begin, end = order->first_image + rows->end;

    if (!out->streams)
        return 0;
    if (!is_single)
        order_span(order, rows->begin, rows->end - rows->begin, &begin, &end);
    const unsigned from = out->latest, to = !from;
    const bool is_new = end > out->windows[0][from].first + out->windows[0][from].n;
    for (unsigned i = 0; i < out->n_readers && is_new; i++) {
        struct batch *windows = out->windows[i];

        if (is_single && order->selection != NULL
                ? load_single(&windows[to], &windows[from], order, begin, end, err) != 0
                : batch_follow(&windows[to], &windows[from], begin, end - begin, err) != 0)
            return -1;
    }
    if (is_new)
        stone_watch_see(&out->job->watch, out->array, &out->windows[0][to]);
    rows->window = out->latest = is_new ? to : from;
    /* The array's last rows are read even if no image needs them: its CRC stands at the end. */
    for (unsigned i = 0; i < out->n_readers && rows->end == member->n_rows && order_is_last(order);
         i++)
        if (reader_read(&out->readers[i], out->readers[i].n_units, 0, NULL, err) != 0)
            return -1;
    return 0;
}

/* Rows, or lists of elements. Neighbours under one transform are moved together if a window holds
 * them; lists are not, so that an error is about one row. */
static int images_make(struct member *member, const struct piece_rows *rows, struct bytes *out,
                       struct error *err)
{
    struct out_member *of = (struct out_member *)member;
    const struct order *order = of->job->order;
    struct image images[IMAGES_AT_ONCE];
    struct error reason = {0};

    if (bytes_reserve(out, (rows->end - rows->begin) * member->row_nbytes + 1, err) == NULL)
        return -1;
    for (uint64_t at = rows->begin, n; (n = images_from(order, at, rows->end, images)) > 0; at += n)
        for (size_t i = 0, run; i < n; i += run) {
            const struct image *image = &images[i];
            const uint64_t number = number_of(order, at + i, image);
            const uint64_t first = reader_unit(&of->readers[0], image->row);
            uint64_t n_units = reader_unit(&of->readers[0], image->row + 1) - first, failed;
            const uint8_t *from[2] = {NULL, NULL};

            run = 1;
            while (of->streams && of->kind == PIECES_ROWS && i + run < n &&
                   image[run].transform == image->transform &&
                   number_of(order, at + i + run, &image[run]) == number + run)
                n_units = ++run;
            if (!of->streams && i + EXPECTED_AHEAD < n)
                reader_expect(&of->readers[0], image[EXPECTED_AHEAD].row);
            /* A header is a multiple of 16, so that the rows stay aligned for the kernels. What a
             * table holds is read into the memory after the moved row. */
            const uint64_t n_bytes = n_units * of->readers[0].unit_nbytes;
            uint64_t used = n_bytes, needed = n_bytes + 1;
            for (unsigned k = 0; k < of->n_readers && !of->streams; k++)
                needed += n_units * of->readers[k].unit_nbytes + ROW_ALIGNMENT;
            uint8_t *to = bytes_reserve(out, needed, err);
            if (to == NULL)
                return -1;
            for (unsigned k = 0; k < of->n_readers; k++) {
                const struct batch *window = &of->windows[k][rows->window];

                used = (used / ROW_ALIGNMENT + 1) * ROW_ALIGNMENT;
                from[k] = of->streams ? batch_row(window, number - window->first).bytes : to + used;
                if (!of->streams &&
                    reader_read(&of->readers[k], first, n_units, to + used, err) != 0)
                    return -1;
                used += n_units * of->readers[k].unit_nbytes;
            }
            if (kernel_rows(&of->array->spec, image->transform, from[0], from[1], to, n_units,
                            &failed, &reason) != 0)
                return reader_fail(&of->readers[0], image[of->kind == PIECES_ROWS ? failed : 0].row,
                                   &reason, err);
            out->n_bytes += n_bytes;
        }
    return 0;
}

/* --- numbers that tell of images --- */

uint64_t csr_length(const struct csr *csr, const struct order *order, uint64_t first, uint64_t end)
{
    struct image images[IMAGES_AT_ONCE];
    uint64_t length = 0;

    for (uint64_t n; (n = images_from(order, first, end, images)) > 0; first += n)
        for (size_t i = 0; i < n; i++)
            length += csr->first[images[i].row + 1] - csr->first[images[i].row];
    return length;
}

static int put_number(const struct out_member *of, uint64_t number, struct bytes *out,
                      struct error *err)
{
    const struct dtype *dtype = &of->form->header.dtype;
    uint8_t *to = bytes_reserve(out, dtype->itemsize, err);

    if (to == NULL)
        return -1;
    out->n_bytes += dtype->itemsize;
    if (number <= INT64_MAX && dtype_put_int(dtype, (int64_t)number, to) == 0)
        return 0;
    return error_set(err, ERROR_DATA,
                     "%s: %s: offset %llu of the expanded policy does not fit %u-byte integers",
                     text_path(of->form->input->path).text, text_path(of->form->member).text,
                     (unsigned long long)number, dtype->itemsize);
}

/* For each image the row that it is of, its transform, or the offset of its elements. */
static int numbers_make(struct member *member, const struct piece_rows *rows, struct bytes *out,
                        struct error *err)
{
    const struct out_member *of = (const struct out_member *)member;
    const bool is_offsets = of->kind == PIECES_OFFSETS;
    uint64_t element = is_offsets ? of->piece_element[rows->begin / CSR_ROWS_PER_PIECE] : 0;
    struct image images[IMAGES_AT_ONCE];

    for (uint64_t at = rows->begin, n; (n = images_from(of->job->order, at, rows->end, images)) > 0;
         at += n)
        for (size_t i = 0; i < n; i++) {
            const uint64_t row = images[i].row;

            if (put_number(of,
                           is_offsets                  ? element
                           : of->kind == PIECES_SOURCE ? row
                                                       : images[i].transform,
                           out, err) != 0)
                return -1;
            if (is_offsets)
                element += of->array->csr->first[row + 1] - of->array->csr->first[row];
        }
    return is_offsets && rows->end == member->n_rows ? put_number(of, element, out, err) : 0;
}

/* --- objects --- */

/* Memory for a moved item: an array, the data of one, or a list. Its bytes are owned. */
struct room {
    struct pickle_ndarray array;
    struct bytes bytes;
};

/* Move an integer, or a list or an array of integers: nothing else was given a role. */
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
        return error_set(err, ERROR_DATA,
                         "an element is not an integer, or a list or array of integers");
    }
    for (size_t i = 0; i < n; i++) {
        const int64_t from = items[i].as.integer;

        if (kernel_indices(spec, t, &int64, &from, &items[i].as.integer, 1, err) != 0)
            return -1;
    }
    return 0;
}

static int objects_make(struct member *member, const struct piece_rows *rows, struct bytes *out,
                        struct error *err)
{
    const struct out_member *of = (const struct out_member *)member;
    const struct reader *reader = &of->readers[0];
    const struct spec *spec = &of->array->spec;
    struct image images[IMAGES_AT_ONCE];
    struct room room = {0};
    int status = 0;

    for (uint64_t at = rows->begin, n;
         status == 0 && (n = images_from(of->job->order, at, rows->end, images)) > 0; at += n)
        for (uint64_t i = 0; i < n * reader->n_items && status == 0; i++) {
            const struct image *image = &images[i / reader->n_items];
            struct pickle_item item = reader_items(reader, image->row)[i % reader->n_items];
            struct error reason = {0};

            if (spec->kind == SPEC_INDICES &&
                move_item(spec, image->transform, &item, &room, &reason) != 0)
                status = reader_fail(reader, image->row, &reason, err);
            else
                status = pickle_write_item(&of->writer, at * reader->n_items + i, &item, out, err);
        }
    bytes_release(&room.bytes);
    return status;
}

/* Begin the pickle: tell its writer where in the output each dtype comes first, looking at images
 * until all dtypes of the input are known. */
static int begin_objects(struct out_member *of, struct error *err)
{
    const struct reader *reader = &of->readers[0];
    const uint64_t n_items = reader->n_items;
    uint64_t n_bytes = 0;
    struct pickle_writer all = {.n_items = UINT64_MAX}; /* those of the input */
    struct image images[IMAGES_AT_ONCE];

    if (pickle_writer_init(&of->writer, of->shape, of->form->header.n_dims, err) != 0)
        return -1;
    for (uint64_t i = 0; i < reader->n_rows * n_items; i++)
        if (pickle_writer_note(&all, i, &reader_items(reader, i / n_items)[i % n_items], err) != 0)
            return -1;
    for (uint64_t at = 0, n; of->writer.n_dtypes < all.n_dtypes &&
                             (n = images_from(of->job->order, at, of->head.n_rows, images)) > 0;
         at += n)
        for (uint64_t i = 0; i < n * n_items; i++)
            if (pickle_writer_note(&of->writer, at * n_items + i,
                                   &reader_items(reader, images[i / n_items].row)[i % n_items],
                                   err) != 0)
                return -1;
    /* A piece of about PIECE_NBYTES, from the size of the input's pickles. */
    for (size_t i = 0; i < reader->n_arrays; i++)
        n_bytes += reader->arrays[i]->unpacked_nbytes;
    const uint64_t row_nbytes = reader->n_rows > 0 ? n_bytes / reader->n_rows + 1 : 1;
    of->head.rows_per_piece = row_nbytes < PIECE_NBYTES ? PIECE_NBYTES / row_nbytes : 1;
    return pickle_write_prelude(&of->writer, &of->head.header, err);
}

/* --- copies --- */

/* The rows of a copy are its bytes. */
static int begin_copy(struct out_member *out, struct error *err)
{
    const struct array *array = out->form;
    const size_t n = array->header.header_nbytes;
    struct bytes *header = &out->head.header;

    out->head.n_rows = array->unpacked_nbytes;
    out->head.rows_per_piece = PIECE_NBYTES;
    if (unpack_start(&out->unpack, array, err) != 0)
        return -1;
    if (!member_size_is_unsafe(array->unpacked_nbytes))
        return 0;
    /* Add spaces in front of the newline at the end of the array's header. */
    uint8_t *p = bytes_reserve(header, n + MEMBER_PADDING, err);
    if (p == NULL || unpack_read(&out->unpack, p, n, err) != 0)
        return -1;
    p[n + MEMBER_PADDING - 1] = p[n - 1];
    memset(p + n - 1, ' ', MEMBER_PADDING);
    if (array->header.version == 1)
        bytes_put_le(p + 8, bytes_get_le16(p + 8) + MEMBER_PADDING, 2);
    else
        bytes_put_le(p + 8, bytes_get_le32(p + 8) + (uint64_t)MEMBER_PADDING, 4);
    header->n_bytes = n + MEMBER_PADDING;
    out->head.n_rows -= n;
    return 0;
}

static int copy_load(struct member *member, struct piece_rows *rows, struct error *err)
{
    struct out_member *out = (struct out_member *)member;
    struct batch *window = &out->windows[0][!out->latest];
    const uint64_t n_bytes = rows->end - rows->begin;

    rows->window = out->latest = !out->latest;
    window->first = rows->begin;
    if (bytes_reserve(&window->bytes, n_bytes + 1, err) == NULL ||
        unpack_read(&out->unpack, window->bytes.data, n_bytes, err) != 0)
        return -1;
    return rows->end == member->n_rows ? unpack_finish(&out->unpack, err) : 0;
}

static int copy_make(struct member *member, const struct piece_rows *rows, struct bytes *out,
                     struct error *err)
{
    const struct batch *window = &((struct out_member *)member)->windows[0][rows->window];

    return bytes_append(out, window->bytes.data + (rows->begin - window->first),
                        rows->end - rows->begin, err);
}

/* --- any --- */

/* Distances at which the bytes are likely to repeat: element, board row, plane, output row, and in
 * block order the same transform of the sample before. */
static void describe(struct out_member *out)
{
    struct codec_member *about = &out->head.about;
    const uint64_t item = out->form->header.dtype.itemsize;
    const unsigned n_dims = out->form->header.n_dims;

    about->item_nbytes = item;
    codec_add_period(about, item);
    if (out->array == NULL || out->kind == PIECES_COPY || out->kind == PIECES_OBJECTS)
        return;
    const struct order *order = out->job->order;
    for (uint64_t d = n_dims, n = item; d-- > 1 && n <= CODEC_HISTORY_NBYTES;) {
        n *= out->shape[d];
        codec_add_period(about, n);
        if (d == 2)
            codec_add_period(about, 2 * n);
    }
    codec_add_period(about, out->array->spec.row_nbytes * order->block_rows);
    if (out->kind != PIECES_ROWS)
        return;
    about->image_nrows = smaller(order->block_rows, order->n_rows);
    about->n_images = order->n_chosen;
}

static int begin_offsets(struct out_member *out, struct error *err)
{
    const struct order *order = out->job->order;
    const uint64_t n_pieces = order->n_images / CSR_ROWS_PER_PIECE + 1;

    out->head.rows_per_piece = CSR_ROWS_PER_PIECE;
    if (new_items(&out->piece_element, n_pieces, "pieces of a sparse policy", err) != 0)
        return -1;
    for (uint64_t i = 1; i < n_pieces; i++)
        out->piece_element[i] = out->piece_element[i - 1] + csr_length(out->array->csr, order,
                                                                       (i - 1) * CSR_ROWS_PER_PIECE,
                                                                       i * CSR_ROWS_PER_PIECE);
    return 0;
}

/* Rows of equal size. */
static int begin_rows(struct out_member *out, struct error *err)
{
    const uint64_t n_rows = out->head.n_rows;
    const uint64_t n =
        out->array != NULL ? out->array->spec.row_nbytes : out->form->header.dtype.itemsize;
    uint64_t n_bytes;

    if (__builtin_mul_overflow(n_rows, n, &n_bytes) || n_bytes > (UINT64_C(1) << 62))
        return error_set(err, ERROR_DATA, "%llu rows of %llu bytes are too many",
                         (unsigned long long)n_rows, (unsigned long long)n);
    /* Small members are cut finer, so that all threads have something to do. */
    n_bytes = n_bytes / 4 < PIECE_MIN_NBYTES ? PIECE_MIN_NBYTES : n_bytes / 4;
    out->head.row_nbytes = n;
    out->head.rows_per_piece = n > 0 ? smaller(n_bytes, PIECE_NBYTES) / n : n_rows;
    if (out->head.rows_per_piece == 0)
        out->head.rows_per_piece = 1;
    return 0;
}

static int pieces_open(struct member *member, struct error *err)
{
    struct out_member *out = (struct out_member *)member;

    describe(out);
    if (out->kind == PIECES_COPY)
        return begin_copy(out, err);
    member->n_rows = out->job->order->n_images;
    if (out->array == NULL)
        return begin_rows(out, err);
    if (out->kind != PIECES_OFFSETS && out->n_readers == 0 && open_input(out, err) != 0)
        return -1;
    switch (out->kind) {
    case PIECES_OFFSETS:
        return begin_offsets(out, err);
    case PIECES_ELEMENTS:
        member->rows_per_piece = smaller(
            CSR_ROWS_PER_PIECE,
            CSR_PIECE_MAX_NBYTES /
                    (csr_row_nbytes(out->array->csr, out->form->header.dtype.itemsize) + 1) +
                1);
        return 0;
    case PIECES_OBJECTS:
        return begin_objects(out, err);
    default:
        return begin_rows(out, err);
    }
}

/* The input of rows stays open while other outputs follow. */
static void pieces_close(struct member *member)
{
    struct out_member *out = (struct out_member *)member;

    free(out->piece_element);
    out->piece_element = NULL;
    if (out->kind == PIECES_COPY || order_is_last(out->job->order))
        pieces_release(out);
}

const struct member_ops pieces_ops[] = {
    [PIECES_ROWS] = {pieces_open, images_load, images_make, pieces_close},
    [PIECES_SOURCE] = {pieces_open, NULL, numbers_make, pieces_close},
    [PIECES_TRANSFORM] = {pieces_open, NULL, numbers_make, pieces_close},
    [PIECES_OFFSETS] = {pieces_open, NULL, numbers_make, pieces_close},
    [PIECES_ELEMENTS] = {pieces_open, images_load, images_make, pieces_close},
    [PIECES_OBJECTS] = {pieces_open, NULL, objects_make, pieces_close},
    [PIECES_COPY] = {pieces_open, copy_load, copy_make, pieces_close},
};
