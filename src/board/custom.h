/*
 * custom.h - a board from a file on its way: what custom.c reads, and custom_shape.c makes cells,
 * edges, lines and colours of. Only for these two.
 */
#ifndef SYMAUG_BOARD_CUSTOM_H
#define SYMAUG_BOARD_CUSTOM_H

#include "board/families.h"

#include <jansson.h>

#define CUSTOM_MAX_DIMS 4

struct custom {
    const char *path;    /* borrowed: for messages */
    struct error *err;   /* borrowed */
    struct board *board; /* borrowed: the first of its transforms is the identity */
    size_t text_nbytes;  /* of board->file_text */
    json_t *root;        /* owned: the file */
    const char *label;   /* borrowed from it: the board's name, or NULL */
    bool is_generated;   /* the listed transforms are generators */
    uint8_t *marked;     /* owned scratch, a byte for each cell */
    uint32_t n_coloured; /* cells of all colours so far */
    uint32_t n_dims, dims[CUSTOM_MAX_DIMS]; /* of the shape; two are rows and columns */
};

/* Refuse the file: ERROR_DATA "PATH: ...". Returns -1. */
int custom_refuse(const struct custom *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* True when value is a whole number below limit, which is then stored. */
bool custom_read_index(const json_t *value, uint64_t limit, uint32_t *index);

/* The board's cells, with the identity; then, which are on board, edges, lines and colours. */
int custom_parse_shape(struct custom *c);
int custom_parse_relations(struct custom *c);

#endif
