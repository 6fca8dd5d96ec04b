/*
 * custom_shape.c - the cells of a board file: their shape, neighbours, lines and colours.
 *
 * Regular boards need a few words: a shape (rows and cols, a grid of up to four dimensions, or a
 * hexagon, star or triangle of hexagonal cells) and the kind of steps to neighbours. Other edges
 * and lines are lists. Hexagonal cells have axial coordinates: columns run to the right, rows down
 * and half a cell to the right.
 */
#include "board/families.h"

#include "base/text.h"

#include <jansson.h>

#define MAX_STRAIGHT 32

/* A king has 40 in four dimensions; the last place is for a step that is being tried. */
#define MAX_STEPS 41

/* The most cells of all "straight" lines together, and of all colours. */
#define MAX_CELLS_OF_LINES   (1u << 22)
#define MAX_CELLS_OF_COLOURS (1u << 20)

bool custom_read_index(const json_t *value, uint64_t limit, uint32_t *index)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        (uint64_t)json_integer_value(value) >= limit)
        return false;
    *index = (uint32_t)json_integer_value(value);
    return true;
}

/* --- the shape --- */

/* Hexagonal cells in a square box of a number of rows * factor + more; cells without coordinates;
 * and boxes of two and of any dimensions. */
enum { SHAPE_HEXAGON, SHAPE_STAR, SHAPE_TRIANGLE, SHAPE_CELLS, SHAPE_ROWS, SHAPE_GRID, N_SHAPES };
static const struct {
    const char *key;
    uint32_t factor, more;
} shapes[N_SHAPES] = {{"hexagon", 2, 1}, {"star", 4, 1}, {"triangle", 1, 0},
                      {"cells", 1, 0},   {"rows", 1, 0}, {"grid", 1, 0}};

static int parse_shape(struct custom *c)
{
    const bool has_cols = json_object_get(c->root, "cols") != NULL;
    int n_given = 0, shape = 0;
    struct board *b = c->board;
    uint32_t n_cells = 1;

    for (int s = 0; s < N_SHAPES; s++) {
        if (json_object_get(c->root, shapes[s].key) == NULL)
            continue;
        shape = s;
        n_given++;
    }
    const json_t *grid = json_object_get(c->root, "grid");
    if (n_given != 1 || has_cols != (shape == SHAPE_ROWS))
        return custom_refuse(
            c, "give either cells or rows and cols, or a grid, hexagon, star or triangle");
    c->n_dims = grid != NULL ? (uint32_t)json_array_size(grid) : shape == SHAPE_ROWS ? 2 : 1;
    if (c->n_dims < 1 || c->n_dims > CUSTOM_MAX_DIMS)
        return custom_refuse(c, "grid is not a list of 1 to %d lengths", CUSTOM_MAX_DIMS);
    for (uint32_t i = 0; i < c->n_dims; i++) {
        const char *key = shape == SHAPE_ROWS && i == 1 ? "cols" : shapes[shape].key;
        const json_t *count =
            grid != NULL ? json_array_get(grid, i) : json_object_get(c->root, key);

        if (!custom_read_index(count, BOARD_MAX_CELLS + 1, &c->dims[i]) || c->dims[i] == 0)
            return custom_refuse(c, "%s is not a whole number from 1 to %d", key, BOARD_MAX_CELLS);
        if (grid != NULL && (uint64_t)n_cells * c->dims[i] > BOARD_MAX_CELLS)
            return custom_refuse(c, "grid has more than %d cells", BOARD_MAX_CELLS);
        n_cells *= c->dims[i];
    }
    const uint32_t size = c->dims[0];
    b->is_hexagonal = shape <= SHAPE_TRIANGLE;
    if (b->is_hexagonal) {
        c->n_dims = 2;
        c->dims[0] = c->dims[1] = size * shapes[shape].factor + shapes[shape].more;
    }
    if (c->n_dims == 2) {
        b->rows = c->dims[0];
        b->cols = c->dims[1];
        n_cells = b->rows * b->cols;
        if ((uint64_t)b->rows * b->cols > BOARD_MAX_CELLS)
            return custom_refuse(c, "%u x %u cells are more than %d", b->rows, b->cols,
                                 BOARD_MAX_CELLS);
    }
    if (board_alloc_cells(b, n_cells, 1, c->err) != 0)
        return -1;
    if (new_items(&c->marked, n_cells, "cells of a board", c->err) != 0)
        return -1;
    for (int cell = 0; cell < (int)n_cells && b->is_hexagonal; cell++) {
        const int far = (int)size, centre = shape == SHAPE_STAR ? 2 * far : far;
        const int q = cell % (int)b->cols - centre, r = cell / (int)b->cols - centre, s = -q - r;

        if (shape == SHAPE_TRIANGLE)
            b->on_board[cell] = q + r + far >= -1;
        else if (shape == SHAPE_HEXAGON)
            b->on_board[cell] = abs(s) <= far;
        else
            b->on_board[cell] =
                (q <= far && r <= far && s <= far) || (q >= -far && r >= -far && s >= -far);
        b->n_on_board -= !b->on_board[cell];
    }
    return board_set_text(&b->transforms[0].name, c->err, "identity");
}

