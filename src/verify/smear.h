/*
 * smear.h - content of cells that has spread to the corners of the box that are not on
 * board, as a transform does that clamps instead of leaving those corners alone.
 */
#ifndef SYMAUG_VERIFY_SMEAR_H
#define SYMAUG_VERIFY_SMEAR_H

#include "verify/findings.h"
#include "verify/lane.h"

/* What is known of each plane. Off-board content is wrong where other rows of the plane show that
 * its corners are empty; else it may be meant. */
struct smear {
    uint64_t n_planes;
    uint64_t *first_row; /* owned: of the first row with off-board content; FINDING_NO_ROW: none */
    uint8_t *has_empty;  /* owned: some row has content on board and none off it */
};

/* Nothing to look for unless the box has corners: then n_planes is 0. */
int smear_init(struct smear *smear, const struct lanes *lanes, struct error *err);
void smear_check_row(struct smear *smear, const struct lanes *lanes, const struct window *window,
                     uint64_t at);
void smear_merge(struct smear *smear, struct smear *from);
void smear_finish(const struct smear *smear, const struct lanes *lanes, struct findings *findings);
void smear_release(struct smear *smear);

#endif
