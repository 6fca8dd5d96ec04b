/*
 * verify_manifest.c - a shard against the manifest that lists it: bytes, rows, SHA-256, and each
 * array's dtype, shape and CRC. An array that only one side knows is a finding too. With
 * headers_only nothing that would need the file to be read whole is done.
 */
#include "verify/verify_manifest.h"

#include "base/text.h"
#include "engine/side_work.h"

#include <inttypes.h>
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

static void check_array(const struct array *array, const struct manifest_array *listed,
                        struct verify_result *result)
{
    const struct finding_place place = place_of(array->key);
    const struct npy_header *header = &array->header;
    char name[32];

    dtype_name(&header->dtype, name, sizeof name);
    if (strcmp(listed->dtype, name) != 0)
        findings_add(&result->findings, &place, listed->dtype, name, "dtype");
    if (listed->n_dims != header->n_dims ||
        memcmp(listed->shape, header->shape, listed->n_dims * sizeof *listed->shape) != 0)
        findings_add(&result->findings, &place, text_shape(listed->shape, listed->n_dims).text,
                     text_shape(header->shape, header->n_dims).text, "shape");
    if (array->has_crc && listed->crc != array->crc)
        findings_add(&result->findings, &place, finding_format("%08" PRIx32, listed->crc).text,
                     finding_format("%08" PRIx32, array->crc).text, "CRC");
}

static void check_arrays(const struct verify_shard *shard, const struct manifest_file *output,
                         struct verify_result *result)
{
    size_t n_found = 0;

    for (size_t i = 0; i < output->n_arrays; i++) {
        const struct manifest_array *listed = &output->arrays[i];
        const struct finding_place place = place_of(listed->name);
        const struct array *array = archive_in_find(&shard->archive, listed->name);

        n_found += array != NULL;
        if (array != NULL)
            check_array(array, listed, result);
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
    const struct manifest_file *output = shard->recall.output;

    if (output == NULL) {
        findings_add(&result->findings, &place, "its name", "others",
                     "the manifest beside it does not list this file");
        return 0;
    }
    check_numbers(shard, output, result);
    check_arrays(shard, output, result);
    return request->headers_only ? 0 : check_digest(&shard->archive, output, result, err);
}
