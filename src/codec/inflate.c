/*
 * inflate.c - streaming raw inflate: through ISA-L where the build has it, two to three times as
 * fast as zlib, else through zlib.
 *
 * ISA-L needs help in four places. (1) It takes code sets that nobody else takes: every block's
 * header is checked first (check_header). To get hold of the headers, each block is handed to
 * ISA-L as a stream of its own, with its final bit set and the output so far as its dictionary.
 * (2) It reads ahead into a bit buffer: whole bytes in there are given back, so that the caller
 * sees the exact end of the stream. (3) It does not say why it stopped: see stream_step. (4) Its
 * output count has 32 bits; releases before 2.30 limit distances by it, so it must not wrap.
 */
#include "codec/codec.h"

#include <stdlib.h>
#include <string.h>

enum { STEP_NBYTES = 1 << 30 }; /* the libraries count in 32 bits: longer runs are made in steps */

#ifdef HAVE_ISAL
#include <isa-l/igzip_lib.h>

/*
 * The strict check of a block's header, as zlib makes it.
 *
 * ISA-L accepts headers that zlib, and with it every other reader of zip files, refuses: sets of
 * code lengths that leave codes unused. What one build of the program reads, every other reader
 * should read too, so headers are checked before ISA-L sees them.
 */

/* No header is longer: 17 bits, 19 lengths of 3 bits, 316 lengths of at most 7 bits, the last one
 * perhaps a run with 7 bits more, and one byte because headers start anywhere in a byte. */
#define HEADER_MAX_NBYTES ((17 + 19 * 3 + 316 * 7 + 7 + 7) / 8 + 1)

enum header { HEADER_OK, HEADER_SHORT, HEADER_INVALID };

enum {
    BLOCK_STORED = 0,
    BLOCK_DYNAMIC = 2,
    BLOCK_RESERVED = 3,
    N_LENGTH_CODES = 19,
    N_LITERALS_MAX = 286,
    N_DISTANCES_MAX = 30,
    END_OF_BLOCK = 256,
    CODE_SPACE = 1 << 15, /* of a complete code, with codes of up to 15 bits */
};

struct reader {
    const uint8_t *bytes;
    size_t n_bytes, next;
    uint64_t bits;
    unsigned n_bits;
};

/* Have at least n (at most 16) bits ready; no byte is taken before it is needed. */
static bool reader_need(struct reader *r, unsigned n)
{
    while (r->n_bits < n) {
        if (r->next == r->n_bytes)
            return false;
        r->bits |= (uint64_t)r->bytes[r->next++] << r->n_bits;
        r->n_bits += 8;
    }
    return true;
}

/* Take n bits that are ready. */
static unsigned reader_take(struct reader *r, unsigned n)
{
    const unsigned value = (unsigned)(r->bits & ((1u << n) - 1));

    r->bits >>= n;
    r->n_bits -= n;
    return value;
}

/* The part of the code space that codes of these lengths fill. */
static uint32_t space_of(const uint8_t *lengths, size_t n)
{
    uint32_t space = 0;

    for (size_t i = 0; i < n; i++)
        space += lengths[i] > 0 ? (uint32_t)CODE_SPACE >> lengths[i] : 0;
    return space;
}

/* A literal or distance code: complete, or a single code of one bit, or none at all. */
static bool is_code(const uint8_t *lengths, size_t n)
{
    const uint32_t space = space_of(lengths, n);
    unsigned longest = 0;

    for (size_t i = 0; i < n; i++)
        longest = lengths[i] > longest ? lengths[i] : longest;
    return space == CODE_SPACE || (space < CODE_SPACE && longest <= 1);
}

/* table[the next 7 bits] = symbol << 3 | length of its code, for a complete code. */
static void length_code_table(const uint8_t lengths[N_LENGTH_CODES], uint8_t table[128])
{
    unsigned code = 0; /* in the order of the code's bits, left-aligned in 7 */

    for (unsigned length = 1; length <= 7; length++) {
        for (unsigned symbol = 0; symbol < N_LENGTH_CODES; symbol++) {
            if (lengths[symbol] != length)
                continue;
            for (unsigned i = 0; i < 128u >> length; i++, code++) {
                unsigned reversed = 0;

                for (unsigned bit = 0; bit < 7; bit++)
                    reversed |= (code >> bit & 1) << (6 - bit);
                table[reversed] = (uint8_t)(symbol << 3 | length);
            }
        }
    }
}

