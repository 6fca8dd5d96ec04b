/*
 * survey_flip.c - policies and moves that are stored in another order than the planes beside them.
 *
 * In a game of placement no policy stands on stones. Where it does in most rows, and does not once
 * it is flipped up-down, left-right or transposed, the two are stored differently (as the commonest
 * trainer of Gomoku does it): moved as it stands, every image but a few would be wrong. The first
 * rows tell. Dense policies, sparse ones and single moves end in the same counts.
 */
#include "engine/survey.h"
#include "engine/survey_chunks.h"

#include <math.h>
#include <stdlib.h>

#define MAX_ROWS       512
#define MIN_ROWS       3    /* that stand on stones, unless these are most of all */
#define MIN_SPARSE     8    /* the same of sparse policies and moves: few entries miss by chance */
#define OCCUPIED_SHARE 1e-3 /* of a row's mass, which noise may have */
#define BY_CHANCE      3    /* times as many rows as in another wrong order may be chance */

struct flips {
    const struct plan *plan;
    const struct plan_array *stones, *policy;
    struct chunks rows; /* of the stones */
    uint64_t next;      /* in that chunk */
    uint8_t *occupied;  /* owned, one per cell: in row `row` */
    uint64_t row;
    bool has_stones;                  /* and none of them are on one cell */
    double total, on[ACTION_N_FLIPS]; /* mass of the policy that is looked at, and on stones */
    uint64_t n_rows, n_overlap, first_broken;
    uint64_t n_broken[ACTION_N_FLIPS];
};

static bool is_flip_of(const struct board *board, enum action_flip flip)
{
    return flip != ACTION_TRANSPOSE || board->rows == board->cols;
}

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

/* Put the stones of the next row on the cells. 1 where there is none. */
static int next_row(struct flips *f, struct error *err)
{
    if (f->next == f->rows.n) {
        f->next = 0;
        if (chunks_next(&f->rows, err) != 0)
            return -1;
    }
    f->row = f->rows.first + f->next;
    if (f->rows.n == 0 || f->row >= MAX_ROWS)
        return 1;
    f->has_stones = find_stones(f, f->rows.rows + f->next++ * f->stones->spec.row_nbytes);
    return 0;
}

static void add_entry(struct flips *f, uint64_t action, double mass)
{
    const struct board *board = f->plan->board;

    if (!f->has_stones || action >= board->n_cells || !(mass > 0) || isinf(mass))
        return;
    f->total += mass;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        if (is_flip_of(board, (enum action_flip)flip) &&
            f->occupied[action_flip_cell(board, (enum action_flip)flip, action)])
            f->on[flip] += mass;
}

/* All entries of a policy of this row are added: count it. */
static void end_policy(struct flips *f)
{
    const double noise = OCCUPIED_SHARE * f->total;
    const enum action_flip now = f->policy->binding.flip;

    if (f->total > 0) {
        if (f->n_broken[now] == 0 && f->on[now] > noise)
            f->first_broken = f->row;
        f->n_rows++;
    }
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++) {
        f->n_broken[flip] += f->on[flip] > noise;
        f->on[flip] = 0;
    }
    f->total = 0;
}

static int look_at_dense(struct flips *f, struct error *err)
{
    const struct spec *spec = &f->policy->spec;
    const uint64_t at_once = SURVEY_CHUNK_NBYTES / spec->row_nbytes + 1;
    struct chunks policies = {0};
    int status = chunks_open(&policies, f->plan, f->policy, at_once, err);

    while (status == 0 && (status = chunks_next(&policies, err)) == 0 && policies.n > 0)
        for (uint64_t i = 0; i < policies.n && (status = next_row(f, err)) == 0; i++)
            for (uint64_t head = 0; head < spec->outer; head++) {
                const uint8_t *policy =
                    policies.rows + i * spec->row_nbytes + head * (spec->row_nbytes / spec->outer);

                for (uint64_t a = 0; a < f->plan->board->n_cells; a++)
                    add_entry(f, a,
                              dtype_get_double(&spec->dtype, policy + a * spec->dtype.itemsize));
                end_policy(f);
            }
    chunks_close(&policies);
    return status;
}

/* Of sparse policies, and moves. */
static int look_at_entry(void *self, const struct entry *entry, struct error *err)
{
    struct flips *f = self;
    int status = 0;

    while (status == 0 && (f->rows.n == 0 || f->row < entry->row)) {
        end_policy(f);
        status = next_row(f, err);
    }
    if (status == 0 && entry->index >= 0)
        add_entry(f, (uint64_t)entry->index, entry->value);
    return status;
}

