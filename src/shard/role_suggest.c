/*
 * role_suggest.c - what an array may be whose name does not tell: the likely role, from its shape
 * and its numbers, to be offered to people. Nothing here decides a role.
 */
#include "shard/role_parts.h"
#include "shard/spec.h"

#include <math.h>

#define LIST_LOOK_NBYTES (64u << 10) /* lists are examined up to this, */
#define MAX_LOOK_ITEMS   64          /* the first items of each */

/* --- words in names --- */

const char role_words_of_cells[] =
    "move action pos cell coord best played chosen mv square passant ^act$ ^acts$ ^last$ ^lm$ "
    "^prev$ ^hist$ ^history$ ^bm$ ^san$ ^uci$ ^xy$ ^yx$ ^rc$";

bool role_name_has(const struct role_case *a, const char *words)
{
    char name[PATH_MAX + 3], word[16];
    size_t n;

    snprintf(name, sizeof name, "^%s$", a->array->key);
    for (; *words != '\0'; words += n + (words[n] == ' ')) {
        n = strcspn(words, " ");
        snprintf(word, sizeof word, "%.*s", (int)n, words);
        if (text_contains_caseless(name, word))
            return true;
    }
    return false;
}

/* --- lists --- */

bool role_are_lists(const struct role_case *a, bool have_values)
{
    double low, high;
    bool fits = dtype_is_integer(&a->h->dtype) && a->h->n_dims == 2 && a->h->shape[1] > 2 &&
                role_find_range(a, UINT64_MAX, &low, &high) && high > 1 &&
                (low == -1 || (low >= 0 && have_values));
    struct walk walk;

    if (!fits)
        return false;
    const int64_t padding = low < 0 ? -1 : 0;
    role_begin_look(a, &walk);
    while (fits && walk.number * a->array->row_nbytes < LIST_LOOK_NBYTES && walk_next(&walk)) {
        uint64_t n = walk.rows->n;

        while (n > 0 && row_int(walk.rows, n - 1) == padding)
            n--;
        for (uint64_t i = 0; i < n && i < MAX_LOOK_ITEMS && fits; i++)
            for (uint64_t k = 0; k <= i && fits; k++)
                fits = k < i ? row_int(walk.rows, i) != row_int(walk.rows, k)
                             : row_int(walk.rows, i) >= 0;
    }
    return role_end_look(a, walk_end(&walk)) && fits;
}

uint64_t role_first_list(const struct role_case *a)
{
    const struct pickle_document *objects = a->array->objects;

    for (uint64_t k = 0; objects != NULL && k < objects->n_items; k++)
        if (objects->items[k].kind == PICKLE_LIST || objects->items[k].kind == PICKLE_ARRAY)
            return k;
    return UINT64_MAX;
}

/* The role of numbers for each action: a mask if they are but 0 and 1, and several of them are 1,
 * floating ones by name only; a policy if every row adds up to 1 or 0, with nothing below 0. */
static enum role role_of_actions(const struct role_case *a)
{
    const struct dtype *dtype = &a->h->dtype;
    bool are_shares = dtype_is_number(dtype);
    bool are_flags =
        are_shares && (dtype->kind != DTYPE_FLOAT || role_name_has(a, "valid legal mask avail"));
    struct walk walk;
    double most = 0;

    role_begin_look(a, &walk);
    while ((are_shares || are_flags) && walk_next(&walk)) {
        const struct row_summary row = row_summarize(walk.rows, 0, walk.rows->n);

        are_shares = are_shares && label_are_shares(dtype, false, row.min, row.sum);
        for (uint64_t i = 0; i < walk.rows->n && are_flags; i++)
            are_flags = row_double(walk.rows, i) == 0 || row_double(walk.rows, i) == 1;
        most = fmax(most, row.sum);
    }
    return !role_end_look(a, walk_end(&walk)) ? ROLE_ACTION_VALUES
           : are_flags && most > 1            ? ROLE_MASK
           : are_shares                       ? ROLE_POLICY
                                              : ROLE_ACTION_VALUES;
}

/* True when values, taken relative to `middle`, seem to be those of a colour, which keep their sign
 * from row to row through a game; or, with `colour` false, those of the player to move, whose sign
 * changes with every row. */
