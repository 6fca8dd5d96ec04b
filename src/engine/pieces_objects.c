/*
 * pieces_objects.c - pieces of object arrays: pickled items, indices moved where they are a
 * policy's.
 *
 * The pickle's writer must know beforehand where in the output each dtype comes first, because that
 * is where it is written out; later items refer to it.
 */
#include "engine/expand.h"

#include "base/text.h"

/* What one piece is made with: buffers for moved items. */
struct room {
    struct pickle_ndarray array;
    struct bytes data;
    struct bytes list;
};

static void room_release(struct room *room)
{
    bytes_release(&room->data);
    bytes_release(&room->list);
}

/* An integer, or a list or an array of some: roles were given to nothing else. */
static int move_item(const struct spec *spec, uint32_t t, struct pickle_item *item,
                     struct room *room, struct error *err)
{
    static const struct dtype int64 = {.kind = DTYPE_INT, .itemsize = 8};
    const size_t n = item->n_bytes_or_items;
    const int64_t index = item->as.integer;
    struct pickle_item *items;

    switch (item->kind) {
    case PICKLE_INT:
        return kernel_indices(spec, t, &int64, &index, &item->as.integer, 1, err);
    case PICKLE_ARRAY:
        room->array = *item->as.array;
        room->data.n_bytes = 0;
        room->array.data = bytes_reserve(&room->data, room->array.n_bytes + 1, err);
        if (room->array.data == NULL ||
            kernel_indices(spec, t, &room->array.dtype, item->as.array->data, room->data.data,
                           room->array.n_elements, err) != 0)
            return -1;
        item->as.array = &room->array;
        return 0;
    case PICKLE_LIST:
        room->list.n_bytes = 0;
        if (bytes_append(&room->list, item->as.items, n * sizeof *items, err) != 0)
            return -1;
        items = (struct pickle_item *)(void *)room->list.data;
        item->as.items = items;
        for (size_t i = 0; i < n; i++) {
            const int64_t from = items[i].as.integer;

            if (kernel_indices(spec, t, &int64, &from, &items[i].as.integer, 1, err) != 0)
                return -1;
        }
        return 0;
    default:
        return error_set(err, ERROR_DATA, "an element is no integer, list or array of integers");
    }
}

int objects_make(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                 struct error *err)
{
    const struct image_pieces *self = (const struct image_pieces *)pieces;
    const struct reader *reader = &self->of->supply->readers[0];
    const struct spec *spec = &self->of->array->spec;
    struct room room = {0};
    struct image_walk walk;
    int status = 0;

    image_walk_begin(&walk, self->of->job->order, rows->begin, rows->end);
    while (status == 0 && image_walk_next(&walk))
        for (uint64_t i = 0; i < walk.n * reader->n_items && status == 0; i++) {
            const struct image *image = &walk.images[i / reader->n_items];
            struct pickle_item item = reader_items(reader, image->row)[i % reader->n_items];
            struct error reason = {0};

            if (spec->kind == SPEC_INDICES &&
                move_item(spec, image->transform, &item, &room, &reason) != 0)
                status = reader_fail(reader, image->row, &reason, err);
            else
                status = pickle_write_item(&self->writer, walk.first * reader->n_items + i, &item,
                                           out, err);
        }
    room_release(&room);
    return status == 0 && rows->end == pieces->n_rows ? pickle_write_trailer(out, err) : status;
}

/* Tell the writer where in the output each dtype comes first; ends as soon as all are known. */
static int note_dtypes(struct image_pieces *self, struct error *err)
{
    const struct reader *reader = &self->of->supply->readers[0];
    struct pickle_writer all = {.n_items = UINT64_MAX}; /* those of the input */
    struct image_walk walk;

    for (uint64_t i = 0; i < reader->n_rows * reader->n_items; i++)
        if (pickle_writer_note(
                &all, i, &reader_items(reader, i / reader->n_items)[i % reader->n_items], err) != 0)
            return -1;
    image_walk_begin(&walk, self->of->job->order, 0, self->head.n_rows);
    while (self->writer.n_dtypes < all.n_dtypes && image_walk_next(&walk))
        for (uint64_t i = 0; i < walk.n * reader->n_items; i++) {
            const uint64_t row = walk.images[i / reader->n_items].row;

            if (pickle_writer_note(&self->writer, walk.first * reader->n_items + i,
                                   &reader_items(reader, row)[i % reader->n_items], err) != 0)
                return -1;
        }
    return 0;
}

int objects_begin(struct image_pieces *self, struct error *err)
{
    const struct reader *rows = &self->of->supply->readers[0];
    const struct npy_header *header = &rows->arrays[0]->header;
    uint64_t shape[PICKLE_MAX_DIMS] = {0}, n_bytes = 0;

    if (header->n_dims > PICKLE_MAX_DIMS)
        return error_set(err, ERROR_DATA, "%s: %s: %u dimensions, expected at most %d",
                         text_path(rows->arrays[0]->input->path).text,
                         text_path(rows->arrays[0]->member).text, header->n_dims, PICKLE_MAX_DIMS);
    memcpy(shape, header->shape, header->n_dims * sizeof *shape);
    shape[0] = self->head.n_rows;
    if (pickle_writer_init(&self->writer, shape, header->n_dims, err) != 0 ||
        note_dtypes(self, err) != 0 ||
        pickle_write_prelude(&self->writer, &self->head.header, err) != 0)
        return -1;
    /* A piece of about PIECE_NBYTES, from the size of the input's pickles. */
    for (size_t i = 0; i < rows->n_arrays; i++)
        n_bytes += rows->arrays[i]->unpacked_nbytes;
    const uint64_t row_nbytes = rows->n_rows > 0 ? n_bytes / rows->n_rows + 1 : 1;
    self->head.rows_per_piece = row_nbytes < PIECE_NBYTES ? PIECE_NBYTES / row_nbytes : 1;
    return 0;
}

/* --- comparing --- */

/* An item as bytes: its kind, its length, what it holds. */
static int append_item(const struct pickle_item *item, struct bytes *out, struct error *err)
{
    const uint64_t head[2] = {item->kind, item->n_bytes_or_items};

    if (bytes_append(out, head, sizeof head, err) != 0)
        return -1;
    switch (item->kind) {
    case PICKLE_ARRAY:
        return bytes_append(out, item->as.array->data, item->as.array->n_bytes, err);
    case PICKLE_STRING:
        return bytes_append(out, item->as.bytes, item->n_bytes_or_items, err);
    case PICKLE_LIST:
        for (uint32_t i = 0; i < item->n_bytes_or_items; i++)
            if (append_item(&item->as.items[i], out, err) != 0)
                return -1;
        return 0;
    default:
        return bytes_append(out, &item->as, sizeof item->as, err);
    }
}

int object_row_bytes(const struct reader *reader, uint64_t row, const struct spec *spec, uint32_t t,
                     struct bytes *out, struct error *err)
{
    struct room room = {0};
    int status = 0;

    for (uint64_t sub = 0; sub < reader->n_items && status == 0; sub++) {
        struct pickle_item item = reader_items(reader, row)[sub];

        if (spec->kind == SPEC_INDICES)
            status = move_item(spec, t, &item, &room, err);
        if (status == 0)
            status = append_item(&item, out, err);
    }
    room_release(&room);
    return status;
}
