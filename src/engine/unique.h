/*
 * unique.h - images of a row that equal another one, by a 128-bit hash over all moving arrays.
 */
#ifndef SYMAUG_ENGINE_UNIQUE_H
#define SYMAUG_ENGINE_UNIQUE_H

#include "engine/plan.h"

/* Clear the later ones of equal images in plan->selection (which must be there). One pass over the
 * arrays that move, in step, a few hundred rows at a time. */
int unique_drop(struct plan *plan, int n_threads, struct error *err);

#endif
