/*
 * role_infer.c - gives every array of a shard a role, or finds the problem that prevents it.
 *
 * A role given by the user comes first, then name and shape together; an array that nothing speaks
 * for is copied, provided it cannot be spatial. Problems do not stop the inference: all of them are
 * found. The roles of a command line that is to settle them are tried before it is offered, and an
 * array that would be refused again is left out instead.
 */
#include "shard/role_parts.h"

#define LIST_LOOK_NBYTES (1u << 20)

static int compare_keys(const void *a, const void *b)
{
    struct role_case *const *left = a, *const *right = b;

    return strcmp((*left)->array->key, (*right)->array->key);
}

/* Enter the overrides in the cases; of several for one array the last counts. */
static int take_overrides(struct role_context *c, const struct role_request *request,
                          struct error *err)
{
    if (request->under != NULL && take_overrides(c, request->under, err) != 0)
        return -1;
    for (size_t k = 0; k < request->n_overrides; k++) {
        const struct role_override *o = &request->overrides[k];
        struct role_case *a = role_find(c, o->array, strlen(o->array), "");

        if (a == NULL)
            return archive_in_refuse_key(c->archive, o->array, "a role is told for it", err);
        a->told = o;
        a->is_told = true;
    }
    return 0;
}

/* Build all that does not depend on shapes: cases, sorted keys, boxes. */
static int init(struct role_context *c, struct role_binding *bindings, struct error *err)
{
    static const struct role_override nothing;
    const struct board *board = c->board;

    c->n = c->archive->n_arrays;
    c->box_rows = board->rows > 0 ? board->rows : board->family->grid_side;
    c->box_cols = board->cols > 0 ? board->cols : board->family->grid_side;
    c->swaps_colours = board_swaps_colours(board);
    c->rows = c->cases = calloc(c->n + 1, sizeof *c->cases);
    c->by_key = calloc(c->n + 1, sizeof(struct role_case *));
    if (c->cases == NULL || c->by_key == NULL)
        return error_no_memory(err, "roles");
    for (size_t i = 0; i < c->n; i++) {
        const struct array *array = &c->archive->arrays[i];
        const size_t n_key = strlen(array->key), n_ending = strlen("_present");
        struct role_named named = role_by_name(array->key, n_key, board);

        /* FIELD_present (b1): whether FIELD was there at all. */
        if (!named.is_known && array->header.dtype.kind == DTYPE_BOOL &&
            array->header.n_dims == 1 && n_key > n_ending &&
            text_compare_caseless(array->key + n_key - n_ending, "_present", n_ending) == 0)
            named = (struct role_named){.is_known = true, .role = ROLE_COPY};
        bindings[i] = (struct role_binding){
            .role = ROLE_META, .index_array = -1, .value_array = -1, .offsets_array = -1};
        c->cases[i] = (struct role_case){.c = c,
                                         .array = array,
                                         .h = &array->header,
                                         .b = &bindings[i],
                                         .told = &nothing,
                                         .named = named};
        c->by_key[i] = &c->cases[i];
    }
    qsort(c->by_key, c->n, sizeof(struct role_case *), compare_keys);
    return take_overrides(c, c->request, err);
}

/* Add a problem of the shard as a whole, which no flag settles. */
static void refuse_shard(struct role_context *c, enum error_code code, const char *reason)
{
    const struct error_place place = {.file = c->archive->path, .code = code};
    struct role_problem *problem = role_problem_add(c, -1, "");

    if (problem != NULL)
        error_fill_at(&problem->why, ERROR_DATA, &place, "%s", reason);
}

/* Take the number of rows from the most trusted array with a role. If there is none, all arrays
 * should agree; if they do not, take it from the first array that may hold cells, so that roles can
 * be suggested. */
