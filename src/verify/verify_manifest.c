/* verify_manifest.c - see verify_manifest.h. */
#include "verify/verify_manifest.h"

#include "base/text.h"
#include "engine/side_work.h"
#include "shard/manifest_json.h"

#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* --- manifests --- */

/* Check the i-th output of a manifest, whose own result is number `own`. */
static int check_output(const struct verify_request *request, const char *folder,
                        const struct manifest *manifest, size_t i, struct verify_results *results,
                        size_t own, struct error *err)
{
    const struct finding_place place = place_of(NULL);
    struct verify_request one = *request;
    struct manifest_file file = {0};
    struct text path = {0};
    struct verify_result *result;
    char *name;
    int status;

    manifest_output(manifest, i, &file);
    results->items[own].n_rows += file.n_rows;
    name = manifest_decode_name(file.name, err);
    status = name != NULL ? text_append(&path, err, "%s/%s", folder, name) : -1;
    one.manifest = manifest;
    one.manifest_output = i;
    if (status == 0 && access(path.text, F_OK) != 0) {
        findings_add(&results->items[own].findings, &place, "all that it lists", "no such file",
                     "output %s is missing", text_quote(name).text);
    } else if (status == 0) {
        result = verify_results_add(
            results, request, strncmp(path.text, "./", 2) == 0 ? path.text + 2 : path.text, err);
        status = result != NULL ? verify_file(&one, result->path, result, err) : -1;
    }
    text_release(&path);
    free(name);
    return status;
}

int verify_manifest(const struct verify_request *request, const char *path,
                    struct verify_results *results, struct error *err)
{
    const size_t own = results->n;
    struct verify_result *result = verify_results_add(results, request, path, err);
    struct error why = {0};
    struct manifest *manifest;
    const char *folder;
    char *copy;
    int status = 0;

    if (result == NULL)
        return -1;
    manifest = manifest_read(path, &why);
    if (manifest == NULL) {
        const struct finding_place place = place_of(NULL);

        if (why.kind == ERROR_INTERNAL)
            return error_pass(err, &why);
        result->fatal = why.kind;
        findings_add(&result->findings, &place, "", "", "%s", why.message);
        return 0;
    }
    copy = strdup(path);
    if (copy == NULL)
        status = error_no_memory(err, "path");
    folder = copy != NULL ? dirname(copy) : NULL;
    for (size_t i = 0; status == 0 && i < manifest_n_outputs(manifest); i++)
        status = check_output(request, folder, manifest, i, results, own, err);
    free(copy);
    manifest_free(manifest);
    return status;
}
