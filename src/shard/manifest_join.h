/*
 * manifest_join.h - a joined manifest in the making: manifests are added one by one, and what they
 * must not have in common is refused.
 */
#ifndef SYMAUG_SHARD_MANIFEST_JOIN_H
#define SYMAUG_SHARD_MANIFEST_JOIN_H

#include "shard/manifest_parts.h"

#include <jansson.h>

/* Objects that find an entry by its key; see manifest_json.h for the entries. */
struct join {
    json_t *outputs;       /* owned: name -> entry */
    json_t *output_owners; /* owned: name -> path of the manifest that brought it */
    json_t *inputs;        /* owned: name and digest -> entry */
    json_t *input_owners;  /* owned: the same -> path */
    json_t *runs;          /* owned: name of a run -> its inputs, or null: not known apart */
    json_t *warnings;      /* owned: text -> the same text */
    json_t *counts;        /* owned: name -> sum */
};

int join_init(struct join *join, struct error *err);
void join_release(struct join *join); /* accepts what join_init failed on */

/* Add a manifest. One whose outputs are all there adds nothing. ERROR_DATA when some of them are,
 * or an input is there by another manifest, unless both are of one run that was cut. */
int join_add(struct join *join, const struct manifest_part *part, struct error *err);

#endif
