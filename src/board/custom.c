/*
 * custom.c - boards from a file: file:PATH, a JSON description of any other game.
 *
 * The text is read within limits, parsed, and put into the board map by map. What the listed
 * transforms leave out is filled in, the identity goes first, and generators are closed into their
 * group; whether the whole is a group that keeps edges and lines is proved like that of any other
 * board. Every refusal is ERROR_DATA and names the file, the transform, the cell and the reason.
 */
#include "board/custom.h"

#include "base/input.h"
#include "base/json_load.h"
#include "base/perm.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of a board file. A parsed value takes up to 100 bytes, an array or a key twice that; the
 * 65536 cells of the largest board, with 8 transforms and all its edges, stay below 256 MiB. */
#define MAX_NBYTES (16u << 20)
#define MAX_VALUES 1500000u
#define MAX_LISTS  300000u
#define MAX_KEYS   4096u
#define MAX_DEPTH  16u

/* The largest board with a layout of moves: 262144 actions. */
#define MAX_CELLS_FROM_TO 512

#define MAX_NAME_NBYTES  64
#define MAX_LABEL_NBYTES 128

/* The maps of a transform: their keys, and what they move. */
static const struct {
    const char *key, *unit;
} maps[BOARD_N_PARTS] = {{"dst", "cell"}, {"planes", "plane"}, {"actions", "action"}};

int custom_refuse(const struct custom *c, struct error *err, const char *format, ...)
{
    char reason[ERROR_MESSAGE_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return error_set(err, ERROR_DATA, "%s: %s", text_path(c->path).text, reason);
}

/* --- from the file to JSON --- */

/* The whole file, which goes to the board. */
static int read_file(struct custom *c, struct error *err)
{
    struct input in = {0};
    int status = -1;

    if (input_open(&in, c->path, false, err) != 0)
        return -1;
    c->text_nbytes = (size_t)in.n_bytes;
    if (in.n_bytes > MAX_NBYTES)
        custom_refuse(c, err, "a board file has at most %s, not %s", text_size(MAX_NBYTES).text,
                      text_size(in.n_bytes).text);
    else if ((c->board->file_text = calloc(1, c->text_nbytes + 1)) == NULL)
        error_no_memory(err, "board file");
    else
        status = input_read(&in, 0, c->board->file_text, c->text_nbytes, err);
    input_close(&in);
    return status;
}

/* Count what the text is made of, before it becomes values that take far more memory. */
static int check_limits(const struct custom *c, struct error *err)
{
    const char *text = c->board->file_text, *end = text + c->text_nbytes;
    size_t n_values = 0, n_lists = 0, n_keys = 0, depth = 0, max_depth = 0;
    bool in_string = false;

    for (; text < end; text++) {
        if (*text == '"') {
            in_string = !in_string;
        } else if (in_string) {
            text += *text == '\\';
        } else if (*text == '[' || *text == '{') {
            n_lists++;
            n_values++;
            max_depth = ++depth > max_depth ? depth : max_depth;
        } else if (*text == ']' || *text == '}') {
            depth -= depth > 0;
        } else {
            n_values += *text == ',';
            n_keys += *text == ':';
        }
    }
    const struct {
        const char *what;
        size_t n, max;
    } limits[] = {
        {"levels", max_depth, MAX_DEPTH},
        {"keys", n_keys, MAX_KEYS},
        {"lists and objects", n_lists, MAX_LISTS},
        {"values", n_values, MAX_VALUES},
    };

    for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
        if (limits[i].n > limits[i].max)
            return custom_refuse(c, err, "a board file has at most %zu %s, not %zu", limits[i].max,
                                 limits[i].what, limits[i].n);
    return 0;
}

/* The text of the board's file as an object: a reference for json_decref, or NULL. */
static json_t *parse_text(const struct custom *c, struct error *err)
{
    json_error_t where;
    json_t *root;
    bool no_memory;

    if (check_limits(c, err) != 0)
        return NULL;
    root = json_load_bytes(c->board->file_text, c->text_nbytes, &where, &no_memory);
    if (root == NULL && no_memory) {
        error_no_memory(err, "board file");
    } else if (root == NULL) {
        custom_refuse(c, err, "line %d, column %d: %s", where.line, where.column,
                      text_path(where.text).text);
    } else if (!json_is_object(root)) {
        custom_refuse(c, err, "a board file is a JSON object {...}, not a list");
        json_decref(root);
        root = NULL;
    }
    return root;
}

/* Refuse keys that are not in the list, which ends with NULL. `where` names the object. */
static int check_keys(const struct custom *c, json_t *object, const char *const *keys,
                      const char *where, struct error *err)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        const char *const *known = keys;

        while (*known != NULL && strcmp(key, *known) != 0)
            known++;
        if (*known == NULL)
            return custom_refuse(c, err, "%sunknown key %s", where, text_quote(key).text);
    }
    return 0;
}

