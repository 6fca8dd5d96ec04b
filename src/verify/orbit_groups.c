/*
 * orbit_groups.c - where groups begin and end, and which images each should hold.
 *
 * One pass finds the cuts, rows before which every source is below every source after them: no
 * group crosses a cut, so the rows between two of them (a segment) can be checked alone. Where a
 * segment would not fit the memory, all rows are listed and sorted instead. The images expected are
 * those that were told, else those of most groups, found by a majority vote in one pass and counted
 * in another.
 */
#include "verify/orbit_groups.h"

#include "verify/verify_shard.h"

#include <stdlib.h>
#include <string.h>

#define SCAN_ROWS   4096
#define SCAN_GROUPS 65536

/* --- segments --- */

/* A cut that is good so far: every row before it has a source of at most max_before. */
struct cut {
    uint64_t row, max_before;
};

struct cuts {
    struct cut *items; /* owned */
    size_t n, capacity;
};

static int push_cut(struct cuts *cuts, uint64_t row, uint64_t max_before, struct error *err)
{
    if (cuts->n == cuts->capacity) {
        size_t capacity = cuts->capacity > 0 ? 2 * cuts->capacity : 256;
        struct cut *grown = realloc(cuts->items, capacity * sizeof *grown);

        if (grown == NULL)
            return error_no_memory(err, "groups of images");
        cuts->items = grown;
        cuts->capacity = capacity;
    }
    cuts->items[cuts->n++] = (struct cut){row, max_before};
    return 0;
}

/* Are rows in transform order: one run of rows per transform? */
struct runs {
    bool seen[BOARD_MAX_TRANSFORMS];
    uint32_t last;
    bool repeat; /* a transform comes again */
    uint64_t n;
};

static void count_run(struct runs *runs, uint32_t t)
{
    if (t == ORBIT_NO_TRANSFORM) {
        runs->repeat = true;
        return;
    }
    if (runs->n == 0 || t != runs->last) {
        runs->repeat |= runs->seen[t];
        runs->n++;
    }
    runs->seen[t] = true;
    runs->last = t;
}

/* Rows before a cut and behind it must have no source in common: a row whose source is not above
 * all before a cut takes that cut away. */
static int scan_images(struct orbit_cursor *cursor, uint64_t n_rows, struct cuts *cuts,
                       struct orbit_groups *groups, struct verify_result *result, struct error *err)
{
    struct runs runs = {{false}, 0, false, 0};
    struct lane_image *images = calloc(SCAN_ROWS, sizeof *images);
    struct finding_place place = {FINDING_INDEX_RANGE, false, PLAN_TRANSFORM_KEY, 0};
    uint64_t max = 0, left = n_rows;
    int status = images != NULL ? 0 : error_no_memory(err, "groups of images");

    while (status == 0 && left > 0) {
        const uint64_t n = left < SCAN_ROWS ? left : SCAN_ROWS;

        status = orbit_cursor_images(cursor, n, images, err);
        for (uint64_t i = 0; i < n && status == 0; i++) {
            const uint64_t source = images[i].source;

            if (images[i].transform == ORBIT_NO_TRANSFORM && result != NULL) {
                place.row = images[i].row;
                findings_add(&result->findings, &place, "a transform of the board", "none",
                             "names no transform");
            }
            count_run(&runs, images[i].transform);
            if (images[i].row == 0)
                groups->first = images[i];
            groups->last = images[i];
            while (cuts->n > 0 && cuts->items[cuts->n - 1].max_before >= source)
                cuts->n--;
            if (images[i].row > 0 && source > max)
                status = push_cut(cuts, images[i].row, max, err);
            if (source > max)
                max = source;
        }
        left -= n;
    }
    groups->is_cut = groups->source != NULL && !runs.repeat && 2 * runs.n <= n_rows;
    free(images);
    return status;
}

