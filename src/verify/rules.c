/*
 * rules.c - see rules.h.
 *
 * Every row adds to tallies, and its findings wait in them: a rule that most rows break means that
 * the planes are no such planes, a rule that a few rows break means that these rows are wrong. Only
 * the end of the shard tells. Tables made at the start give, for every action, the cell that it
 * plays on; also for policies that are stored upside down, mirrored or transposed beside their
 * planes, so that the order that fits can be named.
 */
#include "verify/numbers.h"
#include "verify/rules_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define LITTLE_MASS   1e-6 /* of a policy: what smoothing leaves on cells that nobody can play on */
#define MIN_ROWS_FLIP 4    /* fewer rows fit some flip by chance */

static const struct lane *planes_lane(const struct rules *rules)
{
    return &rules->lanes->items[rules->lanes->planes];
}

/* --- what applies --- */

static bool is_columns(const struct lane *lane)
{
    return strcmp(lane->binding->layout->name, "columns") == 0;
}

static bool is_cells_layout(const struct lane *lane)
{
    return lane->binding->layout != NULL &&
           (strncmp(lane->binding->layout->name, "cells", 5) == 0 || is_columns(lane));
}

static int find_lane(const struct lanes *lanes, enum role role)
{
    for (size_t i = 0; i < lanes->n; i++)
        if (lanes->items[i].binding->role == role && !lanes->items[i].binding->is_winner &&
            lanes->items[i].array->objects == NULL)
            return (int)i;
    return -1;
}

/* The element of a plane that holds a cell of the box; -1 when none does. */
static int32_t element_of_cell(const struct board *board, const struct role_binding *planes,
                               uint64_t cell)
{
    if (planes->plane_xy)
        cell = cell % board->cols * board->rows + cell / board->cols;
    if (planes->layout == NULL)
        return cell < planes->axes.axis ? (int32_t)cell : -1;
    for (uint64_t i = 0; i < planes->axes.axis && i < planes->layout->length(planes->layout, board);
         i++)
        if (planes->layout->cell(planes->layout, board, i) == (int64_t)cell)
            return (int32_t)i;
    return -1;
}

/* For every flip and action, the element of a plane that the action plays on. */
static int make_targets(struct rules *rules, struct error *err)
{
    const struct lane *policy = &rules->lanes->items[rules->policy];
    const struct role_binding *planes = planes_lane(rules)->binding;
    const struct action_layout *layout = policy->binding->layout;
    const struct board *board = policy->spec.board;
    const uint64_t n = rules->n_actions = policy->spec.space->length;
    int32_t *targets = malloc((n * ACTION_N_FLIPS + 1) * sizeof *targets);

    if (targets == NULL)
        return error_no_memory(err, "cells of actions");
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++) {
        rules->can_flip[flip] = action_can_flip(board, layout, flip);
        for (uint64_t a = 0; a < n; a++) {
            const bool places = rules->can_flip[flip] && a < layout->length(layout, board) &&
                                (layout->flags(layout, board, a) & ACTION_PLACEMENT);

            targets[flip * n + a] =
                places ? element_of_cell(board, planes,
                                         action_flip_cell(board, flip,
                                                          (uint64_t)layout->cell(layout, board, a)))
                       : -1;
        }
    }
    rules->targets = rules->own_targets = targets;
    return 0;
}

static int init_tallies(struct rules *rules, size_t max, struct error *err)
{
    for (int i = 0; i < RULE_N; i++)
        rules->tallies[i] = (struct rule_tally){.findings.max = max};
    memset(rules->n_flip_broken, 0, sizeof rules->n_flip_broken);
    turn_rows_init(&rules->turns);
    rules->n_other_broken = 0;
    rules->occupied = calloc(rules->form.axis + 1, 1);
    return rules->occupied != NULL ? 0 : error_no_memory(err, "stones");
}

