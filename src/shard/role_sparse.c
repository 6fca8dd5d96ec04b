/*
 * role_sparse.c - sparse policies. Their arrays are found by a common prefix or by overrides, and
 * checked together. Indices have no axis to infer a layout from: it is the one given, else the one
 * that the shard's own notes imply, else the cells.
 */
#include "shard/role_parts.h"

/* --- which arrays belong together --- */

/* The parts: PREFIX_indices, PREFIX_values or _data, PREFIX_offsets or _indptr. */
enum { INDICES, VALUES, OFFSETS, N_PARTS };
static const struct part {
    enum role_flag flag;
    enum role role;
    const char *endings[2]; /* ours, and scipy's */
} parts[N_PARTS] = {{ROLE_IS_INDICES, ROLE_POLICY_INDEX, {"_indices", "_indices"}},
                    {ROLE_IS_VALUES, ROLE_POLICY_VALUE, {"_values", "_data"}},
                    {ROLE_IS_OFFSETS, ROLE_POLICY_OFFSETS, {"_offsets", "_indptr"}}};

/* The length of PREFIX if the key is PREFIX and our ending of the part, else 0. */
static size_t prefix_of(const char *key, const struct part *part)
{
    return text_ends_with(key, part->endings[0]) ? strlen(key) - strlen(part->endings[0]) : 0;
}

/* True when the array may be such a part: it has no other role by override, and is in no other
 * policy. */
static bool is_free(const struct role_case *a, const struct part *part)
{
    return a != NULL && a->sparse == NULL && a->h->n_dims > 0 &&
           (!a->is_told || (role_kinds[a->told->role].flags & part->flag));
}

/* The part with that prefix; else, if the indices have an override, the only free array with one
 * for that part; or NULL. */
static struct role_case *find_part(const struct role_case *indices, size_t n_prefix,
                                   const struct part *part)
{
    const struct role_context *c = indices->c;
    struct role_case *found = NULL;

    for (unsigned k = 0; n_prefix > 0 && k < 2; k++) {
        struct role_case *a = role_find(c, indices->array->key, n_prefix, part->endings[k]);

        if (is_free(a, part))
            return a;
    }
    for (struct role_case *a = c->cases; indices->is_told && a < c->cases + c->n; a++) {
        if (!a->is_told || !is_free(a, part))
            continue;
        if (found != NULL)
            return NULL;
        found = a;
    }
    return found;
}

static bool is_vector(const struct role_case *a, bool integer)
{
    return a->h->n_dims == 1 &&
           (integer ? dtype_is_integer(&a->h->dtype) : a->h->dtype.kind != DTYPE_OBJECT);
}

/* True when the shapes and types are those of indices and as many values. */
static bool are_lists(const struct role_case *indices, const struct role_case *values)
{
    const struct npy_header *h = indices->h, *v = values->h;
    const bool objects = h->dtype.kind == DTYPE_OBJECT && v->dtype.kind == DTYPE_OBJECT;

    return h->shape[0] == v->shape[0] && h->n_dims == v->n_dims &&
           ((h->n_dims == 1 && objects) ||
            (h->n_dims == 2 && h->shape[1] == v->shape[1] &&
             (objects || (dtype_is_integer(&h->dtype) && dtype_is_number(&v->dtype)))));
}

static int position_of(const struct role_case *a)
{
    return a != NULL ? (int)(a - a->c->cases) : -1;
}

static void refuse_lonely(struct role_case *a, const struct part *missing, size_t n_prefix)
{
    const struct role_case *other = role_find(a->c, a->array->key, n_prefix, missing->endings[0]);

    if (n_prefix > 0 && other != NULL && missing == &parts[INDICES])
        role_refuse(a, NULL, "it goes with %.200s, which has no role",
                    text_quote(other->array->key).text);
    else if (n_prefix > 0)
        role_refuse(a, NULL, "a part of a sparse policy, but there is no %.*s%s",
                    (int)(n_prefix > 150 ? 150 : n_prefix), text_path(a->array->key).text,
                    missing->endings[0]);
    else
        role_refuse(a, NULL, "a part of a sparse policy, but no other array is given the role %s",
                    role_name(missing->role));
}

