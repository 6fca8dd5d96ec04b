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

/* --- json.c --- */
json_t *report_set_json(const struct report_set *set);

/* --- page.c --- */
int page_begin(struct text *page, const struct report_request *request, struct error *err);
int page_add_set(struct text *page, const struct report_set *set, struct error *err);
int page_end(struct text *page, struct error *err);

#endif