static void find_rows(struct role_context *c)
{
    bool found = false, is_spatial = false;

    for (unsigned k = 0; k <= ROLE_COPY; k++) {
        const unsigned min_dims = k == ROLE_PLANES || k == ROLE_GRID ? 2 : 1;

        for (struct role_case *a = c->cases; a < c->cases + c->n; a++) {
            if (role_wanted(a) != k || k == ROLE_POLICY_VALUE || k == ROLE_POLICY_OFFSETS ||
                a->h->n_dims < min_dims || (k == ROLE_COPY && a->is_told))
                continue;
            /* In CSR form there is one row fewer than there are offsets. */
            const int offsets = a->b->offsets_array;
            c->n_rows = offsets >= 0 ? c->archive->arrays[offsets].n_rows : a->array->n_rows;
            c->n_rows -= offsets >= 0 && c->n_rows > 0;
            c->rows = a;
            return;
        }
    }
    for (struct role_case *a = c->cases; a < c->cases + c->n; a++) {
        if (a->h->n_dims == 0 || (a->is_told && a->told->role != ROLE_COPY))
            continue;
        const bool differs = found && a->array->n_rows != c->n_rows;
        if (differs && c->differing == NULL)
            c->differing = a;
        if (!found || (!is_spatial && role_is_spatial(a, 1))) {
            is_spatial = found || role_is_spatial(a, 1);
            if (differs)
                c->differing = c->rows;
            c->n_rows = a->array->n_rows;
            c->rows = a;
        }
        found = true;
    }
    if (!found)
        refuse_shard(c, ERROR_CODE_ROWS,
                     c->request->n_overrides > 0 ? "no array with rows is left"
                                                 : "no array has rows");
}

/* --- the arrays --- */

/* True when the array holds whole numbers, possibly as objects. */
static bool are_integers(const struct role_case *a)
{
    const struct pickle_document *objects = a->array->objects;
    uint64_t n = 0;

    while (objects != NULL && n < objects->n_items && objects->items[n].kind == PICKLE_INT)
        n++;
    return objects != NULL ? n == objects->n_items : dtype_is_integer(&a->h->dtype);
}

/* True for integers that may be a move or a cell for each row; with `list`, a list of moves or
 * cells, or of moves and counts. */
static bool may_be_moves(const struct role_case *a, bool list)
{
    const struct npy_header *h = a->h;
    const bool is_named = role_name_suggests_cells(a->array->key);
    const uint64_t n_columns = h->n_dims == 1 ? 1 : h->shape[1];

    if (!are_integers(a))
        return false;
    if (list)
        return (h->n_dims == 2 && n_columns > 2 && is_named) ||
               (h->n_dims == 3 && h->shape[2] == 2);
    return h->n_dims <= 2 && (n_columns == 1 || n_columns == 2) && is_named;
}

/* Refuse an array that may be spatial, for the reason in the context. */
static int refuse_spatial(struct role_case *a)
{
    const char *role = role_suggest(a);

    if (strcmp(role, "action") == 0 || strncmp(role, "action:", 7) == 0 ||
        strcmp(role, "coord") == 0)
        role = "ROLE";
    return role_refuse(a, role, "its name gives no role, and %s: say what it is", a->c->reason);
}

/* Copy an array of N rows unless something speaks against it. */
static int bind_copy(struct role_case *a, bool check_shape)
{
    const struct pickle_document *objects = a->array->objects;

    if (a->h->dtype.kind == DTYPE_OBJECT && objects == NULL)
        return role_refuse(a, NULL, "its objects have not been read");
    for (uint64_t k = 0; objects != NULL && k < objects->n_items; k++)
        if (objects->items[k].kind == PICKLE_LIST || objects->items[k].kind == PICKLE_ARRAY)
            return role_refuse(
                a, NULL, "item %" PRIu64 " is neither a number nor a string: say what it means", k);
    if (check_shape && role_is_spatial(a, 1))
        return refuse_spatial(a);
    a->b->role = ROLE_COPY;
    a->b->may_hold_positions = a->c->request->is_strict && role_may_hold_positions(a);
    return 0;
}

