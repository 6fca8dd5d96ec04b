/*
 * role_fit.c - does an array fit a role by its dtype and shape, and how are its rows addressed: one
 * function for each kind of shape. What could hold something for each cell is told apart from what
 * surely does not at the end.
 */
#include "shard/role_parts.h"

#include "base/text.h"
#include "shard/batch.h"

#include <ctype.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- planes, packed planes, grids --- */

bool role_unfit(struct role_reason *reason, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(reason->text, sizeof reason->text, format, args);
    va_end(args);
    return false;
}

bool role_dtype_moves(const struct dtype *dtype)
{
    return dtype_is_number(dtype) || (dtype->kind == DTYPE_VOID && !dtype->structured);
}

/* A way in which a run of dimensions holds the cells of the board. */
struct cells_axis {
    uint64_t length;
    unsigned n_dims;                    /* that it takes up */
    const struct action_layout *layout; /* numbers on-board cells only */
    bool takeiteasy_grid;
};

static const struct action_layout *on_board_layout(const struct board *board)
{
    const struct action_layout *layout;

    if (board->n_on_board == board->n_cells)
        return NULL;
    layout = action_layout_by_length(board, board->n_on_board);
    return layout != NULL && layout->length(layout, board) == board->n_on_board ? layout : NULL;
}

bool role_dims_are_cells(const struct board *board, const uint64_t *dims, unsigned n_dims)
{
    uint64_t product = 1;

    if (board->rows > 0 || n_dims < 2)
        return false;
    for (unsigned d = 0; d < n_dims; d++)
        if (dims[d] < 2 || __builtin_mul_overflow(product, dims[d], &product))
            return false;
    return product == board->n_cells;
}

/* True when dimension `dim` (and the one behind it) holds the cells; dims is how many are left. */
static bool match_cells(const struct role_context *c, const uint64_t *dims, unsigned n_left,
                        struct cells_axis *axis)
{
    const struct board *board = c->board;

    *axis = (struct cells_axis){.n_dims = 1};
    if (n_left >= 2 && c->box_rows > 0 && dims[0] == c->box_rows && dims[1] == c->box_cols) {
        axis->n_dims = 2;
        axis->length = (uint64_t)c->box_rows * c->box_cols;
        axis->takeiteasy_grid = board->rows == 0;
        return true;
    }
    /* A cube, say: without rows and columns all dimensions that are left number the cells. */
    if (role_dims_are_cells(board, dims, n_left)) {
        axis->n_dims = n_left;
        axis->length = board->n_cells;
        return true;
    }
    if (n_left == 0 || (dims[0] != board->n_cells && dims[0] != board->n_on_board))
        return false;
    axis->length = dims[0];
    axis->layout = dims[0] == board->n_cells ? NULL : on_board_layout(board);
    return dims[0] == board->n_cells || axis->layout != NULL;
}

static bool bind_cells(const struct cells_axis *axis, uint64_t outer, uint64_t inner,
                       enum role role, struct role_binding *binding)
{
    binding->role = role;
    binding->axes = (struct role_axes){outer, axis->length, inner};
    binding->layout = axis->layout;
    binding->n_actions = axis->layout != NULL ? axis->length : 0;
    binding->takeiteasy_grid = axis->takeiteasy_grid;
    return true;
}

/* "9, 9" or "19": how a shape says the board's cells. */
static const char *cells_text(const struct role_context *c, char *text, size_t n_bytes)
{
    if (c->board->rows > 0)
        snprintf(text, n_bytes, "%u, %u", c->board->rows, c->board->cols);
    else
        snprintf(text, n_bytes, "%u", c->board->n_cells);
    return text;
}

static bool planes_first(const struct role_context *c, const struct npy_header *h,
                         struct role_binding *binding)
{
    struct cells_axis axis;

    return h->n_dims >= 3 && match_cells(c, h->shape + 2, h->n_dims - 2, &axis) &&
           h->n_dims == 2 + axis.n_dims && bind_cells(&axis, h->shape[1], 1, ROLE_PLANES, binding);
}

