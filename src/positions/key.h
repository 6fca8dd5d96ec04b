/*
 * key.h - one key for all images of a position, and which of them is the canonical one.
 *
 * The key bytes of a row are its on-board elements, array by array (sorted by name), in C order,
 * little-endian, -0.0 as 0.0; packed planes as bytes whose pad bits are 0. The canonical image is
 * the one whose key bytes, compared as unsigned bytes, are smallest; of equal ones that of the
 * lowest transform. The key is XXH3-128 of what the arrays are (board, names, types, shapes) and of
 * the canonical image's key bytes: the same on every machine.
 */
#ifndef SYMAUG_POSITIONS_KEY_H
#define SYMAUG_POSITIONS_KEY_H

#include "shard/array.h"
#include "shard/spec.h"

/* 128 bits; written with `high` first. */
struct key_value {
    uint64_t high, low;
};

struct key_array;

/* Planes first .. last of an array. */
struct key_planes {
    uint64_t first, last;
};

/* An array that is part of the position. All borrowed, and read only when it is added. */
struct key_input {
    const struct array *array;
    const struct dtype *dtype; /* what rows were converted to; NULL: the array's own */
    const struct spec *spec;
    const struct key_planes *planes; /* the planes that count; NULL: all */
};

struct key {
    const struct board *board; /* borrowed */
    char *board_name;          /* owned */
    uint8_t ids[BOARD_MAX_TRANSFORMS];
    uint32_t n_ids;           /* transforms whose images are the same position, ascending */
    struct key_array *arrays; /* owned, sorted by name */
    size_t n_arrays;
    uint64_t n_bytes; /* of the key bytes */
    char *head;       /* owned: what the arrays are, as it is hashed */
    size_t head_nbytes;
};

/* Space for one row: one per thread. */
struct key_room {
    uint8_t *rows;  /* owned: a row's elements, plain and with the colours swapped */
    uint8_t *ties;  /* owned: bit i: the image under ids[i] is the canonical one */
    uint8_t *text;  /* owned: what is hashed: the head, and */
    uint8_t *bytes; /* in text: the canonical image's key bytes, once key_canonical has run */
};

/* The transforms that give exact images under the conventions, ascending; returns their number. */
uint32_t key_ids(const struct board *board, const struct conventions *conventions,
                 uint8_t ids[BOARD_MAX_TRANSFORMS]);

/* A key without arrays; board_name is the board's canonical name. */
int key_init(struct key *key, const struct board *board, const char *board_name,
             const struct conventions *conventions, struct error *err);

/* Add an array, in any order. ERROR_USAGE when a transform leads out of its planes. */
int key_add(struct key *key, const struct key_input *in, struct error *err);

/* After the last array. */
int key_finish(struct key *key, struct error *err);
void key_release(struct key *key);

int key_room_init(struct key_room *room, const struct key *key, struct error *err);
void key_room_release(struct key_room *room);

/* The transform that leads to the canonical image of a row: rows[i] is that of arrays[i] in the
 * order in which they were added. Its key bytes are in room->bytes afterwards. */
uint32_t key_canonical(const struct key *key, const uint8_t *const *rows, struct key_room *room);

/* The key of a row; room is left as by key_canonical. */
struct key_value key_of(const struct key *key, const uint8_t *const *rows, struct key_room *room);

/* After key_of: what the key of the row were if it had no other image. */
struct key_value key_of_image(const struct key *key, struct key_room *room);

/* Bytes of a room's ties. */
static inline size_t key_ties_nbytes(const struct key *key)
{
    return key->n_ids / 8 + 1;
}

/* The number (in ids) of the lowest transform among a row's ties. */
static inline uint32_t key_lowest_tie(const uint8_t *ties)
{
    uint32_t i = 0;

    while (!(ties[i / 8] >> i % 8 & 1))
        i++;
    return i;
}

const char *key_array_name(const struct key *key, size_t i);
const struct dtype *key_array_dtype(const struct key *key, size_t i);

/* The name of an array, in the order of names, and its type and row shape: "<f4 (3, 9, 9)". */
#define KEY_ARRAY_NBYTES 320
const char *key_array_text(const struct key *key, size_t i, char text[KEY_ARRAY_NBYTES]);

#endif
