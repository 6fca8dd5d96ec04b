/*
 * merge.h - many manifests joined into one, the same whatever their order and number.
 */
#ifndef SYMAUG_MANIFEST_MERGE_H
#define SYMAUG_MANIFEST_MERGE_H

#include "manifest/manifest.h"

struct manifest_part {
    char *path;                /* owned: of its file */
    struct manifest *manifest; /* owned; its outputs' names are relative to the joined manifest */
    bool adds_nothing;         /* all that it lists is in another one */
    bool run_is_known;         /* it tells of a run that another one told of */
};

struct manifest_parts {
    struct manifest_part *items; /* owned */
    size_t n;
    char **strays; /* owned: shards in a folder beside which no manifest stands */
    size_t n_strays;
    char *folder; /* owned: the real one in which the joined manifest will lie */
};

/* Begin a list for a manifest called target. ERROR_CANT_CREATE when its folder is not there. */
int manifest_parts_init(struct manifest_parts *parts, const char *target, struct error *err);

/*
 * Append a manifest, or those of a folder: every NAME.manifest.json that stands beside its output
 * NAME. Joined manifests in a folder are passed over. ERROR_NO_INPUT for what is not there,
 * ERROR_DATA for what is no manifest, and for outputs that are missing or of another size.
 */
int manifest_parts_add(struct manifest_parts *parts, const char *path, struct error *err);

/*
 * Join them: outputs, inputs and warnings sorted, each once; counts added up. A manifest whose
 * outputs are all in another one adds nothing. NULL with err set (ERROR_DATA) when they differ in
 * what shaped the rows, when an output or an input is in two of them, when an output is missing or
 * too many in a run that was cut into several, and when a folder held a shard without a manifest
 * that is no input either. The joined manifest must be freed, and before the parts.
 */
struct manifest *manifest_merge(struct manifest_parts *parts, struct error *err);

/* Free everything; accepts a zeroed one. */
void manifest_parts_release(struct manifest_parts *parts);

#endif
