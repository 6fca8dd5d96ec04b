/*
 * flips.c - policies stored in another order than the planes beside them.
 *
 * A policy in a wrong order meets stones by chance: with k moves on a board of which a share d is
 * taken, it misses all of them with the probability (1-d)^k. Where the order that is said meets
 * stones, and another one never does, the product of these probabilities says how likely it is that
 * the other one misses them by luck; a row counts for no more than e^3, since the moves of a policy
 * stand together. What stands on stones by right, as the move that led to the position does, is
 * told by its mass there, which is more than chance puts on them.
 */
#include "engine/turn.h"

#include "base/bytes.h"

#include <math.h>

#define NOISE         1e-6 /* of a policy: what smoothing leaves on cells that nobody can play on */
#define MOST_OF_A_ROW 3    /* evidence that one policy gives at most */
#define SURE          7    /* evidence: one in a thousand */
#define SURE_OF_PART  14   /* many parts are tried */
#define BY_CHANCE     3    /* times as many as in another wrong order may be chance */

/* --- one policy --- */

bool flips_is_placement(const struct role_binding *policy)
{
    return policy->layout != NULL && (strncmp(policy->layout->name, "cells", 5) == 0 ||
                                      strcmp(policy->layout->name, "columns") == 0);
}

int flips_init(struct flips *flips, const struct board *board, const struct role_binding *planes,
               const struct role_binding *policy, uint64_t n_actions, struct error *err)
{
    const struct action_layout *layout = policy->layout, *laid = planes->layout;
    const uint64_t axis = planes->axes.axis;
    const uint64_t n_laid = laid != NULL ? smaller(axis, laid->length(laid, board)) : 0;
    int32_t *targets = malloc((n_actions * ACTION_N_FLIPS + 1) * sizeof *targets);

    if (targets == NULL)
        return error_no_memory(err, "cells of actions");
    *flips = (struct flips){.policy = policy,
                            .is_columns = strcmp(layout->name, "columns") == 0,
                            .n_actions = n_actions,
                            .axis = axis,
                            .targets = targets};
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++) {
        flips->can_flip[flip] = action_can_flip(board, layout, flip);
        for (uint64_t a = 0; a < n_actions; a++) {
            int32_t *target = &targets[a * ACTION_N_FLIPS + flip];
            uint64_t cell; /* of the box */

            *target = -1;
            if (!flips->can_flip[flip] || a >= layout->length(layout, board) ||
                !(action_flags(layout, board, a) & ACTION_PLACEMENT))
                continue;
            cell = action_flip_cell(board, flip, (uint64_t)action_cell(layout, board, a));
            if (planes->plane_xy)
                cell = cell % board->cols * board->rows + cell / board->cols;
            if (laid == NULL && cell < axis)
                *target = (int32_t)cell;
            for (uint64_t i = 0; i < n_laid && *target < 0; i++)
                if (action_cell(laid, board, i) == (int64_t)cell)
                    *target = (int32_t)i;
        }
    }
    return 0;
}

void flips_release(struct flips *flips)
{
    free(flips->targets);
    *flips = (struct flips){.targets = NULL};
}

inline void flip_mass_add(struct flip_mass *mass, const struct flips *flips,
                          const uint8_t *occupied, uint64_t action, double p)
{
    const enum action_flip said = flips->policy->flip;
    const enum action_flip first = mass->is_as_said ? said : ACTION_AS_IS;
    const enum action_flip end = mass->is_as_said ? said + 1 : ACTION_N_FLIPS;

    if (isnan(p) || isinf(p))
        return;
    const int32_t *targets =
        action < flips->n_actions ? flips->targets + action * ACTION_N_FLIPS : NULL;
    if (targets == NULL || targets[ACTION_AS_IS] < 0) {
        mass->total += p;
        return;
    }
    if (mass->n_cells++ == 0 || p < mass->floor)
        mass->floor = p;
    if (p <= 0)
        return;
    mass->total += p;
    mass->squares += p * p;
    for (enum action_flip flip = first; flip < end; flip++) {
        if (targets[flip] < 0 || !occupied[targets[flip]])
            continue;
        mass->on[flip] += p;
        mass->n_on[flip]++;
        if (flip == said && p > mass->highest) {
            mass->highest = p;
            mass->action = action;
        }
    }
}

void flip_mass_add_row(struct flip_mass *mass, const struct flips *flips, const uint8_t *occupied,
                       const struct row *row)
{
    for (uint64_t i = 0, action = 0; i < row->n; i++, action++) {
        action = action < flips->n_actions ? action : 0;
        flip_mass_add(mass, flips, occupied, action, row_double(row, i));
    }
}

