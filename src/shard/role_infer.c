/*
 * role_infer.c - a role for every array of a shard, or the problem that stands in its way.
 *
 * What was told counts first, then name and shape together; what nothing speaks for is copied when
 * it is surely not spatial. Problems do not stop the inference: all of them are found.
 */
#include "shard/batch.h"
#include "shard/role_parts.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define N_OF(table)      (sizeof(table) / sizeof(table)[0])
#define LIST_LOOK_NBYTES (1u << 20)

/* --- the context --- */

static int compare_keys(const void *a, const void *b)
{
    const struct array *const *left = a, *const *right = b;

    return strcmp((*left)->key, (*right)->key);
}

int role_find(const struct role_context *c, const char *key, size_t n_bytes, const char *ending)
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

static int unknown_array(const struct role_context *c, const char *key, struct error *err)
{
    struct text names = {0};
    int status = text_append(&names, err, c->archive->n_arrays > 0 ? "are" : "are none");

    for (size_t i = 0; i < c->archive->n_arrays && status == 0 && names.n_bytes < 1000; i++)
        status = text_append(&names, err, "%s %s", i > 0 ? "," : "",
                             text_path(c->archive->arrays[i].key).text);
    if (status == 0)
        error_set(err, ERROR_USAGE,
                  "%s: no array is called %s, but a role is told for it; there %s%s",
                  text_path(c->archive->path).text, text_quote(key).text, names.text,
                  names.n_bytes < 1000 ? "" : ", ...");
    text_release(&names);
    return -1;
}

static int apply_overrides(struct role_context *c, struct error *err)
{
    for (size_t k = 0; k < c->request->n_overrides; k++) {
        const struct role_override *o = &c->request->overrides[k];
        int i = role_find(c, o->array, strlen(o->array), "");

        if (i < 0)
            return unknown_array(c, o->array, err);
        c->cases[i].told = o;
    }
    return 0;
}

/* FIELD_present (b1): whether the field beside it was there at all. */
static bool is_presence(const struct array *array)
{
    static const char ending[] = "_present";
    const size_t n = strlen(array->key);

    return array->header.dtype.kind == DTYPE_BOOL && array->header.n_dims == 1 &&
           n >= sizeof ending && strcasecmp(array->key + n - (sizeof ending - 1), ending) == 0;
}

/* Build what does not depend on shapes: cases, sorted keys, boxes. */
static int init(struct role_context *c, struct error *err)
{
    const struct board *board = c->board;
    const size_t n = c->archive->n_arrays;

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
        const struct array *array = &c->archive->arrays[i];

        c->bindings[i] = (struct role_binding){
            .role = ROLE_META, .index_array = -1, .value_array = -1, .offsets_array = -1};
        c->cases[i].named = role_by_name(array->key, board);
        if (!c->cases[i].named.is_known && is_presence(array))
            c->cases[i].named = (struct role_named){.is_known = true, .role = ROLE_COPY};
        c->cases[i].sparse_index = -1;
        c->by_key[i] = array;
    }
    qsort(c->by_key, n, sizeof *c->by_key, compare_keys);
    return apply_overrides(c, err);
}

/* --- the number of rows --- */

enum role role_wanted(const struct role_context *c, size_t i)
{
    const struct role_case *known = &c->cases[i];

    if (known->sparse_index >= 0)
        return known->sparse_index == (int)i ? ROLE_POLICY_INDEX : ROLE_POLICY_VALUE;
    if (known->told != NULL)
        return known->told->role;
    return known->named.role;
}

static void take_rows(struct role_context *c, size_t i, uint64_t n_rows)
{
    c->n_rows = n_rows;
    c->rows_array = i;
}

/* Without an array whose name or role tells: all must agree. Where they differ, the first array
 * that could be a row per position on the board tells, so that roles can be suggested. */
