/*
 * svg_parts.h - what the files that write SVG share: the canvas, numbers, colours. Only for svg*.c.
 */
#ifndef SYMAUG_SHOW_SVG_PARTS_H
#define SYMAUG_SHOW_SVG_PARTS_H

#include "show/show.h"

/* A document being written. Every function that adds to it may fail for lack of memory: the error
 * is kept in err, and nothing is added from then on. */
struct canvas {
    const struct sheet *sheet; /* borrowed */
    const char *prefix;        /* borrowed: of ids */
    struct text *out;          /* borrowed */
    struct error *err;         /* borrowed */
    bool failed;
    double unit; /* pixels between neighbours */
};

/* Append printf-style. */
void svg_put(struct canvas *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A number of pixels as text: rounded to tenths, without needless digits. */
struct svg_number {
    char text[24];
};
struct svg_number svg_px(double pixels);

/* Append text with what XML gives a meaning written as references. */
void svg_put_text(struct canvas *c, const char *text);

/* Append an element <text> at x, y of the given class. */
void svg_put_label(struct canvas *c, const char *class, double x, double y, const char *text);

/* How a side's pieces look. */
struct svg_ink {
    const char *fill, *stroke, *text;
};
struct svg_ink svg_ink_of(const struct canvas *c, enum picture_side side);

/* The colour of a share of the policy, from 0 to the sheet's largest one: "#rrggbb". */
struct svg_number svg_heat(double part);

/* The definitions and style that the parts of all pictures use. */
void svg_put_style(struct canvas *c);
void svg_put_definitions(struct canvas *c);

/* A picture's cells and what surrounds them, around the board's origin. */
void svg_put_cells(struct canvas *c, const struct picture *picture);
void svg_put_edges(struct canvas *c, const struct picture *picture);
void svg_put_axes(struct canvas *c, const struct picture *picture);
void svg_put_mark(struct canvas *c, const struct picture *picture);

/* The mark by itself at x, y. */
void svg_put_f(struct canvas *c, double x, double y, const struct shape_turn *turn, bool is_sure);

/* One line that says what the signs mean, from x, y on; at most so wide. Returns the height. */
double svg_put_legend(struct canvas *c, double x, double y, double width);

#endif
