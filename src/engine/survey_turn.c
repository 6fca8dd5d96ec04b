/*
 * survey_turn.c - stones and the player to move, before a colour swap changes them: is the plane
 * that becomes the other player one, and does the number of stones agree with the convention?
 *
 * In a game of Hex the player to move has as many stones as the other or one less. Rows that break
 * this rule under --planes colour but not under mover, or the other way round, prove that the wrong
 * one was declared; other rows that break it (swap rule, handicap) are a warning. Rows of finished
 * games, which have no policy, are left out. One pass over the planes counts it all; the policies,
 * most of what must be read, are only asked when there is something to leave out.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"
#include "engine/turn.h"

#include <stdio.h>
#include <string.h>

/* The arrays that are read side by side, and what they show. */
struct turns {
    const struct plan *plan;
    const struct plan_array *planes, *to_move, *policy; /* the last two may be NULL */
    struct planes_form form;
    struct stone_planes where;
    bool has_lead; /* stones are counted */
    struct turn_rows rows;
    uint64_t n_rows, n_excess, n_other_excess; /* rows that tell a player; with lead +1, under the
                                                  other convention >= +1 */
    unsigned codes;                            /* of a plane of ones */
};

static int player_by_array(const struct turns *t, const uint8_t *to_move)
{
    return to_move == NULL
               ? -1
               : turn_player(t->plan->conventions.to_move,
                             dtype_get_double(&t->to_move->sources[0]->header.dtype, to_move));
}

static void count_stones(const struct turns *t, const uint8_t *row, uint64_t n[2])
{
    for (int i = 0; i < 2; i++) {
        const uint64_t plane = t->where.stones[i];

        n[i] = 0;
        if (!t->form.channels_last)
            n[i] = survey_count_nonzero(t->form.dtype, planes_element(&t->form, row, plane, 0),
                                        t->form.axis);
        else
            for (uint64_t cell = 0; cell < t->form.axis; cell++)
                n[i] += planes_has_stone(&t->form, row, plane, cell);
    }
}

static void look_at_lead(struct turns *t, const uint8_t *row, const uint8_t *to_move,
                         const uint8_t *policy)
{
    const enum to_move_coding coding = t->plan->conventions.plane_coding;
    struct turn_lead lead;
    uint64_t n[2];
    int player;

    if (policy != NULL &&
        survey_all_zero(&t->policy->spec.dtype, policy,
                        t->policy->spec.row_nbytes / t->policy->spec.dtype.itemsize))
        return;
    player = t->where.turn < 0
                 ? player_by_array(t, to_move)
                 : turn_player(coding, planes_number(&t->form, row, (uint64_t)t->where.turn, 0));
    if (player < 0)
        return;
    count_stones(t, row, n);
    lead = turn_lead(t->where.is_mover, player, n);
    t->n_rows++;
    t->n_excess += lead.declared == 1;
    t->n_other_excess += lead.other >= 1;
}

static void look_at_row(struct turns *t, const uint8_t *row, const uint8_t *to_move,
                        const uint8_t *policy, uint64_t number)
{
    if (turn_rows_add(&t->rows, &t->form, row, &t->where, t->plan->conventions.plane_coding,
                      number) &&
        t->has_lead)
        look_at_lead(t, row, to_move, policy);
}

/* The codes of a plane that is 1 here. */
static void look_at_code(struct turns *t, const uint8_t *row, const uint8_t *to_move,
                         const uint8_t *policy, uint64_t number)
{
    const int player = player_by_array(t, to_move);
    uint64_t n[2];

    (void)policy;
    (void)number;
    if (player >= 0)
        t->codes |= player == 0 ? TURN_FIRST_SAID : TURN_SECOND_SAID;
    if (t->where.is_mover)
        return;
    count_stones(t, row, n);
    if (n[0] + 1 == n[1])
        t->codes |= TURN_FIRST_LACKS;
    else if (n[1] + 1 == n[0])
        t->codes |= TURN_SECOND_LACKS;
}

typedef void row_fn(struct turns *t, const uint8_t *row, const uint8_t *to_move,
                    const uint8_t *policy, uint64_t number);

