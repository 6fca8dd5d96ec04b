/*
 * unpack.h - the unpacked bytes of one array at a time, from first to last, checked at the end.
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

#endif