/* --- regions: lists of cells --- */

/* Mark the cells of a region: a list of numbers and of the words "row 0", "col -1" (from the end),
 * "odd" and "even". Off-board cells are refused as numbers and left out of words. `what` names the
 * region in messages. */
static int mark_region(const struct custom *c, const json_t *list, const char *what)
{
    const struct board *b = c->board;

    if (!json_is_array(list) || json_array_size(list) == 0)
        return custom_refuse(c, "%s is not a list of cells", what);
    memset(c->marked, 0, b->n_cells);
    for (size_t i = 0; i < json_array_size(list); i++) {
        const json_t *item = json_array_get(list, i);
        const char *word = json_string_value(item);
        bool is_empty = true;
        uint32_t cell;

        if (word == NULL) {
            if (!custom_read_index(item, b->n_cells, &cell) || !b->on_board[cell])
                return custom_refuse(c, "%s[%zu] is not a cell on board from 0 to %u", what, i,
                                     b->n_cells - 1);
            if (c->marked[cell])
                return custom_refuse(c, "%s has cell %u twice", what, cell);
            c->marked[cell] = 1;
            continue;
        }
        const bool is_row = strncmp(word, "row ", 4) == 0, is_col = strncmp(word, "col ", 4) == 0;
        const bool from_end = (is_row || is_col) && word[4] == '-';
        /* What the row, the column or else their sum, modulo 2, is in the region. */
        uint64_t n = strcmp(word, "odd") == 0 ? 1 : strcmp(word, "even") == 0 ? 0 : UINT64_MAX;
        if (is_row || is_col)
            (void)text_parse_u64(word + 4 + from_end, &n);
        if (from_end)
            n = (is_row ? b->rows : b->cols) - n; /* wraps to a large number if n is too large */
        for (cell = 0; cell < b->n_cells && b->cols > 0; cell++) {
            const uint32_t row = cell / b->cols, col = cell % b->cols;

            if (!b->on_board[cell] || (is_row ? row : is_col ? col : (row + col) % 2) != n)
                continue;
            c->marked[cell] = 1;
            is_empty = false;
        }
        if (is_empty)
            return custom_refuse(c,
                                 "%s[%zu]: %s is not a region: cells, \"row 0\", \"col -1\", "
                                 "\"odd\" or \"even\" of a board with rows and columns",
                                 what, i, text_quote(word).text);
    }
    return 0;
}

/* --- neighbours --- */

struct steps {
    int step[MAX_STEPS][CUSTOM_MAX_DIMS];
    uint32_t n;
};

/* Add the steps by -1, 0 or 1 along each dimension that move along min_moved to max_moved of them;
 * only one of two opposite steps. */
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

/* The on-board cell n steps away from a cell, or -1. */
static int64_t cell_after(const struct custom *c, uint32_t cell, const int *step, uint32_t n)
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

    return p[0] != q[0] ? order_of_u32(p, q) : order_of_u32(p + 1, q + 1);
}

static void add_edge(struct board *b, uint32_t from, uint32_t to)
{
    b->edges[b->n_edges][0] = from < to ? from : to;
    b->edges[b->n_edges++][1] = from < to ? to : from;
}

/* Read undirected edges, each kept once: the listed ones, and those along steps. */
static int parse_edges(const struct custom *c, const struct steps *steps)
{
    const json_t *list = json_object_get(c->root, "edges");
    struct board *b = c->board;
    const size_t n_listed = json_array_size(list);

    if (list == NULL && steps->n == 0)
        return 0;
    if (new_items(&b->edges, n_listed + (size_t)steps->n * b->n_cells + 1, "edges of a board",
                  c->err) != 0)
        return -1;
    for (size_t i = 0; i < n_listed; i++) {
        const json_t *pair = json_array_get(list, i);
        uint32_t from, to;

        if (json_array_size(pair) != 2 ||
            !custom_read_index(json_array_get(pair, 0), b->n_cells, &from) ||
            !custom_read_index(json_array_get(pair, 1), b->n_cells, &to) || from == to)
            return custom_refuse(c, "edges[%zu] is not a pair of two cells from 0 to %u", i,
                                 b->n_cells - 1);
        if (!b->on_board[from] || !b->on_board[to])
            return custom_refuse(c, "edges[%zu] joins cell %u, which is not on board", i,
                                 b->on_board[from] ? to : from);
        add_edge(b, from, to);
    }
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        for (uint32_t s = 0; s < steps->n && b->on_board[cell]; s++) {
            const int64_t to = cell_after(c, cell, steps->step[s], 1);

            if (to >= 0)
                add_edge(b, cell, (uint32_t)to);
        }
    }
    const uint32_t n_all = b->n_edges;
    b->n_edges = 0;
    qsort(b->edges, n_all, sizeof *b->edges, compare_edges);
    for (uint32_t i = 0; i < n_all; i++)
        if (i == 0 || compare_edges(b->edges[i], b->edges[i - 1]) != 0)
            memmove(b->edges[b->n_edges++], b->edges[i], sizeof *b->edges);
    return 0;
}

