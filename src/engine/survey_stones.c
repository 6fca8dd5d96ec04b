/*
 * survey_stones.c - policies with mass on stones.
 *
 * In games of placement there is none, unless the policy is stored in another order than the
 * planes, as the most common trainer of Gomoku stores it: moved as it stands, all of its images but
 * a few would be wrong. Dense policies, sparse ones and single moves end in the same counts.
 *
 * Some rows of every part of the input are examined, because sets are put together from parts. A
 * second unpacking of all planes would cost too much, so where arrays are packed only the first
 * rows are examined in advance; of the others, stones and dense policies are kept as the rows pass
 * by on their way to the output, and judged before it is committed.
 */
#include "engine/survey.h"

/* Rows examined in each part; of lists and moves, which tell less, twice as many. */
#define ROWS_OF_PART 16
#define MIN_REACH    512  /* rows that are examined in advance in any case, */
#define PACKED_REACH 0.05 /* this share of packed arrays, */
#define USE_NBYTES   1000 /* of roles that are offered */
#define DOUBT_REACH  0.3  /* and this one if those are refused: it tells which rows are wrong */

struct look {
    const struct stone_watch *watch; /* the form of the planes, and the stones of some rows */
    struct laid laid;
    uint64_t n_seen, n_overlap;
};

static bool is_list(const struct plan_array *policy)
{
    return policy->binding.role == ROLE_POLICY_INDEX || policy->binding.role == ROLE_ACTION;
}

/* --- rows that are kept --- */

static bool is_examined(const struct plan *plan, uint64_t row, uint64_t n_of_part)
{
    return row % laid_part_rows(plan->n_rows) < n_of_part;
}

static struct kept_rows *kept_of(const struct stone_watch *watch, const struct plan_array *array)
{
    return &watch->kept[array - watch->plan->arrays];
}

/* Where an examined row is kept: a mark that it is there, then its stones, or its bytes. */
static uint8_t *kept_row(const struct stone_watch *watch, const struct kept_rows *kept,
                         uint64_t row)
{
    const uint64_t part_rows = laid_part_rows(watch->plan->n_rows);

    return kept->bytes +
           (row / part_rows * 2 * ROWS_OF_PART + row % part_rows) * (kept->row_nbytes + 1);
}

/* Keep a row if it is one of those that are examined. */
static void keep_row(const struct stone_watch *watch, const struct plan_array *array, uint64_t row,
                     const uint8_t *bytes)
{
    const struct kept_rows *kept = kept_of(watch, array);

    if (kept->bytes == NULL || !is_examined(watch->plan, row, 2 * ROWS_OF_PART))
        return;
    uint8_t *to = kept_row(watch, kept, row);
    *to++ = true;
    uint64_t n[2];
    if (array == watch->stones)
        planes_count_stones(&watch->form, bytes, n, to);
    else
        memcpy(to, bytes, kept->row_nbytes);
}

void stone_watch_see(struct stone_watch *watch, const struct plan_array *array,
                     const struct batch *batch)
{
    const uint64_t nbytes = batch->reader->unit_nbytes;

    if (array == watch->turns.planes)
        turns_see(&watch->turns, batch);
    if (watch->kept == NULL || kept_of(watch, array)->bytes == NULL)
        return;
    for (uint64_t i = 0; i < batch->n; i++)
        keep_row(watch, array, batch->first + i, batch->bytes.data + i * nbytes);
}

/* --- a row --- */

/* Count its policies, or its list with the values beside it. */
static void look_at_row(struct look *l, uint64_t number, const struct row *rows)
{
    const uint8_t *kept = kept_row(l->watch, kept_of(l->watch, l->watch->stones), number);
    struct laid_position position = {.row = number, .occupied = kept + 1, .is_compared = true};
    const uint64_t axis = l->watch->form.axis;
    const bool overlap = kept[0] && memchr(kept + 1, 3, axis) != NULL; /* of both colours */

    for (uint64_t cell = 0; kept[0] && cell < axis; cell++)
        position.n_stones += position.occupied[cell] > 0;
    l->n_seen += kept[0];
    l->n_overlap += overlap;
    if (position.n_stones > 0 && !overlap)
        (void)laid_add(&l->laid, &position, rows, rows[1].n > 0 ? &rows[1] : NULL);
}

