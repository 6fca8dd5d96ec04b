/*
 * images.c - is one row the image of another? Compared by loops that `expand` does not use.
 *
 * What a transform does to an array (where elements go, which channels change places, what is
 * computed), less the liberties taken, is put together as a step; then each element of one row is
 * looked up in the other. Packed planes are compared by the bits that are set.
 */
#include "verify/parts.h"

#include <xxhash.h>

#define MOST_EXCHANGED 16 /* planes that may be looked for in each other's places */

/* --- numbers --- */

bool orbit_is_flipped(enum label_op flip, const struct dtype *dtype, const uint8_t *a,
                      const uint8_t *b, uint64_t n)
{
    const size_t item = dtype->itemsize;
    const double unit = item == 2 ? 0x1p-10 : item == 4 ? 0x1p-23 : 0x1p-52;
    const double low = flip == LABEL_EXCHANGE_01 ? 0 : 1;
    const bool computes = flip == LABEL_COMPLEMENT || flip == LABEL_NEGATE ||
                          flip == LABEL_EXCHANGE_01 || flip == LABEL_EXCHANGE_12;

    if (flip == LABEL_KEEP)
        return memcmp(a, b, n * item) == 0;
    if (flip == LABEL_FIRST_01)
        return n > 0 && orbit_is_flipped(LABEL_EXCHANGE_01, dtype, a, b, 1) &&
               memcmp(a + item, b + item, (n - 1) * item) == 0;
    if (computes && !dtype_is_number(dtype))
        return false;
    for (uint64_t i = 0; i < n; i++) {
        const bool trades = flip == LABEL_EXCHANGE_TWO && i < 2 && n >= 2;
        const uint64_t place = flip == LABEL_REVERSE ? n - 1 - i : trades ? 1 - i : i;
        const uint8_t *from = a + place * item, *to = b + i * item;
        double slack = 0;

        if (!computes) {
            if (memcmp(from, to, item) != 0)
                return false;
            continue;
        }
        const double v = dtype_get_double(dtype, from);
        const double found = dtype_get_double(dtype, to);
        const double expected = flip == LABEL_COMPLEMENT ? 1 - v
                                : flip == LABEL_NEGATE   ? -v
                                : v == low               ? low + 1
                                : v == low + 1           ? low
                                                         : v;
        if (flip == LABEL_COMPLEMENT && dtype->kind == DTYPE_FLOAT && v != 0 && v != 1)
            slack = unit;
        if (expected != found && !(fabs(expected - found) <= slack) && !(isnan(v) && isnan(found)))
            return false;
    }
    return true;
}

/* True when n pickled objects are equal in type and value. */
static bool same_items(const struct pickle_item *a, const struct pickle_item *b, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, a++, b++) {
        bool same = a->kind == b->kind;

        if (same && (a->kind == PICKLE_BOOL || a->kind == PICKLE_INT))
            same = a->as.integer == b->as.integer;
        else if (same && a->kind == PICKLE_FLOAT)
            same = memcmp(&a->as.number, &b->as.number, sizeof a->as.number) == 0;
        else if (same && a->kind == PICKLE_STRING)
            same = a->n_bytes_or_items == b->n_bytes_or_items &&
                   memcmp(a->as.bytes, b->as.bytes, a->n_bytes_or_items) == 0;
        else if (same && a->kind == PICKLE_LIST)
            same = a->n_bytes_or_items == b->n_bytes_or_items &&
                   same_items(a->as.items, b->as.items, a->n_bytes_or_items);
        else if (same && a->kind == PICKLE_ARRAY)
            same = a->as.array->n_bytes == b->as.array->n_bytes &&
                   dtype_equal(&a->as.array->dtype, &b->as.array->dtype) &&
                   memcmp(a->as.array->data, b->as.array->data, a->as.array->n_bytes) == 0;
        if (!same)
            return false;
    }
    return true;
}

/* --- bits --- */

