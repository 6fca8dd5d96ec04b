/*
 * plan_build.c - settles what will be done, before anything is written. Inputs are opened, and
 * refused if they were expanded before; the board is decided and transforms are chosen; the arrays
 * of each input get their roles and are matched with those of the first; each array gets its spec
 * (bind.c); data is surveyed where labels depend on it (survey.c, survey_turns.c, survey_stones.c);
 * images are left out (select.c), and the order of the output rows is set.
 */
#include "engine/plan.h"

#include "base/crew.h"
#include "engine/shard.h"
#include "engine/survey.h"

/* --- opening --- */

/* Open an input. Expansions are refused where images are made; else what the first input's manifest
 * says is recalled. */
static int open_input(struct plan *plan, size_t i, const char *path, struct error *err)
{
    const struct settings *request = plan->settings;
    const bool is_recalled = request->purpose >= FOR_KEYS && i == 0;
    struct shard *shard = &plan->inputs[i];
    struct archive_in *archive = &shard->archive;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL && slash[1] != '\0' ? slash + 1 : path;

    plan->n_inputs++;
    if (shard_read(shard, path, request, err) != 0)
        return -1;
    if (!request->allow_expanded && shard->expansion == NULL && archive->form != ARCHIVE_MEMORY &&
        shard_recall(shard, request, true, err) != 0)
        return -1;
    if (!is_recalled || shard->recall.output == NULL)
        recall_release(&shard->recall); /* it served to tell whether this is an expansion */
    plan->was_expanded |= shard->expansion != NULL && !request->allow_expanded;
    if (plan->was_expanded && request->purpose == FOR_IMAGES)
        return error_set(err, ERROR_DATA,
                         "%s: was expanded before (%s); expanding it again would repeat every "
                         "image",
                         text_path(archive->path).text, shard->expansion);
    if ((is_recalled && shard->recall.output == NULL &&
         shard_recall(shard, request, false, err) != 0) ||
        archive_in_load_objects(archive, err) != 0)
        return -1;
    for (size_t k = 0; k < archive->warnings.list.n; k++)
        if (plan_warn(plan, err, "%s: %s", text_path(name).text, archive->warnings.list.items[k]) !=
            0)
            return -1;
    return 0;
}

/* --- the board --- */

/* Make plan->board from the settings, what the shards say, and unless rows are expanded the first
 * one's manifest. Contradictions are refused. */
static int decide_board(struct plan *plan, struct error *err)
{
    const struct settings *request = plan->settings;
    const char *layout = request->roles.policy_layout;
    struct shard_board *found = &plan->inputs[0].found;

    if (shard_find_board(&plan->inputs[0], request, request->purpose >= FOR_KEYS, err) != 0)
        return -1;
    plan->board = found->board;
    plan->maker = (struct spec_maker){.board = plan->board, .conventions = &plan->conventions};
    if (!found->is_sure)
        return error_set(
            err, ERROR_USAGE, "%s: does not say of which board it is; use --board (perhaps %s: %s)",
            text_path(plan->inputs[0].archive.path).text, plan->board->preset, found->guess.reason);
    for (size_t i = 1; i < plan->n_inputs; i++)
        if (shard_check_board(&plan->inputs[i].archive, plan->board, err) != 0)
            return -1;
    if (layout != NULL && action_layout_by_name(plan->board, layout) == NULL)
        return error_set(err, ERROR_USAGE, "--policy: board %s has no layout %s; there are %s",
                         plan->board->preset, text_quote(layout).text,
                         ACTION_LAYOUTS(plan->board, 512));
    /* The same file twice is probably a mistake. */
    for (size_t i = 1; i < plan->n_inputs; i++)
        for (size_t k = 0; k < i; k++) {
            const struct archive_in *one = &plan->inputs[k].archive;
            const struct archive_in *other = &plan->inputs[i].archive;

            if (one->n_inputs > 0 && other->n_inputs > 0 &&
                one->inputs[0].opened.st_dev == other->inputs[0].opened.st_dev &&
                one->inputs[0].opened.st_ino == other->inputs[0].opened.st_ino)
                return plan_warn(plan, err, "inputs %zu and %zu are the same file", k + 1, i + 1);
        }
    return 0;
}

