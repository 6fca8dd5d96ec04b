/* verify_rules.c - see verify_rules.h. */
#include "verify/verify_rules.h"

#include "verify/verify_numbers.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <strings.h>

static bool is_cells_layout(const struct lane *lane)
{
    return lane->binding->layout != NULL &&
           (strncmp(lane->binding->layout->name, "cells", 5) == 0 ||
            strcmp(lane->binding->layout->name, "columns") == 0);
}

static int find_lane(const struct lanes *lanes, enum role role)
{
    for (size_t i = 0; i < lanes->n; i++)
        if (lanes->items[i].binding->role == role && lanes->items[i].array->objects == NULL)
            return (int)i;
    return -1;
}

void rules_init(struct rules *rules, const struct lanes *lanes, size_t max)
{
    const struct verify_shard *shard = lanes->shard;
    const struct lane *planes = lanes->planes >= 0 ? &lanes->items[lanes->planes] : NULL;

    *rules = (struct rules){.policy = -1, .to_move = -1};
    for (int i = 0; i < RULE_N; i++)
        rules->tallies[i].findings.max = max;
    if (shard->board == NULL || planes == NULL || planes->binding->role != ROLE_PLANES ||
        !dtype_is_number(&planes->array->header.dtype))
        return;
    const uint64_t n_planes = planes->binding->axes.outer * planes->binding->axes.inner;

    rules->policy = find_lane(lanes, ROLE_POLICY);
    if (rules->policy < 0)
        rules->policy = find_lane(lanes, ROLE_POLICY_INDEX);
    rules->to_move = find_lane(lanes, ROLE_TO_MOVE);
    /* Policies of another kind belong to games whose planes are not known. */
    if (rules->policy >= 0 && !is_cells_layout(&lanes->items[rules->policy]))
        return;
    /* On boards of Hex more than three planes are not known. */
    if (n_planes >= 2 && (n_planes <= 3 || !shard->board->family->joins_edges))
        rules->lead = shard->board->lead;
}

/* --- a position --- */

struct position {
    const struct lane *lane;
    struct lane_row row;
    uint64_t axis, n_planes;
};

static uint64_t place_of_element(const struct position *p, uint64_t plane, uint64_t cell)
{
    const bool last = p->lane->binding->axes.outer == 1 && p->n_planes > 1;

    return last ? cell * p->n_planes + plane : plane * p->axis + cell;
}

static double element(const struct position *p, uint64_t plane, uint64_t cell)
{
    return lane_row_double(&p->row, place_of_element(p, plane, cell));
}

/* What is no number is no stone: it is reported as such. */
static bool has_stone(const struct position *p, uint64_t plane, uint64_t cell)
{
    const uint64_t at = place_of_element(p, plane, cell);

    if (p->row.bytes != NULL &&
        numbers_is_zero(p->row.dtype, p->row.bytes + at * p->row.dtype->itemsize))
        return false;
    return lane_row_double(&p->row, at) != 0 && isfinite(lane_row_double(&p->row, at));
}

/* Stones of both colours; false when some cell, *overlap, holds both. */
static bool count_stones(const struct position *p, uint64_t n[2], uint64_t *overlap)
{
    bool disjoint = true;

    n[0] = n[1] = 0;
    for (uint64_t cell = 0; cell < p->axis; cell++) {
        const bool first = has_stone(p, 0, cell), second = has_stone(p, 1, cell);

        n[0] += first;
        n[1] += second;
        if (first && second && disjoint) {
            disjoint = false;
            *overlap = cell;
        }
    }
    return disjoint;
}

static struct finding_place place_of(const struct source_check *check, enum finding_code code,
                                     const struct lane *lane, uint64_t at)
{
    return (struct finding_place){code, false, lane->array->key, check->window->images[at].row};
}

/* --- policies on occupied cells --- */

static bool is_occupied(const struct position *p, const struct lane *policy, uint64_t action)
{
    const struct board *board = policy->map.board;
    const struct action_layout *layout = policy->binding->layout;
    int64_t cell;

    if (board == NULL || action >= layout->length(board) ||
        !(layout->flags(board, action) & ACTION_PLACEMENT))
        return false;
    cell = layout->cell(board, action);
    if (cell >= 0 && p->lane->binding->plane_xy)
        cell = cell % board->cols * board->rows + cell / board->cols;
    return cell >= 0 && (uint64_t)cell < p->axis &&
           (has_stone(p, 0, (uint64_t)cell) || has_stone(p, 1, (uint64_t)cell));
}