bool orbit_same_bits(const struct orbit_bits *bits, const uint8_t *plane, const uint8_t *image,
                     bool inverted)
{
    const bool lsb_first = bits->lsb_first, is_partial = bits->on_board != NULL || inverted;
    uint64_t n_set = 0;

    for (uint64_t i = 0; i < bits->n; i++) {
        if (!is_partial && plane[i >> 3] == 0) { /* skip empty bytes: most bits are not set */
            i |= 7;
            continue;
        }
        const uint64_t to = bits->dst != NULL ? bits->dst[i] : i;
        const bool is_set = plane_bit(plane, i, lsb_first);
        if ((is_partial || is_set) && (bits->on_board == NULL || bits->on_board[i]) &&
            plane_bit(image, to, lsb_first) != (is_set != inverted))
            return false;
        n_set += is_set;
    }
    /* Every set bit has its image set; the image must have no others. */
    for (uint64_t i = 0; !is_partial && i < (bits->n + 7) / 8; i++)
        n_set -= (unsigned)__builtin_popcount(image[i]);
    return is_partial ||
           n_set + (unsigned)__builtin_popcount(plane_pad_bits(image, bits->n, lsb_first)) == 0;
}

/* True when each element i of a is element dst[i] of b. Most bytes are compared here, so this is
 * inlined for every size of elements. */
static inline __attribute__((always_inline)) bool same_moved(const uint32_t *dst, const uint8_t *a,
                                                             const uint8_t *b, size_t n,
                                                             size_t n_bytes)
{
    uint64_t differ = 0;

#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        uint64_t from = 0, to = 0;

        memcpy(&from, a + i * n_bytes, n_bytes);
        memcpy(&to, b + dst[i] * n_bytes, n_bytes);
        differ |= from ^ to;
    }
    return differ == 0;
}

/* The same for any size; dst NULL: all elements stay in place. */
static bool same_axis(const uint32_t *dst, const uint8_t *a, const uint8_t *b, size_t n,
                      size_t n_bytes)
{
    if (dst == NULL)
        return memcmp(a, b, n * n_bytes) == 0;
    switch (n_bytes) {
    case 1:
        return same_moved(dst, a, b, n, 1);
    case 2:
        return same_moved(dst, a, b, n, 2);
    case 4:
        return same_moved(dst, a, b, n, 4);
    case 8:
        return same_moved(dst, a, b, n, 8);
    default:
        for (size_t i = 0; i < n; i++)
            if (memcmp(a + i * n_bytes, b + dst[i] * n_bytes, n_bytes) != 0)
                return false;
        return true;
    }
}

/* True when all n items, a stride apart, are equal. */
static bool is_uniform(const uint8_t *items, size_t n, size_t n_bytes, size_t stride)
{
    if (stride == n_bytes)
        return n == 0 || memcmp(items, items + n_bytes, (n - 1) * n_bytes) == 0;
    for (size_t i = 1; i < n; i++)
        if (memcmp(items, items + i * stride, n_bytes) != 0)
            return false;
    return true;
}

/* What one transform does to one lane, less the liberties taken. */
struct step {
    const struct spec *spec;
    const struct dtype *dtype;
    struct spec_step by;
    enum label_op flip;      /* of all planes except by.label_plane */
    const uint8_t *on_board; /* NULL: every element counts */
    uint64_t first, end;     /* the planes to compare */
    size_t stride;           /* AXIS: bytes from one element of a plane to the next */
    bool is_exact;           /* no liberties */
    bool is_plain;           /* elements are moved and nothing else, except in by.label_plane */
    bool is_rounded;         /* floating numbers may differ in their last places */
};

static struct step make_step(const struct lane *lane, uint64_t channel, uint32_t u,
                             unsigned liberties)
{
    const struct spec *spec = &lane->spec;
    const size_t item = lane->array->header.dtype.itemsize;
    struct step step = {.spec = spec,
                        .dtype = &lane->array->header.dtype,
                        .by = spec->steps[u],
                        .on_board = liberties & ORBIT_ON_BOARD_ONLY ? spec->on_board : NULL,
                        .first = channel > 0 ? channel - 1 : 0,
                        .end = channel > 0 ? channel : spec->n_planes,
                        .stride = spec->channels_last ? spec->inner * item : item,
                        .is_exact = liberties == ORBIT_EXACT};
    struct spec_step *by = &step.by;

    /* Swap colours as the first transform does that swaps them. */
    for (uint32_t t = 0; liberties & ORBIT_SWAP_ANYWAY && t < spec->n_steps; t++)
        if (spec->board->transforms[t].swaps_colours) {
            by->plane_dst = spec->steps[t].plane_dst;
            by->label = spec->steps[t].label;
            by->label_plane = spec->steps[t].label_plane;
            break;
        }
    if (u == 0)
        by->dst = NULL;
    if (liberties & ORBIT_NO_EXCHANGE)
        by->plane_dst = NULL;
    if (by->label_plane < 0 && !(liberties & ORBIT_NO_FLIP))
        step.flip = by->label;
    if (liberties & ORBIT_NO_COMPLEMENT)
        by->label_plane = -1;
    step.is_plain = step.on_board == NULL && !spec->codes && step.flip == LABEL_KEEP;
    return step;
}

