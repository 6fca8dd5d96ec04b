/*
 * svg_cells.c - what stands on the cells of one picture as SVG: heat, pieces, marks, shares, rings
 * where a stored image differs; and the legend below the sheet. Outlines and stones are defined
 * once and used by reference.
 */
#include "show/svg_parts.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MARKER_RADIUS     0.2
#define STONE_RADIUS      0.4
#define LEAST_SHARED_UNIT 24    /* of a cell on which a share can stand beside a stone */
#define LEAST_SHARE       0.002 /* of the largest one: below, a cell looks as it does without any */

static void put_rules(struct canvas *c, const char *rules)
{
    for (; *rules != '\0'; rules++) {
        if (*rules != '@')
            svg_put(c, "%c", *rules);
        else if (*c->prefix != '\0')
            svg_put(c, "#%spicture ", c->prefix);
    }
}

/* In a page (@) the rules are those of this picture alone. */
void svg_put_style(struct canvas *c)
{
    static const char rules[] =
        "@text{font-family:'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif;fill:#24292f}\n"
        "@.t{font-size:20px;font-weight:bold}\n"
        "@.s,@.l{font-size:12px;fill:#57606a}\n"
        "@.h{font-size:13px;font-weight:bold}\n"
        "@.c{font-size:11px;fill:#57606a}\n"
        "@.x{font-size:11px;font-weight:bold;fill:#d00000}\n"
        "@.a{font-size:9px;text-anchor:middle;fill:#8c959f}\n"
        "@.p,@.q,@.d,@.n,@.m{text-anchor:middle;font-size:";
    static const char more[] =
        "@.q,@.d{font-weight:bold;stroke:#fff;stroke-width:2.4px;paint-order:stroke;"
        "stroke-linejoin:round}\n"
        "@.q{font-size:";
    const double small = fmax(8, 0.34 * c->unit), smaller = fmax(8, 0.26 * c->unit);

    svg_put(c, "<style>\n");
    put_rules(c, rules);
    svg_put(c, "%spx}\n", svg_px(small).text);
    put_rules(c, more);
    svg_put(c, "%spx}\n", svg_px(smaller).text);
    put_rules(c, "@.n{font-weight:bold;font-size:");
    svg_put(c, "%spx}\n", svg_px(0.46 * c->unit).text);
    put_rules(c, "@.m{stroke-width:1.2px;paint-order:stroke;font-size:");
    svg_put(c, "%spx}\n</style>\n", svg_px(0.86 * c->unit).text);
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

    svg_put(c, "<circle id=\"%s%s\" r=\"%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
            c->prefix, id, svg_px(STONE_RADIUS * c->unit).text, ink.fill, ink.stroke,
            svg_px(0.05 * c->unit).text);
}

static bool is_go(const struct board *board)
{
    return board->game == BOARD_GAME_GO || board->game == BOARD_GAME_KATAGO;
}

/* What lies on the cells: the dark squares of chess, the lines of Go. */
static void put_ground(struct canvas *c)
{
    const struct board *board = c->sheet->plan.board;
    const struct shape_point *centres = c->sheet->shape.centres;
    const double unit = c->unit;

    if (board->family->men != NULL) {
        svg_put(c, "<path id=\"%sk\" fill=\"#d9cfb8\" d=\"", c->prefix);
        for (uint32_t i = 0; i < board->n_cells; i++)
            if ((i / board->cols + i % board->cols) % 2 == 0)
                put_outline(c, centres[i].x * unit, centres[i].y * unit);
        svg_put(c, "\"/>\n");
    }
    if (!is_go(board))
        return;
    svg_put(c, "<path id=\"%sk\" fill=\"none\" stroke=\"#6e6a5e\" d=\"", c->prefix);
    for (uint32_t row = 0; row < board->rows; row++)
        svg_put(c, "M0 %sH%s", svg_px(row * unit).text, svg_px((board->cols - 1) * unit).text);
    for (uint32_t col = 0; col < board->cols; col++)
        svg_put(c, "M%s 0V%s", svg_px(col * unit).text, svg_px((board->rows - 1) * unit).text);
    svg_put(c, "\"/>\n<circle id=\"%sh\" r=\"%s\" fill=\"#6e6a5e\"/>\n", c->prefix,
            svg_px(0.11 * unit).text);
}

/* The points of Go's board that are marked: on the third or fourth line, and in the middle. */
static void put_hoshi(struct canvas *c)
{
    const struct board *board = c->sheet->plan.board;
    const uint32_t n = board->cols, edge = n >= 13 ? 3 : 2;
    const uint32_t at[3] = {edge, n / 2, n - 1 - edge};

    for (int i = 0; i < 9 && n == board->rows && n >= 7; i++) {
        const bool is_side = i % 3 == 1 || i / 3 == 1, is_middle = i == 4;
        const uint32_t row = at[i / 3], col = at[i % 3];

        if (is_side && (n % 2 == 0 || (n < 15 && !is_middle)))
            continue;
        svg_put(c, "<use href=\"#%sh\" x=\"%s\" y=\"%s\"/>\n", c->prefix,
                svg_px(col * c->unit).text, svg_px(row * c->unit).text);
    }
}

