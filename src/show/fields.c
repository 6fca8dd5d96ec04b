/*
 * fields.c - rows as numbers: read from the plan's input, moved by a transform, put on cells, and
 * held against each other.
 *
 * Objects and CSR rows become lists of numbers. A stored image that is not what is recomputed has
 * the cells marked on which any array differs.
 */
#include "show/show.h"

#include "shard/batch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct dtype dtype_int64 = {.kind = DTYPE_INT, .itemsize = 8};
static const struct dtype dtype_double = {.kind = DTYPE_FLOAT, .itemsize = 8};

/* --- reading --- */

/* What is read into where. */
struct reading {
    const struct plan *plan;
    const uint64_t *rows; /* ascending */
    size_t n_rows;
    struct fields *fields; /* one for each row */
};

static int append_number(struct field *field, double number, int64_t integer, struct error *err)
{
    field->n++;
    return field->dtype.kind == DTYPE_INT
               ? bytes_append(&field->bytes, &integer, sizeof integer, err)
               : bytes_append(&field->bytes, &number, sizeof number, err);
}

/* The numbers of an item; what is none is left out. */
static int append_item(struct field *field, const struct pickle_item *item, struct error *err)
{
    int status = 0;

    switch (item->kind) {
    case PICKLE_BOOL:
    case PICKLE_INT:
        return append_number(field, (double)item->as.integer, item->as.integer, err);
    case PICKLE_FLOAT:
        return append_number(field, item->as.number, (int64_t)item->as.number, err);
    case PICKLE_LIST:
        for (uint32_t i = 0; i < item->n_bytes_or_items && status == 0; i++)
            if (item->as.items[i].kind != PICKLE_LIST) /* lists hold scalars only */
                status = append_item(field, &item->as.items[i], err);
        return status;
    case PICKLE_ARRAY:
        for (uint64_t i = 0; i < item->as.array->n_elements && status == 0; i++) {
            const struct dtype *dtype = &item->as.array->dtype;
            const uint8_t *at = item->as.array->data + i * dtype->itemsize;

            status = append_number(field, dtype_get_double(dtype, at),
                                   dtype_is_integer(dtype) ? dtype_get_int(dtype, at) : 0, err);
        }
        return status;
    default:
        return 0;
    }
}

/* The rows of an array of numbers; deflated ones are read up to the last row that is wanted. */
static int read_numbers(const struct reading *r, size_t i, struct error *err)
{
    const struct plan_array *array = &r->plan->arrays[i];
    struct batch batch = {.own = {.arrays = array->sources,
                                  .n_arrays = 1,
                                  .csr = array->csr,
                                  .at_random = array->sources[0]->decoder == NULL}};
    int status = batch_open(&batch, r->plan->budget, err);

    for (size_t k = 0; k < r->n_rows && status == 0; k++) {
        struct field *field = &r->fields[k].items[i];
        struct row row;

        if ((status = batch_read(&batch, r->rows[k], 1, err)) != 0)
            break;
        row = batch_row(&batch, 0);
        field->dtype = *row.dtype;
        field->n = row.n;
        status = bytes_append(&field->bytes, row.bytes, row.n * row.dtype->itemsize, err);
    }
    batch_release(&batch);
    return status;
}

static int read_objects(const struct reading *r, size_t i, struct error *err)
{
    const struct plan_array *array = &r->plan->arrays[i];
    const enum role role = array->binding.role;
    struct reader reader = {.arrays = array->sources, .n_arrays = 1};
    int status = reader_open(&reader, NULL, err);

    for (size_t k = 0; k < r->n_rows && status == 0; k++) {
        struct field *field = &r->fields[k].items[i];

        field->dtype =
            role == ROLE_POLICY_INDEX || role == ROLE_ACTION ? dtype_int64 : dtype_double;
        for (uint64_t sub = 0; sub < reader.n_items && status == 0; sub++)
            status = append_item(field, &reader_items(&reader, r->rows[k])[sub], err);
    }
    reader_close(&reader);
    return status;
}

static int init(struct fields *fields, size_t n, struct error *err)
{
    fields->items = calloc(n + 1, sizeof *fields->items);
    if (fields->items == NULL)
        return error_no_memory(err, "a row");
    fields->n = n;
    return 0;
}

