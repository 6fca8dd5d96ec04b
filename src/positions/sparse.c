/*
 * sparse.c - means of sparse policies, whose rows vary in length. The entries of a position's rows
 * are added up by action; the result, in ascending order of actions, is the union of its rows and
 * waits in a temp file.
 *
 * Once all positions are known, unions and unchanged rows are written in row order to new arrays of
 * the same form. Only (N,k) objects become (N,) rows, since unions differ in length.
 */
#include "positions/parts.h"

#include "engine/kernel.h"

#define FLUSH_NBYTES (256u << 10)

static const struct dtype int64 = {.kind = DTYPE_INT, .itemsize = 8};
static const struct dtype float64 = {.kind = DTYPE_FLOAT, .itemsize = 8};

/* What the rows of a position say about one action. */
struct tally {
    double sum, x;          /* weighted, over all rows; in the current row */
    uint64_t position, row; /* in which it was last met */
};

/* One of the two arrays of a policy: indices or values. */
struct part {
    struct plan_array *array; /* borrowed */
    struct batch rows;
    struct made *made;          /* of the plan */
    const struct dtype *python; /* the dtype that Python's numbers become */
    struct dtype dtype;         /* of the row being made */
    bool is_decided;            /* the dtype, by a row of the position that is not empty */
    struct bytes bytes;         /* rows not written yet; of objects, the row being made */
};

enum { INDEX, VALUE };

struct sparse_policy {
    struct part parts[2];
    enum sparse_form form;
    struct spec spec;       /* owned: of the indices */
    struct tally *tallies;  /* owned, by action */
    uint32_t *named, *list; /* owned: the actions of the current row, and of its position */
    size_t n_named, n_list;
    uint64_t position, row; /* counted from 1 */
    uint64_t width;         /* PADDED: entries of an output row */
    uint64_t n_written;     /* rows, or in CSR form elements, that are in the file */
};

/* Precedes the entries of a union. */
struct union_head {
    struct dtype dtypes[2]; /* of the row that it becomes */
    uint64_t n;
};

struct union_entry {
    uint64_t action;
    double mean;
};

/* --- rows --- */

static int fail_row(const struct sparse_policy *p, uint64_t row, const struct error *why,
                    struct error *err)
{
    return reader_fail(p->parts[INDEX].rows.reader, row, why, err);
}

/* Read a row: equally many indices and values. Padding at the end of a padded row is cut off. */
static int read_row(struct sparse_policy *p, uint64_t row, struct row found[2], struct error *err)
{
    struct row *index = &found[INDEX], *value = &found[VALUE];
    struct error why = {0};

    for (int k = 0; k < 2; k++) {
        if (batch_read(&p->parts[k].rows, row, 1, err) != 0)
            return -1;
        found[k] = batch_row(&p->parts[k].rows, 0);
    }
    if (index->n != value->n) {
        error_set(&why, ERROR_DATA, "%" PRIu64 " indices, but %" PRIu64 " values", index->n,
                  value->n);
        return fail_row(p, row, &why, err);
    }
    while (p->form == SPARSE_PADDED && index->n > 0 && row_int(index, index->n - 1) == 0 &&
           row_double(value, index->n - 1) == 0)
        value->n = --index->n;
    return 0;
}

/* Check the types of an entry, and whether it is there: negative indices are padding. */
static int check_entry(const struct row found[2], uint64_t i, bool *is_there, struct error *err)
{
    const struct row *index = &found[INDEX], *value = &found[VALUE];
    const enum pickle_kind kind = index->items != NULL ? index->items[i].kind : PICKLE_NONE;
    const enum pickle_kind number = value->items != NULL ? value->items[i].kind : PICKLE_FLOAT;

    *is_there = row_int(index, i) >= 0;
    if (index->items == NULL ? !dtype_is_integer(index->dtype) : kind != PICKLE_INT)
        return error_set(err, ERROR_DATA, "an index is not an integer");
    if (*is_there && ((value->items == NULL &&
                       (!dtype_is_number(value->dtype) || value->dtype->kind == DTYPE_BOOL)) ||
                      (number != PICKLE_INT && number != PICKLE_FLOAT)))
        return error_set(err, ERROR_DATA, "a value is not a number that can be averaged");
    return 0;
}

