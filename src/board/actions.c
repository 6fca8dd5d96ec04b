/*
 * actions.c - action spaces: a layout is found by its length or name, and its maps for every
 * transform are computed once. Entries after the layout's own length stay in place; a policy that
 * is stored flipped beside its planes has its maps taken into that order.
 *
 * The layouts in which an action is a cell, a column, or a move between any two cells are here too.
 */
#include "board/actions.h"

#include "base/perm.h"
#include "base/text.h"
#include "board/families.h"

static uint64_t padded_length(const struct action_layout *layout, const struct board *board)
{
    return layout->padded_length != NULL ? layout->padded_length(layout, board) : 0;
}

const struct action_layout *action_layout_by_length(const struct board *board, uint64_t length)
{
    for (size_t i = 0; i < board->family->n_layouts; i++) {
        const struct action_layout *layout = board->family->layouts[i];
        const uint64_t own = layout->length(layout, board);

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

        if (layout->length(layout, board) != 0 &&
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
        const uint64_t own = layout->length(layout, board);
        const uint64_t padded = padded_length(layout, board);
        char item[96], more[32] = "";

        if (own == 0)
            continue;
        if (padded != 0)
            snprintf(more, sizeof more, " or %" PRIu64, padded);
        const int n = snprintf(item, sizeof item, "%s (%" PRIu64 "%s)", layout->name, own, more);
        if (used + (size_t)n + 2 >= n_bytes)
            return -1;
        used += (size_t)snprintf(text + used, n_bytes - used, "%s%s", used > 0 ? ", " : "", item);
    }
    return 0;
}

void action_describe(const struct action_layout *layout, const struct board *board, uint64_t action,
                     char *text, size_t n_bytes)
{
    char whole[ACTION_TEXT_NBYTES];

    layout->about(layout, board, action, whole);
    snprintf(text, n_bytes, "%s", whole);
}

static void extend(struct action_span *spans, size_t *n, const char *kind, uint64_t stop)
{
    const uint64_t start = *n > 0 ? spans[*n - 1].stop : 0;

    if (*n == 0 || (strcmp(spans[*n - 1].kind, kind) != 0 && *n < ACTION_MAX_SPANS))
        spans[(*n)++] = (struct action_span){kind, start, stop};
    spans[*n - 1].stop = stop;
}

size_t action_spans(const struct action_layout *layout, const struct board *board, uint64_t length,
                    struct action_span spans[ACTION_MAX_SPANS])
{
    const uint64_t own = layout->length(layout, board);
    size_t n = 0;

    for (uint64_t a = 0; a < own; a++)
        extend(spans, &n, layout->about(layout, board, a, NULL).kind, a + 1);
    if (length > own)
        extend(spans, &n, "unused", length);
    return n;
}

void action_layout_map(const struct board *board, const struct action_layout *layout, uint32_t t,
                       uint32_t *dst)
{
    const uint64_t length = layout->length(layout, board);

    if (layout->map != NULL) {
        layout->map(layout, board, t, dst);
        return;
    }
    for (uint64_t a = 0; a < length; a++)
        dst[a] = (uint32_t)layout->image(layout, board, t, a);
}

struct action_space *action_space_new(const struct board *board, const struct action_layout *layout,
                                      uint64_t length, struct error *err)
{
    const uint64_t own = layout->length(layout, board);
    struct action_space *space = NULL;
    size_t n_bytes;

    if (length == 0)
        length = own;
    if (own == 0)
        error_set(err, ERROR_DATA, "board %s has no policy layout %s", board->name, layout->name);
    else if (length < own)
        error_set(err, ERROR_DATA,
                  "a policy of length %" PRIu64
                  " is too short for layout %s of board %s, which has "
                  "%" PRIu64 " actions",
                  length, layout->name, board->name, own);
    else if (length > UINT32_MAX)
        error_set(err, ERROR_DATA, "a policy of length %" PRIu64 " is too long", length);
    else if ((space = calloc(1, sizeof *space)) == NULL)
        error_no_memory(err, "action space");
    if (space == NULL)
        return NULL;
    *space = (struct action_space){.board = board, .layout = layout, .length = length};
    if (!__builtin_mul_overflow(board->n_transforms * sizeof *space->dst, length, &n_bytes)) {
        space->dst = malloc(n_bytes);
        space->src = malloc(n_bytes);
        space->flags = calloc(length, 1);
    }
    if (space->dst == NULL || space->src == NULL || space->flags == NULL) {
        error_no_memory(err, "maps of an action space");
        action_space_free(space);
        return NULL;
    }
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        uint32_t *dst = space->dst + t * length;

        action_layout_map(board, layout, t, dst);
        for (uint64_t a = own; a < length; a++)
            dst[a] = (uint32_t)a;
        perm_invert(dst, length, space->src + t * length);
    }
    for (uint64_t a = 0; a < own; a++)
        space->flags[a] = (uint8_t)action_flags(layout, board, a);
    return space;
}

