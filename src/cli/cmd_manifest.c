/*
 * cmd_manifest.c - symaug manifest: `check` asks whether the outputs that manifests list are there
 * with their sizes, rows and arrays (it is `verify` without contents); `merge` joins the manifests
 * of many runs into one, and with --files-from also checks that no input was left out: both lists,
 * what it names and what a file says it should name, are made sets of names without folders and
 * walked side by side.
 */
#include "cli/cli.h"

#include "manifest/manifest.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* --- check --- */

static int check(const struct settings *settings, int n, char **paths, struct error *err)
{
    const struct verify_request request = {.settings = settings, .headers_only = true};

    if (settings->output != NULL || settings->force || settings->files_from != NULL)
        return command_misuse(err, "check: --output, --force and --files-from go with merge");
    return verify_print_all(&request, n, paths, err);
}

/* --- merge: are all inputs there? --- */

/* Sort a list and leave each name once. */
static void make_set(struct input_list *list)
{
    size_t n = 0;

    if (list->n > 0)
        qsort(list->paths, list->n, sizeof *list->paths, text_compare);
    for (size_t i = 0; i < list->n; i++) {
        if (n > 0 && strcmp(list->paths[n - 1], list->paths[i]) == 0)
            free(list->paths[i]);
        else
            list->paths[n++] = list->paths[i];
    }
    list->n = n;
}

/* The names of a that are not in b: their number, and the first one. */
static size_t count_others(const struct input_list *a, const struct input_list *b,
                           const char **first)
{
    size_t n = 0;

    for (size_t i = 0; i < a->n; i++)
        if ((b->n == 0 ||
             bsearch(&a->paths[i], b->paths, b->n, sizeof *b->paths, text_compare) == NULL) &&
            n++ == 0)
            *first = a->paths[i];
    return n;
}

/* ERROR_DATA unless the inputs are, by their names without folders, those that a file lists (as
 * input_list_add_from reads it). */
static int check_inputs(const struct manifest *manifest, const char *file, bool zero,
                        struct error *err)
{
    struct input_list expected = {0}, found = {0};
    const char *first;
    size_t n;
    int status = input_list_add_from(&expected, file, zero, err);

    for (size_t i = 0; i < expected.n && status == 0; i++) {
        char *name = input_list_base_name(expected.paths[i], err);

        status = name != NULL ? 0 : -1;
        free(expected.paths[i]);
        expected.paths[i] = name;
    }
    for (size_t i = 0; i < manifest->n_inputs && status == 0; i++)
        status = input_list_add(&found, manifest->inputs[i].name, err);
    if (status == 0) {
        make_set(&expected);
        make_set(&found);
        if ((n = count_others(&expected, &found, &first)) > 0)
            status = error_set(err, ERROR_DATA,
                               "%zu of %zu inputs in %s have no output, the first is %s", n,
                               expected.n, text_quote(file).text, text_quote(first).text);
        else if ((n = count_others(&found, &expected, &first)) > 0)
            status = error_set(err, ERROR_DATA,
                               "%zu of %zu inputs of the outputs are not in %s, the first is %s", n,
                               found.n, text_quote(file).text, text_quote(first).text);
    }
    input_list_release(&expected);
    input_list_release(&found);
    return status;
}

static int by_digest(const void *a, const void *b)
{
    const struct manifest_file *p = a, *q = b;
    const int order = strcmp(p->sha256, q->sha256);

    return order != 0 ? order : strcmp(p->name, q->name);
}

/* Warn of inputs that hold the same bytes: they show when they are sorted by digest. */
static int warn_of_duplicates(const struct manifest *manifest, struct error *err)
{
    const size_t n = manifest->n_inputs;
    struct manifest_file *inputs = calloc(n + 1, sizeof *inputs);

    if (inputs == NULL)
        return error_no_memory(err, "list of inputs");
    if (n > 0)
        memcpy(inputs, manifest->inputs, n * sizeof *inputs);
    qsort(inputs, n, sizeof *inputs, by_digest);
    for (size_t i = 1; i < n; i++)
        if (strcmp(inputs[i - 1].sha256, inputs[i].sha256) == 0)
            fprintf(stderr, "symaug: warning: inputs %s and %s hold the same bytes\n",
                    text_path(inputs[i - 1].name).text, text_path(inputs[i].name).text);
    free(inputs);
    return 0;
}

/* --- merge --- */

static int merge(const struct settings *settings, int n, char **paths, struct error *err)
{
    const struct manifest_count *rows;
    struct manifest_parts parts;
    const struct manifest *joined = NULL;
    int status;

    if (settings->output == NULL)
        return command_misuse(err, "merge: no output given; use -o OUT");
    if (settings->json || (settings->zero && settings->files_from == NULL))
        return command_misuse(err, settings->json ? "--json goes with check"
                                                  : "--null goes with --files-from");
    status = manifest_parts_init(&parts, settings->output, err);
    for (int i = 0; i < n && status == 0; i++)
        status = manifest_parts_add(&parts, paths[i], err);
    if (status == 0)
        joined = manifest_merge(&parts, err);
    if (joined == NULL ||
        (settings->files_from != NULL &&
         check_inputs(joined, settings->files_from, settings->zero, err) != 0) ||
        (settings->verbosity >= 0 && warn_of_duplicates(joined, err) != 0) ||
        manifest_write(joined, settings->output, settings->force, err) != 0)
        status = -1;
    rows = status == 0 ? manifest_count(joined, "rows_out") : NULL;
    if (settings->verbosity > 0 && rows != NULL)
        fprintf(stderr, "symaug: %s: %zu outputs of %zu inputs, %" PRIu64 " rows\n",
                text_path(settings->output).text, joined->n_outputs, joined->n_inputs, rows->value);
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

static int run_manifest(struct call *call, struct error *err)
{
    const size_t n_jobs = sizeof jobs / sizeof *jobs;
    const char *name = call->operands[0];
    size_t i = 0;

    if (call->n_operands == 0)
        return command_misuse(err, "expected a job: check or merge");
    while (i < n_jobs && strcmp(name, jobs[i].name) != 0)
        i++;
    if (i == n_jobs)
        return command_misuse(err, "%s is not a job of this command: check, merge",
                              text_quote(name).text);
    if (call->n_operands < 2)
        return command_misuse(err, "%s: expected %s, found none", jobs[i].name, jobs[i].operands);
    return jobs[i].run(&call->settings, call->n_operands - 1, call->operands + 1, err);
}

const struct command command_manifest = {
    "manifest",
    "check MANIFEST...  |  merge -o OUT FOLDER|MANIFEST...",
    "check the outputs of manifests, or join manifests",
    "merge joins manifests, and those that stand beside their outputs in a FOLDER. It fails when\n"
    "they differ in board, transforms, options or version, and on outputs that are missing,\n"
    "unfinished or duplicate. OUT is the same whatever the order and number of the parts.",
    "manifest check out/games.npz.manifest.json",
    run_manifest,
};
