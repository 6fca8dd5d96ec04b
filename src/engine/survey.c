/*
 * survey.c - reading numbers before they are labelled: the rows of one array, or of several side by
 * side, in chunks. Where each input has a plan of its own, the codes of all inputs are collected
 * first (survey_see), because one dataset must not get two codings. Single rows are counted that a
 * transform only approximates, or that say what has no image. Negative indices with a value are
 * refused, and indices of sparse policies beyond their actions.
 */
#include "engine/survey.h"

#include <pthread.h>

#define ENTRIES_AT_ONCE 256 /* of a dense policy, most of which are zero */

/* --- rows --- */

const struct plan_array *survey_find(const struct plan *plan, enum role role)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == role &&
            !(plan->arrays[i].binding.options & ROLE_WINNER) && !plan->arrays[i].is_object)
            return &plan->arrays[i];
    return NULL;
}

bool survey_has_numbers(const struct plan_array *array)
{
    return array != NULL && array->sources[0]->row_nbytes > 0 &&
           dtype_is_number(&array->sources[0]->header.dtype);
}

const struct plan_array *survey_find_planes(const struct plan *plan)
{
    const struct plan_array *planes = survey_find(plan, ROLE_PLANES);

    if (plan->board->family->only_known_members)
        return NULL;
    return planes != NULL ? planes : survey_find(plan, ROLE_PACKED);
}

void survey_begin(struct walk *walk, const struct plan *plan,
                  const struct plan_array *const arrays[3], struct error *err)
{
    struct reader readers[3] = {{.n_arrays = 0}};

    for (int i = 0; i < 3; i++)
        if (arrays[i] != NULL)
            readers[i] = plan_reader(plan, arrays[i]);
    walk_begin(walk, readers, 3, plan->settings->budget, err);
}

void survey_begin_lists(struct walk *walk, const struct plan *plan, const struct plan_array *array,
                        struct error *err)
{
    const struct plan_array *values =
        array->values != NULL ? &plan->arrays[array->binding.value_array] : NULL;

    survey_begin(walk, plan, SURVEY_OF(array, values), err);
}

/* Leave out all images of a row but the identity, which must be among the chosen ones. */
static int keep_identity(struct plan *plan, uint64_t row, struct error *err)
{
    if (plan->chosen[0] != 0)
        return error_set(err, ERROR_USAGE,
                         "--transforms: rows that keep only their identity image need transform 0");
    if (selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) != 0)
        return -1;
    for (uint32_t k = 1; k < plan->n_chosen; k++)
        selection_clear(&plan->selection, row, k);
    return 0;
}

bool survey_all_zero(const struct dtype *dtype, const uint8_t *elements, uint64_t n)
{
    uint64_t i = 0;

    if (bytes_are_zero(elements, n * dtype->itemsize))
        return true;
    while (i < n && dtype_get_double(dtype, elements + i * dtype->itemsize) == 0)
        i++;
    return i == n;
}

int survey_range(const struct plan *plan, const struct plan_array *array,
                 struct number_range *range, struct error *err)
{
    if (!survey_has_numbers(array))
        return plan_refuse(plan, array, err, "is not an array of numbers; use --role or --copy %s",
                           array->key);
    return number_range_find(array->sources, plan->n_inputs, UINT64_MAX, range, err);
}

/* --- all inputs of a call --- */

static struct survey_codes *find_seen(const struct survey_seen *seen, const char *key)
{
    for (size_t i = 0; i < seen->n; i++)
        if (strcmp(seen->arrays[i].key, key) == 0)
            return &seen->arrays[i];
    return NULL;
}

static void widen(struct number_range *range, const struct number_range *by)
{
    range->codes |= by->codes;
    range->min = by->min < range->min ? by->min : range->min;
}

