/*
 * stones.c - what a row shows: the pieces, from planes as the board's family stores them; who is to
 * move, labels in words, the cells that actions point to; and the policy: its share on each cell
 * and on no cell, and its largest entries in words.
 *
 * Dense and sparse policies are read as the same kind of entries; weights that are negative or NaN
 * count as 0. Where a policy names columns, its cells are those where a piece would come to rest.
 */
#include "show/parts.h"

#include "engine/turn.h"

#include <math.h>

/* RingRift's planes, mine and theirs each: heights of stacks as fractions of 5, markers, territory.
 */
#define RINGS_MAX_HEIGHT 5

#define KATAGO_KOMI 5 /* global input: komi for the player to move, above 0 for white */

/* --- planes --- */

/* The numbers of an array of planes, or of a grid, by cell, whatever its layout and type. */
struct planes {
    uint32_t n_cells; /* of the box */
    uint64_t n;
    double *numbers; /* owned: plane p of cell c is numbers[p * n_cells + c] */
};

int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i)
{
    int64_t cell = (int64_t)i;

    for (uint32_t k = 0; binding->takeiteasy_grid && k <= board->n_cells; k++)
        if (k == board->n_cells || board->family->grid_cells[k] == i)
            return k < board->n_cells ? (int64_t)k : -1;
    if (binding->layout != NULL)
        cell = i < binding->layout->length(binding->layout, board)
                   ? action_cell(binding->layout, board, i)
                   : -1;
    else if (binding->plane_xy) /* column by column */
        cell = (int64_t)(i % board->rows * board->cols + i / board->rows);
    if (cell < 0 || cell >= board->n_cells)
        return -1;
    return (int64_t)action_flip_cell(board, binding->flip, (uint64_t)cell);
}

/* Read the numbers of array i (planes, packed planes or a grid). The caller frees them, also on
 * failure. */
static int planes_read(struct planes *planes, const struct fields *fields, size_t i,
                       struct error *err)
{
    const struct board *board = fields->plan->board;
    const struct role_binding *binding = &fields->plan->arrays[i].binding;
    const struct field *field = &fields->items[i];
    const struct planes_form form = planes_form_of(binding, &field->dtype);

    *planes = (struct planes){.n_cells = board->n_cells, .n = form.n_planes};
    if (new_items(&planes->numbers, planes->n * planes->n_cells + 1, "planes", err) != 0)
        return -1;
    if (field->n == 0 || (!form.is_bits && !dtype_is_number(&field->dtype)))
        return 0;
    for (uint64_t at = 0; at < form.axis; at++) {
        const int64_t cell = planes_cell_of(board, binding, at);

        for (uint64_t p = 0; cell >= 0 && p < form.n_planes; p++)
            planes->numbers[p * planes->n_cells + (uint64_t)cell] =
                planes_number(&form, field->bytes.data, p, at);
    }
    return 0;
}

static double planes_at(const struct planes *planes, uint64_t plane, uint32_t cell)
{
    return plane < planes->n ? planes->numbers[plane * planes->n_cells + cell] : 0;
}

/* The first array of that role that has elements, or -1. */
static int fields_find(const struct fields *fields, enum role role)
{
    for (size_t i = 0; i < fields->plan->n_arrays; i++) {
        const struct role_binding *binding = &fields->plan->arrays[i].binding;

        if (binding->role == role && !binding->is_winner && fields->items[i].n > 0)
            return (int)i;
    }
    return -1;
}

static const struct plan_array *find_planes(const struct plan *plan, size_t *i)
{
    static const enum role roles[] = {ROLE_PACKED, ROLE_PLANES, ROLE_GRID};

    for (size_t k = 0; k < 3; k++)
        for (*i = 0; *i < plan->n_arrays; ++*i)
            if (plan->arrays[*i].binding.role == roles[k] && !plan->arrays[*i].is_object)
                return &plan->arrays[*i];
    return NULL;
}