/* The first action with mass on an occupied cell, or -1. */
static int64_t occupied_action(const struct rules *rules, const struct source_check *check,
                               const struct position *p, uint64_t at)
{
    const struct lane *policy = &check->lanes->items[rules->policy];
    const struct lane_row row = window_row(check->window, check->lanes, (size_t)rules->policy, at);
    struct lane_row values;

    if (policy->binding->role == ROLE_POLICY) {
        for (uint64_t i = 0; i < row.n; i++)
            if (!numbers_is_zero(row.dtype, row.bytes + i * row.dtype->itemsize) &&
                lane_row_double(&row, i) > 0 &&
                is_occupied(p, policy, i % policy->binding->axes.axis))
                return (int64_t)(i % policy->binding->axes.axis);
        return -1;
    }
    if (policy->values < 0)
        return -1;
    values = window_row(check->window, check->lanes, (size_t)policy->values, at);
    for (uint64_t i = 0; i < row.n && i < values.n; i++) {
        const int64_t action = lane_row_int(&row, i);

        if (action >= 0 && lane_row_double(&values, i) > 0 &&
            is_occupied(p, policy, (uint64_t)action))
            return action;
    }
    return -1;
}

static void check_occupied(struct rules *rules, const struct source_check *check,
                           const struct position *p, uint64_t at)
{
    struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    const struct lane *policy = rules->policy >= 0 ? &check->lanes->items[rules->policy] : NULL;
    struct finding_place place;
    int64_t action;

    if (policy == NULL || policy->is_broken || !policy->is_mapped)
        return;
    tally->n_rows++;
    action = occupied_action(rules, check, p, at);
    if (action < 0)
        return;
    tally->n_broken++;
    place = place_of(check, FINDING_POLICY_OCCUPIED, policy, at);
    findings_add(&tally->findings, &place, "no mass there",
                 finding_format("action %" PRId64, action).text, "mass on an occupied cell");
}

/* --- the player to move --- */

/* 0 or 1 for the two players, -1 where the row does not say. */
static int player_of_plane(const struct position *p)
{
    const double value = p->n_planes == 3 ? element(p, 2, 0) : -1;

    for (uint64_t cell = 1; p->n_planes == 3 && cell < p->axis; cell++)
        if (element(p, 2, cell) != value)
            return -1;
    return value == 0 ? 0 : value == 1 ? 1 : -1;
}

static int player_of_array(const struct rules *rules, const struct source_check *check, uint64_t at)
{
    static const double codes[][2] = {
        [TO_MOVE_01] = {0, 1}, [TO_MOVE_12] = {1, 2}, [TO_MOVE_PM1] = {1, -1}};
    const enum to_move_coding coding = check->conventions->to_move;
    struct lane_row row;
    double code;

    if (rules->to_move < 0 || check->lanes->items[rules->to_move].is_broken ||
        strncasecmp(check->lanes->items[rules->to_move].array->key, "winner", 6) == 0)
        return -1;
    row = window_row(check->window, check->lanes, (size_t)rules->to_move, at);
    if (row.n != 1)
        return -1;
    code = lane_row_double(&row, 0);
    return code == codes[coding][0] ? 0 : code == codes[coding][1] ? 1 : -1;
}

static bool is_terminal(const struct rules *rules, const struct source_check *check, uint64_t at)
{
    const struct lane *policy = rules->policy >= 0 ? &check->lanes->items[rules->policy] : NULL;
    struct lane_row row;

    if (policy == NULL || policy->is_broken || policy->binding->role != ROLE_POLICY)
        return false;
    row = window_row(check->window, check->lanes, (size_t)rules->policy, at);
    for (uint64_t i = 0; i < row.n; i++)
        if (!numbers_is_zero(row.dtype, row.bytes + i * row.dtype->itemsize))
            return false;
    return true;
}

static void check_lead(struct rules *rules, const struct source_check *check,
                       const struct position *p, const uint64_t n[2], uint64_t at)
{
    struct rule_tally *tally = &rules->tallies[RULE_TO_MOVE];
    const struct finding_place place = place_of(check, FINDING_TO_MOVE, p->lane, at);
    const bool mover = check->conventions->planes == PLANES_MOVER;
    const int by_plane = player_of_plane(p), by_array = player_of_array(rules, check, at);
    const int player = by_plane >= 0 ? by_plane : by_array;
    const int64_t first_lead = (int64_t)n[0] - (int64_t)n[1];
    const int64_t colour_lead = player == 1 ? -first_lead : first_lead;
    const int64_t lead = mover ? first_lead : colour_lead;
    const int64_t other = mover ? colour_lead : first_lead;

    if (player < 0 || is_terminal(rules, check, at))
        return;
    tally->n_rows++;
    tally->n_other_broken += other >= 1;
    if ((lead == 0 || lead == -1) && (by_plane < 0 || by_array < 0 || by_plane == by_array))
        return;
    tally->n_broken++;
    if (lead == 0 || lead == -1)
        findings_add(&tally->findings, &place, finding_format("player %d", by_array).text,
                     finding_format("player %d", by_plane).text,
                     "the to-move plane and the array of players");
    else
        findings_add(&tally->findings, &place, "0 or -1", finding_format("%" PRId64, lead).text,
                     "stones of the player to move less those of the other");
}

