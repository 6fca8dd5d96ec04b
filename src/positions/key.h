/*
 * key.h - one key shared by all images of a position, and the choice of the canonical image.
 *
 * The key bytes of a row are its on-board elements, array by array (sorted by name), in C order,
 * little-endian, with -0.0 as 0.0; packed planes are bytes whose pad bits are 0. The canonical
 * image is the one whose key bytes, compared as unsigned bytes, are smallest; among equal images,
 * the one under the lowest transform. The key is the XXH3-128 of a description of the arrays
 * (board, names, types, shapes) followed by the canonical image's key bytes: the same on every
 * machine.
 */
#pragma once

#include "engine/plan.h"
#include "shard/batch.h"

/* 128 bits, written with `high` first. */
struct key_value {
    uint64_t high, low;
};

struct key_array {
    char *name;         /* owned; the first field, since arrays are sorted by it */
    struct dtype from;  /* of its rows */
    struct dtype dtype; /* to which they are converted; little-endian */
    char shape[256];
    size_t index;     /* among the arrays of its plan */
    struct spec spec; /* a copy; its maps are borrowed from the plan */

    /* The guises of a row: as it is, with colours swapped, or with a tile's numbers in one of five
     * other orders. Its steps, owned, compute what transforms do, but move nothing. */
    struct spec guises;
    bool is_bits;
    bool is_converted;    /* to another set's type, not just to little-endian */
    bool is_plain;        /* the key bytes of the first image are those of the row */
    size_t item;          /* bytes per element of a row in a room: 1 for bits */
    uint64_t n_in, n_out; /* elements of the row, and of its key bytes */
    uint64_t out_nbytes;
    uint64_t first, last; /* AXIS, BITS: the planes that count */
    uint32_t *src;        /* owned, n_out per id: the element of the row that each is */
    uint8_t *guise;       /* owned, one per id */
    uint64_t row_offset;  /* in a room, of its row in each guise */
};

struct key {
    const struct board *board; /* borrowed */
    char *board_name;          /* owned */
    uint8_t ids[BOARD_MAX_TRANSFORMS];
    uint32_t n_ids;           /* transforms whose images are the same position; ids ascend */
    struct key_array *arrays; /* owned, sorted by name */
    size_t n_arrays;
    uint64_t n_bytes;     /* of the key bytes */
    uint64_t room_nbytes; /* of the rows in a room */
    struct bytes head;    /* owned: the description of the arrays, as it is hashed */
};

/* The transforms that take a row to its canonical image: bit i stands for ids[i]. */
struct key_ties {
    uint64_t bits[(BOARD_MAX_TRANSFORMS + 63) / 64];
};

static inline bool key_ties_have(const struct key_ties *ties, uint32_t i)
{
    return ties->bits[i / 64] >> i % 64 & 1;
}

/* Working space for one row; each thread needs its own. */
struct key_room {
    uint8_t *rows;                  /* owned: the row's elements in every guise, followed by */
    const uint8_t **from;           /* a list: the caller's row of each array of the key, */
    uint8_t *text;                  /* and what is hashed: the head followed by */
    uint8_t *bytes;                 /* the key bytes of an image */
    struct bytes moved;             /* a row moved, between calls the caller's */
    struct key_ties ties;           /* of the last row */
    const struct key_array *misfit; /* the array that makes it no row of a position, and */
    struct error why;               /* last: it keeps the rooms of threads apart in caches */
};

/* A set whose key arrays a plan's must match. */
struct key_like {
    const struct key *key;
    const char *path;
    bool converts; /* rows of other types, which are refused where a value would change */
};

/*
 * Make the key of a plan's positions: which arrays it covers, by role or --key, and what transforms
 * do to them. ERROR_DATA when there is no such array, when one cannot be part of a key, or when
 * they do not match those of `like` (NULL: none); ERROR_USAGE when --key is wrong. Release the key
 * in any case; it can read rows only while the plan exists.
 */
int key_of_plan(struct key *key, const struct plan *plan, const struct key_like *like,
                struct error *err);

/* Record for the manifest which arrays make up the position. */
int key_note(struct plan *plan, const struct key *key, struct error *err);

void key_release(struct key *key);

int key_room_init(struct key_room *room, const struct key *key, struct error *err);
void key_room_release(struct key_room *room);

/* The key of a row, of which room->from[i] is the part in key->arrays[i]. Leaves the canonical
 * image's key bytes in room->bytes, and the transforms to that image in room->ties. Where a number
 * cannot be converted exactly, or a tile has no numbers to permute, room->misfit is set and the key
 * means nothing. */
struct key_value key_of(const struct key *key, struct key_room *room);

/* After key_of: the key as it would be if the image under ids[id] were the canonical one. Leaves
 * that image's key bytes in room->bytes. */
struct key_value key_of_image(const struct key *key, const struct key_room *room, uint32_t id);

/* The lowest transform among a row's ties. */
static inline uint32_t key_lowest_tie(const struct key *key, const struct key_ties *ties)
{
    uint32_t i = 0;

    while (!key_ties_have(ties, i))
        i++;
    return key->ids[i];
}

/* --- the keys of a plan's rows --- */

/* An array that is read in step with the key's. */
struct key_beside {
    const struct array *const *sources; /* borrowed: in each input */
    const struct spec *spec; /* borrowed: its rows, moved into the canonical image, are hashed;
                                NULL: they are only read */
};

/*
 * A walk through all rows of a plan, chunk by chunk, with their keys. Set the first fields and zero
 * the others:
 *
 *     key_rows_begin(&rows, err);
 *     while (key_rows_next(&rows))
 *         use found[i] of row rows.walk.first + i, for each i below rows.walk.n;
 *     status = key_rows_end(&rows);
 *
 * Chunks do not depend on the number of threads. One thread at a time.
 */
struct key_rows {
    const struct plan *plan; /* borrowed, as are the next two */
    const struct key *key;
    const struct key_beside *beside; /* n_beside; or NULL */
    size_t n_beside;
    struct sorter *sorters[2]; /* borrowed: each gets a record of each row; or NULL. With the second
                                  one, rows also have exact keys. */

    struct walk walk; /* status: set it to -1, with an error, to end it */
    void *records[2]; /* room for those of the chunk in each sorter, for the caller to fill */
    struct key_found {
        struct key_value key, exact; /* exact: of the row as it stands */
        struct key_ties ties;
        uint64_t hash; /* of the arrays that are hashed, in which -0.0 counts as 0.0 */
    } * found;         /* owned: of the chunk */

    struct key_room *rooms; /* owned: one per worker */
};

void key_rows_begin(struct key_rows *rows, struct error *err);

/* Go to the next chunk. False at the end, and with ERROR_DATA, naming the row, where a number is
 * not exact in another set's type, or kernel_row refuses a row. */
bool key_rows_next(struct key_rows *rows);

/* The chunk's rows of array i beside the key's. */
static inline const struct batch *key_rows_beside(const struct key_rows *rows, size_t i)
{
    return &rows->walk.batches[rows->key->n_arrays + i];
}

/* Free what it owns. Returns -1 when it has failed. */
int key_rows_end(struct key_rows *rows);

/* All of the above: call use_row for each row, several at once. */
int key_rows_each(struct key_rows *rows, walk_do use_row, void *self, struct error *err);
