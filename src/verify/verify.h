/*
 * verify.h - checking a shard: its container, its rows, and, when it is an expanded set, that every
 * group of images is the exact orbit of its source.
 *
 * Nothing stops a check: what is wrong becomes a finding, and the rest is checked all the same.
 *
 * What a transform does to an array is one spec (spec.h), made by the same code for verify and for
 * expand. verify keeps loops of its own, which compare element by element through the destination
 * maps, and shares no kernel with expand. The truth of the maps is guarded
 * from outside: by golden arrays of the real systems, maps written independently, and played games.
 */
#ifndef SYMAUG_VERIFY_VERIFY_H
#define SYMAUG_VERIFY_VERIFY_H

#include "engine/plan.h"
#include "manifest/manifest.h"
#include "verify/findings.h"

struct verify_request {
    const struct settings *settings; /* borrowed */
    bool headers_only;               /* manifests: sizes, rows and arrays, no content */
    const struct manifest
        *manifest;          /* borrowed: of the file; NULL: the one that stands beside it */
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

#endif
