/*
 * orbit_detect.h - is a set an expanded one, and which of its rows belong together?
 */
#ifndef SYMAUG_VERIFY_ORBIT_DETECT_H
#define SYMAUG_VERIFY_ORBIT_DETECT_H

#include "verify/orbit_groups.h"

/*
 * Provenance arrays tell; else the order on the command line or in the manifest; else orders are
 * tried on groups spread over the set, and the one under which most of them are images of one
 * position is taken. Where rows are missing or there twice, rows are grouped by the canonical form
 * of their planes. result->is_expanded says whether groups were found.
 */
int orbit_detect(struct orbit_groups *groups, const struct verify_shard *shard,
                 const struct lanes *lanes, const struct verify_request *request,
                 struct verify_result *result, struct error *err);

#endif
