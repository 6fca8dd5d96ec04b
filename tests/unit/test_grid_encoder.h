/*
 * test_grid_encoder.h - a trained grid encoder whose reads and writes are fenced in, and what must
 * hold for everything it writes: two other decoders accept it, and get the data back.
 */
#pragma once

#include "codec/grid.h"

#include "test_grid_data.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

#if defined(HAVE_ISAL)
#include <isa-l.h>
#endif

#define ARRAY_SIZE(a) (sizeof(a) / sizeof *(a))

static const struct codec *const codecs[] = {&codec_grid, &codec_grid_sparse, &codec_grid_best,
                                             &codec_grid_values, &codec_grid_moved};

static const uint8_t marker[] = {0, 0, 0xff, 0xff};

static struct codec_member member_of(const struct data_kind *kind, size_t n)
{
    struct codec_member member = {.n_bytes = n, .item_nbytes = kind->item_nbytes};

    member.n_periods = kind->n_periods;
    memcpy(member.periods, kind->periods, sizeof kind->periods);
    return member;
}

/* An encoder, trained on data that is copied so that reading too far is noticed. */
struct encoder {
    struct codec_choice choice;
    struct grid_state *state;
};

static void encoder_init(struct encoder *e, const struct codec *codec,
                         const struct codec_member *member, const uint8_t *data, size_t n)
{
    const size_t sample_nbytes = n < CODEC_TRIAL_NBYTES ? n : CODEC_TRIAL_NBYTES;
    uint8_t *const sample = malloc(sample_nbytes + CODEC_READ_SLACK);
    struct codec_member about = *member;
    struct error err = {0};

    about.sample = sample;
    about.sample_nbytes = sample_nbytes;
    memcpy(sample, data, sample_nbytes);
    memset(sample + sample_nbytes, 0x55, CODEC_READ_SLACK);
    *e = (struct encoder){.choice.codec = codec};
    assert_int_equal(codec->train(&about, &e->choice.trained, &err), 0);
    e->state = codec->state_new(&e->choice, &err);
    assert_non_null(e->state);
    free(sample);
}

static void encoder_release(struct encoder *e)
{
    e->choice.codec->state_free(e->state);
    codec_choice_release(&e->choice);
}

/* Encode data[at..at + n) into memory of just the bound's size, from a copy with just the history
 * and the slack around it: zeros, or bytes that go on like the last `slack` ones. Returns the
 * encoded piece, owned. */
static uint8_t *encode_piece(struct encoder *e, const uint8_t *data, size_t at, size_t n,
                             size_t history_nbytes, bool last, unsigned slack, size_t *out_nbytes)
{
    const struct codec *const codec = e->choice.codec;
    const size_t n_copied = history_nbytes + n;
    uint8_t *const copy = malloc(n_copied + CODEC_READ_SLACK);
    uint8_t *const out = malloc(codec->bound(n));
    const struct codec_piece piece = {copy + history_nbytes, n, history_nbytes, last, at};
    struct error err = {0};

    memcpy(copy, data + at - history_nbytes, n_copied);
    for (size_t i = 0; i < CODEC_READ_SLACK; i++)
        copy[n_copied + i] = slack == 0 || n_copied < slack ? 0 : copy[n_copied + i - slack];
    *out_nbytes = codec->encode(e->state, &piece, out, &err);
    assert_in_range(*out_nbytes, 1, n + n / 1000 + 16);
    assert_true(*out_nbytes <= codec->bound(n));
    if (!last)
        assert_memory_equal(out + *out_nbytes - 4, marker, 4);
    free(copy);
    return out;
}

static void check_zlib(const uint8_t *in, size_t in_nbytes, const uint8_t *expected, size_t n)
{
    uint8_t *const out = malloc(n + 1);
    z_stream z = {.next_in = (Bytef *)(uintptr_t)in, .avail_in = (uInt)in_nbytes};

    z.next_out = out;
    z.avail_out = (uInt)n + 1;
    assert_int_equal(inflateInit2(&z, -15), Z_OK);
    assert_int_equal(inflate(&z, Z_FINISH), Z_STREAM_END);
    assert_int_equal(z.total_out, n);
    assert_int_equal(z.avail_in, 0);
    assert_memory_equal(out, expected, n);
    inflateEnd(&z);
    free(out);
}

static void check_isal(const uint8_t *in, size_t in_nbytes, const uint8_t *expected, size_t n)
{
#if defined(HAVE_ISAL)
    uint8_t *const out = malloc(n + 1);
    struct inflate_state state;

    isal_inflate_init(&state);
    state.next_in = (uint8_t *)(uintptr_t)in;
    state.avail_in = (uint32_t)in_nbytes;
    state.next_out = out;
    state.avail_out = (uint32_t)n + 1;
    assert_int_equal(isal_inflate(&state), ISAL_DECOMP_OK);
    assert_int_equal(state.block_state, ISAL_BLOCK_FINISH);
    assert_int_equal(state.total_out, n);
    assert_int_equal(state.avail_in, 0);
    assert_memory_equal(out, expected, n);
    free(out);
#else
    (void)in, (void)in_nbytes, (void)expected, (void)n;
#endif
}

static void check_inflates(const uint8_t *in, size_t in_nbytes, const uint8_t *data, size_t n)
{
    check_zlib(in, in_nbytes, data, n);
    check_isal(in, in_nbytes, data, n);
}

/* One piece, by all instruction sets: all the same, and inflates to the data. Returns its size. */
static size_t check_whole(struct encoder *e, const uint8_t *data, size_t n)
{
    uint8_t *first = NULL;
    size_t first_nbytes = 0;

    for (size_t i = 0; i < grid_kernels_n_table; i++) {
        size_t out_nbytes;
        uint8_t *out;

        if (!grid_kernels_table[i]->is_supported())
            continue;
        e->state->kernels = grid_kernels_table[i];
        out = encode_piece(e, data, 0, n, 0, true, (unsigned)(i * i), &out_nbytes);
        if (first == NULL) {
            check_inflates(out, out_nbytes, data, n);
            first = out;
            first_nbytes = out_nbytes;
            continue;
        }
        assert_int_equal(out_nbytes, first_nbytes);
        assert_memory_equal(out, first, first_nbytes);
        free(out);
    }
    free(first);
    return first_nbytes;
}

/* The data cut into pieces, with up to `history` bytes in front of each. Returns the sum of sizes.
 */
static size_t check_cut(struct encoder *e, struct random *r, const uint8_t *data, size_t n,
                        uint32_t piece_nbytes, size_t history)
{
    uint8_t *const all = malloc(2 * n + 100000);
    size_t all_nbytes = 0, at = 0;
    bool last = false;

    while (!last) {
        const size_t size = random_below(r, piece_nbytes + 1);
        const size_t most = at < history ? at : history;
        size_t out_nbytes;
        uint8_t *out;

        last = size > n - at;
        out = encode_piece(e, data, at, last ? n - at : size, most, last, 1, &out_nbytes);
        memcpy(all + all_nbytes, out, out_nbytes);
        all_nbytes += out_nbytes;
        at += size;
        free(out);
    }
    check_inflates(all, all_nbytes, data, n);
    free(all);
    return all_nbytes;
}
