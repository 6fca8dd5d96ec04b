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

/* --- castling rights --- */

int survey_castling(struct plan *plan, struct error *err)
{
    const struct plan_array *planes = survey_find_planes(plan);
    const struct conventions *c = &plan->conventions;
    const uint32_t *rights =
        c->n_castling_planes > 0 ? c->castling_planes : plan->board->family->castling->planes;
    struct survey s;

    if (!survey_has_numbers(planes) || c->n_castling_planes < 0)
        return 0;
    struct planes_form form = survey_form(planes);
    if (c->n_castling_planes == 0 && form.n_planes != plan->board->family->castling->n_planes)
        return 0;
    plan->n_castling_rows = 0;
    survey_begin(&s, plan, SURVEY_OF(planes), err);
    while (survey_next(&s)) {
        bool has_rights = false;

        for (uint64_t i = 0; i < 4 * form.n_frames; i++)
            for (uint64_t cell = 0; cell < form.axis && !has_rights; cell++)
                has_rights = planes_number(&form, s.rows[0].bytes + i / 4 * form.frame_nbytes,
                                           rights[i % 4], cell) != 0;
        plan->n_castling_rows += has_rights;
        if (has_rights && c->castling == CASTLING_SKIP)
            s.status = survey_keep_identity(plan, s.number, err);
    }
    return survey_end(&s);
}

/* --- pad bits --- */

int survey_padding(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *packed = &plan->arrays[i];
        const struct spec *spec = &packed->spec;
        const uint64_t plane_nbytes = (spec->axis + 7) / 8, n_used = spec->axis % 8;
        const unsigned pad = spec->lsb_first ? 0xffu << n_used : 0xffu >> n_used;
        unsigned long long n_rows = 0;
        struct survey s;

        if (packed->binding.role != ROLE_PACKED || n_used == 0)
            continue;
        survey_begin(&s, plan, SURVEY_OF(packed), err);
        while (survey_next(&s)) {
            unsigned found = 0;

            for (uint64_t end = plane_nbytes; end <= spec->row_nbytes; end += plane_nbytes)
                found |= s.rows[0].bytes[end - 1] & pad;
            n_rows += found != 0;
        }
        if (survey_end(&s) != 0 ||
            (n_rows > 0 &&
             plan_warn(plan, err, "%s: %llu rows have pad bits set, which are written as 0",
                       text_path(packed->key).text, n_rows) != 0))
            return -1;
    }
    return 0;
}

/* --- places off the board --- */

/* Element i of a row of moves (in that space) or of coordinates (space is NULL). */
static bool is_off_board(const struct plan_array *array, const struct action_space *space,
                         const struct row *row, uint64_t i)
{
    const struct board *board = array->spec.board;
    const bool col_first = array->spec.col_first;
    const int64_t first = row_int(row, i);

    if (space != NULL)
        return first >= 0 && (uint64_t)first < space->length &&
               !(space->flags[first] & ACTION_ENCODABLE);
    const int64_t second = row_int(row, i + 1);
    const int64_t y = col_first ? second : first;
    const int64_t x = col_first ? first : second;
    return y >= 0 && y < board->rows && x >= 0 && x < board->cols &&
           !board->on_board[y * board->cols + x];
}

int survey_places(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const bool is_action = array->binding.role == ROLE_ACTION, pairs = array->spec.pairs;
        const uint64_t step = !is_action || pairs ? 2 : 1;
        const struct action_space *space = NULL;
        unsigned long long n_rows = 0, first = 0;
        struct survey s;

        if ((!is_action && (array->binding.role != ROLE_COORD || plan->board->rows == 0)) ||
            array->is_object || !survey_has_numbers(array))
            continue;
        if (is_action && (space = spec_space(&plan->maker, &array->binding, err)) == NULL)
            return -1;
        survey_begin(&s, plan, SURVEY_OF(array), err);
        while (survey_next(&s)) {
            const struct row *row = &s.rows[0];
            uint64_t at = 0;

            while (at + step <= row->n &&
                   (!is_off_board(array, space, row, at) || (pairs && row_int(row, at + 1) == 0)))
                at += step;
            if (at + step <= row->n && n_rows++ == 0)
                first = s.number;
        }
        if (survey_end(&s) != 0 ||
            (n_rows > 0 &&
             plan_warn(plan, err,
                       "%s: %llu rows name a place that is not on the board and stays where it "
                       "is, first row %llu",
                       text_path(array->key).text, n_rows, first) != 0))
            return -1;
    }
    return 0;
}

