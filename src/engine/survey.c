/*
 * survey.c - looking at numbers before they are labelled: the rows of one array, or of several side
 * by side, are shown to whoever counts or refuses them, a chunk at a time. So are found the first
 * row that is out of bounds, and rows of shares that do not add up. Where each input has a plan of
 * its own, what all of them hold is collected first (survey_see), because one dataset must not get
 * two codings.
 */
#include "engine/survey.h"

#include "base/bytes.h"

#include <math.h>

#define CHUNK_NBYTES  (256u << 10)
#define LISTS_AT_ONCE 1024

/* --- rows --- */

const struct plan_array *survey_find(const struct plan *plan, enum role role)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == role && !plan->arrays[i].binding.is_winner &&
            !plan->arrays[i].is_object)
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

struct planes_form survey_form(const struct plan_array *planes)
{
    return planes_frame_of(&planes->binding, &planes->spec.dtype);
}

/* As many rows as a chunk holds. */
static uint64_t rows_at_once(const struct reader *reader)
{
    const uint64_t n = CHUNK_NBYTES / (reader->unit_nbytes + 1) + 1;

    return reader->csr != NULL || n > LISTS_AT_ONCE ? LISTS_AT_ONCE : n;
}

void survey_begin(struct survey *survey, const struct plan *plan,
                  const struct plan_array *const arrays[3], struct error *err)
{
    *survey = (struct survey){.at_once = LISTS_AT_ONCE, .err = err};
    for (int i = 0; i < 3 && survey->status == 0; i++) {
        struct reader *reader = &survey->batches[i].own;

        if (arrays[i] == NULL)
            continue;
        *reader = (struct reader){
            .arrays = arrays[i]->sources, .n_arrays = plan->n_archives, .csr = arrays[i]->csr};
        survey->status = batch_open(&survey->batches[i], plan->settings->budget, err);
        if (rows_at_once(reader) < survey->at_once)
            survey->at_once = rows_at_once(reader);
    }
}

void survey_begin_lists(struct survey *survey, const struct plan *plan,
                        const struct plan_array *array, struct error *err)
{
    const struct role_binding *b = &array->binding;
    const bool has_values = b->role == ROLE_POLICY_INDEX && b->value_array >= 0;

    survey_begin(survey, plan, SURVEY_OF(array, has_values ? &plan->arrays[b->value_array] : NULL),
                 err);
}

bool survey_next(struct survey *survey)
{
    struct batch *batches = survey->batches;

    if (survey->status == 0 && ++survey->at >= batches[0].n) {
        survey->at = 0;
        survey->status = batch_next(&batches[0], survey->at_once, survey->err);
        for (int i = 1; i < 3 && survey->status == 0 && batches[0].n > 0; i++)
            if (batches[i].reader != NULL)
                survey->status = batch_next(&batches[i], batches[0].n, survey->err);
    }
    if (survey->status != 0 || batches[0].n == 0)
        return false;
    survey->number = batches[0].first + survey->at;
    for (int i = 0; i < 3; i++)
        if (batches[i].reader != NULL)
            survey->rows[i] = batch_row(&batches[i], survey->at);
    return true;
}

int survey_end(struct survey *survey)
{
    for (int i = 0; i < 3; i++)
        batch_release(&survey->batches[i]);
    return survey->status;
}

int survey_keep_identity(struct plan *plan, uint64_t row, struct error *err)
{
    if (plan->chosen[0] != 0)
        return error_set(err, ERROR_USAGE,
                         "--transforms: rows that keep only their identity image need transform 0");
    if (plan_select_all(plan, err) != 0)
        return -1;
    for (uint32_t k = 1; k < plan->n_chosen; k++)
        selection_clear(&plan->selection, row, k);
    return 0;
}

/* item_nbytes is a constant where this is called. */
static inline uint64_t count_items(const uint8_t *items, uint64_t n, uint64_t mask,
                                   size_t item_nbytes)
{
    uint64_t n_nonzero = 0, item = 0;

    for (uint64_t i = 0; i < n; i++) {
        memcpy(&item, items + i * item_nbytes, item_nbytes);
        n_nonzero += (item & mask) != 0;
    }
    return n_nonzero;
}

uint64_t survey_count_nonzero(const struct dtype *dtype, const uint8_t *elements, uint64_t n)
{
    uint64_t mask = ~UINT64_C(0) >> (64 - 8 * dtype->itemsize);
    uint8_t swapped[8];

    if (dtype->kind == DTYPE_FLOAT)
        mask >>= 1; /* the sign makes no number other than zero */
    if (dtype->big_endian) {
        bytes_put_uint(swapped, mask, dtype->itemsize, true);
        mask = bytes_get_uint(swapped, dtype->itemsize, false);
    }
    switch (dtype->itemsize) {
    case 1:
        return count_items(elements, n, mask, 1);
    case 2:
        return count_items(elements, n, mask, 2);
    case 4:
        return count_items(elements, n, mask, 4);
    default:
        return count_items(elements, n, mask, 8);
    }
}

