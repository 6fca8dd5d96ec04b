/*
 * explain.h - is a set an expanded one, and which of its rows belong together?
 */
#ifndef SYMAUG_VERIFY_EXPLAIN_H
#define SYMAUG_VERIFY_EXPLAIN_H

#include "verify/groups.h"
#include "verify/verify.h"

/*
 * Provenance arrays tell; else the order and the transforms on the command line or in the manifest;
 * else layouts are tried on sources spread over the set, and the one that explains most rows is
 * taken. Where rows are missing or there twice, rows are grouped by the shape of their stones.
 * result->is_expanded says whether groups were found, result->note how, or why not. Lanes are
 * closed.
 */
int explain_set(struct orbit_groups *groups, const struct verify_shard *shard, struct lanes *lanes,
                const struct verify_request *request, struct verify_result *result,
                struct error *err);

#endif
