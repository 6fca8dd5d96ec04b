/* survey_policy.c - policies: entries that name a region by one cell, entries no encoder makes. */
#include "base/text.h"
#include "engine/survey.h"
#include "engine/survey_chunks.h"

#include <stdlib.h>
#include <string.h>

/* Actions in a row. */
struct run {
    uint32_t first, n;
};

/* What is counted in one policy. */
struct tally {
    struct plan *plan;
    const struct plan_array *array;
    const struct action_space *space;
    uint64_t n_ambiguous, n_unencodable;
    struct run *flagged; /* owned: the actions that are worth a look, dense policies */
    uint64_t n_flagged;
};

/* A non-zero entry of a row. */
static int count_entry(struct tally *tally, uint64_t row, int64_t action, struct error *err)
{
    unsigned flags;

    if (action < 0 || (uint64_t)action >= tally->space->length)
        return 0; /* refused where it is moved */
    flags = tally->space->flags[action];
    tally->n_unencodable += !(flags & ACTION_ENCODABLE);
    if (!(flags & ACTION_AMBIGUOUS))
        return 0;
    tally->n_ambiguous++;
    if (tally->plan->conventions.ambiguous == AMBIGUOUS_DROP)
        return survey_keep_identity(tally->plan, row, err);
    return 0;
}

/* The runs of actions that are worth a look. */
static int list_flagged(struct tally *tally, struct error *err)
{
    bool in_run = false;

    tally->flagged = malloc((tally->space->length + 1) * sizeof *tally->flagged);
    if (tally->flagged == NULL)
        return error_no_memory(err, "survey of a policy");
    for (uint64_t a = 0; a < tally->space->length; a++) {
        const bool plain =
            (tally->space->flags[a] & (ACTION_ENCODABLE | ACTION_AMBIGUOUS)) == ACTION_ENCODABLE;

        if (!plain && !in_run)
            tally->flagged[tally->n_flagged++] = (struct run){(uint32_t)a, 0};
        if (!plain)
            tally->flagged[tally->n_flagged - 1].n++;
        in_run = !plain;
    }
    return 0;
}

static int count_run(struct tally *tally, uint64_t row, const uint8_t *policy,
                     const struct run *run, struct error *err)
{
    const struct dtype *dtype = &tally->array->move.dtype;

    if (survey_all_zero(dtype, policy + run->first * dtype->itemsize, run->n))
        return 0;
    for (uint32_t a = run->first; a < run->first + run->n; a++)
        if (!survey_all_zero(dtype, policy + a * dtype->itemsize, 1) &&
            count_entry(tally, row, a, err) != 0)
            return -1;
    return 0;
}

static int count_dense_row(struct tally *tally, uint64_t row, const uint8_t *bytes,
                           struct error *err)
{
    const uint64_t policy_nbytes = tally->space->length * tally->array->move.dtype.itemsize;

    for (uint64_t o = 0; o < tally->array->move.outer; o++)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): count_numeric frees the list */
        for (uint64_t i = 0; i < tally->n_flagged; i++)
            if (count_run(tally, row, bytes + o * policy_nbytes, &tally->flagged[i], err) != 0)
                return -1;
    return 0;
}

static int count_padded_row(struct tally *tally, uint64_t row, const uint8_t *bytes,
                            const uint8_t *values, struct error *err)
{
    const struct row_move *move = &tally->array->move;
    const size_t item = move->dtype.itemsize, value_item = move->value_dtype.itemsize;

    for (uint64_t i = 0; i < move->row_nbytes / item; i++)
        if (dtype_get_double(&move->value_dtype, values + i * value_item) != 0 &&
            count_entry(tally, row, dtype_get_int(&move->dtype, bytes + i * item), err) != 0)
            return -1;
    return 0;
}

static int count_rows(struct tally *tally, const struct plan_array *values_of, struct chunks *rows,
                      struct chunks *values, struct error *err)
{
    const struct row_move *move = &tally->array->move;

    do {
        if (chunks_next(rows, err) != 0 || (values_of != NULL && chunks_next(values, err) != 0))
            return -1;
        for (uint64_t i = 0; i < rows->n; i++) {
            const uint8_t *row = rows->rows + i * move->row_nbytes;
            int status = values_of == NULL
                             ? count_dense_row(tally, rows->first + i, row, err)
                             : count_padded_row(tally, rows->first + i, row,
                                                values->rows + i * move->value_row_nbytes, err);

            if (status != 0)
                return -1;
        }
    } while (rows->n > 0);
    return 0;
}

