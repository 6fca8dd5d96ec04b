/*
 * svg.c - a contact sheet as an SVG picture: the page and where its pictures stand, their words,
 * the goals of Hex, and the mark that shows how an image is turned. Cells and legend: svg_cells.c.
 */
#include "show/svg_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- numbers, text, colours --- */

void svg_put(struct canvas *c, const char *format, ...)
{
    char piece[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(piece, sizeof piece, format, args);
    va_end(args);
    if (!c->failed && text_append(c->out, c->err, "%s", piece) != 0)
        c->failed = true;
}

struct svg_number svg_px(double pixels)
{
    struct svg_number number;
    const long tenths = lround(pixels * 10);
    const char *sign = tenths < 0 ? "-" : "";

    if (tenths % 10 == 0)
        snprintf(number.text, sizeof number.text, "%ld", tenths / 10);
    else
        snprintf(number.text, sizeof number.text, "%s%ld.%ld", sign, labs(tenths) / 10,
                 labs(tenths) % 10);
    return number;
}

void svg_put_text(struct canvas *c, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '&':
            svg_put(c, "&amp;");
            break;
        case '<':
            svg_put(c, "&lt;");
            break;
        case '>':
            svg_put(c, "&gt;");
            break;
        default:
            svg_put(c, "%c", *text);
        }
    }
}

void svg_put_label(struct canvas *c, const char *class, double x, double y, const char *text)
{
    svg_put(c, "<text class=\"%s\" x=\"%s\" y=\"%s\">", class, svg_px(x).text, svg_px(y).text);
    svg_put_text(c, text);
    svg_put(c, "</text>\n");
}

struct svg_ink svg_ink_of(const struct canvas *c, enum picture_side side)
{
    static const struct svg_ink inks[][2] = {
        [STONES_BLUE_RED] = {{"#2f6fbe", "#1d4a85", "#fff"}, {"#d1495b", "#8f2536", "#fff"}},
        [STONES_OWN_THEIRS] = {{"#2b2d33", "#111", "#fff"}, {"#fdfdfb", "#3c3f45", "#222"}},
        [STONES_FIRST_PLANES] = {{"#2b2d33", "#111", "#fff"}, {"#fdfdfb", "#3c3f45", "#222"}},
        [STONES_CHESS] = {{"#fdfdfb", "#3c3f45", "#222"}, {"#2b2d33", "#111", "#fff"}},
    };
    static const struct svg_ink both = {"#a05fb4", "#5f2f70", "#fff"};

    return side < 2 ? inks[stones_style_of(&c->sheet->plan)][side] : both;
}

struct svg_number svg_heat(double part)
{
    static const int stops[3][3] = {{255, 243, 208}, {255, 196, 77}, {226, 98, 20}};
    const int from = part < 0.5 ? 0 : 1;
    const double rest = part * 2 - from;
    struct svg_number colour;
    int rgb[3];

    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lround(stops[from][i] + (stops[from + 1][i] - stops[from][i]) * rest);
    snprintf(colour.text, sizeof colour.text, "#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255,
             rgb[2] & 255);
    return colour;
}

/* --- goals and the mark --- */

#define LEAST_MARK    16   /* pixels */
#define MARK_DISTANCE 1.12 /* from the corner cell's centre, away from the board's */

/* The corners of a side's cells that face outwards, in turn; the obtuse corners of the board are
 * shared by two sides, which meet in the middle of an edge there. */
struct goal {
    int corners[3];
    int shared[2]; /* the edge in whose middle the side ends */
    bool ends;     /* there at its last cell; else it begins there, at its first one */
};

static const struct goal goals[N_EDGES] = {
    [EDGE_TOP] = {{5, 0, 1}, {0, 1}, true},
    [EDGE_RIGHT] = {{0, 1, 2}, {0, 1}, false},
    [EDGE_BOTTOM] = {{4, 3, 2}, {4, 3}, false},
    [EDGE_LEFT] = {{5, 4, 3}, {4, 3}, true},
};

static void put_point(struct canvas *c, bool *begun, struct shape_point at, struct shape_point by)
{
    svg_put(c, "%c%s %s", *begun ? 'L' : 'M', svg_px((at.x + by.x) * c->unit).text,
            svg_px((at.y + by.y) * c->unit).text);
    *begun = true;
}

