/*
 * terminal_cell.h - one cell of a board as a few columns of text. Only for terminal*.c.
 */
#ifndef SYMAUG_SHOW_TERMINAL_CELL_H
#define SYMAUG_SHOW_TERMINAL_CELL_H

#include "show/terminal.h"

/* What a cell's text starts with. */
enum terminal_corner { CORNER_NONE, CORNER_FIRST, CORNER_SECOND };

/* Columns that a cell takes: one for a mark, then what stands on it. Even, so that lines can be
 * shifted by half a cell. */
size_t terminal_cell_width(const struct sheet *sheet);

/* Append a cell, exactly that wide. */
int terminal_put_cell(const struct sheet *sheet, const struct terminal_style *style,
                      const struct picture_cell *cell, enum terminal_corner corner,
                      struct text *out, struct error *err);

/* How a side's stones look, without colours around them. */
const char *terminal_stone(const struct sheet *sheet, const struct terminal_style *style,
                           enum picture_side side);

/* The sequence for a side that has a colour; else "". */
const char *terminal_side_colour(const struct sheet *sheet, enum picture_side side);

/* The digit, 1 to 9, that stands for a share of the policy; '0' for less. */
char terminal_heat_digit(const struct sheet *sheet, double share);

/* Columns of a text in UTF-8, sequences for colours not counted. */
size_t terminal_width(const char *text);

/* Sequences for colours; "" without. */
const char *terminal_red(const struct terminal_style *style);
const char *terminal_bold(const struct terminal_style *style);
const char *terminal_plain(const struct terminal_style *style);

#endif