/* Who is to move, by a label or, in Hex, by a plane; SIDE_NONE when the row does not say. */
static enum picture_side side_to_move(const struct fields *fields)
{
    static const double first[] = {[TO_MOVE_01] = 0, [TO_MOVE_12] = 1, [TO_MOVE_PM1] = 1};
    const struct plan *plan = fields->plan;
    const bool is_known = plan->board->family->only_known_members;
    const int label = fields_find(fields, is_known ? ROLE_GLOBALS : ROLE_TO_MOVE);
    struct planes planes;
    enum picture_side side = SIDE_NONE;
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);

    if (!board_swaps_colours(plan->board))
        return SIDE_NONE;
    if (label >= 0 && dtype_is_number(&fields->items[label].dtype))
        return field_number(&fields->items[label], 0) == first[plan->conventions.to_move]
                   ? SIDE_FIRST
                   : SIDE_SECOND;
    if (!plan->board->family->joins_edges || array == NULL || array->binding.role != ROLE_PLANES ||
        planes_count(&array->binding) != 3 || plan->conventions.planes > PLANES_MOVER)
        return SIDE_NONE;
    if (planes_read(&planes, fields, i, NULL) == 0)
        side = planes_at(&planes, 2, 0) == 0 ? SIDE_FIRST : SIDE_SECOND;
    free(planes.numbers);
    return side;
}

static void put(struct picture *picture, uint32_t cell, bool first, bool second)
{
    struct picture_cell *to = &picture->cells[cell];

    if (!first && !second)
        return;
    to->piece = PICTURE_STONE;
    to->side = first && second ? SIDE_BOTH : first ? SIDE_FIRST : SIDE_SECOND;
}

/* Read stones from n planes of each side, which begin at sides[]; n 0: from the signs of plane 0.
 */
static void read_sides(const struct planes *planes, const uint64_t sides[2], uint64_t n,
                       struct picture *picture)
{
    for (uint32_t cell = 0; cell < planes->n_cells; cell++) {
        const double sign = n > 0 ? 0 : planes_at(planes, 0, cell);
        bool first = sign > 0, second = sign < 0;

        for (uint64_t p = 0; p < n; p++) {
            first |= planes_at(planes, sides[0] + p, cell) != 0;
            second |= planes_at(planes, sides[1] + p, cell) != 0;
        }
        put(picture, cell, first, second);
    }
}

/* Rows made by `sample` have 1 in the first planes, and the height two planes later. */
static void read_stacks(const struct planes *planes, struct picture *picture)
{
    static const enum picture_piece pieces[] = {PICTURE_STONE, PICTURE_MARKER, PICTURE_TERRITORY};
    bool owners = false;

    for (uint32_t cell = 0; cell < planes->n_cells; cell++)
        owners |= (planes_at(planes, 0, cell) != 0 && planes_at(planes, 2, cell) != 0) ||
                  (planes_at(planes, 1, cell) != 0 && planes_at(planes, 3, cell) != 0);
    for (uint32_t cell = 0; cell < planes->n_cells; cell++) {
        struct picture_cell *to = &picture->cells[cell];

        for (uint64_t kind = 0; kind < (owners ? 1 : 3) && to->piece == PICTURE_EMPTY; kind++) {
            const double mine = planes_at(planes, 2 * kind, cell);
            const uint64_t height = (mine != 0 ? 0U : 1U) + (owners ? 2U : 0U);

            put(picture, cell, mine != 0, planes_at(planes, 2 * kind + 1, cell) != 0);
            if (to->piece == PICTURE_EMPTY)
                continue;
            to->piece = pieces[kind];
            if (kind == 0)
                to->number = (int32_t)lround(planes_at(planes, height, cell) * RINGS_MAX_HEIGHT);
        }
    }
}

static bool are_stacks(const struct board *board, uint64_t n_planes)
{
    const uint32_t *known = board->family->stack_planes;

    return n_planes > 0 && (n_planes == known[0] || n_planes == known[1]);
}

bool stones_are_stacks(const struct plan *plan)
{
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);

    return array != NULL && array->binding.role == ROLE_PLANES &&
           are_stacks(plan->board, planes_count(&array->binding));
}

