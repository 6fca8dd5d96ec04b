/*
 * rules_parts.h - what the files of rules share: one row of planes, and the steps of a row and of
 * the verdict that are about whose turn it is.
 */
#ifndef SYMAUG_VERIFY_RULES_PARTS_H
#define SYMAUG_VERIFY_RULES_PARTS_H

#include "verify/rules.h"

/* A row of planes, and where it is found. */
struct position {
    const struct row_check *check;
    const struct lane *lane;
    struct row row;
    uint64_t at;
};

static inline struct finding_place place_in(const struct position *p, enum finding_code code,
                                            const struct lane *lane)
{
    return (struct finding_place){code, false, lane->array->key,
                                  p->check->window->images[p->at].row};
}

/* Few enough broken rows to be wrong by themselves. */
static inline bool are_few(const struct rule_tally *tally)
{
    return tally->n_broken <= 1 || 50 * tally->n_broken <= tally->n_rows;
}

/* True when the row's plane, if there is one, tells whose turn it is. */
bool turn_check_plane(struct rules *rules, const struct position *p);

/* n: stones of the two planes; the plane tells whose turn it is, or there is none. */
void turn_check_stones(struct rules *rules, const struct position *p, const uint64_t n[2]);

/* What stands about the plane; false when it is something else in most rows: then nothing more can
 * be told of the planes. */
bool turn_finish_plane(struct rules *rules, struct findings *findings);
void turn_finish_stones(struct rules *rules, struct findings *findings);

#endif