const char *action_flip_name(enum action_flip flip)
{
    static const char *const names[ACTION_N_FLIPS] = {
        "", "flipud", "fliplr", "rot180", "transpose", "rot90", "rot270", "anti-transpose"};

    return names[flip];
}

bool action_can_flip(const struct board *board, const struct action_layout *layout,
                     enum action_flip flip)
{
    if (flip == ACTION_AS_IS)
        return true;
    if (board->rows == 0 || board->n_on_board != board->n_cells || layout == NULL ||
        layout->length(layout, board) < board->n_cells ||
        layout->length(layout, board) > (uint64_t)board->n_cells + 1 ||
        (action_flip_exchanges(flip) && board->rows != board->cols))
        return false;
    for (uint64_t a = 0; a < board->n_cells; a++)
        if (action_cell(layout, board, a) != (int64_t)a)
            return false;
    return true;
}

uint64_t action_flip_cell(const struct board *board, enum action_flip flip, uint64_t cell)
{
    const uint64_t cols = board->cols > 0 ? board->cols : 1;
    uint64_t row = cell / cols, col = cell % cols;

    if (flip == ACTION_AS_IS)
        return cell;
    if (action_flip_exchanges(flip)) {
        row = cell % cols;
        col = cell / cols;
    }
    if (flip & ACTION_FLIPUD)
        row = board->rows - 1 - row;
    if (flip & ACTION_FLIPLR)
        col = cols - 1 - col;
    return row * cols + col;
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
            stored[a] = (uint32_t)action_flip_cell(space->board, action_flip_inverse(flip),
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

/* --- an action is a cell, of the whole box or on board, in row-major order --- */

static uint64_t cells_length(const struct action_layout *layout, const struct board *b)
{
    if (layout->are_columns)
        return b->cols;
    /* Where all cells are on board, it would be another name of the same layout. */
    if (layout->only_on_board && b->n_on_board == b->n_cells)
        return 0;
    return (uint64_t)(layout->only_on_board ? b->n_on_board : b->n_cells) + layout->n_more;
}

/* Row 0 of the box moves as the columns do: the mirror keeps rows. */
static int64_t cells_cell(const struct action_layout *layout, const struct board *b,
                          uint64_t action)
{
    if (action == cells_length(layout, b) - layout->n_more)
        return -1;
    return layout->only_on_board ? (int64_t)b->order[action] : (int64_t)action;
}

static uint64_t cells_image(const struct action_layout *layout, const struct board *b, uint32_t t,
                            uint64_t action)
{
    const int64_t cell = cells_cell(layout, b, action);

    if (cell < 0)
        return action;
    if (!layout->only_on_board)
        return b->transforms[t].dst[cell];
    const uint32_t *at = bsearch(&b->transforms[t].dst[cell], b->order, b->n_on_board,
                                 sizeof *b->order, board_compare_cells);
    return at != NULL ? (uint64_t)(at - b->order) : UINT32_MAX; /* of a board that is refused */
}

static struct action_about cells_about(const struct action_layout *layout, const struct board *b,
                                       uint64_t action, char *text)
{
    const int64_t cell = cells_cell(layout, b, action);
    const bool is_off = cell >= 0 && !b->on_board[cell];

    if (text != NULL && (cell < 0 || layout->are_columns))
        snprintf(text, ACTION_TEXT_NBYTES, cell < 0 ? "pass" : "column %u", (unsigned)cell);
    else if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "play at %s%s", board_cell_text(b, (uint32_t)cell).text,
                 is_off ? ", off board" : "");
    if (cell < 0)
        return (struct action_about){ACTION_ENCODABLE, -1, "pass"};
    if (layout->are_columns)
        return (struct action_about){ACTION_ENCODABLE, -1, "placement"};
    return (struct action_about){is_off ? 0 : ACTION_ENCODABLE | ACTION_PLACEMENT, cell,
                                 "placement"};
}

#define CELLS_LAYOUT(name_, n_more_, only_on_board_, ...)                                \
    {                                                                                    \
        .name = (name_), .summary = __VA_ARGS__, .n_more = (n_more_),                    \
        .only_on_board = (only_on_board_), .length = cells_length, .image = cells_image, \
        .about = cells_about                                                             \
    }

const struct action_layout action_layout_cells =
    CELLS_LAYOUT("cells", 0, false, "one entry per cell, in row-major order");
const struct action_layout action_layout_cells_pass =
    CELLS_LAYOUT("cells+pass", 1, false, "one entry per cell, in row-major order, then pass");
const struct action_layout action_layout_cells_box = CELLS_LAYOUT(
    "cells-box", 0, false, "one entry per cell of the box, off-board corners included");
const struct action_layout action_layout_cells_box_pass =
    CELLS_LAYOUT("cells-box+pass", 1, false, "one entry per cell of the box, then pass");
const struct action_layout action_layout_cells_board =
    CELLS_LAYOUT("cells-board", 0, true, "one entry per on-board cell, in row-major order");
const struct action_layout action_layout_cells_board_pass = CELLS_LAYOUT(
    "cells-board+pass", 1, true, "one entry per on-board cell, in row-major order, then pass");
const struct action_layout action_layout_columns =
    CELLS_LAYOUT("columns", 0, false, "the column a piece is dropped into, W entries (Connect 4)",
                 .are_columns = true);

/* --- a move from one cell to any other --- */

/* The largest board with such a layout: 262144 actions. */
#define MOVES_MAX_CELLS 512

static uint64_t moves_length(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return b->n_cells <= MOVES_MAX_CELLS ? (uint64_t)b->n_cells * b->n_cells : 0;
}

static uint64_t moves_image(const struct action_layout *layout, const struct board *b, uint32_t t,
                            uint64_t action)
{
    const uint32_t *dst = b->transforms[t].dst;

    (void)layout;
    return (uint64_t)dst[action / b->n_cells] * b->n_cells + dst[action % b->n_cells];
}

static struct action_about moves_about(const struct action_layout *layout, const struct board *b,
                                       uint64_t action, char *text)
{
    const uint32_t from = (uint32_t)(action / b->n_cells), to = (uint32_t)(action % b->n_cells);

    (void)layout;
    if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "from %s to %s", board_cell_text(b, from).text,
                 board_cell_text(b, to).text);
    return (struct action_about){b->on_board[from] && b->on_board[to] ? ACTION_ENCODABLE : 0, from,
                                 "movement"};
}

