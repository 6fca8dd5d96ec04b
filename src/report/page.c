/*
 * page.c - a set as a section of an HTML page: verdict, arrays, findings, labels, maps, provenance.
 * The page is self-contained: no scripts, nothing to load, light or dark as the reader's system is.
 * All text that comes from a file is escaped.
 *
 * Maps are drawn on the board's own shape: where stones and policies lie on average, the same
 * averaged over all images, and the difference. The first row of a finding is drawn as `show` does:
 * in an expanded set, the stored image of its source and the one in question, with red rings where
 * they are not what is computed; else the row itself.
 */
#include "report/set.h"

typedef unsigned long long count; /* as printf takes it */

#define WIDTH      230.0 /* of a map, in pixels */
#define MOST_UNIT  30.0
#define LEAST_UNIT 6.0
#define FULL_Z     6.0 /* standard errors drawn in full colour, unless some cell has more */

/* No further pictures of findings are drawn on a page of this size. */
#define MAX_PAGE_NBYTES (UINT64_C(2) << 20)

/* Three drawings of a map: its mean, the mean over the group, and the difference. */
static void put_map(struct pen *p, const struct report_set *set, const struct shape *shape,
                    const struct tally_map *map, double unit)
{
    static const char *const kinds[] = {"mean", "group", "z"};
    static const char *const captions[] = {"mean of the rows", "mean over the group",
                                           "difference in standard errors"};
    /* From white to orange; signed numbers to red or blue. */
    static const int white[3] = {255, 255, 255}, orange[3] = {221, 85, 0}, red[3] = {204, 17, 34},
                     blue[3] = {17, 68, 187};
    const double *const numbers[] = {map->mean, map->group, map->z};
    const struct board *board = shape->board;
    const struct shape_point least = shape->least, size = shape->most;
    double most[2] = {0, FULL_Z}; /* of mean and group, of z */

    for (uint32_t cell = 0; cell < board->n_cells; cell++)
        if (board->on_board[cell]) {
            most[0] = fmax(most[0], fmax(map->mean[cell], map->group[cell]));
            most[1] = fmax(most[1], fabs(map->z[cell]));
        }
    for (int k = 0; k < 3; k++) {
        const bool is_signed = k == 2;
        const double full = most[is_signed];

        pen_html(p,
                 "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" data-heat=\"%s\" "
                 "data-array=\"%s\"",
                 kinds[k], map->key);
        if (map->plane != TALLY_NO_PLANE)
            pen_html(p, " data-plane=\"%llu\"", (unsigned long long)map->plane);
        pen_html(p, " width=\"%.0f\" height=\"%.0f\" stroke=\"#bbb\" stroke-width=\".5\">\n",
                 (size.x - least.x) * unit + 2, (size.y - least.y) * unit + 2);
        for (uint32_t cell = 0; cell < board->n_cells; cell++) {
            const struct shape_point *at = &shape->centres[cell];
            const double value = numbers[k][cell];
            const double size_of = is_signed ? fabs(value) : value;
            const double part = isfinite(value) && full > 0 ? fmin(1, fmax(0, size_of / full)) : 0;

            if (!board->on_board[cell])
                continue;
            pen_put(p,
                    "<use href=\"#c%zu\" x=\"%.4g\" y=\"%.4g\" fill=\"%s\" data-cell=\"%u\" "
                    "data-value=\"%s\"/>\n",
                    set->number, (at->x - least.x) * unit + 1, (at->y - least.y) * unit + 1,
                    svg_colour(white,
                               !is_signed  ? orange
                               : value > 0 ? red
                                           : blue,
                               part)
                        .text,
                    cell, isfinite(value) ? text_format("%.9g", value).text : "");
        }
        pen_put(p, "</svg><figcaption>%s, %s %.3g</figcaption></figure>\n", captions[k],
                is_signed ? "full colour" : "up to", full);
    }
}

