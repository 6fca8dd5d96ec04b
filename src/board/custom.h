/*
 * custom.h - a board from a file, between its JSON text and the finished board.
 *
 * The steps, each in a source of its own: custom_load (text to JSON), custom_parse (JSON to maps),
 * custom_close (maps to a group), custom_check (edges and lines kept). Every refusal is ERROR_DATA
 * and names the file, the transform, the cell and the reason.
 */
#ifndef SYMAUG_BOARD_CUSTOM_H
#define SYMAUG_BOARD_CUSTOM_H

#include "base/error.h"
#include "board/board.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/*
 * An element of the group: one permutation of everything that a transform moves, so that products
 * and comparisons treat all parts alike. First the cells, then the planes, then the actions (each
 * numbered behind the last), then the two colours.
 */
struct custom_element {
    char *name;    /* owned */
    uint32_t *map; /* owned, custom_n_parts entries, a dst map */
    uint64_t hash; /* of the map */
};

struct custom {
    const char *path;    /* borrowed: for messages */
    const char *text;    /* borrowed: what the file says, or NULL: it is read */
    struct board *board; /* borrowed: gets box, n_cells, n_planes, n_actions, edges and lines */
    char *label;         /* owned: the board's name in the file, or NULL */
    bool is_generated;   /* the listed transforms are generators */
    bool is_lenient;     /* for a report: let pass what is no permutation and no group */

    /* Set by custom_parse: the transforms of the file. Owned, room for BOARD_MAX_TRANSFORMS;
     * maps the file leaves out are NULL, and so are all src. */
    struct board_transform *transforms;
    uint32_t n_transforms;

    /* Set by custom_close: the group, identity first, then those of the file in its order, then
     * products. Owned, room for BOARD_MAX_TRANSFORMS. */
    struct custom_element *elements;
    uint32_t n_elements;
};

/* Entries of an element's map, and where the parts behind the cells begin. */
static inline uint32_t custom_first_plane(const struct custom *c)
{
    return c->board->n_cells;
}

static inline uint32_t custom_first_action(const struct custom *c)
{
    return custom_first_plane(c) + c->board->n_planes;
}

static inline uint32_t custom_first_colour(const struct custom *c)
{
    return custom_first_action(c) + c->board->n_actions;
}

static inline uint32_t custom_n_parts(const struct custom *c)
{
    return custom_first_colour(c) + 2;
}

/* Refuse the file: ERROR_DATA "PATH: ...". Returns -1. */
int custom_refuse(const struct custom *c, struct error *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Read a file as one JSON object, within limits that keep its memory below 256 MiB; its text goes
 * to the board. Returns a reference for json_decref, or NULL. */
json_t *custom_load(const struct custom *c, struct error *err);

/* Fill *c and its board from the JSON object. What is wrong with one map, list or key by itself
 * is refused here. */
int custom_parse(struct custom *c, json_t *root, struct error *err);

/* The bytes of the control character (C0, DEL, C1 in UTF-8) that text starts with, 0 without. */
size_t custom_control_nbytes(const char *text);

/* Parts of custom_parse: one map, and the two lists. */

/* What a map moves, for messages. */
struct custom_map_kind {
    const char *key;  /* "dst" */
    const char *unit; /* "cell" */
};

/*
 * Read a list of whole numbers that is a permutation of 0 to n - 1 into *map (owned by the
 * caller). *n is the length it must have, or 0 for any, and is then set to it. `transform` is the
 * transform's name.
 */
int custom_parse_map(const struct custom *c, const json_t *list, const struct custom_map_kind *kind,
                     const char *transform, uint32_t *n, uint32_t **map, struct error *err);

/* Read "edges" (undirected, each kept once) and "lines"; NULL for a missing one. */
int custom_parse_edges(const struct custom *c, const json_t *list, struct error *err);
int custom_parse_lines(const struct custom *c, const json_t *list, struct error *err);

/* The parts of a listed transform as one map of custom_n_parts entries, with what the file leaves
 * out filled in; refuses what cannot be left out. */
int custom_join(const struct custom *c, const struct board_transform *t, uint32_t *map,
                struct error *err);

/* Put the identity first, refuse equal transforms, and close
 * the generators into their group, or refuse a list that is none. */
int custom_close(struct custom *c, struct error *err);

/* Refuse elements that lose an edge or a line of the board. */
int custom_check(const struct custom *c, struct error *err);

/* Free what is owned; accepts a zeroed one. */
void custom_release(struct custom *c);

#endif
