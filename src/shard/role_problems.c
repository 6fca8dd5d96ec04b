/*
 * role_problems.c - what could not be decided about a shard: a list of problems, each with the role
 * that most likely settles it. Before a command line is offered, its roles are tried: what would be
 * refused in turn is left out instead, and what would become undecided then is one more problem.
 */
#include "shard/role_parts.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void role_problems_release(struct role_problems *problems)
{
    free(problems->items);
    *problems = (struct role_problems){0};
}

const struct role_problem *role_problem_of(const struct role_problems *problems, size_t i)
{
    for (size_t k = 0; k < problems->n; k++)
        if (problems->items[k].array == (int)i)
            return &problems->items[k];
    return NULL;
}

static struct role_problem *add_problem(struct role_context *c, int array, const char *role)
{
    struct role_problems *problems = c->problems;
    struct role_problem *grown, *problem;

    grown = realloc(problems->items, (problems->n + 1) * sizeof *grown);
    if (grown == NULL) {
        error_no_memory(&c->failed, "roles");
        return NULL;
    }
    problems->items = grown;
    problem = &grown[problems->n++];
    *problem = (struct role_problem){.array = array, .flags = ""};
    snprintf(problem->role, sizeof problem->role, "%s",
             role != NULL && strcmp(role, "ROLE") != 0 ? role : "drop");
    return problem;
}

int role_refuse_with(struct role_context *c, size_t i, const char *role, const char *flags,
                     enum error_code code, const char *reason)
{
    const struct array *array = &c->archive->arrays[i];
    const struct error_place place = {.file = c->archive->path, .array = array->key, .code = code};
    struct role_problem *problem = NULL;
    char dtype[32];

    c->bindings[i].role = ROLE_META;
    if (!c->cases[i].is_refused)
        problem = add_problem(c, (int)i, role);
    c->cases[i].is_refused = true;
    if (problem == NULL)
        return -1;
    dtype_name(&array->header.dtype, dtype, sizeof dtype);
    return error_set_at(&problem->why, ERROR_DATA, &place, "dtype %s, shape %s: %s%s%s", dtype,
                        text_shape(array->header.shape, array->header.n_dims).text, reason,
                        flags != NULL ? "; use " : "", flags != NULL ? flags : "");
}

int role_refuse(struct role_context *c, size_t i, const char *role, const char *reason)
{
    const struct text_quoted key = text_path(c->archive->arrays[i].key);
    char flags[640];

    if (role != NULL)
        snprintf(flags, sizeof flags, "--role %s=%s or --copy %s", key.text, role, key.text);
    else
        snprintf(flags, sizeof flags, "--copy %s", key.text);
    return role_refuse_with(c, i, role, flags, ERROR_CODE_SHAPE, reason);
}

int role_check_rows(struct role_context *c, size_t i)
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
    return role_refuse_with(c, i, "drop", flags, ERROR_CODE_ROWS, reason);
}

void role_refuse_shard(struct role_context *c, enum error_code code, const char *reason)
{
    const struct error_place place = {.file = c->archive->path, .code = code};
    struct role_problem *problem = add_problem(c, -1, "");

    if (problem != NULL)
        error_fill_at(&problem->why, ERROR_DATA, &place, "%s", reason);
}

/* --- one message for all --- */

/* The flags that settle one problem. */
static int append_flags(const struct role_problem *problem, const struct archive_in *archive,
                        struct text *command, struct error *err)
{
    struct text spec = {0};
    int status =
        text_append(&spec, err, "%s=%s", archive->arrays[problem->array].key, problem->role);

    if (status == 0)
        status = text_append(command, err, " --role ");
    if (status == 0)
        status = text_append_shell(command, spec.text, err);
    if (status == 0 && strstr(command->text, problem->flags) == NULL)
        status = text_append(command, err, "%s", problem->flags);
    text_release(&spec);
    return status;
}

int role_problems_command(const struct role_problems *problems, const struct archive_in *archive,
                          const struct role_request *request, struct text *command,
                          struct error *err)
{
    for (size_t k = 0; k < problems->n; k++)
        if (problems->items[k].array < 0 || problems->items[k].role[0] == '\0')
            return 0;
    if (text_append(command, err, "%s", request->command) != 0)
        return -1;
    for (size_t k = 0; k < problems->n; k++)
        if (append_flags(&problems->items[k], archive, command, err) != 0)
            return -1;
    return text_append(command, err, "%s", request->operands);
}

