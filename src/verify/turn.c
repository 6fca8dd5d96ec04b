/*
 * turn.c - whose turn it is: part of rules.h.
 *
 * On boards of Hex the third plane tells it, and a player has as many stones as the other or one
 * less; elsewhere the numbers of stones differ by one at most. A third plane that is something else
 * (empty cells, the last move) is told apart by what all its rows have in common, so that the
 * permutation can be named that is right for it.
 */
#include "verify/rules_parts.h"

#include <inttypes.h>
#include <string.h>

/* --- the plane --- */

/* True when the plane holds one number, *value, throughout. */
static bool is_level(const struct position *p, uint64_t plane, double *value)
{
    const uint8_t *first = element_at(p, plane, 0);
    const size_t item = p->row.dtype->itemsize;

    *value = number_at(p, plane, 0);
    if (!p->channels_last && memcmp(first, first + item, (p->axis - 1) * item) == 0)
        return true;
    for (uint64_t cell = 1; cell < p->axis; cell++)
        if (number_at(p, plane, cell) != *value)
            return false;
    return true;
}

/* 0 or 1 for the two players, -1 where the row does not say. */
static int player_of_plane(const struct rules *rules, const struct position *p)
{
    double value = -1;

    if (rules->turn < 0 || !is_level(p, (uint64_t)rules->turn, &value))
        return -1;
    return player_of_code(p->check->conventions->plane_coding, value);
}

/* True when the plane is 1 on the cells where neither of the others has a stone, and these have as
 * many as two players who take turns. */
static bool is_rest(const struct position *p, uint64_t plane)
{
    int64_t lead = 0;

    for (uint64_t cell = 0; cell < p->axis; cell++) {
        const double rest = number_at(p, plane, cell);
        const bool first = has_stone(p, (plane + 1) % 3, cell);
        const bool second = has_stone(p, (plane + 2) % 3, cell);

        if (rest != (!first && !second) || (first && second))
            return false;
        lead += first - second;
    }
    return lead >= -1 && lead <= 1;
}

/* A row whose third plane tells no player to move: what may it be instead? */
static void look_at_third(struct rules *rules, const struct position *p)
{
    double value;

    for (uint64_t plane = 0; plane < 3; plane++) {
        rules->third.is_rest[plane] &= is_rest(p, plane);
        rules->third.is_turn[plane] &= is_level(p, plane, &value) && (value == 0 || value == 1);
    }
    rules->third.is_level &= is_level(p, (uint64_t)rules->turn, &value);
}

void turn_check_plane(struct rules *rules, const struct position *p)
{
    struct rule_tally *tally = &rules->tallies[RULE_TURN_PLANE];
    const struct finding_place place = place_in(p, FINDING_TO_MOVE, p->lane);
    double value = 0;
    bool level;

    if (rules->turn < 0)
        return;
    tally->n_rows++;
    level = is_level(p, (uint64_t)rules->turn, &value);
    if (level && value < rules->third.low)
        rules->third.low = value;
    if (level && value > rules->third.high)
        rules->third.high = value;
    if (level && player_of_code(p->check->conventions->plane_coding, value) >= 0)
        return;
    tally->n_broken++;
    if (rules->n_planes == 3)
        look_at_third(rules, p);
    findings_add(&tally->findings, &place, "0 or 1 on all cells",
                 level ? finding_format("%g", value).text : "different numbers",
                 "plane %d is not the player to move", rules->turn);
}

static int player_of_array(const struct rules *rules, const struct position *p)
{
    struct lane_row row;

    if (rules->to_move < 0 || rules->lanes->items[rules->to_move].is_broken)
        return -1;
    row = window_row(p->check->window, rules->lanes, (size_t)rules->to_move, p->at);
    if (row.n != 1)
        return -1;
    return player_of_code(p->check->conventions->to_move, lane_row_double(&row, 0));
}

