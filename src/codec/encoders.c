/*
 * encoders.c - the plain encoders: store (as it is), zlib at levels 1 to 9, which is the reference,
 * and ISA-L at level 1, several times as fast as zlib:1 at about the same size.
 */
#include "codec/codec.h"

#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

/* Returns 0, or -1 with err set when a piece is over CODEC_PIECE_MAX_NBYTES. */
static int check_piece(size_t n_bytes, struct error *err)
{
    if (n_bytes <= CODEC_PIECE_MAX_NBYTES)
        return 0;
    return error_set(err, ERROR_INTERNAL, "a piece of %zu bytes is over the limit of %zu", n_bytes,
                     CODEC_PIECE_MAX_NBYTES);
}

/* --- store --- */

static size_t store_bound(size_t n_bytes)
{
    return n_bytes;
}

static void *store_state_new(const struct codec_choice *choice, struct error *err)
{
    void *state = malloc(1);

    (void)choice;
    if (state == NULL)
        error_no_memory(err, "state of the store codec");
    return state;
}

static size_t store_encode(void *state, const struct codec_piece *piece, uint8_t *out,
                           struct error *err)
{
    (void)state;
    if (check_piece(piece->n_bytes, err) < 0)
        return 0;
    if (piece->n_bytes > 0)
        memcpy(out, piece->bytes, piece->n_bytes);
    return piece->n_bytes;
}

const struct codec codec_store = {
    .name = "store",
    .zip_method = CODEC_ZIP_STORED,
    .bound = store_bound,
    .state_new = store_state_new,
    .state_free = free,
    .encode = store_encode,
};

/* --- zlib --- */

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

static size_t zlib_encode(void *state, const struct codec_piece *piece, uint8_t *out,
                          struct error *err)
{
    z_stream *z = state;
    int result;

    if (check_piece(piece->n_bytes, err) < 0)
        return 0;
    result = deflateReset(z);
    if (result == Z_OK && piece->history_nbytes > 0)
        result = deflateSetDictionary(z, piece->bytes - piece->history_nbytes,
                                      (uInt)piece->history_nbytes);
    if (result != Z_OK)
        goto failed;
    z->next_in = (z_const Bytef *)piece->bytes;
    z->avail_in = (uInt)piece->n_bytes;
    z->next_out = out;
    z->avail_out = (uInt)zlib_bound(piece->n_bytes);
    result = deflate(z, piece->last ? Z_FINISH : Z_SYNC_FLUSH);
    /* With room left, a flush is complete. */
    if (result == (piece->last ? Z_STREAM_END : Z_OK) && z->avail_in == 0 && z->avail_out > 0)
        return (size_t)(z->next_out - out);
failed:
    error_set(err, ERROR_INTERNAL, "zlib cannot encode a piece of %zu bytes (%d)", piece->n_bytes,
              result);
    return 0;
}

const struct codec codec_zlib = {
    .name = "zlib",
    .zip_method = CODEC_ZIP_DEFLATE,
    .n_levels = 9,
    .bound = zlib_bound,
    .state_new = zlib_state_new,
    .state_free = zlib_state_free,
    .encode = zlib_encode,
};

/* --- ISA-L --- */

#ifdef HAVE_ISAL
/*
 * Pieces do not use the history in front of them: as a dictionary it saves less than 0.5 % even of
 * pieces of 128 KiB, and costs up to a third of the speed. But ISA-L 2.30 without any dictionary
 * hashes the address of its state where it should hash the second position: about one piece in
 * 8192 comes out differently with another state. So the first byte of each piece is stored and then
 * given as the dictionary of the rest.
 */
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

static size_t isal_encode(void *state, const struct codec_piece *piece, uint8_t *out,
                          struct error *err)
{
    static const uint8_t stored_byte[] = {0x00, 0x01, 0x00, 0xfe, 0xff}; /* the byte follows */
    /* Blocks with no data in them: a stored one ends byte-aligned and leaves the stream open, a
     * fixed one ends it. */
    static const uint8_t open_block[] = {0x00, 0x00, 0x00, 0xff, 0xff}, end_block[] = {0x03, 0x00};
    struct isal_zstream *const z = &((struct isal_state *)state)->stream;
    const size_t n_bytes = piece->n_bytes;
    size_t used = 0;

    if (check_piece(n_bytes, err) < 0)
        return 0;
    if (n_bytes > 0) {
        memcpy(out, stored_byte, sizeof stored_byte);
        used = sizeof stored_byte;
        out[used++] = piece->bytes[0];
    } else if (!piece->last) {
        memcpy(out, open_block, sizeof open_block);
        used = sizeof open_block;
    }
    if (n_bytes > 1) { /* blocks of the rest, and an empty stored one, which aligns */
        /* ISA-L's pointers lack const; it does not write through these. */
        isal_deflate_reset(z);
        z->next_in = (uint8_t *)piece->bytes + 1;
        z->avail_in = (uint32_t)(n_bytes - 1);
        z->next_out = out + used;
        z->avail_out = (uint32_t)(isal_bound(n_bytes) - used - sizeof end_block);
        const bool is_done = isal_deflate_set_dict(z, (uint8_t *)piece->bytes, 1) == COMP_OK &&
                             isal_deflate(z) == COMP_OK && z->avail_in == 0 && z->avail_out > 0;
        codec_clear_registers();
        if (!is_done) {
            error_set(err, ERROR_INTERNAL, "ISA-L cannot encode a piece of %zu bytes", n_bytes);
            return 0;
        }
        used = (size_t)(z->next_out - out);
    }
    if (piece->last) {
        memcpy(out + used, end_block, sizeof end_block);
        used += sizeof end_block;
    }
    return used;
}

const struct codec codec_isal = {
    .name = "isal",
    .zip_method = CODEC_ZIP_DEFLATE,
    .bound = isal_bound,
    .state_new = isal_state_new,
    .state_free = free,
    .encode = isal_encode,
};
#endif
