/* svg_cell.c - see svg_parts.h: what stands on the cells of one picture. */
#include "show/svg_parts.h"

#include <math.h>
#include <stdio.h>

#define MARKER_RADIUS 0.2
#define STONE_RADIUS  0.4
#define LEAST_SHARE   0.002 /* of the largest one: below, a cell looks as it does without any */

void svg_put_style(struct canvas *c)
{
    const double small = fmax(8, 0.34 * c->unit), smaller = fmax(8, 0.26 * c->unit);

    svg_put(c, "<style>\n"
               "text{font-family:'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif;fill:#24292f}\n"
               ".t{font-size:20px;font-weight:bold}\n"
               ".s,.l{font-size:12px;fill:#57606a}\n"
               ".h{font-size:13px;font-weight:bold}\n"
               ".c{font-size:11px;fill:#57606a}\n"
               ".x{font-size:11px;font-weight:bold;fill:#d00000}\n");
    svg_put(c, ".p,.q,.d,.n{text-anchor:middle;font-size:%spx}\n", svg_px(small).text);
    svg_put(c,
            ".q,.d{font-weight:bold;stroke:#fff;stroke-width:2.4px;paint-order:stroke;"
            "stroke-linejoin:round}\n"
            ".q{font-size:%spx}\n"
            ".n{font-weight:bold;font-size:%spx}\n"
            "</style>\n",
            svg_px(smaller).text, svg_px(0.46 * c->unit).text);
}

/* --- definitions --- */

static void put_outline(struct canvas *c, double x, double y)
{
    struct shape_point corners[SHAPE_MAX_CORNERS];
    const size_t n = shape_corners(&c->sheet->shape, corners);

    for (size_t i = 0; i < n; i++)
        svg_put(c, "%c%s %s", i == 0 ? 'M' : 'L', svg_px(x + corners[i].x * c->unit).text,
                svg_px(y + corners[i].y * c->unit).text);
    svg_put(c, "z");
}

static void put_stone(struct canvas *c, const char *id, enum picture_side side)
{
    const struct svg_ink ink = svg_ink_of(c, side);

    svg_put(c, "<circle id=\"%s\" r=\"%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n", id,
            svg_px(STONE_RADIUS * c->unit).text, ink.fill, ink.stroke, svg_px(0.05 * c->unit).text);
}

void svg_put_definitions(struct canvas *c)
{
    const struct board *board = c->sheet->plan.board;

    svg_put(c, "<defs>\n<path id=\"c\" d=\"");
    put_outline(c, 0, 0);
    svg_put(c, "\"/>\n<path id=\"b\" stroke=\"#b9b4a6\" stroke-width=\"1\" fill=\"#f3efe4\" d=\"");
    for (uint32_t i = 0; i < board->n_cells; i++)
        if (board->on_board[i])
            put_outline(c, c->sheet->shape.centres[i].x * c->unit,
                        c->sheet->shape.centres[i].y * c->unit);
    svg_put(c, "\"/>\n");
    put_stone(c, "s0", SIDE_FIRST);
    put_stone(c, "s1", SIDE_SECOND);
    put_stone(c, "s2", SIDE_BOTH);
    svg_put(c,
            "<g id=\"r\" fill=\"none\"><circle r=\"%s\" stroke=\"#fff\" stroke-width=\"%s\"/>"
            "<circle r=\"%s\" stroke=\"#e00000\" stroke-width=\"%s\"/></g>\n",
            svg_px(0.44 * c->unit).text, svg_px(0.2 * c->unit).text, svg_px(0.44 * c->unit).text,
            svg_px(0.11 * c->unit).text);
    svg_put(c, "</defs>\n");
}

/* --- tiles --- */

/* The three lines of a tile run along a row of cells, and along the two other directions; each has
 * its number at one end. */
static void put_tile(struct canvas *c, double x, double y, int32_t code)
{
    static const char *const colours[10] = {"#ccc",    "#8d99ae", "#e7a1c5", "#b565a7", "#4d7ec8",
                                            "#3fb8c5", "#d9534f", "#5aa55a", "#ef8e3b", "#e0b81f"};
    static const struct shape_point ends[3] = {{0.5, 0}, {0.25, -0.433}, {0.25, 0.433}};
    static const struct shape_point numbers[3] = {{-0.29, 0}, {0.165, -0.286}, {0.165, 0.286}};
    const double unit = c->unit;
    const char digits[3] = {(char)('0' + code / 100 % 10), (char)('0' + code / 10 % 10),
                            (char)('0' + code % 10)};

    svg_put(c, "<use href=\"#c\" x=\"%s\" y=\"%s\" fill=\"#fffefa\" stroke=\"#8a8576\"/>",
            svg_px(x).text, svg_px(y).text);
    for (int i = 0; i < 3; i++)
        svg_put(c, "<path stroke=\"%s\" stroke-width=\"%s\" d=\"M%s %sL%s %s\"/>",
                colours[digits[i] - '0'], svg_px(0.15 * unit).text,
                svg_px(x - ends[i].x * unit).text, svg_px(y - ends[i].y * unit).text,
                svg_px(x + ends[i].x * unit).text, svg_px(y + ends[i].y * unit).text);
    svg_put(c, "\n");
    for (int i = 0; i < 3; i++) {
        const char digit[2] = {digits[i], '\0'};

        svg_put_label(c, "d", x + numbers[i].x * unit, y + (numbers[i].y + 0.13) * unit, digit);
    }
}

