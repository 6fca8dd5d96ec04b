/*
 * spec.c - makes the maps of one array from its role. Along the axis they are those of an action
 * space, of the cells of the box, or made for this array alone. Whole planes move as a board's file
 * says, as castling rights of mirrored chess positions, as OpenSpiel's nine planes of Hex, or as
 * the convention for stones and player to move says.
 */
#include "shard/spec.h"

#include "base/perm.h"

/* --- action spaces --- */

const struct action_space *spec_space(struct spec_maker *maker, const struct role_binding *binding,
                                      struct error *err)
{
    const bool keeps = maker->conventions->ambiguous == AMBIGUOUS_KEEP;

    for (size_t i = 0; i < maker->n_spaces; i++)
        if (maker->spaces[i]->layout == binding->layout &&
            maker->spaces[i]->length == binding->n_actions &&
            maker->spaces[i]->flip == binding->flip)
            return maker->spaces[i];
    if (list_room(&maker->spaces, maker->n_spaces + 1, sizeof(struct action_space *), "action maps",
                  err) != 0)
        return NULL;
    struct action_space *space =
        action_space_new(maker->board, binding->layout, binding->n_actions, binding->flip, err);
    if (space == NULL)
        return NULL;
    maker->spaces[maker->n_spaces++] = space;
    /* Entries that name a region by one of its cells stay. */
    for (uint64_t i = 0; keeps && i < space->board->n_transforms * space->length; i++)
        if (space->flags[i % space->length] & ACTION_AMBIGUOUS)
            space->dst[i] = (uint32_t)(i % space->length);
    return space;
}

void spec_maker_release(struct spec_maker *maker)
{
    for (size_t i = 0; i < maker->n_spaces; i++)
        action_space_free(maker->spaces[i]);
    free(maker->spaces);
    *maker = (struct spec_maker){0};
}

int spec_set_space(struct spec *spec, struct spec_maker *maker, const struct role_binding *binding,
                   struct error *err)
{
    spec->space = spec_space(maker, binding, err);
    if (spec->space == NULL)
        return -1;
    spec->n_targets = spec->space->length;
    for (uint32_t t = 0; t < spec->n_steps; t++) {
        spec->steps[t].src = action_space_src(spec->space, t);
        spec->steps[t].dst = spec->space->dst + t * spec->space->length;
    }
    return 0;
}

/* --- along the axis --- */

/* Two maps of n_entries for each transform, zeroed; NULL with err set if there is no memory. */
static uint32_t *new_maps(const struct spec *spec, uint64_t n_entries, struct error *err)
{
    uint32_t *maps = NULL;

    if (n_entries < SIZE_MAX / (2 * sizeof *maps * BOARD_MAX_TRANSFORMS))
        maps = calloc(2 * (size_t)spec->n_steps * n_entries + 1, sizeof *maps);
    if (maps == NULL)
        error_no_memory(err, "maps of an array");
    return maps;
}

/* Set the maps of an axis of cells: those of the box, on-board cells alone, or places in a grid. */
static int follow_cells(struct spec *spec, struct spec_maker *maker,
                        const struct role_binding *binding, struct error *err)
{
    const struct board *board = spec->board;
    const uint8_t *place = board->family->grid_cells;

    if (binding->takeiteasy_grid) { /* planes are a box, though the board is not */
        uint32_t *dst = spec->own_maps = new_maps(spec, spec->axis, err);

        for (uint32_t t = 0; dst != NULL && t < board->n_transforms; t++, dst += spec->axis) {
            perm_set_identity(dst, spec->axis); /* places without a cell stay */
            for (uint32_t cell = 0; cell < board->n_cells; cell++)
                dst[place[cell]] = place[board->transforms[t].dst[cell]];
            spec->steps[t].src = spec->own_maps + board->inverse[t] * spec->axis;
            spec->steps[t].dst = dst;
        }
        spec->n_targets = spec->axis;
        return spec->own_maps != NULL ? 0 : -1;
    }
    if (binding->layout != NULL) /* on-board cells alone */
        return spec_set_space(spec, maker, binding, err);
    if (spec->kind != SPEC_COORD && board->n_on_board < board->n_cells)
        spec->on_board = board->on_board;
    spec->n_targets = board->n_cells;
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        const uint32_t moved_by = binding->plane_xy ? board_xy_plane_transform(board, t) : t;

        if (moved_by == UINT32_MAX)
            return error_set(err, ERROR_DATA,
                             "planes stored xy need a board with a transposition; use "
                             "--plane-order yx");
        spec->steps[t].src = board->transforms[moved_by].src;
        spec->steps[t].dst = board->transforms[moved_by].dst;
    }
    return 0;
}

/* --- planes --- */