/* Read the lengths of the code that the other lengths are written in. */
static enum header read_length_code(struct reader *r, unsigned n, uint8_t table[128])
{
    static const uint8_t order[N_LENGTH_CODES] = {16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                  11, 4,  12, 3, 13, 2, 14, 1, 15};
    uint8_t lengths[N_LENGTH_CODES] = {0};

    for (unsigned i = 0; i < n; i++) {
        if (!reader_need(r, 3))
            return HEADER_SHORT;
        lengths[order[i]] = (uint8_t)reader_take(r, 3);
    }
    if (space_of(lengths, N_LENGTH_CODES) != CODE_SPACE)
        return HEADER_INVALID;
    length_code_table(lengths, table);
    return HEADER_OK;
}

/* Read n code lengths, runs included. */
static enum header read_lengths(struct reader *r, const uint8_t table[128], uint8_t *lengths,
                                size_t n)
{
    static const struct {
        uint8_t n_bits, shortest;
    } runs[] = {{2, 3}, {3, 3}, {7, 11}}; /* of symbols 16, 17, 18 */
    size_t i = 0;

    while (i < n) {
        unsigned symbol, length_nbits, run_nbits, n_run;

        while ((length_nbits = table[r->bits & 127] & 7) > r->n_bits)
            if (!reader_need(r, r->n_bits + 1))
                return HEADER_SHORT;
        symbol = table[r->bits & 127] >> 3;
        if (symbol < 16) {
            reader_take(r, length_nbits);
            lengths[i++] = (uint8_t)symbol;
            continue;
        }
        run_nbits = runs[symbol - 16].n_bits;
        if (!reader_need(r, length_nbits + run_nbits))
            return HEADER_SHORT;
        reader_take(r, length_nbits);
        n_run = runs[symbol - 16].shortest + reader_take(r, run_nbits);
        if (n_run > n - i || (symbol == 16 && i == 0))
            return HEADER_INVALID;
        memset(lengths + i, symbol == 16 ? lengths[i - 1] : 0, n_run);
        i += n_run;
    }
    return HEADER_OK;
}

static enum header check_dynamic(struct reader *r)
{
    uint8_t table[128] = {0}, lengths[N_LITERALS_MAX + N_DISTANCES_MAX];
    unsigned n_literals, n_distances, n_codes;
    enum header result;

    if (!reader_need(r, 14))
        return HEADER_SHORT;
    n_literals = 257 + reader_take(r, 5);
    n_distances = 1 + reader_take(r, 5);
    n_codes = 4 + reader_take(r, 4);
    if (n_literals > N_LITERALS_MAX || n_distances > N_DISTANCES_MAX)
        return HEADER_INVALID;
    result = read_length_code(r, n_codes, table);
    if (result == HEADER_OK)
        result = read_lengths(r, table, lengths, n_literals + n_distances);
    if (result != HEADER_OK)
        return result;
    if (lengths[END_OF_BLOCK] == 0 || !is_code(lengths, n_literals) ||
        !is_code(lengths + n_literals, n_distances))
        return HEADER_INVALID;
    return HEADER_OK;
}

/* Check the header of the next block; *is_last tells whether it is the final one. With OK, r->next
 * bytes are needed, the last one perhaps in part. SHORT: valid so far, but not complete. The length
 * of a stored block is not checked. */
static enum header check_header(struct reader *r, bool *is_last)
{
    enum header result = HEADER_OK;
    unsigned type;

    if (!reader_need(r, 3))
        return HEADER_SHORT;
    *is_last = reader_take(r, 1) != 0;
    type = reader_take(r, 2);
    if (type == BLOCK_RESERVED)
        return HEADER_INVALID;
    if (type == BLOCK_DYNAMIC) {
        result = check_dynamic(r);
    } else if (type == BLOCK_STORED) {
        reader_take(r, r->n_bits % 8);
        for (int i = 0; i < 2; i++) { /* the length and its complement */
            if (!reader_need(r, 16))
                return HEADER_SHORT;
            reader_take(r, 16);
        }
    }
    return result;
}

/* --- ISA-L --- */

enum { HISTORY_NBYTES = ISAL_DEF_HIST_SIZE };

struct inflate_stream {
    struct inflate_state isal;
    bool in_block;
    bool is_last; /* the block begun last is the final one */
    bool failed;
    size_t n_header;  /* bytes of a header that the input ended in */
    size_t n_history; /* what has been put out lately */
    uint8_t header[HEADER_MAX_NBYTES];
    uint8_t history[HISTORY_NBYTES];
};

