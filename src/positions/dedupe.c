/*
 * dedupe.c - rows of one position become one row. In three steps, none of which needs more memory
 * than it is given:
 *
 * Every row is read once, and its key put with its labels into boxes by the key's leading bits.
 * Box after box, rows of one key are joined into a class as they come, which is in the order of
 * rows: the first one says where, the others are moved into its orientation and added up. What
 * comes out for a class of several rows is put into boxes again, by the number of its first row;
 * the others need no more than to be left out.
 * At last, those boxes tell in the order of rows what differs from the input. Sparse policies have
 * rows of any length and are merged by themselves (sparse.c).
 */
#include "positions/dedupe.h"

#include "base/text.h"
#include "engine/kernel.h"
#include "engine/made.h"
#include "engine/order.h"
#include "positions/key_rows.h"
#include "positions/sparse.h"
#include "positions/spill.h"
#include "positions/table.h"
#include "shard/batch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

/* A label that is compared (values), or averaged, too. */
struct label {
    struct plan_array *array; /* borrowed */
    bool is_value;
    uint64_t n; /* elements of a row */
    struct reader source;
    struct batch batch; /* in step with the keys */
    struct made *made;  /* of the plan; what the array becomes; or NULL */
    struct spec spec;   /* owned: what transforms do, since the array is only copied later */
};

/* A row on its way to its class: behind it the key's ties and its labels. */
struct row_record {
    struct key_value key;
    uint64_t row, weight, others;
};

/* A class on its way back to the rows: behind it the labels of its first row. */
struct class_record {
    struct key_value key;
    uint64_t row, weight, n_rows;
    double min, max; /* of the element of the values that differs most */
};

/* A class of the box at hand; its labels are in `labels` and `sums`. */
struct class
{
    uint64_t row, weight, n_rows, others;
    bool others_differ;
};

struct dedupe {
    struct plan *plan;
    const struct settings *settings;
    struct dedupe_result *result;
    struct key key;
    uint32_t n_ties;               /* bytes of a key's ties */
    struct label *labels, *others; /* owned; the others are not averaged, but compared */
    size_t n_labels, n_others;
    uint64_t labels_nbytes, n_elements, n_values; /* of a row */
    const struct plan_array *count;               /* symaug_count, or NULL */
    struct reader count_source;
    struct batch count_batch;
    struct spill rows, classes;
    uint64_t rows_per_box; /* of classes */

    /* Of the box at hand. */
    struct table table;
    struct class *list;
    uint8_t *ties;         /* by class: of the first row */
    double *sums, *bounds; /* by class: of all elements; the least and greatest of each value */
    size_t capacity;
    uint8_t *moved; /* a row's labels in the first one's orientation */

    /* Of the rows at hand. */
    struct made *counts;
    struct bytes box, room;

    struct sparse_means sparse;
};

/* --- which labels --- */

static bool is_value(const struct plan_array *array)
{
    return array->binding.role == ROLE_VALUE || array->binding.role == ROLE_WDL;
}

static bool is_averaged(const struct plan_array *array)
{
    const enum role role = array->binding.role;

    return is_value(array) || role == ROLE_POLICY || role == ROLE_ACTION_VALUES ||
           role == ROLE_POLICY_INDEX || role == ROLE_POLICY_VALUE;
}

static int check_label(const struct dedupe *d, const struct plan_array *array, struct error *err)
{
    char dtype[32];

    if (!d->settings->means || array->binding.sparse != SPARSE_NONE) /* sparse.h */
        return 0;
    dtype_name(&array->spec.dtype, dtype, sizeof dtype);
    if (!dtype_is_number(&array->spec.dtype) || array->spec.dtype.kind == DTYPE_BOOL)
        return plan_refuse(d->plan, array, err, "dtype %s cannot be averaged; use --copy %s", dtype,
                           array->key);
    if (is_value(array) && array->spec.dtype.kind != DTYPE_FLOAT)
        return plan_refuse(d->plan, array, err,
                           "values of dtype %s cannot be averaged: their means would be rounded "
                           "to whole numbers; use --copy %s to keep the first row's",
                           dtype, array->key);
    return 0;
}

