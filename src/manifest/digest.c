/*
 * digest.c - SHA-256 by libcrypto's direct functions: EVP would first load its tables of all
 * algorithms, which takes most of a millisecond.
 *
 * The digest of an output follows the writer in steps of 2 MiB, taken by whichever thread is idle;
 * a lock keeps the steps in sequence.
 */
#include "manifest/digest.h"

#include "base/bytes.h"

#include <fcntl.h>

#define CHUNK_NBYTES (1u << 20)
#define STEP_NCHUNKS 2

void digest_begin(struct digest *digest)
{
    SHA256_Init(&digest->state);
}

void digest_update(struct digest *digest, const void *bytes, size_t n_bytes)
{
    SHA256_Update(&digest->state, bytes, n_bytes);
}

void digest_add_line(struct digest *digest, const char *name, const char *hex)
{
    const char *const parts[] = {name, " ", hex, "\n"};

    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        digest_update(digest, parts[i], strlen(parts[i]));
}

void digest_finish(struct digest *digest, char hex[DIGEST_HEX_NBYTES])
{
    static const char digits[] = "0123456789abcdef";
    unsigned char sha256[SHA256_DIGEST_LENGTH];

    SHA256_Final(sha256, &digest->state);
    for (unsigned i = 0; i < SHA256_DIGEST_LENGTH; i++) {
        *hex++ = digits[sha256[i] >> 4];
        *hex++ = digits[sha256[i] & 15];
    }
    *hex = '\0';
}

void digest_bytes(const void *bytes, size_t n_bytes, char hex[DIGEST_HEX_NBYTES])
{
    struct digest digest;

    digest_begin(&digest);
    digest_update(&digest, bytes, n_bytes);
    digest_finish(&digest, hex);
}

/* --- an output --- */

int output_digest_init(struct output_digest *d, struct output *output, struct error *err)
{
    *d = (struct output_digest){.output = output, .lock = PTHREAD_MUTEX_INITIALIZER};
    digest_begin(&d->digest);
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
        const size_t n = (size_t)smaller(d->n_settled - d->n_hashed, CHUNK_NBYTES);

        if (output_read(d->output, d->n_hashed, d->chunk, n, &d->failure) != 0) {
            d->n_hashed = UINT64_MAX; /* no step is due any more */
        } else {
            digest_update(&d->digest, d->chunk, n);
            d->n_hashed += n;
        }
    }
    pthread_mutex_unlock(&d->lock);
}

int output_digest_finish(struct output_digest *d, char hex[DIGEST_HEX_NBYTES], struct error *err)
{
    if (output_flush(d->output, err) != 0)
        return -1;
    /* A hint: the disk may begin to write while the rest is hashed. */
    sync_file_range(d->output->fd, 0, 0, SYNC_FILE_RANGE_WRITE);
    output_digest_settle(d, d->output->n_bytes);
    while (output_digest_is_due(d))
        output_digest_step(d);
    if (d->failure.kind != ERROR_NONE)
        return error_pass(err, &d->failure);
    digest_finish(&d->digest, hex);
    return 0;
}

void output_digest_release(struct output_digest *d)
{
    if (d->output == NULL)
        return;
    pthread_mutex_destroy(&d->lock);
    free(d->chunk);
    *d = (struct output_digest){0};
}