static void exchange(uint32_t *dst, uint32_t a, uint32_t b)
{
    uint32_t to = dst[a];

    dst[a] = dst[b];
    dst[b] = to;
}

int spec_plane_map(const struct spec_maker *maker, uint32_t t, uint64_t n_planes, uint32_t *dst,
                   int *turn, struct error *err)
{
    const struct conventions *c = maker->conventions;
    const struct board *board = maker->board;
    const struct board_transform *transform = &board->transforms[t];
    const struct board_castling *known = board->family->castling;

    perm_set_identity(dst, n_planes);
    *turn = -1;
    if (transform->planes != NULL) {
        if (board->n_planes != n_planes)
            return error_set(err, ERROR_DATA, "%" PRIu64 " planes, but the board's maps are for %u",
                             n_planes, board->n_planes);
        memcpy(dst, transform->planes, n_planes * sizeof *dst);
        return 0;
    }
    if (known != NULL && (t == 0 || c->n_castling_planes < 0))
        return 0;
    if (known != NULL) { /* a mirrored chess position castles on the other side */
        const uint32_t *planes = c->n_castling_planes > 0 ? c->castling_planes : known->planes;

        if (c->n_castling_planes == 0 && n_planes != known->n_planes)
            return error_set(err, ERROR_DATA,
                             "%" PRIu64 " planes: which of them hold castling rights is known for "
                             "%u only; use --castling-planes K,Q,k,q or --castling-planes none",
                             n_planes, known->n_planes);
        for (int i = 0; i < 4; i++)
            if (planes[i] >= n_planes)
                return error_set(err, ERROR_DATA, "castling plane %u, expected below %" PRIu64,
                                 planes[i], n_planes);
        exchange(dst, planes[0], planes[1]);
        exchange(dst, planes[2], planes[3]);
        return 0;
    }
    if (c->planes == PLANES_OPENSPIEL && board->family->joins_edges) {
        if (n_planes != 9)
            return error_set(err, ERROR_DATA, "%" PRIu64 " planes, but --planes openspiel means 9",
                             n_planes);
        /* White win, white west, white east, white, empty, black, black south, black north, black
         * win: a half turn exchanges the edges that stones are connected to, a swap the players. */
        if (t % 2 == 1) {
            exchange(dst, 1, 2);
            exchange(dst, 6, 7);
        }
        for (uint32_t p = 0; p < 9 && transform->swaps_colours; p++)
            dst[p] = 8 - dst[p];
        return 0;
    }
    /* Shards of a closed set of members are written from the player to move. */
    if (!transform->swaps_colours || c->planes == PLANES_OPENSPIEL ||
        board->family->only_known_members)
        return 0;
    if (c->planes == PLANES_PERMUTATION) {
        if (c->n_planes != n_planes)
            return error_set(err, ERROR_DATA, "%" PRIu64 " planes, but --planes permutes %u",
                             n_planes, c->n_planes);
        for (uint32_t p = 0; p < n_planes; p++)
            dst[p] = c->plane_dst[p];
        *turn = c->to_move_plane;
        return 0;
    }
    if (n_planes != 2 && n_planes != 3)
        return error_set(err, ERROR_DATA,
                         "%" PRIu64
                         " planes: a colour swap is known for 2 (stones) and 3 (stones, to "
                         "move); use --planes openspiel or --planes with a permutation such as "
                         "1,0,~2",
                         n_planes);
    if (c->planes == PLANES_COLOUR)
        exchange(dst, 0, 1);
    if (n_planes == 3)
        *turn = 2;
    return 0;
}

enum label_op spec_swap_of_coding(enum to_move_coding coding)
{
    static const enum label_op ops[] = {[TO_MOVE_01] = LABEL_COMPLEMENT,
                                        [TO_MOVE_12] = LABEL_EXCHANGE_12,
                                        [TO_MOVE_PM1] = LABEL_NEGATE};

    return ops[coding];
}

/* Set where transforms send an array's planes: the same in each frame, or all at once if --planes
 * numbers them all. Which planes of a frame are the colours' is never guessed. */
