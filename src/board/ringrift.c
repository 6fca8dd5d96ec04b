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
    const struct board_box *box = is_hexagon(b) ? &board_box_hexagon : &board_box_square;
    const struct board_turn *turn = &box->elements[t].turn;
    const struct board_step *steps = directions_of(b), *from = &steps[direction];
    uint32_t to = 0;

    while (steps[to].rows != turn->rr * from->rows + turn->rc * from->cols ||
           steps[to].cols != turn->cr * from->rows + turn->cc * from->cols)
        to++;
    return to;
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

static uint64_t image(const struct action_layout *layout, const struct board *b, uint32_t t,
                      uint64_t action)
{
    const struct place place = place_of(b, action);
    const uint32_t distances = b->cols - 1;
    uint32_t slot = place.slot;

    (void)layout;
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
static void map(const struct action_layout *layout, const struct board *b, uint32_t t,
                uint32_t *dst)
{
    const uint64_t end = length(layout, b);
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

/* Where a movement ends, in or out of the box. */
static struct board_step target_of(const struct board *b, const struct place *place)
{
    const struct board_step *step = &directions_of(b)[place->slot / (b->cols - 1)];
    const int distance = (int)(place->slot % (b->cols - 1)) + 1;

    return (struct board_step){(int)(place->cell / b->cols) + step->rows * distance,
                               (int)(place->cell % b->cols) + step->cols * distance};
}

static bool leaves_board(const struct board *b, struct board_step to)
{
    return to.rows < 0 || to.rows >= (int)b->rows || to.cols < 0 || to.cols >= (int)b->cols ||
           !b->on_board[to.rows * (int)b->cols + to.cols];
}

static unsigned flags(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    const struct place place = place_of(b, action);
    const bool on_board = b->on_board[place.cell];

    (void)layout;
    switch (place.section->kind) {
    case SECTION_PLACE:
        return on_board ? ACTION_ENCODABLE : 0;
    case SECTION_MOVE:
        return on_board && !leaves_board(b, target_of(b, &place)) ? ACTION_ENCODABLE : 0;
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

static int64_t cell(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    const struct place place = place_of(b, action);

    (void)layout;
    if (place.section->kind != SECTION_PLACE && place.section->kind != SECTION_MOVE)
        return -1;
    return place.cell;
}

static const char *kind(const struct action_layout *layout, const struct board *b, uint64_t action)
{
    static const char *const kinds[] = {
        [SECTION_PLACE] = "placement",     [SECTION_MOVE] = "movement",
        [SECTION_LINE] = "line",           [SECTION_ELIMINATE] = "elimination",
        [SECTION_TERRITORY] = "territory", [SECTION_FIXED] = "special",
        [SECTION_UNUSED] = "unused",
    };

    (void)layout;
    return kinds[place_of(b, action).section->kind];
}

static void describe(const struct action_layout *layout, const struct board *b, uint64_t action,
                     char *text, size_t n_bytes)
{
    const struct place place = place_of(b, action);
    const struct section *section = place.section;
    struct board_step to;
    char at[48];

    (void)layout;
    board_cell_text(b, place.cell, at, sizeof at);
    switch (section->kind) {
    case SECTION_PLACE:
        snprintf(text, n_bytes, "place %u at %s%s", place.slot + 1, at,
                 b->on_board[place.cell] ? "" : ", off board");
        break;
    case SECTION_MOVE:
        to = target_of(b, &place);
        snprintf(text, n_bytes, "move %s -> (%d,%d), distance %u%s", at, to.rows, to.cols,
                 place.slot % (b->cols - 1) + 1, leaves_board(b, to) ? ", leaves the board" : "");
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
    .kind = kind,
    .describe = describe,
};