static bool is_terminal(const struct rules *rules, const struct position *p)
{
    const struct lane *policy = rules->policy >= 0 ? &rules->lanes->items[rules->policy] : NULL;
    struct lane_row row;

    if (policy == NULL || policy->is_broken || policy->binding->role != ROLE_POLICY)
        return false;
    row = window_row(p->check->window, rules->lanes, (size_t)rules->policy, p->at);
    for (uint64_t i = 0; i < row.n; i++)
        if (!numbers_is_zero(row.dtype, row.bytes + i * row.dtype->itemsize))
            return false;
    return true;
}

static void check_lead(struct rules *rules, const struct position *p, const uint64_t n[2])
{
    struct rule_tally *tally = &rules->tallies[RULE_LEAD];
    const struct finding_place place = place_in(p, FINDING_TO_MOVE, p->lane);
    const bool mover = rules->is_mover;
    const int by_plane = player_of_plane(rules, p), by_array = player_of_array(rules, p);
    const int player = by_plane >= 0 ? by_plane : by_array;
    const int64_t first_lead = (int64_t)n[0] - (int64_t)n[1];
    const int64_t colour_lead = player == 1 ? -first_lead : first_lead;
    const int64_t lead = mover ? first_lead : colour_lead;
    const int64_t other = mover ? colour_lead : first_lead;

    if (player < 0 || is_terminal(rules, p))
        return;
    if (by_plane >= 0 && by_array >= 0 && by_plane != by_array) {
        rules->tallies[RULE_PLAYER].n_broken++;
        findings_add(&rules->tallies[RULE_PLAYER].findings, &place,
                     finding_format("player %d", by_array).text,
                     finding_format("player %d", by_plane).text,
                     "the to-move plane and the array of players");
        return;
    }
    tally->n_rows++;
    rules->n_other_broken += other >= 1;
    if (lead == 0 || lead == -1)
        return;
    tally->n_broken++;
    findings_add(&tally->findings, &place, "0 or -1", finding_format("%" PRId64, lead).text,
                 "stones of the player to move less those of the other");
}

static void check_balance(struct rules *rules, const struct position *p, const uint64_t n[2])
{
    struct rule_tally *tally = &rules->tallies[RULE_LEAD];
    const struct finding_place place = place_in(p, FINDING_TO_MOVE, p->lane);

    tally->n_rows++;
    if (n[0] <= n[1] + 1 && n[1] <= n[0] + 1)
        return;
    tally->n_broken++;
    findings_add(&tally->findings, &place, "at most 1",
                 finding_format("%" PRIu64 " and %" PRIu64, n[0], n[1]).text,
                 "difference of the numbers of stones");
}

void turn_check_stones(struct rules *rules, const struct position *p, const uint64_t n[2])
{
    const enum planes_convention planes = p->check->conventions->planes;

    if (rules->lead == BOARD_LEAD_BALANCED)
        check_balance(rules, p, n);
    else if (rules->lead == BOARD_LEAD_TO_MOVE &&
             (planes <= PLANES_MOVER || planes == PLANES_PERMUTATION))
        check_lead(rules, p, n);
}

/* --- verdicts --- */

void turn_merge(struct rules *rules, struct rules *merged)
{
    struct rules_third *to = &rules->third;
    const struct rules_third *from = &merged->third;

    for (int plane = 0; plane < 3; plane++) {
        to->is_rest[plane] &= from->is_rest[plane];
        to->is_turn[plane] &= from->is_turn[plane];
    }
    to->is_level &= from->is_level;
    to->low = from->low < to->low ? from->low : to->low;
    to->high = from->high > to->high ? from->high : to->high;
    rules->n_other_broken += merged->n_other_broken;
    merged->n_other_broken = 0;
}

/* The permutation of the planes that fits what is seen instead of a to-move plane; NULL when none
 * does: other codes of the player to move must be written anew. */
