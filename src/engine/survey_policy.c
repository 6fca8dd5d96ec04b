/*
 * survey_policy.c - policies: counts entries that name a region by one of its cells, whose image is
 * a convention, and entries that no encoder makes. Of a dense policy only the runs of such actions
 * are looked at, most of which are zero in one comparison. Negative indices that carry a value are
 * refused.
 */
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
    const struct dtype *dtype = &tally->array->spec.dtype;

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
    const uint64_t policy_nbytes = tally->space->length * tally->array->spec.dtype.itemsize;

    for (uint64_t o = 0; o < tally->array->spec.outer; o++)
        /* NOLINTNEXTLINE(clang-analyzer-unix.Malloc): count_numeric frees the list */
        for (uint64_t i = 0; i < tally->n_flagged; i++)
            if (count_run(tally, row, bytes + o * policy_nbytes, &tally->flagged[i], err) != 0)
                return -1;
    return 0;
}

static int count_dense(struct tally *tally, struct error *err)
{
    struct batch rows = {0};
    int status = list_flagged(tally, err);

    if (status == 0)
        status = survey_open(&rows, tally->plan, tally->array, err);
    while (status == 0 && (status = survey_next(&rows, err)) == 0 && rows.n > 0)
        for (uint64_t i = 0; i < rows.n && status == 0; i++)
            status = count_dense_row(tally, rows.first + i, batch_row(&rows, i).bytes, err);
    batch_release(&rows);
    free(tally->flagged);
    return status;
}

/* An index below 0 is no action: it stays in every image, with what it says nothing of. */
static int count_sparse(void *self, const struct entry *entry, struct error *err)
{
    struct tally *tally = self;

    if (entry->value == 0)
        return 0;
    if (entry->index < 0 && entry->has_value)
        return plan_refuse(tally->plan, tally->array, err,
                           "row %llu: index %lld with the value %g, expected an action from 0 to "
                           "%llu, or no value; use --copy %s if these are no actions",
                           (unsigned long long)entry->row, (long long)entry->index, entry->value,
                           (unsigned long long)tally->space->length - 1,
                           text_path(tally->array->key).text);
    return count_entry(tally, entry->row, entry->index, err);
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
    int status = 0;

    tally.space = spec_space(&plan->maker, &array->binding, err);
    if (tally.space == NULL)
        return -1;
    if (array->binding.role == ROLE_POLICY_INDEX)
        status = survey_entries(plan, array, &(struct entries_visitor){count_sparse, &tally}, err);
    else if (is_worth_counting(tally.space))
        status = count_dense(&tally, err);
    if (status != 0 || !is_worth_counting(tally.space))
        return status;
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
