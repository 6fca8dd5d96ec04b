/*
 * custom_shape.c - what a board file says of its cells: the shape that they form, which of them are
 * neighbours, lines, and colours.
 *
 * Regular boards are told by a few words: a shape (rows and cols, a grid of more dimensions, a
 * hexagon, star or triangle of hexagonal cells) and the steps from a cell to its neighbours.
 * Whatever else is joined is a list. Hexagonal cells have axial coordinates: columns run to the
 * right, rows down and half a cell to the right.
 */
#include "board/custom.h"

#include "base/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A king's in four dimensions are 40, and one that is being tried. */
#define MAX_STEPS 41

/* The cells of all lines along steps, and of all colours, together at most. */
#define MAX_CELLS_OF_LINES   (1u << 22)
#define MAX_CELLS_OF_COLOURS (1u << 20)

/* --- the shape --- */

static int parse_count(const struct custom *c, const json_t *value, const char *key,
                       uint32_t *count, struct error *err)
{
    if (!custom_read_index(value, BOARD_MAX_CELLS + 1, count) || *count == 0)
        return custom_refuse(c, err, "%s is not a whole number from 1 to %d", key, BOARD_MAX_CELLS);
    return 0;
}

/* The shapes that one number gives. */
enum shape { SHAPE_CELLS, SHAPE_HEXAGON, SHAPE_STAR, SHAPE_TRIANGLE, N_SHAPES };
static const char *const shape_keys[N_SHAPES] = {"cells", "hexagon", "star", "triangle"};

/* True for a cell of a shape of hexagonal cells in its box. */
static bool is_in_shape(enum shape shape, int size, int row, int col)
{
    const int q = col - (shape == SHAPE_STAR ? 2 * size : size);
    const int r = row - (shape == SHAPE_STAR ? 2 * size : size), s = -q - r;

    if (shape == SHAPE_TRIANGLE)
        return row + col >= size - 1;
    if (shape == SHAPE_HEXAGON)
        return s >= -size && s <= size;
    return (q <= size && r <= size && s <= size) || (q >= -size && r >= -size && s >= -size);
}

static int parse_grid(struct custom *c, const json_t *list, struct error *err)
{
    uint64_t n_cells = 1;

    c->n_dims = (uint32_t)json_array_size(list);
    if (c->n_dims < 1 || c->n_dims > CUSTOM_MAX_DIMS)
        return custom_refuse(c, err, "grid is not a list of 1 to %d lengths", CUSTOM_MAX_DIMS);
    for (uint32_t i = 0; i < c->n_dims; i++) {
        if (parse_count(c, json_array_get(list, i), "grid", &c->dims[i], err) != 0)
            return -1;
        n_cells *= c->dims[i];
        if (n_cells > BOARD_MAX_CELLS)
            return custom_refuse(c, err, "grid has more than %d cells", BOARD_MAX_CELLS);
    }
    return 0;
}

int custom_parse_shape(struct custom *c, const json_t *root, struct error *err)
{
    const json_t *rows = json_object_get(root, "rows"), *cols = json_object_get(root, "cols");
    const json_t *grid = json_object_get(root, "grid");
    struct board *b = c->board;
    uint32_t size = 0, n_cells = 1;
    int n_given = (rows != NULL) + (grid != NULL);
    enum shape shape = N_SHAPES;

    for (enum shape s = 0; s < N_SHAPES; s++) {
        if (json_object_get(root, shape_keys[s]) == NULL)
            continue;
        shape = s;
        n_given++;
    }
    if ((rows == NULL) != (cols == NULL) || n_given != 1)
        return custom_refuse(c, err,
                             "give either cells or rows and cols, or a grid, hexagon, star or "
                             "triangle");
    if (shape < N_SHAPES &&
        parse_count(c, json_object_get(root, shape_keys[shape]), shape_keys[shape], &size, err))
        return -1;
    if (grid != NULL && parse_grid(c, grid, err) != 0)
        return -1;
    if (rows != NULL) {
        c->n_dims = 2;
        if (parse_count(c, rows, "rows", &c->dims[0], err) != 0 ||
            parse_count(c, cols, "cols", &c->dims[1], err) != 0)
            return -1;
    } else if (shape == SHAPE_CELLS) {
        c->n_dims = 1;
        c->dims[0] = size;
    } else if (shape < N_SHAPES) {
        const uint32_t side = shape == SHAPE_HEXAGON ? 2 * size + 1
                              : shape == SHAPE_STAR  ? 4 * size + 1
                                                     : size;

        c->n_dims = 2;
        c->dims[0] = c->dims[1] = side;
        b->is_hexagonal = true;
    }
    if (c->n_dims == 2 && (uint64_t)c->dims[0] * c->dims[1] > BOARD_MAX_CELLS)
        return custom_refuse(c, err, "%u x %u cells are more than %d", c->dims[0], c->dims[1],
                             BOARD_MAX_CELLS);
    for (uint32_t i = 0; i < c->n_dims; i++)
        n_cells *= c->dims[i];
    if (c->n_dims == 2) {
        b->rows = c->dims[0];
        b->cols = c->dims[1];
    }
    if (board_alloc_transforms(b, n_cells, 1, BOARD_MAX_TRANSFORMS + 2, err) != 0)
        return -1;
    for (uint32_t cell = 0; cell < n_cells && b->is_hexagonal; cell++) {
        b->on_board[cell] =
            is_in_shape(shape, (int)size, (int)(cell / b->cols), (int)(cell % b->cols));
        b->n_on_board -= !b->on_board[cell];
    }
    return board_set_transform_name(b, 0, "identity", err);
}

