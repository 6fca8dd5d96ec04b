/*
 * trial.h - what it costs to encode a part of a member.
 */
#ifndef SYMAUG_CODEC_TRIAL_H
#define SYMAUG_CODEC_TRIAL_H

#include "codec/codec.h"

/* The end of a sample, with the rest of it as history. */
struct trial {
    const uint8_t *piece; /* borrowed from the sample */
    size_t n_bytes, history_nbytes;
    uint64_t byte_worth; /* operations */
};

struct trial trial_of(const uint8_t *sample, size_t sample_nbytes, uint64_t n_bytes,
                      uint64_t byte_worth);

/* The cost in operations of the trial's piece, from which the choice learns: what its bytes are
 * worth, and the operations, nominal where the codec does not count them. Returns 0 or -1. */
int trial_cost(const struct trial *trial, const struct codec_choice *choice,
               uint64_t nominal_operations, uint64_t *cost, struct error *err);

#endif
