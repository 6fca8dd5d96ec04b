/*
 * grid_huffman.h - optimal prefix codes of limited length.
 */
#ifndef SYMAUG_CODEC_GRID_HUFFMAN_H
#define SYMAUG_CODEC_GRID_HUFFMAN_H

#include <stddef.h>
#include <stdint.h>

#define GRID_HUFFMAN_MAX_SYMBOLS 288
#define GRID_HUFFMAN_MAX_COUNT   ((1u << 23) - 1) /* of one symbol */
#define GRID_HUFFMAN_MAX_LENGTH  15

/*
 * Code lengths (0: unused) of a prefix code for symbols with these counts, none longer than
 * `limit`, of the least total size. The code is always complete and has at least two symbols, for
 * decoders that insist: with fewer in use, symbols 0 and 1 fill up. n_symbols is 2 to
 * GRID_HUFFMAN_MAX_SYMBOLS, and 2^limit >= n_symbols.
 */
void grid_huffman_lengths(const uint32_t *counts, size_t n_symbols, unsigned limit,
                          uint8_t *lengths);

/* The canonical codes of these lengths, first bit lowest, as deflate writes them. */
void grid_huffman_codes(const uint8_t *lengths, size_t n_symbols, uint16_t *codes);

#endif
