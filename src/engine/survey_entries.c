/*
 * survey_entries.c - the entries of sparse policies, in whatever form they are stored.
 *
 * Padded rows are read beside their values, a chunk at a time; CSR elements stream past the offsets
 * that csr_open has checked; objects are in memory. All of them end in one call for each entry.
 */
#include "engine/pieces.h"
#include "engine/survey.h"
#include "engine/survey_chunks.h"

#include <string.h>

static const struct plan_array *values_of(const struct plan *plan, const struct plan_array *array)
{
    return array->binding.value_array >= 0 ? &plan->arrays[array->binding.value_array] : NULL;
}

/* n entries of a row. */
static int visit_numbers(const struct entries_visitor *visitor, uint64_t row,
                         const struct array *array, const uint8_t *indices,
                         const struct array *values, const uint8_t *numbers, uint64_t n,
                         struct error *err)
{
    const struct dtype *dtype = &array->header.dtype;
    int status;

    for (uint64_t i = 0; i < n; i++) {
        struct entry entry = {row, dtype_get_int(dtype, indices + i * dtype->itemsize), 1, false};

        if (values != NULL) {
            entry.has_value = true;
            entry.value = dtype_get_double(&values->header.dtype,
                                           numbers + i * values->header.dtype.itemsize);
        }
        if ((status = visitor->visit(visitor->self, &entry, err)) != 0)
            return status;
    }
    return 0;
}

static int visit_padded(const struct plan *plan, const struct plan_array *array,
                        const struct entries_visitor *visitor, struct error *err)
{
    const struct plan_array *values = values_of(plan, array);
    const struct array *first = array->sources[0];
    const struct array *numbers = values != NULL ? values->sources[0] : NULL;
    const uint64_t at_once = SURVEY_CHUNK_NBYTES / (first->row_nbytes + 1) + 1;
    const uint64_t per_row = first->row_nbytes / first->header.dtype.itemsize;
    struct chunks rows = {0}, row_values = {0};
    int status = chunks_open(&rows, plan, array, at_once, err);

    if (status == 0 && values != NULL)
        status = chunks_open(&row_values, plan, values, at_once, err);
    while (status == 0) {
        status = chunks_next(&rows, err);
        if (status == 0 && values != NULL)
            status = chunks_next(&row_values, err);
        for (uint64_t i = 0; i < rows.n && status == 0; i++)
            status = visit_numbers(
                visitor, rows.first + i, first, rows.rows + i * first->row_nbytes, numbers,
                values != NULL ? row_values.rows + i * numbers->row_nbytes : NULL, per_row, err);
        if (rows.n == 0)
            break;
    }
    chunks_close(&rows);
    chunks_close(&row_values);
    return status;
}

static int visit_csr(const struct plan *plan, const struct plan_array *array,
                     const struct entries_visitor *visitor, struct error *err)
{
    const struct plan_array *offsets = &plan->arrays[array->binding.offsets_array];
    const struct plan_array *values = values_of(plan, array);
    const struct array *numbers = values != NULL ? values->sources[0] : NULL;
    struct csr csr = {0};
    struct chunks elements = {0}, element_values = {0};
    uint64_t row = 0;
    /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): indices have their offsets */
    int status = csr_open(&csr, offsets->sources, array->sources, plan->n_archives, err);

    if (status == 0)
        status = chunks_open(&elements, plan, array, SURVEY_CHUNK_NBYTES / 8, err);
    if (status == 0 && values != NULL)
        status = chunks_open(&element_values, plan, values, SURVEY_CHUNK_NBYTES / 8, err);
    if (status == 0 && values != NULL && element_values.source.n_rows != elements.source.n_rows)
        status = plan_refuse(plan, values, err, "%llu values, expected %llu, as indices",
                             (unsigned long long)element_values.source.n_rows,
                             (unsigned long long)elements.source.n_rows);
    while (status == 0) {
        status = chunks_next(&elements, err);
        if (status == 0 && values != NULL)
            status = chunks_next(&element_values, err);
        for (uint64_t i = 0; i < elements.n && status == 0; i++) {
            while (csr.first[row + 1] <= elements.first + i)
                row++;
            status = visit_numbers(
                visitor, row, array->sources[0], elements.rows + i * array->sources[0]->row_nbytes,
                numbers, values != NULL ? element_values.rows + i * numbers->row_nbytes : NULL, 1,
                err);
        }
        if (elements.n == 0)
            break;
    }
    chunks_close(&elements);
    chunks_close(&element_values);
    csr_release(&csr);
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
    return array->binding.sparse == SPARSE_CSR ? visit_csr(plan, array, visitor, err)
                                               : visit_padded(plan, array, visitor, err);
}
