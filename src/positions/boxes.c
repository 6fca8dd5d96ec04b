/*
 * boxes.c - records put into boxes and given back box by box, so that what belongs together (keys
 * of the same leading bits, neighbouring rows) can be worked on a box at a time in little memory.
 * While all boxes together fit into memory there is no file. When they do not, each is written to
 * the end of one unlinked temp file; the parts of a box are found again by a list.
 *
 * Keys of a box are found by open addressing with linear steps, which keys that are hashes need
 * nothing more for.
 */
#include "positions/boxes.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BOXES       4096
#define MIN_PART_NBYTES (1u << 20) /* of a box, once there is a file */

struct box {
    struct bytes bytes; /* what is not in the file */
    struct part {
        uint64_t offset, n_bytes; /* in the file */
    } * parts;                    /* owned */
    size_t n_parts, capacity;
};

int boxes_open(struct boxes *boxes, struct error *err)
{
    boxes->record_nbytes = (boxes->record_nbytes + 15) / 16 * 16;
    boxes->no_memory.tmpdir = boxes->tmpdir;
    boxes->items = calloc(boxes->n, sizeof *boxes->items);
    return boxes->items != NULL ? 0 : error_no_memory(err, "boxes of records");
}

void boxes_release(struct boxes *boxes)
{
    for (size_t i = 0; boxes->items != NULL && i < boxes->n; i++) {
        bytes_release(&boxes->items[i].bytes);
        free(boxes->items[i].parts);
    }
    free(boxes->items);
    scratch_close(&boxes->file);
    *boxes = (struct boxes){0};
}

size_t boxes_wanted(uint64_t n_records, uint64_t record_nbytes, uint64_t max_nbytes)
{
    size_t n = 1;

    while (n < MAX_BOXES && n_records / n * record_nbytes > max_nbytes)
        n *= 2;
    return n;
}

/* Write what a box holds in memory to the file. */
static int flush(struct boxes *boxes, struct box *box, struct error *err)
{
    if (box->bytes.n_bytes == 0)
        return 0;
    if (box->n_parts == box->capacity) {
        box->capacity = 2 * box->capacity + 8;
        if (list_room(&box->parts, box->capacity, sizeof *box->parts, "boxes of records", err) != 0)
            return -1;
    }
    box->parts[box->n_parts++] = (struct part){boxes->file.n_bytes, box->bytes.n_bytes};
    if (scratch_append(&boxes->file, box->bytes.data, box->bytes.n_bytes, err) != 0)
        return -1;
    boxes->held_nbytes -= box->bytes.n_bytes;
    bytes_release(&box->bytes);
    return 0;
}

void *boxes_add(struct boxes *boxes, size_t number, struct error *err)
{
    const size_t n_bytes = boxes->record_nbytes;
    struct box *box = &boxes->items[number];
    uint8_t *to;

    if (boxes->held_nbytes + n_bytes > boxes->max_nbytes && boxes->held_nbytes > 0) {
        if (!boxes->file.has_file &&
            scratch_open(&boxes->file, INT64_MAX, &boxes->no_memory, err) != 0)
            return NULL;
        for (size_t i = 0; i < boxes->n; i++)
            if (flush(boxes, &boxes->items[i], err) != 0)
                return NULL;
    } else if (boxes->file.has_file && box->bytes.n_bytes > MIN_PART_NBYTES &&
               flush(boxes, box, err) != 0) {
        return NULL;
    }
    to = bytes_reserve(&box->bytes, n_bytes, err);
    if (to == NULL)
        return NULL;
    box->bytes.n_bytes += n_bytes;
    boxes->held_nbytes += n_bytes;
    return to;
}

/* Append a part to a list. */
static int read_part(const struct boxes *boxes, const struct part *part, struct bytes *list,
                     struct error *err)
{
    uint8_t *to = bytes_reserve(list, part->n_bytes, err);