bool flips_any_on(const struct flips *flips, const uint8_t *occupied, const struct row *row)
{
    const int32_t *targets = flips->targets + flips->policy->flip;
    bool any = false;

    for (uint64_t i = 0, action = 0; i < row->n; i++, action++) {
        action = action < flips->n_actions ? action : 0;
        const int32_t at = targets[action * ACTION_N_FLIPS];

        any |= (at >= 0 && occupied[at] != 0) & (row_double(row, i) > 0);
    }
    return any;
}

bool flip_mass_is_on(const struct flip_mass *mass, enum action_flip flip)
{
    const bool smoothed = mass->floor > 0;
    const double over =
        smoothed ? mass->on[flip] - mass->floor * (double)mass->n_on[flip] : mass->on[flip];
    const double share = smoothed ? 0.5 * (double)mass->n_on[flip] / (double)mass->n_cells : 0;

    return over > NOISE * mass->total && over > share * mass->total;
}

/* --- many --- */

void flip_tally_add(struct flip_tally *tally, const struct flips *flips,
                    const struct flip_mass *mass, uint64_t n_stones)
{
    const double density = fmin((double)n_stones / (double)flips->axis, 0.99);
    /* As many moves as would share the mass evenly. */
    const double n_moves = mass->squares > 0 ? mass->total * mass->total / mass->squares : 0;
    const double evidence = -n_moves * log(1 - density);

    if (!(mass->squares > 0))
        return;
    tally->n_rows++;
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        tally->n_on[flip] += flip_mass_is_on(mass, flip);
    tally->share += mass->on[flips->policy->flip] / mass->total;
    tally->density += density;
    tally->expected += 1 - exp(-evidence);
    tally->evidence += fmin(evidence, MOST_OF_A_ROW);
}

static enum action_flip best_flip(const struct flip_tally *t, const struct flips *flips,
                                  double evidence)
{
    const enum action_flip now = flips->policy->flip;
    enum action_flip best = now;
    uint64_t by_chance = 0;

    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        if (flips->can_flip[flip] && t->n_on[flip] < t->n_on[best])
            best = flip;
    for (enum action_flip flip = ACTION_AS_IS; flip < ACTION_N_FLIPS; flip++)
        if (flip != best && flip != now && t->n_on[flip] > by_chance)
            by_chance = t->n_on[flip];
    if (20 * t->n_on[best] > t->n_on[now] || t->evidence < evidence ||
        4 * (double)t->n_on[now] < t->expected || t->n_on[now] > BY_CHANCE * by_chance ||
        2 * t->share > (double)t->n_rows + t->density)
        return now;
    return best;
}

enum action_flip flip_tally_best(const struct flip_tally *tally, const struct flips *flips)
{
    return best_flip(tally, flips, SURE);
}

static void tally_merge(struct flip_tally *tally, const struct flip_tally *from)
{
    tally->n_rows += from->n_rows;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        tally->n_on[flip] += from->n_on[flip];
    tally->share += from->share;
    tally->density += from->density;
    tally->expected += from->expected;
    tally->evidence += from->evidence;
}

void flip_parts_merge(struct flip_parts *parts, const struct flip_parts *from)
{
    for (int i = 0; i < FLIPS_N_PARTS; i++)
        tally_merge(&parts->parts[i], &from->parts[i]);
}

struct flip_tally flip_parts_sum(const struct flip_parts *parts)
{
    struct flip_tally sum = {0};

    for (int i = 0; i < FLIPS_N_PARTS; i++)
        tally_merge(&sum, &parts->parts[i]);
    return sum;
}

struct flip_verdict flip_parts_judge(const struct flip_parts *parts, const struct flips *flips,
                                     uint64_t n_rows)
{
    const uint64_t part_rows = (n_rows + FLIPS_N_PARTS - 1) / FLIPS_N_PARTS;
    struct flip_verdict verdict = {flips->policy->flip, 0, n_rows, flip_parts_sum(parts)};
    struct flip_verdict best = {.flip = flips->policy->flip};

    verdict.flip = best_flip(&verdict.tally, flips, SURE);
    if (verdict.flip != flips->policy->flip || verdict.tally.n_on[flips->policy->flip] == 0)
        return verdict;
    for (unsigned first = 0; first < FLIPS_N_PARTS; first++) {
        struct flip_tally run = {0};

        for (unsigned end = first; end < FLIPS_N_PARTS; end++) {
            tally_merge(&run, &parts->parts[end]);
            const enum action_flip flip = best_flip(&run, flips, SURE_OF_PART);
            if (flip != flips->policy->flip && run.evidence > best.tally.evidence) {
                best = (struct flip_verdict){flip, first * part_rows, (end + 1) * part_rows, run};
                best.end = best.end < n_rows ? best.end : n_rows;
            }
        }
    }
    return best.flip != flips->policy->flip ? best : verdict;
}
