/*
 * verify_manifest.h - a file against the manifest that lists it: of that size and digest, with
 * those arrays and rows.
 */
#ifndef SYMAUG_VERIFY_VERIFY_MANIFEST_H
#define SYMAUG_VERIFY_VERIFY_MANIFEST_H

#include "verify/verify_shard.h"

/* Check an open shard against its manifest. */
int verify_against_manifest(const struct verify_shard *shard, const struct verify_request *request,
                            struct verify_result *result, struct error *err);

#endif