/* --- the arrays --- */

static int differ(const struct archive_in *archive, const char *key, const char *what,
                  const struct plan *plan, struct error *err)
{
    const struct error_place place = {.file = archive->path, .array = key};

    return error_set_at(err, ERROR_DATA, &place, "%s in %s", what,
                        text_path(plan->inputs[0].archive.path).text);
}

/* Read an array to its end for the CRC of its data, without the header. */
static int data_crc(const struct array *array, uint32_t *crc, struct error *err)
{
    struct unpack unpack = {0};
    uint8_t chunk[8192];
    uint64_t n;
    int status = unpack_start(&unpack, array, err);

    *crc = 0;
    if (status == 0)
        status = unpack_read(&unpack, NULL, array->header.header_nbytes, err);
    for (uint64_t left = array->header.data_nbytes; left > 0 && status == 0; left -= n) {
        n = smaller(left, sizeof chunk);
        status = unpack_read(&unpack, chunk, n, err);
        *crc = status == 0 ? crc_update(*crc, chunk, n) : 0;
    }
    if (status == 0)
        status = unpack_finish(&unpack, err);
    unpack_release(&unpack);
    return status;
}

/* True when both are the same small string or integer, perhaps of other types. */
static bool are_same_scalars(const struct array *a, const struct array *b)
{
    char texts[2][256];
    int64_t numbers[2];

    return (array_read_int(a, &numbers[0]) == 0 && array_read_int(b, &numbers[1]) == 0 &&
            numbers[0] == numbers[1]) ||
           (array_read_string(a, texts[0], sizeof texts[0]) == 0 &&
            array_read_string(b, texts[1], sizeof texts[1]) == 0 &&
            strcmp(texts[0], texts[1]) == 0);
}

/* An array without rows is copied from the first input: warn when another input's has other bytes.
 */
static int match_meta(struct plan *plan, const struct archive_in *archive,
                      const struct array *array, const struct array *first, struct error *err)
{
    static const char *const meanings[] = {"policy_size", "policy_encoding", "board_type"};
    uint32_t crc = 0, first_crc = 1;

    if ((array->unpacked_nbytes == first->unpacked_nbytes && array->has_crc && first->has_crc &&
         array->crc == first->crc) ||
        are_same_scalars(array, first))
        return 0;
    if (strcmp(array->header.descr, first->header.descr) == 0 &&
        array->header.n_elements == first->header.n_elements &&
        array->header.dtype.kind != DTYPE_OBJECT &&
        (data_crc(array, &crc, err) != 0 || data_crc(first, &first_crc, err) != 0))
        return -1;
    if (crc == first_crc)
        return 0;
    for (size_t i = 0; i < N_OF(meanings); i++)
        if (strcmp(array->key, meanings[i]) == 0)
            return differ(archive, array->key, "says something else than", plan, err);
    return plan_warn(plan, err, "%s: %s: differs from that of %s, which is the one that is kept",
                     text_path(archive->path).text, text_path(array->key).text,
                     text_path(plan->inputs[0].archive.path).text);
}

