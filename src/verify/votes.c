/*
 * votes.c - which transform the images of a layout show, and which rows are of one position where
 * there is no layout.
 *
 * The first rows of many sources are compared with their other rows, array by array; the transform
 * that explains an image in most of them is its own. Without a layout, rows are sorted by the shape
 * of their stones: those of one shape are a class.
 */
#include "verify/explain.h"

#include <stdlib.h>
#include <string.h>

/* --- what the images are --- */

/* The only allowed transform that makes row b out of row a of a lane, or ORBIT_NO_TRANSFORM.
 * *any tells whether there are some at all. */
static uint32_t relate(const struct orbit_pair *pair, const bool *allowed, unsigned liberties,
                       bool *any)
{
    const uint32_t n = pair->lanes->items[pair->lane].spec.board->n_transforms;
    uint32_t found = ORBIT_NO_TRANSFORM, n_found = 0;

    for (uint32_t u = 0; u < n && n_found < 2; u++)
        if (allowed[u] && orbit_same(pair, u, liberties)) {
            found = u;
            n_found++;
        }
    *any = n_found > 0;
    return n_found == 1 ? found : ORBIT_NO_TRANSFORM;
}

/* Liberties for planes, the first two those of planes that are right where they count. */
static const unsigned ladder[] = {ORBIT_EXACT,
                                  ORBIT_ON_BOARD_ONLY,
                                  ORBIT_NO_COMPLEMENT,
                                  ORBIT_NO_EXCHANGE,
                                  ORBIT_NO_EXCHANGE | ORBIT_NO_COMPLEMENT,
                                  ORBIT_NO_FLIP,
                                  ORBIT_SWAP_ANYWAY};
#define N_RIGHT 2
#define N_ALL   7

/* By the first of some liberties under which there is a transform; it must be the only one. */
static uint32_t relate_freely(const struct orbit_pair *pair, const bool *allowed, size_t from,
                              size_t to)
{
    uint32_t u = ORBIT_NO_TRANSFORM;
    bool any = false;

    for (size_t i = from; i < to && !any; i++)
        u = relate(pair, allowed, ladder[i], &any);
    return u;
}

/* The only allowed transform that makes the planes of one row those of another, whatever was done
 * to the colours, or ORBIT_NO_TRANSFORM. */
static uint32_t relate_planes(const struct orbit_pair *pair, const bool *allowed)
{
    const uint32_t u = relate_freely(pair, allowed, 0, N_RIGHT);

    return u != ORBIT_NO_TRANSFORM ? u : relate_freely(pair, allowed, N_RIGHT, N_ALL);
}

/* The transform of most channels that are moved by one. */
static uint32_t relate_channels(const struct orbit_pair *pair, const bool *allowed)
{
    uint32_t votes[BOARD_MAX_TRANSFORMS] = {0}, best = 0;
    const uint64_t n_planes = pair->lanes->items[pair->lane].spec.n_planes;
    struct orbit_pair channel = *pair;
    bool any;

    for (channel.channel = 1; channel.channel <= n_planes; channel.channel++) {
        uint32_t u = relate(&channel, allowed, ORBIT_EXACT, &any);

        if (!any)
            u = relate(&channel, allowed, ORBIT_NO_EXCHANGE, &any);
        if (u != ORBIT_NO_TRANSFORM)
            votes[u]++;
    }
    for (uint32_t u = 1; u < BOARD_MAX_TRANSFORMS; u++)
        if (votes[u] > (best == 0 ? 0 : votes[best]))
            best = u;
    return best > 0 ? best : ORBIT_NO_TRANSFORM;
}

/* What the arrays of a pair of rows say: planes first, unless they alone stay where they are; then
 * an array that is moved exactly; then planes whose colours are wrong, or some of their channels.
 */
static uint32_t relate_rows(struct orbit_pair pair, const bool *allowed)
{
    const struct lanes *lanes = pair.lanes;
    const size_t planes = pair.lane;
    const uint32_t said = relate_freely(&pair, allowed, 0, N_RIGHT);
    uint32_t other = ORBIT_NO_TRANSFORM;

    if (said != 0 && said != ORBIT_NO_TRANSFORM)
        return said;
    for (size_t i = 0; i < lanes->n && (other == 0 || other == ORBIT_NO_TRANSFORM); i++) {
        const struct lane *lane = &lanes->items[i];
        bool any;

        pair.lane = i;
        if (i != planes && lane_is_compared(lane) && lane->spec.kind != SPEC_KEEP)
            other = relate(&pair, allowed, ORBIT_EXACT, &any);
    }
    pair.lane = planes;
    if (said == ORBIT_NO_TRANSFORM && (other == 0 || other == ORBIT_NO_TRANSFORM))
        other = relate_planes(&pair, allowed);
    if (said == ORBIT_NO_TRANSFORM && other == ORBIT_NO_TRANSFORM &&
        lanes->items[planes].spec.kind == SPEC_AXIS)
        other = relate_channels(&pair, allowed);
    return other != ORBIT_NO_TRANSFORM ? other : said;
}

