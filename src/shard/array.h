/*
 * array.h - one array of a shard, as its container describes it.
 */
#ifndef SYMAUG_SHARD_ARRAY_H
#define SYMAUG_SHARD_ARRAY_H

#include "base/input.h"
#include "codec/codec.h"
#include "npy/header.h"
#include "npy/pickle.h"

#include <stdbool.h>
#include <stdint.h>

struct array {
    char *key;                     /* owned: the name numpy gives it (no ".npy") */
    char *member;                  /* owned: its name in the container, as written */
    const struct input *input;     /* borrowed from the archive: where its bytes are */
    uint64_t offset;               /* of its first (packed) byte in the input */
    uint64_t packed_nbytes;        /* in the container */
    uint64_t unpacked_nbytes;      /* .npy header and data */
    uint32_t crc;                  /* of the unpacked bytes, when has_crc */
    bool has_crc;                  /* false for plain .npy files */
    const struct decoder *decoder; /* static; NULL: its bytes are stored */
    bool is_left_out; /* asked for when it was opened: nothing below is known, nor checked */

    struct npy_header header; /* parsed; owned */
    uint64_t n_rows;          /* header.shape[0]; 0 for 0-d arrays */
    uint64_t row_nbytes;      /* bytes of one row, 0 for objects and 0-d arrays */
    uint8_t *scalar;          /* owned: the data of a small 0-d string or integer that could be
                                 read (its CRC is right), else NULL */

    /* Object arrays of one or more dimensions, after array_load_objects. */
    uint8_t *pickle_bytes;           /* owned */
    struct pickle_document *objects; /* owned */
};

/* The text of a 0-d unicode or bytes array ("hex8") as UTF-8 in `text`, empty and -1 (no error)
 * when the array is none, its contents are damaged, or it does not fit. */
int array_read_string(const struct array *array, char *text, size_t n_bytes);

/* The value of a 0-d integer array; -1 (no error) when the array is none or damaged. */
int array_read_int(const struct array *array, int64_t *value);

/* True when the elements' order in the file is not C order: rows cannot be read in sequence.
 * (Fortran order means nothing to arrays of one dimension, or with one dimension of more than 1.)
 */
bool array_is_fortran(const struct array *array);

/* The array as the place of an error: "FILE: MEMBER", or "FILE" where the file is the array. */
struct error_place array_place(const struct array *array);

/*
 * Refuse an array: ERROR_DATA "FILE: MEMBER: ..." ("FILE: ..." for a .npy file), printf-style.
 * Returns -1.
 */
int array_fail(const struct array *array, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Pass on what is wrong with a row of the array, a reason alone: "FILE: MEMBER: row R: reason", of
 * its kind. */
int array_fail_row(const struct array *array, uint64_t row, const struct error *reason,
                   struct error *err);

/* Pass on an error whose message is a reason alone: "FILE: MEMBER: what: reason", of its kind. */
int array_fail_reason(const struct array *array, struct error *err, const struct error *reason,
                      const char *what);

/* Free what it owns; accepts a zeroed one. */
void array_release(struct array *array);

#endif
