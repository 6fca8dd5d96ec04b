/*
 * positions.h - what commands do with keys of positions: merge the rows of each position, divide
 * rows into parts, compare sets, and keep the canonical image in `expand`.
 */
#pragma once

#include "engine/plan.h"

/* --- expand --- */

/* Apply --canonical (select only the canonical image of each row) and --orbit-key (add the keys as
 * an array) to a plan built for all images. */
int images_of_keys(struct plan *plan, const struct settings *settings, struct error *err);

/* --- dedupe --- */

struct dedupe_result {
    struct output conflicts; /* the file of --conflicts, for the caller to commit or abort */
    uint64_t n_rows, n_positions;
    uint64_t largest;     /* rows of the most frequent position */
    uint64_t n_conflicts; /* positions whose values differ by more than --conflict */
    uint64_t n_others;    /* --merge mean: positions whose rows differ in other arrays */
};

/*
 * Reduce a plan to the first row of each position, in input order, with symaug_count and, under
 * --merge mean, averaged labels. The plan is built FOR_VALUES, with --merge mean FOR_MEANS.
 * ERROR_DATA for labels that cannot be averaged.
 */
int dedupe_fold(struct plan *plan, const struct settings *settings, struct dedupe_result *result,
                struct error *err);

/* --- split --- */

#define SPLIT_MAX_PARTS 64

struct split {
    char *text; /* owned: holds the names */
    struct {
        const char *name;
        double share;
    } parts[SPLIT_MAX_PARTS];
    size_t n_parts;
    uint8_t **sides; /* owned: of each input, the part of each row; made by split_sides */
    size_t n_inputs;
    uint64_t n_shared; /* positions in several parts; not counted with --overlap keep */
};

/* Parse "train=0.9,val=0.1". ERROR_USAGE. Release it in any case. */
int split_parse(struct split *split, const char *text, struct error *err);

/* Find the part of every row, reading one input after another. Nothing is written. */
int split_sides(struct split *split, char *const *paths, size_t n_paths,
                const struct settings *settings, struct error *err);

/* Reduce a plan of input i to the rows of a part, unchanged. */
int split_select(const struct split *split, struct plan *plan, size_t i, size_t part,
                 const struct settings *settings, struct error *err);

void split_release(struct split *split);

/* --- overlap --- */

/* A set: a shard, a folder of shards, or a list of shards. */
struct set {
    const char *path;                /* borrowed */
    struct text_list shards;         /* borrowed; none: those that set_list finds at path */
    const struct settings *settings; /* borrowed: how to read its shards */
    uint64_t n_rows;                 /* output */
};

/* List the shards of the set at path: those in a folder, by name; or the path itself if it is none,
 * or one that holds .npy files, which is a shard. ERROR_NO_INPUT for a folder without shards. */
int set_list(const char *path, struct text_list *shards, struct error *err);

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

    /* Output, owned by the caller: n x n matrices, or NULL. [i][j]: rows of set i whose position
     * occurs in set j; [i][i]: rows of set i minus its distinct positions. */
    uint64_t *exact, *symmetry;

    /* Called for each match, in row order; or NULL. */
    sets_found found;
    void *self;

    /* Output for a single set, or NULL. Its shards need not agree, and what they say of the player
     * to move is not checked. */
    struct set_positions *positions;

    int (*warn)(void *self, const char *text); /* or NULL */
};

/*
 * Read all sets and compare them. Their shards must be of one board, with the same arrays as
 * positions; types may differ where every value converts exactly. settings: memory and threads.
 */
int sets_compare(struct sets *sets, const struct settings *settings, struct error *err);
