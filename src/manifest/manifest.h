/*
 * manifest.h - the record of how an output was made, as JSON beside it.
 *
 * A manifest is a JSON object as share/symaug/manifest.schema.json describes it, made with the
 * output or read from its file, and freed with json_decref. In memory, names of files, arrays and
 * boards are raw bytes, which need not be UTF-8 (json_string_nocheck); manifest_write escapes them.
 */
#pragma once

#include "base/text.h"

#include <jansson.h>

#define MANIFEST_FORMAT_VERSION 2
#define MANIFEST_OLDEST_VERSION 1 /* still read */
#define MANIFEST_SUFFIX         ".manifest.json"
#define MANIFEST_MAX_NBYTES     (64u << 20) /* of a file that is read */

/* A manifest of this version of the program with all required keys, to be filled in. NULL with err
 * set. */
json_t *manifest_new(struct error *err);

/* The text of a key, or NULL; the number of a key, or 0. */
static inline const char *manifest_text(const json_t *of, const char *key)
{
    return json_string_value(json_object_get(of, key));
}
static inline uint64_t manifest_number(const json_t *of, const char *key)
{
    return (uint64_t)json_integer_value(json_object_get(of, key));
}

/* The value of an option, or NULL. */
const char *manifest_option(const json_t *m, const char *name);

/* The meaning of a convention, in words for conventions_set; NULL if it was the default, or if the
 * manifest's version did not record it. */
const char *manifest_convention(const json_t *m, const char *name);

/* The object of this name in a list of arrays or files, or NULL. */
json_t *manifest_find(const json_t *list, const char *name);

/*
 * Append in words what differs ("option seed: '7' expected, '8' found"): of all that shaped the
 * rows, that is versions, board, transforms, options, codec, conventions and roles; or of the
 * inputs and their order. Nothing is appended if all is the same. -1 without memory.
 */
int manifest_compare(const json_t *expected, const json_t *found, struct text *list,
                     struct error *err);
int manifest_compare_inputs(const json_t *expected, const json_t *found, struct text *list,
                            struct error *err);

/*
 * Write a manifest as an output (base/output.h), with sorted keys, two-space indent and a newline
 * at the end. Bytes that are not UTF-8 are written as \xNN; in names of files, arrays and boards
 * backslashes are doubled as well, so that names can be read back.
 */
int manifest_write(const json_t *m, const char *path, bool force, struct error *err);

/* Read a manifest and check its form. NULL with err set (ERROR_NO_INPUT, ERROR_DATA). */
json_t *manifest_read(const char *path, struct error *err);

/*
 * Join one or more manifests into one that will lie at target: names of outputs become relative to
 * its folder. A path is that of a manifest, or of a folder with a NAME.manifest.json beside each
 * output NAME; joined manifests in it are skipped. Outputs, inputs and warnings are sorted, each
 * listed once, and counts are added up: the order of paths does not matter. A manifest whose
 * outputs are all in another one adds nothing. NULL with err set: ERROR_CANT_CREATE if the folder
 * of target does not exist, ERROR_NO_INPUT if a path has no manifest, and ERROR_DATA
 * - if a manifest is not valid, or an output is missing or of another size;
 * - if manifests differ in what shaped the rows, or two of them list the same output or input;
 * - if a run that was cut into several outputs has gaps or overlaps;
 * - if a folder holds a shard that has no manifest and is not an input either.
 */
json_t *manifest_merge(const char *target, char *const *paths, int n_paths, struct error *err);