static int add_row(struct sparse_policy *p, const struct sparse_member *member, struct error *err)
{
    struct error why = {0};
    struct row found[2];

    if (read_row(p, member->row, found, err) != 0)
        return -1;
    /* The result has the type of the first row that has entries, else of the first row. Python's
     * numbers become 64-bit ones; an empty row may have any type. */
    for (struct part *part = p->parts; part < p->parts + 2; part++) {
        const struct row *row = &found[part - p->parts];
        const bool is_index = part->array->binding.role == ROLE_POLICY_INDEX;

        if (!part->is_decided && row->n > 0)
            part->dtype = row->items == NULL ? *row->dtype : *part->python;
        else if (!part->is_decided && row->items == NULL &&
                 (!is_index || dtype_is_integer(row->dtype)))
            part->dtype = *row->dtype;
        part->is_decided |= row->n > 0;
    }
    p->row++;
    p->n_named = 0;
    for (uint64_t i = 0; i < found[INDEX].n; i++) {
        const int64_t from = row_int(&found[INDEX], i);
        const double x = row_double(&found[VALUE], i);
        bool is_there;
        int64_t to;

        if (check_entry(found, i, &is_there, &why) != 0)
            return fail_row(p, member->row, &why, err);
        if (!is_there)
            continue;
        if (kernel_indices(&p->spec, (uint32_t)member->transform, &int64, &from, &to, 1, &why) != 0)
            return fail_row(p, member->row, &why, err);
        struct tally *tally = &p->tallies[to];
        if (tally->row != p->row)
            p->named[p->n_named++] = (uint32_t)to;
        tally->x = tally->row != p->row ? x : tally->x + x;
        tally->row = p->row;
    }
    for (size_t i = 0; i < p->n_named; i++) {
        struct tally *tally = &p->tallies[p->named[i]];
        const double term = (double)member->weight * tally->x;

        if (tally->position != p->position)
            p->list[p->n_list++] = p->named[i];
        tally->sum = tally->position != p->position ? term : tally->sum + term;
        tally->position = p->position;
    }
    return 0;
}

int sparse_add(struct sparse_means *means, const struct sparse_member *member, struct error *err)
{
    for (struct sparse_policy *p = means->policies; p < means->policies + means->n_policies; p++) {
        for (int k = 0; k < 2 && member->is_first && p->form == SPARSE_OBJECT; k++) {
            p->parts[k].is_decided = false;
            p->parts[k].dtype = *p->parts[k].python;
        }
        if (member->is_first)
            p->n_list = 0;
        p->position += member->is_first;
        if (add_row(p, member, err) != 0)
            return -1;
    }
    return 0;
}

int sparse_unite(struct sparse_means *means, uint64_t weight, uint64_t *place, struct error *err)
{
    struct bytes *list = &means->list;

    list->n_bytes = 0;
    for (struct sparse_policy *p = means->policies; p < means->policies + means->n_policies; p++) {
        const struct union_head head = {{p->parts[INDEX].dtype, p->parts[VALUE].dtype}, p->n_list};

        if (bytes_append(list, &head, sizeof head, err) != 0)
            return -1;
        qsort(p->list, p->n_list, sizeof *p->list, order_of_u32);
        for (size_t i = 0; i < p->n_list; i++) {
            const double sum = p->tallies[p->list[i]].sum;
            const struct union_entry entry = {p->list[i], sum / (double)weight};

            if (bytes_append(list, &entry, sizeof entry, err) != 0)
                return -1;
        }
        p->width = p->n_list > p->width ? p->n_list : p->width;
    }
    *place = means->unions.n_bytes;
    return list->n_bytes > 0 ? scratch_append(&means->unions, list->data, list->n_bytes, err) : 0;
}

/* --- new rows --- */