static int add_label(struct dedupe *d, struct plan_array *array, bool is_kept, struct error *err)
{
    struct label *label = is_kept ? &d->others[d->n_others] : &d->labels[d->n_labels];

    if (!is_kept && check_label(d, array, err) != 0)
        return -1;
    if (array->is_object || array->binding.sparse != SPARSE_NONE ||
        array->sources[0]->row_nbytes == 0 ||
        (!is_kept && !dtype_is_number(&array->spec.dtype))) /* nothing to compare */
        return 0;
    *(is_kept ? &d->n_others : &d->n_labels) += 1;
    *label = (struct label){.array = array, .is_value = is_value(array), .spec = array->spec};
    array->spec = (struct spec){0};
    label->n = label->spec.row_nbytes / label->spec.dtype.itemsize;
    label->source = (struct reader){.arrays = array->sources, .n_arrays = d->plan->n_archives};
    if (reader_open(&label->source, d->plan->budget, err) != 0)
        return -1;
    label->batch.reader = &label->source;
    if (is_kept)
        return 0;
    d->labels_nbytes += (label->spec.row_nbytes + 15) / 16 * 16;
    d->n_elements += label->n;
    d->n_values += label->is_value ? label->n : 0;
    return 0;
}

static int find_labels(struct dedupe *d, struct error *err)
{
    const char *planes;

    d->labels = calloc(d->plan->n_arrays + 1, sizeof *d->labels);
    d->others = calloc(d->plan->n_arrays + 1, sizeof *d->others);
    if (d->labels == NULL || d->others == NULL)
        return error_no_memory(err, "labels");
    for (size_t i = 0; i < d->plan->n_arrays; i++) {
        struct plan_array *array = &d->plan->arrays[i];

        if (strcmp(array->key, PLAN_SOURCE_KEY) == 0 || strcmp(array->key, PLAN_TRANSFORM_KEY) == 0)
            array->binding = (struct role_binding){.role = ROLE_DROP};
        else if (strcmp(array->key, PLAN_COUNT_KEY) == 0)
            d->count = array;
        else if (!plan_is_key(d->plan, array, &planes) && array->binding.role != ROLE_META &&
                 array->binding.role != ROLE_DROP && (d->settings->means || is_value(array)) &&
                 add_label(d, array, !is_value(array) && !is_averaged(array), err) != 0)
            return -1;
    }
    if (d->count == NULL)
        return 0;
    if (d->count->sources[0]->header.n_dims != 1 ||
        !dtype_is_integer(&d->count->sources[0]->header.dtype))
        return plan_refuse(d->plan, d->count, err, "expected one whole number for each row");
    d->count_source = (struct reader){.arrays = d->count->sources, .n_arrays = d->plan->n_archives};
    d->count_batch.reader = &d->count_source;
    return reader_open(&d->count_source, d->plan->budget, err);
}

/* --- rows to boxes --- */

static int weigh(const struct dedupe *d, uint64_t i, uint64_t *weight, struct error *err)
{
    const struct row row = d->count != NULL ? batch_row(&d->count_batch, i) : (struct row){0};
    const int64_t count = d->count != NULL ? row_int(&row, 0) : 1;

    *weight = (uint64_t)count;
    if (count >= 1 && count <= UINT32_MAX)
        return 0;
    return plan_refuse(d->plan, d->count, err,
                       "row %" PRIu64 ": %" PRId64 ", expected a count from 1 to %" PRIu32,
                       d->count_batch.first + i, count, UINT32_MAX);
}

/* What the arrays that are kept say of a row, as they are in the canonical image: a hash. */
static int hash_others(struct dedupe *d, uint64_t i, const uint8_t *ties, uint64_t *hash,
                       struct error *err)
{
    struct error why = {0};
    uint32_t id = 0;

    *hash = 0;
    while (!(ties[id / 8] >> id % 8 & 1))
        id++;
    for (size_t k = 0; k < d->n_others; k++) {
        const struct label *label = &d->others[k];
        const uint64_t n = label->spec.row_nbytes;

        d->room.n_bytes = 0;
        if (bytes_reserve(&d->room, 2 * n + 64, err) == NULL)
            return -1;
        memcpy(d->room.data, label->batch.bytes.data + i * n, n);
        if (kernel_row(&label->spec, d->key.ids[id], d->room.data, NULL,
                       d->room.data + (n + 15) / 16 * 16, &why) != 0)
            return plan_refuse(d->plan, label->array, err, "row %" PRIu64 ": %s",
                               label->batch.first + i, why.message);
        *hash = XXH3_64bits_withSeed(d->room.data + (n + 15) / 16 * 16, n, *hash);
    }
    return 0;
}