    if (to == NULL || scratch_read(&boxes->file, part->offset, to, part->n_bytes, err) != 0)
        return -1;
    list->n_bytes += part->n_bytes;
    return 0;
}

int boxes_each(const struct boxes *boxes, size_t number,
               int (*visit)(void *self, const void *record, struct error *err), void *self,
               struct error *err)
{
    const struct box *box = &boxes->items[number];
    struct bytes room = {0};
    int status = 0;

    for (size_t i = 0; i <= box->n_parts && status == 0; i++) {
        const struct bytes *piece = i < box->n_parts ? &room : &box->bytes;

        room.n_bytes = 0;
        if (i < box->n_parts)
            status = read_part(boxes, &box->parts[i], &room, err);
        for (size_t at = 0; at < piece->n_bytes && status == 0; at += boxes->record_nbytes)
            status = visit(self, piece->data + at, err);
    }
    bytes_release(&room);
    return status;
}

static int compare_records(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    if (a[0] != b[0])
        return a[0] < b[0] ? -1 : 1;
    return a[1] < b[1] ? -1 : a[1] > b[1];
}

int boxes_sorted(const struct boxes *boxes, size_t number, struct bytes *list, struct error *err)
{
    const struct box *box = &boxes->items[number];

    list->n_bytes = 0;
    for (size_t i = 0; i < box->n_parts; i++)
        if (read_part(boxes, &box->parts[i], list, err) != 0)
            return -1;
    if (bytes_append(list, box->bytes.data, box->bytes.n_bytes, err) != 0)
        return -1;
    if (list->n_bytes > 0)
        qsort(list->data, list->n_bytes / boxes->record_nbytes, boxes->record_nbytes,
              compare_records);
    return 0;
}

void boxes_empty(struct boxes *boxes, size_t box)
{
    boxes->held_nbytes -= boxes->items[box].bytes.n_bytes;
    bytes_release(&boxes->items[box].bytes);
}

/* --- keys of a box --- */

/* Where a key is, or where it would be. */
static size_t slot_of(const struct table *table, struct key_value key)
{
    size_t at = key.low & (2 * table->capacity - 1);

    while (table->slots[at] != 0 && (table->keys[table->slots[at] - 1].high != key.high ||
                                     table->keys[table->slots[at] - 1].low != key.low))
        at = (at + 1) & (2 * table->capacity - 1);
    return at;
}

void *table_cell(struct table *table, struct key_value key, struct error *err)
{
    static const char what[] = "keys of positions";
    size_t at;
    uint8_t *cell;

    if (table->n == table->capacity) { /* slots for twice the keys that there is room for */
        const size_t capacity = table->capacity > 0 ? 2 * table->capacity : 1024;
        uint32_t *slots = capacity <= UINT32_MAX / 2 ? calloc(2 * capacity, sizeof *slots) : NULL;

        if (slots == NULL ||
            list_room(&table->keys, capacity, sizeof *table->keys, what, err) != 0 ||
            list_room(&table->cells, capacity, table->cell_nbytes, what, err) != 0) {
            free(slots);
            error_no_memory(err, what);
            return NULL;
        }
        free(table->slots);
        table->slots = slots;
        table->capacity = capacity;
        for (size_t i = 0; i < table->n; i++)
            slots[slot_of(table, table->keys[i])] = (uint32_t)i + 1;
    }
    at = slot_of(table, key);
    if (table->slots[at] != 0)
        return table->cells + (table->slots[at] - 1) * table->cell_nbytes;
    cell = table->cells + table->n * table->cell_nbytes;
    table->keys[table->n++] = key;
    table->slots[at] = (uint32_t)table->n;
    memset(cell, 0, table->cell_nbytes);
    return cell;
}

void table_clear(struct table *table)
{
    table->n = 0;
    if (table->slots != NULL)
        memset(table->slots, 0, 2 * table->capacity * sizeof *table->slots);
}

void table_release(struct table *table)
{
    free(table->keys);
    free(table->cells);
    free(table->slots);
    *table = (struct table){0};
}
