/* custom_parse.c - see custom.h: from a JSON object to the description of a board. */
#include "board/custom.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NAME_NBYTES  64
#define MAX_LABEL_NBYTES 128
#define N_OF(table)      (sizeof(table) / sizeof(table)[0])

static const char *const board_keys[] = {"name",       "cells", "rows",  "cols",
                                         "transforms", "edges", "lines", "generators"};
static const char *const transform_keys[] = {"name", "dst", "swaps_colours", "planes", "actions"};

static const struct custom_map_kind map_cells = {"dst", "cell"};
static const struct custom_map_kind map_planes = {"planes", "plane"};
static const struct custom_map_kind map_actions = {"actions", "action"};

/* Refuse keys that are not in the table. `where` names the object: "", "transform 3: ". */
static int check_keys(const struct custom *c, json_t *object, const char *const *keys,
                      size_t n_keys, const char *where, struct error *err)
{
    void *it = json_object_iter(object);

    for (; it != NULL; it = json_object_iter_next(object, it)) {
        const char *key = json_object_iter_key(it);
        size_t k = 0;

        while (k < n_keys && strcmp(key, keys[k]) != 0)
            k++;
        if (k == n_keys)
            return custom_refuse(c, err, "%sunknown key %s", where, text_quote(key).text);
    }
    return 0;
}

size_t custom_control_nbytes(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;

    if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
        return 2;
    return (byte[0] > 0 && byte[0] < 0x20) || byte[0] == 0x7f ? 1 : 0;
}

static bool has_control(const char *text)
{
    while (*text != '\0' && custom_control_nbytes(text) == 0)
        text++;
    return *text != '\0';
}

/* A copy of the board's name, or NULL without one. */
static int parse_label(struct custom *c, const json_t *value, struct error *err)
{
    size_t n_bytes = json_string_length(value);

    if (value == NULL)
        return 0;
    if (!json_is_string(value))
        return custom_refuse(c, err, "name is no text");
    if (n_bytes == 0 || n_bytes > MAX_LABEL_NBYTES || has_control(json_string_value(value)))
        return custom_refuse(c, err, "name has 1 to %d bytes without control characters",
                             MAX_LABEL_NBYTES);
    c->label = strdup(json_string_value(value));
    return c->label != NULL ? 0 : error_no_memory(err, "board name");
}

/* A whole number from 1 to BOARD_MAX_CELLS. */
static int parse_count(const struct custom *c, const json_t *value, const char *key,
                       uint32_t *count, struct error *err)
{
    if (!json_is_integer(value) || json_integer_value(value) < 1 ||
        json_integer_value(value) > BOARD_MAX_CELLS)
        return custom_refuse(c, err, "%s is no whole number from 1 to %d", key, BOARD_MAX_CELLS);
    *count = (uint32_t)json_integer_value(value);
    return 0;
}

static int parse_box(const struct custom *c, const json_t *root, struct error *err)
{
    const json_t *cells = json_object_get(root, "cells");
    const json_t *rows = json_object_get(root, "rows");
    const json_t *cols = json_object_get(root, "cols");
    struct board *b = c->board;
    uint64_t n_cells;

    if ((rows == NULL) != (cols == NULL) || (cells == NULL) == (rows == NULL))
        return custom_refuse(c, err, "give either cells or rows and cols");
    if (cells != NULL)
        return parse_count(c, cells, "cells", &b->n_cells, err);
    if (parse_count(c, rows, "rows", &b->rows, err) != 0 ||
        parse_count(c, cols, "cols", &b->cols, err) != 0)
        return -1;
    n_cells = (uint64_t)b->rows * b->cols;
    if (n_cells > BOARD_MAX_CELLS)
        return custom_refuse(c, err, "%u x %u cells are more than %d", b->rows, b->cols,
                             BOARD_MAX_CELLS);
    b->n_cells = (uint32_t)n_cells;
    return 0;
}

static int parse_flag(const struct custom *c, const json_t *value, const char *where,
                      const char *key, bool *flag, struct error *err)
{
    *flag = json_is_true(value);
    if (value != NULL && !json_is_boolean(value))
        return custom_refuse(c, err, "%s%s is neither true nor false", where, key);
    return 0;
}

