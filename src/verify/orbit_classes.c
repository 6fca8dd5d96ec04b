/*
 * orbit_classes.c - groups of images without any order to go by: rows whose stones have the same
 * shape are one class, found as runs of equal shapes in a sorted list. The first rows tell how many
 * images a position has, and whether the set is an expansion at all or a list of all positions of a
 * small game. Then every row is listed with its class, and related to the first row of it by
 * comparing planes.
 */
#include "verify/orbit_classes.h"

#include <stdlib.h>
#include <string.h>

/* --- a look at the first rows --- */

struct entry {
    uint64_t shape, planes, policy;
    bool is_symmetric;
};

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;

    if (a->shape != b->shape)
        return a->shape < b->shape ? -1 : 1;
    if (a->planes != b->planes)
        return a->planes < b->planes ? -1 : 1;
    return a->policy < b->policy ? -1 : a->policy > b->policy;
}

/* Rows of one class: how many, how many different ones, and whether their policies are alike. */
struct class_of_rows {
    uint64_t n, n_different;
    bool alike, is_symmetric;
};

static struct class_of_rows next_class(const struct entry *list, uint64_t n)
{
    struct class_of_rows c = {
        .n = 1, .n_different = 1, .alike = true, .is_symmetric = list[0].is_symmetric};

    for (; c.n < n && list[c.n].shape == list[0].shape; c.n++) {
        c.n_different += list[c.n].planes != list[c.n - 1].planes;
        c.alike &= list[c.n].policy == list[0].policy;
    }
    return c;
}

static struct classes_fit judge(const struct entry *list, uint64_t n)
{
    struct classes_fit fit = {.n_images = 1};
    uint64_t n_of[LAYOUT_MAX_IMAGES + 1] = {0}, n_good = 0, n_alike = 0, n_classes = 0;
    uint64_t n_once = 0, n_repeated = 0, n_saved = 0;

    for (uint64_t i = 0; i < n;) {
        const struct class_of_rows c = next_class(list + i, n - i);

        if (c.n_different <= LAYOUT_MAX_IMAGES)
            n_of[c.n_different] += c.n;
        i += c.n;
    }
    for (uint32_t k = 2; k <= LAYOUT_MAX_IMAGES; k++)
        fit.n_images = n_of[k] > n_of[fit.n_images] ? k : fit.n_images;
    for (uint64_t i = 0; i < n;) {
        const struct class_of_rows c = next_class(list + i, n - i);
        const bool is_good = 4 * c.n_different >= 3 * fit.n_images;

        i += c.n;
        if (c.is_symmetric) {
            n_once += c.n == c.n_different;
            n_repeated += c.n > c.n_different;
        }
        if (c.n_different == 1 && c.n > 1)
            continue;
        n_classes++;
        n_saved += c.n - 1;
        n_good += is_good;
        n_alike += is_good && c.alike;
    }
    fit.is_enumeration = n_once > n_repeated || 2 * n_alike < n_good;
    fit.saved = n > 0 ? (double)n_saved / (double)n : 0;
    if (fit.n_images < 2 || 2 * n_good <= n_classes || n_good * (fit.n_images - 1) < 3)
        fit.n_images = 0;
    return fit;
}

int orbit_classes_probe(const struct probe *probe, struct classes_fit *fit, struct error *err)
{
    struct entry *list = calloc(probe->n + 1, sizeof *list);
    uint64_t n = 0;

    if (list == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint64_t i = 0; i < probe->n; i++) {
        const struct sketch *s = &probe->sketches[i];

        if (s->shape[SKETCH_BOARD] != 0)
            list[n++] =
                (struct entry){s->shape[SKETCH_BOARD], s->planes, s->policy, s->is_symmetric};
    }
    qsort(list, n, sizeof *list, compare_entries);
    *fit = judge(list, n);
    free(list);
    return 0;
}

/* --- all rows --- */

struct classes {
    struct probe *probe;
    const bool *allowed;
    uint32_t n_images;
    uint64_t n_sources;
    struct window pair; /* the first row of a class and another one, of the planes alone */
    struct lanes lanes; /* the planes alone */
    struct row_table *table;
};

static int compare_images(const void *left, const void *right)
{
    const struct lane_image *a = left, *b = right;

    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static uint8_t *pair_row(const struct classes *c, int which)
{
    return c->pair.buffers[0].bytes + (uint64_t)which * c->lanes.items[0].array->row_nbytes;
}

/* Where a position occurs several times, nothing tells which row is whose image; one image more
 * than there are transforms is taken for a duplicate. */
static int split_class(struct classes *c, struct lane_image *rows, uint64_t n, struct error *err)
{
    const bool is_one_source = n <= c->n_images + c->n_images / 2;
    const uint64_t source = c->n_sources++;

    if (row_table_get(c->table, rows[0].row, pair_row(c, 0), err) != 0)
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        if (row_table_get(c->table, rows[i].row, pair_row(c, 1), err) != 0)
            return -1;
        rows[i].transform =
            is_one_source ? probe_relate_planes(
                                &(struct orbit_pair){&c->pair, &c->lanes, 0, 0, 1, 0}, c->allowed)
                          : ORBIT_NO_TRANSFORM;
        rows[i].source = rows[i].transform == ORBIT_NO_TRANSFORM ? c->n_sources++ : source;
    }
    return 0;
}

static int list_rows(struct classes *c, struct lane_image *entries, uint64_t n, struct error *err)
{
    for (uint64_t i = 0; i < n; i++) {
        struct sketch sketch;

        if (row_table_get(c->table, i, pair_row(c, 1), err) != 0)
            return -1;
        sketch_planes(&c->probe->sketcher, pair_row(c, 1), &sketch);
        entries[i] = (struct lane_image){.row = i, .source = sketch.shape[SKETCH_BOARD]};
    }
    qsort(entries, n, sizeof *entries, compare_images);
    for (uint64_t i = 0, end; i < n; i = end) {
        const uint64_t shape = entries[i].source;

        for (end = i + 1; end < n && entries[end].source == shape;)
            end++;
        if (split_class(c, entries + i, end - i, err) != 0)
            return -1;
    }
    return 0;
}

int orbit_classes(struct probe *probe, const bool *allowed, uint32_t n_images,
                  struct lane_image **entries, struct error *err)
{
    const struct lanes *all = probe->lanes;
    const struct array *array = probe->sketcher.lane->array;
    uint64_t memory_left = probe->request->settings->max_memory;
    struct classes c = {.probe = probe, .allowed = allowed, .n_images = n_images};
    int status = -1;

    c.lanes = (struct lanes){.shard = all->shard, .items = &all->items[all->planes], .n = 1};
    *entries = calloc(array->n_rows + 1, sizeof **entries);
    if (*entries == NULL)
        error_no_memory(err, "list of all images");
    else if (window_init(&c.pair, &c.lanes, 2, err) == 0) {
        c.pair.buffers[0].bytes = calloc(2, array->row_nbytes + 1);
        c.table = row_table_open(&array, 1, &memory_left, probe->request->settings->tmpdir, err);
        if (c.pair.buffers[0].bytes == NULL)
            error_no_memory(err, "rows");
        else if (c.table != NULL)
            status = list_rows(&c, *entries, array->n_rows, err);
    }
    if (status != 0) {
        free(*entries);
        *entries = NULL;
    }
    row_table_close(c.table);
    window_release(&c.pair, &c.lanes);
    return status;
}
