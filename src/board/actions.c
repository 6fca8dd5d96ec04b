/* actions.c - see actions.h: layouts by length or name, and the maps of an action space. */
#include "board/actions.h"

#include "base/perm.h"
#include "base/text.h"

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
