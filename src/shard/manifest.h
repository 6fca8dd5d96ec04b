/*
 * manifest.h - what was done, as JSON beside each output: built here, written, read back, checked.
 */
#ifndef SYMAUG_SHARD_MANIFEST_H
#define SYMAUG_SHARD_MANIFEST_H

#include "base/error.h"
#include "base/text.h"
#include "shard/digest.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MANIFEST_FORMAT_VERSION 2
#define MANIFEST_OLDEST_VERSION 1 /* that is still read */
#define MANIFEST_SUFFIX         ".manifest.json"
#define MANIFEST_MAX_NBYTES     (64u << 20) /* of a file that is read */

/* A manifest under construction or read back: an opaque jansson object with typed setters. */
struct manifest;

struct manifest *manifest_new(struct error *err);
void manifest_free(struct manifest *manifest);

/* One array of an output. */
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

int manifest_set_board(struct manifest *m, const char *name, const char *preset,
                       unsigned group_order, struct error *err);
/* What the file says that describes the board, after manifest_set_board. */
int manifest_set_board_file(struct manifest *m, const char *text, struct error *err);
int manifest_add_transform(struct manifest *m, unsigned id, const char *name, bool swaps_colours,
                           struct error *err);
/* An option that changes the output, under its long name; value as text. */
int manifest_set_option(struct manifest *m, const char *name, const char *value, struct error *err);
int manifest_set_codec(struct manifest *m, const char *level, const char *libraries,
                       struct error *err);
/* name: the base name of the path. */
int manifest_add_input(struct manifest *m, const char *name, uint64_t n_bytes, const char *sha256,
                       uint64_t n_rows, struct error *err);
/* Begin an output; the arrays added next belong to it. */
int manifest_add_output(struct manifest *m, const char *name, uint64_t n_bytes, const char *sha256,
                        uint64_t n_rows, struct error *err);
int manifest_add_array(struct manifest *m, const struct manifest_array *array, struct error *err);
/* An array of the inputs that the output begun last has not. */
int manifest_add_dropped(struct manifest *m, const char *name, struct error *err);
/* Where the output begun last starts: the number of its first row among all rows of the run. For
 * a run that is cut into several outputs, so that a gap between them can be seen. */
int manifest_set_first_row(struct manifest *m, uint64_t first_row, struct error *err);
int manifest_set_count(struct manifest *m, const char *name, uint64_t value, struct error *err);
int manifest_add_warning(struct manifest *m, const char *text, struct error *err);
/* A convention in effect, by the name of its option, in full ("1,0,~2"), and what said so
 * ("--planes", "default"). */
int manifest_set_convention(struct manifest *m, const char *name, const char *meaning,
                            const char *source, struct error *err);

/*
 * Write it (sorted keys, two-space indent, newline at the end) with base/output.h: atomic,
 * durable. The JSON is always valid: in text, bytes that are not UTF-8 are written as \xNN; in
 * names of files, arrays and boards a backslash is then also doubled, so that manifest_decode_name
 * has only one reading.
 */
int manifest_write(const struct manifest *m, const char *path, bool force, struct error *err);

/* Read and check the form of a manifest. NULL with err set (ERROR_NO_INPUT, ERROR_DATA). */
struct manifest *manifest_read(const char *path, struct error *err);

/* The bytes of a file name that a manifest gives. Owned by the caller; NULL with err set (no
 * memory). */
char *manifest_decode_name(const char *name, struct error *err);

/* A file that a manifest lists. */
struct manifest_file {
    const char *name; /* borrowed from the manifest; see manifest_decode_name */
    const char *sha256;
    uint64_t n_bytes;
    uint64_t n_rows;
};
size_t manifest_n_inputs(const struct manifest *m);
size_t manifest_n_outputs(const struct manifest *m);
/* -1 (no error) when there is no i-th. */
int manifest_input(const struct manifest *m, size_t i, struct manifest_file *input);
int manifest_output(const struct manifest *m, size_t i, struct manifest_file *output);

/* The name of the board, what its file says, a count, an option: NULL or -1 (no error) when it is
 * not there. */
const char *manifest_board(const struct manifest *m);
const char *manifest_board_file(const struct manifest *m);
int manifest_count(const struct manifest *m, const char *name, uint64_t *value);
const char *manifest_option(const struct manifest *m, const char *name);

/* What a convention meant, in words for conventions_set; NULL when it was not told: then what holds
 * by default did, or the manifest is of a version that did not say it. */
const char *manifest_convention(const struct manifest *m, const char *name);

/* What a swap of colours does to the numbers of an array of output i; NULL: it is not said. */
const char *manifest_swap(const struct manifest *m, size_t i, const char *array);

/*
 * Append to a list what differs, in words: version, board, transforms, options, codec, conventions
 * or roles ("option seed: '7' expected, '8' found"); manifest_compare_inputs: inputs or their
 * order. Nothing is appended when they are the same.
 */
int manifest_compare(const struct manifest *expected, const struct manifest *found,
                     struct text *list, struct error *err);
int manifest_compare_inputs(const struct manifest *expected, const struct manifest *found,
                            struct text *list, struct error *err);

/*
 * True when `manifest_path` exists, reads well, and lists an output whose SHA-256 is sha256: the
 * file was made by an expansion. False otherwise, whatever the reason.
 */
bool manifest_lists_digest(const char *manifest_path, const char *sha256);

#endif