static int read_rows(struct turns *t, row_fn *look, struct error *err)
{
    const struct plan_array *arrays[3] = {t->planes, t->to_move, t->policy};
    struct batch batches[3] = {{.n = 0}};
    int status = 0;

    for (int i = 0; i < 3 && status == 0; i++)
        if (arrays[i] != NULL)
            status = survey_open(&batches[i], t->plan, arrays[i], err);
    while (status == 0 && (status = survey_next(&batches[0], err)) == 0 && batches[0].n > 0) {
        for (int i = 1; i < 3 && status == 0; i++)
            if (arrays[i] != NULL)
                status = batch_next(&batches[i], batches[0].n, err);
        for (uint64_t k = 0; k < batches[0].n && status == 0; k++) {
            const uint8_t *rows[3] = {NULL, NULL, NULL};

            for (int i = 0; i < 3; i++)
                if (arrays[i] != NULL)
                    rows[i] = batch_row(&batches[i], k).bytes;
            look(t, rows[0], rows[1], rows[2], batches[0].first + k);
        }
    }
    for (int i = 0; i < 3; i++)
        batch_release(&batches[i]);
    return status;
}

static void init(struct turns *t, const struct plan *plan, const struct plan_array *planes)
{
    *t = (struct turns){.plan = plan, .planes = planes};
    t->form = (struct planes_form){&planes->sources[0]->header.dtype, survey_n_planes(planes),
                                   planes->spec.axis, planes->spec.channels_last};
    stone_planes_decide(&t->where, &plan->conventions, t->form.n_planes, plan->swaps);
    t->to_move = survey_find(plan, ROLE_TO_MOVE);
    if (!survey_has_numbers(t->to_move))
        t->to_move = NULL;
    turn_rows_init(&t->rows);
}

/* --- the plane --- */

static int refuse_plane(const struct turns *t, struct error *err)
{
    const struct turn_advice advice = turn_advise(&t->rows, &t->where);
    const bool mover = t->where.is_mover;
    const bool also_12 =
        strchr(advice.planes[0], '=') != NULL && survey_find(t->plan, ROLE_TO_MOVE) == NULL;
    char found[96];

    snprintf(found, sizeof found, t->rows.bad[0] == t->rows.bad[1] ? "%g" : "%g and %g",
             t->rows.bad[0], t->rows.bad[1]);
    if (t->form.n_planes != 3)
        return plan_refuse(t->plan, t->planes, err,
                           "row %llu: plane %d holds %s, expected 0 or 1 throughout (the player "
                           "to move); tell its planes with --planes",
                           (unsigned long long)t->rows.first_bad, t->where.turn, found);
    if (advice.is_other_code)
        return plan_refuse(t->plan, t->planes, err,
                           "row %llu: plane %d holds %s (%g to %g in all rows), expected 0 or 1 "
                           "throughout (the player to move); write it as 0 and 1, or use --planes "
                           "%s if it is not the player to move",
                           (unsigned long long)t->rows.first_bad, t->where.turn, found, t->rows.low,
                           t->rows.high, advice.planes[0]);
    return plan_refuse(
        t->plan, t->planes, err,
        "row %llu: plane %d holds %s, expected 0 or 1 throughout (the player to "
        "move)%s; use --planes %s %s(planes %llu and %llu are %s; %s if they are %s)",
        (unsigned long long)t->rows.first_bad, t->where.turn, found,
        advice.is_rest ? ": one plane holds the empty cells" : "", advice.planes[0],
        also_12 ? "or --to-move 12 " : "", (unsigned long long)advice.stones[0],
        (unsigned long long)advice.stones[1],
        mover ? "the mover's and the other's" : "blue and red", advice.planes[1],
        mover ? "blue and red" : "the mover's and the other's");
}

/* --- the stones --- */

static int judge_stones(struct plan *plan, const struct turns *t, struct error *err)
{
    const bool mover = t->where.is_mover;

    if (t->n_excess == 0)
        return 0;
    if (t->n_other_excess == 0 && plan->conventions.planes <= PLANES_MOVER)
        return plan_refuse(plan, t->planes, err,
                           "%llu of %llu rows have one stone more of the player to move than of "
                           "the other, which --planes %s rules out and --planes %s explains",
                           (unsigned long long)t->n_excess, (unsigned long long)t->n_rows,
                           mover ? "mover" : "colour", mover ? "colour" : "mover");
    return plan_warn(plan, err,
                     "%s: %llu of %llu rows have one stone more of the player to move than of the "
                     "other (swap rule, handicap, red first?)",
                     text_path(t->planes->key).text, (unsigned long long)t->n_excess,
                     (unsigned long long)t->n_rows);
}

