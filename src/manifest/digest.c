/*
 * digest.c - SHA-256 of files, through libcrypto.
 *
 * A digest of an output follows the writer in steps of some MiB, taken by whichever thread has
 * nothing better to do; a lock keeps the steps in sequence.
 */
#include "manifest/digest.h"

#include "base/bytes.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#define CHUNK_NBYTES  (1u << 20)
#define STEP_NCHUNKS  2
#define SHA256_NBYTES 32

/* It is libcrypto's own. */
static EVP_MD_CTX *context_of(struct digest *digest)
{
    return (EVP_MD_CTX *)digest;
}

struct digest *digest_new(struct error *err)
{
    EVP_MD_CTX *context = NULL;

    /* OpenSSL's configuration, which nothing here needs, would take most of a millisecond to read.
     * And version 3 crashes where it could not allocate its default context, unless asked first. */
    OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG | OPENSSL_INIT_NO_ATEXIT, NULL);
#if OPENSSL_VERSION_NUMBER >= 0x30000000L
    if (OSSL_LIB_CTX_get0_global_default() != NULL)
#endif
        context = EVP_MD_CTX_new();
    if (context != NULL && EVP_DigestInit_ex(context, EVP_sha256(), NULL) == 1)
        return (struct digest *)context;
    EVP_MD_CTX_free(context);
    error_no_memory(err, "SHA-256");
    return NULL;
}

int digest_update(struct digest *digest, const void *bytes, size_t n_bytes, struct error *err)
{
    if (EVP_DigestUpdate(context_of(digest), bytes, n_bytes) == 1)
        return 0;
    return error_set(err, ERROR_INTERNAL, "SHA-256 failed");
}

int digest_add_line(struct digest *digest, const char *name, const char *hex, struct error *err)
{
    const char *const parts[] = {name, " ", hex, "\n"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (digest_update(digest, parts[i], strlen(parts[i]), err) != 0)
            return -1;
    return 0;
}

int digest_finish(struct digest *digest, char hex[DIGEST_HEX_NBYTES], struct error *err)
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sha256[EVP_MAX_MD_SIZE];
    unsigned n_bytes = 0;

    if (EVP_DigestFinal_ex(context_of(digest), sha256, &n_bytes) != 1 || n_bytes != SHA256_NBYTES)
        return error_set(err, ERROR_INTERNAL, "SHA-256 failed");
    for (unsigned i = 0; i < SHA256_NBYTES; i++) {
        *hex++ = digits[sha256[i] >> 4];
        *hex++ = digits[sha256[i] & 15];
    }
    *hex = '\0';
    return 0;
}

void digest_free(struct digest *digest)
{
    EVP_MD_CTX_free(context_of(digest));
}

int digest_bytes(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX_NBYTES], struct error *err)
{
    struct digest *digest = digest_new(err);
    int rc = digest == NULL ? -1 : digest_update(digest, bytes, n_bytes, err);

    if (rc == 0)
        rc = digest_finish(digest, hex, err);
    digest_free(digest);
    return rc;
}

int digest_input(const struct input *in, char hex[DIGEST_HEX_NBYTES], struct error *err)
{
    struct digest *digest = digest_new(err);
    uint8_t *chunk = malloc(CHUNK_NBYTES);
    uint64_t released = 0;
    int rc = digest == NULL ? -1 : chunk == NULL ? error_no_memory(err, "SHA-256") : 0;

    for (uint64_t at = 0; at < in->n_bytes && rc == 0;) {
        const size_t n = (size_t)smaller(in->n_bytes - at, CHUNK_NBYTES);

        rc = input_read(in, at, chunk, n, err) == 0 ? digest_update(digest, chunk, n, err) : -1;
        at += n;
        input_release_before(in, at, &released);
    }
    if (rc == 0)
        rc = digest_finish(digest, hex, err);
    free(chunk);
    digest_free(digest);
    return rc;
}

/* --- an output --- */

int output_digest_init(struct output_digest *d, struct output *output, struct error *err)
{
    *d = (struct output_digest){.output = output, .lock = PTHREAD_MUTEX_INITIALIZER};
    d->digest = digest_new(err);
    if (d->digest == NULL)
        return -1;
    d->chunk = malloc(CHUNK_NBYTES);
    return d->chunk != NULL ? 0 : error_no_memory(err, "SHA-256");
}

void output_digest_settle(struct output_digest *d, uint64_t n_bytes)
{
    d->n_settled = n_bytes;
}

bool output_digest_is_due(void *output_digest)
{
    const struct output_digest *d = output_digest;

    return d->n_hashed < d->n_settled;
}

void output_digest_step(void *output_digest)
{
    struct output_digest *d = output_digest;
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < STEP_NCHUNKS && d->failure.kind == ERROR_NONE && output_digest_is_due(d);
         i++) {
        const uint64_t left = d->n_settled - d->n_hashed;
        const size_t n = left < CHUNK_NBYTES ? (size_t)left : CHUNK_NBYTES;

        if (output_read_written(d->output, d->n_hashed, d->chunk, n, &d->failure) != 0 ||
            digest_update(d->digest, d->chunk, n, &d->failure) != 0)
            d->n_hashed = UINT64_MAX; /* nothing is due any more */
        else
            d->n_hashed += n;
    }
    pthread_mutex_unlock(&d->lock);
}

int output_digest_finish(struct output_digest *d, char hex[DIGEST_HEX_NBYTES], struct error *err)
{
    if (output_flush(d->output, err) != 0)
        return -1;
    output_begin_sync(d->output); /* beside the digest */
    output_digest_settle(d, d->output->n_bytes);
    while (output_digest_is_due(d))
        output_digest_step(d);
    if (d->failure.kind != ERROR_NONE)
        return error_pass(err, &d->failure);
    return digest_finish(d->digest, hex, err);
}

void output_digest_release(struct output_digest *d)
{
    if (d->output == NULL)
        return;
    pthread_mutex_destroy(&d->lock);
    digest_free(d->digest);
    free(d->chunk);
    *d = (struct output_digest){0};
}
