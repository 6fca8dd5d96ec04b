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
    /* Placements on a cell and movements from it. */
    SECTION_CELL,   /* one slot */
    SECTION_TARGET, /* slot: the target cell */
    SECTION_STEP,   /* slot: direction * 2 + 1 for a capture, + 0 otherwise */
    SECTION_PLACE,  /* slot: number of rings - 1 */
    SECTION_MOVE,   /* slot: direction * D + distance - 1 */

    SECTION_COLUMN,    /* the cells of row 0, one slot */
    SECTION_LINE,      /* process a line that starts here: encoders use slot 0 only */
    SECTION_ELIMINATE, /* one slot */
    SECTION_TERRITORY, /* slot: min(size - 1, 7) * 4 + player - 1 */

    /* Without a cell. */
    SECTION_ACTION, /* moved by the actions map of a board file */
    SECTION_FIXED,  /* stays in place */
    SECTION_UNUSED, /* never encoded: the rest of the policy */
};

struct section {
    enum section_kind kind;
    uint32_t n_slots;  /* per cell; for steps and moves: directions; without a cell: entries */
    const char *about; /* the kind of its actions */
    const char *text;  /* what an entry without a cell means */
};

/* The table of a layout. */
struct scheme {
    const struct section *sections; /* the last one is SECTION_UNUSED */
    const struct board_step *directions;
};

#define UNUSED                                \
    {                                         \
        SECTION_UNUSED, 0, "unused", "unused" \
    }

static const struct section cells_sections[] = {{SECTION_CELL, 1, "placement", NULL}, UNUSED};
static const struct section pass_sections[] = {
    {SECTION_CELL, 1, "placement", NULL}, {SECTION_FIXED, 1, "pass", "pass"}, UNUSED};
static const struct section columns_sections[] = {{SECTION_COLUMN, 1, "placement", NULL}, UNUSED};
static const struct section moves_sections[] = {{SECTION_TARGET, 1, "movement", NULL}, UNUSED};
static const struct section steps_sections[] = {{SECTION_STEP, 6, "movement", NULL}, UNUSED};

static const struct section file_sections[] = {{SECTION_ACTION, 0, "action", NULL}, UNUSED};

static const struct section hexagon_sections[] = {
    {SECTION_PLACE, 3, "placement", NULL},
    {SECTION_MOVE, 6, "movement", NULL},
    {SECTION_FIXED, 1, "special", "skip, or another action without a cell"},
    UNUSED,
};

static const struct section square_sections[] = {
    {SECTION_PLACE, 3, "placement", NULL},
    {SECTION_MOVE, 8, "movement", NULL},
    {SECTION_LINE, 4, "line", NULL},
    {SECTION_ELIMINATE, 1, "elimination", NULL},
    {SECTION_FIXED, 1, "special", "skip placement"},
    {SECTION_FIXED, 1, "special", "swap sides"},
    {SECTION_FIXED, 1, "special", "skip recovery"},
    {SECTION_FIXED, 4, "special", "line choice"},
    {SECTION_TERRITORY, 32, "territory", NULL},
    {SECTION_FIXED, 7, "special", "special action"},
    UNUSED,
};

static const struct board_step hexagon_directions[6] = {{0, 1},  {1, 0},  {1, -1},
                                                        {0, -1}, {-1, 0}, {-1, 1}};
static const struct board_step square_directions[8] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                                       {0, 1},   {1, -1}, {1, 0},  {1, 1}};
static const struct board_step steps_directions[6] = {{1, -1},  {1, 0},  {1, 1},
                                                      {-1, -1}, {-1, 0}, {-1, 1}};

const struct board_step *ringrift_directions(const struct board *b, uint32_t *n)
{
    *n = b->family->box->is_hexagon ? 6 : 8;
    return *n == 6 ? hexagon_directions : square_directions;
}

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
    if (layout->are_columns)
        return b->cols;
    return layout->only_on_board ? b->n_on_board : b->n_cells;
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

        if (kind < SECTION_ACTION) {
            place.n_distances = kind == SECTION_MOVE ? b->cols - 1 : kind == SECTION_STEP ? 2 : 1;
            place.width = kind == SECTION_TARGET ? b->n_cells : (uint32_t)n * place.n_distances;
            n = place.width * n_with_slots;
        }
        if (action - place.base < n || kind == SECTION_UNUSED)
            break;
        place.base += n;
    }
    place.slot = (uint32_t)(action - place.base);
    if (place.section->kind >= SECTION_ACTION)
        return place;
    place.cell = place.slot / place.width;
    place.slot %= place.width;
    if (layout->only_on_board)
        place.cell = b->order[place.cell];
    if (place.section->kind == SECTION_STEP || place.section->kind == SECTION_MOVE)
        place.step = &scheme->directions[place.slot / place.n_distances];
    return place;
}

