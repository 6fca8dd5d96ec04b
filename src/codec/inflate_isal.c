/*
 * inflate_isal.c - raw inflate through ISA-L, two to three times as fast as zlib.
 *
 * ISA-L needs help in four places. (1) It takes code sets that nobody else takes: every block's
 * header is checked first (inflate_header.c). To get hold of the headers, each block is handed to
 * ISA-L as a stream of its own, with its final bit set and the output so far as its dictionary.
 * (2) It reads ahead into a bit buffer: whole bytes in there are given back, so that the caller
 * sees the exact end of the stream. (3) It does not say why it stopped: see stream_step. (4) Its
 * output count has 32 bits; releases before 2.30 limit distances by it, so it must not wrap.
 */
#include "codec/inflate.h"

#ifdef HAVE_ISAL
#include "codec/inflate_header.h"

#include <isa-l/igzip_lib.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_NBYTES = 1 << 30, HISTORY_NBYTES = ISAL_DEF_HIST_SIZE };

struct inflate_stream {
    struct inflate_state isal;
    bool in_block;
    bool is_last; /* the block begun last is the final one */
    bool failed;
    size_t n_header;  /* bytes of a header that the input ended in */
    size_t n_history; /* what has been put out lately */
    uint8_t header[INFLATE_HEADER_MAX_NBYTES];
    uint8_t history[HISTORY_NBYTES];
};

/* The buffers of one call, advanced as it goes. */
struct run {
    const uint8_t *in, *in_start;
    size_t in_nbytes;
    uint8_t *out, *out_remembered; /* history holds what lies in front of the latter */
    size_t out_nbytes;
};

struct inflate_stream *inflate_new(struct error *err)
{
    struct inflate_stream *stream = malloc(sizeof *stream);

    if (stream == NULL) {
        error_no_memory(err, "state of inflate");
        return NULL;
    }
    isal_inflate_init(&stream->isal);
    inflate_reset(stream);
    return stream;
}

void inflate_free(struct inflate_stream *stream)
{
    free(stream);
}

void inflate_reset(struct inflate_stream *stream)
{
    isal_inflate_reset(&stream->isal);
    stream->in_block = false;
    stream->is_last = false;
    stream->failed = false;
    stream->n_header = 0;
    stream->n_history = 0;
}

/* Add the new output to the history. */
static void remember_output(struct inflate_stream *stream, struct run *run)
{
    const size_t n_new = (size_t)(run->out - run->out_remembered);
    const size_t n_copied = n_new < HISTORY_NBYTES ? n_new : HISTORY_NBYTES;
    size_t n_kept = HISTORY_NBYTES - n_copied;

    if (n_new == 0)
        return;
    if (n_kept > stream->n_history)
        n_kept = stream->n_history;
    memmove(stream->history, stream->history + (stream->n_history - n_kept), n_kept);
    memcpy(stream->history + n_kept, run->out - n_copied, n_copied);
    stream->n_history = n_kept + n_copied;
    run->out_remembered = run->out;
}

/*
 * Take whole bytes out of ISA-L's bit buffer again. It never holds more of earlier calls' input
 * than an incomplete symbol, so that at the end of a block all of them are this call's.
 */
static void give_back(struct inflate_state *isal, struct run *run)
{
    size_t n_bytes = (size_t)isal->read_in_length / 8;

    if (n_bytes > (size_t)(run->in - run->in_start))
        n_bytes = (size_t)(run->in - run->in_start);
    run->in -= n_bytes;
    run->in_nbytes += n_bytes;
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
        run->out_nbytes < STEP_NBYTES ? (uint32_t)run->out_nbytes : STEP_NBYTES;

    if (isal->total_out >= STEP_NBYTES)
        isal->total_out = HISTORY_NBYTES;
    isal->next_in = (uint8_t *)in; /* ISA-L does not write through it */
    isal->avail_in = in_step;
    isal->next_out = run->out;
    isal->avail_out = out_step;
    if (isal_inflate(isal) != ISAL_DECOMP_OK)
        return -1;
    run->out += out_step - isal->avail_out;
    run->out_nbytes -= out_step - isal->avail_out;
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
    const size_t n_copied = run->in_nbytes < room ? run->in_nbytes : room;
    const uint8_t *bytes = run->in;
    size_t n_bytes = run->in_nbytes, n_used, n_first;
    enum inflate_header result;
    bool is_last;

    if (n_before > 0) {
        memcpy(stream->header + n_before, run->in, n_copied);
        bytes = stream->header;
        n_bytes = n_before + n_copied;
    }
    result = inflate_header_check(isal->read_in, (unsigned)isal->read_in_length, bytes, n_bytes,
                                  &n_used, &is_last);
    if (result == INFLATE_HEADER_SHORT && n_copied == run->in_nbytes) {
        if (n_copied > 0)
            memcpy(stream->header + n_before, run->in, n_copied);
        stream->n_header += n_copied;
        run->in += n_copied;
        run->in_nbytes = 0;
        return 0;
    }
    if (result != INFLATE_HEADER_OK)
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
    run->in += n_before > 0 ? n_used - n_before : n_first;
    run->in_nbytes -= n_before > 0 ? n_used - n_before : n_first;
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
    const bool had_room = run->out_nbytes > 0;
    const int64_t n_taken = call_isal(isal, run->in, run->in_nbytes, run);

    if (n_taken < 0)
        return -1;
    run->in += n_taken;
    run->in_nbytes -= (size_t)n_taken;
    if (isal->block_state == ISAL_BLOCK_FINISH) {
        end_block(stream, run);
        return 1;
    }
    if (run->out_nbytes > 0)
        return run->in_nbytes > 0;
    if (isal->tmp_out_valid > isal->tmp_out_processed) {
        give_back(isal, run);
        return 0;
    }
    return had_room || run->in_nbytes > 0;
}

int inflate_run(struct inflate_stream *stream, const uint8_t **in, size_t *in_nbytes, uint8_t **out,
                size_t *out_nbytes, bool *done, struct error *err)
{
    struct run run = {*in, *in, *in_nbytes, *out, *out, *out_nbytes};
    int go_on = stream->failed ? -1 : 1;

    while (go_on > 0 && (stream->in_block || !stream->is_last))
        go_on = stream->in_block ? stream_step(stream, &run) : begin_block(stream, &run);
    *done = go_on > 0;
    *in = run.in;
    *in_nbytes = run.in_nbytes;
    *out = run.out;
    *out_nbytes = run.out_nbytes;
    if (go_on < 0) {
        stream->failed = true;
        return error_set(err, ERROR_DATA, "invalid deflate data");
    }
    if (!*done)
        remember_output(stream, &run);
    return 0;
}
#endif
