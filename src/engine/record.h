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

/* Append to a list in what the output at path is not what the plan would make: settings, roles,
 * inputs, bytes; nothing when it is just that. *is_known: a manifest that can be read tells. */
int record_compare(const struct plan *plan, const char *path, const struct settings *settings,
                   char (*input_sha256)[DIGEST_HEX_NBYTES], bool *is_known, struct text *list,
                   struct error *err);

#endif
