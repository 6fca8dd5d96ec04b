/*
 * choose.h - which transforms are asked for: "all", ids, names, rotations, reflections.
 */
#ifndef SYMAUG_ENGINE_CHOOSE_H
#define SYMAUG_ENGINE_CHOOSE_H

#include "engine/plan.h"

/*
 * Fill plan->chosen, n_chosen and swaps from the text (NULL: all) and the conventions: canonical
 * planes leave out the colour-swapping transforms, Take It Easy without permuted tiles all that
 * change a score. ERROR_USAGE names what is unknown, twice there, or not exact on this board.
 */
int choose_transforms(struct plan *plan, const char *text, struct error *err);

#endif
