/*
 * boxes.c - records put into boxes and given back box by box, so that what belongs together (keys
 * of the same leading bits, neighbouring rows) can be worked on a box at a time in little memory.
 * While all boxes together fit into memory there is no file. When they do not, each is written to
 * the end of one unlinked temp file; the parts of a box are found again by a list.
 *
 * Hashes spread keys evenly, so that a box is much larger than others only where one key has many
 * records: these are never together in memory, they are read from the box piece by piece.
 */
#include "positions/parts.h"

#define MAX_BOXES       4096
#define MIN_PART_NBYTES (1u << 20) /* of a box, once there is a file */
#define PIECE_NBYTES    (1u << 20) /* of a box that is read in pieces */

struct box {
    struct bytes bytes; /* what is not in the file */
    struct bytes parts; /* a struct part each: what is */
};

struct part {
    uint64_t offset, n_bytes; /* in the file */
};

int boxes_open(struct boxes *boxes, struct error *err)
{
    boxes->record_nbytes = (boxes->record_nbytes + 15) / 16 * 16;
    boxes->no_memory.tmpdir = boxes->tmpdir;
    return new_items(&boxes->items, boxes->n, "boxes of records", err);
}

void boxes_release(struct boxes *boxes)
{
    for (size_t i = 0; boxes->items != NULL && i < boxes->n; i++) {
        bytes_release(&boxes->items[i].bytes);
        bytes_release(&boxes->items[i].parts);
    }
    free(boxes->items);
    bytes_release(&boxes->list);
    bytes_release(&boxes->piece);
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
    const struct part part = {boxes->file.n_bytes, box->bytes.n_bytes};

    if (part.n_bytes == 0)
        return 0;
    if (bytes_append(&box->parts, &part, sizeof part, err) != 0 ||
        scratch_append(&boxes->file, box->bytes.data, part.n_bytes, err) != 0)
        return -1;
    boxes->held_nbytes -= part.n_bytes;
    bytes_release(&box->bytes);
    return 0;
}

