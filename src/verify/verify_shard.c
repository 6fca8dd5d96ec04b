/*
 * verify_shard.c - a shard as `verify` sees it: archive, manifest, pickled objects, board, roles,
 * and how the player to move is coded, in this order. The board is the one told, else what the
 * shard says, the manifest, or the shapes. Failures of reading become findings here, with the exit
 * code they stand for; what remains unknown is NULL.
 */
#include "verify/verify_shard.h"

#include "base/text.h"
#include "engine/shard_board.h"
#include "manifest/manifest.h"
#include "verify/labels.h"
#include "verify/verify_roles.h"

#include <stdlib.h>
#include <string.h>

/* --- failures of reading --- */

int verify_read_failed(struct verify_result *result, const char *array, const struct error *why,
                       struct error *err)
{
    const struct finding_place place = {.code = why->code == ERROR_CODE_CRC ? FINDING_CRC
                                                                            : FINDING_CONTAINER,
                                        .array = array != NULL         ? array
                                                 : *why->array != '\0' ? why->array
                                                                       : NULL,
                                        .row = why->has_row ? why->row : FINDING_NO_ROW};
    char reason[ERROR_MESSAGE_NBYTES];

    if (why->kind == ERROR_INTERNAL || why->kind == ERROR_USAGE)
        return error_pass(err, why);
    if (result->fatal == ERROR_NONE)
        result->fatal = why->kind;
    findings_add(&result->findings, &place, "", "", "%s", error_reason(why, reason));
    return 0;
}

/* --- the manifest beside the shard --- */

static int read_manifest(struct verify_shard *shard, const struct verify_request *request,
                         struct error *err)
{
    struct verify_manifest *said = &shard->said;
    if (recall_open(&shard->recall, request->settings, &shard->archive, request->manifest,
                    request->manifest_output, request->exact_manifest, err) != 0)
        return -1;
    shard->conventions = shard->recall.settings.conventions;
    said->manifest = shard->recall.manifest;
    if (said->manifest == NULL)
        return 0;
    for (size_t i = 0; i < said->manifest->n_transforms; i++)
        if (said->manifest->transforms[i].id < BOARD_MAX_TRANSFORMS &&
            said->n_transforms < BOARD_MAX_TRANSFORMS)
            said->transforms[said->n_transforms++] = (uint8_t)said->manifest->transforms[i].id;
    return 0;
}

/* --- the board --- */

static int decide_board(struct verify_shard *shard, const struct settings *said,
                        struct verify_result *result, struct error *err)
{
    const struct finding_place place = {FINDING_SHAPE, false, NULL, FINDING_NO_ROW};
    char reason[ERROR_MESSAGE_NBYTES];
    struct shard_board found;

    if (shard_find_board(&found, &shard->archive, said, &shard->recall, err) != 0)
        return -1;
    shard->board = found.board;
    shard->board_is_sure = found.board != NULL;
    if (found.problem.kind == ERROR_DATA)
        findings_add(&result->findings, &place, "", "", "%s", error_reason(&found.problem, reason));
    return 0;
}

/* --- opening --- */

static int load_objects(struct verify_shard *shard, struct verify_result *result, struct error *err)
{
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        struct array *array = &shard->archive.arrays[i];
        struct error why = {0};

        if (array->header.dtype.kind == DTYPE_OBJECT && array->header.n_dims > 0 &&
            array_load_objects(array, NULL, &why) != 0 &&
            verify_read_failed(result, array->key, &why, err) != 0)
            return -1;
    }
    return 0;
}

static void add_warnings(const struct archive_in *archive, struct verify_result *result)
{
    const struct finding_place place = {FINDING_CONTAINER, true, NULL, FINDING_NO_ROW};

    for (size_t i = 0; i < archive->n_warnings; i++)
        findings_add(&result->findings, &place, "", "", "%s", archive->warnings[i]);
}

int verify_shard_open(struct verify_shard *shard, const struct verify_request *request,
                      const char *path, struct verify_result *result, struct error *err)
{
    struct error why = {0};

    *shard = (struct verify_shard){0};
    if (role_open(&shard->archive, path, request->settings->use_map, &request->settings->roles,
                  &why) != 0)
        return verify_read_failed(result, NULL, &why, err);
    shard->is_open = true;
    add_warnings(&shard->archive, result);
    if (read_manifest(shard, request, err) != 0 || load_objects(shard, result, err) != 0)
        return -1;
    if (decide_board(shard, request->settings, result, err) != 0)
        return -1;
    if (result->fatal != ERROR_NONE)
        return 0;
    if (verify_decide_roles(shard, &shard->recall.settings, result, err) != 0)
        return -1;
    return result->fatal == ERROR_NONE
               ? verify_labels_plane_coding(shard, &shard->recall.settings, err)
               : 0;
}

void verify_shard_close(struct verify_shard *shard)
{
    free(shard->bindings);
    spec_maker_release(&shard->maker);
    board_free(shard->board);
    recall_release(&shard->recall);
    if (shard->is_open)
        archive_in_close(&shard->archive);
    *shard = (struct verify_shard){0};
}
