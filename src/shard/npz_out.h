/*
 * npz_out.h - writing members as a zip file with libzip. Private to archive_out.
 */
#ifndef SYMAUG_SHARD_NPZ_OUT_H
#define SYMAUG_SHARD_NPZ_OUT_H

#include "base/output.h"
#include "shard/member_pull.h"
#include "shard/output_digest.h"

/* Pull the members into a zip file at the start of the (open, empty) output. comment may be NULL,
 * and so may digest, which is told what is final. The first failure of a member or of the output is
 * the error reported. */
int npz_out_write(struct output *output, struct output_digest *digest, struct member_pull *members,
                  size_t n_members, const char *comment, struct error *err);

#endif
