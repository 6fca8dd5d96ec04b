/*
 * orbit_map.c - fills the maps of one array by its role: the action space of its layout, the cells
 * of the box, or places made for this array alone; plane by plane what takes which place, and which
 * plane tells the player to move. Uses the same tables as the plan of `expand` (board, action
 * layouts, bind_plane_map), kept as destinations.
 */
#include "positions/orbit_map.h"

#include "base/perm.h"
#include "base/text.h"
#include "engine/bind.h"

#include <stdlib.h>
#include <string.h>

/* Entries that name a region by one of its cells stay where they are. */
static void keep_ambiguous(struct action_space *space)
{
    for (uint32_t t = 0; t < space->board->n_transforms; t++)
        for (uint64_t a = 0; a < space->length; a++)
            if (space->flags[a] & ACTION_AMBIGUOUS)
                space->dst[t * space->length + a] = (uint32_t)a;
}

const struct action_space *orbit_space(struct orbit_spaces *spaces, const struct board *board,
                                       const struct role_binding *binding,
                                       enum ambiguous_policy ambiguous, struct error *err)
{
    struct action_space **grown;

    for (size_t i = 0; i < spaces->n; i++)
        if (spaces->items[i]->layout == binding->layout &&
            spaces->items[i]->length == binding->n_actions &&
            spaces->items[i]->flip == binding->flip)
            return spaces->items[i];
    grown = realloc(spaces->items, (spaces->n + 1) * sizeof(struct action_space *));
    if (grown == NULL) {
        error_no_memory(err, "action maps");
        return NULL;
    }
    spaces->items = grown;
    grown[spaces->n] = action_space_new(board, binding->layout, binding->n_actions, err);
    if (grown[spaces->n] == NULL)
        return NULL;
    if (ambiguous == AMBIGUOUS_KEEP)
        keep_ambiguous(grown[spaces->n]);
    spaces->n++;
    return action_space_flip(grown[spaces->n - 1], binding->flip, err) == 0 ? grown[spaces->n - 1]
                                                                            : NULL;
}

void orbit_spaces_release(struct orbit_spaces *spaces)
{
    for (size_t i = 0; i < spaces->n; i++)
        action_space_free(spaces->items[i]);
    free(spaces->items);
    *spaces = (struct orbit_spaces){0};
}

/* --- along the axis --- */

/* Cells that form no box, in planes that do: places without a cell stay. */
static int map_grid_of_cells(struct orbit_map *map, struct error *err)
{
    const struct board *board = map->board;
    const uint8_t *place = board->family->grid_cells;
    const uint32_t n = board->family->grid_side * board->family->grid_side;
    uint32_t *dst = calloc((size_t)board->n_transforms * n, sizeof *dst);

    if (dst == NULL)
        return error_no_memory(err, "maps of an array");
    map->own_maps = dst;
    for (uint32_t t = 0; t < board->n_transforms; t++, dst += n) {
        perm_set_identity(dst, n);
        for (uint32_t cell = 0; cell < board->n_cells; cell++)
            dst[place[cell]] = place[board->transforms[t].dst[cell]];
        map->dst[t] = dst;
    }
    map->n_targets = n;
    return 0;
}

static int map_space(struct orbit_map *map, const struct role_binding *binding,
                     const struct conventions *conventions, struct orbit_spaces *spaces,
                     struct error *err)
{
    map->space = orbit_space(spaces, map->board, binding, conventions->ambiguous, err);
    if (map->space == NULL)
        return -1;
    map->n_targets = map->space->length;
    for (uint32_t t = 0; t < map->board->n_transforms; t++)
        map->dst[t] = map->space->dst + t * map->space->length;
    return 0;
}

static int map_box(struct orbit_map *map, const struct role_binding *binding, struct error *err)
{
    const struct board *board = map->board;

    if (binding->axes.axis != board->n_cells)
        return error_set(err, ERROR_DATA, "%llu cells, expected %u",
                         (unsigned long long)binding->axes.axis, board->n_cells);
    for (uint32_t t = 0; t < board->n_transforms; t++) {
        uint32_t moved_by = binding->plane_xy ? board_xy_plane_transform(board, t) : t;

        if (moved_by == UINT32_MAX)
            return error_set(err, ERROR_DATA, "planes stored xy need a board with a transposition");
        map->dst[t] = board->transforms[moved_by].dst;
    }
    map->n_targets = board->n_cells;
    if (board->n_on_board < board->n_cells)
        map->on_board = board->on_board;
    return 0;
}

static int map_cells(struct orbit_map *map, const struct role_binding *binding,
                     const struct conventions *conventions, struct orbit_spaces *spaces,
                     struct error *err)
{
    map->axis = binding->axes.axis;
    map->channels_last = binding->axes.outer == 1 && binding->axes.inner > 1;
    map->n_planes = map->channels_last ? binding->axes.inner : binding->axes.outer;
    map->lsb_first = binding->lsb_first;
    if (binding->takeiteasy_grid)
        return map_grid_of_cells(map, err);
    if (binding->layout != NULL)
        return map_space(map, binding, conventions, spaces, err);
    return map_box(map, binding, err);
}

/* --- planes --- */

enum label_op orbit_flip_of_coding(enum to_move_coding coding)
{
    static const enum label_op flips[] = {[TO_MOVE_01] = LABEL_COMPLEMENT,
                                          [TO_MOVE_12] = LABEL_EXCHANGE_12,
                                          [TO_MOVE_PM1] = LABEL_NEGATE};

