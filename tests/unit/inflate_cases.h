/*
 * inflate_cases.h - deflate streams of many kinds, and the inflater and zlib run over them.
 */
#pragma once

#include "codec/codec.h"

#include "codec_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <zlib.h>

#include <cmocka.h>

enum { OUT_MAX = 400000, IN_MAX = 500000 };

static uint8_t plain[OUT_MAX], packed[IN_MAX], unpacked[OUT_MAX + 64];

/* Deflate plain[0..n) into `packed` with a flush now and then; returns the size. */
static inline size_t pack(size_t n, int level, int strategy, int mem_level, size_t flush_every)
{
    z_stream z = {0};
    size_t n_packed;

    assert_int_equal(deflateInit2(&z, level, Z_DEFLATED, -15, mem_level, strategy), Z_OK);
    z.next_in = plain;
    z.next_out = packed;
    z.avail_out = IN_MAX;
    for (size_t at = 0; flush_every > 0 && at + flush_every < n; at += flush_every) {
        z.avail_in = (uInt)flush_every;
        assert_int_equal(deflate(&z, at % 2 ? Z_FULL_FLUSH : Z_SYNC_FLUSH), Z_OK);
    }
    z.avail_in = (uInt)(plain + n - z.next_in);
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    n_packed = (size_t)(z.next_out - packed);
    deflateEnd(&z);
    return n_packed;
}

struct outcome {
    int result; /* 1: ended, 0: needs more, -1: invalid */
    size_t n_out;
    size_t n_left; /* bytes of the input that were not used */
};

/* What zlib makes of the bytes. */
static inline struct outcome inflate_by_zlib(const uint8_t *in, size_t n_in, uint8_t *out,
                                             size_t out_max)
{
    z_stream z = {0};
    struct outcome o = {0};
    int result;

    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    z.next_in = (z_const Bytef *)in;
    z.avail_in = (uInt)n_in;
    z.next_out = out;
    z.avail_out = (uInt)out_max;
    result = inflate(&z, Z_NO_FLUSH);
    o.result = result == Z_STREAM_END ? 1 : result == Z_DATA_ERROR ? -1 : 0;
    o.n_out = (size_t)(z.next_out - out);
    o.n_left = z.avail_in;
    inflateEnd(&z);
    return o;
}

/*
 * The same by our decoder, at most in_step and out_step bytes at a time, each from a buffer of its
 * own so that a byte beyond it is noticed (by the address sanitizer). Output is asked for until
 * out_max bytes are there, then with no room, which must find an end that needs no more output.
 */
static inline struct outcome inflate_by_us(void *stream, const uint8_t *in, size_t n_in,
                                           size_t in_step, uint8_t *out, size_t out_max,
                                           size_t out_step)
{
    struct outcome o = {0};
    struct error err = {0};
    size_t in_at = 0, stalls = 0;
    struct decoding io = {0};

    decoder_deflate.reset(stream);
    while (!io.done && stalls < 3) {
        const size_t n_fed = n_in - in_at < in_step ? n_in - in_at : in_step;
        const size_t n_room = out_max - o.n_out < out_step ? out_max - o.n_out : out_step;
        uint8_t *fed = malloc(n_fed + 1), *room = malloc(n_room + 1);

        io = (struct decoding){fed, n_fed, room, n_room, false};
        memcpy(fed, in + in_at, n_fed);
        room[n_room] = 0xa5;
        o.result = decoder_deflate.decode(stream, &io, &err);
        assert_ptr_equal(io.in, fed + (n_fed - io.in_nbytes));
        assert_ptr_equal(io.out, room + (n_room - io.out_nbytes));
        assert_int_equal(room[n_room], 0xa5);
        memcpy(out + o.n_out, room, n_room - io.out_nbytes);
        o.n_out += n_room - io.out_nbytes;
        in_at += n_fed - io.in_nbytes;
        free(fed);
        free(room);
        if (o.result < 0) {
            assert_int_equal(err.kind, ERROR_DATA);
            break;
        }
        /* It stops for one of the three reasons only. */
        assert_true(io.done || io.in_nbytes == 0 || io.out_nbytes == 0);
        stalls = io.in_nbytes == n_fed && io.out_nbytes == n_room ? stalls + 1 : 0;
    }
    o.n_left = n_in - in_at;
    o.result = o.result < 0 ? -1 : io.done;
    return o;
}

static const struct {
    int level, strategy, mem_level;
    size_t flush_every;
} packings[] = {
    {6, Z_DEFAULT_STRATEGY, 8, 0},
    {1, Z_DEFAULT_STRATEGY, 1, 0},
    {9, Z_DEFAULT_STRATEGY, 9, 5000},
    {0, Z_DEFAULT_STRATEGY, 8, 777},
    {6, Z_FIXED, 8, 4096},
    {6, Z_HUFFMAN_ONLY, 2, 0},
    {6, Z_RLE, 8, 100},
};
enum { N_PACKINGS = sizeof packings / sizeof packings[0] };

static inline size_t pack_as(int kind, size_t n, size_t packing)
{
    data_fill((enum data_kind)kind, n + packing, plain, n);
    return pack(n, packings[packing].level, packings[packing].strategy, packings[packing].mem_level,
                packings[packing].flush_every);
}

/* Bits in the order of deflate. */
struct bits {
    uint8_t bytes[600];
    size_t n_bits;
};

static inline void bits_put(struct bits *b, unsigned value, unsigned n)
{
    for (unsigned i = 0; i < n; i++, b->n_bits++)
        b->bytes[b->n_bits / 8] |= (uint8_t)((value >> i & 1) << b->n_bits % 8);
}

/* A Huffman code: most significant bit first. */
static inline void bits_put_code(struct bits *b, unsigned code, unsigned n)
{
    while (n-- > 0)
        bits_put(b, code >> n & 1, 1);
}

/* A final dynamic block's header; every length is written with 4 bits (symbols 0 to 15). */
static inline void put_header(struct bits *b, const uint8_t *literals, unsigned n_literals,
                              const uint8_t *distances, unsigned n_distances)
{
    bits_put(b, 1 | 2 << 1, 3);
    bits_put(b, n_literals - 257, 5);
    bits_put(b, n_distances - 1, 5);
    bits_put(b, 19 - 4, 4);
    for (int i = 0; i < 19; i++)
        bits_put(b, i < 3 ? 0 : 4, 3);
    for (unsigned i = 0; i < n_literals; i++)
        bits_put_code(b, literals[i], 4);
    for (unsigned i = 0; i < n_distances; i++)
        bits_put_code(b, distances[i], 4);
}
