/*
 * svg_cells.c - what stands on the cells of one picture as SVG: heat, pieces, marks, shares, rings
 * where a stored image differs; and the legend below the sheet. Outlines and stones are defined
 * once and used by reference.
 */
#include "show/show.h"

#include <math.h>
#include <string.h>

#define MARKER_RADIUS     0.2
#define STONE_RADIUS      0.4
#define LEAST_SHARED_UNIT 24    /* of a cell on which a share can stand beside a stone */
#define LEAST_SHARE       0.002 /* of the largest one: below, a cell looks as it does without any */

/* In a page (@) the rules are those of this picture alone; $ is a size, in turn. */
void svg_put_style(struct canvas *c)
{
    static const char rules[] =
        "<style>\n"
        "@text{font-family:'DejaVu Sans',Verdana,Helvetica,Arial,sans-serif;fill:#24292f}\n"
        "@.t{font-size:20px;font-weight:bold}\n"
        "@.s,@.l{font-size:12px;fill:#57606a}\n"
        "@.h{font-size:13px;font-weight:bold}\n"
        "@.c{font-size:11px;fill:#57606a}\n"
        "@.x{font-size:11px;font-weight:bold;fill:#d00000}\n"
        "@.a{font-size:9px;text-anchor:middle;fill:#8c959f}\n"
        "@.p,@.q,@.d,@.n,@.m{text-anchor:middle;font-size:$px}\n"
        "@.q,@.d{font-weight:bold;stroke:#fff;stroke-width:2.4px;paint-order:stroke;"
        "stroke-linejoin:round}\n"
        "@.q{font-size:$px}\n"
        "@.n{font-weight:bold;font-size:$px}\n"
        "@.m{stroke-width:1.2px;paint-order:stroke;font-size:$px}\n"
        "</style>\n";
    const double sizes[] = {fmax(8, 0.34 * c->unit), fmax(8, 0.26 * c->unit), 0.46 * c->unit,
                            0.86 * c->unit};
    size_t n_sizes = 0;

    for (const char *rule = rules; *rule != '\0'; rule++) {
        if (*rule == '$')
            pen_put(c->pen, "%s", svg_px(sizes[n_sizes++]).text);
        else if (*rule != '@')
            pen_put(c->pen, "%c", *rule);
        else if (*c->prefix != '\0')
            pen_put(c->pen, "#%spicture ", c->prefix);
    }
}

/* --- definitions --- */

static void put_outline(struct canvas *c, double x, double y)
{
    struct shape_point corners[SHAPE_MAX_CORNERS];
    const size_t n = shape_corners(&c->sheet->shape, corners);

    for (size_t i = 0; i < n; i++)
        pen_put(c->pen, "%c%s %s", i == 0 ? 'M' : 'L', svg_px(x + corners[i].x * c->unit).text,
                svg_px(y + corners[i].y * c->unit).text);
    pen_put(c->pen, "z");
}

static bool is_go(const struct board *board)
{
    return board->game == BOARD_GAME_GO || board->game == BOARD_GAME_KATAGO;
}

/* Append a reference to what is defined as `id`, and what comes after it. */
static void put_use(struct canvas *c, const char *id, double x, double y, const char *more)
{
    pen_put(c->pen, "<use href=\"#%s%s\" x=\"%s\" y=\"%s\"%s", c->prefix, id, svg_px(x).text,
            svg_px(y).text, more);
}