static void check_balance(struct rules *rules, const struct source_check *check,
                          const struct position *p, const uint64_t n[2], uint64_t at)
{
    struct rule_tally *tally = &rules->tallies[RULE_TO_MOVE];
    const struct finding_place place = place_of(check, FINDING_TO_MOVE, p->lane, at);

    tally->n_rows++;
    tally->n_other_broken++; /* no other convention explains it */
    if (n[0] <= n[1] + 1 && n[1] <= n[0] + 1)
        return;
    tally->n_broken++;
    findings_add(&tally->findings, &place, "at most 1",
                 finding_format("%" PRIu64 " and %" PRIu64, n[0], n[1]).text,
                 "difference of the numbers of stones");
}

/* --- a row --- */

/* Counting stones is for images whose colours are as they were. */
static bool is_swapped(const struct source_check *check, uint64_t at)
{
    const struct board *board = check->lanes->shard->board;
    const uint32_t t = check->window->images[at].transform;

    return t < board->n_transforms && board->transforms[t].swaps_colours;
}

void rules_check_row(struct rules *rules, const struct source_check *check, uint64_t at)
{
    struct rule_tally *tally = &rules->tallies[RULE_OVERLAP];
    struct position p;
    struct finding_place place;
    uint64_t n[2], cell = 0;
    bool disjoint;

    if (rules->lead == BOARD_LEAD_NONE || check->lanes->items[check->lanes->planes].is_broken ||
        is_swapped(check, at))
        return;
    p.lane = &check->lanes->items[check->lanes->planes];
    p.row = window_row(check->window, check->lanes, (size_t)check->lanes->planes, at);
    p.axis = p.lane->binding->axes.axis;
    p.n_planes = p.lane->binding->axes.outer * p.lane->binding->axes.inner;
    disjoint = count_stones(&p, n, &cell);
    tally->n_rows++;
    if (!disjoint) {
        tally->n_broken++;
        place = place_of(check, FINDING_PLANES_OVERLAP, p.lane, at);
        findings_add(&tally->findings, &place, "stones of one player on a cell",
                     finding_format("both on cell %" PRIu64, cell).text, "planes 0 and 1 overlap");
        return;
    }
    if (n[0] == p.axis || n[1] == p.axis) /* no plane of stones */
        return;
    check_occupied(rules, check, &p, at);
    if (rules->lead == BOARD_LEAD_TO_MOVE && check->conventions->planes <= PLANES_MOVER)
        check_lead(rules, check, &p, n, at);
    else if (rules->lead == BOARD_LEAD_BALANCED)
        check_balance(rules, check, &p, n, at);
}

/* --- verdicts --- */

void rules_merge(struct rules *rules, struct rules *from)
{
    for (int i = 0; i < RULE_N; i++) {
        struct rule_tally *to = &rules->tallies[i], *tally = &from->tallies[i];

        to->n_rows += tally->n_rows;
        to->n_broken += tally->n_broken;
        to->n_other_broken += tally->n_other_broken;
        tally->n_rows = tally->n_broken = tally->n_other_broken = 0;
        findings_merge(&to->findings, &tally->findings);
    }
}

/* Many rows with too many stones: the convention may be another one, or the games begin otherwise
 * (handicap, swap rule). */
static void judge_many_leads(const struct rule_tally *tally, const struct lanes *lanes,
                             struct findings *findings)
{
    struct finding_place place = {FINDING_TO_MOVE, false, lanes->items[lanes->planes].array->key,
                                  FINDING_NO_ROW};
    const bool mover = lanes->shard->conventions.planes == PLANES_MOVER;

    place.is_warning = tally->n_other_broken > 0;
    findings_add(
        findings, &place, "rows that agree with the player to move",
        finding_format("%" PRIu64 " of %" PRIu64 " that do not", tally->n_broken, tally->n_rows)
            .text,
        place.is_warning ? "the numbers of stones"
                         : "the numbers of stones; --planes %s explains them",
        mover ? "colour" : "mover");
}

void rules_finish(struct rules *rules, const struct lanes *lanes, struct findings *findings)
{
    struct rule_tally *lead = &rules->tallies[RULE_TO_MOVE];
    const struct rule_tally *overlap = &rules->tallies[RULE_OVERLAP];

    if (2 * overlap->n_broken > overlap->n_rows)
        return;
    for (int i = 0; i < RULE_TO_MOVE; i++)
        if (2 * rules->tallies[i].n_broken <= rules->tallies[i].n_rows)
            findings_merge(findings, &rules->tallies[i].findings);
    if (lead->n_broken <= 1 || 8 * lead->n_broken <= lead->n_rows)
        findings_merge(findings, &lead->findings);
    else if (rules->lead == BOARD_LEAD_TO_MOVE)
        judge_many_leads(lead, lanes, findings);
}

void rules_release(struct rules *rules)
{
    for (int i = 0; i < RULE_N; i++)
        findings_release(&rules->tallies[i].findings);
}
