/*
 * grid_train.h - learning a member's distances.
 */
#ifndef SYMAUG_CODEC_GRID_TRAIN_H
#define SYMAUG_CODEC_GRID_TRAIN_H

#include "codec/codec.h"
#include "codec/grid_state.h"

/*
 * Learn from a member's description and the first sample_nbytes of it (CODEC_READ_SLACK readable
 * behind them): which distances its bytes repeat at, and what symbols will cost. The work is
 * bounded by the member's size. The result does not depend on the kernels. Returns 0 or -1.
 */
int grid_train(const struct grid_kernels *kernels, const struct codec_member *member,
               const uint8_t *sample, size_t sample_nbytes, struct grid_trained *trained,
               struct error *err);

#endif