/* The sections up to the unused one; only RingRift's squares have a longer policy of fixed length.
 */
static uint64_t length(const struct action_layout *layout, const struct board *b)
{
    /* Where all cells are on board, only_on_board would be a second name for the same layout. */
    if ((layout->only_on_board && b->n_on_board == b->n_cells) ||
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
    const uint32_t *cells = b->transforms[t].dst;
    uint32_t slots[MAX_WIDTH], at = 0;

    while (at < n) {
        struct place place = place_of(layout, b, at);
        const enum section_kind kind = place.section->kind;

        if (kind >= SECTION_ACTION) {
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
            const uint32_t cell = layout->only_on_board ? b->order[k] : k;
            const bool stays = kind == SECTION_MOVE && !b->on_board[cell];
            uint32_t to = cells[cell];

            if (layout->only_on_board) {
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
    struct action_about about = {ACTION_ENCODABLE, kind <= SECTION_MOVE ? (int64_t)place.cell : -1,
                                 place.section->about};
    const char *off = b->on_board[place.cell] ? "" : ", off board";
    bool leaves = false, is_straight = false; /* the target is off board; a step straight ahead */
    int row = 0, col = 0;

    if (place.step != NULL) {
        row = (int)(place.cell / b->cols) + place.step->rows * (int)n;
        col = (int)(place.cell % b->cols) + place.step->cols * (int)n;
        leaves = row < 0 || row >= (int)b->rows || col < 0 || col >= (int)b->cols ||
                 !b->on_board[row * (int)b->cols + col];
        is_straight = place.step->cols == 0;
    }
    if (kind == SECTION_UNUSED || (about.cell >= 0 && !b->on_board[about.cell]) || leaves ||
        (kind == SECTION_TARGET && !b->on_board[slot]) || (kind == SECTION_LINE && slot > 0) ||
        (kind == SECTION_STEP && is_straight && slot % 2 == 1))
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
                 leaves ? "off the board"
                        : board_cell_text(b, (uint32_t)(row * (int)b->cols + col)).text,
                 slot % 2 == 1 ? ", capture" : "");
    else if (kind == SECTION_PLACE)
        text_add(text, ACTION_TEXT_NBYTES, "place %u at %s%s", slot + 1, at.text, off);
    else if (kind == SECTION_MOVE)
        text_add(text, ACTION_TEXT_NBYTES, "move %s -> (%d,%d), distance %u%s", at.text, row, col,
                 n, leaves ? ", leaves the board" : "");
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

#define RINGRIFT_SUMMARY \
    "RingRift's policy head: placements, movements, then actions without a cell"

#define LAYOUT(name_, sections_, directions_, ...)                                   \
    {                                                                                \
        .name = (name_), .summary = __VA_ARGS__, .length = length, .images = images, \
        .about = about, .scheme = &(const struct scheme)                             \
        {                                                                            \
            sections_, directions_                                                   \
        }                                                                            \
    }

const struct action_layout action_layout_cells =
    LAYOUT("cells", cells_sections, NULL, "one entry per cell, in row-major order");
const struct action_layout action_layout_cells_pass =
    LAYOUT("cells+pass", pass_sections, NULL, "one entry per cell, in row-major order, then pass");
const struct action_layout action_layout_cells_box = LAYOUT(
    "cells-box", cells_sections, NULL, "one entry per cell of the box, off-board corners included");
const struct action_layout action_layout_cells_box_pass =
    LAYOUT("cells-box+pass", pass_sections, NULL, "one entry per cell of the box, then pass");
const struct action_layout action_layout_cells_board =
    LAYOUT("cells-board", cells_sections, NULL, "one entry per on-board cell, in row-major order",
           .only_on_board = true);
const struct action_layout action_layout_cells_board_pass =
    LAYOUT("cells-board+pass", pass_sections, NULL,
           "one entry per on-board cell, in row-major order, then pass", .only_on_board = true);
const struct action_layout action_layout_columns =
    LAYOUT("columns", columns_sections, NULL,
           "the column a piece is dropped into, W entries (Connect 4)", .are_columns = true);
const struct action_layout action_layout_moves =
    LAYOUT("from-to", moves_sections, NULL, "from * cells + to");
const struct action_layout action_layout_file =
    LAYOUT("file", file_sections, NULL, "as the actions of the board file say");
const struct action_layout action_layout_breakthrough =
    LAYOUT("breakthrough", steps_sections, steps_directions,
           "OpenSpiel's: (from * 6 + step) * 2 + capture");
const struct action_layout action_layout_ringrift_hexagon =
    LAYOUT("ringrift", hexagon_sections, hexagon_directions, RINGRIFT_SUMMARY, .padded_size = 4,
           .padded_length = 4500);
const struct action_layout action_layout_ringrift_square =
    LAYOUT("ringrift", square_sections, square_directions, RINGRIFT_SUMMARY);