static int bind_unnamed(struct role_case *a)
{
    const struct role_context *c = a->c;
    const bool has_rows = a->array->n_rows == c->n_rows;
    const char *role = NULL;
    char scipy[64];

    if (role_sparse_of_scipy(a, scipy))
        return role_refuse(a, scipy,
                           "a matrix as scipy stores it, whose names do not say what it holds: "
                           "say what it is");
    if (c->differing != NULL) {
        if (!has_rows || role_is_spatial(a, 1))
            role = role_suggest(a);
        else if (!c->request->swaps_colours)
            role = "copy";
        return role_refuse_as(
            a, role, ERROR_CODE_ROWS,
            "no array is known to have a row per position, and %.80s and %.80s differ in their "
            "first dimension: say what it is; use --role NAME=ROLE",
            text_quote(c->rows->array->key).text, text_quote(c->differing->array->key).text);
    }
    if (has_rows && c->request->is_strict && c->board->family->castling != NULL &&
        text_contains_caseless(a->array->key, "castl"))
        return role_refuse(a, NULL,
                           "its name suggests castling rights, which change sides in a mirror "
                           "image: say what it is");
    if (has_rows && !c->request->swaps_colours) {
        if (may_be_moves(a, false))
            return role_refuse(a, role_suggest(a),
                               "its name and integers suggest moves or cells: say what it is");
        if (c->request->is_strict && may_be_moves(a, true) && !role_is_spatial(a, 1))
            return role_refuse(a, role_suggest(a),
                               "integers that may be lists of moves or cells: say what it is");
        return bind_copy(a, true);
    }
    if (role_is_spatial(a, has_rows ? 1 : 0))
        return refuse_spatial(a);
    if (!has_rows && a->h->n_dims == 1 && dtype_is_integer(&a->h->dtype) &&
        a->array->n_rows > c->n_rows)
        return role_refuse(a, "drop",
                           "more integers than rows, and no NAME_offsets, NAME_indices and "
                           "NAME_values that go together: say what it is");
    if (!has_rows)
        return 0; /* META, as it is */
    /* A colour swap may change a reward, a side, a label. */
    role =
        may_be_moves(a, true) || may_be_moves(a, false) ? role_suggest(a) : role_suggest_label(a);
    const bool is_likely = role != NULL && strcmp(role, "ROLE") != 0;
    return role_refuse(
        a, role,
        "its name gives no role, and a transform swaps the colours, which may change it%s: "
        "say what it is%s",
        is_likely ? "" : ", and nothing is likely",
        is_likely ? "" : ", --copy if colours do not matter to it");
}

/* Flags that may go with a history on a board that swaps colours, likeliest first, up to a NULL.
 * The last is empty and recognised by its address: the user must decide. */
static const char user_tells[] = "";
static const char *const flags_of_frames[] = {" --planes colour", " --planes mover", user_tells,
                                              NULL};

/* Bind an array to the role that the user gave it, or that its name gives. */
static int bind_as(struct role_case *a, enum role role)
{
    const struct role_context *c = a->c;
    const struct role_kind *kind = &role_kinds[role];
    const struct npy_header *h = a->h;
    const bool by_name = !a->is_told && kind->by_name[0] != NULL;
    const unsigned said = a->told->options;
    struct role_binding *b = a->b;
    bool fits = false;
    double low, high;

    b->role = role;
    if (a->is_told && role == ROLE_COPY && (h->n_dims == 0 || a->array->n_rows != c->n_rows))
        b->role = ROLE_META;
    if (a->is_told ? kind->fit == NULL : (a->named.flags & NAME_NEVER_ROWS) != 0)
        return 0;
    if (role_check_rows(a) != 0)
        return -1;
    if (role == ROLE_COPY)
        return bind_copy(a, (a->named.flags & NAME_MAY_SPREAD) || h->n_dims > 2);
    if (!by_name)
        fits = kind->fit(a);
    for (size_t k = 0; k < ROLE_N_FITS && kind->by_name[k] != NULL && by_name && !fits; k++)
        fits = !((a->named.flags & NAME_PER_PLAYER) && kind->by_name[k] == role_fit_wdl) &&
               kind->by_name[k](a);
    if (fits) {
        /* Masks and action values are policies by shape. */
        if (b->role == ROLE_POLICY)
            b->role = role;
        b->is_counts = b->role == ROLE_POLICY && (a->named.flags & NAME_COUNTS) != 0;
        if (b->role == ROLE_TO_MOVE)
            b->options = said != 0                                                ? said
                         : text_compare_caseless(a->array->key, "winner", 6) == 0 ? ROLE_WINNER
                                                                                  : 0;
        /* The look is bounded: in a list of moves padded with -1, nearly every row has one. */
        if (a->is_told || !c->request->is_strict || h->dtype.kind != DTYPE_INT ||
            (b->role != ROLE_MASK && b->role != ROLE_POLICY) ||
            !role_find_range(a->array, LIST_LOOK_NBYTES, &low, &high) || low >= 0)
            return 0;
        return role_refuse(a, "drop",
                           "integers with -1 among them are a padded list of moves rather than a "
                           "number for each action: say what it is");
    }
    /* Players and results mean nothing to a board that never swaps colours. */
    if (!a->is_told && (kind->flags & ROLE_ONLY_SWAPS) && !c->swaps_colours &&
        !role_is_spatial(a, 1))
        return bind_copy(a, false);
    (void)kind->fit(a); /* once more, for its reason */
    /* Nothing in the data says whose stones the planes of a history are, unless one tells the turn.
     */
    if (!a->is_told && h->n_dims == 5 && c->request->swaps_colours &&
        !conventions_is_said(c->request->conventions, "planes"))
        a->flags = flags_of_frames[h->shape[2] == 3 || h->shape[4] == 3 ? 0 : 2];
    return role_refuse(a, role_suggest(a), "%s", c->reason);
}