static void put_goal(struct canvas *c, int edge)
{
    const struct goal *goal = &goals[edge];
    const struct shape *shape = &c->sheet->shape;
    const uint32_t n = shape->board->cols;
    const uint32_t first[N_EDGES] = {0, n - 1, n * (n - 1), 0};
    const uint32_t step = edge == EDGE_TOP || edge == EDGE_BOTTOM ? 1 : n;
    struct shape_point corners[SHAPE_MAX_CORNERS];
    bool begun = false;

    shape_corners(shape, corners);
    const struct shape_point *a = &corners[goal->shared[0]], *b = &corners[goal->shared[1]];
    const struct shape_point middle = {(a->x + b->x) / 2, (a->y + b->y) / 2};

    for (uint32_t i = 0; i < n; i++) {
        const struct shape_point at = shape->centres[first[edge] + i * step];
        const bool begins = !goal->ends && i == 0, ends = goal->ends && i == n - 1;

        if (begins)
            put_point(c, &begun, at, middle);
        for (int k = begins ? 1 : 0; k < (ends ? 2 : 3); k++)
            put_point(c, &begun, at, corners[goal->corners[k]]);
        if (ends)
            put_point(c, &begun, at, middle);
    }
}

void svg_put_edges(struct canvas *c, const struct picture *picture)
{
    for (int edge = 0; edge < N_EDGES; edge++) {
        if (picture->edges[edge] == SIDE_NONE)
            continue;
        svg_put(c, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
                svg_ink_of(c, picture->edges[edge]).fill, svg_px(0.5 * c->unit).text);
        put_goal(c, edge);
        svg_put(c, "\"/>\n");
    }
}

/* --- the mark --- */

void svg_put_f(struct canvas *c, double x, double y, const struct shape_turn *turn, bool is_sure)
{
    const double unit = fmax(c->unit, LEAST_MARK);

    svg_put(c,
            "<path fill=\"%s\" transform=\"matrix(%.4f %.4f %.4f %.4f %s %s)\" "
            "d=\"M-.27-.42H.27V-.24H-.07V-.07H.17V.1H-.07V.42H-.27z\"/>\n",
            is_sure ? "#7b2cbf" : "#c8b3dd", turn->xx * unit + 0.0, turn->yx * unit + 0.0,
            turn->xy * unit + 0.0, turn->yy * unit + 0.0, svg_px(x).text, svg_px(y).text);
}

/* From the middle of the drawing to the source's corner, as far as the mark is away from it. */
static struct shape_point outwards(const struct shape *shape)
{
    const struct shape_point *corner = &shape->centres[shape->first];
    const double x = corner->x - (shape->least.x + shape->most.x) / 2;
    const double y = corner->y - (shape->least.y + shape->most.y) / 2;
    const double length = sqrt(x * x + y * y);

    if (length < 1e-9)
        return (struct shape_point){0, -MARK_DISTANCE};
    return (struct shape_point){x / length * MARK_DISTANCE, y / length * MARK_DISTANCE};
}

/* Where the mark stands, in units, and how it is turned. */
static struct shape_point place_mark(const struct shape *shape, const struct picture *picture,
                                     struct shape_turn *turn, bool *is_sure)
{
    const struct board_transform *t = &shape->board->transforms[picture->transform];
    const struct shape_point *at = &shape->centres[t->dst[shape->first]];
    const struct shape_point by = outwards(shape);

    *is_sure = shape_turn_of(shape, picture->transform, turn);
    if (!*is_sure)
        return (struct shape_point){at->x, at->y - MARK_DISTANCE};
    return (struct shape_point){at->x + turn->xx * by.x + turn->xy * by.y,
                                at->y + turn->yx * by.x + turn->yy * by.y};
}

void svg_put_mark(struct canvas *c, const struct picture *picture)
{
    struct shape_turn turn;
    bool is_sure;
    const struct shape_point at = place_mark(&c->sheet->shape, picture, &turn, &is_sure);

    svg_put_f(c, at.x * c->unit, at.y * c->unit, &turn, is_sure);
}

/* --- coordinates --- */

#define AXIS_DISTANCE 1.08 /* from the centre of the outermost cell: a goal may lie between */
#define AXIS_FREE     0.75 /* around the mark */

/* The number of a row before its first cell, of a column before its first one, or, where columns
 * slant, after its last one. Chess counts from the bottom, and has letters below the board. */
