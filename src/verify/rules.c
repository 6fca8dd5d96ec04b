/*
 * rules.c - checks of a position as a whole: stones of both colours on one cell, policies with mass
 * on occupied cells, the plane of the player to move, that player against the numbers of stones,
 * and content in off-board cells, which transforms that clamp at the edge leave there.
 *
 * What planes mean differs from game to game; the board says which checks apply. Findings wait in
 * tallies until the end of the shard: if most rows break a rule, the planes mean something else; if
 * a few do, these rows are wrong. Policies stored in another order than their planes, and planes in
 * another order, are recognised as by `expand` (engine/turn.h).
 */
#include "verify/parts.h"

#include "engine/survey.h"

#define MOST_COMPARED 16384 /* at most so many rows compare the orders of storage */

/* --- what applies --- */

/* Count the current row as breaking a rule; returns where its finding goes. */
static struct findings *break_rule(struct rules *r, enum rule rule)
{
    r->tallies[rule].n_broken++;
    return &r->tallies[rule].findings;
}

static int find_lane(const struct lanes *lanes, enum role role)
{
    for (size_t i = 0; i < lanes->n; i++)
        if (lanes->items[i].binding->role == role &&
            !(lanes->items[i].binding->options & ROLE_WINNER) &&
            (lanes->items[i].array->objects == NULL || role == ROLE_POLICY_INDEX))
            return (int)i;
    return -1;
}

/* Make what each piece of a window has of its own. max: findings kept for each rule. */
static int init_tallies(struct rules *r, size_t max, struct error *err)
{
    for (int i = 0; i < RULE_N; i++)
        r->tallies[i] = (struct rule_tally){.findings.max = max};
    turn_rows_init(&r->turns);
    r->occupied = bytes_new_apart(r->form.axis + 1);
    r->smears = calloc(r->n_smears + 1, sizeof *r->smears);
    if (r->occupied == NULL || r->smears == NULL)
        return error_no_memory(err, "stones");
    for (uint64_t p = 0; p < r->n_smears; p++)
        r->smears[p].first_row = FINDING_NO_ROW;
    return 0;
}

int rules_init(struct rules *r, struct lanes *lanes, size_t max, struct error *err)
{
    const struct conventions *c = &lanes->shard->conventions;
    const struct board *board = lanes->shard->found.board;
    const struct lane *planes = lanes->planes >= 0 ? &lanes->items[lanes->planes] : NULL;

    *r = (struct rules){.lanes = lanes,
                        .planes = planes,
                        .policy = -1,
                        .to_move = -1,
                        .flip_step = 1 + lanes->shard->n_rows / MOST_COMPARED};
    if (planes == NULL || !dtype_is_number(&planes->array->header.dtype))
        return 0;
    if (planes->is_mapped && planes->spec.on_board != NULL && planes->spec.kind == SPEC_AXIS)
        r->n_smears = planes->spec.n_planes;
    if (board == NULL || board->family->only_known_members)
        return init_tallies(r, max, err);
    r->form = planes_frame_of(planes->binding, &planes->array->header.dtype);
    r->policy = find_lane(lanes, ROLE_POLICY);
    if (r->policy < 0)
        r->policy = find_lane(lanes, ROLE_POLICY_INDEX);
    if (r->form.n_frames == 1) /* of a history it tells the player of one frame only */
        r->to_move = find_lane(lanes, ROLE_TO_MOVE);
    /* Rules of stones apply only where the planes are known to hold stones. They are not where the
     * policy does not place stones, where boards of Hex have more than three planes, or a history
     * without --planes. */
    if ((r->policy < 0 || laid_is_placement(lanes->items[r->policy].binding)) &&
        (r->form.n_planes == 1 || planes->binding->role != ROLE_GRID) &&
        (!board->family->joins_edges ||
         (r->form.n_planes <= 3 && (r->form.n_frames <= 1 || conventions_is_said(c, "planes")))))
        r->lead =
            r->form.n_planes == 1 && board->lead != BOARD_LEAD_NONE ? BOARD_LEAD_FREE : board->lead;
    planes_decide(&r->form, c, r->lead == BOARD_LEAD_TO_MOVE);
    if (r->form.stones[0] == r->form.stones[1]) /* those of one player only */
        r->lead = BOARD_LEAD_NONE;
    if (r->lead == BOARD_LEAD_NONE)
        return init_tallies(r, max, err);
    /* Policies, masks and single moves, the same arrays that `expand` checks: first the policy
     * (k is -1), then the lanes in order. */
    for (int k = -1; k < (int)lanes->n && r->n_policies < RULES_MAX_LAID; k++) {
        const int i = k < 0 ? r->policy : k;
        const struct lane *lane = &lanes->items[i < 0 ? 0 : i];
        const struct role_binding *b = lane->binding;
        struct policy_rule *rule = &r->policies[r->n_policies];

        if (i < 0 || (k >= 0 && (i == r->policy || (b->options & ROLE_WINNER))) ||
            !lane->is_mapped || lane->spec.space == NULL || !laid_is_placement(b) ||
            (k >= 0 && !laid_can_read(lane->array, b)))
            continue;
        if (laid_init(&rule->laid, board, planes->binding, b, lanes->shard->n_rows, err) != 0)
            return -1;
        rule->lane = i;
        /* Of the values beside indices only those of a policy are a mass. */
        const enum role values =
            lane->values >= 0 ? lanes->items[lane->values].binding->role : b->role;
        rule->keeps_off = k < 0 && role_kinds[values].check == ROLE_CHECK_POLICY;
        /* What can be full must be the same for all of them: a cell, or a column. */
        if (rule->laid.is_columns == r->policies[0].laid.is_columns)
            r->n_policies++;
        else
            laid_release(&rule->laid);
    }
    return init_tallies(r, max, err);
}

