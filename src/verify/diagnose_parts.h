/*
 * diagnose_parts.h - one row under diagnosis, shared by the files that name what is wrong with it.
 */
#ifndef SYMAUG_VERIFY_DIAGNOSE_PARTS_H
#define SYMAUG_VERIFY_DIAGNOSE_PARTS_H

#include "verify/diagnose.h"

struct case_of_row {
    const struct diagnosis *d;
    uint64_t member;      /* of d->members */
    uint32_t transform;   /* what the row should be the image under */
    uint64_t *references; /* per lane: the member it is compared with */
    bool *exact;          /* per lane: it is that image */
    uint32_t *by;         /* per lane: the transform that explains it, or ORBIT_NO_TRANSFORM */
};

/* Is lane `lane` of the row the image under t, but for the liberties? */
bool case_fits(const struct case_of_row *c, size_t lane, uint32_t t, unsigned liberties);

/* The same for one channel of planes. */
bool case_fits_channel(const struct case_of_row *c, size_t lane, uint64_t channel, uint32_t t);

/* Name each array of the row that is not what it should be; no transform explains all of them. */
void diagnose_row(const struct case_of_row *c, struct findings *findings);

/* True when the conventions leave images of this group out: chess rows with castling rights, rows
 * with ambiguous policies. */
bool diagnose_may_be_left_out(const struct diagnosis *d);

#endif