/* An array of policies, masks or moves that may be stored in several orders. */
static bool has_flips(const struct plan_array *array)
{
    const struct role_binding *b = &array->binding;

    return laid_is_placement(b) && strcmp(b->layout->name, "columns") != 0 &&
           laid_can_read(array->sources[0], b);
}

/* Hold a policy against the stones. */
static int look_at(const struct stone_watch *watch, const struct plan_array *policy,
                   struct flip_verdict *verdict, struct error *err)
{
    const struct plan *plan = watch->plan;
    const struct role_binding *b = &policy->binding;
    const uint64_t of_part = is_list(policy) ? 2 * ROWS_OF_PART : ROWS_OF_PART;
    const struct kept_rows *kept = kept_of(watch, policy);
    const struct dtype *dtype = &policy->spec.dtype;
    struct look l = {.watch = watch};
    struct walk s;
    int status = laid_init(&l.laid, plan->board, &watch->stones->binding, b, plan->n_rows, err);

    for (uint64_t row = 0; kept->bytes != NULL && row < watch->end && status == 0; row++) {
        const uint8_t *at = is_examined(plan, row, of_part) ? kept_row(watch, kept, row) : NULL;

        if (at != NULL && at[0])
            look_at_row(&l, row,
                        (struct row[2]){{at + 1, NULL, dtype, kept->row_nbytes / dtype->itemsize}});
    }
    if (kept->bytes == NULL && status == 0) {
        survey_begin_lists(&s, plan, policy, err);
        while (walk_next(&s) && s.number < watch->end)
            if (is_examined(plan, s.number, of_part) && s.rows[0].n > 0)
                look_at_row(&l, s.number, s.rows);
        status = walk_end(&s);
    }
    if (status == 0)
        *verdict = laid_judge(&l.laid);
    if (2 * l.n_overlap > l.n_seen)
        verdict->flip = b->flip;
    laid_release(&l.laid);
    return status;
}

/* Whether a role declares the order that explains an array, and no other order explains it. */
static bool has_role(const struct plan *plan, const struct plan_array *array,
                     const struct flip_verdict *verdict)
{
    return !verdict->is_tied &&
           (verdict->flip == LAID_ON_BOARD ||
            laid_has_option(plan->board, array->binding.layout, verdict->flip));
}

/* Add that role, or without one that the array is left out. */
static void add_role(char use[USE_NBYTES], const struct plan *plan, const struct plan_array *array,
                     const struct flip_verdict *verdict)
{
    const struct role_binding *b = &array->binding;
    const struct board *board = plan->board;
    const int parts[] = {(int)(array - plan->arrays), b->value_array, b->offsets_array};
    const char *flip = "";
    /* Repeat the declared layout of a list, which its length does not tell. */
    const char *layout = !b->inferred && is_list(array) ? b->layout->name : "";

    if (verdict == NULL || !has_role(plan, array, verdict)) {
        for (size_t i = 0; i < (b->role == ROLE_POLICY_INDEX ? 3 : 1); i++)
            if (parts[i] >= 0)
                text_add(use, USE_NBYTES, " --role %s=drop",
                         text_path(plan->arrays[parts[i]].key).text);
        return;
    }
    if (verdict->flip == LAID_ON_BOARD)
        layout =
            action_layout_by_length(board, b->n_actions - board->n_cells + board->n_on_board)->name;
    else
        flip = action_flip_name(verdict->flip);
    text_add(use, USE_NBYTES, " --role %s=%s%s%s%s%s", text_path(array->key).text,
             role_name(b->role), *layout != '\0' ? ":layout=" : "", layout,
             *flip == '\0'     ? ""
             : *layout != '\0' ? ","
                               : ":",
             flip);
}