static int keep_rows(void *self, const struct key_rows *rows, struct error *err)
{
    struct dedupe *d = self;
    struct row_record record;

    for (size_t k = 0; k < d->n_labels; k++)
        if (batch_read(&d->labels[k].batch, rows->first, rows->n, err) != 0)
            return -1;
    for (size_t k = 0; k < d->n_others; k++)
        if (batch_read(&d->others[k].batch, rows->first, rows->n, err) != 0)
            return -1;
    if (d->count != NULL && batch_read(&d->count_batch, rows->first, rows->n, err) != 0)
        return -1;
    for (uint64_t i = 0; i < rows->n; i++) {
        uint8_t *to = spill_add(&d->rows, table_box(rows->keys[i], d->rows.n_boxes),
                                sizeof record + d->n_ties + d->labels_nbytes, err);

        record = (struct row_record){.key = rows->keys[i], .row = rows->first + i};
        if (to == NULL || weigh(d, i, &record.weight, err) != 0 ||
            hash_others(d, i, rows->ties + i * d->n_ties, &record.others, err) != 0)
            return -1;
        memcpy(to, &record, sizeof record);
        to += sizeof record;
        memcpy(to, rows->ties + i * d->n_ties, d->n_ties);
        to += d->n_ties;
        for (size_t k = 0; k < d->n_labels; k++) {
            const struct label *label = &d->labels[k];

            memcpy(to, label->batch.bytes.data + i * label->spec.row_nbytes,
                   label->spec.row_nbytes);
            to += (label->spec.row_nbytes + 15) / 16 * 16;
        }
    }
    return 0;
}

/* --- rows to classes --- */

static int grow(struct dedupe *d, struct error *err)
{
    const size_t n = d->table.capacity;
    struct class *list = realloc(d->list, n * sizeof *list);
    uint8_t *ties;
    double *sums, *bounds;

    if (list != NULL)
        d->list = list;
    ties = realloc(d->ties, n * d->n_ties + 1);
    if (ties != NULL)
        d->ties = ties;
    sums = realloc(d->sums, n * d->n_elements * sizeof *sums + 1);
    if (sums != NULL)
        d->sums = sums;
    bounds = realloc(d->bounds, 2 * n * d->n_values * sizeof *bounds + 1);
    if (bounds != NULL)
        d->bounds = bounds;
    if (list == NULL || ties == NULL || sums == NULL || bounds == NULL)
        return error_no_memory(err, "positions");
    d->capacity = n;
    return 0;
}

/* The lowest transform that takes a row to the first of its class: to the canonical image, and from
 * there by the inverse of any that takes the first one there. */
static uint32_t find_transform(const struct dedupe *d, const uint8_t *ties, const uint8_t *first)
{
    const struct board *board = d->plan->board;
    uint32_t row = 0, lowest = BOARD_MAX_TRANSFORMS;

    while (!(ties[row / 8] >> row % 8 & 1))
        row++;
    for (uint32_t i = 0; i < d->key.n_ids; i++) {
        const uint32_t back = board->inverse[d->key.ids[i]];

        if (first[i / 8] >> i % 8 & 1) {
            const uint32_t t = board->compose[d->key.ids[row] * board->n_transforms + back];

            lowest = t < lowest ? t : lowest;
        }
    }
    return lowest;
}

/* Add a row's labels, in the orientation of the first, to those of a class. */
static void add_up(struct dedupe *d, size_t number, const uint8_t *labels, uint64_t weight,
                   bool is_first)
{
    double *sum = d->sums + number * d->n_elements, *bound = d->bounds + 2 * number * d->n_values;

    for (size_t k = 0; k < d->n_labels; k++) {
        const struct label *label = &d->labels[k];

        for (uint64_t i = 0; i < label->n; i++, sum++) {
            const double x =
                dtype_get_double(&label->spec.dtype, labels + i * label->spec.dtype.itemsize);

            *sum = is_first ? (double)weight * x : *sum + (double)weight * x;
            if (!label->is_value)
                continue;
            bound[0] = is_first || x < bound[0] ? x : bound[0];
            bound[1] = is_first || x > bound[1] ? x : bound[1];
            bound += 2;
        }
        labels += (label->spec.row_nbytes + 15) / 16 * 16;
    }
}

