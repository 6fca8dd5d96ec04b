/*
 * sparse.c - means of sparse policies. While positions are found, all that is kept of a row is
 * where it belongs and how it gets there; rows of policies, which have any length, are fetched
 * afterwards.
 *
 * Positions come back in the order of their first rows. Of each, the entries of its rows are added
 * up by what they name, and those that were met become one row, ascending. That row and all that
 * stay as they are go to new arrays in the form of the old ones; only lists of (N,k) objects become
 * (N,) rows, since a union has no length of its own.
 */
#include "positions/parts.h"

#define FLUSH_NBYTES (256u << 10)

static const struct dtype int64 = {.kind = DTYPE_INT, .itemsize = 8};
static const struct dtype float64 = {.kind = DTYPE_FLOAT, .itemsize = 8};

/* What the rows of a position say of one action. */
struct tally {
    double sum, x;          /* weighed, over rows; of the row at hand */
    uint64_t position, row; /* that it was met in last */
};

/* Indices or values. */
struct part {
    struct plan_array *array; /* borrowed */
    struct batch rows;
    struct made *made;          /* of the plan */
    const struct dtype *python; /* what Python's numbers become */
    struct dtype dtype;         /* of the row that is made */
    bool is_decided;            /* by a row of the position that is not empty */
    struct bytes bytes; /* rows that are not written yet; of objects, the row that is made */
};

enum { INDEX, VALUE };

struct sparse_policy {
    struct part parts[2];
    enum sparse_form form;
    struct spec spec;       /* owned: of the indices */
    struct tally *tallies;  /* owned, by action */
    uint32_t *named, *list; /* owned: the actions of the row, and of the position */
    size_t n_named, n_list;
    uint64_t position, row; /* counted from 1 */
    uint64_t weight;        /* of the position */
    uint64_t width;         /* padded: of a row that is written */
    uint64_t n_written;     /* rows or elements that are in the file */
    uint64_t *first;        /* owned: CSR, where the new rows begin */
};

/* --- which policies --- */

int sparse_find(struct sparse_means *means, struct plan *plan, uint64_t max_nbytes,
                struct error *err)
{
    const size_t n_bytes = sizeof(struct sparse_member);

    means->plan = plan;
    means->policies = calloc(plan->n_arrays + 1, sizeof *means->policies);
    if (means->policies == NULL)
        return error_no_memory(err, "sparse policies");
    for (size_t i = 0; i < plan->n_arrays; i++) {
        struct plan_array *array = &plan->arrays[i], *values;
        struct sparse_policy *p = &means->policies[means->n_policies];

        if (array->binding.role != ROLE_POLICY_INDEX ||
            (array->csr != NULL && array->csr->first[plan->n_rows] == 0) || /* nothing to merge */
            (!array->is_object && array->sources[0]->row_nbytes == 0))
            continue;
        means->n_policies++;
        p->form = array->is_object ? SPARSE_OBJECT : array->binding.sparse;
        p->parts[INDEX].array = array;
        p->parts[VALUE].array = values = &plan->arrays[array->binding.value_array];
        if (array->is_object != values->is_object)
            return plan_refuse(plan, values, err, "expected objects where the indices are objects");
        const struct dtype *dtype = &values->sources[0]->header.dtype;
        if (!values->is_object && (!dtype_is_number(dtype) || dtype->kind == DTYPE_BOOL))
            return plan_refuse(plan, values, err,
                               "dtype %s cannot be averaged; use --merge first, or --copy both "
                               "parts",
                               dtype_name(dtype).text);
        p->spec = array->spec;
        array->spec = (struct spec){0};
    }
    means->members = (struct boxes){.n = boxes_wanted(plan->n_rows, 2 * n_bytes, max_nbytes),
                                    .record_nbytes = n_bytes,
                                    .n_rows = plan->n_rows,
                                    .max_nbytes = max_nbytes,
                                    .tmpdir = plan->settings->budget->tmpdir};
    return means->n_policies > 0 ? boxes_open(&means->members, err) : 0;
}

/* --- rows --- */

static int fail_row(const struct sparse_policy *p, uint64_t row, const struct error *why,
                    struct error *err)
{
    return reader_fail(p->parts[INDEX].rows.reader, row, why, err);
}

/* A row's indices and values, as many of each. */
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

