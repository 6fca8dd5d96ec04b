/*
 * tally.c - what a tally holds: an item for each label and policy, and a map for each plane of
 * stones and each policy with cells, with the maps that take each other's places when colours are
 * swapped. Rows are counted in count.c, and what they say of the symmetry is found in evidence.c.
 */
#include "report/tally.h"

#include "shard/spec.h"
#include "show/show.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MIN_PARTS 16

/* --- histograms --- */

void tally_note(struct tally_histogram *h, double value)
{
    uint32_t at = 0;

    h->low = h->n == 0 || value < h->low ? value : h->low;
    h->high = h->n == 0 || value > h->high ? value : h->high;
    if (h->is_binned)
        return;
    while (at < h->n && h->values[at] < value)
        at++;
    if (at < h->n && h->values[at] == value) {
        h->counts[at]++;
        return;
    }
    if (h->n == TALLY_MAX_VALUES) {
        h->is_binned = true;
        return;
    }
    memmove(h->values + at + 1, h->values + at, (h->n - at) * sizeof *h->values);
    memmove(h->counts + at + 1, h->counts + at, (h->n - at) * sizeof *h->counts);
    h->values[at] = value;
    h->counts[at] = 1;
    h->n++;
}

/* Bins are closed below, and the last one above, too. */
void tally_count(struct tally_histogram *h, double low, double high, double value)
{
    const double width = (high - low) / TALLY_N_BINS;
    int64_t bin = (int64_t)((value - low) / width);

    bin = bin < 0 ? 0 : bin >= TALLY_N_BINS ? TALLY_N_BINS - 1 : bin;
    if (bin > 0 && value < low + width * (double)bin)
        bin--;
    else if (bin + 1 < TALLY_N_BINS && value >= low + width * (double)(bin + 1))
        bin++;
    h->counts[bin]++;
}

/* --- beginning and end --- */

struct tally_map *tally_find_map(const struct tally *tally, const char *key, uint64_t plane)
{
    for (size_t i = 0; i < tally->n_maps; i++)
        if (strcmp(tally->maps[i].key, key) == 0 && tally->maps[i].plane == plane)
            return &tally->maps[i];
    return NULL;
}

int tally_finish(struct tally *tally, struct error *err)
{
    for (size_t i = 0; i < tally->n_policies; i++) {
        struct tally_policy *policy = &tally->policies[i];

        policy->entropy = policy->n_rows > 0 ? policy->entropy / (double)policy->n_rows : NAN;
        policy->top_share = policy->n_rows > 0 ? policy->top_share / (double)policy->n_rows : NAN;
    }
    return tally_weigh(tally, err);
}

/* The planes of stones of an array, in order; returns how many. */
static size_t stone_planes(const struct shard *shard, size_t i, uint64_t planes[64])
{
    const struct role_binding *binding = &shard->bindings[i];
    const struct board_family *family = shard->found.board->family;
    const uint64_t n_planes = binding->axes.outer == 1 && binding->axes.inner > 1
                                  ? binding->axes.inner
                                  : binding->axes.outer;
    const uint64_t n_men = family->men != NULL ? 2 * strlen(family->men) : 0;
    const bool is_openspiel = family->joins_edges && n_planes == 9;
    uint64_t first = binding->role == ROLE_PACKED ? family->packed_stones : 0;
    uint64_t n = n_men > 0 && n_planes >= n_men ? n_men : is_openspiel ? 9 : 2;
    size_t n_found = 0;

    if (binding->role == ROLE_GRID)
        n = family->has_tiles ? 1 : 2;
    else if (first + n > n_planes)
        n = n_planes > first ? n_planes - first : 0;
    for (uint64_t p = first; p < first + n && n_found < 64; p++)
        if (!is_openspiel || p != 4) /* the empty cells */
            planes[n_found++] = p;
    return n_found;
}

/* Which plane takes the place of another under each transform. */
static int set_partners(struct tally *tally, const struct shard *shard, size_t i, size_t first,
                        struct error *err)
{
    const struct board *board = tally->board;
    const struct role_binding *binding = &shard->bindings[i];
    struct spec_maker maker = {.board = board, .conventions = &shard->conventions};
    struct spec spec = {0};
    struct error why = {0};
    const bool is_known = spec_init(&spec, &maker, &shard->archive.arrays[i], binding, &why) == 0;