static int join_row(struct dedupe *d, const struct row_record *record, const uint8_t *ties,
                    const uint8_t *labels, struct error *err)
{
    const size_t before = d->table.n;
    struct class *class;
    struct error why = {0};
    size_t number;
    uint32_t t;

    if (table_put(&d->table, record->key, &number, err) != 0 ||
        (d->table.capacity > d->capacity && grow(d, err) != 0))
        return -1;
    class = &d->list[number];
    if (number != before && class->n_rows == 1 &&
        sparse_add(&d->sparse, &(struct sparse_member){class->row, class->row, class->weight, 0},
                   err) != 0)
        return -1;
    if (number == before) {
        *class = (struct class){record->row, record->weight, 1, record->others, false};
        memcpy(d->ties + number * d->n_ties, ties, d->n_ties);
        add_up(d, number, labels, record->weight, true);
        return 0;
    }
    class->n_rows++;
    class->weight += record->weight;
    class->others_differ |= class->others != record->others;
    selection_clear(&d->plan->selection, record->row, 0);
    if (class->weight > UINT32_MAX)
        return error_set(err, ERROR_DATA,
                         "%s: row %" PRIu64 ": " PLAN_COUNT_KEY " of its position exceeds %" PRIu32,
                         text_path(d->plan->archives[0].path).text, class->row, UINT32_MAX);
    t = find_transform(d, ties, d->ties + number * d->n_ties);
    if (sparse_add(&d->sparse, &(struct sparse_member){class->row, record->row, record->weight, t},
                   err) != 0)
        return -1;
    for (size_t k = 0, at = 0; k < d->n_labels; k++) {
        const struct label *label = &d->labels[k];

        if (kernel_row(&label->spec, t, labels + at, NULL, d->moved + at, &why) != 0)
            return plan_refuse(d->plan, label->array, err, "row %" PRIu64 ": %s", record->row,
                               why.message);
        at += (label->spec.row_nbytes + 15) / 16 * 16;
    }
    add_up(d, number, d->moved, record->weight, false);
    return 0;
}

static int join_rows(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    struct dedupe *d = self;
    const size_t n = sizeof(struct row_record) + d->n_ties + d->labels_nbytes;
    struct row_record record;
    uint8_t *aligned = d->moved + d->labels_nbytes; /* kernels want it */

    for (size_t at = 0; at < n_bytes; at += n) {
        const uint8_t *ties = bytes + at + sizeof record;

        memcpy(&record, bytes + at, sizeof record);
        memcpy(aligned, ties + d->n_ties, d->labels_nbytes);
        if (join_row(d, &record, ties, aligned, err) != 0)
            return -1;
    }
    return 0;
}

/* --- classes to boxes --- */

static void write_means(const struct dedupe *d, size_t number, uint8_t *out)
{
    const double *sum = d->sums + number * d->n_elements;
    const double weight = (double)d->list[number].weight;

    for (size_t k = 0; k < d->n_labels; k++) {
        const struct label *label = &d->labels[k];

        for (uint64_t i = 0; i < label->n; i++)
            dtype_put_double(&label->spec.dtype, *sum++ / weight,
                             out + i * label->spec.dtype.itemsize);
        out += (label->spec.row_nbytes + 15) / 16 * 16;
    }
}

static int send_class(struct dedupe *d, size_t number, struct error *err)
{
    const struct class *class = &d->list[number];
    const double *bounds = d->bounds + 2 * number * d->n_values;
    struct class_record record = {.key = d->table.keys[number],
                                  .row = class->row,
                                  .weight = class->weight,
                                  .n_rows = class->n_rows};
    uint8_t *to;

    d->result->n_positions++;
    if (class->n_rows > d->result->largest)
        d->result->largest = class->n_rows;
    if (class->n_rows == 1)
        return 0;
    d->result->n_others += class->others_differ;
    for (uint64_t i = 0; i < d->n_values; i++)
        if (bounds[2 * i + 1] - bounds[2 * i] > record.max - record.min || i == 0) {
            record.min = bounds[2 * i];
            record.max = bounds[2 * i + 1];
        }
    to = spill_add(&d->classes, class->row / d->rows_per_box,
                   sizeof record + (d->settings->means ? d->labels_nbytes : 0), err);
    if (to == NULL)
        return -1;
    memcpy(to, &record, sizeof record);
    if (d->settings->means)
        write_means(d, number, to + sizeof record);
    return 0;
}