static void rows_of_unnamed(struct role_context *c)
{
    struct role_reason reason;
    bool found = false, is_spatial = false;

    for (size_t i = 0; i < c->archive->n_arrays; i++) {
        const struct array *array = &c->archive->arrays[i];

        if (array->header.n_dims == 0 ||
            (c->cases[i].told != NULL && c->cases[i].told->role != ROLE_COPY))
            continue;
        if (found && array->n_rows != c->n_rows && !c->rows_are_guessed) {
            c->rows_are_guessed = true;
            c->differing_array = i;
        }
        if (!found || (!is_spatial && role_is_spatial(c, i, 1, &reason))) {
            is_spatial = role_is_spatial(c, i, 1, &reason);
            if (found && array->n_rows != c->n_rows)
                c->differing_array = c->rows_array;
            take_rows(c, i, array->n_rows);
        }
        found = true;
    }
    if (!found)
        role_refuse_shard(c, ERROR_CODE_ROWS, "no array has rows");
}

/* Decide the common number of rows from the most telling array. */
static void find_rows(struct role_context *c)
{
    for (unsigned k = 0; k <= ROLE_COPY; k++) {
        const unsigned min_dims = role_kinds[k].min_dims > 0 ? role_kinds[k].min_dims : 1;

        for (size_t i = 0; i < c->archive->n_arrays; i++) {
            if (role_wanted(c, i) != k || k == ROLE_POLICY_VALUE || k == ROLE_POLICY_OFFSETS ||
                c->archive->arrays[i].header.n_dims < min_dims ||
                (k == ROLE_COPY && c->cases[i].told != NULL))
                continue;
            take_rows(c, i,
                      k == ROLE_POLICY_INDEX ? role_sparse_rows(c, i)
                                             : c->archive->arrays[i].n_rows);
            return;
        }
    }
    rows_of_unnamed(c);
}

/* --- the arrays --- */

/* Masks and action values are policies by shape; a name, or what was told, says the rest. */
static void set_role(const struct role_context *c, size_t i, enum role wanted)
{
    const struct role_case *known = &c->cases[i];
    struct role_binding *b = &c->bindings[i];

    if (b->role == ROLE_POLICY)
        b->role = wanted;
    b->is_counts = b->role == ROLE_POLICY && (known->named.flags & NAME_COUNTS) != 0;
    b->is_winner = b->role == ROLE_TO_MOVE &&
                   (known->told != NULL && known->told->is_winner >= 0
                        ? known->told->is_winner == 1
                        : strncasecmp(c->archive->arrays[i].key, "winner", strlen("winner")) == 0);
}

static int bind_told(struct role_context *c, size_t i)
{
    const enum role role = c->cases[i].told->role;
    const struct role_kind *kind = &role_kinds[role];
    const struct array *array = &c->archive->arrays[i];
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason = {""};

    b->role = role;
    if (role == ROLE_COPY && (array->header.n_dims == 0 || array->n_rows != c->n_rows))
        b->role = ROLE_META;
    if (kind->fit == NULL)
        return 0;
    if (role_check_rows(c, i) != 0)
        return -1;
    if (!kind->fit(c, i, b, &reason))
        return role_refuse(c, i, role_suggest(c, i), reason.text);
    set_role(c, i, role);
    return 0;
}

/* Objects that are rows of something cannot be copied by guess. */
static bool is_plain(const struct role_context *c, size_t i, struct role_reason *reason)
{
    const struct array *array = &c->archive->arrays[i];

    if (array->header.dtype.kind != DTYPE_OBJECT)
        return true;
    if (array->objects == NULL)
        return role_unfit(reason, "its objects are not loaded");
    for (uint64_t k = 0; k < array->objects->n_items; k++)
        if (array->objects->items[k].kind == PICKLE_LIST ||
            array->objects->items[k].kind == PICKLE_ARRAY)
            return role_unfit(
                reason, "item %" PRIu64 " is no number or string: its meaning must be told", k);
    return true;
}

static bool is_index_like(const struct npy_header *h)
{
    return dtype_is_integer(&h->dtype) &&
           (h->n_dims == 1 || (h->n_dims == 2 && (h->shape[1] == 1 || h->shape[1] == 2)));
}

static int refuse_spatial(struct role_context *c, size_t i, const char *why)
{
    const char *role = role_suggest(c, i);
    struct role_reason reason;

    if (strcmp(role, "action") == 0 || strcmp(role, "coord") == 0)
        role = "ROLE";
    role_unfit(&reason, "its name tells no role, and %s: expected to be told what it is", why);
    return role_refuse(c, i, role, reason.text);
}

