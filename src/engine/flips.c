/*
 * flips.c - policies and moves stored in another order than the planes beside them, as the
 * commonest trainer of Gomoku stores them: moved as they stand, every image but a few would be
 * wrong. Dense policies, sparse ones and single moves end in the same counts.
 *
 * A policy in a wrong order meets stones by chance: with k moves on a board of which a share d is
 * taken, it misses all of them with the probability (1-d)^k. Where the order that is said meets
 * stones, and another one never does, the product of these probabilities says how likely it is that
 * the other one misses them by luck; a row counts for no more than e^3, since the moves of a policy
 * stand together. What stands on stones by right, as the move that led to the position does, is
 * told by its mass there, which is more than chance puts on them.
 *
 * Of a plan some rows of every part of the input are looked at, because sets are put together from
 * parts. Unpacking all planes once more would cost too much: where they are packed, the stones of
 * the later parts, and dense policies, are kept as those rows pass by on their way to the output,
 * and judged before it is committed.
 */
#include "engine/survey.h"

#include <math.h>

#define NOISE         1e-6 /* of a policy: what smoothing leaves on cells that nobody can play on */
#define MOST_OF_A_ROW 3    /* evidence that one policy gives at most */
#define SURE          7    /* evidence: one in a thousand */
#define SURE_OF_PART  14   /* many parts are tried */
#define BY_CHANCE     3    /* times as many as in another wrong order may be chance */

/* Rows looked at in each part; of lists and moves, which tell less, twice that. */
#define ROWS_OF_PART 16
#define MIN_REACH    512 /* rows that are looked at beforehand in any case, */
#define PACKED_REACH 0.3 /* and this share of packed arrays */

/* --- one policy --- */

bool flips_is_placement(const struct role_binding *policy)
{
    return policy->layout != NULL && (strncmp(policy->layout->name, "cells", 5) == 0 ||
                                      strcmp(policy->layout->name, "columns") == 0);
}

int flips_init(struct flips *flips, const struct board *board, const struct role_binding *planes,
               const struct role_binding *policy, uint64_t n_actions, struct error *err)
{
    const struct action_layout *layout = policy->layout, *laid = planes->layout;
    const uint64_t axis = planes->axes.axis;
    const uint64_t n_laid = laid != NULL ? smaller(axis, laid->length(laid, board)) : 0;
    int32_t *targets = malloc((n_actions * ACTION_N_FLIPS + 1) * sizeof *targets);

    if (targets == NULL)
        return error_no_memory(err, "cells of actions");
    *flips = (struct flips){.policy = policy,
                            .is_columns = strcmp(layout->name, "columns") == 0,
                            .n_actions = n_actions,
                            .axis = axis,
                            .targets = targets};
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++) {
        flips->can_flip[flip] = action_can_flip(board, layout, flip);
        for (uint64_t a = 0; a < n_actions; a++) {
            int32_t *target = &targets[a * ACTION_N_FLIPS + flip];
            uint64_t cell; /* of the box */

            *target = -1;
            if (!flips->can_flip[flip] || a >= layout->length(layout, board) ||
                !(action_flags(layout, board, a) & ACTION_PLACEMENT))
                continue;
            cell = action_flip_cell(board, flip, (uint64_t)action_cell(layout, board, a));
            if (planes->plane_xy)
                cell = cell % board->cols * board->rows + cell / board->cols;
            if (laid == NULL && cell < axis)
                *target = (int32_t)cell;
            for (uint64_t i = 0; i < n_laid && *target < 0; i++)
                if (action_cell(laid, board, i) == (int64_t)cell)
                    *target = (int32_t)i;
        }
    }
    return 0;
}

void flips_release(struct flips *flips)
{
    free(flips->targets);
    *flips = (struct flips){.targets = NULL};
}

inline void flip_mass_add(struct flip_mass *mass, const struct flips *flips,
                          const uint8_t *occupied, uint64_t action, double p)
{
    const enum action_flip said = flips->policy->flip;
    const enum action_flip first = mass->is_as_said ? said : ACTION_AS_IS;
    const enum action_flip end = mass->is_as_said ? said + 1 : ACTION_N_FLIPS;

    if (isnan(p) || isinf(p))
        return;
    const int32_t *targets =
        action < flips->n_actions ? flips->targets + action * ACTION_N_FLIPS : NULL;
    if (targets == NULL || targets[ACTION_AS_IS] < 0) {
        mass->total += p;
        return;
    }
    if (mass->n_cells++ == 0 || p < mass->floor)
        mass->floor = p;
    if (p <= 0)
        return;
    mass->total += p;
    mass->squares += p * p;
    for (enum action_flip flip = first; flip < end; flip++) {
        if (targets[flip] < 0 || !occupied[targets[flip]])
            continue;
        mass->on[flip] += p;
        mass->n_on[flip]++;
        if (flip == said && p > mass->highest) {
            mass->highest = p;
            mass->action = action;
        }
    }
}