int stones_read(const struct fields *fields, struct picture *picture, struct error *err)
{
    const struct plan *plan = fields->plan;
    const struct board_family *family = plan->board->family;
    uint64_t sides[2] = {0, 1};
    struct planes planes;
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);

    if (array == NULL || fields->items[i].n == 0)
        return 0;
    if (planes_read(&planes, fields, i, err) != 0)
        return -1;
    if (array->binding.role == ROLE_GRID) {
        /* Codes 1 and 2, or 1 and -1, are stones; tiles have three digits; others are numbers. */
        for (uint32_t cell = 0; cell < planes.n_cells; cell++) {
            const double code = planes_at(&planes, 0, cell);
            const bool is_stone = code == 1 || code == 2 || code == -1;

            if (!family->has_tiles && is_stone) {
                put(picture, cell, code == 1, code != 1);
            } else if (fabs(code) < 1e9 && code != 0) {
                picture->cells[cell].piece =
                    family->has_tiles && code > 0 && code < 1000 ? PICTURE_TILE : PICTURE_NUMBER;
                picture->cells[cell].number = (int32_t)code;
            }
        }
    } else if (family->packed_stones > 0 && array->binding.role == ROLE_PACKED) {
        sides[0] = family->packed_stones; /* other planes come first */
        sides[1] = family->packed_stones + 1;
        read_sides(&planes, sides, 1, picture);
    } else if (family->men != NULL && planes.n >= 2 * strlen(family->men)) {
        const size_t n = strlen(family->men);

        for (size_t p = 0; p < 2 * n; p++)
            for (uint32_t cell = 0; cell < planes.n_cells; cell++)
                if (planes_at(&planes, p, cell) != 0) {
                    picture->cells[cell].piece = PICTURE_MAN;
                    picture->cells[cell].side = p < n ? SIDE_FIRST : SIDE_SECOND;
                    picture->cells[cell].man = family->men[p % n];
                }
    } else if (are_stacks(plan->board, planes.n)) {
        read_stacks(&planes, picture);
    } else if (family->joins_edges && plan->conventions.planes == PLANES_OPENSPIEL &&
               planes.n == 9) { /* white, empty cells, black, who joins top and bottom */
        sides[0] = 5;
        sides[1] = 0;
        read_sides(&planes, sides, 4, picture);
    } else {
        /* Planes of mine and theirs become colours by the player to move. */
        const bool is_mover =
            board_swaps_colours(plan->board) && plan->conventions.planes == PLANES_MOVER;

        sides[0] = is_mover && side_to_move(fields) == SIDE_SECOND;
        sides[1] = 1 - sides[0];
        read_sides(&planes, sides, is_mover || planes.n > 1, picture);
    }
    free(planes.numbers);
    return 0;
}

enum stones_style stones_style_of(const struct plan *plan)
{
    if (plan->board->family->packed_stones > 0 || stones_are_stacks(plan))
        return STONES_OWN_THEIRS;
    if (board_swaps_colours(plan->board))
        return STONES_BLUE_RED;
    if (plan->board->family->men != NULL)
        return STONES_CHESS;
    return STONES_FIRST_PLANES;
}

/* --- labels --- */

#define MAX_NUMBERS 4 /* of a label that are shown */

const char *labels_side_name(const struct plan *plan, enum picture_side side)
{
    static const char *const names[][2] = {
        [STONES_BLUE_RED] = {"blue", "red"},
        [STONES_OWN_THEIRS] = {"own", "theirs"},
        [STONES_FIRST_PLANES] = {"plane 0", "plane 1"},
        [STONES_CHESS] = {"own", "theirs"},
    };

    return side < 2            ? names[stones_style_of(plan)][side]
           : side == SIDE_BOTH ? "both colours, which is impossible"
                               : "nobody";
}

int64_t labels_cell_of(const struct fields *fields, size_t i)
{
    const struct board *board = fields->plan->board;
    const struct role_binding *binding = &fields->plan->arrays[i].binding;
    const struct field *field = &fields->items[i];

    if (field->n == 0 || !dtype_is_integer(&field->dtype))
        return -1;
    const int64_t action = field_integer(field, 0);

    if (binding->role == ROLE_ACTION && action >= 0)
        return planes_cell_of(board, binding, (uint64_t)action);
    if (binding->role != ROLE_COORD || field->n < 2)
        return -1;
    const int64_t row = field_integer(field, binding->col_first ? 1 : 0);
    const int64_t col = field_integer(field, binding->col_first ? 0 : 1);

    return row < 0 || col < 0 || row >= board->rows || col >= board->cols ? -1
                                                                          : row * board->cols + col;
}

