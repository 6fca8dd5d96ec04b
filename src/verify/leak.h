/*
 * leak.h - positions of one set that occur, up to symmetry, in another (--leak).
 */
#ifndef SYMAUG_VERIFY_LEAK_H
#define SYMAUG_VERIFY_LEAK_H

#include "verify/findings.h"
#include "verify/lane.h"

/* Compare the shard's positions with those of the sets of --leak: what occurs there is a finding.
 * ERROR_DATA, ERROR_USAGE when they cannot be compared. */
int leak_check(const struct lanes *lanes, struct error *err);

#endif