void flip_mass_add_row(struct flip_mass *mass, const struct flips *flips, const uint8_t *occupied,
                       const struct row *row)
{
    for (uint64_t i = 0, action = 0; i < row->n; i++, action++) {
        action = action < flips->n_actions ? action : 0;
        flip_mass_add(mass, flips, occupied, action, row_double(row, i));
    }
}

bool flips_any_on(const struct flips *flips, const uint8_t *occupied, const struct row *row)
{
    const int32_t *targets = flips->targets + flips->policy->flip;
    bool any = false;

    for (uint64_t i = 0, action = 0; i < row->n; i++, action++) {
        action = action < flips->n_actions ? action : 0;
        const int32_t at = targets[action * ACTION_N_FLIPS];

        any |= (at >= 0 && occupied[at] != 0) & (row_double(row, i) > 0);
    }
    return any;
}

bool flip_mass_is_on(const struct flip_mass *mass, enum action_flip flip)
{
    const bool smoothed = mass->floor > 0;
    const double over =
        smoothed ? mass->on[flip] - mass->floor * (double)mass->n_on[flip] : mass->on[flip];
    const double share = smoothed ? 0.5 * (double)mass->n_on[flip] / (double)mass->n_cells : 0;

    return over > NOISE * mass->total && over > share * mass->total;
}

/* --- many --- */

void flip_tally_add(struct flip_tally *tally, const struct flips *flips,
                    const struct flip_mass *mass, uint64_t n_stones)
{
    const double density = fmin((double)n_stones / (double)flips->axis, 0.99);
    /* As many moves as would share the mass evenly. */
    const double n_moves = mass->squares > 0 ? mass->total * mass->total / mass->squares : 0;
    const double evidence = -n_moves * log(1 - density);

    if (!(mass->squares > 0))
        return;
    tally->n_rows++;
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        tally->n_on[flip] += flip_mass_is_on(mass, flip);
    tally->share += mass->on[flips->policy->flip] / mass->total;
    tally->density += density;
    tally->expected += 1 - exp(-evidence);
    tally->evidence += fmin(evidence, MOST_OF_A_ROW);
}

static enum action_flip best_flip(const struct flip_tally *t, const struct flips *flips,
                                  double evidence)
{
    const enum action_flip now = flips->policy->flip;
    enum action_flip best = now;
    uint64_t by_chance = 0;

    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        if (flips->can_flip[flip] && t->n_on[flip] < t->n_on[best])
            best = flip;
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        if (flip != best && flip != now && t->n_on[flip] > by_chance)
            by_chance = t->n_on[flip];
    if (20 * t->n_on[best] > t->n_on[now] || t->evidence < evidence ||
        4 * (double)t->n_on[now] < t->expected || t->n_on[now] > BY_CHANCE * by_chance ||
        2 * t->share > (double)t->n_rows + t->density)
        return now;
    return best;
}

enum action_flip flip_tally_best(const struct flip_tally *tally, const struct flips *flips)
{
    return best_flip(tally, flips, SURE);
}

static void tally_merge(struct flip_tally *tally, const struct flip_tally *from)
{
    tally->n_rows += from->n_rows;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        tally->n_on[flip] += from->n_on[flip];
    tally->share += from->share;
    tally->density += from->density;
    tally->expected += from->expected;
    tally->evidence += from->evidence;
}

void flip_parts_merge(struct flip_parts *parts, const struct flip_parts *from)
{
    for (int i = 0; i < FLIPS_N_PARTS; i++)
        tally_merge(&parts->parts[i], &from->parts[i]);
}

struct flip_tally flip_parts_sum(const struct flip_parts *parts)
{
    struct flip_tally sum = {0};

    for (int i = 0; i < FLIPS_N_PARTS; i++)
        tally_merge(&sum, &parts->parts[i]);
    return sum;
}

