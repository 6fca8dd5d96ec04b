/*
 * dedupe.c - rows of one position become one row, in three passes that keep to a memory limit:
 *
 * 1. Every row is read once. Its averaged arrays are copied to what they will become, and its
 *    labels go with its key to a sorter.
 * 2. Sorting brings the rows of each position together, in input order. The first row gives the
 *    orientation; the others are moved into it and added up. The result of each class of several
 *    rows goes to a second sorter, by the number of its first row; single rows stay as they are.
 * 3. These results, by ascending row, correct the copies.
 *
 * Sparse policies, whose rows have any length, are merged apart (sparse.c).
 */
#include "positions/positions.h"

#include "engine/kernel.h"
#include "positions/parts.h"

#include <math.h>

/* An array whose rows are averaged or compared. */
struct label {
    struct plan_array *array; /* borrowed */
    bool is_value;
    uint64_t n;        /* elements of a row */
    uint64_t at;       /* its offset among the labels of a row, a multiple of 16 */
    struct spec spec;  /* owned: taken from the array, which loses it in plan_keep_rows */
    struct made *made; /* of the plan: the averaged array; or NULL */
};

/* A row on its way to its class, followed by its labels. */
struct row_record {
    _Alignas(16) struct key_value key;
    uint64_t row, weight; /* after the key, rows are sorted by their numbers */
    uint64_t others;      /* a hash of the arrays that are kept */
    struct key_ties ties;
};

/* A class on its way back to the rows, followed by the means of the labels. */
struct class_record {
    uint64_t row, weight, n_rows; /* row: its first; classes are sorted by it */
    struct key_value key;
    double min, max; /* of the element of the values that differs most, and by how much */
    double spread;
    uint64_t place; /* of the means of its sparse policies */
};

struct dedupe {
    struct plan *plan;
    const struct settings *settings;
    struct dedupe_result *result;
    struct key key;

    /* Owned. The first n_labels are averaged, or just compared if they are values and --merge is
     * first. Of the others the first row's is kept, and a hash tells whether they differ. */
    struct label *labels;
    size_t n_labels, n_all;
    uint64_t labels_nbytes, n_elements, n_values; /* of a row, in the first n_labels */
    struct key_beside *beside; /* owned: all labels, read in step with the keys */

    struct key_rows keys;      /* of all rows */
    struct bytes chunk_counts; /* of a chunk of them, 4 bytes each */

    /* While rows are read, of their input: its number, its rows, and symaug_count, or NULL. */
    size_t input;
    uint64_t first, end;
    const struct array *count;
    struct batch counted;

    struct sorter rows, classes;
    struct class_record class; /* the class being joined, */
    uint64_t first_others;     /* from its first row, */
    struct key_ties first_ties;
    bool others_differ;
    double *sums;   /* owned: of all elements of its rows, followed by bounds */
    double *bounds; /* the least and the greatest of each value */
    uint8_t *moved; /* owned: a row of an array in the first one's orientation */
    struct made *counts;
    struct sparse_means sparse;
    struct error why; /* a row is refused */
};

/* --- which labels --- */

/* Add an array to the labels, if it is one of those of which the first row's is kept, or else one
 * of the others, and there is something in it to average or compare. */
static int add_label(struct dedupe *d, struct plan_array *array, bool is_kept, struct error *err)
{
    struct label *label = &d->labels[d->n_all];
    struct npy_header form = array->sources[0]->header;
    const struct dtype *dtype = &array->spec.dtype;
    const enum role role = array->binding.role;
    const bool is_value = role == ROLE_VALUE || role == ROLE_WDL;
    const bool is_averaged = !is_kept && d->settings->means;

    if (is_kept == (is_value || role == ROLE_POLICY || role == ROLE_ACTION_VALUES) ||
        (!d->settings->means && !is_value) || !plan_array_has_rows(array) ||
        plan_key_planes(d->plan, array) != NULL)
        return 0;
    if (is_averaged && (!dtype_is_number(dtype) || dtype->kind == DTYPE_BOOL))
        return plan_refuse(d->plan, array, err, "dtype %s cannot be averaged; use --copy %s",
                           dtype_name(dtype).text, array->key);
    if (is_averaged && is_value && dtype->kind != DTYPE_FLOAT)
        return plan_refuse(d->plan, array, err,
                           "values of dtype %s cannot be averaged: their means would be rounded "
                           "to whole numbers; use --copy %s to keep the first row's",
                           dtype_name(dtype).text, array->key);
    /* Sparse policies are left to sparse.c. */
    if (array->is_object || array->binding.sparse != SPARSE_NONE ||
        array->sources[0]->row_nbytes == 0 || (!is_kept && !dtype_is_number(dtype)))
        return 0;
    d->beside[d->n_all++] = (struct key_beside){array->sources, is_kept ? &label->spec : NULL};
    *label = (struct label){.array = array,
                            .is_value = is_value,
                            .n = array->spec.row_nbytes / dtype->itemsize,
                            .at = d->labels_nbytes,
                            .spec = array->spec};
    array->spec = (struct spec){0};
    if (!is_kept) {
        d->n_labels++;
        d->labels_nbytes += (label->spec.row_nbytes + 15) / 16 * 16;
        d->n_elements += label->n;
        d->n_values += is_value ? label->n : 0;
    }
    if (!is_averaged)
        return 0;
    form.shape[0] = d->plan->n_rows;
    label->made = made_new(d->plan, array->key, &form, err);
    return label->made != NULL ? 0 : -1;
}

