/*
 * inflate.c - streaming raw inflate: through ISA-L where the build has it, two to three times as
 * fast as zlib, else through zlib.
 *
 * ISA-L needs help in four places. (1) It accepts sets of code lengths that leave codes unused,
 * which zlib, and with it every other reader of zip files, refuses. What one build of the program
 * reads, every other reader should read too: zlib checks every block's header first (check_header).
 * To get hold of the headers, each block is handed to ISA-L as a stream of its own, with its final
 * bit set and the output so far as its dictionary. (2) It reads ahead into a bit buffer: whole
 * bytes in there are given back, so that the caller sees the exact end of the stream. (3) It does
 * not say why it stopped: see block_step. (4) Its output count has 32 bits; releases before 2.30
 * limit distances by it, so it must not wrap.
 */
#include "codec/codec.h"

#include <zlib.h>
#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>
#endif

enum { STEP_NBYTES = 1 << 30 }; /* the libraries count in 32 bits: longer runs are made in steps */

static uint32_t step_of(size_t n_bytes)
{
    return n_bytes < STEP_NBYTES ? (uint32_t)n_bytes : STEP_NBYTES;
}

#ifdef HAVE_ISAL
/* No header is longer: 17 bits, 19 lengths of 3 bits, 316 lengths of at most 7 bits, the last one
 * perhaps a run with 7 bits more, and one byte because headers start anywhere in a byte. */
#define HEADER_MAX_NBYTES ((17 + 19 * 3 + 316 * 7 + 7 + 7) / 8 + 1)

struct inflate_stream {
    z_stream zlib; /* for headers alone */
    struct inflate_state isal;
    bool in_block;
    bool is_last; /* the block begun last is the final one */
    bool failed;
    size_t n_header;  /* bytes of a header that the input ended in */
    size_t n_history; /* what has been put out lately */
    uint8_t header[HEADER_MAX_NBYTES];
    uint8_t history[2 * ISAL_DEF_HIST_SIZE];

    /* One call: what is left, where its input began, its output that history does not hold yet. */
    struct decoding *io;
    const uint8_t *in_start;
    const uint8_t *out_remembered;
};

static void reset(void *state)
{
    struct inflate_stream *s = state;

    isal_inflate_reset(&s->isal);
    s->in_block = false;
    s->is_last = false;
    s->failed = false;
    s->n_header = 0;
    s->n_history = 0;
}

/* Add the new output to the history, whose end is what counts: it has room for twice as much, so
 * that small pieces of output seldom move it. */
static void remember_output(struct inflate_stream *s)
{
    const size_t n_new = (size_t)(s->io->out - s->out_remembered);
    const size_t n_copied = n_new < ISAL_DEF_HIST_SIZE ? n_new : ISAL_DEF_HIST_SIZE;
    const size_t n_kept = ISAL_DEF_HIST_SIZE - n_copied;

    if (n_new == 0)
        return;
    if (s->n_history + n_copied > sizeof s->history) {
        memmove(s->history, s->history + (s->n_history - n_kept), n_kept);
        s->n_history = n_kept;
    }
    memcpy(s->history + s->n_history, s->io->out - n_copied, n_copied);
    s->n_history += n_copied;
    s->out_remembered = s->io->out;
}

/*
 * Take whole bytes out of ISA-L's bit buffer again. It never holds more of earlier calls' input
 * than an incomplete symbol, so that at the end of a block all of them are this call's.
 */
static void give_back(struct inflate_stream *s)
{
    struct inflate_state *isal = &s->isal;
    size_t n_bytes = (size_t)isal->read_in_length / 8;

    if (n_bytes > (size_t)(s->io->in - s->in_start))
        n_bytes = (size_t)(s->io->in - s->in_start);
    s->io->in -= n_bytes;
    s->io->in_nbytes += n_bytes;
    isal->read_in_length -= (int32_t)(8 * n_bytes);
    if (isal->read_in_length < 64)
        isal->read_in &= (UINT64_C(1) << isal->read_in_length) - 1;
}

/* Let ISA-L inflate from in_nbytes at `in` (a STEP at most) and return how many it has taken, or
 * -1 when the data is invalid. */
