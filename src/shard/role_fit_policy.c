/* role_fit_policy.c - dense policies and masks: which layout has the array's action axis. */
#include "shard/role_fit.h"

#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* The dimensions behind the rows with the box's two drawn together. */
struct policy_shape {
    unsigned n_dims; /* 1 to 3; 0: none that a policy has */
    uint64_t dims[3];
};

static struct policy_shape collapse(const struct role_context *c, const struct npy_header *h)
{
    struct policy_shape shape = {0};
    const bool box = c->board->rows > 0;

    if (h->n_dims > 2 && role_dims_are_cells(c->board, h->shape + 1, h->n_dims - 1))
        return (struct policy_shape){1, {c->board->n_cells}};
    for (unsigned i = 1; i < h->n_dims; i++) {
        uint64_t dim = h->shape[i];

        if (shape.n_dims == 3)
            return (struct policy_shape){0};
        if (box && i + 1 < h->n_dims && (h->n_dims == 3 || h->n_dims == 4) &&
            dim == c->board->rows && h->shape[i + 1] == c->board->cols) {
            dim = c->board->n_cells;
            i++;
        }
        shape.dims[shape.n_dims++] = dim;
    }
    return shape;
}

const struct action_layout *role_told_layout(const struct role_context *c, size_t i,
                                             struct role_reason *reason)
{
    const struct role_override *told = c->cases[i].told;
    const bool by_role = told != NULL && told->layout != NULL;
    const char *name = by_role ? told->layout : c->request->policy_layout;
    const struct action_layout *layout;
    char known[160];

    reason->text[0] = '\0';
    if (name == NULL)
        return NULL;
    layout = action_layout_by_name(c->board, name);
    if (layout == NULL || layout->length(c->board) == 0) {
        action_layout_list(c->board, known, sizeof known);
        role_unfit(reason, "the board %s has no policy layout %.60s; it has %s", c->board->name,
                   text_quote(name).text, known);
        return NULL;
    }
    return layout;
}

/* The layout of an axis of that length: as told, else by the length. */
static const struct action_layout *choose_layout(const struct role_context *c, size_t i,
                                                 uint64_t length, struct role_reason *reason)
{
    const struct action_layout *layout = role_told_layout(c, i, reason);
    const bool for_this_array = c->cases[i].told != NULL && c->cases[i].told->layout != NULL;
    char known[200];

    if (reason->text[0] != '\0')
        return NULL;
    if (layout != NULL && length >= layout->length(c->board))
        return layout;
    if (layout != NULL && (for_this_array || action_layout_by_length(c->board, length) == NULL)) {
        role_unfit(reason, "%" PRIu64 " actions are fewer than the %" PRIu64 " of the layout %s",
                   length, layout->length(c->board), layout->name);
        return NULL;
    }
    layout = length > 0 ? action_layout_by_length(c->board, length) : NULL;
    if (layout == NULL) {
        action_layout_list(c->board, known, sizeof known);
        role_unfit(reason, "no policy of the board %s has %" PRIu64 " actions; expected one of %s",
                   c->board->name, length, known);
    }
    return layout;
}

/*
 * Chess policies as planes of moves: (planes, 8, 8) or (8, 8, planes). A layout that numbers moves
 * in one of these orders has a twin for the other, under its name with an ending.
 */
static const struct action_layout *layout_of_planes(const struct role_context *c, size_t i,
                                                    const struct policy_shape *shape)
{
    static const char *const endings[] = {"-squares", "-planes"};
    const bool planes_first = shape->dims[1] == c->board->n_cells;
    const struct action_layout *base, *twins[2];
    struct role_reason none;
    uint64_t total;
    size_t n_stem;
    char name[96];

    if ((shape->dims[0] == c->board->n_cells) == planes_first ||
        __builtin_mul_overflow(shape->dims[0], shape->dims[1], &total))
        return NULL;
    base = role_told_layout(c, i, &none);
    if (base == NULL)
        base = action_layout_by_length(c->board, total);
    if (base == NULL || base->length(c->board) != total)
        return NULL;
    n_stem = strlen(base->name);
    for (size_t k = 0; k < 2; k++)
        if (n_stem > strlen(endings[k]) &&
            strcmp(base->name + n_stem - strlen(endings[k]), endings[k]) == 0)
            n_stem -= strlen(endings[k]);
    for (size_t k = 0; k < 2; k++) {
        snprintf(name, sizeof name, "%.*s%s", (int)n_stem, base->name, endings[k]);
        twins[k] = action_layout_by_name(c->board, name);
    }
    if (twins[0] == NULL && twins[1] == NULL)
        return NULL;
    if (twins[planes_first] != NULL)
        return twins[planes_first];
    snprintf(name, sizeof name, "%.*s", (int)n_stem, base->name);
    return action_layout_by_name(c->board, name);
}

static bool bind_policy(const struct action_layout *layout, uint64_t outer, uint64_t length,
                        struct role_binding *binding)
{
    binding->role = ROLE_POLICY;
    binding->layout = layout;
    binding->n_actions = length;
    binding->axes = (struct role_axes){outer, length, 1};
    return true;
}

/* (N,k,A) and its relatives, the box drawn together. */
static bool fit_two_dims(const struct role_context *c, size_t i, const struct policy_shape *shape,
                         struct role_binding *binding, struct role_reason *reason)
{
    const uint64_t cells = c->board->n_cells, *dims = shape->dims;
    const struct action_layout *layout = layout_of_planes(c, i, shape);
    const bool spread = c->archive->arrays[i].header.n_dims == 4;
    uint64_t total;

    if (layout != NULL)
        return bind_policy(layout, 1, dims[0] * dims[1], binding);
    /* From-square times to-square, written as a table. */
    if (dims[0] == cells && !__builtin_mul_overflow(dims[0], dims[1], &total) &&
        action_layout_by_length(c->board, total) != NULL) {
        layout = choose_layout(c, i, total, reason);
        return layout != NULL && bind_policy(layout, 1, total, binding);
    }
    /* Of k boards' worth of moves nothing says that they are of k kinds a symmetry keeps apart. */
    if (spread && (dims[0] == 1 || dims[1] == 1)) {
        layout = choose_layout(c, i, cells, reason);
        return layout != NULL && bind_policy(layout, 1, cells, binding);
    }
    if (spread)
        return role_unfit(reason, "expected a policy (N, A), (N, H, W) or (N, k, A)");
    if (dims[0] == 0)
        return role_unfit(reason, "expected at least one policy, found none");
    layout = choose_layout(c, i, dims[1], reason);
    return layout != NULL && bind_policy(layout, dims[0], dims[1], binding);
}

bool role_fit_policy(const struct role_context *c, size_t i, struct role_binding *binding,
                     struct role_reason *reason)
{
    const struct npy_header *h = &c->archive->arrays[i].header;
    const struct policy_shape shape = collapse(c, h);
    const struct action_layout *layout;

    if (!role_dtype_moves(&h->dtype))
        return role_unfit(reason, "a policy holds numbers");
    if (shape.n_dims == 1) {
        layout = choose_layout(c, i, shape.dims[0], reason);
        return layout != NULL && bind_policy(layout, 1, shape.dims[0], binding);
    }
    if (shape.n_dims == 2)
        return fit_two_dims(c, i, &shape, binding, reason);
    return role_unfit(reason, "expected a policy (N, A), (N, H, W) or (N, k, A)");
}
