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

/* RingRift's planes, mine and theirs each: heights of stacks as fractions of 5, markers, territory.
 */
#define RINGS_MAX_HEIGHT 5

#define KATAGO_KOMI 5 /* global input: komi for the player to move, above 0 for white */

/* --- planes --- */

/* An array of planes (the first frame of a history), or a grid, of a row at one place of their
 * axis, whatever its layout. */
struct planes {
    struct planes_form form;
    uint64_t n_each; /* as planes_of_players returns */
    const uint8_t *row;
    uint64_t at;
};

int64_t planes_cell_of(const struct board *board, const struct role_binding *binding, uint64_t i)
{
    int64_t cell = (int64_t)i;

    for (uint32_t k = 0; binding->takeiteasy_grid && k <= board->n_cells; k++)
        if (k == board->n_cells || board->family->grid_cells[k] == i)
            return k < board->n_cells ? (int64_t)k : -1;
    if (binding->layout != NULL)
        cell = action_cell(binding->layout, board,
                           action_of_entry(board, binding->flip, binding->n_actions, i));
    else if (binding->plane_xy) /* column by column */
        cell = (int64_t)(i % board->rows * board->cols + i / board->rows);
    return cell < board->n_cells ? cell : -1;
}

/* The number in plane p; 0 if there is no such plane. NaN and infinity are nothing that could be
 * drawn. */
static double planes_at(const struct planes *planes, uint64_t p)
{
    const double number =
        p < planes->form.n_planes ? planes_number(&planes->form, planes->row, p, planes->at) : 0;

    return isfinite(number) ? number : 0;
}

uint64_t planes_of_players(const struct board *board, const struct conventions *conventions,
                           struct planes_form *form)
{
    const struct board_family *family = board->family;
    const uint64_t n_men = family->men != NULL ? strlen(family->men) : 0;
    const bool swaps = board_swaps_colours(board);
    uint64_t *stones = form->stones;

    planes_decide(form, conventions, swaps && board->n_planes == 0);
    form->is_mover &= swaps;
    if (form->is_bits && family->packed_stones > 0) {
        stones[0] = family->packed_stones; /* other planes come first */
        stones[1] = family->packed_stones + 1;
        return 1;
    }
    if (n_men > 0 && form->n_planes >= 2 * n_men) {
        stones[1] = n_men;
        return n_men;
    }
    if (family->joins_edges && form->n_planes == 9 &&
        (conventions->planes == PLANES_OPENSPIEL || conventions->planes == PLANES_COLOUR)) {
        stones[0] = 5; /* white, empty cells, black, who joins top and bottom */
        stones[1] = 0;
        return 4;
    }
    return form->n_planes > 1 && stones[0] != stones[1] ? 1 : 0;
}

