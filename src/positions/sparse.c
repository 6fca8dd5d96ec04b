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
#include "positions/sparse.h"

#include "engine/made.h"
#include "positions/table.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

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
    struct made *made;  /* of the plan */
    struct dtype dtype; /* of the row that is made */
    bool is_decided;    /* by a row of the position that is not empty */
    struct bytes bytes; /* rows that are not written yet; of objects, the row that is made */
};

struct sparse_policy {
    struct part index, value;
    enum sparse_form form;
    struct spec spec;       /* owned: of the indices */
    bool has_fractions;     /* Python numbers: some are floats */
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

static int check_types(const struct plan *plan, const struct sparse_policy *p, struct error *err)
{
    const struct dtype *dtype = &p->value.array->sources[0]->header.dtype;
    char name[32];

    if (p->index.array->is_object != p->value.array->is_object)
        return plan_refuse(plan, p->value.array, err,
                           "expected objects where the indices are objects");
    if (p->value.array->is_object || (dtype_is_number(dtype) && dtype->kind != DTYPE_BOOL))
        return 0;
    dtype_name(dtype, name, sizeof name);
    return plan_refuse(plan, p->value.array, err,
                       "dtype %s cannot be averaged; use --merge first, or --copy both parts",
                       name);
}

int sparse_find(struct sparse_means *means, struct plan *plan, uint64_t max_nbytes,
                struct error *err)
{
    means->plan = plan;
    means->policies = calloc(plan->n_arrays + 1, sizeof *means->policies);
    if (means->policies == NULL)
        return error_no_memory(err, "sparse policies");
    for (size_t i = 0; i < plan->n_arrays; i++) {
        struct plan_array *array = &plan->arrays[i];
        struct sparse_policy *p = &means->policies[means->n_policies];

        if (array->binding.role != ROLE_POLICY_INDEX ||
            (array->csr != NULL && array->csr->first[plan->n_rows] == 0) || /* nothing to merge */
            (!array->is_object && array->sources[0]->row_nbytes == 0))
            continue;
        means->n_policies++;
        p->form = array->is_object ? SPARSE_OBJECT : array->binding.sparse;
        p->index.array = array;
        p->value.array = &plan->arrays[array->binding.value_array];
        if (check_types(plan, p, err) != 0)
            return -1;
        p->spec = array->spec;
        array->spec = (struct spec){0};
    }
    if (means->n_policies == 0)
        return 0;
    if (spill_init(&means->members,
                   table_n_boxes(plan->n_rows, 2 * sizeof(struct sparse_member), max_nbytes),
                   max_nbytes, plan->budget->tmpdir, err) != 0)
        return -1;
    means->rows_per_box = plan->n_rows / means->members.n_boxes + 1;
    return 0;
}

int sparse_add(struct sparse_means *means, const struct sparse_member *member, struct error *err)
{
    uint8_t *to;

    if (means->n_policies == 0)
        return 0;
    to = spill_add(&means->members, member->first / means->rows_per_box, sizeof *member, err);
    if (to == NULL)
        return -1;
    memcpy(to, member, sizeof *member);
    return 0;
}

/* --- rows --- */

static int read_row(struct sparse_policy *p, uint64_t row, struct row *index, struct row *value,
                    struct error *err)
{
    struct error why = {0};

