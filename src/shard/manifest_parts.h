/*
 * manifest_parts.h - the manifests that are to be joined into one: found in folders, read, the
 * outputs that they list looked for and called by their place as seen from the joined manifest.
 */
#ifndef SYMAUG_SHARD_MANIFEST_PARTS_H
#define SYMAUG_SHARD_MANIFEST_PARTS_H

#include "shard/manifest.h"

struct manifest_part {
    char *path;                /* owned: of its file */
    struct manifest *manifest; /* owned; its outputs' names are relative to the joined manifest */
};

struct manifest_strays; /* shards in a folder beside which no manifest stands */

struct manifest_parts {
    struct manifest_part *items; /* owned */
    size_t n;
    char *folder;                   /* owned: the real one in which the joined manifest will lie */
    struct manifest_strays *strays; /* owned */
};

/* Begin a list for a manifest called target. ERROR_CANT_CREATE when its folder is not there. */
int manifest_parts_init(struct manifest_parts *parts, const char *target, struct error *err);

/*
 * Append a manifest, or those of a folder: every NAME.manifest.json that stands beside its output
 * NAME. Joined manifests in a folder are passed over. ERROR_NO_INPUT for what is not there,
 * ERROR_DATA for what is no manifest, and for outputs that are missing or of another size.
 */
int manifest_parts_add(struct manifest_parts *parts, const char *path, struct error *err);

/* ERROR_DATA when a folder held a shard without a manifest that is no input of the joined one:
 * an output that was not finished, or an input that was not expanded. */
int manifest_parts_check_strays(const struct manifest_parts *parts, const struct manifest *joined,
                                struct error *err);

/* Free everything; accepts a zeroed one. */
void manifest_parts_release(struct manifest_parts *parts);

#endif