static int join_boxes(struct dedupe *d, struct error *err)
{
    for (size_t box = 0; box < d->rows.n_boxes; box++) {
        table_clear(&d->table);
        if (spill_each(&d->rows, box, join_rows, d, err) != 0)
            return -1;
        spill_empty(&d->rows, box);
        for (size_t number = 0; number < d->table.n; number++)
            if (send_class(d, number, err) != 0)
                return -1;
    }
    return 0;
}

/* --- back to rows --- */

static int list_conflict(struct dedupe *d, const struct class_record *class, struct error *err)
{
    struct text line = {0};
    uint64_t row = class->row;
    size_t i = 0;
    int status;

    d->result->n_conflicts++;
    if (d->settings->conflicts == NULL)
        return 0;
    while (row >= d->plan->archive_rows[i])
        row -= d->plan->archive_rows[i++];
    status = text_append(&line, err, "%016" PRIx64 "%016" PRIx64 ",%" PRIu64 ",%.17g,%.17g,",
                         class->key.high, class->key.low, class->n_rows, class->min, class->max);
    if (status == 0)
        status = strpbrk(d->plan->archives[i].path, ",\"\n\r") == NULL
                     ? text_append(&line, err, "%s", d->plan->archives[i].path)
                     : text_append(&line, err, "\"%s\"", text_path(d->plan->archives[i].path).text);
    if (status == 0)
        status = text_append(&line, err, ",%" PRIu64 "\n", row);
    if (status == 0)
        status = output_write(&d->result->conflicts, line.text, line.n_bytes, err);
    text_release(&line);
    return status;
}

static int compare_classes(const void *left, const void *right)
{
    struct class_record a, b;

    memcpy(&a, *(uint8_t *const *)left, sizeof a);
    memcpy(&b, *(uint8_t *const *)right, sizeof b);
    return a.row < b.row ? -1 : a.row > b.row;
}

static int append(void *self, const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    return bytes_append(self, bytes, n_bytes, err);
}

/* Classes in the order of rows, up to a NULL. */
typedef uint8_t *class_list;

/* Rows first .. first + n - 1 as they are written: what the input has, and of classes what came out
 * for them: from *classes on, which becomes the first one behind these rows. */
static int write_chunk(struct dedupe *d, uint64_t first, uint64_t n, class_list **classes,
                       struct error *err)
{
    uint8_t counts[4 * 4096];
    uint64_t weight;

    for (size_t k = 0; k < d->n_labels && d->settings->means; k++)
        if (batch_read(&d->labels[k].batch, first, n, err) != 0)
            return -1;
    if (d->count != NULL && batch_read(&d->count_batch, first, n, err) != 0)
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        if (weigh(d, i, &weight, err) != 0)
            return -1;
        bytes_put_le(counts + 4 * i, weight, 4);
    }
    for (; **classes != NULL; (*classes)++) {
        const uint8_t *labels = **classes + sizeof(struct class_record);
        struct class_record class;

        memcpy(&class, **classes, sizeof class);
        if (class.row >= first + n)
            break;
        bytes_put_le(counts + 4 * (class.row - first), class.weight, 4);
        if (class.max - class.min > d->settings->conflict && list_conflict(d, &class, err) != 0)
            return -1;
        for (size_t k = 0; k < d->n_labels && d->settings->means; k++) {
            const uint64_t n_bytes = d->labels[k].spec.row_nbytes;

            memcpy(d->labels[k].batch.bytes.data + (class.row - first) * n_bytes, labels, n_bytes);
            labels += (n_bytes + 15) / 16 * 16;
        }
    }
    for (size_t k = 0; k < d->n_labels && d->settings->means; k++)
        if (made_write(d->labels[k].made, first, d->labels[k].batch.bytes.data, n, err) != 0)
            return -1;
    return made_write(d->counts, first, counts, n, err);
}

