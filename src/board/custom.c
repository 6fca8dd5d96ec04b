/* custom.c - boards from a file: file:PATH, a JSON description of any other game. */
#include "board/custom.h"

#include "base/perm.h"
#include "base/text.h"
#include "board/families.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void custom_release(struct custom *c)
{
    for (uint32_t t = 0; c->transforms != NULL && t < BOARD_MAX_TRANSFORMS; t++) {
        free(c->transforms[t].name);
        free(c->transforms[t].dst);
        free(c->transforms[t].planes);
        free(c->transforms[t].actions);
    }
    for (uint32_t e = 0; c->elements != NULL && e < BOARD_MAX_TRANSFORMS; e++) {
        free(c->elements[e].name);
        free(c->elements[e].map);
    }
    free(c->transforms);
    free(c->elements);
    free(c->label);
    *c = (struct custom){0};
}

/*
 * The board's name: "file:" (so that no built-in board is meant) and what the file calls it, or
 * else the file's own name without folders and ".json", with what is not printable replaced. It
 * goes into outputs, which must not depend on where the file lies.
 */
static int set_name(const struct custom *c, struct error *err)
{
    const char *slash = strrchr(c->path, '/');
    const char *file = slash != NULL ? slash + 1 : c->path;
    size_t n_bytes = strlen(file);
    bool is_text = text_is_utf8(file, n_bytes);
    char *name;

    if (c->label != NULL)
        return board_set_name(c->board, err, "file:%s", c->label);
    if (c->text == NULL && n_bytes > 5 && strcmp(file + n_bytes - 5, ".json") == 0)
        n_bytes -= 5;
    if (board_set_name(c->board, err, "file:%.*s", (int)n_bytes, file) != 0)
        return -1;
    name = c->board->name + strlen("file:");
    for (size_t i = 0; i < n_bytes; i++) {
        size_t n_control = custom_control_nbytes(name + i);

        if (n_control > 0)
            memset(name + i, '_', n_control);
        else if (!is_text && (unsigned char)name[i] >= 0x80)
            name[i] = '_';
    }
    return 0;
}

/* A copy of one part of an element's map, numbered from 0; NULL for a part without entries. */
static int split(const uint32_t *map, uint32_t first, uint32_t n, uint32_t **part,
                 struct error *err)
{
    if (n == 0)
        return 0;
    *part = malloc(n * sizeof **part);
    if (*part == NULL)
        return error_no_memory(err, "map of a transform");
    for (uint32_t i = 0; i < n; i++)
        (*part)[i] = map[first + i] - first;
    return 0;
}

/* Turn the group into the board's transforms. */
static int fill_transforms(const struct custom *c, struct error *err)
{
    struct board *b = c->board;
    const uint32_t colour = custom_first_colour(c);
    int status = b->cols > 0 ? board_alloc(b, b->rows, b->cols, c->n_elements, err)
                             : board_alloc_cells(b, b->n_cells, c->n_elements, err);

    for (uint32_t t = 0; t < c->n_elements && status == 0; t++) {
        const uint32_t *map = c->elements[t].map;
        struct board_transform *to = &b->transforms[t];

        memcpy(to->dst, map, b->n_cells * sizeof *map);
        to->swaps_colours = map[colour] != colour;
        if (board_set_transform_name(b, t, c->elements[t].name, err) != 0 ||
            split(map, custom_first_plane(c), b->n_planes, &to->planes, err) != 0 ||
            split(map, custom_first_action(c), b->n_actions, &to->actions, err) != 0)
            status = -1;
    }
    return status;
}

static int build_from(struct board *b, const char *path, const char *text, bool is_lenient,
                      struct error *err)
{
    struct custom c = {.path = path, .text = text, .board = b, .is_lenient = is_lenient};
    json_t *root;
    int status;

    if (path == NULL || *path == '\0')
        return error_set(err, ERROR_USAGE, "board file needs a path: %s", b->family->syntax);
    root = custom_load(&c, err);
    status = root != NULL ? custom_parse(&c, root, err) : -1;
    json_decref(root);
    if (status == 0)
        status = custom_close(&c, err);
    if (status == 0 && !is_lenient)
        status = custom_check(&c, err);
    if (status == 0)
        status = set_name(&c, err);
    if (status == 0)
        status = fill_transforms(&c, err);
    custom_release(&c);
    return status;
}

static int build(struct board *b, const char *size, struct error *err)
{
    return build_from(b, size, NULL, false, err);
}

static int build_unchecked(struct board *b, const char *size, struct error *err)
{
    return build_from(b, size, NULL, true, err);
}

int board_build_from_text(struct board *b, const char *label, const char *text, struct error *err)
{
    return build_from(b, label, text, false, err);
}

static uint64_t actions_length(const struct board *board)
{
    return board->n_actions;
}

static uint64_t actions_image(const struct board *board, uint32_t t, uint64_t action)
{
    return board->transforms[t].actions[action];
}

static unsigned actions_flags(const struct board *board, uint64_t action)
{
    (void)board;
    (void)action;
    return ACTION_ENCODABLE;
}

static int64_t actions_cell(const struct board *board, uint64_t action)
{
    (void)board;
    (void)action;
    return -1;
}

static void actions_describe(const struct board *board, uint64_t action, char *text, size_t n_bytes)
{
    (void)board;
    snprintf(text, n_bytes, "action %" PRIu64, action);
}

static const struct action_layout layout_file = {
    .name = "file",
    .summary = "as the actions of the board file say",
    .length = actions_length,
    .image = actions_image,
    .flags = actions_flags,
    .cell = actions_cell,
    .describe = actions_describe,
};

/* What the file says about actions goes before what cells suggest. */
static const struct action_layout *const layouts[] = {
    &layout_file,
    &action_layout_cells,
    &action_layout_cells_pass,
};

const struct board_family board_family_file = {
    .name = "file",
    .syntax = "file:PATH",
    .summary = "a board described in a JSON file, for any other game",
    .example = "file:share/boards/triangle.json",
    .build = build,
    .build_unchecked = build_unchecked,
    .layouts = layouts,
    .n_layouts = sizeof layouts / sizeof layouts[0],
};
