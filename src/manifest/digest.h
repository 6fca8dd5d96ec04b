/*
 * digest.h - SHA-256, by libcrypto.
 */
#pragma once

#include "base/error.h"

#define OPENSSL_SUPPRESS_DEPRECATED /* SHA256_Init and its like */
#include <openssl/sha.h>

#define DIGEST_HEX_NBYTES 65 /* 64 lower-case hex digits and a NUL */

/* A digest of the bytes added since digest_begin. Owns nothing; may begin again at any time. */
struct digest {
    SHA256_CTX state;
};

void digest_begin(struct digest *digest);
void digest_update(struct digest *digest, const void *bytes, size_t n_bytes);
/* Add "NAME HEX\n": the digest of a folder is that of such a line per file. */
void digest_add_line(struct digest *digest, const char *name, const char *hex);
void digest_finish(struct digest *digest, char hex[DIGEST_HEX_NBYTES]);

/* The digest of n_bytes. */
void digest_bytes(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX_NBYTES]);
