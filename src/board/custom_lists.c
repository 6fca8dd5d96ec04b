/* custom_lists.c - see custom.h: the lists of numbers in a board file: maps, edges, lines. */
#include "board/custom.h"

#include "base/perm.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

/* True when value is a whole number below limit, which is then stored. */
static bool read_index(const json_t *value, uint32_t limit, uint32_t *index)
{
    if (!json_is_integer(value) || json_integer_value(value) < 0 ||
        json_integer_value(value) >= limit)
        return false;
    *index = (uint32_t)json_integer_value(value);
    return true;
}

static int refuse_index(const struct custom *c, const json_t *value,
                        const struct custom_map_kind *kind, const char *transform, uint32_t i,
                        uint32_t n, struct error *err)
{
    if (!json_is_integer(value))
        return custom_refuse(c, err, "transform %s: %s[%u] is no whole number",
                             text_quote(transform).text, kind->key, i);
    return custom_refuse(
        c, err,
        "transform %s: %s %u goes to %" JSON_INTEGER_FORMAT ", expected a number from 0 to %u",
        text_quote(transform).text, kind->unit, i, json_integer_value(value), n - 1);
}

/* Refuse a map of which some index is taken twice, naming both that go there. */
static int refuse_collision(const struct custom *c, const struct custom_map_kind *kind,
                            const char *transform, const uint32_t *map, size_t fault,
                            struct error *err)
{
    size_t first = 0;

    while (map[first] != map[fault])
        first++;
    return custom_refuse(c, err,
                         "transform %s: %s is no permutation: %s %zu goes to %u, where %s %zu "
                         "goes, too",
                         text_quote(transform).text, kind->key, kind->unit, fault, map[fault],
                         kind->unit, first);
}

static int fill_map(const struct custom *c, const json_t *list, const struct custom_map_kind *kind,
                    const char *transform, uint32_t n, uint32_t *map, struct error *err)
{
    const uint32_t limit = c->is_lenient ? UINT32_MAX : n;
    size_t fault;

    for (uint32_t i = 0; i < n; i++)
        if (!read_index(json_array_get(list, i), limit, &map[i]))
            return refuse_index(c, json_array_get(list, i), kind, transform, i, n, err);
    if (c->is_lenient)
        return 0;
    fault = perm_first_fault(map, n, err);
    if (fault == SIZE_MAX)
        return -1;
    return fault == n ? 0 : refuse_collision(c, kind, transform, map, fault, err);
}

int custom_parse_map(const struct custom *c, const json_t *list, const struct custom_map_kind *kind,
                     const char *transform, uint32_t *n, uint32_t **map, struct error *err)
{
    size_t length = json_array_size(list);

    if (!json_is_array(list) || length == 0)
        return custom_refuse(c, err, "transform %s: %s is missing, empty or no list [...]",
                             text_quote(transform).text, kind->key);
    if (*n == 0)
        *n = (uint32_t)length;
    if (length != *n)
        return custom_refuse(c, err,
                             "transform %s: %s has %zu entries, expected %u, one for each "
                             "%s",
                             text_quote(transform).text, kind->key, length, *n, kind->unit);
    *map = malloc(length * sizeof **map);
    if (*map == NULL)
        return error_no_memory(err, "map of a transform");
    return fill_map(c, list, kind, transform, *n, *map, err);
}

static int compare_edges(const void *a, const void *b)
{
    const uint32_t *p = a, *q = b;

    if (p[0] != q[0])
        return p[0] < q[0] ? -1 : 1;
    return (p[1] > q[1]) - (p[1] < q[1]);
}

static int read_edge(const struct custom *c, const json_t *pair, size_t i, uint32_t edge[2],
                     struct error *err)
{
    const uint32_t n_cells = c->board->n_cells;
    uint32_t from, to;

    if (json_array_size(pair) != 2 || !read_index(json_array_get(pair, 0), n_cells, &from) ||
        !read_index(json_array_get(pair, 1), n_cells, &to) || from == to)
        return custom_refuse(c, err, "edges[%zu] is no pair of two cells from 0 to %u", i,
                             n_cells - 1);
    edge[0] = from < to ? from : to;
    edge[1] = from < to ? to : from;
    return 0;
}

int custom_parse_edges(const struct custom *c, const json_t *list, struct error *err)
{
    struct board *b = c->board;
    size_t n = json_array_size(list);

    if (list == NULL)
        return 0;
    if (!json_is_array(list))
        return custom_refuse(c, err, "edges is no list [...]");
    b->edges = malloc((n + 1) * sizeof *b->edges);
    if (b->edges == NULL)
        return error_no_memory(err, "edges of a board");
    for (size_t i = 0; i < n; i++)
        if (read_edge(c, json_array_get(list, i), i, b->edges[i], err) != 0)
            return -1;
    qsort(b->edges, n, sizeof *b->edges, compare_edges);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || compare_edges(b->edges[i], b->edges[i - 1]) != 0)
            memmove(b->edges[b->n_edges++], b->edges[i], sizeof *b->edges);
    return 0;
}

/* Append line i to line_cells. seen_in[cell] is the number + 1 of the last line with that cell. */
static int read_line(const struct custom *c, const json_t *line, uint32_t i, uint32_t *seen_in,
                     struct error *err)
{
    struct board *b = c->board;
    uint32_t n = (uint32_t)json_array_size(line);
    uint32_t *cells = b->line_cells + b->line_start[i];

    if (n == 0)
        return custom_refuse(c, err, "lines[%u] is no list of cells", i);
    for (uint32_t k = 0; k < n; k++) {
        if (!read_index(json_array_get(line, k), b->n_cells, &cells[k]))
            return custom_refuse(c, err, "lines[%u][%u] is no cell from 0 to %u", i, k,
                                 b->n_cells - 1);
        if (seen_in[cells[k]] == i + 1)
            return custom_refuse(c, err, "lines[%u] has cell %u twice", i, cells[k]);
        seen_in[cells[k]] = i + 1;
    }
    b->line_start[i + 1] = b->line_start[i] + n;
    return 0;
}

int custom_parse_lines(const struct custom *c, const json_t *list, struct error *err)
{
    struct board *b = c->board;
    size_t n = json_array_size(list), n_cells = 0;
    uint32_t *seen_in;
    int status = 0;

    if (list == NULL)
        return 0;
    if (!json_is_array(list))
        return custom_refuse(c, err, "lines is no list [...]");
    for (size_t i = 0; i < n; i++)
        n_cells += json_array_size(json_array_get(list, i));
    b->line_cells = malloc((n_cells + 1) * sizeof *b->line_cells);
    b->line_start = calloc(n + 1, sizeof *b->line_start);
    seen_in = calloc(b->n_cells, sizeof *seen_in);
    if (b->line_cells == NULL || b->line_start == NULL || seen_in == NULL)
        status = error_no_memory(err, "lines of a board");
    for (uint32_t i = 0; i < n && status == 0; i++)
        status = read_line(c, json_array_get(list, i), i, seen_in, err);
    free(seen_in);
    b->n_lines = status == 0 ? (uint32_t)n : 0;
    return status;
}
