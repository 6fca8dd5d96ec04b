/*
 * group.c - the group of a board's transforms, computed from its maps.
 *
 * Everything that a transform moves becomes one permutation (a joint map), so that products and
 * comparisons treat all parts alike. A few points (the base) tell all transforms apart: a product
 * is compared on them first, and then everywhere. Edges and lines are looked up in sorted lists.
 */
#include "board/group.h"

#include "base/perm.h"
#include "board/families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NUMBERS 3
#define N_COLOURS 2

static const char *const part_names[BOARD_N_PARTS] = {"cell", "plane", "action"};

static uint32_t part_length(const struct board *b, enum board_part part)
{
    return *board_part_length((struct board *)b, part);
}

/* The dst map of a part; NULL stands for the identity. */
static const uint32_t *part_map(const struct board_transform *t, enum board_part part)
{
    return *board_part_map((struct board_transform *)t, part);
}

/* A cell by row and column, where it has those; other points, or if flat, by number. */
static void point_text(const struct board *b, bool flat, uint32_t i, char *text, size_t n_bytes)
{
    if (!flat && b->cols > 0)
        board_cell_text(b, i, text, n_bytes);
    else
        snprintf(text, n_bytes, "%u", i);
}

/* The fault of a map whose entry i is the first that is out of range or taken. */
static void describe_fault(const struct board *b, enum board_part part, const uint32_t *map,
                           uint32_t i, struct text_quoted *fault)
{
    const uint32_t n = part_length(b, part);
    char at[32], other[32];
    uint32_t before = 0;

    point_text(b, part != BOARD_CELLS, i, at, sizeof at);
    if (map[i] >= n) {
        snprintf(fault->text, sizeof fault->text, "%s %s goes to %u, but there are only %u",
                 part_names[part], at, map[i], n);
        return;
    }
    while (map[before] != map[i])
        before++;
    point_text(b, part != BOARD_CELLS, before, other, sizeof other);
    snprintf(fault->text, sizeof fault->text, "%ss %s and %s both go to %u", part_names[part],
             other, at, map[i]);
}

static bool numbers_are_permuted(const uint8_t *src)
{
    return src[0] < N_NUMBERS && src[1] < N_NUMBERS && src[2] < N_NUMBERS && src[0] != src[1] &&
           src[0] != src[2] && src[1] != src[2];
}

int joint_fault(const struct board *b, uint32_t t, struct text_quoted *fault, struct error *err)
{
    const struct board_transform *transform = &b->transforms[t];

    fault->text[0] = '\0';
    for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
        const uint32_t *map = part_map(transform, part);
        const uint32_t n = part_length(b, part);
        size_t i;

        if (map == NULL || n == 0)
            continue;
        i = perm_first_fault(map, n, err);
        if (i == SIZE_MAX)
            return -1;
        if (i < n) {
            describe_fault(b, part, map, (uint32_t)i, fault);
            return 0;
        }
    }
    if (!numbers_are_permuted(transform->number_src))
        snprintf(fault->text, sizeof fault->text, "its map of a tile's numbers repeats one");
    return 0;
}

static void join(const struct board *b, const struct board_transform *t, uint32_t *joined)
{
    uint32_t at = 0;

    for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
        const uint32_t *map = part_map(t, part);
        const uint32_t n = part_length(b, part);

        for (uint32_t i = 0; i < n; i++)
            joined[at + i] = at + (map != NULL ? map[i] : i);
        at += n;
    }
    /* number_src is a gather, the joint map a scatter. */
    for (uint32_t k = 0; k < N_NUMBERS; k++)
        joined[at + t->number_src[k]] = at + k;
    at += N_NUMBERS;
    for (uint32_t k = 0; k < N_COLOURS; k++)
        joined[at + k] = at + (t->swaps_colours ? N_COLOURS - 1 - k : k);
}

static bool same_on_base(const struct joint *j, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < j->n_base; k++)
        if (joint_map(j, a)[j->base[k]] != joint_map(j, b)[j->base[k]])
            return false;
    return true;
}

/* Each added point tells two transforms apart that no earlier one does, so it splits a class of
 * transforms alike on the base: there are fewer points than transforms. */