static int fill_planes(struct spec *spec, const struct spec_maker *maker, struct error *err)
{
    const struct conventions *c = maker->conventions;
    const struct board *board = spec->board;
    const uint64_t n = spec->n_planes, of_frame = spec->frame_planes;
    uint32_t *maps = spec->plane_maps = new_maps(spec, n, err);

    if (maps == NULL)
        return -1;
    for (uint32_t t = 0; t < spec->n_steps; t++, maps += 2 * n) {
        const bool swaps = board->transforms[t].swaps_colours;
        struct spec_step *step = &spec->steps[t];
        uint32_t *src = maps, *dst = maps + n;
        struct error why = {0};

        /* With canonical planes, images that swap colours repeat others: nothing moves. */
        if (c->planes == PLANES_CANONICAL && swaps)
            continue;
        if (of_frame < n && c->planes == PLANES_COLOUR && !conventions_is_said(c, "planes") &&
            swaps && board->n_planes == 0 && !board->family->only_known_members) {
            error_set(&why, ERROR_DATA,
                      "%" PRIu64 " frames of %" PRIu64 " planes: which of a frame's planes take "
                      "each other's places must be told; use --planes colour (blue, red and "
                      "perhaps to move), mover (mine, theirs) or a permutation such as 1,0,~2",
                      n / of_frame, of_frame);
        } else if (spec_plane_map(maker, t, of_frame, dst, &step->label_plane, &why) == 0) {
            for (uint64_t p = of_frame; p < n; p++)
                dst[p] = dst[p - of_frame] + (uint32_t)of_frame;
        } else if (of_frame < n && !(spec->channels_last && spec->outer > 1) &&
                   spec_plane_map(maker, t, n, dst, &step->label_plane, NULL) == 0) {
            spec->frame_planes = n;
            why.kind = ERROR_NONE;
        }
        if (why.kind != ERROR_NONE) {
            snprintf(spec->doubt, sizeof spec->doubt, "%.200s", why.message);
            step->is_unknown = true;
            step->label_plane = -1;
            continue;
        }
        if (step->label_plane >= 0)
            step->label = spec_swap_of_coding(c->plane_coding);
        if (perm_is_identity(dst, n))
            continue;
        perm_invert(dst, n, src);
        step->plane_src = src;
        step->plane_dst = dst;
    }
    return 0;
}

int spec_init(struct spec *spec, struct spec_maker *maker, const struct array *array,
              const struct role_binding *binding, struct error *err)
{
    const struct board *board = maker->board;
    const struct role_kind *kind = &role_kinds[binding->role];
    const struct role_axes *axes = &binding->axes;
    const bool permutes_tiles = maker->conventions->tiles == TILES_PERMUTE;
    const uint64_t n_planes = axes->outer * axes->inner;

    *spec = (struct spec){
        .kind = kind->moves_as,
        .board = board,
        .dtype = array->header.dtype,
        .row_nbytes = array->row_nbytes,
        .outer = axes->outer,
        .axis = axes->axis,
        .inner = axes->inner,
        .n_planes = n_planes,
        .frame_planes = binding->frame_planes > 0 ? binding->frame_planes : n_planes,
        .channels_last = axes->inner > 1,
        .lsb_first = binding->options & ROLE_LSB,
        .col_first = binding->options & ROLE_COLROW,
        .pairs = binding->options & ROLE_PAIRS,
        .codes = permutes_tiles && binding->role == ROLE_GRID && board->family->has_tiles,
        .cols = board->cols,
    };
    if (spec->kind == SPEC_INDICES && binding->sparse == SPARSE_PADDED)
        spec->kind = SPEC_PADDED;
    if (spec->kind == SPEC_TRIPLE && !permutes_tiles)
        spec->kind = SPEC_KEEP;
    if (new_items(&spec->steps, board->n_transforms, "maps of an array", err) != 0)
        return -1;
    spec->n_steps = board->n_transforms;
    for (uint32_t t = 0; t < spec->n_steps; t++) {
        const uint32_t *numbers = board->transforms[t].numbers;

        spec->steps[t].label_plane = -1;
        for (uint8_t k = 0; k < BOARD_N_NUMBERS; k++)
            spec->steps[t].number_src[numbers != NULL ? numbers[k] : k] = k;
    }
    if (kind->flags & ROLE_HAS_LAYOUT)
        return spec_set_space(spec, maker, binding, err);
    if ((spec->kind == SPEC_COORD || role_is_on_cells(binding->role)) &&
        follow_cells(spec, maker, binding, err) != 0)
        return -1;
    return binding->role == ROLE_PLANES || binding->role == ROLE_PACKED
               ? fill_planes(spec, maker, err)
               : 0;
}

void spec_set_swap(struct spec *spec, enum label_op op)
{
    for (uint32_t t = 0; t < spec->n_steps; t++)
        if (spec->board->transforms[t].swaps_colours)
            spec->steps[t].label = op;
}

enum label_op spec_swap(const struct spec *spec)
{
    for (uint32_t t = 0; t < spec->n_steps; t++)
        if (spec->board->transforms[t].swaps_colours)
            return spec->steps[t].label;
    return LABEL_KEEP;
}

void spec_release(struct spec *spec)
{
    free(spec->steps);
    free(spec->own_maps);
    free(spec->plane_maps);
    *spec = (struct spec){0};
}
