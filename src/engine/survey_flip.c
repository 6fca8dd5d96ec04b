/*
 * survey_flip.c - policies and moves that are stored in another order than the planes beside them,
 * as the commonest trainer of Gomoku stores them: moved as they stand, every image but a few would
 * be wrong. Some rows of every part of the input are looked at, because sets are put together from
 * parts. Unpacking all of it once more would cost too much: of packed arrays the last parts are
 * left to `verify`. Dense policies, sparse ones and single moves end in the same counts:
 * engine/flips.h.
 */
#include "engine/flips.h"
#include "engine/survey.h"
#include "engine/survey_chunks.h"
#include "engine/turn.h"

#include <math.h>
#include <stdlib.h>

/* Rows looked at in each part; of lists and moves, which tell less, twice that. */
#define ROWS_OF_PART 16
#define MIN_REACH    512 /* rows that are in reach in any case, */
#define PACKED_REACH 0.6 /* and this share of packed arrays */

struct look {
    const struct plan *plan;
    const struct plan_array *stones, *policy;
    struct planes_form form;
    struct stone_planes where;
    struct flips flips;
    struct flip_parts parts;
    struct flip_mass mass;
    struct batch rows; /* of the stones */
    uint8_t *occupied; /* owned, one per element of a plane: in row `row` */
    uint64_t reach;    /* rows from here on are not looked at */
    uint64_t row, n_stones;
    uint64_t n_seen, n_overlap, first_on;
    bool is_begun, has_stones; /* a row is; it has, and none of them are on one cell */
};

static bool is_list(const struct plan_array *policy)
{
    return policy->binding.role == ROLE_POLICY_INDEX || policy->binding.role == ROLE_ACTION;
}

static bool is_wanted(const struct look *l, uint64_t row)
{
    const uint64_t part_rows = (l->plan->n_rows + FLIPS_N_PARTS - 1) / FLIPS_N_PARTS;

    return row < l->reach &&
           row % part_rows < (is_list(l->policy) ? 2 * ROWS_OF_PART : ROWS_OF_PART);
}

/* False when the row has no stones, or two on one cell. */
static bool find_stones(struct look *l, const uint8_t *row)
{
    const bool is_grid = l->form.n_planes == 1;
    bool overlap = false;

    l->n_stones = 0;
    for (uint64_t cell = 0; cell < l->form.axis; cell++) {
        const bool first = planes_has_stone(&l->form, row, l->where.stones[0], cell);
        const bool second = !is_grid && planes_has_stone(&l->form, row, l->where.stones[1], cell);

        l->occupied[cell] = first || second;
        l->n_stones += first || second;
        overlap |= first && second;
    }
    l->n_seen++;
    l->n_overlap += overlap;
    return l->n_stones > 0 && !overlap;
}

/* Put the stones of a row, which is not before the last one, on the cells. */
static int begin_row(struct look *l, uint64_t row, struct error *err)
{
    l->row = row;
    l->is_begun = true;
    l->has_stones = false;
    l->mass = (struct flip_mass){.total = 0};
    while (l->rows.n == 0 || row >= l->rows.first + l->rows.n)
        if (survey_next(&l->rows, err) != 0 || l->rows.n == 0)
            return -1;
    l->has_stones = find_stones(l, batch_row(&l->rows, row - l->rows.first).bytes);
    return 0;
}

/* All entries of a policy of this row are added: count it. */
static void end_policy(struct look *l)
{
    if (l->is_begun && l->has_stones) {
        if (l->row < l->first_on && flip_mass_is_on(&l->mass, l->policy->binding.flip))
            l->first_on = l->row;
        flip_tally_add(&l->parts.parts[flip_part_of(l->row, l->plan->n_rows)], &l->flips, &l->mass,
                       l->n_stones);
    }
    l->mass = (struct flip_mass){.total = 0};
}

static int look_at_dense(struct look *l, struct error *err)
{
    const struct spec *spec = &l->policy->spec;
    const uint64_t head_nbytes = spec->row_nbytes / spec->outer;
    struct batch policies = {0};
    int status = survey_open(&policies, l->plan, l->policy, err);

    while (status == 0 && (status = survey_next(&policies, err)) == 0 && policies.n > 0 &&
           policies.first < l->reach)
        for (uint64_t i = 0; i < policies.n && status == 0; i++) {
            if (!is_wanted(l, policies.first + i))
                continue;
            status = begin_row(l, policies.first + i, err);
            for (uint64_t head = 0; head < spec->outer && l->has_stones; head++) {
                const uint8_t *policy = batch_row(&policies, i).bytes + head * head_nbytes;

                for (uint64_t a = 0; a < l->flips.n_actions; a++)
                    flip_mass_add(
                        &l->mass, &l->flips, l->occupied, a,
                        dtype_get_double(&spec->dtype, policy + a * spec->dtype.itemsize));
                end_policy(l);
            }
        }
    batch_release(&policies);
    return status;
}

/* Of sparse policies, and moves. */
static int look_at_entry(void *self, const struct entry *entry, struct error *err)
{
    struct look *l = self;

    if (!is_wanted(l, entry->row))
        return entry->row >= l->reach; /* ends the visit */
    if (!l->is_begun || l->row != entry->row) {
        end_policy(l);
        if (begin_row(l, entry->row, err) != 0)
            return -1;
    }
    if (l->has_stones && entry->index >= 0)
        flip_mass_add(&l->mass, &l->flips, l->occupied, (uint64_t)entry->index, entry->value);
    l->mass.floor = 0; /* what is not listed has no mass */
    return 0;
}