void *boxes_add(struct boxes *boxes, const void *record, size_t n_bytes, struct error *err)
{
    const size_t step = boxes->record_nbytes;
    struct box *box = &boxes->items[boxes_of(boxes, *(const uint64_t *)record)];

    if (boxes->held_nbytes + step > boxes->max_nbytes && boxes->held_nbytes > 0) {
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
    uint8_t *to = bytes_reserve(&box->bytes, step, err);
    if (to == NULL)
        return NULL;
    memcpy(to, record, n_bytes);
    box->bytes.n_bytes += step;
    boxes->held_nbytes += step;
    return to + n_bytes;
}

static int compare_records(const void *left, const void *right)
{
    const uint64_t *a = left, *b = right;

    for (int i = 0; i < 3 && *a == *b; i++)
        a++, b++;
    return order_of(*a, *b);
}

/* Records mostly come in order of rows, so that many of one position are sorted already. */
static void sort_records(uint8_t *records, size_t n, size_t step)
{
    for (size_t i = 1; i < n; i++)
        if (compare_records(records + (i - 1) * step, records + i * step) > 0) {
            qsort(records, n, step, compare_records);
            return;
        }
}

/* Keys are hashes: among n records each has a place that its key tells, which it shares with few
 * others. */
static size_t place_of(const struct boxes *boxes, const uint8_t *record, size_t n)
{
    const uint64_t part = ((const struct key_value *)(const void *)record)->high * boxes->n;

    return (size_t)(((unsigned __int128)part * n) >> 64);
}

static int sort_by_key(const struct boxes *boxes, struct bytes *list, struct error *err)
{
    const size_t step = boxes->record_nbytes, n = list->n_bytes / step;
    size_t *ends = calloc(n + 2, sizeof *ends);
    uint8_t *sorted = malloc(list->n_bytes + 1);

    if (ends == NULL || sorted == NULL) {
        free(ends);
        free(sorted);
        return error_no_memory(err, "keys of positions");
    }
    for (size_t i = 0; i < n; i++)
        ends[place_of(boxes, list->data + i * step, n) + 2]++;
    for (size_t i = 2; i <= n; i++)
        ends[i] += ends[i - 1];
    for (size_t i = 0; i < n; i++) {
        const uint8_t *record = list->data + i * step;

        memcpy(sorted + ends[place_of(boxes, record, n) + 1]++ * step, record, step);
    }
    for (size_t i = 0; i < n; i++)
        sort_records(sorted + ends[i] * step, ends[i + 1] - ends[i], step);
    free(ends);
    free(list->data);
    list->data = sorted;
    list->capacity = list->n_bytes + 1;
    return 0;
}

/* What a box by key holds in memory is not needed again. */
static void forget(struct boxes *boxes)
{
    struct box *box = &boxes->items[boxes->next_box - 1];

    boxes->held_nbytes -= box->bytes.n_bytes;
    bytes_release(&box->bytes);
}

/* Read the next records of the box at hand, as it was filled: a piece of them, none at its end. */
static int read_piece(struct boxes *boxes, struct box_place *place, struct error *err)
{
    const struct box *box = &boxes->items[boxes->next_box - 1];
    const struct part *parts = (const void *)box->parts.data;
    const bool is_in_file = place->part < box->parts.n_bytes / sizeof *parts;
    const uint64_t end = is_in_file ? parts[place->part].n_bytes : box->bytes.n_bytes;
    const uint64_t n_records = PIECE_NBYTES / boxes->record_nbytes + 1;
    const uint64_t n = smaller(n_records * boxes->record_nbytes, end - place->offset);

    boxes->piece.n_bytes = 0;
    if (n == 0)
        return 0;
    if (!is_in_file) {
        if (bytes_append(&boxes->piece, box->bytes.data + place->offset, n, err) != 0)
            return -1;
    } else {
        uint8_t *to = bytes_reserve(&boxes->piece, n, err);

        if (to == NULL ||
            scratch_read(&boxes->file, parts[place->part].offset + place->offset, to, n, err) != 0)
            return -1;
        boxes->piece.n_bytes = n;
    }
    place->offset += n;
    if (is_in_file && place->offset == end)
        *place = (struct box_place){.part = place->part + 1};
    return 0;
}

static bool is_often(const struct boxes *boxes, const uint8_t *record)
{
    return memcmp(record, &boxes->often, sizeof boxes->often) == 0;
}

/* Load a large box but for one key's records, which are still to come: if a key has more than half
 * of them it is that one, by votes for it and against it. */
static int load_others(struct boxes *boxes, struct error *err)
{
    const size_t step = boxes->record_nbytes;
    int64_t n_votes = 0;

    for (int pass = 0; pass < 2; pass++) {
        struct box_place place = {0};

        do {
            if (read_piece(boxes, &place, err) != 0)
                return -1;
            for (size_t at = 0; at < boxes->piece.n_bytes; at += step) {
                const uint8_t *record = boxes->piece.data + at;

                if (pass == 0 && n_votes == 0)
                    memcpy(&boxes->often, record, sizeof boxes->often);
                if (pass == 0)
                    n_votes += is_often(boxes, record) ? 1 : -1;
                else if (is_often(boxes, record))
                    boxes->n_left++;
                else if (bytes_append(&boxes->list, record, step, err) != 0)
                    return -1;
            }
        } while (boxes->piece.n_bytes > 0);
    }
    boxes->n_often = boxes->n_left;
    boxes->place = (struct box_place){0};
    return sort_by_key(boxes, &boxes->list, err);
}

/* The next records of the key that has many. */
static ssize_t next_often(struct boxes *boxes, const void **records, struct error *err)
{
    const size_t step = boxes->record_nbytes;
    size_t n = 0;

    while (n == 0) {
        if (read_piece(boxes, &boxes->place, err) != 0)
            return -1;
        for (size_t at = 0; at < boxes->piece.n_bytes; at += step)
            if (is_often(boxes, boxes->piece.data + at))
                memmove(boxes->piece.data + n++ * step, boxes->piece.data + at, step);
    }
    boxes->n_before = boxes->n_often - boxes->n_left;
    boxes->n_more = boxes->n_left -= n;
    *records = boxes->piece.data;
    return (ssize_t)n;
}

void boxes_again(struct boxes *boxes)
{
    boxes->n_left = boxes->n_often;
    boxes->place = (struct box_place){0};
}

ssize_t boxes_next(struct boxes *boxes, const void **records, struct error *err)
{
    const size_t step = boxes->record_nbytes,
                 n_alike = boxes->n_rows > 0 ? sizeof(uint64_t) : sizeof(struct key_value);
    struct bytes *list = &boxes->list;

    boxes->n_before = boxes->n_more = 0;
    while (boxes->at == list->n_bytes) {
        boxes->at = list->n_bytes = 0;
        if (boxes->n_left > 0)
            return next_often(boxes, records, err);
        if (boxes->n_often > 0)
            forget(boxes);
        boxes->n_often = 0;
        if (boxes->next_box == boxes->n) {
            boxes->next_box = 0;
            return 0;
        }

        struct box *box = &boxes->items[boxes->next_box++];
        const struct part *parts = (const void *)box->parts.data;
        uint64_t n_bytes = box->bytes.n_bytes;

        for (size_t i = 0; i < box->parts.n_bytes / sizeof *parts; i++)
            n_bytes += parts[i].n_bytes;
        if (boxes->in_parts && n_bytes > boxes->max_nbytes / 2) {
            if (load_others(boxes, err) != 0)
                return -1;
            continue;
        }
        for (size_t i = 0; i < box->parts.n_bytes / sizeof *parts; i++) {
            uint8_t *to = bytes_reserve(list, parts[i].n_bytes, err);

            if (to == NULL ||
                scratch_read(&boxes->file, parts[i].offset, to, parts[i].n_bytes, err) != 0)
                return -1;
            list->n_bytes += parts[i].n_bytes;
        }
        if (bytes_append(list, box->bytes.data, box->bytes.n_bytes, err) != 0)
            return -1;
        if (boxes->n_rows == 0) {
            forget(boxes);
            if (sort_by_key(boxes, list, err) != 0)
                return -1;
        } else if (list->n_bytes > 0) {
            sort_records(list->data, list->n_bytes / step, step);
        }
    }
    const uint8_t *first = list->data + boxes->at, *end = first;
    do
        end += step;
    while (end < list->data + list->n_bytes && memcmp(end, first, n_alike) == 0);
    boxes->at += (size_t)(end - first);
    *records = first;
    return (end - first) / (ssize_t)step;
}
