/*
 * unpack.c - the bytes of one array from first to last, stored or packed. They are copied out of
 * the input in chunks that fit a core's cache and decoded from the copy, so that the bytes that
 * were checked are the bytes that were used. The end is checked exactly: the sizes on both sides,
 * nothing left over, the CRC of what was delivered.
 */
#include "shard/array.h"

#include "codec/codec.h"

#define CHUNK_NBYTES (256u << 10) /* fits a core's L2 cache together with what becomes of it */
#define SKIP_NBYTES  (32u << 10)  /* read over at a time */

int unpack_start(struct unpack *unpack, const struct array *array, struct error *err)
{
    unpack->array = array;
    unpack->io = (struct decoding){0};
    unpack->packed_nbytes = 0;
    unpack->unpacked_nbytes = 0;
    unpack->released = array->offset; /* pages in front of it are not ours to release */
    unpack->crc = 0;
    if (array->decoder == NULL)
        return 0;
    const size_t n_bytes = (size_t)smaller(array->packed_nbytes, CHUNK_NBYTES);
    if (unpack->buffer_nbytes < n_bytes) {
        if (list_room(&unpack->buffer, n_bytes, 1, "input buffer", err) != 0)
            return -1;
        unpack->buffer_nbytes = n_bytes;
    }
    if (unpack->decoder == array->decoder) {
        unpack->decoder->reset(unpack->state);
        return 0;
    }
    if (unpack->decoder != NULL)
        unpack->decoder->state_free(unpack->state);
    unpack->state = array->decoder->state_new(err);
    unpack->decoder = unpack->state != NULL ? array->decoder : NULL;
    return unpack->state != NULL ? 0 : -1;
}

/* Decode until n_bytes are delivered or the stream ends; *left are still missing. */
static int decode_some(struct unpack *unpack, uint8_t *out, size_t n_bytes, size_t *left,
                       struct error *err)
{
    const struct array *array = unpack->array;
    struct decoding *const io = &unpack->io;
    struct error reason = {0};

    io->out = out;
    io->out_nbytes = n_bytes;
    while (!io->done && io->out_nbytes > 0) {
        const uint64_t offset = array->offset + unpack->packed_nbytes;
        const size_t n =
            (size_t)smaller(array->packed_nbytes - unpack->packed_nbytes, unpack->buffer_nbytes);

        if (io->in_nbytes == 0 && n > 0) {
            if (input_read(array->input, offset, unpack->buffer, n, err) != 0)
                return -1;
            unpack->packed_nbytes += n;
            io->in = unpack->buffer;
            io->in_nbytes = n;
            input_release_before(array->input, offset + n, &unpack->released);
        }
        /* even without input: the inflater may hold output that had no room before */
        if (array->decoder->decode(unpack->state, io, &reason) != 0)
            return array_fail_reason(array, err, &reason, "expected a deflate stream, found");
        if (!io->done && io->out_nbytes > 0 && io->in_nbytes == 0 &&
            unpack->packed_nbytes == array->packed_nbytes)
            return array_fail(array, err,
                              "expected the deflate stream to end within %" PRIu64 " bytes, "
                              "found no end",
                              array->packed_nbytes);
    }
    *left = io->out_nbytes;
    return 0;
}

int unpack_read(struct unpack *unpack, void *out, uint64_t n_bytes, struct error *err)
{
    const struct array *array = unpack->array;
    uint8_t *at = out;

    if (n_bytes > array->unpacked_nbytes - unpack->unpacked_nbytes)
        return array_fail(
            array, err,
            "expected at least %" PRIu64 " more bytes behind byte %" PRIu64 ", found %" PRIu64,
            n_bytes, unpack->unpacked_nbytes, array->unpacked_nbytes - unpack->unpacked_nbytes);
    while (n_bytes > 0) {
        const size_t n = (size_t)smaller(n_bytes, CHUNK_NBYTES);
        const uint64_t offset = array->offset + unpack->unpacked_nbytes;
        size_t left = 0;

        if (array->decoder != NULL ? decode_some(unpack, at, n, &left, err) != 0
                                   : input_read(array->input, offset, at, n, err) != 0)
            return -1;
        if (left > 0)
            return array_fail(array, err,
                              "expected to inflate to %" PRIu64 " bytes, found %" PRIu64,
                              array->unpacked_nbytes, unpack->unpacked_nbytes + (n - left));
        if (array->decoder == NULL)
            input_release_before(array->input, offset + n, &unpack->released);
        if (array->has_crc)
            unpack->crc = crc_update(unpack->crc, at, n);
        unpack->unpacked_nbytes += n;
        at += n;
        n_bytes -= n;
    }
    return 0;
}

int unpack_skip(struct unpack *unpack, uint64_t n_bytes, struct error *err)
{
    uint8_t scrap[SKIP_NBYTES];
    uint64_t n;

    for (; n_bytes > 0; n_bytes -= n) {
        n = smaller(n_bytes, sizeof scrap);
        if (unpack_read(unpack, scrap, n, err) != 0)
            return -1;
    }
    return 0;
}

int unpack_finish(struct unpack *unpack, struct error *err)
{
    const struct array *array = unpack->array;
    uint64_t unused = 0;
    size_t room = 1;
    uint8_t extra;

    if (unpack_skip(unpack, array->unpacked_nbytes - unpack->unpacked_nbytes, err) != 0)
        return -1;
    /* The declared number of bytes has come out: the stream must end here, and with it the data. */
    if (array->decoder != NULL && decode_some(unpack, &extra, 1, &room, err) != 0)
        return -1;
    if (room == 0)
        return array_fail(array, err, "expected to inflate to %" PRIu64 " bytes, found more",
                          array->unpacked_nbytes);
    if (array->decoder != NULL)
        unused = array->packed_nbytes - unpack->packed_nbytes + unpack->io.in_nbytes;
    if (unused != 0)
        return array_fail(array, err,
                          "expected the deflate stream to take %" PRIu64
                          " bytes, found its end after %" PRIu64,
                          array->packed_nbytes, array->packed_nbytes - unused);
    if (array->has_crc && unpack->crc != array->crc)
        return error_set_at(err, ERROR_DATA, ARRAY_PLACE(array, .code = ERROR_CODE_CRC),
                            "expected CRC %08x, found %08x", array->crc, unpack->crc);
    return 0;
}

void unpack_release(struct unpack *unpack)
{
    if (unpack->decoder != NULL)
        unpack->decoder->state_free(unpack->state);
    free(unpack->buffer);
    memset(unpack, 0, sizeof *unpack);
}
