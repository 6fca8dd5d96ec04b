/*
 * custom.c - boards from a file: file:PATH, a JSON description of any other game.
 *
 * What the listed transforms leave out is filled in, the identity goes first, generators are closed
 * into their group, a list is proved to be one, and edges and lines must be kept. Every refusal is
 * ERROR_DATA and names the file, the transform, the cell and the reason. For a report, sets that
 * are no group are let pass ("lenient").
 */
#include "board/custom.h"

#include "base/perm.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all maps of a group may have together: 16 MiB, and as much again for their inverses. */
#define MAX_ENTRIES (1u << 22)

#define MAX_CELLS_SHOWN 8 /* of a line, in a message */

/* --- from a list of transforms to a group --- */

/* Fill in what a listed transform leaves out: planes stay, actions are the cells, with a pass
 * behind them where there is one more. What cannot be left out is refused. */
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

/* The entries of a transform's maps, its two colours among them. */
static uint32_t n_entries(const struct board *b)
{
    return b->n_cells + b->n_planes + b->n_actions + 2;
}

static bool has_room(const struct board *b, uint32_t n_transforms)
{
    return n_transforms <= BOARD_MAX_TRANSFORMS &&
           (uint64_t)n_transforms * n_entries(b) <= MAX_ENTRIES;
}

static int check_room(const struct custom *c, uint32_t n_transforms, struct error *err)
{
    if (has_room(c->board, n_transforms))
        return 0;
    return custom_refuse(
        c, err,
        "a board has at most %d transforms with %u entries together, and each here has "
        "%u entries",
        BOARD_MAX_TRANSFORMS, MAX_ENTRIES, n_entries(c->board));
}

/* The board has the identity in front; where the file lists it, it goes under the file's name. */
static int check_listed(const struct custom *c, struct joint *j, struct error *err)
{
    struct board *b = c->board;
    uint32_t one, other;
    int named = 0;

    for (uint32_t t = 1; t < j->n_transforms; t++) {
        if (perm_is_identity(joint_map(j, t), j->n_points))
            named = named == 0 ? (int)t : named;
        else if (strcmp(b->transforms[t].name, "identity") == 0)
            return custom_refuse(c, err, "transform 'identity' is not the identity: %s",
                                 joint_move_text(j, joint_map(j, t), NULL, true).text);
    }
    if (named > 0) {
        const struct board_transform unnamed = b->transforms[0];

        b->transforms[0] = b->transforms[named];
        b->transforms[named] = unnamed;
        board_remove_transform(b, (uint32_t)named);
        joint_release(j);
        if (joint_init(j, b, err) != 0)
            return -1;
    }
    if (!c->is_lenient && joint_find_equal(j, &one, &other))
        return custom_refuse(c, err, "transforms %s and %s are the same",
                             text_quote(b->transforms[one].name).text,
                             text_quote(b->transforms[other].name).text);
    return check_room(c, b->n_transforms, err);
}

/* How often a joint map has to be applied to come back. */
static struct text_quoted order_of(const struct joint *j, uint32_t t)
{
    const uint64_t order = perm_order(joint_map(j, t), j->n_points);
    struct text_quoted text = {"an order beyond 64 bits or unknown"};

    if (order != 0)
        snprintf(text.text, sizeof text.text, "order %" PRIu64, order);
    return text;
}

/* True when transform t moves the cells as one and then the other does. */
static bool moves_cells_alike(const struct joint *j, uint32_t t, const uint32_t *one,
                              const uint32_t *other)
{
    uint32_t cell = 0;

    while (cell < j->board->n_cells && joint_map(j, t)[cell] == other[one[cell]])
        cell++;
    return cell == j->board->n_cells;
}