int rules_init_part(struct rules *r, const struct rules *whole, struct error *err)
{
    *r = *whole;
    r->is_part = true;
    for (size_t i = 0; i < r->n_policies; i++)
        laid_init_part(&r->policies[i].laid, &whole->policies[i].laid);
    return init_tallies(r, whole->tallies[0].findings.max, err);
}

/* --- checks of a row --- */

/* Note off-board content; a plane that holds one number throughout has none. */
static void check_smears(struct rules *r)
{
    const struct lane *lane = r->planes;
    const struct dtype *dtype = &lane->array->header.dtype;
    const struct spec *spec = &lane->spec;
    const size_t item = dtype->itemsize;
    const size_t stride = spec->channels_last ? item * spec->inner : item;

    for (uint64_t p = 0; p < r->n_smears; p++) {
        const uint8_t *plane = r->row.bytes + spec_plane_at(spec, p) * item;
        struct smear *smear = &r->smears[p];
        bool on = false, off = false, constant = true;

        if (!spec->channels_last && bytes_are_zero(plane, spec->axis * item))
            continue;
        for (uint64_t i = 0; i < spec->axis; i++) {
            const uint8_t *element = plane + i * stride;
            const bool filled = dtype_get_double(dtype, element) != 0;

            on |= filled && spec->on_board[i];
            off |= filled && !spec->on_board[i];
            constant = constant && memcmp(element, plane, item) == 0;
        }
        if (off && !constant)
            smear->first_row = smaller(smear->first_row, r->image->row);
        smear->has_empty |= on && !off;
    }
}

static void check_occupied(struct rules *r, struct policy_rule *rule)
{
    const struct lane *policy = &r->lanes->items[rule->lane];
    /* The rows that compare the orders of storage are spread evenly, whatever the order of images.
     */
    const uint64_t spread = r->image->row * UINT64_C(0x9e3779b97f4a7c15) >> 32;
    const struct laid_position position = {.row = r->image->row,
                                           .occupied = r->occupied,
                                           .n_stones = r->n_stones[0] + r->n_stones[1],
                                           .is_compared = spread % r->flip_step == 0};
    struct row values = {0};

    if (policy->is_broken)
        return;
    const struct row row = window_row(r->window, (size_t)rule->lane, r->image->at);
    if (policy->values >= 0)
        values = window_row(r->window, (size_t)policy->values, r->image->at);
    r->tallies[RULE_OCCUPIED].n_rows += rule->keeps_off;
    const int64_t action =
        laid_add(&rule->laid, &position, &row, policy->values >= 0 ? &values : NULL);
    if (action >= 0 && rule->keeps_off)
        findings_add(break_rule(r, RULE_OCCUPIED),
                     ERROR_AT(FINDING_POLICY_OCCUPIED, policy->array->key, position.row),
                     "no mass there", text_format("action %" PRId64, action).text,
                     "mass on an occupied cell");
}

