/*
 * bind.h - from what an array means to how its rows move: roles and conventions become row moves.
 */
#ifndef SYMAUG_ENGINE_BIND_H
#define SYMAUG_ENGINE_BIND_H

#include "engine/plan.h"

/*
 * Fill array->move for every transform of the board. What cannot be moved exactly as declared
 * (plane counts, value shapes, types a label cannot be computed in) is ERROR_DATA naming the array
 * and the flag that would settle it.
 */
int bind_array(struct plan *plan, struct plan_array *array, struct error *err);

/*
 * Where transform t sends plane p of an array of n_planes planes: dst[p]. *complement is the plane
 * that becomes 1 - x, or -1. ERROR_DATA (the reason alone) when the convention does not fit that
 * number of planes.
 */
int bind_plane_map(const struct board *board, const struct conventions *conventions, uint32_t t,
                   uint64_t n_planes, uint32_t *dst, int *complement, struct error *err);

/*
 * What a colour swap does to the elements of a grid, value, WDL or to-move array. Looks at the data
 * where it decides (codes) or could contradict (ranges). ERROR_DATA when there is no exact answer.
 */
int bind_swap_label(struct plan *plan, const struct plan_array *array, enum label_op *op,
                    struct error *err);

#endif