/* Refuse both parts of what may be a sparse policy under names that do not say so. */
static void refuse_pair(struct role_case *indices, struct role_case *values)
{
    struct role_case *const of[] = {indices, values};

    for (size_t k = 0; k < OFFSETS; k++)
        role_refuse(of[k], role_name(parts[k].role),
                    "its name gives no role, and with %.200s it may be a sparse policy: say what "
                    "it is",
                    text_quote(of[VALUES - k]->array->key).text);
}

/* True when there are numbers beside the padding of a list, which are then no values of its own. */
static bool has_more_values(const struct role_case *a, const struct role_case *values)
{
    const struct reader readers[] = {{.arrays = &a->array, .n_arrays = 1},
                                     {.arrays = &values->array, .n_arrays = 1}};
    bool found = false;
    struct walk walk;

    walk_begin(&walk, readers, N_OF(readers), NULL, NULL);
    while (!found && walk_next(&walk))
        for (uint64_t n = walk.rows->n; n > 0 && row_int(walk.rows, n - 1) == -1 && !found; n--)
            found = row_double(&walk.rows[1], n - 1) != 0;
    return walk_end(&walk) == 0 && found;
}

/* True for numbers, or a policy, that are no such lists and that nothing but its shape puts beside
 * `a`. */
static bool may_be_values(const struct role_case *a, const struct role_case *values)
{
    return values != a && !values->is_told && !values->is_refused && values->sparse == NULL &&
           (!values->named.is_known || values->named.role == ROLE_POLICY) && are_lists(a, values) &&
           values->h->dtype.kind != DTYPE_OBJECT && !role_are_lists(values, true) &&
           !has_more_values(a, values);
}

/* Refuse lists of indices, by their numbers, with values beside them; of several, those whose name
 * begins most like theirs. */
static void find_by_shape(struct role_case *a)
{
    const struct role_context *c = a->c;
    struct role_case *best = NULL;
    size_t n_best = 0;

    if (a->is_told || a->named.is_known || a->is_refused || a->sparse != NULL ||
        !role_are_lists(a, true))
        return;
    for (struct role_case *other = c->cases; other < c->cases + c->n; other++) {
        size_t n = 0;

        while (a->array->key[n] != '\0' && a->array->key[n] == other->array->key[n])
            n++;
        if ((best == NULL || n > n_best) && may_be_values(a, other) &&
            (other->h->dtype.kind == DTYPE_FLOAT || (n > 0 && a->array->key[n - 1] == '_'))) {
            best = other;
            n_best = n;
        }
    }
    if (best != NULL)
        refuse_pair(a, best);
}

void role_sparse_find(struct role_context *c)
{
    const unsigned flags = ROLE_IS_INDICES | ROLE_IS_VALUES | ROLE_IS_OFFSETS;

    for (struct role_case *a = c->cases; a < c->cases + c->n; a++) {
        const char *key = a->array->key;
        const size_t n_prefix = prefix_of(key, &parts[INDICES]);
        struct role_case *of[N_PARTS] = {a};

        if (!is_free(a, &parts[INDICES]) || (!a->is_told && n_prefix == 0))
            continue;
        struct role_case *values = of[VALUES] = find_part(a, n_prefix, &parts[VALUES]);
        of[OFFSETS] = find_part(a, n_prefix, &parts[OFFSETS]);
        const bool compressed = values != NULL && of[OFFSETS] != NULL && is_vector(a, true) &&
                                is_vector(values, false) && is_vector(of[OFFSETS], true);
        if (!compressed)
            of[OFFSETS] = NULL;
        if (!compressed && !a->is_told && role_values_by_prefix(key, n_prefix) == ROLE_META) {
            if (c->request->is_strict && values != NULL && are_lists(a, values))
                refuse_pair(a, values);
            continue;
        }
        if (values == NULL)
            refuse_lonely(a, &parts[VALUES], n_prefix);
        for (size_t k = 0; k < N_PARTS && values != NULL; k++) {
            if (of[k] == NULL)
                continue;
            of[k]->sparse = a;
            of[k]->b->index_array = position_of(a);
            of[k]->b->value_array = position_of(values);
            of[k]->b->offsets_array = position_of(of[OFFSETS]);
        }
    }
    for (struct role_case *a = c->cases; a < c->cases + c->n && c->request->is_strict; a++)
        find_by_shape(a);
    for (struct role_case *a = c->cases; a < c->cases + c->n; a++) {
        const size_t n_prefix = prefix_of(a->array->key, &parts[VALUES]);

        if (a->sparse != NULL || a->is_refused)
            continue;
        if (a->is_told ? role_kinds[a->told->role].flags & flags
                       : role_values_by_prefix(a->array->key, n_prefix) != ROLE_META &&
                             is_free(a, &parts[VALUES]))
            refuse_lonely(a, &parts[INDICES], n_prefix);
    }
}

