/* output_digest.c - see output_digest.h. */
#include "shard/output_digest.h"

#include <stdlib.h>

#define CHUNK_NBYTES (1u << 20)
#define STEP_NCHUNKS 2

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

bool output_digest_is_due(struct output_digest *d)
{
    return d->n_hashed < d->n_settled;
}

static int hash_chunk(struct output_digest *d, struct error *err)
{
    const uint64_t left = d->n_settled - d->n_hashed;
    const size_t n = left < CHUNK_NBYTES ? (size_t)left : CHUNK_NBYTES;

    if (output_read_written(d->output, d->n_hashed, d->chunk, n, err) != 0 ||
        digest_update(d->digest, d->chunk, n, err) != 0)
        return -1;
    d->n_hashed += n;
    return 0;
}

void output_digest_step(struct output_digest *d)
{
    pthread_mutex_lock(&d->lock);
    for (int i = 0; i < STEP_NCHUNKS && d->failure.kind == ERROR_NONE && output_digest_is_due(d);
         i++)
        if (hash_chunk(d, &d->failure) != 0)
            d->n_hashed = UINT64_MAX; /* nothing is due any more */
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
