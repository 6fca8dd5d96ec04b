/*
 * page.c - a set as a section of an HTML page: verdict, arrays, findings, labels, maps (maps.c),
 * provenance. The page is whole in itself: no script, nothing that is loaded, light or dark as the
 * reader's system is. Every word that comes from a file is escaped.
 */
#include "report/page.h"

#include "base/text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void page_put(struct page *p, const char *format, ...)
{
    char piece[2048];
    va_list args;

    va_start(args, format);
    vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (!p->failed && text_append(p->out, p->err, "%s", piece) != 0)
        p->failed = true;
}

void page_put_text(struct page *p, const char *text)
{
    for (size_t n; *text != '\0'; text += n) {
        n = strcspn(text, "&<>\"'");
        if (!p->failed && text_append(p->out, p->err, "%.*s", (int)n, text) != 0)
            p->failed = true;
        if (text[n] != '\0')
            page_put(p, "&#%d;", text[n++]);
    }
}

/* Text that is no UTF-8, or holds bytes that no page may hold, is quoted as messages quote it. */
void page_put_name(struct page *p, const char *name)
{
    bool is_plain = text_is_utf8(name, strlen(name));

    for (const char *c = name; *c != '\0' && is_plain; c++)
        is_plain = (unsigned char)*c >= 0x20 && *c != 0x7f;
    page_put_text(p, is_plain ? name : text_path(name).text);
}

/* --- arrays --- */

static void put_arrays(struct page *p)
{
    const struct shard *shard = &p->set->shard;

    page_put(p, "<h3>Arrays</h3>\n<table>\n<tr><th>name</th><th>dtype</th><th>shape</th>"
                "<th>role</th><th>bytes</th><th>packed</th></tr>\n");
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const bool has_role = shard->bindings != NULL && !shard_is_undecided(shard, i);
        char dtype[32], spec[128] = "?";
        struct text flag = {0};

        dtype_name(&array->header.dtype, dtype, sizeof dtype);
        if (has_role && role_binding_spec(&shard->bindings[i], spec, sizeof spec) != 0)
            snprintf(spec, sizeof spec, "%s", role_name(shard->bindings[i].role));
        if (shard_flag(shard, i, &flag, p->err) != 0)
            p->failed = true;
        page_put(p, "<tr data-array=\"");
        page_put_name(p, array->key);
        page_put(p, "\" data-role=\"%s\"><td>",
                 has_role ? role_name(shard->bindings[i].role) : "?");
        page_put_name(p, array->key);
        page_put(p, "</td><td>");
        page_put_text(p, dtype);
        page_put(p, "</td><td>%s</td><td>",
                 text_shape(array->header.shape, array->header.n_dims).text);
        page_put_text(p, spec);
        if (flag.n_bytes > 0) {
            page_put(p, " <code>");
            page_put_name(p, flag.text);
            page_put(p, "</code>");
        }
        page_put(p, "</td><td class=\"n\">%s</td>", text_size(p->set->nbytes[i]).text);
        page_put(p, "<td class=\"n\">%s</td></tr>\n", text_size(p->set->packed_nbytes[i]).text);
        text_release(&flag);
    }
    page_put(p, "</table>\n");
    if (shard->command.n_bytes > 0) {
        page_put(p, "<p>This settles what is undecided:</p>\n<pre>");
        page_put_name(p, shard->command.text);
        page_put(p, "</pre>\n");
    }
}

/* --- findings --- */

#define N_LISTED 5 /* rows of a code */

static void put_finding(struct page *p, const struct verify_result *result,
                        const struct finding *finding)
{
    page_put(p, "<li>");
    if (p->set->results.n > 1) {
        page_put_name(p, result->path);
        page_put(p, ": ");
    }
    if (finding->array != NULL) {
        page_put(p, "<code>");
        page_put_name(p, finding->array);
        page_put(p, "</code> ");
    }
    if (finding->row != FINDING_NO_ROW)
        page_put(p, "row %llu: ", (unsigned long long)finding->row);
    page_put_name(p, finding->message);
    if (*finding->expected != '\0' || *finding->found != '\0') {
        page_put(p, ": expected ");
        page_put_name(p, finding->expected);
        page_put(p, ", found ");
        page_put_name(p, finding->found);
    }
    page_put(p, "</li>\n");
}