static int64_t call_isal(struct inflate_stream *s, const uint8_t *in, size_t in_nbytes)
{
    struct inflate_state *isal = &s->isal;
    const uint32_t in_step = step_of(in_nbytes), out_step = step_of(s->io->out_nbytes);

    if (isal->total_out >= STEP_NBYTES)
        isal->total_out = ISAL_DEF_HIST_SIZE;
    isal->next_in = (uint8_t *)in; /* ISA-L does not write through it */
    isal->avail_in = in_step;
    isal->next_out = s->io->out;
    isal->avail_out = out_step;
    if (isal_inflate(isal) != ISAL_DECOMP_OK)
        return -1;
    s->io->out += out_step - isal->avail_out;
    s->io->out_nbytes -= out_step - isal->avail_out;
    return in_step - isal->avail_in;
}

/* Let zlib read the header of the next block, whose first bits may be in ISA-L's bit buffer and
 * whose next bytes these are. Returns 1 when it ends in them, after *n_used bytes, the last one
 * perhaps in part; 0 when it is valid so far but goes on, -1 when it is invalid. */
static int check_header(struct inflate_stream *s, const uint8_t *bytes, size_t n_bytes,
                        size_t *n_used)
{
    enum { LAST_BLOCK = 64, AFTER_HEADER = 256 }; /* of data_type, after Z_TREES */
    z_stream *z = &s->zlib;
    uint8_t nowhere;

    inflateReset(z);
    inflatePrime(z, s->isal.read_in_length, (int)s->isal.read_in);
    z->next_in = (z_const Bytef *)bytes;
    z->avail_in = step_of(n_bytes);
    z->next_out = &nowhere;
    z->avail_out = 0;
    const int result = inflate(z, Z_TREES);
    if (result != Z_OK && result != Z_BUF_ERROR)
        return -1;
    s->is_last = (z->data_type & LAST_BLOCK) != 0;
    *n_used = (size_t)(z->next_in - bytes);
    return (z->data_type & AFTER_HEADER) != 0;
}

/*
 * Check the header of the next block and hand its first byte, with the final bit set, to ISA-L. A
 * header that an earlier call's input ended in is completed in s->header and handed over whole.
 * Returns 1 when the block has begun, 0 when the input ended in the header, -1 on an error.
 */
static int begin_block(struct inflate_stream *s)
{
    struct decoding *const io = s->io;
    const size_t n_before = s->n_header, room = sizeof s->header - n_before;
    const size_t n_copied = io->in_nbytes < room ? io->in_nbytes : room;
    const uint8_t *bytes = n_before > 0 ? s->header : io->in;
    size_t n_used;

    if (n_before > 0)
        memcpy(s->header + n_before, io->in, n_copied);
    const int result =
        check_header(s, bytes, n_before > 0 ? n_before + n_copied : io->in_nbytes, &n_used);
    if (result == 0 && n_copied == io->in_nbytes) {
        if (n_before == 0 && n_copied > 0)
            memcpy(s->header, io->in, n_copied);
        s->n_header += n_copied;
        io->in += n_copied;
        io->in_nbytes = 0;
        s->is_last = false;
        return 0;
    }
    if (result <= 0)
        return -1;
    const size_t n_first = s->isal.read_in_length == 0 ? 1 : 0;
    if (n_first > 0) {
        s->isal.read_in = bytes[0];
        s->isal.read_in_length = 8;
    }
    s->isal.read_in |= 1;
    s->in_block = true;
    s->n_header = 0;
    io->in += n_before > 0 ? n_used - n_before : n_first;
    io->in_nbytes -= n_before > 0 ? n_used - n_before : n_first;
    if (n_before > 0 && call_isal(s, bytes + n_first, n_used - n_first) < 0)
        return -1;
    return 1;
}

/*
 * One step inside a block. Returns 1 to go on, 0 to return to the caller, -1 on an error.
 *
 * ISA-L decodes up to 64 KiB ahead into a buffer of its own. When it holds output that has no room,
 * output is what is missing, and the bytes read ahead are given back. When it holds none after a
 * call without room, input is what is missing, and the bits it has are the start of a symbol.
 */