static int look_at_sparse(struct flips *f, struct error *err)
{
    const struct entries_visitor visitor = {look_at_entry, f};
    const int status = survey_entries(f->plan, f->policy, &visitor, err);

    end_policy(f);
    return status;
}

static bool is_dense(const struct plan_array *policy)
{
    return policy->binding.role == ROLE_POLICY || policy->binding.role == ROLE_MASK;
}

/* The flip that explains the rows, or the one the policy has. Policies in a wrong order meet stones
 * by chance, in any other wrong order about as often; one that meets them far more often as it is
 * stored stands on them by right, as the move that led to the position does. */
static enum action_flip best_flip(const struct flips *f)
{
    const enum action_flip now = f->policy->binding.flip;
    const uint64_t broken = f->n_broken[now];
    enum action_flip best = now;
    uint64_t by_chance = 0;

    if (!is_dense(f->policy) && broken < MIN_SPARSE)
        return now;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        if (is_flip_of(f->plan->board, (enum action_flip)flip) &&
            f->n_broken[flip] < f->n_broken[best])
            best = (enum action_flip)flip;
    for (int flip = 0; flip < ACTION_N_FLIPS; flip++)
        if (flip != (int)best && flip != (int)now && f->n_broken[flip] > by_chance)
            by_chance = f->n_broken[flip];
    if (2 * f->n_overlap > f->n_overlap + f->n_rows || 20 * f->n_broken[best] > broken ||
        broken > BY_CHANCE * by_chance)
        return now;
    return 2 * broken > f->n_rows || (broken >= MIN_ROWS && 10 * broken > f->n_rows) ? best : now;
}

static int refuse(const struct flips *f, enum action_flip best, struct error *err)
{
    const struct role_binding *b = &f->policy->binding;
    const char *role = role_name(b->role), *key = f->policy->key;
    /* What was told of a sparse policy's layout is said again: no length tells it. */
    const bool is_told = !b->inferred && (b->role == ROLE_POLICY_INDEX || b->role == ROLE_ACTION);
    const char *layout = is_told ? b->layout->name : "";

    return plan_refuse(
        f->plan, f->policy, err,
        "row %llu: %s on occupied cells, as in %llu of %llu rows with stones; expected none. "
        "Planes and %s are stored in different orders: %s has %llu such rows; use --role "
        "%s=%s%s%s%s%s",
        (unsigned long long)f->first_broken, b->role == ROLE_ACTION ? "moves" : "mass",
        (unsigned long long)f->n_broken[b->flip], (unsigned long long)f->n_rows, role,
        best == ACTION_AS_IS ? "as it is it" : action_flip_name(best),
        (unsigned long long)f->n_broken[best], text_path(key).text, role, is_told ? ":layout=" : "",
        layout,
        best == ACTION_AS_IS ? ""
        : is_told            ? ","
                             : ":",
        action_flip_name(best));
}

static int look_at(struct plan *plan, const struct plan_array *stones,
                   const struct plan_array *policy, struct error *err)
{
    struct flips f = {.plan = plan, .stones = stones, .policy = policy};
    const uint64_t at_once = SURVEY_CHUNK_NBYTES / stones->spec.row_nbytes + 1;
    int status = -1;

    f.occupied = malloc(plan->board->n_cells);
    if (f.occupied == NULL)
        error_no_memory(err, "survey of a policy");
    else if (chunks_open(&f.rows, plan, stones, at_once, err) == 0)
        status = is_dense(policy) ? look_at_dense(&f, err) : look_at_sparse(&f, err);
    chunks_close(&f.rows);
    free(f.occupied);
    if (status < 0)
        return -1;
    return best_flip(&f) != policy->binding.flip ? refuse(&f, best_flip(&f), err) : 0;
}

static bool is_looked_at(const struct plan *plan, const struct plan_array *array)
{
    const struct role_binding *b = &array->binding;

    if (!action_can_flip(plan->board, b->layout, ACTION_FLIPUD))
        return false;
    if (b->role == ROLE_POLICY_INDEX)
        return true;
    return !array->is_object && survey_has_numbers(array) &&
           (b->role == ROLE_ACTION || (is_dense(array) && b->axes.inner == 1));
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
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (is_looked_at(plan, &plan->arrays[i]) &&
            look_at(plan, stones, &plan->arrays[i], err) != 0)
            return -1;
    return 0;
}
