/*
 * shard.c - opens a shard for `verify`: archive, manifest, pickled objects, board, roles, and the
 * coding of the player to move, in this order. Read errors become findings and decide the exit
 * code; what remains unknown is NULL.
 *
 * With a known board, roles are inferred as for `expand`, and a refusal becomes a finding. Without
 * one, the boards that the shape of the planes allows are tried, and the first that fits all arrays
 * lends its roles. If none does, names alone decide, so that sums, ranges and row counts can still
 * be checked.
 */
#include "verify/parts.h"

#include "engine/survey.h"

/* --- refusals become findings --- */

static void tell(struct verify_result *result, const struct finding_place *place,
                 const struct error *why)
{
    char reason[ERROR_MESSAGE_NBYTES];

    findings_add(&result->findings, place, "", "", "%s", error_reason(why, reason));
}

int verify_read_failed(struct verify_result *result, const char *array, const struct error *why,
                       struct error *err)
{
    const enum finding_code code = why->code == ERROR_CODE_CRC ? FINDING_CRC : FINDING_CONTAINER;

    if (why->kind == ERROR_INTERNAL || why->kind == ERROR_USAGE)
        return error_pass(err, why);
    if (result->fatal == ERROR_NONE)
        result->fatal = why->kind;
    if (array == NULL && *why->array != '\0')
        array = why->array;
    tell(result, ERROR_AT(code, array, why->has_row ? why->row : FINDING_NO_ROW), why);
    return 0;
}

/* A refusal becomes a finding. With strings or objects in place of numbers, the file cannot be read
 * as a shard at all. */
static void add_refusal(const struct shard *shard, const struct error *why,
                        struct verify_result *result)
{
    const enum finding_code code = why->code == ERROR_CODE_ROWS     ? FINDING_ROWS
                                   : why->code == ERROR_CODE_LENGTH ? FINDING_LENGTH_MISMATCH
                                                                    : FINDING_SHAPE;
    const struct array *array = archive_in_refused(&shard->archive, why);

    if (code == FINDING_SHAPE && (array == NULL || !dtype_is_number(&array->header.dtype)))
        result->fatal = ERROR_DATA;
    tell(result, ERROR_AT(code, array != NULL ? array->key : NULL, FINDING_NO_ROW), why);
}

/* --- roles --- */

/* Decide roles by names alone. why: the refusal of the boards that were tried; NULL when it has
 * been reported, and nothing more is. */
static void read_by_names(struct shard *shard, const struct error *why,
                          struct verify_result *result)
{
    const struct archive_in *archive = &shard->archive;
    const struct array *first = role_rows_array(archive);
    const struct array *refused = why != NULL ? archive_in_refused(&shard->archive, why) : NULL;
    struct findings unused = {0};
    struct findings *findings = why != NULL ? &result->findings : &unused;
    struct board_seen seen = {.rows = 0};

