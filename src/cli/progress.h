/*
 * progress.h - a line on the terminal that says how far the work is, how fast, and how long yet.
 */
#ifndef SYMAUG_CLI_PROGRESS_H
#define SYMAUG_CLI_PROGRESS_H

#include "engine/settings.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

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
