/*
 * actions.c - action spaces: a layout is found by its length or name, and its maps for every
 * transform are computed once. Entries after the layout's own length stay in place; a policy that
 * is stored flipped beside its planes has its maps taken into that order.
 *
 * The layouts in which an action is a cell, of the box or on board, with or without pass, are here
 * too, because most families list them.
 */
#include "board/actions.h"

#include "base/perm.h"
#include "base/text.h"
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t padded_length(const struct action_layout *layout, const struct board *board)
{
    return layout->padded_length != NULL ? layout->padded_length(board) : 0;
}

const struct action_layout *action_layout_by_length(const struct board *board, uint64_t length)
{
    for (size_t i = 0; i < board->family->n_layouts; i++) {
        const struct action_layout *layout = board->family->layouts[i];
        const uint64_t own = layout->length(board);

        if (own != 0 && length != 0 && (own == length || padded_length(layout, board) == length))
            return layout;
    }
    return NULL;
}

/* True when `name` is `full` without the family and its dash, and with ':' for '-'. */
static bool is_short_name(const struct board *board, const char *full, const char *name)
{
    const size_t n_family = strlen(board->family->name);

    if (strncmp(full, board->family->name, n_family) != 0 || full[n_family] != '-')
        return false;
    full += n_family + 1;
    for (; *full != '\0' && *full == (*name == ':' ? '-' : *name); full++)
        name++;
    return *full == '\0' && *name == '\0';
}

const struct action_layout *action_layout_by_name(const struct board *board, const char *name)
{
    for (size_t i = 0; i < board->family->n_layouts; i++) {
        const struct action_layout *layout = board->family->layouts[i];

        if (layout->length(board) != 0 &&
            (strcmp(layout->name, name) == 0 || is_short_name(board, layout->name, name)))
            return layout;
    }
    return NULL;
}

int action_layout_list(const struct board *board, char *text, size_t n_bytes)
{
    size_t used = 0;

    if (n_bytes == 0)
        return -1;
    text[0] = '\0';
    for (size_t i = 0; i < board->family->n_layouts; i++) {
        const struct action_layout *layout = board->family->layouts[i];
        const uint64_t own = layout->length(board);
        const uint64_t padded = padded_length(layout, board);
        char item[96];
        int n;

        if (own == 0)
            continue;
        if (padded != 0)
            n = snprintf(item, sizeof item, "%s (%" PRIu64 " or %" PRIu64 ")", layout->name, own,
                         padded);
        else
            n = snprintf(item, sizeof item, "%s (%" PRIu64 ")", layout->name, own);
        if (used + (size_t)n + 2 >= n_bytes)
            return -1;
        used += (size_t)snprintf(text + used, n_bytes - used, "%s%s", used > 0 ? ", " : "", item);
    }
    return 0;
}

void action_layout_map(const struct board *board, const struct action_layout *layout, uint32_t t,
                       uint32_t *dst)
{
    const uint64_t length = layout->length(board);

    if (layout->map != NULL) {
        layout->map(board, t, dst);
        return;
    }
    for (uint64_t a = 0; a < length; a++)
        dst[a] = (uint32_t)layout->image(board, t, a);
}

static void fill_maps(struct action_space *space, uint32_t t, uint64_t own_length)
{
    uint32_t *dst = space->dst + t * space->length;

    action_layout_map(space->board, space->layout, t, dst);
    for (uint64_t a = own_length; a < space->length; a++)
        dst[a] = (uint32_t)a;
    perm_invert(dst, space->length, space->src + t * space->length);
}

static int alloc_maps(struct action_space *space, struct error *err)
{
    const size_t n_transforms = space->board->n_transforms;
    size_t n_bytes;

    if (__builtin_mul_overflow(n_transforms * sizeof *space->dst, space->length, &n_bytes))
        return error_no_memory(err, "maps of an action space");
    space->dst = malloc(n_bytes);
    space->src = malloc(n_bytes);
    space->flags = calloc(space->length, 1);
    if (space->dst == NULL || space->src == NULL || space->flags == NULL)
        return error_no_memory(err, "maps of an action space");
    return 0;
}

