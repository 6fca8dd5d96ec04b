/*
 * adapt.h - what the first groups tell about arrays whose meaning was guessed.
 */
#ifndef SYMAUG_VERIFY_ADAPT_H
#define SYMAUG_VERIFY_ADAPT_H

#include "verify/images.h"
#include "verify/rules.h"

/*
 * Arrays that are taken for copies but differ within most groups are numbers of the images
 * themselves (the tool's own provenance, say): they leave the comparison. Signed values that no
 * convention was said for may be those of the player to move, which no image changes. Policies that
 * stand on stones, and off them when flipped, are compared in that order, which result->note says.
 */
int adapt(struct lanes *lanes, const struct window *window, const struct rules *rules,
          struct verify_result *result, struct error *err);

#endif
