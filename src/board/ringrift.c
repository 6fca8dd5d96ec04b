/*
 * ringrift.c - the policy heads of RingRift, on hexagons and on squares.
 *
 * A head is a run of sections. A section holds, for every cell of the box, the same number of
 * entries ("slots"), or a fixed number of entries that stay in place. A transform moves a cell's
 * slots to the image of the cell; only movement also changes the slot, whose direction turns.
 */
#include "board/families.h"

enum section_kind {
    SECTION_PLACE,     /* slot: number of rings - 1 */
    SECTION_MOVE,      /* slot: direction * D + distance - 1 */
    SECTION_LINE,      /* process a line that starts here: only slot 0 is written */
    SECTION_ELIMINATE, /* one slot */
    SECTION_TERRITORY, /* slot: min(size - 1, 7) * 4 + player - 1 */
    SECTION_FIXED,     /* no cell */
    SECTION_UNUSED,    /* no cell, never written */
};

struct section {
    enum section_kind kind;
    uint32_t n_slots;  /* per cell; in a move section directions, of D distances each; without a
                          cell all entries. 0: the rest of the head */
    const char *about; /* what its actions are */
    const char *text;  /* of entries without a cell, for people */
};

static const struct section hexagon_sections[] = {
    {SECTION_PLACE, 3, "placement", NULL},
    {SECTION_MOVE, 6, "movement", NULL},
    {SECTION_FIXED, 1, "special", "skip, or another action without a cell"},
    {SECTION_UNUSED, 0, "unused", "unused"},
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
    {SECTION_UNUSED, 0, "unused", "unused"},
};

static const struct board_step hexagon_directions[6] = {{0, 1},  {1, 0},  {1, -1},
                                                        {0, -1}, {-1, 0}, {-1, 1}};
static const struct board_step square_directions[8] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                                       {0, 1},   {1, -1}, {1, 0},  {1, 1}};

#define MAX_WIDTH (6 * 254) /* slots of a cell: movements on the largest hexagon */

/* An action taken apart. */
struct place {
    const struct section *section;
    uint64_t base;  /* of the section */
    uint32_t cell;  /* 0 in sections without a cell */
    uint32_t slot;  /* the entry's number in sections without a cell */
    uint32_t width; /* slots per cell; 0 without */
};

static bool is_hexagon(const struct board *b)
{
    return b->family == &board_family_hexagon;
}

static const struct section *sections_of(const struct board *b)
{
    return is_hexagon(b) ? hexagon_sections : square_sections;
}

const struct board_step *ringrift_directions(const struct board *b, uint32_t *n)
{
    *n = is_hexagon(b) ? 6 : 8;
    return is_hexagon(b) ? hexagon_directions : square_directions;
}

static uint32_t width_of(const struct board *b, const struct section *section)
{
    if (section->kind == SECTION_FIXED || section->kind == SECTION_UNUSED)
        return 0;
    return section->kind == SECTION_MOVE ? section->n_slots * (b->cols - 1) : section->n_slots;
}

static uint64_t length(const struct action_layout *layout, const struct board *b)
{
    const uint64_t n_cells = b->n_cells;

    (void)layout;
    if (is_hexagon(b))
        return 3 * n_cells + 6 * n_cells * (b->cols - 1) + 1;
    return b->size == 8 ? 7000 : b->size == 19 ? 67000 : 0;
}

static uint64_t padded_length(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return is_hexagon(b) && b->size == 4 ? 4500 : 0;
}

static uint32_t turn(const struct board *b, uint32_t t, uint32_t direction)
{
    const struct board_turn *turn = &b->family->box->elements[t].turn;
    uint32_t n, to = 0;
    const struct board_step *steps = ringrift_directions(b, &n), *from = &steps[direction];

    while (steps[to].rows != turn->rr * from->rows + turn->rc * from->cols ||
           steps[to].cols != turn->cr * from->rows + turn->cc * from->cols)
        to++;
    return to;
}

static struct place place_of(const struct board *b, uint64_t action)
{
    struct place place = {.section = sections_of(b)};

    for (;; place.section++) {
        place.width = width_of(b, place.section);
        const uint64_t n =
            place.width > 0 ? (uint64_t)place.width * b->n_cells : place.section->n_slots;
        if (action - place.base < n || n == 0)
            break;
        place.base += n;
    }
    action -= place.base;
    place.slot = (uint32_t)action;
    if (place.width > 0) {
        place.cell = (uint32_t)(action / place.width);
        place.slot = (uint32_t)(action % place.width);
    }
    return place;
}