/* Votes for one image of the layout. */
struct votes {
    uint32_t of[BOARD_MAX_TRANSFORMS];
    uint32_t foreign[BOARD_MAX_TRANSFORMS];
    uint32_t n, n_foreign;
};

static void count_votes(struct votes *votes, uint32_t *id, int *foreign)
{
    uint32_t best = 0, best_foreign = 0;

    for (uint32_t u = 1; u < BOARD_MAX_TRANSFORMS; u++) {
        if (votes->of[u] > votes->of[best])
            best = u;
        if (votes->foreign[u] > votes->foreign[best_foreign])
            best_foreign = u;
    }
    *id = 2 * votes->of[best] > votes->n ? best : ORBIT_NO_TRANSFORM;
    *foreign = votes->n_foreign > votes->n && 2 * votes->foreign[best_foreign] > votes->n_foreign
                   ? (int)best_foreign
                   : -1;
    if (*foreign >= 0)
        *id = ORBIT_NO_TRANSFORM;
}

/* Rows of some sources: image k of group g is at rows[g * n_images + k] of the window. */
struct ballot {
    struct probe *probe;
    const struct window *window;
    const uint64_t *rows;
    uint64_t n_groups;
    uint32_t n_images;
};

/* Compare the base image of each group with its other images. */
static void vote(const struct ballot *ballot, uint32_t base, struct fit *fit)
{
    struct probe *probe = ballot->probe;
    const struct lanes *lanes = probe->lanes;
    const size_t planes = (size_t)lanes->planes;
    const enum sketch_group group = fit->level == PROBE_BOX ? SKETCH_BOX : SKETCH_BOARD;
    uint64_t n_still = 0;

    fit->n_moved = fit->n_pairs = 0;
    for (uint32_t k = 0; k < ballot->n_images; k++) {
        struct votes votes = {0};

        for (uint64_t g = 0; g < ballot->n_groups && k != base; g++) {
            const uint64_t *rows = ballot->rows + g * ballot->n_images;
            const struct orbit_pair pair = {ballot->window, lanes, planes, rows[base], rows[k], 0};
            const uint32_t u = relate_rows(pair, probe->allowed);
            const struct row from = window_row(ballot->window, lanes, planes, rows[base]);
            const struct row to = window_row(ballot->window, lanes, planes, rows[k]);
            const int map = u == ORBIT_NO_TRANSFORM
                                ? sketch_relation(&probe->sketcher, group, from.bytes, to.bytes)
                                : -1;

            fit->n_pairs++;
            fit->n_moved += u != ORBIT_NO_TRANSFORM && u != 0;
            if (u != ORBIT_NO_TRANSFORM) {
                votes.of[u]++;
                votes.n++;
            } else if (map > 0) {
                votes.foreign[map]++;
                votes.n_foreign++;
            }
            n_still += map == 0;
        }
        fit->ids[k] = 0;
        fit->foreign[k] = -1;
        if (k != base)
            count_votes(&votes, &fit->ids[k], &fit->foreign[k]);
    }
    fit->only_colours = 2 * n_still > fit->n_pairs;
}

int votes_take(struct probe *probe, struct fit *fit, struct error *err)
{
    const uint32_t n_images = fit->layout.n_images;
    uint64_t sources[PROBE_SOURCES], n_sources = probe_sources(probe, fit, sources);
    const uint64_t n_rows = n_sources * n_images;
    uint64_t *rows = calloc(n_rows + 1, sizeof *rows);
    struct window far = {0};
    struct ballot ballot = {probe, &probe->window, rows, n_sources, n_images};
    bool is_near = true;
    int status = rows != NULL ? 0 : error_no_memory(err, "groups of images");

    for (uint64_t i = 0; status == 0 && i < n_rows; i++) {
        rows[i] = layout_row(&fit->layout, sources[i / n_images], (uint32_t)(i % n_images));
        is_near &= rows[i] < probe->n;
    }
    if (status == 0 && !is_near) {
        status = probe_gather(probe, rows, n_rows, &far, err);
        for (uint64_t i = 0; i < n_rows; i++)
            rows[i] = i;
        ballot.window = &far;
    }
    for (uint32_t k = 0; k < n_images; k++)
        fit->foreign[k] = -1;
    /* The first image may itself be wrong: then another one tells. */
    if (status == 0 && !probe->lanes->items[probe->lanes->planes].is_broken)
        for (uint32_t base = 0; base < 3 && base < n_images; base++) {
            struct fit other = *fit;

            vote(&ballot, base, &other);
            if (base == 0 || other.n_moved > fit->n_moved + fit->n_pairs / 4)
                *fit = other;
        }
    window_release(&far, probe->lanes);
    free(rows);
    return status;
}

/* --- positions without a layout: a look at the first rows --- */

