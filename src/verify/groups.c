/*
 * groups.c - see groups.h: where groups begin and end, what they should hold, walking over them.
 *
 * Whatever tells sources and transforms (provenance arrays, a layout), rows are scanned once for
 * cuts that no group crosses; between them rows are read in sequence. Where there are none, all
 * rows are listed and sorted.
 */
#include "verify/groups.h"

#include "verify/verify_shard.h"

#include <stdlib.h>
#include <string.h>

/* --- layouts --- */

/* The block that holds a source. */
struct block {
    uint64_t first, n;
};

static struct block block_of(const struct layout *layout, uint64_t source)
{
    uint64_t low = 0, high = layout->n_games;
    struct block block = {source, layout->block_rows};

    if (layout->games == NULL) {
        block.first -= source % layout->block_rows;
        if (block.n > layout->n_sources - block.first)
            block.n = layout->n_sources - block.first;
        return block;
    }
    while (high - low > 1) {
        const uint64_t middle = low + (high - low) / 2;

        if (layout->games[middle] <= source)
            low = middle;
        else
            high = middle;
    }
    return (struct block){layout->games[low], layout->games[low + 1] - layout->games[low]};
}

uint64_t layout_row(const struct layout *layout, uint64_t source, uint32_t k)
{
    const struct block block = block_of(layout, source);
    const uint32_t n = layout->n_images - layout->originals_first;

    if (layout->originals_first && k == 0)
        return source;
    return (layout->originals_first ? layout->n_sources : 0) + block.first * n +
           (k - layout->originals_first) * block.n + source - block.first;
}

void layout_image(const struct layout *layout, uint64_t row, uint64_t *source, uint32_t *k)
{
    const uint32_t n = layout->n_images - layout->originals_first;
    struct block block;

    if (layout->originals_first && row < layout->n_sources) {
        *source = row;
        *k = 0;
        return;
    }
    if (layout->originals_first)
        row -= layout->n_sources;
    block = block_of(layout, row / n); /* the row of a block's image is in that block's range */
    row -= block.first * n;
    *source = block.first + row % block.n;
    *k = (uint32_t)(row / block.n) + layout->originals_first;
}

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

/* --- walking --- */

#define IMAGES_AT_ONCE 512

int orbit_cursor_open(struct orbit_cursor *cursor, const struct orbit_groups *groups,
                      struct error *err)
{
    *cursor = (struct orbit_cursor){.groups = groups};
    if (groups->source == NULL)
        return 0;
    cursor->source = rows_open(&groups->source, 1, err);
    cursor->transform = cursor->source != NULL ? rows_open(&groups->transform, 1, err) : NULL;
    return cursor->transform != NULL ? 0 : -1;
}

static int read_integers(struct rows *rows, const struct array *array, uint64_t n, int64_t *out,
                         struct error *err)
{
    uint8_t bytes[IMAGES_AT_ONCE * 8];
    const struct dtype *dtype = &array->header.dtype;

    if (rows_read(rows, n, bytes, err) != 0)
        return -1;
    for (uint64_t i = 0; i < n; i++)
        out[i] = dtype_get_int(dtype, bytes + i * dtype->itemsize);
    return 0;
}

static int read_provenance(struct orbit_cursor *cursor, uint64_t n, struct lane_image *images,
                           struct error *err)
{
    const struct orbit_groups *groups = cursor->groups;
    int64_t sources[IMAGES_AT_ONCE], transforms[IMAGES_AT_ONCE];

    if (read_integers(cursor->source, groups->source, n, sources, err) != 0 ||
        read_integers(cursor->transform, groups->transform, n, transforms, err) != 0)
        return -1;
    for (uint64_t i = 0; i < n; i++) {
        const bool valid = transforms[i] >= 0 && transforms[i] < groups->n_transforms;

        images[i].source = sources[i] < 0 ? UINT64_MAX >> 1 : (uint64_t)sources[i];
        images[i].transform = valid ? (uint32_t)transforms[i] : ORBIT_NO_TRANSFORM;
    }
    return 0;
}

