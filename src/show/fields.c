/* fields.c - see fields.h. */
#include "show/fields.h"

#include "shard/rows.h"

#include <stdlib.h>
#include <string.h>

#define SKIP_NBYTES (1u << 20)

static const struct dtype dtype_int64 = {.kind = DTYPE_INT, .itemsize = 8};
static const struct dtype dtype_double = {.kind = DTYPE_FLOAT, .itemsize = 8};

/* --- reading --- */

/* Rows of one array, in ascending order: in place where they are at hand, else up to the last one
 * that is wanted. */
struct reader {
    const struct array *array;
    struct row_table *table; /* owned, or */
    struct rows *rows;       /* owned */
    uint64_t next;
    uint64_t memory_left;
    uint8_t *skipped; /* owned: room for rows that are not wanted */
    uint64_t n_skipped;
};

static int reader_open(struct reader *reader, const struct plan *plan, const struct array *array,
                       struct error *err)
{
    *reader = (struct reader){.array = array, .memory_left = plan->max_memory};
    if (array->decoder == NULL || array_is_fortran(array)) {
        reader->table = row_table_open(&array, 1, &reader->memory_left, plan->tmpdir, err);
        return reader->table != NULL ? 0 : -1;
    }
    reader->n_skipped =
        array->row_nbytes < SKIP_NBYTES ? SKIP_NBYTES / (array->row_nbytes + 1) + 1 : 1;
    reader->skipped = malloc(reader->n_skipped * array->row_nbytes + 1);
    if (reader->skipped == NULL)
        return error_no_memory(err, "rows");
    reader->rows = rows_open(&array, 1, err);
    return reader->rows != NULL ? 0 : -1;
}

static void reader_close(struct reader *reader)
{
    row_table_close(reader->table);
    rows_close(reader->rows);
    free(reader->skipped);
}

/* Append row `row` to out; not below the row before. */
static int reader_get(struct reader *reader, uint64_t row, struct bytes *out, struct error *err)
{
    uint8_t *to = bytes_reserve(out, reader->array->row_nbytes + 1, err);

    if (to == NULL)
        return -1;
    out->n_bytes += reader->array->row_nbytes;
    if (reader->table != NULL)
        return row_table_get(reader->table, row, to, err);
    while (reader->next < row) {
        const uint64_t left = row - reader->next;
        const uint64_t n = left < reader->n_skipped ? left : reader->n_skipped;

        if (rows_read(reader->rows, n, reader->skipped, err) != 0)
            return -1;
        reader->next += n;
    }
    reader->next++;
    return rows_read(reader->rows, 1, to, err);
}

static int read_rows(const struct plan *plan, size_t i, const uint64_t *rows, size_t n_rows,
                     struct fields *fields, struct error *err)
{
    const struct array *array = plan->arrays[i].sources[0];
    struct reader reader;
    int status = reader_open(&reader, plan, array, err);

    for (size_t k = 0; k < n_rows && status == 0; k++) {
        struct field *field = &fields[k].items[i];

        field->dtype = array->header.dtype;
        status = reader_get(&reader, rows[k], &field->bytes, err);
        if (status == 0)
            field->n = field->dtype.itemsize > 0 ? field->bytes.n_bytes / field->dtype.itemsize : 0;
    }
    reader_close(&reader);
    return status;
}

/* Where a row of a policy in CSR form begins and ends. */
static int read_extent(const struct plan *plan, const struct array *offsets, uint64_t row,
                       uint64_t n_elements, uint64_t extent[2], struct error *err)
{
    struct reader reader;
    struct bytes both = {0};
    int status = reader_open(&reader, plan, offsets, err);

    if (status == 0 && row + 1 >= offsets->n_rows)
        status = array_fail(offsets, err, "no offset for row %llu", (unsigned long long)row);
    for (uint64_t k = 0; k < 2 && status == 0; k++) {
        both.n_bytes = 0;
        status = reader_get(&reader, row + k, &both, err);
        if (status == 0)
            extent[k] = (uint64_t)dtype_get_int(&offsets->header.dtype, both.data);
    }
    if (status == 0 && (extent[0] > extent[1] || extent[1] > n_elements))
        status = array_fail(offsets, err, "row %llu ends before it begins, or beyond the array",
                            (unsigned long long)row);
    bytes_release(&both);
    reader_close(&reader);
    return status;
}

