/*
 * custom.c - boards from a file: file:PATH, a JSON description of any other game.
 *
 * The text is checked against limits and parsed; custom_shape.c reads cells, edges, lines and
 * colours; then transforms are read from the file or found from these. The identity goes first and
 * generators are closed into their group; report.c proves the result like any other board. Every
 * refusal is ERROR_DATA and names the file, the transform, the cell and the reason.
 */
#include "board/families.h"

#include "base/input.h"
#include "base/json_load.h"
#include "base/perm.h"
#include "board/group.h"

/* Limits of a board file. A parsed value takes up to 100 bytes, an array or key twice that: the
 * largest board of 65536 cells, with 8 transforms and all edges, stays below 256 MiB. */
#define MAX_NBYTES (16u << 20)
#define MAX_VALUES 1500000u
#define MAX_LISTS  300000u
#define MAX_KEYS   4096u
#define MAX_DEPTH  16u

#define MAX_NAME_NBYTES  64
#define MAX_LABEL_NBYTES 128

/* --- from the file to JSON --- */

/* Count the parts of the text before it is parsed, which takes far more memory. */
static int check_limits(const struct custom *c)
{
    static const struct {
        const char *what;
        size_t max;
    } limits[] = {{"levels", MAX_DEPTH},
                  {"keys", MAX_KEYS},
                  {"lists and objects", MAX_LISTS},
                  {"values", MAX_VALUES}};
    const char *text = c->board->file_text, *end = text + c->text_nbytes;
    size_t n[4] = {0}, depth = 0;
    bool in_string = false;

    for (; text < end; text++) {
        const bool opens = !in_string && (*text == '[' || *text == '{');

        if (*text == '"')
            in_string = !in_string;
        else if (in_string)
            text += *text == '\\';
        else if ((*text == ']' || *text == '}') && depth > 0)
            depth--;
        depth += opens;
        n[0] = depth > n[0] ? depth : n[0];
        n[1] += !in_string && *text == ':';
        n[2] += opens;
        n[3] += opens || (!in_string && *text == ',');
    }
    for (size_t i = 0; i < 4; i++)
        if (n[i] > limits[i].max)
            return custom_refuse(c, "a board file has at most %zu %s, not %zu", limits[i].max,
                                 limits[i].what, n[i]);
    return 0;
}

/* Refuse keys that are not in the list " one: two:text ", and values that are not of the type after
 * the colon, if it says one. `where` names the object. */
static int check_keys(const struct custom *c, json_t *object, const char *known, const char *where)
{
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        const char *found = strstr(known, text_format(" %s:", key).text);

        if (strpbrk(key, " :") != NULL || found == NULL)
            return custom_refuse(c, "%sunknown key %s", where, text_quote(key).text);
        const char type = found[strlen(key) + 2];
        if (type == 't' && !json_is_string(value))
            return custom_refuse(c, "%s%s is not text", where, key);
        if (type == 'f' && !json_is_boolean(value))
            return custom_refuse(c, "%s%s is neither true nor false", where, key);
        if (type == 'l' && !json_is_array(value))
            return custom_refuse(c, "%s%s is not a list [...]", where, key);
    }
    return 0;
}

/* True for a text of 1 to max_nbytes bytes without control characters. */
static bool is_clean(const json_t *value, size_t max_nbytes)
{
    const char *text = json_string_value(value);
    const size_t n_bytes = json_string_length(value);

    while (*text != '\0' && text_control_nbytes(text) == 0)
        text++;
    return n_bytes > 0 && n_bytes <= max_nbytes && *text == '\0';
}

/* --- transforms --- */

/* Read one map of a transform. */
static int parse_map(const struct custom *c, const json_t *list, const struct group_map *map,
                     const char *transform)
{
    const struct text_quoted name = text_quote(transform);
    const size_t length = json_array_size(list);

    if (!json_is_array(list) || length == 0)
        return custom_refuse(c, "transform %s: %s is missing, empty or not a list [...]", name.text,
                             map->key);
    if (length != map->n)
        return custom_refuse(c, "transform %s: %s has %zu entries, expected %u, one for each %s",
                             name.text, map->key, length, map->n, map->unit);
    for (uint32_t i = 0; i < map->n; i++) {
        const json_t *value = json_array_get(list, i);

        if (!json_is_integer(value))
            return custom_refuse(c, "transform %s: %s[%u] is not a whole number", name.text,
                                 map->key, i);
        if (!custom_read_index(value, UINT32_MAX, &map->map[i]))
            return custom_refuse(c,
                                 "transform %s: %s %u goes to %" JSON_INTEGER_FORMAT
                                 ", expected a number from 0 to %u",
                                 name.text, map->unit, i, json_integer_value(value), map->n - 1);
    }
    return 0;
}

/* Read the maps of transform t. Planes that are left out stay in place; actions that are left out
 * move as the cells do, with a last one staying in place as a pass. Where that cannot be meant, the
 * map must be given. */