/* --- names and numbers --- */

/* The bytes of the control character (C0, DEL, C1 in UTF-8) that text starts with, 0 without. */
static size_t control_nbytes(const char *text)
{
    const unsigned char *byte = (const unsigned char *)text;

    if (byte[0] == 0xc2 && byte[1] >= 0x80 && byte[1] < 0xa0)
        return 2;
    return (byte[0] > 0 && byte[0] < 0x20) || byte[0] == 0x7f ? 1 : 0;
}

static bool has_control(const char *text)
{
    while (*text != '\0' && control_nbytes(text) == 0)
        text++;
    return *text != '\0';
}

bool custom_read_index(const json_t *value, uint32_t limit, uint32_t *index)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) >= limit)
        return false;
    *index = (uint32_t)json_integer_value(value);
    return true;
}

static int parse_flag(const struct custom *c, const json_t *value, const char *what, bool *flag,
                      struct error *err)
{
    *flag = json_is_true(value);
    if (value != NULL && !json_is_boolean(value))
        return custom_refuse(c, err, "%s is neither true nor false", what);
    return 0;
}

/* Where the rules, and so the symmetry, come from: for readers of the file. */
static int parse_source(const struct custom *c, const json_t *value, struct error *err)
{
    if (value != NULL && !json_is_string(value))
        return custom_refuse(c, err, "source is not text");
    return 0;
}

static int parse_label(struct custom *c, const json_t *value, struct error *err)
{
    const size_t n_bytes = json_string_length(value);

    c->label = json_string_value(value);
    if (value != NULL && c->label == NULL)
        return custom_refuse(c, err, "name is not text");
    if (c->label != NULL && (n_bytes == 0 || n_bytes > MAX_LABEL_NBYTES || has_control(c->label)))
        return custom_refuse(c, err, "name has 1 to %d bytes without control characters",
                             MAX_LABEL_NBYTES);
    return 0;
}

/* --- transforms --- */

/* Names are for option lists: no spaces, no commas, and no numbers, which would be ids. A '*'
 * joins the names of generators. */
static int parse_name(const struct custom *c, const json_t *value, uint32_t t, struct error *err)
{
    const char *text = json_string_value(value);
    const size_t n_bytes = json_string_length(value);

    if (text == NULL)
        return custom_refuse(c, err, "transforms[%u]: name is missing or not text", t);
    if (n_bytes == 0 || n_bytes > MAX_NAME_NBYTES || has_control(text) ||
        strpbrk(text, c->is_generated ? " ,*" : " ,") != NULL ||
        strspn(text, "0123456789") == n_bytes)
        return custom_refuse(
            c, err,
            "transforms[%u]: %s is not a name: 1 to %d bytes without spaces, commas %sand "
            "control characters, and no number",
            t, text_quote(text).text, MAX_NAME_NBYTES, c->is_generated ? "or '*' " : "");
    for (uint32_t u = 0; u < t; u++)
        if (strcmp(c->board->transforms[u + 1].name, text) == 0)
            return custom_refuse(c, err, "transforms[%u] and transforms[%u] are both called %s", u,
                                 t, text_quote(text).text);
    return board_set_transform_name(c->board, t + 1, text, err);
}

/* Read one map of a transform, as long as those of the transforms before. */
static int parse_map(const struct custom *c, const json_t *list, struct board_transform *t,
                     enum board_part part, struct error *err)
{
    const struct text_quoted name = text_quote(t->name);
    const char *key = maps[part].key, *unit = maps[part].unit;
    const size_t length = json_array_size(list);
    uint32_t *n = board_part_length(c->board, part), *map;

