/*
 * role_problems.c - what could not be decided about a shard: a list of problems, each with the role
 * that most likely settles it. Before a command line is offered, its roles are tried: what would be
 * refused in turn is left out instead, and what would become undecided then is one more problem.
 */
#include "shard/batch.h"
#include "shard/label.h"
#include "shard/role_parts.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

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

/* --- what is likely --- */

static bool has_role(const struct role_context *c, enum role role)
{
    for (size_t i = 0; i < c->archive->n_arrays; i++)
        if (role_wanted(c, i) == role)
            return true;
    return false;
}

/* Whether numbers can be moves or places: they go from -1 to something below the end. */
static bool are_places(const struct role_context *c, size_t i, enum role role)
{
    uint64_t end = c->board->rows > c->board->cols ? c->board->rows : c->board->cols;
    double low, high;

    if (role == ROLE_ACTION && has_role(c, ROLE_POLICY_INDEX))
        end = UINT32_MAX;
    else if (role == ROLE_ACTION)
        end = c->board->n_cells;
    for (size_t k = 0; role == ROLE_ACTION && k < c->archive->n_arrays; k++) {
        const struct array *array = &c->archive->arrays[k];
        const enum role wanted = role_wanted(c, k);

        if ((wanted == ROLE_POLICY || wanted == ROLE_MASK || wanted == ROLE_ACTION_VALUES) &&
            array->header.dtype.itemsize > 0 &&
            array->row_nbytes / array->header.dtype.itemsize > end)
            end = array->row_nbytes / array->header.dtype.itemsize;
    }
    return !c->request->is_strict || c->archive->arrays[i].n_rows == 0 ||
           (role_find_range(&c->archive->arrays[i], UINT64_MAX, &low, &high) && low >= -1 &&
            high < (double)end);
}

/* Whether every row adds up to 1, or to 0, with nothing below 0. */
static bool are_shares(const struct array *array)
{
    struct batch batch = {.own = {.arrays = &array, .n_arrays = 1}};
    const struct dtype *dtype = &array->header.dtype;
    bool fits = dtype_is_number(dtype) && batch_open(&batch, NULL, NULL) == 0;

    for (uint64_t row = 0; row < array->n_rows && fits; row++) {
        double low = 0, sum = 0;

        fits = batch_next(&batch, 1, NULL) == 0;
        for (uint64_t k = 0; fits && k < array->row_nbytes / dtype->itemsize; k++) {
            const double value = dtype_get_double(dtype, batch.bytes.data + k * dtype->itemsize);

            low = fmin(low, value);
            sum += value;
        }
        fits = fits && label_are_shares(dtype, false, low, sum);
    }
    batch_release(&batch);
    return fits;
}

/* Whether nothing else in the shard has planes, or could. */
static bool are_only_planes(const struct role_context *c, size_t i)
{
    struct role_binding unused = {0};
    struct role_reason reason;

    for (size_t k = 0; k < c->archive->n_arrays; k++)
        if (k != i && (role_is_on_cells(role_wanted(c, k)) ||
                       (!c->cases[k].named.is_known && c->cases[k].told == NULL &&
                        c->archive->arrays[k].n_rows == c->n_rows &&
                        (role_fit_planes(c, k, &unused, &reason) ||
                         role_fit_packed(c, k, &unused, &reason)))))
            return false;
    return true;
}

/* Whether the numbers speak for a role whose shape fits. Where colours are swapped a map of the
 * cells may go by colour, and only what shows itself is likely. */
static bool is_likely(const struct role_context *c, size_t i, enum role role)
{
    const struct array *array = &c->archive->arrays[i];
    double low, high;

    if (role == ROLE_ACTION || role == ROLE_COORD)
        return !role_is_on_cells(role_wanted(c, i)) && are_places(c, i, role);
    if (!c->request->swaps_colours || role_wanted(c, i) == role)
        return true;
    if (role == ROLE_POLICY)
        return array->header.dtype.kind == DTYPE_FLOAT && are_shares(array);
    if (role == ROLE_PACKED)
        return are_only_planes(c, i);
    if (!role_find_range(array, UINT64_MAX, &low, &high))
        return false;
    if (role == ROLE_GRID)
        return (low >= 0 && high == 2) || (low == -1 && high <= 1);
    return low >= 0 && high <= 1 && are_only_planes(c, i);
}

