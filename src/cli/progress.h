/*
 * progress.h - a line on the terminal that says how far the work is, how fast, and how long yet.
 */
#ifndef SYMAUG_CLI_PROGRESS_H
#define SYMAUG_CLI_PROGRESS_H

#include "base/error.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

enum progress_when { PROGRESS_AUTO, PROGRESS_ALWAYS, PROGRESS_NEVER };

struct progress {
    bool shown;
    const char *label; /* borrowed: what is being written */
    struct timespec started;
    double last; /* seconds since started when the line was drawn last; < 0: never */
};

/* Parse auto, always, never. */
int progress_parse(const char *text, enum progress_when *when, struct error *err);

/* Begin; auto shows the line when standard error is a terminal. */
void progress_start(struct progress *progress, enum progress_when when, const char *label);

/* Redraw, at most ten times a second. */
void progress_update(struct progress *progress, uint64_t n_done, uint64_t n_total);

/* Clear the line. Returns the seconds since the start. */
double progress_end(struct progress *progress);

#endif