static void put_code(struct page *p, enum finding_code code, uint64_t n)
{
    const struct finding *first = NULL;
    const struct verify_result *where = NULL;
    int n_listed = 0;

    page_put(p, "<div class=\"code\" data-code=\"%s\" data-count=\"%llu\">\n<h4>%s: %llu</h4>\n",
             finding_code_name(code), (unsigned long long)n, finding_code_name(code),
             (unsigned long long)n);
    for (size_t i = 0; i < p->set->results.n; i++) {
        const struct verify_result *result = &p->set->results.items[i];

        for (size_t k = 0; k < result->findings.n; k++) {
            const struct finding *finding = &result->findings.items[k];

            if (finding->code != code || n_listed == N_LISTED)
                continue;
            page_put(p, "%s", n_listed == 0 ? "<ul>\n" : "");
            put_finding(p, result, finding);
            n_listed++;
            if (first == NULL || (first->row == FINDING_NO_ROW && finding->row != FINDING_NO_ROW)) {
                first = finding;
                where = result;
            }
        }
    }
    page_put(p, "%s", n_listed > 0 ? "</ul>\n" : "");
    if (first != NULL && p->set->is_drawn)
        page_put_picture(p, where, first);
    page_put(p, "</div>\n");
}

static void put_findings(struct page *p)
{
    bool any = false;

    page_put(p, "<h3>Findings</h3>\n");
    for (int code = 0; code < FINDING_N_CODES; code++) {
        uint64_t n = 0;

        for (size_t i = 0; i < p->set->results.n; i++)
            n += p->set->results.items[i].findings.counts[code];
        if (n > 0)
            put_code(p, (enum finding_code)code, n);
        any |= n > 0;
    }
    if (!any)
        page_put(p, "<p>None.</p>\n");
    for (size_t i = 0; i < p->set->results.n; i++)
        if (p->set->results.items[i].note != NULL) {
            page_put(p, "<p class=\"note\">");
            page_put_name(p, p->set->results.items[i].note);
            page_put(p, "</p>\n");
            break; /* the files of a set were made alike */
        }
}

/* --- labels --- */

static uint64_t count_of(const struct tally_histogram *h, double value, uint32_t bin)
{
    if (h->is_binned)
        return h->counts[bin];
    for (uint32_t i = 0; i < h->n; i++)
        if (h->values[i] == value)
            return h->counts[i];
    return 0;
}

/* One row per value; of expanded sets a column per transform. */
static void put_histogram(struct page *p, const struct tally_label *label)
{
    const struct tally_histogram *all = &label->all;
    const uint32_t n = all->is_binned ? TALLY_N_BINS : all->n;
    const uint32_t n_transforms =
        label->by_transform != NULL ? p->set->tally.board->n_transforms : 0;
    const double width = (all->high - all->low) / TALLY_N_BINS;
    uint64_t most = 1;

    for (uint32_t i = 0; i < n; i++)
        most = all->counts[i] > most ? all->counts[i] : most;
    page_put(p, "<table>\n<tr><th>value</th><th>rows</th><th></th>");
    for (uint32_t t = 0; t < n_transforms; t++) {
        page_put(p, "<th>");
        page_put_name(p, p->set->tally.board->transforms[t].name);
        page_put(p, "</th>");
    }
    page_put(p, "</tr>\n");
    for (uint32_t i = 0; i < n; i++) {
        if (all->is_binned)
            page_put(p, "<tr><td>%.4g to %.4g</td>", all->low + width * i,
                     i + 1 == n ? all->high : all->low + width * (i + 1));
        else
            page_put(p, "<tr><td>%.6g</td>", all->values[i]);
        page_put(p,
                 "<td class=\"n\">%llu</td><td><span class=\"bar\" "
                 "style=\"width:%.1fem\"></span></td>",
                 (unsigned long long)all->counts[i], 12.0 * (double)all->counts[i] / (double)most);
        for (uint32_t t = 0; t < n_transforms; t++)
            page_put(p, "<td class=\"n\">%llu</td>",
                     (unsigned long long)count_of(&label->by_transform[t],
                                                  all->is_binned ? 0 : all->values[i], i));
        page_put(p, "</tr>\n");
    }
    page_put(p, "</table>\n");
}

static void put_labels(struct page *p)
{
    const struct tally *tally = &p->set->tally;

    if (tally->n_labels + tally->n_policies == 0)
        return;
    page_put(p, "<h3>Labels</h3>\n");
    for (size_t i = 0; i < tally->n_policies; i++) {
        const struct tally_policy *policy = &tally->policies[i];

        page_put(p, "<p><code>");
        page_put_name(p, policy->key);
        page_put(p, "</code> (policy): ");
        if (policy->n_rows > 0)
            page_put(p,
                     "entropy %.4g nats, largest share %.4g, on average over the %llu rows "
                     "with mass</p>\n",
                     policy->entropy, policy->top_share, (unsigned long long)policy->n_rows);
        else
            page_put(p, "no row has mass</p>\n");
    }
    for (size_t i = 0; i < tally->n_labels; i++) {
        page_put(p, "<h4><code>");
        page_put_name(p, tally->labels[i].key);
        page_put(p, "</code> (%s)</h4>\n", role_name(tally->labels[i].role));
        put_histogram(p, &tally->labels[i]);
    }
}

