/* verify_manifest.c - see verify_manifest.h. */
#include "verify/verify_manifest.h"

#include "base/text.h"
#include "engine/side_work.h"
#include "shard/manifest_json.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct finding_place place_of(const char *array)
{
    return (struct finding_place){FINDING_MANIFEST, false, array, FINDING_NO_ROW};
}

/* --- the file as a whole --- */

static int check_digest(const struct archive_in *archive, const struct manifest_file *file,
                        struct verify_result *result, struct error *err)
{
    const struct finding_place place = place_of(NULL);
    char sha256[DIGEST_HEX_NBYTES];
    struct error why = {0};

    if (side_work_digest(archive, sha256, &why) != 0)
        return verify_read_failed(result, NULL, &why, err);
    if (strcmp(sha256, file->sha256) != 0)
        findings_add(&result->findings, &place, file->sha256, sha256,
                     "SHA-256 is not that of the manifest");
    return 0;
}

static void check_numbers(const struct verify_shard *shard, const struct manifest_file *file,
                          struct verify_result *result)
{
    const struct finding_place place = place_of(NULL);
    uint64_t n_bytes = 0;

    for (size_t i = 0; i < shard->archive.n_inputs; i++)
        n_bytes += shard->archive.inputs[i].n_bytes;
    if (n_bytes != file->n_bytes)
        findings_add(&result->findings, &place, finding_format("%" PRIu64, file->n_bytes).text,
                     finding_format("%" PRIu64, n_bytes).text, "bytes of the file");
    if (shard->bindings != NULL && shard->n_rows != file->n_rows)
        findings_add(&result->findings, &place, finding_format("%" PRIu64, file->n_rows).text,
                     finding_format("%" PRIu64, shard->n_rows).text, "rows");
}

/* --- its arrays --- */

static void check_array(const struct array *array, const json_t *entry,
                        struct verify_result *result)
{
    const struct finding_place place = place_of(array->key);
    const char *dtype = json_string_value(json_object_get(entry, "dtype"));
    const char *crc = json_string_value(json_object_get(entry, "crc32"));
    const json_t *shape = json_object_get(entry, "shape");
    bool same_shape = json_array_size(shape) == array->header.n_dims;
    char name[32], found[16];

    dtype_name(&array->header.dtype, name, sizeof name);
    if (dtype != NULL && strcmp(dtype, name) != 0)
        findings_add(&result->findings, &place, dtype, name, "dtype");
    for (unsigned i = 0; i < array->header.n_dims && same_shape; i++)
        same_shape =
            (uint64_t)json_integer_value(json_array_get(shape, i)) == array->header.shape[i];
    if (!same_shape)
        findings_add(&result->findings, &place, "the shape of the manifest",
                     text_shape(array->header.shape, array->header.n_dims).text, "shape");
    snprintf(found, sizeof found, "%08" PRIx32, array->crc);
    if (array->has_crc && crc != NULL && strcmp(crc, found) != 0)
        findings_add(&result->findings, &place, crc, found, "CRC");
}

static void check_arrays(const struct verify_shard *shard, const json_t *output,
                         struct verify_result *result)
{
    const json_t *arrays = json_object_get(output, "arrays"), *entry;
    size_t n_found = 0, i;

    json_array_foreach(arrays, i, entry)
    {
        const char *name = json_string_value(json_object_get(entry, "name"));
        const struct finding_place place = place_of(name);
        struct array *array = NULL;
        char *key = name != NULL ? manifest_decode_name(name, NULL) : NULL;

        if (key != NULL)
            array = archive_in_find(&shard->archive, key);
        result->findings.no_memory |= name != NULL && key == NULL;
        free(key);
        n_found += array != NULL;
        if (array != NULL)
            check_array(array, entry, result);
        else
            findings_add(&result->findings, &place, "an array", "none",
                         "the manifest lists it, the file has it not");
    }
    if (n_found < shard->archive.n_arrays) {
        const struct finding_place place = place_of(NULL);

        findings_add(&result->findings, &place, finding_format("%zu arrays", n_found).text,
                     finding_format("%zu", shard->archive.n_arrays).text,
                     "arrays that the manifest does not list");
    }
}

int verify_against_manifest(const struct verify_shard *shard, const struct verify_request *request,
                            struct verify_result *result, struct error *err)
{
    const struct finding_place place = place_of(NULL);
    const struct recall *recall = &shard->recall;
    struct manifest_file file;

    if (!recall->is_listed || manifest_output(recall->manifest, recall->output, &file) != 0) {
        findings_add(&result->findings, &place, "its name", "others",
                     "the manifest beside it does not list this file");
        return 0;
    }
    check_numbers(shard, &file, result);
    check_arrays(shard,
                 json_array_get(json_object_get(recall->manifest->root, "outputs"), recall->output),
                 result);
    return request->headers_only ? 0 : check_digest(&shard->archive, &file, result, err);
}
