/*
 * side_work.c - the SHA-256 of the inputs, hashed beside the work on them. Whoever fetches input
 * grants that many bytes, and threads with nothing to do hash them in small steps while the pages
 * are still in memory, so that each file is read from the disk once. A folder's digest is that of
 * the list of its files'.
 */
#include "engine/side_work.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define CHUNK_NBYTES (256u << 10)
#define STEP_NCHUNKS 4

int side_work_init(struct side_work *work, const struct archive_in *archives, size_t n_archives,
                   struct error *err)
{
    *work = (struct side_work){.archives = archives, .n_archives = n_archives};
    work->sha256 = calloc(n_archives, sizeof *work->sha256);
    work->buffer = malloc(CHUNK_NBYTES);
    if (work->sha256 != NULL && work->buffer != NULL)
        return 0;
    side_work_release(work);
    return error_no_memory(err, "digests of the inputs");
}

/* The file is read to its end: keep its digest and go on to the next. */
static int end_file(struct side_work *work, struct error *err)
{
    const struct archive_in *archive = &work->archives[work->archive];
    char hex[DIGEST_HEX_NBYTES];

    if (digest_finish(work->digest, hex, err) != 0)
        return -1;
    digest_free(work->digest);
    work->digest = NULL;
    work->offset = work->released = 0;
    if (archive->form != ARCHIVE_FOLDER) {
        memcpy(work->sha256[work->archive++], hex, sizeof hex);
        return 0;
    }
    if ((work->lines == NULL && (work->lines = digest_new(err)) == NULL) ||
        digest_add_line(work->lines, text_base_name(archive->inputs[work->file].path), hex, err) !=
            0)
        return -1;
    if (++work->file < archive->n_inputs)
        return 0;
    if (digest_finish(work->lines, work->sha256[work->archive++], err) != 0)
        return -1;
    digest_free(work->lines);
    work->lines = NULL;
    work->file = 0;
    return 0;
}

static int hash_chunk(struct side_work *work, struct error *err)
{
    const struct input *in = &work->archives[work->archive].inputs[work->file];
    const uint64_t left = in->n_bytes - work->offset;
    const size_t n = left < CHUNK_NBYTES ? (size_t)left : CHUNK_NBYTES;

    if (work->digest == NULL && (work->digest = digest_new(err)) == NULL)
        return -1;
    if (n == 0)
        return end_file(work, err);
    if (input_read(in, work->offset, work->buffer, n, err) != 0)
        return -1;
    work->offset += n;
    input_release_before(in, work->offset, &work->released);
    return digest_update(work->digest, work->buffer, n, err);
}

int side_work_step(struct side_work *work, struct error *err)
{
    for (int i = 0; i < STEP_NCHUNKS && !work->done; i++) {
        work->done = work->archive == work->n_archives;
        if (!work->done && hash_chunk(work, err) != 0)
            return -1;
        work->used += CHUNK_NBYTES;
    }
    return 0;
}

int side_work_finish(struct side_work *work, struct error *err)
{
    while (!work->done)
        if (side_work_step(work, err) != 0)
            return -1;
    return 0;
}

int side_work_digest(const struct archive_in *archive, char sha256[DIGEST_HEX_NBYTES],
                     struct error *err)
{
    struct side_work work;
    int status = side_work_init(&work, archive, 1, err);

    if (status != 0)
        return -1;
    status = side_work_finish(&work, err);
    memcpy(sha256, work.sha256[0], DIGEST_HEX_NBYTES);
    side_work_release(&work);
    return status;
}

void side_work_release(struct side_work *work)
{
    digest_free(work->digest);
    digest_free(work->lines);
    free(work->sha256);
    free(work->buffer);
    *work = (struct side_work){0};
}
