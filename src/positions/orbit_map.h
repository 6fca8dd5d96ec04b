/*
 * orbit_map.h - what every transform of a board does to the rows of one array, as destinations.
 *
 * The counterpart of row_move for checking: everything is kept as dst maps ("element i of the
 * source stands at dst[i] of the image"), taken from the board and its action layouts.
 */
#ifndef SYMAUG_POSITIONS_ORBIT_MAP_H
#define SYMAUG_POSITIONS_ORBIT_MAP_H

#include "board/actions.h"
#include "board/board.h"
#include "engine/conventions.h"
#include "engine/label.h"
#include "npy/dtype.h"
#include "shard/role.h"

enum orbit_kind {
    ORBIT_KEEP,    /* equal in every image, but for what a colour swap does */
    ORBIT_AXIS,    /* elements along an axis, plane by plane */
    ORBIT_BITS,    /* the same, packed */
    ORBIT_INDICES, /* lists of indices */
    ORBIT_PADDED,  /* the same, with trailing (index 0, value 0) that stay */
    ORBIT_COORD,   /* cells as (row, col) */
    ORBIT_TRIPLE,  /* Take It Easy: three numbers of a tile */
};

/* Action spaces in use, made once per layout and length. Zero-initialise. */
struct orbit_spaces {
    struct action_space **items; /* owned */
    size_t n;
};

struct orbit_map {
    const struct board *board; /* borrowed */
    enum orbit_kind kind;
    const uint32_t **dst; /* owned list, one per transform; NULL entries: nothing moves */
    const struct action_space *space; /* borrowed, or NULL: what the axis or index means */
    uint64_t n_targets;               /* length of each dst */
    uint64_t n_planes, axis;          /* AXIS, BITS */
    bool channels_last;
    bool lsb_first;
    bool col_first;          /* COORD */
    const uint8_t *on_board; /* borrowed, or NULL: which axis elements are cells on board */
    uint32_t *plane_dst;     /* owned, n_transforms x n_planes, or NULL: planes stay */
    int *complement; /* owned, per transform: plane that becomes the other player's, or -1 */
    enum label_op turn_flip; /* what becomes of that plane's numbers */
    enum label_op flip;      /* for transforms that swap colours */
    bool codes;              /* elements are tile codes whose digits are permuted */
    bool *unknown;           /* owned, per transform, or NULL: channels go nobody knows where */
    struct error doubt;      /* why */
    uint32_t *own_maps;      /* owned: maps made for this array alone */
};

/* The action space of an array's layout, length and flip; NULL with err set. */
const struct action_space *orbit_space(struct orbit_spaces *spaces, const struct board *board,
                                       const struct role_binding *binding,
                                       enum ambiguous_policy ambiguous, struct error *err);
void orbit_spaces_release(struct orbit_spaces *spaces);

/*
 * Fill map for an array of that role. ERROR_DATA (the reason alone) when the conventions do not
 * say what a transform does to it: then *map keeps nothing and must not be used.
 */
int orbit_map_init(struct orbit_map *map, const struct board *board,
                   const struct conventions *conventions, const struct role_binding *binding,
                   struct orbit_spaces *spaces, struct error *err);

/* What makes the other player of a coded one. */
enum label_op orbit_flip_of_coding(enum to_move_coding coding);

/* The transform that leads from the image under `from` to the image under `to`. */
static inline uint32_t orbit_between(const struct board *board, uint32_t from, uint32_t to)
{
    return board->compose[board->inverse[from] * board->n_transforms + to];
}

void orbit_map_release(struct orbit_map *map);

#endif
