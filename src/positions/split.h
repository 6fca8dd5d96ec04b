/*
 * split.h - which part of a split each row goes to.
 */
#ifndef SYMAUG_POSITIONS_SPLIT_H
#define SYMAUG_POSITIONS_SPLIT_H

#include "engine/plan.h"

#define SPLIT_MAX_PARTS 64
#define SPLIT_NO_PART   255 /* of a row that is left out */

struct split {
    char *text; /* owned: the names lie in it */
    struct {
        const char *name;
        double share;
    } parts[SPLIT_MAX_PARTS];
    size_t n_parts;
    uint8_t **sides; /* owned: by input and row, the part; made by split_sides */
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

#endif