static int compare_sketches(const void *left, const void *right)
{
    const struct sketch *a = left, *b = right;

    if (a->shape[SKETCH_BOARD] != b->shape[SKETCH_BOARD])
        return a->shape[SKETCH_BOARD] < b->shape[SKETCH_BOARD] ? -1 : 1;
    if (a->planes != b->planes)
        return a->planes < b->planes ? -1 : 1;
    return a->policy < b->policy ? -1 : a->policy > b->policy;
}

/* Rows of one class: how many, how many different ones, and whether their policies are alike. */
struct class_of_rows {
    uint64_t n, n_different;
    bool alike, is_symmetric;
};

static struct class_of_rows next_class(const struct sketch *list, uint64_t n)
{
    struct class_of_rows c = {
        .n = 1, .n_different = 1, .alike = true, .is_symmetric = list[0].is_symmetric};

    for (; c.n < n && list[c.n].shape[SKETCH_BOARD] == list[0].shape[SKETCH_BOARD]; c.n++) {
        c.n_different += list[c.n].planes != list[c.n - 1].planes;
        c.alike &= list[c.n].policy == list[0].policy;
    }
    return c;
}

static struct classes_fit judge(const struct sketch *list, uint64_t n)
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

int classes_judge(const struct probe *probe, struct classes_fit *fit, struct error *err)
{
    struct sketch *list = calloc(probe->n + 1, sizeof *list);
    uint64_t n = 0;

    if (list == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint64_t i = 0; i < probe->n; i++)
        if (probe->sketches[i].shape[SKETCH_BOARD] != 0)
            list[n++] = probe->sketches[i];
    qsort(list, n, sizeof *list, compare_sketches);
    *fit = judge(list, n);
    free(list);
    return 0;
}

/* --- positions without a layout: all rows --- */

#define ROWS_AT_ONCE 64

struct classes {
    const bool *allowed;
    struct lanes lanes; /* of the planes alone */
    struct batch batch; /* their rows */
    uint32_t n_images;
    uint64_t n_sources;
};

static int compare_shapes(const void *left, const void *right)
{
    const struct lane_image *a = left, *b = right;

    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

/* Where a position occurs several times, nothing tells which row is whose image; one image more
 * than there are transforms is taken for a duplicate. */
static int split_class(struct classes *c, struct lane_image *rows, uint64_t n, struct error *err)
{
    const bool is_one_source = n <= c->n_images + c->n_images / 2;
    const struct window window = {.batches = &c->batch};
    const uint64_t source = c->n_sources++;

    batch_clear(&c->batch);
    for (uint64_t i = 0; i < n && is_one_source; i++)
        if (batch_add(&c->batch, rows[i].row, err) != 0)
            return -1;
    for (uint64_t i = 0; i < n; i++) {
        const struct orbit_pair pair = {&window, &c->lanes, 0, 0, i, 0};

        rows[i].transform = is_one_source ? relate_planes(&pair, c->allowed) : ORBIT_NO_TRANSFORM;
        rows[i].source = rows[i].transform == ORBIT_NO_TRANSFORM ? c->n_sources++ : source;
    }
    return 0;
}

int classes_list(struct probe *probe, uint32_t n_images, struct lane_image **entries,
                 struct error *err)
{
    const struct lanes *all = probe->lanes;
    const struct array *array = probe->sketcher.lane->array;
    const uint64_t n = array->n_rows;
    struct classes c = {.allowed = probe->allowed, .n_images = n_images};
    struct lane_image *list = calloc(n + 1, sizeof *list);
    int status = list != NULL ? 0 : error_no_memory(err, "list of all images");

    c.lanes = (struct lanes){.shard = all->shard,
                             .request = all->request,
                             .result = all->result,
                             .items = &all->items[all->planes],
                             .n = 1};
    c.batch.own = (struct reader){.arrays = &array, .n_arrays = 1, .at_random = true};
    if (status == 0)
        status = batch_open(&c.batch, all->request->settings->budget, err);
    for (uint64_t i = 0; status == 0 && i < n; i += c.batch.n) {
        status = batch_read(&c.batch, i, n - i < ROWS_AT_ONCE ? n - i : ROWS_AT_ONCE, err);
        for (uint64_t k = 0; status == 0 && k < c.batch.n; k++) {
            struct sketch sketch;

            sketch_planes(&probe->sketcher, batch_row(&c.batch, k).bytes, &sketch);
            list[i + k] = (struct lane_image){.row = i + k, .source = sketch.shape[SKETCH_BOARD]};
        }
    }
    if (status == 0)
        qsort(list, n, sizeof *list, compare_shapes);
    for (uint64_t i = 0, end; status == 0 && i < n; i = end) {
        const uint64_t shape = list[i].source;

        for (end = i + 1; end < n && list[end].source == shape;)
            end++;
        status = split_class(&c, list + i, end - i, err);
    }
    batch_release(&c.batch);
    if (status == 0)
        *entries = list;
    else
        free(list);
    return status;
}