static bool planes_last(const struct role_context *c, const struct npy_header *h,
                        struct role_binding *binding)
{
    struct cells_axis axis;

    return h->n_dims >= 3 && match_cells(c, h->shape + 1, h->n_dims - 2, &axis) &&
           h->n_dims == 2 + axis.n_dims &&
           bind_cells(&axis, 1, h->shape[h->n_dims - 1], ROLE_PLANES, binding);
}

static bool planes_flat(const struct role_context *c, const struct npy_header *h, bool last,
                        struct role_binding *binding)
{
    struct cells_axis axis = {.length = c->board->n_cells};
    uint64_t n_planes;

    if (h->n_dims != 2 || h->shape[1] % axis.length != 0)
        return false;
    n_planes = h->shape[1] / axis.length;
    return bind_cells(&axis, last ? 1 : n_planes, last ? n_planes : 1, ROLE_PLANES, binding);
}

bool role_fit_planes(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const int last = c->cases[i].told != NULL ? c->cases[i].told->channels_last : -1;
    const bool box = c->box_rows > 0;
    struct cells_axis axis;
    char cells[32];

    if (!role_dtype_moves(&h->dtype))
        return role_unfit(reason, "planes hold numbers");
    /* Planes of a history, (N, T, C, H, W), are planes one after the other, if told so. */
    if (c->cases[i].told != NULL && last != 1 && h->n_dims == 5 && box &&
        match_cells(c, h->shape + 3, 2, &axis) && axis.n_dims == 2 && h->shape[1] > 0 &&
        h->shape[2] > 0)
        return bind_cells(&axis, h->shape[1] * h->shape[2], 1, ROLE_PLANES, binding);
    /* Channels first wins when both fit. Planes apart from the cells in last place are (N,H,W,C)
     * only: in (N,cells,C) nothing tells the cells from the planes, so that must be told. */
    if (!(last != 1 && planes_first(c, h, binding)) &&
        !((last == 1 || (last < 0 && box && h->n_dims == 4)) && planes_last(c, h, binding)) &&
        !planes_flat(c, h, last == 1, binding))
        return role_unfit(reason, "expected planes of the board %s: (N, C, %s), %s(N, C*%u)",
                          c->board->name, cells_text(c, cells, sizeof cells),
                          c->board->rows > 0 ? "(N, H, W, C) or " : "", c->board->n_cells);
    if (binding->axes.outer == 0 || binding->axes.inner == 0)
        return role_unfit(reason, "expected at least one plane, found none");
    return true;
}

bool role_fit_packed(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct cells_axis axis = {.length = c->board->n_cells};
    const uint64_t n_bytes = (axis.length + 7) / 8;
    const struct role_override *told = c->cases[i].told;
    uint64_t n_planes = 1;

    /* Bitboards: of a little-endian integer of 64 bits, bit i is cell i, the lowest bit first. */
    if (told != NULL && h->dtype.kind == DTYPE_UINT && h->dtype.itemsize == 8) {
        if (n_bytes != 8 || h->dtype.big_endian || told->lsb_first == 0)
            return role_unfit(reason,
                              "expected bitboards of 57 to 64 cells, little-endian, the first cell "
                              "in the lowest bit; board %s has %u cells",
                              c->board->name, c->board->n_cells);
        for (unsigned d = 1; d < h->n_dims; d++)
            n_planes *= h->shape[d];
        binding->lsb_first = true;
        return n_planes > 0 ? bind_cells(&axis, n_planes, 1, ROLE_PACKED, binding)
                            : role_unfit(reason, "expected at least one bitboard, found none");
    }
    if (h->dtype.kind != DTYPE_UINT || h->dtype.itemsize != 1 || h->n_dims != 3 ||
        h->shape[1] == 0 || h->shape[2] != n_bytes)
        return role_unfit(reason, "expected packed planes of %u cells: |u1, (N, C, %" PRIu64 ")",
                          c->board->n_cells, n_bytes);
    binding->lsb_first = told != NULL && told->lsb_first == 1;
    return bind_cells(&axis, h->shape[1], 1, ROLE_PACKED, binding);
}

