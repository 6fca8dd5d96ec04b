/*
 * cmd_verify.c - symaug verify: is each shard sound, and is an expanded set the exact orbit of its
 * sources? The checks are in src/verify. What they find is printed here, for `manifest check` too:
 * a line for the findings of a code in an array (-v: for each), with the code in brackets, and a
 * summary for each file as soon as it is checked, or all of them as one JSON object. Text from
 * files is made harmless for terminals.
 */
#include "cli/cli.h"

#include <inttypes.h>
#include <string.h>

#define ROWS_SHOWN 5

/* --- for people --- */

/* Text from a file must not move the cursor. */
static void print_safe(const char *text)
{
    for (; *text != '\0'; text++) {
        const unsigned char c = (unsigned char)*text;

        if (c < 0x20 || c == 0x7f)
            printf("\\x%02x", c);
        else
            putchar(c);
    }
}

/* Findings of one code in rows of one array are one line, unless each is asked for. */
static bool is_alike(const struct finding *a, const struct finding *b)
{
    return a->code == b->code && a->is_warning == b->is_warning && a->row != FINDING_NO_ROW &&
           b->row != FINDING_NO_ROW && (a->array == NULL) == (b->array == NULL) &&
           (a->array == NULL || strcmp(a->array, b->array) == 0);
}

/* The rows of the findings after number k that are like it. */
static void print_rows_alike(const struct findings *f, size_t k)
{
    size_t n = 0;

    for (size_t i = k + 1; i < f->n; i++)
        n += is_alike(&f->items[k], &f->items[i]);
    if (n == 0)
        return;
    printf(" (and %zu more: row%s", n, n > 1 ? "s" : "");
    n = 0;
    for (size_t i = k + 1; i < f->n && n <= ROWS_SHOWN; i++)
        if (is_alike(&f->items[k], &f->items[i]) && n++ < ROWS_SHOWN)
            printf("%s %" PRIu64, n > 1 ? "," : "", f->items[i].row);
    printf("%s)", n > ROWS_SHOWN ? ", ..." : "");
}

static bool is_shown_before(const struct findings *f, size_t k)
{
    for (size_t i = 0; f->items[k].row != FINDING_NO_ROW && i < k; i++)
        if (is_alike(&f->items[i], &f->items[k]))
            return true;
    return false;
}

static void print_finding(const struct verify_result *result, size_t k, bool each)
{
    const struct finding *finding = &result->findings.items[k];

    printf("%s %s: ", finding->is_warning ? "warning" : "error", text_path(result->path).text);
    if (finding->array != NULL)
        printf("%s: ", text_path(finding->array).text);
    if (finding->row != FINDING_NO_ROW)
        printf("row %" PRIu64 ": ", finding->row);
    print_safe(finding->message);
    if (finding->expected[0] != '\0') {
        printf(", expected ");
        print_safe(finding->expected);
    }
    if (finding->found[0] != '\0') {
        printf(", found ");
        print_safe(finding->found);
    }
    if (!each)
        print_rows_alike(&result->findings, k);
    printf(" [%s]\n", finding_code_name(finding->code));
}

static void print_summary(const struct verify_result *result)
{
    const struct findings *f = &result->findings;
    const char *separator = "";

    printf("%s: %" PRIu64 " rows", text_path(result->path).text, result->n_rows);
    if (result->is_expanded)
        printf(", %" PRIu64 " sources", result->n_groups);
    if (result->note != NULL)
        printf(" (%s)", result->note);
    if (result->fatal != ERROR_NONE)
        printf(", cannot be read");
    printf(": %" PRIu64 " error%s, %" PRIu64 " warning%s", f->n_errors, f->n_errors == 1 ? "" : "s",
           f->n_warnings, f->n_warnings == 1 ? "" : "s");
    for (int code = 0; code < FINDING_N_CODES; code++) {
        if (f->counts[code] == 0)
            continue;
        printf("%s%s %" PRIu64, *separator == '\0' ? " (" : separator,
               finding_code_name((enum finding_code)code), f->counts[code]);
        separator = ", ";
    }
    printf("%s\n", *separator == '\0' ? "" : ")");
}

/* The findings and a summary of each file. verbosity -1: errors only, no summary; 1: a line for
 * each finding. */
static void print_text(const struct verify_results *results, size_t first, int verbosity)
{
    for (size_t i = first; i < results->n; i++) {
        const struct verify_result *result = &results->items[i];

        for (size_t k = 0; k < result->findings.n; k++)
            if ((verbosity >= 0 || !result->findings.items[k].is_warning) &&
                (verbosity > 0 || !is_shown_before(&result->findings, k)))
                print_finding(result, k, verbosity > 0);
        if (result->findings.n < result->findings.n_errors + result->findings.n_warnings &&
            verbosity >= 0)
            printf("%s: %" PRIu64 " more findings are counted only (--max-findings)\n",
                   text_path(result->path).text,
                   result->findings.n_errors + result->findings.n_warnings -
                       (uint64_t)result->findings.n);
        if (verbosity >= 0)
            print_summary(result);
    }
}

/* --- for programs --- */

static int print_json(const struct verify_results *results, struct error *err)
{
    json_t *files = json_array();
    bool ok = true;

    for (size_t i = 0; i < results->n; i++) {
        const struct verify_result *r = &results->items[i];

        ok &= r->findings.n_errors == 0 && r->fatal == ERROR_NONE;
        json_array_append_new(
            files, json_pack("{s:o, s:I, s:b, s:o*, s:o*, s:o, s:o}", "path", json_name(r->path),
                             "rows", (json_int_t)r->n_rows, "expanded", r->is_expanded, "sources",
                             r->is_expanded ? json_integer((json_int_t)r->n_groups) : NULL, "note",
                             r->note != NULL ? json_name(r->note) : NULL, "findings",
                             findings_json(&r->findings), "counts",
                             findings_counts_json(r->findings.counts)));
    }
    return command_put_json(NULL, json_pack("{s:o, s:b}", "files", files, "ok", ok), err);
}

int verify_print_all(const struct verify_request *request, int n, char **paths, struct error *err)
{
    const struct settings *settings = request->settings;
    struct verify_results results = {0};
    int status = 0;

    meter_expect(settings->meter, (size_t)n);
    for (int i = 0; i < n && status == 0; i++) {
        const size_t first = results.n;

        status = verify_path(request, paths[i], &results, err);
        progress_hide(settings);
        if (status == 0 && !settings->json)
            print_text(&results, first, settings->verbosity);
    }
    if (status == 0 && settings->json)
        status = print_json(&results, err);
    if (status == 0)
        status = verify_exit_code(&results);
    verify_results_release(&results);
    return status;
}

static int run_verify(struct call *call, struct error *err)
{
    const struct verify_request request = {.settings = &call->settings};

    if (call->n_operands == 0)
        return command_misuse(err, "no file given");
    return verify_print_all(&request, call->n_operands, call->operands, err);
}

const struct command command_verify = {
    "verify",
    "[OPTION]... FILE|MANIFEST...",
    "check shards, and expanded sets against their exact orbits",
    "A line for the findings of a code in an array, -v for each; exit 1 when there are errors. An "
    "expanded set "
    "is\n"
    "known by its provenance arrays, its manifest, or its rows; --order says it otherwise. A "
    "name\n"
    "that ends in .json is a manifest: all outputs that it lists are checked.",
    "verify --board go9 games_all.npz",
    run_verify,
};
