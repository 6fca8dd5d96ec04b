/*
 * grid.h - the `grid` encoder: raw deflate for board planes and sparse policies.
 *
 * Board planes repeat at a handful of distances that the array's shape gives away. They are learned
 * from a sample of the member (grid_train.c); then every position is compared at those distances
 * only, 64 bytes at a time, with a small hash table for the rest.
 */
#ifndef SYMAUG_CODEC_GRID_H
#define SYMAUG_CODEC_GRID_H

#include "codec/codec.h"

/* Greedy at learned distances; runs of zeros and whole elements, for policies; shortest path over
 * whole elements, for values that come again; shortest path over bytes. */
extern const struct codec codec_grid, codec_grid_sparse, codec_grid_values, codec_grid_best;

#endif