/* --- regions: lists of cells --- */

/* True for a word "row 2" or "row -1" (from the end) that means this one of n. */
static bool is_named(const char *word, const char *name, uint32_t n, uint32_t this, bool *is_known)
{
    const size_t n_name = strlen(name);
    const bool from_end = word[n_name] == '-';
    uint64_t number;

    if (strncmp(word, name, n_name) != 0 ||
        text_parse_u64(word + n_name + from_end, &number) != 0 || number > n)
        return false;
    *is_known = true;
    return (from_end ? n - number : number) == this;
}

/* True when a cell is in what a word means: "row 0", "col -1", "odd", "even". */
static bool is_in_word(const struct board *b, const char *word, uint32_t cell, bool *is_known)
{
    const uint32_t row = cell / b->cols, col = cell % b->cols;

    if (strcmp(word, "odd") == 0 || strcmp(word, "even") == 0) {
        *is_known = true;
        return (row + col) % 2 == (word[0] == 'o');
    }
    return is_named(word, "row ", b->rows, row, is_known) ||
           is_named(word, "col ", b->cols, col, is_known);
}

/* Mark the cells of a region; those that are not on board are left out of words, and refused as
 * numbers. `what` names the region. */
static int parse_region(const struct custom *c, const json_t *list, const char *what,
                        uint8_t *marked, struct error *err)
{
    const struct board *b = c->board;

    if (!json_is_array(list) || json_array_size(list) == 0)
        return custom_refuse(c, err, "%s is not a list of cells", what);
    memset(marked, 0, b->n_cells);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *word = json_string_value(item);
        bool is_known = false, is_empty = true;
        uint32_t cell;

        if (word == NULL) {
            if (!custom_read_index(item, b->n_cells, &cell) || !b->on_board[cell])
                return custom_refuse(c, err, "%s[%zu] is not a cell on board from 0 to %u", what, i,
                                     b->n_cells - 1);
            if (marked[cell])
                return custom_refuse(c, err, "%s has cell %u twice", what, cell);
            marked[cell] = 1;
            continue;
        }
        for (cell = 0; cell < b->n_cells && b->cols > 0; cell++) {
            if (!b->on_board[cell] || !is_in_word(b, word, cell, &is_known))
                continue;
            marked[cell] = 1;
            is_empty = false;
        }
        if (!is_known || is_empty)
            return custom_refuse(c, err,
                                 "%s[%zu]: %s is not a region: cells, \"row 0\", \"col -1\", "
                                 "\"odd\" or \"even\" of a board with rows and columns",
                                 what, i, text_quote(word).text);
    }
    return 0;
}

static int parse_without(struct custom *c, const json_t *list, struct error *err)
{
    struct board *b = c->board;
    uint8_t *marked;
    int status;

    if (list == NULL)
        return 0;
    marked = calloc(b->n_cells, 1);
    if (marked == NULL)
        return error_no_memory(err, "cells of a board");
    status = parse_region(c, list, "without", marked, err);
    for (uint32_t cell = 0; cell < b->n_cells && status == 0; cell++) {
        b->n_on_board -= b->on_board[cell] && marked[cell];
        b->on_board[cell] = b->on_board[cell] && !marked[cell];
    }
    if (status == 0 && b->n_on_board == 0)
        status = custom_refuse(c, err, "without leaves no cells on board");
    free(marked);
    return status;
}

/* --- neighbours --- */

struct steps {
    int step[MAX_STEPS][CUSTOM_MAX_DIMS];
    uint32_t n;
};

