/*
 * plan_inputs.c - the inputs of a plan: each is opened, refused when it was expanded before, given
 * its roles on the board of the first, and matched with the first array by array.
 */
#include "engine/plan.h"

#include "engine/shard.h"

/* --- opening --- */

int plan_open_inputs(struct plan *plan, const char *const *paths, size_t n_paths, struct error *err)
{
    const struct settings *request = plan->settings;

    plan->archives = calloc(n_paths, sizeof *plan->archives);
    plan->archive_rows = calloc(n_paths, sizeof *plan->archive_rows);
    if (plan->archives == NULL || plan->archive_rows == NULL)
        return error_no_memory(err, "inputs");
    for (size_t i = 0; i < n_paths; i++) {
        struct archive_in *archive = &plan->archives[i];
        const char *slash = strrchr(paths[i], '/'), *why = NULL; /* it is taken to hold images */
        const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : paths[i];

        if (request->memory != NULL
                ? archive_in_of_memory(archive, paths[i], request->memory, request->n_memory, err)
                : role_open(archive, paths[i], request->use_map, &request->roles, err))
            return -1;
        plan->n_archives++;
        if (!request->allow_expanded)
            why = shard_expansion(archive);
        if (!request->allow_expanded && why == NULL && archive->form != ARCHIVE_MEMORY) {
            struct recall recall;
            const int status = recall_open(&recall, request, archive, NULL, 0, true, err);

            /* Commands that keep rows as they are say of their outputs whether an input was. */
            if (status == 0 && recall.output != NULL &&
                (manifest_option(recall.manifest, "command") == NULL ||
                 manifest_option(recall.manifest, "expanded") != NULL))
                why = "its manifest says so";
            recall_release(&recall);
            if (status != 0)
                return -1;
        }
        plan->was_expanded |= why != NULL; /* which is noted where rows are kept */
        if (why != NULL && request->purpose == FOR_IMAGES)
            return error_set(
                err, ERROR_DATA,
                "%s: was expanded before (%s); expanding it again would repeat every image",
                text_path(archive->path).text, why);
        if (archive_in_load_objects(archive, err) != 0)
            return -1;
        for (size_t k = 0; k < archive->warnings.list.n; k++)
            if (plan_warn(plan, err, "%s: %s", text_path(name).text,
                          archive->warnings.list.items[k]) != 0)
                return -1;
    }
    return 0;
}

/* --- the board --- */

int plan_decide_board(struct plan *plan, struct error *err)
{
    const struct settings *request = plan->settings;
    const struct recall *recall = request->purpose != FOR_IMAGES ? &plan->recall : NULL;
    const char *layout = request->roles.policy_layout;
    struct shard_board found;
    char list[512];

    if (shard_find_board(&found, &plan->archives[0], request, recall, err) != 0)
        return -1;
    plan->board = found.board;
    plan->maker = (struct spec_maker){.board = plan->board, .conventions = &plan->conventions};
    if (found.problem.kind != ERROR_NONE)
        return error_pass(err, &found.problem);
    if (!found.is_sure)
        return error_set(
            err, ERROR_USAGE, "%s: does not say of which board it is; use --board (perhaps %s: %s)",
            text_path(plan->archives[0].path).text, plan->board->preset, found.guess.reason);
    for (size_t i = 1; i < plan->n_archives; i++)
        if (shard_check_board(&plan->archives[i], plan->board, err) != 0)
            return -1;
    if (layout != NULL && action_layout_by_name(plan->board, layout) == NULL) {
        action_layout_list(plan->board, list, sizeof list);
        return error_set(err, ERROR_USAGE, "--policy: board %s has no layout %s; there are %s",
                         plan->board->preset, text_quote(layout).text, list);
    }
    /* The same file twice is hardly ever meant. */
    for (size_t i = 1; i < plan->n_archives; i++)
        for (size_t k = 0; k < i; k++)
            if (plan->archives[i].n_inputs > 0 && plan->archives[k].n_inputs > 0 &&
                plan->archives[i].inputs[0].device == plan->archives[k].inputs[0].device &&
                plan->archives[i].inputs[0].inode == plan->archives[k].inputs[0].inode)
                return plan_warn(plan, err, "inputs %zu and %zu are the same file", k + 1, i + 1);
    return 0;
}

/* --- the arrays --- */

static int differ(const struct archive_in *archive, const char *key, const char *what,
                  const struct plan *plan, struct error *err)
{
    const struct error_place place = {.file = archive->path, .array = key};

    return error_set_at(err, ERROR_DATA, &place, "%s in %s", what,
                        text_path(plan->archives[0].path).text);
}

/* An array without rows is copied from the first input: where another one's bytes differ, nothing
 * but a word is left of them. */