/* --- lines --- */

static int parse_lines(const struct custom *c, struct steps steps)
{
    const json_t *list = json_object_get(c->root, "lines");
    const json_t *straight = json_object_get(c->root, "straight");
    struct board *b = c->board;
    size_t n = json_array_size(list), n_cells = 0, n_straight = 0;
    uint32_t length = 0;

    if (list == NULL && straight == NULL)
        return 0;
    if (straight != NULL && (!custom_read_index(straight, MAX_STRAIGHT + 1, &length) || length < 2))
        return custom_refuse(c, "straight is not a whole number from 2 to %d", MAX_STRAIGHT);
    if (length > 0 && steps.n == 0)
        add_steps(&steps, c->n_dims, 1, c->n_dims);
    n_straight = length > 0 ? (size_t)b->n_cells * steps.n : 0;
    if (n_straight * length > MAX_CELLS_OF_LINES)
        return custom_refuse(c, "straight: lines of %u cells would be more than %u cells", length,
                             MAX_CELLS_OF_LINES);
    for (size_t i = 0; i < n; i++)
        n_cells += json_array_size(json_array_get(list, i));
    /* Cells are written after the last line before it is known whether they are long enough. */
    if (new_items(&b->line_cells, n_cells + (n_straight + 1) * length + 1, "lines of a board",
                  c->err) != 0 ||
        new_items(&b->line_start, n + n_straight + 1, "lines of a board", c->err) != 0)
        return -1;
    memset(c->marked, 0, b->n_cells);
    for (uint32_t i = 0; i < n; i++) {
        const json_t *line = json_array_get(list, i);
        const uint32_t n_line = (uint32_t)json_array_size(line);
        uint32_t *cells = b->line_cells + b->line_start[i];

        if (n_line == 0)
            return custom_refuse(c, "lines[%u] is not a list of cells", i);
        for (uint32_t k = 0; k < n_line; k++) {
            if (!custom_read_index(json_array_get(line, k), b->n_cells, &cells[k]))
                return custom_refuse(c, "lines[%u][%u] is not a cell from 0 to %u", i, k,
                                     b->n_cells - 1);
            if (!b->on_board[cells[k]])
                return custom_refuse(c, "lines[%u] has cell %u, which is not on board", i,
                                     cells[k]);
            if (c->marked[cells[k]])
                return custom_refuse(c, "lines[%u] has cell %u twice", i, cells[k]);
            c->marked[cells[k]] = 1;
        }
        for (uint32_t k = 0; k < n_line; k++)
            c->marked[cells[k]] = 0;
        b->line_start[++b->n_lines] = b->line_start[i] + n_line;
    }
    for (uint32_t cell = 0; cell < b->n_cells && length > 0; cell++) {
        for (uint32_t s = 0; s < steps.n && b->on_board[cell]; s++) {
            const uint32_t start = b->line_start[b->n_lines];
            int64_t to = cell;
            uint32_t k = 0;

            for (; k < length && (to = cell_after(c, cell, steps.step[s], k)) >= 0; k++)
                b->line_cells[start + k] = (uint32_t)to;
            if (k == length)
                b->line_start[++b->n_lines] = start + length;
        }
    }
    if (b->n_lines == n && length > 0)
        return custom_refuse(c, "straight: no line of %u cells fits on the board", length);
    return 0;
}

/* --- colours --- */

static bool has_colour(const struct board *b, const char *name)
{
    for (uint32_t i = 0; i < b->n_colours; i++)
        if (b->colours[i].name != NULL && strcmp(b->colours[i].name, name) == 0)
            return true;
    return false;
}