    for (size_t m = first; m < tally->n_maps; m++) {
        struct tally_map *own = &tally->maps[m];

        own->partner = calloc(board->n_transforms, sizeof *own->partner);
        if (own->partner == NULL)
            break;
        for (uint32_t t = 0; t < board->n_transforms; t++) {
            const struct tally_map *other = own;

            if (binding->role == ROLE_GRID && board->transforms[t].swaps_colours)
                other = tally_find_map(tally, own->key, 1 - own->plane);
            else if (is_known && own->plane < spec.n_planes && !spec.steps[t].is_unknown)
                other = tally_find_map(tally, own->key, spec_plane_to(&spec, t, own->plane));
            own->partner[t] = (uint32_t)((other != NULL ? other : own) - tally->maps);
        }
    }
    spec_release(&spec);
    spec_maker_release(&maker);
    if (why.kind == ERROR_INTERNAL)
        return error_pass(err, &why);
    return tally->maps[tally->n_maps - 1].partner != NULL ? 0 : error_no_memory(err, "maps");
}

static int add_maps(struct tally *tally, const struct shard *shard, size_t i, struct error *err)
{
    const struct role_binding *binding = &shard->bindings[i];
    const bool is_policy = binding->role == ROLE_POLICY || binding->role == ROLE_POLICY_INDEX;
    const size_t first = tally->n_maps;
    uint64_t planes[64] = {TALLY_NO_PLANE};
    const size_t n = is_policy ? 1 : stone_planes(shard, i, planes);
    struct tally_map *grown = realloc(tally->maps, (first + n + 1) * sizeof *grown);

    if (grown == NULL)
        return error_no_memory(err, "maps");
    tally->maps = grown;
    for (size_t p = 0; p < n; p++)
        grown[tally->n_maps++] =
            (struct tally_map){.key = shard->archive.arrays[i].key, .plane = planes[p]};
    return n > 0 ? set_partners(tally, shard, i, first, err) : 0;
}

/* Does any action of this policy belong to a cell? */
static bool has_cells(const struct board *board, const struct role_binding *binding)
{
    for (uint64_t a = 0; binding->layout != NULL && a < binding->n_actions; a++)
        if (planes_cell_of(board, binding, a) >= 0)
            return true;
    return false;
}

static int add_item(struct tally *tally, const struct shard *shard, size_t i, struct error *err)
{
    const struct role_binding *binding = &shard->bindings[i];
    const struct array *array = &shard->archive.arrays[i];
    const bool is_policy = binding->role == ROLE_POLICY || binding->role == ROLE_POLICY_INDEX;
    const bool is_number = dtype_is_number(&array->header.dtype);
    if (tally_is_label(binding->role) && is_number) {
        tally->labels[tally->n_labels++] =
            (struct tally_label){.key = array->key, .role = binding->role};
        return 0;
    }
    if (is_policy && (is_number || binding->sparse == SPARSE_OBJECT)) {
        tally->policies[tally->n_policies++] = (struct tally_policy){.key = array->key};
        return has_cells(tally->board, binding) ? add_maps(tally, shard, i, err) : 0;
    }
    if (tally_is_planes(binding->role) && is_number)
        return add_maps(tally, shard, i, err);
    return 0;
}

int tally_init(struct tally *tally, const struct shard *shard, const struct settings *settings,
               struct error *err)
{
    const size_t n = shard->archive.n_arrays;
    int status = 0;

    *tally = (struct tally){.settings = settings, .n_parts = TALLY_MAX_PARTS};
    if (shard->found.board == NULL || shard->bindings == NULL)
        return 0;
    tally->board = shard->found.board;
    tally->labels = calloc(n + 1, sizeof *tally->labels);
    tally->policies = calloc(n + 1, sizeof *tally->policies);
    if (tally->labels == NULL || tally->policies == NULL)
        return error_no_memory(err, "labels");
    for (size_t i = 0; i < n && status == 0; i++)
        if (!shard_is_undecided(shard, i))
            status = add_item(tally, shard, i, err);
    if (status != 0)
        return -1;
    const uint64_t n_numbers = (uint64_t)tally->n_maps * tally->board->n_cells;

    while (tally->n_parts > MIN_PARTS && n_numbers * tally->n_parts * 8 > settings->max_memory / 4)
        tally->n_parts /= 2;
    for (size_t m = 0; m < tally->n_maps; m++) {
        struct tally_map *map = &tally->maps[m];
        const size_t n_cells = tally->board->n_cells;

        map->sums = calloc(n_cells * (tally->n_parts + 3), sizeof *map->sums);
        if (map->sums == NULL)
            return error_no_memory(err, "maps");
        map->mean = map->sums + n_cells * tally->n_parts;
        map->group = map->mean + n_cells;
        map->z = map->group + n_cells;
    }
    return 0;
}

void tally_release(struct tally *tally)
{
    for (size_t i = 0; i < tally->n_labels; i++)
        free(tally->labels[i].by_transform);
    for (size_t i = 0; i < tally->n_maps; i++) {
        free(tally->maps[i].partner);
        free(tally->maps[i].sums);
    }
    free(tally->labels);
    free(tally->policies);
    free(tally->maps);
    free(tally->evidence);
    *tally = (struct tally){0};
}
