/*
 * verify.c - one file after another: opens it, checks arrays without rows, decides labels, finds
 * out which rows are images of one source, reads the other sets of --leak, makes the one pass over
 * all rows (pass.c), and at last holds the file against its manifest. A manifest as operand is all
 * files that it lists. What is wrong with a file is a finding; only a wrong command line or lack of
 * memory ends the run.
 */
#include "verify/verify.h"

#include "base/text.h"
#include "shard/unpack.h"
#include "verify/explain.h"
#include "verify/labels.h"
#include "verify/pass.h"
#include "verify/verify_manifest.h"

#include <libgen.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MAX_SEGMENT_NBYTES (UINT64_C(128) << 20) /* of rows in sequence that are held at a time */

/* --- arrays without rows --- */

/* Only their sizes and CRCs can be wrong. */
static int check_unread(const struct verify_shard *shard, struct verify_result *result,
                        struct error *err)
{
    struct unpack unpack = {0};
    int status = 0;

    for (size_t i = 0; i < shard->archive.n_arrays && status == 0; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const enum role role = shard->bindings != NULL ? shard->bindings[i].role : ROLE_META;
        struct error why = {0};

        if ((role != ROLE_META && role != ROLE_DROP) || array->objects != NULL ||
            array->is_left_out)
            continue;
        if (unpack_start(&unpack, array, &why) != 0 || unpack_finish(&unpack, &why) != 0)
            status = verify_read_failed(result, array->key, &why, err);
    }
    unpack_release(&unpack);
    return status;
}

/* --- rows --- */

static uint64_t max_segment(const struct verify_request *request)
{
    const uint64_t quarter = request->settings->max_memory / 4;

    return quarter < MAX_SEGMENT_NBYTES ? quarter : MAX_SEGMENT_NBYTES;
}

static int check_rows(const struct verify_request *request, struct verify_shard *shard,
                      struct lanes *lanes, struct verify_result *result, struct error *err)
{
    struct orbit_groups groups = {0};
    struct leak_sets leaks = {0};
    struct verify_pass pass = {.request = request, .lanes = lanes, .result = result};
    int status = verify_labels_decide(lanes, err);

    if (status == 0)
        status = explain_set(&groups, shard, lanes, request, result, err);
    if (status == 0 && result->is_expanded) {
        pass.groups = &groups;
        status = orbit_groups_settle(&groups, lanes->row_nbytes, max_segment(request), err);
        if (status == 0)
            status = orbit_groups_expect(&groups, &shard->said, err);
        result->n_groups = groups.n_groups;
    }
    if (status == 0 && request->settings->n_leaks > 0) {
        pass.leaks = &leaks;
        status = leak_open(&leaks, lanes, request, err);
    }
    if (status == 0)
        status = lanes_open(lanes, request, groups.entries != NULL, result, err);
    if (status == 0)
        status = verify_pass_run(&pass, err);
    leak_close(&leaks);
    orbit_groups_release(&groups);
    return status;
}

/* A CRC that is wrong ends every reading of its array: the first report of it is enough. */
static int check_opened(const struct verify_request *request, struct verify_shard *shard,
                        struct verify_result *result, struct error *err)
{
    struct lanes lanes = {0};
    struct error why = {0};
    int status;

    if (check_unread(shard, result, err) != 0)
        return -1;
    if (shard->bindings == NULL || result->fatal != ERROR_NONE)
        return 0;
    status = lanes_init(&lanes, shard, result, err);
    if (status == 0 && check_rows(request, shard, &lanes, result, &why) != 0)
        status = why.kind == ERROR_DATA || why.kind == ERROR_IO
                     ? verify_read_failed(result, NULL, &why, err)
                     : error_pass(err, &why);
    lanes_release(&lanes);
    return status;
}

static int check_file(const struct verify_request *request, const char *path,
                      struct verify_result *result, struct error *err)
{
    struct verify_shard shard;
    int status = verify_shard_open(&shard, request, path, result, err);

