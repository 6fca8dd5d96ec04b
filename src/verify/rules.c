/*
 * rules.c - checks of a position as a whole: stones of both colours on one cell, policies on
 * occupied cells, the plane that tells the player to move, the player against the numbers of
 * stones, and content in the corners of the box that are off board, as transforms leave it that
 * clamp at the edge.
 *
 * What planes say differs from game to game; the board tells which checks make sense. Every row
 * adds to tallies, and its findings wait in them: a rule that most rows break means that the planes
 * are no such planes, a rule that a few rows break means that these rows are wrong. Only the end of
 * the shard tells. Policies that are stored in another order than their planes are found as by
 * `expand` (engine/flips.h), and so is which permutation of the planes is named where their third
 * one tells no player (engine/turn.h).
 */
#include "verify/parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- what applies --- */

static const struct lane *planes_lane(const struct rules *rules)
{
    return &rules->lanes->items[rules->lanes->planes];
}

static const char *planes_key(const struct rules *rules)
{
    return planes_lane(rules)->array->key;
}

static int find_lane(const struct lanes *lanes, enum role role)
{
    for (size_t i = 0; i < lanes->n; i++)
        if (lanes->items[i].binding->role == role && !lanes->items[i].binding->is_winner &&
            (lanes->items[i].array->objects == NULL || role == ROLE_POLICY_INDEX))
            return (int)i;
    return -1;
}

/* Whatever differs from thread to thread; max: findings kept for each rule. */
static int init_tallies(struct rules *rules, size_t max, struct error *err)
{
    for (int i = 0; i < RULE_N; i++)
        rules->tallies[i] = (struct rule_tally){.findings.max = max};
    rules->parts = (struct flip_parts){.parts = {{.n_rows = 0}}};
    turn_rows_init(&rules->turns);
    rules->occupied = calloc(rules->form.axis + 1, 1);
    rules->smears = calloc(rules->n_smears + 1, sizeof *rules->smears);
    if (rules->occupied == NULL || rules->smears == NULL)
        return error_no_memory(err, "stones");
    for (uint64_t p = 0; p < rules->n_smears; p++)
        rules->smears[p].first_row = FINDING_NO_ROW;
    return 0;
}

/* Rules of stones: none where the planes are those of another kind of game. */
static int init_stones(struct rules *rules, const struct board *board, struct error *err)
{
    const struct lanes *lanes = rules->lanes;
    const struct role_binding *planes = planes_lane(rules)->binding;
    const bool is_grid = planes->role == ROLE_GRID;
    const struct lane *policy;

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
    if (policy == NULL || !policy->is_mapped || policy->spec.space == NULL)
        return 0;
    rules->flips = &rules->own_flips;
    return flips_init(&rules->own_flips, board, planes, policy->binding, policy->spec.space->length,
                      err);
}

int rules_init(struct rules *rules, struct lanes *lanes, size_t max, struct error *err)
{
    const struct board *board = lanes->shard->found.board;
    const struct lane *planes = lanes->planes >= 0 ? &lanes->items[lanes->planes] : NULL;

    *rules = (struct rules){.lanes = lanes, .policy = -1, .to_move = -1};
    if (planes == NULL || !dtype_is_number(&planes->array->header.dtype))
        return 0;
    if (planes->is_mapped && planes->spec.on_board != NULL && planes->spec.kind == SPEC_AXIS)
        rules->n_smears = planes->spec.n_planes;
    if (board != NULL && planes->binding->role != ROLE_PACKED) {
        const struct role_axes *axes = &planes->binding->axes;

        rules->form = (struct planes_form){&planes->array->header.dtype, axes->outer * axes->inner,
                                           axes->axis, axes->outer == 1 && axes->inner > 1};
        if (init_stones(rules, board, err) != 0)
            return -1;
    }
    return init_tallies(rules, max, err);
}

int rules_init_part(struct rules *rules, const struct rules *whole, struct error *err)
{
    *rules = *whole;
    rules->own_flips = (struct flips){.targets = NULL};
    return init_tallies(rules, whole->tallies[0].findings.max, err);
}