/* The layout given, else that of length policy_size, else RingRift's if the shard's notes or the
 * board's name say so, else cells. NULL with a reason if the board has no such layout. */
static const struct action_layout *find_layout(struct role_case *a, uint64_t *length)
{
    static const char *const keys[] = {"policy_encoding", "board_type"};
    static const char *const ringrift[] = {"hex8", "hexagonal", "square8", "square19"};
    const struct role_case *size = role_find(a->c, "", 0, "policy_size");
    const struct board *board = a->c->board;
    const struct action_layout *layout;
    char notes[2][64] = {"", ""};
    int64_t n = 0;

    if (!role_told_layout(a, &layout))
        return NULL;
    if (size != NULL && size->h->n_dims == 0 && (array_read_int(size->array, &n) != 0 || n <= 0)) {
        role_unfit(a, "the array policy_size is not a positive integer");
        return NULL;
    }
    *length = (uint64_t)n;
    if (layout == NULL && n > 0) {
        layout = action_layout_by_length(board, *length);
        if (layout == NULL)
            role_unfit(a, "policy_size is %" PRIu64 ", but the board %s has policies %s", *length,
                       board->name, ACTION_LAYOUTS(board, 200));
        return layout;
    }
    for (size_t k = 0; k < 2 && layout == NULL; k++) {
        const struct role_case *note = role_find(a->c, "", 0, keys[k]);

        /* A note that cannot be read must not lead to a guess. */
        if (note != NULL && note->h->n_dims == 0 &&
            (note->h->dtype.kind == DTYPE_UNICODE || note->h->dtype.kind == DTYPE_BYTES) &&
            array_read_string(note->array, notes[k], sizeof notes[k]) != 0) {
            role_unfit(a, "the array %s, which names its layout, cannot be read", keys[k]);
            return NULL;
        }
    }
    const bool is_aware = strcmp(notes[0], "board_aware") == 0;
    bool is_ringrift = is_aware;
    for (size_t k = 0; k < N_OF(ringrift); k++)
        is_ringrift |=
            strcmp(notes[1], ringrift[k]) == 0 || strcmp(board->preset, ringrift[k]) == 0;
    if (layout == NULL && is_ringrift)
        layout = action_layout_by_name(board, "ringrift");
    if (layout != NULL && layout->length(layout, board) == 0)
        layout = NULL;
    if (layout == NULL && is_aware) {
        role_unfit(a, "policy_encoding is board_aware, but the board %s has no such policy",
                   board->name);
    } else if (layout == NULL) {
        layout = action_layout_by_length(board, board->n_cells);
        if (layout == NULL)
            role_unfit(a, "the board %s has no policy of cells", board->name);
    }
    /* Its own length, or its padded length if that is policy_size. */
    if (layout != NULL && (n == 0 || *length != action_padded_length(layout, board)))
        *length = layout->length(layout, board);
    return layout;
}

static bool is_sparse_number(const struct pickle_item *item, bool indices)
{
    return item->kind == PICKLE_INT || (!indices && item->kind == PICKLE_FLOAT);
}

/* Rows of (N,) objects must be 1-D arrays or lists, those of (N, k) numbers. Empty arrays may be of
 * any number type, as numpy makes them floating by default. */