/* All steps by -1, 0 or 1 along each of the dimensions, of two opposite ones one, that move along
 * as many dimensions as are wanted. */
static void add_steps(struct steps *steps, uint32_t n_dims, uint32_t min_moved, uint32_t max_moved)
{
    uint32_t n_all = 1;

    for (uint32_t i = 0; i < n_dims; i++)
        n_all *= 3;
    for (uint32_t k = n_all / 2 + 1; k < n_all; k++) {
        uint32_t rest = k, n_moved = 0;
        int *step = steps->step[steps->n];

        for (uint32_t i = n_dims; i-- > 0; rest /= 3) {
            step[i] = (int)(rest % 3) - 1;
            n_moved += step[i] != 0;
        }
        steps->n += n_moved >= min_moved && n_moved <= max_moved;
    }
}

static int parse_steps(struct custom *c, const json_t *value, struct steps *steps,
                       struct error *err)
{
    static const int hexagonal[3][2] = {{0, 1}, {1, 0}, {1, -1}};
    static const int knight[4][2] = {{1, 2}, {2, 1}, {1, -2}, {2, -1}};
    const char *word = json_string_value(value);
    const uint32_t n_dims = c->n_dims;

    if (word != NULL && strcmp(word, "orthogonal") == 0) {
        add_steps(steps, n_dims, 1, 1);
    } else if (word != NULL && strcmp(word, "diagonal") == 0 && n_dims > 1) {
        add_steps(steps, n_dims, n_dims, n_dims);
    } else if (word != NULL && strcmp(word, "king") == 0) {
        add_steps(steps, n_dims, 1, n_dims);
    } else if (word != NULL && n_dims == 2 &&
               (strcmp(word, "hexagonal") == 0 || strcmp(word, "knight") == 0)) {
        c->board->is_hexagonal |= word[0] == 'h';
        steps->n = word[0] == 'h' ? 3 : 4;
        for (uint32_t i = 0; i < steps->n; i++)
            memcpy(steps->step[i], word[0] == 'h' ? hexagonal[i] : knight[i], sizeof hexagonal[0]);
    } else {
        return custom_refuse(c, err,
                             "neighbours is not \"orthogonal\", \"diagonal\", \"king\", "
                             "\"hexagonal\" or \"knight\"%s",
                             n_dims != 2 ? " as a board of these dimensions can have it" : "");
    }
    return 0;
}

/* The cell on board n steps away from a cell, or -1. */
static int64_t cell_after(const struct custom *c, uint32_t cell, const int *step, int n)
{
    int64_t to = 0, unit = 1;

    for (uint32_t i = c->n_dims; i-- > 0; cell /= c->dims[i]) {
        const int64_t at = (int64_t)(cell % c->dims[i]) + (int64_t)step[i] * n;

        if (at < 0 || at >= c->dims[i])
            return -1;
        to += at * unit;
        unit *= c->dims[i];
    }
    return c->board->on_board[to] ? to : -1;
}

static int compare_edges(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;

    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

/* Undirected edges, each kept once: the listed ones, and those to neighbours. */
static int parse_edges(const struct custom *c, const json_t *list, const struct steps *steps,
                       struct error *err)
{
    struct board *b = c->board;
    const size_t n_listed = json_array_size(list);
    size_t n = 0;

    if (list != NULL && !json_is_array(list))
        return custom_refuse(c, err, "edges is not a list [...]");
    if (list == NULL && steps->n == 0)
        return 0;
    b->edges = malloc((n_listed + (size_t)steps->n * b->n_cells + 1) * sizeof *b->edges);
    if (b->edges == NULL)
        return error_no_memory(err, "edges of a board");
    for (; n < n_listed; n++) {
        const json_t *pair = json_array_get(list, n);
        uint32_t from, to;

        if (json_array_size(pair) != 2 ||
            !custom_read_index(json_array_get(pair, 0), b->n_cells, &from) ||
            !custom_read_index(json_array_get(pair, 1), b->n_cells, &to) || from == to)
            return custom_refuse(c, err, "edges[%zu] is not a pair of two cells from 0 to %u", n,
                                 b->n_cells - 1);
        if (!b->on_board[from] || !b->on_board[to])
            return custom_refuse(c, err, "edges[%zu] joins cell %u, which is not on board", n,
                                 b->on_board[from] ? to : from);
        b->edges[n][0] = from < to ? from : to;
        b->edges[n][1] = from < to ? to : from;
    }
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        for (uint32_t s = 0; s < steps->n && b->on_board[cell]; s++) {
            const int64_t to = cell_after(c, cell, steps->step[s], 1);

            if (to < 0)
                continue;
            b->edges[n][0] = to < cell ? (uint32_t)to : cell;
            b->edges[n++][1] = to < cell ? cell : (uint32_t)to;
        }
    }
    qsort(b->edges, n, sizeof *b->edges, compare_edges);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || compare_edges(b->edges[i], b->edges[i - 1]) != 0)
            memmove(b->edges[b->n_edges++], b->edges[i], sizeof *b->edges);
    return 0;
}

