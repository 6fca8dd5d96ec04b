/*
 * group.c - the transforms of a board multiplied and compared.
 *
 * Two transforms are equal when they move cells, planes, actions, numbers and colours alike; a hash
 * of their maps tells most of the others apart. Generators are closed into their group breadth
 * first: each product is computed in the spare transform, which stays when it is a new one.
 */
#include "board/group.h"

#include "base/perm.h"
#include "board/families.h"

#include <xxhash.h>

struct group_map group_map_of(const struct board *b, uint32_t t, unsigned i)
{
    const struct board_transform *one = &b->transforms[t];
    const struct group_map maps[GROUP_N_MAPS] = {
        {"dst", "cell", one->dst, b->n_cells},
        {"planes", "plane", one->planes, b->n_planes},
        {"actions", "action", one->actions, b->n_actions},
        {"numbers", "number", one->numbers, b->n_numbers},
    };

    return maps[i];
}

/* A cell by row and column, where it has those; anything else by number. */
static struct text_quoted point_text(const struct board *b, const struct group_map *map, uint32_t i)
{
    return *map->unit == 'c' && b->cols > 0 ? board_cell_text(b, i) : text_format("%u", i);
}

static void set_hash(const struct board *b, uint32_t t)
{
    struct board_transform *one = &b->transforms[t];

    one->hash = XXH3_64bits_withSeed(one->dst, board_maps_nbytes(b), one->swaps_colours);
}

int group_find_fault(const struct board *b, uint32_t t, struct text_quoted *fault,
                     struct error *err)
{
    fault->text[0] = '\0';
    for (unsigned k = 0; k < GROUP_N_MAPS && fault->text[0] == '\0'; k++) {
        const struct group_map one = group_map_of(b, t, k);
        const size_t i = perm_first_fault(one.map, one.n, err);
        uint32_t before = 0;

        if (i == SIZE_MAX)
            return -1;
        while (i < one.n && one.map[i] < one.n && one.map[before] != one.map[i])
            before++;
        if (i < one.n && one.map[i] >= one.n)
            *fault = text_format("%s %s goes to %u, but there are only %u", one.unit,
                                 point_text(b, &one, (uint32_t)i).text, one.map[i], one.n);
        else if (i < one.n)
            *fault = text_format("%ss %s and %s both go to %u", one.unit,
                                 point_text(b, &one, before).text,
                                 point_text(b, &one, (uint32_t)i).text, one.map[i]);
    }
    set_hash(b, t);
    return 0;
}

bool group_is_identity(const struct board *b, uint32_t t)
{
    bool stays = !b->transforms[t].swaps_colours;

    for (unsigned k = 0; k < GROUP_N_MAPS && stays; k++) {
        const struct group_map one = group_map_of(b, t, k);

        stays = perm_is_identity(one.map, one.n);
    }
    return stays;
}

bool group_is_same(const struct board *b, uint32_t t, uint32_t u)
{
    const struct board_transform *x = &b->transforms[t], *y = &b->transforms[u];

    return x->hash == y->hash && x->swaps_colours == y->swaps_colours &&
           memcmp(x->dst, y->dst, board_maps_nbytes(b)) == 0;
}

uint64_t group_order(const struct board *b, uint32_t t)
{
    uint64_t order = b->transforms[t].swaps_colours ? 2 : 1;

    for (unsigned k = 0; k < GROUP_N_MAPS; k++) {
        const struct group_map one = group_map_of(b, t, k);

        order = perm_order(order, one.map, one.n);
    }
    return order;
}

uint32_t group_multiply(const struct board *b, uint32_t first, uint32_t then)
{
    const struct board_transform *x = &b->transforms[first], *y = &b->transforms[then];
    struct board_transform *product = &b->transforms[b->n_transforms];
    uint32_t t = 0;

    for (unsigned k = 0; k < GROUP_N_MAPS; k++) {
        const struct group_map one = group_map_of(b, first, k), other = group_map_of(b, then, k);

        perm_compose(one.map, other.map, one.n, group_map_of(b, b->n_transforms, k).map);
    }
    product->swaps_colours = x->swaps_colours != y->swaps_colours;
    set_hash(b, b->n_transforms);
    while (t < b->n_transforms &&
           (b->transforms[t].hash != product->hash || !group_is_same(b, t, b->n_transforms)))
        t++;
    return t;
}