struct flip_verdict flip_parts_judge(const struct flip_parts *parts, const struct flips *flips,
                                     uint64_t n_rows)
{
    const uint64_t part_rows = (n_rows + FLIPS_N_PARTS - 1) / FLIPS_N_PARTS;
    struct flip_verdict verdict = {flips->policy->flip, 0, n_rows, flip_parts_sum(parts)};
    struct flip_verdict best = {.flip = flips->policy->flip};

    verdict.flip = best_flip(&verdict.tally, flips, SURE);
    if (verdict.flip != flips->policy->flip || verdict.tally.n_on[flips->policy->flip] == 0)
        return verdict;
    for (unsigned first = 0; first < FLIPS_N_PARTS; first++) {
        struct flip_tally run = {0};

        for (unsigned end = first; end < FLIPS_N_PARTS; end++) {
            tally_merge(&run, &parts->parts[end]);
            const enum action_flip flip = best_flip(&run, flips, SURE_OF_PART);
            if (flip != flips->policy->flip && run.evidence > best.tally.evidence) {
                best = (struct flip_verdict){flip, first * part_rows, (end + 1) * part_rows, run};
                best.end = best.end < n_rows ? best.end : n_rows;
            }
        }
    }
    return best.flip != flips->policy->flip ? best : verdict;
}

struct look {
    const struct stone_watch *watch; /* it has the form of the planes, and stones of some rows */
    const struct plan_array *policy;
    struct flips flips;
    struct flip_parts parts;
    uint64_t n_seen, n_overlap, first_on;
};

static bool is_list(const struct plan_array *policy)
{
    return policy->binding.role == ROLE_POLICY_INDEX || policy->binding.role == ROLE_ACTION;
}

static uint64_t rows_of_part(const struct plan *plan)
{
    return (plan->n_rows + FLIPS_N_PARTS - 1) / FLIPS_N_PARTS;
}

/* --- rows of a plan that pass by --- */

/* Where a row is kept: a mark that it is there, then its stones, or its bytes. */
static uint8_t *kept_row(const struct stone_watch *watch, const struct kept_rows *rows,
                         uint64_t row)
{
    const uint64_t part_rows = rows_of_part(watch->plan);

    return rows->bytes +
           (row / part_rows * 2 * ROWS_OF_PART + row % part_rows) * (rows->row_nbytes + 1);
}

/* Keep a row, if it is one of those that are looked at. */
static void keep_row(const struct stone_watch *watch, const struct kept_rows *rows, uint64_t row,
                     const uint8_t *bytes)
{
    const struct planes_form *form = &watch->form;
    const uint64_t *stones = watch->where.stones;

    if (row % rows_of_part(watch->plan) >= 2 * ROWS_OF_PART)
        return;
    uint8_t *kept = kept_row(watch, rows, row);
    *kept++ = true;
    if (rows != &watch->kept[0])
        memcpy(kept, bytes, rows->row_nbytes);
    else
        for (uint64_t cell = 0; cell < form->axis; cell++)
            kept[cell] =
                (uint8_t)(planes_has_stone(form, bytes, stones[0], cell) +
                          (form->n_planes > 1 && planes_has_stone(form, bytes, stones[1], cell)));
}

/* What is kept of an array, or NULL. */
static struct kept_rows *kept_of(const struct stone_watch *watch, const struct plan_array *array)
{
    for (size_t i = 0; i < watch->n_kept; i++)
        if (watch->kept[i].array == array)
            return &watch->kept[i];
    return NULL;
}

void stone_watch_see(const struct stone_watch *watch, const struct plan_array *array,
                     const struct batch *batch)
{
    const uint64_t end = batch->first + batch->n, nbytes = batch->reader->unit_nbytes;
    struct kept_rows *rows = kept_of(watch, array);

    if (rows != NULL && rows->next < batch->first)
        rows->next = batch->first;
    for (; rows != NULL && rows->next < end; rows->next++)
        keep_row(watch, rows, rows->next, batch->bytes.data + (rows->next - batch->first) * nbytes);
}

/* --- a row --- */