static void find_base(struct joint *j)
{
    for (uint32_t a = 0; a < j->n_transforms; a++) {
        for (uint32_t b = a + 1; b < j->n_transforms; b++) {
            uint32_t i = 0;

            if (!same_on_base(j, a, b))
                continue;
            while (i < j->n_points && joint_map(j, a)[i] == joint_map(j, b)[i])
                i++;
            if (i < j->n_points)
                j->base[j->n_base++] = i;
        }
    }
}

int joint_init(struct joint *j, const struct board *b, struct error *err)
{
    *j = (struct joint){.board = b, .n_transforms = b->n_transforms};
    j->n_points = b->n_cells + b->n_planes + b->n_actions + N_NUMBERS + N_COLOURS;
    /* NOLINTNEXTLINE(clang-analyzer-optin.portability.UnixAPI): a board has the identity */
    j->maps = calloc((size_t)j->n_points * j->n_transforms, sizeof *j->maps);
    j->base = calloc(j->n_transforms, sizeof *j->base);
    if (j->maps == NULL || j->base == NULL) {
        joint_release(j);
        return error_no_memory(err, "group of transforms");
    }
    for (uint32_t t = 0; t < j->n_transforms; t++)
        join(b, &b->transforms[t], j->maps + (size_t)t * j->n_points);
    find_base(j);
    return 0;
}

void joint_release(struct joint *j)
{
    free(j->maps);
    free(j->base);
    *j = (struct joint){0};
}

const char *joint_unit(const struct board *b, uint32_t i, uint32_t *first)
{
    *first = 0;
    for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
        if (i - *first < part_length(b, part))
            return part_names[part];
        *first += part_length(b, part);
    }
    if (i - *first < N_NUMBERS)
        return "number";
    *first += N_NUMBERS;
    return "colour";
}

int joint_try_product(struct joint *j, uint32_t a, uint32_t b, struct error *err)
{
    const size_t n_bytes = (j->n_transforms + (size_t)1) * j->n_points * sizeof *j->maps;
    uint32_t *maps = realloc(j->maps, n_bytes);

    if (maps == NULL)
        return error_no_memory(err, "group of transforms");
    j->maps = maps;
    perm_compose(joint_map(j, a), joint_map(j, b), j->n_points,
                 maps + (size_t)j->n_transforms * j->n_points);
    return 0;
}

int joint_find(const struct joint *j, const uint32_t *map)
{
    for (uint32_t t = 0; t < j->n_transforms; t++)
        if (memcmp(joint_map(j, t), map, j->n_points * sizeof *map) == 0)
            return (int)t;
    return -1;
}

int joint_split(const struct joint *j, uint32_t t, struct board_transform *to, struct error *err)
{
    const uint32_t *map = joint_map(j, t);
    uint32_t first = 0;

    for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
        const uint32_t n = part_length(j->board, part);
        uint32_t **own = board_part_map(to, part);

        if (n == 0)
            continue;
        *own = malloc(n * sizeof **own);
        if (*own == NULL)
            return error_no_memory(err, "map of a transform");
        for (uint32_t i = 0; i < n; i++)
            (*own)[i] = map[first + i] - first;
        first += n;
    }
    for (uint8_t k = 0; k < N_NUMBERS; k++)
        to->number_src[map[first + k] - first] = k;
    first += N_NUMBERS;
    to->swaps_colours = map[first] != first;
    return 0;
}

int joint_find_equal(const struct joint *j, uint32_t *a, uint32_t *b)
{
    for (*a = 0; *a < j->n_transforms; (*a)++)
        for (*b = *a + 1; *b < j->n_transforms; (*b)++)
            if (same_on_base(j, *a, *b))
                return 1;
    return 0;
}

static bool is_product(const struct joint *j, const uint32_t *first, const uint32_t *then,
                       const uint32_t *map)
{
    for (uint32_t k = 0; k < j->n_base; k++)
        if (then[first[j->base[k]]] != map[j->base[k]])
            return false;
    for (uint32_t i = 0; i < j->n_points; i++)
        if (then[first[i]] != map[i])
            return false;
    return true;
}

int joint_product(const struct joint *j, uint32_t a, uint32_t b)
{
    const uint32_t *first = joint_map(j, a);
    const uint32_t *then = joint_map(j, b);

    for (uint32_t t = 0; t < j->n_transforms; t++)
        if (is_product(j, first, then, joint_map(j, t)))
            return (int)t;
    return -1;
}