/* Hex: the third plane, or an array, tells the player to move, who has as many stones as the other
 * or one less. This need not hold at the end of a game, where a dense policy has no mass. */
static void check_lead(struct rules *r)
{
    const struct conventions *c = &r->lanes->shard->conventions;
    const struct finding_place *place =
        ERROR_AT(FINDING_TO_MOVE, r->planes->array->key, r->image->row);
    const struct lane *policy = r->policy >= 0 ? &r->lanes->items[r->policy] : NULL;
    const int by_plane = turn_by_plane(&r->form, r->row.bytes);
    struct row players = {0};

    if (r->to_move >= 0 && !r->lanes->items[r->to_move].is_broken)
        players = window_row(r->window, (size_t)r->to_move, r->image->at);
    const int by_array = turn_by_array(c, &players);
    if (by_plane < 0 && by_array < 0)
        return;
    if (policy != NULL && !policy->is_broken && policy->binding->role == ROLE_POLICY) {
        const struct row row = window_row(r->window, (size_t)r->policy, r->image->at);

        if (survey_all_zero(row.dtype, row.bytes, row.n))
            return;
    }
    if (by_plane >= 0 && by_array >= 0 && by_plane != by_array) {
        findings_add(break_rule(r, RULE_PLAYER), place, text_format("player %d", by_array).text,
                     text_format("player %d", by_plane).text,
                     "the to-move plane and the array of players differ");
        return;
    }
    struct turn_lead lead =
        turn_lead(r->form.is_mover, by_plane >= 0 ? by_plane : by_array, r->n_stones);
    r->tallies[RULE_LEAD].n_rows++;
    r->tallies[RULE_OTHER_LEAD].n_broken += lead.other >= 1;
    if (lead.declared != 0 && lead.declared != -1)
        findings_add(break_rule(r, RULE_LEAD), place, "0 or -1",
                     text_format("%" PRId64, lead.declared).text,
                     "stones of the player to move minus those of the other");
}

void rules_check_row(struct rules *r, const struct window *window, const struct lane_image *image)
{
    const struct board *board = r->lanes->shard->found.board;
    const struct conventions *c = &r->lanes->shard->conventions;
    const uint64_t *n = r->n_stones;
    bool tells = true;
    double found[2];

    if ((r->lead == BOARD_LEAD_NONE && r->n_smears == 0) || r->planes->is_broken)
        return;
    r->window = window;
    r->image = image;
    r->row = window_row(window, (size_t)r->lanes->planes, image->at);
    check_smears(r);
    /* Stones are counted only in images that keep their colours. */
    if (r->lead == BOARD_LEAD_NONE || (image->transform < board->n_transforms &&
                                       board->transforms[image->transform].swaps_colours))
        return;
    const char *key = r->planes->array->key;
    const uint64_t axis = r->form.axis, cols = board->cols;
    planes_count_stones(&r->form, r->row.bytes, r->n_stones, r->occupied);
    const uint8_t *both = memchr(r->occupied, 3, axis);
    /* A column is full when both its end cells are occupied, whichever end is up. */
    for (uint64_t col = 0; r->n_policies > 0 && r->policies[0].laid.is_columns && col < cols; col++)
        r->occupied[col] = r->occupied[col] && r->occupied[axis - cols + col];
    /* Rows in which one plane is empty do not show what the planes are. */
    r->tallies[RULE_OVERLAP].n_rows += n[0] > 0 && n[1] > 0;
    if (both != NULL)
        findings_add(break_rule(r, RULE_OVERLAP), ERROR_AT(FINDING_PLANES_OVERLAP, key, image->row),
                     "stones of one player on a cell",
                     text_format("both on cell %td", both - r->occupied).text,
                     "planes %" PRIu64 " and %" PRIu64 " overlap", r->form.stones[0],
                     r->form.stones[1]);
    /* The to-move plane, if there is one, must tell a player. */
    for (uint64_t f = 0; f < r->form.n_frames; f++)
        tells &=
            turn_rows_add(&r->turns, &r->form, r->row.bytes + f * r->form.frame_nbytes, image->row);
    if (!tells)
        findings_add(break_rule(r, RULE_TURN_PLANE), ERROR_AT(FINDING_TO_MOVE, key, image->row),
                     "0 or 1 on all cells",
                     planes_is_level(&r->form, r->row.bytes, (uint64_t)r->form.turn, found)
                         ? text_format("%g", found[0]).text
                         : "different numbers",
                     "plane %d is not the player to move", r->form.turn);
    if (both != NULL || n[0] == axis || n[1] == axis) /* these are no stones */
        return;
    for (size_t i = 0; i < r->n_policies; i++)
        check_occupied(r, &r->policies[i]);
    if (tells && r->lead == BOARD_LEAD_TO_MOVE && (r->form.n_frames == 1 || !r->form.is_mover) &&
        (c->planes <= PLANES_MOVER || c->planes == PLANES_PERMUTATION))
        check_lead(r);
    if (!tells || r->lead != BOARD_LEAD_BALANCED)
        return;
    /* In other games the numbers of stones differ by at most one. */
    r->tallies[RULE_LEAD].n_rows++;
    if (n[0] > n[1] + 1 || n[1] > n[0] + 1)
        findings_add(break_rule(r, RULE_LEAD), ERROR_AT(FINDING_TO_MOVE, key, image->row),
                     "at most 1", text_format("%" PRIu64 " and %" PRIu64, n[0], n[1]).text,
                     "difference of the numbers of stones");
}