/* --- lines --- */

/* Append line i to line_cells. seen_in[cell] is the number + 1 of the last line with that cell. */
static int parse_line(const struct custom *c, const json_t *line, uint32_t i, uint32_t *seen_in,
                      struct error *err)
{
    struct board *b = c->board;
    const uint32_t n = (uint32_t)json_array_size(line);
    uint32_t *cells = b->line_cells + b->line_start[i];

    if (n == 0)
        return custom_refuse(c, err, "lines[%u] is not a list of cells", i);
    for (uint32_t k = 0; k < n; k++) {
        if (!custom_read_index(json_array_get(line, k), b->n_cells, &cells[k]))
            return custom_refuse(c, err, "lines[%u][%u] is not a cell from 0 to %u", i, k,
                                 b->n_cells - 1);
        if (!b->on_board[cells[k]])
            return custom_refuse(c, err, "lines[%u] has cell %u, which is not on board", i,
                                 cells[k]);
        if (seen_in[cells[k]] == i + 1)
            return custom_refuse(c, err, "lines[%u] has cell %u twice", i, cells[k]);
        seen_in[cells[k]] = i + 1;
    }
    b->line_start[i + 1] = b->line_start[i] + n;
    return 0;
}

/* Add the lines of `length` cells along the steps, after the n that there are. */
static void add_straight(const struct custom *c, const struct steps *steps, uint32_t length,
                         uint32_t *n)
{
    struct board *b = c->board;

    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        for (uint32_t s = 0; s < steps->n && b->on_board[cell]; s++) {
            uint32_t *cells = b->line_cells + b->line_start[*n], k = 0;
            int64_t to = cell;

            for (; k < length && (to = cell_after(c, cell, steps->step[s], (int)k)) >= 0; k++)
                cells[k] = (uint32_t)to;
            if (k < length)
                continue;
            b->line_start[*n + 1] = b->line_start[*n] + length;
            (*n)++;
        }
    }
}

static int parse_lines(const struct custom *c, const json_t *root, const struct steps *neighbours,
                       struct error *err)
{
    const json_t *list = json_object_get(root, "lines");
    const json_t *straight = json_object_get(root, "straight");
    struct board *b = c->board;
    struct steps steps = *neighbours;
    size_t n = json_array_size(list), n_cells = 0, n_straight = 0;
    uint32_t *seen_in, length = 0, n_lines = 0;
    int status = 0;

    if (list == NULL && straight == NULL)
        return 0;
    if (list != NULL && !json_is_array(list))
        return custom_refuse(c, err, "lines is not a list [...]");
    if (straight != NULL &&
        (!custom_read_index(straight, CUSTOM_MAX_STRAIGHT + 1, &length) || length < 2))
        return custom_refuse(c, err, "straight is not a whole number from 2 to %d",
                             CUSTOM_MAX_STRAIGHT);
    if (length > 0 && steps.n == 0)
        add_steps(&steps, c->n_dims, 1, c->n_dims);
    n_straight = length > 0 ? (size_t)b->n_cells * steps.n : 0;
    if (n_straight * length > MAX_CELLS_OF_LINES)
        return custom_refuse(c, err, "straight: lines of %u cells would be more than %u cells",
                             length, MAX_CELLS_OF_LINES);
    for (size_t i = 0; i < n; i++)
        n_cells += json_array_size(json_array_get(list, i));
    /* A line that turns out too short has been written after the last one. */
    b->line_cells = malloc((n_cells + (n_straight + 1) * length + 1) * sizeof *b->line_cells);
    b->line_start = calloc(n + n_straight + 1, sizeof *b->line_start);
    seen_in = calloc(b->n_cells, sizeof *seen_in);
    if (b->line_cells == NULL || b->line_start == NULL || seen_in == NULL)
        status = error_no_memory(err, "lines of a board");
    for (; n_lines < n && status == 0; n_lines++)
        status = parse_line(c, json_array_get(list, n_lines), n_lines, seen_in, err);
    if (status == 0 && length > 0)
        add_straight(c, &steps, length, &n_lines);
    free(seen_in);
    b->n_lines = status == 0 ? n_lines : 0;
    return status;
}