    if (!json_is_array(list) || length == 0)
        return custom_refuse(c, err, "transform %s: %s is missing, empty or not a list [...]",
                             name.text, key);
    if (*n == 0)
        *n = (uint32_t)length;
    if (length != *n)
        return custom_refuse(c, err,
                             "transform %s: %s has %zu entries, expected %u, one for each %s",
                             name.text, key, length, *n, unit);
    map = *board_part_map(t, part) = malloc(length * sizeof *map);
    if (map == NULL)
        return error_no_memory(err, "map of a transform");
    for (uint32_t i = 0; i < *n; i++) {
        const json_t *value = json_array_get(list, i);

        if (!json_is_integer(value))
            return custom_refuse(c, err, "transform %s: %s[%u] is not a whole number", name.text,
                                 key, i);
        if (!custom_read_index(value, UINT32_MAX, &map[i]))
            return custom_refuse(c, err,
                                 "transform %s: %s %u goes to %" JSON_INTEGER_FORMAT
                                 ", expected a number from 0 to %u",
                                 name.text, unit, i, json_integer_value(value), *n - 1);
    }
    return 0;
}

static int parse_transform(struct custom *c, json_t *object, struct error *err)
{
    static const char *const keys[] = {"name", "dst", "swaps_colours", "planes", "actions", NULL};
    const uint32_t index = c->board->n_transforms++ - 1;
    struct board_transform *t = &c->board->transforms[index + 1];
    char where[32], flag[64];

    snprintf(where, sizeof where, "transforms[%u]: ", index);
    snprintf(flag, sizeof flag, "%sswaps_colours", where);
    if (!json_is_object(object))
        return custom_refuse(c, err, "%snot an object {...}", where);
    if (check_keys(c, object, keys, where, err) != 0 ||
        parse_name(c, json_object_get(object, "name"), index, err) != 0 ||
        parse_flag(c, json_object_get(object, "swaps_colours"), flag, &t->swaps_colours, err) != 0)
        return -1;
    for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
        const json_t *list = json_object_get(object, maps[part].key);

        if ((list != NULL || part == BOARD_CELLS) && parse_map(c, list, t, part, err) != 0)
            return -1;
    }
    return 0;
}

static int parse_transforms(struct custom *c, const json_t *list, struct error *err)
{
    const size_t n = json_array_size(list);

    if (!json_is_array(list))
        return custom_refuse(c, err, "transforms is missing or not a list [...]");
    if (n > BOARD_MAX_TRANSFORMS)
        return custom_refuse(c, err, "a board has at most %d transforms, not %zu",
                             BOARD_MAX_TRANSFORMS, n);
    for (size_t i = 0; i < n; i++)
        if (parse_transform(c, json_array_get(list, i), err) != 0)
            return -1;
    return 0;
}

/* Fill in what a listed transform leaves out: planes stay, actions are the cells, with a pass
 * after them where there is one more. What cannot be left out is refused. */
static int complete(const struct custom *c, struct board_transform *t, struct error *err)
{
    const struct board *b = c->board;
    const bool has_actions = t->actions != NULL;

    if (t->planes == NULL && b->n_planes > 0 && t->swaps_colours)
        return custom_refuse(
            c, err,
            "transform %s: planes is missing: it swaps colours, and other transforms "
            "have planes",
            text_quote(t->name).text);
    for (enum board_part part = BOARD_PLANES; part < BOARD_N_PARTS; part++) {
        const uint32_t n = *board_part_length(c->board, part);
        uint32_t **map = board_part_map(t, part);

        if (*map != NULL || n == 0)
            continue;
        *map = malloc(n * sizeof **map);
        if (*map == NULL)
            return error_no_memory(err, "map of a transform");
        perm_set_identity(*map, n);
    }
    if (has_actions || b->n_actions == 0)
        return 0;
    if (b->n_actions == b->n_cells || b->n_actions == b->n_cells + 1)
        memcpy(t->actions, t->dst, b->n_cells * sizeof *t->dst);
    else if (t->swaps_colours || !perm_is_identity(t->dst, b->n_cells) ||
             (t->planes != NULL && !perm_is_identity(t->planes, b->n_planes)))
        return custom_refuse(
            c, err,
            "transform %s: actions is missing: other transforms have %u actions, more "
            "than cells and a pass",
            text_quote(t->name).text, b->n_actions);
    return 0;
}

/* --- the board --- */

