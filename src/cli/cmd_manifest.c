/*
 * cmd_manifest.c - symaug manifest: `check` tests whether the outputs that manifests list exist
 * with their sizes, rows and arrays (`verify` without the contents); `merge` joins the manifests of
 * many runs into one, and with --files-from also checks that no input was left out.
 */
#include "cli/cli.h"

#include "manifest/manifest.h"

/* ERROR_DATA unless the inputs are those that a file lists (see input_list_add_from). Only the last
 * components of names are compared. */
static int check_inputs(const json_t *inputs, const char *file, bool zero, struct error *err)
{
    struct text_list expected = {0}, found = {0};
    const struct text_list *const sets[] = {&expected, &found};
    int status = input_list_add_from(&expected, file, zero, err);

    for (size_t i = 0; i < expected.n && status == 0; i++) {
        int n_name;
        const char *name = text_last_name(expected.items[i], &n_name);

        memmove(expected.items[i], name, (size_t)n_name);
        expected.items[i][n_name] = '\0';
    }
    for (size_t i = 0; i < json_array_size(inputs) && status == 0; i++)
        status = text_list_add(&found, manifest_text(json_array_get(inputs, i), "name"), err);
    text_list_make_set(&expected);
    text_list_make_set(&found);
    for (size_t k = 0; k < 2 && status == 0; k++) {
        const struct text_list *one = sets[k], *other = sets[1 - k];
        const char *first = NULL; /* of the n that the other one lacks */
        size_t n = 0;

        for (size_t i = 0; i < one->n; i++)
            if ((other->n == 0 || bsearch(&one->items[i], other->items, other->n,
                                          sizeof *other->items, text_compare) == NULL) &&
                n++ == 0)
                first = one->items[i];
        if (n > 0)
            status = error_set(
                err, ERROR_DATA,
                k == 0 ? "%zu of %zu inputs in %s have no output, the first is %s"
                       : "%zu of %zu inputs of the outputs are not in %s, the first is %s",
                n, one->n, text_quote(file).text, text_quote(first).text);
    }
    text_list_release(&expected);
    text_list_release(&found);
    return status;
}

static int merge(const struct settings *settings, int n, char **paths, struct error *err)
{
    json_t *joined = manifest_merge(settings->output, paths, n, err);
    int status = joined != NULL ? 0 : -1;
    const json_t *inputs = json_object_get(joined, "inputs");
    const size_t n_inputs = json_array_size(inputs);
    if (status == 0 && settings->files_from != NULL)
        status = check_inputs(inputs, settings->files_from, settings->zero, err);
    if (status == 0)
        status = manifest_write(joined, settings->output, settings->force, err);
    if (status == 0)
        command_say(settings, 1, "%s: %zu outputs of %zu inputs, %" PRIu64 " rows",
                    text_path(settings->output).text,
                    json_array_size(json_object_get(joined, "outputs")), n_inputs,
                    manifest_number(json_object_get(joined, "counts"), "rows_out"));
    json_decref(joined);
    return status;
}

static int check_manifest(struct call *call, struct error *err)
{
    const struct settings *settings = &call->settings;
    const char *name = call->operands[0];
    const int n = call->n_operands - 1;

    if (call->n_operands == 0)
        return command_misuse(err, "expected check or merge");
    const bool is_merge = strcmp(name, "merge") == 0;
    if (!is_merge && strcmp(name, "check") != 0)
        return command_misuse(err, "expected check or merge, found %s", text_quote(name).text);
    if (n == 0)
        return command_misuse(err, "%s: expected %s, found none", name,
                              is_merge ? "-o OUT FOLDER|MANIFEST..." : "MANIFEST...");

    if (is_merge && settings->output == NULL)
        return command_misuse(err, "merge: no output given; use -o OUT");
    if (is_merge)
        return settings->json ? command_misuse(err, "--json works with check only") : 0;
    if (settings->output != NULL || settings->force || settings->files_from != NULL)
        return command_misuse(err,
                              "check: --output, --force and --files-from work with merge only");
    for (int i = 1; i <= n; i++)
        if (!text_ends_with(call->operands[i], ".json"))
            return error_set(err, ERROR_USAGE,
                             "check: %s is not a manifest, expected a name that ends in .json; "
                             "`symaug verify` looks at shards",
                             text_path(call->operands[i]).text);
    return 0;
}

static int run_manifest(struct call *call, struct error *err)
{
    const struct verify_request request = {.settings = &call->settings, .headers_only = true};
    char **paths = call->operands + 1;
    const int n = call->n_operands - 1;

    return strcmp(call->operands[0], "merge") == 0 ? merge(&call->settings, n, paths, err)
                                                   : verify_print_all(&request, n, paths, err);
}

const struct command command_manifest = {
    "manifest",
    "manifest",
    TAKES_ANY,
    "check MANIFEST...  |  merge -o OUT FOLDER|MANIFEST...",
    "check the outputs of manifests, or join manifests",
    "merge joins manifests, and those that stand beside their outputs in a FOLDER. It fails when "
    "they differ in board, transforms, options or version, and on outputs that are missing, "
    "unfinished or duplicate. OUT is the same whatever the order and number of the parts.",
    "manifest check out/games.npz.manifest.json",
    check_manifest,
    run_manifest,
};