/* One call: what is left, where its input began, and its output that history does not hold yet. */
struct run {
    struct decoding *io;
    const uint8_t *in_start;
    const uint8_t *out_remembered;
};

static void reset(void *state)
{
    struct inflate_stream *stream = state;

    isal_inflate_reset(&stream->isal);
    stream->in_block = false;
    stream->is_last = false;
    stream->failed = false;
    stream->n_header = 0;
    stream->n_history = 0;
}

static void *state_new(struct error *err)
{
    struct inflate_stream *stream = malloc(sizeof *stream);

    if (stream == NULL) {
        error_no_memory(err, "state of inflate");
        return NULL;
    }
    isal_inflate_init(&stream->isal);
    reset(stream);
    return stream;
}

static void state_free(void *state)
{
    free(state);
}

/* Add the new output to the history. */
static void remember_output(struct inflate_stream *stream, struct run *run)
{
    const size_t n_new = (size_t)(run->io->out - run->out_remembered);
    const size_t n_copied = n_new < HISTORY_NBYTES ? n_new : HISTORY_NBYTES;
    size_t n_kept = HISTORY_NBYTES - n_copied;

    if (n_new == 0)
        return;
    if (n_kept > stream->n_history)
        n_kept = stream->n_history;
    memmove(stream->history, stream->history + (stream->n_history - n_kept), n_kept);
    memcpy(stream->history + n_kept, run->io->out - n_copied, n_copied);
    stream->n_history = n_kept + n_copied;
    run->out_remembered = run->io->out;
}

/*
 * Take whole bytes out of ISA-L's bit buffer again. It never holds more of earlier calls' input
 * than an incomplete symbol, so that at the end of a block all of them are this call's.
 */
static void give_back(struct inflate_state *isal, struct run *run)
{
    size_t n_bytes = (size_t)isal->read_in_length / 8;

    if (n_bytes > (size_t)(run->io->in - run->in_start))
        n_bytes = (size_t)(run->io->in - run->in_start);
    run->io->in -= n_bytes;
    run->io->in_nbytes += n_bytes;
    isal->read_in_length -= (int32_t)(8 * n_bytes);
    if (isal->read_in_length < 64)
        isal->read_in &= (UINT64_C(1) << isal->read_in_length) - 1;
}

/* Let ISA-L inflate from in_nbytes at `in` (a STEP at most) and return how many it has taken, or
 * -1 when the data is invalid. */
static int64_t call_isal(struct inflate_state *isal, const uint8_t *in, size_t in_nbytes,
                         struct run *run)
{
    const uint32_t in_step = in_nbytes < STEP_NBYTES ? (uint32_t)in_nbytes : STEP_NBYTES;
    const uint32_t out_step =
        run->io->out_nbytes < STEP_NBYTES ? (uint32_t)run->io->out_nbytes : STEP_NBYTES;

    if (isal->total_out >= STEP_NBYTES)
        isal->total_out = HISTORY_NBYTES;
    isal->next_in = (uint8_t *)in; /* ISA-L does not write through it */
    isal->avail_in = in_step;
    isal->next_out = run->io->out;
    isal->avail_out = out_step;
    if (isal_inflate(isal) != ISAL_DECOMP_OK)
        return -1;
    run->io->out += out_step - isal->avail_out;
    run->io->out_nbytes -= out_step - isal->avail_out;
    return in_step - isal->avail_in;
}

/*
 * Check the header of the next block and hand its first byte, with the final bit set, to ISA-L. A
 * header that an earlier call's input ended in is completed in stream->header and handed over
 * whole. Returns 1 when the block has begun, 0 when the input ended in the header, -1 on an error.
 */
static int begin_block(struct inflate_stream *stream, struct run *run)
{
    struct inflate_state *isal = &stream->isal;
    const size_t n_before = stream->n_header;
    const size_t room = sizeof stream->header - n_before;
    const size_t n_copied = run->io->in_nbytes < room ? run->io->in_nbytes : room;
    const uint8_t *bytes = run->io->in;
    size_t n_bytes = run->io->in_nbytes, n_used, n_first;
    struct reader header;
    enum header result;
    bool is_last;

    if (n_before > 0) {
        memcpy(stream->header + n_before, run->io->in, n_copied);
        bytes = stream->header;
        n_bytes = n_before + n_copied;
    }
    header = (struct reader){.bytes = bytes,
                             .n_bytes = n_bytes,
                             .bits = isal->read_in,
                             .n_bits = (unsigned)isal->read_in_length};
    result = check_header(&header, &is_last);
    n_used = header.next;
    if (result == HEADER_SHORT && n_copied == run->io->in_nbytes) {
        if (n_copied > 0)
            memcpy(stream->header + n_before, run->io->in, n_copied);
        stream->n_header += n_copied;
        run->io->in += n_copied;
        run->io->in_nbytes = 0;
        return 0;
    }
    if (result != HEADER_OK)
        return -1;
    n_first = isal->read_in_length == 0 ? 1 : 0;
    if (n_first > 0) {
        isal->read_in = bytes[0];
        isal->read_in_length = 8;
    }
    isal->read_in |= 1;
    stream->in_block = true;
    stream->is_last = is_last;
    stream->n_header = 0;
    run->io->in += n_before > 0 ? n_used - n_before : n_first;
    run->io->in_nbytes -= n_before > 0 ? n_used - n_before : n_first;
    if (n_before > 0 && call_isal(isal, bytes + n_first, n_used - n_first, run) < 0)
        return -1;
    return 1;
}

