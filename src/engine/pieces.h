/*
 * pieces.h - a member's bytes, made piece by piece.
 *
 * A member of the output is a sequence of pieces of about 1 MiB, or less in small members, cut at
 * row boundaries whatever the threads. `load` fetches the input of a run of pieces into one of two
 * windows; `make` builds one piece and the history in front of it, on any thread, from the window
 * of its run.
 */
#ifndef SYMAUG_ENGINE_PIECES_H
#define SYMAUG_ENGINE_PIECES_H

#include "base/bytes.h"
#include "base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PIECE_NBYTES     (1u << 20)
#define PIECE_MIN_NBYTES (1u << 18)

/* The size of the pieces of a member of n_bytes: small members are cut finer, so that all threads
 * have something to do. */
static inline uint64_t piece_nbytes_for(uint64_t n_bytes)
{
    const uint64_t part = n_bytes / 4;

    return part < PIECE_MIN_NBYTES ? PIECE_MIN_NBYTES : part < PIECE_NBYTES ? part : PIECE_NBYTES;
}

struct pieces;

struct pieces_ops {
    /* Fetch the input for pieces first .. first + n - 1; *window is where it is. Runs are asked for
     * in order; may run while pieces of the run before are made, but not of older ones: the windows
     * take turns. */
    int (*load)(struct pieces *pieces, uint64_t first, uint64_t n, unsigned *window,
                struct error *err);

    /*
     * Build piece i, whose run is in that window: scratch (cleared by the callee) receives the last
     * *history_nbytes of the member's bytes in front of the piece (in: how many are wanted, out:
     * how many there are), then the piece. Thread-safe.
     */
    int (*make)(const struct pieces *pieces, uint64_t i, unsigned window, struct bytes *scratch,
                size_t *history_nbytes, struct error *err);

    void (*free)(struct pieces *pieces);
};

/* The head of every kind of pieces (first member of its struct). */
struct pieces {
    const struct pieces_ops *ops;
    uint64_t n_pieces; /* at least 1: the first one carries the .npy header */
    bool size_known;
    uint64_t unpacked_nbytes; /* header and data, when size_known */
};

/* Free pieces of any kind; accepts NULL. */
static inline void pieces_free(struct pieces *pieces)
{
    if (pieces != NULL)
        pieces->ops->free(pieces);
}

#endif