/* Make room for a row of n entries, all zero, in one of the parts. */
static uint8_t *add_entries(struct sparse_policy *p, int k, uint64_t n, struct error *err)
{
    struct bytes *bytes = &p->parts[k].bytes;
    const uint64_t n_bytes = (p->form == SPARSE_PADDED ? p->width : n) * p->parts[k].dtype.itemsize;

    if (p->form == SPARSE_OBJECT)
        bytes->n_bytes = 0;
    uint8_t *to = bytes_reserve(bytes, n_bytes + 1, err);
    if (to == NULL)
        return NULL;
    bytes->n_bytes += n_bytes;
    return memset(to, 0, n_bytes);
}

/* Store the row of objects that has been made. */
static int put_objects(struct sparse_policy *p, uint64_t row, uint64_t n, struct error *err)
{
    for (struct part *part = p->parts; part < p->parts + 2; part++)
        if (made_put_list(part->made, row, &part->dtype, part->bytes.data, n, err) != 0)
            return -1;
    return 0;
}

/* Write the union at a place as row `row`, and advance the place to the next policy's union. */
static int put_mean(struct sparse_means *means, struct sparse_policy *p, uint64_t row,
                    uint64_t *place, struct error *err)
{
    const struct error misfit = {.kind = ERROR_DATA,
                                 .message = "an index of the mean does not fit the array's type"};
    const struct dtype *index = &p->parts[INDEX].dtype, *value = &p->parts[VALUE].dtype;
    struct union_head head;

    if (scratch_read(&means->unions, *place, &head, sizeof head, err) != 0)
        return -1;
    const size_t n_bytes = head.n * sizeof(struct union_entry);
    means->list.n_bytes = 0;
    uint8_t *room = bytes_reserve(&means->list, n_bytes + 1, err);
    const struct union_entry *entries = (void *)room;
    if (room == NULL || scratch_read(&means->unions, *place + sizeof head, room, n_bytes, err) != 0)
        return -1;
    *place += sizeof head + n_bytes;
    for (int k = 0; k < 2; k++)
        p->parts[k].dtype = head.dtypes[k];
    uint8_t *actions = add_entries(p, INDEX, head.n, err),
            *values = actions != NULL ? add_entries(p, VALUE, head.n, err) : NULL;
    if (values == NULL)
        return -1;
    for (uint64_t i = 0; i < head.n; i++) {
        if (dtype_put_int(index, (int64_t)entries[i].action, actions + i * index->itemsize) != 0)
            return fail_row(p, row, &misfit, err);
        dtype_put_double(value, entries[i].mean, values + i * value->itemsize);
    }
    return p->form == SPARSE_OBJECT ? put_objects(p, row, head.n, err) : 0;
}

/* Write a row as it is; one of (N,k) objects as a list without padding. */
static int keep_row(struct sparse_policy *p, uint64_t row, struct error *err)
{
    const bool has_width = p->parts[INDEX].array->sources[0]->header.n_dims > 1;
    struct error why = {0};
    struct row found[2];
    uint8_t *to[2];
    uint64_t n = 0;

    if (p->form == SPARSE_OBJECT && has_width && read_row(p, row, found, err) != 0)
        return -1;
    for (int k = 0; k < 2; k++) {
        struct part *part = &p->parts[k];
        struct batch *rows = &part->rows;

        if (p->form == SPARSE_OBJECT && !has_width) {
            made_put_item(part->made, row, reader_items(rows->reader, row));
            continue;
        }
        if (p->form == SPARSE_OBJECT)
            part->dtype = *part->python;
        else if (batch_read(rows, row, 1, err) != 0)
            return -1;
        to[k] = add_entries(p, k, batch_row(rows, 0).n, err);
        if (to[k] == NULL)
            return -1;
        if (p->form != SPARSE_OBJECT)
            memcpy(to[k], rows->bytes.data, rows->bytes.n_bytes);
    }
    if (p->form != SPARSE_OBJECT || !has_width)
        return 0;
    for (uint64_t i = 0; i < found[INDEX].n; i++) {
        bool is_there;

        if (check_entry(found, i, &is_there, &why) != 0)
            return fail_row(p, row, &why, err);
        for (int k = 0; k < 2 && is_there; k++)
            if (p->parts[k].python == &float64)
                dtype_put_double(&float64, row_double(&found[k], i), to[k] + 8 * n);
            else
                dtype_put_int(&int64, row_int(&found[k], i), to[k] + 8 * n);
        n += is_there;
    }
    return put_objects(p, row, n, err);
}