static int check_length(const struct board *board, const struct action_layout *layout, uint64_t own,
                        uint64_t length, struct error *err)
{
    if (own == 0)
        return error_set(err, ERROR_DATA, "board %s has no policy layout %s", board->name,
                         layout->name);
    if (length < own)
        return error_set(err, ERROR_DATA,
                         "a policy of length %" PRIu64 " is too short for layout %s of board %s, "
                         "which has %" PRIu64 " actions",
                         length, layout->name, board->name, own);
    if (length > UINT32_MAX)
        return error_set(err, ERROR_DATA, "a policy of length %" PRIu64 " is too long", length);
    return 0;
}

struct action_space *action_space_new(const struct board *board, const struct action_layout *layout,
                                      uint64_t length, struct error *err)
{
    const uint64_t own = layout->length(board);
    struct action_space *space;

    if (length == 0)
        length = own;
    if (check_length(board, layout, own, length, err) != 0)
        return NULL;
    space = calloc(1, sizeof *space);
    if (space == NULL) {
        error_no_memory(err, "action space");
        return NULL;
    }
    space->board = board;
    space->layout = layout;
    space->length = length;
    if (alloc_maps(space, err) != 0) {
        action_space_free(space);
        return NULL;
    }
    for (uint32_t t = 0; t < board->n_transforms; t++)
        fill_maps(space, t, own);
    for (uint64_t a = 0; a < own; a++)
        space->flags[a] = (uint8_t)layout->flags(board, a);
    return space;
}

const char *action_flip_name(enum action_flip flip)
{
    static const char *const names[ACTION_N_FLIPS] = {"", "flipud", "fliplr", "transpose"};

    return names[flip];
}

bool action_can_flip(const struct board *board, const struct action_layout *layout,
                     enum action_flip flip)
{
    if (flip == ACTION_AS_IS)
        return true;
    if (board->rows == 0 || board->n_on_board != board->n_cells || layout == NULL ||
        layout->cell == NULL || layout->length(board) < board->n_cells ||
        layout->length(board) > (uint64_t)board->n_cells + 1 ||
        (flip == ACTION_TRANSPOSE && board->rows != board->cols))
        return false;
    for (uint64_t a = 0; a < board->n_cells; a++)
        if (layout->cell(board, a) != (int64_t)a)
            return false;
    return true;
}

uint64_t action_flip_cell(const struct board *board, enum action_flip flip, uint64_t cell)
{
    const uint64_t cols = board->cols > 0 ? board->cols : 1, row = cell / cols, col = cell % cols;

    switch (flip) {
    case ACTION_FLIPUD:
        return (board->rows - 1 - row) * board->cols + col;
    case ACTION_FLIPLR:
        return row * board->cols + board->cols - 1 - col;
    case ACTION_TRANSPOSE:
        return col * board->cols + row;
    default:
        return cell;
    }
}

int action_space_flip(struct action_space *space, enum action_flip flip, struct error *err)
{
    const uint64_t n_cells = space->board->n_cells;
    uint32_t *stored = malloc(n_cells * sizeof *stored);

    if (stored == NULL)
        return error_no_memory(err, "maps of an action space");
    for (uint32_t t = 0; flip != ACTION_AS_IS && t < space->board->n_transforms; t++) {
        uint32_t *dst = space->dst + t * space->length;

        for (uint64_t a = 0; a < n_cells; a++)
            stored[a] = (uint32_t)action_flip_cell(space->board, flip,
                                                   dst[action_flip_cell(space->board, flip, a)]);
        memcpy(dst, stored, n_cells * sizeof *stored);
        perm_invert(dst, space->length, space->src + t * space->length);
    }
    space->flip = flip;
    free(stored);
    return 0;
}

void action_space_free(struct action_space *space)
{
    if (space == NULL)
        return;
    free(space->dst);
    free(space->src);
    free(space->flags);
    free(space);
}

/* --- actions of any kind --- */

unsigned action_always_encodable(const struct board *b, uint64_t action)
{
    (void)b, (void)action;
    return ACTION_ENCODABLE;
}

int64_t action_without_cell(const struct board *b, uint64_t action)
{
    (void)b, (void)action;
    return -1;
}

/* --- an action is a cell of the box --- */

static uint64_t box_length(const struct board *b)
{
    return b->n_cells;
}

static uint64_t box_length_pass(const struct board *b)
{
    return (uint64_t)b->n_cells + 1;
}

static uint64_t box_image(const struct board *b, uint32_t t, uint64_t action)
{
    return action < b->n_cells ? b->transforms[t].dst[action] : action;
}

