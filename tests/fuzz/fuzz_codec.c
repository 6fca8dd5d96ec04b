/* fuzz_codec.c - every encoder: what was encoded inflates to what it was. The first bytes choose
 * the encoder, what is known of the member, and where it is cut into pieces. */
#include "codec/codec.h"
#include "fuzz.h"

#define SETTINGS_NBYTES 8 /* of the input, in front of the data */

/* Encode all pieces one behind the other; the number of bytes. */
static size_t encode(const struct codec_choice *choice, const uint8_t *data, size_t n_bytes,
                     size_t piece_nbytes, uint8_t *out, size_t out_nbytes)
{
    struct error err = {0};
    void *state = choice->codec->state_new(choice, &err);
    size_t used = 0, at = 0;

    fuzz_require(state != NULL, err.message);
    do {
        const size_t n = n_bytes - at < piece_nbytes ? n_bytes - at : piece_nbytes;
        const size_t history = at < CODEC_HISTORY_NBYTES ? at : CODEC_HISTORY_NBYTES;
        size_t written;

        fuzz_require(used + choice->codec->bound(n) <= out_nbytes, "no room");
        written = choice->codec->encode(
            state, &(struct codec_piece){data + at, n, history, at + n == n_bytes, at}, out + used,
            &err);
        fuzz_require(written <= choice->codec->bound(n), "more than its bound");
        fuzz_require(written > 0 || (choice->codec->zip_method == CODEC_ZIP_STORED && n == 0),
                     err.message);
        used += written;
        at += n;
    } while (at < n_bytes);
    choice->codec->state_free(state);
    return used;
}

static void check_inflated(const struct decoder *decoder, const uint8_t *packed,
                           size_t packed_nbytes, const uint8_t *data, size_t n_bytes)
{
    struct error err = {0};
    void *stream = decoder->state_new(&err);
    uint8_t *unpacked = malloc(n_bytes + 1);
    struct decoding io = {packed, packed_nbytes, unpacked, n_bytes + 1, false};

    fuzz_require(stream != NULL && unpacked != NULL, "no memory");
    fuzz_require(decoder->decode(stream, &io, &err) == 0, err.message);
    fuzz_require(io.done && io.in_nbytes == 0 && io.out_nbytes == 1, "another length");
    fuzz_require(memcmp(unpacked, data, n_bytes) == 0, "other bytes");
    decoder->state_free(stream);
    free(unpacked);
}

static void round_trip(const struct codec_choice *choice, const uint8_t *data, size_t n_bytes,
                       size_t piece_nbytes)
{
    const size_t n_pieces = n_bytes / piece_nbytes + 1;
    const size_t room = n_pieces * choice->codec->bound(piece_nbytes);
    uint8_t *packed = malloc(room);
    size_t packed_nbytes;

    fuzz_require(packed != NULL, "no memory");
    packed_nbytes = encode(choice, data, n_bytes, piece_nbytes, packed, room);
    if (choice->codec->zip_method == CODEC_ZIP_STORED)
        fuzz_require(packed_nbytes == n_bytes && memcmp(packed, data, n_bytes) == 0, "other bytes");
    else
        check_inflated(codec_decoder(choice->codec->zip_method), packed, packed_nbytes, data,
                       n_bytes);
    free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct codec_choice choice = {0};
    struct codec_member member = {0};
    struct error err = {0};
    uint8_t *data;

    if (n_bytes < SETTINGS_NBYTES)
        return 0;
    choice.codec = codec_table[bytes[0] % codec_n_table];
    choice.level = choice.codec->n_levels > 0 ? bytes[1] % choice.codec->n_levels + 1
                                              : strcmp(choice.codec->name, "isal") == 0;
    member = (struct codec_member){
        .n_bytes = n_bytes - SETTINGS_NBYTES,
        .item_nbytes = (size_t)1 << bytes[2] % 4,
        .periods = {bytes[3] + 1u, bytes[4] * 4u + 1, bytes[5] * 64u + 1},
        .n_periods = bytes[6] % 4,
        .header_nbytes = bytes[3],
        .row_nbytes = (uint64_t)bytes[4] << bytes[2] % 4,
        .image_nrows = bytes[5],
        .n_images = bytes[6] / 4,
    };
    n_bytes -= SETTINGS_NBYTES;
    data = malloc(n_bytes + CODEC_READ_SLACK); /* no more: reading further is noticed */
    fuzz_require(data != NULL, "no memory");
    memcpy(data, bytes + SETTINGS_NBYTES, n_bytes);
    memset(data + n_bytes, 0x55, CODEC_READ_SLACK);
    member.sample = data;
    member.sample_nbytes = n_bytes;
    if (choice.codec->train == NULL || choice.codec->train(&member, &choice.trained, &err) == 0)
        round_trip(&choice, data, n_bytes, 1 + (size_t)bytes[7] * 16);
    codec_choice_release(&choice);
    free(data);
    return 0;
}