/* Add the arrays of a further input, which must match those of the first. */
static int match_input(struct plan *plan, size_t i, struct error *err)
{
    const struct archive_in *archive = &plan->inputs[i].archive;

    for (size_t k = 0; k < archive->n_arrays; k++) {
        const struct array *array = &archive->arrays[k];
        const struct role_binding *b = &plan->inputs[i].bindings[k];
        struct plan_array *to = plan_find_array(plan, array->key);
        const struct npy_header *header = &array->header;
        char what[128] = "is of another type, with other fields, than";

        if (to == NULL && b->role == ROLE_DROP)
            continue;
        if (to == NULL)
            return differ(archive, array->key, "is not", plan, err);
        to->sources[i] = array;
        if (b->role == ROLE_DROP && to->binding.role == ROLE_DROP)
            continue;
        if (b->role == ROLE_META && to->binding.role == ROLE_META) {
            if (match_meta(plan, archive, array, to->sources[0], err) != 0)
                return -1;
            continue;
        }
        const struct npy_header *first = &to->sources[0]->header;
        if (!dtype_equal(&header->dtype, &first->dtype) ||
            (header->dtype.structured && strcmp(header->descr, first->descr) != 0)) {
            /* If the names are the same, both are structured. */
            if (strcmp(dtype_name(&header->dtype).text, dtype_name(&first->dtype).text) != 0)
                snprintf(what, sizeof what, "is of another type: dtype %.31s, expected %.31s as",
                         dtype_name(&header->dtype).text, dtype_name(&first->dtype).text);
            return differ(archive, array->key, what, plan, err);
        }
        bool same_rows = header->n_dims == first->n_dims;
        for (unsigned d = 1; same_rows && d < header->n_dims; d++)
            same_rows = header->shape[d] == first->shape[d];
        if (!same_rows && b->sparse != SPARSE_CSR)
            return differ(archive, array->key, "has rows of another shape than", plan, err);
        if (b->role != to->binding.role || b->layout != to->binding.layout ||
            b->n_actions != to->binding.n_actions || b->sparse != to->binding.sparse)
            return differ(archive, array->key, "has another role than", plan, err);
    }
    for (size_t k = 0; k < plan->n_arrays; k++) {
        struct plan_array *array = &plan->arrays[k];

        if (array->sources[i] == NULL && array->binding.role != ROLE_DROP)
            return differ(archive, array->key, "is missing, but is", plan, err);
        if (array->sources[i] == NULL)
            array->sources[i] = array->sources[0];
    }
    return 0;
}

/* A plan of one input, made on trial. */
struct trial {
    const struct settings *settings;
    const char *path;
    struct error why; /* what is wrong with it */
};

static const struct error *try_roles(void *self, const struct role_request *roles)
{
    struct trial *trial = self;
    struct settings settings = *trial->settings;
    struct plan plan;

    settings.roles = *roles;
    settings.conventions = *roles->conventions;
    trial->why = (struct error){0};
    if (plan_build(&plan, &trial->path, 1, &settings, &trial->why) == 0) {
        plan_survey(&plan, &trial->why);
        plan_release(&plan);
    }
    return &trial->why;
}

/* Make the plan's arrays those of the first input. */
static int take_arrays(struct plan *plan, struct error *err)
{
    const struct shard *first = &plan->inputs[0];

    for (size_t k = 0; k < first->archive.n_arrays; k++) {
        const struct array *array = &first->archive.arrays[k];
        struct plan_array *to = &plan->arrays[plan->n_arrays++];

        *to = (struct plan_array){.key = array->key,
                                  .binding = first->bindings[k],
                                  .is_object = array->header.dtype.kind == DTYPE_OBJECT &&
                                               array->header.n_dims > 0 &&
                                               first->bindings[k].role != ROLE_META};
        if (new_items(&to->sources, plan->n_inputs, "arrays", err) != 0)
            return -1;
        to->sources[0] = array;
    }
    return 0;
}

/* Find the roles in every input, and set plan->arrays and the number of rows. All inputs must hold
 * the same arrays, with equal types, row shapes and roles. */
