/*
 * side_work.h - work done beside the pieces, a step at a time: the digests of the inputs.
 *
 * Its owner takes steps as the members fetch input, so that hashing overlaps compression and keeps
 * pace with it (the input is read from the disk once); whatever is left is done at the end.
 */
#ifndef SYMAUG_ENGINE_SIDE_WORK_H
#define SYMAUG_ENGINE_SIDE_WORK_H

#include "base/error.h"
#include "base/input.h"
#include "manifest/digest.h"
#include "shard/archive_in.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The digests of the files of several archives. Zero-initialise through side_work_init. */
struct side_work {
    const struct archive_in *archives; /* borrowed */
    size_t n_archives;
    char (*sha256)[DIGEST_HEX_NBYTES]; /* owned: one per archive, complete when done; a folder's is
                                          that of the lines "FILE SHA256\n" of its files */
    size_t archive, file;              /* being hashed */
    uint64_t offset, released;
    struct digest *digest; /* owned: of the file */
    struct digest *lines;  /* owned: of a folder's lines */
    uint8_t *buffer;       /* owned */
    uint64_t used;         /* bytes hashed, about */
    bool done;
};

int side_work_init(struct side_work *work, const struct archive_in *archives, size_t n_archives,
                   struct error *err);

/* Hash a part. One thread at a time. */
int side_work_step(struct side_work *work, struct error *err);

/* Hash the rest. */
int side_work_finish(struct side_work *work, struct error *err);

/* The digest of one archive. */
int side_work_digest(const struct archive_in *archive, char sha256[DIGEST_HEX_NBYTES],
                     struct error *err);

/* Free it; accepts a zeroed one. */
void side_work_release(struct side_work *work);

#endif
