/*
 * manifest.h - what was done to make an output, as JSON beside it: plain structs, filled by whoever
 * wrote the output or read back from the file, and compared.
 *
 * Whoever fills a manifest keeps what it points at alive, or has it in the manifest's own memory,
 * as everything is in a manifest that was read. Names of files and arrays are their very bytes
 * here; see manifest_write for the file. The form is described in
 * share/symaug/manifest.schema.json.
 */
#ifndef SYMAUG_MANIFEST_MANIFEST_H
#define SYMAUG_MANIFEST_MANIFEST_H

#include "base/error.h"
#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_FORMAT_VERSION 2
#define MANIFEST_OLDEST_VERSION 1 /* that is still read */
#define MANIFEST_SUFFIX         ".manifest.json"
#define MANIFEST_MAX_NBYTES     (64u << 20) /* of a file that is read */
#define MANIFEST_NO_ROW         UINT64_MAX

struct manifest_board {
    const char *name;      /* "hexagon:4" */
    const char *preset;    /* "hex8"; or NULL */
    const char *file_text; /* of a board from a file: what the file says; or NULL */
    const char *file_sha256;
    uint64_t group_order; /* number of its transforms, chosen or not */
};

struct manifest_transform {
    uint64_t id;
    const char *name;
    bool swaps_colours;
};

/* An option that changes the output, under its long name. Or a convention in effect, by the name of
 * its option: its value in full, in words for that option ("1,0,~2"), and what said so ("--planes",
 * "default"). */
struct manifest_setting {
    const char *name, *value;
    const char *source; /* conventions only */
};
struct manifest_count {
    const char *name;
    uint64_t value;
};

struct manifest_array {
    const char *name;
    const char *dtype; /* "<f4" */
    const uint64_t *shape;
    size_t n_dims;
    const char *role; /* with all its options: "coord:rowcol" */
    const char
        *swap; /* what a swap of colours does to its numbers: "1 - v"; NULL: nothing to say */
    const char *codec; /* "zlib:6" */
    uint32_t crc;      /* of the unpacked member */
};

/* An input or output. */
struct manifest_file {
    const char *name; /* without folders; of an output in a joined manifest: as seen from there */
    uint64_t n_bytes;
    const char *sha256;
    uint64_t n_rows;

    /* Outputs only. */
    uint64_t first_row; /* of a run that was cut into several outputs: the number of its first row
                           among all of the run's; MANIFEST_NO_ROW: it was not cut */
    struct manifest_array *arrays;
    size_t n_arrays;
    const char **dropped; /* arrays of the inputs that were left out */
    size_t n_dropped;
};

/* Zeroed items are "not there"; all lists have their length beside them. */
struct manifest {
    uint64_t format_version;
    const char *tool_name, *tool_version;
    struct manifest_board board;
    const char *codec_level, *codec_libraries;
    struct manifest_transform *transforms;
    struct manifest_setting *options, *conventions;
    struct manifest_file *inputs, *outputs;
    struct manifest_count *counts;
    const char **warnings;
    size_t n_transforms, n_options, n_conventions, n_inputs, n_outputs, n_counts, n_warnings;
    struct manifest_block *blocks; /* owned: what manifest_alloc gave */
};

/* An empty manifest of this version of the program, to be filled in. NULL with err set. */
struct manifest *manifest_new(struct error *err);
void manifest_free(struct manifest *m);

/* Zeroed memory, or a copy of a text, that lives as long as the manifest. NULL with err set. */
void *manifest_alloc(struct manifest *m, size_t n_bytes, struct error *err);
const char *manifest_keep(struct manifest *m, const char *text, struct error *err);

/* An option, or a count: NULL when it is not there. */
const char *manifest_option(const struct manifest *m, const char *name);
struct manifest_count *manifest_count(const struct manifest *m, const char *name);

/* What a convention meant, in words for conventions_set; NULL when it was not told: then what holds
 * by default did, or the manifest is of a version that did not say it. */
const char *manifest_convention(const struct manifest *m, const char *name);

/* The array of an output, or NULL. */
const struct manifest_array *manifest_find_array(const struct manifest_file *output,
                                                 const char *name);

/*
 * Append to a list what differs in what shaped the rows, in words: version, board, transforms,
 * options, codec, conventions or roles ("option seed: '7' expected, '8' found");
 * manifest_compare_inputs: inputs or their order. Nothing is appended when they are the same.
 */
int manifest_compare(const struct manifest *expected, const struct manifest *found,
                     struct text *list, struct error *err);
int manifest_compare_inputs(const struct manifest *expected, const struct manifest *found,
                            struct text *list, struct error *err);

/*
 * Write it (sorted keys, two-space indent, newline at the end) with base/output.h: atomic, durable.
 * The JSON is always valid: in text, bytes that are not UTF-8 are written as \xNN; in names of
 * files, arrays and boards a backslash is then also doubled, so that they have only one reading.
 */
int manifest_write(const struct manifest *m, const char *path, bool force, struct error *err);

/* Read and check the form of a manifest. NULL with err set (ERROR_NO_INPUT, ERROR_DATA). */
struct manifest *manifest_read(const char *path, struct error *err);

/* --- many joined into one, the same whatever their order and number --- */

struct manifest_part {
    const char *path;          /* of its file */
    struct manifest *manifest; /* owned; its outputs' names are relative to the joined manifest */
    bool adds_nothing;         /* all that it lists is in another one */
    bool run_is_known;         /* it tells of a run that another one told of */
};

struct manifest_parts {
    struct manifest_part *items; /* owned */
    size_t n;
    struct text_list strays; /* shards in a folder that have no manifest beside them */
    char *folder;            /* owned: the real one in which the joined manifest will lie */
    struct manifest *joined; /* owned */
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
 * that is not an input either. The joined manifest is borrowed from the parts.
 */
struct manifest *manifest_merge(struct manifest_parts *parts, struct error *err);

/* Free everything; accepts a zeroed one. */
void manifest_parts_release(struct manifest_parts *parts);

#endif
