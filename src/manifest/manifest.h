/*
 * manifest.h - what was done to make an output, as JSON beside it: plain structs, filled by whoever
 * wrote the output or read back from the file, and compared.
 *
 * Everything a manifest points at lives as long as the manifest (or the manifests it was joined
 * of). Names of files and arrays are their very bytes here; see manifest_write for the file. The
 * form is described in share/symaug/manifest.schema.json.
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

/* An option that changes the output, under its long name; or a count, under its own. */
struct manifest_option {
    const char *name, *value;
};
struct manifest_count {
    const char *name;
    uint64_t value;
};

/* A convention in effect, by the name of its option: in full, in words for that option ("1,0,~2"),
 * and what said so ("--planes", "default"). */
struct manifest_convention {
    const char *name, *meaning, *source;
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

struct manifest {
    unsigned format_version;
    const char *tool_name, *tool_version;
    struct manifest_board board;
    const char *codec_level, *codec_libraries;
    struct manifest_transform *transforms;
    struct manifest_option *options;
    struct manifest_convention *conventions;
    struct manifest_file *inputs, *outputs;
    struct manifest_count *counts;
    const char **warnings;
    size_t n_transforms, n_options, n_conventions, n_inputs, n_outputs, n_counts, n_warnings;
    struct manifest_block *blocks; /* owned: what everything above lies in */
};

/* An empty manifest of this version of the program. NULL with err set. */
struct manifest *manifest_new(struct error *err);
void manifest_free(struct manifest *m);

/* Zeroed memory, or a copy of a text (NULL stays NULL), that lives as long as the manifest. */
void *manifest_alloc(struct manifest *m, size_t n_bytes, struct error *err);
const char *manifest_keep(struct manifest *m, const char *text, struct error *err);

/*
 * Filling it. Texts, shapes and lists are copied; options and conventions that are set again take
 * the new value. manifest_add_array and manifest_add_dropped are for the output added last.
 */
int manifest_set_board(struct manifest *m, const struct manifest_board *board, struct error *err);
int manifest_set_codec(struct manifest *m, const char *level, const char *libraries,
                       struct error *err);
int manifest_add_transform(struct manifest *m, const struct manifest_transform *transform,
                           struct error *err);
int manifest_set_option(struct manifest *m, const char *name, const char *value, struct error *err);
int manifest_set_convention(struct manifest *m, const struct manifest_convention *convention,
                            struct error *err);
int manifest_add_input(struct manifest *m, const struct manifest_file *file, struct error *err);
int manifest_add_output(struct manifest *m, const struct manifest_file *file, struct error *err);
int manifest_add_array(struct manifest *m, const struct manifest_array *array, struct error *err);
int manifest_add_dropped(struct manifest *m, const char *name, struct error *err);
int manifest_set_count(struct manifest *m, const char *name, uint64_t value, struct error *err);
int manifest_add_warning(struct manifest *m, const char *text, struct error *err);

/* An option or a count: NULL or -1 (no error) when it is not there. */
const char *manifest_option(const struct manifest *m, const char *name);
int manifest_count(const struct manifest *m, const char *name, uint64_t *value);

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

#endif
