/*
 * svg.c - a contact sheet as an SVG picture: the page and where its pictures stand, their words,
 * the goals of Hex, and the mark that shows how an image is turned. Cells and legend: svg_cells.c.
 */
#include "show/show.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- text that is written --- */

/* Text that is no UTF-8, or holds bytes that no page may hold, is quoted as messages quote it. */
void pen_put_html(struct pen *p, const char *before, const char *name, const char *after)
{
    const struct text_quoted quoted = text_path(name);
    bool is_plain = text_is_utf8(name, strlen(name));
    size_t n;

    for (const char *c = name; *c != '\0' && is_plain; c++)
        is_plain = (unsigned char)*c >= 0x20 && *c != 0x7f;
    pen_put(p, "%s", before);
    for (const char *c = is_plain ? name : quoted.text; *c != '\0'; c += n) {
        n = strcspn(c, "&<>\"'");
        p->failed = p->failed || text_append(p->out, p->err, "%.*s", (int)n, c) != 0;
        if (c[n] != '\0')
            pen_put(p, "&#%d;", c[n++]);
    }
    pen_put(p, "%s", after);
}

/* --- numbers, text, colours --- */

struct text_quoted svg_px(double pixels)
{
    const long tenths = lround(pixels * 10);

    if (tenths % 10 == 0)
        return text_format("%ld", tenths / 10);
    return text_format("%s%ld.%ld", tenths < 0 ? "-" : "", labs(tenths) / 10, labs(tenths) % 10);
}

