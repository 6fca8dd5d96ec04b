/*
 * expand_print.h - what `symaug expand` says: warnings, the plan of a dry run, a line on success,
 * statistics, progress.
 */
#ifndef SYMAUG_CLI_EXPAND_PRINT_H
#define SYMAUG_CLI_EXPAND_PRINT_H

#include "engine/expand.h"
#include "engine/plan.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <time.h>

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

/* --- a line on the terminal that says how far the work is, how fast, and how long yet --- */

struct progress {
    bool shown;
    const char *label; /* borrowed: what is being written */
    struct timespec started;
    double last; /* seconds since started when the line was drawn last; < 0: never */
};

/* Begin; auto shows the line when standard error is a terminal. */
void progress_start(struct progress *progress, enum when when, const char *label);

/* Redraw, at most ten times a second. */
void progress_update(struct progress *progress, uint64_t n_done, uint64_t n_total);

/* Clear the line. Returns the seconds since the start. */
double progress_end(struct progress *progress);

#endif