/* Write the rows that have gathered. */
static int flush(struct sparse_policy *p, struct error *err)
{
    if (p->form == SPARSE_OBJECT || p->parts[INDEX].bytes.n_bytes == 0) /* objects: no itemsize */
        return 0;
    const uint64_t n = p->parts[INDEX].bytes.n_bytes / p->parts[INDEX].dtype.itemsize /
                       (p->form == SPARSE_PADDED ? p->width : 1);
    for (int k = 0; k < 2; k++) {
        if (made_write(p->parts[k].made, p->n_written, p->parts[k].bytes.data, n, err) != 0)
            return -1;
        p->parts[k].bytes.n_bytes = 0;
    }
    p->n_written += n;
    return 0;
}

/* --- arrays --- */

/* Python's numbers become integers, those of values floats if any of them is a float. */
static const struct dtype *python_dtype(const struct plan *plan, const struct plan_array *array)
{
    for (size_t i = 0; array->is_object && i < plan->n_inputs; i++) {
        const struct pickle_document *objects = array->sources[i]->objects;

        for (uint64_t e = 0; e < objects->n_items; e++) {
            const struct pickle_item *item = &objects->items[e];

            if (item->kind == PICKLE_FLOAT)
                return &float64;
            for (uint32_t j = 0; item->kind == PICKLE_LIST && j < item->n_bytes_or_items; j++)
                if (item->as.items[j].kind == PICKLE_FLOAT)
                    return &float64;
        }
    }
    return &int64;
}

/* Open a policy, of which the array of indices is given. */
static int open_policy(struct plan *plan, struct sparse_policy *p, struct plan_array *index,
                       struct error *err)
{
    struct plan_array *value = &plan->arrays[index->binding.value_array];
    const struct dtype *dtype = &value->sources[0]->header.dtype;
    const uint64_t n = index->spec.n_targets + 1;

    if (index->is_object != value->is_object)
        return plan_refuse(plan, value, err, "expected objects where the indices are objects");
    if (!value->is_object && (!dtype_is_number(dtype) || dtype->kind == DTYPE_BOOL))
        return plan_refuse(plan, value, err,
                           "dtype %s cannot be averaged; use --merge first, or --copy both parts",
                           dtype_name(dtype).text);
    p->form = index->is_object ? SPARSE_OBJECT : index->binding.sparse;
    p->spec = index->spec;
    index->spec = (struct spec){0};
    p->parts[INDEX] = (struct part){.array = index, .python = &int64};
    p->parts[VALUE] = (struct part){.array = value, .python = python_dtype(plan, value)};
    for (struct part *part = p->parts; part < p->parts + 2; part++) {
        part->rows.own = (struct reader){.arrays = part->array->sources,
                                         .n_arrays = plan->n_inputs,
                                         .csr = part->array->csr,
                                         .at_random = true};
        part->dtype = part->array->sources[0]->header.dtype;
        part->is_decided = p->form != SPARSE_OBJECT;
        if (batch_open(&part->rows, plan->settings->budget, err) != 0)
            return -1;
    }
    if (p->form == SPARSE_PADDED)
        p->width = index->sources[0]->header.shape[1];
    return new_items(&p->tallies, n, "sparse policies", err) != 0 ||
                   new_items(&p->named, n, "sparse policies", err) != 0
               ? -1
               : new_items(&p->list, n, "sparse policies", err);
}