/* --- off-board cells --- */

/* One plane of the row at hand; elements are a stride apart. Constant planes are left alone. */
static void check_corners(struct smear *smear, const struct lane *lane, const uint8_t *plane,
                          size_t stride, uint64_t row)
{
    const struct dtype *dtype = &lane->array->header.dtype;
    bool on = false, off = false, constant = true;

    for (uint64_t i = 0; i < lane->spec.axis; i++) {
        const uint8_t *element = plane + i * stride;
        const bool filled = !numbers_is_zero(dtype, element);

        on |= filled && lane->spec.on_board[i];
        off |= filled && !lane->spec.on_board[i];
        constant = constant && memcmp(element, plane, dtype->itemsize) == 0;
    }
    if (off && !constant && smear->first_row > row)
        smear->first_row = row;
    smear->has_empty |= on && !off;
}

static void check_smears(struct rules *rules)
{
    const struct lane *lane = planes_lane(rules);
    const size_t item = lane->array->header.dtype.itemsize;
    const bool last = lane->spec.channels_last;

    for (uint64_t p = 0; p < rules->n_smears; p++) {
        const uint8_t *plane = rules->row.bytes + (last ? p * item : p * lane->spec.axis * item);

        if (last || !plane_is_blank(plane, lane->spec.axis * item))
            check_corners(&rules->smears[p], lane, plane, last ? item * lane->spec.n_planes : item,
                          rules->image->row);
    }
}

/* --- stones --- */