const struct action_layout action_layout_moves = {
    .name = "from-to",
    .summary = "from * cells + to",
    .length = moves_length,
    .image = moves_image,
    .about = moves_about,
};

/* --- Breakthrough, as OpenSpiel has it: of every square six steps (down, then up, each to the
 * left, ahead, to the right), and each with and without a capture --- */

static uint64_t steps_length(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return 12 * (uint64_t)b->n_cells;
}

static uint64_t steps_image(const struct action_layout *layout, const struct board *b, uint32_t t,
                            uint64_t action)
{
    const struct board_turn *turn = &b->family->box->elements[t].turn;
    const uint64_t way = action / 6 % 2, side = action / 2 % 3, captures = action % 2;

    (void)layout;
    return b->transforms[t].dst[action / 12] * UINT64_C(12) + (turn->rr < 0 ? 1 - way : way) * 6 +
           (turn->cc < 0 ? 2 - side : side) * 2 + captures;
}

static struct action_about steps_about(const struct action_layout *layout, const struct board *b,
                                       uint64_t action, char *text)
{
    const uint32_t from = (uint32_t)(action / 12);
    const int64_t row = (int64_t)(from / b->cols) + (action / 6 % 2 == 0 ? 1 : -1);
    const int64_t col = (int64_t)(from % b->cols) + (int64_t)(action / 2 % 3) - 1;
    const bool captures = action % 2 == 1, is_ahead = action / 2 % 3 == 1;
    const bool leaves = row < 0 || row >= b->rows || col < 0 || col >= b->cols;

    (void)layout;
    if (text != NULL)
        snprintf(text, ACTION_TEXT_NBYTES, "move %s -> %s%s", board_cell_text(b, from).text,
                 leaves ? "off the board"
                        : board_cell_text(b, (uint32_t)(row * b->cols + col)).text,
                 captures ? ", capture" : "");
    return (struct action_about){leaves || (captures && is_ahead) ? 0 : ACTION_ENCODABLE, from,
                                 "movement"};
}

const struct action_layout action_layout_breakthrough = {
    .name = "breakthrough",
    .summary = "OpenSpiel's: (from * 6 + step) * 2 + capture",
    .length = steps_length,
    .image = steps_image,
    .about = steps_about,
};
