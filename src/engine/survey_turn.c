/*
 * survey_turn.c - the plane that a colour swap turns into the other player: is it one?
 *
 * It must hold one number throughout each row, 0 or 1 (or, when told, 1 and 2 or 1 and -1). Empty
 * cells, the last move or a count of plies look like one by their place alone: then the row is
 * named, and what the planes seem to hold decides which permutation is offered.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* What the rows say about planes in other places than those expected. */
struct turn {
    const struct plan *plan;
    const struct plan_array *array;
    uint64_t plane;               /* that is taken for the player to move */
    uint64_t n_rows, n_stones[3]; /* rows in which all planes but this one look like stones */
    bool is_rest[3], is_turn[3];  /* the other cells; 0 or 1 throughout each row */
    bool is_level, is_ply;
    double low, high; /* of a level plane */
    bool is_bad;
    uint64_t bad_row;
    double bad[2]; /* two numbers of the row's plane */
};

/* The plane's number in a row; false when it holds several, of which *other is one. */
static bool is_level(const struct plan_array *array, const uint8_t *row, uint64_t plane,
                     double *value, double *other)
{
    *value = *other = survey_plane_value(array, row, plane, 0);
    for (uint64_t cell = 1; cell < array->spec.axis && *other == *value; cell++)
        *other = survey_plane_value(array, row, plane, cell);
    return *other == *value;
}

static bool fits_coding(enum to_move_coding coding, double value)
{
    return value == 1 || value == (coding == TO_MOVE_01 ? 0 : coding == TO_MOVE_12 ? 2 : -1);
}

/* All that can be said of three planes. */
static void look_closely(struct turn *turn, const uint8_t *row)
{
    double value, other;
    int64_t n_all = 0;

    for (uint64_t c = 0; c < 3; c++) {
        const uint64_t a = (c + 1) % 3, b = (c + 2) % 3;
        int64_t lead = 0, n = 0;
        bool disjoint = true, rest = true;

        for (uint64_t cell = 0; cell < turn->array->spec.axis; cell++) {
            const bool first = survey_plane_value(turn->array, row, a, cell) != 0;
            const bool second = survey_plane_value(turn->array, row, b, cell) != 0;

            disjoint &= !(first && second);
            lead += first - second;
            n += first || second;
            rest &= survey_plane_value(turn->array, row, c, cell) == !(first || second);
        }
        turn->n_stones[c] += disjoint && lead >= -1 && lead <= 1;
        turn->is_rest[c] &= rest;
        turn->is_turn[c] &=
            is_level(turn->array, row, c, &value, &other) && (value == 0 || value == 1);
        if (c == turn->plane)
            n_all = n;
    }
    turn->n_rows++;
    turn->is_level &= is_level(turn->array, row, turn->plane, &value, &other);
    turn->is_ply &= value == (double)n_all;
    turn->low = fmin(turn->low, value);
    turn->high = fmax(turn->high, value);
}

static void look_at_row(struct turn *turn, const uint8_t *row, uint64_t number)
{
    double value, other;

    if (turn->is_bad || (is_level(turn->array, row, turn->plane, &value, &other) &&
                         fits_coding(turn->plan->conventions.plane_coding, value)))
        return;
    turn->is_bad = true;
    turn->bad_row = number;
    turn->bad[0] = value;
    turn->bad[1] = other;
}

static int look_at_rows(struct turn *turn, bool closely, struct error *err)
{
    const struct spec *spec = &turn->array->spec;
    struct chunks chunks = {0};
    int status = chunks_open(&chunks, turn->plan, turn->array,
                             SURVEY_CHUNK_NBYTES / (spec->row_nbytes + 1) + 1, err);

    while (status == 0 && (closely || !turn->is_bad)) {
        status = chunks_next(&chunks, err);
        for (uint64_t i = 0; i < chunks.n && status == 0; i++) {
            if (closely)
                look_closely(turn, chunks.rows + i * spec->row_nbytes);
            else
                look_at_row(turn, chunks.rows + i * spec->row_nbytes, chunks.first + i);
        }
        if (chunks.n == 0)
            break;
    }
    chunks_close(&chunks);
    return status;
}

/* The plane that is no stones: the one beside two that are most often, and what becomes of it. */
static uint64_t odd_plane(const struct turn *turn)
{
    uint64_t odd = turn->plane;

    for (uint64_t c = 0; c < 3; c++) {
        const bool is_more = turn->n_stones[c] > turn->n_stones[odd];
        const bool is_same = turn->n_stones[c] == turn->n_stones[odd];

        if (is_more || (is_same && turn->is_turn[c] && !turn->is_turn[odd]))
            odd = c;
    }
    return odd;
}