void survey_see(struct survey_seen *seen, const struct plan *plan)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        struct number_range range;

        if ((role != ROLE_GRID && role != ROLE_VALUE && role != ROLE_TO_MOVE) ||
            survey_range(plan, array, &range, NULL) != 0 || range.n == 0)
            continue; /* its own plan will say what is wrong with it */
        pthread_mutex_lock(&lock);
        struct survey_codes *codes = find_seen(seen, array->key);
        char *key;
        if (codes != NULL)
            widen(&codes->range, &range);
        else if (list_room(&seen->arrays, seen->n + 1, sizeof *codes, "codes of arrays",
                           &seen->failure) == 0 &&
                 (key = strdup(array->key)) != NULL)
            seen->arrays[seen->n++] = (struct survey_codes){key, range};
        else
            error_no_memory(&seen->failure, "codes of arrays");
        pthread_mutex_unlock(&lock);
    }
    seen->turn_codes |= plan->turn_codes;
}

void survey_widen(const struct survey_seen *seen, const struct plan_array *array,
                  struct number_range *range)
{
    const struct survey_codes *codes = seen != NULL ? find_seen(seen, array->key) : NULL;

    if (codes != NULL)
        widen(range, &codes->range);
}

void survey_seen_release(struct survey_seen *seen)
{
    for (size_t i = 0; i < seen->n; i++)
        free(seen->arrays[i].key);
    free(seen->arrays);
    *seen = (struct survey_seen){0};
}

/* --- castling rights --- */

int survey_castling(struct plan *plan, struct error *err)
{
    const struct plan_array *planes = survey_find_planes(plan);
    const struct conventions *c = &plan->conventions;
    struct walk s;

    if (!survey_has_numbers(planes) || c->n_castling_planes < 0)
        return 0;
    struct planes_form form = planes_frame_of(&planes->binding, &planes->spec.dtype);
    if (c->n_castling_planes == 0 && form.n_planes != plan->board->family->castling->n_planes)
        return 0;
    for (int i = 0; i < c->n_castling_planes; i++)
        if (c->castling_planes[i] >= form.n_planes)
            return plan_refuse(plan, planes, err, "castling plane %u, expected below %llu",
                               c->castling_planes[i], (unsigned long long)form.n_planes);
    plan->n_castling_rows = 0;
    survey_begin(&s, plan, SURVEY_OF(planes), err);
    while (walk_next(&s)) {
        const bool has_rights = planes_have_rights(&form, plan->board, c, s.rows[0].bytes);

        plan->n_castling_rows += has_rights;
        if (has_rights && c->castling == CASTLING_SKIP)
            s.status = keep_identity(plan, s.number, err);
    }
    return walk_end(&s);
}

/* --- odd rows --- */

static bool has_pad_bits(const struct spec *spec, const uint8_t *row)
{
    const uint64_t plane_nbytes = (spec->axis + 7) / 8;
    unsigned bits = 0;

    for (uint64_t at = 0; at < spec->row_nbytes; at += plane_nbytes)
        bits |= plane_pad_bits(row + at, spec->axis, spec->lsb_first);
    return bits != 0;
}

/* Whether a row of moves (in that space), or of coordinates (space is NULL), names a place of the
 * box that is not on the board. */
static bool is_off_board(const struct spec *spec, const struct action_space *space,
                         const struct row *row)
{
    const struct board *board = spec->board;
    const uint64_t step = space == NULL || spec->pairs ? 2 : 1;

    for (uint64_t i = 0; i + step <= row->n; i += step) {
        const int64_t first = row_int(row, i), second = step == 2 ? row_int(row, i + 1) : 1;
        const int64_t y = spec->col_first ? second : first, x = spec->col_first ? first : second;

        if (space != NULL ? first >= 0 && (uint64_t)first < space->length && second != 0 &&
                                !(space->flags[first] & ACTION_ENCODABLE)
                          : y >= 0 && y < board->rows && x >= 0 && x < board->cols &&
                                !board->on_board[y * board->cols + x])
            return true;
    }
    return false;
}