static uint64_t image(const struct action_layout *layout, const struct board *b, uint32_t t,
                      uint64_t action)
{
    const struct place place = place_of(b, action);
    const uint32_t distances = b->cols - 1;
    uint32_t slot = place.slot;

    (void)layout;
    if (place.width == 0)
        return action;
    if (place.section->kind == SECTION_MOVE && b->on_board[place.cell])
        slot = turn(b, t, slot / distances) * distances + slot % distances;
    return place.base + (uint64_t)b->transforms[t].dst[place.cell] * place.width + slot;
}

/* The same for all actions: a cell's slots go where the cell goes, and on board they turn. */
static void map(const struct action_layout *layout, const struct board *b, uint32_t t,
                uint32_t *dst)
{
    const uint64_t end = length(layout, b);
    const uint32_t distances = b->cols - 1;
    uint32_t slots[MAX_WIDTH];

    for (uint64_t at = 0, base = 0; base < end; base = at) {
        const struct section *section = place_of(b, base).section;
        const uint32_t width = width_of(b, section);

        if (width == 0) {
            dst[at] = (uint32_t)at;
            at++;
        }
        for (uint32_t i = 0; i < width; i++)
            slots[i] = section->kind == SECTION_MOVE
                           ? turn(b, t, i / distances) * distances + i % distances
                           : i;
        for (uint32_t cell = 0; cell < b->n_cells && width > 0; cell++) {
            const uint64_t to = base + (uint64_t)b->transforms[t].dst[cell] * width;

            for (uint32_t i = 0; i < width; i++)
                dst[at++] = (uint32_t)(to + (b->on_board[cell] ? slots[i] : i));
        }
    }
}

static struct action_about about(const struct action_layout *layout, const struct board *b,
                                 uint64_t action, char *text)
{
    const struct place place = place_of(b, action);
    const enum section_kind kind = place.section->kind;
    const bool on_board = b->on_board[place.cell];
    const uint32_t distance = place.slot % (b->cols - 1) + 1;
    struct action_about about = {ACTION_ENCODABLE, -1, place.section->about};
    bool leaves = false;
    int row = 0, col = 0;

    (void)layout;
    if (kind == SECTION_MOVE) {
        uint32_t n;
        const struct board_step *step = &ringrift_directions(b, &n)[place.slot / (b->cols - 1)];

        row = (int)(place.cell / b->cols) + step->rows * (int)distance;
        col = (int)(place.cell % b->cols) + step->cols * (int)distance;
        leaves = row < 0 || row >= (int)b->rows || col < 0 || col >= (int)b->cols ||
                 !b->on_board[row * (int)b->cols + col];
    }
    if (kind == SECTION_PLACE || kind == SECTION_MOVE)
        about.cell = place.cell;
    if (kind == SECTION_UNUSED || (about.cell >= 0 && !on_board) || leaves ||
        (kind == SECTION_LINE && place.slot > 0))
        about.flags = 0;
    if (kind == SECTION_LINE || kind == SECTION_TERRITORY)
        about.flags |= ACTION_AMBIGUOUS;
    if (text == NULL)
        return about;
    struct cell_text at = board_cell_text(b, place.cell);
    if (kind == SECTION_PLACE)
        snprintf(text, ACTION_TEXT_NBYTES, "place %u at %s%s", place.slot + 1, at.text,
                 on_board ? "" : ", off board");
    else if (kind == SECTION_MOVE)
        snprintf(text, ACTION_TEXT_NBYTES, "move %s -> (%d,%d), distance %u%s", at.text, row, col,
                 distance, leaves ? ", leaves the board" : "");
    else if (kind == SECTION_LINE)
        snprintf(text, ACTION_TEXT_NBYTES, "process the line at %s, slot %u", at.text, place.slot);
    else if (kind == SECTION_ELIMINATE)
        snprintf(text, ACTION_TEXT_NBYTES, "eliminate at %s", at.text);
    else if (kind == SECTION_TERRITORY)
        snprintf(text, ACTION_TEXT_NBYTES, "choose the territory at %s, size %u%s, player %u",
                 at.text, place.slot / 4 + 1, place.slot / 4 == 7 ? " or more" : "",
                 place.slot % 4 + 1);
    else if (place.section->n_slots > 1)
        snprintf(text, ACTION_TEXT_NBYTES, "%s %u", place.section->text, place.slot + 1);
    else
        snprintf(text, ACTION_TEXT_NBYTES, "%s", place.section->text);
    return about;
}

const struct action_layout action_layout_ringrift = {
    .name = "ringrift",
    .summary = "RingRift's policy head: placements, movements, then actions without a cell",
    .length = length,
    .padded_length = padded_length,
    .image = image,
    .map = map,
    .about = about,
};