const char *role_suggest(const struct role_context *c, size_t i)
{
    /* A floating array as long as a policy is one; other numbers are rather a grid. */
    static const enum role floating[] = {ROLE_POLICY, ROLE_GRID, ROLE_PLANES, ROLE_PACKED};
    static const enum role others[] = {ROLE_GRID,   ROLE_POLICY, ROLE_PLANES,
                                       ROLE_PACKED, ROLE_ACTION, ROLE_COORD};
    const struct array *array = &c->archive->arrays[i];
    const bool is_floating = array->header.dtype.kind == DTYPE_FLOAT;
    const enum role *roles = is_floating ? floating : others;
    struct role_binding unused = {0};
    struct role_reason reason;

    if (array->n_rows != c->n_rows || array->header.n_dims == 0)
        return role_is_spatial(c, i, 0, &reason) ? "drop" : "meta";
    if (array->objects != NULL)
        return c->request->swaps_colours ? "ROLE" : "copy";
    for (size_t k = 0; k < (is_floating ? N_OF(floating) : N_OF(others)); k++)
        if (role_kinds[roles[k]].fit(c, i, &unused, &reason)) {
            if (!is_likely(c, i, roles[k]))
                return "ROLE";
            return role_name(roles[k] == ROLE_POLICY && c->request->is_strict && !are_shares(array)
                                 ? ROLE_ACTION_VALUES
                                 : roles[k]);
        }
    return "ROLE";
}

/* Whom values speak of, by the rows that follow each other: by colour they stay the same through a
 * game, those of the player to move change with every row. */
enum speaker { SPEAKER_UNKNOWN, SPEAKER_COLOUR, SPEAKER_MOVER };

static enum speaker find_speaker(const struct array *array, double middle)
{
    struct batch batch = {.own = {.arrays = &array, .n_arrays = 1}};
    const int status = batch_open(&batch, NULL, NULL);
    uint64_t n_same = 0, n_pairs = 0;
    double last = 0;

    while (status == 0 && array->row_nbytes > 0 && array->row_nbytes <= 16 &&
           batch_next(&batch, 1, NULL) == 0 && batch.n > 0) {
        const double value = dtype_get_double(&array->header.dtype, batch.bytes.data) - middle;

        n_pairs += value * last != 0;
        n_same += value * last > 0;
        last = value;
    }
    batch_release(&batch);
    if (n_pairs < 16)
        return SPEAKER_UNKNOWN;
    return n_same >= n_pairs - n_pairs / 8 ? SPEAKER_COLOUR
           : n_same <= n_pairs / 4         ? SPEAKER_MOVER
                                           : SPEAKER_UNKNOWN;
}

/* The role of players, or NULL, by the lowest and highest of their codes. */
static const char *suggest_player(const struct role_context *c, const char *role, double low,
                                  double high, const char **flags)
{
    static const struct {
        double low, high;
        const char *flags;
    } codings[] = {[TO_MOVE_01] = {0, 1, ""},
                   [TO_MOVE_12] = {1, 2, " --to-move 12"},
                   [TO_MOVE_PM1] = {-1, 1, " --to-move pm1"}};
    enum to_move_coding coding = c->request->to_move;

    if (!c->request->to_move_is_said) {
        coding = low == -1 ? TO_MOVE_PM1 : low == 1 && high == 2 ? TO_MOVE_12 : TO_MOVE_01;
        if (coding != TO_MOVE_01 && has_role(c, ROLE_TO_MOVE))
            return NULL;
    }
    if (low < codings[coding].low || high > codings[coding].high)
        return NULL;
    if (!c->request->to_move_is_said)
        *flags = codings[coding].flags;
    return role;
}

