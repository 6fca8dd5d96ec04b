/*
 * rules.c - see rules.h.
 *
 * Every row adds to tallies, and its findings wait in them: a rule that most rows break means that
 * the planes are no such planes, a rule that a few rows break means that these rows are wrong. Only
 * the end of the shard tells. Policies that are stored in another order than their planes are found
 * as by `expand`: engine/flips.h.
 */
#include "verify/numbers.h"
#include "verify/rules_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct lane *planes_lane(const struct rules *rules)
{
    return &rules->lanes->items[rules->lanes->planes];
}

/* --- what applies --- */

static int find_lane(const struct lanes *lanes, enum role role)
{
    for (size_t i = 0; i < lanes->n; i++)
        if (lanes->items[i].binding->role == role && !lanes->items[i].binding->is_winner &&
            (lanes->items[i].array->objects == NULL || role == ROLE_POLICY_INDEX))
            return (int)i;
    return -1;
}

static int init_tallies(struct rules *rules, size_t max, struct error *err)
{
    for (int i = 0; i < RULE_N; i++)
        rules->tallies[i] = (struct rule_tally){.findings.max = max};
    rules->parts = (struct flip_parts){.parts = {{.n_rows = 0}}};
    turn_rows_init(&rules->turns);
    rules->n_other_broken = 0;
    rules->occupied = calloc(rules->form.axis + 1, 1);
    return rules->occupied != NULL ? 0 : error_no_memory(err, "stones");
}

int rules_init(struct rules *rules, const struct lanes *lanes, size_t max, struct error *err)
{
    const struct board *board = lanes->shard->found.board;
    const struct lane *planes = lanes->planes >= 0 ? &lanes->items[lanes->planes] : NULL;
    const struct lane *policy;
    bool is_grid;

    *rules = (struct rules){.lanes = lanes, .policy = -1, .to_move = -1};
    if (board == NULL || planes == NULL || planes->binding->role == ROLE_PACKED ||
        !dtype_is_number(&planes->array->header.dtype))
        return 0;
    is_grid = planes->binding->role == ROLE_GRID;
    rules->form = (struct planes_form){
        &planes->array->header.dtype, planes->binding->axes.outer * planes->binding->axes.inner,
        planes->binding->axes.axis,
        planes->binding->axes.outer == 1 && planes->binding->axes.inner > 1};
    rules->policy = find_lane(lanes, ROLE_POLICY);
    if (rules->policy < 0)
        rules->policy = find_lane(lanes, ROLE_POLICY_INDEX);
    rules->to_move = find_lane(lanes, ROLE_TO_MOVE);
    policy = rules->policy >= 0 ? &lanes->items[rules->policy] : NULL;
    /* Policies of another kind belong to games whose planes are not known, and so do more than
     * three planes on boards of Hex. */
    if ((policy != NULL && !flips_is_placement(policy->binding)) ||
        (rules->form.n_planes == 1) != is_grid ||
        (rules->form.n_planes > 3 && board->family->joins_edges))
        return 0;
    rules->lead = is_grid && board->lead != BOARD_LEAD_NONE ? BOARD_LEAD_FREE : board->lead;
    if (rules->lead == BOARD_LEAD_NONE)
        return 0;
    stone_planes_decide(&rules->where, &lanes->shard->conventions, rules->form.n_planes,
                        rules->lead == BOARD_LEAD_TO_MOVE);
    if (policy != NULL && policy->is_mapped && policy->spec.space != NULL) {
        if (flips_init(&rules->own_flips, board, planes->binding, policy->binding,
                       policy->spec.space->length, err) != 0)
            return -1;
        rules->flips = &rules->own_flips;
    }
    return init_tallies(rules, max, err);
}

int rules_init_part(struct rules *rules, const struct rules *whole, struct error *err)
{
    *rules = *whole;
    rules->own_flips = (struct flips){.targets = NULL};
    rules->occupied = NULL;
    return rules->lead != BOARD_LEAD_NONE ? init_tallies(rules, whole->tallies[0].findings.max, err)
                                          : 0;
}

