/*
 * svg.h - a contact sheet as an SVG picture. The same sheet gives the same bytes.
 */
#ifndef SYMAUG_SHOW_SVG_H
#define SYMAUG_SHOW_SVG_H

#include "show/sheet.h"

/* Append the whole document. */
int svg_write(const struct sheet *sheet, struct text *out, struct error *err);

#endif
