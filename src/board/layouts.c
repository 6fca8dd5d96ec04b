/*
 * layouts.c - all policy layouts except those of chess: an action is a cell, a column, a move
 * between any two cells, a step of Breakthrough, one of RingRift's actions, or one that a board
 * file defines.
 *
 * A policy is a sequence of sections. A section holds the same number of entries ("slots") for
 * every cell, or a number of entries that stay in place. A transform moves a cell's slots to the
 * image of the cell; the slot itself changes only in movements: its direction turns, or its target
 * cell moves.
 */
#include "board/families.h"

enum section_kind {
    /* Without a cell. */
    SECTION_UNUSED, /* never encoded: the rest of the policy */
    SECTION_FIXED,  /* stays in place */
    SECTION_ACTION, /* moved by the actions map of a board file */

    SECTION_COLUMN,    /* the cells of row 0, one slot */
    SECTION_LINE,      /* process a line that starts here: encoders use slot 0 only */
    SECTION_ELIMINATE, /* one slot */
    SECTION_TERRITORY, /* slot: min(size - 1, 7) * 4 + player - 1 */

    /* Placements on a cell and movements from it. */
    SECTION_CELL,   /* one slot */
    SECTION_TARGET, /* slot: the target cell */
    SECTION_STEP,   /* slot: direction * 2 + 1 for a capture, + 0 otherwise */
    SECTION_PLACE,  /* slot: number of rings - 1 */
    SECTION_MOVE,   /* slot: direction * D + distance - 1 */
};

struct section {
    enum section_kind kind;
    uint32_t n_slots;  /* per cell; for steps and moves: directions; without a cell: entries */
    const char *about; /* the kind of its actions */
    const char *text;  /* what an entry without a cell means */
};

static const struct section unused = {SECTION_UNUSED, 0, "unused", "unused"};

/* The table of a layout. */
struct scheme {
    bool only_on_board; /* only on-board cells have entries */
    const struct board_step *directions;
    struct section sections[11]; /* up to the first one of kind SECTION_UNUSED */
};

static const struct board_step hexagon_directions[6] = {{0, 1},  {1, 0},  {1, -1},
                                                        {0, -1}, {-1, 0}, {-1, 1}};
static const struct board_step square_directions[8] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                                       {0, 1},   {1, -1}, {1, 0},  {1, 1}};
static const struct board_step steps_directions[6] = {{1, -1},  {1, 0},  {1, 1},
                                                      {-1, -1}, {-1, 0}, {-1, 1}};

/* The largest board with the from-to layout: 262144 actions. */
#define MOVES_MAX_CELLS 512

#define MAX_WIDTH (6 * 254) /* slots of a cell: movements on the largest hexagon */

/* An action, decoded. */
struct place {
    const struct section *section;
    uint64_t base;                 /* the section's first action */
    uint32_t cell;                 /* 0 in sections without a cell */
    uint32_t slot;                 /* the entry's number in sections without a cell */
    uint32_t width;                /* slots per cell; of sections with cells only */
    uint32_t n_distances;          /* slots per direction */
    const struct board_step *step; /* the direction of a step or move; else NULL */
};

/* The number of cells, or columns, that have slots. */
static uint32_t n_places(const struct action_layout *layout, const struct board *b)
{
    const struct scheme *scheme = layout->scheme;

    if (scheme->sections[0].kind == SECTION_COLUMN)
        return b->cols;
    return scheme->only_on_board ? b->n_on_board : b->n_cells;
}

static struct place place_of(const struct action_layout *layout, const struct board *b,
                             uint64_t action)
{
    const struct scheme *scheme = layout->scheme;
    const uint64_t n_with_slots = n_places(layout, b);
    struct place place = {.section = scheme->sections};

    for (;; place.section++) {
        const enum section_kind kind = place.section->kind;
        uint64_t n = kind == SECTION_ACTION ? b->n_actions : place.section->n_slots;

        if (kind > SECTION_ACTION) {
            place.n_distances = kind == SECTION_MOVE ? b->cols - 1 : kind == SECTION_STEP ? 2 : 1;
            place.width = kind == SECTION_TARGET ? b->n_cells : (uint32_t)n * place.n_distances;
            n = place.width * n_with_slots;
        }
        if (action - place.base < n || kind == SECTION_UNUSED)
            break;
        place.base += n;
    }
    place.slot = (uint32_t)(action - place.base);
    if (place.section->kind == SECTION_UNUSED)
        place.section = &unused;
    if (place.section->kind <= SECTION_ACTION)
        return place;
    place.cell = place.slot / place.width;
    place.slot %= place.width;
    if (scheme->only_on_board)
        place.cell = b->order[place.cell];
    if (place.section->kind == SECTION_STEP || place.section->kind == SECTION_MOVE)
        place.step = &scheme->directions[place.slot / place.n_distances];
    return place;
}

/* The sections up to the unused one; only RingRift's squares have a longer policy of fixed length.
 */