/* The first array of that role that has elements, or -1. */
static int fields_find(const struct fields *fields, enum role role)
{
    for (size_t i = 0; i < fields->plan->n_arrays; i++) {
        const struct role_binding *binding = &fields->plan->arrays[i].binding;

        if (binding->role == role && !(binding->options & ROLE_WINNER) && fields->items[i].n > 0)
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

/* The same in a row, at its first cell; NULL also if it holds no numbers. */
static const struct plan_array *open_planes(struct planes *planes, const struct fields *fields)
{
    const struct plan *plan = fields->plan;
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);

    if (array == NULL || fields->items[i].n == 0)
        return NULL;
    *planes = (struct planes){.form = planes_frame_of(&array->binding, &fields->items[i].dtype),
                              .row = fields->items[i].bytes.data};
    planes->n_each = planes_of_players(plan->board, &plan->conventions, &planes->form);
    return planes->form.is_bits || dtype_is_number(planes->form.dtype) ? array : NULL;
}

/* Who is to move, by a label or else by a plane; SIDE_NONE when the row does not say. */
static enum picture_side side_to_move(const struct fields *fields)
{
    const struct plan *plan = fields->plan;
    const struct conventions *c = &plan->conventions;
    const bool is_known = plan->board->family->only_known_members;
    const enum role role = is_known ? ROLE_GLOBALS : ROLE_TO_MOVE;
    const int label = fields_find(fields, role);
    struct planes planes;
    int player = -1;

    if (!board_swaps_colours(plan->board))
        return SIDE_NONE;
    if (label >= 0 && dtype_is_number(&fields->items[label].dtype))
        player = turn_player(role_coding(role, c), field_number(&fields->items[label], 0));
    else if (open_planes(&planes, fields) != NULL)
        player = turn_by_plane(&planes.form, planes.row);
    return (enum picture_side)(player + 1);
}

static void put(struct picture_cell *to, bool first, bool second)
{
    if (!first && !second)
        return;
    to->piece = PICTURE_STONE;
    to->side = (first ? SIDE_FIRST : SIDE_NONE) | (second ? SIDE_SECOND : SIDE_NONE);
}

/* Codes 1 and 2, or 1 and -1, are stones; tiles have three digits; others are numbers. */
static void put_code(double code, bool is_swapped, bool has_tiles, struct picture_cell *to)
{
    if (!has_tiles && (code == 1 || code == 2 || code == -1)) {
        put(to, (code == 1) != is_swapped, (code == 1) == is_swapped);
    } else if (fabs(code) < 1e9 && code != 0) {
        to->piece = has_tiles && code > 0 && code < 1000 ? PICTURE_TILE : PICTURE_NUMBER;
        to->number = (int32_t)code;
    }
}

/* True for rows made by `sample`: they have 1 in the first planes, and the height two planes later.
 */
static bool planes_are_owners(struct planes *planes)
{
    bool owners = false;

    for (planes->at = 0; planes->at < planes->form.axis && !owners; planes->at++)
        for (uint64_t side = 0; side < 2; side++)
            owners |= planes_at(planes, side) != 0 && planes_at(planes, side + 2) != 0;
    return owners;
}

static void put_stack(const struct planes *planes, bool owners, struct picture_cell *to)
{
    static const enum picture_piece pieces[] = {PICTURE_STONE, PICTURE_MARKER, PICTURE_TERRITORY};

    for (uint64_t kind = 0; kind < (owners ? 1 : 3) && to->piece == PICTURE_EMPTY; kind++) {
        const double mine = planes_at(planes, 2 * kind);
        const uint64_t height = (mine != 0 ? 0U : 1U) + (owners ? 2U : 0U);

        put(to, mine != 0, planes_at(planes, 2 * kind + 1) != 0);
        if (to->piece == PICTURE_EMPTY)
            continue;
        to->piece = pieces[kind];
        if (kind == 0)
            to->number = (int32_t)lround(planes_at(planes, height) * RINGS_MAX_HEIGHT);
    }
}

/* Planes of mine and theirs become colours by the player to move: is_swapped. The letters of men,
 * if any, are those of the planes. */
static void put_stones(const struct planes *planes, bool is_swapped, const char *men,
                       struct picture_cell *to)
{
    const uint64_t *stones = planes->form.stones;
    const double sign = planes->n_each > 0 ? 0 : planes_at(planes, stones[0]);
    bool has[2] = {sign > 0, sign < 0};

    for (int side = 0; side < 2; side++)
        for (uint64_t p = 0; p < planes->n_each; p++)
            if (planes_at(planes, stones[side] + p) != 0) {
                has[side] = true;
                has[!side] &= men == NULL;
                to->man = men != NULL ? men[p] : '\0';
            }
    put(to, has[is_swapped], has[!is_swapped]);
    if (to->man != '\0')
        to->piece = PICTURE_MAN;
}

bool stones_are_stacks(const struct plan *plan)
{
    const uint32_t *known = plan->board->family->stack_planes;
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);
    const uint64_t n = array != NULL ? planes_form_of(&array->binding, NULL).n_planes : 0;

    return n > 0 && array->binding.role == ROLE_PLANES && (n == known[0] || n == known[1]);
}

