/*
 * sketch.c - reduces a row to a few hashes that are equal for all images of a source.
 *
 * The shape of a position has for each cell a sum of hashes of what its channels hold. Channels
 * that a transform may exchange count as one; constant channels (the player to move, castling
 * rights) are left out; where colours may swap, signs and the two stones of a code are not
 * distinguished; nor is the order of a tile's digits. The least arrangement of these sums under a
 * group is the same for all images of a position, even if colours were exchanged wrongly or not at
 * all. Sums of such hashes over a channel or a policy are the same wherever its content was moved,
 * or if it was not.
 */
#include "verify/parts.h"

#include "base/perm.h"

#include <xxhash.h>

#define HARDLY 1000 /* a move this many times less likely than another hardly counts */

/* --- the symmetries --- */

static uint32_t n_maps(const struct sketcher *s, bool of_box)
{
    return !of_box ? s->lane->spec.n_steps : s->box != NULL ? s->box->n_transforms : 0;
}

static const uint32_t *map_of(const struct sketcher *s, bool of_box, uint32_t k)
{
    return of_box ? s->box->transforms[k].dst : s->lane->spec.steps[k].dst;
}

/* True when a symmetry of the board leaves what a cell holds as it is. */
static bool keeps_contents(const struct board *board, uint32_t t)
{
    return !board->transforms[t].swaps_colours && board_is_exact(board, t);
}

int sketcher_init(struct sketcher *s, const struct lanes *lanes, struct error *err)
{
    const struct lane *lane = &lanes->items[lanes->planes];
    const struct board *board = lane->spec.board;
    const uint32_t n_cells = (uint32_t)lane->spec.axis, rows = board->rows, cols = board->cols;
    bool has_more = false;

    *s = (struct sketcher){.lane = lane, .n_cells = n_cells};
    for (uint32_t t = 0; t < lane->spec.n_steps; t++)
        s->n_still +=
            keeps_contents(board, t) && perm_is_identity(lane->spec.steps[t].dst, n_cells);
    if (new_items(&s->room, 3 * (size_t)n_cells + 1, "shapes of positions", err) != 0 ||
        new_items(&s->hashes, n_cells + 1, "shapes of positions", err) != 0)
        return -1;
    if (rows < 2 || cols < 2 || n_cells != rows * cols)
        return 0;
    const struct text_quoted name =
        rows == cols ? text_format("square:%u", rows) : text_format("grid:%ux%u", rows, cols);
    s->box = board_new(name.text, err);
    if (s->box == NULL)
        return -1;
    for (uint32_t k = 0; k < s->box->n_transforms && !has_more; k++) {
        const uint32_t *map = map_of(s, true, k);
        uint32_t t = 0;

        while (t < board->n_transforms &&
               memcmp(map_of(s, false, t), map, n_cells * sizeof *map) != 0)
            t++;
        has_more = t == board->n_transforms;
    }
    if (!has_more) {
        board_free(s->box);
        s->box = NULL;
    }
    return 0;
}

void sketcher_release(struct sketcher *s)
{
    board_free(s->box);
    free(s->room);
    free(s->hashes);
    *s = (struct sketcher){0};
}

/* --- what a cell holds --- */

static uint64_t element_hash(const struct sketcher *s, const uint8_t *element)
{
    const struct dtype *dtype = &s->lane->array->header.dtype;
    uint64_t bits = 0;

    if (!dtype_is_number(dtype) || dtype->itemsize > 8)
        return XXH3_64bits(element, dtype->itemsize);
    memcpy(&bits, element, dtype->itemsize);
    if (bits == 0)
        return 0;
    double v = dtype_get_double(dtype, element);
    /* The order of a tile's digits does not matter. */
    if (s->lane->binding->role == ROLE_GRID && s->lane->spec.board->family->has_tiles && v > 0 &&
        v <= 999)
        return scramble((uint64_t)v / 100 + 1) + scramble((uint64_t)v / 10 % 10 + 1) +
               scramble((uint64_t)v % 10 + 1);
    if (board_swaps_colours(s->lane->spec.board)) {
        v = fabs(v);
        if (v == 2 && s->lane->binding->role == ROLE_GRID)
            v = 1;
    }
    if (v == 0)
        return 0;
    memcpy(&bits, &v, sizeof bits);
    return scramble(bits);
}

static bool is_same(const uint8_t *a, const uint8_t *b, size_t nbytes)
{
    return nbytes == 1 ? *a == *b : nbytes == 4 ? memcmp(a, b, 4) == 0 : memcmp(a, b, nbytes) == 0;
}

static bool counts_cell(const struct sketcher *s, uint64_t cell)
{
    return s->lane->spec.on_board == NULL || s->lane->spec.on_board[cell];
}

/* Fill values with a hash of what each cell holds. Returns a hash of the contents of all channels
 * regardless of place, 0 when all are constant. Adds to n_filled how many of their numbers are not
 * 0. */