bool role_fit_grid(const struct role_context *c, size_t i, struct role_binding *binding,
                   struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    struct cells_axis axis;
    char cells[32];

    if (!role_dtype_moves(&h->dtype))
        return role_unfit(reason, "a grid holds numbers");
    if (h->n_dims < 2 || !match_cells(c, h->shape + 1, h->n_dims - 1, &axis) ||
        h->n_dims != 1 + axis.n_dims)
        return role_unfit(reason, "expected a code per cell of the board %s: (N, %s)",
                          c->board->name, cells_text(c, cells, sizeof cells));
    return bind_cells(&axis, 1, 1, ROLE_GRID, binding);
}

/* The number of cells, or of bytes or actions, that a product of dimensions may stand for. */
static bool is_spatial_length(const struct role_context *c, const struct dtype *dtype,
                              uint64_t length, struct role_reason *reason)
{
    const struct board *board = c->board;

    if (length == board->n_cells || length == board->n_on_board ||
        (c->box_rows > 0 && length == (uint64_t)c->box_rows * c->box_cols)) {
        role_unfit(reason, "%" PRIu64 " is the number of cells of the board %s", length,
                   board->name);
        return true;
    }
    if (dtype->kind == DTYPE_UINT && dtype->itemsize == 1 && length == (board->n_cells + 7) / 8) {
        role_unfit(reason, "%" PRIu64 " bytes hold the cells of the board %s as bits", length,
                   board->name);
        return true;
    }
    if (action_layout_by_length(board, length) != NULL) {
        role_unfit(reason, "%" PRIu64 " is the length of the policy %s of the board %s", length,
                   action_layout_by_length(board, length)->name, board->name);
        return true;
    }
    return false;
}

/* True when n is a multiple of a length that is one of something on the board. */
static bool is_spatial_multiple(const struct role_context *c, const struct dtype *dtype, uint64_t n,
                                struct role_reason *reason)
{
    const struct board *board = c->board;

    for (uint64_t k = 2; k <= n / 2 && k <= 1024; k++) {
        char length[ROLE_REASON_NBYTES];

        if (n % k != 0 || n / k < 2 || !is_spatial_length(c, dtype, n / k, reason))
            continue;
        snprintf(length, sizeof length, "%.200s", reason->text);
        role_unfit(reason, "%" PRIu64 " is %" PRIu64 " times %s", n, k, length);
        return board->n_cells > 1;
    }
    return false;
}

/* Boards of 49 to 64 cells fit into 64 bits: numbers that need more than 32 of them tell. Fields of
 * a structured type are not looked into. */
static bool may_be_bitboards(const struct role_context *c, const struct array *array)
{
    struct batch batch = {.own = {.arrays = &array, .n_arrays = 1}};
    const struct dtype *dtype = &array->header.dtype;
    const uint64_t per_row = array->row_nbytes / 8;
    bool found = false;
    int status;

    if (c->board->n_cells < 49 || c->board->n_cells > 64 || per_row == 0)
        return false;
    if (dtype->structured)
        return strstr(array->header.descr, "u8'") != NULL ||
               strstr(array->header.descr, "i8'") != NULL;
    if (!dtype_is_integer(dtype) || dtype->itemsize != 8 || array_is_fortran(array))
        return false;
    status = batch_open(&batch, NULL, NULL); /* whoever copies it says what is wrong with it */
    while (status == 0 && !found && batch_next(&batch, 1, NULL) == 0 && batch.n > 0)
        for (uint64_t k = 0; k < per_row; k++) {
            const int64_t value = dtype_get_int(dtype, batch.bytes.data + 8 * k);

            found = found || value > (INT64_C(1) << 32) || value < -(INT64_C(1) << 32);
        }
    batch_release(&batch);
    return found;
}