static int match_arrays(struct plan *plan, struct error *err)
{
    static const char *const made[] = {PLAN_COUNT_KEY, PLAN_SOURCE_KEY, PLAN_TRANSFORM_KEY};
    const struct settings *request = plan->settings;
    struct trial trial = {.settings = request};
    struct role_request roles = request->roles; /* borrowed, but for what is set below */
    int status = 0;

    roles.is_strict = !request->allow_expanded && request->purpose == FOR_IMAGES;
    roles.swaps_colours = roles.is_strict && plan->swaps;
    roles.conventions = &plan->conventions;
    roles.try_roles = try_roles;
    roles.self = &trial;
    if (new_items(&plan->arrays, plan->inputs[0].archive.n_arrays + 1, "arrays", err) != 0 ||
        new_items(&plan->csrs, plan->inputs[0].archive.n_arrays + 1, "arrays", err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_inputs && status == 0; i++) {
        struct shard *shard = &plan->inputs[i];
        const struct role_problems *problems = &shard->problems;

        trial.path = shard->archive.path;
        status = shard_find_roles(shard, plan->board, &roles, err);
        /* `dedupe` reads counts itself, and sources and transforms hold no more. */
        for (size_t k = 0; k < shard->archive.n_arrays && request->purpose >= FOR_VALUES; k++)
            for (size_t j = 0; j < N_OF(made) && status == 0; j++)
                if (strcmp(shard->archive.arrays[k].key, made[j]) == 0)
                    shard->bindings[k] = (struct role_binding){.role = ROLE_DROP};
        if (status == 0 && problems->n > 0)
            status = roles.command == NULL
                         ? error_pass(err, &problems->items[0].why)
                         : role_refuse_all(problems, &shard->archive, &roles, &trial.why, err);
        if (status == 0 && __builtin_add_overflow(plan->n_rows, shard->n_rows, &plan->n_rows))
            status = error_set(err, ERROR_DATA, "%s: too many rows", text_path(trial.path).text);
        if (status == 0)
            status = i == 0 ? take_arrays(plan, err) : match_input(plan, i, err);
    }
    for (size_t i = 0; i < plan->n_arrays && status == 0; i++) {
        struct plan_array *array = &plan->arrays[i];
        const struct role_binding *b = &array->binding;

        if (b->role == ROLE_POLICY_INDEX && b->value_array >= 0)
            array->values = plan->arrays[b->value_array].sources;
        if (b->sparse != SPARSE_CSR || array->is_object)
            continue;
        /* Where the lists begin is read once for the three arrays of a policy. */
        array->csr = &plan->csrs[b->offsets_array];
        if (array->csr->first == NULL)
            status = csr_open(&plan->csrs[b->offsets_array], plan->arrays[b->offsets_array].sources,
                              plan->arrays[b->index_array].sources, plan->n_inputs, err);
    }
    return status;
}

/* --- from inputs and settings to a plan --- */

/* Warn where a symmetry is not exactly the game's, of options that change nothing (perhaps the
 * board is the wrong one), and of arrays that are dropped or may be copied wrongly. */
static int note(struct plan *plan, struct error *err)
{
    const struct conventions *c = &plan->conventions;
    const struct board_family *family = plan->board->family;
    const bool swaps = board_swaps_colours(plan->board), castles = family->castling != NULL;
    const bool by_colour = swaps && !family->only_known_members;
    bool has_ambiguous = false, has_box = false; /* planes with rows and columns of the board */
    int status = 0;

    for (size_t i = 0; i < plan->maker.n_spaces; i++)
        for (uint64_t a = 0; a < plan->maker.spaces[i]->length && !has_ambiguous; a++)
            has_ambiguous = plan->maker.spaces[i]->flags[a] & ACTION_AMBIGUOUS;
    for (size_t i = 0; i < plan->n_arrays; i++)
        has_box |= role_is_on_cells(plan->arrays[i].binding.role) &&
                   plan->arrays[i].binding.layout == NULL && plan->board->rows > 0;
    const struct {
        const char *option;
        bool is_said, bears;
        const char *why;
    } all[] = {
        {"planes", conventions_is_said(c, "planes"), swaps, "no transform swaps colours"},
        {"value", c->value_said, by_colour, "no transform changes them"},
        {"to-move", c->to_move_said, by_colour, "no transform changes it, or its code is known"},
        {"castling", conventions_is_said(c, "castling"), castles, "nobody castles"},
        {"castling-planes", conventions_is_said(c, "castling-planes"), castles, "nobody castles"},
        {"tiles", conventions_is_said(c, "tiles"), family->has_tiles, "there are no tiles"},
        {"ambiguous", conventions_is_said(c, "ambiguous"), has_ambiguous,
         "no action names a region by one of its cells"},
        {"plane-order", plan->settings->roles.plane_xy >= 0, has_box,
         "no array has planes of rows and columns"},
    };

    if (castles && plan->n_chosen > 1)
        status |= plan_warn(plan, err,
                            "chess has no exact mirror: a mirrored position castles on the other "
                            "side (--castling %s)",
                            conventions_text(c, "castling").text);
    if (family->has_tiles && c->tiles == TILES_PERMUTE)
        status |= plan_warn(plan, err,
                            "--tiles permute: all transforms but 0 and 3 make tiles that are not "
                            "in the deck of 27");
    for (size_t i = 0; i < N_OF(all); i++)
        if (all[i].is_said && !all[i].bears)
            status |= plan_warn(plan, err, "--%s means nothing on board %s with these arrays: %s",
                                all[i].option, plan->board->preset, all[i].why);
    for (size_t i = 0; i < plan->n_arrays && plan->settings->purpose == FOR_IMAGES; i++) {
        const struct plan_array *array = &plan->arrays[i];
        const struct npy_header *header = &array->sources[0]->header;
        const struct text_quoted key = text_path(array->key);

        if (array->binding.role == ROLE_DROP)
            status |= plan_warn(plan, err,
                                array->binding.inferred
                                    ? "%s: left out: checksums are stale after expansion"
                                    : "%s: left out, as told",
                                key.text);
        if (array->binding.may_hold_positions)
            status |= plan_warn(plan, err,
                                "%s: copied as it is, though its rows may hold positions, which no "
                                "transform moves; if they do, use --role %s=drop",
                                key.text, key.text);
        if (header->dtype.kind == DTYPE_OBJECT && header->n_dims == 0 &&
            strcmp(array->key, "metadata") == 0)
            status |= plan_warn(plan, err,
                                "metadata: copied as it is: its sample_count is that of the input");
    }
    return status;
}

int plan_survey(struct plan *plan, struct error *err)
{
    const enum purpose purpose = plan->settings->purpose;

    if (plan->is_surveyed || purpose == FOR_PICTURES)
        return 0;
    plan->is_surveyed = true;
    if (plan->swaps && survey_turns(plan, err) != 0)
        return -1;
    if (purpose == FOR_KEYS || purpose == FOR_VALUES)
        return 0;
    if (survey_flips(plan, err) != 0 ||
        (plan->conventions.ambiguous != AMBIGUOUS_DROP && survey_ambiguous(plan, err) != 0))
        return -1;
    return survey_odd_rows(plan, err);
}

/* Open the inputs, decide the board and choose the transforms. */
static int begin(struct plan *plan, const char *const *paths, size_t n_paths,
                 const struct settings *request, struct error *err)
{
    *plan = (struct plan){.settings = request,
                          .conventions = request->conventions,
                          .notes = json_object(),
                          .counts = json_object()};
    if (new_items(&plan->inputs, n_paths, "inputs", err) != 0)
        return -1;
    for (size_t i = 0; i < n_paths; i++)
        if (open_input(plan, i, paths[i], err) != 0)
            return -1;
    /* The manifest of a set that this program wrote says how to read it. */
    if (request->purpose >= FOR_KEYS) {
        plan->settings = &plan->inputs[0].recall.settings;
        plan->conventions = plan->inputs[0].conventions;
    }
    if (decide_board(plan, err) != 0 ||
        choose_transforms(plan, plan->settings->transforms, err) != 0)
        return -1;
    for (uint32_t k = 0; k < plan->n_chosen && request->purpose != FOR_PICTURES; k++)
        if (plan->board->transforms[plan->chosen[k]].planes != NULL &&
            conventions_is_said(&request->conventions, "planes"))
            return error_set(err, ERROR_USAGE,
                             "--planes %s: the file of board %s says itself where planes go "
                             "(\"planes\" of its transforms); use one of the two",
                             conventions_text(&request->conventions, "planes").text,
                             text_path(plan->board->preset).text);
    return 0;
}

/* The other steps of plan_build. */
static int settle(struct plan *plan, struct error *err)
{
    const bool is_for_images = plan->settings->purpose == FOR_IMAGES;
    bool has_moving = !is_for_images, is_fortran = false;

    if (match_arrays(plan, err) != 0)
        return -1;
    plan->provenance = plan->settings->provenance && !plan->board->family->only_known_members;
    for (size_t i = 0; i < plan->n_arrays; i++)
        has_moving |= (role_kinds[plan->arrays[i].binding.role].flags & ROLE_MOVES) != 0;
    if (!has_moving)
        return error_set(err, ERROR_DATA,
                         "%s: no array that a transform moves was found: its images would be "
                         "copies; use --role NAME=planes, packed, grid, policy, action or coord",
                         text_path(plan->inputs[0].archive.path).text);
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan_array_has_rows(&plan->arrays[i]) && bind_array(plan, &plan->arrays[i], err) != 0)
            return -1;
    /* First survey what decides which images there are. Arrays in Fortran order may take all of
     * --max-memory, and so may the output: these are surveyed now, and not while it is written. */
    plan->n_ambiguous = plan->n_castling_rows = plan->n_unencodable = UINT64_MAX;
    for (size_t i = 0; i < plan->n_arrays * plan->n_inputs; i++)
        is_fortran |=
            array_is_fortran(plan->arrays[i / plan->n_inputs].sources[i % plan->n_inputs]);
    if ((is_for_images && plan->board->family->castling != NULL &&
         survey_castling(plan, err) != 0) ||
        (is_for_images && plan->conventions.ambiguous == AMBIGUOUS_DROP &&
         survey_ambiguous(plan, err) != 0) ||
        (is_fortran && plan_survey(plan, err) != 0) || note(plan, err) != 0 ||
        plan_select(plan, err) != 0 || plan_set_order(plan, err) != 0)
        return -1;
    return shards_warn(plan, err);
}

