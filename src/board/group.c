/*
 * group.c - the maps of a board's transforms as a group.
 *
 * Everything that a transform moves becomes one permutation (a joint map), so that products and
 * comparisons treat all parts alike; they are told apart by their hashes first. Generators are
 * closed into their group breadth first. Edges and lines are sets of cells, looked up in sorted
 * lists.
 */
#include "board/group.h"

#include "base/bytes.h"
#include "base/perm.h"
#include "board/families.h"

#include <xxhash.h>

#define N_NUMBERS 3
#define N_COLOURS 2

static const char *const part_names[BOARD_N_PARTS] = {"cell", "plane", "action"};

/* A cell by row and column, where it has those; other points by number. */
static struct text_quoted point_text(const struct board *b, enum board_part part, uint32_t i)
{
    return part == BOARD_CELLS && b->cols > 0 ? board_cell_text(b, i) : text_format("%u", i);
}

int joint_fault(const struct board *b, uint32_t t, struct text_quoted *fault, struct error *err)
{
    const uint8_t *src = b->transforms[t].number_src;

    fault->text[0] = '\0';
    for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
        const uint32_t *map = *board_part_map(&b->transforms[t], part);
        const uint32_t n = board_part_length(b, part);
        const size_t i = map != NULL ? perm_first_fault(map, n, err) : n;
        uint32_t before = 0;

        if (i == SIZE_MAX)
            return -1;
        if (i == n)
            continue;
        if (map[i] >= n) {
            *fault = text_format("%s %s goes to %u, but there are only %u", part_names[part],
                                 point_text(b, part, (uint32_t)i).text, map[i], n);
            return 0;
        }
        while (map[before] != map[i])
            before++;
        *fault = text_format("%ss %s and %s both go to %u", part_names[part],
                             point_text(b, part, before).text,
                             point_text(b, part, (uint32_t)i).text, map[i]);
        return 0;
    }
    if (src[0] >= N_NUMBERS || src[1] >= N_NUMBERS || src[2] >= N_NUMBERS || src[0] == src[1] ||
        src[0] == src[2] || src[1] == src[2])
        snprintf(fault->text, sizeof fault->text, "its map of a tile's numbers repeats one");
    return 0;
}

/* Whether rows a and b of the maps say the same. */
static bool is_same(const struct joint *j, uint32_t a, uint32_t b)
{
    return j->hashes[a] == j->hashes[b] &&
           memcmp(joint_map(j, a), joint_map(j, b), j->n_points * sizeof *j->maps) == 0;
}

static void set_hash(struct joint *j, uint32_t t)
{
    j->hashes[t] = XXH3_64bits(joint_map(j, t), j->n_points * sizeof *j->maps);
}

int joint_init(struct joint *j, const struct board *b, struct error *err)
{
    j->board = b;
    j->n_transforms = b->n_transforms;
    j->n_points = b->n_cells + b->n_planes + b->n_actions + N_NUMBERS + N_COLOURS;
    if (list_room(&j->maps, j->n_transforms + 1, j->n_points * sizeof *j->maps,
                  "group of transforms", err) != 0) /* and a product after them */
        return -1;
    for (uint32_t t = 0; t < j->n_transforms; t++) {
        const struct board_transform *transform = &b->transforms[t];
        uint32_t *joined = j->maps + (size_t)t * j->n_points, at = 0;

        for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
            const uint32_t *map = *board_part_map(&b->transforms[t], part);
            const uint32_t n = board_part_length(b, part);

            for (uint32_t i = 0; i < n; i++)
                joined[at + i] = at + (map != NULL ? map[i] : i);
            at += n;
        }
        /* number_src is a gather, the joint map a scatter. */
        for (uint32_t k = 0; k < N_NUMBERS; k++)
            joined[at + transform->number_src[k]] = at + k;
        at += N_NUMBERS;
        for (uint32_t k = 0; k < N_COLOURS; k++)
            joined[at + k] = at + (transform->swaps_colours ? N_COLOURS - 1 - k : k);
        set_hash(j, t);
    }
    return 0;
}

bool joint_find_equal(const struct joint *j, uint32_t *a, uint32_t *b)
{
    for (*a = 0; *a < j->n_transforms; (*a)++)
        for (*b = *a + 1; *b < j->n_transforms; (*b)++)
            if (is_same(j, *a, *b))
                return true;
    return false;
}

