/*
 * custom.h - a board from a file on its way: what custom_read.c reads from the file and custom.c
 * makes a group of. Only for these two.
 */
#ifndef SYMAUG_BOARD_CUSTOM_H
#define SYMAUG_BOARD_CUSTOM_H

#include "board/families.h"

#include <jansson.h>

struct custom {
    const char *path;    /* borrowed: for messages */
    struct board *board; /* borrowed: room for BOARD_MAX_TRANSFORMS + 2 transforms, the first of
                            which is the identity */
    size_t text_nbytes;  /* of board->file_text */
    const char *label;   /* borrowed from the JSON: the board's name in the file, or NULL */
    bool is_generated;   /* the listed transforms are generators */
    bool is_lenient;
};

/* Refuse the file: ERROR_DATA "PATH: ...". Returns -1. */
int custom_refuse(const struct custom *c, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Read the whole file, which goes to the board. */
int custom_read_file(struct custom *c, struct error *err);

/* The text of the board's file as an object, within limits that keep its memory below 256 MiB.
 * Returns a reference for json_decref, or NULL. */
json_t *custom_parse_text(const struct custom *c, struct error *err);

/* Fill *c and its board from the object: the listed transforms stand behind the identity. What is
 * wrong with one map, list or key by itself is refused here. */
int custom_parse(struct custom *c, json_t *root, struct error *err);

/* The bytes of the control character (C0, DEL, C1 in UTF-8) that text starts with, 0 without. */
size_t custom_control_nbytes(const char *text);

#endif
