/* svg_parts.c - see svg_parts.h: numbers, text, colours. */
#include "show/svg_parts.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

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
