/* zlib.c - the reference codec: zlib's deflate at levels 1 to 9. */
#include "codec/codecs.h"

#include <stdlib.h>
#include <zlib.h>

/*
 * zlib stores what it cannot compress in blocks of at least 16 KiB - 1 symbols with 5 bytes of
 * overhead each: less than one part in 2048, plus the flush marker and the bits in front of it.
 */
static size_t zlib_bound(size_t n_bytes)
{
    return n_bytes + (n_bytes >> 11) + 64;
}

static void zlib_state_free(void *state)
{
    if (state == NULL)
        return;
    deflateEnd(state);
    free(state);
}

static void *zlib_state_new(const struct codec_choice *choice, struct error *err)
{
    z_stream *z = calloc(1, sizeof *z);

    /* Window and memory level as in every zip writer: the bytes are those of plain zlib. */
    if (z == NULL ||
        deflateInit2(z, choice->level, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
        free(z);
        error_no_memory(err, "state of the zlib codec");
        return NULL;
    }
    return z;
}

static size_t zlib_encode(void *state, const uint8_t *piece, size_t n_bytes, size_t history_nbytes,
                          bool last, uint8_t *out, struct error *err)
{
    z_stream *z = state;
    int result;

    if (codec_check_piece(n_bytes, err) < 0)
        return 0;
    result = deflateReset(z);
    if (result == Z_OK && history_nbytes > 0)
        result = deflateSetDictionary(z, piece - history_nbytes, (uInt)history_nbytes);
    if (result != Z_OK)
        goto failed;
    z->next_in = (z_const Bytef *)piece;
    z->avail_in = (uInt)n_bytes;
    z->next_out = out;
    z->avail_out = (uInt)zlib_bound(n_bytes);
    result = deflate(z, last ? Z_FINISH : Z_SYNC_FLUSH);
    /* With room left, a flush is complete. */
    if (result == (last ? Z_STREAM_END : Z_OK) && z->avail_in == 0 && z->avail_out > 0)
        return (size_t)(z->next_out - out);
failed:
    error_set(err, ERROR_INTERNAL, "zlib cannot encode a piece of %zu bytes (%d)", n_bytes, result);
    return 0;
}

const struct codec codec_zlib = {
    .name = "zlib",
    .library = "zlib",
    .bound = zlib_bound,
    .state_new = zlib_state_new,
    .state_free = zlib_state_free,
    .encode = zlib_encode,
};
