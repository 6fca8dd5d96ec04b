/*
 * role_problems.c - what could not be decided about the arrays of a shard or about the shard
 * itself: a list of problems, each with the role that most likely settles it, and the command line
 * made of them. These roles are tried before they are offered, and an array that would be refused
 * again is left out instead. Also finds an array under inference by its key.
 */
#include "shard/role_parts.h"

struct role_case *role_find(const struct role_context *c, const char *key, size_t n_bytes,
                            const char *ending)
{
    size_t low = 0, high = c->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const char *other = c->by_key[middle]->array->key;
        int order = strncmp(other, key, n_bytes);

        if (order == 0)
            order = strcmp(other + n_bytes, ending);
        if (order == 0)
            return c->by_key[middle];
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return NULL;
}

enum role role_wanted(const struct role_case *a)
{
    if (a->sparse != NULL)
        return a->sparse == a ? ROLE_POLICY_INDEX : ROLE_POLICY_VALUE;
    return a->is_told ? a->told->role : a->named.role;
}

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

/* One more problem, not filled in; NULL: no memory. */
static struct role_problem *add(struct role_problems *problems, struct error *err)
{
    return list_room(&problems->items, problems->n + 1, sizeof *problems->items, "roles", err) == 0
               ? &problems->items[problems->n++]
               : NULL;
}

void role_refuse_shard(struct role_context *c, enum error_code code, const char *reason)
{
    const struct error_place place = {.file = c->archive->path, .code = code};
    struct role_problem *problem = add(c->problems, &c->failed);

    if (problem == NULL)
        return;
    *problem = (struct role_problem){.array = -1, .flags = ""};
    error_fill_at(&problem->why, ERROR_DATA, &place, "%s", reason);
}

int role_refuse_as(struct role_case *a, const char *role, enum error_code code, const char *format,
                   ...)
{
    const struct error_place place = {
        .file = a->c->archive->path, .array = a->array->key, .code = code};
    struct role_problem *problem = a->is_refused ? NULL : add(a->c->problems, &a->c->failed);
    char reason[1700];
    va_list args;

    a->b->role = ROLE_META;
    a->is_refused = true;
    if (problem == NULL)
        return -1;
    *problem = (struct role_problem){.array = (int)(a - a->c->cases),
                                     .flags = a->flags != NULL ? a->flags : ""};
    snprintf(problem->role, sizeof problem->role, "%s",
             role != NULL && strcmp(role, "ROLE") != 0 ? role : "drop");
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

/* --- what settles them --- */

static const char user_tells[] = "";
const char *const role_flags_of_frames[] = {" --planes colour", " --planes mover", user_tells,
                                            NULL};

/* Do with these roles, and the flags that go with them (an option and its word), what the request
 * asks for. An array that is refused then gets its next flags, or is left out: true. */
static bool try_further(const struct role_problems *problems, const struct archive_in *archive,
                        const struct role_request *roles)
{
    struct conventions conventions = *roles->conventions;
    struct role_request with_flags = *roles;
    struct role_problem *problem = problems->items, *end = problem + problems->n;
    char option[32], word[32];

    for (const struct role_problem *p = problem; p < end; p++)
        if (sscanf(p->flags, " --%31s %31s", option, word) == 2)
            (void)conventions_set(&conventions, option, word, NULL);
    with_flags.conventions = &conventions;
    const struct error *why = roles->try_roles(roles->self, &with_flags);
    while (problem < end && strcmp(archive->arrays[problem->array].key, why->array) != 0)
        problem++;
    if (why->kind != ERROR_DATA || problem == end || strcmp(problem->role, "drop") == 0)
        return false;
    for (const char *const *flags = role_flags_of_frames; *flags != NULL; flags++)
        if (*flags == problem->flags) { /* the last one leaves the choice to the user */
            problem->flags = flags[1] != NULL ? flags[1] : *flags;
            return flags[1] != NULL;
        }
    snprintf(problem->role, sizeof problem->role, "drop");
    problem->flags = "";
    return true;
}

int role_settle(struct role_problems *problems, const struct archive_in *archive,
                const struct board *board, const struct role_request *under, struct error *err)
{
    bool is_settled = false, again = true;
    struct role_binding *bindings;
    int status = new_items(&bindings, archive->n_arrays + 1, "roles", err);

    for (unsigned n_failed = 0; n_failed < 4 && again && status == 0; n_failed += !is_settled) {
        struct role_request request = role_request_over(under);
        struct role_problems left = {0};
        uint64_t n_rows;

        for (size_t k = 0; k < problems->n && status == 0; k++) {
            const struct role_problem *problem = &problems->items[k];

            status = problem->array < 0
                         ? 1 /* no role settles a problem of the shard as a whole */
                         : role_request_add_spec(&request, archive->arrays[problem->array].key,
                                                 problem->role, err);
        }
        if (status == 0)
            status = role_infer(archive, board, &request, bindings, &n_rows, &left, err);
        is_settled = left.n == 0;
        again = !is_settled || (status == 0 && under->try_roles != NULL &&
                                try_further(problems, archive, &request));
        role_overrides_release(&request);
        for (size_t k = 0; k < left.n && status == 0; k++) {
            struct role_problem *problem = role_problem_of(problems, (size_t)left.items[k].array);

            if (problem == NULL && (problem = add(problems, err)) != NULL) {
                *problem = left.items[k];
                problem->flags = "";
            }
            status = problem != NULL ? 0 : -1;
            if (problem != NULL)
                snprintf(problem->role, sizeof problem->role, "%s",
                         problem->array < 0 ? "" : "drop");
        }
        role_problems_release(&left);
    }
    free(bindings);
    for (size_t k = 0; k < problems->n && !is_settled && status == 0; k++)
        problems->items[k].role[0] = '\0';
    return status < 0 ? -1 : 0;
}

/* --- all problems in one message --- */

/* Of a message; the rest is for the reasons. */
#define COMMAND_MAX_NBYTES (ERROR_MESSAGE_NBYTES * 3 / 4)

int role_refuse_all(const struct role_problems *problems, const struct archive_in *archive,
                    const struct role_request *request, const struct error *next, struct error *err)
{
    const struct error_place place = {.file = archive->path};
    struct text command = {0}, list = {0};
    int status = role_problems_command(problems, archive, request, &command, err);
    char reason[ERROR_MESSAGE_NBYTES];
    struct role_guess fits = {0};
    bool is_misfit = false; /* planes do not fit the board given; they may fit another one */
    size_t k;

    for (k = 0; k < problems->n; k++) {
        const struct role_problem *problem = &problems->items[k];
        const char *key = problem->array >= 0 ? archive->arrays[problem->array].key : "";

        is_misfit |= problem->why.code == ERROR_CODE_SHAPE && strcmp(problem->role, "drop") == 0 &&
                     role_by_name(key, strlen(key), NULL).role == ROLE_PLANES;
    }
    if (is_misfit)
        (void)role_guess_board_by_shape(archive, &fits);
    if (status == 0 && command.n_bytes > COMMAND_MAX_NBYTES) { /* many inputs: flags alone */
        const struct role_request same = {.command = "the same with", .operands = ""};

        text_release(&command);
        status = role_problems_command(problems, archive, &same, &command, err);
    }
    if (status == 0 && command.n_bytes > COMMAND_MAX_NBYTES) {
        text_release(&command);
        status = text_append(&command, err, "--schema FILE, a file of roles");
    }
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