/* --- positions --- */

static void put_positions(struct page *p)
{
    const struct report_positions *n = &p->set->positions;

    if (!n->is_known)
        return;
    page_put(p,
             "<h3>Positions up to symmetry</h3>\n<p>%llu rows are %llu positions: %llu rows repeat "
             "one. ",
             (unsigned long long)n->n_rows, (unsigned long long)n->n_classes,
             (unsigned long long)(n->n_rows - n->n_classes));
    page_put(p, "The most frequent one has %llu rows; %llu positions have different values.</p>\n",
             (unsigned long long)n->largest, (unsigned long long)n->n_conflicts);
}

static void put_matrix(struct page *p, const char *title, const uint64_t *matrix,
                       const struct report_overlap *overlap)
{
    page_put(p, "<h4>%s</h4>\n<table>\n<tr><th></th>", title);
    for (size_t j = 0; j < overlap->n; j++)
        page_put(p, "<th>%zu</th>", j + 1);
    page_put(p, "</tr>\n");
    for (size_t i = 0; i < overlap->n; i++) {
        page_put(p, "<tr><th>%zu</th>", i + 1);
        for (size_t j = 0; j < overlap->n; j++)
            page_put(p, "<td class=\"n\">%llu</td>",
                     (unsigned long long)matrix[i * overlap->n + j]);
        page_put(p, "</tr>\n");
    }
    page_put(p, "</table>\n");
}

/* Of several sets: how many rows of each occur in each other one. */
static void put_overlap(struct page *p, const struct report_request *request,
                        const struct report_files *files, const struct report_overlap *overlap)
{
    page_put(p, "<section class=\"overlap\">\n<h2>Positions in common</h2>\n");
    if (overlap->why.kind != ERROR_NONE) {
        page_put(p, "<p>The sets do not compare: ");
        page_put_name(p, overlap->why.message);
        page_put(p, "</p>\n</section>\n");
        return;
    }
    page_put(p, "<p>Rows of the set of a line whose position occurs in that of a column; on the "
                "diagonal rows that repeat a position.</p>\n<ol>\n");
    for (size_t i = 0; i < request->n; i++) {
        if (!files[i].is_sure)
            continue;
        page_put(p, "<li>");
        page_put_name(p, request->paths[i]);
        page_put(p, "</li>\n");
    }
    page_put(p, "</ol>\n");
    put_matrix(p, "exactly", overlap->matrices, overlap);
    put_matrix(p, "up to symmetry", overlap->matrices + overlap->n * overlap->n, overlap);
    page_put(p, "</section>\n");
}

/* --- provenance --- */

static void put_pair(struct page *p, const char *name, const char *value)
{
    page_put(p, "<tr><td>");
    page_put_name(p, name);
    page_put(p, "</td><td>");
    page_put_name(p, value != NULL ? value : "");
    page_put(p, "</td></tr>\n");
}

static void put_manifest(struct page *p, const struct manifest *m)
{
    char text[64];

    page_put(p, "<table>\n");
    put_pair(p, "made by", m->tool_name);
    put_pair(p, "version", m->tool_version);
    put_pair(p, "board", m->board.name);
    for (size_t i = 0; i < m->n_options; i++)
        put_pair(p, m->options[i].name, m->options[i].value);
    for (size_t i = 0; i < m->n_conventions; i++)
        put_pair(p, m->conventions[i].name, m->conventions[i].value);
    for (size_t i = 0; i < m->n_counts; i++) {
        snprintf(text, sizeof text, "%llu", (unsigned long long)m->counts[i].value);
        put_pair(p, m->counts[i].name, text);
    }
    for (size_t i = 0; i < m->n_warnings; i++)
        put_pair(p, "warning", m->warnings[i]);
    page_put(p, "</table>\n<table>\n<tr><th>input</th><th>rows</th><th>SHA-256</th></tr>\n");
    for (size_t i = 0; i < m->n_inputs; i++) {
        page_put(p, "<tr><td>");
        page_put_name(p, m->inputs[i].name);
        page_put(p, "</td><td class=\"n\">%llu</td><td class=\"hash\">",
                 (unsigned long long)m->inputs[i].n_rows);
        page_put_name(p, m->inputs[i].sha256 != NULL ? m->inputs[i].sha256 : "");
        page_put(p, "</td></tr>\n");
    }
    page_put(p, "</table>\n");
}