void stones_read(const struct fields *fields, struct picture *picture)
{
    const struct plan *plan = fields->plan;
    const struct board *board = plan->board;
    const struct board_family *family = board->family;
    struct planes planes;
    const struct plan_array *array = open_planes(&planes, fields);

    if (array == NULL)
        return;
    /* Stones of mine and theirs become colours by the player to move. */
    const bool is_swapped = planes.form.is_mover && side_to_move(fields) == SIDE_SECOND;
    const bool is_stacks = stones_are_stacks(plan);
    const bool owners = is_stacks && planes_are_owners(&planes);
    const char *men = planes.n_each > 1 ? family->men : NULL;

    for (planes.at = 0; planes.at < planes.form.axis; planes.at++) {
        const int64_t cell = planes_cell_of(board, &array->binding, planes.at);

        if (cell < 0)
            continue;
        if (array->binding.role == ROLE_GRID)
            put_code(planes_at(&planes, 0), is_swapped, family->has_tiles, &picture->cells[cell]);
        else if (is_stacks)
            put_stack(&planes, owners, &picture->cells[cell]);
        else
            put_stones(&planes, is_swapped, men, &picture->cells[cell]);
    }
}

#define IMPOSSIBLE "both colours, which is impossible"

const struct sides *sides_of(const struct plan *plan)
{
    static const struct ink dark = {"#2b2d33", "#111", "#fff"},
                            light = {"#fdfdfb", "#3c3f45", "#222"},
                            blue = {"#2f6fbe", "#1d4a85", "#fff"},
                            red = {"#d1495b", "#8f2536", "#fff"},
                            both = {"#a05fb4", "#5f2f70", "#fff"};
    static const struct sides blue_red = {
        {"nobody", "blue", "red", IMPOSSIBLE}, {&both, &blue, &red, &both}, true};
    static const struct sides own_theirs = {
        {"nobody", "own", "theirs", IMPOSSIBLE}, {&both, &dark, &light, &both}, false};
    static const struct sides planes = {
        {"nobody", "plane 0", "plane 1", IMPOSSIBLE}, {&both, &dark, &light, &both}, false};
    static const struct sides chess = {
        {"nobody", "own", "theirs", IMPOSSIBLE}, {&both, &light, &dark, &both}, false};

    if (plan->board->family->packed_stones > 0 || stones_are_stacks(plan))
        return &own_theirs;
    if (board_swaps_colours(plan->board))
        return &blue_red;
    return plan->board->family->men != NULL ? &chess : &planes;
}

/* --- labels --- */

#define MAX_NUMBERS 4 /* of a label that are shown */

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
    const int64_t row = field_integer(field, binding->options & ROLE_COLROW ? 1 : 0);
    const int64_t col = field_integer(field, binding->options & ROLE_COLROW ? 0 : 1);

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
                !is_katago              ? sides_of(plan)->names[to_move]
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

/* The first dense policy; else a sparse one; or -1. */
static int find_policy(const struct fields *fields)
{
    const struct plan_array *arrays = fields->plan->arrays;
    const int dense = fields_find(fields, ROLE_POLICY);
    const int i = dense >= 0 ? dense : fields_find(fields, ROLE_POLICY_INDEX);

    return i >= 0 && arrays[i].binding.layout != NULL && dtype_is_number(&fields->items[i].dtype)
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
        entry.origin = action_space_src(space, transform)[entry.action];
    return entry;
}

/* The cell that an action is about. A piece that is dropped into a column comes to rest on the last
 * row, or on the first, if the pieces on the board hang from there. */
static int64_t cell_of(const struct board *board, const struct role_binding *binding,
                       const struct picture *picture, uint64_t action)
{
    const uint64_t column = action_of_entry(board, binding->flip, binding->n_actions, action);
    const uint32_t cols = board->cols;
    bool hangs = false;

    if (strcmp(binding->layout->name, "columns") != 0 || column >= cols)
        return planes_cell_of(board, binding, action);
    for (uint32_t c = 0; c < cols; c++)
        hangs |= picture->cells[c].piece != PICTURE_EMPTY &&
                 picture->cells[(board->rows - 1) * cols + c].piece == PICTURE_EMPTY;
    for (uint32_t row = 0; row < board->rows; row++) {
        const uint64_t at = (hangs ? row : board->rows - 1 - row) * cols + column;

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
        /* The move, not the place of its entry. */
        const uint64_t action =
            action_of_entry(board, binding->flip, binding->n_actions, top.items[k].action);

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
