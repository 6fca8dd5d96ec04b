/*
 * verify_shard.c - a shard as `verify` sees it: archive, manifest, pickled objects, board, roles,
 * and how the player to move is coded, in this order. The board is the one told, else what the
 * shard says, the manifest, or the shapes. Failures of reading become findings here, with the exit
 * code they stand for; what remains unknown is NULL. Also: the shard against the manifest that
 * lists it.
 */
#include "verify/verify_shard.h"

#include "base/text.h"
#include "engine/shard.h"
#include "engine/side_work.h"
#include "verify/labels.h"
#include "verify/verify_roles.h"

#include <inttypes.h>
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

/* --- opening --- */

static int load_objects(struct shard *shard, struct verify_result *result, struct error *err)
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

static int decide_board(struct shard *shard, struct verify_result *result, struct error *err)
{
    const struct finding_place place = {FINDING_SHAPE, false, NULL, FINDING_NO_ROW};
    char reason[ERROR_MESSAGE_NBYTES];

    if (shard_find_board(&shard->found, &shard->archive, &shard->recall.settings, &shard->recall,
                         err) != 0)
        return -1;
    if (shard->found.problem.kind == ERROR_DATA)
        findings_add(&result->findings, &place, "", "", "%s",
                     error_reason(&shard->found.problem, reason));
    return 0;
}

int verify_shard_open(struct shard *shard, const struct verify_request *request, const char *path,
                      struct verify_result *result, struct error *err)
{
    const struct finding_place place = {FINDING_CONTAINER, true, NULL, FINDING_NO_ROW};
    const struct settings *settings = request->settings;
    struct error why = {0};

    *shard = (struct shard){0};
    if (role_open(&shard->archive, path, settings->use_map, &settings->roles, &why) != 0)
        return verify_read_failed(result, NULL, &why, err);
    for (size_t i = 0; i < shard->archive.n_warnings; i++)
        findings_add(&result->findings, &place, "", "", "%s", shard->archive.warnings[i]);
    if (recall_open(&shard->recall, settings, &shard->archive, request->manifest,
                    request->manifest_output, request->exact_manifest, err) != 0)
        return -1;
    shard->conventions = shard->recall.settings.conventions;
    if (load_objects(shard, result, err) != 0 || decide_board(shard, result, err) != 0)
        return -1;
    if (result->fatal == ERROR_NONE && verify_decide_roles(shard, result, err) != 0)
        return -1;
    return result->fatal == ERROR_NONE ? verify_labels_plane_coding(shard, err) : 0;
}

/* --- against its manifest --- */

static void differ(struct verify_result *result, const char *array, const char *expected,
                   const char *found, const char *what)
{
    const struct finding_place place = {FINDING_MANIFEST, false, array, FINDING_NO_ROW};

    findings_add(&result->findings, &place, expected, found, "%s", what);
}

static void compare_array(struct verify_result *result, const struct array *array,
                          const struct manifest_array *listed)
{
    const struct npy_header *header = &array->header;
    char name[32];

    dtype_name(&header->dtype, name, sizeof name);
    if (strcmp(listed->dtype, name) != 0)
        differ(result, array->key, listed->dtype, name, "dtype");
    if (listed->n_dims != header->n_dims ||
        memcmp(listed->shape, header->shape, listed->n_dims * sizeof *listed->shape) != 0)
        differ(result, array->key, text_shape(listed->shape, listed->n_dims).text,
               text_shape(header->shape, header->n_dims).text, "shape");
    if (array->has_crc && listed->crc != array->crc)
        differ(result, array->key, finding_format("%08" PRIx32, listed->crc).text,
               finding_format("%08" PRIx32, array->crc).text, "CRC");
}

int verify_shard_compare(const struct shard *shard, const struct verify_request *request,
                         struct verify_result *result, struct error *err)
{
    const struct archive_in *archive = &shard->archive;
    const struct manifest_file *file = shard->recall.output;
    char sha256[DIGEST_HEX_NBYTES];
    struct error why = {0};
    uint64_t n_bytes = 0;
    size_t n_found = 0;

    if (file == NULL) {
        differ(result, NULL, "its name", "others",
               "the manifest beside it does not list this file");
        return 0;
    }
    for (size_t i = 0; i < archive->n_inputs; i++)
        n_bytes += archive->inputs[i].n_bytes;
    if (n_bytes != file->n_bytes)
        differ(result, NULL, finding_format("%" PRIu64, file->n_bytes).text,
               finding_format("%" PRIu64, n_bytes).text, "bytes of the file");
    if (shard->bindings != NULL && shard->n_rows != file->n_rows)
        differ(result, NULL, finding_format("%" PRIu64, file->n_rows).text,
               finding_format("%" PRIu64, shard->n_rows).text, "rows");
    for (size_t i = 0; i < file->n_arrays; i++) {
        const struct array *array = archive_in_find(archive, file->arrays[i].name);

        n_found += array != NULL;
        if (array != NULL)
            compare_array(result, array, &file->arrays[i]);
        else
            differ(result, file->arrays[i].name, "an array", "none",
                   "the manifest lists it, the file has it not");
    }
    if (n_found < archive->n_arrays)
        differ(result, NULL, finding_format("%zu arrays", n_found).text,
               finding_format("%zu", archive->n_arrays).text,
               "arrays that the manifest does not list");
    if (request->headers_only)
        return 0;
    if (side_work_digest(archive, sha256, &why) != 0)
        return verify_read_failed(result, NULL, &why, err);
    if (strcmp(sha256, file->sha256) != 0)
        differ(result, NULL, file->sha256, sha256, "SHA-256 is not that of the manifest");
    return 0;
}