static uint64_t length(const struct action_layout *layout, const struct board *b)
{
    const struct scheme *scheme = layout->scheme;

    /* Where all cells are on board, only_on_board would be a second name for the same layout. */
    if ((scheme->only_on_board && b->n_on_board == b->n_cells) ||
        (layout == &action_layout_moves && b->n_cells > MOVES_MAX_CELLS))
        return 0;
    if (layout == &action_layout_ringrift_square)
        return b->size == 8 ? 7000 : b->size == 19 ? 67000 : 0;
    return place_of(layout, b, UINT64_MAX).base;
}

/* The slot of a step or move after transform t has turned its direction. */
static uint32_t turned(const struct action_layout *layout, const struct board *b, uint32_t t,
                       const struct place *place)
{
    const struct board_step *directions = ((const struct scheme *)layout->scheme)->directions;
    const struct board_step from = directions[place->slot / place->n_distances];
    const struct board_step to = board_turned(&b->family->box->elements[t].turn, from);
    uint32_t direction = 0;

    while (directions[direction].rows != to.rows || directions[direction].cols != to.cols)
        direction++;
    return direction * place->n_distances + place->slot % place->n_distances;
}

/* A cell's slots go where the cell goes. All cells of a section have the same slots in the same
 * order, and all but off-board ones, from which nothing moves, turn them alike. */
static void images(const struct action_layout *layout, const struct board *b, uint32_t t,
                   uint32_t *dst)
{
    const uint32_t n = (uint32_t)layout->length(layout, b), n_with_slots = n_places(layout, b);
    const bool only_on_board = ((const struct scheme *)layout->scheme)->only_on_board;
    const uint32_t *cells = b->transforms[t].dst;
    uint32_t slots[MAX_WIDTH], at = 0;

    while (at < n) {
        struct place place = place_of(layout, b, at);
        const enum section_kind kind = place.section->kind;

        if (kind <= SECTION_ACTION) {
            dst[at] = kind == SECTION_ACTION ? b->transforms[t].actions[at] : at;
            at++;
            continue;
        }
        for (uint32_t i = 0; i < place.width; i++) {
            place.slot = slots[i] = i;
            if (kind == SECTION_TARGET)
                slots[i] = cells[i];
            else if (place.step != NULL)
                slots[i] = turned(layout, b, t, &place);
        }
        for (uint32_t k = 0; k < n_with_slots; k++) {
            const uint32_t cell = only_on_board ? b->order[k] : k;
            const bool stays = kind == SECTION_MOVE && !b->on_board[cell];
            uint32_t to = cells[cell];

            if (only_on_board) {
                const uint32_t *found =
                    bsearch(&to, b->order, b->n_on_board, sizeof to, order_of_u32);

                to = found != NULL ? (uint32_t)(found - b->order) : UINT32_MAX; /* a bad board */
            }
            for (uint32_t slot = 0; slot < place.width; slot++)
                dst[at++] = (uint32_t)place.base + to * place.width + (stays ? slot : slots[slot]);
        }
    }
}

static struct action_about about(const struct action_layout *layout, const struct board *b,
                                 uint64_t action, char *text)
{
    const struct place place = place_of(layout, b, action);
    const enum section_kind kind = place.section->kind;
    const uint32_t slot = place.slot, n = kind == SECTION_MOVE ? slot % place.n_distances + 1 : 1;
    struct action_about about = {ACTION_ENCODABLE, kind >= SECTION_CELL ? (int64_t)place.cell : -1,
                                 place.section->about};
    const char *off = b->on_board[place.cell] ? "" : ", off board";
    const struct board_step step = place.step != NULL ? *place.step : (struct board_step){0, 0};
    const uint32_t to = place.step != NULL ? board_cell_after(b, place.cell, step, n) : slot;
    const bool leaves = place.step != NULL && to == BOARD_NO_CELL;

    if (kind == SECTION_UNUSED || (about.cell >= 0 && !b->on_board[about.cell]) || leaves ||
        (kind == SECTION_TARGET && !b->on_board[slot]) || (kind == SECTION_LINE && slot > 0) ||
        (kind == SECTION_STEP && step.cols == 0 && slot % 2 == 1)) /* none is captured ahead */
        about.flags = 0;
    else if (kind == SECTION_CELL)
        about.flags |= ACTION_PLACEMENT;
    if (kind == SECTION_LINE || kind == SECTION_TERRITORY)
        about.flags |= ACTION_AMBIGUOUS;
    if (text == NULL)
        return about;
    text[0] = '\0';
    const struct text_quoted at = board_cell_text(b, place.cell);
    if (kind == SECTION_CELL)
        text_add(text, ACTION_TEXT_NBYTES, "play at %s%s", at.text, off);
    else if (kind == SECTION_COLUMN)
        text_add(text, ACTION_TEXT_NBYTES, "column %u", place.cell);
    else if (kind == SECTION_TARGET)
        text_add(text, ACTION_TEXT_NBYTES, "from %s to %s", at.text, board_cell_text(b, slot).text);
    else if (kind == SECTION_STEP)
        text_add(text, ACTION_TEXT_NBYTES, "move %s -> %s%s", at.text,
                 leaves ? "off the board" : board_cell_text(b, to).text,
                 slot % 2 == 1 ? ", capture" : "");
    else if (kind == SECTION_PLACE)
        text_add(text, ACTION_TEXT_NBYTES, "place %u at %s%s", slot + 1, at.text, off);
    else if (kind == SECTION_MOVE)
        text_add(text, ACTION_TEXT_NBYTES, "move %s -> (%d,%d), distance %u%s", at.text,
                 (int)(place.cell / b->cols) + step.rows * (int)n,
                 (int)(place.cell % b->cols) + step.cols * (int)n, n,
                 leaves ? ", leaves the board" : "");
    else if (kind == SECTION_LINE)
        text_add(text, ACTION_TEXT_NBYTES, "process the line at %s, slot %u", at.text, slot);
    else if (kind == SECTION_ELIMINATE)
        text_add(text, ACTION_TEXT_NBYTES, "eliminate at %s", at.text);
    else if (kind == SECTION_TERRITORY)
        text_add(text, ACTION_TEXT_NBYTES, "choose the territory at %s, size %u%s, player %u",
                 at.text, slot / 4 + 1, slot / 4 == 7 ? " or more" : "", slot % 4 + 1);
    else if (kind == SECTION_ACTION)
        text_add(text, ACTION_TEXT_NBYTES, "action %u", slot);
    else if (place.section->n_slots > 1)
        text_add(text, ACTION_TEXT_NBYTES, "%s %u", place.section->text, slot + 1);
    else
        text_add(text, ACTION_TEXT_NBYTES, "%s", place.section->text);
    return about;
}

