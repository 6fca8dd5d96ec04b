/* role_infer.c - one role per array: what was told, else name and shape together, else a copy of
 * what is surely not spatial, else an error. */
#include "base/text.h"
#include "shard/role_context.h"
#include "shard/role_finish.h"
#include "shard/role_fit.h"
#include "shard/role_katago.h"
#include "shard/role_sparse.h"
#include "shard/rows.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define MAX_LOOK_NBYTES (1u << 20) /* of a row whose numbers are looked at */

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

/* In the order in which arrays are trusted to tell the number of rows. */
static const struct role_kind {
    enum role role;
    role_fit told;       /* how an array that was told the role must fit; NULL: not by a fit */
    role_fit by_name[3]; /* what an array named so may be, in order */
} kinds[] = {
    {ROLE_PLANES, role_fit_planes, {role_fit_grid, role_fit_planes, role_fit_packed}},
    {ROLE_PACKED, role_fit_packed, {role_fit_packed}},
    {ROLE_GRID, role_fit_grid, {role_fit_grid}},
    {ROLE_POLICY, role_fit_policy, {role_fit_policy}},
    {ROLE_ACTION_VALUES, role_fit_policy, {role_fit_policy}},
    {ROLE_MASK, role_fit_policy, {role_fit_policy}},
    {ROLE_POLICY_INDEX, NULL, {NULL}},
    {ROLE_ACTION, role_fit_action, {role_fit_action}},
    {ROLE_COORD, role_fit_coord, {role_fit_coord, role_fit_action}},
    {ROLE_VALUE, role_fit_value, {role_fit_wdl, role_fit_value}},
    {ROLE_WDL, role_fit_wdl, {role_fit_wdl}},
    {ROLE_TO_MOVE, role_fit_to_move, {role_fit_to_move}},
    {ROLE_TILE, role_fit_tile, {role_fit_tile}},
    {ROLE_COPY, NULL, {NULL}},
};

static const struct role_kind *find_kind(enum role role)
{
    for (size_t i = 0; i < N_OF(kinds); i++)
        if (kinds[i].role == role)
            return &kinds[i];
    return NULL;
}

/* The role that array i is told or named to have. */
static enum role wanted_role(const struct role_context *c, size_t i)
{
    const struct role_case *known = &c->cases[i];

    if (known->sparse_index >= 0)
        return known->sparse_index == (int)i ? ROLE_POLICY_INDEX : ROLE_POLICY_VALUE;
    if (known->told != NULL)
        return known->told->role;
    return known->named != NULL ? known->named->role : ROLE_META;
}

static void take_rows(struct role_context *c, size_t i, uint64_t n_rows)
{
    c->n_rows = n_rows;
    c->rows_array = i;
}

/* Without an array whose name or role tells: all must agree. */
static int rows_of_unnamed(struct role_context *c, struct error *err)
{
    const struct error_place place = {.file = c->archive->path, .code = ERROR_CODE_ROWS};
    bool found = false;

    for (size_t i = 0; i < c->archive->n_arrays; i++) {
        const struct array *array = &c->archive->arrays[i];

        if (array->header.n_dims == 0 ||
            (c->cases[i].told != NULL && c->cases[i].told->role != ROLE_COPY))
            continue;
        if (found && array->n_rows != c->n_rows)
            return error_set_at(err, ERROR_DATA, &place,
                                "no array is known to have a row per position, and %s and %s "
                                "differ in their first dimension; use --role NAME=ROLE",
                                text_quote(c->archive->arrays[c->rows_array].key).text,
                                text_quote(array->key).text);
        take_rows(c, i, array->n_rows);
        found = true;
    }
    if (!found)
        return error_set_at(err, ERROR_DATA, &place, "no array has rows");
    return 0;
}

