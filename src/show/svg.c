/* svg.c - see svg.h: the page, and where its pictures stand. */
#include "show/svg.h"

#include "show/svg_parts.h"

#include <math.h>
#include <string.h>

#define MARGIN       24.0
#define TITLE_HEIGHT 58.0
#define HEAD_HEIGHT  24.0
#define LINE_HEIGHT  15.0
#define GAP          22.0 /* between pictures */
#define LETTER_WIDTH 6.4  /* of captions, about */
#define HEAD_LETTER  8.2  /* of headings */
#define AROUND       1.2  /* units around a board, for goals and the mark */
#define BOARD_WIDTH  250.0
#define LARGER_WIDTH 340.0 /* of boards when there are few */
#define LEAST_UNIT   13.0
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

int svg_write(const struct sheet *sheet, struct text *out, struct error *err)
{
    struct text body = {0};
    struct canvas c = {.sheet = sheet, .out = &body, .err = err};
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

    int status = c.failed ? -1
                          : text_append(out, err,
                                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" "
                                        "height=\"%.0f\" viewBox=\"0 0 %.0f %.0f\">\n"
                                        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
                                        "%s</svg>\n",
                                        width, height, width, height, body.text);
    text_release(&body);
    return status;
}