void svg_put_definitions(struct canvas *c)
{
    const struct board *board = c->sheet->plan.board;
    const struct shape_point *centres = c->sheet->shape.centres;
    const double unit = c->unit;

    pen_put(c->pen, "<defs>\n<path id=\"%sc\" d=\"", c->prefix);
    put_outline(c, 0, 0);
    pen_put(c->pen,
            "\"/>\n<path id=\"%sb\" stroke=\"#b9b4a6\" stroke-width=\"1\" fill=\"#f3efe4\" d=\"",
            c->prefix);
    for (uint32_t i = 0; i < board->n_cells; i++)
        if (board->on_board[i])
            put_outline(c, centres[i].x * unit, centres[i].y * unit);
    pen_put(c->pen, "\"/>\n");
    /* What lies on the cells: the dark squares of chess, the lines of Go. */
    if (board->family->men != NULL) {
        pen_put(c->pen, "<path id=\"%sk\" fill=\"#d9cfb8\" d=\"", c->prefix);
        for (uint32_t i = 0; i < board->n_cells; i++)
            if ((i / board->cols + i % board->cols) % 2 == 0)
                put_outline(c, centres[i].x * unit, centres[i].y * unit);
        pen_put(c->pen, "\"/>\n");
    }
    if (is_go(board)) {
        pen_put(c->pen, "<path id=\"%sk\" fill=\"none\" stroke=\"#6e6a5e\" d=\"", c->prefix);
        for (uint32_t row = 0; row < board->rows; row++)
            pen_put(c->pen, "M0 %sH%s", svg_px(row * unit).text,
                    svg_px((board->cols - 1) * unit).text);
        for (uint32_t col = 0; col < board->cols; col++)
            pen_put(c->pen, "M%s 0V%s", svg_px(col * unit).text,
                    svg_px((board->rows - 1) * unit).text);
        pen_put(c->pen, "\"/>\n<circle id=\"%sh\" r=\"%s\" fill=\"#6e6a5e\"/>\n", c->prefix,
                svg_px(0.11 * unit).text);
    }
    for (enum picture_side side = SIDE_FIRST; side <= SIDE_BOTH; side++) {
        const struct svg_ink ink = svg_ink_of(c, side);

        pen_put(c->pen,
                "<circle id=\"%ss%d\" r=\"%s\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
                c->prefix, (int)side, svg_px(STONE_RADIUS * unit).text, ink.fill, ink.stroke,
                svg_px(0.05 * unit).text);
    }
    pen_put(c->pen,
            "<g id=\"%sr\" fill=\"none\"><circle r=\"%s\" stroke=\"#fff\" stroke-width=\"%s\"/>"
            "<circle r=\"%s\" stroke=\"#e00000\" stroke-width=\"%s\"/></g>\n</defs>\n",
            c->prefix, svg_px(0.44 * unit).text, svg_px(0.2 * unit).text, svg_px(0.44 * unit).text,
            svg_px(0.11 * unit).text);
}

/* --- cells --- */

/* A circle of the radius, to be filled in. */
static void put_circle(struct canvas *c, double x, double y, double radius)
{
    pen_put(c->pen, "<circle cx=\"%s\" cy=\"%s\" r=\"%s\" ", svg_px(x).text, svg_px(y).text,
            svg_px(radius).text);
}

/* The three lines of a tile run along a row of cells, and along the two other directions; each has
 * its number at one end. */
static void put_tile(struct canvas *c, double x, double y, int32_t code)
{
    static const char *const colours[10] = {"#ccc",    "#8d99ae", "#e7a1c5", "#b565a7", "#4d7ec8",
                                            "#3fb8c5", "#d9534f", "#5aa55a", "#ef8e3b", "#e0b81f"};
    static const struct shape_point ends[3] = {{0.5, 0}, {0.25, -0.433}, {0.25, 0.433}};
    static const struct shape_point numbers[3] = {{-0.29, 0}, {0.165, -0.286}, {0.165, 0.286}};
    const double unit = c->unit;
    const int digits[3] = {code / 100 % 10, code / 10 % 10, code % 10};

    put_use(c, "c", x, y, " fill=\"#fffefa\" stroke=\"#8a8576\"/>");
    for (int i = 0; i < 3; i++)
        pen_put(c->pen, "<path stroke=\"%s\" stroke-width=\"%s\" d=\"M%s %sL%s %s\"/>",
                colours[digits[i]], svg_px(0.15 * unit).text, svg_px(x - ends[i].x * unit).text,
                svg_px(y - ends[i].y * unit).text, svg_px(x + ends[i].x * unit).text,
                svg_px(y + ends[i].y * unit).text);
    pen_put(c->pen, "\n");
    for (int i = 0; i < 3; i++) {
        const char digit[2] = {(char)('0' + digits[i]), '\0'};

        svg_put_label(c, "d", x + numbers[i].x * unit, y + (numbers[i].y + 0.13) * unit, digit);
    }
}

