/*
 * inflate.h - streaming raw inflate: ISA-L where the build has it, else zlib.
 */
#ifndef SYMAUG_CODEC_INFLATE_H
#define SYMAUG_CODEC_INFLATE_H

#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct inflate_stream; /* owned by the caller, opaque */

/* A new stream, or NULL (no memory). Free with inflate_free, which accepts NULL. */
struct inflate_stream *inflate_new(struct error *err);
void inflate_free(struct inflate_stream *stream);

/* Start again with a new raw deflate stream. */
void inflate_reset(struct inflate_stream *stream);

/*
 * Inflate from *in (*in_nbytes left) to *out (*out_nbytes left); all four are advanced. *done is
 * set when the final block has ended. Returns when the output is full, the input is used up, or
 * the stream has ended. ERROR_DATA with the reason alone on an invalid stream.
 */
int inflate_run(struct inflate_stream *stream, const uint8_t **in, size_t *in_nbytes, uint8_t **out,
                size_t *out_nbytes, bool *done, struct error *err);

#endif
