/* survey.c - see survey.h: the ranges of labels. */
#include "engine/survey.h"

#include "engine/source.h"

#include <math.h>
#include <stdlib.h>

#define CHUNK_NBYTES (64u << 10)

/* Visit every element of an array: stops when visit returns true. */
struct visitor {
    bool (*visit)(void *self, uint64_t row, double value);
    void *self;
};

static void visit_rows(const struct array *array, const uint8_t *rows, uint64_t first, uint64_t n,
                       const struct visitor *visitor, bool *stop)
{
    const struct dtype *dtype = &array->header.dtype;
    const uint64_t per_row = array->row_nbytes / dtype->itemsize;

    for (uint64_t i = 0; i < n && !*stop; i++)
        for (uint64_t e = 0; e < per_row && !*stop; e++)
            *stop =
                visitor->visit(visitor->self, first + i,
                               dtype_get_double(dtype, rows + (i * per_row + e) * dtype->itemsize));
}

static int visit_all(const struct plan *plan, const struct plan_array *array,
                     const struct visitor *visitor, struct error *err)
{
    const struct array *first = array->sources[0];
    uint64_t at_once;
    struct source source;
    uint8_t *chunk;
    bool stop = false;
    int status;

    if (!dtype_is_number(&first->header.dtype) || first->row_nbytes == 0)
        return plan_refuse(plan, array, err, "is no array of numbers; use --role or --copy %s",
                           array->key);
    at_once = CHUNK_NBYTES / first->row_nbytes + 1;
    chunk = malloc(at_once * first->row_nbytes);
    if (chunk == NULL)
        return error_no_memory(err, "survey of an array");
    status =
        source_open(&source, array->sources, plan->n_archives, plan->max_memory, plan->tmpdir, err);
    while (status == 0 && !stop && source.next < source.n_rows) {
        uint64_t row = source.next, left = source.n_rows - row;
        uint64_t n = left < at_once ? left : at_once;

        status = source_read(&source, n, chunk, err);
        if (status == 0)
            visit_rows(first, chunk, row, n, visitor, &stop);
    }
    source_close(&source);
    free(chunk);
    return status;
}

static bool add_to_range(void *self, uint64_t row, double value)
{
    struct survey_range *range = self;

    (void)row;
    if (isnan(value))
        return false;
    if (range->n == 0 || value < range->min)
        range->min = value;
    if (range->n == 0 || value > range->max)
        range->max = value;
    range->has_fraction |= value != floor(value);
    range->has_zero |= value == 0;
    range->n++;
    return false;
}

int survey_range(const struct plan *plan, const struct plan_array *array,
                 struct survey_range *range, struct error *err)
{
    const struct visitor visitor = {add_to_range, range};

    *range = (struct survey_range){0};
    return visit_all(plan, array, &visitor, err);
}

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