static int advise(const struct turn *turn, struct error *err)
{
    static const char *const exchanging[] = {"%s0,2,1", "2,%s1,0", "1,0,%s2"};
    static const char *const keeping[] = {"%s0,1,2", "0,%s1,2", "0,1,%s2"};
    const bool mover = turn->plan->conventions.planes == PLANES_MOVER;
    const uint64_t odd = odd_plane(turn);
    const bool pm1 = turn->is_level && turn->low == -1 && turn->high == 1;
    const bool codes = turn->is_level && !turn->is_ply && turn->low < turn->high &&
                       ((turn->low == 1 && turn->high == 2) || (turn->low == 0 && turn->high > 1));
    const char *mark = odd != turn->plane && turn->is_turn[odd] ? "~" : pm1 ? "-" : "";
    char found[96], planes[2][32];

    snprintf(found, sizeof found, turn->bad[0] == turn->bad[1] ? "%g" : "%g and %g", turn->bad[0],
             turn->bad[1]);
    if (turn->n_rows == 0)
        return plan_refuse(turn->plan, turn->array, err,
                           "row %llu: plane %llu holds %s, expected 0 or 1 throughout (the player "
                           "to move); tell its planes with --planes",
                           (unsigned long long)turn->bad_row, (unsigned long long)turn->plane,
                           found);
    if (codes && odd == turn->plane)
        return plan_refuse(turn->plan, turn->array, err,
                           "row %llu: plane %llu holds %s (%g to %g in all rows), expected 0 or 1 "
                           "throughout (the player to move); %s, or --planes %s if it is not the "
                           "player to move",
                           (unsigned long long)turn->bad_row, (unsigned long long)turn->plane,
                           found, turn->low, turn->high,
                           turn->low == 1 ? "use --to-move 12" : "write it as 0 and 1",
                           mover ? "0,1,2" : "1,0,2");
    snprintf(planes[0], sizeof planes[0], exchanging[odd], mark);
    snprintf(planes[1], sizeof planes[1], keeping[odd], mark);
    return plan_refuse(
        turn->plan, turn->array, err,
        "row %llu: plane %llu holds %s, expected 0 or 1 throughout (the player to move)%s; use "
        "--planes %s (planes %llu and %llu are %s; %s if they are %s)",
        (unsigned long long)turn->bad_row, (unsigned long long)turn->plane, found,
        turn->is_rest[odd] ? ": one plane holds the empty cells" : "", planes[mover],
        (unsigned long long)(odd == 0), (unsigned long long)(odd == 2 ? 1 : 2),
        mover ? "the mover's and the other's" : "blue and red", planes[!mover],
        mover ? "blue and red" : "the mover's and the other's");
}

static int check_plane(struct plan *plan, const struct plan_array *array, uint64_t plane,
                       struct error *err)
{
    struct turn turn = {.plan = plan,
                        .array = array,
                        .plane = plane,
                        .is_rest = {true, true, true},
                        .is_turn = {true, true, true},
                        .is_level = true,
                        .is_ply = true,
                        .low = INFINITY,
                        .high = -INFINITY};

    if (look_at_rows(&turn, false, err) != 0)
        return -1;
    if (!turn.is_bad)
        return 0;
    if (survey_n_planes(array) == 3 && look_at_rows(&turn, true, err) != 0)
        return -1;
    return advise(&turn, err);
}

int survey_turn_planes(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];

        if (array->binding.role != ROLE_PLANES || !survey_has_numbers(array))
            continue;
        for (uint32_t k = 0; k < plan->n_chosen; k++) {
            const struct spec_step *step = &array->spec.steps[plan->chosen[k]];
            const int to = step->label_plane;

            if (to < 0)
                continue;
            if (check_plane(plan, array,
                            step->plane_src != NULL ? step->plane_src[to] : (uint64_t)to, err) != 0)
                return -1;
            break;
        }
    }
    return 0;
}

int survey_turn_coding(struct plan *plan, const struct plan_array *array, uint64_t plane,
                       struct error *err)
{
    struct conventions *c = &plan->conventions;
    struct chunks chunks = {0};
    const int other = c->to_move == TO_MOVE_12 ? 2 : -1;
    int status;

    if (!c->to_move_said || c->to_move == TO_MOVE_01 || !survey_has_numbers(array) ||
        conventions_is_said(c, "to-move-plane"))
        return 0;
    if (plan->seen != NULL)
        plan->turn_codes |= plan->seen->turn_codes;
    status = chunks_open(&chunks, plan, array,
                         SURVEY_CHUNK_NBYTES / (array->sources[0]->row_nbytes + 1) + 1, err);
    while (status == 0 && !(plan->turn_codes & SURVEY_CODE(other))) {
        status = chunks_next(&chunks, err);
        for (uint64_t i = 0; i < chunks.n && status == 0; i++) {
            const double value = survey_plane_value(
                array, chunks.rows + i * array->sources[0]->row_nbytes, plane, 0);

            if (value == 0 || value == other)
                plan->turn_codes |= SURVEY_CODE((int)value);
        }
        if (chunks.n == 0)
            break;
    }
    chunks_close(&chunks);
    c->plane_coding = conventions_plane_coding(c->to_move, plan->turn_codes & SURVEY_CODE(0),
                                               plan->turn_codes & SURVEY_CODE(other));
    if (status == 0 && plan->n_rows > 0 && plan->turn_codes == 0) {
        plan->turn_codes = SURVEY_CODE(1); /* said once */
        status = plan_warn(plan, err,
                           "%s: plane %llu holds 1 throughout: taken for 1 and %d, as --to-move "
                           "says; where it is 0 and 1, use --planes 1,0,~2",
                           text_path(array->key).text, (unsigned long long)plane, other);
    }
    return status;
}
