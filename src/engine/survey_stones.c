/*
 * survey_stones.c - the game of Hex: does the number of stones agree with the declared convention?
 * The player to move has as many as the other or one less. Rows that break this rule under --planes
 * colour but not under mover, or the other way round, prove that the wrong one was declared; other
 * rows that break it (swap rule, handicap) are a warning. Rows of finished games, which have no
 * policy, are left out.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"

#include <string.h>

struct stones {
    const struct plan_array *planes, *to_move; /* to_move may be NULL */
    const struct plan_array *policy;   /* or NULL; rows without a policy, where a game is over, are
                                          left out */
    uint64_t n_excess, n_other_excess; /* rows with lead +1, under the other convention >= +1 */
    uint64_t n_rows;                   /* rows looked at */
};

/* True when all elements of a plane have the same bits: nearly every to-move plane, in one compare.
 */
static bool is_constant(const struct plan_array *planes, const uint8_t *row, uint64_t plane)
{
    const struct spec *spec = &planes->spec;
    const size_t item = spec->dtype.itemsize;
    const uint8_t *first = row + plane * spec->axis * item;

    return !spec->channels_last && memcmp(first, first + item, (spec->axis - 1) * item) == 0;
}

/* 0 blue, 1 red; -1: not a player's code. */
static int player_of(enum to_move_coding coding, double code)
{
    switch (coding) {
    case TO_MOVE_01:
        return code == 0 ? 0 : code == 1 ? 1 : -1;
    case TO_MOVE_12:
        return code == 1 ? 0 : code == 2 ? 1 : -1;
    default:
        return code == 1 ? 0 : code == -1 ? 1 : -1;
    }
}

/* Who is to move in a row: 0 blue, 1 red; -1 when the row does not say. */
static int row_to_move(const struct plan *plan, const struct stones *s, const uint8_t *planes,
                       const uint8_t *to_move)
{
    if (survey_n_planes(s->planes) == 3) {
        double value = survey_plane_value(s->planes, planes, 2, 0);

        for (uint64_t cell = 1; !is_constant(s->planes, planes, 2) && cell < s->planes->spec.axis;
             cell++)
            if (survey_plane_value(s->planes, planes, 2, cell) != value)
                return -1;
        return player_of(plan->conventions.plane_coding, value);
    }
    return to_move == NULL ? -1
                           : player_of(plan->conventions.to_move,
                                       dtype_get_double(&s->to_move->spec.dtype, to_move));
}

/* Stones in a plane, in either axis order. */
static int64_t count_stones_in(const struct plan_array *planes, const uint8_t *row, uint64_t plane)
{
    const struct spec *spec = &planes->spec;
    uint64_t n = 0;

    if (!spec->channels_last)
        return (int64_t)survey_count_nonzero(
            &spec->dtype, row + plane * spec->axis * spec->dtype.itemsize, spec->axis);
    for (uint64_t cell = 0; cell < spec->axis; cell++)
        n += survey_plane_value(planes, row, plane, cell) != 0;
    return (int64_t)n;
}

static void look_at_row(const struct plan *plan, struct stones *s, const uint8_t *planes,
                        const uint8_t *policy, const uint8_t *to_move)
{
    const bool mover = plan->conventions.planes == PLANES_MOVER;
    const int player = row_to_move(plan, s, planes, to_move);
    int64_t n[2] = {0, 0}, colour_lead, mover_lead;

    if (player < 0 || (policy != NULL && survey_all_zero(&s->policy->spec.dtype, policy,
                                                         s->policy->spec.row_nbytes /
                                                             s->policy->spec.dtype.itemsize)))
        return;
    for (uint64_t plane = 0; plane < 2; plane++)
        n[plane] = count_stones_in(s->planes, planes, plane);
    mover_lead = n[0] - n[1];
    colour_lead = player == 0 ? mover_lead : -mover_lead;
    s->n_rows++;
    s->n_excess += (mover ? mover_lead : colour_lead) == 1;
    s->n_other_excess += (mover ? colour_lead : mover_lead) >= 1;
}

static int look_at_rows(const struct plan *plan, struct stones *s, struct chunks *planes,
                        struct chunks *policy, struct chunks *to_move, struct error *err)
{
    do {
        if (chunks_next(planes, err) != 0 || (s->policy != NULL && chunks_next(policy, err) != 0) ||
            (s->to_move != NULL && chunks_next(to_move, err) != 0))
            return -1;
        for (uint64_t i = 0; i < planes->n; i++)
            look_at_row(plan, s, planes->rows + i * s->planes->spec.row_nbytes,
                        s->policy != NULL ? policy->rows + i * s->policy->spec.row_nbytes : NULL,
                        s->to_move != NULL ? to_move->rows + i * s->to_move->spec.row_nbytes
                                           : NULL);
    } while (planes->n > 0);
    return 0;
}

static int count_with(const struct plan *plan, struct stones *s, struct error *err)
{
    struct chunks planes = {0}, policy = {0}, to_move = {0};
    const uint64_t at_once = SURVEY_CHUNK_NBYTES / (s->planes->spec.row_nbytes + 1) + 1;
    int status = -1;

    if (chunks_open(&planes, plan, s->planes, at_once, err) == 0 &&
        (s->policy == NULL || chunks_open(&policy, plan, s->policy, at_once, err) == 0) &&
        (s->to_move == NULL || chunks_open(&to_move, plan, s->to_move, at_once, err) == 0))
        status = look_at_rows(plan, s, &planes, &policy, &to_move, err);
    chunks_close(&planes);
    chunks_close(&policy);
    chunks_close(&to_move);
    return status;
}

/* The policy is asked only when there is something to leave out: it is most of what must be read.
 */
static int count_stones(const struct plan *plan, struct stones *s, struct error *err)
{
    struct stones all = {.planes = s->planes, .to_move = s->to_move};

    if (s->policy != NULL && count_with(plan, &all, err) != 0)
        return -1;
    if (s->policy != NULL && all.n_excess == 0)
        return 0;
    return count_with(plan, s, err);
}

int survey_stones(struct plan *plan, struct error *err)
{
    struct stones s = {.planes = survey_find(plan, ROLE_PLANES),
                       .policy = survey_find(plan, ROLE_POLICY),
                       .to_move = survey_find(plan, ROLE_TO_MOVE)};
    const bool mover = plan->conventions.planes == PLANES_MOVER;

    if (!plan->board->family->joins_edges || !survey_has_numbers(s.planes) ||
        (plan->conventions.planes != PLANES_COLOUR && !mover) || survey_n_planes(s.planes) < 2 ||
        survey_n_planes(s.planes) > 3)
        return 0;
    if (!survey_has_numbers(s.policy))
        s.policy = NULL;
    if (!survey_has_numbers(s.to_move))
        s.to_move = NULL;
    if (count_stones(plan, &s, err) != 0)
        return -1;
    if (s.n_excess == 0)
        return 0;
    if (s.n_other_excess == 0)
        return plan_refuse(plan, s.planes, err,
                           "%llu of %llu rows have one stone more of the player to move than of "
                           "the other, which --planes %s rules out and --planes %s explains",
                           (unsigned long long)s.n_excess, (unsigned long long)s.n_rows,
                           mover ? "mover" : "colour", mover ? "colour" : "mover");
    return plan_warn(plan, err,
                     "%s: %llu of %llu rows have one stone more of the player to move than of the "
                     "other (swap rule, handicap, red first?)",
                     text_path(s.planes->key).text, (unsigned long long)s.n_excess,
                     (unsigned long long)s.n_rows);
}