int fields_read(const struct plan *plan, const uint64_t *rows, size_t n_rows, struct fields *fields,
                struct error *err)
{
    const struct reading r = {plan, rows, n_rows, fields};
    int status = 0;

    for (size_t k = 0; k < n_rows; k++)
        if (init(&fields[k], plan->n_arrays, err) != 0)
            return -1;
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;

        if (role == ROLE_META || role == ROLE_DROP || role == ROLE_POLICY_OFFSETS)
            continue;
        status = array->is_object ? read_objects(&r, i, err) : read_numbers(&r, i, err);
    }
    return status;
}

/* --- moving --- */

static int move_field(const struct plan *plan, const struct fields *from, size_t i, uint32_t t,
                      struct bytes *out, struct error *err)
{
    const struct plan_array *array = &plan->arrays[i];
    const struct field *field = &from->items[i];
    const void *values = NULL;

    if (array->is_object || array->binding.sparse == SPARSE_CSR) {
        if (array->spec.kind == SPEC_INDICES)
            return kernel_indices(&array->spec, t, &field->dtype, field->bytes.data, out->data,
                                  field->n, err);
        memcpy(out->data, field->bytes.data, field->bytes.n_bytes);
        return 0;
    }
    if (array->binding.value_array >= 0 && array->spec.kind == SPEC_PADDED)
        values = from->items[array->binding.value_array].bytes.data;
    return kernel_row(&array->spec, t, field->bytes.data, values, out->data, err);
}

int fields_move(const struct plan *plan, const struct fields *from, uint32_t t, struct fields *to,
                struct error *err)
{
    if (init(to, from->n, err) != 0)
        return -1;
    for (size_t i = 0; i < from->n; i++) {
        const struct field *field = &from->items[i];
        struct field *out = &to->items[i];
        struct error reason = {0};

        out->dtype = field->dtype;
        out->n = field->n;
        if (field->bytes.n_bytes == 0)
            continue;
        if (bytes_reserve(&out->bytes, field->bytes.n_bytes, err) == NULL)
            return -1;
        out->bytes.n_bytes = field->bytes.n_bytes;
        if (move_field(plan, from, i, t, &out->bytes, &reason) != 0)
            return error_set(err, reason.kind, "%s: %s",
                             plan_array_name(plan, &plan->arrays[i]).text, reason.message);
    }
    return 0;
}

void fields_release(struct fields *fields)
{
    for (size_t i = 0; fields->items != NULL && i < fields->n; i++)
        bytes_release(&fields->items[i].bytes);
    free(fields->items);
    *fields = (struct fields){0};
}

int fields_find(const struct plan *plan, const struct fields *fields, enum role role)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan->arrays[i].binding.role == role && !plan->arrays[i].binding.is_winner &&
            fields->items[i].n > 0)
            return (int)i;
    return -1;
}

/* --- numbers by cell --- */

static int64_t cell_of_grid(const struct board *board, uint64_t i)
{
    for (uint32_t cell = 0; cell < board->n_cells; cell++)
        if (board->family->grid_cells[cell] == i)
            return cell;
    return -1;
}

