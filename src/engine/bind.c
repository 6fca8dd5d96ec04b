/*
 * bind.c - from what an array means to how its rows move: the role picks a kind of move, the board
 * or its action space the maps, the conventions what a swap of colours does (bind_planes.c,
 * bind_labels.c). The result, a row_move with a step for each transform, is all that the kernels
 * know. An array that cannot be moved exactly as declared is refused here, with the flag that would
 * settle it.
 */
#include "engine/bind.h"
#include "engine/survey.h"

#include "base/perm.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* Room for one map of n_entries for each transform. */
static uint32_t *new_maps(const struct plan *plan, uint64_t n_entries, struct error *err)
{
    uint64_t n_bytes;
    uint32_t *maps = NULL;

    if (!__builtin_mul_overflow(plan->board->n_transforms, n_entries * sizeof *maps, &n_bytes))
        maps = malloc(n_bytes + 1);
    if (maps == NULL)
        error_no_memory(err, "maps of an array");
    return maps;
}

/* --- what moves along the axis --- */

/* The transform whose cell map moves planes that are stored [c][x][y]; UINT32_MAX: none does. */
static uint32_t plane_transform(const struct plan *plan, const struct plan_array *array, uint32_t t)
{
    return array->binding.plane_xy ? board_xy_plane_transform(plan->board, t) : t;
}

/* Cells that form no box, in planes that do: places without a cell stay. */
static int bind_grid_of_cells(const struct plan *plan, struct row_move *move, struct error *err)
{
    const struct board *board = plan->board;
    const uint8_t *place = board->family->grid_cells;
    const uint64_t n = move->axis;
    uint32_t *src = new_maps(plan, n, err);

    if (src == NULL)
        return -1;
    move->axis_maps = src;
    for (uint32_t t = 0; t < board->n_transforms; t++, src += n) {
        perm_set_identity(src, n);
        for (uint32_t cell = 0; cell < board->n_cells; cell++)
            src[place[cell]] = place[board->transforms[t].src[cell]];
        move->steps[t].src = src;
    }
    return 0;
}

static int bind_policy(struct plan *plan, const struct plan_array *array, struct row_move *move,
                       struct error *err)
{
    const struct action_space *space = plan_space(plan, &array->binding, err);

    if (space == NULL)
        return -1;
    move->n_targets = space->length;
    for (uint32_t t = 0; t < plan->board->n_transforms; t++) {
        move->steps[t].src = space->src + t * space->length;
        move->steps[t].dst = space->dst + t * space->length;
    }
    return 0;
}

static int bind_cells(struct plan *plan, const struct plan_array *array, struct row_move *move,
                      struct error *err)
{
    const struct board *board = plan->board;

    if (array->binding.takeiteasy_grid)
        return bind_grid_of_cells(plan, move, err);
    if (array->binding.layout != NULL) /* the axis holds the on-board cells alone */
        return bind_policy(plan, array, move, err);
    if (move->axis != board->n_cells)
        return plan_refuse(plan, array, err, "%llu cells, expected %u of board %s",
                           (unsigned long long)move->axis, board->n_cells, board->preset);
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        uint32_t moved_by = plane_transform(plan, array, t);

        if (moved_by == UINT32_MAX)
            return plan_refuse(plan, array, err,
                               "planes stored xy need a board with a transposition; use "
                               "--plane-order yx");
        move->steps[t].src = board->transforms[moved_by].src;
    }
    return 0;
}

/* --- planes --- */

static bool is_chosen(const struct plan *plan, uint32_t t)
{
    return memchr(plan->chosen, (int)t, plan->n_chosen) != NULL;
}

static int bind_plane_step(struct plan *plan, struct plan_array *array, uint32_t t,
                           uint64_t n_planes, uint32_t *dst, struct error *err)
{
    static const enum label_op ops[] = {[TO_MOVE_01] = LABEL_COMPLEMENT,
                                        [TO_MOVE_12] = LABEL_EXCHANGE_12,
                                        [TO_MOVE_PM1] = LABEL_NEGATE};
    struct move_step *step = &array->move.steps[t];
    uint32_t *src = array->move.plane_maps + t * n_planes;
    struct error reason = {0};
    int complement;

    if (bind_plane_map(plan->board, &plan->conventions, t, n_planes, dst, &complement, &reason) !=
        0)
        return plan_refuse(plan, array, err, "%s", reason.message);
    perm_invert(dst, n_planes, src);
    if (!perm_is_identity(src, n_planes))
        step->plane_src = src;
    if (complement < 0)
        return 0;
    if (array->move.kind == MOVE_BITS || !dtype_is_number(&array->move.dtype))
        return plan_refuse(plan, array, err,
                           "a to-move plane of packed or opaque elements cannot swap colours; use "
                           "--planes with a permutation");
    if (survey_turn_coding(plan, array, src[complement], err) != 0)
        return -1;
    step->label = ops[plan->conventions.plane_coding];
    step->label_plane = complement;
    return 0;
}

static int bind_plane_steps(struct plan *plan, struct plan_array *array, struct error *err)
{
    const uint64_t n_planes = array->move.channels_last ? array->move.inner : array->move.outer;
    uint32_t *dst = calloc(n_planes + 1, sizeof *dst);
    int status = dst != NULL ? 0 : error_no_memory(err, "plane maps");

    if (status == 0 && (array->move.plane_maps = new_maps(plan, n_planes, err)) == NULL)
        status = -1;
    for (uint32_t t = 0; t < plan->board->n_transforms && status == 0; t++)
        if (is_chosen(plan, t))
            status = bind_plane_step(plan, array, t, n_planes, dst, err);
    free(dst);
    return status;
}

