/*
 * role_sparse.c - sparse policies: the arrays that make up each of them are found by a common
 * prefix or by what was told, their forms are checked together, and as indices have no axis to go
 * by, the layout is that told, else that of the shard's own notes, else cells.
 */
#include "shard/role_parts.h"

#include "base/text.h"
#include "shard/batch.h"

#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- which arrays belong together --- */

static const char *const endings[N_SPARSE_PARTS] = {
    [SPARSE_INDICES] = "_indices", [SPARSE_VALUES] = "_values", [SPARSE_DATA] = "_data",
    [SPARSE_OFFSETS] = "_offsets", [SPARSE_INDPTR] = "_indptr",
};

/* Length of PREFIX when the key is PREFIX and the part's ending; 0 when it is not. */
static size_t prefix_of(const char *key, enum sparse_part part)
{
    const size_t n_key = strlen(key), n_ending = strlen(endings[part]);

    if (n_key <= n_ending || strcmp(key + n_key - n_ending, endings[part]) != 0)
        return 0;
    return n_key - n_ending;
}

/* True when array i may be such a part: nothing else was told for it, and it is in no other
 * policy. */
static bool is_free(const struct role_context *c, int i, enum role_flag part)
{
    const struct role_case *known;

    if (i < 0)
        return false;
    known = &c->cases[i];
    return known->sparse_index < 0 &&
           (known->told == NULL || (role_kinds[known->told->role].flags & part)) &&
           c->archive->arrays[i].header.n_dims > 0;
}

/* PREFIX and the part's ending, or the ending behind it in the list. */
static int find_part(const struct role_context *c, const char *key, size_t n_prefix,
                     enum sparse_part part, enum role_flag kind)
{
    for (unsigned k = part; n_prefix > 0 && k <= part + 1u; k++) {
        int i = role_find(c, key, n_prefix, endings[k]);

        if (is_free(c, i, kind))
            return i;
    }
    return -1;
}

/* The only free array that was told to be such a part, or -1. */
static int find_told(const struct role_context *c, enum role_flag part)
{
    int found = -1;

    for (size_t k = 0; k < c->request->n_overrides; k++) {
        const struct role_override *o = &c->request->overrides[k];
        int i = role_find(c, o->array, strlen(o->array), "");

        if (c->cases[i].told != o || !is_free(c, i, part))
            continue;
        if (found >= 0)
            return -1;
        found = i;
    }
    return found;
}

static bool is_vector(const struct role_context *c, int i, bool integer)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    return h->n_dims == 1 &&
           (integer ? dtype_is_integer(&h->dtype) : h->dtype.kind != DTYPE_OBJECT);
}

static void enter(struct role_context *c, int index, int value, int offsets)
{
    const int parts[] = {index, value, offsets};

    for (size_t k = 0; k < 3; k++) {
        if (parts[k] < 0)
            continue;
        c->cases[parts[k]].sparse_index = index;
        c->bindings[parts[k]].index_array = index;
        c->bindings[parts[k]].value_array = value;
        c->bindings[parts[k]].offsets_array = offsets;
    }
}

static void refuse_lonely(struct role_context *c, size_t i, enum sparse_part part, size_t n_prefix)
{
    const struct text_quoted key = text_path(c->archive->arrays[i].key);
    char reason[320];

    if (n_prefix > 0)
        snprintf(reason, sizeof reason, "a part of a sparse policy, but there is no %.*s%s",
                 (int)(n_prefix > 150 ? 150 : n_prefix), key.text, endings[part]);
    else
        snprintf(reason, sizeof reason,
                 "a part of a sparse policy, but no other array is told to have the role %s",
                 role_name(part == SPARSE_VALUES ? ROLE_POLICY_VALUE : ROLE_POLICY_INDEX));
    role_refuse(c, i, NULL, reason);
}

/* Array i may hold the indices of a sparse policy: find the rest of it. */
static void find_from_indices(struct role_context *c, size_t i)
{
    const struct array *array = &c->archive->arrays[i];
    const bool told = c->cases[i].told != NULL;
    const size_t n_prefix = prefix_of(array->key, SPARSE_INDICES);
    const bool by_name = told || role_values_by_prefix(array->key, n_prefix) != ROLE_META;
    int value, offsets;
    bool compressed;

    value = find_part(c, array->key, n_prefix, SPARSE_VALUES, ROLE_IS_VALUES);
    if (value < 0 && told)
        value = find_told(c, ROLE_IS_VALUES);
    offsets = find_part(c, array->key, n_prefix, SPARSE_OFFSETS, ROLE_IS_OFFSETS);
    if (offsets < 0 && told)
        offsets = find_told(c, ROLE_IS_OFFSETS);
    compressed = value >= 0 && offsets >= 0 && is_vector(c, (int)i, true) &&
                 is_vector(c, value, false) && is_vector(c, offsets, true);
    if (!compressed && !by_name)
        return;
    if (value < 0)
        refuse_lonely(c, i, SPARSE_VALUES, n_prefix);
    else
        enter(c, (int)i, value, compressed ? offsets : -1);
}