static const struct array *offsets_of(const struct plan *plan, size_t i)
{
    for (size_t k = 0; k < plan->n_arrays; k++) {
        const struct role_binding *b = &plan->arrays[k].binding;

        if (b->role == ROLE_POLICY_INDEX && b->offsets_array >= 0 &&
            (k == i || b->value_array == (int)i))
            return plan->arrays[b->offsets_array].sources[0];
    }
    return NULL;
}

static int read_csr(const struct plan *plan, size_t i, const uint64_t *rows, size_t n_rows,
                    struct fields *fields, struct error *err)
{
    const struct array *array = plan->arrays[i].sources[0], *offsets = offsets_of(plan, i);

    if (offsets == NULL)
        return 0;
    for (size_t k = 0; k < n_rows; k++) {
        struct field *field = &fields[k].items[i];
        struct reader reader;
        uint64_t extent[2];
        int status;

        if (read_extent(plan, offsets, rows[k], array->n_rows, extent, err) != 0)
            return -1;
        status = reader_open(&reader, plan, array, err);
        field->dtype = array->header.dtype;
        for (uint64_t e = extent[0]; e < extent[1] && status == 0; e++)
            status = reader_get(&reader, e, &field->bytes, err);
        field->n = extent[1] - extent[0];
        reader_close(&reader);
        if (status != 0)
            return -1;
    }
    return 0;
}

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

static int read_objects(const struct plan *plan, size_t i, const uint64_t *rows, size_t n_rows,
                        struct fields *fields, struct error *err)
{
    const struct array *array = plan->arrays[i].sources[0];
    const enum role role = plan->arrays[i].binding.role;
    const uint64_t per_row = array->n_rows > 0 ? array->objects->n_items / array->n_rows : 0;

    for (size_t k = 0; k < n_rows; k++) {
        struct field *field = &fields[k].items[i];

        field->dtype =
            role == ROLE_POLICY_INDEX || role == ROLE_ACTION ? dtype_int64 : dtype_double;
        for (uint64_t sub = 0; sub < per_row; sub++)
            if (append_item(field, &array->objects->items[rows[k] * per_row + sub], err) != 0)
                return -1;
    }
    return 0;
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
    int status = 0;

    for (size_t k = 0; k < n_rows; k++)
        if (init(&fields[k], plan->n_arrays, err) != 0)
            return -1;
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const enum role role = array->binding.role;

        if (role == ROLE_META || role == ROLE_DROP || role == ROLE_POLICY_OFFSETS)
            continue;
        if (array->is_object)
            status = read_objects(plan, i, rows, n_rows, fields, err);
        else if (array->binding.sparse == SPARSE_CSR)
            status = read_csr(plan, i, rows, n_rows, fields, err);
        else
            status = read_rows(plan, i, rows, n_rows, fields, err);
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
        if (array->move.kind == MOVE_INDEX)
            return kernel_indices(&array->move, t, &field->dtype, field->bytes.data, out->data,
                                  field->n, err);
        memcpy(out->data, field->bytes.data, field->bytes.n_bytes);
        return 0;
    }
    if (array->binding.value_array >= 0 && array->move.kind == MOVE_PADDED)
        values = from->items[array->binding.value_array].bytes.data;
    return kernel_row(&array->move, t, field->bytes.data, values, out->data, err);
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
        if (plan->arrays[i].binding.role == role && fields->items[i].n > 0)
            return (int)i;
    return -1;
}
