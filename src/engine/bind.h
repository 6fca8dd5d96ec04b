/*
 * bind.h - from what an array means to how its rows move: roles and conventions become specs.
 */
#ifndef SYMAUG_ENGINE_BIND_H
#define SYMAUG_ENGINE_BIND_H

#include "engine/plan.h"

/*
 * Make array->spec. Looks at the data where it decides (codes) or could contradict (ranges). What
 * the chosen transforms cannot do exactly as declared (plane counts, value shapes, types a label
 * cannot be computed in) is ERROR_DATA naming the array and the flag that would settle it.
 */
int bind_array(struct plan *plan, struct plan_array *array, struct error *err);

#endif
