/*
 * sets.h - positions that occur in several sets, exactly and up to symmetry.
 */
#ifndef SYMAUG_POSITIONS_SETS_H
#define SYMAUG_POSITIONS_SETS_H

#include "engine/settings.h"

/* A set: a shard, a folder of shards, or the shards that are listed. */
struct set {
    const char *path;          /* borrowed */
    const char *const *shards; /* borrowed: their paths; or NULL: path tells */
    size_t n_shards;
    const struct settings *settings; /* borrowed: how its shards are read */
    uint64_t n_rows;                 /* once it has been read */
};

/* Row `row` of set 0 occurs in set `set`, first as its row `other`. */
typedef int (*sets_found)(void *self, uint64_t row, size_t set, uint64_t other, struct error *err);

struct sets {
    struct set *items; /* owned by the caller */
    size_t n;

    /* For a matrix: n x n, owned by the caller, or NULL. [i][j]: rows of set i that occur in set j,
     * [i][i]: its rows less its positions. */
    uint64_t *exact, *symmetry;

    /* For a list of rows, or NULL: called in the order of rows. */
    sets_found found;
    void *self;

    int (*warn)(void *self, const char *text); /* or NULL */
};

/*
 * Read all sets and compare them. Their shards must be of one board, with the same arrays as
 * positions; types may differ where every value converts exactly. settings: memory and threads.
 */
int sets_compare(struct sets *sets, const struct settings *settings, struct error *err);

#endif
