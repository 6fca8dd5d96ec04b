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
    uint8_t *text;  /* owned: what is hashed: the head, and */
    uint8_t *bytes; /* in text: the canonical image's key bytes, once key_canonical has run */
};

/* The transforms that give exact images under the conventions, ascending; returns their number. */
uint32_t key_ids(const struct board *board, const struct conventions *conventions,
                 uint8_t ids[BOARD_MAX_TRANSFORMS]);

/* A key without arrays; board_name is the board's canonical name. */
int key_init(struct key *key, const struct board *board, const char *board_name,
             const struct conventions *conventions, struct error *err);

/* Add an array with its spec, in any order; both are read now and borrowed no longer. */
int key_add(struct key *key, const struct array *array, const struct spec *spec, struct error *err);

/* After the last array. */
int key_finish(struct key *key, struct error *err);
void key_release(struct key *key);

int key_room_init(struct key_room *room, const struct key *key, struct error *err);
void key_room_release(struct key_room *room);

/* The transform that leads to the canonical image of a row: rows[i] is that of arrays[i] in the
 * order in which they were added. Its key bytes are in room->bytes afterwards. */
uint32_t key_canonical(const struct key *key, const uint8_t *const *rows, struct key_room *room);

/* The key of a row. */
struct key_value key_of(const struct key *key, const uint8_t *const *rows, struct key_room *room);

#endif
