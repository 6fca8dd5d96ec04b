/*
 * select.h - leaving images out: K of them at random, or those that repeat another image of their
 * row.
 */
#ifndef SYMAUG_ENGINE_SELECT_H
#define SYMAUG_ENGINE_SELECT_H

#include "engine/plan.h"

/*
 * Keep n_keep distinct images of every row, chosen among those that are still selected by a hash of
 * seed and row number: the choice depends on nothing else. keep_identity: the identity is one of
 * them. Rows with no more than n_keep images keep them all.
 */
int select_pick(struct plan *plan, uint32_t n_keep, uint64_t seed, bool keep_identity,
                struct error *err);

/* Drop the images of a row that equal an earlier one of it in every array that moves. Reads the
 * inputs once. */
int select_unique(struct plan *plan, int n_threads, struct error *err);

#endif