/* Decide the common number of rows from the most telling array. */
static int find_rows(struct role_context *c, struct error *err)
{
    for (size_t k = 0; k < N_OF(kinds); k++) {
        const unsigned min_dims = k < 3 ? 2 : 1;

        for (size_t i = 0; i < c->archive->n_arrays; i++) {
            if (wanted_role(c, i) != kinds[k].role ||
                c->archive->arrays[i].header.n_dims < min_dims ||
                (kinds[k].role == ROLE_COPY && c->cases[i].told != NULL))
                continue;
            take_rows(c, i,
                      kinds[k].role == ROLE_POLICY_INDEX ? role_sparse_rows(c, i)
                                                         : c->archive->arrays[i].n_rows);
            return 0;
        }
    }
    return rows_of_unnamed(c, err);
}

/* Masks and action values are policies by shape; a name, or what was told, says the rest. */
static void set_role(const struct role_context *c, size_t i, enum role wanted)
{
    const struct role_case *known = &c->cases[i];
    const unsigned flags = known->named != NULL ? known->named->flags : 0;
    struct role_binding *b = &c->bindings[i];

    if (b->role == ROLE_POLICY)
        b->role = wanted;
    b->is_counts = b->role == ROLE_POLICY && (flags & NAME_COUNTS) != 0;
    b->is_winner = b->role == ROLE_TO_MOVE &&
                   (known->told != NULL && known->told->is_winner >= 0
                        ? known->told->is_winner == 1
                        : strncasecmp(c->archive->arrays[i].key, "winner", strlen("winner")) == 0);
}

/* The first role that an array of that shape could have, for the flag in a message. */
static const char *suggest(const struct role_context *c, size_t i)
{
    static const struct {
        role_fit fit;
        enum role role;
    } shapes[] = {
        {role_fit_policy, ROLE_POLICY}, /* when floating: else a grid first */
        {role_fit_grid, ROLE_GRID},     {role_fit_policy, ROLE_POLICY},
        {role_fit_planes, ROLE_PLANES}, {role_fit_packed, ROLE_PACKED},
        {role_fit_action, ROLE_ACTION}, {role_fit_coord, ROLE_COORD},
    };
    struct role_binding unused = {0};
    struct role_reason reason;

    if (c->archive->arrays[i].objects != NULL)
        return "copy";
    for (size_t k = c->archive->arrays[i].header.dtype.kind == DTYPE_FLOAT ? 0 : 1;
         k < N_OF(shapes); k++)
        if (shapes[k].fit(c, i, &unused, &reason))
            return role_name(shapes[k].role);
    return "ROLE";
}

static int bind_told(const struct role_context *c, size_t i, struct error *err)
{
    const enum role role = c->cases[i].told->role;
    const struct role_kind *kind = find_kind(role);
    const struct array *array = &c->archive->arrays[i];
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason = {""};

    b->role = role;
    if (role == ROLE_COPY && (array->header.n_dims == 0 || array->n_rows != c->n_rows))
        b->role = ROLE_META;
    if (kind == NULL || kind->told == NULL)
        return 0;
    if (role_check_rows(c, i, err) != 0)
        return -1;
    if (!kind->told(c, i, b, &reason))
        return role_refuse(c, i, suggest(c, i), reason.text, err);
    set_role(c, i, role);
    return 0;
}

/* Objects that are rows of something cannot be copied by guess. */
static bool is_plain(const struct role_context *c, size_t i, struct role_reason *reason)
{
    const struct array *array = &c->archive->arrays[i];
    uint64_t row;

    if (array->header.dtype.kind != DTYPE_OBJECT)
        return true;
    if (array->objects == NULL)
        return role_unfit(reason, "its objects are not loaded");
    if (role_objects_are_plain(array, &row))
        return true;
    return role_unfit(reason, "item %" PRIu64 " is no number or string: its meaning must be told",
                      row);
}

static bool is_index_like(const struct npy_header *h)
{
    return dtype_is_integer(&h->dtype) &&
           (h->n_dims == 1 || (h->n_dims == 2 && (h->shape[1] == 1 || h->shape[1] == 2)));
}

