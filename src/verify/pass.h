/*
 * pass.h - the one pass over all rows of a shard (pass.c), and what is wrong with a group of images
 * that is not the orbit of its source (diagnose.c).
 */
#ifndef SYMAUG_VERIFY_PASS_H
#define SYMAUG_VERIFY_PASS_H

#include "verify/groups.h"
#include "verify/images.h"

struct verify_pass {
    struct lanes *lanes;
    const struct orbit_groups *groups; /* NULL: no expanded set */
};

/* Check every row and every group. What cannot be read becomes a finding. */
int verify_pass_run(const struct verify_pass *pass, struct error *err);

/* A group of images in a window. */
struct diagnosis {
    const struct lanes *lanes;
    const struct window *window;
    const struct orbit_groups *groups;
    const uint64_t *members; /* positions of the group's images in the window */
    uint64_t n;
    struct findings *findings;
};

/* True when every image of the group is, in every array, the image of the first one, and each of
 * the images that are expected is there once. */
bool diagnose_is_exact(const struct diagnosis *d);

/* Name what is wrong. */
int diagnose_group(const struct diagnosis *d, struct error *err);

#endif
