/*
 * spec.h - what each transform of a board does to one array: the single description for all users.
 *
 * A spec is made from the array's role and the conventions. The kernels of `expand` move rows by
 * its `src` maps, `verify` compares images by its `dst` maps, and position keys, pictures and the
 * library's mover read it too. Once made it is constant, and any thread may use it.
 */
#pragma once

#include "board/actions.h"
#include "board/board.h"
#include "shard/array.h"
#include "shard/conventions.h"
#include "shard/role.h"

/* --- what a colour swap does to numbers (label.c): the only place where a value is computed --- */

enum label_op {
    LABEL_KEEP,
    LABEL_COMPLEMENT,   /* 1 - v: one IEEE subtraction in the element's type */
    LABEL_NEGATE,       /* -v: the sign bit flipped; zero stays +0 */
    LABEL_EXCHANGE_01,  /* codes 0 and 1 exchanged, others kept */
    LABEL_EXCHANGE_12,  /* codes 1 and 2 exchanged, others kept */
    LABEL_FIRST_01,     /* codes 0 and 1 exchanged in the row's first element */
    LABEL_REVERSE,      /* the row's elements reversed (WDL, values by colour) */
    LABEL_EXCHANGE_TWO, /* the row's first two elements exchanged (values_mp) */
    LABEL_N_OPS
};

/* Apply op to the n elements of a row: numbers (b, i, u, f2, f4, f8) in either byte order, aligned
 * to their size. in and out may be the same except for REVERSE and EXCHANGE_TWO, and must not
 * overlap otherwise. */
void label_apply(enum label_op op, const struct dtype *dtype, const void *in, void *out, size_t n);

/* The op in words: "1 - v", "1 and 2 exchanged". */
const char *label_op_name(enum label_op op);

/* True when op is defined for the type: numbers for arithmetic and codes, any type for the others.
 */
bool label_fits(enum label_op op, const struct dtype *dtype);

/* True when the columns of a row, of which `low` is the lowest, can be shares of one game: none
 * below 0, and a sum of 1 (0 or NaN: unknown) or whole counts; if is_signed, none below -1 and a
 * sum of 0. */
bool label_are_shares(const struct dtype *dtype, bool is_signed, double low, double sum);

/* --- specs --- */

/* What one transform does. A NULL map is the identity; src and dst are inverse to each other. */
struct spec_step {
    const uint32_t *src;                   /* borrowed: element j of the axis comes from src[j] */
    const uint32_t *dst;                   /* borrowed: element, index or cell i goes to dst[i] */
    const uint32_t *plane_src, *plane_dst; /* borrowed: the same for planes */
    enum label_op label;                   /* applied to the numbers after they have moved: */
    int label_plane;       /* to this plane of each frame alone (to move), or -1: to all */
    uint8_t number_src[3]; /* of a tile: new[k] = old[number_src[k]] */
    bool is_unknown;       /* where its planes go is not known: see doubt */
};

struct spec {
    enum spec_kind kind;
    const struct board *board; /* borrowed */
    struct dtype dtype;
    uint64_t row_nbytes;
    uint64_t outer, axis, inner; /* as in struct role_axes */
    uint64_t n_planes;           /* AXIS, BITS: outer * inner */
    uint64_t frame_planes;       /* planes per position of a history; n_planes if it is none */
    bool channels_last;          /* planes are the inner elements, frames the outer ones */
    bool lsb_first;              /* BITS */
    bool col_first;              /* COORD */
    bool pairs;                  /* INDICES: (index, count) pairs; counts stay, and so do pairs of
                                    zeros at the end of a row */
    bool codes;                  /* AXIS: tile codes, whose digits are permuted; 0: an empty cell */
    uint32_t cols;               /* COORD: of the box */
    const uint8_t *on_board;     /* borrowed, or NULL: which axis elements are on board */
    const struct action_space *space; /* borrowed, or NULL: the actions of the axis or indices */
    uint64_t n_targets;               /* length of dst: INDICES, PADDED actions; COORD cells */
    struct dtype value_dtype;         /* PADDED: of the values beside the indices */
    uint64_t value_row_nbytes;        /* PADDED */
    struct spec_step *steps;          /* owned, one per transform of the board */
    uint32_t n_steps;
    char doubt[240];    /* why steps are unknown, or "" */
    uint32_t *own_maps; /* owned: maps made for this array alone, or NULL */
    uint32_t *plane_maps;
};

