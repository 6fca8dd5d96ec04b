/*
 * inflate_header.h - the strict check of a deflate block's header. Internal to src/codec.
 *
 * ISA-L accepts headers that zlib, and with it every other reader of zip files, refuses: sets of
 * code lengths that leave codes unused. What one build of the program reads, every other reader
 * should read too, so headers are checked before ISA-L sees them.
 */
#ifndef SYMAUG_CODEC_INFLATE_HEADER_H
#define SYMAUG_CODEC_INFLATE_HEADER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* No header is longer: 17 bits, 19 lengths of 3 bits, 316 lengths of at most 7 bits, the last one
 * perhaps a run with 7 bits more, and one byte because headers start anywhere in a byte. */
#define INFLATE_HEADER_MAX_NBYTES ((17 + 19 * 3 + 316 * 7 + 7 + 7) / 8 + 1)

enum inflate_header { INFLATE_HEADER_OK, INFLATE_HEADER_SHORT, INFLATE_HEADER_INVALID };

/*
 * Check the header that begins with the low n_bits of `bits` and goes on in `bytes`. With OK,
 * *n_used bytes are needed, the last one perhaps in part, and *is_last tells whether it is the
 * final block. SHORT: valid so far, but not complete. The length of a stored block is not checked.
 */
enum inflate_header inflate_header_check(uint64_t bits, unsigned n_bits, const uint8_t *bytes,
                                         size_t n_bytes, size_t *n_used, bool *is_last);

#endif