static const char *fitting_planes(const struct rules *rules)
{
    static const struct {
        const char *exchanging, *keeping;
    } of_rest[3] = {{"0,2,1", "0,1,2"}, {"2,1,0", "0,1,2"}, {"1,0,2", "0,1,2"}},
      of_turn[2] = {{"~0,2,1", "~0,1,2"}, {"2,~1,0", "0,~1,2"}};
    const struct rules_third *third = &rules->third;
    const bool mover = rules->is_mover;

    for (int plane = 0; plane < 3; plane++)
        if (third->is_rest[plane])
            return mover ? of_rest[plane].keeping : of_rest[plane].exchanging;
    for (int plane = 0; plane < 2; plane++)
        if (third->is_turn[plane])
            return mover ? of_turn[plane].keeping : of_turn[plane].exchanging;
    if (third->is_level && third->low == -1 && third->high == 1)
        return mover ? "0,1,-2" : "1,0,-2";
    if (third->is_level && third->low < third->high &&
        (third->high <= 2 || (third->low == 0 && third->high == 255)))
        return NULL;
    return mover ? "0,1,2" : "1,0,2";
}

static struct finding_text third_text(const struct rules_third *third)
{
    if (third->is_rest[0] || third->is_rest[1] || third->is_rest[2])
        return finding_format("a plane of empty cells");
    if (third->is_turn[0] || third->is_turn[1])
        return finding_format("stones; plane %d is 0 or 1 throughout", third->is_turn[1]);
    return third->is_level ? finding_format("%g to %g", third->low, third->high)
                           : finding_format("different numbers within a row");
}

/* One plane is something else throughout, or is wrong in a few rows. */
bool turn_finish_plane(struct rules *rules, struct findings *findings)
{
    struct rule_tally *tally = &rules->tallies[RULE_TURN_PLANE];
    const char *planes = rules->n_planes == 3 && rules->turn == 2 ? fitting_planes(rules) : NULL;
    struct finding_place place = {FINDING_TO_MOVE, false,
                                  rules->lanes->items[rules->lanes->planes].array->key,
                                  FINDING_NO_ROW};

    if (are_few(tally)) {
        findings_merge(findings, &tally->findings);
        findings_merge(findings, &rules->tallies[RULE_PLAYER].findings);
        return true;
    }
    if (tally->findings.n > 0)
        place.row = tally->findings.items[0].row;
    findings_add(findings, &place, "0 or 1 throughout each row", third_text(&rules->third).text,
                 "plane %d is not the player to move in %" PRIu64 " of %" PRIu64 " rows%s%s",
                 rules->turn, tally->n_broken, tally->n_rows,
                 planes != NULL ? "; if that is meant, use --planes "
                 : rules->third.low == 1 && rules->third.high == 2
                     ? "; use --to-move 12, or tell its planes with --planes"
                     : "; write it as 0 and 1, or tell its planes with --planes",
                 planes != NULL ? planes : "");
    return false;
}

/* Many rows with too many stones: the convention may be another one, or the games begin otherwise
 * (handicap, swap rule). */
static void report_many_leads(const struct rules *rules, struct findings *findings)
{
    const struct rule_tally *tally = &rules->tallies[RULE_LEAD];
    const enum planes_convention planes = rules->lanes->shard->conventions.planes;
    struct finding_place place = {FINDING_TO_MOVE, false,
                                  rules->lanes->items[rules->lanes->planes].array->key,
                                  FINDING_NO_ROW};

    place.is_warning = rules->n_other_broken > 0 || planes > PLANES_MOVER;
    findings_add(
        findings, &place, "rows that agree with the player to move",
        finding_format("%" PRIu64 " of %" PRIu64 " that do not", tally->n_broken, tally->n_rows)
            .text,
        place.is_warning ? "the numbers of stones"
                         : "the numbers of stones; --planes %s explains them",
        rules->is_mover ? "colour" : "mover");
}

void turn_finish_stones(struct rules *rules, struct findings *findings)
{
    struct rule_tally *lead = &rules->tallies[RULE_LEAD];

    if (!are_few(lead) && rules->lead == BOARD_LEAD_TO_MOVE)
        report_many_leads(rules, findings);
    else if (are_few(lead) || 8 * lead->n_broken <= lead->n_rows)
        findings_merge(findings, &lead->findings);
}
