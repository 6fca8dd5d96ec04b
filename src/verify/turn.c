/*
 * turn.c - whose turn it is: part of rules.h.
 *
 * On boards of Hex the third plane tells it, and a player has as many stones as the other or one
 * less; elsewhere the numbers of stones differ by one at most. What the rows have in common whose
 * plane tells no player decides which permutation of the planes is named: engine/turn.h.
 */
#include "verify/numbers.h"
#include "verify/rules_parts.h"

#include <inttypes.h>

/* --- the rows --- */

bool turn_check_plane(struct rules *rules, const struct position *p)
{
    struct rule_tally *tally = &rules->tallies[RULE_TURN_PLANE];
    const struct finding_place place = place_in(p, FINDING_TO_MOVE, p->lane);
    double found[2];

    if (turn_rows_add(&rules->turns, &rules->form, p->row.bytes, &rules->where,
                      p->check->conventions->plane_coding, place.row))
        return true;
    tally->n_broken++;
    findings_add(&tally->findings, &place, "0 or 1 on all cells",
                 planes_is_level(&rules->form, p->row.bytes, (uint64_t)rules->where.turn, found)
                     ? finding_format("%g", found[0]).text
                     : "different numbers",
                 "plane %d is not the player to move", rules->where.turn);
    return false;
}

static int player_of_array(const struct rules *rules, const struct position *p)
{
    struct row row;

    if (rules->to_move < 0 || rules->lanes->items[rules->to_move].is_broken)
        return -1;
    row = window_row(p->check->window, rules->lanes, (size_t)rules->to_move, p->at);
    if (row.n != 1)
        return -1;
    return turn_player(p->check->conventions->to_move, row_double(&row, 0));
}

static bool is_terminal(const struct rules *rules, const struct position *p)
{
    const struct lane *policy = rules->policy >= 0 ? &rules->lanes->items[rules->policy] : NULL;
    struct row row;

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
    const int by_plane = rules->where.turn < 0
                             ? -1
                             : turn_player(p->check->conventions->plane_coding,
                                           planes_number(&rules->form, p->row.bytes,
                                                         (uint64_t)rules->where.turn, 0));
    const int by_array = player_of_array(rules, p);
    const int player = by_plane >= 0 ? by_plane : by_array;
    const struct turn_lead lead = turn_lead(rules->where.is_mover, player, n);

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
    rules->n_other_broken += lead.other >= 1;
    if (lead.declared == 0 || lead.declared == -1)
        return;
    tally->n_broken++;
    findings_add(&tally->findings, &place, "0 or -1",
                 finding_format("%" PRId64, lead.declared).text,
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

/* What the plane holds instead, and what to do. */
static struct finding_text advise(const struct rules *rules, struct finding_text *found)
{
    const struct turn_rows *turns = &rules->turns;
    const bool is_third = rules->form.n_planes == 3;
    const struct turn_advice advice =
        is_third ? turn_advise(turns, &rules->where) : (struct turn_advice){.is_other_code = true};

    if (advice.is_rest && is_third)
        *found = finding_format("a plane of empty cells");
    else if (advice.is_moved)
        *found = finding_format("stones; another plane is 0 or 1 throughout");
    else if (turns->is_level)
        *found = finding_format("%g to %g", turns->low, turns->high);
    else
        *found = finding_format("different numbers within a row");
    if (advice.is_other_code)
        return finding_format("write it as 0 and 1, or tell its planes with --planes");
    return finding_format("if that is meant, use --planes %s", advice.planes[0]);
}

/* One plane is something else throughout, or is wrong in a few rows. */
bool turn_finish_plane(struct rules *rules, struct findings *findings)
{
    struct rule_tally *tally = &rules->tallies[RULE_TURN_PLANE];
    struct finding_place place = {FINDING_TO_MOVE, false,
                                  rules->lanes->items[rules->lanes->planes].array->key,
                                  rules->turns.first_bad};
    struct finding_text found, advice;

    tally->n_rows = rules->turns.n;
    if (are_few(tally)) {
        findings_merge(findings, &tally->findings);
        findings_merge(findings, &rules->tallies[RULE_PLAYER].findings);
        return true;
    }
    advice = advise(rules, &found);
    findings_add(findings, &place, "0 or 1 throughout each row", found.text,
                 "plane %d is not the player to move in %" PRIu64 " of %" PRIu64 " rows; %s",
                 rules->where.turn, tally->n_broken, tally->n_rows, advice.text);
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
        rules->where.is_mover ? "colour" : "mover");
}

void turn_finish_stones(struct rules *rules, struct findings *findings)
{
    struct rule_tally *lead = &rules->tallies[RULE_LEAD];

    if (!are_few(lead) && rules->lead == BOARD_LEAD_TO_MOVE)
        report_many_leads(rules, findings);
    else if (are_few(lead) || 8 * lead->n_broken <= lead->n_rows)
        findings_merge(findings, &lead->findings);
}