struct text_quoted group_move_text(const struct board *b, uint32_t t)
{
    for (unsigned k = 0; k < GROUP_N_MAPS; k++) {
        const struct group_map one = group_map_of(b, t, k);

        for (uint32_t i = 0; i < one.n; i++)
            if (one.map[i] != i)
                return text_format("%s %s goes to %s", one.unit, point_text(b, &one, i).text,
                                   point_text(b, &one, one.map[i]).text);
    }
    return text_format("it exchanges colours only");
}

/* --- generators --- */

/* Multiply every transform by every generator, until nothing new appears. When that becomes too
 * many, keep the listed ones only, and name the generator of the largest order: the likeliest
 * culprit. */
static int generate(struct board *b, struct error *err)
{
    const uint32_t n_listed = b->n_transforms;
    uint32_t worst = 1;
    uint64_t largest = 0;

    if (board_alloc_maps(b, b->n_transforms, err) != 0)
        return -1;
    for (uint32_t t = 1; t < b->n_transforms; t++) {
        for (uint32_t g = 1; g < n_listed; g++) {
            struct board_transform *product = &b->transforms[b->n_transforms];

            if (group_multiply(b, t, g) < b->n_transforms)
                continue;
            if (b->n_transforms >= BOARD_MAX_TRANSFORMS ||
                (b->n_transforms + UINT64_C(1)) * group_n_entries(b) > GROUP_MAX_ENTRIES)
                goto too_many;
            if (board_set_text(&product->name, err, "%s*%s", b->transforms[t].name,
                               b->transforms[g].name) != 0)
                return -1;
            b->n_transforms++;
            if (board_alloc_maps(b, b->n_transforms, err) != 0)
                return -1;
        }
    }
    return 0;
too_many:
    for (uint32_t t = 1; t < n_listed; t++) {
        const uint64_t order = group_order(b, t) - 1; /* 0, beyond 64 bits, becomes the largest */

        if (t == 1 || order > largest) {
            largest = order;
            worst = t;
        }
    }
    const uint32_t n_found = b->n_transforms;
    for (uint32_t t = n_listed; t <= n_found; t++) /* and the spare one */
        board_release_transform(&b->transforms[t]);
    b->n_transforms = n_listed;
    return board_set_text(
        &b->fault, err,
        "the generators make a group that is too large: more than %u transforms, at most "
        "%d with %u entries together; %s has %s",
        n_found, BOARD_MAX_TRANSFORMS, GROUP_MAX_ENTRIES,
        text_quote(b->transforms[worst].name).text,
        largest != UINT64_MAX ? text_format("order %" PRIu64, largest + 1).text
                              : "an order beyond 64 bits");
}

/* Find the turn or mirror of the box, if any, that each transform of a board from a file is. */
static int find_turns(struct board *b, struct error *err)
{
    const struct board_box *box = board_turns_of(b);
    uint32_t *dst = malloc(b->n_cells * sizeof *dst);

    if (dst == NULL)
        return error_no_memory(err, "transforms of a board");
    for (uint32_t i = 1; i < box->n_elements; i++) {
        const bool is_turn = board_turn_cells(b, &box->elements[i].turn, dst);

        for (uint32_t t = 1; t < b->n_transforms && is_turn; t++)
            if (memcmp(dst, b->transforms[t].dst, b->n_cells * sizeof *dst) == 0)
                b->transforms[t].turn = &box->elements[i];
    }
    free(dst);
    return 0;
}