static bool may_be_indices(const struct role_context *c, size_t i)
{
    const struct role_case *known = &c->cases[i];

    return is_free(c, (int)i, ROLE_IS_INDICES) &&
           (known->told != NULL || prefix_of(c->archive->arrays[i].key, SPARSE_INDICES) > 0);
}

void role_sparse_find(struct role_context *c)
{
    const unsigned parts = ROLE_IS_INDICES | ROLE_IS_VALUES | ROLE_IS_OFFSETS;
    const size_t n = c->archive->n_arrays;

    for (size_t i = 0; i < n; i++)
        if (may_be_indices(c, i))
            find_from_indices(c, i);
    for (size_t i = 0; i < n; i++) {
        const struct role_case *known = &c->cases[i];
        const char *key = c->archive->arrays[i].key;
        const size_t n_prefix = prefix_of(key, SPARSE_VALUES);

        if (known->sparse_index >= 0 || known->is_refused)
            continue;
        if (known->told != NULL ? role_kinds[known->told->role].flags & parts
                                : role_values_by_prefix(key, n_prefix) != ROLE_META &&
                                      is_free(c, (int)i, ROLE_IS_VALUES))
            refuse_lonely(c, i, SPARSE_INDICES, n_prefix);
    }
}

uint64_t role_sparse_rows(const struct role_context *c, size_t i)
{
    const int offsets = c->bindings[i].offsets_array;

    if (offsets < 0)
        return c->archive->arrays[i].n_rows;
    return c->archive->arrays[offsets].n_rows > 0 ? c->archive->arrays[offsets].n_rows - 1 : 0;
}

/* --- what the indices mean --- */

/* The board types of RingRift, whose sparse policies number its own moves. */
static const char *const ringrift_boards[] = {"hex8", "hexagonal", "square8", "square19"};

static bool is_ringrift_board(const char *name)
{
    for (size_t i = 0; i < sizeof ringrift_boards / sizeof ringrift_boards[0]; i++)
        if (strcmp(name, ringrift_boards[i]) == 0)
            return true;
    return false;
}

/* A 0-d string that the shard carries, "" where there is none. A string that is there but cannot
 * be read is no reason to guess: -1 with a reason. */
static int read_note(const struct role_context *c, const char *key, char text[64],
                     struct role_reason *reason)
{
    int i = role_find(c, key, strlen(key), "");
    const struct npy_header *h;

    text[0] = '\0';
    if (i < 0)
        return 0;
    h = &c->archive->arrays[i].header;
    if (h->n_dims > 0 || (h->dtype.kind != DTYPE_UNICODE && h->dtype.kind != DTYPE_BYTES))
        return 0;
    if (array_read_string(&c->archive->arrays[i], text, 64) == 0)
        return 0;
    role_unfit(reason, "the array %s, which tells its layout, cannot be read", key);
    return -1;
}

/* 1 when the shard's own notes, or the name the board was asked for by, mean RingRift; 2 when its
 * policy_encoding does; 0 when nothing does; -1 with a reason. */
static int says_ringrift(const struct role_context *c, struct role_reason *reason)
{
    char encoding[64], type[64];

    if (read_note(c, "policy_encoding", encoding, reason) != 0 ||
        read_note(c, "board_type", type, reason) != 0)
        return -1;
    if (strcmp(encoding, "board_aware") == 0)
        return 2;
    return is_ringrift_board(type) || is_ringrift_board(c->board->preset);
}

/* The length that a 0-d policy_size tells: 0 when there is none, -1 with a reason when it is bad.
 */
static int read_policy_size(const struct role_context *c, uint64_t *length,
                            struct role_reason *reason)
{
    static const char key[] = "policy_size";
    int i = role_find(c, key, strlen(key), "");
    int64_t value;

    *length = 0;
    if (i < 0 || c->archive->arrays[i].header.n_dims > 0)
        return 0;
    if (array_read_int(&c->archive->arrays[i], &value) != 0 || value <= 0) {
        role_unfit(reason, "the array policy_size is no positive integer");
        return -1;
    }
    *length = (uint64_t)value;
    return 0;
}

static const struct action_layout *layout_by_size(const struct role_context *c, uint64_t length,
                                                  struct role_reason *reason)
{
    const struct action_layout *layout = action_layout_by_length(c->board, length);
    char known[200];

    action_layout_list(c->board, known, sizeof known);
    if (layout == NULL)
        role_unfit(reason, "policy_size is %" PRIu64 ", but the board %s has policies %s", length,
                   c->board->name, known);
    return layout;
}

