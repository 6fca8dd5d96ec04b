/*
 * isal.c - ISA-L's deflate at level 1: several times faster than zlib:1 at about the same size.
 *
 * Pieces do not use the history in front of them: as a dictionary it saves less than 0.5 % even of
 * pieces of 128 KiB, and costs up to a third of the speed.
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

/* The piece's blocks and an empty stored block, which aligns. Returns 0 on failure. */
static size_t encode_flushed(struct isal_zstream *z, const uint8_t *piece, size_t n_bytes,
                             uint8_t *out)
{
    isal_deflate_reset(z);
    z->next_in = (uint8_t *)piece; /* ISA-L does not write through it */
    z->avail_in = (uint32_t)n_bytes;
    z->next_out = out;
    z->avail_out = (uint32_t)isal_bound(n_bytes) - CODEC_END_BLOCK_NBYTES;
    if (isal_deflate(z) != COMP_OK || z->avail_in > 0 || z->avail_out == 0)
        return 0;
    return (size_t)(z->next_out - out);
}

static size_t isal_encode(void *state, const uint8_t *piece, size_t n_bytes, size_t history_nbytes,
                          bool last, uint8_t *out, struct error *err)
{
    struct isal_state *s = state;
    size_t used = 0;

    (void)history_nbytes;
    if (codec_check_piece(n_bytes, err) < 0)
        return 0;
    if (n_bytes > 0) {
        used = encode_flushed(&s->stream, piece, n_bytes, out);
        if (used == 0) {
            error_set(err, ERROR_INTERNAL, "ISA-L cannot encode a piece of %zu bytes", n_bytes);
            return 0;
        }
    } else if (!last) {
        return codec_put_open_block(out, 0);
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
