/*
 * role_problems.c - what could not be decided about a shard: a list of problems, each with the role
 * that most likely settles it. Before a command line is offered, its roles are tried: what would be
 * refused in turn is left out instead, and what would become undecided then is one more problem.
 */
#include "shard/role_parts.h"

void role_problems_release(struct role_problems *problems)
{
    free(problems->items);
    *problems = (struct role_problems){0};
}

struct role_problem *role_problem_of(const struct role_problems *problems, size_t i)
{
    for (size_t k = 0; k < problems->n; k++)
        if (problems->items[k].array == (int)i)
            return &problems->items[k];
    return NULL;
}

static struct role_problem *add_problem(struct role_context *c, int array, const char *role)
{
    struct role_problems *problems = c->problems;
    struct role_problem *problem;

    if (list_room(&problems->items, problems->n + 1, sizeof *problem, "roles", &c->failed) != 0)
        return NULL;
    problem = &problems->items[problems->n++];
    *problem = (struct role_problem){.array = array, .flags = ""};
    snprintf(problem->role, sizeof problem->role, "%s",
             role != NULL && strcmp(role, "ROLE") != 0 ? role : "drop");
    return problem;
}

int role_refuse_as(struct role_case *a, const char *role, enum error_code code, const char *format,
                   ...)
{
    const struct error_place place = {
        .file = a->c->archive->path, .array = a->array->key, .code = code};
    struct role_problem *problem =
        a->is_refused ? NULL : add_problem(a->c, (int)(a - a->c->cases), role);
    char reason[1700];
    va_list args;

    a->b->role = ROLE_META;
    a->is_refused = true;
    if (problem == NULL)
        return -1;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return error_set_at(&problem->why, ERROR_DATA, &place, "dtype %s, shape %s: %s",
                        dtype_name(&a->h->dtype).text, text_shape(a->h->shape, a->h->n_dims).text,
                        reason);
}