static int find_cuts(struct orbit_groups *groups, struct verify_result *result, struct error *err)
{
    struct orbit_cursor cursor;
    struct cuts cuts = {0};
    int status = orbit_cursor_open(&cursor, groups, err);

    if (status == 0)
        status = scan_images(&cursor, groups->n_rows, &cuts, groups, result, err);
    orbit_cursor_close(&cursor);
    if (status == 0 && (groups->cuts = calloc(cuts.n + 2, sizeof *groups->cuts)) == NULL)
        status = error_no_memory(err, "groups of images");
    for (size_t i = 0; status == 0 && i <= cuts.n; i++) {
        groups->cuts[i + 1] = i < cuts.n ? cuts.items[i].row : groups->n_rows;
        if (groups->cuts[i + 1] - groups->cuts[i] > groups->longest)
            groups->longest = groups->cuts[i + 1] - groups->cuts[i];
    }
    groups->n_segments = cuts.n + 1;
    free(cuts.items);
    return status;
}

/* --- making groups --- */

int orbit_groups_of_provenance(struct orbit_groups *groups, const struct verify_shard *shard,
                               struct verify_result *result, struct error *err)
{
    *groups = (struct orbit_groups){
        .n_rows = shard->n_rows,
        .n_transforms = shard->board->n_transforms,
        .source = archive_in_find(&shard->archive, PLAN_SOURCE_KEY),
        .transform = archive_in_find(&shard->archive, PLAN_TRANSFORM_KEY),
    };
    return find_cuts(groups, result, err);
}

int orbit_groups_of_layout(struct orbit_groups *groups, const struct verify_shard *shard,
                           const struct layout *layout, const uint32_t *ids, struct error *err)
{
    *groups = (struct orbit_groups){
        .n_rows = shard->n_rows,
        .n_transforms = shard->board->n_transforms,
        .layout = *layout,
    };
    memcpy(groups->ids, ids, layout->n_images * sizeof *ids);
    if (layout->games != NULL) {
        groups->games = calloc(layout->n_games + 1, sizeof *groups->games);
        if (groups->games == NULL)
            return error_no_memory(err, "groups of images");
        memcpy(groups->games, layout->games, (layout->n_games + 1) * sizeof *groups->games);
        groups->layout.games = groups->games;
    }
    return find_cuts(groups, NULL, err);
}

static int compare_images(const void *left, const void *right)
{
    const struct lane_image *a = left, *b = right;

    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->transform != b->transform)
        return a->transform < b->transform ? -1 : 1;
    return a->row < b->row ? -1 : a->row > b->row;
}

static void sort_entries(struct orbit_groups *groups)
{
    uint64_t length = 0;

    qsort(groups->entries, groups->n_rows, sizeof *groups->entries, compare_images);
    groups->longest = 0;
    for (uint64_t i = 0; i < groups->n_rows; i++) {
        length =
            i > 0 && groups->entries[i].source == groups->entries[i - 1].source ? length + 1 : 1;
        if (length > groups->longest)
            groups->longest = length;
    }
}

void orbit_groups_of_entries(struct orbit_groups *groups, const struct verify_shard *shard,
                             struct lane_image *entries)
{
    *groups = (struct orbit_groups){
        .n_rows = shard->n_rows,
        .n_transforms = shard->board->n_transforms,
        .entries = entries,
    };
    sort_entries(groups);
}

int orbit_groups_settle(struct orbit_groups *groups, uint64_t row_nbytes, uint64_t max_nbytes,
                        struct error *err)
{
    struct orbit_cursor cursor;
    uint64_t n_bytes;
    int status;

    if (groups->entries != NULL ||
        (!__builtin_mul_overflow(groups->longest, row_nbytes, &n_bytes) && n_bytes <= max_nbytes))
        return 0;
    if (__builtin_mul_overflow(groups->n_rows, sizeof *groups->entries, &n_bytes) ||
        n_bytes >= SIZE_MAX || (groups->entries = malloc(n_bytes + 1)) == NULL)
        return error_no_memory(err, "list of all images");
    status = orbit_cursor_open(&cursor, groups, err);
    if (status == 0)
        status = orbit_cursor_images(&cursor, groups->n_rows, groups->entries, err);
    orbit_cursor_close(&cursor);
    if (status == 0)
        sort_entries(groups);
    return status;
}