void svg_put_label(struct canvas *c, const char *class, double x, double y, const char *text)
{
    pen_put(c->pen, "<text class=\"%s\" x=\"%s\" y=\"%s\">", class, svg_px(x).text, svg_px(y).text);
    for (size_t n; *text != '\0'; text += n) {
        n = strcspn(text, "&<>");
        pen_put(c->pen, "%.*s", (int)n, text);
        if (text[n] != '\0')
            pen_put(c->pen, "%s", text[n] == '&' ? "&amp;" : text[n] == '<' ? "&lt;" : "&gt;");
        n += text[n] != '\0';
    }
    pen_put(c->pen, "</text>\n");
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

static void put_edges(struct canvas *c, const struct picture *picture)
{
    const struct shape *shape = &c->sheet->shape;
    const uint32_t n = shape->board->cols;
    const uint32_t first[N_EDGES] = {0, n - 1, n * (n - 1), 0};
    struct shape_point corners[SHAPE_MAX_CORNERS];

    shape_corners(shape, corners);
    for (int edge = 0; edge < N_EDGES; edge++) {
        if (picture->edges[edge] == SIDE_NONE)
            continue;
        pen_put(c->pen, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%s\" d=\"",
                svg_ink_of(c, picture->edges[edge]).fill, svg_px(0.5 * c->unit).text);

        const struct goal *goal = &goals[edge];
        const uint32_t step = edge == EDGE_TOP || edge == EDGE_BOTTOM ? 1 : n;
        char letter = 'M';
        const struct shape_point *a = &corners[goal->shared[0]], *b = &corners[goal->shared[1]];
        const struct shape_point middle = {(a->x + b->x) / 2, (a->y + b->y) / 2};

        for (uint32_t i = 0; i < n; i++)
            for (int k = 0; k < 3; k++) {
                const bool is_middle = goal->ends ? i == n - 1 && k == 2 : i == 0 && k == 0;
                const struct shape_point by = is_middle ? middle : corners[goal->corners[k]];
                const struct shape_point at = shape->centres[first[edge] + i * step];

                pen_put(c->pen, "%c%s %s", letter, svg_px((at.x + by.x) * c->unit).text,
                        svg_px((at.y + by.y) * c->unit).text);
                letter = 'L';
            }
        pen_put(c->pen, "\"/>\n");
    }
}

/* --- the mark --- */

void svg_put_f(struct canvas *c, double x, double y, const struct shape_turn *turn, bool is_sure)
{
    const double unit = fmax(c->unit, LEAST_MARK);

    pen_put(c->pen,
            "<path fill=\"%s\" transform=\"matrix(%.4f %.4f %.4f %.4f %s %s)\" "
            "d=\"M-.27-.42H.27V-.24H-.07V-.07H.17V.1H-.07V.42H-.27z\"/>\n",
            is_sure ? "#7b2cbf" : "#c8b3dd", turn->xx * unit + 0.0, turn->yx * unit + 0.0,
            turn->xy * unit + 0.0, turn->yy * unit + 0.0, svg_px(x).text, svg_px(y).text);
}

/* Where the mark stands, in units, and how it is turned: beyond the source's corner, as seen from
 * the middle of the drawing. */
static struct shape_point place_mark(const struct shape *shape, const struct picture *picture,
                                     struct shape_turn *turn, bool *is_sure)
{
    const struct board_transform *t = &shape->board->transforms[picture->transform];
    const struct shape_point *at = &shape->centres[t->dst[shape->first]];
    const double x = shape->centres[shape->first].x - (shape->least.x + shape->most.x) / 2;
    const double y = shape->centres[shape->first].y - (shape->least.y + shape->most.y) / 2;
    const double length = sqrt(x * x + y * y);
    struct shape_point by = {0, -MARK_DISTANCE};

    *is_sure = shape_turn_of(shape, picture->transform, turn);
    if (*is_sure && length >= 1e-9)
        by = (struct shape_point){x / length * MARK_DISTANCE, y / length * MARK_DISTANCE};
    if (*is_sure)
        by = (struct shape_point){turn->xx * by.x + turn->xy * by.y,
                                  turn->yx * by.x + turn->yy * by.y};
    return (struct shape_point){at->x + by.x, at->y + by.y};
}

/* --- coordinates --- */

#define AXIS_DISTANCE 1.08 /* from the centre of the outermost cell: a goal may lie between */
#define AXIS_FREE     0.75 /* around the mark */

/* The number of a row before its first cell, of a column before its first one, or, where columns
 * slant, after its last one. Chess counts from the bottom, and has letters below the board. */
static void put_coordinate(struct canvas *c, struct shape_point mark, bool is_row, uint32_t i)
{
    const struct shape *shape = &c->sheet->shape;
    const struct board *b = shape->board;
    const bool is_chess = b->family->men != NULL, slants = shape->form == SHAPE_HEXAGONS;
    struct shape_point at = {0, 0};
    bool found = false;
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
    if (fabs(at.x - mark.x) < AXIS_FREE && fabs(at.y - mark.y) < AXIS_FREE)
        return;
    if (is_chess && !is_row)
        snprintf(text, sizeof text, "%c", 'a' + (int)i);
    else
        snprintf(text, sizeof text, "%u", i + is_chess);
    svg_put_label(c, "a", at.x * c->unit, at.y * c->unit + 3, text);
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

/* The longest line of a text, and how many there are. */
static size_t count_lines(const char *text, size_t *longest)
{
    size_t n = 0;

    for (; text != NULL && *text != '\0'; n++) {
        const size_t length = strcspn(text, "\n");

        *longest = length > *longest ? length : *longest;
        text += length + (text[length] == '\n');
    }
    return n;
}

static int lay_out(struct canvas *c, struct page *page)
{
    const struct sheet *sheet = c->sheet;
    const struct shape *shape = &sheet->shape;
    const double units = shape->most.x - shape->least.x;
    size_t longest = 0, longest_heading = 0, least = 1, columns;

    /* As wide as high, or wider where that leaves no gap in the last line. */
    while (least * least < sheet->n_pictures)
        least++;
    for (columns = least; columns < least + 3 && sheet->n_pictures % columns != 0;)
        columns++;
    *page = (struct page){.n_columns = columns < least + 3 ? columns : least};
    page->n_lines = (sheet->n_pictures + page->n_columns - 1) / page->n_columns;
    c->unit = (page->n_columns <= 2 ? LARGER_WIDTH : BOARD_WIDTH) / units;
    c->unit = fmin(fmax(c->unit, LEAST_UNIT), page->n_columns <= 2 ? LARGER_UNIT : MOST_UNIT);
    c->unit = floor(c->unit);
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        const struct picture *picture = &sheet->pictures[k];
        const size_t n = count_lines(picture->caption.text, &longest) +
                         count_lines(picture->faults.text, &longest);
        struct text heading = {0};

        if (sheet_heading(sheet, picture, &heading, c->pen->err) != 0)
            return -1;
        count_lines(heading.text, &longest_heading);
        text_release(&heading);
        page->n_caption_lines = n > page->n_caption_lines ? n : page->n_caption_lines;
    }
    page->board_width = (units + 2 * AROUND) * c->unit;
    page->board_height = (shape->most.y - shape->least.y + 2 * AROUND) * c->unit;
    page->width = ceil(fmax(page->board_width, fmax(LETTER_WIDTH * (double)longest,
                                                    HEAD_LETTER * (double)longest_heading)));
    page->height =
        ceil(HEAD_HEIGHT + page->board_height + LINE_HEIGHT * (double)page->n_caption_lines);
    return 0;
}

/* --- writing --- */

static void put_picture(struct canvas *c, const struct page *page, const struct picture *picture,
                        double x, double y)
{
    const struct shape *shape = &c->sheet->shape;
    const struct board *board = shape->board;
    struct text heading = {0};
    struct shape_turn turn;
    char line[160];
    bool is_sure;
    const struct shape_point mark = place_mark(shape, picture, &turn, &is_sure);

    c->pen->failed |= sheet_heading(c->sheet, picture, &heading, c->pen->err) != 0;
    pen_put(c->pen, "<g transform=\"translate(%s %s)\">\n", svg_px(x).text, svg_px(y).text);
    svg_put_label(c, "h", 0, 14, heading.text != NULL ? heading.text : "");
    pen_put(
        c->pen, "<g transform=\"translate(%s %s)\">\n",
        svg_px((page->width - page->board_width) / 2 + (AROUND - shape->least.x) * c->unit).text,
        svg_px(HEAD_HEIGHT + (AROUND - shape->least.y) * c->unit).text);
    put_edges(c, picture);
    svg_put_cells(c, picture);
    for (uint32_t row = 0; row < board->rows; row++)
        put_coordinate(c, mark, true, row);
    for (uint32_t col = 0; col < board->cols; col++)
        put_coordinate(c, mark, false, col);
    svg_put_f(c, mark.x * c->unit, mark.y * c->unit, &turn, is_sure);
    pen_put(c->pen, "</g>\n");
    y = HEAD_HEIGHT + page->board_height + 8;
    for (const char *text = picture->caption.text; text != NULL && *text != '\0';
         y += LINE_HEIGHT) {
        const size_t n = strcspn(text, "\n");

        snprintf(line, sizeof line, "%.*s", (int)n, text);
        svg_put_label(c, "c", 0, y, line);
        text += n + (text[n] == '\n');
    }
    if (picture->faults.n_bytes > 0)
        svg_put_label(c, "x", 0, y, picture->faults.text);
    pen_put(c->pen, "</g>\n");
    text_release(&heading);
}

int svg_write(const struct sheet *sheet, const struct svg_place *place, struct text *out,
              struct error *err)
{
    const char *title = sheet->title.text;
    const size_t n_title = strcspn(title, "\n");
    struct text body = {0};
    struct pen pen = {.out = &body, .err = err};
    struct canvas c = {.sheet = sheet, .prefix = place != NULL ? place->prefix : "", .pen = &pen};
    struct page page;
    char line[512];

    if (lay_out(&c, &page) != 0)
        return -1;
    const double width =
        2 * MARGIN + fmax(TITLE_LETTER * (double)n_title,
                          fmax(600, (double)page.n_columns * (page.width + GAP) - GAP));
    const double bottom = MARGIN + TITLE_HEIGHT + (double)page.n_lines * (page.height + GAP);

    svg_put_style(&c);
    svg_put_definitions(&c);
    snprintf(line, sizeof line, "%.*s", (int)n_title, title);
    svg_put_label(&c, "t", MARGIN, MARGIN + 16, line);
    snprintf(line, sizeof line, "%.*s", (int)strcspn(title + n_title + 1, "\n"),
             title + n_title + 1);
    svg_put_label(&c, "s", MARGIN, MARGIN + 38, line);
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        const size_t column = k % page.n_columns, line_of_pictures = k / page.n_columns;

        put_picture(&c, &page, &sheet->pictures[k], MARGIN + (double)column * (page.width + GAP),
                    MARGIN + TITLE_HEIGHT + (double)line_of_pictures * (page.height + GAP));
    }

    const double height = bottom + svg_put_legend(&c, MARGIN, bottom, width - 2 * MARGIN) + MARGIN;
    int status =
        pen.failed ? -1 : text_append(out, err, "<svg xmlns=\"http://www.w3.org/2000/svg\"");

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
