/*
 * dedupe.h - rows of one position become one row.
 */
#ifndef SYMAUG_POSITIONS_DEDUPE_H
#define SYMAUG_POSITIONS_DEDUPE_H

#include "base/output.h"
#include "engine/plan.h"

struct dedupe_result {
    struct output conflicts; /* the list of --conflicts, to be committed or aborted by the caller */
    uint64_t n_rows, n_positions;
    uint64_t largest;     /* rows of a position, at most */
    uint64_t n_conflicts; /* positions whose values differ by more than --conflict */
    uint64_t n_others;    /* --merge mean: positions whose other arrays differ */
};

/*
 * Fold a plan that is built FOR_VALUES, or FOR_MEANS with --merge mean: the first row of each
 * position is left, in the order of the input, with symaug_count and, with means, averaged labels.
 * ERROR_DATA for labels that cannot be averaged.
 */
int dedupe_fold(struct plan *plan, const struct settings *settings, struct dedupe_result *result,
                struct error *err);

#endif
