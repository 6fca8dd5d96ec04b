/*
 * record.h - the manifest of an expansion, from the plan and what was written.
 */
#ifndef SYMAUG_ENGINE_RECORD_H
#define SYMAUG_ENGINE_RECORD_H

#include "engine/expand.h"
#include "engine/out_member.h"

/* Write PATH.manifest.json. input_sha256: one per archive of the plan. */
int record_write(const struct plan *plan, const char *path, const struct settings *settings,
                 const struct expand_result *result, const struct out_member *members,
                 size_t n_members, char (*input_sha256)[DIGEST_HEX_NBYTES], struct error *err);

/* True when the manifest of path was written for the same settings and inputs, and path holds the
 * bytes it lists. Nothing that is missing or unreadable is an error: it is not the same. */
int record_matches(const struct plan *plan, const char *path,
                   const struct settings *settings, char (*input_sha256)[DIGEST_HEX_NBYTES],
                   bool *matches, struct error *err);

#endif
