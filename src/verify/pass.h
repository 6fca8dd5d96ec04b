/*
 * pass.h - the one pass over all rows of a shard: while the rows of one window are checked,
 * those of the next are read. Work is dealt out in pieces whose findings are joined in order, so
 * that what is reported does not depend on the number of threads.
 */
#ifndef SYMAUG_VERIFY_PASS_H
#define SYMAUG_VERIFY_PASS_H

#include "verify/groups.h"
#include "verify/leak.h"

struct verify_pass {
    const struct verify_request *request;
    struct lanes *lanes;
    const struct orbit_groups *groups; /* NULL: no expanded set */
    const struct leak_sets *leaks;     /* NULL: not asked for */
    struct verify_result *result;
};

/* Check every row and every group. What cannot be read becomes a finding. */
int verify_pass_run(const struct verify_pass *pass, struct error *err);

#endif