/* Stones of both colours into rules->occupied; false when some cell, *overlap, holds both. */
static bool find_stones(struct rules *rules, uint64_t *overlap)
{
    const uint64_t cols = rules->lanes->shard->found.board->cols;
    uint64_t *n = rules->n_stones;
    bool disjoint = true;

    n[0] = n[1] = 0;
    for (uint64_t cell = 0; cell < rules->form.axis; cell++) {
        const bool first =
            planes_has_stone(&rules->form, rules->row.bytes, rules->where.stones[0], cell);
        const bool second =
            rules->form.n_planes > 1 &&
            planes_has_stone(&rules->form, rules->row.bytes, rules->where.stones[1], cell);

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

static struct flip_mass weigh(const struct rules *rules)
{
    const struct lane *policy = &rules->lanes->items[rules->policy];
    const struct row row = window_row(rules->window, (size_t)rules->policy, rules->image->at);
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
    values = window_row(rules->window, (size_t)policy->values, rules->image->at);
    for (uint64_t i = 0; i < row.n && i < values.n; i++) {
        const int64_t action = row_int(&row, i);

        if (action >= 0)
            flip_mass_add(&mass, rules->flips, rules->occupied, (uint64_t)action,
                          row_double(&values, i));
    }
    mass.floor = 0;
    return mass;
}

static void check_occupied(struct rules *rules)
{
    const uint64_t row = rules->image->row;
    struct rule_tally *tally = &rules->tallies[RULE_OCCUPIED];
    const struct lane *policy = rules->flips != NULL ? &rules->lanes->items[rules->policy] : NULL;
    struct flip_mass mass;

    if (policy == NULL || policy->is_broken)
        return;
    mass = weigh(rules);
    tally->n_rows++;
    flip_tally_add(&rules->parts.parts[flip_part_of(row, rules->lanes->shard->n_rows)],
                   rules->flips, &mass, rules->n_stones[0] + rules->n_stones[1]);
    if (!flip_mass_is_on(&mass, rules->flips->policy->flip))
        return;
    tally->n_broken++;
    findings_add(&tally->findings, ERROR_AT(FINDING_POLICY_OCCUPIED, policy->array->key, row),
                 "no mass there", finding_format("action %" PRIu64, mass.action).text,
                 "mass on an occupied cell");
}

enum action_flip rules_best_flip(const struct rules *rules)
{
    const struct flip_tally sum = flip_parts_sum(&rules->parts);

    return rules->flips != NULL ? flip_tally_best(&sum, rules->flips) : ACTION_AS_IS;
}

/* --- whose turn it is --- */

/* True when the row's plane, if there is one, tells whose turn it is. */
static bool check_turn_plane(struct rules *rules)
{
    struct rule_tally *tally = &rules->tallies[RULE_TURN_PLANE];
    const uint64_t row = rules->image->row;
    double found[2];

    if (turn_rows_add(&rules->turns, &rules->form, rules->row.bytes, &rules->where,
                      rules->lanes->shard->conventions.plane_coding, row))
        return true;
    tally->n_broken++;
    findings_add(&tally->findings, ERROR_AT(FINDING_TO_MOVE, planes_key(rules), row),
                 "0 or 1 on all cells",
                 planes_is_level(&rules->form, rules->row.bytes, (uint64_t)rules->where.turn, found)
                     ? finding_format("%g", found[0]).text
                     : "different numbers",
                 "plane %d is not the player to move", rules->where.turn);
    return false;
}

static int player_of_array(const struct rules *rules)
{
    struct row row;

    if (rules->to_move < 0 || rules->lanes->items[rules->to_move].is_broken)
        return -1;
    row = window_row(rules->window, (size_t)rules->to_move, rules->image->at);
    return row.n == 1 ? turn_player(rules->lanes->shard->conventions.to_move, row_double(&row, 0))
                      : -1;
}

/* A dense policy without any mass. */
static bool is_terminal(const struct rules *rules)
{
    const struct lane *policy = rules->policy >= 0 ? &rules->lanes->items[rules->policy] : NULL;
    struct row row;

    if (policy == NULL || policy->is_broken || policy->binding->role != ROLE_POLICY)
        return false;
    row = window_row(rules->window, (size_t)rules->policy, rules->image->at);
    for (uint64_t i = 0; i < row.n; i++)
        if (!numbers_is_zero(row.dtype, row.bytes + i * row.dtype->itemsize))
            return false;
    return true;
}

/* On boards of Hex the third plane tells the player, who has as many stones as the other or one
 * less. */
static void check_lead(struct rules *rules)
{
    const struct conventions *c = &rules->lanes->shard->conventions;
    const struct finding_place place =
        *ERROR_AT(FINDING_TO_MOVE, planes_key(rules), rules->image->row);
    struct rule_tally *tally = &rules->tallies[RULE_LEAD];
    const int turn = rules->where.turn;
    const int by_plane =
        turn < 0 ? -1
                 : turn_player(c->plane_coding,
                               planes_number(&rules->form, rules->row.bytes, (uint64_t)turn, 0));
    const int by_array = player_of_array(rules);
    const int player = by_plane >= 0 ? by_plane : by_array;
    const struct turn_lead lead = turn_lead(rules->where.is_mover, player, rules->n_stones);

    if (player < 0 || is_terminal(rules))
        return;
    if (by_plane >= 0 && by_array >= 0 && by_plane != by_array) {
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

/* Elsewhere the numbers of stones differ by one at most. */
static void check_balance(struct rules *rules)
{
    struct rule_tally *tally = &rules->tallies[RULE_LEAD];
    const uint64_t *n = rules->n_stones;

    tally->n_rows++;
    if (n[0] <= n[1] + 1 && n[1] <= n[0] + 1)
        return;
    tally->n_broken++;
    findings_add(&tally->findings, ERROR_AT(FINDING_TO_MOVE, planes_key(rules), rules->image->row),
                 "at most 1", finding_format("%" PRIu64 " and %" PRIu64, n[0], n[1]).text,
                 "difference of the numbers of stones");
}

/* --- a row --- */

static void check_stones(struct rules *rules)
{
    const struct board *board = rules->lanes->shard->found.board;
    const enum planes_convention planes = rules->lanes->shard->conventions.planes;
    const uint32_t t = rules->image->transform;
    struct rule_tally *tally = &rules->tallies[RULE_OVERLAP];
    uint64_t cell = 0;
    bool disjoint, tells;

    /* Counting stones is for images whose colours are as they were. */
    if (rules->lead == BOARD_LEAD_NONE ||
        (t < board->n_transforms && board->transforms[t].swaps_colours))
        return;
    tally->n_rows++;
    disjoint = find_stones(rules, &cell);
    if (!disjoint) {
        tally->n_broken++;
        findings_add(&tally->findings,
                     ERROR_AT(FINDING_PLANES_OVERLAP, planes_key(rules), rules->image->row),
                     "stones of one player on a cell",
                     finding_format("both on cell %" PRIu64, cell).text,
                     "planes %" PRIu64 " and %" PRIu64 " overlap", rules->where.stones[0],
                     rules->where.stones[1]);
    }
    tells = check_turn_plane(rules);
    if (!disjoint || rules->n_stones[0] == rules->form.axis ||
        rules->n_stones[1] == rules->form.axis) /* no planes of stones */
        return;
    check_occupied(rules);
    if (tells && rules->lead == BOARD_LEAD_BALANCED)
        check_balance(rules);
    else if (tells && rules->lead == BOARD_LEAD_TO_MOVE &&
             (planes <= PLANES_MOVER || planes == PLANES_PERMUTATION))
        check_lead(rules);
}

void rules_check_row(struct rules *rules, const struct window *window,
                     const struct lane_image *image)
{
    if ((rules->lead == BOARD_LEAD_NONE && rules->n_smears == 0) || planes_lane(rules)->is_broken)
        return;
    rules->window = window;
    rules->image = image;
    rules->row = window_row(window, (size_t)rules->lanes->planes, image->at);
    check_stones(rules);
    check_smears(rules);
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
    for (uint64_t p = 0; p < from->n_smears; p++) {
        if (from->smears[p].first_row < rules->smears[p].first_row)
            rules->smears[p].first_row = from->smears[p].first_row;
        rules->smears[p].has_empty |= from->smears[p].has_empty;
    }
}

/* Few enough broken rows to be wrong by themselves. */
static bool are_few(const struct rule_tally *tally)
{
    return tally->n_broken <= 1 || 50 * tally->n_broken <= tally->n_rows;
}

/* One plane is something else throughout: what it holds instead, and what to do. Or it is wrong in
 * a few rows. False: nothing more can be told of the planes. */
static bool finish_turn_plane(struct rules *rules, struct findings *findings)
{
    struct rule_tally *tally = &rules->tallies[RULE_TURN_PLANE];
    const struct turn_rows *turns = &rules->turns;
    struct turn_advice advice = {.is_other_code = true};

    tally->n_rows = turns->n;
    if (are_few(tally)) {
        findings_merge(findings, &tally->findings);
        findings_merge(findings, &rules->tallies[RULE_PLAYER].findings);
        return true;
    }
    if (rules->form.n_planes == 3)
        advice = turn_advise(turns, &rules->where);
    findings_add(findings, ERROR_AT(FINDING_TO_MOVE, planes_key(rules), turns->first_bad),
                 "0 or 1 throughout each row",
                 advice.is_rest    ? "a plane of empty cells"
                 : advice.is_moved ? "stones; another plane is 0 or 1 throughout"
                 : turns->is_level ? finding_format("%g to %g", turns->low, turns->high).text
                                   : "different numbers within a row",
                 "plane %d is not the player to move in %" PRIu64 " of %" PRIu64 " rows; %s%s",
                 rules->where.turn, tally->n_broken, tally->n_rows,
                 advice.is_other_code ? "write it as 0 and 1, or tell its planes with --planes"
                                      : "if that is meant, use --planes ",
                 advice.is_other_code ? "" : advice.planes[0]);
    return false;
}

/* Many rows with too many stones: the convention may be another one, or the games begin otherwise
 * (handicap, swap rule). */
static void finish_lead(struct rules *rules, struct findings *findings)
{
    struct rule_tally *lead = &rules->tallies[RULE_LEAD];
    const bool is_warning =
        rules->n_other_broken > 0 || rules->lanes->shard->conventions.planes > PLANES_MOVER;
    const struct finding_place place = {FINDING_TO_MOVE, is_warning, planes_key(rules),
                                        FINDING_NO_ROW};

    if (!are_few(lead) && rules->lead == BOARD_LEAD_TO_MOVE)
        findings_add(
            findings, &place, "rows that agree with the player to move",
            finding_format("%" PRIu64 " of %" PRIu64 " that do not", lead->n_broken, lead->n_rows)
                .text,
            is_warning ? "the numbers of stones"
                       : "the numbers of stones; --planes %s explains them",
            rules->where.is_mover ? "colour" : "mover");
    else if (are_few(lead) || 8 * lead->n_broken <= lead->n_rows)
        findings_merge(findings, &lead->findings);
}

/* A policy in another order than its planes: it would be moved wrongly as it stands. */
static void report_flip(const struct rules *rules, const struct flip_verdict *verdict,
                        struct findings *findings)
{
    const struct findings *waiting = &rules->tallies[RULE_OCCUPIED].findings;
    const struct lane *policy = &rules->lanes->items[rules->policy];
    const char *key = policy->array->key, *flip = action_flip_name(verdict->flip);
    const bool is_part = verdict->first > 0 || verdict->end < rules->lanes->shard->n_rows;
    const bool is_flipped = verdict->flip != ACTION_AS_IS;
    const struct finding_text found = finding_format(
        "mass on stones in %" PRIu64 " of %" PRIu64 " rows, in %" PRIu64 " %s%s",
        verdict->tally.n_on[rules->flips->policy->flip], verdict->tally.n_rows,
        verdict->tally.n_on[verdict->flip], is_flipped ? "after " : "as it stands", flip);

    if (is_part)
        findings_add(findings, ERROR_AT(FINDING_POLICY_OCCUPIED, key, verdict->first),
                     "mass on empty cells", found.text,
                     "rows %" PRIu64 " to %" PRIu64 " are stored in another order than their "
                     "planes, unlike the others",
                     verdict->first, verdict->end - 1);
    else
        findings_add(findings,
                     ERROR_AT(FINDING_POLICY_OCCUPIED, key,
                              waiting->n > 0 ? waiting->items[0].row : FINDING_NO_ROW),
                     "mass on empty cells", found.text,
                     "planes and policy are stored in different orders; use --role %s=%s%s%s", key,
                     role_name(policy->binding->role), is_flipped ? ":" : "", flip);
}

static void finish_stones(struct rules *rules, struct findings *findings)
{
    struct rule_tally *overlap = &rules->tallies[RULE_OVERLAP];
    struct rule_tally *occupied = &rules->tallies[RULE_OCCUPIED];
    struct flip_verdict verdict;

    if (rules->lead == BOARD_LEAD_NONE || !finish_turn_plane(rules, findings) ||
        2 * overlap->n_broken > overlap->n_rows)
        return;
    findings_merge(findings, &overlap->findings);
    if (rules->flips != NULL) {
        verdict = flip_parts_judge(&rules->parts, rules->flips, rules->lanes->shard->n_rows);
        if (verdict.flip != rules->flips->policy->flip)
            report_flip(rules, &verdict, findings);
        else if (2 * occupied->n_broken <= occupied->n_rows)
            findings_merge(findings, &occupied->findings);
    }
    finish_lead(rules, findings);
}

void rules_finish(struct rules *rules, struct findings *findings)
{
    finish_stones(rules, findings);
    /* Off-board content is wrong where other rows show that the corners of the plane are meant to
     * be empty. */
    for (uint64_t p = 0; p < rules->n_smears; p++) {
        const struct smear *smear = &rules->smears[p];
        const struct finding_place place = {FINDING_SMEAR, !smear->has_empty, planes_key(rules),
                                            smear->first_row};

        if (smear->first_row != FINDING_NO_ROW)
            findings_add(findings, &place, "zero", "other", "off-board cells of plane %" PRIu64, p);
    }
}

void rules_release(struct rules *rules)
{
    for (int i = 0; i < RULE_N; i++)
        findings_release(&rules->tallies[i].findings);
    flips_release(&rules->own_flips);
    free(rules->occupied);
    free(rules->smears);
    *rules = (struct rules){0};
}