/* What the evidence says about each transform, and the maps. */
static void put_maps(struct pen *p, const struct report_set *set)
{
    const struct tally *tally = &set->tally;
    const struct board *board = tally->board;
    struct shape_point corners[SHAPE_MAX_CORNERS];
    struct shape shape;
    const char *gap = "";

    if (tally->n_maps == 0 || tally->evidence == NULL)
        return;
    pen_put(p, "<h3>Does the data believe the symmetry?</h3>\n<p>");
    if (tally->misfits)
        pen_put(p, "<span class=\"misfit\">No: it is not the same under ");
    else
        pen_put(p, "As far as %llu rows can tell, symmetric.", (unsigned long long)tally->n_rows);
    for (uint32_t t = 1; t < board->n_transforms; t++) {
        if (tally->evidence[t].fits)
            continue;
        pen_html(p, "%s%s", gap, board->transforms[t].name);
        gap = ", ";
    }
    pen_put(p,
            "%s</p>\n<table>\n<tr><th>transform</th><th>distance</th><th>limit</th><th></th>"
            "</tr>\n",
            tally->misfits ? ".</span> Are these symmetries of the game, and is the board right?"
                           : "");
    for (uint32_t t = 1; t < board->n_transforms; t++) {
        const struct tally_evidence *e = &tally->evidence[t];

        pen_html(
            p,
            "<tr data-transform=\"%u\" data-fits=\"%s\"><td>%u %s</td><td class=\"n\">%.3g</td>"
            "<td class=\"n\">%.3g</td><td>",
            t, e->fits ? "yes" : "no", t, board->transforms[t].name, e->distance, e->limit);
        pen_put(p, "%s</td></tr>\n",
                e->fits ? "fits" : "<span class=\"misfit\">does not fit</span>");
    }
    pen_put(p,
            "</table>\n<p class=\"note\">The largest difference of any cell between the rows and "
            "their image, relative to its size when each game, source or row is turned or not by "
            "the toss of a coin; one symmetric set in 200 exceeds the limit.</p>\n");
    if (!set->is_drawn)
        return;
    if (shape_init(&shape, board, p->err) != 0) {
        p->failed = true;
        return;
    }

    const double unit = fmin(MOST_UNIT, fmax(LEAST_UNIT, WIDTH / (shape.most.x - shape.least.x)));
    const size_t n_corners = shape_corners(&shape, corners);

    pen_put(p,
            "<h3>On the board</h3>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" "
            "height=\"0\" style=\"position:absolute\"><defs><path id=\"c%zu\" d=\"",
            set->number);
    for (size_t i = 0; i < n_corners; i++)
        pen_put(p, "%c%.4g %.4g", i == 0 ? 'M' : 'L', corners[i].x * unit, corners[i].y * unit);
    pen_put(p, "z\"/></defs></svg>\n");
    for (const struct tally_map *map = tally->maps; map < tally->maps + tally->n_maps; map++) {
        pen_html(p, "<h4><code>%s</code>", map->key);
        if (map->plane != TALLY_NO_PLANE)
            pen_put(p, ", plane %llu", (unsigned long long)map->plane);
        pen_put(p, "</h4>\n<div>\n");
        put_map(p, set, &shape, map, unit);
        pen_put(p, "</div>\n");
    }
    shape_release(&shape);
}

int report_sheet_build(struct sheet *sheet, const struct sheet_request *request, bool is_pair,
                       struct error *err)
{
    const struct verify_request seeking = {.settings = request->settings, .exact_manifest = true};
    struct verify_located found;
    struct sheet_request own = *request;
    char list[32] = "0";
    size_t other = 0;

    if (verify_locate(&seeking, request->path, request->row, &found, err) != 0)
        return -1;
    struct settings settings = found.recall.settings; /* borrowed */
    settings.allow_expanded = true;
    for (size_t k = 1; k < found.n; k++)
        if (other == 0 || found.images[k].row == request->row)
            other = k;
    if (found.n > 0)
        snprintf(list, sizeof list, other > 0 ? "%u,%u" : "%u", found.images[0].transform,
                 found.images[other].transform);
    if (is_pair)
        settings.transforms = list;
    own.settings = &settings;
    own.stored = found.images;
    own.n_stored = found.n;
    int status = sheet_build(sheet, &own, err);
    if (status == 0 && found.board == NULL) { /* for lack of memory, when images were looked for */
        sheet_release(sheet);
        status = error_no_memory(err, "board");
    }
    verify_located_release(&found);
    return status;
}

