/*
 * digest.h - SHA-256 of files, through libcrypto.
 */
#ifndef SYMAUG_SHARD_DIGEST_H
#define SYMAUG_SHARD_DIGEST_H

#include "base/error.h"
#include "base/input.h"

#include <stddef.h>
#include <stdint.h>

#define DIGEST_HEX_NBYTES 65 /* 64 lower-case hex digits and a NUL */

struct digest; /* opaque */

struct digest *digest_new(struct error *err);
int digest_update(struct digest *digest, const void *bytes, size_t n_bytes, struct error *err);
int digest_finish(struct digest *digest, char hex[DIGEST_HEX_NBYTES], struct error *err);
void digest_free(struct digest *digest);

/* Some bytes; the whole of an open input. */
int digest_bytes(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX_NBYTES], struct error *err);
int digest_input(const struct input *in, char hex[DIGEST_HEX_NBYTES], struct error *err);

#endif
