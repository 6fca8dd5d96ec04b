/*
 * terminal.h - a contact sheet as lines of text, several boards side by side.
 */
#ifndef SYMAUG_SHOW_TERMINAL_H
#define SYMAUG_SHOW_TERMINAL_H

#include "show/sheet.h"

struct terminal_style {
    unsigned columns; /* of the terminal */
    bool unicode;     /* stones and chessmen as such; else letters */
    bool colours;     /* ECMA-48 sequences for 256 colours */
};

/* Append the whole sheet. */
int terminal_write(const struct sheet *sheet, const struct terminal_style *style, struct text *out,
                   struct error *err);

#endif
