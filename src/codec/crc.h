/*
 * crc.h - CRC-32 as zip uses it: the fastest implementation the build has.
 */
#ifndef SYMAUG_CODEC_CRC_H
#define SYMAUG_CODEC_CRC_H

#include <stddef.h>
#include <stdint.h>

/* CRC of n_bytes more, starting from crc (0 for the first). */
uint32_t crc_update(uint32_t crc, const void *bytes, size_t n_bytes);

/* CRC of a + b from the CRCs of both and the length of b. */
uint32_t crc_combine(uint32_t crc_a, uint32_t crc_b, uint64_t b_nbytes);

#endif