/*
 * The board's name: "file:" (so that no built-in board is meant) and what the file calls it, or
 * else the file's own name without folders and ".json", with what is not printable replaced. It
 * goes into outputs, which must not depend on where the file lies.
 */
static int set_name(const struct custom *c, bool is_path, struct error *err)
{
    const char *slash = strrchr(c->path, '/');
    const char *file = slash != NULL ? slash + 1 : c->path;
    size_t n_bytes = strlen(file);
    const bool is_text = text_is_utf8(file, n_bytes);
    char *name;

    if (c->label != NULL)
        return board_set_name(c->board, err, "file:%s", c->label);
    if (is_path && n_bytes > 5 && strcmp(file + n_bytes - 5, ".json") == 0)
        n_bytes -= 5;
    if (board_set_name(c->board, err, "file:%.*s", (int)n_bytes, file) != 0)
        return -1;
    name = c->board->name + strlen("file:");
    for (size_t i = 0; i < n_bytes; i++) {
        const size_t n_control = control_nbytes(name + i);

        if (n_control > 0)
            memset(name + i, '_', n_control);
        else if (!is_text && (unsigned char)name[i] >= 0x80)
            name[i] = '_';
    }
    return 0;
}

/* The transforms of a board whose file gives none: all that its edges, lines and colours allow, or
 * a subgroup of them. */
static int find_group(const struct custom *c, const json_t *root, struct error *err)
{
    static const char *const words[] = {[GROUP_TURNS] = "turns", [GROUP_ROTATIONS] = "rotations"};
    const json_t *subgroup = json_object_get(root, "subgroup");
    struct error refusal = {0};
    enum group_which which = GROUP_WHOLE;

    if (c->is_generated)
        return custom_refuse(c, err, "generators is true, but transforms is missing");
    for (enum group_which w = GROUP_TURNS; subgroup != NULL && w <= GROUP_ROTATIONS; w++)
        if (json_is_string(subgroup) && strcmp(json_string_value(subgroup), words[w]) == 0)
            which = w;
    if (subgroup != NULL && which == GROUP_WHOLE)
        return custom_refuse(c, err, "subgroup is neither \"turns\" nor \"rotations\"");
    if (group_find(c->board, which, &refusal) == 0)
        return 0;
    return refusal.kind == ERROR_DATA ? custom_refuse(c, err, "%s", refusal.message)
                                      : error_pass(err, &refusal);
}

/* Fill *c and its board from the text that the board has. */
static int build_from(struct custom *c, bool is_path, struct error *err)
{
    static const char *const keys[] = {
        "name",    "source",   "cells",    "rows",       "cols",       "grid",  "hexagon",
        "star",    "triangle", "without",  "neighbours", "edges",      "lines", "straight",
        "colours", "players",  "subgroup", "transforms", "generators", NULL};
    struct board *b = c->board;
    json_t *root = parse_text(c, err);
    int status = -1;

    if (root == NULL || check_keys(c, root, keys, "", err) != 0 ||
        parse_label(c, json_object_get(root, "name"), err) != 0 ||
        parse_flag(c, json_object_get(root, "generators"), "generators", &c->is_generated, err) !=
            0 ||
        parse_source(c, json_object_get(root, "source"), err) != 0 ||
        custom_parse_shape(c, root, err) != 0 || custom_parse_relations(c, root, err) != 0)
        goto out;
    if (json_object_get(root, "transforms") == NULL &&
        (b->n_edges > 0 || b->n_lines > 0 || json_object_get(root, "subgroup") != NULL)) {
        status = find_group(c, root, err);
        goto out;
    }
    if (json_object_get(root, "subgroup") != NULL) {
        custom_refuse(c, err, "subgroup and transforms are both given: leave one out");
        goto out;
    }
    if (parse_transforms(c, json_object_get(root, "transforms"), err) != 0)
        goto out;
    /* One of them may be the identity, which is there already. */
    if (b->n_transforms > 1 &&
        (b->n_transforms - 1) * (uint64_t)group_n_entries(b) > GROUP_MAX_ENTRIES) {
        custom_refuse(
            c, err,
            "a board has at most %d transforms with %u entries together, and each here has %u "
            "entries",
            BOARD_MAX_TRANSFORMS, GROUP_MAX_ENTRIES, group_n_entries(b));
        goto out;
    }
    for (uint32_t t = 0; t < b->n_transforms; t++)
        if (complete(c, &b->transforms[t], err) != 0)
            goto out;
    status = group_arrange(b, c->is_generated, err);
    if (status == 0 && b->n_transforms > BOARD_MAX_TRANSFORMS)
        status = custom_refuse(c, err, "a board has at most %d transforms, not %u",
                               BOARD_MAX_TRANSFORMS, b->n_transforms);
out:
    if (status == 0)
        status = set_name(c, is_path, err);
    json_decref(root);
    return status;
}