static int bind_planes(struct plan *plan, struct plan_array *array, struct error *err)
{
    array->move.channels_last = array->binding.axes.outer == 1 && array->binding.axes.inner > 1;
    return bind_cells(plan, array, &array->move, err) != 0 ? -1
                                                           : bind_plane_steps(plan, array, err);
}

/* --- everything else --- */

/* A label for the transforms that swap colours. */
static int bind_labels(struct plan *plan, struct plan_array *array, struct error *err)
{
    enum label_op op;

    if (!plan->swaps)
        return 0;
    if (bind_swap_label(plan, array, &op, err) != 0)
        return -1;
    for (uint32_t t = 0; t < plan->board->n_transforms; t++) {
        if (plan->board->transforms[t].swaps_colours) {
            array->move.steps[t].label = op;
            array->move.steps[t].label_plane = -1;
        }
    }
    return 0;
}

static int bind_grid(struct plan *plan, struct plan_array *array, struct error *err)
{
    if (plan->board->family->has_tiles && plan->conventions.tiles == TILES_PERMUTE) {
        char name[32];

        dtype_name(&array->move.dtype, name, sizeof name);
        if (!dtype_is_integer(&array->move.dtype))
            return plan_refuse(plan, array, err,
                               "dtype %s, expected integers: --tiles permute permutes the numbers "
                               "of tile codes 100a+10b+c",
                               name);
        array->move.kind = MOVE_CODES;
    }
    return bind_cells(plan, array, &array->move, err) != 0 ? -1 : bind_labels(plan, array, err);
}

static int bind_coord(const struct plan *plan, struct plan_array *array, struct error *err)
{
    struct row_move *move = &array->move;

    if (plan->board->rows == 0)
        return plan_refuse(plan, array, err, "board %s has no rows and columns; use --copy %s",
                           plan->board->preset, array->key);
    move->kind = MOVE_COORD;
    move->cols = plan->board->cols;
    move->n_targets = plan->board->n_cells;
    move->col_first = array->binding.col_first;
    for (uint32_t t = 0; t < plan->board->n_transforms; t++)
        move->steps[t].dst = plan->board->transforms[t].dst;
    return 0;
}

static int bind_index(struct plan *plan, struct plan_array *array, struct error *err)
{
    struct row_move *move = &array->move;

    move->kind = array->binding.sparse == SPARSE_PADDED ? MOVE_PADDED : MOVE_INDEX;
    if (array->values != NULL) {
        move->value_dtype = array->values[0]->header.dtype;
        move->value_row_nbytes = array->values[0]->row_nbytes;
        if (move->kind == MOVE_PADDED && (!dtype_is_number(&move->value_dtype) ||
                                          move->value_row_nbytes / move->value_dtype.itemsize !=
                                              move->row_nbytes / move->dtype.itemsize))
            return plan_refuse(plan, array, err, "its values array is not of the same shape");
    }
    return bind_policy(plan, array, move, err);
}

static int bind_by_role(struct plan *plan, struct plan_array *array, struct error *err)
{
    switch (array->binding.role) {
    case ROLE_PACKED:
        array->move.kind = MOVE_BITS;
        return bind_planes(plan, array, err);
    case ROLE_PLANES:
        array->move.kind = MOVE_GATHER;
        return bind_planes(plan, array, err);
    case ROLE_GRID:
        array->move.kind = MOVE_GATHER;
        return bind_grid(plan, array, err);
    case ROLE_POLICY:
    case ROLE_ACTION_VALUES:
    case ROLE_MASK:
        array->move.kind = MOVE_GATHER;
        return bind_policy(plan, array, &array->move, err);
    case ROLE_POLICY_INDEX:
    case ROLE_ACTION:
        return bind_index(plan, array, err);
    case ROLE_COORD:
        return bind_coord(plan, array, err);
    case ROLE_VALUE:
    case ROLE_WDL:
    case ROLE_TO_MOVE:
        return bind_labels(plan, array, err);
    case ROLE_TILE:
        if (plan->conventions.tiles == TILES_PERMUTE)
            array->move.kind = MOVE_NUMBERS;
        return 0;
    default:
        return 0;
    }
}

/* Where rows are kept as they are, labels that nobody looks at need not be understood. */
static bool is_moved(const struct plan *plan, const struct plan_array *array)
{
    const enum role role = array->binding.role;
    const char *planes;

    return plan->purpose == FOR_IMAGES || plan->purpose == FOR_MEANS ||
           (plan->purpose == FOR_VALUES && (role == ROLE_VALUE || role == ROLE_WDL)) ||
           plan_is_key(plan, array, &planes);
}

int bind_array(struct plan *plan, struct plan_array *array, struct error *err)
{
    const struct array *first = array->sources[0];
    struct row_move *move = &array->move;

    move->kind = MOVE_COPY;
    move->dtype = first->header.dtype;
    move->row_nbytes = first->row_nbytes;
    move->outer = array->binding.axes.outer;
    move->axis = array->binding.axes.axis;
    move->inner = array->binding.axes.inner;
    move->lsb_first = array->binding.lsb_first;
    move->n_steps = plan->board->n_transforms;
    move->steps = calloc(move->n_steps, sizeof *move->steps);
    if (move->steps == NULL)
        return error_no_memory(err, "moves of an array");
    for (uint32_t t = 0; t < move->n_steps; t++) {
        move->steps[t].label_plane = -1;
        memcpy(move->steps[t].number_src, plan->board->transforms[t].number_src, 3);
    }
    return is_moved(plan, array) ? bind_by_role(plan, array, err) : 0;
}
