/*
 * verify.h - checking a shard: its container, its rows, and, when it is an expanded set, that every
 * group of images is the exact orbit of its source.
 *
 * Nothing stops a check: what is wrong becomes a finding, and the rest is checked all the same.
 *
 * Shared with expand: reading (archives, arrays, rows), the decision of board, roles and
 * conventions, and the spec of each array (spec.h), which says what a transform does to it: where
 * its elements go, which planes change places, what a colour swap makes of its numbers. A mistake
 * there would be made by both, and verify would not see it. It is found from outside: by golden
 * arrays of the real systems, maps written independently with numpy, and games played by their
 * rules.
 *
 * Not shared: everything that writes rows. verify has loops of its own, which look for every
 * element of one row in the other, through the destination maps where expand gathers through source
 * maps; no kernel of expand has a part in it.
 */
#pragma once

#include "engine/plan.h"
#include "engine/shard.h"
#include "manifest/manifest.h"
#include "verify/findings.h"

struct verify_request {
    const struct settings *settings; /* borrowed */
    bool headers_only;               /* manifests: sizes, rows and arrays, no content */
    const json_t *manifest; /* borrowed: of the file; NULL: the one that stands beside it */
    size_t manifest_output; /* which of its outputs the file is */
    bool exact_manifest;    /* what stands beside a file counts only if it lists the very bytes */
};

/* What is said of one file. */
struct verify_result {
    char *path; /* owned */
    uint64_t n_rows;
    bool is_expanded; /* groups of images were found and checked */
    uint64_t n_groups;
    char *note;            /* owned, or NULL: how it was understood, or that it was not */
    enum error_kind fatal; /* ERROR_NONE, or why it cannot be read: decides the exit code */
    struct findings findings;
};

struct verify_results {
    struct verify_result *items; /* owned */
    size_t n;
};

/*
 * Check a shard, or a manifest (a name that ends in .json) with all the outputs it lists, and
 * append a result for each file. -1 with err set is a wrong command line, lack of memory or a bug:
 * what is wrong with the file is a finding.
 */
int verify_path(const struct verify_request *request, const char *path,
                struct verify_results *results, struct error *err);

void verify_results_release(struct verify_results *results);

/* The exit code for what was found: 0, 1 for errors, that of a file that cannot be read. */
int verify_exit_code(const struct verify_results *results);

/* --- which rows are images of one source, for programs that look at single rows --- */

struct verify_located {
    struct recall recall; /* the settings of the command line and of the manifest; their board is
                             what it was found to be, NULL when it is not sure */
    char *board;          /* owned: that name */
    struct stored_image *images; /* owned, of one row: by transform; NULL when the set is not
                                    expanded, or the row's transform is not known */
    size_t n;
    uint64_t n_rows;
    uint64_t *sources;    /* owned, of all rows; NULL: the set is not expanded */
    uint32_t *transforms; /* owned; UINT32_MAX: not known */
};

#define VERIFY_ALL_ROWS UINT64_MAX

/*
 * Find the images of row `row`, or source and transform of all rows (12 bytes each), as a check
 * would: provenance arrays, the order that is told, the manifest, or the rows themselves;
 * --transforms has no say. Contents that contradict each other find no images and are no error: who
 * reads the row says what is wrong; a file that cannot be read is one. The caller releases it.
 */
int verify_locate(const struct verify_request *request, const char *path, uint64_t row,
                  struct verify_located *located, struct error *err);

void verify_located_release(struct verify_located *located);
