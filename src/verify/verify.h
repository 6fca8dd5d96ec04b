/*
 * verify.h - checking a shard: its container, its rows, and, if it is an expanded set, that every
 * group of images is the exact orbit of its source.
 *
 * A fault never stops a check: it becomes a finding, and the rest is checked all the same.
 *
 * Shared with expand: reading (archives, arrays, rows), the decision of board, roles and
 * conventions, and the spec of each array (spec.h), which says what a transform does to it: where
 * its elements go, which planes change places, what a colour swap makes of its numbers. Both would
 * make the same mistake there, and verify would not see it. The spec is therefore tested from
 * outside: by golden arrays of the real systems, maps written independently with numpy, and games
 * played by their rules.
 *
 * Not shared: everything that writes rows. verify has loops of its own that look up each element of
 * one row in the other through the destination maps, where expand gathers through the source maps;
 * it uses no kernel of expand. (The keys of positions, by which --leak compares sets, let one
 * compute numbers that change with the colours; nothing is moved by it.)
 */
#pragma once

#include "engine/shard.h"
#include "verify/findings.h"

struct verify_request {
    const struct settings *settings; /* borrowed */
    bool headers_only;               /* manifests: sizes, rows and arrays, no content */
    const json_t *manifest;          /* borrowed: of the file; NULL: the one beside it, if any */
    size_t manifest_output;          /* which of the manifest's outputs the file is */
    bool exact_manifest; /* a manifest beside a file counts only if it lists these very bytes */
};

/* The result for one file. */
struct verify_result {
    char *path; /* owned */
    uint64_t n_rows;
    bool is_expanded; /* groups of images were found and checked */
    uint64_t n_groups;
    struct text note;      /* how the set was understood, or why it was not; or empty */
    enum error_kind fatal; /* ERROR_NONE, or why the file cannot be read: decides the exit code */
    struct findings findings;
};

struct verify_results {
    struct verify_result *items; /* owned */
    size_t n;
};

/*
 * Check a shard, or a manifest (a name that ends in .json) and all outputs that it lists, and
 * append a result for each file. Faults of files are findings; -1 with err set is a wrong command
 * line, lack of memory or a bug. The caller releases the results in any case.
 */
int verify_path(const struct verify_request *request, const char *path,
                struct verify_results *results, struct error *err);

/* Check the first of n paths and, if it is a small shard, small ones after it at the same time, and
 * append their results in order. *n_done is how many. Returns as verify_path. */
int verify_some(const struct verify_request *request, char *const *paths, size_t n, size_t *n_done,
                struct verify_results *results, struct error *err);

void verify_results_release(struct verify_results *results);

/* The exit code of the results: that of the first file that cannot be read; else 1 for errors, or
 * 0. */
int verify_exit_code(const struct verify_results *results);

/* --- which rows are images of one source, for commands that look at single rows --- */

struct verify_located {
    struct recall recall; /* the settings of the command line and the manifest; their board is the
                             one that was found, NULL if it is not certain */
    struct board *board;  /* owned: of which that name is borrowed */
    struct image *images; /* owned, n: of one row, by transform; NULL: the set is not
                                    expanded, or the row's transform is not known */
    size_t n;
    uint64_t n_rows;
    uint64_t *sources;    /* owned, n_rows: of all rows; NULL: the set is not expanded */
    uint32_t *transforms; /* owned, n_rows; UINT32_MAX: not known */
};

#define VERIFY_ALL_ROWS UINT64_MAX

/*
 * Find the images of row `row`, or source and transform of all rows (12 bytes each), as a check
 * does: by provenance arrays, the order that is told, the manifest, or the rows themselves; but
 * --transforms is ignored. Arrays that contradict each other are no error: no images are found, and
 * whoever reads the row reports them. A file that cannot be read is an error. The caller releases
 * `located`, which is empty after an error.
 */
int verify_locate(const struct verify_request *request, const char *path, uint64_t row,
                  struct verify_located *located, struct error *err);

void verify_located_release(struct verify_located *located);
