/*
 * survey_flip.c - policies that are stored in another order than the planes beside them.
 *
 * In a game of placement no policy stands on stones. Where it does in most rows, and does not once
 * it is flipped up-down, left-right or transposed, the two are stored differently (as the commonest
 * trainer of Gomoku does it): moved as it stands, every image but a few would be wrong. The first
 * rows tell.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"

#include <math.h>
#include <stdlib.h>

#define MAX_ROWS       4096
#define MIN_ROWS       3    /* that stand on stones, unless these are most of all */
#define OCCUPIED_SHARE 1e-3 /* of a row's mass, which noise may have */

struct flips {
    const struct plan *plan;
    const struct plan_array *stones, *policy;
    uint8_t *occupied; /* owned, one per cell */
    uint64_t n_rows, n_overlap, first_broken;
    uint64_t n_broken[ACTION_N_FLIPS];
};

static uint64_t element_of(const struct flips *f, uint64_t cell)
{
    const struct board *board = f->plan->board;

    return f->stones->binding.plane_xy ? cell % board->cols * board->rows + cell / board->cols
                                       : cell;
}

/* False when the row has no stones, or two on one cell. */
static bool find_stones(struct flips *f, const uint8_t *row)
{
    const bool is_grid = f->stones->binding.role == ROLE_GRID;
    bool found = false, overlap = false;

    for (uint64_t cell = 0; cell < f->plan->board->n_cells; cell++) {
        const uint64_t at = element_of(f, cell);
        const bool first = survey_plane_value(f->stones, row, 0, at) != 0;
        const bool second = !is_grid && survey_plane_value(f->stones, row, 1, at) != 0;

        f->occupied[cell] = first || second;
        found |= first || second;
        overlap |= first && second;
    }
    f->n_overlap += overlap;
    return found && !overlap;
}

static void look_at_policy(struct flips *f, const uint8_t *policy, uint64_t row)
{
    const struct board *board = f->plan->board;
    const struct dtype *dtype = &f->policy->move.dtype;
    double on[ACTION_N_FLIPS] = {0}, total = 0;

    for (uint64_t a = 0; a < board->n_cells; a++) {
        const double mass = dtype_get_double(dtype, policy + a * dtype->itemsize);

        if (!(mass > 0) || isinf(mass))
            continue;
        total += mass;
        for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
            if ((flip != ACTION_TRANSPOSE || board->rows == board->cols) &&
                f->occupied[action_flip_cell(board, (enum action_flip)flip, a)])
                on[flip] += mass;
    }
    if (total == 0)
        return;
    if (f->n_broken[0] == 0 && on[0] > OCCUPIED_SHARE * total)
        f->first_broken = row;
    f->n_rows++;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        f->n_broken[flip] += on[flip] > OCCUPIED_SHARE * total;
}

static int look_at_rows(struct flips *f, struct chunks *stones, struct chunks *policy,
                        struct error *err)
{
    const uint64_t row_nbytes = f->policy->move.row_nbytes;

    do {
        if (chunks_next(stones, err) != 0 || chunks_next(policy, err) != 0)
            return -1;
        for (uint64_t i = 0; i < stones->n; i++)
            if (find_stones(f, stones->rows + i * f->stones->move.row_nbytes))
                for (uint64_t head = 0; head < f->policy->move.outer; head++)
                    look_at_policy(f,
                                   policy->rows + i * row_nbytes +
                                       head * (row_nbytes / f->policy->move.outer),
                                   stones->first + i);
    } while (stones->n > 0 && stones->first + stones->n < MAX_ROWS);
    return 0;
}

/* The flip that explains the rows, or the one the policy has. */
static enum action_flip best_flip(const struct flips *f)
{
    const enum action_flip now = f->policy->binding.flip;
    const uint64_t broken = f->n_broken[now];
    enum action_flip best = now;

    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        if ((flip != ACTION_TRANSPOSE || f->plan->board->rows == f->plan->board->cols) &&
            f->n_broken[flip] < f->n_broken[best])
            best = (enum action_flip)flip;
    if (2 * f->n_overlap > f->n_overlap + f->n_rows || 20 * f->n_broken[best] > broken)
        return now;
    return 2 * broken > f->n_rows || (broken >= MIN_ROWS && 10 * broken > f->n_rows) ? best : now;
}

static int refuse(const struct flips *f, enum action_flip best, struct error *err)
{
    const char *role = role_name(f->policy->binding.role), *key = f->policy->key;

    return plan_refuse(
        f->plan, f->policy, err,
        "row %llu: mass on occupied cells, as in %llu of %llu rows with stones; expected none. "
        "Planes and %s are stored in different orders: %s has %llu such rows; use --role %s=%s%s%s",
        (unsigned long long)f->first_broken,
        (unsigned long long)f->n_broken[f->policy->binding.flip], (unsigned long long)f->n_rows,
        role, best == ACTION_AS_IS ? "as it is it" : action_flip_name(best),
        (unsigned long long)f->n_broken[best], text_path(key).text, role,
        best == ACTION_AS_IS ? "" : ":", action_flip_name(best));
}

static int look_at(struct plan *plan, const struct plan_array *stones,
                   const struct plan_array *policy, struct error *err)
{
    struct flips f = {.plan = plan, .stones = stones, .policy = policy};
    const uint64_t at_once =
        SURVEY_CHUNK_NBYTES / (stones->move.row_nbytes + policy->move.row_nbytes) + 1;
    struct chunks rows = {0}, policies = {0};
    int status = -1;

    f.occupied = malloc(plan->board->n_cells);
    if (f.occupied == NULL)
        error_no_memory(err, "survey of a policy");
    else if (chunks_open(&rows, plan, stones, at_once, err) == 0 &&
             chunks_open(&policies, plan, policy, at_once, err) == 0)
        status = look_at_rows(&f, &rows, &policies, err);
    chunks_close(&rows);
    chunks_close(&policies);
    free(f.occupied);
    if (status != 0)
        return -1;
    return best_flip(&f) != policy->binding.flip ? refuse(&f, best_flip(&f), err) : 0;
}

static bool has_stones(const struct plan *plan, const struct plan_array *array)
{
    const struct role_binding *b = &array->binding;

    return survey_has_numbers(array) && b->axes.axis == plan->board->n_cells && b->layout == NULL &&
           (b->role == ROLE_GRID || survey_n_planes(array) >= 2);
}

int survey_flips(struct plan *plan, struct error *err)
{
    const struct plan_array *stones = survey_find(plan, ROLE_PLANES);

    if (stones == NULL)
        stones = survey_find(plan, ROLE_GRID);
    if (stones == NULL || !has_stones(plan, stones) || plan->conventions.planes > PLANES_MOVER)
        return 0;
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct role_binding *b = &array->binding;

        if ((b->role == ROLE_POLICY || b->role == ROLE_MASK) && !array->is_object &&
            survey_has_numbers(array) && b->axes.inner == 1 &&
            action_can_flip(plan->board, b->layout, ACTION_FLIPUD) &&
            look_at(plan, stones, array, err) != 0)
            return -1;
    }
    return 0;
}
