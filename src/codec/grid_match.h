/*
 * grid_match.h - which of the instruction sets to use.
 */
#ifndef SYMAUG_CODEC_GRID_MATCH_H
#define SYMAUG_CODEC_GRID_MATCH_H

#include "codec/grid_state.h"

/* All that the build has, best first. Their results are the same, bit for bit. */
extern const struct grid_kernels *const grid_kernels_table[];
extern const size_t grid_kernels_n_table;

/* The best that this machine has. */
const struct grid_kernels *grid_kernels_best(void);

#endif