static bool speak_of(const struct role_case *a, double middle, bool colour)
{
    uint64_t n_same = 0, n_pairs = 0;
    struct walk walk;
    double last = 0;

    role_begin_look(a, &walk);
    while (a->array->row_nbytes > 0 && a->array->row_nbytes <= 16 && walk_next(&walk)) {
        const double value = row_double(walk.rows, 0) - middle;

        n_pairs += value * last != 0;
        n_same += value * last > 0;
        last = value;
    }
    return role_end_look(a, walk_end(&walk)) && n_pairs >= 16 &&
           (colour ? n_same >= n_pairs - n_pairs / 8 : n_same <= n_pairs / 4);
}

/* --- likely roles --- */

static bool has_role(const struct role_context *c, enum role role)
{
    return c->wanted >> role & 1;
}

/* The length of the longest other policy; UINT32_MAX if unknown, 0: there is none. */
static uint64_t end_of_moves(const struct role_case *a)
{
    const uint64_t end = a->c->lengths[a->array == a->c->longest];

    return has_role(a->c, ROLE_POLICY_INDEX) && end < UINT32_MAX ? UINT32_MAX : end;
}

/* What pairs of integers may be: cells in an order that keeps all of them on the board, or none
 * (-1, -1), and actions with their counts; option bits. */
static unsigned pairs_may_be(const struct role_case *a)
{
    const uint64_t rows = a->c->board->rows, cols = a->c->board->cols;
    const uint64_t end = end_of_moves(a), n_actions = end > 0 ? end : a->c->board->n_cells;
    unsigned may_be = ROLE_ROWCOL | ROLE_COLROW | ROLE_PAIRS;
    struct walk walk;

    role_begin_look(a, &walk);
    while (may_be != 0 && walk_next(&walk))
        for (uint64_t i = 0; i + 1 < walk.rows->n; i += 2) {
            const int64_t pair[] = {row_int(walk.rows, i), row_int(walk.rows, i + 1)};
            const uint64_t p = (uint64_t)pair[0], q = (uint64_t)pair[1]; /* -1 is beyond all */
            const bool is_none = pair[0] < 0 && pair[1] < 0;

            if (p >= n_actions)
                may_be &= ~(unsigned)ROLE_PAIRS;
            if (!is_none && (p >= rows || q >= cols))
                may_be &= ~(unsigned)ROLE_ROWCOL;
            if (!is_none && (p >= cols || q >= rows))
                may_be &= ~(unsigned)ROLE_COLROW;
        }
    (void)role_end_look(a, walk_end(&walk));
    return may_be;
}

const char *role_suggest_coord(const struct role_case *a)
{
    const unsigned may_be = pairs_may_be(a);

    return may_be & ROLE_ROWCOL ? "coord" : may_be & ROLE_COLROW ? "coord:colrow" : NULL;
}

bool role_label_suggests_cells(const struct role_case *a)
{
    static const char rows[] = "idx index indices"; /* of moves, or of the rows of a set */
    static const char names[] = "a m y label labels target targets choice next answer reply "
                                "response sq vertex loc location spot dest to from src dst from_sq "
                                "to_sq";
    const char *key = a->array->key;
    const bool may_be_rows = role_lists(rows, key, strlen(key));
    const uint64_t n_cells = a->c->board->n_cells, of_policy = end_of_moves(a);
    uint64_t end = of_policy > n_cells ? of_policy : n_cells + 1;
    double low, high;

    /* Moves of chess are numbered in many ways, up to 256 * from + to. */
    if (a->c->board->family->castling != NULL && !may_be_rows && end < 4 * n_cells * n_cells)
        end = 4 * n_cells * n_cells;
    return (may_be_rows || role_lists(names, key, strlen(key))) &&
           role_find_range(a, UINT64_MAX, &low, &high) && low >= -1 && high > 2 &&
           high < (double)end;
}

/* True when the array would fit the role without being given it. A history, by its name or where no
 * other array has planes and colours stay, and a list of moves by its name, are tried as though
 * given it, since they fit in no other way. */
static bool could_be(const struct role_case *a, enum role role)
{
    static const struct role_override bare = {0};
    const struct role_context *c = a->c;
    struct role_binding unused = {0};
    struct role_case tried = *a;

    tried.b = &unused;
    tried.told = &bare;
    tried.is_told |=
        (role == ROLE_PLANES && a->h->n_dims == 5 &&
         (role_wanted(a) == role ||
          (!a->named.is_known && !c->request->swaps_colours && !has_role(c, ROLE_PLANES)))) ||
        (role == ROLE_ACTION && a->h->n_dims == 2 && a->h->shape[1] > 2 &&
         role_name_has(a, role_words_of_cells));
    return role_kinds[role].fit(&tried);
}

