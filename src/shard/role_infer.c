/*
 * role_infer.c - gives every array of a shard a role, or finds the problem that prevents it.
 *
 * A role given by the user comes first, then name and shape together; an array that nothing speaks
 * for is copied, provided it cannot be spatial. Problems do not stop the inference: all of them are
 * found.
 */
#include "shard/role_parts.h"

#include <ctype.h>

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

        if (a == NULL && request->is_recalled)
            continue;
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
        struct role_case *a = &c->cases[i];

        bindings[i] = (struct role_binding){
            .role = ROLE_META, .index_array = -1, .value_array = -1, .offsets_array = -1};
        *a = (struct role_case){.c = c,
                                .array = array,
                                .h = &array->header,
                                .b = &bindings[i],
                                .told = &nothing,
                                .named = role_by_name(array->key, strlen(array->key), board)};
        /* Whether something was there at all. */
        if (!a->named.is_known && a->h->dtype.kind == DTYPE_BOOL && a->h->n_dims == 1 &&
            role_name_has(a, "_present$"))
            a->named = (struct role_named){.is_known = true, .role = ROLE_COPY};
        c->by_key[i] = a;
    }
    qsort(c->by_key, c->n, sizeof(struct role_case *), compare_keys);
    return take_overrides(c, c->request, err);
}

