/*
 * array.h - one array of a shard, as its container describes it; its unpacked bytes from first to
 * last, checked at the end; and what is made of them: header, small values, objects.
 */
#pragma once

#include "base/input.h"
#include "base/text.h"
#include "codec/codec.h"
#include "npy/header.h"
#include "npy/pickle.h"

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

/* The array as the place of an error: "FILE: MEMBER", or "FILE" where the file is the array; with
 * other fields of the place, of which there must be one. */
#define ARRAY_PLACE(a, ...)                                                \
    (&(const struct error_place){.file = (a)->input->path,                 \
                                 .array = (a)->key,                        \
                                 .shown = (a)->has_crc ? (a)->member : "", \
                                 __VA_ARGS__})

/* Refuse an array: ERROR_DATA "FILE: MEMBER: ...", printf-style. -1. */
#define array_fail(array, err, ...) \
    error_set_at(err, ERROR_DATA, ARRAY_PLACE(array, .code = ERROR_CODE_NONE), __VA_ARGS__)

/* Pass on an error whose message is a reason alone: "FILE: MEMBER: what: reason", of its kind. */
#define array_fail_reason(array, err, reason, what)                                                \
    error_set_at(err, (reason)->kind, ARRAY_PLACE(array, .code = ERROR_CODE_NONE), "%s: %s", what, \
                 (reason)->message)

/* Free what it owns; accepts a zeroed one. */
void array_release(struct array *array);

/* --- the bytes of an array --- */

/* A reader. Zero-initialise it; it may be started again for one array after another and keeps its
 * buffers meanwhile. */
struct unpack {
    const struct array *array;     /* borrowed */
    const struct decoder *decoder; /* static: that of `state`; NULL: there is none yet */
    void *state;                   /* owned; kept from one packed array to the next */
    uint8_t *buffer;               /* owned: packed bytes */
    size_t buffer_nbytes;
    struct decoding io;       /* its input: packed bytes in the buffer that are not decoded yet */
    uint64_t packed_nbytes;   /* read from the input so far */
    uint64_t unpacked_nbytes; /* delivered so far */
    uint64_t released;        /* of the input's pages */
    uint32_t crc;             /* of the bytes delivered */
};

/* Begin at the array's first byte (its .npy header). */
int unpack_start(struct unpack *unpack, const struct array *array, struct error *err);

/* Deliver the next n_bytes. ERROR_DATA "FILE: MEMBER: ..." when there are not that many. */
int unpack_read(struct unpack *unpack, void *out, uint64_t n_bytes, struct error *err);

/* Read over the next n_bytes. */
int unpack_skip(struct unpack *unpack, uint64_t n_bytes, struct error *err);

/* Read what is left, then check that packed and unpacked sizes and the CRC are what the container
 * says. */
int unpack_finish(struct unpack *unpack, struct error *err);

/* Free the buffers; accepts a zeroed one. */
void unpack_release(struct unpack *unpack);

/* --- arrays from their bytes --- */

/*
 * Read the header at the front of `array`, whose place in the input is set, and fill header,
 * n_rows and row_nbytes. Data must be as long as the header says; less than a row more is a
 * warning. What does not begin with numpy's magic string is an error when must_be_array, else 1 is
 * returned. `unpack` is a reader to work with.
 */
int array_parse(struct array *array, struct unpack *unpack, bool must_be_array,
                struct warnings *warnings, struct error *err);

/*
 * The same for an array whose header is in no file: from its dtype as Python source and its shape.
 * Its place in the input and unpacked_nbytes are those of the data alone.
 */
int array_describe(struct array *array, const char *descr, const uint64_t *shape, unsigned n_dims,
                   struct error *err);

/*
 * Inflate and parse an object array's pickle (1-d and up), once; checks CRC, sizes, and that the
 * pickle's shape is the header's. Message: "FILE: MEMBER: ...".
 */
int array_load_objects(struct array *array, struct error *err);

/* Free what it read; accepts an array without objects. */
void array_forget_objects(struct array *array);

/* All unpacked bytes (header and data) of an array into out, CRC and size checked; out has
 * unpacked_nbytes, or is NULL where only the check is wanted. Message: "FILE: MEMBER: ...". */
int array_read_all(const struct array *array, uint8_t *out, struct error *err);
