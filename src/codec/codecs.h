/*
 * codecs.h - the rows of the codec table, and what the encoders share. Internal to src/codec.
 */
#ifndef SYMAUG_CODEC_CODECS_H
#define SYMAUG_CODEC_CODECS_H

#include "codec/codec.h"
#include "codec/grid.h" /* its rows */

#include <string.h>

extern const struct codec codec_zlib, codec_store;
#ifdef HAVE_ISAL
extern const struct codec codec_isal;
#endif

/* Blocks of raw deflate with no data in them. CODEC_OPEN_BLOCK ends byte-aligned and leaves the
 * stream open (an empty stored block), CODEC_END_BLOCK ends it (an empty fixed block). */
#define CODEC_OPEN_BLOCK "\x00\x00\x00\xff\xff"
#define CODEC_END_BLOCK  "\x03\x00"
enum { CODEC_OPEN_BLOCK_NBYTES = 5, CODEC_END_BLOCK_NBYTES = 2 };

/* Append one of them at a byte boundary; returns the new number of bytes in out. */
static inline size_t codec_put_open_block(uint8_t *out, size_t n_bytes)
{
    memcpy(out + n_bytes, CODEC_OPEN_BLOCK, CODEC_OPEN_BLOCK_NBYTES);
    return n_bytes + CODEC_OPEN_BLOCK_NBYTES;
}

static inline size_t codec_put_end_block(uint8_t *out, size_t n_bytes)
{
    memcpy(out + n_bytes, CODEC_END_BLOCK, CODEC_END_BLOCK_NBYTES);
    return n_bytes + CODEC_END_BLOCK_NBYTES;
}

/* Returns 0, or -1 with err set when a piece is over CODEC_PIECE_MAX_NBYTES. */
int codec_check_piece(size_t n_bytes, struct error *err);

#endif
