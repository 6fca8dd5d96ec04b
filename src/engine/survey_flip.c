/*
 * survey_flip.c - policies and moves that are stored in another order than the planes beside them,
 * as the commonest trainer of Gomoku stores them: moved as they stand, every image but a few would
 * be wrong. Some rows of every part of the input are looked at, because sets are put together from
 * parts. Unpacking all planes once more would cost too much: where they are packed, the stones of
 * the later parts, and dense policies, are kept as those rows pass by on their way to the output,
 * and judged before it is committed. Dense policies, sparse ones and single moves end in the same
 * counts: engine/turn.h.
 */
#include "engine/survey.h"

#include <math.h>

/* Rows looked at in each part; of lists and moves, which tell less, twice that. */
#define ROWS_OF_PART 16
#define MIN_REACH    512 /* rows that are looked at beforehand in any case, */
#define PACKED_REACH 0.3 /* and this share of packed arrays */

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

/* --- rows that pass by --- */

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

void stone_watch_see(const struct stone_watch *watch, struct kept_rows *rows,
                     const struct batch *batch)
{
    const uint64_t end = batch->first + batch->n, nbytes = batch->reader->unit_nbytes;

    if (rows->next < batch->first)
        rows->next = batch->first;
    for (; rows->next < end; rows->next++)
        keep_row(watch, rows, rows->next, batch->bytes.data + (rows->next - batch->first) * nbytes);
}

struct kept_rows *stone_watch_of(const struct stone_watch *watch, const struct plan_array *array)
{
    for (size_t i = 0; i < watch->n_kept; i++)
        if (watch->kept[i].array == array)
            return &watch->kept[i];
    return NULL;
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

