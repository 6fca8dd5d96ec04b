/* custom_close.c - see custom.h: from a list of transforms to a group. */
#include "board/custom.h"

#include "base/perm.h"
#include "base/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What all maps of a group may have together: 16 MiB, and as much again in the board. */
#define MAX_ENTRIES (1u << 22)

static uint64_t hash_map(const uint32_t *map, uint32_t n)
{
    uint64_t hash = 0xcbf29ce484222325u;

    for (uint32_t i = 0; i < n; i++)
        hash = (hash ^ map[i]) * 0x100000001b3u;
    return hash;
}

/* The element with this map, or NULL. */
static const struct custom_element *find(const struct custom *c, const uint32_t *map)
{
    const uint32_t n = custom_n_parts(c);
    const uint64_t hash = hash_map(map, n);

    for (uint32_t e = 0; e < c->n_elements; e++)
        if (c->elements[e].hash == hash && memcmp(c->elements[e].map, map, n * sizeof *map) == 0)
            return &c->elements[e];
    return NULL;
}

/* Append an element; takes the name (NULL: no memory for it) and a copy of the map. */
static int append(struct custom *c, char *name, const uint32_t *map, struct error *err)
{
    const uint32_t n = custom_n_parts(c);
    struct custom_element *e = &c->elements[c->n_elements];

    e->name = name;
    e->map = malloc(n * sizeof *e->map);
    if (name == NULL || e->map == NULL)
        return error_no_memory(err, "transforms of a board");
    memcpy(e->map, map, n * sizeof *map);
    e->hash = hash_map(map, n);
    c->n_elements++;
    return 0;
}

/* True when there is room for one element more. */
static bool has_room(const struct custom *c)
{
    return c->n_elements < BOARD_MAX_TRANSFORMS &&
           (uint64_t)(c->n_elements + 1) * custom_n_parts(c) <= MAX_ENTRIES;
}

static int refuse_size(const struct custom *c, struct error *err)
{
    return custom_refuse(c, err,
                         "a board has at most %d transforms with %u entries together, and each "
                         "here has %u entries",
                         BOARD_MAX_TRANSFORMS, MAX_ENTRIES, custom_n_parts(c));
}

/* What a map moves and where, for a message: "cell 0 goes to 5". */
static void first_move(const struct custom *c, const uint32_t *map, char *text, size_t n_bytes)
{
    const struct {
        const char *unit;
        uint32_t first;
    } parts[] = {
        {"colour", custom_first_colour(c)},
        {"action", custom_first_action(c)},
        {"plane", custom_first_plane(c)},
        {"cell", 0},
    };
    uint32_t i = 0;
    size_t part = 0;

    while (i + 1 < custom_n_parts(c) && map[i] == i)
        i++;
    while (i < parts[part].first)
        part++;
    snprintf(text, n_bytes, "%s %u goes to %u", parts[part].unit, i - parts[part].first,
             map[i] - parts[part].first);
}

static int refuse_identity(const struct custom *c, const uint32_t *map, struct error *err)
{
    char move[64];

    first_move(c, map, move, sizeof move);
    return custom_refuse(c, err, "transform 'identity' is not the identity: %s", move);
}

/* The identity under its name in the file, if it is listed. */
static int add_identity(struct custom *c, uint32_t *scratch, struct error *err)
{
    const uint32_t n = custom_n_parts(c);
    const char *name = "identity";

    for (uint32_t t = 0; t < c->n_transforms; t++) {
        if (custom_join(c, &c->transforms[t], scratch, err) != 0)
            return -1;
        if (perm_is_identity(scratch, n))
            name = c->transforms[t].name;
        else if (strcmp(c->transforms[t].name, "identity") == 0)
            return refuse_identity(c, scratch, err);
    }
    if (!has_room(c))
        return refuse_size(c, err);
    perm_set_identity(scratch, n);
    return append(c, strdup(name), scratch, err);
}

static int add_listed(struct custom *c, uint32_t *scratch, struct error *err)
{
    for (uint32_t t = 0; t < c->n_transforms; t++) {
        const char *name = c->transforms[t].name;
        const struct custom_element *same;

        if (custom_join(c, &c->transforms[t], scratch, err) != 0)
            return -1;
        same = find(c, scratch);
        if (same == &c->elements[0] && strcmp(same->name, name) == 0)
            continue;
        if (same != NULL && !c->is_lenient)
            return custom_refuse(c, err, "transforms %s and %s are the same",
                                 text_quote(same->name).text, text_quote(name).text);
        if (!has_room(c))
            return refuse_size(c, err);
        if (append(c, strdup(name), scratch, err) != 0)
            return -1;
    }
    return 0;
}

/* How often a map has to be applied to come back, as text. */
static void order_text(const struct custom *c, const uint32_t *map, char *text, size_t n_bytes)
{
    uint64_t order = perm_order(map, custom_n_parts(c));

    if (order == 0)
        snprintf(text, n_bytes, "an order beyond 64 bits or unknown");
    else
        snprintf(text, n_bytes, "order %" PRIu64, order);
}

