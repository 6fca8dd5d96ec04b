/*
 * grid_block.h - sequences -> one deflate block: dynamic, fixed or stored, whichever is smallest.
 */
#ifndef SYMAUG_CODEC_GRID_BLOCK_H
#define SYMAUG_CODEC_GRID_BLOCK_H

#include "codec/grid_bits.h"
#include "codec/grid_state.h"

/* Input bytes of every block but a piece's last: it bounds what stored blocks cost. */
#define GRID_BLOCK_MIN_NBYTES 32768

/*
 * Write n_bytes (at most GRID_MAX_BLOCK) as the state's sequences say, and empty these. The state's
 * costs become those of this block's codes. Never longer than stored blocks would be.
 */
void grid_block_write(struct grid_state *state, const uint8_t *bytes, size_t n_bytes, bool final,
                      struct grid_bits *bits);

/* Write an empty stored block: the end of the bits so far, byte-aligned. */
void grid_block_sync(struct grid_bits *bits);

/* Costs before the first block. */
void grid_costs_default(struct grid_costs *costs);

/* Costs under the best codes for these counts. */
void grid_costs_from_counts(const struct grid_counts *counts, struct grid_costs *costs);

#endif
