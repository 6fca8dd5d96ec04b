/*
 * stones.c - what a row shows beside its policy: pieces read from planes in the way of the board's
 * family, whose they are and who is to move, labels in words, cells that actions point to.
 */
#include "show/show.h"

#include <math.h>
#include <string.h>

/* RingRift's planes: heights of stacks as parts of 5, markers, territory; mine and theirs each. */
#define RINGS_MAX_HEIGHT 5

#define KATAGO_KOMI \
    5 /* among its global inputs: of the player to move, who is white if it is above 0 */

struct reading {
    const struct plan *plan;
    const struct planes *planes;
    struct picture *picture;
    enum picture_side to_move;
};

static void put(const struct reading *r, uint32_t cell, bool first, bool second)
{
    struct picture_cell *to = &r->picture->cells[cell];

    if (!first && !second)
        return;
    to->piece = PICTURE_STONE;
    to->side = first && second ? SIDE_BOTH : first ? SIDE_FIRST : SIDE_SECOND;
}

/* --- kinds of planes --- */

/* Two planes of stones; one plane: signs. */
static void read_stones(const struct reading *r)
{
    const struct planes *planes = r->planes;

    for (uint32_t cell = 0; cell < planes->n_cells; cell++) {
        const double first = planes_at(planes, 0, cell), second = planes_at(planes, 1, cell);

        put(r, cell, planes->n > 1 ? first != 0 : first > 0,
            planes->n > 1 ? second != 0 : first < 0);
    }
}

/* Mine, theirs: of colours that the player to move decides. */
static void read_mover(const struct reading *r)
{
    const bool exchanged = r->to_move == SIDE_SECOND;

    for (uint32_t cell = 0; cell < r->planes->n_cells; cell++)
        put(r, cell, planes_at(r->planes, exchanged ? 1 : 0, cell) != 0,
            planes_at(r->planes, exchanged ? 0 : 1, cell) != 0);
}

/* OpenSpiel's Hex: four planes of white, one of empty cells, four of black, who joins top and
 * bottom. */
static void read_openspiel(const struct reading *r)
{
    for (uint32_t cell = 0; cell < r->planes->n_cells; cell++) {
        bool white = false, black = false;

        for (uint64_t p = 0; p < 4; p++) {
            white |= planes_at(r->planes, p, cell) != 0;
            black |= planes_at(r->planes, p + 5, cell) != 0;
        }
        put(r, cell, black, white);
    }
}

/* Planes of other things go before the two of stones. */
static void read_packed(const struct reading *r)
{
    const uint32_t mine = r->plan->board->family->packed_stones;

    for (uint32_t cell = 0; cell < r->planes->n_cells; cell++)
        put(r, cell, planes_at(r->planes, mine, cell) != 0,
            planes_at(r->planes, mine + 1, cell) != 0);
}

static void read_men(const struct reading *r)
{
    const char *men = r->plan->board->family->men;
    const uint32_t n = (uint32_t)strlen(men);

    for (uint32_t cell = 0; cell < r->planes->n_cells; cell++) {
        for (uint32_t p = 0; p < 2 * n; p++) {
            if (planes_at(r->planes, p, cell) == 0)
                continue;
            r->picture->cells[cell].piece = PICTURE_MAN;
            r->picture->cells[cell].side = p < n ? SIDE_FIRST : SIDE_SECOND;
            r->picture->cells[cell].man = men[p % n];
        }
    }
}

/* Synthetic rows hold the owner where others have the height, and the height two planes on. */
static bool has_owners(const struct planes *planes)
{
    for (uint32_t cell = 0; cell < planes->n_cells; cell++)
        if ((planes_at(planes, 0, cell) != 0 && planes_at(planes, 2, cell) != 0) ||
            (planes_at(planes, 1, cell) != 0 && planes_at(planes, 3, cell) != 0))
            return true;
    return false;
}

static void read_stacks(const struct reading *r)
{
    static const enum picture_piece pieces[] = {PICTURE_STONE, PICTURE_MARKER, PICTURE_TERRITORY};
    const bool owners = has_owners(r->planes);

    for (uint32_t cell = 0; cell < r->planes->n_cells; cell++) {
        struct picture_cell *to = &r->picture->cells[cell];

        for (uint64_t kind = 0; kind < (owners ? 1 : 3) && to->piece == PICTURE_EMPTY; kind++) {
            const double mine = planes_at(r->planes, 2 * kind, cell);
            const double theirs = planes_at(r->planes, 2 * kind + 1, cell);

            put(r, cell, mine != 0, theirs != 0);
            if (to->piece == PICTURE_EMPTY)
                continue;
            const uint64_t plane = (mine != 0 ? 0U : 1U) + (owners ? 2U : 0U);

            to->piece = pieces[kind];
            if (kind == 0)
                to->number = (int32_t)lround(planes_at(r->planes, plane, cell) * RINGS_MAX_HEIGHT);
        }
    }
}

