/* custom_join.c - see custom.h: the parts of a listed transform as one permutation. */
#include "board/custom.h"

#include "base/perm.h"
#include "base/text.h"

#include <stdlib.h>

static void copy_part(uint32_t *map, uint32_t first, const uint32_t *part, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        map[first + i] = first + part[i];
}

/* A file with plane maps may leave them out where the planes keep their places; what a colour
 * swap does to the planes must be said, then. */
static int join_planes(const struct custom *c, const struct board_transform *t, uint32_t *map,
                       struct error *err)
{
    if (t->planes != NULL)
        copy_part(map, custom_first_plane(c), t->planes, c->board->n_planes);
    else if (c->board->n_planes > 0 && t->swaps_colours)
        return custom_refuse(c, err,
                             "transform %s: planes is missing: it swaps colours, and other "
                             "transforms have planes",
                             text_quote(t->name).text);
    return 0;
}

/* Actions that are left out are the cells, with a pass behind them where there is one more. */
static int join_actions(const struct custom *c, const struct board_transform *t, uint32_t *map,
                        struct error *err)
{
    const struct board *b = c->board;

    if (t->actions != NULL)
        copy_part(map, custom_first_action(c), t->actions, b->n_actions);
    else if (b->n_actions == b->n_cells || b->n_actions == b->n_cells + 1)
        copy_part(map, custom_first_action(c), t->dst, b->n_cells);
    else if (b->n_actions > 0 && !perm_is_identity(map, custom_n_parts(c)))
        return custom_refuse(c, err,
                             "transform %s: actions is missing: other transforms have %u actions, "
                             "more than cells and a pass",
                             text_quote(t->name).text, b->n_actions);
    return 0;
}

int custom_join(const struct custom *c, const struct board_transform *t, uint32_t *map,
                struct error *err)
{
    const uint32_t colour = custom_first_colour(c);

    perm_set_identity(map, custom_n_parts(c));
    copy_part(map, 0, t->dst, c->board->n_cells);
    if (t->swaps_colours) {
        map[colour] = colour + 1;
        map[colour + 1] = colour;
    }
    if (join_planes(c, t, map, err) != 0)
        return -1;
    return join_actions(c, t, map, err);
}