static int parse_maps(const struct custom *c, const json_t *object, uint32_t t)
{
    const struct board *b = c->board;
    const struct board_transform *one = &b->transforms[t];

    for (unsigned i = 0; i < GROUP_N_MAPS; i++) {
        const struct group_map map = group_map_of(b, t, i);
        const json_t *list = json_object_get(object, map.key);

        if ((list != NULL || i == 0) && parse_map(c, list, &map, one->name) != 0)
            return -1;
    }
    if (json_object_get(object, "planes") == NULL && b->n_planes > 0 && one->swaps_colours)
        return custom_refuse(c,
                             "transform %s: planes is missing: it swaps colours, and other "
                             "transforms have planes",
                             text_quote(one->name).text);
    if (json_object_get(object, "actions") != NULL || b->n_actions == 0)
        return 0;
    if (b->n_actions == b->n_cells || b->n_actions == b->n_cells + 1)
        memcpy(one->actions, one->dst, b->n_cells * sizeof *one->dst);
    else if (!group_is_identity(b, t))
        return custom_refuse(c,
                             "transform %s: actions is missing: other transforms have %u actions, "
                             "more than cells and a pass",
                             text_quote(one->name).text, b->n_actions);
    return 0;
}

/* Read the listed transforms and arrange them. One of them may be the identity, which the board
 * already has. Names are used in option lists: no spaces, no commas, and no numbers, which would be
 * ids; '*' joins the names of generators. */
static int parse_transforms(struct custom *c)
{
    const json_t *list = json_object_get(c->root, "transforms");
    struct board *b = c->board;
    const size_t n = json_array_size(list);

    if (json_object_get(c->root, "subgroup") != NULL)
        return custom_refuse(c, "subgroup and transforms are both given: leave one out");
    if (!json_is_array(list))
        return custom_refuse(
            c, list == NULL && json_object_get(c->root, "edges") != NULL
                   ? "transforms is missing, and edges is empty: give one of them, or lines"
                   : "transforms is missing or not a list [...]");
    if (n > BOARD_MAX_TRANSFORMS)
        return custom_refuse(c, "a board has at most %d transforms, not %zu", BOARD_MAX_TRANSFORMS,
                             n);
    for (size_t i = 0; i < n; i++) { /* the first map of a kind sets the length of all */
        const json_t *object = json_array_get(list, i);

        if (b->n_planes == 0)
            b->n_planes = (uint32_t)json_array_size(json_object_get(object, "planes"));
        if (b->n_actions == 0)
            b->n_actions = (uint32_t)json_array_size(json_object_get(object, "actions"));
    }
    if (n * group_n_entries(b) > GROUP_MAX_ENTRIES)
        return custom_refuse(c,
                             "a board has at most %d transforms with %u entries together, and each "
                             "here has %u entries",
                             BOARD_MAX_TRANSFORMS, GROUP_MAX_ENTRIES, group_n_entries(b));
    if (board_alloc_maps(b, 0, c->err) != 0)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        json_t *object = json_array_get(list, i);
        const json_t *label = json_object_get(object, "name");
        const char *name = json_string_value(label);
        struct board_transform *t = &b->transforms[b->n_transforms++];
        char where[32];

        snprintf(where, sizeof where, "transforms[%u]: ", i);
        if (!json_is_object(object))
            return custom_refuse(c, "%snot an object {...}", where);
        if (check_keys(c, object, " name: dst: swaps_colours:flag planes: actions: ", where) != 0)
            return -1;
        if (name == NULL)
            return custom_refuse(c, "%sname is missing or not text", where);
        if (!is_clean(label, MAX_NAME_NBYTES) ||
            strpbrk(name, c->is_generated ? " ,*" : " ,") != NULL ||
            strspn(name, "0123456789") == json_string_length(label))
            return custom_refuse(c,
                                 "%s%s is not a name: 1 to %d bytes without spaces, commas %sand "
                                 "control characters, and no number",
                                 where, text_quote(name).text, MAX_NAME_NBYTES,
                                 c->is_generated ? "or '*' " : "");
        for (uint32_t u = 0; u < i; u++)
            if (strcmp(b->transforms[u + 1].name, name) == 0)
                return custom_refuse(c, "transforms[%u] and transforms[%u] are both called %s", u,
                                     i, text_quote(name).text);
        if (board_set_text(&b->transforms[i + 1].name, c->err, "%s", name) != 0)
            return -1;
        t->swaps_colours = json_is_true(json_object_get(object, "swaps_colours"));
        if (board_alloc_maps(b, i + 1, c->err) != 0 || parse_maps(c, object, i + 1) != 0)
            return -1;
    }
    if (group_arrange(b, c->is_generated, c->err) != 0)
        return -1;
    if (b->n_transforms > BOARD_MAX_TRANSFORMS)
        return custom_refuse(c, "a board has at most %d transforms, not %u", BOARD_MAX_TRANSFORMS,
                             b->n_transforms);
    return 0;
}