/* Draw the first finding of a code, if it can be drawn. */
static void put_picture(struct pen *p, const struct report_set *set,
                        const struct verify_result *result, const struct finding *finding)
{
    const struct sheet_request request = {
        .path = result->path,
        .row = finding->row != FINDING_NO_ROW ? finding->row : 0,
        .settings = set->request->settings,
    };
    struct svg_place place = {.name = finding_code_name(finding->code)};
    struct error why = {0};
    struct sheet sheet;
    char prefix[64];

    if (p->out->n_bytes > MAX_PAGE_NBYTES || result->fatal != ERROR_NONE ||
        (finding->row == FINDING_NO_ROW && !result->is_expanded))
        return;
    snprintf(prefix, sizeof prefix, "p%zu-%s-", set->number, place.name);
    place.prefix = prefix;
    if (report_sheet_build(&sheet, &request, true, &why) == 0) {
        pen_put(p, "<figure>");
        p->failed = p->failed || svg_write(&sheet, &place, p->out, p->err) != 0;
        pen_put(p, "</figure>\n");
        sheet_release(&sheet);
    } else if (why.kind == ERROR_INTERNAL) { /* otherwise the words must do */
        p->failed = error_pass(p->err, &why) != 0;
    }
}

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
            put_picture(p, set, where, first);
        pen_put(p, "</div>\n");
    }
    if (!any)
        pen_put(p, "<p>None.</p>\n");
    for (size_t i = 0; i < set->results.n; i++)
        if (set->results.items[i].note.text != NULL) {
            pen_html(p, "<p class=\"note\">%s</p>\n", set->results.items[i].note.text);
            break; /* it is the same for all files of a set */
        }
}