static void put_piece(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    static const char letters[] = "KQRBNP";
    static const char *const men[] = {"♚", "♛", "♜", "♝", "♞", "♟"};
    const char *man = strchr(letters, cell->man);
    const struct svg_ink ink = svg_ink_of(c, cell->side);

    switch (cell->piece) {
    case PICTURE_EMPTY:
        return;
    case PICTURE_TILE:
        put_tile(c, x, y, cell->number);
        return;
    case PICTURE_MARKER:
        put_circle(c, x, y, MARKER_RADIUS * c->unit);
        pen_put(c->pen, "fill=\"%s\" stroke=\"%s\"/>\n", ink.fill, ink.stroke);
        return;
    case PICTURE_TERRITORY:
        put_use(c, "c", x, y, "");
        pen_put(c->pen, " fill=\"%s\" fill-opacity=\".75\" stroke=\"%s\"/>\n", ink.fill,
                ink.stroke);
        return;
    case PICTURE_MAN:
        pen_put(c->pen,
                "<text class=\"m\" x=\"%s\" y=\"%s\" style=\"fill:%s;stroke:%s\">%s</text>\n",
                svg_px(x).text, svg_px(y + 0.3 * c->unit).text, ink.fill, ink.stroke,
                man != NULL ? men[man - letters] : "?");
        return;
    case PICTURE_STONE:
        put_use(c, text_format("s%d", (int)cell->side).text, x, y, "/>\n");
        break;
    case PICTURE_NUMBER:
        break;
    }
    if (cell->number != 0)
        pen_put(c->pen, "<text class=\"n\" x=\"%s\" y=\"%s\" style=\"fill:%s\">%d</text>\n",
                svg_px(x).text, svg_px(y + 0.165 * c->unit).text,
                cell->piece == PICTURE_NUMBER ? "#24292f" : ink.text, (int)cell->number);
}

/* The colour of a share of the policy, from 0 to the sheet's largest one: "#rrggbb". */
static struct text_quoted heat_colour(double part)
{
    static const int stops[3][3] = {{255, 243, 208}, {255, 196, 77}, {226, 98, 20}};
    const int from = part < 0.5 ? 0 : 1;
    const double rest = part * 2 - from;
    int rgb[3];

    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lround(stops[from][i] + (stops[from + 1][i] - stops[from][i]) * rest);
    return text_format("#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
}

void svg_put_cells(struct canvas *c, const struct picture *picture)
{
    const struct board *board = c->sheet->plan.board;
    const struct shape_point *centres = c->sheet->shape.centres;

    pen_put(c->pen, "<use href=\"#%sb\"/>\n", c->prefix);
    if (board->family->men != NULL)
        pen_put(c->pen, "<use href=\"#%sk\"/>\n", c->prefix);
    pen_put(c->pen, "<g stroke=\"#b9b4a6\">\n");
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const double most = c->sheet->most_share;
        const double part = most > 0 ? picture->cells[i].share / most : 0;

        if (!board->on_board[i] || part <= LEAST_SHARE)
            continue;
        put_use(c, "c", centres[i].x * c->unit, centres[i].y * c->unit, "");
        pen_put(c->pen, " fill=\"%s\"/>\n", heat_colour(part).text);
    }
    pen_put(c->pen, "</g>\n");
    if (is_go(board)) {
        pen_put(c->pen, "<use href=\"#%sk\"/>\n", c->prefix);

        const uint32_t n = board->cols, edge = n >= 13 ? 3 : 2;
        const uint32_t at[3] = {edge, n / 2, n - 1 - edge};

        /* Marked points: on the third or fourth line, and in the middle. */
        for (int i = 0; i < 9 && n == board->rows && n >= 7; i++) {
            const int col = i % 3, row = i / 3;
            const bool is_side = col == 1 || row == 1, is_middle = i == 4;

            if (!is_side || (n % 2 == 1 && (n >= 15 || is_middle)))
                put_use(c, "h", at[col] * c->unit, at[row] * c->unit, "/>\n");
        }
    }
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];
        const double x = centres[i].x * c->unit, y = centres[i].y * c->unit;
        bool is_free;

        put_piece(c, cell, x, y);
        if (cell->is_marked) {
            put_circle(c, x, y, 0.14 * c->unit);
            pen_put(c->pen, "fill=\"#2da44e\" stroke=\"#fff\" stroke-width=\"%s\"/>\n",
                    svg_px(0.05 * c->unit).text);
        }
        is_free = cell->piece == PICTURE_EMPTY && !cell->is_marked;
        if (cell->is_top &&
            (is_free || c->unit >= LEAST_SHARED_UNIT)) /* the caption says it, too */
            svg_put_label(c, is_free ? "p" : "q", x, y + (is_free ? 0.13 : 0.46) * c->unit,
                          text_format("%.0f%%", 100 * cell->share).text);
        if (cell->differs)
            put_use(c, "r", x, y, "/>\n");
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

