/* plan_build.c - see plan_build.h. */
#include "engine/plan_build.h"

#include "engine/bind.h"
#include "engine/choose.h"
#include "engine/plan_inputs.h"
#include "engine/select.h"
#include "engine/shards.h"
#include "engine/shuffle.h"
#include "engine/survey.h"

#include <string.h>

/* Where the symmetry is not the game's own. */
static int note_board(struct plan *plan, struct error *err)
{
    if (plan->board->family->castling != NULL && plan->n_chosen > 1)
        return plan_warn(plan, err,
                         "chess has no exact mirror: a mirrored position castles on the other side "
                         "(--castling %s)",
                         castling_policy_name(plan->conventions.castling));
    if (plan->board->family->has_tiles && plan->conventions.tiles == TILES_PERMUTE)
        return plan_warn(plan, err,
                         "--tiles permute: all transforms but 0 and 3 make tiles that are not in "
                         "the deck of 27");
    return 0;
}

/* What the user should know about single arrays. */
static int note_arrays(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct npy_header *header = &array->sources[0]->header;

        if (array->binding.role == ROLE_DROP &&
            plan_warn(plan, err,
                      array->binding.inferred ? "%s: left out: checksums are stale after expansion"
                                              : "%s: left out, as told",
                      text_path(array->key).text) != 0)
            return -1;
        if (header->dtype.kind == DTYPE_OBJECT && header->n_dims == 0 &&
            strcmp(array->key, "metadata") == 0 &&
            plan_warn(plan, err,
                      "metadata: copied as it is: its sample_count is that of the input") != 0)
            return -1;
    }
    return 0;
}

static bool has_moving_array(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (role_moves(plan->arrays[i].binding.role))
            return true;
    return false;
}

static int bind_arrays(struct plan *plan, struct error *err)
{
    if (!has_moving_array(plan))
        return error_set(
            err, ERROR_DATA,
            "%s: no array that a transform moves was found: its images would be copies; "
            "use --role NAME=planes, packed, grid, policy, action or coord",
            text_path(plan->archives[0].path).text);
    for (size_t i = 0; i < plan->n_arrays; i++) {
        struct plan_array *array = &plan->arrays[i];

        if (array->binding.role == ROLE_META || array->binding.role == ROLE_DROP)
            continue;
        if (bind_array(plan, array, err) != 0)
            return -1;
    }
    return 0;
}

/* Whether the policies' entries decide which images there are. */
static bool drops_ambiguous(const struct plan *plan)
{
    return plan->conventions.ambiguous == AMBIGUOUS_DROP;
}

/* What decides which images there are. */
static int survey_for_images(struct plan *plan, struct error *err)
{
    plan->n_ambiguous = plan->n_castling_rows = plan->n_unencodable = UINT64_MAX;
    if (plan->board->family->castling != NULL && survey_castling(plan, err) != 0)
        return -1;
    return drops_ambiguous(plan) ? survey_ambiguous(plan, err) : 0;
}

/* Whether the rest takes as much memory as --max-memory allows, which the writing may take, too. */
static bool needs_memory(const struct plan *plan)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        for (size_t k = 0; k < plan->n_archives; k++)
            if (array_is_fortran(plan->arrays[i].sources[k]))
                return true;
    return false;
}

int plan_survey(struct plan *plan, struct error *err)
{
    if (plan->is_surveyed)
        return 0;
    plan->is_surveyed = true;
    if ((plan->swaps && (survey_turn_planes(plan, err) != 0 || survey_stones(plan, err) != 0)) ||
        survey_flips(plan, err) != 0 || survey_padding(plan, err) != 0)
        return -1;
    return drops_ambiguous(plan) ? 0 : survey_ambiguous(plan, err);
}

static int select_images(struct plan *plan, const struct settings *request, struct error *err)
{
    if (request->unique && select_unique(plan, request->n_threads, err) != 0)
        return -1;
    if (request->pick > 0 &&
        select_pick(plan, request->pick, plan->seed, request->keep_identity, err) != 0)
        return -1;
    return 0;
}

static int set_order(struct plan *plan, const struct settings *request, struct error *err)
{
    struct order *order = &plan->order;

    *order = (struct order){
        .n_rows = plan->n_rows,
        .block_rows = request->block_rows,
        .chosen = plan->chosen,
        .n_chosen = plan->n_chosen,
    };
    if (plan->selected) {
        if (selection_count(&plan->selection, plan->n_rows, request->block_rows, plan->n_chosen,
                            err) != 0)
            return -1;
        order->selection = &plan->selection;
    }
    return order_init(order, request->shuffle, plan->seed, err);
}

static int note_shards(struct plan *plan, struct error *err)
{
    const uint64_t rounded = shards_rounded(plan);

    if (rounded == 0)
        return 0;
    return plan_warn(plan, err,
                     "--rows-per-shard %llu: shards of %llu rows, so that blocks of %llu rows "
                     "stay whole",
                     (unsigned long long)plan->rows_per_shard, (unsigned long long)rounded,
                     (unsigned long long)shards_block_rows(plan));
}

static int build(struct plan *plan, const char *const *paths, size_t n_paths,
                 const struct settings *request, struct error *err)
{
    plan->conventions = request->conventions;
    plan->seen = request->seen;
    plan->max_memory = request->max_memory;
    plan->tmpdir = request->tmpdir;
    plan->pick = request->pick;
    plan->keep_identity = request->keep_identity;
    plan->unique = request->unique;
    plan->seed = request->seed_name == NULL ? request->seed
                                            : shuffle_hash_text(request->seed, request->seed_name);
    plan->one_block = request->block_rows == 0;
    plan->rows_per_shard = request->rows_per_shard;
    if (plan_open_inputs(plan, paths, n_paths, request, err) != 0 ||
        plan_decide_board(plan, request, err) != 0 ||
        choose_transforms(plan, request->transforms, err) != 0 ||
        plan_match_arrays(plan, request, err) != 0)
        return -1;
    plan->provenance = request->provenance && !plan->board->family->only_known_members;
    if (bind_arrays(plan, err) != 0 || survey_for_images(plan, err) != 0 ||
        (needs_memory(plan) && plan_survey(plan, err) != 0) || note_board(plan, err) != 0 ||
        note_arrays(plan, err) != 0 || select_images(plan, request, err) != 0)
        return -1;
    return set_order(plan, request, err) != 0 ? -1 : note_shards(plan, err);
}

int plan_build(struct plan *plan, const char *const *paths, size_t n_paths,
               const struct settings *request, struct error *err)
{
    *plan = (struct plan){0};
    if (build(plan, paths, n_paths, request, err) == 0)
        return 0;
    plan_release(plan);
    return -1;
}

int plan_see(const char *path, const struct settings *request, struct survey_seen *seen,
             struct error *err)
{
    struct plan plan = {.max_memory = request->max_memory,
                        .tmpdir = request->tmpdir,
                        .conventions = request->conventions};
    int status = 0;

    if (plan_open_inputs(&plan, &path, 1, request, NULL) == 0 &&
        plan_decide_board(&plan, request, NULL) == 0 && board_swaps_colours(plan.board) &&
        choose_transforms(&plan, request->transforms, NULL) == 0 && plan.swaps &&
        plan_match_arrays(&plan, request, NULL) == 0) {
        for (size_t i = 0; i < plan.n_arrays; i++)
            if (plan.arrays[i].binding.role == ROLE_PLANES)
                (void)bind_array(&plan, &plan.arrays[i], NULL); /* finds the to-move plane */
        status = survey_see(seen, &plan, err);
    }
    plan_release(&plan);
    return status;
}