/* Codes: 1 and 2, or 1 and -1, are stones; tiles have three digits; the rest are numbers. */
static void read_codes(const struct reading *r)
{
    const bool tiles = r->plan->board->family->has_tiles;

    for (uint32_t cell = 0; cell < r->planes->n_cells; cell++) {
        struct picture_cell *to = &r->picture->cells[cell];
        const double code = planes_at(r->planes, 0, cell);

        if (!(fabs(code) < 1e9) || code == 0)
            continue;
        if (!tiles && (code == 1 || code == 2 || code == -1)) {
            put(r, cell, code == 1, code != 1);
            continue;
        }
        to->piece = tiles && code > 0 && code < 1000 ? PICTURE_TILE : PICTURE_NUMBER;
        to->number = (int32_t)code;
    }
}

/* --- which is it? --- */

static const struct plan_array *find_planes(const struct plan *plan, size_t *i)
{
    static const enum role roles[] = {ROLE_PACKED, ROLE_PLANES, ROLE_GRID};

    for (size_t k = 0; k < 3; k++)
        for (*i = 0; *i < plan->n_arrays; ++*i)
            if (plan->arrays[*i].binding.role == roles[k] && !plan->arrays[*i].is_object)
                return &plan->arrays[*i];
    return NULL;
}

static uint64_t n_planes_of(const struct plan_array *array)
{
    const struct role_axes *axes = &array->binding.axes;

    return axes->outer == 1 && axes->inner > 1 ? axes->inner : axes->outer;
}

static bool is_rings(const struct board *board, uint64_t n_planes)
{
    const uint32_t *known = board->family->stack_planes;

    return n_planes > 0 && (n_planes == known[0] || n_planes == known[1]);
}

bool stones_are_stacks(const struct plan *plan)
{
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);

    return array != NULL && array->binding.role == ROLE_PLANES &&
           is_rings(plan->board, n_planes_of(array));
}

typedef void (*read_function)(const struct reading *r);

static read_function choose(const struct plan *plan, const struct plan_array *array)
{
    const struct board *board = plan->board;
    const uint64_t n = n_planes_of(array);

    if (array->binding.role == ROLE_GRID)
        return read_codes;
    if (board->family->packed_stones > 0 && array->binding.role == ROLE_PACKED)
        return read_packed;
    if (board->family->men != NULL && n >= 2 * strlen(board->family->men))
        return read_men;
    if (is_rings(board, n))
        return read_stacks;
    if (board->family->joins_edges && plan->conventions.planes == PLANES_OPENSPIEL && n == 9)
        return read_openspiel;
    if (board_swaps_colours(board) && plan->conventions.planes == PLANES_MOVER)
        return read_mover;
    return read_stones;
}

int stones_read(const struct plan *plan, const struct fields *fields, struct picture *picture,
                struct error *err)
{
    struct planes planes = {0};
    struct reading reading = {plan, &planes, picture, stones_to_move(plan, fields)};
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);

    if (array == NULL || fields->items[i].n == 0)
        return 0;
    if (planes_read(&planes, plan, fields, i, err) != 0)
        return -1;
    choose(plan, array)(&reading);
    planes_release(&planes);
    return 0;
}

/* --- sides --- */

static enum picture_side side_of_code(enum to_move_coding coding, double code)
{
    static const double first[] = {[TO_MOVE_01] = 0, [TO_MOVE_12] = 1, [TO_MOVE_PM1] = 1};

    return code == first[coding] ? SIDE_FIRST : SIDE_SECOND;
}

/* The first cell of the plane of the player to move of Hex. */
static enum picture_side side_of_plane(const struct plan *plan, const struct fields *fields)
{
    struct planes planes = {0};
    enum picture_side side = SIDE_NONE;
    size_t i;
    const struct plan_array *array = find_planes(plan, &i);

    if (array == NULL || array->binding.role != ROLE_PLANES || n_planes_of(array) != 3 ||
        plan->conventions.planes > PLANES_MOVER || planes_read(&planes, plan, fields, i, NULL) != 0)
        return SIDE_NONE;
    side = planes_at(&planes, 2, 0) == 0 ? SIDE_FIRST : SIDE_SECOND;
    planes_release(&planes);
    return side;
}

enum picture_side stones_to_move(const struct plan *plan, const struct fields *fields)
{
    const int i = fields_find(plan, fields, ROLE_TO_MOVE);

    if (!board_swaps_colours(plan->board))
        return SIDE_NONE;
    if (i >= 0 && dtype_is_number(&fields->items[i].dtype))
        return side_of_code(plan->conventions.to_move, field_number(&fields->items[i], 0));
    return plan->board->family->joins_edges ? side_of_plane(plan, fields) : SIDE_NONE;
}