int labels_read(const struct fields *fields, struct picture *picture, struct error *err)
{
    const struct plan *plan = fields->plan;
    const bool is_katago = plan->board->family->only_known_members;
    const enum picture_side to_move = side_to_move(fields);
    const size_t before = picture->caption.n_bytes;
    struct pen line = {.out = &picture->caption, .err = err};

    for (size_t i = 0; i < plan->n_arrays; i++) {
        const enum role role = plan->arrays[i].binding.role;
        const char *key = plan->arrays[i].key;
        const struct field *field = &fields->items[i];
        const int64_t cell = labels_cell_of(fields, i);

        if (cell >= 0)
            picture->cells[cell].is_marked = true;
        /* KataGo's shards: in Go the komi tells who is to move; three targets tell who won. */
        if (plan->board->game == BOARD_GAME_KATAGO && strcmp(key, "globalInputNC") == 0 &&
            field->n > KATAGO_KOMI)
            pen_put(&line, "%s to move, ",
                    field_number(field, KATAGO_KOMI) > 0 ? "white" : "black");
        else if (is_katago && strcmp(key, "globalTargetsNC") == 0 && field->n > 2)
            pen_put(&line, "win %.3g, loss %.3g, no result %.3g", field_number(field, 0),
                    field_number(field, 1), field_number(field, 2));
        if (field->n == 0 || !dtype_is_number(&field->dtype) ||
            (role != ROLE_VALUE && role != ROLE_WDL && role != ROLE_TILE &&
             (role != ROLE_TO_MOVE || board_swaps_colours(plan->board)))) /* in words below */
            continue;
        pen_put(&line, "%s%s", picture->caption.n_bytes > before ? ", " : "",
                text_path(plan->arrays[i].key).text);
        for (uint64_t k = 0; k < field->n && k < MAX_NUMBERS; k++)
            pen_put(&line, " %.3g", field_number(field, k));
        pen_put(&line, "%s", field->n > MAX_NUMBERS ? " ..." : "");
    }
    if (to_move != SIDE_NONE)
        pen_put(&line, "%s%s to move", picture->caption.n_bytes > before ? ", " : "",
                !is_katago              ? labels_side_name(plan, to_move)
                : to_move == SIDE_FIRST ? "black"
                                        : "white");
    if (picture->caption.n_bytes > before)
        pen_put(&line, "\n");
    return line.failed ? -1 : 0;
}

/* --- the policy --- */

#define N_TOP 3

struct text_quoted heat_share_text(double share)
{
    return text_format(share > 0 && share < 0.0995 ? "%.1f%%" : "%.0f%%", 100 * share);
}

/* An entry of a policy, dense or sparse. */
struct entry {
    uint64_t action;
    uint64_t origin; /* the same action in the source */
    double weight;
};

/* The largest ones. */
struct top {
    struct entry items[N_TOP + 1];
    size_t n;
};

/* The dense policy, if there are several one named like a policy; else a sparse one; or -1. */
static int find_policy(const struct fields *fields)
{
    const struct plan *plan = fields->plan;
    int i = fields_find(fields, ROLE_POLICY);

    for (size_t k = plan->n_arrays; k-- > 0;) {
        const char *key = plan->arrays[k].key;

        if (plan->arrays[k].binding.role == ROLE_POLICY && fields->items[k].n > 0 &&
            (strncasecmp(key, "pol", 3) == 0 || strncasecmp(key, "pi", 2) == 0 ||
             strncasecmp(key, "prob", 4) == 0))
            i = (int)k;
    }
    if (i < 0)
        i = fields_find(fields, ROLE_POLICY_INDEX);
    return i >= 0 && plan->arrays[i].binding.layout != NULL &&
                   dtype_is_number(&fields->items[i].dtype)
               ? i
               : -1;
}

/* Entry k of policy i in the image under that transform. Negative weights (logits) and NaN count as
 * 0; in a list without weights each index counts as 1. */
static struct entry get(const struct fields *fields, int i, uint32_t transform, uint64_t k)
{
    const struct action_space *space = fields->plan->arrays[i].spec.space;
    const struct role_binding *binding = &fields->plan->arrays[i].binding;
    const bool is_dense = binding->role == ROLE_POLICY;
    const int from = is_dense ? i : binding->value_array;
    const int64_t index = is_dense ? (int64_t)k : field_integer(&fields->items[i], k);
    struct entry entry = {(uint64_t)index, k, 1};

    if (from >= 0)
        entry.weight = k < fields->items[from].n ? field_number(&fields->items[from], k) : 0;
    if (!(entry.weight > 0) || entry.weight > 1e300 || index < 0)
        entry.weight = 0;
    else if (space != NULL && entry.action < space->length)
        entry.origin = space->src[transform * space->length + entry.action];
    return entry;
}

/* The cell that an action is about. A piece that is dropped into a column comes to rest on the last
 * row, or on the first, if the pieces on the board hang from there. */