    return flips[coding];
}

/* With canonical planes the images that swap colours repeat others: nothing is exchanged. */
static bool is_plane_step(const struct orbit_map *map, const struct conventions *c, uint32_t t)
{
    return !(c->planes == PLANES_CANONICAL && map->board->transforms[t].swaps_colours);
}

static int map_planes(struct orbit_map *map, const struct conventions *conventions,
                      struct error *err)
{
    const uint32_t n_transforms = map->board->n_transforms;
    bool moves = false, any_known = false;

    map->unknown = calloc(n_transforms, sizeof *map->unknown);
    map->turn_flip = orbit_flip_of_coding(conventions->plane_coding);
    map->plane_dst = calloc((size_t)n_transforms * map->n_planes + 1, sizeof *map->plane_dst);
    map->complement = calloc(n_transforms, sizeof *map->complement);
    if (map->plane_dst == NULL || map->complement == NULL || map->unknown == NULL)
        return error_no_memory(err, "plane maps");
    for (uint32_t t = 0; t < n_transforms; t++) {
        uint32_t *dst = map->plane_dst + t * map->n_planes;

        perm_set_identity(dst, map->n_planes);
        map->complement[t] = -1;
        if (is_plane_step(map, conventions, t) &&
            bind_plane_map(map->board, conventions, t, map->n_planes, dst, &map->complement[t],
                           &map->doubt) != 0) {
            map->unknown[t] = true;
            map->complement[t] = -1;
            perm_set_identity(dst, map->n_planes);
        }
        any_known |= t > 0 && !map->unknown[t];
        moves |= !perm_is_identity(dst, map->n_planes);
    }
    if (map->doubt.kind != ERROR_NONE &&
        (!any_known || map->doubt.kind != ERROR_DATA || map->kind != ORBIT_AXIS))
        return error_pass(err, &map->doubt);
    if (map->doubt.kind == ERROR_NONE) {
        free(map->unknown);
        map->unknown = NULL;
    }
    if (!moves) {
        free(map->plane_dst);
        map->plane_dst = NULL;
    }
    return 0;
}

/* --- by role --- */

static int map_coord(struct orbit_map *map, const struct role_binding *binding, struct error *err)
{
    if (map->board->rows == 0)
        return error_set(err, ERROR_DATA, "board %s has no rows and columns", map->board->preset);
    map->kind = ORBIT_COORD;
    map->col_first = binding->col_first;
    map->n_targets = map->board->n_cells;
    for (uint32_t t = 0; t < map->board->n_transforms; t++)
        map->dst[t] = map->board->transforms[t].dst;
    return 0;
}

static int map_policy(struct orbit_map *map, const struct role_binding *binding,
                      const struct conventions *conventions, struct orbit_spaces *spaces,
                      struct error *err)
{
    map->kind = ORBIT_AXIS;
    map->axis = binding->axes.axis;
    map->n_planes = binding->axes.outer;
    return map_space(map, binding, conventions, spaces, err);
}

static int init_by_role(struct orbit_map *map, const struct conventions *conventions,
                        const struct role_binding *binding, struct orbit_spaces *spaces,
                        struct error *err)
{
    const bool permutes_tiles = conventions->tiles == TILES_PERMUTE;

    switch (binding->role) {
    case ROLE_PLANES:
    case ROLE_PACKED:
        map->kind = binding->role == ROLE_PACKED ? ORBIT_BITS : ORBIT_AXIS;
        return map_cells(map, binding, conventions, spaces, err) != 0
                   ? -1
                   : map_planes(map, conventions, err);
    case ROLE_GRID:
        map->kind = ORBIT_AXIS;
        map->codes = permutes_tiles && map->board->family->has_tiles;
        return map_cells(map, binding, conventions, spaces, err);
    case ROLE_POLICY:
    case ROLE_ACTION_VALUES:
    case ROLE_MASK:
        return map_policy(map, binding, conventions, spaces, err);
    case ROLE_POLICY_INDEX:
    case ROLE_ACTION:
        map->kind = binding->sparse == SPARSE_PADDED ? ORBIT_PADDED : ORBIT_INDICES;
        return map_space(map, binding, conventions, spaces, err);
    case ROLE_COORD:
        return map_coord(map, binding, err);
    case ROLE_TILE:
        map->kind = permutes_tiles ? ORBIT_TRIPLE : ORBIT_KEEP;
        return 0;
    default:
        return 0;
    }
}

int orbit_map_init(struct orbit_map *map, const struct board *board,
                   const struct conventions *conventions, const struct role_binding *binding,
                   struct orbit_spaces *spaces, struct error *err)
{
    *map = (struct orbit_map){.board = board, .kind = ORBIT_KEEP};
    map->dst = calloc(board->n_transforms, sizeof *map->dst);
    if (map->dst == NULL)
        return error_no_memory(err, "maps of an array");
    if (init_by_role(map, conventions, binding, spaces, err) == 0)
        return 0;
    orbit_map_release(map);
    return -1;
}

void orbit_map_release(struct orbit_map *map)
{
    free(map->dst);
    free(map->plane_dst);
    free(map->complement);
    free(map->unknown);
    free(map->own_maps);
    *map = (struct orbit_map){0};
}
