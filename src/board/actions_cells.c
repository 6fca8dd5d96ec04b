/* actions_cells.c - the layouts in which an action is a cell of the box, with or without pass. */
#include "board/families.h"

#include <stdio.h>

static uint64_t length(const struct board *b)
{
    return b->n_cells;
}

static uint64_t length_pass(const struct board *b)
{
    return (uint64_t)b->n_cells + 1;
}

static uint64_t image(const struct board *b, uint32_t t, uint64_t action)
{
    return action < b->n_cells ? b->transforms[t].dst[action] : action;
}

static unsigned flags(const struct board *b, uint64_t action)
{
    if (action == b->n_cells)
        return ACTION_ENCODABLE;
    return b->on_board[action] ? ACTION_ENCODABLE | ACTION_PLACEMENT : 0;
}

static int64_t cell(const struct board *b, uint64_t action)
{
    return action < b->n_cells ? (int64_t)action : -1;
}

static void describe(const struct board *b, uint64_t action, char *text, size_t n_bytes)
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
#define CELLS_LAYOUT(name_, summary_, length_)                                       \
    {                                                                                \
        .name = (name_), .summary = (summary_), .length = (length_), .image = image, \
        .flags = flags, .cell = cell, .describe = describe                           \
    }

const struct action_layout action_layout_cells =
    CELLS_LAYOUT("cells", "one entry per cell, in row-major order", length);
const struct action_layout action_layout_cells_pass =
    CELLS_LAYOUT("cells+pass", "one entry per cell, in row-major order, then pass", length_pass);
const struct action_layout action_layout_cells_box =
    CELLS_LAYOUT("cells-box", "one entry per cell of the box, off-board corners included", length);
const struct action_layout action_layout_cells_box_pass =
    CELLS_LAYOUT("cells-box+pass", "one entry per cell of the box, then pass", length_pass);
