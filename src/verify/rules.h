/*
 * rules.h - checks of a position as a whole: stones of both colours on one cell, policies on
 * occupied cells, the plane that tells the player to move, the player against the numbers of
 * stones. What planes say differs from game to game; the board tells which checks make sense, and
 * a check is given up where half of the rows would fail it: then the planes mean something else -
 * unless a policy fits as soon as it is flipped, which is told.
 */
#ifndef SYMAUG_VERIFY_RULES_H
#define SYMAUG_VERIFY_RULES_H

#include "engine/flips.h"
#include "engine/turn.h"
#include "verify/checks.h"
#include "verify/findings.h"

enum rule { RULE_OVERLAP, RULE_OCCUPIED, RULE_TURN_PLANE, RULE_PLAYER, RULE_LEAD, RULE_N };

/* Rows seen and rows that break the rule, whose findings wait for the verdict. */
struct rule_tally {
    uint64_t n_rows, n_broken;
    struct findings findings;
};

struct rules {
    const struct lanes *lanes;
    enum board_lead lead; /* BOARD_LEAD_NONE: no rules apply */
    int policy, to_move;  /* lanes, or -1 */
    struct planes_form form;
    struct stone_planes where;
    const struct flips *flips; /* of the policy, or NULL */
    struct flips own_flips;    /* owned, unless it is a part, to which they are lent */
    uint8_t *occupied;         /* owned: the cells of the row at hand */
    uint64_t n_stones;         /* on them */
    struct flip_parts parts;   /* policies with mass on stones */
    struct turn_rows turns;
    uint64_t n_other_broken; /* LEAD: under the other convention */
    struct rule_tally tallies[RULE_N];
};

/* What applies to the shard. max: findings kept for each rule. */
int rules_init(struct rules *rules, const struct lanes *lanes, size_t max, struct error *err);

/* Rules to be merged into `whole`, which must live longer. */
int rules_init_part(struct rules *rules, const struct rules *whole, struct error *err);

/* A row that is its source's own position, or no image at all. */
void rules_check_row(struct rules *rules, const struct row_check *check, uint64_t at);

/* The order of storage under which the policy keeps off the stones; the one it is said to have
 * unless that is wrong and another one right. */
enum action_flip rules_best_flip(const struct rules *rules);

/* Add the tallies of `from`, which become empty. */
void rules_merge(struct rules *rules, struct rules *from);

/* Decide which findings stand. */
void rules_finish(struct rules *rules, struct findings *findings);

void rules_release(struct rules *rules);

#endif
