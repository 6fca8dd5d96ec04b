/*
 * svg.c - a contact sheet as SVG: a grid of pictures, each with its heading and captions, the edges
 * of Hex, the cells and what stands on them, coordinates, and a mark that shows how it is turned;
 * and a legend. Outlines and stones are defined once and used by reference.
 */
#include "show/parts.h"

/* --- drawing --- */

/* A document being written. */
struct canvas {
    const struct sheet *sheet;        /* borrowed */
    const char *prefix;               /* borrowed: of all ids */
    struct pen *pen;                  /* borrowed */
    double unit;                      /* pixels between neighbours */
    double board_width, board_height; /* with the space around it */
    double width;                     /* of a picture with its text */
};

/* Write a line of text, up to '\n', at x, y as an element of that class. */
static void put_label(struct canvas *c, const char *class, double x, double y, const char *text)
{
    static const char *const safe[] = {['&'] = "&amp;", ['<'] = "&lt;", ['>'] = "&gt;"};

    pen_html(c->pen, "<text class=\"%s\" x=\"%f\" y=\"%f\">", class, x, y);
    for (size_t n; *text != '\0' && *text != '\n'; text += n) {
        n = strcspn(text, "&<>\n");
        pen_put(c->pen, "%.*s", (int)n, text);
        if (text[n] != '\0' && text[n] != '\n')
            pen_put(c->pen, "%s", safe[(int)text[n++]]);
    }
    pen_put(c->pen, "</text>\n");
}

/* Write a reference to the definition `id`, and `more` after it. */
static void put_use(struct canvas *c, const char *id, double x, double y, const char *more)
{
    pen_html(c->pen, "<use href=\"#%s%s\" x=\"%f\" y=\"%f\"", c->prefix, id, x, y);
    pen_put(c->pen, "%s", more);
}

static void put_edges(struct canvas *c, const struct picture *picture)
{
    /* The outer corners of each edge's cells, in order. At the obtuse corners of the board two
     * edges share a cell and meet in the middle of its side, between corners a and b: top and left
     * end there with their last cell, the others begin there with their first. */
    static const uint8_t outward[N_EDGES][3] = {{5, 0, 1}, {0, 1, 2}, {4, 3, 2}, {5, 4, 3}};
    const struct shape *shape = &c->sheet->shape;
    const uint32_t n = shape->board->cols;
    const uint32_t first[N_EDGES] = {0, n - 1, n * (n - 1), 0};
    struct shape_point corners[SHAPE_MAX_CORNERS];

    shape_corners(shape, corners);
    for (enum picture_edge edge = EDGE_TOP; edge < N_EDGES; edge++) {
        const bool is_row = edge == EDGE_TOP || edge == EDGE_BOTTOM;
        const uint32_t shared = edge == EDGE_TOP || edge == EDGE_LEFT ? 3 * n - 1 : 0;
        const int a = edge < EDGE_BOTTOM ? 0 : 4, b = edge < EDGE_BOTTOM ? 1 : 3;
        const enum picture_side side = picture_edge_side(shape->board, picture->transform, edge);

        pen_html(c->pen, "<path fill=\"none\" stroke=\"%s\" stroke-width=\"%f\" d=\"",
                 c->sheet->sides->inks[side]->fill, 0.5 * c->unit);
        for (uint32_t k = 0; k < 3 * n; k++) {
            const struct shape_point at = shape->centres[first[edge] + k / 3 * (is_row ? 1 : n)];
            struct shape_point by = corners[outward[edge][k % 3]];

            if (k == shared)
                by = (struct shape_point){(corners[a].x + corners[b].x) / 2,
                                          (corners[a].y + corners[b].y) / 2};
            pen_html(c->pen, "%c%f %f", k == 0 ? 'M' : 'L', (at.x + by.x) * c->unit,
                     (at.y + by.y) * c->unit);
        }
        pen_put(c->pen, "\"/>\n");
    }
}