static int refuse_spatial(const struct role_context *c, size_t i, const char *why,
                          struct error *err)
{
    const char *role = suggest(c, i);
    struct role_reason reason;

    if (strcmp(role, "action") == 0 || strcmp(role, "coord") == 0)
        role = "drop";
    role_unfit(&reason, "its name tells no role, and %s: expected to be told what it is", why);
    return role_refuse(c, i, role, reason.text, err);
}

/* An array of N rows that is copied unless something speaks against it. */
static int bind_copy(const struct role_context *c, size_t i, bool check_shape, struct error *err)
{
    struct role_reason reason = {""};

    if (!is_plain(c, i, &reason))
        return role_refuse(c, i, NULL, reason.text, err);
    if (check_shape && role_is_spatial(c, i, 1, &reason))
        return refuse_spatial(c, i, reason.text, err);
    c->bindings[i].role = ROLE_COPY;
    return 0;
}

/* The lowest and highest number of an array's first rows; false when there are none, or they cannot
 * be read. */
static bool find_range(const struct array *array, uint64_t n_rows, double *low, double *high)
{
    const struct array *const arrays[] = {array};
    const struct dtype *dtype = &array->header.dtype;
    struct rows *rows = NULL;
    uint8_t *row = NULL;
    bool is_read = dtype_is_number(dtype) && array->n_rows > 0 && array->row_nbytes > 0 &&
                   array->row_nbytes <= MAX_LOOK_NBYTES && !array_is_fortran(array);

    if (is_read)
        rows = rows_open(arrays, 1, NULL);
    if (rows != NULL)
        row = malloc((size_t)array->row_nbytes);
    is_read = row != NULL;
    for (uint64_t i = 0; i < n_rows && i < array->n_rows && is_read; i++) {
        is_read = rows_read(rows, 1, row, NULL) == 0;
        for (uint64_t k = 0; is_read && k < array->row_nbytes / dtype->itemsize; k++) {
            const double value = dtype_get_double(dtype, row + k * dtype->itemsize);

            *low = (i == 0 && k == 0) || value < *low ? value : *low;
            *high = (i == 0 && k == 0) || value > *high ? value : *high;
            is_read = value == value;
        }
    }
    free(row);
    rows_close(rows);
    return is_read;
}

/* The likeliest role of a label, of those that fit its numbers as colours are coded unless the user
 * says otherwise. */
static const char *likely_label(const struct role_context *c, size_t i)
{
    static const struct {
        const char *hint;
        const char *role;
    } hints[] = {
        {"winner", "to-move:winner"}, {"side", "to-move"},  {"player", "to-move"},
        {"turn", "to-move"},          {"colo", "to-move"},  {"stm", "to-move"},
        {"mover", "to-move"},         {"value", "value"},   {"reward", "value"},
        {"target", "value"},          {"label", "value"},   {"win", "value"},
        {"result", "value"},          {"outcome", "value"}, {"return", "value"},
    };
    const struct array *array = &c->archive->arrays[i];
    const struct npy_header *h = &array->header;
    double low, high;

    for (size_t k = 0; k < N_OF(hints); k++)
        if (strcasestr(array->key, hints[k].hint) != NULL &&
            (h->n_dims == 1 || (h->n_dims == 2 && h->shape[1] == 1)) &&
            find_range(array, array->n_rows, &low, &high) && low >= 0 && high <= 1)
            return hints[k].role;
    return "copy";
}

/* Where colours are swapped a reward, a side, a label may change. */
static int refuse_swapped(const struct role_context *c, size_t i, struct error *err)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const bool moves = is_index_like(h) && role_name_suggests_cells(c->archive->arrays[i].key);
    struct role_reason reason = {""};

    if (role_is_spatial(c, i, 1, &reason))
        return refuse_spatial(c, i, reason.text, err);
    return role_refuse(c, i, moves ? suggest(c, i) : likely_label(c, i),
                       "its name tells no role, and a transform swaps the colours, which may "
                       "change it: expected to be told what it is",
                       err);
}

