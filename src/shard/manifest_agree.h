/*
 * manifest_agree.h - what manifests that are joined must have in common.
 */
#ifndef SYMAUG_SHARD_MANIFEST_AGREE_H
#define SYMAUG_SHARD_MANIFEST_AGREE_H

#include "shard/manifest_parts.h"

/* ERROR_DATA, naming the first difference, unless both were made with the same version, board,
 * transforms, options and codec. */
int manifest_agree(const struct manifest_part *part, const struct manifest_part *with,
                   struct error *err);

#endif