#define LEAST_MARK    16   /* pixels */
#define MARK_DISTANCE 1.12 /* from the centre of the corner cell, away from the board */

/* The mark: an F, turned and mirrored like the image; pale where that is not known. */
static void put_f(struct canvas *c, double unit, struct shape_point at,
                  const struct shape_turn *turn, bool is_sure)
{
    pen_html(c->pen,
             "<path fill=\"%s\" transform=\"matrix(%.4f %.4f %.4f %.4f %f %f)\" "
             "d=\"M-.27-.42H.27V-.24H-.07V-.07H.17V.1H-.07V.42H-.27z\"/>\n",
             is_sure ? "#7b2cbf" : "#c8b3dd", turn->xx * unit + 0.0, turn->yx * unit + 0.0,
             turn->xy * unit + 0.0, turn->yy * unit + 0.0, at.x, at.y);
}

#define AXIS_DISTANCE 1.08 /* from the centre of the outermost cell: room for Hex's edges */
#define AXIS_FREE     0.75 /* around the mark */

/* Write the number of each row before its first cell, of each column above its first or, where
 * columns slant, below its last. Chess counts from 1 at the bottom, and has letters below. */
static void put_coordinates(struct canvas *c, struct shape_point mark)
{
    const struct shape *shape = &c->sheet->shape;
    const struct board *b = shape->board;
    const bool is_chess = b->family->men != NULL, slants = shape->form == SHAPE_HEXAGONS;

    for (uint32_t n = 0; n < b->rows + b->cols; n++) {
        const bool is_row = n < b->rows;
        const uint32_t i = is_row ? n : n - b->rows;
        const struct shape_point *cell = NULL;

        for (uint32_t k = 0; k < (is_row ? b->cols : b->rows); k++) {
            const uint32_t other = is_row ? i * b->cols + k : k * b->cols + i;

            if (b->on_board[other] && (cell == NULL || (!is_row && slants)))
                cell = &shape->centres[other];
        }
        if (cell == NULL)
            continue;
        struct shape_point at = *cell;
        if (is_row) {
            at.x -= AXIS_DISTANCE;
        } else if (slants) {
            at.x += AXIS_DISTANCE / 2;
            at.y += AXIS_DISTANCE * LINE_OF_HEXAGONS;
        } else {
            at.y += is_chess ? AXIS_DISTANCE : -AXIS_DISTANCE;
        }
        if (fabs(at.x - mark.x) >= AXIS_FREE || fabs(at.y - mark.y) >= AXIS_FREE)
            put_label(c, "a", at.x * c->unit, at.y * c->unit + 3,
                      is_chess && !is_row ? text_format("%c", 'a' + (int)i).text
                                          : text_format("%u", i + is_chess).text);
    }
}

/* --- definitions --- */

static void put_outline(struct canvas *c, double x, double y)
{
    struct shape_point corners[SHAPE_MAX_CORNERS];
    const size_t n = shape_corners(&c->sheet->shape, corners);

    for (size_t i = 0; i < n; i++)
        pen_html(c->pen, "%c%f %f", i == 0 ? 'M' : 'L', x + corners[i].x * c->unit,
                 y + corners[i].y * c->unit);
    pen_put(c->pen, "z");
}

static bool is_go(const struct board *board)
{
    return board->game == BOARD_GAME_GO || board->game == BOARD_GAME_KATAGO;
}