bool role_is_spatial(const struct role_context *c, size_t i, unsigned first_dim,
                     struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (c->board->n_cells == 1)
        return false;
    for (unsigned first = first_dim; first < h->n_dims; first++) {
        uint64_t product = 1;

        for (unsigned dim = first; dim < h->n_dims; dim++) {
            if (__builtin_mul_overflow(product, h->shape[dim], &product))
                break;
            if (product > 0 && is_spatial_length(c, &h->dtype, product, reason))
                return true;
        }
        if (first > 0 && product > 0 && c->request->is_strict &&
            is_spatial_multiple(c, &h->dtype, product, reason))
            return true;
    }
    if (c->request->is_strict && first_dim > 0 && may_be_bitboards(c, &c->archive->arrays[i])) {
        role_unfit(reason, "numbers above 2^32 may be the %u cells of the board %s as bits",
                   c->board->n_cells, c->board->name);
        return true;
    }
    if (c->request->is_strict && first_dim > 0 &&
        (h->dtype.kind == DTYPE_VOID || h->dtype.kind == DTYPE_BYTES) &&
        c->archive->arrays[i].row_nbytes >= c->board->n_on_board) {
        role_unfit(reason, "%" PRIu64 " bytes may hold the %u cells of the board %s",
                   c->archive->arrays[i].row_nbytes, c->board->n_on_board, c->board->name);
        return true;
    }
    return false;
}

/* --- policies and masks --- */

/* The dimensions behind the rows with the box's two drawn together. */
struct policy_shape {
    unsigned n_dims; /* 1 to 3; 0: none that a policy has */
    uint64_t dims[3];
};

static struct policy_shape collapse(const struct role_context *c, const struct npy_header *h)
{
    struct policy_shape shape = {0};
    const bool box = c->board->rows > 0;

    if (h->n_dims > 2 && role_dims_are_cells(c->board, h->shape + 1, h->n_dims - 1))
        return (struct policy_shape){1, {c->board->n_cells}};
    for (unsigned i = 1; i < h->n_dims; i++) {
        uint64_t dim = h->shape[i];

        if (shape.n_dims == 3)
            return (struct policy_shape){0};
        if (box && i + 1 < h->n_dims && (h->n_dims == 3 || h->n_dims == 4) &&
            dim == c->board->rows && h->shape[i + 1] == c->board->cols) {
            dim = c->board->n_cells;
            i++;
        }
        shape.dims[shape.n_dims++] = dim;
    }
    return shape;
}

const struct action_layout *role_told_layout(const struct role_context *c, size_t i,
                                             struct role_reason *reason)
{
    const struct role_override *told = c->cases[i].told;
    const bool by_role = told != NULL && told->layout != NULL;
    const char *name = by_role ? told->layout : c->request->policy_layout;
    const struct action_layout *layout;
    char known[160];

    reason->text[0] = '\0';
    if (name == NULL)
        return NULL;
    layout = action_layout_by_name(c->board, name);
    if (layout == NULL || layout->length(layout, c->board) == 0) {
        action_layout_list(c->board, known, sizeof known);
        role_unfit(reason, "the board %s has no policy layout %.60s; it has %s", c->board->name,
                   text_quote(name).text, known);
        return NULL;
    }
    return layout;
}

/* The layout of an axis of that length: as told, else by the length. */
static const struct action_layout *choose_layout(const struct role_context *c, size_t i,
                                                 uint64_t length, struct role_reason *reason)
{
    const struct action_layout *layout = role_told_layout(c, i, reason);
    const bool for_this_array = c->cases[i].told != NULL && c->cases[i].told->layout != NULL;
    char known[200];

    if (reason->text[0] != '\0')
        return NULL;
    if (layout != NULL && length >= layout->length(layout, c->board))
        return layout;
    if (layout != NULL && (for_this_array || action_layout_by_length(c->board, length) == NULL)) {
        role_unfit(reason, "%" PRIu64 " actions are fewer than the %" PRIu64 " of the layout %s",
                   length, layout->length(layout, c->board), layout->name);
        return NULL;
    }
    layout = length > 0 ? action_layout_by_length(c->board, length) : NULL;
    if (layout == NULL) {
        action_layout_list(c->board, known, sizeof known);
        role_unfit(reason, "no policy of the board %s has %" PRIu64 " actions; expected one of %s",
                   c->board->name, length, known);
    }
    return layout;
}