static void put_coordinate(struct canvas *c, const struct picture *picture, bool is_row, uint32_t i)
{
    const struct shape *shape = &c->sheet->shape;
    const struct board *b = shape->board;
    const bool is_chess = b->family->men != NULL, slants = shape->form == SHAPE_HEXAGONS;
    struct shape_point at = {0, 0};
    struct shape_turn turn;
    bool is_sure, found = false;
    char text[16];

    for (uint32_t k = 0; k < (is_row ? b->cols : b->rows); k++) {
        const uint32_t cell = is_row ? i * b->cols + k : k * b->cols + i;

        if (!b->on_board[cell] || (found && (is_row || !slants)))
            continue;
        found = true;
        at = shape->centres[cell];
    }
    if (!found)
        return;
    if (is_row)
        at.x -= AXIS_DISTANCE;
    else if (slants)
        at =
            (struct shape_point){at.x + AXIS_DISTANCE / 2, at.y + AXIS_DISTANCE * LINE_OF_HEXAGONS};
    else
        at.y += is_chess ? AXIS_DISTANCE : -AXIS_DISTANCE;
    const struct shape_point mark = place_mark(shape, picture, &turn, &is_sure);

    if (fabs(at.x - mark.x) < AXIS_FREE && fabs(at.y - mark.y) < AXIS_FREE)
        return;
    if (is_chess && !is_row)
        snprintf(text, sizeof text, "%c", 'a' + (int)i);
    else
        snprintf(text, sizeof text, "%u", i + is_chess);
    svg_put_label(c, "a", at.x * c->unit, at.y * c->unit + 3, text);
}

void svg_put_axes(struct canvas *c, const struct picture *picture)
{
    for (uint32_t row = 0; row < c->sheet->plan.board->rows; row++)
        put_coordinate(c, picture, true, row);
    for (uint32_t col = 0; col < c->sheet->plan.board->cols; col++)
        put_coordinate(c, picture, false, col);
}

/* --- the page --- */

#define MARGIN       24.0
#define TITLE_HEIGHT 58.0
#define HEAD_HEIGHT  24.0
#define LINE_HEIGHT  15.0
#define GAP          22.0 /* between pictures */
#define LETTER_WIDTH 6.4  /* of captions, about */
#define HEAD_LETTER  8.2  /* of headings */
#define AROUND       1.4  /* units around a board, for goals and the mark */
#define BOARD_WIDTH  250.0
#define LARGER_WIDTH 340.0 /* of boards when there are few */
#define LEAST_UNIT   18.0
#define MOST_UNIT    34.0
#define LARGER_UNIT  56.0
#define TITLE_LETTER 12.6

struct page {
    size_t n_columns, n_lines;
    double board_width, board_height;
    double width, height; /* of one picture with its words */
    size_t n_caption_lines;
};

/* As wide as high, or wider where that leaves no gap in the last line. */
static size_t choose_columns(size_t n)
{
    size_t least = 1;

    while (least * least < n)
        least++;
    for (size_t columns = least; columns <= least + 2; columns++)
        if (n % columns == 0)
            return columns;
    return least;
}

/* --- measures --- */

static size_t count_lines(const struct picture *picture, size_t *longest)
{
    size_t n = 0, length = 0;

    for (const char *p = picture->caption.text; p != NULL && *p != '\0'; p++) {
        if (*p == '\n') {
            n++;
            length = 0;
        } else if (++length > *longest) {
            *longest = length;
        }
    }
    if (picture->faults.n_bytes > 0) {
        n++;
        if (picture->faults.n_bytes > *longest)
            *longest = picture->faults.n_bytes;
    }
    return n;
}

static int longest_heading(const struct sheet *sheet, size_t *longest, struct error *err)
{
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        struct text heading = {0};
        const int status = sheet_heading(sheet, &sheet->pictures[k], &heading, err);

        if (heading.n_bytes > *longest)
            *longest = heading.n_bytes;
        text_release(&heading);
        if (status != 0)
            return -1;
    }
    return 0;
}

static int lay_out(struct canvas *c, struct page *page, struct error *err)
{
    const struct sheet *sheet = c->sheet;
    const struct shape *shape = &sheet->shape;
    const double units = shape->most.x - shape->least.x;
    double most;
    size_t longest = 0, heading = 0;

    *page = (struct page){.n_columns = choose_columns(sheet->n_pictures)};
    page->n_lines = (sheet->n_pictures + page->n_columns - 1) / page->n_columns;
    most = page->n_columns <= 2 ? LARGER_UNIT : MOST_UNIT;
    c->unit = (page->n_columns <= 2 ? LARGER_WIDTH : BOARD_WIDTH) / units;
    c->unit = c->unit < LEAST_UNIT ? LEAST_UNIT : c->unit > most ? most : c->unit;
    c->unit = floor(c->unit);
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        const size_t n = count_lines(&sheet->pictures[k], &longest);

        if (n > page->n_caption_lines)
            page->n_caption_lines = n;
    }
    if (longest_heading(sheet, &heading, err) != 0)
        return -1;
    page->board_width = (units + 2 * AROUND) * c->unit;
    page->board_height = (shape->most.y - shape->least.y + 2 * AROUND) * c->unit;
    page->width = ceil(fmax(page->board_width,
                            fmax(LETTER_WIDTH * (double)longest, HEAD_LETTER * (double)heading)));
    page->height =
        ceil(HEAD_HEIGHT + page->board_height + LINE_HEIGHT * (double)page->n_caption_lines);
    return 0;
}