/* --- verdicts --- */

void rules_merge(struct rules *r, struct rules *from)
{
    turn_rows_merge(&r->turns, &from->turns);
    for (int i = 0; i < RULE_N; i++) {
        struct rule_tally *to = &r->tallies[i], *tally = &from->tallies[i];

        to->n_rows += tally->n_rows;
        to->n_broken += tally->n_broken;
        findings_merge(&to->findings, &tally->findings);
        tally->n_rows = tally->n_broken = 0;
    }
    for (size_t i = 0; i < r->n_policies; i++)
        laid_merge(&r->policies[i].laid, &from->policies[i].laid);
    for (uint64_t p = 0; p < from->n_smears; p++) {
        r->smears[p].first_row = smaller(r->smears[p].first_row, from->smears[p].first_row);
        r->smears[p].has_empty |= from->smears[p].has_empty;
    }
}

/* True when so few rows break the rule that these rows must be wrong, not the rule. */
static bool are_few(const struct rule_tally *tally)
{
    return tally->n_broken <= 1 || 50 * tally->n_broken <= tally->n_rows;
}

/* Report a policy stored in another order than its planes, which would be moved wrongly. */
static void report_flip(const struct rules *r, const struct policy_rule *rule,
                        const struct flip_verdict *verdict, struct findings *findings)
{
    const struct lane *policy = &r->lanes->items[rule->lane];
    const char *role = role_name(policy->binding->role);
    const char *key = policy->array->key;
    const bool has_option =
        laid_has_option(r->lanes->shard->found.board, policy->binding->layout, verdict->flip);
    const char *order = laid_order_name(verdict->flip);
    const bool is_part = verdict->first > 0 || verdict->end < r->lanes->shard->n_rows;
    const bool is_flipped = verdict->flip != ACTION_AS_IS;
    const struct text_quoted found =
        text_format("mass on stones in %" PRIu64 " of %" PRIu64 " rows, in %" PRIu64 " %s%s",
                    verdict->tally.n_on[rule->laid.policy->flip], verdict->tally.n_rows,
                    verdict->tally.n_on[verdict->flip],
                    !is_flipped  ? "as it stands"
                    : has_option ? "after "
                                 : "as ",
                    order);

    if (is_part)
        findings_add(findings, ERROR_AT(FINDING_POLICY_OCCUPIED, key, verdict->first),
                     "mass on empty cells", found.text,
                     "rows %" PRIu64 " to %" PRIu64 " are stored in another order than their "
                     "planes, unlike the others",
                     verdict->first, verdict->end - 1);
    else if (!has_option)
        findings_add(findings, ERROR_AT(FINDING_POLICY_OCCUPIED, key, rule->laid.first_on),
                     "mass on empty cells", found.text,
                     "the cells are in another order than row by row from 0, a pass last");
    else
        findings_add(findings, ERROR_AT(FINDING_POLICY_OCCUPIED, key, rule->laid.first_on),
                     "mass on empty cells", found.text,
                     "planes and %s are stored in different orders; use --role %s=%s%s%s",
                     rule->lane == r->policy ? "policy" : role, key, role, is_flipped ? ":" : "",
                     order);
}