/* --- what arrays take from one another --- */

/* Set the flip that was told of a policy, or of moves, which `policy` stands beside. */
static int finish_flip(struct role_case *a, const struct role_binding *policy)
{
    const enum action_flip flip = a->told->flip;

    a->b->flip = flip;
    if (!action_can_flip(a->c->board, a->b->layout, flip))
        return role_refuse(a, role_name(a->b->role),
                           "option %s is for a policy with an entry for each cell of a %s",
                           action_flip_name(flip),
                           action_flip_exchanges(flip) ? "square" : "rectangle");
    if (a->is_told || policy == NULL || policy->flip == ACTION_AS_IS)
        return 0;
    return role_refuse(a, "action", "the policy is stored %s: say whether these moves are, too",
                       action_flip_name(policy->flip));
}

/* Once all roles are known: moves get the layout of the shard's first policy, and planes are xy if
 * told so or if a policy has the layout of programs that write them so. */
static void finish(struct role_context *c)
{
    static const enum role roles[] = {ROLE_POLICY, ROLE_POLICY_INDEX, ROLE_ACTION_VALUES,
                                      ROLE_MASK};
    const struct role_binding *policy = NULL;
    bool xy = c->request->plane_xy == 1;

    for (size_t k = 0; k < sizeof roles / sizeof *roles; k++)
        for (struct role_case *a = c->cases; a < c->cases + c->n && policy == NULL; a++)
            policy = a->b->role == roles[k] ? a->b : NULL;
    for (struct role_case *a = c->cases; a < c->cases + c->n && c->request->plane_xy < 0; a++)
        xy = xy || ((role_kinds[a->b->role].flags & ROLE_HAS_LAYOUT) && a->b->layout != NULL &&
                    a->b->role != ROLE_ACTION && a->b->layout == c->board->family->xy_layout);
    for (struct role_case *a = c->cases; a < c->cases + c->n; a++) {
        struct role_binding *b = a->b;

        if (role_is_on_cells(b->role))
            b->plane_xy = xy;
        if (b->role != ROLE_ACTION && (role_kinds[b->role].flags & ROLE_HAS_LAYOUT))
            (void)finish_flip(a, NULL);
        if (b->role != ROLE_ACTION)
            continue;
        /* The layout told, else that of the shard's policy, else cells. */
        if (!role_told_layout(a, &b->layout)) {
            role_refuse(a, "drop", "%s", c->reason);
            continue;
        }
        if (b->layout == NULL)
            b->layout = policy != NULL ? policy->layout
                                       : action_layout_by_length(c->board, c->board->n_cells);
        if (b->layout == NULL)
            role_refuse(a, "drop", "no policy tells what its indices mean");
        else if (policy != NULL && b->layout == policy->layout)
            b->n_actions = policy->n_actions;
        else
            b->n_actions = b->layout->length(b->layout, c->board);
    }
    for (struct role_case *a = c->cases; a < c->cases + c->n; a++)
        if (a->b->role == ROLE_ACTION)
            (void)finish_flip(a, policy);
}

/* --- all arrays, and what settles their problems --- */

/* Do with these roles, and the flags that go with them (an option and its word), what the request
 * asks for. An array that is refused then gets its next flags, or is left out: true. */
static bool try_further(const struct role_context *c, const struct role_request *roles)
{
    struct conventions conventions = *c->request->conventions;
    struct role_request with_flags = *roles;
    struct role_problem *problem = c->problems->items, *end = problem + c->problems->n;
    char option[32], word[32];

    for (const struct role_problem *p = problem; p < end; p++)
        if (sscanf(p->flags, " --%31s %31s", option, word) == 2)
            (void)conventions_set(&conventions, option, word, NULL);
    with_flags.conventions = &conventions;
    const struct error *why = c->request->try_roles(c->request->self, &with_flags);
    while (problem < end && strcmp(c->archive->arrays[problem->array].key, why->array) != 0)
        problem++;
    if (why->kind != ERROR_DATA || problem == end || strcmp(problem->role, "drop") == 0)
        return false;
    for (const char *const *flags = flags_of_frames; *flags != NULL; flags++)
        if (*flags == problem->flags) { /* the last one leaves the choice to the user */
            problem->flags = flags[1] != NULL ? flags[1] : *flags;
            return flags[1] != NULL;
        }
    snprintf(problem->role, sizeof problem->role, "drop");
    problem->flags = "";
    return true;
}

