/* inflate_zlib.c - raw inflate through zlib, for builds without ISA-L. */
#include "codec/inflate.h"

#ifndef HAVE_ISAL
#include <stdlib.h>
#include <zlib.h>

/* zlib counts in unsigned int: longer runs are made in steps. */
enum { STEP_NBYTES = 1 << 30 };

struct inflate_stream {
    z_stream zlib;
};

struct inflate_stream *inflate_new(struct error *err)
{
    struct inflate_stream *stream = calloc(1, sizeof *stream);

    if (stream == NULL || inflateInit2(&stream->zlib, -MAX_WBITS) != Z_OK) {
        free(stream);
        error_no_memory(err, "state of inflate");
        return NULL;
    }
    return stream;
}

void inflate_free(struct inflate_stream *stream)
{
    if (stream == NULL)
        return;
    inflateEnd(&stream->zlib);
    free(stream);
}

void inflate_reset(struct inflate_stream *stream)
{
    inflateReset(&stream->zlib);
}

static uInt step_of(size_t n_bytes)
{
    return n_bytes < STEP_NBYTES ? (uInt)n_bytes : STEP_NBYTES;
}

int inflate_run(struct inflate_stream *stream, const uint8_t **in, size_t *in_nbytes, uint8_t **out,
                size_t *out_nbytes, bool *done, struct error *err)
{
    z_stream *z = &stream->zlib;
    uint8_t nowhere; /* zlib wants an address even for no output */

    *done = false;
    do {
        const uInt in_step = step_of(*in_nbytes), out_step = step_of(*out_nbytes);
        int result;

        z->next_in = (z_const Bytef *)*in;
        z->avail_in = in_step;
        z->next_out = out_step > 0 ? *out : &nowhere;
        z->avail_out = out_step;
        result = inflate(z, Z_NO_FLUSH);
        *in += in_step - z->avail_in;
        *in_nbytes -= in_step - z->avail_in;
        *out += out_step - z->avail_out;
        *out_nbytes -= out_step - z->avail_out;
        if (result == Z_STREAM_END)
            *done = true;
        else if (result == Z_MEM_ERROR)
            return error_no_memory(err, "window of inflate");
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return error_set(err, ERROR_DATA, "invalid deflate data");
    } while (!*done && *in_nbytes > 0 && *out_nbytes > 0);
    return 0;
}
#endif
