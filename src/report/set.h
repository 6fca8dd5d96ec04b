/*
 * set.h - what report.c knows of one set, for those who write it down: page.c, json.c. Only for
 * src/report.
 */
#ifndef SYMAUG_REPORT_SET_H
#define SYMAUG_REPORT_SET_H

#include "report/report.h"
#include "report/tally.h"
#include "verify/verify.h"

/* Beyond so many sets, maps and pictures are drawn of so many that need them. */
#define REPORT_MAX_DRAWN 16

enum report_verdict { REPORT_SOUND, REPORT_FINDINGS, REPORT_UNCHECKED };

/* Up to symmetry. */
struct report_positions {
    bool is_known;
    uint64_t n_rows, n_classes, largest, n_conflicts; /* classes whose values differ */
};

/* The files of a set that can be read; is_sure: board and roles are decided. */
struct report_files {
    char **paths; /* owned */
    size_t n;
    bool is_sure;
};

/* Rows of each set whose position occurs in each other one; those of sets that are not sure, and
 * all of them where sets do not compare (why), are left out. */
struct report_overlap {
    uint64_t
        *matrices; /* owned: exact, then up to symmetry: n x n each, of the sets that are sure */
    size_t n;
    struct error why;
};

struct report_set {
    const struct report_request *request;
    const char *path;              /* as given */
    size_t number;                 /* from 0 */
    struct verify_results results; /* of its files, and of the manifest that lists them */
    struct shard shard; /* the first file that can be read; its arrays stand for those of all */
    bool is_open;
    uint64_t n_rows;
    uint64_t *nbytes, *packed_nbytes; /* owned: of each array, in all files */
    struct tally tally;
    struct report_files files;
    struct report_positions positions;
    enum report_verdict verdict;
    uint64_t n_errors, n_warnings;
    struct text sentence, command; /* owned */
    bool is_drawn;                 /* maps and pictures */
};

/* "sound", "findings", "unchecked". */
const char *report_verdict_name(enum report_verdict verdict);

/* The name of a set's map: "policy", "boards, plane 1" is the caller's; whether all transforms fit.
 */
bool report_fits(const struct report_set *set);

/* --- positions.c --- */

/* Count the positions of a set; not those of a set that is not sure, or too large for the memory.
 */
int report_count_positions(const struct report_set *set, struct report_positions *positions,
                           struct error *err);

/* Compare all sets, whose files these are. The caller frees the matrices. */
int report_compare(const struct report_request *request, const struct report_files *files,
                   struct report_overlap *overlap, struct error *err);

/* --- json.c --- */
json_t *report_overlap_json(const struct report_overlap *overlap, const struct report_files *files,
                            size_t n);
json_t *report_set_json(const struct report_set *set);

/* --- page.c --- */
int page_begin(struct text *page, const struct report_request *request, struct error *err);
int page_add_set(struct text *page, const struct report_set *set, struct error *err);
int page_end(struct text *page, const struct report_request *request,
             const struct report_files *files, const struct report_overlap *overlap,
             struct error *err);

#endif