/* Judge what the rows have shown of stones. */
static void finish_stones(struct rules *r, struct findings *findings)
{
    struct rule_tally *turn = &r->tallies[RULE_TURN_PLANE];
    struct rule_tally *overlap = &r->tallies[RULE_OVERLAP];
    struct rule_tally *occupied = &r->tallies[RULE_OCCUPIED];
    struct rule_tally *lead = &r->tallies[RULE_LEAD];
    const struct turn_rows *turns = &r->turns;
    const char *key = r->planes->array->key;
    const bool is_warning = r->tallies[RULE_OTHER_LEAD].n_broken > 0 ||
                            r->lanes->shard->conventions.planes > PLANES_MOVER;
    struct finding_place place = {FINDING_TO_MOVE, is_warning, key, FINDING_NO_ROW};

    turn->n_rows = turns->n;
    /* If the to-move plane is something else throughout, say what it holds and what to do; then
     * nothing more can be said of the planes. Otherwise a few rows are wrong. */
    if (!are_few(turn)) {
        struct turn_advice advice = {.is_other_code = true};

        if (r->form.n_planes == 3)
            advice = turn_advise(turns, &r->form);
        findings_add(findings, ERROR_AT(FINDING_TO_MOVE, key, turns->first_bad),
                     "0 or 1 throughout each row",
                     advice.is_rest    ? "a plane of empty cells"
                     : advice.is_moved ? "stones; another plane is 0 or 1 throughout"
                     : turns->is_level ? text_format("%g to %g", turns->low, turns->high).text
                                       : "different numbers within a row",
                     "plane %d is not the player to move in %" PRIu64 " of %" PRIu64 " rows; %s%s",
                     r->form.turn, turn->n_broken, turn->n_rows,
                     advice.is_other_code
                         ? "write it as 0 and 1, or say what the planes are with --planes"
                         : "if that is meant, use --planes ",
                     advice.is_other_code ? "" : advice.planes[0]);
        return;
    }
    findings_merge(findings, &turn->findings);
    findings_merge(findings, &r->tallies[RULE_PLAYER].findings);
    if (2 * overlap->n_broken > overlap->n_rows)
        return;
    findings_merge(findings, &overlap->findings);
    for (const struct policy_rule *rule = r->policies; rule < r->policies + r->n_policies; rule++) {
        const struct flip_verdict verdict = laid_judge(&rule->laid);

        if (verdict.flip != rule->laid.policy->flip)
            report_flip(r, rule, &verdict, findings);
        else if (rule->keeps_off && 2 * occupied->n_broken <= occupied->n_rows)
            findings_merge(findings, &occupied->findings);
    }
    /* If many rows have too many stones, the convention may be another one, or games may start
     * differently (handicap, swap rule). */
    if (!are_few(lead) && r->lead == BOARD_LEAD_TO_MOVE)
        findings_add(
            findings, &place, "rows that agree with the player to move",
            text_format("%" PRIu64 " of %" PRIu64 " that do not", lead->n_broken, lead->n_rows)
                .text,
            is_warning ? "the numbers of stones"
                       : "the numbers of stones; --planes %s explains them",
            r->form.is_mover ? "colour" : "mover");
    else if (are_few(lead) || 8 * lead->n_broken <= lead->n_rows)
        findings_merge(findings, &lead->findings);
}

void rules_finish(struct rules *r, struct findings *findings)
{
    if (r->lead != BOARD_LEAD_NONE)
        finish_stones(r, findings);
    /* Off-board content is an error if other rows show that the plane is meant to be empty there.
     */
    for (uint64_t p = 0; p < r->n_smears; p++) {
        const struct smear *smear = &r->smears[p];
        const struct finding_place place = {FINDING_SMEAR, !smear->has_empty, r->planes->array->key,
                                            smear->first_row};

        if (smear->first_row != FINDING_NO_ROW)
            findings_add(findings, &place, "zero", "other numbers",
                         "off-board cells of plane %" PRIu64, p);
    }
}

void rules_release(struct rules *r)
{
    for (int i = 0; i < RULE_N; i++)
        findings_release(&r->tallies[i].findings);
    for (size_t i = 0; i < r->n_policies && !r->is_part; i++)
        laid_release(&r->policies[i].laid);
    free(r->occupied);
    free(r->smears);
    *r = (struct rules){0};
}