int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i)
{
    int64_t cell = (int64_t)i;

    if (binding->takeiteasy_grid)
        return cell_of_grid(board, i);
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

void planes_position(const struct role_binding *binding, uint64_t e, uint64_t *plane, uint64_t *i)
{
    const struct role_axes *axes = &binding->axes;
    const uint64_t inner = axes->inner > 0 ? axes->inner : 1;
    const uint64_t axis = axes->axis > 0 ? axes->axis : 1;

    *i = e / inner % axis;
    *plane = axes->outer == 1 && inner > 1 ? e % inner : e / inner / axis;
}

static bool get_bit(const uint8_t *plane, uint64_t i, bool lsb_first)
{
    return plane[i / 8] >> (lsb_first ? i % 8 : 7 - i % 8) & 1;
}

static void read_bits(struct planes *planes, const struct board *board,
                      const struct role_binding *binding, const uint8_t *bytes)
{
    const uint64_t axis = binding->axes.axis, plane_nbytes = (axis + 7) / 8;

    for (uint64_t i = 0; i < axis; i++) {
        const int64_t cell = planes_cell_of(board, binding, i);

        for (uint64_t p = 0; p < planes->n && cell >= 0; p++)
            planes->numbers[p * planes->n_cells + (uint64_t)cell] =
                get_bit(bytes + p * plane_nbytes, i, binding->lsb_first);
    }
}

static void read_elements(struct planes *planes, const struct board *board,
                          const struct role_binding *binding, const struct field *field)
{
    for (uint64_t e = 0; e < field->n; e++) {
        uint64_t plane, i;

        planes_position(binding, e, &plane, &i);
        const int64_t cell = planes_cell_of(board, binding, i);

        if (cell >= 0 && plane < planes->n)
            planes->numbers[plane * planes->n_cells + (uint64_t)cell] = field_number(field, e);
    }
}

int planes_read(struct planes *planes, const struct plan *plan, const struct fields *fields,
                size_t i, struct error *err)
{
    const struct role_binding *binding = &plan->arrays[i].binding;
    const struct field *field = &fields->items[i];

    planes->n_cells = plan->board->n_cells;
    planes->n = binding->axes.outer == 1 && binding->axes.inner > 1 ? binding->axes.inner
                                                                    : binding->axes.outer;
    planes->numbers = calloc(planes->n * planes->n_cells + 1, sizeof *planes->numbers);
    if (planes->numbers == NULL)
        return error_no_memory(err, "planes");
    if (binding->role == ROLE_PACKED)
        read_bits(planes, plan->board, binding, field->bytes.data);
    else if (dtype_is_number(&field->dtype))
        read_elements(planes, plan->board, binding, field);
    return 0;
}

void planes_release(struct planes *planes)
{
    free(planes->numbers);
    *planes = (struct planes){0};
}

/* --- comparing --- */

struct comparison {
    const struct plan *plan;
    struct picture *picture;
    const struct field *stored, *recomputed;
    size_t i;         /* the array */
    double tolerance; /* of numbers that a label computed; 0: bits count */
};

static double tolerance_of(const struct dtype *dtype)
{
    return dtype->kind != DTYPE_FLOAT ? 0
                                      : ldexp(1, dtype->itemsize == 2   ? -10
                                                 : dtype->itemsize == 4 ? -23
                                                                        : -52);
}

static bool same_element(const struct comparison *c, uint64_t e)
{
    const uint32_t size = c->stored->dtype.itemsize;
    const uint8_t *a = c->stored->bytes.data + e * size;
    const uint8_t *b = c->recomputed->bytes.data + e * size;

    if (memcmp(a, b, size) == 0)
        return true;
    return c->tolerance > 0 && fabs(dtype_get_double(&c->stored->dtype, a) -
                                    dtype_get_double(&c->stored->dtype, b)) <= c->tolerance;
}

static void mark(const struct comparison *c, int64_t cell)
{
    if (cell >= 0)
        c->picture->cells[cell].differs = true;
}

/* The action that stands at element e of a list of indices; UINT64_MAX for none. */
static uint64_t index_at(const struct field *field, uint64_t e)
{
    const int64_t index =
        e < field->n ? dtype_get_int(&field->dtype, field->bytes.data + e * field->dtype.itemsize)
                     : -1;

    return index >= 0 ? (uint64_t)index : UINT64_MAX;
}

/* --- kinds of arrays: each marks cells and says whether anything differs --- */

/* By how much they differ; infinite where that is no number. */
static double difference(const struct comparison *c, uint64_t e)
{
    const double d = fabs(field_number(c->stored, e) - field_number(c->recomputed, e));

    return isnan(d) ? INFINITY : d;
}

/* Policies may differ a little everywhere: rings are where they differ by a tenth of the most. */
static bool compare_axis(const struct comparison *c)
{
    const struct role_binding *binding = &c->plan->arrays[c->i].binding;
    const bool is_dense = binding->role == ROLE_POLICY || binding->role == ROLE_ACTION_VALUES;
    bool differs = false;
    double most = 0;

    for (uint64_t e = 0; is_dense && e < c->stored->n; e++)
        most = fmax(most, difference(c, e));
    for (uint64_t e = 0; e < c->stored->n; e++) {
        uint64_t plane, i;

        if (same_element(c, e))
            continue;
        differs = true;
        if (is_dense && difference(c, e) < most / 10)
            continue;
        planes_position(binding, e, &plane, &i);
        mark(c, planes_cell_of(c->plan->board, binding, i));
    }
    return differs;
}

static bool compare_bits(const struct comparison *c)
{
    const struct role_binding *binding = &c->plan->arrays[c->i].binding;
    const uint64_t plane_nbytes = (binding->axes.axis + 7) / 8;
    bool differs = false;

    for (uint64_t byte = 0; byte < c->stored->bytes.n_bytes; byte++) {
        const unsigned bits = c->stored->bytes.data[byte] ^ c->recomputed->bytes.data[byte];

        for (unsigned bit = 0; bit < 8; bit++) {
            const uint64_t i = byte % plane_nbytes * 8 + (binding->lsb_first ? bit : 7 - bit);

            if ((bits >> bit & 1) == 0 || i >= binding->axes.axis)
                continue; /* padding bits are written as 0 */
            differs = true;
            mark(c, planes_cell_of(c->plan->board, binding, i));
        }
    }
    return differs;
}

static bool compare_indices(const struct comparison *c)
{
    const struct role_binding *binding = &c->plan->arrays[c->i].binding;
    const uint64_t n = c->stored->n > c->recomputed->n ? c->stored->n : c->recomputed->n;
    bool differs = false;

    for (uint64_t e = 0; e < n; e++) {
        const uint64_t a = index_at(c->stored, e), b = index_at(c->recomputed, e);

        if (a == b)
            continue;
        differs = true;
        mark(c, a != UINT64_MAX ? planes_cell_of(c->plan->board, binding, a) : -1);
        mark(c, b != UINT64_MAX ? planes_cell_of(c->plan->board, binding, b) : -1);
    }
    return differs;
}

static bool compare_elements(const struct comparison *c)
{
    bool differs = c->stored->n != c->recomputed->n;

    for (uint64_t e = 0; e < c->stored->n && !differs; e++)
        differs = !same_element(c, e);
    if (differs) {
        mark(c, labels_cell_of(c->plan, c->i, c->stored));
        mark(c, labels_cell_of(c->plan, c->i, c->recomputed));
    }
    return differs;
}

static bool compare_array(const struct comparison *c)
{
    const struct plan_array *array = &c->plan->arrays[c->i];
    const bool is_list = array->binding.role == ROLE_POLICY_INDEX;

    if (c->stored->n != c->recomputed->n)
        return is_list ? compare_indices(c) : compare_elements(c);
    if (is_list && dtype_is_integer(&c->stored->dtype))
        return compare_indices(c);
    switch (array->spec.kind) {
    case SPEC_BITS:
        return compare_bits(c);
    case SPEC_AXIS:
        return compare_axis(c);
    default:
        return compare_elements(c);
    }
}

static bool is_provenance(const char *key)
{
    return strcmp(key, PLAN_SOURCE_KEY) == 0 || strcmp(key, PLAN_TRANSFORM_KEY) == 0;
}

int compare_rows(const struct plan *plan, const struct fields *stored,
                 const struct fields *recomputed, uint32_t u, struct picture *picture,
                 struct error *err)
{
    for (size_t i = 0; i < stored->n; i++) {
        struct comparison c = {plan, picture, &stored->items[i], &recomputed->items[i], i, 0};

        if (is_provenance(plan->arrays[i].key) || (c.stored->n == 0 && c.recomputed->n == 0))
            continue;
        if (plan->arrays[i].spec.n_steps > u && plan->arrays[i].spec.steps[u].label != LABEL_KEEP)
            c.tolerance = tolerance_of(&c.stored->dtype);
        if (compare_array(&c) && text_append(&picture->faults, err, "%s%s",
                                             picture->faults.n_bytes > 0 ? ", " : "differs: ",
                                             text_path(plan->arrays[i].key).text) != 0)
            return -1;
    }
    return 0;
}
