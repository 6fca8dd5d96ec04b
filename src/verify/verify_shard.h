/*
 * verify_shard.h - a shard as `verify` sees it: its arrays, what they mean, and its board - as far
 * as all that can be told. What cannot be told is a finding, not an end.
 */
#ifndef SYMAUG_VERIFY_VERIFY_SHARD_H
#define SYMAUG_VERIFY_VERIFY_SHARD_H

#include "engine/shard.h"
#include "verify/findings.h"
#include "verify/verify.h"

/*
 * Open a shard and decide board, conventions and roles. Findings go to result; result->fatal is set
 * when the file cannot be read. -1 with err set: a wrong command line, no memory.
 */
int verify_shard_open(struct shard *shard, const struct verify_request *request, const char *path,
                      struct verify_result *result, struct error *err);

/* Check an open shard against its manifest, which is there: of that size and digest, with those
 * arrays and rows. */
int verify_shard_compare(const struct shard *shard, const struct verify_request *request,
                         struct verify_result *result, struct error *err);

/* Turn an error of reading into a finding (crc, container) and mark the result as unreadable. -1
 * passes on what no finding can hold (no memory, bugs). */
int verify_read_failed(struct verify_result *result, const char *array, const struct error *why,
                       struct error *err);

#endif