/* Names are for option lists: no spaces, no commas, and no numbers, which would be ids. A '*'
 * joins the names of generators. */
static int parse_name(const struct custom *c, const json_t *value, uint32_t index, char **name,
                      struct error *err)
{
    const char *text = json_string_value(value);
    size_t n_bytes = json_string_length(value);

    if (text == NULL)
        return custom_refuse(c, err, "transforms[%u]: name is missing or no text", index);
    if (n_bytes == 0 || n_bytes > MAX_NAME_NBYTES || has_control(text) ||
        strpbrk(text, c->is_generated ? " ,*" : " ,") != NULL ||
        strspn(text, "0123456789") == n_bytes)
        return custom_refuse(c, err,
                             "transforms[%u]: %s is no name: 1 to %d bytes without spaces, commas "
                             "%sand control characters, and no number",
                             index, text_quote(text).text, MAX_NAME_NBYTES,
                             c->is_generated ? "or '*' " : "");
    for (uint32_t t = 0; t < index; t++)
        if (strcmp(c->transforms[t].name, text) == 0)
            return custom_refuse(c, err, "transforms[%u] and transforms[%u] are both called %s", t,
                                 index, text_quote(text).text);
    *name = strdup(text);
    return *name != NULL ? 0 : error_no_memory(err, "transform name");
}

static int parse_maps(const struct custom *c, const json_t *object, struct board_transform *t,
                      struct error *err)
{
    const json_t *planes = json_object_get(object, "planes");
    const json_t *actions = json_object_get(object, "actions");
    struct board *b = c->board;

    if (custom_parse_map(c, json_object_get(object, "dst"), &map_cells, t->name, &b->n_cells,
                         &t->dst, err) != 0)
        return -1;
    if (planes != NULL &&
        custom_parse_map(c, planes, &map_planes, t->name, &b->n_planes, &t->planes, err) != 0)
        return -1;
    if (actions == NULL)
        return 0;
    return custom_parse_map(c, actions, &map_actions, t->name, &b->n_actions, &t->actions, err);
}

static int parse_transform(struct custom *c, json_t *object, uint32_t index, struct error *err)
{
    struct board_transform *t = &c->transforms[index];
    char where[32];

    snprintf(where, sizeof where, "transforms[%u]: ", index);
    if (!json_is_object(object))
        return custom_refuse(c, err, "%sno object {...}", where);
    if (check_keys(c, object, transform_keys, N_OF(transform_keys), where, err) != 0 ||
        parse_name(c, json_object_get(object, "name"), index, &t->name, err) != 0 ||
        parse_flag(c, json_object_get(object, "swaps_colours"), where, "swaps_colours",
                   &t->swaps_colours, err) != 0 ||
        parse_maps(c, object, t, err) != 0)
        return -1;
    c->n_transforms = index + 1;
    return 0;
}

static int parse_transforms(struct custom *c, const json_t *list, struct error *err)
{
    size_t n = json_array_size(list);

    if (!json_is_array(list))
        return custom_refuse(c, err, "transforms is missing or no list [...]");
    if (n > BOARD_MAX_TRANSFORMS)
        return custom_refuse(c, err, "a board has at most %d transforms, not %zu",
                             BOARD_MAX_TRANSFORMS, n);
    for (size_t i = 0; i < n; i++)
        if (parse_transform(c, json_array_get(list, i), (uint32_t)i, err) != 0)
            return -1;
    return 0;
}

int custom_parse(struct custom *c, json_t *root, struct error *err)
{
    c->transforms = calloc(BOARD_MAX_TRANSFORMS, sizeof *c->transforms);
    if (c->transforms == NULL)
        return error_no_memory(err, "transforms of a board");
    if (check_keys(c, root, board_keys, N_OF(board_keys), "", err) != 0 ||
        parse_label(c, json_object_get(root, "name"), err) != 0 ||
        parse_flag(c, json_object_get(root, "generators"), "", "generators", &c->is_generated,
                   err) != 0 ||
        parse_box(c, root, err) != 0 ||
        parse_transforms(c, json_object_get(root, "transforms"), err) != 0)
        return -1;
    if (custom_parse_edges(c, json_object_get(root, "edges"), err) != 0)
        return -1;
    return custom_parse_lines(c, json_object_get(root, "lines"), err);
}