/* Its policies, one a head, or the list of one and the values beside it. */
static void look_at_row(struct look *l, uint64_t number, const struct row *rows)
{
    const struct plan *plan = l->watch->plan;
    const struct spec *spec = &l->policy->spec;
    const bool lists = is_list(l->policy);
    const uint64_t n_heads = lists ? 1 : spec->outer;
    const uint8_t *kept = kept_row(l->watch, &l->watch->kept[0], number), *occupied = kept + 1;
    uint64_t n_stones = 0;
    bool overlap = false;

    for (uint64_t cell = 0; kept[0] && cell < l->watch->form.axis; cell++) {
        n_stones += occupied[cell] > 0;
        overlap |= occupied[cell] > 1;
    }
    l->n_seen += kept[0];
    l->n_overlap += overlap;
    if (n_stones == 0 || overlap)
        return;
    for (uint64_t head = 0; head < n_heads; head++) {
        const struct row dense = {.bytes = rows->bytes + head * (spec->row_nbytes / n_heads),
                                  .dtype = &spec->dtype,
                                  .n = l->flips.n_actions};
        struct flip_mass mass = {.total = 0};

        if (!lists)
            flip_mass_add_row(&mass, &l->flips, occupied, &dense);
        for (uint64_t i = 0; lists && i < rows[0].n; i++)
            if (row_int(&rows[0], i) >= 0)
                flip_mass_add(&mass, &l->flips, occupied, (uint64_t)row_int(&rows[0], i),
                              i < rows[1].n ? row_double(&rows[1], i) : 1);
        if (lists)
            mass.floor = 0; /* what is not listed has no mass */
        if (number < l->first_on && flip_mass_is_on(&mass, l->policy->binding.flip))
            l->first_on = number;
        flip_tally_add(&l->parts.parts[flip_part_of(number, plan->n_rows)], &l->flips, &mass,
                       n_stones);
    }
}

/* The rows of a policy beside those stones. */
static int look_at(const struct stone_watch *watch, const struct plan_array *policy,
                   struct error *err)
{
    const struct plan *plan = watch->plan;
    const bool late = watch->is_late;
    const struct role_binding *b = &policy->binding;
    const uint64_t first = late ? watch->first : 0, end = late ? plan->n_rows : watch->first;
    const uint64_t of_part = is_list(policy) ? 2 * ROWS_OF_PART : ROWS_OF_PART;
    const struct kept_rows *kept = late ? kept_of(watch, policy) : NULL;
    struct look l = {.watch = watch, .policy = policy, .first_on = UINT64_MAX};
    struct survey s;
    int status = flips_init(&l.flips, plan->board, &watch->stones->binding, b, b->n_actions, err);

    for (uint64_t row = first; kept != NULL && row < end && status == 0; row++)
        if (row % rows_of_part(plan) < of_part && kept_row(watch, kept, row)[0])
            look_at_row(&l, row, &(struct row){.bytes = kept_row(watch, kept, row) + 1});
    if (kept == NULL && status == 0) {
        survey_begin_lists(&s, plan, policy, err);
        while (survey_next(&s) && s.number < end)
            if (s.number >= first && s.number % rows_of_part(plan) < of_part && s.rows[0].n > 0)
                look_at_row(&l, s.number, s.rows);
        status = survey_end(&s);
    }
    const struct flip_verdict verdict = status == 0
                                            ? flip_parts_judge(&l.parts, &l.flips, plan->n_rows)
                                            : (struct flip_verdict){.flip = b->flip};
    flips_release(&l.flips);
    if (status != 0 || 2 * l.n_overlap > l.n_seen || verdict.flip == b->flip)
        return status;
    const bool as_is = verdict.flip == ACTION_AS_IS;
    const char *role = role_name(b->role), *what = b->role == ROLE_ACTION ? "moves" : "mass";
    const char *flip = action_flip_name(verdict.flip), *found = as_is ? "as it is it" : flip;
    const unsigned long long from = verdict.first > first ? verdict.first : first;
    const unsigned long long n_on = verdict.tally.n_on[b->flip], n = verdict.tally.n_rows;
    const unsigned long long n_left = verdict.tally.n_on[verdict.flip];
    /* What was told of a sparse policy's layout is said again: no length tells it. */
    const bool is_told = !b->inferred && is_list(policy);
    const char *const mark = is_told ? "," : ":";
    if (from > 0 || verdict.end < plan->n_rows)
        return plan_refuse(
            plan, policy, err,
            "rows %llu to %llu: %s on occupied cells in %llu of %llu rows looked at, expected "
            "none. Unlike the other rows they are stored in another order than the planes: %s has "
            "%llu such rows; expand them by themselves, or write them in the order of the others",
            from, (unsigned long long)verdict.end - 1, what, n_on, n, found, n_left);
    return plan_refuse(plan, policy, err,
                       "row %llu: %s on occupied cells, as in %llu of %llu rows with stones looked "
                       "at; expected none. Planes and %s are stored in different orders: %s has "
                       "%llu such rows; use --role %s=%s%s%s%s%s",
                       (unsigned long long)l.first_on, what, n_on, n, role, found, n_left,
                       text_path(policy->key).text, role, is_told ? ":layout=" : "",
                       is_told ? b->layout->name : "", as_is ? "" : mark, flip);
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

int stone_watch_init(struct stone_watch *watch, const struct plan *plan, bool is_late,
                     struct error *err)
{
    const struct plan_array *stones = survey_find_planes(plan);
    bool is_packed = false, is_asked = false, streams = plan->order.n_rows > 0;