static int block_step(struct inflate_stream *s)
{
    struct inflate_state *isal = &s->isal;
    struct decoding *const io = s->io;
    const bool had_room = io->out_nbytes > 0;
    const int64_t n_taken = call_isal(s, io->in, io->in_nbytes);

    if (n_taken < 0)
        return -1;
    io->in += n_taken;
    io->in_nbytes -= (size_t)n_taken;
    if (isal->block_state == ISAL_BLOCK_FINISH) { /* and all its output is out */
        give_back(s);
        s->in_block = false;
        if (!s->is_last) {
            const uint64_t bits = isal->read_in;
            const int32_t n_bits = isal->read_in_length;

            remember_output(s);
            const size_t n = s->n_history < ISAL_DEF_HIST_SIZE ? s->n_history : ISAL_DEF_HIST_SIZE;
            isal_inflate_reset(isal);
            isal_inflate_set_dict(isal, s->history + (s->n_history - n), (uint32_t)n);
            isal->read_in = bits;
            isal->read_in_length = n_bits;
        }
        return 1;
    }
    if (io->out_nbytes > 0)
        return io->in_nbytes > 0;
    if (isal->tmp_out_valid > isal->tmp_out_processed) {
        give_back(s);
        return 0;
    }
    return had_room || io->in_nbytes > 0;
}

static int decode(void *state, struct decoding *io, struct error *err)
{
    struct inflate_stream *s = state;
    int go_on = s->failed ? -1 : 1;

    s->io = io;
    s->in_start = io->in;
    s->out_remembered = io->out;
    while (go_on > 0 && (s->in_block || !s->is_last))
        go_on = s->in_block ? block_step(s) : begin_block(s);
    io->done = go_on > 0;
    if (go_on < 0) {
        s->failed = true;
        return error_set(err, ERROR_DATA, "invalid deflate data");
    }
    if (!io->done)
        remember_output(s);
    return 0;
}

#else
struct inflate_stream {
    z_stream zlib;
};

static void reset(void *state)
{
    inflateReset(state);
}

static int decode(void *state, struct decoding *io, struct error *err)
{
    z_stream *z = state;
    uint8_t nowhere; /* zlib wants an address even for no output */

    io->done = false;
    do {
        const uint32_t in_step = step_of(io->in_nbytes), out_step = step_of(io->out_nbytes);
        int result;

        z->next_in = (z_const Bytef *)io->in;
        z->avail_in = in_step;
        z->next_out = out_step > 0 ? io->out : &nowhere;
        z->avail_out = out_step;
        result = inflate(z, Z_NO_FLUSH);
        io->in += in_step - z->avail_in;
        io->in_nbytes -= in_step - z->avail_in;
        io->out += out_step - z->avail_out;
        io->out_nbytes -= out_step - z->avail_out;
        if (result == Z_STREAM_END)
            io->done = true;
        else if (result == Z_MEM_ERROR)
            return error_no_memory(err, "window of inflate");
        else if (result != Z_OK && result != Z_BUF_ERROR)
            return error_set(err, ERROR_DATA, "invalid deflate data");
    } while (!io->done && io->in_nbytes > 0 && io->out_nbytes > 0);
    return 0;
}
#endif

static void *state_new(struct error *err)
{
    struct inflate_stream *s = malloc(sizeof *s);

    if (s != NULL)
        s->zlib = (z_stream){0};
    if (s == NULL || inflateInit2(&s->zlib, -MAX_WBITS) != Z_OK) {
        free(s);
        error_no_memory(err, "state of inflate");
        return NULL;
    }
#ifdef HAVE_ISAL
    isal_inflate_init(&s->isal);
#endif
    reset(s);
    return s;
}

static void state_free(void *state)
{
    struct inflate_stream *s = state;

    if (s != NULL)
        inflateEnd(&s->zlib);
    free(s);
}

const struct decoder decoder_deflate = {
    .name = "deflate",
    .zip_method = CODEC_ZIP_DEFLATE,
    .state_new = state_new,
    .state_free = state_free,
    .reset = reset,
    .decode = decode,
};
