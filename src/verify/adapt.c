/*
 * adapt.c - see adapt.h.
 *
 * The first groups of images are looked at before any finding is made: where most of them agree
 * with another reading of an array, and hardly any with the one at hand, that reading is taken.
 */
#include "verify/adapt.h"

#include "base/text.h"
#include "verify/groups.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
        const struct orbit_pair pair = {window, lanes, lane, members[0], members[m], 0};
        const uint32_t t = window->images[members[m]].transform;

        if (t == ORBIT_NO_TRANSFORM || first == ORBIT_NO_TRANSFORM)
            continue;
        (*n_images)++;
        *n_same += orbit_same(&pair, spec_between(board, first, t), liberties);
    }
}

/* How many of the first groups have images at all, and in how many do most of them agree with the
 * first one, or all of them? */
struct agreement {
    uint64_t n_groups, n_most, n_all;
};

static struct agreement count_groups(const struct lanes *lanes, const struct window *window,
                                     size_t lane, unsigned liberties)
{
    struct agreement a = {0};

    for (uint64_t g = 0; g < window->n_groups && g < MAX_GROUPS; g++) {
        uint64_t n_images, n_same;

        count_group(lanes, window, lane, g, liberties, &n_images, &n_same);
        a.n_groups += n_images > 0;
        a.n_most += n_images > 0 && 2 * n_same >= n_images;
        a.n_all += n_images > 0 && n_same == n_images;
    }
    return a;
}

/* --- policies in another order than the planes --- */

static bool has_cell_actions(const struct lane *lane)
{
    return lane->is_mapped && !lane->is_broken && lane->spec.space != NULL &&
           strncmp(lane->binding->layout->name, "cells", 5) == 0;
}

/* Take the lane's actions to be stored so. */
static int store_as(struct lanes *lanes, struct lane *lane, enum action_flip flip,
                    struct error *err)
{
    struct verify_shard *shard = lanes->shard;
    struct role_binding *binding = &shard->bindings[lane->binding - shard->bindings];

    binding->flip = flip;
    return spec_set_space(&lane->spec, &shard->maker, binding, err);
}

/* Take the lane for stored so when its images are right then, and only then. */
static int try_flip(struct lanes *lanes, const struct window *window, size_t i,
                    enum action_flip flip, bool *is_taken, struct error *err)
{
    struct lane *lane = &lanes->items[i];
    const enum action_flip said = lane->binding->flip;
    struct agreement a = count_groups(lanes, window, i, ORBIT_EXACT);

    *is_taken = false;
    if (2 * a.n_all > a.n_groups)
        return 0;
    if (store_as(lanes, lane, flip, err) != 0)
        return -1;
    a = count_groups(lanes, window, i, ORBIT_EXACT);
    *is_taken = 2 * a.n_all > a.n_groups;
    return *is_taken ? 0 : store_as(lanes, lane, said, err);
}

/* The flip under which the policies of the first sources keep off the stones. */
static int find_flip(const struct rules *rules, const struct window *window, enum action_flip *flip,
                     struct error *err)
{
    struct rules look;
    struct findings unused = {0};
    const struct row_check check = {rules->lanes, window, &rules->lanes->shard->conventions,
                                    &unused};
    int status = rules_init_part(&look, rules, err);

    for (uint64_t g = 0; status == 0 && g < window->n_groups && g < MAX_GROUPS; g++)
        rules_check_row(&look, &check, window->members[window->groups[g]]);
    *flip = rules_best_flip(&look);
    rules_release(&look);
    findings_release(&unused);
    return status;
}

static int note_flip(struct verify_result *result, const struct lane *lane, enum action_flip flip,
                     struct error *err)
{
    char *note = NULL;

    if (asprintf(&note, "%s, %s beside the planes as with --role %s=%s:%s",
                 result->note != NULL ? result->note : "expanded", text_path(lane->array->key).text,
                 text_path(lane->array->key).text, role_name(lane->binding->role),
                 action_flip_name(flip)) < 0)
        return error_no_memory(err, "note");
    free(result->note);
    result->note = note;
    return 0;
}

static int adapt_flips(struct lanes *lanes, const struct window *window, const struct rules *rules,
                       struct verify_result *result, struct error *err)
{
    enum action_flip flip;
    bool is_taken;

    if (rules->targets == NULL || !has_cell_actions(&lanes->items[rules->policy]))
        return 0;
    if (find_flip(rules, window, &flip, err) != 0)
        return -1;
    if (flip == lanes->items[rules->policy].binding->flip)
        return 0;
    for (size_t i = 0; i < lanes->n; i++) {
        if (!has_cell_actions(&lanes->items[i]))
            continue;
        if (try_flip(lanes, window, i, flip, &is_taken, err) != 0 ||
            (is_taken && note_flip(result, &lanes->items[i], flip, err) != 0))
            return -1;
    }
    return 0;
}

/* --- all arrays --- */

int adapt(struct lanes *lanes, const struct window *window, const struct rules *rules,
          struct verify_result *result, struct error *err)
{
    const struct conventions *c = &lanes->shard->conventions;

    for (size_t i = 0; i < lanes->n; i++) {
        struct lane *lane = &lanes->items[i];

        if (!lane->is_mapped || lane->is_broken)
            continue;
        if (lane->binding->role == ROLE_COPY) {
            const struct agreement a = count_groups(lanes, window, i, ORBIT_EXACT);

            lane->is_mapped = 2 * a.n_most >= a.n_groups;
        } else if (lane->binding->role == ROLE_VALUE && spec_swap(&lane->spec) == LABEL_NEGATE &&
                   !c->value_said &&
                   count_groups(lanes, window, i, ORBIT_NO_FLIP).n_most >
                       count_groups(lanes, window, i, ORBIT_EXACT).n_most) {
            spec_set_swap(&lane->spec, LABEL_KEEP);
        }
    }
    return adapt_flips(lanes, window, rules, result, err);
}