int plan_build(struct plan *plan, const char *const *paths, size_t n_paths,
               const struct settings *request, struct error *err)
{
    int status = begin(plan, paths, n_paths, request, err);

    if (status == 0)
        status = settle(plan, err);
    if (status != 0)
        plan_release(plan);
    return status;
}

struct look {
    char *const *paths;
    const struct settings *settings;
    struct survey_seen *seen;
};

/* Add one input to what all inputs hold together, unless something is wrong with it. */
static void see_input(void *self, int64_t i, int worker)
{
    const struct look *look = self;
    const char *path = look->paths[i];
    struct plan plan;

    (void)worker;
    if (begin(&plan, &path, 1, look->settings, NULL) == 0 && plan.swaps &&
        match_arrays(&plan, NULL) == 0) {
        for (size_t k = 0; k < plan.n_arrays; k++)
            if (plan.arrays[k].binding.role == ROLE_PLANES)
                (void)bind_array(&plan, &plan.arrays[k], NULL); /* finds the to-move plane */
        survey_see(look->seen, &plan);
    }
    plan_release(&plan);
}

int plan_see(char *const *paths, size_t n_paths, const struct settings *request,
             struct survey_seen *seen, struct error *err)
{
    struct look look = {paths, request, seen};

    crew_run_each(request->n_threads, (int64_t)n_paths, see_input, &look);
    return seen->failure.kind == ERROR_NONE ? 0 : error_pass(err, &seen->failure);
}
