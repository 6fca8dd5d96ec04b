/*
 * meter.h - the progress of a run, in pieces: files that are read or written one after another. The
 * code that works on a piece reports it here, and the owner of the meter shows it. All functions
 * accept a NULL meter and do nothing. Only one thread at a time may report.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct meter {
    /* Show that n_done of the piece's n_total bytes (uncompressed) are done. */
    void (*show)(struct meter *meter, uint64_t n_done, uint64_t n_total);

    size_t n_pieces; /* of the run, as far as known */
    size_t n_begun;
    const char *what; /* the current activity: "checking" */
    const char *path; /* borrowed until the piece's last step */
};

/* At least n pieces are still to be begun. */
static inline void meter_expect(struct meter *meter, size_t n)
{
    if (meter != NULL && meter->n_pieces < meter->n_begun + n)
        meter->n_pieces = meter->n_begun + n;
}

static inline void meter_begin(struct meter *meter, const char *what, const char *path)
{
    if (meter == NULL)
        return;
    meter_expect(meter, 1);
    meter->n_begun++;
    meter->what = what;
    meter->path = path;
}

static inline void meter_step(struct meter *meter, uint64_t n_done, uint64_t n_total)
{
    if (meter != NULL && meter->n_begun > 0)
        meter->show(meter, n_done, n_total);
}