/*
 * Chess policies as planes of moves: (planes, 8, 8) or (8, 8, planes). A layout that numbers moves
 * in one of these orders has a twin for the other, under its name with an ending.
 */
static const struct action_layout *layout_of_planes(const struct role_context *c, size_t i,
                                                    const struct policy_shape *shape)
{
    static const char *const endings[] = {"-squares", "-planes"};
    const bool planes_first = shape->dims[1] == c->board->n_cells;
    const struct action_layout *base, *twins[2];
    struct role_reason none;
    uint64_t total;
    size_t n_stem;
    char name[96];

    if ((shape->dims[0] == c->board->n_cells) == planes_first ||
        __builtin_mul_overflow(shape->dims[0], shape->dims[1], &total))
        return NULL;
    base = role_told_layout(c, i, &none);
    if (base == NULL)
        base = action_layout_by_length(c->board, total);
    if (base == NULL || base->length(base, c->board) != total)
        return NULL;
    n_stem = strlen(base->name);
    for (size_t k = 0; k < 2; k++)
        if (n_stem > strlen(endings[k]) &&
            strcmp(base->name + n_stem - strlen(endings[k]), endings[k]) == 0)
            n_stem -= strlen(endings[k]);
    for (size_t k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%.*s%s", (int)n_stem, base->name, endings[k]);
        twins[k] = action_layout_by_name(c->board, name);
    }
    if (twins[0] == NULL && twins[1] == NULL)
        return NULL;
    if (twins[planes_first] != NULL)
        return twins[planes_first];
    snprintf(name, sizeof name, "%.*s", (int)n_stem, base->name);
    return action_layout_by_name(c->board, name);
}

static bool bind_policy(const struct action_layout *layout, uint64_t outer, uint64_t length,
                        struct role_binding *binding)
{
    binding->role = ROLE_POLICY;
    binding->layout = layout;
    binding->n_actions = length;
    binding->axes = (struct role_axes){outer, length, 1};
    return true;
}

/* (N,k,A) and its relatives, the box drawn together. */
static bool fit_two_dims(const struct role_context *c, size_t i, const struct policy_shape *shape,
                         struct role_binding *binding, struct role_reason *reason)
{
    const uint64_t cells = c->board->n_cells, *dims = shape->dims;
    const struct action_layout *layout = layout_of_planes(c, i, shape);
    const bool spread = c->archive->arrays[i].header.n_dims == 4;
    uint64_t total;

    if (layout != NULL)
        return bind_policy(layout, 1, dims[0] * dims[1], binding);
    /* From-square times to-square, written as a table. */
    if (dims[0] == cells && !__builtin_mul_overflow(dims[0], dims[1], &total) &&
        action_layout_by_length(c->board, total) != NULL) {
        layout = choose_layout(c, i, total, reason);
        return layout != NULL && bind_policy(layout, 1, total, binding);
    }
    /* Of k boards' worth of moves nothing but the user says that a symmetry keeps them apart. */
    if (spread && (dims[0] == 1 || dims[1] == 1)) {
        layout = choose_layout(c, i, cells, reason);
        return layout != NULL && bind_policy(layout, 1, cells, binding);
    }
    if (spread && (c->cases[i].told == NULL || dims[1] != cells))
        return role_unfit(reason, "expected a policy (N, A), (N, H, W), (N, k, A) or, if told, "
                                  "(N, k, H, W)");
    if (dims[0] == 0)
        return role_unfit(reason, "expected at least one policy, found none");
    layout = choose_layout(c, i, dims[1], reason);
    return layout != NULL && bind_policy(layout, dims[0], dims[1], binding);
}

bool role_fit_policy(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct policy_shape shape = collapse(c, h);
    const struct action_layout *layout;

    if (!role_dtype_moves(&h->dtype))
        return role_unfit(reason, "a policy holds numbers");
    if (shape.n_dims == 1) {
        layout = choose_layout(c, i, shape.dims[0], reason);
        return layout != NULL && bind_policy(layout, 1, shape.dims[0], binding);
    }
    if (shape.n_dims == 2)
        return fit_two_dims(c, i, &shape, binding, reason);
    return role_unfit(reason, "expected a policy (N, A), (N, H, W) or (N, k, A)");
}