int role_refuse(struct role_case *a, const char *role, const char *format, ...)
{
    const struct text_quoted key = text_path(a->array->key);
    char reason[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    if (role == NULL)
        return role_refuse_as(a, role, ERROR_CODE_SHAPE, "%s; use --copy %s", reason, key.text);
    return role_refuse_as(a, role, ERROR_CODE_SHAPE, "%s; use --role %s=%s or --copy %s", reason,
                          key.text, role, key.text);
}

int role_check_rows(struct role_case *a)
{
    const uint64_t n_rows = a->c->n_rows;
    const struct text_quoted key = text_path(a->array->key);

    if (a->h->n_dims == 0)
        return role_refuse_as(a, "drop", ERROR_CODE_ROWS,
                              "expected %" PRIu64 " rows, found a single value; use --role %s=meta "
                              "if these are no rows",
                              n_rows, key.text);
    if (a->array->n_rows != n_rows)
        return role_refuse_as(a, "drop", ERROR_CODE_ROWS,
                              "expected %" PRIu64 " rows as in %.200s, found %" PRIu64
                              "; use --role %s=meta if these are no rows",
                              n_rows, text_quote(a->c->rows->array->key).text, a->array->n_rows,
                              key.text);
    return 0;
}

void role_refuse_shard(struct role_context *c, enum error_code code, const char *reason)
{
    const struct error_place place = {.file = c->archive->path, .code = code};
    struct role_problem *problem = add_problem(c, -1, "");

    if (problem != NULL)
        error_fill_at(&problem->why, ERROR_DATA, &place, "%s", reason);
}

int role_problems_command(const struct role_problems *problems, const struct archive_in *archive,
                          const struct role_request *request, struct text *command,
                          struct error *err)
{
    for (size_t k = 0; k < problems->n; k++)
        if (problems->items[k].array < 0 || problems->items[k].role[0] == '\0')
            return 0;
    int status = text_append(command, err, "%s", request->command);
    for (size_t k = 0; k < problems->n && status == 0; k++) {
        const struct role_problem *problem = &problems->items[k];
        struct text spec = {0};

        if (text_append(&spec, err, "%s=%s", archive->arrays[problem->array].key, problem->role) ||
            text_append(command, err, " --role ") || text_append_shell(command, spec.text, err) ||
            (strstr(command->text, problem->flags) == NULL &&
             text_append(command, err, "%s", problem->flags)))
            status = -1;
        text_release(&spec);
    }
    return status == 0 ? text_append(command, err, "%s", request->operands) : -1;
}

int role_refuse_all(const struct role_problems *problems, const struct archive_in *archive,
                    const struct role_request *request, const struct error *next, struct error *err)
{
    const struct error_place place = {.file = archive->path};
    struct text command = {0}, list = {0};
    int status = role_problems_command(problems, archive, request, &command, err);
    char reason[ERROR_MESSAGE_NBYTES];
    struct role_guess fits = {0};
    bool is_misfit = false; /* planes do not fit the board that was told; perhaps another one */
    size_t k;

    for (k = 0; k < problems->n; k++) {
        const struct role_problem *problem = &problems->items[k];

        const char *key = problem->array >= 0 ? archive->arrays[problem->array].key : "";

        is_misfit |= problem->why.code == ERROR_CODE_SHAPE && strcmp(problem->role, "drop") == 0 &&
                     role_by_name(key, strlen(key), NULL).role == ROLE_PLANES;
    }
    if (is_misfit)
        (void)role_guess_board_by_shape(archive, &fits);
    for (k = 0; k < problems->n && status == 0; k++) {
        const struct error *why = &problems->items[k].why;
        const char *text = why->message + why->file_nbytes;
        const char *end = strstr(text, "; use ");

        if (end == NULL) /* without the code in brackets */
            end = text + strlen(text);
        text += strspn(text, ": ");
        if (list.n_bytes + (size_t)(end - text) + command.n_bytes + 400 > ERROR_MESSAGE_NBYTES)
            break;
        status = text_append(&list, err, "%s%.*s", k > 0 ? "; " : "", (int)(end - text), text);
    }
    if (k < problems->n)
        status |= text_append(&list, err, "%sand %zu more", k > 0 ? "; " : "", problems->n - k);
    if (next != NULL && next->kind == ERROR_DATA && fits.n_boards == 0 &&
        list.n_bytes + strlen(next->message) + strlen(next->array) + command.n_bytes + 400 <=
            ERROR_MESSAGE_NBYTES)
        status |= text_append(&list, err, "; then %s%s%s", next->array,
                              *next->array != '\0' ? ": " : "", error_reason(next, reason));
    if (fits.is_said)
        status |= text_append(&list, err, "; the board is the shard's own, %s%s",
                              archive_in_find(archive, "board_type") != NULL ? "board_type=" : "",
                              text_quote(fits.board).text);
    else if (fits.board[0] != '\0')
        status |= text_append(&list, err, "; %s fit another board: use --board %s", fits.reason,
                              fits.board);
    else if (fits.n_boards > 0)
        status |= text_append(&list, err, "; use another --board (%s)", fits.reason);
    else if (command.n_bytes > 0)
        status |= text_append(&list, err, "; use: %s", command.text);
    if (status == 0)
        error_set_at(err, ERROR_DATA, &place, "%s", list.text);
    text_release(&command);
    text_release(&list);
    return -1;
}

int role_settle(struct role_context *c, struct error *err)
{
    struct role_problems *problems = c->problems;
    bool is_settled = false;
    int status = 0;

    for (unsigned attempt = 0; attempt < 4 && !is_settled && status == 0; attempt++) {
        struct role_request request = role_request_over(c->request);
        struct role_binding *bindings = calloc(c->n + 1, sizeof *bindings);
        struct role_problems left = {0};
        uint64_t n_rows;

        if (bindings == NULL)
            status = error_no_memory(err, "roles");
        request.command = NULL;
        for (size_t k = 0; k < problems->n && status == 0; k++) {
            const struct role_problem *problem = &problems->items[k];

            status = problem->array < 0
                         ? 1 /* of the shard as a whole: no role settles it */
                         : role_request_add_spec(&request, c->archive->arrays[problem->array].key,
                                                 problem->role, err);
        }
        if (status == 0)
            status = role_infer(c->archive, c->board, &request, bindings, &n_rows, &left, err);
        role_overrides_release(&request);
        free(bindings);
        is_settled = left.n == 0;
        for (size_t k = 0; k < left.n && status == 0; k++) {
            const struct role_problem *remains = &left.items[k];
            const int i = remains->array, index = i >= 0 ? c->cases[i].b->index_array : -1;
            struct role_problem *problem = role_problem_of(problems, (size_t)i);
            const size_t n = problems->n;

            if (problem == NULL && index >= 0) { /* the values of indices that are left out */
                role_refuse(&c->cases[i], NULL, "it goes with %.200s, which has no role",
                            text_quote(c->cases[index].array->key).text);
                problem = problems->n > n ? &problems->items[n] : NULL;
            } else if (problem == NULL && (problem = add_problem(c, i, NULL)) != NULL) {
                problem->why = remains->why;
            }
            if (problem == NULL)
                break;
            snprintf(problem->role, sizeof problem->role, "%s", remains->array < 0 ? "" : "drop");
        }
        role_problems_release(&left);
    }
    for (size_t k = 0; k < problems->n && !is_settled && status == 0; k++)
        problems->items[k].role[0] = '\0';
    return status < 0 ? -1 : 0;
}