/* An array of N rows that is copied unless something speaks against it. */
static int bind_copy(struct role_context *c, size_t i, bool check_shape)
{
    struct role_reason reason = {""};

    if (!is_plain(c, i, &reason))
        return role_refuse(c, i, NULL, reason.text);
    if (check_shape && role_is_spatial(c, i, 1, &reason))
        return refuse_spatial(c, i, reason.text);
    c->bindings[i].role = ROLE_COPY;
    c->bindings[i].may_hold_positions =
        c->request->is_strict && role_may_hold_positions(c, i, c->cases[i].named.is_known);
    return 0;
}

/* Where colours are swapped a reward, a side, a label may change. */
static int refuse_swapped(struct role_context *c, size_t i)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const bool moves = is_index_like(h) && role_name_suggests_cells(c->archive->arrays[i].key);
    struct role_reason reason = {""};
    const char *flags = "", *role;

    if (role_is_spatial(c, i, 1, &reason))
        return refuse_spatial(c, i, reason.text);
    role = moves ? role_suggest(c, i) : role_suggest_label(c, i, &flags);
    role_refuse(c, i, role,
                role != NULL && strcmp(role, "ROLE") != 0
                    ? "its name tells no role, and a transform swaps the colours, which may change "
                      "it: expected to be told what it is"
                    : "its name tells no role, and a transform swaps the colours, which may change "
                      "it, and nothing is likely: expected to be told what it is, --copy if "
                      "colours do not matter to it");
    if (c->problems->n > 0)
        c->problems->items[c->problems->n - 1].flags = flags;
    return -1;
}

/* No name says which arrays have a row for each position, and their first dimensions differ. */
static int refuse_guessed_rows(struct role_context *c, size_t i)
{
    const struct array *array = &c->archive->arrays[i];
    struct role_reason reason;
    char text[ROLE_REASON_NBYTES];

    snprintf(text, sizeof text,
             "no array is known to have a row per position, and %.80s and %.80s differ in their "
             "first dimension: expected to be told what it is",
             text_quote(c->archive->arrays[c->rows_array].key).text,
             text_quote(c->archive->arrays[c->differing_array].key).text);
    return role_refuse_with(c, i,
                            array->n_rows != c->n_rows || role_is_spatial(c, i, 1, &reason)
                                ? role_suggest(c, i)
                            : c->request->swaps_colours ? NULL
                                                        : "copy",
                            "--role NAME=ROLE", ERROR_CODE_ROWS, text);
}

static int bind_unnamed(struct role_context *c, size_t i)
{
    const struct array *array = &c->archive->arrays[i];
    const struct npy_header *h = &array->header;
    struct role_reason reason = {""};
    char scipy[64];

    if (role_sparse_of_scipy(c, i, scipy))
        return role_refuse(c, i, scipy,
                           "a matrix in the form of scipy, whose names do not say of what: "
                           "expected to be told");
    if (c->rows_are_guessed)
        return refuse_guessed_rows(c, i);
    if (array->n_rows == c->n_rows) {
        if (c->request->swaps_colours)
            return refuse_swapped(c, i);
        if (is_index_like(h) && role_name_suggests_cells(array->key))
            return role_refuse(c, i, role_suggest(c, i),
                               "its name and integers suggest moves or cells: expected to be told");
        return bind_copy(c, i, true);
    }
    if (role_is_spatial(c, i, 0, &reason))
        return refuse_spatial(c, i, reason.text);
    if (h->n_dims == 1 && dtype_is_integer(&h->dtype) && array->n_rows > c->n_rows)
        return role_refuse(c, i, "drop",
                           "more integers than rows, and no NAME_offsets, NAME_indices and "
                           "NAME_values that go together: expected to be told");
    c->bindings[i].role = ROLE_META;
    return 0;
}

/* A list of moves, padded with -1, rather than a number for each action. What is looked at is
 * bounded: a list has a -1 in every row but those of an empty board. */
static bool is_list(const struct role_context *c, size_t i)
{
    const struct array *array = &c->archive->arrays[i];
    double low, high;

    return c->request->is_strict && array->header.dtype.kind == DTYPE_INT &&
           (c->bindings[i].role == ROLE_MASK || c->bindings[i].role == ROLE_POLICY) &&
           role_find_range(array, LIST_LOOK_NBYTES, &low, &high) && low < 0;
}

