/*
 * key_rows.h - the keys of a plan's rows, some thousand rows at a time, in order.
 */
#ifndef SYMAUG_POSITIONS_KEY_ROWS_H
#define SYMAUG_POSITIONS_KEY_ROWS_H

#include "engine/plan.h"
#include "positions/key.h"

/* Another set, with whose arrays a plan's must agree. */
struct key_like {
    const struct key *key;
    const char *path;
    bool converts; /* types may differ: rows are converted, as long as every value can be */
};

/*
 * The key of a plan's positions: which arrays, from their roles or --key, and what transforms do to
 * them. ERROR_DATA when there is no such array, when one cannot be part of a key, and when they are
 * not those of `like` (NULL: none). The caller releases it.
 */
int key_of_plan(struct key *key, const struct plan *plan, const struct key_like *like,
                struct error *err);

/* Keep for the manifest which arrays are the position. */
int key_note(struct plan *plan, const struct key *key, struct error *err);

/* Rows first .. first + n - 1. */
struct key_rows {
    uint64_t first, n;
    struct key_value *keys;  /* one each */
    struct key_value *exact; /* the same of the rows alone, when asked for */
    uint8_t *ties;           /* key_ties_nbytes each */
};

struct key_reader {
    const struct plan *plan;         /* borrowed */
    const struct key *key;           /* borrowed */
    const struct settings *settings; /* borrowed */
    bool wants_exact;

    /* What the rows are wanted for: called by the leader, in order. */
    int (*visit)(void *self, const struct key_rows *rows, struct error *err);
    void *self;
};

/* Read all rows. The same calls in the same order, whatever the number of threads. */
int key_reader_run(const struct key_reader *reader, struct error *err);

#endif