static int match_meta(struct plan *plan, const struct archive_in *archive,
                      const struct array *array, const struct array *first, struct error *err)
{
    static const char *const meanings[] = {"policy_size", "policy_encoding", "board_type"};
    const size_t n = array->header.data_nbytes;
    uint8_t *bytes[2] = {NULL, NULL};
    const struct array *const both[] = {array, first};
    int status = 0, differs = 1;

    if (array->unpacked_nbytes == first->unpacked_nbytes && array->has_crc && first->has_crc &&
        array->crc == first->crc)
        return 0;
    if (strcmp(array->header.descr, first->header.descr) == 0 &&
        array->header.n_elements == first->header.n_elements &&
        array->header.dtype.kind != DTYPE_OBJECT) {
        for (int k = 0; k < 2 && status == 0; k++) {
            bytes[k] = malloc((size_t)both[k]->unpacked_nbytes + 1);
            status = bytes[k] != NULL ? array_read_all(both[k], bytes[k], err)
                                      : error_no_memory(err, "metadata");
        }
        if (status == 0)
            differs = memcmp(bytes[0] + array->header.header_nbytes,
                             bytes[1] + first->header.header_nbytes, n);
        free(bytes[0]);
        free(bytes[1]);
        if (status != 0 || differs == 0)
            return status;
    }
    for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
        if (strcmp(array->key, meanings[i]) == 0)
            return differ(archive, array->key, "says something else than", plan, err);
    return plan_warn(plan, err, "%s: %s: differs from that of %s, which is the one that is kept",
                     text_path(archive->path).text, text_path(array->key).text,
                     text_path(plan->archives[0].path).text);
}

/* The arrays of one more input join those of the first. */
static int match_archive(struct plan *plan, size_t i, const struct role_binding *bindings,
                         struct error *err)
{
    const struct archive_in *archive = &plan->archives[i];

    for (size_t k = 0; k < archive->n_arrays; k++) {
        const struct array *array = &archive->arrays[k];
        const struct role_binding *b = &bindings[k];
        struct plan_array *to = plan_find_array(plan, array->key);
        const struct npy_header *header = &array->header;
        char what[128] = "is of another type, with other fields, than";

        if (to == NULL && b->role == ROLE_DROP)
            continue;
        if (to == NULL)
            return differ(archive, array->key, "is not", plan, err);
        to->sources[i] = array;
        if (b->role == ROLE_DROP && to->binding.role == ROLE_DROP)
            continue;
        if (b->role == ROLE_META && to->binding.role == ROLE_META) {
            if (match_meta(plan, archive, array, to->sources[0], err) != 0)
                return -1;
            continue;
        }
        const struct npy_header *first = &to->sources[0]->header;
        if (!npy_header_same_type(header, first)) {
            /* Else structured, and of as many bytes. */
            if (strcmp(dtype_name(&header->dtype).text, dtype_name(&first->dtype).text) != 0)
                snprintf(what, sizeof what, "is of another type: dtype %s, expected %s as",
                         dtype_name(&header->dtype).text, dtype_name(&first->dtype).text);
            return differ(archive, array->key, what, plan, err);
        }
        bool same_rows = header->n_dims == first->n_dims;
        for (unsigned d = 1; same_rows && d < header->n_dims; d++)
            same_rows = header->shape[d] == first->shape[d];
        if (!same_rows && b->sparse != SPARSE_CSR)
            return differ(archive, array->key, "has rows of another shape than", plan, err);
        if (b->role != to->binding.role || b->layout != to->binding.layout ||
            b->n_actions != to->binding.n_actions || b->sparse != to->binding.sparse)
            return differ(archive, array->key, "has another role than", plan, err);
    }
    for (size_t k = 0; k < plan->n_arrays; k++) {
        struct plan_array *array = &plan->arrays[k];

        if (array->sources[i] == NULL && array->binding.role != ROLE_DROP)
            return differ(archive, array->key, "is missing, but stands", plan, err);
        if (array->sources[i] == NULL)
            array->sources[i] = array->sources[0];
    }
    return 0;
}

/* Refuse what could not be decided. What is offered is tried first, by a plan of this input with
 * those roles and their flags (an option and its word): an array that would be refused in turn is
 * left out instead, and what else would be wrong then is named by the same message, so that nobody
 * is led from one refusal to the next. */
static int refuse_undecided(const struct archive_in *archive, struct role_problems *problems,
                            const struct role_request *roles, const struct settings *request,
                            struct error *err)
{
    const char *const paths[] = {archive->path};
    struct error why = {0};
    bool again = roles->command != NULL;