/* Stones of both colours into rules->occupied; false when some cell, *overlap, holds both. */
static bool find_stones(struct rules *rules, const struct position *p, uint64_t n[2],
                        uint64_t *overlap)
{
    const uint64_t cols = rules->lanes->shard->found.board->cols;
    bool disjoint = true;

    n[0] = n[1] = 0;
    for (uint64_t cell = 0; cell < rules->form.axis; cell++) {
        const bool first =
            planes_has_stone(&rules->form, p->row.bytes, rules->where.stones[0], cell);
        const bool second =
            rules->form.n_planes > 1 &&
            planes_has_stone(&rules->form, p->row.bytes, rules->where.stones[1], cell);

        n[0] += first;
        n[1] += second;
        rules->occupied[cell] = first || second;
        if (first && second && disjoint) {
            disjoint = false;
            *overlap = cell;
        }
    }
    /* A column is full when its first cell and its last are taken, whichever end is up. */
    for (uint64_t c = 0; rules->flips != NULL && rules->flips->is_columns && c < cols; c++)
        rules->occupied[c] &= rules->occupied[rules->form.axis - cols + c];
    return disjoint;
}

/* --- policies on occupied cells --- */

static struct flip_mass weigh(const struct rules *rules, const struct position *p)
{
    const struct lane *policy = &rules->lanes->items[rules->policy];
    const struct row row = window_row(p->check->window, rules->lanes, (size_t)rules->policy, p->at);
    struct flip_mass mass = {.total = 0};
    struct row values;

    if (policy->binding->role == ROLE_POLICY) {
        for (uint64_t i = 0; i < row.n; i++) {
            const uint8_t *element = row.bytes + i * row.dtype->itemsize;

            flip_mass_add(
                &mass, rules->flips, rules->occupied, i % rules->flips->n_actions,
                numbers_is_zero(row.dtype, element) ? 0 : dtype_get_double(row.dtype, element));
        }
        return mass;
    }
    if (policy->values < 0)
        return mass;
    values = window_row(p->check->window, rules->lanes, (size_t)policy->values, p->at);
    for (uint64_t i = 0; i < row.n && i < values.n; i++) {
        const int64_t action = row_int(&row, i);

        if (action >= 0)
            flip_mass_add(&mass, rules->flips, rules->occupied, (uint64_t)action,
                          row_double(&values, i));
    }
    mass.floor = 0;
    return mass;
}

static void check_occupied(struct rules *rules, const struct position *p)
{
    const uint64_t row = p->check->window->images[p->at].row;
    struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    struct finding_place place;
    struct flip_mass mass;

    if (rules->flips == NULL || rules->lanes->items[rules->policy].is_broken)
        return;
    mass = weigh(rules, p);
    tally->n_rows++;
    flip_tally_add(&rules->parts.parts[flip_part_of(row, rules->lanes->shard->n_rows)],
                   rules->flips, &mass, rules->n_stones);
    if (!flip_mass_is_on(&mass, rules->flips->policy->flip))
        return;
    tally->n_broken++;
    place = place_in(p, FINDING_POLICY_OCCUPIED, &rules->lanes->items[rules->policy]);
    findings_add(&tally->findings, &place, "no mass there",
                 finding_format("action %" PRIu64, mass.action).text, "mass on an occupied cell");
}

enum action_flip rules_best_flip(const struct rules *rules)
{
    const struct flip_tally sum = flip_parts_sum(&rules->parts);

    return rules->flips != NULL ? flip_tally_best(&sum, rules->flips) : ACTION_AS_IS;
}

/* --- a row --- */

/* Counting stones is for images whose colours are as they were. */
static bool is_swapped(const struct row_check *check, uint64_t at)
{
    const struct board *board = check->lanes->shard->found.board;
    const uint32_t t = check->window->images[at].transform;

    return t < board->n_transforms && board->transforms[t].swaps_colours;
}