/* --- colours --- */

static bool has_colour(const struct board *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_colours; i++)
        if (b->colours[i].name != NULL && strcmp(b->colours[i].name, name) == 0)
            return true;
    return false;
}

static int add_colour(struct custom *c, const char *name, const json_t *region, uint8_t *marked,
                      struct error *err)
{
    struct board *b = c->board;
    struct board_colour *colour = &b->colours[b->n_colours];
    char what[sizeof(struct text_quoted) + 16];
    uint32_t n_cells = 0;

    snprintf(what, sizeof what, "colour %s", text_quote(name).text);
    if (region == NULL)
        return custom_refuse(c, err, "players name %s, which colours has not", what);
    if (has_colour(b, name))
        return custom_refuse(c, err, "players name %s twice", what);
    if (parse_region(c, region, what, marked, err) != 0)
        return -1;
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        n_cells += marked[cell];
    c->n_coloured += n_cells;
    if (c->n_coloured > MAX_CELLS_OF_COLOURS)
        return custom_refuse(c, err, "colours have at most %u cells together",
                             MAX_CELLS_OF_COLOURS);
    colour->name = strdup(name);
    colour->cells = malloc((n_cells + (size_t)1) * sizeof *colour->cells);
    if (colour->name == NULL || colour->cells == NULL) {
        free(colour->name);
        free(colour->cells);
        return error_no_memory(err, "colours of a board");
    }
    b->n_colours++;
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        if (marked[cell])
            colour->cells[colour->n_cells++] = cell;
    return 0;
}

/* The colours of players in pairs, the first player's and the second's; then all others. */
static int add_colours(struct custom *c, json_t *colours, const json_t *players, uint8_t *marked,
                       struct error *err)
{
    struct board *b = c->board;
    const char *name;
    json_t *region;

    for (size_t i = 0; i < json_array_size(json_array_get(players, 0)); i++) {
        for (size_t k = 0; k < 2; k++) {
            name = json_string_value(json_array_get(json_array_get(players, k), i));
            if (name == NULL)
                return custom_refuse(c, err, "players are two lists of as many colours");
            if (add_colour(c, name, json_object_get(colours, name), marked, err) != 0)
                return -1;
        }
        const struct board_colour *one = &b->colours[b->n_pairs * 2], *other = one + 1;
        bool is_same = one->n_cells == other->n_cells;

        for (uint32_t k = 0; k < one->n_cells && is_same; k++)
            is_same = one->cells[k] == other->cells[k];
        if (is_same)
            return custom_refuse(c, err,
                                 "colours '%s' and '%s' of the two players have the same cells",
                                 one->name, other->name);
        b->n_pairs++;
    }
    json_object_foreach(colours, name, region)
    {
        if (!has_colour(b, name) && add_colour(c, name, region, marked, err) != 0)
            return -1;
    }
    return 0;
}

static int parse_colours(struct custom *c, const json_t *root, struct error *err)
{
    json_t *colours = json_object_get(root, "colours");
    const json_t *players = json_object_get(root, "players");
    struct board *b = c->board;
    uint8_t *marked;
    int status;

    if (colours == NULL && players == NULL)
        return 0;
    if (!json_is_object(colours))
        return custom_refuse(c, err, "colours is not an object {\"name\": [cells], ...}");
    if (players != NULL &&
        (json_array_size(players) != 2 || json_array_size(json_array_get(players, 0)) == 0 ||
         json_array_size(json_array_get(players, 0)) !=
             json_array_size(json_array_get(players, 1))))
        return custom_refuse(c, err, "players are two lists of as many colours");
    marked = calloc(b->n_cells, 1);
    b->colours = calloc(json_object_size(colours) + 1, sizeof *b->colours);
    if (marked == NULL || b->colours == NULL)
        status = error_no_memory(err, "colours of a board");
    else
        status = add_colours(c, colours, players, marked, err);
    free(marked);
    return status;
}

int custom_parse_relations(struct custom *c, const json_t *root, struct error *err)
{
    const json_t *neighbours = json_object_get(root, "neighbours");
    struct steps steps = {.n = 0};

    if (parse_without(c, json_object_get(root, "without"), err) != 0 ||
        (neighbours != NULL && parse_steps(c, neighbours, &steps, err) != 0) ||
        parse_edges(c, json_object_get(root, "edges"), &steps, err) != 0 ||
        parse_lines(c, root, &steps, err) != 0)
        return -1;
    return parse_colours(c, root, err);
}