int survey_odd_rows(struct plan *plan, struct error *err)
{
    for (size_t k = 0; k < 2 * plan->n_arrays; k++) {
        const struct plan_array *array = &plan->arrays[k % plan->n_arrays];
        const struct spec *spec = &array->spec;
        const enum role role = array->binding.role;
        const bool is_padding = k < plan->n_arrays; /* pad bits of all arrays come first */
        const bool is_action = role == ROLE_ACTION;
        const bool is_coord = role == ROLE_COORD && plan->board->rows > 0;
        const struct action_space *space = NULL;
        unsigned long long n_rows = 0, first = 0;
        struct walk s;
        int status = 0;

        if (is_padding ? role != ROLE_PACKED || spec->axis % 8 == 0
                       : !(is_action || is_coord) || array->is_object || !survey_has_numbers(array))
            continue;
        if (is_action && (space = spec_space(&plan->maker, &array->binding, err)) == NULL)
            return -1;
        survey_begin(&s, plan, SURVEY_OF(array), err);
        while (walk_next(&s))
            if ((is_padding ? has_pad_bits(spec, s.rows[0].bytes)
                            : is_off_board(spec, space, &s.rows[0])) &&
                n_rows++ == 0)
                first = s.number;
        if (walk_end(&s) != 0)
            return -1;
        if (n_rows > 0 && is_padding)
            status = plan_warn(plan, err, "%s: %llu rows have pad bits set, which are written as 0",
                               text_path(array->key).text, n_rows);
        else if (n_rows > 0)
            status = plan_warn(plan, err,
                               "%s: %llu rows name a place that is not on the board and stays "
                               "where it is, first row %llu",
                               text_path(array->key).text, n_rows, first);
        if (status != 0)
            return -1;
    }
    return 0;
}

/* --- policies --- */

/* Count a policy entry that is not zero. */
static int count_entry(struct plan *plan, const struct action_space *space, uint64_t row,
                       int64_t action, struct error *err)
{
    if (action < 0 || (uint64_t)action >= space->length)
        return 0; /* refused when it is moved */
    const unsigned flags = space->flags[action];
    plan->n_unencodable += !(flags & ACTION_ENCODABLE);
    if (!(flags & ACTION_AMBIGUOUS))
        return 0;
    plan->n_ambiguous++;
    return plan->conventions.ambiguous == AMBIGUOUS_DROP ? keep_identity(plan, row, err) : 0;
}

/* Whether entries of an action are counted. */
static bool is_counted(const struct action_space *space, uint64_t action)
{
    return (space->flags[action] & (ACTION_ENCODABLE | ACTION_AMBIGUOUS)) != ACTION_ENCODABLE;
}

/* How certain it is that entries fall on moves of another layout by no accident: -ln of that. */
#define SURE 7

/* Refuse a policy with mass on what is no move, if that is one in another layout of the same
 * length, as all else with mass is. The other arrays of that layout are offered it, too, but for
 * moves, which follow the policy. */
static int check_layout(const struct plan *plan, const struct plan_array *array, uint64_t row,
                        struct error *err)
{
    const struct board *board = plan->board;
    const struct role_binding *b = &array->binding;
    const bool is_list = b->role == ROLE_POLICY_INDEX;
    const uint64_t own = b->layout->length(b->layout, board);
    const struct action_layout *other;
    struct walk s;

    for (size_t i = 0; (other = action_layout_at(board, i)) != NULL; i++) {
        uint64_t n_moves = 0; /* of the other layout, */
        uint64_t n_found = 0; /* and those found here, where they are none */
        bool fits = true;
        char use[700] = "";

        if (other == b->layout || other->length(other, board) != own)
            continue;
        for (uint64_t a = 0; a < own; a++)
            n_moves += action_flags(other, board, a) & ACTION_ENCODABLE;
        survey_begin_lists(&s, plan, array, err);
        while (fits && walk_next(&s))
            for (uint64_t k = 0; k < s.rows[0].n && fits; k++) {
                const int64_t a = is_list ? row_int(&s.rows[0], k) : (int64_t)(k % b->n_actions);
                const struct row *values = &s.rows[is_list];

                if (a < 0 || a >= (int64_t)own || (k < values->n && row_double(values, k) == 0))
                    continue;
                fits = action_flags(other, board, (uint64_t)a) & ACTION_ENCODABLE;
                n_found += !(action_flags(b->layout, board, (uint64_t)a) & ACTION_ENCODABLE);
            }
        if (walk_end(&s) != 0)
            return -1;
        if (!fits || (double)n_found * log((double)own / (double)n_moves) < SURE)
            continue;
        for (const struct plan_array *to = plan->arrays; to < plan->arrays + plan->n_arrays; to++)
            if (to->binding.layout == b->layout && to->binding.role >= ROLE_POLICY &&
                to->binding.role <= ROLE_POLICY_INDEX)
                text_add(use, sizeof use, " --role %s=%s:layout=%s", text_path(to->key).text,
                         role_name(to->binding.role), other->name);
        return plan_refuse_with(
            plan, array, use + 1, err,
            "row %llu: mass on what is no move in the layout %s; in %s all are: use%s",
            (unsigned long long)row, b->layout->name, other->name, use);
    }
    return 0;
}