static int find_labels(struct dedupe *d, struct error *err)
{
    const struct plan *plan = d->plan;

    if (new_items(&d->labels, plan->n_arrays, "labels", err) != 0 ||
        new_items(&d->beside, plan->n_arrays, "labels", err) != 0)
        return -1;
    for (size_t i = 0; i < 2 * plan->n_arrays; i++) /* those that are kept come last */
        if (add_label(d, &plan->arrays[i % plan->n_arrays], i >= plan->n_arrays, err) != 0)
            return -1;
    return 0;
}

/* --- rows to the sorter --- */

/* Find the input that holds a row, and turn the row's number into its number there. */
static const char *input_of(const struct plan *plan, uint64_t *row)
{
    size_t i = 0;

    while (*row >= plan->inputs[i].n_rows)
        *row -= plan->inputs[i++].n_rows;
    return plan->inputs[i].archive.path;
}

/* Refuse a row that cannot be merged, and d->why. key: the array at fault, or NULL. */
static int refuse_row(const struct dedupe *d, const char *key, uint64_t row, struct error *err)
{
    const char *path = input_of(d->plan, &row);
    const struct error_place place = {.file = path, .array = key, .has_row = true, .row = row};

    return error_set_at(err, d->why.kind, &place, "%s", d->why.message);
}

/* Find how many rows a row stands for: 1, unless its input says it. Rows ascend. */
static int find_count(struct dedupe *d, uint64_t row, int64_t *count, struct error *err)
{
    for (; row >= d->end; d->input++) {
        const struct shard *input = &d->plan->inputs[d->input];

        d->first = d->end;
        d->end += input->n_rows;
        d->count = archive_in_find(&input->archive, PLAN_COUNT_KEY);
        batch_release(&d->counted);
        d->counted = (struct batch){.own = {.arrays = &d->count, .n_arrays = 1}};
        if (d->count == NULL)
            continue;
        if (d->count->header.n_dims != 1 || d->count->n_rows != input->n_rows ||
            !dtype_is_integer(&d->count->header.dtype))
            return array_fail(d->count, err, "expected one whole number for each row");
        if (batch_open(&d->counted, d->settings->budget, err) != 0)
            return -1;
    }
    *count = 1;
    if (d->count == NULL)
        return 0;
    if (batch_read(&d->counted, row - d->first, 1, err) != 0)
        return -1;
    const struct row told = batch_row(&d->counted, 0);
    *count = row_int(&told, 0);
    return 0;
}

/* Hand a row on to be sorted. */
static int put_row(void *self, uint64_t i, int worker, struct error *err)
{
    const struct dedupe *d = self;
    const struct key_rows *rows = &d->keys;
    const struct key_found *found = &rows->found[i];
    const struct row_record record = {.key = found->key,
                                      .row = rows->walk.first + i,
                                      .weight = bytes_get_le32(d->chunk_counts.data + 4 * i),
                                      .others = found->hash,
                                      .ties = found->ties};
    uint8_t *to = (uint8_t *)rows->records[0] + i * d->rows.record_nbytes;

    (void)worker;
    (void)err;
    memcpy(to, &record, sizeof record);
    for (size_t k = 0; k < d->n_labels; k++)
        memcpy(to + sizeof record + d->labels[k].at, batch_row(key_rows_beside(rows, k), i).bytes,
               d->labels[k].spec.row_nbytes);
    return 0;
}