    if (verdict->first > 0 || verdict->end < l->watch->plan->n_rows)
        return plan_refuse(
            l->watch->plan, l->policy, err,
            "rows %llu to %llu: %s on occupied cells in %llu of %llu rows looked at, expected "
            "none. "
            "Unlike the other rows they are stored in another order than the planes: %s has %llu "
            "such rows; expand them by themselves, or write them in the order of the others",
            (unsigned long long)verdict->first, (unsigned long long)verdict->end - 1, what, n_on, n,
            found, n_left);
    return plan_refuse(
        l->watch->plan, l->policy, err,
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

/* The rows of a policy beside those stones; `late`: those that were kept. */
static int look_at(const struct stone_watch *watch, const struct plan_array *policy, bool late,
                   struct error *err)
{
    const struct plan *plan = watch->plan;
    const uint64_t first = late ? watch->first : 0, end = late ? plan->n_rows : watch->first;
    const uint64_t of_part = is_list(policy) ? 2 * ROWS_OF_PART : ROWS_OF_PART;
    const struct kept_rows *kept = late ? stone_watch_of(watch, policy) : NULL;
    struct look l = {.watch = watch, .policy = policy, .first_on = UINT64_MAX};
    struct survey s;
    int status = flips_init(&l.flips, plan->board, &watch->stones->binding, &policy->binding,
                            policy->binding.n_actions, err);

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
    if (status == 0 && 2 * l.n_overlap <= l.n_seen) {
        struct flip_verdict verdict = flip_parts_judge(&l.parts, &l.flips, plan->n_rows);
        if (verdict.first < first)
            verdict.first = first;
        if (verdict.flip != policy->binding.flip)
            status = refuse(&l, &verdict, err);
    }
    flips_release(&l.flips);
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

static bool can_stream(const struct plan *plan, const struct plan_array *array)
{
    return plan->order.n_rows > 0 && order_streams(&plan->order, array->spec.row_nbytes) &&
           reader_can_stream(array->sources, plan->n_archives);
}

/* Find the planes of a plan whose policies are to be looked at. */
static bool find_planes(struct stone_watch *watch, const struct plan *plan)
{
    const struct plan_array *stones = survey_find_planes(plan);
    bool is_packed_here = false, is_asked = false;

    if (stones == NULL)
        stones = survey_find(plan, ROLE_GRID);
    if (!survey_has_numbers(stones) || plan->conventions.planes == PLANES_OPENSPIEL)
        return false;
    const struct role_binding *b = &stones->binding;
    *watch = (struct stone_watch){
        .plan = plan, .stones = stones, .form = survey_form(stones), .first = plan->n_rows};
    if (b->axes.axis != plan->board->n_cells || b->layout != NULL ||
        (b->role != ROLE_GRID && watch->form.n_planes < 2))
        return false;
    stone_planes_decide(&watch->where, &plan->conventions, watch->form.n_planes,
                        plan->board->family->joins_edges);
    bool streams = can_stream(plan, stones);
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (is_looked_at(plan, &plan->arrays[i])) {
            is_asked = true;
            is_packed_here |= is_packed(plan, &plan->arrays[i]) || is_packed(plan, stones);
            streams &= is_list(&plan->arrays[i]) || can_stream(plan, &plan->arrays[i]);
        }
    /* Rows pass by in sequence, and nothing is committed before the last of them has. */
    if (is_packed_here && plan->n_rows > MIN_REACH && plan->settings->purpose == FOR_IMAGES &&
        plan->settings->rows_per_shard == 0 && plan->input_ends == NULL && streams)
        watch->first = (uint64_t)fmax(MIN_REACH, PACKED_REACH * (double)plan->n_rows);
    return is_asked;
}

static int look_at_all(const struct stone_watch *watch, bool late, struct error *err)
{
    const struct plan *plan = watch->plan;

    for (size_t i = 0; i < plan->n_arrays; i++)
        if (is_looked_at(plan, &plan->arrays[i]) &&
            look_at(watch, &plan->arrays[i], late, err) != 0)
            return -1;
    return 0;
}

static int keep_rows(struct stone_watch *watch, const struct plan_array *array, size_t row_nbytes,
                     struct error *err)
{
    struct kept_rows *rows;

    if (list_room(&watch->kept, watch->n_kept + 1, sizeof *rows, "kept rows", err) != 0)
        return -1;
    rows = &watch->kept[watch->n_kept++];
    *rows = (struct kept_rows){.array = array, .row_nbytes = row_nbytes, .next = watch->first};
    rows->bytes = calloc(FLIPS_N_PARTS * 2 * ROWS_OF_PART, row_nbytes + 1);
    return rows->bytes != NULL ? 0 : error_no_memory(err, "kept rows");
}

int survey_flips(const struct plan *plan, struct error *err)
{
    struct stone_watch watch;
    struct survey s;

    if (!find_planes(&watch, plan))
        return 0;
    int status = keep_rows(&watch, watch.stones, watch.form.axis, err);
    if (status == 0) {
        survey_begin(&s, plan, SURVEY_OF(watch.stones), err);
        while (survey_next(&s) && s.number < watch.first)
            keep_row(&watch, &watch.kept[0], s.number, s.rows[0].bytes);
        status = survey_end(&s);
    }
    if (status == 0)
        status = look_at_all(&watch, false, err);
    stone_watch_release(&watch);
    return status;
}

int stone_watch_init(struct stone_watch *watch, const struct plan *plan, struct error *err)
{
    if (!find_planes(watch, plan) || watch->first == plan->n_rows) {
        *watch = (struct stone_watch){0};
        return 0;
    }
    if (keep_rows(watch, watch->stones, watch->form.axis, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (is_looked_at(plan, &plan->arrays[i]) && !is_list(&plan->arrays[i]) &&
            keep_rows(watch, &plan->arrays[i], plan->arrays[i].spec.row_nbytes, err) != 0)
            return -1;
    return 0;
}

int stone_watch_judge(const struct stone_watch *watch, struct error *err)
{
    return watch->n_kept > 0 ? look_at_all(watch, true, err) : 0;
}

void stone_watch_release(struct stone_watch *watch)
{
    for (size_t i = 0; i < watch->n_kept; i++)
        free(watch->kept[i].bytes);
    free(watch->kept);
    *watch = (struct stone_watch){0};
}
