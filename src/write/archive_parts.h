/*
 * archive_parts.h - the forms of an output shard. Private to archive_out.
 */
#ifndef SYMAUG_WRITE_ARCHIVE_PARTS_H
#define SYMAUG_WRITE_ARCHIVE_PARTS_H

#include "base/output.h"
#include "base/output.h"
#include "manifest/digest.h"
#include "write/member.h"

#define FOLDER_OUT_SUFFIX ".npy"

/* The members to write: borrowed. */
struct member_list {
    struct member *const *members;
    size_t n;
};

/* Pull the members into a zip file at the start of the (open, empty) output, whose digest (or NULL)
 * is told what is final. comment may be NULL. */
int npz_out_write(struct output *output, struct output_digest *digest, struct member_list list,
                  const char *comment, struct error *err);

/* Pull a stored member to its end into an open output; the CRC it gives is checked against what was
 * written. */
int plain_out_write(struct output *output, struct member *member, struct error *err);

/* Whether a member can be a file of the folder: ERROR_CANT_CREATE with the reason. */
int folder_out_check(const struct member *member, struct error *err);

/* Pull each member into a file of the temp folder. *n_bytes and sha256 as archive_out_write. */
int folder_out_write(const struct output_folder *folder, struct member_list list, uint64_t *n_bytes,
                     char sha256[DIGEST_HEX_NBYTES], struct error *err);

#endif