/* A line for each policy; for each label a table with a row per value and, in expanded sets, a
 * column per transform. */
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
    for (const struct tally_label *label = tally->labels; label < tally->labels + tally->n_labels;
         label++) {
        const struct tally_histogram *all = &label->all;
        const uint32_t n = all->is_binned ? TALLY_N_BINS : all->n;
        const uint32_t n_transforms = label->by_transform != NULL ? tally->board->n_transforms : 0;
        uint64_t most = 1;

        for (uint32_t i = 0; i < n; i++)
            most = all->counts[i] > most ? all->counts[i] : most;
        pen_html(p,
                 "<h4><code>%s</code> (%s)</h4>\n<table>\n<tr><th>value</th><th>rows</th><th></th>",
                 label->key, role_name(label->role));
        for (uint32_t t = 0; t < n_transforms; t++)
            pen_html(p, "<th>%s</th>", tally->board->transforms[t].name);
        pen_put(p, "</tr>\n");
        for (uint32_t i = 0; i < n; i++) {
            if (all->is_binned)
                pen_put(p, "<tr><td>%.4g to %.4g</td>", tally_bin(all, i), tally_bin(all, i + 1));
            else
                pen_put(p, "<tr><td>%.6g</td>", all->values[i]);
            pen_html(p,
                     "<td class=\"n\">%llu</td><td><span class=\"bar\" style=\"width:%.1fem\">"
                     "</span></td>",
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
}

/* A row of two cells; a NULL value leaves the second empty. */
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
            m != NULL ? "<table>\n" : "<p>No manifest says how it was made.</p>\n");
    if (m == NULL)
        return;
    put_pair(p, "made by", manifest_text(tool, "name"));
    put_pair(p, "version", manifest_text(tool, "version"));
    put_pair(p, "board", manifest_text(json_object_get(m, "board"), "name"));
    for (size_t i = 0; i < N_OF(parts); i++)
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
    const struct shard *shard = &set->shard;
    const struct set_positions *n = &set->positions;
    const uint64_t n_repeated = n->n_rows - n->n_classes;

    pen_html(p,
             "<section class=\"%s\" data-set=\"%s\" data-verdict=\"%s\">\n<h2>%s</h2>\n"
             "<p class=\"verdict\">%s</p>\n<pre>%s</pre>\n",
             verdict, set->path, verdict, set->path, set->sentence.text, set->command.text);
    if (set->is_open)
        pen_put(p, "<h3>Arrays</h3>\n<table>\n<tr><th>name</th><th>dtype</th><th>shape</th>"
                   "<th>role</th><th>bytes</th><th>packed</th></tr>\n");
    for (size_t i = 0; set->is_open && i < shard->archive.n_arrays; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const bool has_role = shard->bindings != NULL && !shard_is_undecided(shard, i);
        const char *role = has_role ? role_name(shard->bindings[i].role) : "?";
        struct text_quoted spec = {"?"};
        uint64_t shape[NPY_MAX_DIMS];
        struct text flag = {0};

        for (unsigned d = 0; d < array->header.n_dims; d++)
            shape[d] = report_dimension(set, array, d);
        if (has_role)
            spec = role_binding_spec(&shard->bindings[i]);
        p->failed |= shard_flag(shard, i, &flag, p->err) != 0;
        pen_html(p,
                 "<tr data-array=\"%s\" data-role=\"%s\"><td>%s</td><td>%s</td><td>%s</td><td>%s",
                 array->key, role, array->key, dtype_name(&array->header.dtype).text,
                 text_shape(shape, array->header.n_dims).text, spec.text);
        if (flag.n_bytes > 0)
            pen_html(p, " <code>%s</code>", flag.text);
        pen_html(p, "</td><td class=\"n\">%s</td><td class=\"n\">%s</td></tr>\n",
                 text_size(set->nbytes[2 * i]).text, text_size(set->nbytes[2 * i + 1]).text);
        text_release(&flag);
    }
    if (set->is_open)
        pen_put(p, "</table>\n");
    if (set->is_open && shard->command.n_bytes > 0)
        pen_html(p, "<p>This settles what is undecided:</p>\n<pre>%s</pre>\n", shard->command.text);
    put_findings(p, set);
    put_labels(p, &set->tally);
    put_maps(p, set);
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
    static const char *const titles[] = {"exactly", "up to symmetry"};
    const size_t n_sets = sets->request->n, n = overlap->n;
    const bool compares = n_sets > 1 && overlap->why.kind == ERROR_NONE;

    /* With several sets: how many rows of each occur in each other. */
    if (n_sets > 1)
        pen_put(p, "<section class=\"overlap\">\n<h2>Positions in common</h2>\n");
    if (n_sets > 1 && !compares)
        pen_html(p, "<p>The sets cannot be compared: %s</p>\n", overlap->why.message);
    if (compares)
        pen_put(p,
                "<p>Rows of the set of each line whose position occurs in the set of each column; "
                "on the diagonal, rows that repeat a position.</p>\n<ol>\n");
    for (size_t i = 0; i < n_sets && compares; i++)
        if (sets[i].verdict != REPORT_UNCHECKED)
            pen_html(p, "<li>%s</li>\n", sets[i].path);
    for (size_t k = 0; k < 2 && compares; k++) {
        pen_put(p, "%s<h4>%s</h4>\n<table>\n", k == 0 ? "</ol>\n" : "", titles[k]);
        for (size_t i = 0; i <= n; i++) { /* line 0 holds the titles */
            pen_html(p, i == 0 ? "<tr><th></th>" : "<tr><th>%zu</th>", i);
            for (size_t j = 0; j < n; j++)
                pen_html(p, i == 0 ? "<th>%llu</th>" : "<td class=\"n\">%llu</td>",
                         i == 0 ? (count)j + 1 : (count)overlap->matrices[(k * n + i - 1) * n + j]);
            pen_put(p, "</tr>\n");
        }
        pen_put(p, "</table>\n");
    }
    pen_put(p, "%s</body>\n</html>\n", n_sets > 1 ? "</section>\n" : "");
}