/* Whether an entry is there: negative indices are padding. */
static int check_entry(const struct row found[2], uint64_t i, bool *is_there, struct error *err)
{
    const struct row *index = &found[INDEX], *value = &found[VALUE];
    const enum pickle_kind kind = index->items != NULL ? index->items[i].kind : PICKLE_NONE;
    const enum pickle_kind number = value->items != NULL ? value->items[i].kind : PICKLE_FLOAT;

    *is_there = row_int(index, i) >= 0;
    if (index->items == NULL ? !dtype_is_integer(index->dtype) : kind != PICKLE_INT)
        return error_set(err, ERROR_DATA, "an index is no integer");
    if (*is_there && ((value->items == NULL &&
                       (!dtype_is_number(value->dtype) || value->dtype->kind == DTYPE_BOOL)) ||
                      (number != PICKLE_INT && number != PICKLE_FLOAT)))
        return error_set(err, ERROR_DATA, "a value is no number that can be averaged");
    return 0;
}

static int add_row(struct sparse_policy *p, const struct sparse_member *member, struct error *err)
{
    struct error why = {0};
    struct row found[2];

    if (read_row(p, member->row, found, err) != 0)
        return -1;
    /* What is made has the type of the first row with entries, or of the first one; Python's
     * numbers have 64 bits, and what is empty may have any type. */
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
    p->weight += member->weight;
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

static int compare_actions(const void *left, const void *right)
{
    const uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

    return a < b ? -1 : a > b;
}

/* --- new rows --- */

/* Room for a row of n entries, zeros at first, in one of the parts. */
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

/* The row of objects that was made. */
static int put_objects(struct sparse_policy *p, uint64_t row, uint64_t n, struct error *err)
{
    for (struct part *part = p->parts; part < p->parts + 2; part++)
        if (made_put_list(part->made, row, &part->dtype, part->bytes.data, n, err) != 0)
            return -1;
    return 0;
}

static int put_mean(struct sparse_policy *p, uint64_t row, struct error *err)
{
    const struct error misfit = {.kind = ERROR_DATA,
                                 .message = "an index of the mean does not fit the array's type"};
    const struct dtype *index = &p->parts[INDEX].dtype, *value = &p->parts[VALUE].dtype;
    uint8_t *actions = add_entries(p, INDEX, p->n_list, err),
            *means = actions != NULL ? add_entries(p, VALUE, p->n_list, err) : NULL;

    if (means == NULL)
        return -1;
    for (size_t i = 0; i < p->n_list; i++) {
        if (dtype_put_int(index, p->list[i], actions + i * index->itemsize) != 0)
            return fail_row(p, row, &misfit, err);
        dtype_put_double(value, p->tallies[p->list[i]].sum / (double)p->weight,
                         means + i * value->itemsize);
    }
    return p->form == SPARSE_OBJECT ? put_objects(p, row, p->n_list, err) : 0;
}

/* A row as it is; one of (N,k) objects as two arrays, without its padding. */
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

/* Write what has gathered. */
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

/* --- over all rows --- */

/* Go over all rows, and find the longest one, or write them: the mean of a position's members, or
 * the row as it is, or, of one that is left out, nothing that is seen. */
static int do_rows(struct sparse_means *means, struct sparse_policy *p, bool writes,
                   struct error *err)
{
    const struct part *index = &p->parts[INDEX];
    const void *records;
    ssize_t n = boxes_next(&means->members, &records, err);
    int status = 0;

    for (uint64_t row = 0; row < means->plan->n_rows && n >= 0; row++) {
        const struct sparse_member *members = records;
        const bool is_united = n > 0 && members->first == row;

        p->position++;
        p->n_list = 0;
        p->weight = 0;
        for (int k = 0; k < 2 && p->form == SPARSE_OBJECT; k++) {
            p->parts[k].is_decided = false;
            p->parts[k].dtype = *p->parts[k].python;
        }
        for (ssize_t i = 0; is_united && i < n; i++)
            if (add_row(p, &members[i], err) != 0)
                return -1;
        qsort(p->list, p->n_list, sizeof *p->list, compare_actions);
        if (p->width < p->n_list)
            p->width = p->n_list;
        if (is_united)
            n = boxes_next(&means->members, &records, err);
        if (!writes)
            continue;
        if (is_united)
            status = put_mean(p, row, err);
        else if (selection_has(&means->plan->selection, row, 0))
            status = keep_row(p, row, err);
        else if (p->form == SPARSE_PADDED)
            status = add_entries(p, INDEX, 0, err) == NULL || add_entries(p, VALUE, 0, err) == NULL;
        if (status != 0)
            return -1;
        if (p->form == SPARSE_CSR)
            p->first[row + 1] = p->n_written + index->bytes.n_bytes / index->dtype.itemsize;
        if (index->bytes.n_bytes >= FLUSH_NBYTES && flush(p, err) != 0)
            return -1;
    }
    return n < 0 ? -1 : 0;
}

/* --- arrays --- */

static int open_policy(struct sparse_means *means, struct sparse_policy *p, struct error *err)
{
    const struct plan *plan = means->plan;
    const uint64_t n = p->spec.n_targets + 1;

    for (int k = 0; k < 2; k++) {
        struct part *part = &p->parts[k];

        part->rows.own = (struct reader){.arrays = part->array->sources,
                                         .n_arrays = plan->n_archives,
                                         .csr = part->array->csr,
                                         .at_random = true};
        part->dtype = part->array->sources[0]->header.dtype;
        part->is_decided = p->form != SPARSE_OBJECT;
        if (batch_open(&part->rows, plan->settings->budget, err) != 0)
            return -1;
        /* Values are integers unless one among Python's numbers is a float. */
        part->python = &int64;
        for (size_t i = 0; k == VALUE && p->form == SPARSE_OBJECT && i < plan->n_archives; i++) {
            const struct pickle_document *objects = part->array->sources[i]->objects;

            for (uint64_t e = 0; e < objects->n_items && part->python == &int64; e++) {
                const struct pickle_item *item = &objects->items[e];

                for (uint32_t j = 0; item->kind == PICKLE_LIST && j < item->n_bytes_or_items; j++)
                    if (item->as.items[j].kind == PICKLE_FLOAT)
                        part->python = &float64;
                if (item->kind == PICKLE_FLOAT)
                    part->python = &float64;
            }
        }
    }
    p->tallies = calloc(n, sizeof *p->tallies);
    p->named = calloc(n, sizeof *p->named);
    p->list = calloc(n, sizeof *p->list);
    p->first = calloc(p->form == SPARSE_CSR ? plan->n_rows + 1 : 1, sizeof *p->first);
    return p->tallies != NULL && p->named != NULL && p->list != NULL && p->first != NULL
               ? 0
               : error_no_memory(err, "sparse policies");
}

static void close_policy(struct sparse_policy *p)
{
    for (int k = 0; k < 2; k++) {
        batch_release(&p->parts[k].rows);
        bytes_release(&p->parts[k].bytes);
    }
    spec_release(&p->spec);
    free(p->tallies);
    free(p->named);
    free(p->list);
    free(p->first);
    *p = (struct sparse_policy){0};
}

int sparse_write(struct sparse_means *means, struct error *err)
{
    struct plan *plan = means->plan;

    for (struct sparse_policy *p = means->policies; p < means->policies + means->n_policies; p++) {
        if (open_policy(means, p, err) != 0)
            return -1;
        if (p->form == SPARSE_PADDED) {
            p->width = p->parts[INDEX].array->sources[0]->header.shape[1];
            if (do_rows(means, p, false, err) != 0)
                return -1;
        }
        for (struct part *part = p->parts; part < p->parts + 2; part++) {
            const struct array *array = part->array->sources[0];
            struct made_form form = {.key = array->key,
                                     .dtype = array->header.dtype,
                                     .n_dims = p->form == SPARSE_PADDED,
                                     .row_shape = {p->width}};

            if (p->form == SPARSE_CSR) /* no union is longer than its rows together */
                form.n_elements = part->array->csr->first[plan->n_rows];
            part->made = made_new(plan, &form, err);
            if (part->made == NULL)
                return -1;
        }
        if (do_rows(means, p, true, err) != 0 || flush(p, err) != 0 ||
            made_put(plan, p->parts[INDEX].made, err) != 0 ||
            made_put(plan, p->parts[VALUE].made, err) != 0)
            return -1;
        if (p->form == SPARSE_CSR) {
            struct csr *csr = &plan->csrs[p->parts[INDEX].array->binding.offsets_array];

            free(csr->first);
            csr->first = p->first;
            p->first = NULL;
        }
        close_policy(p);
    }
    return 0;
}

void sparse_release(struct sparse_means *means)
{
    for (size_t i = 0; i < means->n_policies; i++)
        close_policy(&means->policies[i]);
    free(means->policies);
    boxes_release(&means->members);
    *means = (struct sparse_means){0};
}
