/* orbit_groups.c - see orbit_groups.h: where groups begin and end, and what they should hold. */
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

/* Rows before a cut and behind it must have no source in common: a row whose source is not above
 * all before a cut takes that cut away. */
static int scan_images(struct orbit_cursor *cursor, uint64_t n_rows, struct cuts *cuts,
                       struct verify_result *result, struct error *err)
{
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
            while (cuts->n > 0 && cuts->items[cuts->n - 1].max_before >= source)
                cuts->n--;
            if (images[i].row > 0 && source > max)
                status = push_cut(cuts, images[i].row, max, err);
            if (source > max)
                max = source;
        }
        left -= n;
    }
    free(images);
    return status;
}

static int find_cuts(struct orbit_groups *groups, struct verify_result *result, struct error *err)
{
    struct orbit_cursor cursor;
    struct cuts cuts = {0};
    int status = orbit_cursor_open(&cursor, groups, err);

    if (status == 0)
        status = scan_images(&cursor, groups->n_rows, &cuts, result, err);
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

int orbit_groups_of_order(struct orbit_groups *groups, const struct verify_shard *shard,
                          const uint8_t *ids, uint32_t n_ids, uint64_t block_rows,
                          struct error *err)
{
    *groups = (struct orbit_groups){
        .n_rows = shard->n_rows,
        .n_transforms = shard->board->n_transforms,
    };
    memcpy(groups->ids, ids, n_ids);
    groups->order = (struct order){
        .n_rows = shard->n_rows / n_ids,
        .block_rows = block_rows,
        .chosen = groups->ids,
        .n_chosen = n_ids,
    };
    return order_init(&groups->order, false, 0, err) != 0 ? -1 : find_cuts(groups, NULL, err);
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

/* For each transform, the number of groups that have it; how many groups have all of `wanted`. */
struct census {
    uint64_t n_with[BOARD_MAX_TRANSFORMS];
    const bool *wanted; /* or NULL */
    uint64_t n_groups, n_complete;
};

static void count_group(struct census *census, const struct window *window, uint64_t g)
{
    bool has[BOARD_MAX_TRANSFORMS] = {false};
    bool complete = true;

    for (uint64_t m = window->groups[g]; m < window->groups[g + 1]; m++)
        has[window->images[window->members[m]].transform] = true;
    for (uint32_t t = 0; t < BOARD_MAX_TRANSFORMS; t++) {
        census->n_with[t] += has[t];
        complete &= census->wanted == NULL || !census->wanted[t] || has[t];
    }
    census->n_groups++;
    census->n_complete += complete;
}

static int take_census(const struct orbit_groups *groups, struct census *census, struct error *err)
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
            count_group(census, &window, g);
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

int orbit_groups_expect(struct orbit_groups *groups, const struct verify_manifest *said,
                        struct error *err)
{
    struct census census = {0}, again = {.wanted = groups->expected};
    uint32_t n_expected = 0;

    if (take_census(groups, &census, err) != 0)
        return -1;
    groups->n_groups = census.n_groups;
    if (said->manifest != NULL && said->n_transforms > 0) {
        for (uint32_t k = 0; k < said->n_transforms; k++)
            groups->expected[said->transforms[k]] = true;
        groups->expects =
            manifest_option(said->manifest, "pick") == NULL && !orbit_groups_are_cut(said);
        return 0;
    }
    for (uint32_t t = 0; t < BOARD_MAX_TRANSFORMS; t++) {
        groups->expected[t] = 2 * census.n_with[t] > census.n_groups;
        n_expected += groups->expected[t];
    }
    if (take_census(groups, &again, err) != 0)
        return -1;
    groups->expects = n_expected > 1 && 2 * again.n_complete > again.n_groups;
    return 0;
}

void orbit_groups_release(struct orbit_groups *groups)
{
    free(groups->cuts);
    free(groups->entries);
    *groups = (struct orbit_groups){0};
}