static int write_box(struct dedupe *d, size_t box, struct error *err)
{
    const size_t n_bytes =
        sizeof(struct class_record) + (d->settings->means ? d->labels_nbytes : 0);
    const uint64_t begin = box * d->rows_per_box;
    const uint64_t left = d->plan->n_rows > begin ? d->plan->n_rows - begin : 0;
    const uint64_t n_rows = left < d->rows_per_box ? left : d->rows_per_box;
    class_list *classes, *at;
    size_t n;
    int status;

    d->box.n_bytes = 0;
    if (spill_each(&d->classes, box, append, &d->box, err) != 0)
        return -1;
    n = d->box.n_bytes / n_bytes;
    classes = calloc(n + 1, sizeof *classes);
    status = classes != NULL ? 0 : error_no_memory(err, "positions");
    for (size_t i = 0; i < n && status == 0; i++)
        classes[i] = d->box.data + i * n_bytes;
    if (status == 0)
        qsort(classes, n, sizeof *classes, compare_classes);
    at = classes;
    for (uint64_t first = 0; first < n_rows && status == 0; first += 4096)
        status =
            write_chunk(d, begin + first, n_rows - first < 4096 ? n_rows - first : 4096, &at, err);
    free(classes);
    return status;
}

/* The readers of labels begin again. */
static int rewind_labels(struct dedupe *d, struct error *err)
{
    for (size_t k = 0; k < d->n_labels; k++) {
        struct label *label = &d->labels[k];

        batch_release(&label->batch);
        reader_close(&label->source);
        label->source =
            (struct reader){.arrays = label->array->sources, .n_arrays = d->plan->n_archives};
        if (reader_open(&label->source, d->plan->budget, err) != 0)
            return -1;
        label->batch.reader = &label->source;
    }
    if (d->count == NULL)
        return 0;
    batch_release(&d->count_batch);
    reader_close(&d->count_source);
    d->count_source = (struct reader){.arrays = d->count->sources, .n_arrays = d->plan->n_archives};
    d->count_batch.reader = &d->count_source;
    return reader_open(&d->count_source, d->plan->budget, err);
}

static struct made *make_like(struct dedupe *d, const struct array *array, struct error *err)
{
    struct made_form form = {
        .key = array->key, .dtype = array->header.dtype, .n_dims = array->header.n_dims - 1};

    memcpy(form.row_shape, array->header.shape + 1, form.n_dims * sizeof *form.row_shape);
    return made_new(d->plan, &form, err);
}

static int open_made(struct dedupe *d, struct error *err)
{
    const struct made_form count = {.key = PLAN_COUNT_KEY,
                                    .dtype = {.kind = DTYPE_UINT, .itemsize = 4}};

    d->counts = made_new(d->plan, &count, err);
    if (d->counts == NULL)
        return -1;
    for (size_t k = 0; k < d->n_labels && d->settings->means; k++) {
        d->labels[k].made = make_like(d, d->labels[k].array->sources[0], err);
        if (d->labels[k].made == NULL)
            return -1;
    }
    if (d->settings->conflicts == NULL)
        return 0;
    if (output_open(&d->result->conflicts, d->settings->conflicts, d->settings->force, err) != 0)
        return -1;
    return output_write(&d->result->conflicts, "key,rows,min,max,first_file,first_row\n", 38, err);
}

static int write_rows(struct dedupe *d, struct error *err)
{
    if (rewind_labels(d, err) != 0 || open_made(d, err) != 0)
        return -1;
    for (size_t box = 0; box < d->classes.n_boxes; box++)
        if (write_box(d, box, err) != 0)
            return -1;
    for (size_t k = 0; k < d->n_labels && d->settings->means; k++)
        if (made_put(d->plan, d->labels[k].made, err) != 0)
            return -1;
    return sparse_write(&d->sparse, err) != 0 ? -1 : made_put(d->plan, d->counts, err);
}