/* --- planes, policies --- */

/* True when numbers are equal up to rounding, as where programs other than this one normalise each
 * image anew: a sum of many floats taken in another order differs in the last places of a float,
 * even if doubles are stored. */
static bool is_near(const struct step *step, const uint8_t *a, const uint8_t *b)
{
    const double unit = step->dtype->itemsize == 2 ? 0x1p-10 : 0x1p-20;

    return step->is_rounded &&
           fabs(dtype_get_double(step->dtype, a) - dtype_get_double(step->dtype, b)) <=
               unit * fabs(dtype_get_double(step->dtype, a));
}

/* Compare planes element by element: those that are computed, codes of tiles, whose digits are
 * permuted (other codes stay), and all when only some cells count. */
static bool same_slowly(const struct step *step, const uint8_t *a, const uint8_t *b,
                        bool complement)
{
    const struct spec *spec = step->spec;
    const uint8_t *src = step->by.number_src;
    const size_t item = step->dtype->itemsize, stride = step->stride;
    const enum label_op flip = complement ? step->by.label : step->flip;

    /* A to-move plane usually holds one number throughout. */
    if (complement && step->on_board == NULL && spec->axis > 0 &&
        is_uniform(a, spec->axis, item, stride) && is_uniform(b, spec->axis, item, stride))
        return orbit_is_flipped(flip, step->dtype, a, b, 1);
    for (uint64_t i = 0; i < spec->axis; i++) {
        const uint8_t *from = a + i * stride;
        const uint8_t *to = b + (step->by.dst != NULL ? step->by.dst[i] : i) * stride;

        if (step->on_board != NULL && !step->on_board[i])
            continue;
        if (!spec->codes || complement) {
            if (!orbit_is_flipped(flip, step->dtype, from, to, 1) && !is_near(step, from, to))
                return false;
            continue;
        }
        double code = dtype_get_double(step->dtype, from);
        const double found = dtype_get_double(step->dtype, to);
        if (code > 0 && code <= 999 && code == floor(code)) {
            const int digits[3] = {(int)code / 100, (int)code / 10 % 10, (int)code % 10};

            code = 100 * digits[src[0]] + 10 * digits[src[1]] + digits[src[2]];
        }
        if (code != found && !(isnan(code) && isnan(found)))
            return false;
    }
    return true;
}

/* True when plane p of a becomes plane `to` of b. In its new place a to-move plane tells the player
 * to move, who is now the other one. */
static bool same_plane(const struct step *step, const uint8_t *a, uint64_t p, const uint8_t *b,
                       uint64_t to)
{
    const struct spec *spec = step->spec;
    const size_t item = step->dtype->itemsize, bits_nbytes = (spec->axis + 7) / 8;
    const struct orbit_bits bits = {spec->axis, step->by.dst, step->on_board, spec->lsb_first};
    const bool complement =
        step->by.label_plane >= 0 && to % spec->frame_planes == (uint64_t)step->by.label_plane;

    if (spec->kind == SPEC_BITS) {
        const uint8_t *image = b + to * bits_nbytes;

        return orbit_same_bits(&bits, a + p * bits_nbytes, image, complement) &&
               (!step->is_exact || plane_pad_bits(image, spec->axis, spec->lsb_first) == 0);
    }
    const uint8_t *plane = a + spec_plane_at(spec, p) * item;
    const uint8_t *image = b + spec_plane_at(spec, to) * item;
    if (!step->is_plain || complement || spec->channels_last)
        return same_slowly(step, plane, image, complement);
    if (bytes_are_zero(plane, spec->axis * item)) /* most planes are */
        return bytes_are_zero(image, spec->axis * item);
    return same_axis(step->by.dst, plane, image, spec->axis, step->stride);
}

static bool same_planes(const struct step *step, const uint8_t *a, const uint8_t *b)
{
    const struct spec *spec = step->spec;

    if (spec->channels_last && step->is_plain && step->by.plane_dst == NULL &&
        step->by.label_plane < 0 && spec->outer == 1 && step->end - step->first == spec->n_planes)
        return same_axis(step->by.dst, a, b, spec->axis, step->stride);
    for (uint64_t p = step->first; p < step->end; p++)
        if (!same_plane(step, a, p, b, step->by.plane_dst != NULL ? step->by.plane_dst[p] : p))
            return false;
    return true;
}