static unsigned box_flags(const struct board *b, uint64_t action)
{
    if (action == b->n_cells)
        return ACTION_ENCODABLE;
    return b->on_board[action] ? ACTION_ENCODABLE | ACTION_PLACEMENT : 0;
}

static int64_t box_cell(const struct board *b, uint64_t action)
{
    return action < b->n_cells ? (int64_t)action : -1;
}

static void box_describe(const struct board *b, uint64_t action, char *text, size_t n_bytes)
{
    char at[32];

    if (action == b->n_cells) {
        snprintf(text, n_bytes, "pass");
        return;
    }
    board_cell_text(b, (uint32_t)action, at, sizeof at);
    snprintf(text, n_bytes, "play at %s%s", at, b->on_board[action] ? "" : ", off board");
}

/* The layouts differ in name and length only. */
#define CELLS_LAYOUT(name_, summary_, length_)                                           \
    {                                                                                    \
        .name = (name_), .summary = (summary_), .length = (length_), .image = box_image, \
        .flags = box_flags, .cell = box_cell, .describe = box_describe                   \
    }

const struct action_layout action_layout_cells =
    CELLS_LAYOUT("cells", "one entry per cell, in row-major order", box_length);
const struct action_layout action_layout_cells_pass = CELLS_LAYOUT(
    "cells+pass", "one entry per cell, in row-major order, then pass", box_length_pass);
const struct action_layout action_layout_cells_box = CELLS_LAYOUT(
    "cells-box", "one entry per cell of the box, off-board corners included", box_length);
const struct action_layout action_layout_cells_box_pass =
    CELLS_LAYOUT("cells-box+pass", "one entry per cell of the box, then pass", box_length_pass);

/* --- an action is a cell on board, in row-major order (hexagons) --- */

/* On-board cells in the rows above `row`; each row of the upper half is one longer than the last.
 */
static uint32_t cells_above(const struct board *b, uint32_t row)
{
    const uint32_t radius = b->size;
    const uint32_t below = b->rows - row;

    if (row <= radius)
        return row * (radius + 1) + row * (row - 1) / 2;
    return b->n_on_board - (below * (radius + 1) + below * (below - 1) / 2);
}

/* The first on-board column of a row. */
static uint32_t first_column(const struct board *b, uint32_t row)
{
    return row < b->size ? b->size - row : 0;
}

static uint32_t rank_of(const struct board *b, uint32_t at)
{
    const uint32_t row = at / b->cols;

    return cells_above(b, row) + at % b->cols - first_column(b, row);
}

static uint32_t cell_of(const struct board *b, uint32_t rank)
{
    uint32_t row = 0;

    while (cells_above(b, row + 1) <= rank)
        row++;
    return row * b->cols + first_column(b, row) + rank - cells_above(b, row);
}

static uint64_t board_length(const struct board *b)
{
    return b->n_on_board;
}

static uint64_t board_length_pass(const struct board *b)
{
    return (uint64_t)b->n_on_board + 1;
}

static uint64_t board_image(const struct board *b, uint32_t t, uint64_t action)
{
    if (action == b->n_on_board)
        return action;
    return rank_of(b, b->transforms[t].dst[cell_of(b, (uint32_t)action)]);
}

static unsigned board_flags(const struct board *b, uint64_t action)
{
    return action == b->n_on_board ? ACTION_ENCODABLE : ACTION_ENCODABLE | ACTION_PLACEMENT;
}

static int64_t board_cell(const struct board *b, uint64_t action)
{
    return action == b->n_on_board ? -1 : (int64_t)cell_of(b, (uint32_t)action);
}

static void board_describe(const struct board *b, uint64_t action, char *text, size_t n_bytes)
{
    char at[32];

    if (action == b->n_on_board) {
        snprintf(text, n_bytes, "pass");
        return;
    }
    board_cell_text(b, cell_of(b, (uint32_t)action), at, sizeof at);
    snprintf(text, n_bytes, "play at %s", at);
}

const struct action_layout action_layout_cells_board = {
    .name = "cells-board",
    .summary = "one entry per on-board cell, in row-major order",
    .length = board_length,
    .image = board_image,
    .flags = board_flags,
    .cell = board_cell,
    .describe = board_describe,
};

const struct action_layout action_layout_cells_board_pass = {
    .name = "cells-board+pass",
    .summary = "one entry per on-board cell, in row-major order, then pass",
    .length = board_length_pass,
    .image = board_image,
    .flags = board_flags,
    .cell = board_cell,
    .describe = board_describe,
};