/* --- cells --- */

static void put_number(struct canvas *c, const struct picture_cell *cell, double x, double y,
                       const char *text)
{
    svg_put(c, "<text class=\"n\" x=\"%s\" y=\"%s\" style=\"fill:%s\">%s</text>\n", svg_px(x).text,
            svg_px(y + 0.165 * c->unit).text,
            cell->piece == PICTURE_NUMBER ? "#24292f" : svg_ink_of(c, cell->side).text, text);
}

static void put_marker(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    const struct svg_ink ink = svg_ink_of(c, cell->side);

    if (cell->piece == PICTURE_MARKER)
        svg_put(c, "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" fill=\"%s\" stroke=\"%s\"/>\n",
                svg_px(x).text, svg_px(y).text, svg_px(MARKER_RADIUS * c->unit).text, ink.fill,
                ink.stroke);
    else
        svg_put(c,
                "<use href=\"#c\" x=\"%s\" y=\"%s\" fill=\"%s\" fill-opacity=\".75\" "
                "stroke=\"%s\"/>\n",
                svg_px(x).text, svg_px(y).text, ink.fill, ink.stroke);
}

static void put_piece(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    char text[16] = "";

    if (cell->piece == PICTURE_EMPTY)
        return;
    if (cell->piece == PICTURE_TILE) {
        put_tile(c, x, y, cell->number);
        return;
    }
    if (cell->piece == PICTURE_MARKER || cell->piece == PICTURE_TERRITORY) {
        put_marker(c, cell, x, y);
        return;
    }
    if (cell->piece == PICTURE_STONE || cell->piece == PICTURE_MAN)
        svg_put(c, "<use href=\"#s%d\" x=\"%s\" y=\"%s\"/>\n", (int)cell->side, svg_px(x).text,
                svg_px(y).text);
    if (cell->piece == PICTURE_MAN)
        snprintf(text, sizeof text, "%c", cell->man);
    else if (cell->number != 0)
        snprintf(text, sizeof text, "%d", (int)cell->number);
    if (*text != '\0')
        put_number(c, cell, x, y, text);
}

static void put_share(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    const bool is_free = cell->piece == PICTURE_EMPTY && !cell->is_marked;
    char text[16];

    if (!cell->is_top)
        return;
    snprintf(text, sizeof text, "%.0f%%", 100 * cell->share);
    svg_put_label(c, is_free ? "p" : "q", x, y + (is_free ? 0.13 : 0.46) * c->unit, text);
}

static void put_heat(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    const double part = c->sheet->most_share > 0 ? cell->share / c->sheet->most_share : 0;

    if (part > LEAST_SHARE)
        svg_put(c, "<use href=\"#c\" x=\"%s\" y=\"%s\" fill=\"%s\"/>\n", svg_px(x).text,
                svg_px(y).text, svg_heat(part).text);
}

static void put_sign(struct canvas *c, double x, double y)
{
    svg_put(c,
            "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" fill=\"#2da44e\" stroke=\"#fff\" "
            "stroke-width=\"%s\"/>\n",
            svg_px(x).text, svg_px(y).text, svg_px(0.14 * c->unit).text,
            svg_px(0.05 * c->unit).text);
}

void svg_put_cells(struct canvas *c, const struct picture *picture)
{
    const struct board *board = c->sheet->plan.board;

    svg_put(c, "<use href=\"#b\"/>\n<g stroke=\"#b9b4a6\">\n");
    for (uint32_t i = 0; i < board->n_cells; i++)
        if (board->on_board[i])
            put_heat(c, &picture->cells[i], c->sheet->shape.centres[i].x * c->unit,
                     c->sheet->shape.centres[i].y * c->unit);
    svg_put(c, "</g>\n");
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];
        const double x = c->sheet->shape.centres[i].x * c->unit;
        const double y = c->sheet->shape.centres[i].y * c->unit;

        put_piece(c, cell, x, y);
        if (cell->is_marked)
            put_sign(c, x, y);
        put_share(c, cell, x, y);
        if (cell->differs)
            svg_put(c, "<use href=\"#r\" x=\"%s\" y=\"%s\"/>\n", svg_px(x).text, svg_px(y).text);
    }
}
