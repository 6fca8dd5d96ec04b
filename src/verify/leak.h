/*
 * leak.h - positions of one set that occur, up to symmetry, in another.
 *
 * The other set is kept as a list of hashes, 16 bytes for each of its rows; a row found there is
 * compared before it is reported.
 */
#ifndef SYMAUG_VERIFY_LEAK_H
#define SYMAUG_VERIFY_LEAK_H

#include "verify/canonical.h"
#include "verify/findings.h"
#include "verify/verify_shard.h"

struct leak_set;

struct leak_sets {
    struct leak_set *items; /* owned */
    size_t n;
    struct canonical canonical;
};

/* Read the other sets and hash their positions. The planes must be of the same type and shape as
 * those of `lanes`. ERROR_DATA, ERROR_USAGE when a set cannot be compared. */
int leak_open(struct leak_sets *sets, const struct lanes *lanes,
              const struct verify_request *request, struct error *err);

/* Look the position at `at` up in every set. Thread-safe with one room per thread. */
int leak_check_row(const struct leak_sets *sets, const struct lanes *lanes,
                   const struct window *window, uint64_t at, struct canonical_room *room,
                   struct findings *findings, struct error *err);

void leak_close(struct leak_sets *sets);

#endif
