/*
 * diagnose.h - what is wrong with a group of images that is not the orbit of its source.
 *
 * For each array the reference is the content, pulled back, on which most images agree (of two the
 * one of the lowest transform). An image that differs from it is explained: by another transform,
 * by none, by colours that were not swapped. The explanation is the finding.
 */
#ifndef SYMAUG_VERIFY_DIAGNOSE_H
#define SYMAUG_VERIFY_DIAGNOSE_H

#include "verify/findings.h"
#include "verify/groups.h"
#include "verify/images.h"

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