static int add_colour(struct custom *c, const char *name)
{
    const json_t *region = json_object_get(json_object_get(c->root, "colours"), name);
    struct board *b = c->board;
    struct board_colour *colour = &b->colours[b->n_colours];
    char what[sizeof(struct text_quoted) + 16];
    uint32_t n_cells = 0;

    snprintf(what, sizeof what, "colour %s", text_quote(name).text);
    if (region == NULL)
        return custom_refuse(c, "players name %s, which colours has not", what);
    if (has_colour(b, name))
        return custom_refuse(c, "players name %s twice", what);
    if (mark_region(c, region, what) != 0)
        return -1;
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        n_cells += c->marked[cell];
    c->n_coloured += n_cells;
    if (c->n_coloured > MAX_CELLS_OF_COLOURS)
        return custom_refuse(c, "colours have at most %u cells together", MAX_CELLS_OF_COLOURS);
    b->n_colours++;
    if (board_set_text(&colour->name, c->err, "%s", name) != 0 ||
        new_items(&colour->cells, n_cells + (size_t)1, "colours of a board", c->err) != 0)
        return -1;
    for (uint32_t cell = 0; cell < b->n_cells; cell++)
        if (c->marked[cell])
            colour->cells[colour->n_cells++] = cell;
    return 0;
}

/* Read the colours: those of players first, in pairs of the first and second player's. */
static int parse_colours(struct custom *c)
{
    json_t *colours = json_object_get(c->root, "colours"), *region;
    const json_t *players = json_object_get(c->root, "players");
    const json_t *first = json_array_get(players, 0), *second = json_array_get(players, 1);
    struct board *b = c->board;
    const char *name;

    if (colours == NULL && players == NULL)
        return 0;
    if (!json_is_object(colours))
        return custom_refuse(c, "colours is not an object {\"name\": [cells], ...}");
    if (players != NULL && (json_array_size(players) != 2 || json_array_size(first) == 0 ||
                            json_array_size(first) != json_array_size(second)))
        return custom_refuse(c, "players are two lists of as many colours");
    if (new_items(&b->colours, json_object_size(colours) + 1, "colours of a board", c->err) != 0)
        return -1;
    for (size_t i = 0; i < 2 * json_array_size(first); i++) {
        const struct board_colour *one = &b->colours[i - i % 2], *other = &b->colours[i];

        name = json_string_value(json_array_get(i % 2 == 0 ? first : second, i / 2));
        if (name == NULL)
            return custom_refuse(c, "players are two lists of as many colours");
        if (add_colour(c, name) != 0)
            return -1;
        if (one != other && one->n_cells == other->n_cells && one->cells != NULL &&
            memcmp(one->cells, other->cells, one->n_cells * sizeof *one->cells) == 0)
            return custom_refuse(c, "colours %s and %s of the two players have the same cells",
                                 text_quote(one->name).text, text_quote(other->name).text);
        b->n_pairs += i % 2;
    }
    json_object_foreach(colours, name, region)
    {
        if (!has_colour(b, name) && add_colour(c, name) != 0)
            return -1;
    }
    return 0;
}

int custom_parse_cells(struct custom *c)
{
    const json_t *without = json_object_get(c->root, "without");
    static const struct steps hexagonal = {{{0, 1}, {1, 0}, {1, -1}}, 3};
    static const struct steps knight = {{{1, 2}, {2, 1}, {1, -2}, {2, -1}}, 4};
    const json_t *neighbours = json_object_get(c->root, "neighbours");
    const char *word = json_is_string(neighbours) ? json_string_value(neighbours) : "";
    struct board *b = c->board;
    struct steps steps = {.n = 0};

    if (parse_shape(c) != 0 || (without != NULL && mark_region(c, without, "without") != 0))
        return -1;
    const uint32_t n = c->n_dims;
    for (uint32_t cell = 0; cell < b->n_cells; cell++) {
        b->n_on_board -= b->on_board[cell] && c->marked[cell];
        b->on_board[cell] = b->on_board[cell] && !c->marked[cell];
    }
    if (b->n_on_board == 0)
        return custom_refuse(c, "without leaves no cells on board");
    if (strcmp(word, "orthogonal") == 0) {
        add_steps(&steps, n, 1, 1);
    } else if (strcmp(word, "diagonal") == 0 && n > 1) {
        add_steps(&steps, n, n, n);
    } else if (strcmp(word, "king") == 0) {
        add_steps(&steps, n, 1, n);
    } else if (strcmp(word, "hexagonal") == 0 && n == 2) {
        b->is_hexagonal = true;
        steps = hexagonal;
    } else if (strcmp(word, "knight") == 0 && n == 2) {
        steps = knight;
    } else if (neighbours != NULL) {
        return custom_refuse(c,
                             "neighbours is not \"orthogonal\", \"diagonal\", \"king\", "
                             "\"hexagonal\" or \"knight\"%s",
                             n != 2 ? " as a board of these dimensions can have it" : "");
    }
    if (parse_edges(c, &steps) != 0 || parse_lines(c, steps) != 0)
        return -1;
    return parse_colours(c);
}
