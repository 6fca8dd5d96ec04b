/*
 * verify_manifest.h - a manifest against the files it lists: there, of that size and digest, with
 * those arrays and rows.
 */
#ifndef SYMAUG_VERIFY_VERIFY_MANIFEST_H
#define SYMAUG_VERIFY_VERIFY_MANIFEST_H

#include "verify/verify_shard.h"

/* Check a manifest and every output it lists, each with a result of its own; the outputs' rows are
 * checked too, unless only headers are to be read. */
int verify_manifest(const struct verify_request *request, const char *path,
                    struct verify_results *results, struct error *err);

/* Check an open shard against its manifest. */
int verify_against_manifest(const struct verify_shard *shard, const struct verify_request *request,
                            struct verify_result *result, struct error *err);

/* From verify.c: check one file; a new result, borrowed until the next one is added. */
int verify_file(const struct verify_request *request, const char *path,
                struct verify_result *result, struct error *err);
struct verify_result *verify_results_add(struct verify_results *results,
                                         const struct verify_request *request, const char *path,
                                         struct error *err);

#endif
