/*
 * cmd_manifest.c - symaug manifest: `check` asks whether the outputs that manifests list are there
 * with their sizes, rows and arrays (it is `verify` without contents); `merge` joins the manifests
 * of many runs into one, and with --files-from also checks that no input was left out.
 */
#include "base/text.h"
#include "cli/command.h"
#include "cli/manifest_inputs.h"
#include "cli/option.h"
#include "cli/verify_print.h"
#include "manifest/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* --- check --- */

static int check(const struct settings *settings, int n, char **paths, struct error *err)
{
    const struct verify_request request = {.settings = settings, .headers_only = true};

    if (settings->output != NULL || settings->force || settings->files_from != NULL)
        return error_set(err, ERROR_USAGE,
                         "check: --output, --force and --files-from go with merge");
    return verify_print_all(&request, n, paths, err);
}

/* --- merge --- */

static int write_joined(const struct settings *settings, const struct manifest *joined,
                        struct error *err)
{
    const struct manifest_count *rows = manifest_count(joined, "rows_out");

    if (settings->files_from != NULL &&
        manifest_inputs_check(joined, settings->files_from, settings->zero, err) != 0)
        return -1;
    if (settings->verbosity >= 0 && manifest_inputs_warn(joined, err) != 0)
        return -1;
    if (manifest_write(joined, settings->output, settings->force, err) != 0)
        return -1;
    if (settings->verbosity > 0 && rows != NULL)
        fprintf(stderr, "symaug: %s: %zu outputs of %zu inputs, %" PRIu64 " rows\n",
                text_path(settings->output).text, joined->n_outputs, joined->n_inputs, rows->value);
    return 0;
}

static int merge(const struct settings *settings, int n, char **paths, struct error *err)
{
    struct manifest_parts parts;
    struct manifest *joined = NULL;
    int status;

    if (settings->output == NULL)
        return error_set(err, ERROR_USAGE, "merge: no --output given");
    if (settings->json || (settings->zero && settings->files_from == NULL))
        return error_set(err, ERROR_USAGE,
                         settings->json ? "--json goes with check"
                                        : "--null goes with --files-from");
    status = manifest_parts_init(&parts, settings->output, err);
    for (int i = 0; i < n && status == 0; i++)
        status = manifest_parts_add(&parts, paths[i], err);
    if (status == 0)
        joined = manifest_merge(&parts, err);
    status = joined != NULL ? write_joined(settings, joined, err) : -1;
    manifest_parts_release(&parts);
    return status;
}

/* --- the command --- */

static const struct {
    const char *name;
    const char *operands;
    int (*run)(const struct settings *settings, int n, char **paths, struct error *err);
} jobs[] = {
    {"check", "MANIFEST...", check},
    {"merge", "-o OUT FOLDER|MANIFEST...", merge},
};

static int run_manifest(int argc, char **argv, struct error *err)
{
    struct settings settings;
    int first, status = option_parse("manifest", argc, argv, &settings, &first, err);
    size_t i = 0;

    while (status == 0 && i < sizeof jobs / sizeof *jobs &&
           (first >= argc || strcmp(argv[first], jobs[i].name) != 0))
        i++;
    if (status == 0 && first == argc)
        status = error_set(err, ERROR_USAGE, "expected a job: check or merge");
    else if (status == 0 && i == sizeof jobs / sizeof *jobs)
        status = error_set(err, ERROR_USAGE, "%s is not a job of this command: check, merge",
                           text_quote(argv[first]).text);
    else if (status == 0 && argc - first < 2)
        status = error_set(err, ERROR_USAGE, "expected %s %s", jobs[i].name, jobs[i].operands);
    else if (status == 0)
        status = jobs[i].run(&settings, argc - first - 1, argv + first + 1, err);
    settings_release(&settings);
    return status;
}

const struct command command_manifest = {
    "manifest",
    "check MANIFEST...  |  merge -o OUT FOLDER|MANIFEST...",
    "check that the outputs of manifests are there, or join manifests into one",
    "merge joins manifests, and those that stand beside their outputs in a FOLDER. It fails when\n"
    "they differ in board, transforms, options or version, and on outputs that are missing,\n"
    "unfinished or there twice. OUT is the same whatever the order and number of the parts.",
    run_manifest,
};