static int bind_unnamed(const struct role_context *c, size_t i, struct error *err)
{
    const struct array *array = &c->archive->arrays[i];
    const struct npy_header *h = &array->header;
    struct role_reason reason = {""};

    if (array->n_rows == c->n_rows) {
        if (c->request->swaps_colours)
            return refuse_swapped(c, i, err);
        if (is_index_like(h) && role_name_suggests_cells(array->key))
            return role_refuse(c, i, suggest(c, i),
                               "its name and integers suggest moves or cells: expected to be told",
                               err);
        return bind_copy(c, i, true, err);
    }
    if (role_is_spatial(c, i, 0, &reason))
        return refuse_spatial(c, i, reason.text, err);
    if (h->n_dims == 1 && dtype_is_integer(&h->dtype) && array->n_rows > c->n_rows)
        return role_refuse(c, i, "ROLE",
                           "more integers than rows, and no NAME_offsets, NAME_indices and "
                           "NAME_values that go together: expected to be told",
                           err);
    c->bindings[i].role = ROLE_META;
    return 0;
}

/* True when the first rows hold a number below zero: a list of moves, padded with -1. */
static bool is_list(const struct array *array)
{
    double low, high;

    return find_range(array, 64, &low, &high) && low < 0;
}

static int bind_named(const struct role_context *c, size_t i, struct error *err)
{
    const struct role_name_rule *rule = c->cases[i].named;
    const struct role_kind *kind = find_kind(rule->role);
    const bool only_swaps = rule->role == ROLE_TO_MOVE || rule->role == ROLE_WDL;
    const bool per_player = (rule->flags & NAME_PER_PLAYER) != 0;
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason = {""}, last = {""}, spatial;

    if (rule->flags & NAME_NEVER_ROWS) {
        b->role = rule->role;
        return 0;
    }
    if (role_check_rows(c, i, err) != 0)
        return -1;
    if (rule->role == ROLE_COPY)
        return bind_copy(
            c, i, (rule->flags & NAME_MAY_SPREAD) || c->archive->arrays[i].header.n_dims > 2, err);
    for (size_t k = 0; k < N_OF(kind->by_name) && kind->by_name[k] != NULL; k++) {
        if (per_player && kind->by_name[k] == role_fit_wdl)
            continue;
        if (kind->by_name[k](c, i, b, &reason)) {
            set_role(c, i, rule->role);
            if (c->request->is_strict && (b->role == ROLE_MASK || b->role == ROLE_POLICY) &&
                c->archive->arrays[i].header.dtype.kind == DTYPE_INT &&
                is_list(&c->archive->arrays[i]))
                return role_refuse(
                    c, i, "drop",
                    "integers with -1 among them are a list of moves, padded, rather "
                    "than a number for each action: expected to be told",
                    err);
            return 0;
        }
        if (kind->by_name[k] == kind->told)
            last = reason;
    }
    /* Players and results mean nothing to a board that never swaps colours. */
    if (only_swaps && !c->swaps_colours && !role_is_spatial(c, i, 1, &spatial))
        return bind_copy(c, i, false, err);
    return role_refuse(c, i, suggest(c, i), last.text, err);
}

static int bind_array(const struct role_context *c, size_t i, struct error *err)
{
    const struct role_case *known = &c->cases[i];

    if (known->sparse_index >= 0)
        return known->sparse_index == (int)i ? role_sparse_bind(c, i, err) : 0;
    if (known->told != NULL)
        return bind_told(c, i, err);
    c->bindings[i].inferred = true;
    if (c->board->family->only_known_members)
        return role_katago_bind(c, i, err);
    if (known->named != NULL &&
        (c->archive->arrays[i].header.n_dims > 0 || (known->named->flags & NAME_NEVER_ROWS)))
        return bind_named(c, i, err);
    if (c->archive->arrays[i].header.n_dims == 0) {
        c->bindings[i].role = ROLE_META;
        return 0;
    }
    return bind_unnamed(c, i, err);
}

