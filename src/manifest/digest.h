/*
 * digest.h - SHA-256, by libcrypto: of bytes, and of an output while it is being written.
 */
#pragma once

#include "base/output.h"

#define OPENSSL_SUPPRESS_DEPRECATED /* SHA256_Init and its like */
#include <openssl/sha.h>
#include <pthread.h>
#include <stdatomic.h>

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

/* --- an output --- */

/* The writer tells which bytes will not change any more, and other threads hash them meanwhile. */
struct output_digest {
    struct output *output; /* borrowed */
    struct digest digest;
    uint8_t *chunk;                       /* owned */
    pthread_mutex_t lock;                 /* held during a step */
    struct error failure;                 /* the first one, protected by the lock */
    _Atomic uint64_t n_settled, n_hashed; /* bytes from the start of the file */
};

/* Begin with an open output, which must not move. The caller releases it, even after a failure. */
int output_digest_init(struct output_digest *d, struct output *output, struct error *err);

/* For the writer: the first n_bytes are in the file and final. */
void output_digest_settle(struct output_digest *d, uint64_t n_bytes);

/* For any thread, as functions of a crew_task: whether there is something to hash; and a step,
 * which hashes up to 2 MiB. A failure is kept for output_digest_finish. */
bool output_digest_is_due(void *output_digest);
void output_digest_step(void *output_digest);

/* For the writer, when all is written: hash the rest. */
int output_digest_finish(struct output_digest *d, char hex[DIGEST_HEX_NBYTES], struct error *err);

/* Release it while no thread is in a step; accepts a zeroed one. */
void output_digest_release(struct output_digest *d);
