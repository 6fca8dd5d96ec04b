/*
 * boxes.h - records put into boxes, by a key or by the number of a row, and given back box by box,
 * sorted: in memory while there is room, then in an unlinked temp file.
 */
#ifndef SYMAUG_POSITIONS_BOXES_H
#define SYMAUG_POSITIONS_BOXES_H

#include "base/bytes.h"
#include "positions/key.h"
#include "shard/scratch.h"

/* Set the first five fields, the others to 0, then open them. */
struct boxes {
    size_t n;             /* boxes */
    size_t record_nbytes; /* becomes a multiple of 16: records are aligned for any number */
    uint64_t n_rows;      /* that are put into boxes by their numbers; 0: by their keys */
    uint64_t max_nbytes;  /* in memory, of all boxes */
    const char *tmpdir;   /* borrowed */

    struct box *items; /* owned */
    uint64_t held_nbytes;
    struct scratch file;
    struct budget no_memory; /* but a folder for the file */
};

int boxes_open(struct boxes *boxes, struct error *err);
void boxes_release(struct boxes *boxes);

/* Into how many boxes so many records go, so that those of one, with record_nbytes each, need no
 * more than max_nbytes; a power of 2. */
size_t boxes_wanted(uint64_t n_records, uint64_t record_nbytes, uint64_t max_nbytes);

/* The box of a key, by its leading bits, and that of a row: neighbours are in one box. */
static inline size_t boxes_of_key(const struct boxes *boxes, struct key_value key)
{
    return (size_t)(((unsigned __int128)key.high * boxes->n) >> 64);
}

static inline uint64_t boxes_rows_each(const struct boxes *boxes)
{
    return boxes->n_rows / boxes->n + 1;
}

static inline size_t boxes_of_row(const struct boxes *boxes, uint64_t row)
{
    return row / boxes_rows_each(boxes);
}

/* Room for a record at the end of a box, to be filled before the next call; NULL with err set. */
void *boxes_add(struct boxes *boxes, size_t box, struct error *err);

/* All records of a box in one list, sorted by the three numbers of 8 bytes that they begin with. Of
 * boxes by key (n_rows is 0) those in memory are gone then. */
int boxes_sorted(struct boxes *boxes, size_t box, struct bytes *list, struct error *err);

/* The end of the records of a sorted list that have the key of the one at `at`. */
static inline size_t boxes_end_of_key(const struct boxes *boxes, const struct bytes *list,
                                      size_t at)
{
    size_t end = at;

    do
        end += boxes->record_nbytes;
    while (end < list->n_bytes &&
           memcmp(list->data + end, list->data + at, sizeof(struct key_value)) == 0);
    return end;
}

#endif