    *watch = (struct stone_watch){.plan = plan, .is_late = is_late, .first = plan->n_rows};
    if (stones == NULL)
        stones = survey_find(plan, ROLE_GRID);
    if (!survey_has_numbers(stones) || plan->conventions.planes == PLANES_OPENSPIEL)
        return 0;
    const struct role_binding *b = &stones->binding;
    watch->stones = stones;
    watch->form = survey_form(stones);
    if (b->axes.axis != plan->board->n_cells || b->layout != NULL ||
        (b->role != ROLE_GRID && watch->form.n_planes < 2))
        return 0;
    stone_planes_decide(&watch->where, &plan->conventions, watch->form.n_planes,
                        plan->board->family->joins_edges);
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const bool is_policy = is_looked_at(plan, array);

        if (!is_policy && array != stones)
            continue;
        is_asked |= is_policy;
        for (size_t k = 0; k < plan->n_archives; k++)
            is_packed |= array->sources[k]->decoder != NULL;
        streams = streams && ((is_policy && is_list(array)) ||
                              (order_streams(&plan->order, array->spec.row_nbytes) &&
                               reader_can_stream(array->sources, plan->n_archives)));
    }
    /* Rows pass by in sequence, and nothing is committed before the last of them has. */
    if (is_packed && streams && plan->n_rows > MIN_REACH && plan->settings->purpose == FOR_IMAGES &&
        plan->settings->rows_per_shard == 0 && plan->input_ends == NULL)
        watch->first = (uint64_t)fmax(MIN_REACH, PACKED_REACH * (double)plan->n_rows);
    if (!is_asked || (is_late && watch->first == plan->n_rows))
        return 0;
    for (size_t i = 0; i <= plan->n_arrays; i++) { /* the stones come first */
        const struct plan_array *array = i == 0 ? stones : &plan->arrays[i - 1];
        const size_t row_nbytes = i == 0 ? watch->form.axis : array->spec.row_nbytes;

        if (i > 0 && (!is_late || !is_looked_at(plan, array) || is_list(array)))
            continue;
        if (list_room(&watch->kept, watch->n_kept + 1, sizeof *watch->kept, "kept rows", err) != 0)
            return -1;
        struct kept_rows *rows = &watch->kept[watch->n_kept++];
        *rows = (struct kept_rows){.array = array, .row_nbytes = row_nbytes, .next = watch->first};
        rows->bytes = calloc(FLIPS_N_PARTS * 2 * ROWS_OF_PART, row_nbytes + 1);
        if (rows->bytes == NULL)
            return error_no_memory(err, "kept rows");
    }
    return 0;
}

int stone_watch_judge(const struct stone_watch *watch, struct error *err)
{
    const struct plan *plan = watch->plan;

    for (size_t i = 0; watch->n_kept > 0 && i < plan->n_arrays; i++)
        if (is_looked_at(plan, &plan->arrays[i]) && look_at(watch, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}

int survey_flips(const struct plan *plan, struct error *err)
{
    struct stone_watch watch;
    struct survey s;
    int status = stone_watch_init(&watch, plan, false, err);

    if (status == 0 && watch.n_kept > 0) {
        survey_begin(&s, plan, SURVEY_OF(watch.stones), err);
        while (survey_next(&s) && s.number < watch.first)
            keep_row(&watch, &watch.kept[0], s.number, s.rows[0].bytes);
        status = survey_end(&s);
    }
    if (status == 0)
        status = stone_watch_judge(&watch, err);
    stone_watch_release(&watch);
    return status;
}

void stone_watch_release(struct stone_watch *watch)
{
    for (size_t i = 0; i < watch->n_kept; i++)
        free(watch->kept[i].bytes);
    free(watch->kept);
    *watch = (struct stone_watch){0};
}
