/*
 * expand_stats.h - times and speeds of a run as JSON (--stats): what a manifest must not hold.
 */
#ifndef SYMAUG_CLI_EXPAND_STATS_H
#define SYMAUG_CLI_EXPAND_STATS_H

#include "engine/expand.h"
#include "engine/plan.h"

#include <jansson.h>

/* One output of the run. Zero-initialise the list (NULL). */
int expand_stats_add(json_t **list, const char *output, const struct plan *plan,
                     const struct expand_result *result, double seconds, struct error *err);

/* Write {"outputs": [...], "threads": N} to path, replacing it; the list is taken over (NULL: no
 * outputs). */
int expand_stats_write(const char *path, json_t *list, int n_threads, struct error *err);

#endif
