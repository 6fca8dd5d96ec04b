/* role_context.c - setting up an inference of roles, and refusing an array in one form of words. */
#include "shard/role_context.h"

#include "base/text.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare_keys(const void *a, const void *b)
{
    const struct array *const *left = a, *const *right = b;

    return strcmp((*left)->key, (*right)->key);
}

int role_context_find(const struct role_context *c, const char *key, size_t n_bytes,
                      const char *ending)
{
    size_t low = 0, high = c->archive->n_arrays;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = c->by_key[middle]->key;
        int order = strncmp(other, key, n_bytes);

        if (order == 0)
            order = strcmp(other + n_bytes, ending);
        if (order == 0)
            return (int)(c->by_key[middle] - c->archive->arrays);
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return -1;
}

static int apply_overrides(struct role_context *c, struct error *err)
{
    for (size_t k = 0; k < c->request->n_overrides; k++) {
        const struct role_override *o = &c->request->overrides[k];
        int i = role_context_find(c, o->array, strlen(o->array), "");

        if (i < 0)
            return error_set(err, ERROR_USAGE,
                             "%s: no array is called %s, but a role is told for it",
                             text_path(c->archive->path).text, text_quote(o->array).text);
        c->cases[i].told = o;
    }
    return 0;
}

int role_context_init(struct role_context *c, const struct archive_in *archive,
                      const struct board *board, const struct role_request *request,
                      struct role_binding *bindings, struct error *err)
{
    const size_t n = archive->n_arrays;

    *c = (struct role_context){.archive = archive, .board = board, .request = request};
    c->bindings = bindings;
    c->box_rows = board->rows > 0 ? board->rows : board->family->grid_side;
    c->box_cols = board->cols > 0 ? board->cols : board->family->grid_side;
    c->swaps_colours = board_swaps_colours(board);
    if (n > INT_MAX)
        return error_no_memory(err, "roles");
    c->cases = calloc(n + 1, sizeof *c->cases);
    c->by_key = calloc(n + 1, sizeof *c->by_key);
    if (c->cases == NULL || c->by_key == NULL)
        return error_no_memory(err, "roles");
    for (size_t i = 0; i < n; i++) {
        bindings[i] = (struct role_binding){
            .role = ROLE_META, .index_array = -1, .value_array = -1, .offsets_array = -1};
        c->cases[i].named = role_name_find(archive->arrays[i].key, board);
        c->cases[i].sparse_index = -1;
        c->by_key[i] = &archive->arrays[i];
    }
    qsort(c->by_key, n, sizeof *c->by_key, compare_keys);
    return apply_overrides(c, err);
}

void role_context_release(struct role_context *c)
{
    free(c->cases);
    free(c->by_key);
    free(c->problems);
    memset(c, 0, sizeof *c);
}

int role_refuse_with(const struct role_context *c, size_t i, const char *flags,
                     enum error_code code, const char *reason, struct error *err)
{
    const struct array *array = &c->archive->arrays[i];
    const struct error_place place = {.file = c->archive->path, .array = array->key, .code = code};
    char dtype[32];

    dtype_name(&array->header.dtype, dtype, sizeof dtype);
    return error_set_at(err, ERROR_DATA, &place, "dtype %s, shape %s: %s%s%s", dtype,
                        text_shape(array->header.shape, array->header.n_dims).text, reason,
                        flags != NULL ? "; use " : "", flags != NULL ? flags : "");
}

int role_refuse(const struct role_context *c, size_t i, const char *role, const char *reason,
                struct error *err)
{
    const struct text_quoted key = text_path(c->archive->arrays[i].key);
    char flags[640];

    if (c->likely != NULL)
        snprintf(c->likely, 48, "%s", role != NULL ? role : "");
    if (role != NULL)
        snprintf(flags, sizeof flags, "--role %s=%s or --copy %s", key.text, role, key.text);
    else
        snprintf(flags, sizeof flags, "--copy %s", key.text);
    return role_refuse_with(c, i, flags, ROLE_CODE_SHAPE, reason, err);
}

int role_check_rows(const struct role_context *c, size_t i, struct error *err)
{
    const struct array *array = &c->archive->arrays[i];
    const struct text_quoted key = text_path(array->key);
    char reason[320], flags[320];

    if (array->header.n_dims > 0 && array->n_rows == c->n_rows)
        return 0;
    if (array->header.n_dims == 0)
        snprintf(reason, sizeof reason, "expected %" PRIu64 " rows, found a single value",
                 c->n_rows);
    else
        snprintf(reason, sizeof reason, "expected %" PRIu64 " rows as in %.200s, found %" PRIu64,
                 c->n_rows, text_quote(c->archive->arrays[c->rows_array].key).text, array->n_rows);
    snprintf(flags, sizeof flags, "--role %s=meta if these are no rows", key.text);
    return role_refuse_with(c, i, flags, ROLE_CODE_ROWS, reason, err);
}
