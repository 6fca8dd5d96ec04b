/*
 * manifest_merge.h - many manifests joined into one, the same whatever their order and number.
 */
#ifndef SYMAUG_SHARD_MANIFEST_MERGE_H
#define SYMAUG_SHARD_MANIFEST_MERGE_H

#include "shard/manifest_parts.h"

/*
 * Join them: outputs, inputs and warnings sorted, each once; counts added up. A manifest whose
 * outputs are all in another one adds nothing. Owned by the caller; NULL with err set (ERROR_DATA)
 * when they differ in version, board, transforms or options, when an output or an input is in two
 * of them, and when an output is missing or too many in a run that was cut into several.
 */
struct manifest *manifest_merge(const struct manifest_parts *parts, struct error *err);

#endif
