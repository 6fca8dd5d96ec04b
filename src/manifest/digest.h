/*
 * digest.h - SHA-256, through libcrypto: of bytes, and of an output while it is still being
 * written.
 */
#pragma once

#include "base/error.h"
#include "base/output.h"

#define OPENSSL_SUPPRESS_DEPRECATED /* SHA256_Init and its like */
#include <openssl/sha.h>
#include <pthread.h>
#include <stdatomic.h>

#define DIGEST_HEX_NBYTES 65 /* 64 lower-case hex digits and a NUL */

/* The bytes added since its beginning. No memory is its own; after its end it may begin again. */
struct digest {
    SHA256_CTX state;
};

void digest_begin(struct digest *digest);
void digest_update(struct digest *digest, const void *bytes, size_t n_bytes);
/* "NAME HEX\n": the digest of a folder is that of such lines of its files. */
void digest_add_line(struct digest *digest, const char *name, const char *hex);
void digest_finish(struct digest *digest, char hex[DIGEST_HEX_NBYTES]);

/* Of some bytes. */
void digest_bytes(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX_NBYTES]);

/* --- an output --- */

/* The writer tells which bytes will not change any more; another thread hashes them meanwhile, and
 * the rest is left for the end. */
struct output_digest {
    struct output *output; /* borrowed */
    struct digest digest;
    uint8_t *chunk;                       /* owned */
    pthread_mutex_t lock;                 /* of one step at a time, and of: */
    struct error failure;                 /* the first one */
    _Atomic uint64_t n_settled, n_hashed; /* bytes from the beginning */
};

/* Begin with an open output, which must stay where it is. The caller releases it, also after a
 * failure. */
int output_digest_init(struct output_digest *d, struct output *output, struct error *err);

/* The writer: the first n_bytes are in the file and final. */
void output_digest_settle(struct output_digest *d, uint64_t n_bytes);

/* Anybody: whether a step has something to do; and the step, which hashes a few MiB. A failure is
 * kept for the end. For a crew's task they take the digest as it calls them. */
bool output_digest_is_due(void *output_digest);
void output_digest_step(void *output_digest);

/* The writer: all is written. Hash the rest. */
int output_digest_finish(struct output_digest *d, char hex[DIGEST_HEX_NBYTES], struct error *err);

/* Nobody may be in a step. Accepts a zeroed one. */
void output_digest_release(struct output_digest *d);
