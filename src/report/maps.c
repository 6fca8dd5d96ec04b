/*
 * maps.c - the maps of a set on the board's own shape: where stones and policies lie on average,
 * the same averaged over all images, and how far the two are apart; and what that says about each
 * transform.
 */
#include "report/page.h"

#include "base/text.h"
#include "show/shape.h"

#include <math.h>
#include <stdio.h>

#define WIDTH      230.0 /* of a map, in pixels */
#define MOST_UNIT  30.0
#define LEAST_UNIT 6.0
#define FULL_Z     6.0 /* standard errors that have the full colour, or more where there are more */

/* "#fc8": from white to the colour. */
struct colour {
    char text[8];
};

static struct colour mix_colour(const double full[3], double part)
{
    struct colour colour;
    int rgb[3];

    part = part < 0 ? 0 : part > 1 ? 1 : part;
    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lround(15 + (full[i] - 15) * part);
    snprintf(colour.text, sizeof colour.text, "#%x%x%x", rgb[0] & 15, rgb[1] & 15, rgb[2] & 15);
    return colour;
}

static struct colour colour_of(double value, double most, bool is_signed)
{
    static const double orange[3] = {13, 5, 0}, red[3] = {12, 1, 2}, blue[3] = {1, 4, 11};

    if (!isfinite(value) || most <= 0)
        return mix_colour(orange, 0);
    if (is_signed)
        return mix_colour(value > 0 ? red : blue, fabs(value) / most);
    return mix_colour(orange, value / most);
}

/* One map of three. */
struct drawing {
    struct page *page;
    const struct shape *shape;
    const struct tally_map *map;
    double unit;
    double most; /* of mean and group */
};

static void put_map(const struct drawing *d, const char *kind, const char *caption,
                    const double *values)
{
    const struct board *board = d->shape->board;
    const bool is_signed = values == d->map->z;
    const double width = (d->shape->most.x - d->shape->least.x) * d->unit + 2;
    const double height = (d->shape->most.y - d->shape->least.y) * d->unit + 2;
    double most = is_signed ? FULL_Z : d->most;
    struct page *p = d->page;

    for (uint32_t cell = 0; is_signed && cell < board->n_cells; cell++)
        if (board->on_board[cell] && fabs(values[cell]) > most)
            most = fabs(values[cell]);
    page_put(p,
             "<figure><svg xmlns=\"http://www.w3.org/2000/svg\" role=\"img\" data-heat=\"%s\" "
             "data-array=\"",
             kind);
    page_put_name(p, d->map->key);
    if (d->map->plane != TALLY_NO_PLANE)
        page_put(p, "\" data-plane=\"%llu", (unsigned long long)d->map->plane);
    page_put(p, "\" width=\"%.0f\" height=\"%.0f\" stroke=\"#bbb\" stroke-width=\".5\">\n", width,
             height);
    for (uint32_t cell = 0; cell < board->n_cells; cell++) {
        const struct shape_point *at = &d->shape->centres[cell];
        char value[32] = "";

        if (!board->on_board[cell])
            continue;
        if (isfinite(values[cell]))
            snprintf(value, sizeof value, "%.9g", values[cell]);
        page_put(p,
                 "<use href=\"#c%zu\" x=\"%.4g\" y=\"%.4g\" fill=\"%s\" data-cell=\"%u\" "
                 "data-value=\"%s\"/>\n",
                 p->set->number, (at->x - d->shape->least.x) * d->unit + 1,
                 (at->y - d->shape->least.y) * d->unit + 1,
                 colour_of(values[cell], most, is_signed).text, cell, value);
    }
    page_put(p, "</svg><figcaption>%s, %s %.3g</figcaption></figure>\n", caption,
             is_signed ? "full colour" : "up to", most);
}

