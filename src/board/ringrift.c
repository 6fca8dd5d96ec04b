/*
 * ringrift.c - the policy heads of RingRift, on hexagons and on squares.
 *
 * A head is a run of sections. A section holds, for every cell of the box, the same number of
 * entries ("slots"), or a fixed number of entries that stay in place. A transform moves a cell's
 * slots to the image of the cell; only movement also changes the slot, whose direction turns.
 */
#include "board/families.h"

#include "base/perm.h"

#include <inttypes.h>
#include <stdio.h>

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
    uint32_t n_slots; /* per cell; in a move section directions, of D distances each; without a
                         cell all entries. 0: the rest of the head */
    const char *text; /* for describe */
};

#define SKIP_TEXT "skip, or another action without a cell"

static const struct section hexagon_sections[] = {
    {SECTION_PLACE, 3, NULL},
    {SECTION_MOVE, 6, NULL},
    {SECTION_FIXED, 1, SKIP_TEXT},
    {SECTION_UNUSED, 0, "unused"},
};

static const struct section square_sections[] = {
    {SECTION_PLACE, 3, NULL},
    {SECTION_MOVE, 8, NULL},
    {SECTION_LINE, 4, NULL},
    {SECTION_ELIMINATE, 1, NULL},
    {SECTION_FIXED, 1, "skip placement"},
    {SECTION_FIXED, 1, "swap sides"},
    {SECTION_FIXED, 1, "skip recovery"},
    {SECTION_FIXED, 4, "line choice"},
    {SECTION_TERRITORY, 32, NULL},
    {SECTION_FIXED, 7, "special action"},
    {SECTION_UNUSED, 0, "unused"},
};

static const struct board_step hexagon_directions[6] = {{0, 1},  {1, 0},  {1, -1},
                                                        {0, -1}, {-1, 0}, {-1, 1}};
static const struct board_step square_directions[8] = {{-1, -1}, {-1, 0}, {-1, 1}, {0, -1},
                                                       {0, 1},   {1, -1}, {1, 0},  {1, 1}};

/* An action taken apart. */
struct place {
    const struct section *section;
    uint64_t base;  /* of the section */
    uint32_t cell;  /* 0 in sections without a cell */
    uint32_t slot;  /* the entry's number in sections without a cell */
    uint32_t width; /* slots per cell */
};

static bool is_hexagon(const struct board *b)
{
    return b->family == &board_family_hexagon;
}

static bool has_cells(const struct section *section)
{
    return section->kind != SECTION_FIXED && section->kind != SECTION_UNUSED;
}

static const struct section *sections_of(const struct board *b)
{
    return is_hexagon(b) ? hexagon_sections : square_sections;
}

static const struct board_step *directions_of(const struct board *b)
{
    return is_hexagon(b) ? hexagon_directions : square_directions;
}

const struct board_step *ringrift_directions(const struct board *b, uint32_t *n)
{
    *n = is_hexagon(b) ? 6 : 8;
    return directions_of(b);
}

static uint32_t width_of(const struct board *b, const struct section *section)
{
    return section->kind == SECTION_MOVE ? section->n_slots * (b->cols - 1) : section->n_slots;
}

static uint64_t length(const struct board *b)
{
    const uint64_t n_cells = b->n_cells;

    if (is_hexagon(b))
        return 3 * n_cells + 6 * n_cells * (b->cols - 1) + 1;
    return b->size == 8 ? 7000 : b->size == 19 ? 67000 : 0;
}

static uint64_t padded_length(const struct board *b)
{
    return is_hexagon(b) && b->size == 4 ? 4500 : 0;
}

static uint32_t turn_hexagon(uint32_t t, uint32_t direction)
{
    /* Ids 6-11 rotate, then exchange q and r, which takes direction d to 1 - d. */
    const uint32_t turned = (direction + t) % 6;

    return t < 6 ? turned : (7 - turned) % 6;
}

static uint32_t turn_square(uint32_t t, uint32_t direction)
{
    const struct board_turn *turn = &board_box_square.elements[t].turn;
    const struct board_step *step = &square_directions[direction];
    const int rows = turn->rr * step->rows + turn->rc * step->cols;
    const int cols = turn->cr * step->rows + turn->cc * step->cols;
    const uint32_t at = (uint32_t)((rows + 1) * 3 + cols + 1);

    return at - (at > 4); /* the list skips the middle of the 3 x 3 neighbourhood */
}

static uint32_t turn(const struct board *b, uint32_t t, uint32_t direction)
{
    return is_hexagon(b) ? turn_hexagon(t, direction) : turn_square(t, direction);
}

static struct place place_of(const struct board *b, uint64_t action)
{
    struct place place = {.section = sections_of(b)};

    for (;; place.section++) {
        uint64_t n = place.section->n_slots;

        place.width = width_of(b, place.section);
        if (has_cells(place.section))
            n = (uint64_t)place.width * b->n_cells;
        if (action - place.base < n || n == 0)
            break;
        place.base += n;
    }
    action -= place.base;
    place.slot = (uint32_t)action;
    if (has_cells(place.section)) {
        place.cell = (uint32_t)(action / place.width);
        place.slot = (uint32_t)(action % place.width);
    }
    return place;
}

static uint64_t image(const struct board *b, uint32_t t, uint64_t action)
{
    const struct place place = place_of(b, action);
    const uint32_t distances = b->cols - 1;
    uint32_t slot = place.slot;

    if (!has_cells(place.section))
        return action;
    if (place.section->kind == SECTION_MOVE && b->on_board[place.cell])
        slot = turn(b, t, slot / distances) * distances + slot % distances;
    return place.base + (uint64_t)b->transforms[t].dst[place.cell] * place.width + slot;
}

