/*
 * pack.h - the pieces of one member while they are made and compressed. Private to member.c.
 */
#ifndef SYMAUG_WRITE_PACK_H
#define SYMAUG_WRITE_PACK_H

#include "write/member.h"

struct packer;

/* Over pieces (which it takes over, also on failure): fetch the first input and choose the codec by
 * it. One thread does this, any one. NULL with err set on failure. */
struct packer *packer_new(struct members *all, struct pieces *pieces,
                          const struct codec_member *about, struct error *err);

/* The next packed bytes, a whole run of deflate blocks; valid until the next call. *n_bytes is 0 at
 * the end. The leader's to call; the packers of a crew work one after another. */
int packer_pull(struct packer *packer, const uint8_t **bytes, size_t *n_bytes, struct error *err);

/* What is known of the bytes pulled so far: the codec's name, the CRC and the number of the
 * unpacked ones. */
const char *packer_codec(const struct packer *packer);
uint32_t packer_crc(const struct packer *packer);
uint64_t packer_unpacked_nbytes(const struct packer *packer);

/* Free it with its pieces; accepts NULL. */
void packer_free(struct packer *packer);

#endif
