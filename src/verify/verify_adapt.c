/*
 * verify_adapt.c - see verify_adapt.h.
 *
 * The first groups of images are looked at before any finding is made: where most of them agree
 * with another reading of an array, and hardly any with the one at hand, that reading is taken.
 */
#include "verify/verify_adapt.h"

#include "base/text.h"
#include "verify/orbit_groups.h"

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
        *n_same += orbit_same(&pair, orbit_between(board, first, t), liberties);
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
    return lane->is_mapped && !lane->is_broken && lane->map.space != NULL &&
           strncmp(lane->binding->layout->name, "cells", 5) == 0;
}

/* The destinations of the lane's actions when they are stored flipped: flip, move, flip again. */
static uint32_t *flip_maps(const struct lane *lane, enum rules_flip flip, struct error *err)
{
    const struct board *board = lane->map.board;
    const uint64_t n = lane->map.n_targets;
    uint32_t *maps = malloc(((size_t)board->n_transforms * n + 1) * sizeof *maps);

    if (maps == NULL) {
        error_no_memory(err, "maps of an array");
        return NULL;
    }
    for (uint32_t t = 0; t < board->n_transforms; t++)
        for (uint64_t a = 0; a < n; a++) {
            const int64_t from = rules_flip_action(board, flip, (int64_t)a);
            const uint32_t to = lane->map.dst[t][from];

            maps[t * n + a] = (uint32_t)rules_flip_action(board, flip, to);
        }
    return maps;
}

static void set_maps(struct lane *lane, const uint32_t *maps, const uint32_t *kept)
{
    for (uint32_t t = 0; t < lane->map.board->n_transforms; t++)
        lane->map.dst[t] =
            maps != NULL ? maps + t * lane->map.n_targets : kept + t * lane->map.n_targets;
}

/* Take the lane for flipped when its images are right so, and only so. */
static int try_flip(struct lanes *lanes, const struct window *window, size_t i,
                    enum rules_flip flip, bool *is_taken, struct error *err)
{
    struct lane *lane = &lanes->items[i];
    const struct agreement plain = count_groups(lanes, window, i, ORBIT_EXACT);
    struct agreement flipped;
    uint32_t *maps;

    if (2 * plain.n_all > plain.n_groups)
        return 0;
    maps = flip_maps(lane, flip, err);
    if (maps == NULL)
        return -1;
    set_maps(lane, maps, NULL);
    flipped = count_groups(lanes, window, i, ORBIT_EXACT);
    *is_taken = 2 * flipped.n_all > flipped.n_groups;
    if (*is_taken) {
        lane->map.own_maps = maps;
        return 0;
    }
    set_maps(lane, NULL, lane->map.space->dst);
    free(maps);
    return 0;
}

/* The flip under which the policies of the first sources keep off the stones. */
static int find_flip(const struct rules *rules, const struct window *window, enum rules_flip *flip,
                     struct error *err)
{
    struct rules look;
    struct findings unused = {0};
    const struct source_check check = {rules->lanes, window, &rules->lanes->shard->conventions,
                                       &unused};
    int status = rules_init_part(&look, rules, err);

    for (uint64_t g = 0; status == 0 && g < window->n_groups && g < MAX_GROUPS; g++)
        rules_check_row(&look, &check, window->members[window->groups[g]]);
    *flip = rules_best_flip(&look);
    rules_release(&look);
    findings_release(&unused);
    return status;
}

static int note_flip(struct verify_result *result, const struct lane *lane, enum rules_flip flip,
                     struct error *err)
{
    char *note = NULL;

    if (asprintf(&note, "%s, %s beside the planes as with --role %s=%s:%s",
                 result->note != NULL ? result->note : "expanded", text_path(lane->array->key).text,
                 text_path(lane->array->key).text, role_name(lane->binding->role),
                 rules_flip_name(flip)) < 0)
        return error_no_memory(err, "note");
    free(result->note);
    result->note = note;
    return 0;
}

static int adapt_flips(struct lanes *lanes, const struct window *window, struct rules *rules,
                       struct verify_result *result, struct error *err)
{
    enum rules_flip flip = RULES_AS_IS;

    if (rules->targets == NULL || !has_cell_actions(&lanes->items[rules->policy]))
        return 0;
    if (find_flip(rules, window, &flip, err) != 0)
        return -1;
    for (size_t i = 0; flip != RULES_AS_IS && i < lanes->n; i++) {
        bool is_taken = false;

        if (!has_cell_actions(&lanes->items[i]))
            continue;
        if (try_flip(lanes, window, i, flip, &is_taken, err) != 0)
            return -1;
        if (is_taken && note_flip(result, &lanes->items[i], flip, err) != 0)
            return -1;
        if (is_taken && (int)i == rules->policy)
            rules_set_flip(rules, flip);
    }
    return 0;
}

/* --- all arrays --- */

int verify_adapt(struct lanes *lanes, const struct window *window, struct rules *rules,
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
        } else if (lane->binding->role == ROLE_VALUE && lane->map.flip == FLIP_NEGATE &&
                   !c->value_said &&
                   count_groups(lanes, window, i, ORBIT_NO_FLIP).n_most >
                       count_groups(lanes, window, i, ORBIT_EXACT).n_most) {
            lane->map.flip = FLIP_NONE;
        }
    }
    return adapt_flips(lanes, window, rules, result, err);
}
