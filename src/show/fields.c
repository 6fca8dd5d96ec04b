/*
 * fields.c - rows as numbers: read from the plan's input, moved by a transform, put on cells, and
 * held against each other.
 *
 * Objects and CSR rows become lists of numbers. A stored image that is not what is recomputed has
 * the cells marked on which any array differs.
 */
#include "show/show.h"

#include "engine/turn.h"
#include "shard/batch.h"

#include <math.h>

/* --- reading --- */

static int init(struct fields *fields, const struct plan *plan, struct error *err)
{
    fields->plan = plan;
    fields->items = calloc(plan->n_arrays + 1, sizeof *fields->items);
    return fields->items != NULL ? 0 : error_no_memory(err, "a row");
}

int fields_read(const struct plan *plan, const struct stored_image *rows, size_t n,
                struct fields *fields, struct error *err)
{
    size_t *order = calloc(n + 1, sizeof *order); /* of the rows, ascending */
    int status = order != NULL ? 0 : error_no_memory(err, "rows");

    for (size_t k = 0; k < n && status == 0; k++) {
        size_t at = k;

        for (; at > 0 && rows[order[at - 1]].row > rows[k].row; at--)
            order[at] = order[at - 1];
        order[at] = k;
        status = init(&fields[k], plan, err);
    }
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;
        const bool is_index = role == ROLE_POLICY_INDEX || role == ROLE_ACTION;
        /* Deflated arrays are read up to the last row that is wanted. */
        const bool is_random = !array->is_object && array->sources[0]->decoder == NULL;
        struct batch batch = {.own = {.arrays = array->sources,
                                      .n_arrays = 1,
                                      .csr = array->csr,
                                      .at_random = is_random}};

        if (role == ROLE_META || role == ROLE_DROP || role == ROLE_POLICY_OFFSETS)
            continue;
        status = batch_open(&batch, plan->settings->budget, err);
        for (size_t k = 0; k < n && status == 0; k++) {
            struct field *field = &fields[order[k]].items[i];

            if ((status = batch_read(&batch, rows[order[k]].row, 1, err)) != 0)
                break;
            const struct row row = batch_row(&batch, 0);

            if (!array->is_object) {
                field->dtype = *row.dtype;
                field->n = row.n;
                status = bytes_append(&field->bytes, row.bytes, row.n * row.dtype->itemsize, err);
                continue;
            }
            field->dtype =
                (struct dtype){.kind = is_index ? DTYPE_INT : DTYPE_FLOAT, .itemsize = 8};
            for (uint64_t e = 0; e < row.n && status == 0; e++) {
                const int kind = row.items != NULL ? row.items[e].kind : -1;
                const bool is_integer = kind < 0 ? dtype_is_integer(row.dtype)
                                                 : kind == PICKLE_INT || kind == PICKLE_BOOL;
                const double number = row_double(&row, e);
                int64_t integer = kind == PICKLE_FLOAT ? (int64_t)number : 0;

                if (is_integer)
                    integer = row_int(&row, e);
                else if (kind >= 0 && kind != PICKLE_FLOAT) /* no number: left out */
                    continue;
                field->n++;
                status = bytes_append(&field->bytes, is_index ? (const void *)&integer : &number, 8,
                                      err);
            }
        }
        batch_release(&batch);
    }
    free(order);
    return status;
}

/* --- moving --- */

int fields_move(const struct fields *from, uint32_t t, struct fields *to, struct error *err)
{
    const struct plan *plan = from->plan;

    if (init(to, plan, err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct role_binding *binding = &array->binding;
        const struct field *field = &from->items[i];
        struct field *out = &to->items[i];
        struct error reason = {0};
        const void *values = NULL;
        int status = 0;

        out->dtype = field->dtype;
        out->n = field->n;
        if (field->bytes.n_bytes == 0)
            continue;
        if (bytes_append(&out->bytes, field->bytes.data, field->bytes.n_bytes, err) != 0)
            return -1;
        if (binding->value_array >= 0 && array->spec.kind == SPEC_PADDED)
            values = from->items[binding->value_array].bytes.data;
        if (!array->is_object && binding->sparse != SPARSE_CSR)
            status =
                kernel_row(&array->spec, t, field->bytes.data, values, out->bytes.data, &reason);
        else if (array->spec.kind == SPEC_INDICES)
            status = kernel_indices(&array->spec, t, &field->dtype, field->bytes.data,
                                    out->bytes.data, field->n, &reason);
        if (status != 0)
            return error_set(err, reason.kind, "%s: %s", plan_array_name(plan, array).text,
                             reason.message);
    }
    return 0;
}

void fields_release(struct fields *fields)
{
    for (size_t i = 0; fields->items != NULL && i < fields->plan->n_arrays; i++)
        bytes_release(&fields->items[i].bytes);
    free(fields->items);
    *fields = (struct fields){0};
}

int fields_find(const struct fields *fields, enum role role)
{
    for (size_t i = 0; i < fields->plan->n_arrays; i++) {
        const struct role_binding *binding = &fields->plan->arrays[i].binding;

        if (binding->role == role && !binding->is_winner && fields->items[i].n > 0)
            return (int)i;
    }
    return -1;
}

/* --- numbers by cell --- */

int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i)
{
    int64_t cell = (int64_t)i;

    for (uint32_t k = 0; binding->takeiteasy_grid && k <= board->n_cells; k++)
        if (k == board->n_cells || board->family->grid_cells[k] == i)
            return k < board->n_cells ? (int64_t)k : -1;
    if (binding->layout != NULL)
        cell = i < binding->layout->length(binding->layout, board)
                   ? action_cell(binding->layout, board, i)
                   : -1;
    else if (binding->plane_xy) /* column by column */
        cell = (int64_t)(i % board->rows * board->cols + i / board->rows);
    if (cell < 0 || cell >= board->n_cells)
        return -1;
    return (int64_t)action_flip_cell(board, binding->flip, (uint64_t)cell);
}