/* Copy the labels of a chunk's rows to what these become, and find and write their counts. */
static int keep_chunk(struct dedupe *d, struct error *err)
{
    const uint64_t first = d->keys.walk.first, n = d->keys.walk.n;
    uint8_t *counts = bytes_reserve(&d->chunk_counts, 4 * n, err);
    int64_t count;

    for (size_t k = 0; k < d->n_labels; k++)
        if (d->labels[k].made != NULL &&
            made_write(d->labels[k].made, first, key_rows_beside(&d->keys, k)->bytes.data, n,
                       err) != 0)
            return -1;
    for (uint64_t i = 0; i < n && counts != NULL; i++) {
        if (find_count(d, first + i, &count, err) != 0)
            return -1;
        if (count < 1 || count > UINT32_MAX) {
            error_set(&d->why, ERROR_DATA, "%" PRId64 ", expected a count from 1 to %" PRIu32,
                      count, UINT32_MAX);
            return refuse_row(d, PLAN_COUNT_KEY, first + i, err);
        }
        bytes_put_le(counts + 4 * i, (uint64_t)count, 4);
    }
    return counts != NULL ? made_write(d->counts, first, counts, n, err) : -1;
}

static int read_rows(struct dedupe *d, struct error *err)
{
    struct walk *walk = &d->keys.walk;

    d->keys = (struct key_rows){.plan = d->plan,
                                .key = &d->key,
                                .beside = d->beside,
                                .n_beside = d->n_all,
                                .sorters = {&d->rows}};
    key_rows_begin(&d->keys, err);
    while (key_rows_next(&d->keys))
        if ((walk->status = keep_chunk(d, err)) == 0)
            walk_again(walk, d->settings->n_threads, put_row, d);
    return key_rows_end(&d->keys);
}

/* --- rows to classes --- */

/* The lowest transform that takes a row to the first row of its class: to the canonical image, then
 * by the inverse of any transform that takes the first row there. */
static uint32_t to_first(const struct dedupe *d, const struct key_ties *ties)
{
    const struct board *board = d->plan->board;
    const uint32_t to = key_lowest_tie(&d->key, ties);
    uint32_t lowest = BOARD_MAX_TRANSFORMS;

    for (uint32_t i = 0; i < d->key.n_ids; i++)
        if (key_ties_have(&d->first_ties, i)) {
            const uint32_t back = board->inverse[d->key.ids[i]];
            const uint32_t t = board->compose[to * board->n_transforms + back];

            lowest = t < lowest ? t : lowest;
        }
    return lowest;
}

/* Add a row to the current class in the orientation of the first row. Only that one stays selected.
 */
static int join_row(struct dedupe *d, const struct row_record *record, struct error *err)
{
    struct class_record *class = &d->class;
    const uint8_t *labels = (const uint8_t *)(record + 1);
    const bool is_first = d->rows.is_first;
    const double weight = (double)record->weight;
    double *sum = d->sums, *bound = d->bounds;

    if (is_first) {
        *class = (struct class_record){.key = record->key, .row = record->row};
        d->first_others = record->others;
        d->others_differ = false;
        d->first_ties = record->ties;
    } else {
        selection_clear(&d->plan->selection, record->row, 0);
    }
    const uint32_t t = is_first ? 0 : to_first(d, &record->ties);
    class->n_rows++;
    class->weight += record->weight;
    d->others_differ |= record->others != d->first_others;
    if (class->weight > UINT32_MAX) {
        error_set(&d->why, ERROR_DATA, PLAN_COUNT_KEY " of its position exceeds %" PRIu32,
                  UINT32_MAX);
        return refuse_row(d, NULL, class->row, err);
    }
    const struct sparse_member member = {record->row, record->weight, t, is_first};
    if (sparse_add(&d->sparse, &member, err) != 0)
        return -1;
    for (const struct label *label = d->labels; label < d->labels + d->n_labels; label++) {
        const struct dtype *dtype = &label->spec.dtype;
        const uint8_t *from = is_first ? labels + label->at : d->moved;

        if (!is_first &&
            kernel_row(&label->spec, t, labels + label->at, NULL, d->moved, &d->why) != 0)
            return refuse_row(d, label->array->key, record->row, err);
        for (uint64_t i = 0; i < label->n; i++, sum++) {
            const double x = dtype_get_double(dtype, from + i * dtype->itemsize);

            *sum = is_first ? weight * x : *sum + weight * x;
            if (!label->is_value)
                continue;
            if (is_first || isnan(bound[0])) /* NaN hides no difference of other rows */
                bound[0] = bound[1] = x;
            bound[0] = x < bound[0] ? x : bound[0];
            bound[1] = x > bound[1] ? x : bound[1];
            bound += 2;
        }
    }
    return 0;
}