/* Where it is unknown which channels change places, each must be the image of some channel; in
 * place where the planes are the mover's. */
static bool same_stones(const struct step *step, const uint8_t *a, const uint8_t *b, bool in_place)
{
    const struct spec *spec = step->spec;
    const size_t item = step->dtype->itemsize;

    for (uint64_t p = step->first; p < step->end; p++) {
        const uint8_t *plane = a + spec_plane_at(spec, p) * item;
        bool found = false;

        for (uint64_t q = step->first; q < step->end && !found; q++)
            found = (!in_place || q == p) &&
                    same_slowly(step, plane, b + spec_plane_at(spec, q) * item, false);
        /* A to-move channel holds one number and may have any image. */
        if (!found && !is_uniform(plane, spec->axis, item, step->stride))
            return false;
    }
    return true;
}

/* --- lists --- */

/* The numbers of b must be those of a after the label operation. */
static bool same_list(const struct row *a, const struct row *b, enum label_op flip)
{
    if (a->items != NULL || b->items != NULL)
        return a->n == b->n && (a->n == 0 || (a->items != NULL && b->items != NULL &&
                                              same_items(a->items, b->items, a->n)));
    return a->n == b->n && dtype_equal(a->dtype, b->dtype) &&
           (a->n == 0 || orbit_is_flipped(flip, a->dtype, a->bytes, b->bytes, a->n));
}

/* Where a transform sends element i of a list of moves, or of moves and counts in turn, whose first
 * n_moving elements are no padding. */
static int64_t move_to(const struct step *step, const struct row *moves, uint64_t i,
                       uint64_t n_moving)
{
    const int64_t old = row_int(moves, i);
    const bool is_moving = i < n_moving && !(step->spec->pairs && i % 2 == 1) &&
                           step->by.dst != NULL && old >= 0 &&
                           (uint64_t)old < step->spec->n_targets;

    return is_moving ? (int64_t)step->by.dst[old] : old;
}

/* A hash of the moves where a transform sends them, each with its value (or its count, where there
 * are no values), in whatever order they are listed. */
static uint64_t list_hash(const struct step *step, const struct row *moves, uint64_t n_moving,
                          const struct row *values)
{
    const uint64_t width = step->spec->pairs ? 2 : 1;
    uint64_t sum = 0;

    for (uint64_t i = 0; i < moves->n; i += width) {
        const double value = i < values->n                    ? row_double(values, i)
                             : width == 2 && i + 1 < moves->n ? row_double(moves, i + 1)
                                                              : 0;
        const int64_t move = move_to(step, moves, i, n_moving);
        uint8_t bytes[sizeof move + sizeof value];

        memcpy(bytes, &move, sizeof move);
        memcpy(bytes + sizeof move, &value, sizeof value);
        sum += XXH3_64bits(bytes, sizeof bytes);
    }
    return sum;
}

/* A hash of the numbers of a row in any order. */
static uint64_t numbers_hash(const struct row *row)
{
    uint64_t sum = row->n;

    for (uint64_t i = 0; i < row->n; i++) {
        const double value = row_double(row, i);

        sum += XXH3_64bits(&value, sizeof value);
    }
    return sum;
}

/* Compare lists of moves, each with its value where the lane has values. Their order may differ
 * without liberties: many programs list what is not zero in the policy of each image. */
static bool same_moves(const struct orbit_pair *pair, const struct step *step, const struct row *a,
                       const struct row *b, unsigned liberties)
{
    const struct spec *spec = step->spec;
    const int lane = pair->window->lanes->items[pair->lane].values;
    struct row values = {0}, images = {0};
    uint64_t n_moving = a->n;
    bool is_same = a->n == b->n;

    if (lane >= 0) {
        values = window_row(pair->window, (size_t)lane, pair->base);
        images = window_row(pair->window, (size_t)lane, pair->image);
    }
    /* The padding of a padded row: trailing entries of value 0 and, unless padding is ignored,
     * index 0. Pairs are padded with pairs of zeros. */
    while (spec->kind == SPEC_PADDED && n_moving > 0 && n_moving <= values.n &&
           row_double(&values, n_moving - 1) == 0 &&
           (liberties & ORBIT_NO_PADDING || row_int(a, n_moving - 1) == 0))
        n_moving--;
    const uint64_t n = liberties & ORBIT_NO_PADDING ? n_moving : a->n;
    while (spec->pairs && n_moving > 1 && row_int(a, n_moving - 1) == 0 &&
           row_int(a, n_moving - 2) == 0)
        n_moving -= 2;
    for (uint64_t i = 0; i < n && is_same; i++)
        is_same = row_int(b, i) == move_to(step, a, i, n_moving);
    if (liberties != ORBIT_EXACT || a->n != b->n || a->n < 2 ||
        (is_same && (lane < 0 || same_list(&values, &images, LABEL_KEEP))))
        return is_same;
    /* Values that are others altogether are reported of the array that holds them. */
    return list_hash(step, a, n_moving, &values) == list_hash(step, b, 0, &images) ||
           (is_same && numbers_hash(&values) != numbers_hash(&images));
}