static bool has_lead(const struct plan *plan, const struct turns *t)
{
    return plan->board->family->joins_edges && plan->conventions.planes <= PLANES_MOVER &&
           t->form.n_planes <= 3 && t->form.n_planes >= 2 &&
           t->planes == survey_find(plan, ROLE_PLANES);
}

/* The plane that the first chosen transform with colours swapped turns into the other player. */
static int turn_plane(const struct plan *plan, const struct plan_array *planes)
{
    int64_t turn = -1;

    for (uint32_t k = 0; k < plan->n_chosen && turn < 0; k++)
        turn = spec_turn_plane(&planes->spec, plan->chosen[k]);
    return (int)turn;
}

static int survey_planes(struct plan *plan, const struct plan_array *planes, struct error *err)
{
    struct turns t;

    init(&t, plan, planes);
    t.where.turn = turn_plane(plan, planes);
    t.has_lead = has_lead(plan, &t);
    if (t.where.turn < 0 && !t.has_lead)
        return 0;
    if (!t.has_lead || t.where.turn >= 0)
        t.to_move = NULL; /* nobody asks it */
    if (read_rows(&t, look_at_row, err) != 0)
        return -1;
    if (t.rows.n_bad > 0)
        return refuse_plane(&t, err);
    t.policy = survey_find(plan, ROLE_POLICY);
    if (t.n_excess > 0 && survey_has_numbers(t.policy)) {
        t.n_rows = t.n_excess = t.n_other_excess = 0;
        if (read_rows(&t, look_at_row, err) != 0)
            return -1;
    }
    return judge_stones(plan, &t, err);
}

int survey_turns(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == ROLE_PLANES && survey_has_numbers(&plan->arrays[i]) &&
            survey_planes(plan, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}

/* --- a plane of ones under --to-move 12 or pm1 --- */

/* Which codes stand in the plane; rows are read up to the first that tells. */
static int find_codes(struct plan *plan, const struct turns *t, int other, struct error *err)
{
    struct batch rows = {0};
    int status = survey_open(&rows, plan, t->planes, err);

    while (status == 0 && !(plan->turn_codes & TURN_OTHER) &&
           (status = survey_next(&rows, err)) == 0 && rows.n > 0)
        for (uint64_t i = 0; i < rows.n; i++) {
            const double value =
                planes_number(&t->form, batch_row(&rows, i).bytes, (uint64_t)t->where.turn, 0);

            if (value == 0 || value == other)
                plan->turn_codes |= value == 0 ? TURN_ZERO : TURN_OTHER;
        }
    batch_release(&rows);
    return status;
}

int survey_turn_coding(struct plan *plan, const struct plan_array *array, uint64_t plane,
                       struct error *err)
{
    struct conventions *c = &plan->conventions;
    const int other = c->to_move == TO_MOVE_12 ? 2 : -1;
    const char *const stones = c->planes == PLANES_MOVER ? "0,1" : "1,0";
    struct turns t;

    if (!c->to_move_said || c->to_move == TO_MOVE_01 || !survey_has_numbers(array) ||
        conventions_is_said(c, "to-move-plane"))
        return 0;
    init(&t, plan, array);
    t.where.turn = (int)plane;
    if (plan->seen != NULL)
        plan->turn_codes |= plan->seen->turn_codes;
    if (!(plan->turn_codes & TURN_OTHER) && find_codes(plan, &t, other, err) != 0)
        return -1;
    if (!(plan->turn_codes & (TURN_OTHER | TURN_ZERO))) {
        if (read_rows(&t, look_at_code, err) != 0)
            return -1;
        plan->turn_codes |= t.codes;
    }
    if (turn_decide_coding(plan->turn_codes, c->to_move, &c->plane_coding) == 0 ||
        plan->n_rows == 0)
        return 0;
    return plan_refuse(plan, array, err,
                       "plane %llu holds 1 throughout, and %s: is it 1 and %d, or 0 and 1? Use "
                       "--planes %s,%s2 or %s,~2",
                       (unsigned long long)plane,
                       plan->turn_codes != 0 ? "players and stones contradict each other"
                                             : "neither players nor stones tell its coding",
                       other, stones, other == 2 ? "=" : "-", stones);
}