/* --- the board --- */

/* Fill *c and its board from the text of the board file. */
static int parse_board(struct custom *c)
{
    static const char keys[] =
        " name:text source:text game:text cells: rows: cols: grid: hexagon: star: triangle: "
        "without: neighbours: edges:list lines:list straight: colours: players: subgroup: "
        "transforms: generators:flag ";
    enum group_which which = GROUP_WHOLE;
    struct error refusal = {0};
    json_error_t where;

    if (check_limits(c) != 0)
        return -1;
    c->root = json_load_bytes(c->board->file_text, c->text_nbytes, &where, "board file", c->err);
    if (c->root == NULL)
        return custom_refuse(c, "line %d, column %d: %s", where.line, where.column,
                             text_path(where.text).text);
    if (!json_is_object(c->root))
        return custom_refuse(c, "a board file is a JSON object {...}, not a list");
    const json_t *label = json_object_get(c->root, "name");
    c->label = json_string_value(label);
    c->is_generated = json_is_true(json_object_get(c->root, "generators"));
    if (check_keys(c, c->root, keys, "") != 0)
        return -1;
    if (label != NULL && !is_clean(label, MAX_LABEL_NBYTES))
        return custom_refuse(c, "name has 1 to %d bytes without control characters",
                             MAX_LABEL_NBYTES);
    if (custom_parse_cells(c) != 0)
        return -1;
    const json_t *subgroup = json_object_get(c->root, "subgroup");
    if (json_object_get(c->root, "transforms") != NULL ||
        (c->board->n_edges == 0 && c->board->n_lines == 0 && subgroup == NULL))
        return parse_transforms(c);
    /* Find all transforms that edges, lines and colours allow, or a subgroup of them. */
    const char *word = json_string_value(subgroup);
    if (c->is_generated)
        return custom_refuse(c, "generators is true, but transforms is missing");
    if (word != NULL && strcmp(word, "turns") == 0)
        which = GROUP_TURNS;
    else if (word != NULL && strcmp(word, "rotations") == 0)
        which = GROUP_ROTATIONS;
    else if (subgroup != NULL)
        return custom_refuse(c, "subgroup is neither \"turns\" nor \"rotations\"");
    if (group_find(c->board, which, &refusal) == 0)
        return 0;
    return refusal.kind == ERROR_DATA ? custom_refuse(c, "%s", refusal.message)
                                      : error_pass(c->err, &refusal);
}

/*
 * Name the board "file:" (which no built-in board's name begins with) and the name in the file, or
 * else the file's own name without folders and ".json", with unprintable characters replaced. The
 * name goes into outputs, which must not depend on where the file is.
 */
static int set_name(const struct custom *c, bool is_path)
{
    const char *file = text_base_name(c->path);
    size_t n_bytes = strlen(file);
    const bool is_text = text_is_utf8(file, n_bytes);

    if (c->label != NULL)
        return board_set_text(&c->board->name, c->err, "file:%s", c->label);
    if (is_path && text_ends_with(file, ".json"))
        n_bytes -= 5;
    if (board_set_text(&c->board->name, c->err, "file:%.*s", (int)n_bytes, file) != 0)
        return -1;
    for (char *name = c->board->name + strlen("file:"); *name != '\0'; name++) {
        const size_t n_control = text_control_nbytes(name);

        if (n_control > 0)
            memset(name, '_', n_control);
        else if (!is_text && (unsigned char)*name >= 0x80)
            *name = '_';
    }
    return 0;
}

int board_build_custom(struct board *b, const char *path, const char *text, struct error *err)
{
    struct custom c = {.path = path, .board = b, .err = err};

    if (text == NULL && (path == NULL || *path == '\0'))
        return error_set(err, ERROR_USAGE, "board file needs a path: %s", b->family->syntax);
    if (text != NULL) {
        c.text_nbytes = strlen(text);
        b->file_text = strdup(text);
        if (b->file_text == NULL)
            return error_no_memory(err, "board file");
    } else {
        b->file_text = input_load(path, MAX_NBYTES, "board file", &c.text_nbytes, err);
        if (b->file_text == NULL)
            return custom_refuse(&c, "a board file has at most %s, not %s",
                                 text_size(MAX_NBYTES).text, text_size(c.text_nbytes).text);
    }
    const int status = parse_board(&c) != 0 ? -1 : set_name(&c, text == NULL);
    json_decref(c.root);
    free(c.marked);
    return status;
}

/* --- the family --- */

const struct board_family board_family_file = {
    .name = "file",
    .syntax = "file:PATH",
    .summary = "a board described in a JSON file, for any other game",
    .example = "file:share/boards/triangle.json",
    /* The actions that a file defines come first. */
    BOARD_LAYOUTS(&action_layout_file, BOARD_CELLS, &action_layout_cells_board,
                  &action_layout_cells_board_pass, &action_layout_moves),
};
