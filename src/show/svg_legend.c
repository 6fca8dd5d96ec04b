/* svg_legend.c - see svg_parts.h: what the signs mean. */
#include "show/svg_parts.h"

#include "show/labels.h"

#include <stdio.h>
#include <string.h>

#define LINE_HEIGHT     24.0
#define LETTER_WIDTH    7.0
#define GAP             22.0
#define SCALE_STEPS     8
#define SCALE_STEP_SIZE 12.0

struct legend {
    struct canvas *canvas;
    double left, right; /* of the lines */
    double x, y;        /* where the next entry goes */
};

/* Go to the next line when an entry does not fit. Returns where its sign goes. */
static double begin(struct legend *legend, double sign_width, const char *text)
{
    const double width = sign_width + LETTER_WIDTH * (double)strlen(text);
    double x;

    if (legend->x > legend->left && legend->x + width > legend->right) {
        legend->x = legend->left;
        legend->y += LINE_HEIGHT;
    }
    x = legend->x;
    legend->x += width + GAP;
    return x;
}

static void put_side(struct legend *legend, enum picture_side side)
{
    struct canvas *c = legend->canvas;
    const char *name = labels_side_name(&c->sheet->plan, side);
    const double x = begin(legend, 20, name);

    svg_put(c, "<circle cx=\"%s\" cy=\"%s\" r=\"7\" fill=\"%s\" stroke=\"%s\"/>\n",
            svg_px(x + 7).text, svg_px(legend->y).text, svg_ink_of(c, side).fill,
            svg_ink_of(c, side).stroke);
    svg_put_label(c, "l", x + 20, legend->y + 4, name);
}

static void put_scale(struct legend *legend)
{
    struct canvas *c = legend->canvas;
    const double width = SCALE_STEPS * SCALE_STEP_SIZE;
    char text[64];

    snprintf(text, sizeof text, "policy, 0 to %s", picture_share_text(c->sheet->most_share).text);
    const double x = begin(legend, width + 6, text);

    for (int i = 0; i < SCALE_STEPS; i++)
        svg_put(c, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"14\" fill=\"%s\"/>\n",
                svg_px(x + i * SCALE_STEP_SIZE).text, svg_px(legend->y - 7).text,
                svg_px(SCALE_STEP_SIZE).text, svg_heat((i + 0.5) / SCALE_STEPS).text);
    svg_put_label(c, "l", x + width + 6, legend->y + 4, text);
}

static void put_mark(struct legend *legend)
{
    static const struct shape_turn upright = {1, 0, 0, 1};
    static const char text[] = "where the source's first corner is, and how it is turned";
    const double unit = legend->canvas->unit, x = begin(legend, 18, text);

    legend->canvas->unit = 18;
    svg_put_f(legend->canvas, x + 6, legend->y, &upright, true);
    legend->canvas->unit = unit;
    svg_put_label(legend->canvas, "l", x + 18, legend->y + 4, text);
}

static void put_sign(struct legend *legend, bool is_ring, const char *text)
{
    const double x = begin(legend, 20, text);

    svg_put(legend->canvas, "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" ", svg_px(x + 7).text,
            svg_px(legend->y).text, is_ring ? "6" : "4");
    svg_put(legend->canvas, "%s/>\n",
            is_ring ? "fill=\"none\" stroke=\"#e00000\" stroke-width=\"2\"" : "fill=\"#2da44e\"");
    svg_put_label(legend->canvas, "l", x + 20, legend->y + 4, text);
}

static void put_words(struct legend *legend, const char *text)
{
    const double x = begin(legend, 0, text);

    svg_put_label(legend->canvas, "l", x, legend->y + 4, text);
}

/* What is to be seen in any of the pictures. */
struct seen {
    bool sides[2], policy, marks;
};

static struct seen look(const struct sheet *sheet)
{
    struct seen seen = {0};

    for (size_t k = 0; k < sheet->n_pictures; k++) {
        seen.policy |= sheet->pictures[k].has_policy && sheet->most_share > 0;
        for (uint32_t i = 0; i < sheet->plan.board->n_cells; i++) {
            const struct picture_cell *cell = &sheet->pictures[k].cells[i];

            seen.marks |= cell->is_marked;
            if (cell->side < 2)
                seen.sides[cell->side] = true;
        }
    }
    return seen;
}

double svg_put_legend(struct canvas *c, double x, double y, double width)
{
    struct legend legend = {c, x, x + width, x, y + LINE_HEIGHT / 2};
    const struct seen seen = look(c->sheet);
    const char *pieces = labels_pieces(&c->sheet->plan);

    for (enum picture_side side = SIDE_FIRST; side <= SIDE_SECOND; side++)
        if (seen.sides[side])
            put_side(&legend, side);
    if (pieces != NULL)
        put_words(&legend, pieces);
    if (seen.policy)
        put_scale(&legend);
    if (seen.marks)
        put_sign(&legend, false, "a move or coordinate");
    put_mark(&legend);
    if (c->sheet->is_stored)
        put_sign(&legend, true, "stored and computed differ");
    return legend.y + LINE_HEIGHT / 2 - y;
}