/* What the specs of a shard are made from. Set board and conventions, which are borrowed. It makes
 * one action space per layout, length and flip. */
struct spec_maker {
    const struct board *board;
    const struct conventions *conventions;
    struct action_space **spaces; /* owned, n_spaces */
    size_t n_spaces;
};

/*
 * Make the spec of an array from its role; of the array itself only type and row size matter. What
 * a colour swap does to values, players and codes depends on data and is left to spec_set_swap. If
 * no convention fits the number of planes, steps are unknown. ERROR_DATA (the reason alone) if
 * there is no spec. The caller releases it in any case.
 */
int spec_init(struct spec *spec, struct spec_maker *maker, const struct array *array,
              const struct role_binding *binding, struct error *err);

void spec_release(struct spec *spec);

void spec_maker_release(struct spec_maker *maker);

/* The action space of an array's layout, length and flip, owned by the maker; or NULL. */
const struct action_space *spec_space(struct spec_maker *maker, const struct role_binding *binding,
                                      struct error *err);

/* Set the space and maps of all steps to those of binding's layout, length and flip. */
int spec_set_space(struct spec *spec, struct spec_maker *maker, const struct role_binding *binding,
                   struct error *err);

/* Make `op` what transforms that swap colours do to all numbers. */
void spec_set_swap(struct spec *spec, enum label_op op);

/* What transforms that swap colours do to the numbers. */
enum label_op spec_swap(const struct spec *spec);

/* The op that turns a player, so coded, into the other. */
enum label_op spec_swap_of_coding(enum to_move_coding coding);

/* Whether transform t makes an exact image under the conventions, and not one that another
 * transform makes, too. */
static inline bool spec_allows(const struct board *board, const struct conventions *c, uint32_t t)
{
    return !(c->planes == PLANES_CANONICAL && board->transforms[t].swaps_colours) &&
           ((board->family->has_tiles && c->tiles == TILES_PERMUTE) || board_is_exact(board, t));
}

/* Where plane p goes under transform t. */
static inline uint64_t spec_plane_to(const struct spec *spec, uint32_t t, uint64_t p)
{
    return spec->steps[t].plane_dst != NULL ? spec->steps[t].plane_dst[p] : p;
}

/* The element of a row at which plane p begins; its next cells follow at steps of `inner`. */
static inline uint64_t spec_plane_at(const struct spec *spec, uint64_t p)
{
    return spec->channels_last ? p / spec->inner * spec->inner * spec->axis + p % spec->inner
                               : p * spec->axis * spec->inner;
}

/* The plane of the first frame, before t, that holds the player to move if t changes it; -1: none.
 */
static inline int64_t spec_turn_plane(const struct spec *spec, uint32_t t)
{
    const struct spec_step *step = &spec->steps[t];

    if (step->label_plane < 0 || step->plane_src == NULL)
        return step->label_plane;
    return step->plane_src[step->label_plane];
}

/*
 * Set dst[p] to where transform t sends plane p of n_planes, and *turn to the plane that names the
 * other player afterwards, or -1. ERROR_DATA (the reason alone) if the convention does not fit that
 * number of planes.
 */
int spec_plane_map(const struct spec_maker *maker, uint32_t t, uint64_t n_planes, uint32_t *dst,
                   int *turn, struct error *err);

/* The transform that leads from the image under `from` to the image under `to`. */
static inline uint32_t spec_between(const struct board *board, uint32_t from, uint32_t to)
{
    return board->compose[board->inverse[from] * board->n_transforms + to];
}
