/*
 * role_settle.c - what settles the problems of a shard: the roles and flags that they suggest, as
 * one command line and in one message. The roles are tried before they are offered, and an array
 * that would be refused again is left out instead.
 */
#include "shard/role_parts.h"

int role_problem_flags(const struct role_problem *problem, const struct archive_in *archive,
                       struct text *to, struct error *err)
{
    struct text spec = {0};
    const bool is_written =
        text_append(&spec, err, "%s=%s", archive->arrays[problem->array].key, problem->role) == 0 &&
        text_append(to, err, "--role ") == 0 && text_append_shell(to, spec.text, err) == 0 &&
        (strstr(to->text, problem->flags) != NULL ||
         text_append(to, err, "%s", problem->flags) == 0);

    text_release(&spec);
    return is_written ? 0 : -1;
}

int role_problems_command(const struct role_problems *problems, const struct archive_in *archive,
                          const struct role_request *request, struct text *command,
                          struct error *err)
{
    for (size_t k = 0; k < problems->n; k++)
        if (problems->items[k].array < 0 || problems->items[k].role[0] == '\0')
            return 0;
    int status = text_append(command, err, "%s", request->command);
    for (size_t k = 0; k < problems->n && status == 0; k++)
        status = text_append(command, err, " ") == 0
                     ? role_problem_flags(&problems->items[k], archive, command, err)
                     : -1;
    return status == 0 ? text_append(command, err, "%s", request->operands) : -1;
}

/* Take the roles that a refusal's advice offers, "--role NAME=ROLE --role ...". False: it offers
 * none, or they were taken before. */
static bool take_offer(struct role_problems *problems, const struct archive_in *archive,
                       const struct error *why)
{
    const char *at = why->advice_at > 0 ? why->message + why->advice_at - 1 : NULL;
    char key[128], role[64];
    bool any = false;

    while (at != NULL && sscanf(at, " --role %127[^ =]=%63[^ ;)]", key, role) == 2) {
        const struct array *array = archive_in_find(archive, key);
        const int k = array != NULL ? (int)(array - archive->arrays) : -1;
        struct role_problem *problem = array != NULL ? role_problem_of(problems, k) : NULL;

        at = strchr(at + strlen(" --role "), ' ');
        if (at != NULL && strncmp(at, " --role ", 8) != 0 && strncmp(at, " or use ", 8) != 0)
            return false; /* under a condition */
        if (problem == NULL && array != NULL &&
            (problem = role_problem_add(problems, k, NULL)) != NULL)
            problem->why = *why;
        if (problem == NULL || problem->is_offered)
            return false;
        role[strlen(role) - text_ends_with(role, ",")] = '\0';
        snprintf(problem->role, sizeof problem->role, "%s", role);
        problem->is_offered = any = true;
        problem->flags = "";
    }
    return any;
}

/* Do with these roles, and the flags that go with them (an option and its word), what the request
 * asks for. An array that is refused then gets the role that is offered or its next flags, or is
 * left out: true. */
static bool try_further(struct role_problems *problems, const struct archive_in *archive,
                        const struct role_request *roles)
{
    struct conventions conventions = *roles->conventions;
    struct role_request with_flags = *roles;
    char option[32], word[32];

    for (size_t k = 0; k < problems->n; k++)
        if (sscanf(problems->items[k].flags, " --%31s %31s", option, word) == 2)
            (void)conventions_set(&conventions, option, word, NULL);
    with_flags.conventions = &conventions;
    const struct error *why = roles->try_roles(roles->self, &with_flags);
    const struct array *refused = archive_in_refused(archive, why);
    struct role_problem *problem =
        refused != NULL ? role_problem_of(problems, (int)(refused - archive->arrays)) : NULL;
    if (why->kind != ERROR_DATA)
        return false;
    if (take_offer(problems, archive, why))
        return true;
    if (problem == NULL || strcmp(problem->role, "drop") == 0)
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
        struct role_request request = *under;
        struct role_problems left = {0};
        uint64_t n_rows;

        request.under = under;
        request.overrides = NULL;
        request.n_overrides = 0;
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
            const int array = left.items[k].array;
            struct role_problem *problem = role_problem_of(problems, array);
            /* The first role tried may lead to a better one. */
            const char *next = problem != NULL && n_failed == 0 ? left.items[k].role : "drop";

            if (problem == NULL && (problem = role_problem_add(problems, array, err)) != NULL) {
                *problem = left.items[k];
                problem->flags = "";
            }
            status = problem != NULL ? 0 : -1;
            if (problem != NULL)
                snprintf(problem->role, sizeof problem->role, "%s", problem->array < 0 ? "" : next);
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

/* Another board, or several, that planes fit which do not fit the one given, or else a policy. */
static struct role_guess find_fitting_board(const struct role_problems *problems,
                                            const struct archive_in *archive)
{
    const struct role_guess none = {0};
    struct role_guess fits = none;
    enum role misfit = ROLE_META;

    for (size_t k = 0; k < problems->n; k++) {
        const struct role_problem *problem = &problems->items[k];
        const struct array *a = problem->array >= 0 ? &archive->arrays[problem->array] : NULL;

        if (a == NULL || problem->why.code != ERROR_CODE_SHAPE ||
            strcmp(problem->role, "drop") != 0 || a->row_nbytes == 0 ||
            !role_dtype_moves(&a->header.dtype))
            continue;
        const enum role role = role_by_name(a->key, strlen(a->key), NULL).role;
        if (role == ROLE_PLANES || (role == ROLE_POLICY && misfit == ROLE_META))
            misfit = role;
    }
    if (misfit != ROLE_META)
        (void)role_guess_board_by_shape(archive, &fits);
    const struct board_preset *preset = board_find_preset(fits.board);
    return misfit == ROLE_POLICY &&
                   (fits.n_boards != 1 || problems->board == NULL ||
                    strcmp(preset != NULL ? preset->board : fits.board, problems->board->name) == 0)
               ? none
               : fits;
}

int role_refuse_all(const struct role_problems *problems, const struct archive_in *archive,
                    const struct role_request *request, const struct error *next, struct error *err)
{
    const struct error_place place = {.file = archive->path};
    struct text command = {0}, list = {0};
    int status = role_problems_command(problems, archive, request, &command, err);
    char reason[ERROR_MESSAGE_NBYTES];
    const struct role_guess fits = find_fitting_board(problems, archive);
    size_t k;

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
        const char *end = why->advice_at > 0 ? why->message + why->advice_at - strlen(ROLE_ADVICE)
                                             : text + strlen(text);

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
    if (status == 0 && problems->n == 1 && problems->items[0].why.has_row) {
        memcpy(err->array, problems->items[0].why.array, sizeof err->array);
        err->has_row = true;
        err->row = problems->items[0].why.row;
    }
    text_release(&command);
    text_release(&list);
    return -1;
}
