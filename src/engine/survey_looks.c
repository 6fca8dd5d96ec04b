/*
 * survey_looks.c - what is counted in single rows: chess positions with castling rights, which a
 * mirror carries over only in approximation; bits after the last cell of a packed plane, which the
 * kernels write as 0; moves and coordinates that name a place off the board, which has no image and
 * stays (it may as well be stored in another order than the planes); policy entries that name a
 * region by one of its cells, whose image is a convention, and entries that no encoder makes.
 *
 * Of a dense policy only the runs of such actions are looked at, most of which are zero in one
 * comparison. Negative indices that carry a value are refused.
 */
#include "engine/survey.h"

#include "base/text.h"

#include <stdlib.h>

/* What is counted in one array. */
struct look {
    struct plan *plan;
    const struct plan_array *array;
    struct planes_form form;          /* castling */
    const struct action_space *space; /* moves, policies; NULL: coordinates */
    struct run {
        uint32_t first, n;
    } * flagged; /* owned, dense policies: runs of actions that are worth a look */
    uint64_t n_flagged;
    uint64_t n, first;      /* rows, and the first of them; of policies, ambiguous entries */
    uint64_t n_unencodable; /* entries */
};

static void count_row(struct look *l, uint64_t number)
{
    if (l->n++ == 0)
        l->first = number;
}

/* --- castling rights --- */

static int look_at_castling(void *self, uint64_t number, const struct row rows[3],
                            struct error *err)
{
    struct look *l = self;
    const struct conventions *c = &l->plan->conventions;
    const uint32_t *planes =
        c->n_castling_planes > 0 ? c->castling_planes : l->plan->board->family->castling->planes;

    for (uint32_t i = 0; i < 4; i++)
        for (uint64_t cell = 0; cell < l->form.axis; cell++)
            if (planes_number(&l->form, rows[0].bytes, planes[i], cell) != 0) {
                count_row(l, number);
                return c->castling == CASTLING_SKIP ? survey_keep_identity(l->plan, number, err)
                                                    : 0;
            }
    return 0;
}

int survey_castling(struct plan *plan, struct error *err)
{
    const struct plan_array *planes = survey_find_planes(plan);
    struct look l = {.plan = plan};
    int status;

    if (!survey_has_numbers(planes) || plan->conventions.n_castling_planes < 0)
        return 0;
    l.form = survey_form(planes);
    if (plan->conventions.n_castling_planes == 0 &&
        l.form.n_planes != plan->board->family->castling->n_planes)
        return 0;
    status = survey_rows(&(struct survey){plan, {planes}, look_at_castling, &l}, err);
    plan->n_castling_rows = l.n;
    return status;
}

/* --- pad bits --- */

static int look_at_padding(void *self, uint64_t number, const struct row rows[3], struct error *err)
{
    struct look *l = self;
    const struct spec *spec = &l->array->spec;
    const uint64_t plane_nbytes = (spec->axis + 7) / 8;
    const unsigned n_used = (unsigned)(spec->axis % 8);
    const unsigned pad = spec->lsb_first ? 0xffu << n_used : 0xffu >> n_used;
    unsigned found = 0;

    (void)err;
    for (uint64_t end = plane_nbytes; end <= spec->row_nbytes; end += plane_nbytes)
        found |= rows[0].bytes[end - 1] & pad;
    if (found != 0)
        count_row(l, number);
    return 0;
}

int survey_padding(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *packed = &plan->arrays[i];
        struct look l = {.plan = plan, .array = packed};

        if (packed->binding.role != ROLE_PACKED || packed->spec.axis % 8 == 0)
            continue;
        if (survey_rows(&(struct survey){plan, {packed}, look_at_padding, &l}, err) != 0 ||
            (l.n > 0 &&
             plan_warn(plan, err, "%s: %llu rows have pad bits set, which are written as 0",
                       text_path(packed->key).text, (unsigned long long)l.n) != 0))
            return -1;
    }
    return 0;
}

/* --- places off the board --- */

static bool is_off_board(const struct look *l, const struct row *row, uint64_t i)
{
    const struct board *board = l->plan->board;
    const bool col_first = l->array->spec.col_first;
    const int64_t first = row_int(row, i);
    int64_t second, y, x;

    if (l->space != NULL)
        return first >= 0 && (uint64_t)first < l->space->length &&
               !(l->space->flags[first] & ACTION_ENCODABLE);
    second = row_int(row, i + 1);
    y = col_first ? second : first;
    x = col_first ? first : second;
    return y >= 0 && y < board->rows && x >= 0 && x < board->cols &&
           !board->on_board[y * board->cols + x];
}

static int look_at_places(void *self, uint64_t number, const struct row rows[3], struct error *err)
{
    struct look *l = self;
    const bool pairs = l->array->spec.pairs;
    const uint64_t step = l->space == NULL || pairs ? 2 : 1;

    (void)err;
    for (uint64_t i = 0; i + step <= rows[0].n; i += step)
        if (is_off_board(l, &rows[0], i) && !(pairs && row_int(&rows[0], i + 1) == 0)) {
            count_row(l, number);
            break;
        }
    return 0;
}