/* What is left of a value after two swaps of colours: 1 - v is rounded. */
static double swapped_twice(const struct label *label, double value)
{
    uint8_t number[8];

    for (int i = 0; i < 2 && spec_swap(&label->spec) == LABEL_COMPLEMENT; i++) {
        dtype_put_double(&label->spec.dtype, 1 - value, number);
        value = dtype_get_double(&label->spec.dtype, number);
    }
    return value;
}

/* The current class has all its rows: pass on the result. */
static int end_class(struct dedupe *d, struct error *err)
{
    struct class_record *class = &d->class;
    const double *bound = d->bounds;

    if (sparse_unite(&d->sparse, class->weight, &class->place, err) != 0)
        return -1;
    d->result->n_others += d->others_differ;
    for (const struct label *label = d->labels; label < d->labels + d->n_labels; label++)
        for (uint64_t i = 0; i < (label->is_value ? label->n : 0); i++, bound += 2) {
            if (bound > d->bounds && !isnan(class->max - class->min) &&
                !(bound[1] - bound[0] > class->max - class->min))
                continue;
            class->min = bound[0];
            class->max = bound[1];
            class->spread = swapped_twice(label, bound[1]) - swapped_twice(label, bound[0]);
        }
    uint8_t *means = sorter_add(&d->classes, class, sizeof *class, err);
    if (means == NULL)
        return -1;
    const double *sum = d->sums;
    for (size_t k = 0; k < d->n_labels && d->settings->means; k++) {
        const struct dtype *dtype = &d->labels[k].spec.dtype;

        for (uint64_t i = 0; i < d->labels[k].n; i++)
            dtype_put_double(dtype, *sum++ / (double)class->weight,
                             means + d->labels[k].at + i * dtype->itemsize);
    }
    return 0;
}

/* --- back to rows --- */

/* Write the count and the means of a class of several rows, and its line in --conflicts where its
 * values differ by too much. */
static int write_class(struct dedupe *d, const struct class_record *class, struct error *err)
{
    const struct plan *plan = d->plan;
    const uint8_t *labels = (const uint8_t *)(class + 1);
    struct text line = {0};
    uint8_t count[4];
    uint64_t row = class->row;

    bytes_put_le(count, class->weight, 4);
    if (made_write(d->counts, class->row, count, 1, err) != 0)
        return -1;
    for (const struct label *label = d->labels; label < d->labels + d->n_labels; label++)
        if (label->made != NULL &&
            made_write(label->made, class->row, labels + label->at, 1, err) != 0)
            return -1;
    if (sparse_write(&d->sparse, class->row, class->place, err) != 0)
        return -1;
    if (!(class->spread > d->settings->conflict))
        return 0;
    d->result->n_conflicts++;
    if (d->settings->conflicts == NULL)
        return 0;
    const char *path = input_of(plan, &row);
    const bool is_quoted = strpbrk(path, ",\"\n\r") != NULL;
    int status = text_append(&line, err, "%016" PRIx64 "%016" PRIx64 ",%" PRIu64 ",%.17g,%.17g,%s",
                             class->key.high, class->key.low, class->n_rows, class->min, class->max,
                             is_quoted ? "\"" : path);
    for (; is_quoted && *path != '\0'; path++)
        status |= text_append(&line, err, "%s%c", *path == '"' ? "\"" : "", *path);
    status |= text_append(&line, err, "%s,%" PRIu64 "\n", is_quoted ? "\"" : "", row);
    if (status == 0)
        status = output_write(&d->result->conflicts, line.text, line.n_bytes, err);
    text_release(&line);
    return status;
}