int joint_product(struct joint *j, uint32_t a, uint32_t b)
{
    const uint32_t n = j->n_transforms;

    perm_compose(joint_map(j, a), joint_map(j, b), j->n_points, j->maps + (size_t)n * j->n_points);
    set_hash(j, n);
    for (uint32_t t = 0; t < n; t++)
        if (is_same(j, t, n))
            return (int)t;
    return -1;
}

struct text_quoted joint_move_text(const struct joint *j, const uint32_t *first,
                                   const uint32_t *then)
{
    uint32_t i = 0, start = 0;
    enum board_part part = 0;

    while (i < j->n_points && (then != NULL ? then[first[i]] : first[i]) == i)
        i++;
    if (i >= j->n_points - N_NUMBERS - N_COLOURS)
        return text_format("it exchanges colours or numbers only");
    while (part + 1 < BOARD_N_PARTS && i - start >= board_part_length(j->board, part))
        start += board_part_length(j->board, part++);
    const uint32_t to = then != NULL ? then[first[i]] : first[i];
    return text_format("%s %s goes to %s", part_names[part],
                       point_text(j->board, part, i - start).text,
                       point_text(j->board, part, to - start).text);
}

/* --- generators --- */

/* Breadth first: every transform times every generator, until nothing new appears. When that
 * becomes too many, the listed ones are left, and the generator of the largest order is named: the
 * likeliest culprit. */
static int generate(struct board *b, struct joint *j, struct error *err)
{
    const uint32_t n_listed = j->n_transforms;
    uint32_t worst = 1;
    uint64_t largest = 0;

    for (uint32_t t = 1; t < j->n_transforms; t++) {
        for (uint32_t g = 1; g < n_listed; g++) {
            struct board_transform *first = &b->transforms[t], *then = &b->transforms[g];
            struct board_transform *product = &b->transforms[j->n_transforms];

            if (joint_product(j, t, g) >= 0)
                continue;
            if (j->n_transforms >= BOARD_MAX_TRANSFORMS ||
                (j->n_transforms + UINT64_C(1)) * group_n_entries(b) > GROUP_MAX_ENTRIES)
                goto too_many;
            if (asprintf(&product->name, "%s*%s", first->name, then->name) < 0) {
                product->name = NULL;
                return error_no_memory(err, "transform name");
            }
            b->n_transforms = ++j->n_transforms; /* its map is in place */
            if (list_room(&j->maps, j->n_transforms + 1, j->n_points * sizeof *j->maps,
                          "group of transforms", err) != 0)
                return -1;
            for (enum board_part part = 0; part < BOARD_N_PARTS; part++) {
                const uint32_t n = board_part_length(b, part);
                uint32_t **own = board_part_map(product, part);

                if (n == 0)
                    continue;
                if (new_items(own, n, "map of a transform", err) != 0)
                    return -1;
                perm_compose(*board_part_map(first, part), *board_part_map(then, part), n, *own);
            }
            product->swaps_colours = first->swaps_colours != then->swaps_colours;
        }
    }
    return 0;
too_many:
    for (uint32_t t = 1; t < n_listed; t++) {
        /* 0, an order beyond 64 bits, becomes the largest. */
        const uint64_t found = perm_order(joint_map(j, t), j->n_points) - 1;

        if (t == 1 || found > largest) {
            largest = found;
            worst = t;
        }
    }
    while (b->n_transforms > n_listed)
        board_remove_transform(b, b->n_transforms - 1);
    if (asprintf(&b->fault,
                 "the generators make a group that is too large: more than %u transforms, at most "
                 "%d with %u entries together; %s has %s",
                 j->n_transforms, BOARD_MAX_TRANSFORMS, GROUP_MAX_ENTRIES,
                 text_quote(b->transforms[worst].name).text,
                 largest != UINT64_MAX ? text_format("order %" PRIu64, largest + 1).text
                                       : "an order beyond 64 bits") >= 0)
        return 0;
    b->fault = NULL;
    return error_no_memory(err, "board");
}