static int64_t cell_of(const struct board *board, const struct role_binding *binding,
                       const struct picture *picture, uint64_t action)
{
    const uint32_t cols = board->cols;
    bool hangs = false;

    if (strcmp(binding->layout->name, "columns") != 0 || action >= cols)
        return planes_cell_of(board, binding, action);
    for (uint32_t c = 0; c < cols; c++)
        hangs |= picture->cells[c].piece != PICTURE_EMPTY &&
                 picture->cells[(board->rows - 1) * cols + c].piece == PICTURE_EMPTY;
    for (uint32_t row = 0; row < board->rows; row++) {
        const uint64_t at = (hangs ? row : board->rows - 1 - row) * cols + action;

        if (picture->cells[at].piece == PICTURE_EMPTY)
            return (int64_t)at;
    }
    return (int64_t)action;
}

/* Of equal weights those first in the source lead, so that every image shows the same entries. */
static void keep_top(struct top *top, struct entry entry)
{
    size_t i = top->n;

    if (entry.weight <= 0)
        return;
    for (; i > 0; i--) {
        const struct entry *other = &top->items[i - 1];
        const bool is_equal = fabs(entry.weight - other->weight) <= 1e-9 * other->weight;

        if (is_equal ? entry.origin >= other->origin : entry.weight <= other->weight)
            break;
    }
    if (i == N_TOP)
        return;
    if (top->n < N_TOP)
        top->n++;
    memmove(top->items + i + 1, top->items + i, (top->n - 1 - i) * sizeof *top->items);
    top->items[i] = entry;
}

int heat_read(const struct fields *fields, struct picture *picture, struct error *err)
{
    static const char play_at[] = "play at ";
    const struct board *board = fields->plan->board;
    const int i = find_policy(fields);
    const uint32_t transform = picture->transform, *src = board->transforms[transform].src;
    struct pen out = {.out = &picture->caption, .err = err};
    struct top top = {.n = 0}, of_cells = {.n = 0};
    double total = 0, tail = 0; /* of all weights, and of those on no cell */

    if (i < 0)
        return 0;
    const struct role_binding *binding = &fields->plan->arrays[i].binding;
    const struct action_layout *layout = binding->layout;
    const bool has_pass = strstr(layout->name, "+pass") != NULL;
    const bool is_short = strncmp(layout->name, "cells", 5) == 0 || board->family->men != NULL ||
                          strcmp(layout->name, "columns") == 0;
    /* Of a dense policy's channels only the first. */
    const uint64_t n = binding->role == ROLE_POLICY
                           ? smaller(fields->items[i].n, binding->n_actions)
                           : fields->items[i].n;

    for (uint64_t k = 0; k < n; k++)
        total += get(fields, i, transform, k).weight;
    for (uint64_t k = 0; k < n && total > 0; k++) {
        const struct entry entry = get(fields, i, transform, k);

        if (entry.weight == 0)
            continue;
        const int64_t cell = cell_of(board, binding, picture, entry.action);

        keep_top(&top, entry);
        if (cell >= 0)
            picture->cells[cell].share += entry.weight / total;
        else
            tail += entry.weight;
    }
    /* The largest entries in words, short ones on one line, and what lies on no cell. */
    if (total == 0)
        pen_put(&out, "policy all zero\n");
    for (size_t k = 0; k < top.n; k++) {
        char what[ACTION_TEXT_NBYTES] = "an unused entry";
        uint64_t action = top.items[k].action;

        if (action < board->n_cells) /* the move, not the place of its entry */
            action = action_flip_cell(board, binding->flip, action);
        if (action < layout->length(layout, board))
            layout->about(layout, board, action, what);
        pen_put(&out, "%s %s%s",
                what + (strncmp(what, play_at, sizeof play_at - 1) == 0 ? sizeof play_at - 1 : 0),
                heat_share_text(top.items[k].weight / total).text,
                is_short && k + 1 < top.n ? ", " : "\n");
    }
    if (total > 0 && (has_pass || tail != 0))
        pen_put(&out, "%s %s\n", has_pass ? "pass" : "on no cell",
                heat_share_text(tail / total).text);
    for (uint32_t c = 0; c < board->n_cells; c++)
        keep_top(&of_cells, (struct entry){c, src[c], picture->cells[c].share});
    for (size_t k = 0; k < of_cells.n; k++)
        picture->cells[of_cells.items[k].action].is_top = true;
    return out.failed ? -1 : 0;
}
