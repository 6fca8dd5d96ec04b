/*
 * progress.c - one line on the terminal: share done, speed, time left, redrawn ten times a second
 * at most and cleared at the end. Whoever works calls progress_update; nothing runs by itself.
 */
#include "cli/progress.h"

#include "base/text.h"

#include <stdio.h>
#include <unistd.h>

#define REDRAW_SECONDS 0.1

void progress_start(struct progress *progress, enum when when, const char *label)
{
    *progress = (struct progress){.label = label, .last = -1};
    progress->shown = when == WHEN_ALWAYS || (when == WHEN_AUTO && isatty(STDERR_FILENO) == 1);
    clock_gettime(CLOCK_MONOTONIC, &progress->started);
}

static double seconds_since(const struct timespec *start)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)(now.tv_sec - start->tv_sec) + 1e-9 * (double)(now.tv_nsec - start->tv_nsec);
}

void progress_update(struct progress *progress, uint64_t n_done, uint64_t n_total)
{
    double seconds, rate, share;

    if (!progress->shown)
        return;
    seconds = seconds_since(&progress->started);
    if (progress->last >= 0 && seconds - progress->last < REDRAW_SECONDS)
        return;
    progress->last = seconds;
    rate = seconds > 0 ? (double)n_done / seconds : 0;
    share = n_total > 0 && n_done < n_total ? (double)n_done / (double)n_total : 1;
    fprintf(stderr, "\r\033[K%s: %3.0f%%  %s/s  %.0f s left", text_path(progress->label).text,
            100 * share, text_size((uint64_t)rate).text,
            rate > 0 && n_done < n_total ? (double)(n_total - n_done) / rate : 0);
    fflush(stderr);
}

double progress_end(struct progress *progress)
{
    if (progress->shown && progress->last >= 0) {
        fputs("\r\033[K", stderr);
        fflush(stderr);
    }
    return seconds_since(&progress->started);
}