static int build(struct board *b, const char *path, struct error *err)
{
    struct custom c = {.path = path, .board = b};

    if (path == NULL || *path == '\0')
        return error_set(err, ERROR_USAGE, "board file needs a path: %s", b->family->syntax);
    return read_file(&c, err) != 0 ? -1 : build_from(&c, true, err);
}

int board_build_from_text(struct board *b, const char *label, const char *text, struct error *err)
{
    struct custom c = {.path = label, .board = b, .text_nbytes = strlen(text)};

    b->file_text = strdup(text);
    return b->file_text != NULL ? build_from(&c, false, err) : error_no_memory(err, "board file");
}

static uint64_t actions_length(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return b->n_actions;
}

static uint64_t actions_image(const struct action_layout *layout, const struct board *b, uint32_t t,
                              uint64_t action)
{
    (void)layout;
    return b->transforms[t].actions[action];
}

static void actions_describe(const struct action_layout *layout, const struct board *b,
                             uint64_t action, char *text, size_t n_bytes)
{
    (void)layout, (void)b;
    snprintf(text, n_bytes, "action %" PRIu64, action);
}

static const struct action_layout layout_file = {
    .name = "file",
    .summary = "as the actions of the board file say",
    .length = actions_length,
    .image = actions_image,
    .flags = action_always_encodable,
    .cell = action_without_cell,
    .describe = actions_describe,
};

static uint64_t moves_length(const struct action_layout *layout, const struct board *b)
{
    (void)layout;
    return b->n_cells <= MAX_CELLS_FROM_TO ? (uint64_t)b->n_cells * b->n_cells : 0;
}

static uint64_t moves_image(const struct action_layout *layout, const struct board *b, uint32_t t,
                            uint64_t action)
{
    const uint32_t *dst = b->transforms[t].dst;

    (void)layout;
    return (uint64_t)dst[action / b->n_cells] * b->n_cells + dst[action % b->n_cells];
}

static unsigned moves_flags(const struct action_layout *layout, const struct board *b,
                            uint64_t action)
{
    (void)layout;
    return b->on_board[action / b->n_cells] && b->on_board[action % b->n_cells] ? ACTION_ENCODABLE
                                                                                : 0;
}

static int64_t moves_cell(const struct action_layout *layout, const struct board *b,
                          uint64_t action)
{
    (void)layout;
    return (int64_t)(action / b->n_cells);
}

static const char *moves_kind(const struct action_layout *layout, const struct board *b,
                              uint64_t action)
{
    (void)layout, (void)b, (void)action;
    return "movement";
}

static void moves_describe(const struct action_layout *layout, const struct board *b,
                           uint64_t action, char *text, size_t n_bytes)
{
    char from[32], to[32];

    (void)layout;
    board_cell_text(b, (uint32_t)(action / b->n_cells), from, sizeof from);
    board_cell_text(b, (uint32_t)(action % b->n_cells), to, sizeof to);
    snprintf(text, n_bytes, "from %s to %s", from, to);
}

static const struct action_layout layout_from_to = {
    .name = "from-to",
    .summary = "from * cells + to",
    .length = moves_length,
    .image = moves_image,
    .flags = moves_flags,
    .cell = moves_cell,
    .kind = moves_kind,
    .describe = moves_describe,
};

/* What the file says about actions goes before what cells suggest. */
static const struct action_layout *const layouts[] = {
    &layout_file,
    &action_layout_cells,
    &action_layout_cells_pass,
    &action_layout_cells_board,
    &action_layout_cells_board_pass,
    &layout_from_to,
};

const struct board_family board_family_file = {
    .name = "file",
    .syntax = "file:PATH",
    .summary = "a board described in a JSON file, for any other game",
    .example = "file:share/boards/triangle.json",
    .build = build,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
};