struct text_quoted joint_move_text(const struct joint *j, const uint32_t *first,
                                   const uint32_t *then, bool flat)
{
    struct text_quoted text = {"it exchanges colours or numbers only"};
    char from[32], to[32];
    uint32_t i = 0, start;
    const char *unit;

    while (i < j->n_points && (then != NULL ? then[first[i]] : first[i]) == i)
        i++;
    if (i == j->n_points || (!flat && i >= j->n_points - N_NUMBERS - N_COLOURS))
        return text;
    unit = joint_unit(j->board, i, &start);
    point_text(j->board, flat || start > 0, i - start, from, sizeof from);
    point_text(j->board, flat || start > 0, (then != NULL ? then[first[i]] : first[i]) - start, to,
               sizeof to);
    snprintf(text.text, sizeof text.text, "%s %s goes to %s", unit, from, to);
    return text;
}

/* --- the tables --- */

static const char *name_of(const struct board *b, uint32_t t)
{
    return b->transforms[t].name != NULL ? b->transforms[t].name : "(no name)";
}

static int check_maps(const struct board *b, struct error *err)
{
    for (uint32_t t = 0; t < b->n_transforms; t++) {
        struct text_quoted fault;

        if (joint_fault(b, t, &fault, err) != 0)
            return -1;
        if (fault.text[0] != '\0')
            return error_set(err, ERROR_DATA, "transform %s is no permutation: %s",
                             text_quote(name_of(b, t)).text, fault.text);
    }
    return 0;
}

static int check_elements(const struct joint *j, struct error *err)
{
    const struct board *b = j->board;
    uint32_t one, other;

    if (!perm_is_identity(j->maps, j->n_points))
        return error_set(err, ERROR_DATA, "transform 0, %s, is not the identity: %s",
                         text_quote(name_of(b, 0)).text,
                         joint_move_text(j, j->maps, NULL, false).text);
    if (joint_find_equal(j, &one, &other))
        return error_set(err, ERROR_DATA, "transforms %s and %s are the same",
                         text_quote(name_of(b, one)).text, text_quote(name_of(b, other)).text);
    return 0;
}

static int fill_compose(struct board *b, const struct joint *j, struct error *err)
{
    const uint32_t n = b->n_transforms;

    for (uint32_t one = 0; one < n; one++) {
        for (uint32_t other = 0; other < n; other++) {
            int product = joint_product(j, one, other);

            if (product < 0)
                return error_set(
                    err, ERROR_DATA,
                    "the transforms are no group: %s followed by %s is not one of "
                    "them (%s)",
                    text_quote(name_of(b, one)).text, text_quote(name_of(b, other)).text,
                    joint_move_text(j, joint_map(j, one), joint_map(j, other), false).text);
            b->compose[one * n + other] = (uint8_t)product;
            /* In a finite set of permutations closed under products every inverse is found. */
            if (product == 0)
                b->inverse[one] = (uint8_t)other;
        }
    }
    return 0;
}

static int alloc_tables(struct board *b, struct error *err)
{
    const size_t n = b->n_transforms;

    if (b->compose == NULL)
        b->compose = calloc(n * n, 1);
    if (b->inverse == NULL)
        b->inverse = calloc(n, 1);
    if (b->compose == NULL || b->inverse == NULL)
        return error_no_memory(err, "tables of a group");
    for (uint32_t t = 0; t < n; t++) {
        struct board_transform *transform = &b->transforms[t];

        if (transform->src == NULL)
            transform->src = malloc(b->n_cells * sizeof *transform->src);
        if (transform->src == NULL)
            return error_no_memory(err, "tables of a group");
    }
    return 0;
}

int group_complete(struct board *b, struct error *err)
{
    struct joint j = {0};
    int status = -1;

    if (check_maps(b, err) != 0 || alloc_tables(b, err) != 0)
        return -1;
    for (uint32_t t = 0; t < b->n_transforms; t++)
        perm_invert(b->transforms[t].dst, b->n_cells, b->transforms[t].src);
    if (joint_init(&j, b, err) != 0)
        return -1;
    if (check_elements(&j, err) == 0 && fill_compose(b, &j, err) == 0)
        status = 0;
    joint_release(&j);
    return status;
}

