/*
 * positions.h - what is done with the keys of positions: rows of one position become one, rows go
 * to parts by their position, sets are compared, and `expand` leaves the canonical image.
 */
#pragma once

#include "base/output.h"
#include "engine/plan.h"

/* --- expand --- */

/* What --canonical and --orbit-key ask of a plan that is built for all images: the canonical image
 * of each row as the only one, and the key itself as an array. */
int images_of_keys(struct plan *plan, const struct settings *settings, struct error *err);

/* --- dedupe --- */

struct dedupe_result {
    struct output conflicts; /* the list of --conflicts, to be committed or aborted by the caller */
    uint64_t n_rows, n_positions;
    uint64_t largest;     /* rows of a position, at most */
    uint64_t n_conflicts; /* positions whose values differ by more than --conflict */
    uint64_t n_others;    /* --merge mean: positions whose other arrays differ */
};

/*
 * Fold a plan that is built FOR_VALUES, or FOR_MEANS with --merge mean: the first row of each
 * position is left, in the order of the input, with symaug_count and, with means, averaged labels.
 * ERROR_DATA for labels that cannot be averaged.
 */
int dedupe_fold(struct plan *plan, const struct settings *settings, struct dedupe_result *result,
                struct error *err);

/* --- split --- */

#define SPLIT_MAX_PARTS 64

struct split {
    char *text; /* owned: the names lie in it */
    struct {
        const char *name;
        double share;
    } parts[SPLIT_MAX_PARTS];
    size_t n_parts;
    struct split_input {
        uint64_t n_rows;
        uint8_t *sides; /* owned: the part of each row */
    } * inputs;         /* owned; made by split_sides */
    size_t n_inputs;
    uint64_t n_shared; /* positions in several parts, unless they are wanted */
};

/* Parse "train=0.9,val=0.1". ERROR_USAGE. Release it in any case. */
int split_parse(struct split *split, const char *text, struct error *err);

/* The part of every row of all inputs, which are read one after another. Nothing is written. */
int split_sides(struct split *split, char *const *paths, size_t n_paths,
                const struct settings *settings, struct error *err);

/* Leave in a plan of input i the rows of a part, as they are. */
int split_select(const struct split *split, struct plan *plan, size_t i, size_t part,
                 const struct settings *settings, struct error *err);

void split_release(struct split *split);

/* --- overlap --- */

/* A set: a shard, a folder of shards, or the shards that are listed. */
struct set {
    const char *path;          /* borrowed */
    const char *const *shards; /* borrowed: their paths; or NULL: path tells */
    size_t n_shards;
    const struct settings *settings; /* borrowed: how its shards are read */
    uint64_t n_rows;                 /* once it has been read */
};

/* The positions of one set, up to symmetry. */
struct set_positions {
    bool is_known;
    uint64_t n_rows, n_classes, largest;
    uint64_t n_conflicts; /* classes whose values differ */
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

    /* Of a set that is alone, or NULL: its shards need not agree, and what they say of whose turn
     * it is need not be right. */
    struct set_positions *positions;

    int (*warn)(void *self, const char *text); /* or NULL */
};

/*
 * Read all sets and compare them. Their shards must be of one board, with the same arrays as
 * positions; types may differ where every value converts exactly. settings: memory and threads.
 */
int sets_compare(struct sets *sets, const struct settings *settings, struct error *err);