bool survey_all_zero(const struct dtype *dtype, const uint8_t *elements, uint64_t n)
{
    const uint64_t n_bytes = n * dtype->itemsize;
    uint64_t word = 0, at = 0;

    for (; at + sizeof word <= n_bytes && word == 0; at += sizeof word)
        memcpy(&word, elements + at, sizeof word);
    if (word == 0 && n_bytes - at < sizeof word)
        memcpy(&word, elements + at, n_bytes - at);
    return word == 0 || survey_count_nonzero(dtype, elements, n) == 0;
}

static int refuse_no_numbers(const struct plan *plan, const struct plan_array *array,
                             struct error *err)
{
    return plan_refuse(plan, array, err, "is no array of numbers; use --role or --copy %s",
                       array->key);
}

int survey_range(const struct plan *plan, const struct plan_array *array,
                 struct number_range *range, struct error *err)
{
    if (!survey_has_numbers(array))
        return refuse_no_numbers(plan, array, err);
    return number_range_find(array->sources, plan->n_archives, UINT64_MAX, plan->settings->budget,
                             range, err);
}

/* --- all inputs of a call --- */

static struct survey_codes *find_seen(const struct survey_seen *seen, const char *key)
{
    for (size_t i = 0; i < seen->n; i++)
        if (strcmp(seen->arrays[i].key, key) == 0)
            return &seen->arrays[i];
    return NULL;
}

void survey_see(struct survey_seen *seen, const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        struct number_range range;
        char *key = NULL;

        if ((role != ROLE_GRID && role != ROLE_VALUE && role != ROLE_TO_MOVE) ||
            survey_range(plan, array, &range, NULL) != 0)
            continue; /* its own plan says what is wrong with it */
        pthread_mutex_lock(&seen->lock);
        struct survey_codes *codes = find_seen(seen, array->key);
        if (codes == NULL && ((key = strdup(array->key)) == NULL ||
                              list_room(&seen->arrays, seen->n + 1, sizeof *codes,
                                        "codes of arrays", &seen->failure) != 0)) {
            error_no_memory(&seen->failure, "codes of arrays");
            free(key);
        } else {
            if (codes == NULL) {
                codes = &seen->arrays[seen->n++];
                *codes = (struct survey_codes){.key = key, .min = INFINITY};
            }
            codes->codes |= range.codes;
            if (range.n > 0 && range.min < codes->min)
                codes->min = range.min;
        }
        pthread_mutex_unlock(&seen->lock);
    }
    pthread_mutex_lock(&seen->lock);
    seen->turn_codes |= plan->turn_codes;
    pthread_mutex_unlock(&seen->lock);
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

/* --- what is not as expected --- */

int survey_check(const struct plan *plan, const struct plan_array *array,
                 const struct survey_bounds *bounds, struct number_range *range, struct error *err)
{
    struct survey s;

    if (survey_range(plan, array, range, err) != 0)
        return -1;
    if (range->n == 0 || (range->min >= bounds->low && range->max <= bounds->high &&
                          !(bounds->whole && range->has_fraction) &&
                          !(bounds->no_zero && (range->codes & NUMBER_CODE(0)))))
        return 0;
    survey_begin(&s, plan, SURVEY_OF(array), err);
    while (survey_next(&s))
        for (uint64_t i = 0; i < s.rows[0].n && s.status == 0; i++) {
            const double value = row_double(&s.rows[0], i);

            if (value < bounds->low || value > bounds->high ||
                (bounds->whole && value != floor(value)) || (bounds->no_zero && value == 0))
                s.status = plan_refuse(plan, array, err, "row %llu: %g, expected %s",
                                       (unsigned long long)s.number, value, bounds->expected);
        }
    return survey_end(&s);
}

int survey_shares(const struct plan *plan, const struct plan_array *array, bool is_signed,
                  const char *expected, struct error *err)
{
    struct survey s;

    if (!survey_has_numbers(array))
        return refuse_no_numbers(plan, array, err);
    survey_begin(&s, plan, SURVEY_OF(array), err);
    while (survey_next(&s)) {
        double sum = 0, low = 0;

        for (uint64_t i = 0; i < s.rows[0].n; i++) {
            const double value = row_double(&s.rows[0], i);

            sum += value;
            low = value < low ? value : low;
        }
        if (!label_are_shares(s.rows[0].dtype, is_signed, low, sum))
            s.status = plan_refuse(plan, array, err,
                                   "row %llu: columns from %g with the sum %g, expected %s",
                                   (unsigned long long)s.number, low, sum, expected);
    }
    return survey_end(&s);
}