/* --- what a group should hold --- */

/* The transforms of a group's images. */
struct image_set {
    bool has[BOARD_MAX_TRANSFORMS];
};

/* One walk finds the set that most groups have, if there is one; another counts. */
struct census {
    struct image_set most;
    uint64_t lead; /* of `most` over all others */
    uint64_t n_groups, n_with_most, n_with_others;
};

static void count_group(struct census *census, const struct window *window, uint64_t g, bool again)
{
    struct image_set own = {{false}};
    bool has_others = false;

    for (uint64_t m = window->groups[g]; m < window->groups[g + 1]; m++) {
        const uint32_t t = window->images[window->members[m]].transform;

        if (t == ORBIT_NO_TRANSFORM)
            continue;
        own.has[t] = true;
        has_others |= !census->most.has[t];
    }
    if (again) {
        census->n_with_most += memcmp(&own, &census->most, sizeof own) == 0;
        census->n_with_others += has_others;
        return;
    }
    census->n_groups++;
    if (memcmp(&own, &census->most, sizeof own) == 0) {
        census->lead++;
    } else if (census->lead > 0) {
        census->lead--;
    } else {
        census->most = own;
        census->lead = 1;
    }
}

static int take_census(const struct orbit_groups *groups, struct census *census, bool again,
                       struct error *err)
{
    const struct lanes none = {0};
    struct orbit_cursor cursor;
    struct window window = {0};
    int status = orbit_cursor_open(&cursor, groups, err);

    if (status == 0)
        status = window_init(&window, &none, orbit_groups_capacity(groups, SCAN_GROUPS), err);
    while (status == 0 && (status = orbit_cursor_next(&cursor, &window, SCAN_GROUPS, err)) == 0 &&
           window.n > 0)
        for (uint64_t g = 0; g < window.n_groups; g++)
            count_group(census, &window, g, again);
    window_release(&window, &none);
    orbit_cursor_close(&cursor);
    return status;
}

bool orbit_groups_are_cut(const struct verify_manifest *said)
{
    const char *order;

    if (said->manifest == NULL || manifest_option(said->manifest, "rows-per-shard") == NULL)
        return false;
    order = manifest_option(said->manifest, "order");
    return manifest_option(said->manifest, "shuffle") != NULL ||
           (order != NULL && strcmp(order, "transform") == 0);
}

bool orbit_groups_may_be_elsewhere(const struct orbit_groups *groups, uint64_t source, uint32_t t)
{
    return groups->is_cut && ((t == groups->first.transform && source < groups->first.source) ||
                              (t == groups->last.transform && source > groups->last.source));
}

int orbit_groups_expect(struct orbit_groups *groups, const struct verify_manifest *said,
                        struct error *err)
{
    struct census census = {0};
    uint32_t n_expected = 0;

    if (take_census(groups, &census, false, err) != 0)
        return -1;
    groups->n_groups = census.n_groups;
    if (groups->n_told > 0 || (said->manifest != NULL && said->n_transforms > 0)) {
        const uint8_t *list = groups->n_told > 0 ? groups->told : said->transforms;
        const uint32_t n = groups->n_told > 0 ? groups->n_told : said->n_transforms;

        for (uint32_t k = 0; k < n; k++)
            groups->expected[list[k]] = true;
        groups->expects =
            said->manifest == NULL ||
            (manifest_option(said->manifest, "pick") == NULL && !orbit_groups_are_cut(said));
        return 0;
    }
    if (take_census(groups, &census, true, err) != 0)
        return -1;
    memcpy(groups->expected, census.most.has, sizeof groups->expected);
    for (uint32_t t = 0; t < BOARD_MAX_TRANSFORMS; t++)
        n_expected += groups->expected[t];
    groups->expects = n_expected > 1 && 2 * census.n_with_most > census.n_groups &&
                      10 * census.n_with_others <= census.n_groups;
    return 0;
}

void orbit_groups_release(struct orbit_groups *groups)
{
    free(groups->cuts);
    free(groups->entries);
    free(groups->games);
    *groups = (struct orbit_groups){0};
}