static int check_objects(struct role_case *a, bool indices)
{
    const struct pickle_document *objects = a->array->objects;
    const unsigned n_dims = a->h->n_dims;
    const uint64_t n_columns = n_dims == 2 && a->h->shape[1] > 0 ? a->h->shape[1] : 1;
    const char *kind = indices ? "integers" : "numbers";

    if (n_dims > 2)
        return role_refuse(a, NULL, "expected rows of %s: objects (N,) or (N, k)", kind);
    if (objects == NULL)
        return error_set(&a->c->failed, ERROR_INTERNAL, "%s: objects have not been read",
                         text_quote(a->array->key).text);
    for (uint64_t k = 0; k < objects->n_items; k++) {
        const struct pickle_item *item = &objects->items[k];
        const struct pickle_ndarray *array = item->as.array;
        bool fits = n_dims == 1 && item->kind == PICKLE_LIST;

        for (uint32_t i = 0; fits && i < item->n_bytes_or_items; i++)
            fits = is_sparse_number(&item->as.items[i], indices);
        if (n_dims == 1 && item->kind == PICKLE_ARRAY)
            fits = array->n_dims == 1 && dtype_is_number(&array->dtype) &&
                   (!indices || array->n_elements == 0 || dtype_is_integer(&array->dtype));
        if (!fits && (n_dims == 1 || !is_sparse_number(item, indices)))
            return role_refuse(a, NULL, "row %" PRIu64 ": expected %s %s%s", k / n_columns,
                               n_dims == 1 ? "a 1-D array of" : "only", kind,
                               n_dims == 1 ? " or a list" : "");
    }
    return 0;
}

/* Have the last problem, of this array, name the first row with a number from `end` on. */
static void name_row(const struct role_case *a, double end)
{
    struct role_problems *problems = a->c->problems;
    const int of_offsets = a->b->offsets_array;
    struct walk walk, offsets;

    role_begin_look(a, &walk);
    while (problems->n > 0 && walk_next(&walk))
        if (row_summarize(walk.rows, 0, walk.rows->n).max >= end) {
            struct error *why = &problems->items[problems->n - 1].why;

            why->has_row = true;
            why->row = walk.number;
            /* In CSR that is an index, of the last row that begins at or before it. */
            if (of_offsets < 0)
                break;
            role_begin_look(&a->c->cases[of_offsets], &offsets);
            while (walk_next(&offsets) && row_int(offsets.rows, 0) <= (int64_t)walk.number)
                why->row = offsets.number;
            (void)walk_end(&offsets);
            break;
        }
    (void)walk_end(&walk);
}

bool role_goes_beyond(struct role_case *a, const struct action_layout *layout, uint64_t length)
{
    const struct board *board = a->c->board;
    const enum role role = a->b->role == ROLE_ACTION ? ROLE_ACTION : ROLE_POLICY_INDEX;
    const struct action_layout *told, *one, *other = NULL;
    bool may_be_other = role != ROLE_ACTION;
    double low, high;

    /* Of pairs the second numbers are counts. */
    if (!a->c->request->is_strict || (a->b->options & ROLE_PAIRS) != 0 ||
        !role_find_range(a, UINT64_MAX, &low, &high) || high < (double)length)
        return false;
    if (high == (double)length)
        other = action_layout_by_length(board, length + 1);
    else if (high < board->n_cells)
        other = action_layout_by_length(board, board->n_cells);
    if (!role_told_layout(a, &told) || told != NULL)
        other = NULL;
    for (size_t i = 0; told == NULL && (one = action_layout_at(board, i)) != NULL; i++)
        may_be_other |= (double)one->length(one, board) > high;
    if (!may_be_other)
        return false; /* its row is named when it is moved */
    role_refuse(
        a, other != NULL ? text_format("%s:layout=%s", role_name(role), other->name).text : NULL,
        "index %.0f, expected below %" PRIu64
        ", the actions of the layout %s: say what it numbers, layout= one of %s%s",
        high, length, layout->name, ACTION_LAYOUTS(board, 200),
        low >= 1 ? ", or from1 if it counts from 1" : "");
    name_row(a, (double)length);
    return true;
}