/* True when no other array of the shard has planes or could have them. */
static bool are_only_planes(const struct role_case *a)
{
    const struct role_context *c = a->c;

    for (const struct role_case *other = c->cases; other < c->cases + c->n; other++)
        if (other->array != a->array &&
            (role_is_on_cells(role_wanted(other)) ||
             (!other->named.is_known && !other->is_told && other->array->n_rows == c->n_rows &&
              (could_be(other, ROLE_PLANES) || could_be(other, ROLE_PACKED)))))
            return false;
    return true;
}

/* True when the numbers agree with a role that the shape fits: moves and coordinates must lie
 * between -1 and their upper bound, which the type must hold. Where colours are swapped, a map of
 * the cells may depend on the colours, and is likely only if its numbers show what it is. */
static bool is_likely(const struct role_case *a, enum role role)
{
    const struct role_context *c = a->c;
    const uint64_t itemsize = a->h->dtype.itemsize;
    double low = 0, high = 0;

    if (role == ROLE_ACTION || role == ROLE_COORD) {
        const uint64_t n_cells = c->board->n_cells, n = end_of_moves(a);
        const uint64_t last = (n > 0 && n < n_cells ? n : n_cells) - 1;
        uint8_t image[8];

        if (role_is_on_cells(role_wanted(a)) ||
            (role == ROLE_ACTION && dtype_put_int(&a->h->dtype, (int64_t)last, image) != 0))
            return false;
        if (!c->request->is_strict || a->array->n_rows == 0)
            return true;
        return role == ROLE_COORD ? role_suggest_coord(a) != NULL
                                  : role_find_range(a, UINT64_MAX, &low, &high) && low >= -1 &&
                                        high < (double)(n > n_cells ? n : n_cells);
    }
    /* As many planes as cells would be moves from each cell, those of a policy moves of several
     * kinds: directions, say, which a transform changes. */
    if (role == ROLE_PLANES && role_wanted(a) != role &&
        (a->array->row_nbytes == (uint64_t)c->board->n_cells * c->board->n_cells * itemsize ||
         (role_kinds[role_wanted(a)].flags & ROLE_HAS_LAYOUT) ||
         role_name_has(a, "polic prob legal visit")))
        return false;
    if (!c->request->swaps_colours || role_wanted(a) == role)
        return true;
    if (role == ROLE_POLICY)
        return a->h->dtype.kind == DTYPE_FLOAT && role_of_actions(a) == role;
    if (role == ROLE_PACKED)
        return are_only_planes(a);
    if (!role_find_range(a, UINT64_MAX, &low, &high))
        return false;
    if (role == ROLE_GRID)
        return (low >= 0 && high == 2) || (low == -1 && high <= 1);
    return low >= 0 && high <= 1 && are_only_planes(a);
}

const char *role_action_of_cells(const struct board *board)
{
    const struct action_layout *cells = action_layout_by_length(board, board->n_cells);

    return cells == NULL                       ? NULL
           : strcmp(cells->name, "cells") == 0 ? "action:layout=cells"
                                               : "action:layout=cells-box";
}