bool orbit_same(const struct orbit_pair *pair, uint32_t u, unsigned liberties)
{
    const struct window *window = pair->window;
    const struct lane *lane = &window->lanes->items[pair->lane];
    const struct spec *spec = &lane->spec;
    const struct row a = window_row(window, pair->lane, pair->base);
    const struct row b = window_row(window, pair->lane, pair->image);
    struct step step = make_step(lane, pair->channel, u, liberties);
    const bool is_values = (role_kinds[lane->binding->role].flags & ROLE_IS_VALUES) != 0;
    const size_t item = a.dtype->itemsize;

    if (step.by.is_unknown)
        return same_stones(&step, a.bytes, b.bytes,
                           window->lanes->shard->conventions.planes == PLANES_MOVER);
    switch (spec->kind) {
    case SPEC_AXIS:
    case SPEC_BITS:
        if (same_planes(&step, a.bytes, b.bytes))
            return true;
        step.is_rounded = lane->binding->role == ROLE_POLICY && a.dtype->kind == DTYPE_FLOAT &&
                          archive_in_find(&window->lanes->shard->archive, PLAN_SOURCE_KEY) == NULL;
        step.is_plain = false;
        return step.is_rounded && same_planes(&step, a.bytes, b.bytes);
    case SPEC_INDICES:
    case SPEC_PADDED:
        return same_moves(pair, &step, &a, &b, liberties);
    case SPEC_COORD:
        for (uint64_t i = 0; i + 1 < a.n; i += 2) {
            const int64_t cols = spec->board->cols, rows = spec->board->rows;
            int64_t row = row_int(&a, i + spec->col_first), col = row_int(&a, i + !spec->col_first);

            if (step.by.dst != NULL && row >= 0 && col >= 0 && row < rows && col < cols) {
                const int64_t to = step.by.dst[row * cols + col];

                row = to / cols;
                col = to % cols;
            }
            if (row_int(&b, i + spec->col_first) != row || row_int(&b, i + !spec->col_first) != col)
                return false;
        }
        return true;
    case SPEC_TRIPLE:
        for (size_t k = 0; k < 3; k++)
            if (memcmp(b.bytes + k * item, a.bytes + step.by.number_src[k] * item, item) != 0)
                return false;
        return true;
    case SPEC_KEEP:
        break;
    }
    return same_list(&a, &b, step.flip) || (is_values && numbers_hash(&a) == numbers_hash(&b));
}

bool orbit_same_row(const struct window *window, uint64_t base, uint64_t image, uint32_t u)
{
    for (size_t i = 0; i < window->lanes->n; i++)
        if (lane_is_compared(&window->lanes->items[i]) &&
            !orbit_same(&(struct orbit_pair){window, i, base, image, 0}, u, ORBIT_EXACT))
            return false;
    return true;
}

/* --- which transform is it? --- */

/* What a transform explains, from what tells least to what tells most: anything that is as it
 * should be, planes whose colours change otherwise, other arrays that move, planes that move as
 * they should. A tally counts each in 16 bits, so that of two the greater one tells more. */
enum evidence { IS_RIGHT, STRAY_PLANE, MOVED_LABEL, MOVED_PLANE };

static uint64_t one(enum evidence what)
{
    return UINT64_C(1) << 16 * what;
}

static uint64_t count(uint64_t tally, enum evidence what)
{
    return tally >> 16 * what & 0xffff;
}

/* True when a plane of the row at pair->base is some plane of the other one under u, as it should
 * be or with colours that change although they should not, or do not. *is_right: as it should be.
 */
