/* role_finish.c - what one array's role takes from the others: the layout of moves, plane order. */
#include "shard/role_finish.h"

#include "shard/role_fit.h"

#include <string.h>

#define N_OF(table) (sizeof(table) / sizeof(table)[0])

/* The policy that moves on their own are indices into: the first one there is. */
static const struct role_binding *find_policy(const struct role_context *c)
{
    static const enum role roles[] = {ROLE_POLICY, ROLE_POLICY_INDEX, ROLE_ACTION_VALUES,
                                      ROLE_MASK};

    for (size_t k = 0; k < N_OF(roles); k++)
        for (size_t i = 0; i < c->archive->n_arrays; i++)
            if (c->bindings[i].role == roles[k])
                return &c->bindings[i];
    return NULL;
}

/* Actions: the layout told, else that of the shard's policy, else cells. */
static int finish_action(const struct role_context *c, size_t i, const struct role_binding *policy,
                         struct error *err)
{
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason;

    b->layout = role_told_layout(c, i, &reason);
    if (reason.text[0] != '\0')
        return role_refuse(c, i, "action:layout=LAYOUT", reason.text, err);
    if (policy != NULL && (b->layout == NULL || b->layout == policy->layout)) {
        b->layout = policy->layout;
        b->n_actions = policy->n_actions;
        return 0;
    }
    if (b->layout == NULL)
        b->layout = action_layout_by_length(c->board, c->board->n_cells);
    if (b->layout == NULL)
        return role_refuse(c, i, "action:layout=LAYOUT", "no policy tells what its indices mean",
                           err);
    b->n_actions = b->layout->length(c->board);
    return 0;
}

/* As programs write them beside a policy of that layout. */
static bool planes_are_xy(const struct role_context *c)
{
    if (c->request->plane_xy >= 0)
        return c->request->plane_xy == 1;
    for (size_t i = 0; i < c->archive->n_arrays; i++) {
        const struct role_binding *b = &c->bindings[i];

        if ((b->role == ROLE_POLICY || b->role == ROLE_POLICY_INDEX ||
             b->role == ROLE_ACTION_VALUES || b->role == ROLE_MASK) &&
            b->layout != NULL && b->layout == c->board->family->xy_layout)
            return true;
    }
    return false;
}

/* A policy that was told to be stored upside down, or moves beside one. */
static int finish_flip(const struct role_context *c, size_t i, const struct role_binding *policy,
                       struct error *err)
{
    const struct role_override *told = c->cases[i].told;
    struct role_binding *b = &c->bindings[i];
    struct role_reason reason;

    if (told != NULL && told->flip >= 0)
        b->flip = (enum action_flip)told->flip;
    if (!action_can_flip(c->board, b->layout, b->flip)) {
        role_unfit(&reason, "option %s is for a policy with an entry for each cell of a %s",
                   action_flip_name(b->flip), b->flip == ACTION_TRANSPOSE ? "square" : "rectangle");
        return role_refuse(c, i, role_name(b->role), reason.text, err);
    }
    if (b->role != ROLE_ACTION || told != NULL || policy == NULL || policy->flip == ACTION_AS_IS)
        return 0;
    role_unfit(&reason, "the policy is stored %s: expected to be told whether these moves are, too",
               action_flip_name(policy->flip));
    return role_refuse(c, i, "action", reason.text, err);
}

int role_finish(const struct role_context *c, struct error *err)
{
    const struct role_binding *policy = find_policy(c);
    const bool xy = planes_are_xy(c);

    for (size_t i = 0; i < c->archive->n_arrays; i++) {
        struct role_binding *b = &c->bindings[i];

        if (b->role == ROLE_ACTION && finish_action(c, i, policy, err) != 0)
            return -1;
        if ((b->role == ROLE_POLICY || b->role == ROLE_ACTION_VALUES || b->role == ROLE_MASK ||
             b->role == ROLE_POLICY_INDEX) &&
            finish_flip(c, i, NULL, err) != 0)
            return -1;
        if (b->role == ROLE_PLANES || b->role == ROLE_PACKED || b->role == ROLE_GRID)
            b->plane_xy = xy;
    }
    for (size_t i = 0; i < c->archive->n_arrays; i++)
        if (c->bindings[i].role == ROLE_ACTION && finish_flip(c, i, policy, err) != 0)
            return -1;
    return 0;
}
