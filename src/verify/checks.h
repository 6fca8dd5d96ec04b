/*
 * checks.h - checks of single rows that hold for every game: numbers that are none, policies that
 * are no distributions, indices and codes that mean nothing.
 */
#ifndef SYMAUG_VERIFY_CHECKS_H
#define SYMAUG_VERIFY_CHECKS_H

#include "verify/findings.h"
#include "verify/lane.h"

/* What a row check needs besides the row. */
struct row_check {
    const struct lanes *lanes;
    const struct window *window;
    const struct conventions *conventions;
    struct findings *findings;
};

/* Check the row at position `at` of lane i. */
void check_row(const struct row_check *check, size_t i, uint64_t at);

/* Further checks of a row that is the first image of its source, or no image at all: mass on
 * actions that no encoder makes, tiles that are none. */
void check_own_row(const struct row_check *check, size_t i, uint64_t at);

#endif
