/* role_sparse_find.c - the arrays that make up each sparse policy, found by common prefix. */
#include "shard/role_sparse.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

/* True when array i may be a part: nothing else was told for it, and it is in no other policy. */
static bool is_free(const struct role_context *c, int i, enum role part)
{
    const struct role_case *known;

    if (i < 0)
        return false;
    known = &c->cases[i];
    return known->sparse_index < 0 && (known->told == NULL || known->told->role == part) &&
           c->archive->arrays[i].header.n_dims > 0;
}

/* PREFIX and the part's ending, or the ending behind it in the list. */
static int find_part(const struct role_context *c, const char *key, size_t n_prefix,
                     enum sparse_part part, enum role role)
{
    for (unsigned k = part; n_prefix > 0 && k <= part + 1u; k++) {
        int i = role_context_find(c, key, n_prefix, role_sparse_endings[k]);

        if (is_free(c, i, role))
            return i;
    }
    return -1;
}

/* The only free array that was told to have the role, or -1. */
static int find_told(const struct role_context *c, enum role role)
{
    int found = -1;

    for (size_t k = 0; k < c->request->n_overrides; k++) {
        const struct role_override *o = &c->request->overrides[k];
        int i = role_context_find(c, o->array, strlen(o->array), "");

        if (c->cases[i].told != o || o->role != role || !is_free(c, i, role))
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

static int refuse_lonely(const struct role_context *c, size_t i, enum sparse_part part,
                         size_t n_prefix, struct error *err)
{
    const struct text_quoted key = text_path(c->archive->arrays[i].key);
    char reason[320];

    if (n_prefix > 0)
        snprintf(reason, sizeof reason, "a part of a sparse policy, but there is no %.*s%s",
                 (int)(n_prefix > 150 ? 150 : n_prefix), key.text, role_sparse_endings[part]);
    else
        snprintf(reason, sizeof reason,
                 "a part of a sparse policy, but no other array is told to have the role %s",
                 role_name(part == SPARSE_VALUES ? ROLE_POLICY_VALUE : ROLE_POLICY_INDEX));
    return role_refuse(c, i, NULL, reason, err);
}

/* Array i may hold the indices of a sparse policy: find the rest of it. */
static int find_from_indices(struct role_context *c, size_t i, struct error *err)
{
    const struct array *array = &c->archive->arrays[i];
    const bool told = c->cases[i].told != NULL;
    const size_t n_prefix = role_sparse_prefix(array->key, SPARSE_INDICES);
    const bool by_name = told || role_prefix_is_policy(array->key, n_prefix);
    int value, offsets;
    bool compressed;

    value = find_part(c, array->key, n_prefix, SPARSE_VALUES, ROLE_POLICY_VALUE);
    if (value < 0 && told)
        value = find_told(c, ROLE_POLICY_VALUE);
    offsets = find_part(c, array->key, n_prefix, SPARSE_OFFSETS, ROLE_POLICY_OFFSETS);
    if (offsets < 0 && told)
        offsets = find_told(c, ROLE_POLICY_OFFSETS);
    compressed = value >= 0 && offsets >= 0 && is_vector(c, (int)i, true) &&
                 is_vector(c, value, false) && is_vector(c, offsets, true);
    if (!compressed && !by_name)
        return 0;
    if (value < 0)
        return refuse_lonely(c, i, SPARSE_VALUES, n_prefix, err);
    enter(c, (int)i, value, compressed ? offsets : -1);
    return 0;
}

static bool may_be(const struct role_context *c, size_t i, enum role role, enum sparse_part part)
{
    const struct role_case *known = &c->cases[i];

    return is_free(c, (int)i, role) &&
           (known->told != NULL || role_sparse_prefix(c->archive->arrays[i].key, part) > 0);
}

int role_sparse_find(struct role_context *c, struct error *err)
{
    const size_t n = c->archive->n_arrays;

    for (size_t i = 0; i < n; i++)
        if (may_be(c, i, ROLE_POLICY_INDEX, SPARSE_INDICES) && find_from_indices(c, i, err) != 0)
            return -1;
    for (size_t i = 0; i < n; i++) {
        const struct role_case *known = &c->cases[i];
        const char *key = c->archive->arrays[i].key;
        const size_t n_prefix = role_sparse_prefix(key, SPARSE_VALUES);

        if (known->sparse_index >= 0)
            continue;
        if (known->told != NULL
                ? known->told->role == ROLE_POLICY_INDEX ||
                      known->told->role == ROLE_POLICY_VALUE ||
                      known->told->role == ROLE_POLICY_OFFSETS
                : is_free(c, (int)i, ROLE_POLICY_VALUE) && role_prefix_is_policy(key, n_prefix))
            return refuse_lonely(c, i, SPARSE_INDICES, n_prefix, err);
    }
    return 0;
}

uint64_t role_sparse_rows(const struct role_context *c, size_t i)
{
    const int offsets = c->bindings[i].offsets_array;

    if (offsets < 0)
        return c->archive->arrays[i].n_rows;
    return c->archive->arrays[offsets].n_rows > 0 ? c->archive->arrays[offsets].n_rows - 1 : 0;
}
