/*
 * survey_entries.c - the entries of sparse policies, in whatever form they are stored.
 *
 * Padded rows and lists in CSR form are read beside their values, a chunk at a time; objects are in
 * memory. All of them end in one call for each entry.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"

#define CHUNK_NBYTES  (256u << 10)
#define LISTS_AT_ONCE 1024

int survey_open(struct batch *batch, const struct plan *plan, const struct plan_array *array,
                struct error *err)
{
    batch->own =
        (struct reader){.arrays = array->sources, .n_arrays = plan->n_archives, .csr = array->csr};
    return batch_open(batch, plan->budget, err);
}

int survey_next(struct batch *batch, struct error *err)
{
    return batch_next(batch,
                      batch->own.csr != NULL ? LISTS_AT_ONCE
                                             : CHUNK_NBYTES / (batch->own.unit_nbytes + 1) + 1,
                      err);
}

uint64_t survey_n_planes(const struct plan_array *planes)
{
    return planes->spec.channels_last ? planes->spec.inner : planes->spec.outer;
}

static const struct plan_array *values_of(const struct plan *plan, const struct plan_array *array)
{
    return array->binding.value_array >= 0 ? &plan->arrays[array->binding.value_array] : NULL;
}

/* The entries of a row. */
static int visit_numbers(const struct entries_visitor *visitor, uint64_t row,
                         const struct row *indices, const struct row *values, struct error *err)
{
    int status = 0;

    for (uint64_t i = 0; i < indices->n && status == 0; i++) {
        struct entry entry = {row, row_int(indices, i), 1, values != NULL};

        if (values != NULL)
            entry.value = row_double(values, i);
        status = visitor->visit(visitor->self, &entry, err);
    }
    return status;
}

/* Rows of indices and of their values, in step; in CSR form, lists of them. */
static int visit_rows(const struct plan *plan, const struct plan_array *array,
                      const struct entries_visitor *visitor, struct error *err)
{
    const struct plan_array *values = values_of(plan, array);
    struct batch rows = {0}, row_values = {0};
    int status = survey_open(&rows, plan, array, err);

    if (status == 0 && values != NULL)
        status = survey_open(&row_values, plan, values, err);
    if (status == 0 && values != NULL && row_values.own.n_units != rows.own.n_units)
        status = plan_refuse(plan, values, err, "%llu values, expected %llu, as indices",
                             (unsigned long long)row_values.own.n_units,
                             (unsigned long long)rows.own.n_units);
    while (status == 0 && (status = survey_next(&rows, err)) == 0 && rows.n > 0) {
        if (values != NULL)
            status = batch_next(&row_values, rows.n, err);
        for (uint64_t i = 0; i < rows.n && status == 0; i++) {
            const struct row indices = batch_row(&rows, i);
            const struct row numbers = values != NULL ? batch_row(&row_values, i) : (struct row){0};

            status = visit_numbers(visitor, rows.first + i, &indices,
                                   values != NULL ? &numbers : NULL, err);
        }
    }
    batch_release(&rows);
    batch_release(&row_values);
    return status;
}

/* --- objects --- */

static uint64_t item_length(const struct pickle_item *item)
{
    if (item->kind == PICKLE_LIST)
        return item->n_bytes_or_items;
    return item->kind == PICKLE_ARRAY ? item->as.array->n_elements : 1;
}

/* Number i of an item; false when it is none. */
static bool item_number(const struct pickle_item *item, uint64_t i, double *value)
{
    if (item->kind == PICKLE_ARRAY && dtype_is_number(&item->as.array->dtype)) {
        const struct pickle_ndarray *array = item->as.array;

        *value = dtype_get_double(&array->dtype, array->data + i * array->dtype.itemsize);
        return true;
    }
    if (item->kind == PICKLE_LIST)
        item = &item->as.items[i];
    *value = item->kind == PICKLE_FLOAT ? item->as.number : (double)item->as.integer;
    return item->kind == PICKLE_FLOAT || item->kind == PICKLE_INT || item->kind == PICKLE_BOOL;
}

static bool item_index(const struct pickle_item *item, uint64_t i, int64_t *index)
{
    if (item->kind == PICKLE_ARRAY && dtype_is_integer(&item->as.array->dtype)) {
        const struct pickle_ndarray *array = item->as.array;

        *index = dtype_get_int(&array->dtype, array->data + i * array->dtype.itemsize);
        return true;
    }
    if (item->kind == PICKLE_LIST)
        item = &item->as.items[i];
    if (item->kind == PICKLE_INT)
        *index = item->as.integer;
    return item->kind == PICKLE_INT;
}

static int visit_item(const struct entries_visitor *visitor, uint64_t row,
                      const struct pickle_item *item, const struct pickle_item *values,
                      struct error *err)
{
    const uint64_t n = item_length(item), n_values = values != NULL ? item_length(values) : 0;

    for (uint64_t i = 0; i < n; i++) {
        struct entry entry = {.row = row, .value = 1};
        int status = 0;

        if (item_index(item, i, &entry.index)) {
            entry.has_value = i < n_values && item_number(values, i, &entry.value);
            status = visitor->visit(visitor->self, &entry, err);
        }
        if (status != 0)
            return status;
    }
    return 0;
}

static uint64_t items_per_row(const struct array *array)
{
    return array->n_rows > 0 ? array->objects->n_items / array->n_rows : 0;
}

static int visit_objects(const struct plan *plan, const struct plan_array *array,
                         const struct entries_visitor *visitor, struct error *err)
{
    const struct plan_array *values = values_of(plan, array);
    uint64_t first = 0;
    int status = 0;

    for (size_t i = 0; i < plan->n_archives && status == 0; i++) {
        const struct array *source = array->sources[i];
        const struct array *numbers = values != NULL ? values->sources[i] : NULL;
        const uint64_t per_row = items_per_row(source);
        const bool beside = numbers != NULL && numbers->objects != NULL &&
                            numbers->objects->n_items == source->objects->n_items;

        for (uint64_t k = 0; k < source->n_rows * per_row && status == 0; k++)
            status = visit_item(visitor, first + k / per_row, &source->objects->items[k],
                                beside ? &numbers->objects->items[k] : NULL, err);
        first += source->n_rows;
    }
    return status;
}

int survey_entries(const struct plan *plan, const struct plan_array *array,
                   const struct entries_visitor *visitor, struct error *err)
{
    if (array->is_object)
        return visit_objects(plan, array, visitor, err);
    if (!survey_has_numbers(array))
        return 0;
    return visit_rows(plan, array, visitor, err);
}