static int refuse(const struct look *l, const struct flip_verdict *verdict, struct error *err)
{
    const struct role_binding *b = &l->policy->binding;
    const char *role = role_name(b->role), *key = l->policy->key;
    const char *what = b->role == ROLE_ACTION ? "moves" : "mass";
    const char *found =
        verdict->flip == ACTION_AS_IS ? "as it is it" : action_flip_name(verdict->flip);
    const unsigned long long n_on = verdict->tally.n_on[b->flip], n = verdict->tally.n_rows;
    const unsigned long long n_left = verdict->tally.n_on[verdict->flip];
    /* What was told of a sparse policy's layout is said again: no length tells it. */
    const bool is_told = !b->inferred && is_list(l->policy);

    if (verdict->first > 0 || verdict->end < l->plan->n_rows)
        return plan_refuse(
            l->plan, l->policy, err,
            "rows %llu to %llu: %s on occupied cells in %llu of %llu rows looked at, expected "
            "none. "
            "Unlike the other rows they are stored in another order than the planes: %s has %llu "
            "such rows; expand them by themselves, or write them in the order of the others",
            (unsigned long long)verdict->first, (unsigned long long)verdict->end - 1, what, n_on, n,
            found, n_left);
    return plan_refuse(
        l->plan, l->policy, err,
        "row %llu: %s on occupied cells, as in %llu of %llu rows with stones looked at; expected "
        "none. Planes and %s are stored in different orders: %s has %llu such rows; use --role "
        "%s=%s%s%s%s%s",
        (unsigned long long)l->first_on, what, n_on, n, role, found, n_left, text_path(key).text,
        role, is_told ? ":layout=" : "", is_told ? b->layout->name : "",
        verdict->flip == ACTION_AS_IS ? ""
        : is_told                     ? ","
                                      : ":",
        action_flip_name(verdict->flip));
}

static bool is_packed(const struct plan *plan, const struct plan_array *array)
{
    for (size_t i = 0; i < plan->n_archives; i++)
        if (array->sources[i]->decoder != NULL)
            return true;
    return false;
}

static int look_at(struct plan *plan, const struct plan_array *stones,
                   const struct plan_array *policy, struct error *err)
{
    struct look l = {.plan = plan,
                     .stones = stones,
                     .policy = policy,
                     .form = {&stones->spec.dtype, survey_n_planes(stones), stones->spec.axis,
                              stones->spec.channels_last},
                     .first_on = UINT64_MAX};
    int status = flips_init(&l.flips, plan->board, &stones->binding, &policy->binding,
                            policy->binding.n_actions, err);

    l.reach = plan->n_rows;
    if (l.reach > MIN_REACH && (is_packed(plan, stones) || is_packed(plan, policy)))
        l.reach = (uint64_t)fmax(MIN_REACH, PACKED_REACH * (double)l.reach);
    stone_planes_decide(&l.where, &plan->conventions, l.form.n_planes,
                        plan->board->family->joins_edges);
    l.occupied = malloc(l.form.axis + 1);
    if (l.occupied == NULL && status == 0)
        status = error_no_memory(err, "survey of a policy");
    if (status == 0)
        status = survey_open(&l.rows, plan, stones, err);
    if (status == 0)
        status = is_list(policy) ? survey_entries(plan, policy,
                                                  &(struct entries_visitor){look_at_entry, &l}, err)
                                 : look_at_dense(&l, err);
    if (status >= 0) {
        status = 0;
        end_policy(&l);
        if (2 * l.n_overlap <= l.n_seen) {
            const struct flip_verdict verdict = flip_parts_judge(&l.parts, &l.flips, plan->n_rows);

            if (verdict.flip != policy->binding.flip)
                status = refuse(&l, &verdict, err);
        }
    }
    batch_release(&l.rows);
    flips_release(&l.flips);
    free(l.occupied);
    return status;
}

static bool is_looked_at(const struct plan *plan, const struct plan_array *array)
{
    const struct role_binding *b = &array->binding;

    if (!action_can_flip(plan->board, b->layout, ACTION_FLIPUD))
        return false;
    if (b->role == ROLE_POLICY_INDEX)
        return true;
    return !array->is_object && survey_has_numbers(array) &&
           ((b->role == ROLE_ACTION && !b->is_pairs) ||
            ((b->role == ROLE_POLICY || b->role == ROLE_MASK) && b->axes.inner == 1));
}

static bool has_stones(const struct plan *plan, const struct plan_array *array)
{
    const struct role_binding *b = &array->binding;

    return survey_has_numbers(array) && b->axes.axis == plan->board->n_cells && b->layout == NULL &&
           (b->role == ROLE_GRID || survey_n_planes(array) >= 2);
}

int survey_flips(struct plan *plan, struct error *err)
{
    const struct plan_array *stones = survey_find(plan, ROLE_PLANES);

    if (stones == NULL)
        stones = survey_find(plan, ROLE_GRID);
    if (stones == NULL || !has_stones(plan, stones) || plan->conventions.planes == PLANES_OPENSPIEL)
        return 0;
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (is_looked_at(plan, &plan->arrays[i]) &&
            look_at(plan, stones, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}