static int refuse_product(const struct custom *c, const struct joint *j, uint32_t one,
                          uint32_t other, struct error *err)
{
    const struct board_transform *all = c->board->transforms;
    const struct text_quoted first = text_quote(all[one].name), then = text_quote(all[other].name);

    for (uint32_t t = 0; t < j->n_transforms; t++)
        if (moves_cells_alike(j, t, joint_map(j, one), joint_map(j, other)))
            return custom_refuse(c, err,
                                 "the transforms are no group: %s and then %s moves the cells as "
                                 "%s does, but not the planes, actions or colours",
                                 first.text, then.text, text_quote(all[t].name).text);
    return custom_refuse(
        c, err,
        "the transforms are no group: %s (%s) and then %s (%s) is none of them: %s; list it, or "
        "set generators to true",
        first.text, order_of(j, one).text, then.text, order_of(j, other).text,
        joint_move_text(j, joint_map(j, one), joint_map(j, other), true).text);
}

/* A finite set of permutations that contains its products is a group. */
static int prove_closed(const struct custom *c, const struct joint *j, struct error *err)
{
    for (uint32_t a = 1; a < j->n_transforms; a++)
        for (uint32_t b = 1; b < j->n_transforms; b++)
            if (joint_product(j, a, b) < 0)
                return refuse_product(c, j, a, b, err);
    return 0;
}

/* Name the generator of the largest order: the likeliest culprit. */
static int refuse_generators(const struct custom *c, const struct joint *j, uint32_t n_listed,
                             struct error *err)
{
    uint32_t worst = 1;
    uint64_t largest = 0;

    for (uint32_t t = 1; t < n_listed; t++) {
        /* 0, an order beyond 64 bits, becomes the largest. */
        const uint64_t order = perm_order(joint_map(j, t), j->n_points) - 1;

        if (t == 1 || order > largest) {
            largest = order;
            worst = t;
        }
    }
    return custom_refuse(
        c, err,
        "the generators make a group that is too large: more than %u transforms, at most "
        "%d with %u entries together; %s has %s",
        j->n_transforms, BOARD_MAX_TRANSFORMS, MAX_ENTRIES,
        text_quote(c->board->transforms[worst].name).text, order_of(j, worst).text);
}

/* Breadth first: every transform times every generator, until nothing new appears. */
static int generate(struct custom *c, struct joint *j, struct error *err)
{
    struct board *b = c->board;
    const uint32_t n_listed = j->n_transforms;

    for (uint32_t t = 1; t < j->n_transforms; t++) {
        for (uint32_t g = 1; g < n_listed; g++) {
            struct board_transform *product = &b->transforms[j->n_transforms];

            if (joint_try_product(j, t, g, err) != 0)
                return -1;
            if (joint_find(j, joint_map(j, j->n_transforms)) >= 0)
                continue;
            if (!has_room(b, j->n_transforms + 1))
                return refuse_generators(c, j, n_listed, err);
            if (asprintf(&product->name, "%s*%s", b->transforms[t].name, b->transforms[g].name) <
                0) {
                product->name = NULL;
                return error_no_memory(err, "transform name");
            }
            j->n_transforms = ++b->n_transforms;
            if (joint_split(j, j->n_transforms - 1, product, err) != 0)
                return -1;
        }
    }
    return 0;
}

/* Without generated transforms a report shows that the listed ones are not closed. */
static int generate_leniently(struct custom *c, struct joint *j, struct error *err)
{
    struct board *b = c->board;
    const uint32_t n_listed = b->n_transforms;
    struct error refusal = {0};

    for (uint32_t t = 0; t < n_listed; t++) {
        const size_t fault = perm_first_fault(joint_map(j, t), j->n_points, err);

        if (fault != j->n_points)
            return fault == SIZE_MAX ? -1 : 0;
    }
    if (generate(c, j, &refusal) == 0)
        return 0;
    if (refusal.kind != ERROR_DATA)
        return error_pass(err, &refusal);
    while (b->n_transforms > n_listed)
        board_remove_transform(b, b->n_transforms - 1);
    return 0;
}

static int close_group(struct custom *c, struct error *err)
{
    struct board *b = c->board;
    struct joint j = {0};
    int status = -1;

    /* One of them may be the identity, which is there already. */
    if (check_room(c, b->n_transforms > 1 ? b->n_transforms - 1 : 1, err) != 0)
        return -1;
    for (uint32_t t = 0; t < b->n_transforms; t++)
        if (complete(c, &b->transforms[t], err) != 0)
            return -1;
    if (joint_init(&j, b, err) != 0)
        return -1;
    if (check_listed(c, &j, err) == 0) {
        status = 0;
        if (c->is_generated)
            status = c->is_lenient ? generate_leniently(c, &j, err) : generate(c, &j, err);
        else if (!c->is_lenient)
            status = prove_closed(c, &j, err);
    }
    joint_release(&j);
    return status;
}

