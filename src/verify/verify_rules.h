/*
 * verify_rules.h - checks of a position as a whole: stones of both colours on one cell, policies on
 * occupied cells, the player to move against the numbers of stones. What planes say differs from
 * game to game; the board tells which checks make sense, and each check is given up
 * where half of the rows would fail it: then the planes mean something else.
 */
#ifndef SYMAUG_VERIFY_VERIFY_RULES_H
#define SYMAUG_VERIFY_VERIFY_RULES_H

#include "verify/findings.h"
#include "verify/verify_source.h"

enum rule { RULE_OVERLAP, RULE_OCCUPIED, RULE_TO_MOVE, RULE_N };

/* Rows seen and rows that break the rule, whose findings wait for the verdict. */
struct rule_tally {
    uint64_t n_rows, n_broken;
    uint64_t n_other_broken; /* TO_MOVE: under the other convention */
    struct findings findings;
};

struct rules {
    enum board_lead lead; /* BOARD_LEAD_NONE: no rules apply */
    struct rule_tally tallies[RULE_N];
    int policy, to_move; /* lanes, or -1 */
};

/* What applies to the shard. max: findings kept for each rule. */
void rules_init(struct rules *rules, const struct lanes *lanes, size_t max);

/* A row that is its source's own position, or no image at all. */
void rules_check_row(struct rules *rules, const struct source_check *check, uint64_t at);

/* Add the tallies of `from`, which become empty. */
void rules_merge(struct rules *rules, struct rules *from);

/* Decide which findings stand. */
void rules_finish(struct rules *rules, const struct lanes *lanes, struct findings *findings);

void rules_release(struct rules *rules);

#endif