static int read_layout(struct orbit_cursor *cursor, uint64_t n, struct lane_image *images)
{
    for (uint64_t i = 0; i < n; i++) {
        uint32_t k;

        layout_image(&cursor->groups->layout, cursor->next_row + i, &images[i].source, &k);
        images[i].transform = cursor->groups->ids[k];
    }
    return 0;
}

int orbit_cursor_images(struct orbit_cursor *cursor, uint64_t n, struct lane_image *images,
                        struct error *err)
{
    while (n > 0) {
        const uint64_t part = n < IMAGES_AT_ONCE ? n : IMAGES_AT_ONCE;
        const int status = cursor->groups->source != NULL
                               ? read_provenance(cursor, part, images, err)
                               : read_layout(cursor, part, images);

        if (status != 0)
            return -1;
        for (uint64_t i = 0; i < part; i++)
            images[i].row = cursor->next_row + i;
        cursor->next_row += part;
        images += part;
        n -= part;
    }
    return 0;
}

uint64_t orbit_groups_capacity(const struct orbit_groups *groups, uint64_t n_wanted)
{
    return groups->longest > n_wanted ? groups->longest : n_wanted;
}

/* Whole segments that fit. */
static int next_segments(struct orbit_cursor *cursor, struct window *window, uint64_t n_wanted,
                         struct error *err)
{
    const struct orbit_groups *groups = cursor->groups;
    uint64_t n = 0;

    while (cursor->segment < groups->n_segments) {
        const uint64_t more = groups->cuts[cursor->segment + 1] - groups->cuts[cursor->segment];

        if (n > 0 && n + more > n_wanted)
            break;
        n += more;
        cursor->segment++;
    }
    window->n = n;
    return orbit_cursor_images(cursor, n, window->images, err);
}

/* Whole groups of the list that fit. */
static void next_entries(struct orbit_cursor *cursor, struct window *window, uint64_t n_wanted)
{
    const struct orbit_groups *groups = cursor->groups;
    const struct lane_image *entries = groups->entries;
    uint64_t end = cursor->next_row;

    while (end < groups->n_rows) {
        uint64_t next = end + 1;

        while (next < groups->n_rows && entries[next].source == entries[end].source)
            next++;
        if (end > cursor->next_row && next - cursor->next_row > n_wanted)
            break;
        end = next;
    }
    window->n = end - cursor->next_row;
    for (uint64_t i = 0; i < window->n; i++)
        window->images[i] = entries[cursor->next_row + i];
    cursor->next_row = end;
}

static int compare_members(const void *left, const void *right, void *images_of)
{
    const struct lane_image *images = images_of;
    const uint64_t *pa = left, *pb = right;
    const struct lane_image *a = &images[*pa], *b = &images[*pb];

    if (a->source != b->source)
        return a->source < b->source ? -1 : 1;
    if (a->transform != b->transform)
        return a->transform < b->transform ? -1 : 1;
    return *pa < *pb ? -1 : *pa > *pb;
}

static void form_groups(struct window *window)
{
    const struct lane_image *images = window->images;
    bool sorted = true;

    for (uint64_t i = 0; i < window->n; i++) {
        window->members[i] = i;
        sorted &= i == 0 || compare_members(&window->members[i - 1], &window->members[i],
                                            window->images) <= 0;
    }
    if (!sorted)
        qsort_r(window->members, window->n, sizeof *window->members, compare_members,
                window->images);
    window->n_groups = 0;
    for (uint64_t m = 0; m < window->n; m++)
        if (m == 0 || images[window->members[m]].source != images[window->members[m - 1]].source)
            window->groups[window->n_groups++] = m;
    window->groups[window->n_groups] = window->n;
}

int orbit_cursor_next(struct orbit_cursor *cursor, struct window *window, uint64_t n_wanted,
                      struct error *err)
{
    if (cursor->groups->entries != NULL)
        next_entries(cursor, window, n_wanted);
    else if (next_segments(cursor, window, n_wanted, err) != 0)
        return -1;
    form_groups(window);
    return 0;
}

void orbit_cursor_close(struct orbit_cursor *cursor)
{
    rows_close(cursor->source);
    rows_close(cursor->transform);
    *cursor = (struct orbit_cursor){0};
}