int rules_init(struct rules *rules, const struct lanes *lanes, size_t max, struct error *err)
{
    const struct board *board = lanes->shard->board;
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
    if ((policy != NULL && !is_cells_layout(policy)) || (rules->form.n_planes == 1) != is_grid ||
        (rules->form.n_planes > 3 && board->family->joins_edges))
        return 0;
    rules->lead = is_grid && board->lead != BOARD_LEAD_NONE ? BOARD_LEAD_FREE : board->lead;
    if (rules->lead == BOARD_LEAD_NONE)
        return 0;
    stone_planes_decide(&rules->where, &lanes->shard->conventions, rules->form.n_planes,
                        rules->lead == BOARD_LEAD_TO_MOVE);
    rules->is_columns = policy != NULL && is_columns(policy);
    if (policy != NULL && policy->is_mapped && policy->spec.space != NULL &&
        make_targets(rules, err) != 0)
        return -1;
    return init_tallies(rules, max, err);
}

int rules_init_part(struct rules *rules, const struct rules *whole, struct error *err)
{
    *rules = *whole;
    rules->own_targets = NULL;
    rules->occupied = NULL;
    return rules->lead != BOARD_LEAD_NONE ? init_tallies(rules, whole->tallies[0].findings.max, err)
                                          : 0;
}

/* Stones of both colours into rules->occupied; false when some cell, *overlap, holds both. */
static bool find_stones(struct rules *rules, const struct position *p, uint64_t n[2],
                        uint64_t *overlap)
{
    const uint64_t cols = rules->lanes->shard->board->cols;
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
    for (uint64_t c = 0; rules->is_columns && c < cols; c++)
        rules->occupied[c] &= rules->occupied[rules->form.axis - cols + c];
    return disjoint;
}

/* --- policies on occupied cells --- */

/* How the policy is said to be stored. */
static enum action_flip stored_flip(const struct rules *rules)
{
    return rules->policy >= 0 ? rules->lanes->items[rules->policy].binding->flip : ACTION_AS_IS;
}

/* A policy's mass, under every flip, on cells with a stone. */
struct mass {
    double total, floor, occupied[ACTION_N_FLIPS];
    uint64_t n_cells, n_occupied[ACTION_N_FLIPS];
    double highest; /* on an occupied cell, as it stands, */
    int64_t action; /* by this action */
};

static void add_mass(const struct rules *rules, struct mass *mass, uint64_t action, double p)
{
    if (action >= rules->n_actions || rules->targets[action] < 0) {
        mass->total += p;
        return;
    }
    if (mass->n_cells++ == 0 || p < mass->floor)
        mass->floor = p;
    if (p <= 0)
        return;
    mass->total += p;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++) {
        const int32_t target = rules->targets[(uint64_t)flip * rules->n_actions + action];

        if (target < 0 || !rules->occupied[target])
            continue;
        mass->occupied[flip] += p;
        mass->n_occupied[flip]++;
        if (flip == (int)stored_flip(rules) && p > mass->highest) {
            mass->highest = p;
            mass->action = (int64_t)action;
        }
    }
}

/* Mass that counts. A policy that is nowhere zero is smoothed, or a network's own: what all cells
 * have is none, and cells with stones must have as much as others before it is wrong. */
static bool is_on_stones(const struct mass *mass, int flip)
{
    const double over = mass->floor > 0
                            ? mass->occupied[flip] - mass->floor * (double)mass->n_occupied[flip]
                            : mass->occupied[flip];
    const double share =
        mass->floor > 0 ? 0.5 * (double)mass->n_occupied[flip] / (double)mass->n_cells : 0;

    return over > LITTLE_MASS * mass->total && over > share * mass->total;
}

static struct mass weigh(const struct rules *rules, const struct position *p)
{
    const struct lane *policy = &rules->lanes->items[rules->policy];
    const struct lane_row row =
        window_row(p->check->window, rules->lanes, (size_t)rules->policy, p->at);
    struct mass mass = {.action = -1};
    struct lane_row values;

