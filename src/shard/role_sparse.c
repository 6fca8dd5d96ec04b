/* role_sparse.c - the form of a sparse policy, and the checks of its arrays and rows. */
#include "shard/role_sparse.h"

#include "base/text.h"
#include "shard/role_fit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool role_objects_are_plain(const struct array *array, uint64_t *row)
{
    const struct pickle_document *objects = array->objects;

    for (uint64_t i = 0; i < objects->n_items; i++) {
        if (objects->items[i].kind == PICKLE_LIST || objects->items[i].kind == PICKLE_ARRAY) {
            *row = i;
            return false;
        }
    }
    return true;
}

static bool is_sparse_number(const struct pickle_item *item, bool indices)
{
    return item->kind == PICKLE_INT || (!indices && item->kind == PICKLE_FLOAT);
}

/* One row of (N,) objects: a 1-D array or a list; empty arrays may be of any type of number, as
 * numpy makes floating ones by default. */
static bool is_sparse_row(const struct pickle_item *item, bool indices)
{
    const struct pickle_ndarray *array;

    for (uint32_t i = 0; item->kind == PICKLE_LIST && i < item->n_bytes_or_items; i++)
        if (!is_sparse_number(&item->as.items[i], indices))
            return false;
    if (item->kind != PICKLE_ARRAY)
        return item->kind == PICKLE_LIST;
    array = item->as.array;
    return array->n_dims == 1 && dtype_is_number(&array->dtype) &&
           (!indices || array->n_elements == 0 || dtype_is_integer(&array->dtype));
}

static int check_objects(const struct role_context *c, size_t i, bool indices, struct error *err)
{
    const struct array *array = &c->archive->arrays[i];
    const unsigned n_dims = array->header.n_dims;
    const uint64_t n_columns =
        n_dims == 2 && array->header.shape[1] > 0 ? array->header.shape[1] : 1;
    const char *kind = indices ? "integers" : "numbers";
    char reason[160];

    if (n_dims > 2) {
        snprintf(reason, sizeof reason, "expected rows of %s: objects (N,) or (N, k)", kind);
        return role_refuse(c, i, NULL, reason, err);
    }
    if (array->objects == NULL)
        return error_set(err, ERROR_INTERNAL, "%s: objects are not loaded",
                         text_quote(array->key).text);
    for (uint64_t k = 0; k < array->objects->n_items; k++) {
        const struct pickle_item *item = &array->objects->items[k];

        if (n_dims == 1 ? is_sparse_row(item, indices) : is_sparse_number(item, indices))
            continue;
        snprintf(reason, sizeof reason, "row %" PRIu64 ": expected %s %s%s", k / n_columns,
                 n_dims == 1 ? "a 1-D array of" : "only", kind, n_dims == 1 ? " or a list" : "");
        return role_refuse(c, i, NULL, reason, err);
    }
    return 0;
}

static int refuse_lengths(const struct role_context *c, size_t i, size_t value, struct error *err)
{
    const struct array *values = &c->archive->arrays[value];
    char reason[600];

    snprintf(reason, sizeof reason, "its values %.200s have the shape %.200s",
             text_quote(values->key).text,
             text_shape(values->header.shape, values->header.n_dims).text);
    return role_refuse_with(c, i, NULL, ROLE_CODE_LENGTH, reason, err);
}

/* The form of the policy whose indices are array i, with the checks that go with it. */
static int check_form(const struct role_context *c, size_t i, enum sparse_form *form,
                      struct error *err)
{
    const struct role_binding *b = &c->bindings[i];
    const size_t value = (size_t)b->value_array;
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct npy_header *v = &c->archive->arrays[value].header;

    if (h->dtype.kind == DTYPE_OBJECT && v->dtype.kind == DTYPE_OBJECT) {
        *form = SPARSE_OBJECT;
        if (role_check_rows(c, i, err) != 0 || role_check_rows(c, value, err) != 0 ||
            check_objects(c, i, true, err) != 0)
            return -1;
        return check_objects(c, value, false, err);
    }
    if (!dtype_is_integer(&h->dtype))
        return role_refuse(c, i, NULL, "expected the indices of a sparse policy: integers", err);
    if (!role_dtype_moves(&v->dtype))
        return role_refuse(c, value, NULL, "expected the values of a sparse policy: numbers", err);
    if (b->offsets_array >= 0) {
        *form = SPARSE_CSR;
        return h->shape[0] == v->shape[0] ? 0 : refuse_lengths(c, i, value, err);
    }
    *form = SPARSE_PADDED;
    if (h->n_dims != 2)
        return role_refuse(c, i, NULL,
                           "expected the indices of a sparse policy: rows of objects, (N, L), or "
                           "(M,) with offsets (N + 1,) beside them",
                           err);
    if (role_check_rows(c, i, err) != 0 || role_check_rows(c, value, err) != 0)
        return -1;
    if (v->n_dims != 2 || v->shape[1] != h->shape[1])
        return refuse_lengths(c, i, value, err);
    return 0;
}

static int check_offsets(const struct role_context *c, size_t i, struct error *err)
{
    const struct array *offsets = &c->archive->arrays[i];
    char reason[200];

    if (offsets->n_rows > 0 && offsets->n_rows - 1 == c->n_rows)
        return 0;
    snprintf(reason, sizeof reason,
             "expected %" PRIu64 " offsets, one more than the rows of %.100s", c->n_rows + 1,
             text_quote(c->archive->arrays[c->rows_array].key).text);
    return role_refuse_with(c, i, NULL, ROLE_CODE_ROWS, reason, err);
}

int role_sparse_bind(const struct role_context *c, size_t i, struct error *err)
{
    const struct role_binding *found = &c->bindings[i];
    const int parts[] = {(int)i, found->value_array, found->offsets_array};
    static const enum role roles[] = {ROLE_POLICY_INDEX, ROLE_POLICY_VALUE, ROLE_POLICY_OFFSETS};
    const struct action_layout *layout;
    struct role_reason reason = {""};
    enum sparse_form form = SPARSE_NONE;
    uint64_t length;

    if (check_form(c, i, &form, err) != 0)
        return -1;
    if (form == SPARSE_CSR && check_offsets(c, (size_t)found->offsets_array, err) != 0)
        return -1;
    layout = role_sparse_layout(c, i, &length, &reason);
    if (layout == NULL)
        return role_refuse(c, i, "policy-index:layout=LAYOUT", reason.text, err);
    const char *key = c->archive->arrays[i].key;
    const bool is_counts = role_prefix_is_counts(key, role_sparse_prefix(key, SPARSE_INDICES));

    for (size_t k = 0; k < 3; k++) {
        struct role_binding *b;

        if (parts[k] < 0)
            continue;
        b = &c->bindings[parts[k]];
        b->role = roles[k];
        b->inferred = c->cases[parts[k]].told == NULL;
        b->sparse = form;
        b->layout = layout;
        b->n_actions = length;
        b->is_counts = is_counts;
    }
    return 0;
}
