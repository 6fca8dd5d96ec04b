/*
 * page.c - a set as a section of an HTML page: verdict, arrays, findings, labels, maps (maps.c),
 * provenance. The page is whole in itself: no script, nothing that is loaded, light or dark as the
 * reader's system is. Every word that comes from a file is escaped.
 */
#include "report/set.h"

#include "base/text.h"

typedef unsigned long long count; /* as printf takes it */

/* --- arrays --- */

static void put_arrays(struct pen *p, const struct report_set *set)
{
    const struct shard *shard = &set->shard;

    pen_put(p, "<h3>Arrays</h3>\n<table>\n<tr><th>name</th><th>dtype</th><th>shape</th>"
               "<th>role</th><th>bytes</th><th>packed</th></tr>\n");
    for (size_t i = 0; i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const bool has_role = shard->bindings != NULL && !shard_is_undecided(shard, i);
        const char *role = has_role ? role_name(shard->bindings[i].role) : "?";
        char spec[128] = "?";
        uint64_t shape[NPY_MAX_DIMS];
        struct text flag = {0};

        for (unsigned d = 0; d < array->header.n_dims; d++)
            shape[d] = report_dimension(set, array, d);
        if (has_role && role_binding_spec(&shard->bindings[i], spec, sizeof spec) != 0)
            snprintf(spec, sizeof spec, "%s", role);
        p->failed |= shard_flag(shard, i, &flag, p->err) != 0;
        pen_html(p,
                 "<tr data-array=\"%s\" data-role=\"%s\"><td>%s</td><td>%s</td><td>%s</td><td>%s",
                 array->key, role, array->key, dtype_name(&array->header.dtype).text,
                 text_shape(shape, array->header.n_dims).text, spec);
        if (flag.n_bytes > 0)
            pen_html(p, " <code>%s</code>", flag.text);
        pen_html(p, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
                 text_size(set->nbytes[2 * i]).text, text_size(set->nbytes[2 * i + 1]).text);
        text_release(&flag);
    }
    pen_put(p, "</table>\n");
    if (shard->command.n_bytes > 0)
        pen_html(p, "<p>This settles what is undecided:</p>\n<pre>%s</pre>\n", shard->command.text);
}

/* --- findings --- */

#define N_LISTED 5 /* rows of a code */

static void put_findings(struct pen *p, const struct report_set *set)
{
    bool any = false;

    pen_put(p, "<h3>Findings</h3>\n");
    for (enum finding_code code = 0; code < FINDING_N_CODES; code++) {
        const char *name = finding_code_name(code);
        const count n = set->counts[code];
        const struct finding *first = NULL;
        const struct verify_result *where = NULL;
        int n_listed = 0;

        if (n == 0)
            continue;
        any = true;
        pen_html(p,
                 "<div class=\"code\" data-code=\"%s\" data-count=\"%llu\">\n<h4>%s: %llu</h4>\n",
                 name, n, name, n);
        for (const struct verify_result *r = set->results.items;
             r < set->results.items + set->results.n; r++)
            for (const struct finding *f = r->findings.items;
                 f < r->findings.items + r->findings.n && n_listed < N_LISTED; f++) {
                if (f->code != code)
                    continue;
                pen_put(p, "%s<li>", n_listed++ == 0 ? "<ul>\n" : "");
                if (set->results.n > 1)
                    pen_html(p, "%s: ", r->path);
                if (f->array != NULL)
                    pen_html(p, "<code>%s</code> ", f->array);
                if (f->row != FINDING_NO_ROW)
                    pen_put(p, "row %llu: ", (count)f->row);
                pen_html(p, "%s", f->message);
                if (*f->expected != '\0' || *f->found != '\0')
                    pen_html(p, ": expected %s, found %s", f->expected, f->found);
                pen_put(p, "</li>\n");
                if (first == NULL || (first->row == FINDING_NO_ROW && f->row != FINDING_NO_ROW)) {
                    first = f;
                    where = r;
                }
            }
        pen_put(p, "%s", n_listed > 0 ? "</ul>\n" : "");
        if (first != NULL && set->is_drawn)
            page_put_picture(p, set, where, first);
        pen_put(p, "</div>\n");
    }
    if (!any)
        pen_put(p, "<p>None.</p>\n");
    for (size_t i = 0; i < set->results.n; i++)
        if (set->results.items[i].note != NULL) {
            pen_html(p, "<p class=\"note\">%s</p>\n", set->results.items[i].note);
            break; /* the files of a set were made alike */
        }
}

