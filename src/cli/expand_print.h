/*
 * expand_print.h - what `symaug expand` says: warnings, the plan of a dry run, a line on success,
 * statistics.
 */
#ifndef SYMAUG_CLI_EXPAND_PRINT_H
#define SYMAUG_CLI_EXPAND_PRINT_H

#include "engine/expand.h"
#include "engine/plan.h"

#include <jansson.h>

/* The plan's warnings from `first` on, on standard error, unless --quiet. Returns how many there
 * are in all. */
size_t expand_print_warnings(const struct settings *settings, const struct plan *plan,
                             size_t first);

/* The plan of --dry-run on standard output, for people. */
void expand_print_plan(const struct plan *plan, const char *output);

/* Rows, sizes and speed on standard error, with --verbose. */
void expand_print_result(const struct settings *settings, const struct plan *plan,
                         const char *output, const struct expand_result *result, double seconds);

/* Times and speeds of a run as JSON (--stats): what a manifest must not hold. */

/* One output of the run. Zero-initialise the list (NULL). */
int expand_stats_add(json_t **list, const char *output, const struct plan *plan,
                     const struct expand_result *result, double seconds, struct error *err);

/* Write {"outputs": [...], "threads": N} to path, replacing it; the list is taken over (NULL: no
 * outputs). */
int expand_stats_write(const char *path, json_t *list, int n_threads, struct error *err);

#endif