enum stones_style stones_style_of(const struct plan *plan)
{
    if (board_swaps_colours(plan->board))
        return STONES_BLUE_RED;
    if (plan->board->family->men != NULL)
        return STONES_CHESS;
    if (plan->board->family->packed_stones > 0 || stones_are_stacks(plan))
        return STONES_OWN_THEIRS;
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
           : side == SIDE_BOTH ? "both colours, which cannot be"
                               : "nobody";
}

const char *labels_pieces(const struct plan *plan)
{
    return stones_are_stacks(plan) ? "with a number: a stack of so many rings; small: a marker; "
                                     "a whole cell: territory"
                                   : NULL;
}

/* --- cells --- */

static int64_t cell_of_coordinates(const struct plan *plan, const struct role_binding *binding,
                                   const struct field *field)
{
    const uint32_t size = field->dtype.itemsize;

    if (field->n < 2 || plan->board->cols == 0 || !dtype_is_integer(&field->dtype))
        return -1;
    const int64_t a = dtype_get_int(&field->dtype, field->bytes.data);
    const int64_t b = dtype_get_int(&field->dtype, field->bytes.data + size);
    const int64_t row = binding->col_first ? b : a, col = binding->col_first ? a : b;

    if (row < 0 || col < 0 || row >= plan->board->rows || col >= plan->board->cols)
        return -1;
    return row * plan->board->cols + col;
}

int64_t labels_cell_of(const struct plan *plan, size_t i, const struct field *field)
{
    const struct role_binding *binding = &plan->arrays[i].binding;

    if (field->n == 0 || !dtype_is_number(&field->dtype))
        return -1;
    if (binding->role == ROLE_COORD)
        return cell_of_coordinates(plan, binding, field);
    if (binding->role == ROLE_ACTION && dtype_is_integer(&field->dtype)) {
        const int64_t action = dtype_get_int(&field->dtype, field->bytes.data);

        return action >= 0 ? planes_cell_of(plan->board, binding, (uint64_t)action) : -1;
    }
    return -1;
}

/* --- words --- */

static int append_numbers(const struct plan *plan, size_t i, const struct field *field,
                          struct text *line, struct error *err)
{
    const char *gap = line->n_bytes > 0 ? ", " : "";

    if (text_append(line, err, "%s%s", gap, text_path(plan->arrays[i].key).text) != 0)
        return -1;
    for (uint64_t k = 0; k < field->n && k < MAX_NUMBERS; k++)
        if (text_append(line, err, " %.3g", field_number(field, k)) != 0)
            return -1;
    return field->n > MAX_NUMBERS ? text_append(line, err, " ...") : 0;
}

static int append_label(const struct plan *plan, size_t i, const struct field *field,
                        struct text *line, struct error *err)
{
    switch (plan->arrays[i].binding.role) {
    case ROLE_TO_MOVE:
        if (board_swaps_colours(plan->board))
            return 0; /* in words, see below */
        return append_numbers(plan, i, field, line, err);
    case ROLE_VALUE:
    case ROLE_WDL:
    case ROLE_TILE:
        return append_numbers(plan, i, field, line, err);
    default:
        return 0;
    }
}

/* KataGo's shards: the komi that the player to move has tells who that is, and three targets who
 * won. */
static int append_katago(const struct plan *plan, const struct fields *fields, struct text *line,
                         struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays && plan->board->family->only_known_members; i++) {
        const struct field *field = &fields->items[i];
        int status = 0;

        if (strcmp(plan->arrays[i].key, "globalInputNC") == 0 && field->n > KATAGO_KOMI)
            status = text_append(line, err, "%s to move, ",
                                 field_number(field, KATAGO_KOMI) > 0 ? "white" : "black");
        else if (strcmp(plan->arrays[i].key, "globalTargetsNC") == 0 && field->n > 2)
            status =
                text_append(line, err, "win %.3g, loss %.3g, no result %.3g",
                            field_number(field, 0), field_number(field, 1), field_number(field, 2));
        if (status != 0)
            return -1;
    }
    return 0;
}

int labels_read(const struct plan *plan, const struct fields *fields, struct picture *picture,
                struct error *err)
{
    const enum picture_side to_move = stones_to_move(plan, fields);
    struct text line = {0};
    int status = append_katago(plan, fields, &line, err);

    for (size_t i = 0; i < fields->n && status == 0; i++) {
        const struct field *field = &fields->items[i];
        const int64_t cell = labels_cell_of(plan, i, field);

        if (cell >= 0)
            picture->cells[cell].is_marked = true;
        if (field->n > 0 && dtype_is_number(&field->dtype))
            status = append_label(plan, i, field, &line, err);
    }
    if (status == 0 && to_move != SIDE_NONE)
        status = text_append(&line, err, "%s%s to move", line.n_bytes > 0 ? ", " : "",
                             labels_side_name(plan, to_move));
    if (status == 0 && line.n_bytes > 0)
        status = text_append(&picture->caption, err, "%s\n", line.text);
    text_release(&line);
    return status;
}
