/* cmd_manifest.c - symaug manifest: do the outputs that a manifest lists stand there, with their
 * sizes, rows and arrays? And many manifests joined into one. */
#include "base/text.h"
#include "cli/command.h"
#include "cli/manifest_inputs.h"
#include "cli/option.h"
#include "cli/reading.h"
#include "cli/verify_print.h"
#include "shard/manifest_merge.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

struct call {
    bool json;
    int verbosity;
    const char *output;     /* borrowed, or NULL */
    const char *files_from; /* borrowed, or NULL */
    bool zero;
    bool force;
};

static int apply(void *self, int id, const char *argument, struct error *err)
{
    struct call *call = self;

    if (command_common_option(CMD_MANIFEST, id, &call->verbosity))
        return 0;
    switch (id) {
    case OPT_JSON:
        call->json = true;
        return 0;
    case OPT_OUTPUT:
        call->output = argument;
        return 0;
    case OPT_FILES_FROM:
        call->files_from = argument;
        return 0;
    case OPT_NULL:
        call->zero = true;
        return 0;
    case OPT_FORCE:
        call->force = true;
        return 0;
    default:
        return error_set(err, ERROR_INTERNAL, "option %d is not handled", id);
    }
}

/* --- check --- */

static int check(const struct call *call, int n, char **paths, struct error *err)
{
    const struct plan_request reading = reading_defaults;
    const struct verify_request request = {
        .reading = &reading, .max_findings = 100, .n_threads = 1, .headers_only = true};

    if (call->output != NULL || call->force || call->files_from != NULL)
        return error_set(err, ERROR_USAGE,
                         "check: --output, --force and --files-from go with merge");
    return verify_print_all(&request, n, paths, call->json, call->verbosity, err);
}

/* --- merge --- */

static int write_joined(const struct call *call, const struct manifest *joined, struct error *err)
{
    uint64_t rows = 0;

    if (call->files_from != NULL &&
        manifest_inputs_check(joined, call->files_from, call->zero, err) != 0)
        return -1;
    if (call->verbosity >= 0 && manifest_inputs_warn(joined, err) != 0)
        return -1;
    if (manifest_write(joined, call->output, call->force, err) != 0)
        return -1;
    if (call->verbosity > 0 && manifest_count(joined, "rows_out", &rows) == 0)
        fprintf(stderr, "symaug: %s: %zu outputs of %zu inputs, %" PRIu64 " rows\n",
                text_path(call->output).text, manifest_n_outputs(joined), manifest_n_inputs(joined),
                rows);
    return 0;
}

static int merge(const struct call *call, int n, char **paths, struct error *err)
{
    struct manifest_parts parts;
    struct manifest *joined = NULL;
    int status;

    if (call->output == NULL)
        return error_set(err, ERROR_USAGE, "merge: no --output given");
    if (call->json || (call->zero && call->files_from == NULL))
        return error_set(err, ERROR_USAGE,
                         call->json ? "--json goes with check" : "--null goes with --files-from");
    status = manifest_parts_init(&parts, call->output, err);
    for (int i = 0; i < n && status == 0; i++)
        status = manifest_parts_add(&parts, paths[i], err);
    if (status == 0)
        joined = manifest_merge(&parts, err);
    status = joined != NULL ? manifest_parts_check_strays(&parts, joined, err) : -1;
    if (status == 0)
        status = write_joined(call, joined, err);
    manifest_free(joined);
    manifest_parts_release(&parts);
    return status;
}

/* --- the command --- */

static const struct {
    const char *name;
    const char *operands;
    int (*run)(const struct call *call, int n, char **paths, struct error *err);
} jobs[] = {
    {"check", "MANIFEST...", check},
    {"merge", "-o OUT FOLDER|MANIFEST...", merge},
};

int cmd_manifest(int argc, char **argv, struct error *err)
{
    struct call call = {0};
    int first;

    if (option_parse(CMD_MANIFEST, argc, argv, apply, &call, &first, err) != 0)
        return -1;
    for (size_t i = 0; first < argc && i < sizeof jobs / sizeof *jobs; i++) {
        if (strcmp(argv[first], jobs[i].name) != 0)
            continue;
        if (argc - first < 2)
            return error_set(err, ERROR_USAGE, "expected %s %s", jobs[i].name, jobs[i].operands);
        return jobs[i].run(&call, argc - first - 1, argv + first + 1, err);
    }
    if (first == argc)
        return error_set(err, ERROR_USAGE, "expected a job: check or merge");
    return error_set(err, ERROR_USAGE, "%s is no job of this command: check, merge",
                     text_quote(argv[first]).text);
}