static int bind_named(struct role_context *c, size_t i)
{
    const struct role_named *named = &c->cases[i].named;
    const struct role_kind *kind = &role_kinds[named->role];
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason = {""}, last = {""}, spatial;

    if (named->flags & NAME_NEVER_ROWS) {
        b->role = named->role;
        return 0;
    }
    if (role_check_rows(c, i) != 0)
        return -1;
    if (named->role == ROLE_COPY)
        return bind_copy(
            c, i, (named->flags & NAME_MAY_SPREAD) || c->archive->arrays[i].header.n_dims > 2);
    for (size_t k = 0; k < N_OF(kind->by_name) && kind->by_name[k] != NULL; k++) {
        if ((named->flags & NAME_PER_PLAYER) && kind->by_name[k] == role_fit_wdl)
            continue;
        if (kind->by_name[k](c, i, b, &reason)) {
            set_role(c, i, named->role);
            return is_list(c, i) ? role_refuse(c, i, "drop",
                                               "integers with -1 among them are a list of moves, "
                                               "padded, rather than a number for each action: "
                                               "expected to be told")
                                 : 0;
        }
        if (kind->by_name[k] == kind->fit)
            last = reason;
    }
    /* Players and results mean nothing to a board that never swaps colours. */
    if ((kind->flags & ROLE_ONLY_SWAPS) && !c->swaps_colours && !role_is_spatial(c, i, 1, &spatial))
        return bind_copy(c, i, false);
    return role_refuse(c, i, role_suggest(c, i), last.text);
}

static void bind_array(struct role_context *c, size_t i)
{
    const struct role_case *known = &c->cases[i];
    const bool has_rows = c->archive->arrays[i].header.n_dims > 0;

    if (known->is_refused)
        return;
    if (known->sparse_index >= 0) {
        if (known->sparse_index == (int)i)
            (void)role_sparse_bind(c, i);
        return;
    }
    if (known->told != NULL) {
        (void)bind_told(c, i);
        return;
    }
    c->bindings[i].inferred = true;
    if (c->board->family->only_known_members)
        (void)role_katago_bind(c, i);
    else if (known->named.is_known && (has_rows || (known->named.flags & NAME_NEVER_ROWS)))
        (void)bind_named(c, i);
    else if (has_rows)
        (void)bind_unnamed(c, i);
    else
        c->bindings[i].role = ROLE_META;
}

/* --- what arrays take from each other --- */

/* The policy that moves on their own are indices into: the first one there is. */
static const struct role_binding *find_policy(const struct role_context *c)
{
    static const enum role roles[] = {ROLE_POLICY, ROLE_POLICY_INDEX, ROLE_ACTION_VALUES,
                                      ROLE_MASK};

    for (size_t k = 0; k < N_OF(roles); k++)
        for (size_t i = 0; i < c->archive->n_arrays; i++)
            if (c->bindings[i].role == roles[k])
                return &c->bindings[i];
    return NULL;
}

/* Actions: the layout told, else that of the shard's policy, else cells. */
static int finish_action(struct role_context *c, size_t i, const struct role_binding *policy)
{
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason;

    b->layout = role_told_layout(c, i, &reason);
    if (reason.text[0] != '\0')
        return role_refuse(c, i, "drop", reason.text);
    if (policy != NULL && (b->layout == NULL || b->layout == policy->layout)) {
        b->layout = policy->layout;
        b->n_actions = policy->n_actions;
        return 0;
    }
    if (b->layout == NULL)
        b->layout = action_layout_by_length(c->board, c->board->n_cells);
    if (b->layout == NULL)
        return role_refuse(c, i, "drop", "no policy tells what its indices mean");
    b->n_actions = b->layout->length(b->layout, c->board);
    return 0;
}