static int refuse_product(const struct custom *c, const struct custom_element *a,
                          const struct custom_element *b, const uint32_t *product,
                          struct error *err)
{
    char move[64], order_a[48], order_b[48];

    for (uint32_t e = 0; e < c->n_elements; e++)
        if (memcmp(c->elements[e].map, product, c->board->n_cells * sizeof *product) == 0)
            return custom_refuse(c, err,
                                 "the transforms are no group: %s and then %s moves the cells as "
                                 "%s does, but not the planes, actions or colours",
                                 text_quote(a->name).text, text_quote(b->name).text,
                                 text_quote(c->elements[e].name).text);
    first_move(c, product, move, sizeof move);
    order_text(c, a->map, order_a, sizeof order_a);
    order_text(c, b->map, order_b, sizeof order_b);
    return custom_refuse(c, err,
                         "the transforms are no group: %s (%s) and then %s (%s) is none of them: "
                         "%s; list it, or set generators to true",
                         text_quote(a->name).text, order_a, text_quote(b->name).text, order_b,
                         move);
}

/* A finite set of permutations that contains its products is a group. */
static int prove_closed(const struct custom *c, uint32_t *scratch, struct error *err)
{
    const uint32_t n = custom_n_parts(c);

    for (uint32_t a = 1; a < c->n_elements; a++) {
        for (uint32_t b = 1; b < c->n_elements; b++) {
            perm_compose(c->elements[a].map, c->elements[b].map, n, scratch);
            if (find(c, scratch) == NULL)
                return refuse_product(c, &c->elements[a], &c->elements[b], scratch, err);
        }
    }
    return 0;
}

/* Name the generator of the largest order: the likeliest culprit. */
static int refuse_generators(const struct custom *c, uint32_t n_generators, struct error *err)
{
    uint32_t worst = 1;
    uint64_t largest = 0;
    char order[48];

    for (uint32_t e = 1; e <= n_generators; e++) {
        uint64_t order_of_e = perm_order(c->elements[e].map, custom_n_parts(c));

        if (order_of_e == 0)
            order_of_e = UINT64_MAX;
        if (order_of_e > largest) {
            largest = order_of_e;
            worst = e;
        }
    }
    order_text(c, c->elements[worst].map, order, sizeof order);
    return custom_refuse(c, err,
                         "the generators make a group that is too large: more than %u transforms, "
                         "at most %d with %u entries together; %s has %s",
                         c->n_elements, BOARD_MAX_TRANSFORMS, MAX_ENTRIES,
                         text_quote(c->elements[worst].name).text, order);
}

/* Breadth first: every element times every generator, until nothing new appears. */
static int generate(struct custom *c, uint32_t *scratch, struct error *err)
{
    const uint32_t n_generators = c->n_elements - 1;

    for (uint32_t a = 1; a < c->n_elements; a++) {
        for (uint32_t g = 1; g <= n_generators; g++) {
            char *name = NULL;

            perm_compose(c->elements[a].map, c->elements[g].map, custom_n_parts(c), scratch);
            if (find(c, scratch) != NULL)
                continue;
            if (!has_room(c))
                return refuse_generators(c, n_generators, err);
            if (asprintf(&name, "%s*%s", c->elements[a].name, c->elements[g].name) < 0)
                name = NULL;
            if (append(c, name, scratch, err) != 0)
                return -1;
        }
    }
    return 0;
}

/* Without generated transforms a report shows that the listed ones are not closed. */
static int generate_leniently(struct custom *c, uint32_t *scratch, struct error *err)
{
    const uint32_t n_listed = c->n_elements;
    struct error refusal = {0};

    for (uint32_t e = 0; e < n_listed; e++) {
        size_t fault = perm_first_fault(c->elements[e].map, custom_n_parts(c), err);

        if (fault != custom_n_parts(c))
            return fault == SIZE_MAX ? -1 : 0;
    }
    if (generate(c, scratch, &refusal) == 0)
        return 0;
    if (refusal.kind != ERROR_DATA)
        return error_pass(err, &refusal);
    while (c->n_elements > n_listed) {
        struct custom_element *e = &c->elements[--c->n_elements];

        free(e->name);
        free(e->map);
        *e = (struct custom_element){0};
    }
    return 0;
}

static int close_list(struct custom *c, uint32_t *scratch, struct error *err)
{
    if (add_identity(c, scratch, err) != 0 || add_listed(c, scratch, err) != 0)
        return -1;
    if (c->is_lenient)
        return c->is_generated ? generate_leniently(c, scratch, err) : 0;
    return c->is_generated ? generate(c, scratch, err) : prove_closed(c, scratch, err);
}

int custom_close(struct custom *c, struct error *err)
{
    uint32_t *scratch = malloc(custom_n_parts(c) * sizeof *scratch);
    int status = -1;

    c->elements = calloc(BOARD_MAX_TRANSFORMS, sizeof *c->elements);
    if (scratch == NULL || c->elements == NULL)
        error_no_memory(err, "transforms of a board");
    else
        status = close_list(c, scratch, err);
    free(scratch);
    return status;
}
