/* role_fit_planes.c - arrays with something on every cell: planes, packed planes, grids. */
#include "shard/role_fit.h"

#include "shard/rows.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    return layout != NULL && layout->length(board) == board->n_on_board ? layout : NULL;
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
    char cells[32];

    if (!role_dtype_moves(&h->dtype))
        return role_unfit(reason, "planes hold numbers");
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

    if (h->dtype.kind != DTYPE_UINT || h->dtype.itemsize != 1 || h->n_dims != 3 ||
        h->shape[1] == 0 || h->shape[2] != n_bytes)
        return role_unfit(reason, "expected packed planes of %u cells: |u1, (N, C, %" PRIu64 ")",
                          c->board->n_cells, n_bytes);
    binding->lsb_first = c->cases[i].told != NULL && c->cases[i].told->lsb_first == 1;
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
    const struct array *const arrays[] = {array};
    const struct dtype *dtype = &array->header.dtype;
    const uint64_t per_row = array->row_nbytes / 8;
    struct rows *rows = NULL;
    uint8_t *row = NULL;
    bool found = false;

    if (c->board->n_cells < 49 || c->board->n_cells > 64 || per_row == 0)
        return false;
    if (dtype->structured)
        return strstr(array->header.descr, "u8'") != NULL ||
               strstr(array->header.descr, "i8'") != NULL;
    if (!dtype_is_integer(dtype) || dtype->itemsize != 8 || array_is_fortran(array))
        return false;
    rows = rows_open(arrays, 1, NULL);
    if (rows != NULL)
        row = malloc((size_t)array->row_nbytes);
    for (uint64_t i = 0; i < array->n_rows && !found && row != NULL; i++) {
        if (rows_read(rows, 1, row, NULL) != 0)
            break; /* whoever copies it says why */
        for (uint64_t k = 0; k < per_row; k++) {
            const int64_t value = dtype_get_int(dtype, row + 8 * k);

            found = found || value > (INT64_C(1) << 32) || value < -(INT64_C(1) << 32);
        }
    }
    free(row);
    rows_close(rows);
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
