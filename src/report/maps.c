/*
 * maps.c - what a report draws. The maps of a set on the board's own shape: where stones and
 * policies lie on average, the same averaged over all images, and how far the two are apart; and
 * what that says about each transform. And what `show` draws of the first row of a finding: of an
 * expanded set the images of its source that are stored, with red rings where they are not what is
 * computed, the source's own and the one in question; else the row itself.
 */
#include "report/set.h"

#include <math.h>

#define WIDTH      230.0 /* of a map, in pixels */
#define MOST_UNIT  30.0
#define LEAST_UNIT 6.0
#define FULL_Z     6.0 /* standard errors that have the full colour, or more where there are more */

/* Pictures are for looking at one finding each: beyond this a page has enough of them. */
#define MAX_PAGE_NBYTES (UINT64_C(2) << 20)

/* --- maps --- */

/* From white to orange; of signed numbers to red, or blue. */
static struct text_quoted colour_of(double value, double most, bool is_signed)
{
    static const int white[3] = {255, 255, 255}, orange[3] = {221, 85, 0}, red[3] = {204, 17, 34},
                     blue[3] = {17, 68, 187};
    const double part = isfinite(value) && most > 0
                            ? fmin(1, fmax(0, (is_signed ? fabs(value) : value) / most))
                            : 0;

    return svg_colour(white, !is_signed ? orange : value > 0 ? red : blue, part);
}

/* A map as it is, as the group has it, and by how much the two differ. */
static void put_map(struct pen *p, const struct report_set *set, const struct shape *shape,
                    const struct tally_map *map, double unit)
{
    static const char *const kinds[] = {"mean", "group", "z"};
    static const char *const captions[] = {"mean of the rows", "mean over the group",
                                           "difference in standard errors"};
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

            if (!board->on_board[cell])
                continue;
            pen_put(p,
                    "<use href=\"#c%zu\" x=\"%.4g\" y=\"%.4g\" fill=\"%s\" data-cell=\"%u\" "
                    "data-value=\"%s\"/>\n",
                    set->number, (at->x - least.x) * unit + 1, (at->y - least.y) * unit + 1,
                    colour_of(value, most[is_signed], is_signed).text, cell,
                    isfinite(value) ? text_format("%.9g", value).text : "");
        }
        pen_put(p, "</svg><figcaption>%s, %s %.3g</figcaption></figure>\n", captions[k],
                is_signed ? "full colour" : "up to", most[is_signed]);
    }
}

/* --- evidence --- */

static void put_evidence(struct pen *p, const struct report_set *set)
{
    const struct board *board = set->tally.board;
    const bool fits = !set->tally.misfits;
    const char *gap = "";

    pen_put(p, "<h3>Does the data believe the symmetry?</h3>\n<p>");
    if (fits)
        pen_put(p, "As far as %llu rows can tell, symmetric.",
                (unsigned long long)set->tally.n_rows);
    else
        pen_put(p, "<span class=\"misfit\">No: it is not the same under ");
    for (uint32_t t = 1; t < board->n_transforms; t++) {
        if (set->tally.evidence[t].fits)
            continue;
        pen_html(p, "%s%s", gap, board->transforms[t].name);
        gap = ", ";
    }
    pen_put(p,
            "%s</p>\n<table>\n<tr><th>transform</th><th>distance</th><th>limit</th><th></th>"
            "</tr>\n",
            fits ? "" : ".</span> Are these symmetries of the game, and is the board right?");
    for (uint32_t t = 1; t < board->n_transforms; t++) {
        const struct tally_evidence *e = &set->tally.evidence[t];

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
            "their image, in sizes of such differences when each game, source or row is turned "
            "or not by the throw of a coin; one symmetric set in 200 exceeds the limit.</p>\n");
}

void page_put_maps(struct pen *p, const struct report_set *set)
{
    const struct tally *tally = &set->tally;
    struct shape_point corners[SHAPE_MAX_CORNERS];
    struct shape shape;

    if (tally->n_maps == 0 || tally->evidence == NULL)
        return;
    put_evidence(p, set);
    if (!set->is_drawn)
        return;
    if (shape_init(&shape, tally->board, p->err) != 0) {
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

/* --- pictures --- */

int report_sheet_build(struct report_sheet *s, const struct sheet_request *request, bool is_pair,
                       struct error *err)
{
    const struct verify_request seeking = {.settings = request->settings, .exact_manifest = true};
    struct verify_located *found = &s->located;
    struct sheet_request own = *request;
    char list[32] = "0";
    size_t other = 0;

    if (verify_locate(&seeking, request->path, request->row, found, err) != 0)
        return -1;
    struct settings settings = found->recall.settings; /* borrowed */
    settings.allow_expanded = true;
    for (size_t k = 1; k < found->n; k++)
        if (other == 0 || found->images[k].row == request->row)
            other = k;
    if (found->n > 0)
        snprintf(list, sizeof list, other > 0 ? "%u,%u" : "%u", found->images[0].transform,
                 found->images[other].transform);
    if (is_pair)
        settings.transforms = list;
    own.settings = &settings;
    own.stored = found->images;
    own.n_stored = found->n;
    const int status = sheet_build(&s->sheet, &own, err);
    if (status == 0 && found->board != NULL)
        return 0;
    if (status == 0) /* a board that is found now, but was not when images were looked for */
        sheet_release(&s->sheet);
    verify_located_release(found);
    return error_no_memory(err, "board");
}

void report_sheet_release(struct report_sheet *s)
{
    sheet_release(&s->sheet);
    verify_located_release(&s->located);
}

void page_put_picture(struct pen *p, const struct report_set *set,
                      const struct verify_result *result, const struct finding *finding)
{
    const struct sheet_request request = {
        .path = result->path,
        .row = finding->row != FINDING_NO_ROW ? finding->row : 0,
        .settings = set->request->settings,
    };
    struct svg_place place = {.name = finding_code_name(finding->code)};
    struct error why = {0};
    struct report_sheet s;
    char prefix[64];

    if (p->out->n_bytes > MAX_PAGE_NBYTES || result->fatal != ERROR_NONE ||
        (finding->row == FINDING_NO_ROW && !result->is_expanded))
        return;
    snprintf(prefix, sizeof prefix, "p%zu-%s-", set->number, place.name);
    place.prefix = prefix;
    if (report_sheet_build(&s, &request, true, &why) == 0) {
        pen_put(p, "<figure>");
        p->failed = p->failed || svg_write(&s.sheet, &place, p->out, p->err) != 0;
        pen_put(p, "</figure>\n");
        report_sheet_release(&s);
    } else if (why.kind == ERROR_INTERNAL) { /* else a row that cannot be drawn has its words */
        p->failed = error_pass(p->err, &why) != 0;
    }
}
