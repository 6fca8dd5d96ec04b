/*
 * plain_out.h - a member as a file of its own: stored bytes, nothing around them.
 */
#ifndef SYMAUG_SHARD_PLAIN_OUT_H
#define SYMAUG_SHARD_PLAIN_OUT_H

#include "base/error.h"
#include "base/output.h"
#include "shard/member_pull.h"

/* Pull a stored member to its end into an open output; the CRC it gives is checked against what was
 * written. The caller commits or aborts the output. */
int plain_out_write(struct output *output, struct member_pull *member, struct error *err);

#endif