/* A circle that is filled, or drawn, as it says. */
static void put_sign(struct legend *legend, double radius, const char *look, const char *text)
{
    const double x = begin(legend, 20, text);

    put_circle(legend->canvas, x + 7, legend->y, radius);
    pen_put(legend->canvas->pen, "%s/>\n", look);
    svg_put_label(legend->canvas, "l", x + 20, legend->y + 4, text);
}

double svg_put_legend(struct canvas *c, double x, double y, double width)
{
    static const struct shape_turn upright = {1, 0, 0, 1};
    static const char turned[] = "where the source's first corner is, and how it is turned";
    const struct sheet *sheet = c->sheet;
    struct legend legend = {c, x, x + width, x, y + LINE_HEIGHT / 2};
    const char *pieces = labels_pieces(&sheet->plan);
    struct canvas small = *c;
    struct text_quoted text;

    for (enum picture_side side = SIDE_FIRST; side <= SIDE_BOTH; side++) {
        const struct svg_ink ink = svg_ink_of(c, side);

        text = text_format("fill=\"%s\" stroke=\"%s\"", ink.fill, ink.stroke);
        if (sheet->has_side[side])
            put_sign(&legend, 7, text.text, labels_side_name(&sheet->plan, side));
    }
    if (pieces != NULL) {
        x = begin(&legend, 0, pieces);
        svg_put_label(c, "l", x, legend.y + 4, pieces);
    }
    if (sheet->has_policy && sheet->most_share > 0) {
        text = text_format("policy, 0 to %s", heat_share_text(sheet->most_share).text);
        x = begin(&legend, SCALE_STEPS * SCALE_STEP_SIZE + 6, text.text);
        for (int i = 0; i < SCALE_STEPS; i++)
            pen_put(c->pen, "<rect x=\"%s\" y=\"%s\" width=\"%s\" height=\"14\" fill=\"%s\"/>\n",
                    svg_px(x + i * SCALE_STEP_SIZE).text, svg_px(legend.y - 7).text,
                    svg_px(SCALE_STEP_SIZE).text, heat_colour((i + 0.5) / SCALE_STEPS).text);
        svg_put_label(c, "l", x + SCALE_STEPS * SCALE_STEP_SIZE + 6, legend.y + 4, text.text);
    }
    if (sheet->has_marks)
        put_sign(&legend, 4, "fill=\"#2da44e\"", "a move or coordinate");
    small.unit = 18;
    x = begin(&legend, 18, turned);
    svg_put_f(&small, x + 6, legend.y, &upright, true);
    svg_put_label(c, "l", x + 18, legend.y + 4, turned);
    if (sheet->is_stored)
        put_sign(&legend, 6, "fill=\"none\" stroke=\"#e00000\" stroke-width=\"2\"",
                 "stored and computed differ");
    return legend.y + LINE_HEIGHT / 2 - y;
}