/* --- edges and lines are kept --- */

static int refuse_line(const struct custom *c, const struct board_transform *t, uint32_t n_kept,
                       uint32_t lost, struct error *err)
{
    const struct board *b = c->board;
    const uint32_t *cells = b->line_cells + b->line_start[lost];
    const uint32_t n = b->line_start[lost + 1] - b->line_start[lost];
    char from[MAX_CELLS_SHOWN * 11 + 8] = "", to[sizeof from] = "";
    size_t n_from = 0, n_to = 0;

    for (uint32_t k = 0; k < n && k < MAX_CELLS_SHOWN; k++) {
        n_from += (size_t)snprintf(from + n_from, sizeof from - n_from, " %u", cells[k]);
        n_to += (size_t)snprintf(to + n_to, sizeof to - n_to, " %u", t->dst[cells[k]]);
    }
    if (n > MAX_CELLS_SHOWN) {
        snprintf(from + n_from, sizeof from - n_from, " ...");
        snprintf(to + n_to, sizeof to - n_to, " ...");
    }
    return custom_refuse(
        c, err,
        "transform %s keeps %u of %u lines: line %u, cells%s, goes to cells%s, which are "
        "no line",
        text_quote(t->name).text, n_kept, b->n_lines, lost, from, to);
}

static int check_kept(const struct custom *c, struct error *err)
{
    const struct board *b = c->board;
    struct relations relations = {0};
    int status = 0;

    if (relations_init(&relations, b, err) != 0)
        return -1;
    for (uint32_t t = 1; t < b->n_transforms && status == 0; t++) {
        const struct board_transform *transform = &b->transforms[t];
        uint32_t edge, line;
        const uint32_t n_edges = relations_edges_kept(&relations, transform->dst, &edge);
        const uint32_t n_lines = relations_lines_kept(&relations, transform->dst, &line);

        if (n_edges < b->n_edges)
            status =
                custom_refuse(c, err,
                              "transform %s keeps %u of %u edges: cells %u and %u are neighbours, "
                              "but not %u and %u, where they go",
                              text_quote(transform->name).text, n_edges, b->n_edges,
                              b->edges[edge][0], b->edges[edge][1],
                              transform->dst[b->edges[edge][0]], transform->dst[b->edges[edge][1]]);
        else if (n_lines < b->n_lines)
            status = refuse_line(c, transform, n_lines, line, err);
    }
    relations_release(&relations);
    return status;
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
        const size_t n_control = custom_control_nbytes(name + i);

        if (n_control > 0)
            memset(name + i, '_', n_control);
        else if (!is_text && (unsigned char)name[i] >= 0x80)
            name[i] = '_';
    }
    return 0;
}

/* From the text that the board has. */
static int build_from(struct custom *c, bool is_path, struct error *err)
{
    json_t *root = custom_parse_text(c, err);
    int status = root != NULL ? custom_parse(c, root, err) : -1;

    if (status == 0)
        status = close_group(c, err);
    if (status == 0 && !c->is_lenient)
        status = check_kept(c, err);
    if (status == 0)
        status = set_name(c, is_path, err);
    json_decref(root);
    return status;
}

static int build_from_file(struct board *b, const char *path, bool is_lenient, struct error *err)
{
    struct custom c = {.path = path, .board = b, .is_lenient = is_lenient};

    if (path == NULL || *path == '\0')
        return error_set(err, ERROR_USAGE, "board file needs a path: %s", b->family->syntax);
    return custom_read_file(&c, err) != 0 ? -1 : build_from(&c, true, err);
}

static int build(struct board *b, const char *size, struct error *err)
{
    return build_from_file(b, size, false, err);
}

static int build_unchecked(struct board *b, const char *size, struct error *err)
{
    return build_from_file(b, size, true, err);
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