    if (batch_read(&p->index.rows, row, 1, err) != 0 ||
        batch_read(&p->value.rows, row, 1, err) != 0)
        return -1;
    *index = batch_row(&p->index.rows, 0);
    *value = batch_row(&p->value.rows, 0);
    if (index->n != value->n) {
        error_set(&why, ERROR_DATA, "%" PRIu64 " indices, but %" PRIu64 " values", index->n,
                  value->n);
        return reader_fail(p->index.rows.reader, row, &why, err);
    }
    while (p->form == SPARSE_PADDED && index->n > 0 && row_int(index, index->n - 1) == 0 &&
           row_double(value, index->n - 1) == 0)
        index->n--;
    value->n = index->n;
    return 0;
}

/* Whether an entry is there: negative indices are padding. */
static int check_entry(const struct row *index, const struct row *value, uint64_t i, bool *is_there,
                       struct error *err)
{
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

/* What is made has the type of the first row with entries, or of the first one; Python's numbers
 * have 64 bits, and what is empty may have any type. */
static void decide_type(struct part *part, const struct row *row, const struct dtype *python)
{
    if (part->is_decided)
        return;
    if (row->n == 0) {
        if (row->items == NULL &&
            (part->array->binding.role != ROLE_POLICY_INDEX || dtype_is_integer(row->dtype)))
            part->dtype = *row->dtype;
        return;
    }
    part->dtype = row->items == NULL ? *row->dtype : *python;
    part->is_decided = true;
}

static int add_row(struct sparse_policy *p, const struct sparse_member *member, struct error *err)
{
    struct error why = {0};
    struct row index, value;

    if (read_row(p, member->row, &index, &value, err) != 0)
        return -1;
    decide_type(&p->index, &index, &int64);
    decide_type(&p->value, &value, p->has_fractions ? &float64 : &int64);
    p->row++;
    p->n_named = 0;
    for (uint64_t i = 0; i < index.n; i++) {
        int64_t from, to;
        struct tally *tally;
        bool is_there;

        if (check_entry(&index, &value, i, &is_there, &why) != 0)
            return reader_fail(p->index.rows.reader, member->row, &why, err);
        if (!is_there)
            continue;
        from = row_int(&index, i);
        if (kernel_indices(&p->spec, (uint32_t)member->transform, &int64, &from, &to, 1, &why) != 0)
            return reader_fail(p->index.rows.reader, member->row, &why, err);
        tally = &p->tallies[to];
        if (tally->row != p->row)
            p->named[p->n_named++] = (uint32_t)to;
        tally->x = tally->row != p->row ? row_double(&value, i) : tally->x + row_double(&value, i);
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

/* Add up the rows of a position. */
static int unite(struct sparse_policy *p, const struct sparse_member *members, size_t n,
                 struct error *err)
{
    p->position++;
    p->n_list = 0;
    p->weight = 0;
    if (p->form == SPARSE_OBJECT) {
        p->index.is_decided = p->value.is_decided = false;
        p->index.dtype = int64;
        p->value.dtype = p->has_fractions ? float64 : int64;
    }
    for (size_t i = 0; i < n; i++)
        if (add_row(p, &members[i], err) != 0)
            return -1;
    qsort(p->list, p->n_list, sizeof *p->list, compare_actions);
    return 0;
}

/* --- new rows --- */

/* Room for n elements more, which are zeros. */
static uint8_t *add_elements(struct part *part, uint64_t n, struct error *err)
{
    uint8_t *to = bytes_reserve(&part->bytes, n * part->dtype.itemsize + 1, err);

    if (to == NULL)
        return NULL;
    memset(to, 0, n * part->dtype.itemsize);
    part->bytes.n_bytes += n * part->dtype.itemsize;
    return to;
}

/* Room for a row of n entries in both parts. */
static int add_entries(struct sparse_policy *p, uint64_t n, uint8_t **index, uint8_t **value,
                       struct error *err)
{
    const uint64_t width = p->form == SPARSE_PADDED ? p->width : n;

    if (p->form == SPARSE_OBJECT)
        p->index.bytes.n_bytes = p->value.bytes.n_bytes = 0;
    *index = add_elements(&p->index, width, err);
    *value = *index != NULL ? add_elements(&p->value, width, err) : NULL;
    return *value != NULL ? 0 : -1;
}

/* The row of objects that was made. */
static int put_objects(struct sparse_policy *p, uint64_t row, uint64_t n, struct error *err)
{
    return made_put_list(p->index.made, row, &p->index.dtype, p->index.bytes.data, n, err) != 0 ||
                   made_put_list(p->value.made, row, &p->value.dtype, p->value.bytes.data, n,
                                 err) != 0
               ? -1
               : 0;
}

static int put_mean(struct sparse_policy *p, uint64_t row, struct error *err)
{
    const struct error misfit = {.kind = ERROR_DATA,
                                 .message = "an index of the mean does not fit the array's type"};
    uint8_t *index, *value;

    if (add_entries(p, p->n_list, &index, &value, err) != 0)
        return -1;
    for (size_t i = 0; i < p->n_list; i++) {
        if (dtype_put_int(&p->index.dtype, p->list[i], index + i * p->index.dtype.itemsize) != 0)
            return reader_fail(p->index.rows.reader, row, &misfit, err);
        dtype_put_double(&p->value.dtype, p->tallies[p->list[i]].sum / (double)p->weight,
                         value + i * p->value.dtype.itemsize);
    }
    return p->form == SPARSE_OBJECT ? put_objects(p, row, p->n_list, err) : 0;
}

/* A row of (N,k) objects as two arrays, without its padding. */
static int put_items(struct sparse_policy *p, uint64_t row, struct error *err)
{
    struct error why = {0};
    struct row from, numbers;
    uint8_t *index, *value;
    uint64_t n = 0;

    p->index.dtype = int64;
    p->value.dtype = p->has_fractions ? float64 : int64;
    if (read_row(p, row, &from, &numbers, err) != 0 ||
        add_entries(p, from.n, &index, &value, err) != 0)
        return -1;
    for (uint64_t i = 0; i < from.n; i++) {
        bool is_there;

        if (check_entry(&from, &numbers, i, &is_there, &why) != 0)
            return reader_fail(p->index.rows.reader, row, &why, err);
        if (!is_there)
            continue;
        dtype_put_int(&int64, row_int(&from, i), index + 8 * n);
        if (p->has_fractions)
            dtype_put_double(&float64, row_double(&numbers, i), value + 8 * n++);
        else
            dtype_put_int(&int64, row_int(&numbers, i), value + 8 * n++);
    }
    return put_objects(p, row, n, err);
}

/* A row as it is. */
static int keep_row(struct sparse_policy *p, uint64_t row, struct error *err)
{
    struct part *const parts[] = {&p->index, &p->value};

    if (p->form == SPARSE_OBJECT && p->index.array->sources[0]->header.n_dims > 1)
        return put_items(p, row, err);
    for (int k = 0; k < 2; k++) {
        struct part *part = parts[k];
        uint8_t *to;

        if (p->form == SPARSE_OBJECT) {
            made_put_item(part->made, row, reader_items(part->rows.reader, row));
            continue;
        }
        if (batch_read(&part->rows, row, 1, err) != 0)
            return -1;
        to = add_elements(part, p->form == SPARSE_PADDED ? p->width : batch_row(&part->rows, 0).n,
                          err);
        if (to == NULL)
            return -1;
        memcpy(to, part->rows.bytes.data, part->rows.bytes.n_bytes);
    }
    return 0;
}

/* Write what has gathered. */
static int flush(struct sparse_policy *p, struct error *err)
{
    uint64_t n;

    if (p->form == SPARSE_OBJECT || p->index.bytes.n_bytes == 0) /* pickled rows have no itemsize */
        return 0;
    n = p->index.bytes.n_bytes / p->index.dtype.itemsize /
        (p->form == SPARSE_PADDED ? p->width : 1);
    if (made_write(p->index.made, p->n_written, p->index.bytes.data, n, err) != 0 ||
        made_write(p->value.made, p->n_written, p->value.bytes.data, n, err) != 0)
        return -1;
    p->n_written += n;
    p->index.bytes.n_bytes = p->value.bytes.n_bytes = 0;
    return 0;
}

/* --- over all rows --- */

static int compare_members(const void *left, const void *right)
{
    const struct sparse_member *a = left, *b = right;

    if (a->first != b->first)
        return a->first < b->first ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static int append(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    return bytes_append(self, bytes, n_bytes, err);
}

/* One row: the mean of its position's n members, or the row as it is, or, of one that is left out,
 * nothing that is seen. */
static int write_row(const struct sparse_means *means, struct sparse_policy *p, uint64_t row,
                     size_t n, struct error *err)
{
    uint8_t *index, *value;
    int status = 0;

    if (n > 0)
        status = put_mean(p, row, err);
    else if (selection_has(&means->plan->selection, row, 0))
        status = keep_row(p, row, err);
    else if (p->form == SPARSE_PADDED)
        status = add_entries(p, 0, &index, &value, err);
    if (status != 0)
        return -1;
    if (p->form == SPARSE_CSR)
        p->first[row + 1] = p->n_written + p->index.bytes.n_bytes / p->index.dtype.itemsize;
    return p->index.bytes.n_bytes >= FLUSH_NBYTES ? flush(p, err) : 0;
}

/* Unite the positions whose first rows are in a box; find the longest row, or write all of them. */
static int do_box(struct sparse_means *means, struct sparse_policy *p, size_t box, bool writes,
                  struct error *err)
{
    const uint64_t begin = box * means->rows_per_box, end = begin + means->rows_per_box;
    struct sparse_member *members;
    size_t n, at = 0;

    means->box.n_bytes = 0;
    if (spill_each(&means->members, box, append, &means->box, err) != 0)
        return -1;
    members = (struct sparse_member *)(void *)means->box.data;
    n = means->box.n_bytes / sizeof *members;
    if (n > 0)
        qsort(members, n, sizeof *members, compare_members);
    for (uint64_t row = begin; row < end && row < means->plan->n_rows; row++) {
        const size_t from = at;

        while (at < n && members[at].first == row)
            at++;
        if (at > from && unite(p, &members[from], at - from, err) != 0)
            return -1;
        if (p->width < p->n_list)
            p->width = p->n_list;
        if (writes && write_row(means, p, row, at - from, err) != 0)
            return -1;
    }
    return 0;
}

static int do_boxes(struct sparse_means *means, struct sparse_policy *p, bool writes,
                    struct error *err)
{
    for (size_t box = 0; box < means->members.n_boxes; box++)
        if (do_box(means, p, box, writes, err) != 0)
            return -1;
    return 0;
}

/* --- arrays --- */

/* Whether a value among Python's numbers is a float. */
static bool find_fractions(const struct batch *values)
{
    for (size_t i = 0; i < values->reader->n_arrays; i++) {
        const struct pickle_document *objects = values->reader->arrays[i]->objects;

        for (uint64_t k = 0; k < objects->n_items; k++) {
            const struct pickle_item *item = &objects->items[k];

            if (item->kind == PICKLE_FLOAT)
                return true;
            for (uint32_t j = 0; item->kind == PICKLE_LIST && j < item->n_bytes_or_items; j++)
                if (item->as.items[j].kind == PICKLE_FLOAT)
                    return true;
        }
    }
    return false;
}

static int open_policy(struct sparse_means *means, struct sparse_policy *p, struct error *err)
{
    const struct plan *plan = means->plan;
    struct part *const parts[] = {&p->index, &p->value};

    for (int k = 0; k < 2; k++) {
        const struct plan_array *array = parts[k]->array;

        parts[k]->rows.own = (struct reader){.arrays = array->sources,
                                             .n_arrays = plan->n_archives,
                                             .csr = array->csr,
                                             .at_random = true};
        parts[k]->dtype = array->sources[0]->header.dtype;
        parts[k]->is_decided = !array->is_object;
        if (batch_open(&parts[k]->rows, plan->budget, err) != 0)
            return -1;
    }
    if (p->form == SPARSE_OBJECT)
        p->has_fractions = find_fractions(&p->value.rows);
    p->tallies = calloc(p->spec.n_targets + 1, sizeof *p->tallies);
    p->named = calloc(p->spec.n_targets + 1, sizeof *p->named);
    p->list = calloc(p->spec.n_targets + 1, sizeof *p->list);
    if (p->form == SPARSE_CSR)
        p->first = calloc(plan->n_rows + 1, sizeof *p->first);
    if (p->tallies == NULL || p->named == NULL || p->list == NULL ||
        (p->form == SPARSE_CSR && p->first == NULL))
        return error_no_memory(err, "sparse policies");
    return 0;
}

static int open_made(const struct sparse_means *means, struct sparse_policy *p, struct part *part,
                     struct error *err)
{
    const struct array *array = part->array->sources[0];
    struct made_form form = {.key = array->key, .dtype = array->header.dtype};

    if (p->form == SPARSE_PADDED) {
        form.n_dims = 1;
        form.row_shape[0] = p->width;
    } else if (p->form == SPARSE_CSR) { /* no union is longer than its rows together */
        form.n_elements = part->array->csr->first[means->plan->n_rows];
    }
    part->made = made_new(means->plan, &form, err);
    return part->made != NULL ? 0 : -1;
}

static void close_policy(struct sparse_policy *p)
{
    struct part *const parts[] = {&p->index, &p->value};

    for (int k = 0; k < 2; k++) {
        batch_release(&parts[k]->rows);
        bytes_release(&parts[k]->bytes);
    }
    spec_release(&p->spec);
    free(p->tallies);
    free(p->named);
    free(p->list);
    free(p->first);
    *p = (struct sparse_policy){0};
}

static int write_policy(struct sparse_means *means, struct sparse_policy *p, struct error *err)
{
    struct plan *plan = means->plan;

    if (open_policy(means, p, err) != 0)
        return -1;
    if (p->form == SPARSE_PADDED) {
        p->width = p->index.array->sources[0]->header.shape[1];
        if (do_boxes(means, p, false, err) != 0)
            return -1;
    }
    if (open_made(means, p, &p->index, err) != 0 || open_made(means, p, &p->value, err) != 0 ||
        do_boxes(means, p, true, err) != 0 || flush(p, err) != 0 ||
        made_put(plan, p->index.made, err) != 0 || made_put(plan, p->value.made, err) != 0)
        return -1;
    if (p->form == SPARSE_CSR) {
        struct csr *csr = &plan->csrs[p->index.array->binding.offsets_array];

        free(csr->first);
        csr->first = p->first;
        p->first = NULL;
    }
    close_policy(p);
    return 0;
}

int sparse_write(struct sparse_means *means, struct error *err)
{
    for (size_t i = 0; i < means->n_policies; i++)
        if (write_policy(means, &means->policies[i], err) != 0)
            return -1;
    return 0;
}

void sparse_release(struct sparse_means *means)
{
    for (size_t i = 0; i < means->n_policies; i++)
        close_policy(&means->policies[i]);
    free(means->policies);
    spill_release(&means->members);
    bytes_release(&means->box);
    *means = (struct sparse_means){0};
}
