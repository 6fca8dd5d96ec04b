/* joint.c - see joint.h. */
#include "board/joint.h"

#include "base/perm.h"
#include "board/families.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define N_NUMBERS 3
#define N_COLOURS 2

/* The parts with maps of their own, in the order in which they are joined. */
enum part { PART_CELL, PART_PLANE, PART_ACTION, N_PARTS };

static const char *const part_names[N_PARTS] = {"cell", "plane", "action"};

static uint32_t part_length(const struct board *b, enum part part)
{
    return part == PART_CELL ? b->n_cells : part == PART_PLANE ? b->n_planes : b->n_actions;
}

/* The dst map of a part; NULL stands for the identity. */
static const uint32_t *part_map(const struct board_transform *t, enum part part)
{
    return part == PART_CELL ? t->dst : part == PART_PLANE ? t->planes : t->actions;
}

static void point_text(const struct board *b, enum part part, uint32_t i, char *text,
                       size_t n_bytes)
{
    if (part == PART_CELL && b->cols > 0)
        board_cell_text(b, i, text, n_bytes);
    else
        snprintf(text, n_bytes, "%u", i);
}

/* The fault of a map whose entry i is the first that is out of range or taken. */
static void describe_fault(const struct board *b, enum part part, const uint32_t *map, uint32_t i,
                           struct text_quoted *fault)
{
    const uint32_t n = part_length(b, part);
    char at[32], other[32];
    uint32_t before = 0;

    point_text(b, part, i, at, sizeof at);
    if (map[i] >= n) {
        snprintf(fault->text, sizeof fault->text, "%s %s goes to %u, but there are only %u",
                 part_names[part], at, map[i], n);
        return;
    }
    while (map[before] != map[i])
        before++;
    point_text(b, part, before, other, sizeof other);
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
    for (enum part part = 0; part < N_PARTS; part++) {
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

    for (enum part part = 0; part < N_PARTS; part++) {
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

static const uint32_t *map_of(const struct joint *j, uint32_t t)
{
    return j->maps + (size_t)t * j->n_points;
}

static bool same_on_base(const struct joint *j, uint32_t a, uint32_t b)
{
    for (uint32_t k = 0; k < j->n_base; k++)
        if (map_of(j, a)[j->base[k]] != map_of(j, b)[j->base[k]])
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
            while (i < j->n_points && map_of(j, a)[i] == map_of(j, b)[i])
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
    const uint32_t *first = map_of(j, a);
    const uint32_t *then = map_of(j, b);

    for (uint32_t t = 0; t < j->n_transforms; t++)
        if (is_product(j, first, then, map_of(j, t)))
            return (int)t;
    return -1;
}

static struct text_quoted moved_text(const struct joint *j, const uint32_t *first,
                                     const uint32_t *then)
{
    struct text_quoted q = {"it exchanges colours or numbers only"};
    uint32_t at = 0;

    for (enum part part = 0; part < N_PARTS; part++) {
        const uint32_t n = part_length(j->board, part);

        for (uint32_t i = at; i < at + n; i++) {
            const uint32_t to = then != NULL ? then[first[i]] : first[i];
            char from_text[32], to_text[32];

            if (to == i)
                continue;
            point_text(j->board, part, i - at, from_text, sizeof from_text);
            point_text(j->board, part, to - at, to_text, sizeof to_text);
            snprintf(q.text, sizeof q.text, "%s %s goes to %s", part_names[part], from_text,
                     to_text);
            return q;
        }
        at += n;
    }
    return q;
}

struct text_quoted joint_moved_text(const struct joint *j, uint32_t t)
{
    return moved_text(j, map_of(j, t), NULL);
}

struct text_quoted joint_product_text(const struct joint *j, uint32_t a, uint32_t b)
{
    return moved_text(j, map_of(j, a), map_of(j, b));
}
