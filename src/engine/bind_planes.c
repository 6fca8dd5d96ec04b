/*
 * bind_planes.c - where a transform sends whole planes: the maps of a board's file, castling rights
 * of a mirrored chess position, OpenSpiel's nine planes of Hex, or stones and player to move of the
 * convention. Only maps are made here, from numbers of planes; `verify` and the keys of positions
 * use them too.
 */
#include "base/perm.h"
#include "engine/bind.h"

#include <string.h>

static void exchange(uint32_t *dst, uint32_t a, uint32_t b)
{
    uint32_t to = dst[a];

    dst[a] = dst[b];
    dst[b] = to;
}

/* A mirrored chess position castles on the other side. */
static int castling_planes(const struct board *board, const struct conventions *c,
                           uint64_t n_planes, uint32_t *dst, struct error *err)
{
    const struct board_castling *known = board->family->castling;
    const uint32_t *planes = c->n_castling_planes > 0 ? c->castling_planes : known->planes;

    if (c->n_castling_planes < 0)
        return 0;
    if (c->n_castling_planes == 0 && n_planes != known->n_planes)
        return error_set(err, ERROR_DATA,
                         "%llu planes: which of them hold castling rights is known for %u only; "
                         "use --castling-planes K,Q,k,q or --castling-planes none",
                         (unsigned long long)n_planes, known->n_planes);
    for (int i = 0; i < 4; i++)
        if (planes[i] >= n_planes)
            return error_set(err, ERROR_DATA, "castling plane %u, expected below %llu", planes[i],
                             (unsigned long long)n_planes);
    exchange(dst, planes[0], planes[1]);
    exchange(dst, planes[2], planes[3]);
    return 0;
}

/* Colour or mover planes: two stone planes, and perhaps the player to move. */
static int stone_planes(const struct conventions *c, uint64_t n_planes, uint32_t *dst,
                        int *complement, struct error *err)
{
    if (n_planes != 2 && n_planes != 3)
        return error_set(err, ERROR_DATA,
                         "%llu planes: a colour swap is known for 2 (stones) and 3 (stones, to "
                         "move); use --planes openspiel or --planes with a permutation such as "
                         "1,0,~2",
                         (unsigned long long)n_planes);
    if (c->planes == PLANES_COLOUR)
        exchange(dst, 0, 1);
    if (n_planes == 3)
        *complement = 2;
    return 0;
}

static int swapped_planes(const struct conventions *c, uint64_t n_planes, uint32_t *dst,
                          int *complement, struct error *err)
{
    switch (c->planes) {
    case PLANES_PERMUTATION:
        if (c->n_planes != n_planes)
            return error_set(err, ERROR_DATA, "%llu planes, but --planes permutes %u",
                             (unsigned long long)n_planes, c->n_planes);
        for (uint32_t p = 0; p < n_planes; p++)
            dst[p] = c->plane_dst[p];
        *complement = c->to_move_plane;
        return 0;
    case PLANES_CANONICAL:
        return error_set(err, ERROR_INTERNAL, "a canonical position has no swapped image");
    case PLANES_OPENSPIEL:
        return 0; /* done for every transform by the caller */
    default:
        return stone_planes(c, n_planes, dst, complement, err);
    }
}

static int openspiel_planes(uint32_t t, uint64_t n_planes, uint32_t *dst, struct error *err)
{
    if (n_planes != 9)
        return error_set(err, ERROR_DATA, "%llu planes, but --planes openspiel means 9",
                         (unsigned long long)n_planes);
    for (uint32_t p = 0; p < 9; p++)
        dst[p] = openspiel_plane_dst[t][p];
    return 0;
}

int bind_plane_map(const struct board *board, const struct conventions *conventions, uint32_t t,
                   uint64_t n_planes, uint32_t *dst, int *complement, struct error *err)
{
    const struct board_transform *transform = &board->transforms[t];

    perm_set_identity(dst, n_planes);
    *complement = -1;
    if (transform->planes != NULL) {
        if (board->n_planes != n_planes)
            return error_set(err, ERROR_DATA, "%llu planes, but the board's maps are for %u",
                             (unsigned long long)n_planes, board->n_planes);
        memcpy(dst, transform->planes, n_planes * sizeof *dst);
        return 0;
    }
    if (board->family->castling != NULL)
        return t == 0 ? 0 : castling_planes(board, conventions, n_planes, dst, err);
    if (board->family->joins_edges && conventions->planes == PLANES_OPENSPIEL)
        return openspiel_planes(t, n_planes, dst, err);
    if (transform->swaps_colours)
        return swapped_planes(conventions, n_planes, dst, complement, err);
    return 0;
}