/* Write the style sheet, and the definitions that are used by reference. */
static void put_definitions(struct canvas *c)
{
    /* @ becomes a selector that limits the rule to this element of a page; $ the next size. */
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
        "</style>\n<defs>\n";
    const struct board *board = c->sheet->plan.board;
    const struct shape_point *centres = c->sheet->shape.centres;
    const double unit = c->unit;
    const double sizes[] = {fmax(8, 0.34 * unit), fmax(8, 0.26 * unit), 0.46 * unit, 0.86 * unit};
    struct pen *p = c->pen;
    size_t n_sizes = 0, n;

    for (const char *rule = rules; *rule != '\0'; rule += n + (rule[n] != '\0')) {
        n = strcspn(rule, "@$");
        pen_put(p, "%.*s", (int)n, rule);
        if (rule[n] == '$')
            pen_html(p, "%f", sizes[n_sizes++]);
        else if (rule[n] == '@' && *c->prefix != '\0')
            pen_put(p, "#%spicture ", c->prefix);
    }
    pen_html(p, "<path id=\"%sc\" d=\"", c->prefix);
    put_outline(c, 0, 0);
    pen_html(p,
             "\"/>\n<path id=\"%sb\" stroke=\"#b9b4a6\" stroke-width=\"1\" fill=\"#f3efe4\" d=\"",
             c->prefix);
    /* The board; the dark squares of chess, the lines of Go. */
    for (int dark = 0; dark < (board->family->men != NULL ? 2 : 1); dark++) {
        if (dark)
            pen_html(p, "<path id=\"%sk\" fill=\"#d9cfb8\" d=\"", c->prefix);
        for (uint32_t i = 0; i < board->n_cells; i++)
            if (dark ? (i / board->cols + i % board->cols) % 2 == 0 : board->on_board[i])
                put_outline(c, centres[i].x * unit, centres[i].y * unit);
        pen_put(p, "\"/>\n");
    }
    if (is_go(board)) {
        pen_html(p, "<path id=\"%sk\" fill=\"none\" stroke=\"#6e6a5e\" d=\"", c->prefix);
        for (uint32_t row = 0; row < board->rows; row++)
            pen_html(p, "M0 %fH%f", row * unit, (board->cols - 1) * unit);
        for (uint32_t col = 0; col < board->cols; col++)
            pen_html(p, "M%f 0V%f", col * unit, (board->rows - 1) * unit);
        pen_html(p, "\"/>\n<circle id=\"%sh\" r=\"%f\" fill=\"#6e6a5e\"/>\n", c->prefix,
                 0.11 * unit);
    }
    for (enum picture_side side = SIDE_FIRST; side <= SIDE_BOTH; side++) {
        const struct ink *ink = c->sheet->sides->inks[side];

        pen_html(
            p, "<circle id=\"%ss%d\" r=\"%f\" fill=\"%s\" stroke=\"%s\" stroke-width=\"%f\"/>\n",
            c->prefix, (int)side - SIDE_FIRST, 0.4 * unit, ink->fill, ink->stroke, 0.05 * unit);
    }
    pen_html(p,
             "<g id=\"%sr\" fill=\"none\"><circle r=\"%f\" stroke=\"#fff\" stroke-width=\"%f\"/>"
             "<circle r=\"%f\" stroke=\"#e00000\" stroke-width=\"%f\"/></g>\n</defs>\n",
             c->prefix, 0.44 * unit, 0.2 * unit, 0.44 * unit, 0.11 * unit);
}

/* --- cells --- */

#define LEAST_SHARED_UNIT 24    /* of a cell with room for a share beside a stone */
#define LEAST_SHARE       0.002 /* of the largest one: smaller ones would be invisible */