/* A block has ended and all its output is out: make ISA-L ready for the next one. */
static void end_block(struct inflate_stream *stream, struct run *run)
{
    struct inflate_state *isal = &stream->isal;
    uint64_t bits;
    int32_t n_bits;

    give_back(isal, run);
    stream->in_block = false;
    if (stream->is_last)
        return;
    remember_output(stream, run);
    bits = isal->read_in;
    n_bits = isal->read_in_length;
    isal_inflate_reset(isal);
    isal_inflate_set_dict(isal, stream->history, (uint32_t)stream->n_history);
    isal->read_in = bits;
    isal->read_in_length = n_bits;
}

/*
 * One step inside a block. Returns 1 to go on, 0 to return to the caller, -1 on an error.
 *
 * ISA-L decodes up to 64 KiB ahead into a buffer of its own. When it holds output that has no room,
 * output is what is missing, and the bytes read ahead are given back. When it holds none after a
 * call without room, input is what is missing, and the bits it has are the start of a symbol.
 */
static int stream_step(struct inflate_stream *stream, struct run *run)
{
    struct inflate_state *isal = &stream->isal;
    const bool had_room = run->io->out_nbytes > 0;
    const int64_t n_taken = call_isal(isal, run->io->in, run->io->in_nbytes, run);

    if (n_taken < 0)
        return -1;
    run->io->in += n_taken;
    run->io->in_nbytes -= (size_t)n_taken;
    if (isal->block_state == ISAL_BLOCK_FINISH) {
        end_block(stream, run);
        return 1;
    }
    if (run->io->out_nbytes > 0)
        return run->io->in_nbytes > 0;
    if (isal->tmp_out_valid > isal->tmp_out_processed) {
        give_back(isal, run);
        return 0;
    }
    return had_room || run->io->in_nbytes > 0;
}

static int decode(void *state, struct decoding *io, struct error *err)
{
    struct inflate_stream *stream = state;
    struct run run = {io, io->in, io->out};
    int go_on = stream->failed ? -1 : 1;

    while (go_on > 0 && (stream->in_block || !stream->is_last))
        go_on = stream->in_block ? stream_step(stream, &run) : begin_block(stream, &run);
    io->done = go_on > 0;
    if (go_on < 0) {
        stream->failed = true;
        return error_set(err, ERROR_DATA, "invalid deflate data");
    }
    if (!io->done)
        remember_output(stream, &run);
    return 0;
}

#else
#include <zlib.h>

static void *state_new(struct error *err)
{
    z_stream *z = calloc(1, sizeof *z);

    if (z == NULL || inflateInit2(z, -MAX_WBITS) != Z_OK) {
        free(z);
        error_no_memory(err, "state of inflate");
        return NULL;
    }
    return z;
}

static void state_free(void *state)
{
    if (state != NULL)
        inflateEnd(state);
    free(state);
}

static void reset(void *state)
{
    inflateReset(state);
}

static uInt step_of(size_t n_bytes)
{
    return n_bytes < STEP_NBYTES ? (uInt)n_bytes : STEP_NBYTES;
}

static int decode(void *state, struct decoding *io, struct error *err)
{
    z_stream *z = state;
    uint8_t nowhere; /* zlib wants an address even for no output */

    io->done = false;
    do {
        const uInt in_step = step_of(io->in_nbytes), out_step = step_of(io->out_nbytes);
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

const struct decoder decoder_deflate = {
    .name = "deflate",
    .zip_method = CODEC_ZIP_DEFLATE,
    .state_new = state_new,
    .state_free = state_free,
    .reset = reset,
    .decode = decode,
};