int survey_places(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        struct look l = {.plan = plan, .array = array};

        if ((role != ROLE_ACTION && (role != ROLE_COORD || plan->board->rows == 0)) ||
            array->is_object || !survey_has_numbers(array))
            continue;
        if (role == ROLE_ACTION &&
            (l.space = spec_space(&plan->maker, &array->binding, err)) == NULL)
            return -1;
        if (survey_rows(&(struct survey){plan, {array}, look_at_places, &l}, err) != 0 ||
            (l.n > 0 &&
             plan_warn(plan, err,
                       "%s: %llu rows name a place that is not on the board and stays where it "
                       "is, first row %llu",
                       text_path(array->key).text, (unsigned long long)l.n,
                       (unsigned long long)l.first) != 0))
            return -1;
    }
    return 0;
}

/* --- policies --- */

/* A non-zero entry. */
static int count_entry(struct look *l, uint64_t row, int64_t action, struct error *err)
{
    unsigned flags;

    if (action < 0 || (uint64_t)action >= l->space->length)
        return 0; /* refused where it is moved */
    flags = l->space->flags[action];
    l->n_unencodable += !(flags & ACTION_ENCODABLE);
    if (!(flags & ACTION_AMBIGUOUS))
        return 0;
    l->n++;
    return l->plan->conventions.ambiguous == AMBIGUOUS_DROP
               ? survey_keep_identity(l->plan, row, err)
               : 0;
}

static int look_at_dense(void *self, uint64_t number, const struct row rows[3], struct error *err)
{
    struct look *l = self;
    const struct dtype *dtype = &l->array->spec.dtype;

    for (uint64_t o = 0; o < l->array->spec.outer; o++) {
        const uint8_t *policy = rows[0].bytes + o * l->space->length * dtype->itemsize;

        for (uint64_t i = 0; i < l->n_flagged; i++) {
            const struct run *run = &l->flagged[i];

            if (survey_all_zero(dtype, policy + run->first * dtype->itemsize, run->n))
                continue;
            for (uint32_t a = run->first; a < run->first + run->n; a++)
                if (!survey_all_zero(dtype, policy + a * dtype->itemsize, 1) &&
                    count_entry(l, number, a, err) != 0)
                    return -1;
        }
    }
    return 0;
}

/* An index below 0 is no action: it stays in every image, with what it says nothing of. */
static int look_at_sparse(void *self, uint64_t number, const struct row rows[3], struct error *err)
{
    struct look *l = self;

    for (uint64_t i = 0; i < rows[0].n; i++) {
        const bool has_value = i < rows[1].n;
        const double value = has_value ? row_double(&rows[1], i) : 1;
        const int64_t index = row_int(&rows[0], i);

        if (value == 0)
            continue;
        if (index < 0 && has_value)
            return plan_refuse(
                l->plan, l->array, err,
                "row %llu: index %lld with the value %g, expected an action from 0 to "
                "%llu, or no value; use --copy %s if these are no actions",
                (unsigned long long)number, (long long)index, value,
                (unsigned long long)l->space->length - 1, text_path(l->array->key).text);
        if (count_entry(l, number, index, err) != 0)
            return -1;
    }
    return 0;
}

/* The runs of actions that are worth a look. */
static int list_flagged(struct look *l, struct error *err)
{
    bool in_run = false;

    l->flagged = malloc((l->space->length + 1) * sizeof *l->flagged);
    if (l->flagged == NULL)
        return error_no_memory(err, "survey of a policy");
    for (uint64_t a = 0; a < l->space->length; a++) {
        const bool plain =
            (l->space->flags[a] & (ACTION_ENCODABLE | ACTION_AMBIGUOUS)) == ACTION_ENCODABLE;

        if (!plain && !in_run)
            l->flagged[l->n_flagged++] = (struct run){(uint32_t)a, 0};
        if (!plain)
            l->flagged[l->n_flagged - 1].n++;
        in_run = !plain;
    }
    return 0;
}

int survey_ambiguous(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        const bool is_sparse = role == ROLE_POLICY_INDEX;
        struct look l = {.plan = plan, .array = array};
        int status;

        if (role != ROLE_POLICY && role != ROLE_ACTION_VALUES && !is_sparse)
            continue;
        if ((l.space = spec_space(&plan->maker, &array->binding, err)) == NULL)
            return -1;
        status = list_flagged(&l, err);
        if (status == 0 && is_sparse)
            status = survey_lists(plan, array, look_at_sparse, &l, err);
        else if (status == 0 && l.n_flagged > 0)
            status = survey_rows(&(struct survey){plan, {array}, look_at_dense, &l}, err);
        free(l.flagged);
        if (status != 0)
            return -1;
        if (l.n_flagged == 0)
            continue;
        if (plan->n_ambiguous == UINT64_MAX)
            plan->n_ambiguous = plan->n_unencodable = 0;
        plan->n_ambiguous += l.n;
        plan->n_unencodable += l.n_unencodable;
    }
    return 0;
}