static void put_piece(struct canvas *c, const struct picture_cell *cell, double x, double y)
{
    static const char letters[] = "KQRBNP";
    static const char *const men[] = {"♚", "♛", "♜", "♝", "♞", "♟"};
    /* The three lines of a tile run in the three directions of cells, each with its number at one
     * end. */
    static const char *const colours[10] = {"#ccc",    "#8d99ae", "#e7a1c5", "#b565a7", "#4d7ec8",
                                            "#3fb8c5", "#d9534f", "#5aa55a", "#ef8e3b", "#e0b81f"};
    static const struct shape_point ends[3] = {{0.5, 0}, {0.25, -0.433}, {0.25, 0.433}};
    static const struct shape_point numbers[3] = {{-0.29, 0}, {0.165, -0.286}, {0.165, 0.286}};
    const int digits[3] = {cell->number / 100 % 10, cell->number / 10 % 10, cell->number % 10};
    const char *man = strchr(letters, cell->man);
    const struct ink *ink = c->sheet->sides->inks[cell->side];
    const double unit = c->unit;

    switch (cell->piece) {
    case PICTURE_EMPTY:
        return;
    case PICTURE_TILE:
        put_use(c, "c", x, y, " fill=\"#fffefa\" stroke=\"#8a8576\"/>");
        for (int i = 0; i < 3; i++)
            pen_html(c->pen, "<path stroke=\"%s\" stroke-width=\"%f\" d=\"M%f %fL%f %f\"/>",
                     colours[digits[i]], 0.15 * unit, x - ends[i].x * unit, y - ends[i].y * unit,
                     x + ends[i].x * unit, y + ends[i].y * unit);
        pen_put(c->pen, "\n");
        for (int i = 0; i < 3; i++)
            put_label(c, "d", x + numbers[i].x * unit, y + (numbers[i].y + 0.13) * unit,
                      text_format("%d", digits[i]).text);
        return;
    case PICTURE_MARKER:
        pen_html(c->pen, "<circle cx=\"%f\" cy=\"%f\" r=\"%f\" fill=\"%s\" stroke=\"%s\"/>\n", x, y,
                 0.2 * unit, ink->fill, ink->stroke);
        return;
    case PICTURE_TERRITORY:
        put_use(c, "c", x, y, "");
        pen_html(c->pen, " fill=\"%s\" fill-opacity=\".75\" stroke=\"%s\"/>\n", ink->fill,
                 ink->stroke);
        return;
    case PICTURE_MAN:
        pen_html(c->pen,
                 "<text class=\"m\" x=\"%f\" y=\"%f\" style=\"fill:%s;stroke:%s\">%s</text>\n", x,
                 y + 0.3 * unit, ink->fill, ink->stroke, man != NULL ? men[man - letters] : "?");
        return;
    case PICTURE_STONE:
        put_use(c, text_format("s%d", (int)cell->side - SIDE_FIRST).text, x, y, "/>\n");
        break;
    case PICTURE_NUMBER:
        break;
    }
    if (cell->number != 0)
        pen_html(c->pen, "<text class=\"n\" x=\"%f\" y=\"%f\" style=\"fill:%s\">%d</text>\n", x,
                 y + 0.165 * unit, cell->piece == PICTURE_NUMBER ? "#24292f" : ink->text,
                 (int)cell->number);
}

struct text_quoted svg_colour(const int from[3], const int to[3], double part)
{
    int rgb[3];

    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lround(from[i] + (to[i] - from[i]) * part);
    return text_format("#%02x%02x%02x", rgb[0] & 255, rgb[1] & 255, rgb[2] & 255);
}

/* The colour of a share of the policy, as a fraction of the sheet's largest one. */
static struct text_quoted heat_colour(double part)
{
    static const int stops[3][3] = {{255, 243, 208}, {255, 196, 77}, {226, 98, 20}};
    const int from = part < 0.5 ? 0 : 1;

    return svg_colour(stops[from], stops[from + 1], part * 2 - from);
}