/* The functions and the table of a layout of these sections. */
#define SECTIONS(only_on_board, directions, ...)                                                  \
    .scheme = &(const struct scheme){only_on_board, directions, {__VA_ARGS__}}, .length = length, \
    .images = images, .about = about

/* A layout of cells, and the same with a pass after them. */
#define CELLS(id, name, only_on_board, summary, more)                                             \
    const struct action_layout action_layout_##id = {                                             \
        name, summary more, SECTIONS(only_on_board, NULL, {SECTION_CELL, 1, "placement", NULL})}; \
    const struct action_layout action_layout_##id##_pass = {                                      \
        name "+pass", summary ", then pass",                                                      \
        SECTIONS(only_on_board, NULL, {SECTION_CELL, 1, "placement", NULL},                       \
                 {SECTION_FIXED, 1, "pass", "pass"})};
CELLS(cells, "cells", false, "one entry per cell, in row-major order", "")
CELLS(cells_box, "cells-box", false, "one entry per cell of the box",
      ", off-board corners included")
CELLS(cells_board, "cells-board", true, "one entry per on-board cell, in row-major order", "")

const struct action_layout action_layout_columns = {
    "columns", "the column a piece is dropped into, W entries (Connect 4)",
    SECTIONS(false, NULL, {SECTION_COLUMN, 1, "placement", NULL})};
const struct action_layout action_layout_moves = {
    "from-to", "from * cells + to", SECTIONS(false, NULL, {SECTION_TARGET, 1, "movement", NULL})};
const struct action_layout action_layout_file = {
    "file", "as the actions of the board file say",
    SECTIONS(false, NULL, {SECTION_ACTION, 0, "action", NULL})};
const struct action_layout action_layout_breakthrough = {
    "breakthrough", "OpenSpiel's: (from * 6 + step) * 2 + capture",
    SECTIONS(false, steps_directions, {SECTION_STEP, 6, "movement", NULL})};

#define RINGRIFT_SUMMARY \
    "RingRift's policy head: placements, movements, then actions without a cell"

const struct action_layout action_layout_ringrift_hexagon = {
    "ringrift", RINGRIFT_SUMMARY, .padded_size = 4, .padded_length = 4500,
    SECTIONS(false, hexagon_directions, {SECTION_PLACE, 3, "placement", NULL},
             {SECTION_MOVE, 6, "movement", NULL},
             {SECTION_FIXED, 1, "special", "skip, or another action without a cell"})};
const struct action_layout action_layout_ringrift_square = {
    "ringrift", RINGRIFT_SUMMARY,
    SECTIONS(
        false, square_directions, {SECTION_PLACE, 3, "placement", NULL},
        {SECTION_MOVE, 8, "movement", NULL}, {SECTION_LINE, 4, "line", NULL},
        {SECTION_ELIMINATE, 1, "elimination", NULL},
        {SECTION_FIXED, 1, "special", "skip placement"},
        {SECTION_FIXED, 1, "special", "swap sides"}, {SECTION_FIXED, 1, "special", "skip recovery"},
        {SECTION_FIXED, 4, "special", "line choice"}, {SECTION_TERRITORY, 32, "territory", NULL},
        {SECTION_FIXED, 7, "special", "special action"})};