/* --- policies --- */

/* What is counted in one policy. */
struct look {
    struct plan *plan;
    const struct plan_array *array;
    const struct action_space *space;
    struct run {
        uint32_t first, n;
    } * flagged; /* owned: runs of actions that are worth a look */
    uint64_t n_flagged;
};

/* A non-zero entry. */
static int count_entry(const struct look *l, uint64_t row, int64_t action, struct error *err)
{
    struct plan *plan = l->plan;

    if (action < 0 || (uint64_t)action >= l->space->length)
        return 0; /* refused where it is moved */
    const unsigned flags = l->space->flags[action];
    plan->n_unencodable += !(flags & ACTION_ENCODABLE);
    if (!(flags & ACTION_AMBIGUOUS))
        return 0;
    plan->n_ambiguous++;
    return plan->conventions.ambiguous == AMBIGUOUS_DROP ? survey_keep_identity(plan, row, err) : 0;
}

static int look_at_dense(const struct look *l, const struct survey *s, struct error *err)
{
    const struct dtype *dtype = &l->array->spec.dtype;

    for (uint64_t o = 0; o < l->array->spec.outer; o++) {
        const uint8_t *policy = s->rows[0].bytes + o * l->space->length * dtype->itemsize;

        for (uint64_t i = 0; i < l->n_flagged; i++) {
            const struct run *run = &l->flagged[i];

            if (survey_all_zero(dtype, policy + run->first * dtype->itemsize, run->n))
                continue;
            for (uint32_t a = run->first; a < run->first + run->n; a++)
                if (!survey_all_zero(dtype, policy + a * dtype->itemsize, 1) &&
                    count_entry(l, s->number, a, err) != 0)
                    return -1;
        }
    }
    return 0;
}

/* An index below 0 is no action: it stays in every image, with what it says nothing of. */
static int look_at_sparse(const struct look *l, const struct survey *s, struct error *err)
{
    for (uint64_t i = 0; i < s->rows[0].n; i++) {
        const bool has_value = i < s->rows[1].n;
        const double value = has_value ? row_double(&s->rows[1], i) : 1;
        const int64_t index = row_int(&s->rows[0], i);

        if (value == 0)
            continue;
        if (index < 0 && has_value)
            return plan_refuse(
                l->plan, l->array, err,
                "row %llu: index %lld with the value %g, expected an action from 0 to "
                "%llu, or no value; use --copy %s if these are no actions",
                (unsigned long long)s->number, (long long)index, value,
                (unsigned long long)l->space->length - 1, text_path(l->array->key).text);
        if (count_entry(l, s->number, index, err) != 0)
            return -1;
    }
    return 0;
}

int survey_ambiguous(struct plan *plan, struct error *err)
{
    int status = 0;

    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        const bool is_sparse = role == ROLE_POLICY_INDEX;
        struct look l = {.plan = plan, .array = array};
        bool in_run = false;
        struct survey s;

        if (role != ROLE_POLICY && role != ROLE_ACTION_VALUES && !is_sparse)
            continue;
        l.space = spec_space(&plan->maker, &array->binding, err);
        if (l.space == NULL)
            return -1;
        l.flagged = malloc((l.space->length + 1) * sizeof *l.flagged);
        if (l.flagged == NULL)
            return error_no_memory(err, "survey of a policy");
        for (uint64_t a = 0; a < l.space->length; a++) {
            const bool plain =
                (l.space->flags[a] & (ACTION_ENCODABLE | ACTION_AMBIGUOUS)) == ACTION_ENCODABLE;

            if (!plain && !in_run)
                l.flagged[l.n_flagged++] = (struct run){(uint32_t)a, 0};
            if (!plain)
                l.flagged[l.n_flagged - 1].n++;
            in_run = !plain;
        }
        if (l.n_flagged > 0 && plan->n_ambiguous == UINT64_MAX)
            plan->n_ambiguous = plan->n_unencodable = 0;
        if (is_sparse || l.n_flagged > 0) {
            survey_begin_lists(&s, plan, array, err);
            while (survey_next(&s))
                s.status = is_sparse ? look_at_sparse(&l, &s, err) : look_at_dense(&l, &s, err);
            status = survey_end(&s);
        }
        free(l.flagged);
    }
    return status;
}
