/*
 * unpack.h - the unpacked bytes of one array at a time, from first to last, checked at the end; and
 * what arrays are made of: headers, small values, objects.
 */
#ifndef SYMAUG_SHARD_UNPACK_H
#define SYMAUG_SHARD_UNPACK_H

#include "codec/codec.h"
#include "shard/array.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A reader. Zero-initialise it; it may be started again for one array after another and keeps its
 * buffers meanwhile. */
struct unpack {
    const struct array *array;     /* borrowed */
    const struct decoder *decoder; /* static: that of `state`; NULL: there is none yet */
    void *state;                   /* owned; kept from one packed array to the next */
    uint8_t *buffer;               /* owned: packed bytes, or unpacked ones that nobody wants */
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

struct warnings; /* base/text.h */

/*
 * Read the header at the front of `array`, whose place in the input is set, and fill header,
 * n_rows and row_nbytes. Data must be as long as the header says; less than a row more is a
 * warning. A member that does not begin with numpy's magic string is an error when
 * must_be_array, else *is_array is false. `unpack` is a reader to work with.
 */
int array_parse(struct array *array, struct unpack *unpack, bool must_be_array, bool *is_array,
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
int array_load_objects(struct array *array, const struct pickle_limits *limits, struct error *err);

/* All unpacked bytes (header and data) of an array into out, CRC and size checked; out has
 * unpacked_nbytes. Message: "FILE: MEMBER: ...". */
int array_read_all(const struct array *array, uint8_t *out, struct error *err);

/* Read all of an array, and check its size and CRC. Message: "FILE: MEMBER: ...". */
int array_check(const struct array *array, struct error *err);

#endif