int role_refuse_all(const struct role_context *c, struct error *err)
{
    const struct error_place place = {.file = c->archive->path};
    struct text command = {0}, list = {0};
    int status = role_problems_command(c->problems, c->archive, c->request, &command, err);
    size_t k;

    for (k = 0; k < c->problems->n && status == 0; k++) {
        const struct error *why = &c->problems->items[k].why;
        const char *text = why->message + why->file_nbytes;
        const char *end = strstr(text, "; use ");

        if (end == NULL) /* without the code in brackets */
            end = text + strlen(text);
        text += strspn(text, ": ");
        if (list.n_bytes + (size_t)(end - text) + command.n_bytes + 400 > ERROR_MESSAGE_NBYTES)
            break;
        status = text_append(&list, err, "%s%.*s", k > 0 ? "; " : "", (int)(end - text), text);
    }
    if (status == 0 && k < c->problems->n)
        status = text_append(&list, err, "%sand %zu more", k > 0 ? "; " : "", c->problems->n - k);
    if (status == 0)
        error_set_at(err, ERROR_DATA, &place, "%s%s%s", list.text,
                     command.n_bytes > 0 ? "; use: " : "", command.n_bytes > 0 ? command.text : "");
    text_release(&command);
    text_release(&list);
    return -1;
}

/* Infer again with what the problems suggest; `left` are the problems that remain. */
static int try_roles(const struct role_context *c, struct role_problems *left, struct error *err)
{
    const size_t n = c->request->n_overrides;
    struct role_request request = *c->request, added = ROLE_REQUEST_INIT;
    struct role_binding *bindings = calloc(c->archive->n_arrays + 1, sizeof *bindings);
    struct role_override *all = calloc(n + c->problems->n + 1, sizeof *all);
    uint64_t n_rows;
    int status = bindings != NULL && all != NULL ? 0 : error_no_memory(err, "roles");

    for (size_t k = 0; k < c->problems->n && status == 0; k++)
        status = role_request_add_spec(&added, c->archive->arrays[c->problems->items[k].array].key,
                                       c->problems->items[k].role, err);
    if (status == 0) {
        if (n > 0)
            memcpy(all, request.overrides, n * sizeof *all);
        if (added.n_overrides > 0)
            memcpy(all + n, added.overrides, added.n_overrides * sizeof *all);
        request.overrides = all;
        request.n_overrides = n + added.n_overrides;
        request.command = NULL;
        status = role_infer(c->archive, c->board, &request, bindings, &n_rows, left, err);
    }
    role_request_release(&added);
    free(all);
    free(bindings);
    return status;
}

/* What becomes undecided when another array does: the values of indices that are left out. */
static struct role_problem *add_companion(struct role_context *c, int i, const struct error *why)
{
    const int index = i >= 0 ? c->bindings[i].index_array : -1;
    char reason[ROLE_REASON_NBYTES];
    size_t n;

    if (index < 0) {
        struct role_problem *problem = add_problem(c, i, NULL);

        if (problem != NULL)
            problem->why = *why;
        return problem;
    }
    snprintf(reason, sizeof reason, "it goes with %.200s, which has no role",
             text_quote(c->archive->arrays[index].key).text);
    n = c->problems->n;
    (void)role_refuse(c, (size_t)i, NULL, reason);
    return c->problems->n > n ? &c->problems->items[n] : NULL;
}

int role_settle(struct role_context *c, struct error *err)
{
    bool is_settled = false;

    for (unsigned attempt = 0; attempt < 4 && !is_settled; attempt++) {
        struct role_problems left = {0};

        for (size_t k = 0; k < c->problems->n; k++)
            /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): n says that there are items */
            if (c->problems->items[k].array < 0)
                return 0;
        if (try_roles(c, &left, err) != 0) {
            role_problems_release(&left);
            return -1;
        }
        is_settled = left.n == 0;
        for (size_t k = 0; k < left.n; k++) {
            struct role_problem *problem = NULL;

            for (size_t m = 0; m < c->problems->n; m++)
                if (c->problems->items[m].array == left.items[k].array)
                    problem = &c->problems->items[m];
            if (problem == NULL)
                problem = add_companion(c, left.items[k].array, &left.items[k].why);
            if (problem == NULL)
                break;
            snprintf(problem->role, sizeof problem->role, "%s",
                     left.items[k].array < 0 ? "" : "drop");
        }
        role_problems_release(&left);
    }
    for (size_t k = 0; k < c->problems->n && !is_settled; k++)
        c->problems->items[k].role[0] = '\0';
    return 0;
}