/* --- labels: a few numbers per row --- */

/* Columns of an array of labels: 1 for (N,), k for (N,k), 0 for anything else. */
static uint64_t n_columns(const struct npy_header *h)
{
    if (h->n_dims == 1)
        return 1;
    return h->n_dims == 2 ? h->shape[1] : 0;
}

/* Numbers, or opaque ones where nothing is ever computed from them. */
static bool is_label(const struct role_context *c, const struct dtype *dtype)
{
    return c->swaps_colours ? dtype_is_number(dtype) : role_dtype_moves(dtype);
}

bool role_fit_action(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct role_override *told = c->cases[i].told;

    binding->is_pairs = told != NULL && told->is_pairs == 1;
    if (binding->is_pairs && (!dtype_is_integer(&h->dtype) || h->n_dims != 3 || h->shape[2] != 2))
        return role_unfit(reason, "expected pairs of an action's index and a count: integers "
                                  "(N, k, 2)");
    if (!binding->is_pairs &&
        (!dtype_is_integer(&h->dtype) || (told != NULL ? n_columns(h) == 0 : n_columns(h) != 1)))
        return role_unfit(reason,
                          "expected the index of an action: integers (N,), or told, (N, k)");
    binding->role = ROLE_ACTION;
    return true;
}

bool role_fit_coord(const struct role_context *c, size_t i, struct role_binding *binding,
                    struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!dtype_is_integer(&h->dtype) || h->n_dims < 2 || h->shape[h->n_dims - 1] != 2 ||
        h->n_dims > (c->cases[i].told != NULL ? 3 : 2))
        return role_unfit(reason,
                          "expected (row, col) of a cell: integers (N, 2), or told, (N, k, 2)");
    if (c->board->rows == 0)
        return role_unfit(reason, "the cells of the board %s have no rows and columns",
                          c->board->name);
    binding->role = ROLE_COORD;
    binding->col_first = c->cases[i].told != NULL && c->cases[i].told->col_first == 1;
    return true;
}

/* Up to three columns are a value, values by colour, or win-draw-loss; more of them are values per
 * player where the name says so, and may be anything where it does not. */
bool role_fit_value(const struct role_context *c, size_t i, struct role_binding *binding,
                    struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct role_case *known = &c->cases[i];
    const uint64_t n = n_columns(h);
    struct role_reason spatial;

    if (!is_label(c, &h->dtype) || n == 0)
        return role_unfit(reason, "expected values: numbers (N,) or (N, k)");
    if (n > 3 && known->told == NULL && known->named.is_known &&
        !(known->named.flags & NAME_PER_PLAYER) &&
        (c->swaps_colours || role_is_spatial(c, i, 1, &spatial)))
        return role_unfit(reason, "expected values: numbers (N,), (N, 1), (N, 2) or (N, 3)");
    binding->role = ROLE_VALUE;
    binding->per_player = (known->told != NULL && known->told->per_player == 1) ||
                          (known->named.flags & NAME_PER_PLAYER) != 0;
    return true;
}

bool role_fit_wdl(const struct role_context *c, size_t i, struct role_binding *binding,
                  struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!is_label(c, &h->dtype) || h->n_dims != 2 || h->shape[1] != 3)
        return role_unfit(reason, "expected win, draw, loss: numbers (N, 3)");
    binding->role = ROLE_WDL;
    return true;
}

bool role_fit_to_move(const struct role_context *c, size_t i, struct role_binding *binding,
                      struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!is_label(c, &h->dtype) || n_columns(h) != 1)
        return role_unfit(reason, "expected a player: numbers (N,)");
    binding->role = ROLE_TO_MOVE;
    return true;
}