static uint64_t read_cells(const struct sketcher *s, const uint8_t *row, uint32_t *values,
                           uint64_t *n_filled)
{
    const struct spec *spec = &s->lane->spec;
    const size_t item = s->lane->array->header.dtype.itemsize;
    const size_t step = spec->channels_last ? spec->inner * item : item;
    uint64_t *const hashes = s->hashes, counts = 0;

    memset(values, 0, s->n_cells * sizeof *values);
    for (uint64_t p = 0; p < spec->n_planes; p++) {
        const uint8_t *element = row + spec_plane_at(spec, p) * item;
        const uint8_t *bits = row + p * ((spec->axis + 7) / 8);
        uint64_t first = 0, sum = 0, number = p;
        bool is_first = true, is_constant = true;

        for (uint64_t cell = 0; cell < s->n_cells; cell++, element += step)
            if (spec->kind == SPEC_BITS)
                hashes[cell] = plane_bit(bits, cell, spec->lsb_first) ? scramble(1) : 0;
            else if (cell > 0 && is_same(element, element - step, item)) /* neighbours often are */
                hashes[cell] = hashes[cell - 1];
            else
                hashes[cell] = element_hash(s, element);
        for (uint64_t cell = 0; cell < s->n_cells; cell++) {
            if (!counts_cell(s, cell))
                continue;
            first = is_first ? hashes[cell] : first;
            is_constant &= hashes[cell] == first;
            is_first = false;
            sum += hashes[cell];
        }
        if (is_constant)
            continue;
        counts += scramble(sum);
        /* Channels that transforms exchange share a number. */
        for (uint32_t t = 0; t < spec->n_steps; t++)
            number = smaller(number, spec_plane_to(spec, t, p));
        for (uint64_t cell = 0; cell < s->n_cells; cell++) {
            values[cell] += (uint32_t)(hashes[cell] * (2 * number + 1) >> 16);
            *n_filled += hashes[cell] != 0;
        }
    }
    return counts;
}

/* --- the least arrangement --- */

/* The hash of the least arrangement of the values in s->room. *n_same: how many maps that keep the
 * colours leave them as they are. */
static uint64_t least(struct sketcher *s, bool of_box, uint32_t *n_same)
{
    const struct board *board = s->lane->spec.board;
    const uint32_t *values = s->room;
    uint32_t *best = s->room + s->n_cells, *other = best + s->n_cells;

    *n_same = 0;
    for (uint32_t k = 0; k < n_maps(s, of_box); k++) {
        const uint32_t *dst = map_of(s, of_box, k);

        memset(other, 0, s->n_cells * sizeof *other);
        for (uint32_t cell = 0; cell < s->n_cells; cell++)
            if (of_box || counts_cell(s, cell))
                other[dst[cell]] = values[cell];
        *n_same += (of_box || keeps_contents(board, k)) &&
                   memcmp(other, values, s->n_cells * sizeof *other) == 0;
        if (k == 0 || memcmp(other, best, s->n_cells * sizeof *other) < 0) {
            uint32_t *swap = best;

            best = other;
            other = swap;
        }
    }
    return XXH3_64bits(best, s->n_cells * sizeof *best) | 1;
}

void sketch_planes(struct sketcher *s, const uint8_t *row, struct sketch *sketch)
{
    uint32_t n_same = 0;

    *sketch = (struct sketch){.planes = XXH3_64bits(row, s->lane->array->row_nbytes)};
    sketch->counts = read_cells(s, row, s->room, &sketch->n_filled);
    if (sketch->counts == 0)
        return;
    if (s->box != NULL)
        sketch->box_shape = least(s, true, &n_same);
    sketch->shape = least(s, false, &n_same);
    sketch->is_symmetric = n_same > s->n_still;
}

int sketch_relation(struct sketcher *s, bool of_box, const uint8_t *a, const uint8_t *b)
{
    uint32_t *from = s->room, *to = s->room + s->n_cells;
    uint64_t n_filled = 0;
    int found = -1;

    read_cells(s, a, from, &n_filled);
    read_cells(s, b, to, &n_filled);
    for (uint32_t k = 0; k < n_maps(s, of_box); k++) {
        const uint32_t *dst = map_of(s, of_box, k);
        bool same = true;

        for (uint32_t cell = 0; cell < s->n_cells && same; cell++)
            same = (!of_box && !counts_cell(s, cell)) || to[dst[cell]] == from[cell];
        if (same && found >= 0)
            return -1;
        if (same)
            found = (int)k;
    }
    return found;
}

void sketch_policy(const struct window *window, uint64_t at, struct sketch *sketch)
{
    const struct lanes *lanes = window->lanes;

    sketch->policy = sketch->labels = 0;
    sketch->is_level = true;
    for (size_t i = 0; i < lanes->n; i++) {
        const struct lane *lane = &lanes->items[i];
        const enum role role = lane->binding->role;
        const bool is_index =
            role == ROLE_POLICY_INDEX || role == ROLE_ACTION || role == ROLE_COORD;
        const bool is_policy =
            is_index || role == ROLE_POLICY || role == ROLE_MASK || role == ROLE_POLICY_VALUE;

        if (!lane_is_compared(lane) || (!is_policy && role != ROLE_GLOBALS))
            continue;
        const struct row row = window_row(window, i, at);
        /* Rows of the mover's planes may differ only in whose turn it is. */
        if (!is_policy && row.n > 0)
            sketch->planes += scramble((uint64_t)(row_double(&row, 0) == 0));
        if (!is_policy || (row.items == NULL && (row.bytes == NULL || !dtype_is_number(row.dtype))))
            continue;
        double level = 0, squares = 0;
        float rounded;
        uint32_t bits;
        uint64_t n_filled = 0;

        for (uint64_t k = 0; k < row.n; k++) {
            const double v = row_double(&row, k);
            uint64_t exact;

            if (v > HARDLY * level)
                level = v;
            else
                sketch->is_level &= is_index || v == level || HARDLY * v < level;
            memcpy(&exact, &v, sizeof exact);
            sketch->labels = scramble(sketch->labels ^ exact) + k;
            squares += v * v;
            n_filled += v != 0;
        }
        /* Images that were normalised anew hold the same numbers up to rounding. */
        rounded = (float)squares;
        memcpy(&bits, &rounded, sizeof bits);
        if (n_filled > 0 && !is_index)
            sketch->policy += scramble((uint64_t)(bits >> 13) << 32 ^ n_filled ^ scramble(i));
    }
}