/* Refuse an array that is stored in another order, with the roles of all that are. Moves that were
 * not told an order are asked for one as soon as the policy has one. */
static int refuse(const struct plan *plan, const struct plan_array *policy,
                  const struct flip_verdict *all, struct error *err)
{
    const struct role_binding *b = &policy->binding;
    const struct flip_verdict *const verdict = &all[policy - plan->arrays];
    const char *order = verdict->flip == ACTION_AS_IS ? "it is" : laid_order_name(verdict->flip);
    const char *what = b->role == ROLE_ACTION ? "moves" : "mass";
    const unsigned long long n_on = verdict->tally.n_on[b->flip], n = verdict->tally.n_rows;
    const unsigned long long n_left = verdict->tally.n_on[verdict->flip];
    const struct flip_verdict *of_policy = NULL;
    char use[USE_NBYTES] = "", drop[USE_NBYTES] = "";

    if (verdict->first > 0 || verdict->end < plan->n_rows)
        return plan_refuse(
            plan, policy, err,
            "rows %llu to %llu: %s on occupied cells in %llu of %llu rows looked at, expected "
            "none. Unlike the other rows they are stored in another order than the planes: as %s "
            "it has %llu such rows; expand them by themselves, or write them in the order of the "
            "others",
            (unsigned long long)verdict->first, (unsigned long long)verdict->end - 1, what, n_on, n,
            order, n_left);
    for (size_t i = 0; i < plan->n_arrays && of_policy == NULL; i++)
        if (has_flips(&plan->arrays[i]) && plan->arrays[i].binding.role != ROLE_ACTION)
            of_policy = &all[i];
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const bool is_asked = of_policy != NULL && of_policy->flip != ACTION_AS_IS &&
                              array->binding.role == ROLE_ACTION && array->binding.inferred;
        struct flip_verdict one = all[i];
        const bool is_as_said = one.flip == array->binding.flip;

        if (!has_flips(array) || (is_as_said && !is_asked))
            continue;
        if (is_as_said && one.tally.n_on[of_policy->flip] == 0)
            one = *of_policy;
        add_role(use, plan, array, &one);
        add_role(drop, plan, array, NULL);
    }
    if (verdict->flip == ACTION_FROM_1)
        text_add(use, sizeof use, ", or use%s", drop);
    return plan_refuse_with(
        plan, policy, use + 1, err,
        "row %llu: %s on occupied cells, as in %llu of %llu rows with stones looked "
        "at; expected none. Read as %s it has %llu such rows: %suse%s",
        (unsigned long long)verdict->first_on, what, n_on, n, order, n_left,
        !has_role(plan, policy, verdict)
            ? "write the cells row by row, counted from 0, a pass last, or "
        : verdict->flip == LAID_ON_BOARD
            ? ""
            : text_format("planes and %s are stored in different orders; ", role_name(b->role))
                  .text,
        use);
}

int stone_watch_init(struct stone_watch *watch, const struct plan *plan, double reach,
                     struct error *err)
{
    const struct plan_array *stones = survey_find_planes(plan);
    bool is_packed = false, is_asked = false, streams = plan->order.n_rows > MIN_REACH;
    const bool is_late = reach == 1;

    *watch = (struct stone_watch){.plan = plan, .end = plan->n_rows};
    if (stones == NULL)
        stones = survey_find(plan, ROLE_GRID);
    if (!survey_has_numbers(stones) || plan->conventions.planes == PLANES_OPENSPIEL)
        return 0;
    const struct role_binding *b = &stones->binding;
    watch->stones = stones;
    watch->form = planes_frame_of(&stones->binding, &stones->spec.dtype);
    if (b->axes.axis != plan->board->n_cells || b->layout != NULL)
        return 0;
    planes_decide(&watch->form, &plan->conventions, plan->board->family->joins_edges);
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const bool is_policy = has_flips(array);

