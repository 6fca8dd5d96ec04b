/*
 * cmd_verify.c - symaug verify: is each shard sound, and is an expanded set the exact orbit of its
 * sources? src/verify does the checks; this file prints their findings, for `manifest check` too: a
 * line for all findings of one code in an array (-v: for each finding), with the code in brackets,
 * and a summary for each file as soon as it is checked; or everything as one JSON object. Control
 * characters in text from files are escaped.
 */
#include "cli/cli.h"

#define ROWS_SHOWN 5

/* Print `before` and text from a file, with control characters escaped; if it is empty, nothing. */
static void print_safe(const char *before, const char *text)
{
    printf("%s", *text != '\0' ? before : "");
    for (size_t n_control = 0; *text != '\0'; text++) {
        n_control = n_control > 0 ? n_control : text_control_nbytes(text);
        printf(n_control > 0 ? "\\x%02x" : "%c", (unsigned char)*text);
        n_control -= n_control > 0;
    }
}

/* True for findings of one code in rows of one array, which share a line. */
static bool is_alike(const struct finding *a, const struct finding *b)
{
    return a->code == b->code && a->is_warning == b->is_warning && a->row != FINDING_NO_ROW &&
           b->row != FINDING_NO_ROW && (a->array == NULL) == (b->array == NULL) &&
           (a->array == NULL || strcmp(a->array, b->array) == 0);
}

static void print_finding(const struct verify_result *result, size_t k, bool each)
{
    const struct findings *f = &result->findings;
    const struct finding *finding = &f->items[k];
    char rows[128] = ""; /* the first rows of findings like it */
    size_t n_alike = 0;

    printf("%s %s: ", finding->is_warning ? "warning" : "error", text_path(result->path).text);
    if (finding->array != NULL)
        printf("%s: ", text_path(finding->array).text);
    if (finding->row != FINDING_NO_ROW)
        printf("row %" PRIu64 ": ", finding->row);
    print_safe("", finding->message);
    print_safe(", expected ", finding->expected);
    print_safe(", found ", finding->found);
    for (size_t i = k + 1; i < f->n && !each; i++)
        if (is_alike(finding, &f->items[i]) && n_alike++ < ROWS_SHOWN)
            text_add(rows, sizeof rows, "%s %" PRIu64, n_alike > 1 ? "," : "", f->items[i].row);
    if (n_alike > 0)
        printf(" (and %zu more: row%s%s%s)", n_alike, n_alike > 1 ? "s" : "", rows,
               n_alike > ROWS_SHOWN ? ", ..." : "");
    printf(" [%s]\n", finding_code_name(finding->code));
}

/* Print the findings and a summary of each file from `first` on. verbosity -1: errors only, without
 * a summary; 1: a line for each finding. */
static void print_text(const struct verify_results *results, size_t first, int verbosity)
{
    for (size_t i = first; i < results->n; i++) {
        const struct verify_result *result = &results->items[i];
        const struct findings *f = &result->findings;
        const char *path = result->path, *separator = " (";

        for (size_t k = 0; k < f->n; k++) {
            bool is_shown = verbosity >= 0 || !f->items[k].is_warning;

            for (size_t before = 0; before < k && is_shown && verbosity <= 0; before++)
                is_shown = !is_alike(&f->items[before], &f->items[k]);
            if (is_shown)
                print_finding(result, k, verbosity > 0);
        }
        if (verbosity < 0)
            continue;
        if (f->n < f->n_errors + f->n_warnings)
            printf("%s: %" PRIu64 " more findings are counted only (--max-findings)\n",
                   text_path(path).text, f->n_errors + f->n_warnings - (uint64_t)f->n);
        printf("%s: %" PRIu64 " rows", text_path(path).text, result->n_rows);
        if (result->is_expanded)
            printf(", %" PRIu64 " sources", result->n_groups);
        if (result->note.text != NULL)
            printf(" (%s)", result->note.text);
        if (result->fatal != ERROR_NONE)
            printf(", cannot be read");
        printf(": %" PRIu64 " error%s, %" PRIu64 " warning%s", f->n_errors,
               f->n_errors == 1 ? "" : "s", f->n_warnings, f->n_warnings == 1 ? "" : "s");
        for (int code = 0; code < FINDING_N_CODES; code++)
            if (f->counts[code] > 0) {
                printf("%s%s %" PRIu64, separator, finding_code_name((enum finding_code)code),
                       f->counts[code]);
                separator = ", ";
            }
        printf("%s\n", *separator == ' ' ? "" : ")");
    }
}

int verify_print_all(const struct verify_request *request, int n, char **paths, struct error *err)
{
    const struct settings *settings = request->settings;
    struct verify_results results = {0};
    json_t *files = json_array();
    bool ok = true;
    int status = 0;

    meter_expect(settings->meter, (size_t)n);
    for (size_t i = 0, n_done; i < (size_t)n && status == 0; i += n_done) {
        const size_t first = results.n;

        status = verify_some(request, paths + i, (size_t)n - i, &n_done, &results, err);
        progress_hide(settings);
        if (status == 0 && !settings->json)
            print_text(&results, first, settings->verbosity);
    }
    for (size_t i = 0; i < results.n && status == 0 && settings->json; i++) {
        const struct verify_result *r = &results.items[i];

        ok &= r->findings.n_errors == 0 && r->fatal == ERROR_NONE;
        json_array_append_new(
            files, json_pack("{s:o, s:I, s:b, s:o*, s:o*, s:o, s:o}", "path", json_name(r->path),
                             "rows", (json_int_t)r->n_rows, "expanded", r->is_expanded, "sources",
                             r->is_expanded ? json_integer((json_int_t)r->n_groups) : NULL, "note",
                             r->note.text != NULL ? json_name(r->note.text) : NULL, "findings",
                             findings_json(&r->findings), "counts",
                             findings_counts_json(r->findings.counts)));
    }
    if (status == 0 && settings->json)
        status = command_put_json(NULL, json_pack("{s:O, s:b}", "files", files, "ok", ok), err);
    if (status == 0)
        status = verify_exit_code(&results);
    json_decref(files);
    verify_results_release(&results);
    return status;
}

static int run_verify(struct call *call, struct error *err)
{
    const struct verify_request request = {.settings = &call->settings};

    return verify_print_all(&request, call->n_operands, call->operands, err);
}

const struct command command_verify = {
    "verify",
    "verify MOVES READS",
    TAKES_FILES,
    "[OPTION]... FILE|MANIFEST...",
    "check shards, and expanded sets against their exact orbits",
    "A line for the findings of a code in an array, -v for each; exit 1 when there are errors. An "
    "expanded set is known by its provenance arrays, its manifest, or its rows; --order says it "
    "otherwise. A name that ends in .json is a manifest: all outputs that it lists are checked.",
    "verify --board go9 games_all.npz",
    NULL,
    run_verify,
};