static const struct action_layout *layout_by_notes(const struct role_context *c,
                                                   struct role_reason *reason)
{
    const int ringrift = says_ringrift(c, reason);
    const struct action_layout *layout;

    if (ringrift < 0)
        return NULL;
    layout = ringrift > 0 ? action_layout_by_name(c->board, "ringrift") : NULL;
    if (layout != NULL && layout->length(layout, c->board) > 0)
        return layout;
    if (ringrift == 2) {
        role_unfit(reason, "policy_encoding is board_aware, but the board %s has no such policy",
                   c->board->name);
        return NULL;
    }
    layout = action_layout_by_length(c->board, c->board->n_cells);
    if (layout == NULL)
        role_unfit(reason, "the board %s has no policy of cells", c->board->name);
    return layout;
}

/* The length of a layout that was chosen without regard to policy_size: its own, or that of the
 * longer head where policy_size says so. */
static uint64_t layout_length(const struct board *board, const struct action_layout *layout,
                              uint64_t policy_size)
{
    if (layout->padded_length != NULL && policy_size > 0 &&
        policy_size == layout->padded_length(layout, board))
        return policy_size;
    return layout->length(layout, board);
}

static const struct action_layout *find_layout(const struct role_context *c, size_t i,
                                               uint64_t *length, struct role_reason *reason)
{
    const struct action_layout *layout = role_told_layout(c, i, reason);
    uint64_t policy_size;

    if (reason->text[0] != '\0' || read_policy_size(c, &policy_size, reason) != 0)
        return NULL;
    if (layout == NULL && policy_size > 0) {
        *length = policy_size;
        return layout_by_size(c, policy_size, reason);
    }
    if (layout == NULL)
        layout = layout_by_notes(c, reason);
    if (layout != NULL)
        *length = layout_length(c->board, layout, policy_size);
    return layout;
}

/* --- their form --- */

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

static int check_objects(struct role_context *c, size_t i, bool indices)
{
    const struct array *array = &c->archive->arrays[i];
    const unsigned n_dims = array->header.n_dims;
    const uint64_t n_columns =
        n_dims == 2 && array->header.shape[1] > 0 ? array->header.shape[1] : 1;
    const char *kind = indices ? "integers" : "numbers";
    char reason[160];

    if (n_dims > 2) {
        snprintf(reason, sizeof reason, "expected rows of %s: objects (N,) or (N, k)", kind);
        return role_refuse(c, i, NULL, reason);
    }
    if (array->objects == NULL)
        return error_set(&c->failed, ERROR_INTERNAL, "%s: objects are not loaded",
                         text_quote(array->key).text);
    for (uint64_t k = 0; k < array->objects->n_items; k++) {
        const struct pickle_item *item = &array->objects->items[k];

        if (n_dims == 1 ? is_sparse_row(item, indices) : is_sparse_number(item, indices))
            continue;
        snprintf(reason, sizeof reason, "row %" PRIu64 ": expected %s %s%s", k / n_columns,
                 n_dims == 1 ? "a 1-D array of" : "only", kind, n_dims == 1 ? " or a list" : "");
        return role_refuse(c, i, NULL, reason);
    }
    return 0;
}

static int refuse_lengths(struct role_context *c, size_t i, size_t value)
{
    const struct array *values = &c->archive->arrays[value];
    char reason[600];

    snprintf(reason, sizeof reason, "its values %.200s have the shape %.200s",
             text_quote(values->key).text,
             text_shape(values->header.shape, values->header.n_dims).text);
    return role_refuse_with(c, i, NULL, NULL, ERROR_CODE_LENGTH, reason);
}

/* The form of the policy whose indices are array i, with the checks that go with it. */
static int check_form(struct role_context *c, size_t i, enum sparse_form *form)
{
    const struct role_binding *b = &c->bindings[i];
    const size_t value = (size_t)b->value_array;
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct npy_header *v = &c->archive->arrays[value].header;

    if (h->dtype.kind == DTYPE_OBJECT && v->dtype.kind == DTYPE_OBJECT) {
        *form = SPARSE_OBJECT;
        if (role_check_rows(c, i) != 0 || role_check_rows(c, value) != 0 ||
            check_objects(c, i, true) != 0)
            return -1;
        return check_objects(c, value, false);
    }
    if (!dtype_is_integer(&h->dtype))
        return role_refuse(c, i, NULL, "expected the indices of a sparse policy: integers");
    if (!role_dtype_moves(&v->dtype))
        return role_refuse(c, value, NULL, "expected the values of a sparse policy: numbers");
    if (b->offsets_array >= 0) {
        *form = SPARSE_CSR;
        return h->shape[0] == v->shape[0] ? 0 : refuse_lengths(c, i, value);
    }
    *form = SPARSE_PADDED;
    if (h->n_dims != 2)
        return role_refuse(c, i, NULL,
                           "expected the indices of a sparse policy: rows of objects, (N, L), or "
                           "(M,) with offsets (N + 1,) beside them");
    if (role_check_rows(c, i) != 0 || role_check_rows(c, value) != 0)
        return -1;
    if (v->n_dims != 2 || v->shape[1] != h->shape[1])
        return refuse_lengths(c, i, value);
    return 0;
}