/* Write the board, and what stands on its cells. */
static void put_cells(struct canvas *c, const struct picture *picture)
{
    const struct board *board = c->sheet->plan.board;
    const struct shape_point *centres = c->sheet->shape.centres;
    const double unit = c->unit, most = c->sheet->most_share;

    pen_html(c->pen, "<use href=\"#%sb\"/>\n", c->prefix);
    if (board->family->men != NULL)
        pen_html(c->pen, "<use href=\"#%sk\"/>\n", c->prefix);
    pen_put(c->pen, "<g stroke=\"#b9b4a6\">\n");
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const double part = most > 0 ? picture->cells[i].share / most : 0;

        if (!board->on_board[i] || part <= LEAST_SHARE)
            continue;
        put_use(c, "c", centres[i].x * unit, centres[i].y * unit, "");
        pen_html(c->pen, " fill=\"%s\"/>\n", heat_colour(part).text);
    }
    pen_put(c->pen, "</g>\n");
    if (is_go(board)) {
        const uint32_t n = board->cols, edge = n >= 13 ? 3 : 2;
        const uint32_t at[3] = {edge, n / 2, n - 1 - edge};

        pen_html(c->pen, "<use href=\"#%sk\"/>\n", c->prefix);
        /* Star points: on the third or fourth line, and in the middle. */
        for (int i = 0; i < 9 && n == board->rows && n >= 7; i++) {
            const int col = i % 3, row = i / 3;
            const bool is_side = col == 1 || row == 1, is_middle = i == 4;

            if (!is_side || (n % 2 == 1 && (n >= 15 || is_middle)))
                put_use(c, "h", at[col] * unit, at[row] * unit, "/>\n");
        }
    }
    for (uint32_t i = 0; i < board->n_cells; i++) {
        const struct picture_cell *cell = &picture->cells[i];
        const double x = centres[i].x * unit, y = centres[i].y * unit;
        const bool is_free = cell->piece == PICTURE_EMPTY && !cell->is_marked;

        put_piece(c, cell, x, y);
        if (cell->is_marked)
            pen_html(c->pen,
                     "<circle cx=\"%f\" cy=\"%f\" r=\"%f\" fill=\"#2da44e\" stroke=\"#fff\" "
                     "stroke-width=\"%f\"/>\n",
                     x, y, 0.14 * unit, 0.05 * unit);
        if (cell->is_top &&
            (is_free || unit >= LEAST_SHARED_UNIT)) /* else only the caption has it */
            put_label(c, is_free ? "p" : "q", x, y + (is_free ? 0.13 : 0.46) * unit,
                      text_format("%.0f%%", 100 * cell->share).text);
        if (cell->differs)
            put_use(c, "r", x, y, "/>\n");
    }
}

/* --- the legend --- */

#define LEGEND_HEIGHT   24.0 /* of a line */
#define LEGEND_LETTER   7.0
#define GAP             22.0 /* between entries, and between pictures */
#define SCALE_STEPS     8
#define SCALE_STEP_SIZE 12.0

struct legend {
    struct canvas *canvas;
    double left, right; /* margins */
    double x, y;        /* of the next entry */
};

/* Make room for an entry, on the next line if it does not fit. Returns the x of its sign. */
static double begin(struct legend *legend, double sign_width, const char *text)
{
    const double width = sign_width + LEGEND_LETTER * (double)strlen(text);

    if (legend->x > legend->left && legend->x + width > legend->right) {
        legend->x = legend->left;
        legend->y += LEGEND_HEIGHT;
    }
    const double x = legend->x;
    legend->x += width + GAP;
    return x;
}

/* Write an entry whose sign is a circle. */
static void put_sign(struct legend *legend, double radius, const char *look, const char *text)
{
    const double x = begin(legend, 20, text);

    pen_html(legend->canvas->pen, "<circle cx=\"%f\" cy=\"%f\" r=\"%f\" ", x + 7, legend->y,
             radius);
    pen_put(legend->canvas->pen, "%s/>\n", look);
    put_label(legend->canvas, "l", x + 20, legend->y + 4, text);
}