int sparse_open(struct sparse_means *means, struct plan *plan, struct error *err)
{
    means->plan = plan;
    if (new_items(&means->policies, plan->n_arrays + 1, "sparse policies", err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        struct plan_array *array = &plan->arrays[i];

        if (array->binding.role != ROLE_POLICY_INDEX ||
            (array->csr != NULL && array->csr->first[plan->n_rows] == 0) || /* nothing to merge */
            (!array->is_object && array->sources[0]->row_nbytes == 0))
            continue;
        if (open_policy(plan, &means->policies[means->n_policies++], array, err) != 0)
            return -1;
    }
    return means->n_policies > 0
               ? scratch_open(&means->unions, INT64_MAX, plan->settings->budget, err)
               : 0;
}

/* Write a row: the means at a place or, where place is NULL, the row as it is. One that is not
 * selected only keeps its slot. */
static int put_row(struct sparse_means *means, struct sparse_policy *p, uint64_t row,
                   uint64_t *place, struct error *err)
{
    const struct part *index = &p->parts[INDEX];
    const uint64_t first =
        p->form == SPARSE_CSR ? p->n_written + index->bytes.n_bytes / index->dtype.itemsize : 0;
    int status = 0;

    if (place != NULL)
        status = put_mean(means, p, row, place, err);
    else if (selection_has(&means->plan->selection, row, 0))
        status = keep_row(p, row, err);
    else if (p->form == SPARSE_PADDED)
        status = add_entries(p, INDEX, 0, err) == NULL || add_entries(p, VALUE, 0, err) == NULL;
    if (p->form == SPARSE_CSR) /* where the old row began is no longer needed */
        means->plan->csrs[index->array->binding.offsets_array].first[row] = first;
    return status == 0 && index->bytes.n_bytes >= FLUSH_NBYTES ? flush(p, err) : -(status != 0);
}

int sparse_begin(struct sparse_means *means, struct error *err)
{
    for (struct sparse_policy *p = means->policies; p < means->policies + means->n_policies; p++)
        for (struct part *part = p->parts; part < p->parts + 2; part++) {
            const struct array *array = part->array->sources[0];
            const uint64_t n_rows = means->plan->n_rows;
            /* In CSR form a union is no longer than its rows together. */
            const struct npy_header form = {
                .dtype = array->header.dtype,
                .n_dims = 1 + (p->form == SPARSE_PADDED),
                .shape = {p->form == SPARSE_CSR ? part->array->csr->first[n_rows] : n_rows,
                          p->width}};

            if ((part->made = made_new(means->plan, array->key, &form, err)) == NULL)
                return -1;
        }
    return 0;
}

/* Write all rows before `end` that have not been written, as they are; but the last one, if place
 * is not NULL, from the means there. */
static int put_rows(struct sparse_means *means, uint64_t end, uint64_t *place, struct error *err)
{
    for (; means->next < end; means->next++)
        for (size_t i = 0; i < means->n_policies; i++)
            if (put_row(means, &means->policies[i], means->next,
                        means->next + 1 == end ? place : NULL, err) != 0)
                return -1;
    return 0;
}

int sparse_write(struct sparse_means *means, uint64_t row, uint64_t place, struct error *err)
{
    return put_rows(means, row + 1, &place, err);
}

int sparse_finish(struct sparse_means *means, struct error *err)
{
    struct plan *plan = means->plan;

    if (means->n_policies > 0 && put_rows(means, plan->n_rows, NULL, err) != 0)
        return -1;
    for (struct sparse_policy *p = means->policies; p < means->policies + means->n_policies; p++) {
        if (flush(p, err) != 0 || made_put(plan, p->parts[INDEX].made, err) != 0 ||
            made_put(plan, p->parts[VALUE].made, err) != 0)
            return -1;
        if (p->form == SPARSE_CSR)
            plan->csrs[p->parts[INDEX].array->binding.offsets_array].first[plan->n_rows] =
                p->n_written;
    }
    return 0;
}

void sparse_release(struct sparse_means *means)
{
    for (struct sparse_policy *p = means->policies; p < means->policies + means->n_policies; p++) {
        for (int k = 0; k < 2; k++) {
            batch_release(&p->parts[k].rows);
            bytes_release(&p->parts[k].bytes);
        }
        spec_release(&p->spec);
        free(p->tallies);
        free(p->named);
        free(p->list);
    }
    free(means->policies);
    scratch_close(&means->unions);
    bytes_release(&means->list);
    *means = (struct sparse_means){0};
}