    if (first == NULL) {
        result->fatal = ERROR_DATA;
        findings_add(findings, ERROR_AT(FINDING_SHAPE, NULL, FINDING_NO_ROW), "", "",
                     "no array of a training shard was found");
        free(shard->bindings);
        shard->bindings = NULL;
        return;
    }
    /* A shape that fits none of these boards may be right on another one. Objects that cannot be
     * read, and arrays that contradict each other, are wrong on every board. */
    if (why != NULL && why->kind == ERROR_DATA &&
        (why->code != ERROR_CODE_SHAPE ||
         (refused != NULL && refused->header.dtype.kind == DTYPE_OBJECT)))
        add_refusal(shard, why, result);
    board_free(shard->found.board);
    shard->found.board = NULL;
    shard->n_rows = first->n_rows;
    for (size_t i = 0; i < archive->n_arrays; i++) {
        const struct array *array = &archive->arrays[i];
        const struct npy_header *h = &array->header;
        const struct role_named named = role_by_name(array->key, strlen(array->key), NULL);
        const struct finding_place *place = ERROR_AT(FINDING_SHAPE, array->key, FINDING_NO_ROW);
        const uint64_t n_actions = h->n_dims == 2 ? h->shape[1] : 0;
        const bool has_rows = h->n_dims > 0 && !(named.flags & NAME_NEVER_ROWS);
        enum role role = ROLE_META;
        bool is_square = false;

        for (uint64_t side = 3; side * side <= n_actions && side < 256; side++)
            is_square |= side * side == n_actions || side * side == n_actions - 1;
        if (!has_rows || !named.is_known) {
            role = has_rows && array->n_rows == shard->n_rows ? ROLE_COPY : ROLE_META;
        } else if (array->n_rows != shard->n_rows) {
            findings_add(findings, ERROR_AT(FINDING_ROWS, array->key, FINDING_NO_ROW),
                         text_format("%" PRIu64 " rows", shard->n_rows).text,
                         text_format("%" PRIu64, array->n_rows).text, "another number of rows");
        } else if (named.role < ROLE_COPY && !dtype_is_number(&h->dtype)) {
            result->fatal = ERROR_DATA;
            findings_add(findings, place, "numbers", "another type", "does not hold numbers");
        } else {
            role = named.role;
            /* A policy as long as another square board has cells contradicts the planes. */
            if ((role == ROLE_PLANES && (h->n_dims < 2 || h->n_dims > 4)) ||
                (role == ROLE_POLICY &&
                 (h->n_dims < 2 || (is_square && role_see_planes(archive, &seen) &&
                                    n_actions != seen.rows * seen.cols))))
                findings_add(findings, place, "a shape that fits one board",
                             text_shape(h->shape, h->n_dims).text,
                             "no board has arrays of these shapes");
        }
        shard->bindings[i] =
            (struct role_binding){.role = role,
                                  .inferred = true,
                                  .axes = {1, h->n_dims > 1 ? h->shape[h->n_dims - 1] : 1, 1},
                                  .index_array = -1,
                                  .value_array = -1,
                                  .offsets_array = -1,
                                  .is_counts = (named.flags & NAME_COUNTS) != 0};
        for (unsigned d = 1; d + 1 < h->n_dims; d++)
            shard->bindings[i].axes.outer *= h->shape[d];
    }
}

static int decide_roles(struct shard *shard, struct verify_result *result, struct error *err)
{
    const struct role_problems *problems = &shard->problems;
    char names[BOARD_MAX_GUESSES][64];
    const struct role_request *said = &shard->recall.settings.roles;
    struct board_seen seen = {.any_planes = true};
    struct error why = {0};
    size_t n_guesses = 0;

    if (new_items(&shard->bindings, shard->archive.n_arrays + 1, "roles", err) != 0)
        return -1;
    /* A board that the shape allows lends its roles, though it may be the wrong one. */
    if (shard->found.board == NULL && role_see_planes(&shard->archive, &seen))
        n_guesses = board_guess(&seen, names);
    for (size_t i = 0; i < n_guesses; i++) {
        struct error refused = {0};
        struct board *board = board_new(names[i], err);

        if (board == NULL)
            return -1;
        if (role_infer(&shard->archive, board, said, shard->bindings, &shard->n_rows, NULL,
                       &refused) == 0) {
            shard->found.board = board;
            shard->found.is_lent = true;
            return 0;
        }
        board_free(board);
        if (why.kind == ERROR_NONE)
            why = refused;
    }
    if (shard->found.board == NULL) {
        if (why.kind != ERROR_NONE && why.kind != ERROR_DATA)
            return error_pass(err, &why);
        read_by_names(shard, &why, result);
        return 0;
    }
    /* What cannot be decided is a finding, and the other arrays are still checked, unless the
     * number of rows is unknown, or something is wrong with the shard as a whole. */
    if (role_infer(&shard->archive, shard->found.board, said, shard->bindings, &shard->n_rows,
                   &shard->problems, err) != 0)
        return -1;
    bool is_lost = shard->n_rows == 0 && problems->n > 0;
    for (size_t i = 0; i < problems->n; i++) {
        add_refusal(shard, &problems->items[i].why, result);
        is_lost |= problems->items[i].array < 0;
    }
    if (is_lost)
        read_by_names(shard, NULL, result);
    return 0;
}