/* Write the legend at x, y, in lines of at most `width`. Returns its height. */
static double put_legend(struct canvas *c, double x, double y, double width)
{
    static const struct shape_turn upright = {1, 0, 0, 1};
    static const char turned[] = "where the source's first corner is, and how it is turned";
    const struct sheet *sheet = c->sheet;
    struct legend legend = {c, x, x + width, x, y + LEGEND_HEIGHT / 2};
    const char *pieces = sheet->pieces;
    struct text_quoted text;

    for (enum picture_side side = SIDE_FIRST; side <= SIDE_BOTH; side++) {
        const struct ink *ink = sheet->sides->inks[side];

        text = text_format("fill=\"%s\" stroke=\"%s\"", ink->fill, ink->stroke);
        if (sheet->has_side[side])
            put_sign(&legend, 7, text.text, sheet->sides->names[side]);
    }
    if (pieces != NULL) {
        x = begin(&legend, 0, pieces);
        put_label(c, "l", x, legend.y + 4, pieces);
    }
    if (sheet->most_share > 0) {
        text = text_format("policy, 0 to %s", heat_share_text(sheet->most_share).text);
        x = begin(&legend, SCALE_STEPS * SCALE_STEP_SIZE + 6, text.text);
        for (int i = 0; i < SCALE_STEPS; i++)
            pen_html(c->pen, "<rect x=\"%f\" y=\"%f\" width=\"%f\" height=\"14\" fill=\"%s\"/>\n",
                     x + i * SCALE_STEP_SIZE, legend.y - 7, SCALE_STEP_SIZE,
                     heat_colour((i + 0.5) / SCALE_STEPS).text);
        put_label(c, "l", x + SCALE_STEPS * SCALE_STEP_SIZE + 6, legend.y + 4, text.text);
    }
    if (sheet->has_marks)
        put_sign(&legend, 4, "fill=\"#2da44e\"", "a move or coordinate");
    x = begin(&legend, 18, turned);
    put_f(c, 18, (struct shape_point){x + 6, legend.y}, &upright, true);
    put_label(c, "l", x + 18, legend.y + 4, turned);
    if (sheet->is_stored)
        put_sign(&legend, 6, "fill=\"none\" stroke=\"#e00000\" stroke-width=\"2\"",
                 "stored and computed differ");
    return legend.y + LEGEND_HEIGHT / 2 - y;
}

/* --- the page --- */

#define MARGIN       24.0
#define TITLE_HEIGHT 58.0
#define HEAD_HEIGHT  24.0
#define LINE_HEIGHT  15.0
#define LETTER_WIDTH 6.4 /* of captions, approximately */
#define HEAD_LETTER  8.2 /* of headings */
#define AROUND       1.4 /* units around a board, for edges and the mark */
#define BOARD_WIDTH  250.0
#define LARGER_WIDTH 340.0 /* of boards when there are few */
#define LEAST_UNIT   18.0
#define MOST_UNIT    34.0
#define LARGER_UNIT  56.0
#define TITLE_LETTER 12.6

/* Count the lines of a text, and raise *longest to the length of the longest one. */
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

static void put_picture(struct canvas *c, const struct picture *picture, double x, double y)
{
    const struct shape *shape = &c->sheet->shape;
    const struct board *board = shape->board;
    const struct shape_point *first = &shape->centres[shape->first];
    const struct shape_point *at =
        &shape->centres[board->transforms[picture->transform].dst[shape->first]];
    struct shape_turn turn;
    const bool is_sure = shape_turn_of(shape, picture->transform, &turn);
    const double dx = first->x - (shape->least.x + shape->most.x) / 2;
    const double dy = first->y - (shape->least.y + shape->most.y) / 2;
    const double length = sqrt(dx * dx + dy * dy);
    struct shape_point by = {0, -MARK_DISTANCE};

    /* The mark stands outside the source's first cell, as seen from the middle of the drawing. */
    if (is_sure && length >= 1e-9)
        by = (struct shape_point){dx / length * MARK_DISTANCE, dy / length * MARK_DISTANCE};
    const struct shape_point mark = {at->x + turn.xx * by.x + turn.xy * by.y,
                                     at->y + turn.yx * by.x + turn.yy * by.y};

    pen_html(c->pen, "<g transform=\"translate(%f %f)\">\n", x, y);
    put_label(c, "h", 0, 14, picture->heading.text);
    pen_html(c->pen, "<g transform=\"translate(%f %f)\">\n",
             (c->width - c->board_width) / 2 + (AROUND - shape->least.x) * c->unit,
             HEAD_HEIGHT + (AROUND - shape->least.y) * c->unit);
    if (board->family->joins_edges)
        put_edges(c, picture);
    put_cells(c, picture);
    put_coordinates(c, mark);
    put_f(c, fmax(c->unit, LEAST_MARK), (struct shape_point){mark.x * c->unit, mark.y * c->unit},
          &turn, is_sure);
    pen_put(c->pen, "</g>\n");
    y = HEAD_HEIGHT + c->board_height + 8;
    for (const char *text = picture->caption.text; text != NULL && *text != '\0';
         text = strchr(text, '\n') + 1, y += LINE_HEIGHT)
        put_label(c, "c", 0, y, text);
    if (picture->faults.n_bytes > 0)
        put_label(c, "x", 0, y, picture->faults.text);
    pen_put(c->pen, "</g>\n");
}