    if (policy->binding->role == ROLE_POLICY) {
        for (uint64_t i = 0; i < row.n; i++) {
            const uint8_t *element = row.bytes + i * row.dtype->itemsize;

            add_mass(rules, &mass, i % rules->n_actions,
                     numbers_is_zero(row.dtype, element) ? 0
                                                         : dtype_get_double(row.dtype, element));
        }
        return mass;
    }
    if (policy->values < 0)
        return mass;
    values = window_row(p->check->window, rules->lanes, (size_t)policy->values, p->at);
    for (uint64_t i = 0; i < row.n && i < values.n; i++) {
        const int64_t action = lane_row_int(&row, i);

        if (action >= 0)
            add_mass(rules, &mass, (uint64_t)action, lane_row_double(&values, i));
    }
    mass.floor = 0;
    return mass;
}

static void check_occupied(struct rules *rules, const struct position *p)
{
    struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    struct finding_place place;
    struct mass mass;

    if (rules->targets == NULL || rules->lanes->items[rules->policy].is_broken)
        return;
    mass = weigh(rules, p);
    tally->n_rows++;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        rules->n_flip_broken[flip] += is_on_stones(&mass, flip);
    if (!is_on_stones(&mass, (int)stored_flip(rules)))
        return;
    tally->n_broken++;
    place = place_in(p, FINDING_POLICY_OCCUPIED, &rules->lanes->items[rules->policy]);
    findings_add(&tally->findings, &place, "no mass there",
                 finding_format("action %" PRId64, mass.action).text, "mass on an occupied cell");
}

enum action_flip rules_best_flip(const struct rules *rules)
{
    const uint64_t *n_broken = rules->n_flip_broken;
    const enum action_flip as_is = stored_flip(rules);
    enum action_flip best = as_is;

    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        if (rules->can_flip[flip] && n_broken[flip] < n_broken[best])
            best = flip;
    return n_broken[as_is] >= MIN_ROWS_FLIP &&
                   10 * n_broken[as_is] > rules->tallies[RULE_OCCUPIED].n_rows &&
                   20 * n_broken[best] <= n_broken[as_is]
               ? best
               : as_is;
}

/* --- a row --- */

/* Counting stones is for images whose colours are as they were. */
static bool is_swapped(const struct row_check *check, uint64_t at)
{
    const struct board *board = check->lanes->shard->board;
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
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++) {
        rules->n_flip_broken[flip] += from->n_flip_broken[flip];
        from->n_flip_broken[flip] = 0;
    }
}

/* A policy in another order than its planes: it would be moved wrongly as it stands. */
static void report_flip(const struct rules *rules, enum action_flip flip, struct findings *findings)
{
    const struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    const char *key = rules->lanes->items[rules->policy].array->key;
    const struct finding_place place = {FINDING_POLICY_OCCUPIED, false, key,
                                        tally->findings.n > 0 ? tally->findings.items[0].row
                                                              : FINDING_NO_ROW};

    findings_add(
        findings, &place, "mass on empty cells",
        finding_format("mass on stones in %" PRIu64 " of %" PRIu64 " rows, in %" PRIu64 " %s%s",
                       tally->n_broken, tally->n_rows, rules->n_flip_broken[flip],
                       flip != ACTION_AS_IS ? "after " : "as it stands", action_flip_name(flip))
            .text,
        "planes and policy are stored in different orders; use --role %s=%s%s%s", key,
        role_name(rules->lanes->items[rules->policy].binding->role),
        flip != ACTION_AS_IS ? ":" : "", action_flip_name(flip));
}

static void finish_occupied(struct rules *rules, struct findings *findings)
{
    struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    const enum action_flip flip = rules_best_flip(rules);

    if (flip != stored_flip(rules))
        report_flip(rules, flip, findings);
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
    free(rules->own_targets);
    free(rules->occupied);
    *rules = (struct rules){0};
}