int role_sparse_bind(struct role_case *a)
{
    struct role_case *const cases = a->c->cases;
    const int of_offsets = a->b->offsets_array;
    struct role_case *const value = &cases[a->b->value_array];
    struct role_case *const offsets = of_offsets >= 0 ? &cases[of_offsets] : NULL;
    struct role_case *const of[N_PARTS] = {a, value, offsets};
    const struct npy_header *h = a->h, *v = value->h;
    const size_t n_prefix = prefix_of(a->array->key, &parts[INDICES]);
    const enum role by_prefix = role_values_by_prefix(a->array->key, n_prefix);
    enum sparse_form form = offsets != NULL ? SPARSE_CSR : SPARSE_PADDED;
    uint64_t length;

    if (h->dtype.kind == DTYPE_OBJECT && v->dtype.kind == DTYPE_OBJECT)
        form = SPARSE_OBJECT;
    else if (!dtype_is_integer(&h->dtype))
        return role_refuse(a, NULL, "expected the indices of a sparse policy: integers");
    else if (!role_dtype_moves(&v->dtype))
        return role_refuse(value, NULL, "expected the values of a sparse policy: numbers");
    else if (form == SPARSE_PADDED && h->n_dims != 2)
        return role_refuse(a, NULL,
                           "expected the indices of a sparse policy: rows of objects, (N, L), or "
                           "(M,) with offsets (N + 1,) beside them");
    if (form != SPARSE_CSR && (role_check_rows(a) != 0 || role_check_rows(value) != 0))
        return -1;
    if (form == SPARSE_OBJECT && (check_objects(a, true) != 0 || check_objects(value, false) != 0))
        return -1;
    if ((form == SPARSE_CSR && h->shape[0] != v->shape[0]) ||
        (form == SPARSE_PADDED && (v->n_dims != 2 || v->shape[1] != h->shape[1])))
        return role_refuse_as(
            a, NULL, ERROR_CODE_LENGTH, NULL, "its values %.200s have the shape %.200s",
            text_quote(value->array->key).text, text_shape(v->shape, v->n_dims).text);
    if (form == SPARSE_CSR &&
        (offsets->array->n_rows == 0 || offsets->array->n_rows - 1 != a->c->n_rows))
        return role_refuse_as(offsets, NULL, ERROR_CODE_ROWS, NULL,
                              "expected %" PRIu64 " offsets, one more than the rows of %.100s",
                              a->c->n_rows + 1, text_quote(a->c->rows->array->key).text);
    const struct action_layout *layout = find_layout(a, &length);
    if (layout == NULL)
        return role_refuse(a, "policy-index:layout=LAYOUT", "%s", a->reason);
    length += (a->told->flip & ACTION_FROM_1) != 0;
    if (length == a->c->board->n_cells && role_goes_beyond(a, layout, length))
        return -1;
    for (size_t k = 0; k < N_PARTS; k++) {
        struct role_binding *b = of[k] != NULL ? of[k]->b : NULL;

        if (b == NULL)
            continue;
        b->role = of[k]->is_told                          ? of[k]->told->role
                  : k == VALUES && by_prefix != ROLE_META ? by_prefix
                                                          : parts[k].role;
        b->inferred = !of[k]->is_told;
        b->sparse = form;
        b->layout = layout;
        b->n_actions = length;
        b->is_counts = role_by_name(a->array->key, n_prefix, NULL).flags & NAME_COUNTS;
    }
    return 0;
}

bool role_sparse_of_scipy(const struct role_case *a, char role[64])
{
    const struct role_case *shape = role_find(a->c, "", 0, "shape");
    const struct action_layout *layout = NULL;
    const struct role_case *of[N_PARTS];
    const double n_rows = (double)a->c->n_rows;
    const char *own = NULL;
    double low, high; /* rows and columns */

    for (unsigned k = 0; k < N_PARTS; k++) {
        of[k] = role_find(a->c, "", 0, parts[k].endings[1] + 1);
        if (of[k] == NULL || of[k]->is_told || !is_vector(of[k], k != VALUES))
            return false;
        if (of[k] == a)
            own = role_name(parts[k].role);
    }
    if (own == NULL || of[OFFSETS]->array->n_rows != a->c->n_rows + 1 ||
        of[INDICES]->array->n_rows != of[VALUES]->array->n_rows)
        return false;
    if (of[INDICES] == a && shape != NULL && is_vector(shape, true) && shape->array->n_rows == 2 &&
        role_find_range(shape, UINT64_MAX, &low, &high) && low >= 0 && high < UINT32_MAX &&
        (low == n_rows || high == n_rows))
        layout = action_layout_by_length(a->c->board, (uint64_t)(low == n_rows ? high : low));
    snprintf(role, 64, "%s%s%.40s", own, layout != NULL ? ":layout=" : "",
             layout != NULL ? layout->name : "");
    return true;
}