/* Note which roles are wanted, and the longest policies. */
static void note_wanted(struct role_context *c)
{
    for (const struct role_case *a = c->cases; a < c->cases + c->n; a++) {
        const enum role wanted = role_wanted(a);
        const uint64_t itemsize = a->h->dtype.itemsize;
        uint64_t length = itemsize > 0 ? a->array->row_nbytes / itemsize : 0;

        c->wanted |= 1u << wanted;
        if (wanted != ROLE_POLICY && wanted != ROLE_MASK && wanted != ROLE_ACTION_VALUES)
            continue;
        if (length > c->lengths[0]) {
            c->longest = a->array;
            c->lengths[1] = c->lengths[0];
            c->lengths[0] = length;
        } else if (length > c->lengths[1]) {
            c->lengths[1] = length;
        }
    }
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
        role_refuse_shard(c, ERROR_CODE_ROWS,
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
    const bool is_strict = a->c->request->is_strict;
    const bool is_named = role_name_has(a, role_words_of_cells);
    const uint64_t n_columns = h->n_dims == 1 ? 1 : h->shape[1];

    if (!are_integers(a))
        return false;
    if (list)
        return (h->n_dims == 2 && n_columns > 2 &&
                (is_named || (is_strict && role_are_lists(a, false)))) ||
               (h->n_dims == 3 && h->shape[2] == 2);
    return h->n_dims <= 2 && (n_columns == 1 || n_columns == 2) &&
           (is_named || (is_strict && role_label_suggests_cells(a)));
}

/* Refuse an array that may be spatial, for its reason. */
static int refuse_spatial(struct role_case *a)
{
    const char *role = role_suggest(a);

    if (strcmp(role, "action") == 0 || strncmp(role, "action:", 7) == 0 ||
        strncmp(role, "coord", 5) == 0)
        role = "ROLE";
    return role_refuse(a, role, "its name gives no role, and %s: say what it is", a->reason);
}

/* Copy an array of N rows unless something speaks against it. */
static int bind_copy(struct role_case *a, bool check_shape)
{
    const uint64_t list = role_first_list(a);

    if (a->h->dtype.kind == DTYPE_OBJECT && a->array->objects == NULL)
        return role_refuse(a, NULL, "its objects have not been read");
    if (list < UINT64_MAX)
        return role_refuse(
            a, NULL, "item %" PRIu64 " is neither a number nor a string: say what it means", list);
    if (check_shape && role_is_spatial(a, 1))
        return refuse_spatial(a);
    a->b->role = ROLE_COPY;
    a->b->may_hold_positions = a->c->request->is_strict && role_may_hold_positions(a);
    return 0;
}

/* True for as many rows of as many integers in both, or of a number for each row, or column, of the
 * board. */
static bool are_of_one_form(const struct role_case *a, const struct role_case *b)
{
    const struct board *board = a->c->board;
    const uint64_t n_rows = a->array->n_rows;

    if (n_rows == 0 || b->array->n_rows != n_rows)
        return false;
    const uint64_t n[] = {a->h->n_elements / n_rows, b->h->n_elements / n_rows};
    return (n[0] == n[1] && are_integers(a) && are_integers(b)) ||
           (n[0] > 2 && (n[0] == board->rows || n[0] == board->cols) && n[1] > 2 &&
            (n[1] == board->rows || n[1] == board->cols));
}

/* The array that holds the columns of the cells of which this one may hold the rows, or the other
 * way round: its name has another word, in small letters, with a capital or in capitals, in place
 * of one of this one's; or NULL. */
static const struct role_case *other_coordinate(const struct role_case *a)
{
    static const char *const words[] = {"row", "col", "row",  "column", "rows", "cols",
                                        "r",   "c",   "y",    "x",      "r",    "q",
                                        "i",   "j",   "rank", "file"};
    const struct board *board = a->c->board;
    const double end = board->rows > board->cols ? board->rows : board->cols;
    const char *key = a->array->key;
    char ending[PATH_MAX + 8];

    for (size_t at = 0; a->h->n_dims <= 2 && key[at] != '\0'; at++)
        for (size_t k = 0; k < 3 * N_OF(words); k++) {
            const char *own = words[k / 3], *others = words[(k / 3) ^ 1];
            const size_t n = strlen(own), n_capitals = k % 3 == 2 ? strlen(others) : k % 3;
            double low, high;

            if ((at > 0 && isalpha((unsigned char)key[at - 1])) ||
                text_compare_caseless(key + at, own, n) != 0 || isalpha((unsigned char)key[at + n]))
                continue;
            snprintf(ending, sizeof ending, "%s%s", others, key + at + n);
            for (size_t i = 0; i < n_capitals; i++)
                ending[i] ^= 0x20;
            const struct role_case *b = role_find(a->c, key, at, ending);
            if (b != NULL && are_of_one_form(a, b) && role_find_range(a, UINT64_MAX, &low, &high) &&
                low >= -1 && high < end && role_find_range(b, UINT64_MAX, &low, &high) &&
                low >= -1 && high < end)
                return b;
        }
    return NULL;
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
            a, role, ERROR_CODE_ROWS, "--role NAME=ROLE",
            "no array is known to have a row per position, and %.80s and %.80s differ in their "
            "first dimension: say what it is",
            text_quote(c->rows->array->key).text, text_quote(c->differing->array->key).text);
    }
    if (has_rows && c->request->is_strict && c->board->family->castling != NULL &&
        (role_name_has(a, "castl") ||
         (!may_be_moves(a, false) && role_name_has(a, "passant ^ep$ ^ep_"))))
        return role_refuse(a, NULL,
                           "its name suggests castling rights, or a pawn taken en passant, which "
                           "change sides in a mirror image: say what it is");
    const struct role_case *other = has_rows && c->request->is_strict ? other_coordinate(a) : NULL;
    if (other != NULL)
        return role_refuse(
            a, NULL,
            "its name and that of %.80s suggest the rows and columns of cells, which "
            "a transform moves together: store them as one array of pairs",
            text_quote(other->array->key).text);
    if (has_rows && c->request->is_strict && role_spells_cells(a))
        return role_refuse(a, NULL,
                           "its name or strings suggest moves or cells, which are moved as numbers "
                           "only: store them so");
    if (has_rows && !c->request->swaps_colours) {
        if (may_be_moves(a, false))
            return role_refuse(a, role_suggest(a),
                               "its name and integers suggest moves or cells: say what it is");
        if (c->request->is_strict && may_be_moves(a, true) && !role_is_spatial(a, 1))
            return role_refuse(a, role_suggest(a),
                               "integers that may be lists of moves or cells: say what it is");
        /* Numbers of tiles, ids of them, a deck. */
        if (c->request->is_strict && c->board->family->has_tiles && !role_is_spatial(a, 1) &&
            c->request->conventions->tiles == TILES_PERMUTE)
            return role_refuse(a, a->h->n_dims == 2 && a->h->shape[1] == 3 ? "tile" : NULL,
                               "its name gives no role, and --tiles permute may change it: say "
                               "what it is, --copy if tiles do not matter to it");
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

/* Bind an array to the role that the user gave it, or that its name gives. */
static int bind_as(struct role_case *a, enum role role)
{
    const struct role_context *c = a->c;
    const struct role_kind *kind = &role_kinds[role];
    const struct npy_header *h = a->h;
    const enum role this_one[] = {role, ROLE_N_KINDS};
    const enum role *tried = a->is_told || kind->by_name == NULL ? this_one : kind->by_name;
    const struct role_override *const told = a->told;
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
    for (; *tried != ROLE_N_KINDS && !fits; tried++) {
        b->role = *tried;
        fits = (a->is_told || !(a->named.flags & NAME_PER_PLAYER) || b->role != ROLE_WDL) &&
               role_kinds[b->role].fit(a);
    }
    if (fits) {
        b->is_counts = b->role == ROLE_POLICY && (a->named.flags & NAME_COUNTS) != 0;
        b->may_hold_positions = b->role == ROLE_TO_MOVE && !a->is_told && role_may_be_bitboards(a);
        if (c->request->is_strict && !a->is_told && b->role == ROLE_ACTION &&
            role_may_be_bitboards(a))
            return role_refuse(a, "drop",
                               "numbers above 2^32 may be cells as bits: say what it is");
        if (b->role == ROLE_TO_MOVE)
            b->options = told->options != 0                                       ? told->options
                         : text_compare_caseless(a->array->key, "winner", 6) == 0 ? ROLE_WINNER
                                                                                  : 0;
        const char *order = a->is_told ? NULL : role_order_of(a, b->role);
        if (order != NULL && c->request->is_strict)
            return role_refuse(a, order, "its numbers fit %s rather than %s: say what it is", order,
                               role_binding_spec(b).text);
        if (order != NULL) { /* who only looks takes what would be offered */
            const struct role_override offered = {.options = b->role == ROLE_PACKED ? ROLE_LSB
                                                                                    : ROLE_NHWC};

            a->told = &offered;
            (void)role_kinds[b->role].fit(a);
            a->told = told;
        }
        if (role_is_on_cells(b->role) && role_lies_by_columns(a))
            return role_refuse(a, "drop",
                               "its stones rest on one another if its cells are read column by "
                               "column, from below or from above: write them row by row");
        /* The look is bounded: in a list of moves padded with -1, nearly every row has one. */
        if (a->is_told || !c->request->is_strict || h->dtype.kind != DTYPE_INT ||
            (b->role != ROLE_MASK && b->role != ROLE_POLICY) ||
            !role_find_range(a, LIST_LOOK_NBYTES, &low, &high) || low >= 0)
            return 0;
        return role_refuse(a, "drop",
                           "integers with -1 among them are a padded list of moves rather than a "
                           "number for each action: say what it is");
    }
    /* Players and results, also in words, mean nothing to a board that never swaps colours. */
    if (!a->is_told && !c->swaps_colours && !role_is_spatial(a, 1) &&
        ((kind->flags & ROLE_ONLY_SWAPS) ||
         role_lists("result results outcome outcomes", a->array->key, strlen(a->array->key))))
        return bind_copy(a, false);
    (void)kind->fit(a); /* once more, for its reason */
    /* Nothing in the data says whose stones the planes of a history are, unless one tells the turn.
     */
    if (!a->is_told && h->n_dims == 5 && c->request->swaps_colours &&
        !conventions_is_said(c->request->conventions, "planes"))
        a->flags = role_flags_of_frames[h->shape[2] == 3 || h->shape[4] == 3 ? 0 : 2];
    return role_refuse(a, role_suggest(a), "%s", a->reason);
}

/* --- what arrays take from one another --- */

/* Set the flip that was told of a policy, or of moves, which `policy` stands beside. */
static int finish_flip(struct role_case *a, const struct role_binding *policy)
{
    const enum action_flip flip = a->told->flip;

    a->b->flip = flip;
    if ((flip & ACTION_FROM_1) && a->b->role != ROLE_ACTION && a->b->role != ROLE_POLICY_INDEX &&
        a->b->layout != NULL && action_cell(a->b->layout, a->c->board, a->b->n_actions - 1) >= 0)
        return role_refuse(a, role_name(a->b->role),
                           "option from1 is for a policy whose first entry is a pass");
    if (!action_can_flip(a->c->board, a->b->layout, flip))
        return role_refuse(a, role_name(a->b->role),
                           "option %s is for a policy with an entry for each cell of a %s",
                           action_flip_name(flip),
                           action_flip_exchanges(flip) ? "square" : "rectangle");
    if (a->is_told || policy == NULL || policy->flip == ACTION_AS_IS)
        return 0;
    return role_refuse(a, text_format("action:%s", action_flip_name(policy->flip)).text,
                       "the policy is stored %s: say whether these moves are, too",
                       action_flip_name(policy->flip));
}

/* Refuse moves on a board of columns that may number these from 1: the number of columns is among
 * them, or neither 0 nor a policy tells where they begin, which one of cells always does. On
 * others, many that name but the first cells are directions: up, down, left, right, none. */
static void check_numbers(struct role_case *a, const struct role_binding *policy)
{
    const struct board *board = a->c->board;
    const struct action_layout *const columns = action_layout_by_name(board, "columns"), *told;
    struct number_range range = {0};

    if (!a->c->request->is_strict || a->told->flip != ACTION_AS_IS || !role_told_layout(a, &told) ||
        told != NULL ||
        !role_end_look(a, number_range_find(&a->array, 1, UINT64_MAX, &range, &a->c->why)) ||
        range.max < 1)
        return;
    const bool has_zero = range.codes & NUMBER_CODE(0), has_end = range.max == board->cols;
    if (columns == NULL && !a->is_told && range.n >= 32 && range.max > 1 && range.max < 5 &&
        a->b->n_actions >= 10)
        role_refuse(a, NULL,
                    "none of %" PRIu64 " numbers is above %.0f, as though they were directions: "
                    "say what they number",
                    range.n, range.max);
    if (columns != NULL && range.max <= board->cols &&
        (policy == NULL ? has_end || !has_zero : has_end && a->b->layout == columns))
        role_refuse(a, has_end && !has_zero ? "action:layout=columns,from1" : NULL,
                    "numbers up to %.0f%s may be columns counted from 0 or from 1, or cells: say "
                    "which, layout=columns, layout=columns,from1 or layout=cells",
                    range.max, has_zero ? "" : ", none of them 0,");
}

/* Once all roles are known: moves get the layout of the shard's first policy, and planes are xy if
 * told so or if a policy has the layout of programs that write them so. */
static void finish(struct role_context *c)
{
    static const enum role roles[] = {ROLE_POLICY, ROLE_POLICY_INDEX, ROLE_ACTION_VALUES,
                                      ROLE_MASK};
    const struct role_binding *policy = NULL;
    bool xy = c->request->plane_xy == 1, is_of_board = false; /* some array is */

    for (size_t k = 0; k < N_OF(roles); k++)
        for (struct role_case *a = c->cases; a < c->cases + c->n && policy == NULL; a++)
            policy = a->b->role == roles[k] ? a->b : NULL;
    for (struct role_case *a = c->cases; a < c->cases + c->n && c->request->plane_xy < 0; a++)
        xy = xy || ((role_kinds[a->b->role].flags & ROLE_HAS_LAYOUT) && a->b->layout != NULL &&
                    a->b->role != ROLE_ACTION && a->b->layout == c->board->family->xy_layout);
    for (struct role_case *a = c->cases; a < c->cases + c->n; a++) {
        struct role_binding *b = a->b;

        if (role_is_on_cells(b->role))
            b->plane_xy = xy;
        is_of_board |= b->role != ROLE_ACTION &&
                       (role_kinds[b->role].flags & (ROLE_ON_CELLS | ROLE_HAS_LAYOUT)) != 0;
        if (b->role != ROLE_ACTION && (role_kinds[b->role].flags & ROLE_HAS_LAYOUT))
            (void)finish_flip(a, NULL);
        if (b->role != ROLE_ACTION)
            continue;
        /* The layout told, else that of the shard's policy unless a flip is told that it has not,
         * else cells. */
        if (!role_told_layout(a, &b->layout)) {
            role_refuse(a, "drop", "%s", a->reason);
            continue;
        }
        if (b->layout == NULL)
            b->layout = policy != NULL && action_can_flip(c->board, policy->layout, a->told->flip)
                            ? policy->layout
                            : action_layout_by_length(c->board, c->board->n_cells);
        if (b->layout == NULL)
            role_refuse(a, "drop", "no policy tells what its indices mean");
        else if (policy != NULL && b->layout == policy->layout)
            b->n_actions = policy->n_actions;
        else
            b->n_actions = b->layout->length(b->layout, c->board);
        b->n_actions += b->layout != NULL && (a->told->flip & ACTION_FROM_1) != 0;
    }
    for (struct role_case *a = c->cases; a < c->cases + c->n; a++) {
        const enum role is = a->b->role;
        const bool is_known = a->named.is_known;
        const bool is_open = c->request->is_strict && is_of_board && !a->is_told &&
                             a->array->n_rows == c->n_rows &&
                             (is_known ? a->named.role == ROLE_ACTION || a->named.role == ROLE_COORD
                                       : is == ROLE_COPY || a->is_refused);
        const char *order = is_open && is == ROLE_COORD ? role_suggest_coord(a) : "coord";
        const char *what;

        if (order == NULL || strcmp(order, "coord") != 0)
            role_refuse(
                a, order,
                "pairs of numbers beyond the rows and columns of the board: say what it is");
        const char *role = is_open ? role_shown(a, &what) : NULL;
        struct role_problem *problem = role_problem_of(c->problems, (int)(a - c->cases));
        if (role != NULL && problem != NULL && strncmp(problem->role, "policy", 6) != 0) {
            snprintf(problem->role, sizeof problem->role, "%s", role); /* likelier than by name */
            problem->flags = "";
        } else if (role != NULL) {
            role_refuse(a, role, "%sits numbers name %s in all rows%s: say what it is",
                        is_known ? "" : "its name gives no role, and ", what,
                        is_known ? ", in another order than usual or counted from 1" : "");
        }
        if (is == ROLE_ACTION && !a->is_refused)
            check_numbers(a, policy);
        if (is == ROLE_ACTION && is_open && !a->is_refused && policy != NULL &&
            a->b->layout == policy->layout && role_lacks_mass(a)) {
            role_refuse(a, NULL,
                        "in most rows they have no mass in the policy, %s: say what they number, "
                        "layout= one of %s",
                        policy->layout->name, ACTION_LAYOUTS(c->board, 400));
        }
        if (is == ROLE_ACTION && !a->is_refused &&
            !role_goes_beyond(a, a->b->layout, a->b->n_actions))
            (void)finish_flip(a, policy);
    }
}

/* --- all arrays --- */

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
    c.problems->board = board;
    if (init(&c, bindings, err) != 0)
        goto out;
    if (board->family->only_known_members && missing != NULL) {
        role_refuse_shard(
            &c, ERROR_CODE_SHAPE,
            text_format("expected an array %s, as every KataGo shard has", missing).text);
    } else {
        role_sparse_find(&c);
        note_wanted(&c);
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
    role_beside_free(c.beside);
    return status;
}
