/*
 * key.h - one key for all images of a position, and which of them is the canonical one.
 *
 * The key bytes of a row are its on-board elements, array by array (sorted by name), in C order,
 * little-endian, -0.0 as 0.0; packed planes as bytes whose pad bits are 0. The canonical image is
 * the one whose key bytes, compared as unsigned bytes, are smallest; of equal ones that of the
 * lowest transform. The key is XXH3-128 of what the arrays are (board, names, types, shapes) and of
 * the canonical image's key bytes: the same on every machine.
 */
#pragma once

#include "engine/plan.h"

/* 128 bits; written with `high` first. */
struct key_value {
    uint64_t high, low;
};

/* Of a row: as it is, colours swapped, or five orders of a tile's numbers. */
#define KEY_N_GUISES 8

/* What a guise computes. */
struct key_guise {
    enum label_op op;      /* of all elements, or */
    int64_t turn;          /* of this plane, which tells the player to move; -1: none */
    enum label_op turn_op; /* what becomes of its numbers */
    uint8_t number_src[3]; /* of tile codes */
};

struct key_array {
    char *name; /* owned; first: arrays are sorted by it */
    struct dtype dtype;
    char shape[256];
    size_t index;     /* among the arrays of its plan */
    struct spec spec; /* a copy, whose maps are the plan's */
    bool is_bits, is_big;
    bool is_plain;        /* the key bytes of the first image are those of the row */
    size_t item;          /* bytes of an element of the row as it is kept: 1 for bits */
    uint64_t n_in, n_out; /* elements of the row, and of the key bytes, */
    uint64_t out_nbytes;  /* which are so many */
    uint64_t first, last; /* AXIS, BITS: the planes that count */
    uint32_t *src;        /* owned, per id n_out: the element of the row */
    struct key_guise guises[KEY_N_GUISES];
    uint32_t n_guises;
    uint8_t *guise;      /* owned, per id */
    uint64_t row_offset; /* of its rows in the room: n_guises after one another */
};

struct key {
    const struct board *board; /* borrowed */
    char *board_name;          /* owned */
    uint8_t ids[BOARD_MAX_TRANSFORMS];
    uint32_t n_ids;           /* transforms whose images are the same position, ascending */
    struct key_array *arrays; /* owned, sorted by name */
    size_t n_arrays;
    uint64_t n_bytes;     /* of the key bytes */
    uint64_t room_nbytes; /* of rows in a room */
    struct bytes head;    /* owned: what the arrays are, as it is hashed */
};

/* The transforms that take a row to its canonical image: bit i stands for ids[i]. */
struct key_ties {
    uint64_t bits[(BOARD_MAX_TRANSFORMS + 63) / 64];
};

static inline bool key_ties_have(const struct key_ties *ties, uint32_t i)
{
    return ties->bits[i / 64] >> i % 64 & 1;
}

/* Space for one row: one per thread. */
struct key_room {
    const uint8_t **from; /* owned: for whom it is, a row of each array of the key */
    uint8_t *rows;        /* owned: a row's elements, plain and with the colours swapped */
    struct key_ties ties; /* of the last row */
    uint8_t *text;        /* owned: what is hashed: the head, and */
    uint8_t *bytes;       /* in text: an image's key bytes */
};

/* The transforms that give exact images under the conventions, ascending; returns their number. */
uint32_t key_ids(const struct board *board, const struct conventions *conventions,
                 uint8_t ids[BOARD_MAX_TRANSFORMS]);

/* Another set, with whose arrays a plan's must agree. */
struct key_like {
    const struct key *key;
    const char *path;
    bool converts; /* types may differ: rows are converted, as long as every value can be */
};

/*
 * The key of a plan's positions: which arrays, from their roles or --key, and what transforms do to
 * them. ERROR_DATA when there is no such array, when one cannot be part of a key, and when they are
 * not those of `like` (NULL: none). The caller releases it.
 */
int key_of_plan(struct key *key, const struct plan *plan, const struct key_like *like,
                struct error *err);

/* Keep for the manifest which arrays are the position. */
int key_note(struct plan *plan, const struct key *key, struct error *err);

void key_release(struct key *key);

int key_room_init(struct key_room *room, const struct key *key, struct error *err);
void key_room_release(struct key_room *room);

/* The key of a row: room->from[i] is its row in key->arrays[i]. The canonical
 * image's key bytes are in room->bytes afterwards, and what leads to it in room->ties. */
struct key_value key_of(const struct key *key, struct key_room *room);

/* After key_of: what the key would be if the image under ids[id] were the canonical one. Its key
 * bytes are in room->bytes afterwards. */
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

/* Rows first .. first + n - 1. */
struct key_rows {
    uint64_t first, n;
    struct key_value *keys;  /* one each */
    struct key_value *exact; /* the same of the rows alone, when asked for */
    struct key_ties *ties;
};

struct key_reader {
    const struct plan *plan; /* borrowed */
    const struct key *key;   /* borrowed */
    bool wants_exact;

    /* What the rows are wanted for: called by the leader, in order. */
    int (*visit)(void *self, const struct key_rows *rows, struct error *err);
    void *self;
};

/* Read all rows. The same calls in the same order, whatever the number of threads. */
int key_reader_run(const struct key_reader *reader, struct error *err);

/* What other arrays say of a row, as they are in its canonical image: a hash. Zero-initialise. */
struct key_hash {
    uint64_t value;
    struct bytes room; /* owned */
};

/* Add an array's row, which transform t takes to the canonical image; -0.0 as 0.0. */
int key_hash_add(struct key_hash *hash, const struct spec *spec, uint32_t t, const uint8_t *row,
                 struct error *err);