static void put_maps(struct page *p, const struct shape *shape)
{
    const struct tally *tally = &p->set->tally;
    struct shape_point corners[SHAPE_MAX_CORNERS];
    const size_t n_corners = shape_corners(shape, corners);
    struct drawing d = {.page = p, .shape = shape};

    d.unit = fmin(MOST_UNIT, fmax(LEAST_UNIT, WIDTH / (shape->most.x - shape->least.x)));
    page_put(p,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"0\" height=\"0\"><defs><path "
             "id=\"c%zu\" d=\"",
             p->set->number);
    for (size_t i = 0; i < n_corners; i++)
        page_put(p, "%c%.4g %.4g", i == 0 ? 'M' : 'L', corners[i].x * d.unit,
                 corners[i].y * d.unit);
    page_put(p, "z\"/></defs></svg>\n");
    for (size_t m = 0; m < tally->n_maps; m++) {
        d.map = &tally->maps[m];
        d.most = 0;
        for (uint32_t cell = 0; cell < tally->board->n_cells; cell++)
            if (tally->board->on_board[cell])
                d.most = fmax(d.most, fmax(d.map->mean[cell], d.map->group[cell]));
        page_put(p, "<h4><code>");
        page_put_name(p, d.map->key);
        if (d.map->plane != TALLY_NO_PLANE)
            page_put(p, "</code>, plane %llu</h4>\n<div>\n", (unsigned long long)d.map->plane);
        else
            page_put(p, "</code></h4>\n<div>\n");
        put_map(&d, "mean", "mean of the rows", d.map->mean);
        put_map(&d, "group", "mean over the group", d.map->group);
        put_map(&d, "z", "difference in standard errors", d.map->z);
        page_put(p, "</div>\n");
    }
}

/* --- evidence --- */

static void put_evidence(struct page *p)
{
    const struct tally *tally = &p->set->tally;
    const bool fits = report_fits(p->set);
    const char *gap = "";

    page_put(p, "<h3>Does the data believe the symmetry?</h3>\n<p>");
    if (fits)
        page_put(p, "As far as %llu rows can tell, symmetric.", (unsigned long long)tally->n_rows);
    else
        page_put(p, "<span class=\"misfit\">No: it is not the same under ");
    for (uint32_t t = 1; t < tally->board->n_transforms && !fits; t++) {
        if (tally->evidence[t].fits)
            continue;
        page_put(p, "%s", gap);
        page_put_name(p, tally->board->transforms[t].name);
        gap = ", ";
    }
    page_put(p,
             "%s</p>\n<table>\n<tr><th>transform</th><th>distance</th><th>limit</th><th></th>"
             "</tr>\n",
             fits ? "" : ".</span> Are these symmetries of the game, and is the board right?");
    for (uint32_t t = 1; t < tally->board->n_transforms; t++) {
        const struct tally_evidence *e = &tally->evidence[t];

        page_put(p, "<tr data-transform=\"%u\" data-fits=\"%s\"><td>%u ", t, e->fits ? "yes" : "no",
                 t);
        page_put_name(p, tally->board->transforms[t].name);
        page_put(p, "</td><td class=\"n\">%.3g</td><td class=\"n\">%.3g</td><td>%s</td></tr>\n",
                 e->distance, e->limit,
                 e->fits ? "fits" : "<span class=\"misfit\">does not fit</span>");
    }
    page_put(p,
             "</table>\n<p class=\"note\">The largest difference of any cell between the rows and "
             "their image, in sizes of such differences when each game, source or row is turned "
             "or not by the throw of a coin; one symmetric set in 200 exceeds the limit.</p>\n");
}

void page_put_maps(struct page *p)
{
    const struct tally *tally = &p->set->tally;
    struct shape shape;

    if (tally->n_maps == 0 || tally->evidence == NULL)
        return;
    put_evidence(p);
    if (!p->set->is_drawn)
        return;
    if (p->failed || shape_init(&shape, tally->board, p->err) != 0) {
        p->failed = true;
        return;
    }
    page_put(p, "<h3>On the board</h3>\n");
    put_maps(p, &shape);
    shape_release(&shape);
}
