/*
 * survey.c - looking at numbers before they are labelled: the range and the codes of an array, the
 * first row that is out of bounds, rows of shares that do not add up. Each is a visitor over all
 * elements of all inputs. Where each input has a plan of its own, what all of them hold is
 * collected first (survey_see), because one dataset must not get two codings.
 */
#include "engine/survey.h"

#include "engine/survey_chunks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Visit every element of an array: stops when visit returns true. */
struct visitor {
    bool (*visit)(void *self, uint64_t row, double value);
    void *self;
};

static int refuse_no_numbers(const struct plan *plan, const struct plan_array *array,
                             struct error *err)
{
    return plan_refuse(plan, array, err, "is no array of numbers; use --role or --copy %s",
                       array->key);
}

static int visit_all(const struct plan *plan, const struct plan_array *array,
                     const struct visitor *visitor, struct error *err)
{
    const struct array *first = array->sources[0];
    const struct dtype *dtype = &first->header.dtype;
    const uint64_t per_row = dtype->itemsize > 0 ? first->row_nbytes / dtype->itemsize : 0;
    struct batch rows = {0};
    bool stop = false;
    int status;

    if (!survey_has_numbers(array))
        return refuse_no_numbers(plan, array, err);
    status = survey_open(&rows, plan, array, err);
    while (status == 0 && !stop && (status = survey_next(&rows, err)) == 0 && rows.n > 0)
        for (uint64_t i = 0; i < rows.n && !stop; i++)
            for (uint64_t e = i * per_row; e < (i + 1) * per_row && !stop; e++)
                stop =
                    visitor->visit(visitor->self, rows.first + i,
                                   dtype_get_double(dtype, rows.bytes.data + e * dtype->itemsize));
    batch_release(&rows);
    return status;
}

int survey_range(const struct plan *plan, const struct plan_array *array,
                 struct number_range *range, struct error *err)
{
    if (!survey_has_numbers(array))
        return refuse_no_numbers(plan, array, err);
    return number_range_find(array->sources, plan->n_archives, UINT64_MAX, plan->budget, range,
                             err);
}

/* --- all inputs of a call --- */

static struct survey_codes *find_seen(const struct survey_seen *seen, const char *key)
{
    for (size_t i = 0; i < seen->n; i++)
        if (strcmp(seen->arrays[i].key, key) == 0)
            return &seen->arrays[i];
    return NULL;
}

static struct survey_codes *add_seen(struct survey_seen *seen, const char *key, struct error *err)
{
    struct survey_codes *grown = realloc(seen->arrays, (seen->n + 1) * sizeof *grown);

    if (grown != NULL) {
        seen->arrays = grown;
        grown[seen->n] = (struct survey_codes){.key = strdup(key), .min = INFINITY};
        if (grown[seen->n].key != NULL)
            return &grown[seen->n++];
    }
    error_no_memory(err, "codes of an array");
    return NULL;
}

int survey_see(struct survey_seen *seen, const struct plan *plan, struct error *err)
{
    seen->turn_codes |= plan->turn_codes;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        struct survey_codes *codes = find_seen(seen, array->key);
        struct number_range range;

        if ((role != ROLE_GRID && role != ROLE_VALUE && role != ROLE_TO_MOVE) ||
            survey_range(plan, array, &range, NULL) != 0)
            continue; /* its own plan says what is wrong with it */
        if (codes == NULL && (codes = add_seen(seen, array->key, err)) == NULL)
            return -1;
        codes->codes |= range.codes;
        if (range.n > 0 && range.min < codes->min)
            codes->min = range.min;
    }
    return 0;
}

void survey_widen(const struct survey_seen *seen, const struct plan_array *array,
                  struct number_range *range)
{
    const struct survey_codes *codes = seen != NULL ? find_seen(seen, array->key) : NULL;

    if (codes == NULL)
        return;
    range->codes |= codes->codes;
    if (codes->min < range->min)
        range->min = codes->min;
}

void survey_seen_release(struct survey_seen *seen)
{
    for (size_t i = 0; i < seen->n; i++)
        free(seen->arrays[i].key);
    free(seen->arrays);
    *seen = (struct survey_seen){0};
}

/* --- what is out of bounds --- */

/* The first element that does not fit. */
struct search {
    const struct survey_bounds *bounds;
    uint64_t row;
    double value;
};

static bool is_outside(void *self, uint64_t row, double value)
{
    struct search *search = self;
    const struct survey_bounds *b = search->bounds;

    search->row = row;
    search->value = value;
    return value < b->low || value > b->high || (b->whole && value != floor(value)) ||
           (b->no_zero && value == 0);
}

int survey_refuse(const struct plan *plan, const struct plan_array *array,
                  const struct survey_bounds *bounds, const char *expected, struct error *err)
{
    struct search search = {.bounds = bounds};
    const struct visitor visitor = {is_outside, &search};

    if (visit_all(plan, array, &visitor, err) != 0)
        return -1;
    return plan_refuse(plan, array, err, "row %llu: %g, expected %s",
                       (unsigned long long)search.row, search.value, expected);
}

/* --- shares --- */

struct shares {
    const struct dtype *dtype;
    bool is_signed;
    uint64_t n_columns, column; /* of the row that is added up */
    uint64_t row;
    double sum, low;
};

static bool is_bad_share(void *self, uint64_t row, double value)
{
    struct shares *s = self;

    if (s->column == 0)
        s->sum = s->low = 0;
    s->row = row;
    s->sum += value;
    if (value < s->low)
        s->low = value;
    s->column = (s->column + 1) % s->n_columns;
    return s->column == 0 && !label_are_shares(s->dtype, s->is_signed, s->low, s->sum);
}

int survey_shares(const struct plan *plan, const struct plan_array *array, bool is_signed,
                  const char *expected, struct error *err)
{
    const struct array *first = array->sources[0];
    struct shares s = {.dtype = &first->header.dtype, .is_signed = is_signed, .row = UINT64_MAX};
    const struct visitor visitor = {is_bad_share, &s};

    s.n_columns = first->row_nbytes / first->header.dtype.itemsize;
    if (visit_all(plan, array, &visitor, err) != 0)
        return -1;
    /* The last row may be good: it is looked at once more. */
    if (s.row == UINT64_MAX || s.column != 0 || label_are_shares(s.dtype, is_signed, s.low, s.sum))
        return 0;
    return plan_refuse(plan, array, err, "row %llu: columns from %g with the sum %g, expected %s",
                       (unsigned long long)s.row, s.low, s.sum, expected);
}
