/*
 * array.h - one array of a shard: its place in the container, its unpacked bytes in sequence,
 * checked at the end, and what is parsed from them: header, small values, objects.
 */
#pragma once

#include "base/budget.h"
#include "base/input.h"
#include "codec/codec.h"
#include "npy/header.h"
#include "npy/pickle.h"

struct array {
    char *key;                     /* owned: the name numpy gives it (no ".npy") */
    char *member;                  /* owned: its name in the container, as written */
    const struct input *input;     /* borrowed from the archive: holds its bytes */
    uint64_t offset;               /* of its first (packed) byte in the input */
    uint64_t packed_nbytes;        /* in the container */
    uint64_t unpacked_nbytes;      /* .npy header and data */
    uint32_t crc;                  /* of the unpacked bytes, when has_crc */
    bool has_crc;                  /* false for plain .npy files */
    const struct decoder *decoder; /* static; NULL: its bytes are stored */
    bool is_left_out;              /* by request at opening: nothing below is read or checked */
    struct scratch held;           /* its unpacked bytes, if they are held in memory */

    struct npy_header header; /* parsed; owned */
    uint64_t n_rows;          /* header.shape[0]; 0 for 0-d arrays */
    uint64_t row_nbytes;      /* bytes of one row, 0 for objects and 0-d arrays */
    uint8_t *scalar;          /* owned: the data of a small, undamaged 0-d string or integer, else
                                 NULL */

    /* Object arrays of one or more dimensions, after array_load_objects. */
    size_t n_with_objects;           /* such arrays in its archive, which share memory; 0: 1 */
    uint8_t *pickle_bytes;           /* owned */
    struct pickle_document *objects; /* owned */
};

/* Write the text of a 0-d unicode or bytes array ("hex8") to `text` as UTF-8. -1 (no error set) and
 * an empty text if the array is of another kind, damaged, or too long. */
int array_read_string(const struct array *array, char *text, size_t n_bytes);

/* The value of a 0-d integer array; -1 (no error set) if the array is of another kind or damaged.
 */
int array_read_int(const struct array *array, int64_t *value);

/* True when the elements in the file are not in C order, so that rows cannot be read in sequence.
 * (With at most one dimension longer than 1, Fortran order is C order.) */
bool array_is_fortran(const struct array *array);

/* The place of an error in an array: "FILE: MEMBER", or "FILE" where the file is the array. Takes
 * one or more other fields of struct error_place. */
#define ARRAY_PLACE(a, ...)                                                \
    (&(const struct error_place){.file = (a)->input->path,                 \
                                 .array = (a)->key,                        \
                                 .shown = (a)->has_crc ? (a)->member : "", \
                                 __VA_ARGS__})

/* Refuse an array: ERROR_DATA "FILE: MEMBER: ...", printf-style. -1. */
#define array_fail(array, err, ...) \
    error_set_at(err, ERROR_DATA, ARRAY_PLACE(array, .code = ERROR_CODE_NONE), __VA_ARGS__)

/* Pass on an error whose message is a reason alone, as "FILE: MEMBER: what: reason". */
#define array_fail_reason(array, err, reason, what)                                                \
    error_set_at(err, (reason)->kind, ARRAY_PLACE(array, .code = ERROR_CODE_NONE), "%s: %s", what, \
                 (reason)->message)

void array_release(struct array *array);

/* --- the bytes of an array --- */

/* Delivers the bytes of an array in sequence. Zero-initialise; it can be started for one array
 * after another and keeps its buffers between them. */
struct unpack {
    const struct array *array;     /* borrowed */
    const struct decoder *decoder; /* static: that of `state`; NULL: none yet */
    void *state;                   /* owned; kept between packed arrays */
    uint8_t *buffer;               /* owned: packed bytes */
    size_t buffer_nbytes;
    struct decoding io;       /* input: packed bytes in the buffer not yet decoded */
    uint64_t packed_nbytes;   /* read from the input so far */
    uint64_t unpacked_nbytes; /* delivered so far */
    uint64_t released;        /* as input_release_before keeps it */
    uint32_t crc;             /* of the bytes delivered */
};

/* Begin at the array's first byte (its .npy header). */
int unpack_start(struct unpack *unpack, const struct array *array, struct error *err);

/* Deliver the next n_bytes to out, or skip them if out is NULL. ERROR_DATA "FILE: MEMBER: ..." if
 * there are not that many. */
int unpack_read(struct unpack *unpack, void *out, uint64_t n_bytes, struct error *err);

/* Skip what is left, then check packed and unpacked sizes and the CRC against the container. */
int unpack_finish(struct unpack *unpack, struct error *err);

void unpack_release(struct unpack *unpack);

/* Hold the unpacked bytes of a packed array in memory if the budget has room for them, so that it
 * is not unpacked each time it is read. Whoever reads it reports what is wrong with it. */
void array_hold(struct array *array, struct budget *budget);

/* --- arrays from their bytes --- */

/*
 * Read the header of `array`, whose place in the input is set, and fill header, n_rows, row_nbytes
 * and scalar. Data must be as long as the header says; an excess of less than a row is a warning. A
 * member that does not begin with numpy's magic string is an error if must_be_array, else 1 is
 * returned. `unpack` is working space.
 */
int array_parse(struct array *array, struct unpack *unpack, bool must_be_array,
                struct warnings *warnings, struct error *err);

/*
 * The same for an array without a header in the input, from its dtype as Python source and its
 * shape. Its place in the input and unpacked_nbytes are those of the data alone.
 */
int array_describe(struct array *array, const char *descr, const uint64_t *shape, unsigned n_dims,
                   struct error *err);

/*
 * Read the objects of an object array of one or more dimensions, unless that is done: checks CRC,
 * sizes, and that the pickle has the header's shape. Message: "FILE: MEMBER: ...".
 */
int array_load_objects(struct array *array, struct error *err);

/* Free the objects; accepts an array without them. */
void array_forget_objects(struct array *array);

/* Copy all unpacked bytes of an array, header and data, to out (unpacked_nbytes), and check CRC and
 * sizes; with out NULL only check. Message: "FILE: MEMBER: ...". */
int array_read_all(const struct array *array, uint8_t *out, struct error *err);
