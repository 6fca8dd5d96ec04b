/*
 * isal.c - ISA-L's deflate at level 1: several times faster than zlib:1 at about the same size.
 *
 * Pieces do not use the history in front of them: as a dictionary it saves less than 0.5 % even of
 * pieces of 128 KiB, and costs up to a third of the speed. But ISA-L 2.30 without any dictionary
 * hashes the address of its state where it should hash the second position: about one piece in
 * 8192 comes out differently with another state. So the first byte of each piece is stored and then
 * given as the dictionary of the rest.
 */
#include "codec/codecs.h"

#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#include <stdlib.h>

struct isal_state {
    struct isal_zstream stream;
    uint8_t level_buffer[ISAL_DEF_LVL1_DEFAULT];
};

static size_t isal_bound(size_t n_bytes)
{
    return n_bytes + (n_bytes >> 10) + 512;
}

static void *isal_state_new(const struct codec_choice *choice, struct error *err)
{
    struct isal_state *state = calloc(1, sizeof *state);

    if (state == NULL) {
        error_no_memory(err, "state of the isal codec");
        return NULL;
    }
    isal_deflate_init(&state->stream);
    state->stream.level = (uint32_t)choice->level;
    state->stream.level_buf = state->level_buffer;
    state->stream.level_buf_size = sizeof state->level_buffer;
    state->stream.flush = SYNC_FLUSH;
    return state;
}

/* Blocks of all but the first byte of a piece, and an empty stored block, which aligns. Returns the
 * size, 0 on failure. */
static size_t encode_rest(struct isal_zstream *z, const uint8_t *piece, size_t n_bytes,
                          uint8_t *out, size_t out_nbytes)
{
    isal_deflate_reset(z);
    /* ISA-L's pointers lack const; it does not write through these. */
    if (isal_deflate_set_dict(z, (uint8_t *)piece, 1) != COMP_OK)
        return 0;
    z->next_in = (uint8_t *)piece + 1;
    z->avail_in = (uint32_t)(n_bytes - 1);
    z->next_out = out;
    z->avail_out = (uint32_t)out_nbytes;
    if (isal_deflate(z) != COMP_OK || z->avail_in > 0 || z->avail_out == 0)
        return 0;
    return (size_t)(z->next_out - out);
}

static size_t isal_encode(void *state, const uint8_t *piece, size_t n_bytes, size_t history_nbytes,
                          bool last, uint8_t *out, struct error *err)
{
    static const uint8_t stored_byte[] = {0x00, 0x01, 0x00, 0xfe, 0xff}; /* the byte follows */
    struct isal_state *s = state;
    size_t used, n_rest;

    (void)history_nbytes;
    if (codec_check_piece(n_bytes, err) < 0)
        return 0;
    if (n_bytes == 0)
        return last ? codec_put_end_block(out, 0) : codec_put_open_block(out, 0);
    memcpy(out, stored_byte, sizeof stored_byte);
    used = sizeof stored_byte;
    out[used++] = piece[0];
    if (n_bytes > 1) {
        n_rest = encode_rest(&s->stream, piece, n_bytes, out + used,
                             isal_bound(n_bytes) - used - CODEC_END_BLOCK_NBYTES);
        if (n_rest == 0) {
            error_set(err, ERROR_INTERNAL, "ISA-L cannot encode a piece of %zu bytes", n_bytes);
            return 0;
        }
        used += n_rest;
    }
    return last ? codec_put_end_block(out, used) : used;
}

const struct codec codec_isal = {
    .name = "isal",
    .library = "ISA-L",
    .bound = isal_bound,
    .state_new = isal_state_new,
    .state_free = free,
    .encode = isal_encode,
};
#endif