    result->n_rows = shard.n_rows;
    if (status == 0 && shard.is_open && !request->headers_only)
        status = check_opened(request, &shard, result, err);
    if (status == 0 && shard.is_open && shard.said.manifest != NULL)
        status = verify_against_manifest(&shard, request, result, err);
    verify_shard_close(&shard);
    return status;
}

/* --- results --- */

/* A new result; borrowed until the next one is added. */
static struct verify_result *add_result(struct verify_results *results,
                                        const struct verify_request *request, const char *path,
                                        struct error *err)
{
    struct verify_result *grown = realloc(results->items, (results->n + 1) * sizeof *grown);
    struct verify_result *result;

    if (grown == NULL) {
        error_no_memory(err, "results");
        return NULL;
    }
    results->items = grown;
    result = &grown[results->n];
    *result = (struct verify_result){.path = strdup(path)};
    result->findings.max = request->settings->max_findings;
    if (result->path == NULL) {
        error_no_memory(err, "results");
        return NULL;
    }
    results->n++;
    return result;
}

/* --- manifests --- */

/* Check an output of a manifest, whose own result is number `own`. */
static int check_output(struct verify_request request, const char *folder,
                        struct verify_results *results, size_t own, struct error *err)
{
    const struct finding_place place = {FINDING_MANIFEST, false, NULL, FINDING_NO_ROW};
    const struct manifest_file *file = &request.manifest->outputs[request.manifest_output];
    struct text path = {0};
    struct verify_result *result;
    int status = text_append(&path, err, "%s/%s", folder, file->name);

    results->items[own].n_rows += file->n_rows;
    if (status == 0 && access(path.text, F_OK) != 0) {
        findings_add(&results->items[own].findings, &place, "all that it lists", "no such file",
                     "output %s is missing", text_quote(file->name).text);
    } else if (status == 0) {
        result = add_result(results, &request,
                            strncmp(path.text, "./", 2) == 0 ? path.text + 2 : path.text, err);
        status = result != NULL ? check_file(&request, result->path, result, err) : -1;
    }
    text_release(&path);
    return status;
}

/* A manifest and every output it lists, each with a result of its own. */
static int check_manifest(const struct verify_request *request, const char *path,
                          struct verify_results *results, struct error *err)
{
    const struct finding_place place = {FINDING_MANIFEST, false, NULL, FINDING_NO_ROW};
    const size_t own = results->n;
    struct verify_result *result = add_result(results, request, path, err);
    struct verify_request one = *request;
    struct error why = {0};
    struct manifest *manifest;
    const char *folder;
    char *copy;
    int status = 0;

    if (result == NULL)
        return -1;
    one.manifest = manifest = manifest_read(path, &why);
    if (manifest == NULL) {
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
    for (size_t i = 0; status == 0 && i < manifest->n_outputs; i++) {
        one.manifest_output = i;
        status = check_output(one, folder, results, own, err);
    }
    free(copy);
    manifest_free(manifest);
    return status;
}

static bool is_manifest(const char *path)
{
    const size_t n = strlen(path);

    return n > 5 && strcmp(path + n - 5, ".json") == 0;
}

int verify_path(const struct verify_request *request, const char *path,
                struct verify_results *results, struct error *err)
{
    struct verify_result *result;
    int status;

    if (is_manifest(path))
        return check_manifest(request, path, results, err);
    result = add_result(results, request, path, err);
    status = result != NULL ? check_file(request, path, result, err) : -1;
    if (status == 0 && result->findings.no_memory)
        status = error_no_memory(err, "findings");
    return status;
}

void verify_results_release(struct verify_results *results)
{
    for (size_t i = 0; i < results->n; i++) {
        findings_release(&results->items[i].findings);
        free(results->items[i].path);
        free(results->items[i].note);
    }
    free(results->items);
    *results = (struct verify_results){0};
}

int verify_exit_code(const struct verify_results *results)
{
    int code = 0;

    for (size_t i = 0; i < results->n; i++) {
        const struct verify_result *result = &results->items[i];

        if (result->fatal != ERROR_NONE)
            return error_exit_code(result->fatal);
        if (result->findings.n_errors > 0)
            code = 1;
    }
    return code;
}