static int count_numeric(struct tally *tally, struct error *err)
{
    const struct plan_array *array = tally->array, *values_of = NULL;
    const uint64_t at_once = SURVEY_CHUNK_NBYTES / (array->move.row_nbytes + 1) + 1;
    struct chunks rows = {0}, values = {0};
    int status = -1;

    if (array->move.kind == MOVE_PADDED)
        values_of = &tally->plan->arrays[array->binding.value_array];
    if (chunks_open(&rows, tally->plan, array, at_once, err) == 0 &&
        (values_of == NULL || chunks_open(&values, tally->plan, values_of, at_once, err) == 0) &&
        (values_of != NULL || list_flagged(tally, err) == 0))
        status = count_rows(tally, values_of, &rows, &values, err);
    chunks_close(&rows);
    chunks_close(&values);
    free(tally->flagged);
    return status;
}

static int count_item(struct tally *tally, uint64_t row, const struct pickle_item *item,
                      struct error *err)
{
    if (item->kind == PICKLE_INT)
        return count_entry(tally, row, item->as.integer, err);
    if (item->kind == PICKLE_LIST) {
        for (uint32_t i = 0; i < item->n_bytes_or_items; i++)
            if (item->as.items[i].kind == PICKLE_INT &&
                count_entry(tally, row, item->as.items[i].as.integer, err) != 0)
                return -1;
    } else if (item->kind == PICKLE_ARRAY && dtype_is_integer(&item->as.array->dtype)) {
        const struct pickle_ndarray *array = item->as.array;

        for (uint64_t i = 0; i < array->n_elements; i++)
            if (count_entry(tally, row,
                            dtype_get_int(&array->dtype, array->data + i * array->dtype.itemsize),
                            err) != 0)
                return -1;
    }
    return 0;
}

static int count_objects(struct tally *tally, struct error *err)
{
    uint64_t first = 0;

    for (size_t i = 0; i < tally->plan->n_archives; i++) {
        const struct array *array = tally->array->sources[i];
        const uint64_t per_row = array->n_rows > 0 ? array->objects->n_items / array->n_rows : 0;

        for (uint64_t k = 0; k < array->n_rows * per_row; k++)
            if (count_item(tally, first + k / per_row, &array->objects->items[k], err) != 0)
                return -1;
        first += array->n_rows;
    }
    return 0;
}

static bool is_policy(const struct plan_array *array)
{
    return array->binding.role == ROLE_POLICY || array->binding.role == ROLE_ACTION_VALUES ||
           array->binding.role == ROLE_POLICY_INDEX;
}

/* True when some action of the space is ambiguous or not encodable. */
static bool is_worth_counting(const struct action_space *space)
{
    for (uint64_t a = 0; a < space->length; a++)
        if ((space->flags[a] & (ACTION_ENCODABLE | ACTION_AMBIGUOUS)) != ACTION_ENCODABLE)
            return true;
    return false;
}

static int count_policy(struct plan *plan, const struct plan_array *array, struct error *err)
{
    struct tally tally = {.plan = plan, .array = array};

    tally.space = plan_space(plan, &array->binding, err);
    if (tally.space == NULL)
        return -1;
    if (!is_worth_counting(tally.space))
        return 0;
    if (array->binding.sparse == SPARSE_CSR) {
        if (plan->conventions.ambiguous == AMBIGUOUS_DROP)
            return plan_refuse(plan, array, err,
                               "--ambiguous drop does not work on policies in CSR form");
        return 0;
    }
    if ((array->is_object ? count_objects(&tally, err) : count_numeric(&tally, err)) != 0)
        return -1;
    if (plan->n_ambiguous == UINT64_MAX)
        plan->n_ambiguous = plan->n_unencodable = 0;
    plan->n_ambiguous += tally.n_ambiguous;
    plan->n_unencodable += tally.n_unencodable;
    return 0;
}

int survey_ambiguous(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (is_policy(&plan->arrays[i]) && count_policy(plan, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}