int svg_write(const struct sheet *sheet, const struct svg_place *place, struct text *out,
              struct error *err)
{
    const char *title = sheet->title.text;
    const size_t n_title = strcspn(title, "\n");
    const struct shape *shape = &sheet->shape;
    const double units = shape->most.x - shape->least.x;
    struct text body = {0};
    struct pen pen = {.out = &body, .err = err}, head = {.out = out, .err = err};
    struct canvas c = {.sheet = sheet, .prefix = place != NULL ? place->prefix : "", .pen = &pen};
    size_t longest = 0, longest_heading = 0, n_lines = 0, least = 1, n_columns;

    /* As many columns as lines, or up to two more if that fills the last line. */
    while (least * least < sheet->n_pictures)
        least++;
    for (n_columns = least; n_columns < least + 3 && sheet->n_pictures % n_columns != 0;)
        n_columns++;
    if (n_columns == least + 3)
        n_columns = least;
    c.unit = (n_columns <= 2 ? LARGER_WIDTH : BOARD_WIDTH) / units;
    c.unit = floor(fmin(fmax(c.unit, LEAST_UNIT), n_columns <= 2 ? LARGER_UNIT : MOST_UNIT));
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        const struct picture *picture = &sheet->pictures[k];
        const size_t n = count_lines(picture->caption.text, &longest) +
                         count_lines(picture->faults.text, &longest);

        count_lines(picture->heading.text, &longest_heading);
        n_lines = n > n_lines ? n : n_lines;
    }
    c.board_width = (units + 2 * AROUND) * c.unit;
    c.board_height = (shape->most.y - shape->least.y + 2 * AROUND) * c.unit;
    c.width = ceil(fmax(c.board_width, fmax(LETTER_WIDTH * (double)longest,
                                            HEAD_LETTER * (double)longest_heading)));

    const double step = c.width + GAP;
    const double line_step =
        ceil(HEAD_HEIGHT + c.board_height + LINE_HEIGHT * (double)n_lines) + GAP;
    const double width = 2 * MARGIN + fmax(TITLE_LETTER * (double)n_title,
                                           fmax(600, (double)n_columns * step - GAP));
    double y = MARGIN + TITLE_HEIGHT;

    put_definitions(&c);
    put_label(&c, "t", MARGIN, MARGIN + 16, title);
    put_label(&c, "s", MARGIN, MARGIN + 38, title + n_title + 1);
    for (size_t k = 0; k < sheet->n_pictures; k++) {
        put_picture(&c, &sheet->pictures[k], MARGIN + (double)(k % n_columns) * step, y);
        if ((k + 1) % n_columns == 0 || k + 1 == sheet->n_pictures)
            y += line_step;
    }
    y += put_legend(&c, MARGIN, y, width - 2 * MARGIN) + MARGIN;
    head.failed = pen.failed;
    pen_put(&head, "<svg xmlns=\"http://www.w3.org/2000/svg\"");
    if (place != NULL)
        pen_put(&head, " id=\"%spicture\" data-picture=\"%s\"", place->prefix, place->name);
    pen_put(&head,
            " width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
            "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n%s</svg>\n",
            width, y, width, y, body.text);
    text_release(&body);
    return head.failed ? -1 : 0;
}