    if (!again)
        return error_pass(err, &problems->items[0].why);
    for (size_t attempt = 0; attempt <= 3 * problems->n && again; attempt++) {
        struct settings trial = *request;
        struct plan plan;
        bool is_settled = true;

        why = (struct error){0};
        again = false;
        trial.roles = role_request_over(&request->roles);
        trial.roles.command = NULL;
        for (size_t k = 0; k < problems->n && is_settled; k++) {
            const struct role_problem *problem = &problems->items[k];
            char option[32], word[32];

            is_settled = problem->array >= 0 && problem->role[0] != '\0' &&
                         role_request_add_spec(&trial.roles, archive->arrays[problem->array].key,
                                               problem->role, NULL) == 0 &&
                         (sscanf(problem->flags, " --%31s %31s", option, word) != 2 ||
                          conventions_set(&trial.conventions, option, word, NULL) == 0);
        }
        if (is_settled && plan_build(&plan, paths, 1, &trial, &why) == 0) {
            plan_survey(&plan, &why);
            plan_release(&plan);
        }
        role_overrides_release(&trial.roles);
        for (size_t k = 0; k < problems->n && why.kind == ERROR_DATA; k++) {
            struct role_problem *problem = &problems->items[k];
            const char *const *flags = role_flags_of_frames;

            if (problem->array < 0 || strcmp(problem->role, "drop") == 0 ||
                strcmp(archive->arrays[problem->array].key, why.array) != 0)
                continue;
            while (*flags != NULL && *flags != problem->flags)
                flags++;
            if (*flags != NULL) { /* the last of them is for the user to tell */
                again |= flags[1] != NULL;
                problem->flags = flags[1] != NULL ? flags[1] : *flags;
                continue;
            }
            snprintf(problem->role, sizeof problem->role, "drop");
            problem->flags = "";
            again = true;
        }
    }
    return role_refuse_all(problems, archive, roles, &why, err);
}

int plan_match_arrays(struct plan *plan, struct error *err)
{
    const struct settings *request = plan->settings;
    struct role_request roles = request->roles; /* borrowed, but for what the plan adds */
    int status = 0;

    roles.is_strict = !request->allow_expanded && request->purpose == FOR_IMAGES;
    roles.swaps_colours = roles.is_strict && plan->swaps;
    roles.conventions = &plan->conventions;
    plan->arrays = calloc(plan->archives[0].n_arrays + 1, sizeof *plan->arrays);
    plan->csrs = calloc(plan->archives[0].n_arrays + 1, sizeof *plan->csrs);
    if (plan->arrays == NULL || plan->csrs == NULL)
        return error_no_memory(err, "arrays");
    /* The arrays of the first input become the plan's, those of the others join them. */
    for (size_t i = 0; i < plan->n_archives && status == 0; i++) {
        const struct archive_in *archive = &plan->archives[i];
        struct role_binding *bindings = calloc(archive->n_arrays + 1, sizeof *bindings);
        struct role_problems problems = {0};

        if (bindings == NULL)
            return error_no_memory(err, "roles");
        status = role_infer(archive, plan->board, &roles, bindings, &plan->archive_rows[i],
                            &problems, err);
        if (status == 0 && problems.n > 0)
            status = refuse_undecided(archive, &problems, &roles, request, err);
        if (status == 0 &&
            __builtin_add_overflow(plan->n_rows, plan->archive_rows[i], &plan->n_rows))
            status = error_set(err, ERROR_DATA, "%s: too many rows", text_path(archive->path).text);
        for (size_t k = 0; k < archive->n_arrays && i == 0 && status == 0; k++) {
            const struct array *array = &archive->arrays[k];

            plan->arrays[plan->n_arrays++] = (struct plan_array){
                .key = array->key,
                .member = array->member,
                .binding = bindings[k],
                .sources = calloc(plan->n_archives, sizeof(struct array *)),
                .is_object = array->header.dtype.kind == DTYPE_OBJECT && array->header.n_dims > 0 &&
                             bindings[k].role != ROLE_META};
            if (plan->arrays[k].sources != NULL)
                plan->arrays[k].sources[0] = array;
            else
                status = error_no_memory(err, "arrays");
        }
        if (status == 0 && i > 0)
            status = match_archive(plan, i, bindings, err);
        role_problems_release(&problems);
        free(bindings);
    }
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        struct plan_array *array = &plan->arrays[i];
        const struct role_binding *b = &array->binding;

        if (b->role == ROLE_POLICY_INDEX && b->value_array >= 0)
            array->values = plan->arrays[b->value_array].sources;
        if (b->sparse != SPARSE_CSR || array->is_object)
            continue;
        /* Where the lists begin is read once, for all three arrays. */
        array->csr = &plan->csrs[b->offsets_array];
        if (array->csr->first == NULL)
            status = csr_open(&plan->csrs[b->offsets_array], plan->arrays[b->offsets_array].sources,
                              plan->arrays[b->index_array].sources, plan->n_archives, err);
    }
    return status;
}
