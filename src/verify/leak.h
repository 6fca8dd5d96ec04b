/*
 * leak.h - positions of one set that occur, up to symmetry, in another: rows whose planes have the
 * same key. Of the other set only keys are kept, 24 bytes for each of its rows.
 */
#ifndef SYMAUG_VERIFY_LEAK_H
#define SYMAUG_VERIFY_LEAK_H

#include "positions/key.h"
#include "verify/findings.h"
#include "verify/lane.h"

struct leak_set;

struct leak_sets {
    struct leak_set *items; /* owned */
    size_t n;
    struct key key; /* of the planes */
};

/* Read the other sets. Their planes must have the shape of those of `lanes`, and values that their
 * type holds exactly: else ERROR_DATA, ERROR_USAGE. */
int leak_open(struct leak_sets *sets, const struct lanes *lanes,
              const struct verify_request *request, struct error *err);

/* Look the position at `at` up in every set. Thread-safe with one room per thread. */
void leak_check_row(const struct leak_sets *sets, const struct lanes *lanes,
                    const struct window *window, uint64_t at, struct key_room *room,
                    struct findings *findings);

void leak_close(struct leak_sets *sets);

#endif
