/* trial.c - what it costs to encode a part of a member. */
#include "codec/trial.h"

#include <stdlib.h>

struct trial trial_of(const uint8_t *sample, size_t sample_nbytes, uint64_t n_bytes,
                      uint64_t byte_worth)
{
    const size_t n = n_bytes < sample_nbytes ? (size_t)n_bytes : sample_nbytes;
    const size_t n_before = sample_nbytes - n;

    return (struct trial){
        .piece = sample + n_before,
        .n_bytes = n,
        .history_nbytes = n_before < CODEC_HISTORY_NBYTES ? n_before : CODEC_HISTORY_NBYTES,
        .byte_worth = byte_worth,
    };
}

int trial_cost(const struct trial *trial, const struct codec_choice *choice,
               uint64_t nominal_operations, uint64_t *cost, struct error *err)
{
    const struct codec *codec = choice->codec;
    uint8_t *out = malloc(codec->bound(trial->n_bytes));
    void *state = NULL;
    size_t n_bytes;
    int result = -1;

    if (out == NULL) {
        error_no_memory(err, "trial of a codec");
        goto out;
    }
    state = codec->state_new(choice, err);
    if (state == NULL)
        goto out;
    n_bytes =
        codec->encode(state, trial->piece, trial->n_bytes, trial->history_nbytes, true, out, err);
    if (n_bytes == 0)
        goto out;
    *cost = n_bytes * trial->byte_worth;
    *cost += codec->n_operations != NULL ? codec->n_operations(state) : nominal_operations;
    if (codec->learn != NULL)
        codec->learn(state, choice->trained);
    result = 0;
out:
    if (state != NULL)
        codec->state_free(state);
    free(out);
    return result;
}
