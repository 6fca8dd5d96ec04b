/*
 * meter.h - how far a run is. Its pieces are files that are read or written, one after another:
 * whoever works on one says so, and how much of it is done; whoever made the meter shows it. A
 * meter may be NULL everywhere: then nobody looks. Only one thread at a time tells it.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct meter {
    /* So many bytes, unpacked, of the piece's are done. */
    void (*show)(struct meter *meter, uint64_t n_done, uint64_t n_total);

    size_t n_pieces; /* that the run has, as far as is known */
    size_t n_begun;
    const char *what; /* is done with the piece: "checking" */
    const char *path; /* borrowed until the piece's last step */
};

/* So many pieces at least are still to be begun. */
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