/* --- writing --- */

static void put_captions(struct canvas *c, const struct picture *picture, double y)
{
    const char *line = picture->caption.text;
    char copy[160];

    while (line != NULL && *line != '\0') {
        const size_t n = strcspn(line, "\n"), kept = n < sizeof copy - 1 ? n : sizeof copy - 1;

        memcpy(copy, line, kept);
        copy[kept] = '\0';
        svg_put_label(c, "c", 0, y, copy);
        y += LINE_HEIGHT;
        line += n + (line[n] == '\n');
    }
    if (picture->faults.n_bytes > 0)
        svg_put_label(c, "x", 0, y, picture->faults.text);
}

static void put_picture(struct canvas *c, const struct page *page, const struct picture *picture,
                        double x, double y)
{
    const struct shape *shape = &c->sheet->shape;
    struct text heading = {0};

    if (sheet_heading(c->sheet, picture, &heading, c->err) != 0)
        c->failed = true;
    svg_put(c, "<g transform=\"translate(%s %s)\">\n", svg_px(x).text, svg_px(y).text);
    svg_put_label(c, "h", 0, 14, heading.text != NULL ? heading.text : "");
    svg_put(
        c, "<g transform=\"translate(%s %s)\">\n",
        svg_px((page->width - page->board_width) / 2 + (AROUND - shape->least.x) * c->unit).text,
        svg_px(HEAD_HEIGHT + (AROUND - shape->least.y) * c->unit).text);
    svg_put_edges(c, picture);
    svg_put_cells(c, picture);
    svg_put_axes(c, picture);
    svg_put_mark(c, picture);
    svg_put(c, "</g>\n");
    put_captions(c, picture, HEAD_HEIGHT + page->board_height + 8);
    svg_put(c, "</g>\n");
    text_release(&heading);
}

static void put_titles(struct canvas *c)
{
    const char *title = c->sheet->title.text, *end = strchr(title, '\n');
    char line[512];

    for (int i = 0; i < 2 && end != NULL; i++) {
        const size_t n =
            (size_t)(end - title) < sizeof line ? (size_t)(end - title) : sizeof line - 1;

        memcpy(line, title, n);
        line[n] = '\0';
        svg_put_label(c, i == 0 ? "t" : "s", MARGIN, MARGIN + (i == 0 ? 16 : 38), line);
        title = end + 1;
        end = strchr(title, '\n');
    }
}

int svg_write(const struct sheet *sheet, const struct svg_place *place, struct text *out,
              struct error *err)
{
    struct text body = {0};
    struct canvas c = {
        .sheet = sheet, .prefix = place != NULL ? place->prefix : "", .out = &body, .err = err};
    struct page page;
    double width, legend;

    if (lay_out(&c, &page, err) != 0)
        return -1;
    width = fmax(TITLE_LETTER * (double)strcspn(sheet->title.text, "\n"),
                 fmax(600, (double)page.n_columns * (page.width + GAP) - GAP)) +
            2 * MARGIN;
    const double bottom = MARGIN + TITLE_HEIGHT + (double)page.n_lines * (page.height + GAP);

    svg_put_style(&c);
    svg_put_definitions(&c);
    put_titles(&c);
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        const size_t line = k / page.n_columns, column = k % page.n_columns;

        put_picture(&c, &page, &sheet->pictures[k], MARGIN + (double)column * (page.width + GAP),
                    MARGIN + TITLE_HEIGHT + (double)line * (page.height + GAP));
    }
    legend = svg_put_legend(&c, MARGIN, bottom, width - 2 * MARGIN);
    const double height = bottom + legend + MARGIN;

    int status = c.failed ? -1 : text_append(out, err, "<svg xmlns=\"http://www.w3.org/2000/svg\"");

    if (status == 0 && place != NULL)
        status = text_append(out, err, " id=\"%spicture\" data-picture=\"%s\"", place->prefix,
                             place->name);
    if (status == 0)
        status = text_append(out, err,
                             " width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
                             "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                             "%s</svg>\n",
                             width, height, width, height, body.text);
    text_release(&body);
    return status;
}