int planes_read(struct planes *planes, const struct fields *fields, size_t i, struct error *err)
{
    const struct board *board = fields->plan->board;
    const struct role_binding *binding = &fields->plan->arrays[i].binding;
    const struct field *field = &fields->items[i];
    const struct planes_form form = planes_form_of(binding, &field->dtype);

    *planes = (struct planes){.n_cells = board->n_cells, .n = form.n_planes};
    planes->numbers = calloc(planes->n * planes->n_cells + 1, sizeof *planes->numbers);
    if (planes->numbers == NULL)
        return error_no_memory(err, "planes");
    if (field->n == 0 || (!form.is_bits && !dtype_is_number(&field->dtype)))
        return 0;
    for (uint64_t at = 0; at < form.axis; at++) {
        const int64_t cell = planes_cell_of(board, binding, at);

        for (uint64_t p = 0; cell >= 0 && p < form.n_planes; p++)
            planes->numbers[p * planes->n_cells + (uint64_t)cell] =
                planes_number(&form, field->bytes.data, p, at);
    }
    return 0;
}

/* --- comparing --- */

/* By how much elements differ; infinite where that is no number. */
static double difference(const struct field *a, const struct field *b, uint64_t e)
{
    const double d = fabs(field_number(a, e) - field_number(b, e));

    return isnan(d) ? INFINITY : d;
}

/* Mark what differs in array i, and say whether anything does: indices in a list, elements or bits
 * along an axis, else the whole. Policies may differ a little everywhere: rings are where they
 * differ by a tenth of the most. Tolerance is of numbers that a label computed; 0: bits count. */
static bool compare(const struct fields *stored, const struct fields *recomputed, size_t i,
                    double tolerance, struct picture *picture)
{
    const struct fields *const both[] = {stored, recomputed};
    const struct plan_array *array = &stored->plan->arrays[i];
    const struct role_binding *binding = &array->binding;
    const struct field *a = &stored->items[i], *b = &recomputed->items[i];
    const struct planes_form form = planes_form_of(binding, &a->dtype);
    const uint32_t size = a->dtype.itemsize;
    const bool is_list =
        binding->role == ROLE_POLICY_INDEX && (a->n != b->n || dtype_is_integer(&a->dtype));
    const bool is_bits = !is_list && a->n == b->n && array->spec.kind == SPEC_BITS;
    const bool is_axis = !is_list && a->n == b->n && array->spec.kind == SPEC_AXIS;
    const bool is_dense =
        is_axis && (binding->role == ROLE_POLICY || binding->role == ROLE_ACTION_VALUES);
    const uint64_t n = is_bits       ? a->bytes.n_bytes / ((form.axis + 7) / 8) * form.axis
                       : a->n > b->n ? a->n
                                     : b->n;
    bool differs = false;
    double most = 0;

    for (uint64_t e = 0; is_dense && e < n; e++)
        most = fmax(most, difference(a, b, e));
    for (uint64_t e = 0; e < n; e++) {
        int64_t at[2] = {-1, -1}; /* on the axis; none */
        bool is_same;

        if (is_list && e < a->n)
            at[0] = field_integer(a, e);
        if (is_list && e < b->n)
            at[1] = field_integer(b, e);
        if (is_bits || is_axis)
            at[0] = at[1] = (int64_t)(e / (is_bits ? 1 : form.n_last) % form.axis);
        if (is_list)
            is_same = at[0] == at[1] || (at[0] < 0 && at[1] < 0);
        else if (is_bits) /* padding bits are written as 0 */
            is_same = planes_number(&form, a->bytes.data, e / form.axis, e % form.axis) ==
                      planes_number(&form, b->bytes.data, e / form.axis, e % form.axis);
        else
            is_same = e < a->n && e < b->n &&
                      (memcmp(a->bytes.data + e * size, b->bytes.data + e * size, size) == 0 ||
                       (tolerance != 0 && difference(a, b, e) <= tolerance));
        if (is_same)
            continue;
        differs = true;
        for (int k = 0; k < 2 && (!is_dense || difference(a, b, e) >= most / 10); k++) {
            int64_t cell = -1;

            if (at[k] >= 0)
                cell = planes_cell_of(stored->plan->board, binding, (uint64_t)at[k]);
            else if (!is_list)
                cell = labels_cell_of(both[k], i);
            if (cell >= 0)
                picture->cells[cell].differs = true;
        }
    }
    return differs;
}

int fields_compare(const struct fields *stored, const struct fields *recomputed, uint32_t u,
                   struct picture *picture, struct error *err)
{
    const struct plan *plan = stored->plan;

    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct dtype *dtype = &stored->items[i].dtype;
        double tolerance = 0;

        if (array->spec.n_steps > u && array->spec.steps[u].label != LABEL_KEEP &&
            dtype->kind == DTYPE_FLOAT)
            tolerance = ldexp(1, dtype->itemsize == 2 ? -10 : dtype->itemsize == 4 ? -23 : -52);
        if (strcmp(array->key, PLAN_SOURCE_KEY) != 0 &&
            strcmp(array->key, PLAN_TRANSFORM_KEY) != 0 &&
            stored->items[i].n + recomputed->items[i].n > 0 &&
            compare(stored, recomputed, i, tolerance, picture) &&
            text_append(
                &picture->faults, err, "%s%s",
                picture->faults.n_bytes > 0 ? ", " : "differs: ", text_path(array->key).text) != 0)
            return -1;
    }
    return 0;
}
