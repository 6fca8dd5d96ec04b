/*
 * labels.h - what a colour swap does to values, players and codes, as conventions and data
 * say.
 */
#ifndef SYMAUG_VERIFY_LABELS_H
#define SYMAUG_VERIFY_LABELS_H

#include "verify/lane.h"

/*
 * Set map.flip of every lane with labels, on boards with transforms that swap colours. Where the
 * conventions are not said, the range of the data decides: values below 0 mean [-1, 1], players of
 * 1 and 2, or of 1 and -1, their coding. Reads those arrays once.
 */
int verify_labels_decide(struct lanes *lanes, struct error *err);

/*
 * Decide how the to-move plane is coded where --to-move leaves it open: by the numbers that stand
 * there. Reads the planes, up to the first row that tells.
 */
int verify_labels_plane_coding(struct shard *shard, struct error *err);

#endif