/* What the command line becomes with a role for each array that has none. */
static int write_command(const struct role_context *c, struct text *command, struct error *err)
{
    if (text_append(command, err, "%s", c->request->command) != 0)
        return -1;
    for (size_t k = 0; k < c->n_problems; k++) {
        const struct role_problem *problem = &c->problems[k];
        struct text spec = {0};
        int status = text_append(&spec, err, "%s=%s", c->archive->arrays[problem->array].key,
                                 problem->role[0] != '\0' && strcmp(problem->role, "ROLE") != 0
                                     ? problem->role
                                     : "drop");

        if (status == 0)
            status = text_append(command, err, " --role ");
        if (status == 0)
            status = text_append_shell(command, spec.text, err);
        text_release(&spec);
        if (status != 0)
            return -1;
    }
    return text_append(command, err, "%s", c->request->operands);
}

/* All of them in one message, which ends in the command that settles them. */
static int refuse_all(const struct role_context *c, struct error *err)
{
    const struct error_place place = {.file = c->archive->path};
    struct text command = {0}, list = {0};
    int status = write_command(c, &command, err);
    size_t k;

    for (k = 0; k < c->n_problems && status == 0; k++) {
        const char *text = c->problems[k].why.message + c->problems[k].why.file_nbytes;
        const char *end = strstr(text, "; use ");
        const size_t n = end != NULL ? (size_t)(end - text) : strlen(text);

        text += strspn(text, ": ");
        if (list.n_bytes + n + command.n_bytes + 400 > ERROR_MESSAGE_NBYTES)
            break;
        status = text_append(
            &list, err, "%s%.*s", k > 0 ? "; " : "",
            (int)(c->problems[k].why.message + c->problems[k].why.file_nbytes + n - text), text);
    }
    if (status == 0 && k < c->n_problems)
        status = text_append(&list, err, "%sand %zu more", k > 0 ? "; " : "", c->n_problems - k);
    if (status == 0)
        error_set_at(err, ERROR_DATA, &place, "%s; use: %s", list.text, command.text);
    text_release(&command);
    text_release(&list);
    return -1;
}

/* Every array that cannot be decided is found before the first of them is refused. */
static int bind_all(struct role_context *c, struct error *err)
{
    char likely[48] = "";

    c->problems = calloc(c->archive->n_arrays + 1, sizeof *c->problems);
    if (c->problems == NULL)
        return error_no_memory(err, "roles");
    c->likely = likely;
    for (size_t i = 0; i < c->archive->n_arrays; i++) {
        struct role_problem *problem = &c->problems[c->n_problems];

        likely[0] = '\0';
        if (bind_array(c, i, &problem->why) == 0)
            continue;
        if (problem->why.kind != ERROR_DATA || c->request->command == NULL)
            return error_pass(err, &problem->why);
        problem->array = i;
        memcpy(problem->role, likely, sizeof likely);
        c->n_problems++;
    }
    c->likely = NULL;
    return c->n_problems > 0 ? refuse_all(c, err) : 0;
}

int role_infer(const struct archive_in *archive, const struct board *board,
               const struct role_request *request, struct role_binding *bindings, uint64_t *n_rows,
               struct error *err)
{
    struct role_context c;
    int status = -1;

    if (request->plane_xy == 1 && (board->rows == 0 || board->rows != board->cols))
        return error_set(err, ERROR_USAGE,
                         "planes of the board %s cannot be in the order xy: it is no square",
                         board->name);
    if (role_context_init(&c, archive, board, request, bindings, err) != 0 ||
        (board->family->only_known_members && role_katago_check(&c, err) != 0) ||
        role_sparse_find(&c, err) != 0 || find_rows(&c, err) != 0)
        goto out;
    if (bind_all(&c, err) != 0)
        goto out;
    if (role_finish(&c, err) != 0)
        goto out;
    *n_rows = c.n_rows;
    status = 0;
out:
    role_context_release(&c);
    return status;
}
