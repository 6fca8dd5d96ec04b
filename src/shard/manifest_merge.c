/*
 * manifest_merge.c - see manifest_merge.h.
 *
 * Manifests are taken in an order of their own, those with most outputs first, so that what is
 * already in a joined manifest is met after it. Lists are sorted at the end.
 */
#include "shard/manifest_merge.h"

#include "shard/manifest_join.h"
#include "shard/manifest_json.h"
#include "shard/manifest_runs.h"

#include <stdlib.h>
#include <string.h>

static int no_memory(struct error *err)
{
    return error_no_memory(err, "joined manifest");
}

/* object[key] = value, which stays the caller's. */
static int put(json_t *object, const char *key, json_t *value, struct error *err)
{
    return json_object_set(object, key, value) == 0 ? 0 : no_memory(err);
}

/* --- the order in which parts are taken --- */

static int by_size(const void *a, const void *b)
{
    const struct manifest_part *p = *(const struct manifest_part *const *)a;
    const struct manifest_part *q = *(const struct manifest_part *const *)b;
    static const char *const lists[] = {"outputs", "inputs"};

    for (size_t i = 0; i < 2; i++) {
        const size_t n_p = json_array_size(json_object_get(p->manifest->root, lists[i]));
        const size_t n_q = json_array_size(json_object_get(q->manifest->root, lists[i]));

        if (n_p != n_q)
            return n_p < n_q ? 1 : -1;
    }
    return strcmp(p->path, q->path);
}

static int agree(const struct manifest_part *part, const struct manifest_part *with,
                 struct error *err)
{
    struct text list = {0};
    int rc = manifest_compare(with->manifest, part->manifest, &list, err);

    if (rc == 0 && list.n_bytes > 0)
        rc = error_set(err, ERROR_DATA, "%s: not made as %s: %s", text_path(part->path).text,
                       text_path(with->path).text, list.text);
    text_release(&list);
    return rc;
}

static int add_parts(struct join *join, const struct manifest_parts *parts, struct error *err)
{
    const struct manifest_part **order = calloc(parts->n, sizeof *order);
    int rc = 0;

    if (order == NULL)
        return no_memory(err);
    for (size_t i = 0; i < parts->n; i++)
        order[i] = &parts->items[i];
    qsort(order, parts->n, sizeof(const struct manifest_part *), by_size);
    for (size_t i = 0; i < parts->n && rc == 0; i++) {
        rc = agree(order[i], order[0], err);
        if (rc == 0)
            rc = join_add(join, order[i], err);
    }
    free(order);
    return rc;
}

/* --- the result --- */

/* A file by its name and digest, a warning by its text. */
static int by_text(const void *a, const void *b)
{
    static const char *const keys[] = {"name", "sha256"};
    const json_t *p = *(json_t *const *)a, *q = *(json_t *const *)b;
    int order = 0;

    if (json_is_string(p))
        return strcmp(json_string_value(p), json_string_value(q));
    for (size_t i = 0; i < 2 && order == 0; i++)
        order = strcmp(json_string_value(json_object_get(p, keys[i])),
                       json_string_value(json_object_get(q, keys[i])));
    return order;
}

/* root[key] = the values of an object, sorted. */
static int put_sorted(json_t *root, const char *key, json_t *values, struct error *err)
{
    const size_t n = json_object_size(values);
    json_t **items = calloc(n + 1, sizeof *items), *list = json_array();
    size_t n_items = 0;
    int rc = items != NULL && list != NULL ? 0 : no_memory(err);

    for (void *at = json_object_iter(values); rc == 0 && at != NULL;
         at = json_object_iter_next(values, at))
        items[n_items++] = json_object_iter_value(at);
    if (n_items > 1)
        qsort(items, n_items, sizeof *items, by_text);
    for (size_t i = 0; i < n_items && rc == 0; i++)
        rc = json_array_append(list, items[i]) == 0 ? 0 : no_memory(err);
    if (rc == 0)
        rc = put(root, key, list, err);
    json_decref(list);
    free(items);
    return rc;
}

static int put_count(json_t *counts, const char *name, json_int_t value, struct error *err)
{
    return json_object_set_new(counts, name, json_integer(value)) == 0 ? 0 : no_memory(err);
}

static int sum_rows(const json_t *files, json_int_t *sum, struct error *err)
{
    *sum = 0;
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *rows = json_object_get(json_array_get(files, i), "rows");

        if (__builtin_add_overflow(*sum, json_integer_value(rows), sum))
            return error_set(err, ERROR_DATA, "the sum of all rows is too large");
    }
    return 0;
}

/* What the outputs of a run that was cut have in common is counted once, but for the rows of each.
 * A run whose last output is missing has too few. */
static int settle_counts(json_t *counts, const json_t *root, struct error *err)
{
    const json_t *left_out = json_object_get(counts, "images_left_out");
    const json_int_t n_transforms =
        (json_int_t)json_array_size(json_object_get(root, "transforms"));
    json_int_t rows_in, rows_out, all;

    if (sum_rows(json_object_get(root, "inputs"), &rows_in, err) != 0 ||
        sum_rows(json_object_get(root, "outputs"), &rows_out, err) != 0)
        return -1;
    if (__builtin_mul_overflow(rows_in, n_transforms, &all))
        return error_set(err, ERROR_DATA, "the sum of all rows is too large");
    if (left_out != NULL && all - json_integer_value(left_out) != rows_out)
        return error_set(err, ERROR_DATA,
                         "%" JSON_INTEGER_FORMAT " rows expected of all outputs, "
                         "%" JSON_INTEGER_FORMAT " found: an output of a run is missing",
                         all - json_integer_value(left_out), rows_out);
    return put_count(counts, "rows_in", rows_in, err) != 0
               ? -1
               : put_count(counts, "rows_out", rows_out, err);
}

static int fill(struct manifest *joined, struct join *join, const struct manifest_part *model,
                struct error *err)
{
    static const char *const common[] = {"board",   "codec", "conventions", "format_version",
                                         "options", "tool",  "transforms"};

    for (size_t i = 0; i < sizeof common / sizeof *common; i++)
        if (put(joined->root, common[i], json_object_get(model->manifest->root, common[i]), err) !=
            0)
            return -1;
    if (put_sorted(joined->root, "inputs", join->inputs, err) != 0 ||
        put_sorted(joined->root, "outputs", join->outputs, err) != 0 ||
        put_sorted(joined->root, "warnings", join->warnings, err) != 0 ||
        manifest_runs_check(json_object_get(joined->root, "outputs"), err) != 0 ||
        settle_counts(join->counts, joined->root, err) != 0)
        return -1;
    return put(joined->root, "counts", join->counts, err);
}

struct manifest *manifest_merge(const struct manifest_parts *parts, struct error *err)
{
    struct manifest *joined = NULL;
    struct join join;
    int rc = join_init(&join, err);

    if (rc == 0 && parts->n == 0)
        rc = error_set(err, ERROR_NO_INPUT, "no manifest to join");
    if (rc == 0)
        rc = add_parts(&join, parts, err);
    if (rc == 0)
        joined = manifest_new(err);
    if (joined != NULL && fill(joined, &join, &parts->items[0], err) != 0) {
        manifest_free(joined);
        joined = NULL;
    }
    join_release(&join);
    return joined;
}