/* As programs write them beside a policy of that layout. */
static bool planes_are_xy(const struct role_context *c)
{
    if (c->request->plane_xy >= 0)
        return c->request->plane_xy == 1;
    for (size_t i = 0; i < c->archive->n_arrays; i++) {
        const struct role_binding *b = &c->bindings[i];

        if ((b->role == ROLE_POLICY || b->role == ROLE_POLICY_INDEX ||
             b->role == ROLE_ACTION_VALUES || b->role == ROLE_MASK) &&
            b->layout != NULL && b->layout == c->board->family->xy_layout)
            return true;
    }
    return false;
}

/* A policy that was told to be stored upside down, or moves beside one. */
static int finish_flip(struct role_context *c, size_t i, const struct role_binding *policy)
{
    const struct role_override *told = c->cases[i].told;
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason;

    if (told != NULL && told->flip >= 0)
        b->flip = (enum action_flip)told->flip;
    if (!action_can_flip(c->board, b->layout, b->flip)) {
        role_unfit(&reason, "option %s is for a policy with an entry for each cell of a %s",
                   action_flip_name(b->flip), b->flip == ACTION_TRANSPOSE ? "square" : "rectangle");
        return role_refuse(c, i, role_name(b->role), reason.text);
    }
    if (b->role != ROLE_ACTION || told != NULL || policy == NULL || policy->flip == ACTION_AS_IS)
        return 0;
    role_unfit(&reason, "the policy is stored %s: expected to be told whether these moves are, too",
               action_flip_name(policy->flip));
    return role_refuse(c, i, "action", reason.text);
}

/* Moves get the layout of the shard's policy, and planes their order, once all roles are known. */
static void finish(struct role_context *c)
{
    const struct role_binding *policy = find_policy(c);
    const bool xy = planes_are_xy(c);

    for (size_t i = 0; i < c->archive->n_arrays; i++) {
        struct role_binding *b = &c->bindings[i];
        const unsigned flags = role_kinds[b->role].flags;

        if ((b->role == ROLE_ACTION && finish_action(c, i, policy) != 0) ||
            ((flags & ROLE_HAS_LAYOUT) && b->role != ROLE_ACTION && finish_flip(c, i, NULL) != 0))
            continue;
        if (flags & ROLE_ON_CELLS)
            b->plane_xy = xy;
    }
    for (size_t i = 0; i < c->archive->n_arrays; i++)
        if (c->bindings[i].role == ROLE_ACTION)
            (void)finish_flip(c, i, policy);
}

static void bind_all(struct role_context *c)
{
    const char *missing = role_katago_missing(c->archive);

    if (c->board->family->only_known_members && missing != NULL) {
        struct role_reason reason;

        role_unfit(&reason, "expected an array %s, as every KataGo shard has", missing);
        role_refuse_shard(c, ERROR_CODE_SHAPE, reason.text);
        return;
    }
    role_sparse_find(c);
    find_rows(c);
    for (size_t i = 0; i < c->archive->n_arrays && c->failed.kind == ERROR_NONE; i++)
        bind_array(c, i);
    finish(c);
}

int role_infer(const struct archive_in *archive, const struct board *board,
               const struct role_request *request, struct role_binding *bindings, uint64_t *n_rows,
               struct role_problems *problems, struct error *err)
{
    struct role_problems own = {0};
    struct role_context c = {.archive = archive,
                             .board = board,
                             .request = request,
                             .bindings = bindings,
                             .problems = problems != NULL ? problems : &own};
    int status = -1;

    if (request->plane_xy == 1 && (board->rows == 0 || board->rows != board->cols))
        return error_set(err, ERROR_USAGE,
                         "planes of the board %s cannot be in the order xy: it is no square",
                         board->name);
    if (init(&c, err) != 0)
        goto out;
    bind_all(&c);
    if (c.failed.kind == ERROR_NONE && c.problems->n > 0 && request->command != NULL &&
        role_settle(&c, err) != 0)
        goto out;
    if (c.failed.kind != ERROR_NONE)
        error_pass(err, &c.failed);
    else if (problems == NULL && own.n > 0 && request->command != NULL)
        role_refuse_all(&own, archive, request, NULL, err);
    else if (problems == NULL && own.n > 0)
        error_pass(err, &own.items[0].why);
    else
        status = 0;
    *n_rows = c.rows_are_guessed ? 0 : c.n_rows;
out:
    role_problems_release(&own);
    free(c.cases);
    free(c.by_key);
    return status;
}