static void put_provenance(struct page *p)
{
    struct error why = {0};
    const size_t n = strlen(p->set->path);
    struct manifest *own = n > 5 && strcmp(p->set->path + n - 5, ".json") == 0
                               ? manifest_read(p->set->path, &why)
                               : NULL;
    const struct manifest *m = own != NULL ? own : p->set->shard.recall.manifest;

    page_put(p, "<h3>Provenance</h3>\n");
    if (m != NULL)
        put_manifest(p, m);
    else
        page_put(p, "<p>No manifest tells how it was made.</p>\n");
    manifest_free(own);
}

/* --- the page --- */

static const char style[] =
    ":root{color-scheme:light dark;--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--back:#fff;"
    "--panel:#f6f8fa;--bar:#5b8fd6}\n"
    "@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9198a1;--line:#3d444d;"
    "--back:#0d1117;--panel:#151b23}}\n"
    "body{font:15px/1.5 system-ui,sans-serif;color:var(--ink);background:var(--back);"
    "max-width:72em;margin:2em auto;padding:0 1em}\n"
    "section{border-top:3px solid var(--line);margin-top:2em}\n"
    "table{border-collapse:collapse;margin:.5em 0;display:block;overflow-x:auto}\n"
    "td,th{border-bottom:1px solid var(--line);padding:.15em .7em;text-align:left;"
    "vertical-align:top}\n"
    "th{color:var(--soft);font-weight:600}\n"
    ".n{text-align:right;font-variant-numeric:tabular-nums}\n"
    ".bar{display:inline-block;height:.7em;background:var(--bar)}\n"
    ".hash{font-family:monospace;font-size:85%}\n"
    ".note,figcaption{color:var(--soft)}\n"
    "pre,code{font-family:ui-monospace,monospace;background:var(--panel)}\n"
    "pre{padding:.6em;overflow-x:auto}\n"
    ".verdict{font-size:1.1em;border-left:.5em solid #2da44e;padding-left:.7em}\n"
    ".findings .verdict{border-color:#cf222e}.unchecked .verdict{border-color:#bf8700}\n"
    ".misfit{color:#cf222e;font-weight:600}\n"
    "figure{display:inline-block;margin:.5em 1em .5em 0}\n"
    "figure svg{background:#fff;max-width:100%;height:auto}\n"
    "@media print{body{max-width:none;margin:0}section,figure,table{break-inside:avoid}}\n";

int page_begin(struct text *page, const struct report_request *request, struct error *err)
{
    struct page p = {.out = page, .err = err};

    page_put(&p, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                 "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                 "style-src 'unsafe-inline'; img-src data:\">\n"
                 "<link rel=\"icon\" href=\"data:,\">\n<title>symaug report</title>\n<style>\n");
    if (!p.failed && text_append(page, err, "%s", style) != 0)
        p.failed = true;
    page_put(&p,
             "</style>\n</head>\n<body>\n<h1>symaug report</h1>\n<p class=\"note\">%zu set%s</p>\n",
             request->n, request->n == 1 ? "" : "s");
    return p.failed ? -1 : 0;
}

int page_add_set(struct text *page, const struct report_set *set, struct error *err)
{
    struct page p = {.out = page, .err = err, .set = set};
    const char *verdict = report_verdict_name(set->verdict);

    page_put(&p, "<section class=\"%s\" data-set=\"", verdict);
    page_put_name(&p, set->path);
    page_put(&p, "\" data-verdict=\"%s\">\n<h2>", verdict);
    page_put_name(&p, set->path);
    page_put(&p, "</h2>\n<p class=\"verdict\">");
    page_put_name(&p, set->sentence.text);
    page_put(&p, "</p>\n<pre>");
    page_put_name(&p, set->command.text);
    page_put(&p, "</pre>\n");
    if (set->is_open)
        put_arrays(&p);
    put_findings(&p);
    put_labels(&p);
    page_put_maps(&p);
    put_positions(&p);
    put_provenance(&p);
    page_put(&p, "</section>\n");
    return p.failed ? -1 : 0;
}

int page_end(struct text *page, const struct report_request *request,
             const struct report_files *files, const struct report_overlap *overlap,
             struct error *err)
{
    struct page p = {.out = page, .err = err};

    if (request->n > 1)
        put_overlap(&p, request, files, overlap);
    page_put(&p, "</body>\n</html>\n");
    return p.failed ? -1 : 0;
}
