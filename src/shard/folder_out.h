/*
 * folder_out.h - writing members as a folder of .npy files. Private to archive_out.
 */
#ifndef SYMAUG_SHARD_FOLDER_OUT_H
#define SYMAUG_SHARD_FOLDER_OUT_H

#include "base/output_folder.h"
#include "shard/digest.h"
#include "shard/member_pull.h"

#define FOLDER_OUT_SUFFIX ".npy"

/* Whether a member can be a file of the folder: ERROR_CANT_CREATE with the reason. */
int folder_out_check(const char *name, const struct member_source *source, struct error *err);

/* Pull each member into a file of the temp folder. *n_bytes and sha256 as archive_out_write. */
int folder_out_write(const struct output_folder *folder, struct member_pull *members,
                     size_t n_members, uint64_t *n_bytes, char sha256[DIGEST_HEX_NBYTES],
                     struct error *err);

#endif
