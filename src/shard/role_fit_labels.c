/* role_fit_labels.c - moves, coordinates, values, players and tiles: a few numbers per row. */
#include "shard/role_fit.h"

#include <string.h>

/* Columns of an array of labels: 1 for (N,), k for (N,k), 0 for anything else. */
static uint64_t n_columns(const struct npy_header *h)
{
    if (h->n_dims == 1)
        return 1;
    return h->n_dims == 2 ? h->shape[1] : 0;
}

/* Numbers, or opaque ones where nothing is ever computed from them. */
static bool is_label(const struct role_context *c, const struct dtype *dtype)
{
    return c->swaps_colours ? dtype_is_number(dtype) : role_dtype_moves(dtype);
}

bool role_fit_action(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!dtype_is_integer(&h->dtype) || n_columns(h) != 1)
        return role_unfit(reason, "expected the index of an action: integers (N,)");
    binding->role = ROLE_ACTION;
    return true;
}

bool role_fit_coord(const struct role_context *c, size_t i, struct role_binding *binding,
                    struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!dtype_is_integer(&h->dtype) || h->n_dims != 2 || h->shape[1] != 2)
        return role_unfit(reason, "expected (row, col) of a cell: integers (N, 2)");
    if (c->board->rows == 0)
        return role_unfit(reason, "the cells of the board %s have no rows and columns",
                          c->board->name);
    binding->role = ROLE_COORD;
    binding->col_first = c->cases[i].told != NULL && c->cases[i].told->col_first == 1;
    return true;
}

/* Up to three columns are a value, values by colour, or win-draw-loss; more of them are values per
 * player where the name says so, and may be anything where it does not. */
bool role_fit_value(const struct role_context *c, size_t i, struct role_binding *binding,
                    struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct role_case *known = &c->cases[i];
    const uint64_t n = n_columns(h);
    struct role_reason spatial;

    if (!is_label(c, &h->dtype) || n == 0)
        return role_unfit(reason, "expected values: numbers (N,) or (N, k)");
    if (n > 3 && known->told == NULL && known->named != NULL &&
        !(known->named->flags & NAME_PER_PLAYER) &&
        (c->swaps_colours || role_is_spatial(c, i, 1, &spatial)))
        return role_unfit(reason, "expected values: numbers (N,), (N, 1), (N, 2) or (N, 3)");
    binding->role = ROLE_VALUE;
    binding->per_player = (known->told != NULL && known->told->per_player == 1) ||
                          (known->named != NULL && (known->named->flags & NAME_PER_PLAYER));
    return true;
}

bool role_fit_wdl(const struct role_context *c, size_t i, struct role_binding *binding,
                  struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!is_label(c, &h->dtype) || h->n_dims != 2 || h->shape[1] != 3)
        return role_unfit(reason, "expected win, draw, loss: numbers (N, 3)");
    binding->role = ROLE_WDL;
    return true;
}

bool role_fit_to_move(const struct role_context *c, size_t i, struct role_binding *binding,
                      struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!is_label(c, &h->dtype) || n_columns(h) != 1)
        return role_unfit(reason, "expected a player: numbers (N,)");
    binding->role = ROLE_TO_MOVE;
    return true;
}

bool role_fit_tile(const struct role_context *c, size_t i, struct role_binding *binding,
                   struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;

    if (!c->board->family->has_tiles)
        return role_unfit(reason, "tiles belong to the board takeiteasy, not to %s",
                          c->board->name);
    if (!dtype_is_integer(&h->dtype) || h->n_dims != 2 || h->shape[1] != 3)
        return role_unfit(reason, "expected a tile's numbers: integers (N, 3)");
    binding->role = ROLE_TILE;
    return true;
}
