/*
 * kernel_bits.h - moving packed bits: planes of cells, eight cells a byte.
 */
#ifndef SYMAUG_ENGINE_KERNEL_BITS_H
#define SYMAUG_ENGINE_KERNEL_BITS_H

#include "engine/kernel.h"

/* Unpack, move and repack every plane of a row (move->kind MOVE_BITS). Pad bits become 0. */
void kernel_bits_row(const struct row_move *move, const struct move_step *step, const uint8_t *in,
                     uint8_t *out);

#endif