const char *role_suggest(const struct role_case *a)
{
    /* Floating numbers, as many as a policy has, are a policy; other numbers are a grid first. */
    static const enum role orders[2][6] = {
        {ROLE_GRID, ROLE_POLICY, ROLE_PLANES, ROLE_PACKED, ROLE_ACTION, ROLE_COORD},
        {ROLE_POLICY, ROLE_GRID, ROLE_PLANES, ROLE_PACKED, ROLE_META, ROLE_META},
    };
    const enum role *roles = orders[a->h->dtype.kind == DTYPE_FLOAT];
    const struct role_request *request = a->c->request;
    const struct role_context *c = a->c;
    struct role_case of_its_own = *a;
    double low, high;

    if (a->array->n_rows != c->n_rows || a->h->n_dims == 0)
        return role_is_spatial(&of_its_own, 0) ||
                       (a->h->n_dims == 1 && a->array->n_rows > c->n_rows &&
                        dtype_is_number(&a->h->dtype))
                   ? "drop"
                   : "meta";
    if (a->array->objects != NULL) /* only sparse policies move objects */
        return request->swaps_colours ? "ROLE"
               : role_name_has(a, role_words_of_cells) || role_first_list(a) < UINT64_MAX ||
                       (role_kinds[role_wanted(a)].flags & ROLE_MOVES)
                   ? "drop"
                   : "copy";
    if (role_name_has(a, "^n_ ^num_ ^total_"))
        return a->h->n_dims == 1 ? "copy" : "ROLE";
    if (request->is_strict && !a->named.is_known && role_are_lists(a, false))
        return is_likely(a, ROLE_ACTION) ? role_name(ROLE_ACTION) : "ROLE";
    for (size_t k = 0; k < 6 && roles[k] != ROLE_META; k++) {
        if (!could_be(a, roles[k]))
            continue;
        if (!is_likely(a, roles[k]))
            return "ROLE";
        if (roles[k] == ROLE_POLICY)
            return role_name(role_of_actions(a));
        /* Moves that are all below the number of cells name cells where the policy has many more
         * actions, or not as many. */
        const uint64_t end = end_of_moves(a), n_cells = c->board->n_cells;
        const char *of_cells = role_action_of_cells(c->board);
        if (roles[k] == ROLE_ACTION && request->is_strict && a->array->n_rows >= 3 &&
            ((end > 4 * n_cells && end < UINT32_MAX) || (end > 0 && end < n_cells)) &&
            of_cells != NULL && role_find_range(a, UINT64_MAX, &low, &high) &&
            high < (double)n_cells && (end > n_cells || high > (double)end))
            return of_cells;
        const char *order = roles[k] == ROLE_COORD && request->is_strict
                                ? role_suggest_coord(a)
                                : role_order_of(a, roles[k]);
        return order != NULL ? order : role_name(roles[k]);
    }
    /* Coordinates stay within the sides of the board; indices and counts exceed them. */
    if (dtype_is_integer(&a->h->dtype) && a->h->n_dims == 3 && a->h->shape[2] == 2 &&
        c->board->rows > 0 && role_find_range(a, UINT64_MAX, &low, &high)) {
        const char *coord = high > 1 ? role_suggest_coord(a) : NULL;

        if (coord != NULL)
            return coord;
        if (low == 0 && high >= c->board->rows && high >= c->board->cols &&
            (pairs_may_be(a) & ROLE_PAIRS))
            return "action:pairs";
    }
    /* One number for each row is no policy, whatever its name. */
    return a->h->n_dims == 1 && !dtype_is_integer(&a->h->dtype) && !request->swaps_colours &&
                   (role_kinds[role_wanted(a)].flags & ROLE_HAS_LAYOUT) &&
                   role_wanted(a) != ROLE_ACTION
               ? "copy"
               : "ROLE";
}

const char *role_suggest_label(struct role_case *a)
{
    static const struct {
        double low, high;
        const char *flags;
    } codings[] = {[TO_MOVE_01] = {0, 1, ""},
                   [TO_MOVE_12] = {1, 2, " --to-move 12"},
                   [TO_MOVE_PM1] = {-1, 1, " --to-move pm1"}};
    const struct conventions *conventions = a->c->request->conventions;
    const struct npy_header *h = a->h;
    /* Numbers about a label come first; a return is no turn. */
    const char *role =
        role_name_has(a, "weight mask std var valid turn_n turn_id turn_count turns_ _turns") ? NULL
        : role_name_has(a, "return")                                       ? "value"
        : role_name_has(a, "winner")                                       ? "to-move:winner"
        : role_name_has(a, "side player turn colo stm mover")              ? "to-move"
        : role_name_has(a, "value reward target label win result outcome") ? "value"
                                                                           : NULL;
    double low, high;

    if ((h->n_dims != 1 && (h->n_dims != 2 || h->shape[1] != 1)) || role == NULL ||
        !role_find_range(a, UINT64_MAX, &low, &high))
        return NULL;
    if (strcmp(role, "value") != 0) {
        enum to_move_coding coding = low == -1               ? TO_MOVE_PM1
                                     : low == 1 && high == 2 ? TO_MOVE_12
                                                             : TO_MOVE_01;
        if (conventions->to_move_said)
            coding = conventions->to_move;
        else if (coding != TO_MOVE_01 && has_role(a->c, ROLE_TO_MOVE))
            return NULL;
        if (low < codings[coding].low || high > codings[coding].high)
            return NULL;
        if (!conventions->to_move_said)
            a->flags = codings[coding].flags;
        return role;
    }
    if (low < -1 || high > 1)
        return NULL;
    if (low >= 0)
        return speak_of(a, 0.5, false) ? NULL : role;
    if (conventions->value_said)
        return conventions->value == VALUE_COLOUR11 ? role : NULL;
    if (has_role(a->c, ROLE_VALUE) || !speak_of(a, 0, true))
        return NULL;
    a->flags = " --value colour11";
    return role;
}