/* Decide how the to-move plane is coded where --to-move leaves it open: by its numbers, as `expand`
 * does. If they do not tell, --to-move holds for the plane, too. */
static int decide_plane_coding(struct shard *shard, struct error *err)
{
    struct conventions *c = &shard->conventions;
    const struct array *turns;
    struct plan_array to_move = {.sources = &turns};
    struct plan plan = {
        .settings = &shard->recall.settings, .conventions = *c, .arrays = &to_move, .n_inputs = 1};

    if (shard->found.board == NULL || shard->bindings == NULL ||
        !board_swaps_colours(shard->found.board))
        return 0;
    plan.swaps = shard->found.board->n_planes == 0;
    for (size_t i = 0; i < shard->archive.n_arrays && plan.n_arrays == 0; i++) {
        turns = &shard->archive.arrays[i];
        to_move.binding = shard->bindings[i];
        plan.n_arrays =
            to_move.binding.role == ROLE_TO_MOVE && !(to_move.binding.options & ROLE_WINNER);
    }
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];
        struct plan_array planes = {
            .binding = shard->bindings[i], .sources = &array, .spec.dtype = array->header.dtype};
        struct planes_form form = planes_frame_of(&planes.binding, &array->header.dtype);
        struct error why = {0}; /* what cannot be read is reported later */

        planes_decide(&form, c, plan.swaps);
        if (planes.binding.role == ROLE_PLANES && form.turn >= 0 &&
            survey_turn_coding(&plan, &planes, (uint64_t)form.turn, &why) != 0 &&
            why.kind == ERROR_INTERNAL)
            return error_pass(err, &why);
    }
    c->plane_coding = plan.conventions.plane_coding;
    return 0;
}

/* --- the whole --- */

int verify_shard_open(struct shard *shard, const struct verify_request *request,
                      struct verify_result *result, struct error *err)
{
    const struct settings *settings = request->settings;
    struct archive_in *archive = &shard->archive;
    struct error why = {0};

    *shard = (struct shard){0};
    if (shard_read(shard, result->path, settings, &why) != 0)
        return verify_read_failed(result, NULL, &why, err);
    for (size_t i = 0; i < archive->warnings.list.n; i++)
        findings_add(&result->findings, WARNING_AT(FINDING_CONTAINER, NULL, FINDING_NO_ROW), "", "",
                     "%s", archive->warnings.list.items[i]);
    shard->recall.manifest = request->manifest;
    shard->recall.output =
        json_array_get(json_object_get(request->manifest, "outputs"), request->manifest_output);
    if (shard_recall(shard, settings, request->exact_manifest, err) != 0)
        return -1;
    for (size_t i = 0; i < archive->n_arrays; i++) {
        struct array *array = &archive->arrays[i];
        struct error refused = {0};

        if (array->header.dtype.kind == DTYPE_OBJECT && array->header.n_dims > 0 &&
            array_load_objects(array, &refused) != 0 &&
            verify_read_failed(result, array->key, &refused, err) != 0)
            return -1;
    }
    const int status = shard_find_board(shard, &shard->recall.settings, true, &why);
    if (status < 0)
        return error_pass(err, &why);
    if (status > 0 && why.kind == ERROR_DATA)
        tell(result, ERROR_AT(FINDING_SHAPE, NULL, FINDING_NO_ROW), &why);
    if (result->fatal == ERROR_NONE && decide_roles(shard, result, err) != 0)
        return -1;
    return result->fatal == ERROR_NONE ? decide_plane_coding(shard, err) : 0;
}
