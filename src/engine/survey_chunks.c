/* survey_chunks.c - see survey_chunks.h. */
#include "engine/survey_chunks.h"

#include <stdlib.h>

const struct plan_array *survey_find(const struct plan *plan, enum role role)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == role && !plan->arrays[i].is_object)
            return &plan->arrays[i];
    return NULL;
}

bool survey_has_numbers(const struct plan_array *array)
{
    return array != NULL && array->sources[0]->row_nbytes > 0 &&
           dtype_is_number(&array->sources[0]->header.dtype);
}

int chunks_open(struct chunks *chunks, const struct plan *plan, const struct plan_array *array,
                uint64_t at_once, struct error *err)
{
    *chunks = (struct chunks){.at_once = at_once};
    chunks->rows = malloc(at_once * array->sources[0]->row_nbytes + 1);
    if (chunks->rows == NULL)
        return error_no_memory(err, "survey of an array");
    return source_open(&chunks->source, array->sources, plan->n_archives, plan->max_memory,
                       plan->tmpdir, err);
}

int chunks_next(struct chunks *chunks, struct error *err)
{
    const uint64_t left = chunks->source.n_rows - chunks->source.next;

    chunks->first = chunks->source.next;
    chunks->n = left < chunks->at_once ? left : chunks->at_once;
    return source_read(&chunks->source, chunks->n, chunks->rows, err);
}

void chunks_close(struct chunks *chunks)
{
    source_close(&chunks->source); /* accepts one that was never opened */
    free(chunks->rows);
}

double survey_plane_value(const struct plan_array *planes, const uint8_t *row, uint64_t plane,
                          uint64_t cell)
{
    const struct row_move *move = &planes->move;
    const uint64_t at =
        move->channels_last ? cell * move->inner + plane : plane * move->axis + cell;

    return dtype_get_double(&move->dtype, row + at * move->dtype.itemsize);
}

uint64_t survey_n_planes(const struct plan_array *planes)
{
    return planes->move.channels_last ? planes->move.inner : planes->move.outer;
}

int survey_keep_identity(struct plan *plan, uint64_t row, struct error *err)
{
    if (plan->chosen[0] != 0)
        return error_set(err, ERROR_USAGE,
                         "--transforms: rows that keep only their identity image need transform 0");
    if (!plan->selected && selection_init(&plan->selection, plan->n_rows, plan->n_chosen, err) != 0)
        return -1;
    plan->selected = true;
    for (uint32_t k = 1; k < plan->n_chosen; k++)
        selection_clear(&plan->selection, row, k);
    return 0;
}