/* Try the roles that the problems suggest: one that would be refused becomes "drop", which never
 * is, and what else would then be undecided becomes a problem too, so that the user is not led from
 * one refusal to the next. -1: no memory, err is set. */
static int settle(struct role_context *c, struct error *err)
{
    struct role_problems *problems = c->problems;
    bool is_settled = false, again = true;
    int status = 0;

    for (unsigned n_failed = 0; n_failed < 4 && again && status == 0; n_failed += !is_settled) {
        struct role_request request = role_request_over(c->request);
        struct role_binding *bindings = calloc(c->n + 1, sizeof *bindings);
        struct role_problems left = {0};
        uint64_t n_rows;

        if (bindings == NULL)
            status = error_no_memory(err, "roles");
        request.command = NULL;
        request.try_roles = NULL;
        for (size_t k = 0; k < problems->n && status == 0; k++) {
            const struct role_problem *problem = &problems->items[k];

            status = problem->array < 0
                         ? 1 /* no role settles a problem of the shard as a whole */
                         : role_request_add_spec(&request, c->archive->arrays[problem->array].key,
                                                 problem->role, err);
        }
        if (status == 0)
            status = role_infer(c->archive, c->board, &request, bindings, &n_rows, &left, err);
        is_settled = left.n == 0;
        again = !is_settled ||
                (status == 0 && c->request->try_roles != NULL && try_further(c, &request));
        role_overrides_release(&request);
        free(bindings);
        for (size_t k = 0; k < left.n && status == 0; k++) {
            const struct role_problem *remains = &left.items[k];
            const int i = remains->array, index = i >= 0 ? c->cases[i].b->index_array : -1;
            struct role_problem *problem = role_problem_of(problems, (size_t)i);
            const size_t n = problems->n;

            if (problem == NULL && index >= 0) { /* values whose indices are left out */
                role_refuse(&c->cases[i], NULL, "it goes with %.200s, which has no role",
                            text_quote(c->cases[index].array->key).text);
                problem = problems->n > n ? &problems->items[n] : NULL;
            } else if (problem == NULL && (problem = role_problem_add(c, i, NULL)) != NULL) {
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

int role_infer(const struct archive_in *archive, const struct board *board,
               const struct role_request *request, struct role_binding *bindings, uint64_t *n_rows,
               struct role_problems *problems, struct error *err)
{
    struct role_problems own = {0};
    struct role_context c = {.archive = archive,
                             .board = board,
                             .request = request,
                             .problems = problems != NULL ? problems : &own};
    size_t n_found;
    const char *missing = role_katago_missing(archive, &n_found);
    int status = -1;

    if (request->plane_xy == 1 && (board->rows == 0 || board->rows != board->cols))
        return error_set(err, ERROR_USAGE,
                         "planes of the board %s cannot be in the order xy: it is not square",
                         board->name);
    if (init(&c, bindings, err) != 0)
        goto out;
    if (board->family->only_known_members && missing != NULL) {
        snprintf(c.reason, sizeof c.reason, "expected an array %s, as every KataGo shard has",
                 missing);
        refuse_shard(&c, ERROR_CODE_SHAPE, c.reason);
    } else {
        role_sparse_find(&c);
        find_rows(&c);
        for (size_t i = 0; i < c.n && c.failed.kind == ERROR_NONE; i++) {
            struct role_case *a = &c.cases[i];
            const bool never_rows = (a->named.flags & NAME_NEVER_ROWS) != 0;

            if (a->is_refused || (a->sparse != NULL && a->sparse != a))
                continue;
            a->b->inferred = a->sparse == NULL && !a->is_told;
            if (a->sparse != NULL)
                (void)role_sparse_bind(a);
            else if (a->is_told)
                (void)bind_as(a, a->told->role);
            else if (board->family->only_known_members)
                (void)role_katago_bind(a);
            else if (a->named.is_known && (a->h->n_dims > 0 || never_rows))
                (void)bind_as(a, a->named.role);
            else if (a->h->n_dims > 0)
                (void)bind_unnamed(a);
        }
        finish(&c);
    }
    if (c.failed.kind == ERROR_NONE && c.problems->n > 0 && request->command != NULL &&
        settle(&c, err) != 0)
        goto out;
    if (c.failed.kind != ERROR_NONE)
        error_pass(err, &c.failed);
    else if (problems == NULL && own.n > 0)
        error_pass(err, &own.items[0].why);
    else
        status = 0;
    *n_rows = c.differing != NULL ? 0 : c.n_rows;
out:
    role_problems_release(&own);
    free(c.cases);
    free(c.by_key);
    return status;
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