const char *role_suggest_label(const struct role_context *c, size_t i, const char **flags)
{
    static const struct {
        const char *hint;
        const char *role; /* NULL: a number about another label */
    } hints[] = {
        {"weight", NULL},     {"mask", NULL},        {"std", NULL},
        {"var", NULL},        {"valid", NULL},       {"winner", "to-move:winner"},
        {"side", "to-move"},  {"player", "to-move"}, {"turn", "to-move"},
        {"colo", "to-move"},  {"stm", "to-move"},    {"mover", "to-move"},
        {"value", "value"},   {"reward", "value"},   {"target", "value"},
        {"label", "value"},   {"win", "value"},      {"result", "value"},
        {"outcome", "value"}, {"return", "value"},
    };
    const struct array *array = &c->archive->arrays[i];
    const struct npy_header *h = &array->header;
    const char *role = NULL;
    double low, high;
    size_t k = 0;

    while (k < N_OF(hints) && strcasestr(array->key, hints[k].hint) == NULL)
        k++;
    if (k < N_OF(hints))
        role = hints[k].role;
    if ((h->n_dims != 1 && (h->n_dims != 2 || h->shape[1] != 1)) || role == NULL ||
        !role_find_range(array, UINT64_MAX, &low, &high))
        return NULL;
    if (strcmp(role, "value") != 0)
        return suggest_player(c, role, low, high, flags);
    if (low < -1 || high > 1)
        return NULL;
    if (low >= 0)
        return find_speaker(array, 0.5) == SPEAKER_MOVER ? NULL : role;
    if (c->request->value_is_said)
        return c->request->value_is_signed ? role : NULL;
    if (has_role(c, ROLE_VALUE) || find_speaker(array, 0) != SPEAKER_COLOUR)
        return NULL;
    *flags = " --value colour11";
    return role;
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

/* Whether planes do not fit the board that was told, and one that they fit is known. */
static bool find_fitting_board(const struct role_problems *problems,
                               const struct archive_in *archive, struct role_guess *fits)
{
    bool is_misfit = false;

    for (size_t k = 0; k < problems->n; k++) {
        const struct role_problem *problem = &problems->items[k];

        is_misfit |= problem->array >= 0 && problem->why.code == ERROR_CODE_SHAPE &&
                     strcmp(problem->role, "drop") == 0 &&
                     role_by_name(archive->arrays[problem->array].key, NULL).role == ROLE_PLANES;
    }
    return is_misfit && role_guess_board_by_shape(archive, fits) == 0;
}

int role_refuse_all(const struct role_problems *problems, const struct archive_in *archive,
                    const struct role_request *request, const struct error *next, struct error *err)
{
    const struct error_place place = {.file = archive->path};
    struct text command = {0}, list = {0};
    int status = role_problems_command(problems, archive, request, &command, err);
    char reason[ERROR_MESSAGE_NBYTES];
    struct role_guess fits = {0};
    size_t k;

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
    if (status == 0 && k < problems->n)
        status = text_append(&list, err, "%sand %zu more", k > 0 ? "; " : "", problems->n - k);
    if (status == 0 && next != NULL && next->kind == ERROR_DATA &&
        list.n_bytes + strlen(next->message) + strlen(next->array) + command.n_bytes + 400 <=
            ERROR_MESSAGE_NBYTES)
        status = text_append(&list, err, "; then %s: %s", next->array, error_reason(next, reason));
    if (status == 0 && find_fitting_board(problems, archive, &fits) && fits.is_said)
        error_set_at(err, ERROR_DATA, &place, "%s; the board is the shard's own, %s%s", list.text,
                     archive_in_find(archive, "board_type") != NULL ? "board_type=" : "",
                     text_quote(fits.board).text);
    else if (status == 0 && fits.board[0] != '\0')
        error_set_at(err, ERROR_DATA, &place, "%s; %s fit another board: use --board %s", list.text,
                     fits.reason, fits.board);
    else if (status == 0)
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