/* Where each input's rows end among those that are left. */
static int set_ends(struct plan *plan, struct error *err)
{
    uint64_t row = 0, n_left = 0;

    plan->input_ends = calloc(plan->n_archives + 1, sizeof *plan->input_ends);
    if (plan->input_ends == NULL)
        return error_no_memory(err, "inputs");
    for (size_t i = 0; i < plan->n_archives; i++) {
        for (uint64_t k = 0; k < plan->archive_rows[i]; k++, row++)
            n_left += selection_has(&plan->selection, row, 0);
        plan->input_ends[i] = n_left;
    }
    return 0;
}

static int note(struct dedupe *d, struct error *err)
{
    struct plan *plan = d->plan;
    const struct dedupe_result *r = d->result;

    if (r->n_others > 0 &&
        plan_warn(plan, err,
                  "%" PRIu64 " positions have rows that differ in arrays that are not "
                  "averaged: the first one's are kept",
                  r->n_others) != 0)
        return -1;
    return plan_note(plan, "command", "dedupe", 0, err) | key_note(plan, &d->key, err) |
           plan_note(plan, "merge", d->settings->means ? "mean" : "first", 0, err) |
           plan_note(plan, "positions", NULL, r->n_positions, err) |
           plan_note(plan, "largest_class", NULL, r->largest, err) |
           plan_note(plan, "conflicts", NULL, r->n_conflicts, err);
}

static int fold(struct dedupe *d, struct error *err)
{
    struct plan *plan = d->plan;
    const struct key_reader reader = {plan, &d->key, d->settings, false, keep_rows, d};
    const uint64_t memory = d->settings->max_memory;
    uint64_t class_nbytes;

    if (plan_survey(plan, err) != 0 || key_of_plan(&d->key, plan, NULL, err) != 0 ||
        find_labels(d, err) != 0 ||
        (d->settings->means && sparse_find(&d->sparse, plan, memory / 8, err) != 0) ||
        plan_keep_rows(plan, err) != 0)
        return -1;
    d->n_ties = (uint32_t)key_ties_nbytes(&d->key);
    class_nbytes = 2 * (sizeof(struct class) + d->n_ties + d->labels_nbytes + 64 +
                        8 * (d->n_elements + 2 * d->n_values));
    d->moved = aligned_alloc(64, (2 * d->labels_nbytes + 127) / 64 * 64);
    if (d->moved == NULL)
        return error_no_memory(err, "labels");
    if (spill_init(&d->rows, table_n_boxes(plan->n_rows, class_nbytes, memory / 4), memory / 4,
                   plan->budget->tmpdir, err) != 0 ||
        spill_init(&d->classes, table_n_boxes(plan->n_rows, d->labels_nbytes + 96, memory / 8),
                   memory / 8, plan->budget->tmpdir, err) != 0)
        return -1;
    d->rows_per_box = plan->n_rows / d->classes.n_boxes + 1;
    if (key_reader_run(&reader, err) != 0 || join_boxes(d, err) != 0)
        return -1;
    d->result->n_rows = plan->n_rows;
    if (write_rows(d, err) != 0 || note(d, err) != 0 ||
        (d->settings->out_dir != NULL && set_ends(plan, err) != 0))
        return -1;
    return plan_set_order(plan, d->settings, err);
}

int dedupe_fold(struct plan *plan, const struct settings *settings, struct dedupe_result *result,
                struct error *err)
{
    struct dedupe d = {.plan = plan, .settings = settings, .result = result};
    int status;

    *result = (struct dedupe_result){0};
    status = fold(&d, err);
    for (size_t k = 0; k < d.n_labels; k++) {
        batch_release(&d.labels[k].batch);
        reader_close(&d.labels[k].source);
        spec_release(&d.labels[k].spec);
    }
    batch_release(&d.count_batch);
    reader_close(&d.count_source);
    for (size_t k = 0; k < d.n_others; k++) {
        batch_release(&d.others[k].batch);
        reader_close(&d.others[k].source);
        spec_release(&d.others[k].spec);
    }
    sparse_release(&d.sparse);
    bytes_release(&d.box);
    bytes_release(&d.room);
    spill_release(&d.rows);
    spill_release(&d.classes);
    table_release(&d.table);
    key_release(&d.key);
    free(d.labels);
    free(d.others);
    free(d.list);
    free(d.ties);
    free(d.sums);
    free(d.bounds);
    free(d.moved);
    return status;
}