int group_arrange(struct board *b, bool are_generators, struct error *err)
{
    struct text_quoted fault;
    uint32_t t = 1;

    for (uint32_t i = 0; i < b->n_transforms; i++) {
        if (group_find_fault(b, i, &fault, err) != 0)
            return -1;
        if (fault.text[0] != '\0')
            return 0;
    }
    while (t < b->n_transforms && !group_is_identity(b, t))
        t++;
    if (t < b->n_transforms) {
        board_release_transform(&b->transforms[0]);
        b->transforms[0] = b->transforms[t];
        b->n_transforms--;
        memmove(&b->transforms[t], &b->transforms[t + 1],
                (b->n_transforms - t) * sizeof *b->transforms);
        b->transforms[b->n_transforms] = (struct board_transform){0};
    }
    for (t = 1; t < b->n_transforms && b->fault == NULL; t++)
        if (strcmp(b->transforms[t].name, "identity") == 0 && !group_is_identity(b, t) &&
            board_set_text(&b->fault, err, "transform 'identity' is not the identity: %s",
                           group_move_text(b, t).text) != 0)
            return -1;
    if (are_generators && generate(b, err) != 0)
        return -1;
    return find_turns(b, err);
}

/* --- sets of cells --- */

/* The hash of a set of cells, or of its image under a map. */
static uint64_t hash_of(const uint32_t *cells, uint32_t n, const uint32_t *dst)
{
    uint64_t hash = 0;

    for (uint32_t k = 0; k < n; k++) {
        const uint32_t cell = dst != NULL ? dst[cells[k]] : cells[k];

        hash += XXH3_64bits(&cell, sizeof cell);
    }
    return hash;
}

static uint64_t hash_of_relation(const struct relations *r, uint32_t i, const uint32_t *dst)
{
    const uint32_t start = relations_start(r, i);

    return hash_of(r->cells + start, relations_start(r, i + 1) - start, dst);
}

/* The slot of a hash, or the free slot where it would be. */
static struct relation *slot_of(const struct relations *r, uint64_t hash)
{
    uint32_t at = (uint32_t)hash & r->mask;

    while (r->slots[at].number != 0 && r->slots[at].hash != hash)
        at = (at + 1) & r->mask;
    return &r->slots[at];
}

int relations_init(struct relations *r, const struct board *b, bool are_lines, struct error *err)
{
    *r = (struct relations){.name = "edge", .cells = (const uint32_t *)b->edges, .n = b->n_edges};
    if (are_lines)
        *r = (struct relations){
            .name = "line", .cells = b->line_cells, .start = b->line_start, .n = b->n_lines};
    while (r->mask / 2 < r->n) /* at least half of the slots stay free */
        r->mask = 2 * r->mask + 1;
    if (new_items(&r->slots, (size_t)r->mask + 1, "edges and lines of a board", err) != 0)
        return -1;
    for (uint32_t i = 0; i < r->n; i++) {
        const uint64_t hash = hash_of_relation(r, i, NULL);
        struct relation *slot = slot_of(r, hash);

        if (slot->number != 0)
            continue;
        *slot = (struct relation){hash, i + 1};
        r->n_different++;
    }
    return 0;
}

bool relations_is_first(const struct relations *r, uint32_t i)
{
    return slot_of(r, hash_of_relation(r, i, NULL))->number == i + 1;
}

uint32_t relations_kept(const struct relations *r, const uint32_t *dst, uint32_t *lost)
{
    uint32_t n_kept = 0;

    *lost = r->n;
    for (uint32_t i = 0; i < r->n; i++) {
        if (slot_of(r, hash_of_relation(r, i, dst))->number != 0)
            n_kept++;
        else if (*lost == r->n)
            *lost = i;
    }
    return n_kept;
}

bool group_keeps_colours(const struct board *b, const uint32_t *dst, bool swaps, uint32_t *lost)
{
    for (*lost = 0; *lost < b->n_colours; (*lost)++) {
        const uint32_t other = swaps && *lost < 2 * b->n_pairs ? *lost ^ 1 : *lost;
        const struct board_colour *from = &b->colours[*lost], *to = &b->colours[other];

        if (hash_of(from->cells, from->n_cells, dst) != hash_of(to->cells, to->n_cells, NULL))
            return false;
    }
    return true;
}