static void set_run(uint32_t *dst, uint64_t from, uint64_t to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        dst[from + i] = (uint32_t)(to + i);
}

/* The same for all actions: a cell's slots are runs that go where the cell goes, one for each
 * direction, which turns, or one. */
static void map(const struct board *b, uint32_t t, uint32_t *dst)
{
    const uint64_t end = length(b);
    uint64_t base = 0;

    for (const struct section *s = sections_of(b); base < end; s++) {
        const uint32_t width = width_of(b, s);
        const uint32_t n_runs = s->kind == SECTION_MOVE ? s->n_slots : 1, n = width / n_runs;
        uint32_t turned[8] = {0};

        if (!has_cells(s)) {
            const uint32_t n_fixed = s->n_slots != 0 ? s->n_slots : (uint32_t)(end - base);

            set_run(dst, base, base, n_fixed);
            base += n_fixed;
            continue;
        }
        for (uint32_t d = 0; d < n_runs && n_runs > 1; d++)
            turned[d] = turn(b, t, d);
        for (uint32_t cell = 0; cell < b->n_cells; cell++)
            for (uint32_t d = 0; d < n_runs; d++)
                set_run(dst, base + (uint64_t)cell * width + (uint64_t)d * n,
                        base + (uint64_t)b->transforms[t].dst[cell] * width +
                            (uint64_t)(b->on_board[cell] ? turned[d] : d) * n,
                        n);
        base += (uint64_t)width * b->n_cells;
    }
}

/* Where a movement ends; -1 when that is off the board. */
static int64_t target_of(const struct board *b, const struct place *place)
{
    const struct board_step *step = &directions_of(b)[place->slot / (b->cols - 1)];
    const int64_t distance = place->slot % (b->cols - 1) + 1;
    const int64_t row = place->cell / b->cols + step->rows * distance;
    const int64_t col = place->cell % b->cols + step->cols * distance;

    if (row < 0 || row >= b->rows || col < 0 || col >= b->cols)
        return -1;
    return b->on_board[row * b->cols + col] ? row * b->cols + col : -1;
}

static unsigned flags(const struct board *b, uint64_t action)
{
    const struct place place = place_of(b, action);
    const bool on_board = b->on_board[place.cell];

    switch (place.section->kind) {
    case SECTION_PLACE:
        return on_board ? ACTION_ENCODABLE : 0;
    case SECTION_MOVE:
        return on_board && target_of(b, &place) >= 0 ? ACTION_ENCODABLE : 0;
    case SECTION_LINE:
        return place.slot == 0 ? ACTION_ENCODABLE | ACTION_AMBIGUOUS : ACTION_AMBIGUOUS;
    case SECTION_TERRITORY:
        return ACTION_ENCODABLE | ACTION_AMBIGUOUS;
    case SECTION_ELIMINATE:
    case SECTION_FIXED:
        return ACTION_ENCODABLE;
    case SECTION_UNUSED:
        break;
    }
    return 0;
}

static int64_t cell(const struct board *b, uint64_t action)
{
    const struct place place = place_of(b, action);

    if (place.section->kind != SECTION_PLACE && place.section->kind != SECTION_MOVE)
        return -1;
    return place.cell;
}

static void describe_move(const struct board *b, const struct place *place, const char *from,
                          char *text, size_t n_bytes)
{
    const struct board_step *step = &directions_of(b)[place->slot / (b->cols - 1)];
    const int distance = (int)(place->slot % (b->cols - 1)) + 1;
    const int row = (int)(place->cell / b->cols) + step->rows * distance;
    const int col = (int)(place->cell % b->cols) + step->cols * distance;

    snprintf(text, n_bytes, "move %s -> (%d,%d), distance %d%s", from, row, col, distance,
             target_of(b, place) < 0 ? ", leaves the board" : "");
}

static void describe(const struct board *b, uint64_t action, char *text, size_t n_bytes)
{
    const struct place place = place_of(b, action);
    const struct section *section = place.section;
    char at[48];

    board_cell_text(b, place.cell, at, sizeof at);
    switch (section->kind) {
    case SECTION_PLACE:
        snprintf(text, n_bytes, "place %u at %s%s", place.slot + 1, at,
                 b->on_board[place.cell] ? "" : ", off board");
        break;
    case SECTION_MOVE:
        describe_move(b, &place, at, text, n_bytes);
        break;
    case SECTION_LINE:
        snprintf(text, n_bytes, "process the line at %s, slot %u", at, place.slot);
        break;
    case SECTION_ELIMINATE:
        snprintf(text, n_bytes, "eliminate at %s", at);
        break;
    case SECTION_TERRITORY:
        snprintf(text, n_bytes, "choose the territory at %s, size %u%s, player %u", at,
                 place.slot / 4 + 1, place.slot / 4 == 7 ? " or more" : "", place.slot % 4 + 1);
        break;
    case SECTION_FIXED:
    case SECTION_UNUSED:
        if (section->n_slots > 1)
            snprintf(text, n_bytes, "%s %u", section->text, place.slot + 1);
        else
            snprintf(text, n_bytes, "%s", section->text);
        break;
    }
}

const struct action_layout action_layout_ringrift = {
    .name = "ringrift",
    .summary = "RingRift's policy head: placements, movements, then actions without a cell",
    .length = length,
    .padded_length = padded_length,
    .image = image,
    .map = map,
    .flags = flags,
    .cell = cell,
    .describe = describe,
};