static bool plane_fits(const struct orbit_pair *pair, uint32_t u, bool *is_right)
{
    const unsigned as_it_is = ORBIT_NO_EXCHANGE | ORBIT_NO_COMPLEMENT | ORBIT_NO_FLIP;
    const struct lane *lane = &pair->window->lanes->items[pair->lane];
    const struct row a = window_row(pair->window, pair->lane, pair->base);
    const struct row b = window_row(pair->window, pair->lane, pair->image);
    const struct step step = make_step(lane, 0, u, ORBIT_ON_BOARD_ONLY | as_it_is);
    const uint64_t p = pair->channel - 1, n = lane->spec.n_planes;
    bool fits = false;

    *is_right = !lane->spec.steps[u].is_unknown && orbit_same(pair, u, ORBIT_ON_BOARD_ONLY);
    if (*is_right || same_plane(&step, a.bytes, p, b.bytes, p) ||
        (board_swaps_colours(lane->spec.board) &&
         orbit_same(pair, u, ORBIT_ON_BOARD_ONLY | ORBIT_SWAP_ANYWAY)))
        return true;
    for (uint64_t q = 0; q < n && n <= MOST_EXCHANGED && !fits; q++)
        fits = same_plane(&step, a.bytes, p, b.bytes, q);
    return fits;
}

uint32_t orbit_relate(const struct orbit_pair *planes, const bool *allowed, bool by_planes,
                      bool best[BOARD_MAX_TRANSFORMS])
{
    const struct lanes *lanes = planes->window->lanes;
    const uint32_t n_transforms = lanes->shard->found.board->n_transforms;
    struct orbit_pair part = *planes;
    uint64_t tallies[BOARD_MAX_TRANSFORMS] = {0}, most = 0, n_planes = 0, n_labels = 0;
    uint32_t found = NO_TRANSFORM, n_found = 0;

    for (uint32_t u = 0; u < n_transforms; u++) {
        best[u] = allowed[u] && orbit_same(planes, u, ORBIT_EXACT);
        found = best[u] ? u : found;
        n_found += best[u];
    }
    if (n_found == 1 && (found != 0 || by_planes))
        return found;
    /* Planes that stay in place, or are no image as a whole: each part of the row says its own. */
    for (part.lane = 0; part.lane < lanes->n; part.lane++) {
        const struct lane *lane = &lanes->items[part.lane];
        const bool is_planes = part.lane == planes->lane;
        const bool is_label = !is_planes && !by_planes && lane->spec.kind != SPEC_KEEP;

        if (!lane_is_compared(lane) ||
            !(is_planes || is_label || lane->binding->role == ROLE_GLOBALS))
            continue;
        const uint64_t n_channels = is_planes ? lane->spec.n_planes : 0;
        for (part.channel = is_planes; part.channel <= n_channels; part.channel++) {
            bool stays = false, is_right = true;

            for (uint32_t u = 0; u < n_transforms; u++) {
                const bool fits =
                    (u == 0 || allowed[u]) && (is_planes ? plane_fits(&part, u, &is_right)
                                                         : orbit_same(&part, u, ORBIT_EXACT));

                stays |= u == 0 && fits;
                tallies[u] += fits && is_right ? one(IS_RIGHT) : 0;
                if (fits && !stays && (is_planes || is_label))
                    tallies[u] += one(is_label   ? MOVED_LABEL
                                      : is_right ? MOVED_PLANE
                                                 : STRAY_PLANE);
            }
            n_planes += is_planes && !stays;
            n_labels += is_label && !stays;
        }
    }
    for (uint32_t u = 0; u < n_transforms; u++)
        most = allowed[u] && tallies[u] > most ? tallies[u] : most;
    /* Half of the planes or of the labels that move must be explained, unless none does. */
    const uint64_t by_moved = count(most, MOVED_PLANE) + count(most, STRAY_PLANE);
    const uint64_t by_labels = count(most, MOVED_LABEL);
    const bool is_related = (by_moved > 0 && 2 * by_moved >= n_planes) ||
                            (by_labels > 0 && 2 * by_labels >= n_labels) ||
                            (by_moved + by_labels == 0 && n_planes == 0);
    n_found = 0;
    for (uint32_t u = 0; u < n_transforms; u++) {
        best[u] = is_related && allowed[u] && tallies[u] == most;
        found = best[u] ? u : found;
        n_found += best[u];
    }
    return n_found == 1 ? found : NO_TRANSFORM;
}