/* --- edges and lines --- */

static uint64_t edge_key(uint32_t a, uint32_t b)
{
    return a < b ? (uint64_t)a << 32 | b : (uint64_t)b << 32 | a;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static int compare_cells(const void *a, const void *b)
{
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static int compare_lines(const void *a, const void *b)
{
    const struct relations_line *x = a, *y = b;

    if (x->n_cells != y->n_cells)
        return x->n_cells < y->n_cells ? -1 : 1;
    for (uint32_t i = 0; i < x->n_cells; i++)
        if (x->cells[i] != y->cells[i])
            return x->cells[i] < y->cells[i] ? -1 : 1;
    return 0;
}

static void sort_edges(struct relations *r)
{
    const struct board *b = r->board;

    for (uint32_t i = 0; i < b->n_edges; i++)
        r->edges[i] = edge_key(b->edges[i][0], b->edges[i][1]);
    if (b->n_edges > 0)
        qsort(r->edges, b->n_edges, sizeof *r->edges, compare_keys);
}

static void sort_lines(struct relations *r)
{
    const struct board *b = r->board;

    for (uint32_t i = 0; i < b->n_lines; i++) {
        const uint32_t start = b->line_start[i];
        const uint32_t n = b->line_start[i + 1] - start;

        if (n > 0) {
            memcpy(r->cells + start, b->line_cells + start, n * sizeof *r->cells);
            qsort(r->cells + start, n, sizeof *r->cells, compare_cells);
        }
        r->lines[i] = (struct relations_line){r->cells + start, n};
    }
    if (b->n_lines > 0)
        qsort(r->lines, b->n_lines, sizeof *r->lines, compare_lines);
}

int relations_init(struct relations *r, const struct board *b, struct error *err)
{
    const size_t n_line_cells = b->n_lines > 0 ? b->line_start[b->n_lines] : 0;

    *r = (struct relations){.board = b};
    r->edges = calloc((size_t)b->n_edges + 1, sizeof *r->edges);
    r->lines = calloc((size_t)b->n_lines + 1, sizeof *r->lines);
    r->cells = calloc(n_line_cells + 1, sizeof *r->cells);
    r->scratch = calloc(n_line_cells + 1, sizeof *r->scratch);
    if (r->edges == NULL || r->lines == NULL || r->cells == NULL || r->scratch == NULL) {
        relations_release(r);
        return error_no_memory(err, "edges and lines of a board");
    }
    sort_edges(r);
    sort_lines(r);
    return 0;
}

void relations_release(struct relations *r)
{
    free(r->edges);
    free(r->lines);
    free(r->cells);
    free(r->scratch);
    *r = (struct relations){0};
}

uint32_t relations_edges_kept(const struct relations *r, const uint32_t *dst, uint32_t *lost)
{
    const struct board *b = r->board;
    uint32_t n_kept = 0;

    *lost = b->n_edges;
    for (uint32_t i = 0; i < b->n_edges; i++) {
        uint64_t key = edge_key(dst[b->edges[i][0]], dst[b->edges[i][1]]);

        if (bsearch(&key, r->edges, b->n_edges, sizeof key, compare_keys) != NULL)
            n_kept++;
        else if (*lost == b->n_edges)
            *lost = i;
    }
    return n_kept;
}

uint32_t relations_lines_kept(struct relations *r, const uint32_t *dst, uint32_t *lost)
{
    const struct board *b = r->board;
    uint32_t n_kept = 0;

    *lost = b->n_lines;
    for (uint32_t i = 0; i < b->n_lines; i++) {
        const uint32_t *cells = b->line_cells + b->line_start[i];
        const struct relations_line image = {r->scratch, b->line_start[i + 1] - b->line_start[i]};

        for (uint32_t k = 0; k < image.n_cells; k++)
            r->scratch[k] = dst[cells[k]];
        qsort(r->scratch, image.n_cells, sizeof *r->scratch, compare_cells);
        if (bsearch(&image, r->lines, b->n_lines, sizeof image, compare_lines) != NULL)
            n_kept++;
        else if (*lost == b->n_lines)
            *lost = i;
    }
    return n_kept;
}