void rules_check_row(struct rules *rules, const struct row_check *check, uint64_t at)
{
    struct rule_tally *tally = &rules->tallies[RULE_OVERLAP];
    struct position p = {.check = check, .at = at};
    struct finding_place place;
    uint64_t n[2], cell = 0;
    bool disjoint, tells;

    if (rules->lead == BOARD_LEAD_NONE || planes_lane(rules)->is_broken || is_swapped(check, at))
        return;
    p.lane = planes_lane(rules);
    p.row = window_row(check->window, check->lanes, (size_t)check->lanes->planes, at);
    tally->n_rows++;
    disjoint = find_stones(rules, &p, n, &cell);
    if (!disjoint) {
        tally->n_broken++;
        place = place_in(&p, FINDING_PLANES_OVERLAP, p.lane);
        findings_add(&tally->findings, &place, "stones of one player on a cell",
                     finding_format("both on cell %" PRIu64, cell).text,
                     "planes %" PRIu64 " and %" PRIu64 " overlap", rules->where.stones[0],
                     rules->where.stones[1]);
    }
    tells = turn_check_plane(rules, &p);
    if (!disjoint || n[0] == rules->form.axis || n[1] == rules->form.axis) /* no planes of stones */
        return;
    rules->n_stones = n[0] + n[1];
    check_occupied(rules, &p);
    if (tells)
        turn_check_stones(rules, &p, n);
}

/* --- verdicts --- */

void rules_merge(struct rules *rules, struct rules *from)
{
    turn_rows_merge(&rules->turns, &from->turns);
    rules->n_other_broken += from->n_other_broken;
    from->n_other_broken = 0;
    for (int i = 0; i < RULE_N; i++) {
        struct rule_tally *to = &rules->tallies[i], *tally = &from->tallies[i];

        to->n_rows += tally->n_rows;
        to->n_broken += tally->n_broken;
        findings_merge(&to->findings, &tally->findings);
        tally->n_rows = tally->n_broken = 0;
    }
    flip_parts_merge(&rules->parts, &from->parts);
    from->parts = (struct flip_parts){.parts = {{.n_rows = 0}}};
}

/* A policy in another order than its planes: it would be moved wrongly as it stands. */
static void report_flip(const struct rules *rules, const struct flip_verdict *verdict,
                        struct findings *findings)
{
    const struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    const struct array *array = rules->lanes->items[rules->policy].array;
    const char *role = role_name(rules->lanes->items[rules->policy].binding->role);
    const bool is_part = verdict->first > 0 || verdict->end < rules->lanes->shard->n_rows;
    const struct finding_place place = {FINDING_POLICY_OCCUPIED, false, array->key,
                                        is_part                 ? verdict->first
                                        : tally->findings.n > 0 ? tally->findings.items[0].row
                                                                : FINDING_NO_ROW};
    const struct finding_text found = finding_format(
        "mass on stones in %" PRIu64 " of %" PRIu64 " rows, in %" PRIu64 " %s%s",
        verdict->tally.n_on[rules->flips->policy->flip], verdict->tally.n_rows,
        verdict->tally.n_on[verdict->flip],
        verdict->flip != ACTION_AS_IS ? "after " : "as it stands", action_flip_name(verdict->flip));

    if (is_part)
        findings_add(findings, &place, "mass on empty cells", found.text,
                     "rows %" PRIu64 " to %" PRIu64 " are stored in another order than their "
                     "planes, unlike the others",
                     verdict->first, verdict->end - 1);
    else
        findings_add(findings, &place, "mass on empty cells", found.text,
                     "planes and policy are stored in different orders; use --role %s=%s%s%s",
                     array->key, role, verdict->flip != ACTION_AS_IS ? ":" : "",
                     action_flip_name(verdict->flip));
}

static void finish_occupied(struct rules *rules, struct findings *findings)
{
    struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    struct flip_verdict verdict;

    if (rules->flips == NULL)
        return;
    verdict = flip_parts_judge(&rules->parts, rules->flips, rules->lanes->shard->n_rows);
    if (verdict.flip != rules->flips->policy->flip)
        report_flip(rules, &verdict, findings);
    else if (2 * tally->n_broken <= tally->n_rows)
        findings_merge(findings, &tally->findings);
}

void rules_finish(struct rules *rules, struct findings *findings)
{
    struct rule_tally *overlap = &rules->tallies[RULE_OVERLAP];

    if (rules->lead == BOARD_LEAD_NONE || !turn_finish_plane(rules, findings) ||
        2 * overlap->n_broken > overlap->n_rows)
        return;
    findings_merge(findings, &overlap->findings);
    finish_occupied(rules, findings);
    turn_finish_stones(rules, findings);
}

void rules_release(struct rules *rules)
{
    for (int i = 0; i < RULE_N; i++)
        findings_release(&rules->tallies[i].findings);
    flips_release(&rules->own_flips);
    free(rules->occupied);
    *rules = (struct rules){0};
}
