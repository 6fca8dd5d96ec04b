/*
 * verify_source.h - checks of single rows that hold for every game: numbers that are none, policies
 * that are no distributions, indices that mean nothing.
 */
#ifndef SYMAUG_VERIFY_VERIFY_SOURCE_H
#define SYMAUG_VERIFY_VERIFY_SOURCE_H

#include "verify/findings.h"
#include "verify/lane.h"

/* What a row check needs besides the row. */
struct source_check {
    const struct lanes *lanes;
    const struct window *window;
    const struct conventions *conventions;
    struct findings *findings;
};

/* Check the row at position `at` of lane i. */
void source_check_row(const struct source_check *check, size_t i, uint64_t at);

/* Further checks of a row that is the first image of its source, or no image at all: mass on
 * actions that no encoder makes, tiles that are none. */
void source_check_own(const struct source_check *check, size_t i, uint64_t at);

#endif