bool role_fit_tile(const struct role_context *c, size_t i, struct role_binding *binding,
                   struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!c->board->family->has_tiles)
        return role_unfit(reason, "tiles belong to the board takeiteasy, not to %s",
                          c->board->name);
    if (!dtype_is_integer(&h->dtype) || h->n_dims != 2 || h->shape[1] != 3)
        return role_unfit(reason, "expected a tile's numbers: integers (N, 3)");
    binding->role = ROLE_TILE;
    return true;
}

/* --- what rows hold --- */

#define MAX_LOOK_NBYTES (1u << 20) /* of a row that is looked at */

bool role_find_range(const struct array *array, uint64_t max_nbytes, double *low, double *high)
{
    struct number_range range = {.n = 0};

    if (!dtype_is_number(&array->header.dtype) || array->n_rows == 0 || array->row_nbytes == 0 ||
        array->row_nbytes > MAX_LOOK_NBYTES || array_is_fortran(array) ||
        number_range_find(&array, 1, max_nbytes, NULL, &range, NULL) != 0)
        return false;
    *low = range.min;
    *high = range.max;
    return range.n > 0;
}

/* FEN: rows of pieces and numbers apart by slashes, one fewer than the board has rows (or chess's
 * seven). */
static bool is_fen(const struct board *board, const char *text)
{
    const size_t n = strcspn(text, " ");
    unsigned n_slashes = 0;

    for (size_t i = 0; i < n; i++) {
        if (text[i] != '/' && !isalnum((unsigned char)text[i]) && text[i] != '+' && text[i] != '~')
            return false;
        n_slashes += text[i] == '/';
    }
    return n_slashes == 7 || (board->rows > 2 && n_slashes == board->rows - 1);
}

static bool is_position(const struct role_context *c, const char *text, bool is_named)
{
    return is_fen(c->board, text) ||
           (!is_named && c->board->n_on_board > 1 && strlen(text) >= c->board->n_on_board);
}

/* One element of a string array as text; what is not ASCII becomes '?'. */
static void read_text(const struct dtype *dtype, const uint8_t *element, char *text)
{
    const size_t step = dtype->kind == DTYPE_UNICODE ? 4 : 1;
    size_t n = 0;

    for (; n < dtype->itemsize / step; n++) {
        const uint8_t *at = element + n * step;
        const uint32_t code = step == 1 ? *at : (uint32_t)bytes_get_uint(at, 4, dtype->big_endian);

        if (code == 0)
            break;
        text[n] = code < 128 ? (char)code : '?';
    }
    text[n] = '\0';
}

static bool objects_hold_positions(const struct role_context *c, const struct array *array,
                                   bool is_named)
{
    for (uint64_t k = 0; k < array->objects->n_items; k++) {
        const struct pickle_item *item = &array->objects->items[k];
        char text[512];

        if (item->kind != PICKLE_STRING)
            continue;
        snprintf(text, sizeof text, "%.*s", (int)item->n_bytes_or_items, item->as.bytes);
        if (is_position(c, text, is_named))
            return true;
    }
    return false;
}

bool role_may_hold_positions(const struct role_context *c, size_t i, bool is_named)
{
    const struct array *array = &c->archive->arrays[i];
    const struct dtype *dtype = &array->header.dtype;
    struct batch batch = {.own = {.arrays = &array, .n_arrays = 1}};
    char *text = NULL;
    bool found = false;
    int status;

    if (array->objects != NULL)
        return objects_hold_positions(c, array, is_named);
    if ((dtype->kind != DTYPE_UNICODE && dtype->kind != DTYPE_BYTES) || array->row_nbytes == 0 ||
        array->row_nbytes > MAX_LOOK_NBYTES || array_is_fortran(array))
        return false;
    status = batch_open(&batch, NULL, NULL); /* whoever copies it says what is wrong with it */
    text = malloc(dtype->itemsize + 1);
    while (status == 0 && text != NULL && !found && batch_next(&batch, 1, NULL) == 0 && batch.n > 0)
        for (uint64_t at = 0; at < array->row_nbytes && !found; at += dtype->itemsize) {
            read_text(dtype, batch.bytes.data + at, text);
            found = is_position(c, text, is_named);
        }
    free(text);
    batch_release(&batch);
    return found;
}
