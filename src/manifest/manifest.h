/*
 * manifest.h - what was done to make an output, as JSON beside it.
 *
 * A manifest is a JSON object of the form that share/symaug/manifest.schema.json describes, made by
 * whoever wrote the output or read back from the file, and freed with json_decref. Its names of
 * files, arrays and boards are their very bytes, which need not be UTF-8 (json_string_nocheck); see
 * manifest_write for the file.
 */
#pragma once

#include "base/error.h"
#include "base/text.h"

#include <jansson.h>

#define MANIFEST_FORMAT_VERSION 2
#define MANIFEST_OLDEST_VERSION 1 /* that is still read */
#define MANIFEST_SUFFIX         ".manifest.json"
#define MANIFEST_MAX_NBYTES     (64u << 20) /* of a file that is read */

/* An empty manifest of this version of the program, to be filled in: its board has only a name, and
 * all its lists are there. NULL with err set. */
json_t *manifest_new(struct error *err);

/* A text of an object, or NULL; a number, or 0. */
static inline const char *manifest_text(const json_t *of, const char *key)
{
    return json_string_value(json_object_get(of, key));
}
static inline uint64_t manifest_number(const json_t *of, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(of, key));
}

/* An option; NULL when it is not there. */
const char *manifest_option(const json_t *m, const char *name);

/* What a convention meant, in words for conventions_set; NULL when it was not told: then what holds
 * by default did, or the manifest is of a version that did not say it. */
const char *manifest_convention(const json_t *m, const char *name);

/* The object of that name in a list of arrays (or files), or NULL. */
json_t *manifest_find(const json_t *list, const char *name);

/*
 * Append to a list what differs in what shaped the rows, in words: version, board, transforms,
 * options, codec, conventions or roles ("option seed: '7' expected, '8' found");
 * manifest_compare_inputs: inputs or their order. Nothing is appended when they are the same.
 */
int manifest_compare(const json_t *expected, const json_t *found, struct text *list,
                     struct error *err);
int manifest_compare_inputs(const json_t *expected, const json_t *found, struct text *list,
                            struct error *err);

/*
 * Write it (sorted keys, two-space indent, newline at the end) with base/output.h: atomic, durable.
 * The JSON is always valid: in text, bytes that are not UTF-8 are written as \xNN; in names of
 * files, arrays and boards a backslash is then also doubled, so that they have only one reading.
 */
int manifest_write(const json_t *m, const char *path, bool force, struct error *err);

/* Read and check the form of a manifest. NULL with err set (ERROR_NO_INPUT, ERROR_DATA). */
json_t *manifest_read(const char *path, struct error *err);

/* --- many joined into one, the same whatever their order and number --- */

struct manifest_part {
    char *path;        /* owned: of its file */
    json_t *manifest;  /* owned; its outputs' names are relative to the joined manifest */
    size_t n_known;    /* of its outputs: those that an earlier one lists, too */
    bool adds_nothing; /* all that it lists is in another one */
    bool run_is_known; /* it tells of a run that another one told of */
};

struct manifest_parts {
    struct manifest_part *items; /* owned */
    size_t n;
    struct text_list strays; /* shards in a folder that have no manifest beside them */
    char *folder;            /* owned: the real one in which the joined manifest will lie */
};

/* Begin a list for a manifest called target; release it in any case. ERROR_CANT_CREATE when its
 * folder is not there. */
int manifest_parts_init(struct manifest_parts *parts, const char *target, struct error *err);

/*
 * Append a manifest, or those of a folder: every NAME.manifest.json beside its output NAME. Joined
 * manifests in a folder are passed over. ERROR_NO_INPUT for what is not there, ERROR_DATA for what
 * is not a manifest, and for outputs that are missing or of another size.
 */
int manifest_parts_add(struct manifest_parts *parts, const char *path, struct error *err);

/*
 * Join them: outputs, inputs and warnings sorted, each once; counts added up. A manifest whose
 * outputs are all in another one adds nothing. NULL with err set (ERROR_DATA) when they differ in
 * what shaped the rows, when an output or an input is in two of them, when an output is missing or
 * too many in a run that was cut into several, and when a folder held a shard without a manifest
 * that is not an input either.
 */
json_t *manifest_merge(struct manifest_parts *parts, struct error *err);

/* Free everything; accepts a zeroed one. */
void manifest_parts_release(struct manifest_parts *parts);
