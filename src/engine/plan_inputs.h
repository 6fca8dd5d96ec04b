/*
 * plan_inputs.h - a plan's inputs: opened, refused when they were expanded before, matched.
 */
#ifndef SYMAUG_ENGINE_PLAN_INPUTS_H
#define SYMAUG_ENGINE_PLAN_INPUTS_H

#include "engine/plan.h"

struct recall;

/* Open all inputs into plan->archives and read their object arrays. */
int plan_open_inputs(struct plan *plan, const char *const *paths, size_t n_paths,
                     const struct settings *request, struct error *err);

/* Build plan->board from the request, what the shards say, and the first one's manifest, if there
 * is a recall; a contradiction is refused. */
int plan_decide_board(struct plan *plan, const struct settings *request,
                      const struct recall *recall, struct error *err);

/* Infer the roles of every input, and fill plan->arrays and the row counts. All inputs must hold
 * the same arrays, of equal types and row shapes, in equal roles. */
int plan_match_arrays(struct plan *plan, const struct settings *request, struct error *err);

/* ERROR_CANT_CREATE when path is one of the inputs, or a file of one, whatever it is called. */
int plan_inputs_check_not_output(const struct plan *plan, const char *path, struct error *err);

/* ERROR_DATA when an input is no longer what it was when it was opened. */
int plan_inputs_check_unchanged(const struct plan *plan, struct error *err);

/* Read all arrays and check their CRCs: a CRC stands at the end, and what is written before that is
 * read must not be given its final name. */
int plan_inputs_check_data(const struct plan *plan, int n_threads, struct error *err);

#endif