/* Find where the rows of each input end among the selected ones. */
static int find_input_ends(struct plan *plan, struct error *err)
{
    uint64_t row = 0, n_left = 0;

    if (new_items(&plan->input_ends, plan->n_inputs + 1, "inputs", err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_inputs; i++) {
        for (uint64_t k = 0; k < plan->inputs[i].n_rows; k++, row++)
            n_left += selection_has(&plan->selection, row, 0);
        plan->input_ends[i] = n_left;
    }
    return 0;
}

static int fold(struct dedupe *d, struct error *err)
{
    static const char head[] = "key,rows,min,max,first_file,first_row\n";
    struct plan *plan = d->plan;
    struct dedupe_result *r = d->result;
    const struct npy_header count = {
        .dtype = {.kind = DTYPE_UINT, .itemsize = 4}, .n_dims = 1, .shape = {plan->n_rows}};
    const void *found;
    int n;

    if (plan_survey(plan, err) != 0 || key_of_plan(&d->key, plan, NULL, err) != 0 ||
        find_labels(d, err) != 0 ||
        (d->settings->means && sparse_open(&d->sparse, plan, err) != 0) ||
        plan_keep_rows(plan, err) != 0)
        return -1;
    d->rows = sorter_of(d->settings, sizeof(struct row_record) + d->labels_nbytes, 4);
    d->classes = sorter_of(
        d->settings, sizeof(struct class_record) + (d->settings->means ? d->labels_nbytes : 0), 8);
    if (new_items(&d->moved, d->labels_nbytes, "labels", err) != 0 ||
        new_items(&d->sums, d->n_elements + 2 * d->n_values, "labels", err) != 0)
        return -1;
    d->bounds = d->sums + d->n_elements;
    if ((d->counts = made_new(plan, PLAN_COUNT_KEY, &count, err)) == NULL || read_rows(d, err) != 0)
        return -1;
    r->n_rows = plan->n_rows;
    while ((n = sorter_next(&d->rows, &found, err)) > 0) {
        const bool is_alone = d->rows.is_first && d->rows.is_last;

        r->n_positions += d->rows.is_first;
        if (!is_alone &&
            (join_row(d, found, err) != 0 || (d->rows.is_last && end_class(d, err) != 0)))
            return -1;
        const uint64_t n_alike = is_alone ? 1 : d->class.n_rows;
        r->largest = n_alike > r->largest ? n_alike : r->largest;
    }
    sorter_release(&d->rows);
    if (n < 0 ||
        (d->settings->conflicts != NULL &&
         (output_open(&r->conflicts, d->settings->conflicts, d->settings->force, err) != 0 ||
          output_write(&r->conflicts, head, sizeof head - 1, err) != 0)) ||
        sparse_begin(&d->sparse, err) != 0)
        return -1;
    while ((n = sorter_next(&d->classes, &found, err)) > 0)
        if (write_class(d, found, err) != 0)
            return -1;
    for (size_t k = 0; k < d->n_labels && n == 0; k++)
        if (d->labels[k].made != NULL && made_put(plan, d->labels[k].made, err) != 0)
            return -1;
    if (n < 0 || sparse_finish(&d->sparse, err) != 0 ||
        (!plan->board->family->only_known_members && made_put(plan, d->counts, err) != 0) ||
        (r->n_others > 0 && plan_warn(plan, err,
                                      "%" PRIu64 " positions have rows that differ in arrays that "
                                      "are not averaged: the first one's are kept",
                                      r->n_others) != 0) ||
        key_note(plan, &d->key, err) != 0)
        return -1;
    plan_note(plan, "command", "dedupe", 0);
    plan_note(plan, "merge", d->settings->means ? "mean" : "first", 0);
    plan_note(plan, "positions", NULL, r->n_positions);
    plan_note(plan, "largest_class", NULL, r->largest);
    plan_note(plan, "conflicts", NULL, r->n_conflicts);
    if (d->settings->out_dir != NULL && find_input_ends(plan, err) != 0)
        return -1;
    return plan_set_order(plan, err);
}

int dedupe_fold(struct plan *plan, const struct settings *settings, struct dedupe_result *result,
                struct error *err)
{
    struct dedupe d = {.plan = plan, .settings = settings, .result = result};

    *result = (struct dedupe_result){0};
    const int status = fold(&d, err);
    for (size_t k = 0; k < d.n_all; k++)
        spec_release(&d.labels[k].spec);
    free(d.labels);
    free(d.beside);
    sorter_release(&d.rows);
    sorter_release(&d.classes);
    free(d.sums);
    free(d.moved);
    batch_release(&d.counted);
    bytes_release(&d.chunk_counts);
    sparse_release(&d.sparse);
    key_release(&d.key);
    return status;
}
