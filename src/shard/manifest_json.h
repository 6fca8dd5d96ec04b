/*
 * manifest_json.h - the inside of a manifest, for the modules that build, write, read and merge
 * them. The keys and their forms are described in share/symaug/manifest.schema.json.
 */
#ifndef SYMAUG_SHARD_MANIFEST_JSON_H
#define SYMAUG_SHARD_MANIFEST_JSON_H

#include "shard/manifest.h"

#include <jansson.h>

struct manifest {
    json_t *root; /* owned: an object */
};

/* Text as a JSON string: bytes that are not UTF-8 become \xNN and, in a name, a
 * backslash is doubled.
 * A new reference; NULL with err set. */
json_t *manifest_json_text(const char *text, bool is_name, struct error *err);

/* ERROR_DATA with the reason alone ("outputs[2].sha256: 64 lower-case hex digits expected") when a
 * parsed file does not have the form of a manifest. */
int manifest_check_form(const json_t *root, struct error *err);

#endif