static int check_offsets(struct role_context *c, size_t i)
{
    const struct array *offsets = &c->archive->arrays[i];
    char reason[200];

    if (offsets->n_rows > 0 && offsets->n_rows - 1 == c->n_rows)
        return 0;
    snprintf(reason, sizeof reason,
             "expected %" PRIu64 " offsets, one more than the rows of %.100s", c->n_rows + 1,
             text_quote(c->archive->arrays[c->rows_array].key).text);
    return role_refuse_with(c, i, NULL, NULL, ERROR_CODE_ROWS, reason);
}

int role_sparse_bind(struct role_context *c, size_t i)
{
    const struct role_binding *found = &c->bindings[i];
    const int parts[] = {(int)i, found->value_array, found->offsets_array};
    enum role roles[] = {ROLE_POLICY_INDEX, ROLE_POLICY_VALUE, ROLE_POLICY_OFFSETS};
    const struct action_layout *layout;
    struct role_reason reason = {""};
    enum sparse_form form = SPARSE_NONE;
    uint64_t length;

    if (check_form(c, i, &form) != 0)
        return -1;
    if (form == SPARSE_CSR && check_offsets(c, (size_t)found->offsets_array) != 0)
        return -1;
    layout = find_layout(c, i, &length, &reason);
    if (layout == NULL)
        return role_refuse(c, i, "policy-index:layout=LAYOUT", reason.text);
    const char *key = c->archive->arrays[i].key;
    const size_t n_prefix = prefix_of(key, SPARSE_INDICES);
    const bool is_counts = role_prefix_is_counts(key, n_prefix);

    if (role_values_by_prefix(key, n_prefix) != ROLE_META)
        roles[1] = role_values_by_prefix(key, n_prefix);
    for (size_t k = 0; k < 3; k++) {
        struct role_binding *b;

        if (parts[k] < 0)
            continue;
        if (c->cases[parts[k]].told != NULL)
            roles[k] = c->cases[parts[k]].told->role;
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

/* --- scipy --- */

/* The number of columns that scipy's `shape` tells, 0 where there is none. */
static uint64_t scipy_columns(const struct role_context *c)
{
    const int i = role_find(c, "shape", strlen("shape"), "");
    const struct array *array = i >= 0 ? &c->archive->arrays[i] : NULL;
    struct batch batch = {.own = {.arrays = &array, .n_arrays = 1}};
    int64_t n = 0;

    if (i < 0 || array->header.n_dims != 1 || array->n_rows != 2 ||
        !dtype_is_integer(&array->header.dtype))
        return 0;
    if (batch_open(&batch, NULL, NULL) == 0 && batch_read(&batch, 0, 2, NULL) == 0 &&
        dtype_get_int(&array->header.dtype, batch.bytes.data) == (int64_t)c->n_rows)
        n = dtype_get_int(&array->header.dtype, batch.bytes.data + array->header.dtype.itemsize);
    batch_release(&batch);
    return n > 0 ? (uint64_t)n : 0;
}

bool role_sparse_of_scipy(const struct role_context *c, size_t i, char role[64])
{
    static const char *const keys[] = {"indices", "data", "indptr"};
    static const enum role roles[] = {ROLE_POLICY_INDEX, ROLE_POLICY_VALUE, ROLE_POLICY_OFFSETS};
    const struct action_layout *layout;
    int parts[3], own = -1;

    for (unsigned k = 0; k < 3; k++) {
        parts[k] = role_find(c, keys[k], strlen(keys[k]), "");
        if (parts[k] < 0 || c->cases[parts[k]].told != NULL || !is_vector(c, parts[k], k != 1))
            return false;
        if (parts[k] == (int)i)
            own = (int)k;
    }
    if (own < 0 || c->archive->arrays[parts[2]].n_rows != c->n_rows + 1 ||
        c->archive->arrays[parts[0]].n_rows != c->archive->arrays[parts[1]].n_rows)
        return false;
    layout = own == 0 ? action_layout_by_length(c->board, scipy_columns(c)) : NULL;
    snprintf(role, 64, "%s%s%.40s", role_name(roles[own]), layout != NULL ? ":layout=" : "",
             layout != NULL ? layout->name : "");
    return true;
}