void svg_put_definitions(struct canvas *c)
{
    const struct board *board = c->sheet->plan.board;

    svg_put(c, "<defs>\n<path id=\"%sc\" d=\"", c->prefix);
    put_outline(c, 0, 0);
    svg_put(c, "\"/>\n<path id=\"%sb\" stroke=\"#b9b4a6\" stroke-width=\"1\" fill=\"#f3efe4\" d=\"",
            c->prefix);
    for (uint32_t i = 0; i < board->n_cells; i++)
        if (board->on_board[i])
            put_outline(c, c->sheet->shape.centres[i].x * c->unit,
                        c->sheet->shape.centres[i].y * c->unit);
    svg_put(c, "\"/>\n");
    put_ground(c);
    put_stone(c, "s0", SIDE_FIRST);
    put_stone(c, "s1", SIDE_SECOND);
    put_stone(c, "s2", SIDE_BOTH);
    svg_put(c,
            "<g id=\"%sr\" fill=\"none\"><circle r=\"%s\" stroke=\"#fff\" stroke-width=\"%s\"/>"
            "<circle r=\"%s\" stroke=\"#e00000\" stroke-width=\"%s\"/></g>\n",
            c->prefix, svg_px(0.44 * c->unit).text, svg_px(0.2 * c->unit).text,
            svg_px(0.44 * c->unit).text, svg_px(0.11 * c->unit).text);
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

    svg_put(c, "<use href=\"#%sc\" x=\"%s\" y=\"%s\" fill=\"#fffefa\" stroke=\"#8a8576\"/>",
            c->prefix, svg_px(x).text, svg_px(y).text);
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
                "<use href=\"#%sc\" x=\"%s\" y=\"%s\" fill=\"%s\" fill-opacity=\".75\" "
                "stroke=\"%s\"/>\n",
                c->prefix, svg_px(x).text, svg_px(y).text, ink.fill, ink.stroke);
}

static void put_man(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    static const char letters[] = "KQRBNP";
    static const char *const signs[] = {"♚", "♛", "♜", "♝", "♞", "♟"};
    const char *letter = strchr(letters, cell->man);
    const struct svg_ink ink = svg_ink_of(c, cell->side);

    svg_put(c, "<text class=\"m\" x=\"%s\" y=\"%s\" style=\"fill:%s;stroke:%s\">%s</text>\n",
            svg_px(x).text, svg_px(y + 0.3 * c->unit).text, ink.fill, ink.stroke,
            letter != NULL ? signs[letter - letters] : "?");
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
    if (cell->piece == PICTURE_MAN) {
        put_man(c, cell, x, y);
        return;
    }
    if (cell->piece == PICTURE_STONE)
        svg_put(c, "<use href=\"#%ss%d\" x=\"%s\" y=\"%s\"/>\n", c->prefix, (int)cell->side,
                svg_px(x).text, svg_px(y).text);
    if (cell->number != 0)
        snprintf(text, sizeof text, "%d", (int)cell->number);
    if (*text != '\0')
        put_number(c, cell, x, y, text);
}

static void put_share(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    const bool is_free = cell->piece == PICTURE_EMPTY && !cell->is_marked;
    char text[16];

    if (!cell->is_top || (!is_free && c->unit < LEAST_SHARED_UNIT)) /* the caption says it, too */
        return;
    snprintf(text, sizeof text, "%.0f%%", 100 * cell->share);
    svg_put_label(c, is_free ? "p" : "q", x, y + (is_free ? 0.13 : 0.46) * c->unit, text);
}

static void put_heat(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    const double part = c->sheet->most_share > 0 ? cell->share / c->sheet->most_share : 0;

    if (part > LEAST_SHARE)
        svg_put(c, "<use href=\"#%sc\" x=\"%s\" y=\"%s\" fill=\"%s\"/>\n", c->prefix,
                svg_px(x).text, svg_px(y).text, svg_heat(part).text);
}

static void put_dot(struct canvas *c, double x, double y)
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

    svg_put(c, "<use href=\"#%sb\"/>\n", c->prefix);
    if (board->family->men != NULL)
        svg_put(c, "<use href=\"#%sk\"/>\n", c->prefix);
    svg_put(c, "<g stroke=\"#b9b4a6\">\n");
    for (uint32_t i = 0; i < board->n_cells; i++)
        if (board->on_board[i])
            put_heat(c, &picture->cells[i], c->sheet->shape.centres[i].x * c->unit,
                     c->sheet->shape.centres[i].y * c->unit);
    svg_put(c, "</g>\n");
    if (is_go(board)) {
        svg_put(c, "<use href=\"#%sk\"/>\n", c->prefix);
        put_hoshi(c);
    }
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];
        const double x = c->sheet->shape.centres[i].x * c->unit;
        const double y = c->sheet->shape.centres[i].y * c->unit;

        put_piece(c, cell, x, y);
        if (cell->is_marked)
            put_dot(c, x, y);
        put_share(c, cell, x, y);
        if (cell->differs)
            svg_put(c, "<use href=\"#%sr\" x=\"%s\" y=\"%s\"/>\n", c->prefix, svg_px(x).text,
                    svg_px(y).text);
    }
}

/* --- the legend --- */

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

double svg_put_legend(struct canvas *c, double x, double y, double width)
{
    struct legend legend = {c, x, x + width, x, y + LINE_HEIGHT / 2};
    const char *pieces = labels_pieces(&c->sheet->plan);

    for (enum picture_side side = SIDE_FIRST; side <= SIDE_BOTH; side++)
        if (c->sheet->has_side[side])
            put_side(&legend, side);
    if (pieces != NULL)
        put_words(&legend, pieces);
    if (c->sheet->has_policy && c->sheet->most_share > 0)
        put_scale(&legend);
    if (c->sheet->has_marks)
        put_sign(&legend, false, "a move or coordinate");
    put_mark(&legend);
    if (c->sheet->is_stored)
        put_sign(&legend, true, "stored and computed differ");
    return legend.y + LINE_HEIGHT / 2 - y;
}