/* --- labels --- */

/* One row per value; of expanded sets a column per transform. */
static void put_histogram(struct pen *p, const struct board *board, const struct tally_label *label)
{
    const struct tally_histogram *all = &label->all;
    const uint32_t n = all->is_binned ? TALLY_N_BINS : all->n;
    const uint32_t n_transforms = label->by_transform != NULL ? board->n_transforms : 0;
    uint64_t most = 1;

    for (uint32_t i = 0; i < n; i++)
        most = all->counts[i] > most ? all->counts[i] : most;
    pen_put(p, "<table>\n<tr><th>value</th><th>rows</th><th></th>");
    for (uint32_t t = 0; t < n_transforms; t++)
        pen_html(p, "<th>%s</th>", board->transforms[t].name);
    pen_put(p, "</tr>\n");
    for (uint32_t i = 0; i < n; i++) {
        if (all->is_binned)
            pen_put(p, "<tr><td>%.4g to %.4g</td>", tally_bin(all, i), tally_bin(all, i + 1));
        else
            pen_put(p, "<tr><td>%.6g</td>", all->values[i]);
        pen_html(
            p,
            "<td class=\"n\">%llu</td><td><span class=\"bar\" style=\"width:%.1fem\"></span></td>",
            (count)all->counts[i], 12.0 * (double)all->counts[i] / (double)most);
        for (uint32_t t = 0; t < n_transforms; t++) {
            const struct tally_histogram *h = &label->by_transform[t];
            uint32_t k = h->is_binned ? i : 0;

            while (!h->is_binned && k < h->n && h->values[k] != all->values[i])
                k++;
            pen_put(p, "<td class=\"n\">%llu</td>",
                    h->is_binned || k < h->n ? (count)h->counts[k] : 0);
        }
        pen_put(p, "</tr>\n");
    }
    pen_put(p, "</table>\n");
}

static void put_labels(struct pen *p, const struct tally *tally)
{
    if (tally->n_labels + tally->n_policies > 0)
        pen_put(p, "<h3>Labels</h3>\n");
    for (size_t i = 0; i < tally->n_policies; i++) {
        const struct tally_policy *policy = &tally->policies[i];

        pen_html(p, "<p><code>%s</code> (policy): ", policy->key);
        if (policy->n_rows > 0)
            pen_html(p,
                     "entropy %.4g nats, largest share %.4g, on average over the %llu rows with "
                     "mass</p>\n",
                     policy->entropy, policy->top_share, (count)policy->n_rows);
        else
            pen_put(p, "no row has mass</p>\n");
    }
    for (size_t i = 0; i < tally->n_labels; i++) {
        pen_html(p, "<h4><code>%s</code> (%s)</h4>\n", tally->labels[i].key,
                 role_name(tally->labels[i].role));
        put_histogram(p, tally->board, &tally->labels[i]);
    }
}

/* --- positions --- */

static void put_matrix(struct pen *p, const char *title, const uint64_t *matrix, size_t n)
{
    pen_html(p, "<h4>%s</h4>\n<table>\n", title);
    for (size_t i = 0; i <= n; i++) { /* the first line is of titles */
        pen_html(p, i == 0 ? "<tr><th></th>" : "<tr><th>%zu</th>", i);
        for (size_t j = 0; j < n; j++)
            pen_html(p, i == 0 ? "<th>%llu</th>" : "<td class=\"n\">%llu</td>",
                     i == 0 ? (count)j + 1 : (count)matrix[(i - 1) * n + j]);
        pen_put(p, "</tr>\n");
    }
    pen_put(p, "</table>\n");
}

/* --- provenance --- */

static void put_pair(struct pen *p, const char *name, const char *value)
{
    pen_html(p, "<tr><td>%s</td><td>%s</td></tr>\n", name, value != NULL ? value : "");
}

