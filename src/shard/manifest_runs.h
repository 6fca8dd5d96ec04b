/*
 * manifest_runs.h - runs that were cut into several outputs: OUT-00000.npz, OUT-00001.npz, ...
 */
#ifndef SYMAUG_SHARD_MANIFEST_RUNS_H
#define SYMAUG_SHARD_MANIFEST_RUNS_H

#include "base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* The length of an output's name up to its number: the same for the outputs of a run. 0 when it
 * is no output of a run that was cut. */
size_t manifest_run_length(const json_t *output);

/* ERROR_DATA when, in a list of outputs, one of a run is missing in front of another, or two
 * overlap. */
int manifest_runs_check(const json_t *outputs, struct error *err);

#endif