        if (!is_policy && array != stones)
            continue;
        is_asked |= is_policy;
        for (size_t k = 0; k < plan->n_inputs; k++)
            is_packed |= array->sources[k]->decoder != NULL;
        streams = streams && ((is_policy && is_list(array)) ||
                              (order_streams(&plan->order, array->spec.row_nbytes) &&
                               reader_can_stream(array->sources, plan->n_inputs)));
    }
    /* Rows pass by in sequence, and nothing is committed before the last of them has. */
    streams = streams && is_packed && plan->settings->purpose == FOR_IMAGES &&
              plan->settings->rows_per_shard == 0;
    if (streams)
        watch->end = (uint64_t)fmax(MIN_REACH, reach * (double)plan->n_rows);
    if (!is_asked || (is_late && !streams))
        return 0;
    if (new_items(&watch->kept, plan->n_arrays, "kept rows", err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        struct kept_rows *kept = &watch->kept[i];

        if (array != stones && (!is_late || !has_flips(array) || is_list(array)))
            continue;
        kept->row_nbytes = array == stones ? watch->form.axis : array->spec.row_nbytes;
        kept->bytes = calloc(LAID_N_PARTS * 2 * ROWS_OF_PART, kept->row_nbytes + 1);
        if (kept->bytes == NULL)
            return error_no_memory(err, "kept rows");
    }
    /* If every row has an image, all rows pass by, in order. */
    if (is_late && plan->swaps && !plan->is_surveyed && plan->n_chosen > 1 &&
        plan->order.selection == NULL)
        turns_watch(&watch->turns, plan, stones);
    return 0;
}

int stone_watch_judge(const struct stone_watch *watch, struct error *err)
{
    const struct plan *plan = watch->plan;
    const struct plan_array *wrong = NULL;
    struct flip_verdict *all;
    int status = watch->kept == NULL ? 0 : new_items(&all, plan->n_arrays, "orders", err);

    if (status != 0 || watch->kept == NULL)
        return status;
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];

        if (has_flips(array))
            status = look_at(watch, array, &all[i], err);
        if (wrong == NULL && has_flips(array) && all[i].flip != array->binding.flip)
            wrong = array;
    }
    if (status == 0 && wrong != NULL)
        status = refuse(plan, wrong, all, err);
    free(all);
    return status;
}

/* Examine a share of the rows; all of them where none pass by later. */
static int look_beforehand(const struct plan *plan, double reach, struct error *err)
{
    struct stone_watch watch;
    struct walk s;
    int status = stone_watch_init(&watch, plan, reach, err);

    if (status == 0 && watch.kept != NULL) {
        survey_begin(&s, plan, SURVEY_OF(watch.stones), err);
        while (walk_next(&s) && s.number < watch.end)
            keep_row(&watch, watch.stones, s.number, s.rows[0].bytes);
        status = walk_end(&s);
    }
    if (status == 0)
        status = stone_watch_judge(&watch, err);
    stone_watch_release(&watch);
    return status;
}

int survey_flips(const struct plan *plan, struct error *err)
{
    struct error doubt = {0};

    if (look_beforehand(plan, PACKED_REACH, &doubt) == 0)
        return 0;
    return doubt.kind == ERROR_DATA ? look_beforehand(plan, DOUBT_REACH, err)
                                    : error_pass(err, &doubt);
}

void stone_watch_release(struct stone_watch *watch)
{
    for (size_t i = 0; watch->kept != NULL && i < watch->plan->n_arrays; i++)
        free(watch->kept[i].bytes);
    free(watch->kept);
    walk_end(&watch->turns.beside);
    *watch = (struct stone_watch){0};
}