static void put_provenance(struct pen *p, const struct report_set *set)
{
    static const char *const parts[] = {"options", "conventions", "counts"};
    struct error why = {0};
    json_t *own = text_ends_with(set->path, ".json") ? manifest_read(set->path, &why) : NULL,
           *value;
    const json_t *m = own != NULL ? own : set->shard.recall.manifest;
    const json_t *tool = json_object_get(m, "tool"), *list = json_object_get(m, "warnings");
    const char *key;

    pen_put(p, "<h3>Provenance</h3>\n%s",
            m != NULL ? "<table>\n" : "<p>No manifest tells how it was made.</p>\n");
    if (m == NULL)
        return;
    put_pair(p, "made by", manifest_text(tool, "name"));
    put_pair(p, "version", manifest_text(tool, "version"));
    put_pair(p, "board", manifest_text(json_object_get(m, "board"), "name"));
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        json_object_foreach(json_object_get(m, parts[i]), key, value)
        {
            if (json_is_integer(value))
                put_pair(p, key, text_format("%llu", (count)json_integer_value(value)).text);
            else
                put_pair(p, key,
                         json_string_value(json_is_object(value) ? json_object_get(value, "meaning")
                                                                 : value));
        }
    for (size_t i = 0; i < json_array_size(list); i++)
        put_pair(p, "warning", json_string_value(json_array_get(list, i)));
    pen_put(p, "</table>\n<table>\n<tr><th>input</th><th>rows</th><th>SHA-256</th></tr>\n");
    list = json_object_get(m, "inputs");
    for (size_t i = 0; i < json_array_size(list); i++) {
        value = json_array_get(list, i);
        pen_html(p, "<tr><td>%s</td><td class=\"n\">%llu</td><td class=\"hash\">%s</td></tr>\n",
                 manifest_text(value, "name"), (count)manifest_number(value, "rows"),
                 manifest_text(value, "sha256"));
    }
    pen_put(p, "</table>\n");
    json_decref(own);
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
    ".n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}\n"
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

void page_begin(struct pen *p, const struct report_request *request)
{
    pen_put(p,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
            "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
            "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
            "style-src 'unsafe-inline'; img-src data:\">\n"
            "<link rel=\"icon\" href=\"data:,\">\n<title>symaug report</title>\n<style>\n%s"
            "</style>\n</head>\n<body>\n<h1>symaug report</h1>\n<p class=\"note\">%zu set%s</p>\n",
            style, request->n, request->n == 1 ? "" : "s");
}

void page_put_set(struct pen *p, const struct report_set *set)
{
    const char *verdict = report_verdict_name(set->verdict);
    const struct set_positions *n = &set->positions;
    const uint64_t n_repeated = n->n_rows - n->n_classes;

    pen_html(p,
             "<section class=\"%s\" data-set=\"%s\" data-verdict=\"%s\">\n<h2>%s</h2>\n"
             "<p class=\"verdict\">%s</p>\n<pre>%s</pre>\n",
             verdict, set->path, verdict, set->path, set->sentence.text, set->command.text);
    if (set->is_open)
        put_arrays(p, set);
    put_findings(p, set);
    put_labels(p, &set->tally);
    page_put_maps(p, set);
    if (n->is_known)
        pen_html(
            p,
            "<h3>Positions up to symmetry</h3>\n<p>%llu rows are %llu positions: %llu row%s "
            "one. The most frequent one has %llu rows; %llu position%s different values.</p>\n",
            (count)n->n_rows, (count)n->n_classes, (count)n_repeated,
            n_repeated == 1 ? " repeats" : "s repeat", (count)n->largest, (count)n->n_conflicts,
            n->n_conflicts == 1 ? " has" : "s have");
    put_provenance(p, set);
    pen_put(p, "</section>\n");
}

void page_end(struct pen *p, const struct report_set *sets, const struct report_overlap *overlap)
{
    const struct report_request *request = sets->request;
    const bool compares = overlap->why.kind == ERROR_NONE;

    /* Of several sets: how many rows of each occur in each other one. */
    if (request->n > 1)
        pen_put(p, "<section class=\"overlap\">\n<h2>Positions in common</h2>\n");
    if (request->n > 1 && !compares)
        pen_html(p, "<p>The sets do not compare: %s</p>\n</section>\n", overlap->why.message);
    if (request->n > 1 && compares) {
        pen_put(p, "<p>Rows of the set of a line whose position occurs in that of a column; on the "
                   "diagonal rows that repeat a position.</p>\n<ol>\n");
        for (size_t i = 0; i < request->n; i++)
            if (sets[i].verdict != REPORT_UNCHECKED)
                pen_html(p, "<li>%s</li>\n", sets[i].path);
        pen_put(p, "</ol>\n");
        put_matrix(p, "exactly", overlap->matrices, overlap->n);
        put_matrix(p, "up to symmetry", overlap->matrices + overlap->n * overlap->n, overlap->n);
        pen_put(p, "</section>\n");
    }
    pen_put(p, "</body>\n</html>\n");
}
