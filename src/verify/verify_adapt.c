/* verify_adapt.c - see verify_adapt.h. */
#include "verify/verify_adapt.h"

#define MAX_GROUPS 64

/* Images of a group, the first one left out, that are what the first one says. */
static void count_group(const struct lanes *lanes, const struct window *window, size_t lane,
                        uint64_t g, unsigned liberties, uint64_t *n_images, uint64_t *n_same)
{
    const struct board *board = lanes->shard->board;
    const uint64_t *members = window->members + window->groups[g];
    const uint64_t n = window->groups[g + 1] - window->groups[g];
    const uint32_t first = window->images[members[0]].transform;

    *n_images = *n_same = 0;
    for (uint64_t m = 1; m < n; m++) {
        const struct orbit_pair pair = {window, lanes, lane, members[0], members[m]};

        (*n_images)++;
        *n_same += orbit_same(
            &pair, orbit_between(board, first, window->images[members[m]].transform), liberties);
    }
}

/* In how many of the first groups do most images agree with the first one? */
static void count_groups(const struct lanes *lanes, const struct window *window, size_t lane,
                         unsigned liberties, uint64_t *n_groups, uint64_t *n_agree)
{
    *n_groups = *n_agree = 0;
    for (uint64_t g = 0; g < window->n_groups && g < MAX_GROUPS; g++) {
        uint64_t n_images, n_same;

        count_group(lanes, window, lane, g, liberties, &n_images, &n_same);
        *n_groups += n_images > 0;
        *n_agree += n_images > 0 && 2 * n_same >= n_images;
    }
}

void verify_adapt(struct lanes *lanes, const struct window *window)
{
    const struct conventions *c = &lanes->shard->conventions;

    for (size_t i = 0; i < lanes->n; i++) {
        struct lane *lane = &lanes->items[i];
        uint64_t n_groups, n_agree, n_kept;

        if (!lane->is_mapped || lane->is_broken)
            continue;
        if (lane->binding->role == ROLE_COPY) {
            count_groups(lanes, window, i, ORBIT_EXACT, &n_groups, &n_agree);
            lane->is_mapped = 2 * n_agree >= n_groups;
        } else if (lane->binding->role == ROLE_VALUE && lane->map.flip == FLIP_NEGATE &&
                   !c->value_said) {
            count_groups(lanes, window, i, ORBIT_EXACT, &n_groups, &n_agree);
            count_groups(lanes, window, i, ORBIT_NO_FLIP, &n_groups, &n_kept);
            if (n_kept > n_agree)
                lane->map.flip = FLIP_NONE;
        }
    }
}