int survey_ambiguous(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct dtype *dtype = &array->spec.dtype;
        const enum role role = array->binding.role;
        const bool is_sparse = role == ROLE_POLICY_INDEX;
        unsigned long long n_rows = 0, first = 0; /* with mass on what is no action */
        uint64_t n_odd, counted = 0;              /* the first action that is */
        struct walk s;

        if (role != ROLE_POLICY && role != ROLE_ACTION_VALUES && !is_sparse)
            continue;
        const struct action_space *space = spec_space(&plan->maker, &array->binding, err);
        if (space == NULL)
            return -1;
        while (counted < space->length && !is_counted(space, counted))
            counted++;
        if (counted < space->length && plan->n_ambiguous == UINT64_MAX)
            plan->n_ambiguous = plan->n_unencodable = 0;
        if (!is_sparse && counted == space->length)
            continue;
        survey_begin_lists(&s, plan, array, err);
        while (n_odd = plan->n_unencodable, walk_next(&s)) {
            /* A negative index is not an action and stays in every image: it must have no value. */
            for (uint64_t k = 0; is_sparse && k < s.rows[0].n && s.status == 0; k++) {
                const bool has_value = k < s.rows[1].n;
                const double value = has_value ? row_double(&s.rows[1], k) : 1;
                const int64_t index = row_int(&s.rows[0], k);

                if (index < 0 && has_value && value != 0)
                    s.status = plan_refuse(
                        plan, array, err,
                        "row %llu: index %lld with the value %g, expected an action from 0 to "
                        "%llu, or no value; use --copy %s if these are no actions",
                        (unsigned long long)s.number, (long long)index, value,
                        (unsigned long long)space->length - 1, text_path(array->key).text);
                else if (index >= (int64_t)space->length)
                    s.status =
                        plan_refuse(plan, array, err, "row %llu: index %lld, expected below %llu",
                                    (unsigned long long)s.number, (long long)index,
                                    (unsigned long long)space->length);
                else if (value != 0)
                    s.status = count_entry(plan, space, s.number, index, err);
            }
            for (uint64_t at = 0, n; !is_sparse && at < array->spec.outer * space->length;
                 at += n) {
                const uint8_t *entry = s.rows[0].bytes + at * dtype->itemsize;
                const uint64_t of_policy = at % space->length;

                n = smaller(space->length - of_policy, ENTRIES_AT_ONCE);
                if (survey_all_zero(dtype, entry, n))
                    continue;
                for (uint64_t a = of_policy; a < of_policy + n && s.status == 0; a++) {
                    if (is_counted(space, a) && !survey_all_zero(dtype, entry, 1))
                        s.status = count_entry(plan, space, s.number, (int64_t)a, err);
                    entry += dtype->itemsize;
                }
            }
            if (plan->n_unencodable > n_odd && n_rows++ == 0)
                first = s.number;
        }
        if (walk_end(&s) != 0 ||
            (n_rows > 0 && role != ROLE_ACTION_VALUES &&
             check_layout(plan, array, first, err) != 0) ||
            (n_rows > 0 && laid_is_placement(&array->binding) &&
             plan_warn(plan, err,
                       "%s: %llu rows have mass on a place that is not on the board, which stays "
                       "where it is, first row %llu",
                       text_path(array->key).text, n_rows, first) != 0))
            return -1;
    }
    return 0;
}