int group_arrange(struct board *b, bool are_generators, struct error *err)
{
    struct text_quoted fault = {""};
    struct joint j = {0};
    uint32_t t = 1;

    for (uint32_t i = 0; i < b->n_transforms && fault.text[0] == '\0'; i++)
        if (joint_fault(b, i, &fault, err) != 0)
            return -1;
    if (fault.text[0] != '\0')
        return 0;
    int status = joint_init(&j, b, err);
    while (status == 0 && t < b->n_transforms && !perm_is_identity(joint_map(&j, t), j.n_points))
        t++;
    if (status == 0 && t < b->n_transforms) {
        const struct board_transform unnamed = b->transforms[0];

        b->transforms[0] = b->transforms[t];
        b->transforms[t] = unnamed;
        board_remove_transform(b, t);
        status = joint_init(&j, b, err);
    }
    for (t = 1; t < b->n_transforms && b->fault == NULL && status == 0; t++)
        if (strcmp(b->transforms[t].name, "identity") == 0 &&
            !perm_is_identity(joint_map(&j, t), j.n_points) &&
            asprintf(&b->fault, "transform 'identity' is not the identity: %s",
                     joint_move_text(&j, joint_map(&j, t), NULL).text) < 0) {
            b->fault = NULL;
            status = error_no_memory(err, "board");
        }
    if (are_generators && status == 0)
        status = generate(b, &j, err);
    free(j.maps);
    return status;
}

/* --- edges and lines --- */

static int compare_relations(const void *a, const void *b)
{
    const struct relation *x = a, *y = b;
    uint32_t i = 0;

    if (x->n != y->n)
        return x->n < y->n ? -1 : 1;
    while (i < x->n && x->cells[i] == y->cells[i])
        i++;
    return i < x->n ? order_of_u32(&x->cells[i], &y->cells[i]) : 0;
}

int relations_init(struct relations *r, const struct board *b, bool are_lines, struct error *err)
{
    *r = (struct relations){.name = "edge", .cells = (const uint32_t *)b->edges, .n = b->n_edges};
    if (are_lines)
        *r = (struct relations){
            .name = "line", .cells = b->line_cells, .start = b->line_start, .n = b->n_lines};
    const uint32_t n_cells = r->n > 0 ? relations_start(r, r->n) : 0;
    r->sorted = calloc((size_t)r->n + 1, sizeof *r->sorted);
    r->sorted_cells = calloc(2 * (size_t)n_cells + 1, sizeof *r->sorted_cells);
    if (r->sorted == NULL || r->sorted_cells == NULL) {
        relations_release(r);
        return error_no_memory(err, "edges and lines of a board");
    }
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t start = relations_start(r, i), n = relations_start(r, i + 1) - start;

        memcpy(r->sorted_cells + start, r->cells + start, n * sizeof *r->cells);
        qsort(r->sorted_cells + start, n, sizeof *r->cells, order_of_u32);
        r->sorted[i] = (struct relation){r->sorted_cells + start, n};
    }
    qsort(r->sorted, r->n, sizeof *r->sorted, compare_relations);
    for (uint32_t i = 0; i < r->n; i++)
        if (i == 0 || compare_relations(&r->sorted[i], &r->sorted[r->n_sorted - 1]) != 0)
            r->sorted[r->n_sorted++] = r->sorted[i];
    return 0;
}

void relations_release(struct relations *r)
{
    free(r->sorted);
    free(r->sorted_cells);
    *r = (struct relations){0};
}

uint32_t relations_kept(struct relations *r, const uint32_t *dst, uint32_t *lost)
{
    uint32_t *scratch = r->sorted_cells + (r->n > 0 ? relations_start(r, r->n) : 0);
    uint32_t n_kept = 0;

    *lost = r->n;
    for (uint32_t i = 0; i < r->n; i++) {
        const uint32_t start = relations_start(r, i);
        const struct relation image = {scratch, relations_start(r, i + 1) - start};

        for (uint32_t k = 0; k < image.n; k++)
            scratch[k] = dst[r->cells[start + k]];
        qsort(scratch, image.n, sizeof *scratch, order_of_u32);
        if (bsearch(&image, r->sorted, r->n_sorted, sizeof image, compare_relations) != NULL)
            n_kept++;
        else if (*lost == r->n)
            *lost = i;
    }
    return n_kept;
}
