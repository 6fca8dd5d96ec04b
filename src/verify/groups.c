/*
 * groups.c - groups: the rows that are images of one source, which images they should hold, and a
 * walk over all of them.
 *
 * Sources and transforms come from provenance arrays or from a layout. A scan over all rows finds
 * cuts that no group crosses; the segments between them are read in sequence. Where segments are
 * too long, all rows are listed and sorted instead.
 */
#include "verify/parts.h"

/* --- layouts --- */

#define IMAGES_AT_ONCE 512
#define SCAN_GROUPS    65536

/* Sources first .. first + n - 1, whose images are stored together. */
struct block {
    uint64_t first, n;
};

static struct block block_of(const struct layout *layout, uint64_t source)
{
    if (layout->games == NULL) {
        const uint64_t first = source - source % layout->block_rows;

        return (struct block){first, smaller(layout->block_rows, layout->n_sources - first)};
    }
    const uint64_t *game =
        layout->games + find_last(layout->games, sizeof *game, 0, layout->n_games, source);
    return (struct block){game[0], game[1] - game[0]};
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

struct text_quoted layout_text(const struct layout *layout)
{
    if (layout->games != NULL)
        return text_format("%llu blocks of different lengths", (unsigned long long)layout->n_games);
    if (layout->originals_first)
        return text_format("all sources first, then the other images of each");
    if (layout->block_rows >= layout->n_sources && layout->n_sources > 1)
        return text_format("transform order");
    if (layout->block_rows == 1)
        return text_format("sample order");
    return text_format("blocks of %llu", (unsigned long long)layout->block_rows);
}

/* --- the images of rows --- */

void orbit_walk_begin(struct orbit_walk *walk, const struct orbit_groups *groups,
                      struct lanes *lanes, uint64_t n_wanted, struct error *err)
{
    const struct reader numbers[2] = {{.arrays = &groups->source, .n_arrays = 1},
                                      {.arrays = &groups->transform, .n_arrays = 1}};

    *walk = (struct orbit_walk){.groups = groups, .n_wanted = n_wanted, .err = err};
    walk_begin(&walk->numbers, numbers, groups->source != NULL ? 2 : 0, NULL, err);
    walk->status = walk->numbers.status;
    if (walk->status == 0)
        walk->status = window_init(&walk->window, lanes, n_wanted, err);
}

int orbit_walk_end(struct orbit_walk *walk)
{
    window_release(&walk->window);
    walk_end(&walk->numbers);
    return walk->status;
}

/* Fill in source and transform of the next n rows, from walk->next_row on. */
static int read_images(struct orbit_walk *walk, uint64_t n, struct lane_image *images)
{
    const struct orbit_groups *groups = walk->groups;
    const struct layout *layout = &groups->layout;
    const uint64_t n_apart = layout->originals_first ? layout->n_sources : 0;
    const uint32_t n_images = layout->n_images - layout->originals_first;

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t row = walk->next_row++;

        images[i] = (struct lane_image){.row = row, .source = row, .transform = layout->ids[0]};
        if (groups->source != NULL) {
            if (!walk_next(&walk->numbers))
                return -1;
            const struct row *numbers = walk->numbers.rows;
            const int64_t source = row_int(&numbers[0], 0), t = row_int(&numbers[1], 0);

            images[i].source = source < 0 ? UINT64_MAX >> 1 : (uint64_t)source;
            images[i].transform = t >= 0 && t < groups->n_transforms ? (uint32_t)t : NO_TRANSFORM;
        } else if (row >= n_apart) {
            /* A block's rows are contiguous, so any of them leads to the block. */
            const struct block block = block_of(layout, (row - n_apart) / n_images);
            const uint64_t left = row - n_apart - block.first * n_images;

            images[i].source = block.first + left % block.n;
            images[i].transform = layout->ids[left / block.n + layout->originals_first];
        }
    }
    return 0;
}

int lane_image_compare(const void *left, const void *right)
{
    const struct lane_image *a = left, *b = right;

    if (a->source != b->source)
        return order_of(a->source, b->source);
    return a->transform != b->transform ? order_of(a->transform, b->transform)
                                        : order_of(a->row, b->row);
}

/* --- making groups --- */

static int push_cut(struct orbit_groups *groups, size_t *capacity, uint64_t row,
                    uint64_t max_before, struct error *err)
{
    if (groups->n_segments == *capacity) {
        *capacity = 2 * *capacity + 256;
        if (list_room(&groups->cuts, *capacity, sizeof *groups->cuts, "groups of images", err) != 0)
            return -1;
    }
    groups->cuts[groups->n_segments++] = (struct orbit_cut){row, max_before};
    return 0;
}

/* A cut stays only while all later rows have higher sources than all rows before it: a row with a
 * lower or equal one removes the cut. */
int orbit_groups_cut(struct orbit_groups *groups, struct findings *findings, struct error *err)
{
    bool seen[BOARD_MAX_TRANSFORMS] = {false}, is_in_runs = groups->source != NULL;
    struct lane_image images[IMAGES_AT_ONCE];
    uint64_t max = 0, n_runs = 0;
    bool is_long = false;
    size_t capacity = 0;
    struct orbit_walk walk;

    orbit_walk_begin(&walk, groups, NULL, 0, err);
    int status = walk.status == 0 ? push_cut(groups, &capacity, 0, 0, err) : -1;
    while (status == 0 && walk.next_row < groups->n_rows) {
        const uint64_t n = smaller(groups->n_rows - walk.next_row, IMAGES_AT_ONCE);

        status = read_images(&walk, n, images);
        for (const struct lane_image *image = images; status == 0 && image < images + n; image++) {
            if (image->transform == NO_TRANSFORM) {
                is_in_runs = false;
                if (groups->source != NULL)
                    findings_add(findings,
                                 ERROR_AT(FINDING_INDEX_RANGE, PLAN_TRANSFORM_KEY, image->row),
                                 "a transform of the board", "none", "names no transform");
            } else if (image->row == 0 || image->transform != groups->last.transform) {
                is_in_runs &= !seen[image->transform];
                seen[image->transform] = true;
                n_runs++;
            }
            if (image->row == 0)
                groups->first = *image;
            groups->last = *image;
            while (groups->n_segments > 1 &&
                   groups->cuts[groups->n_segments - 1].max_before >= image->source)
                groups->n_segments--;
            if (image->row > 0 && image->source > max)
                status = push_cut(groups, &capacity, image->row, max, err);
            max = image->source > max ? image->source : max;
        }
    }
    (void)orbit_walk_end(&walk);
    /* In transform order each transform has one run of rows. */
    groups->is_cut = is_in_runs && 2 * n_runs <= groups->n_rows;
    if (status == 0)
        status = push_cut(groups, &capacity, groups->n_rows, max, err);
    if (status != 0)
        return -1;
    groups->n_segments--;
    for (size_t i = 0; i < groups->n_segments; i++)
        is_long |= groups->cuts[i + 1].row - groups->cuts[i].row > groups->max_held;
    if (!is_long)
        return 0;
    if (new_items(&groups->entries, groups->n_rows + 1, "list of all images", err) != 0)
        return -1;
    orbit_walk_begin(&walk, groups, NULL, 0, err);
    if (walk.status == 0)
        walk.status = read_images(&walk, groups->n_rows, groups->entries);
    status = orbit_walk_end(&walk);
    qsort(groups->entries, groups->n_rows, sizeof *groups->entries, lane_image_compare);
    return status;
}

int orbit_groups_expect(struct orbit_groups *groups, struct error *err)
{
    bool *const most = groups->expected;
    uint64_t lead = 0; /* of `most` in the vote */
    uint64_t n_named = 0, n_with_most = 0, n_with_others = 0, n_alone = 0;
    uint32_t n_expected = 0;
    int status = 0;

    /* The first round finds the set of images that most groups have, if there is one (by majority
     * vote); the second counts those groups. Groups in which no image has a name have no vote.
     * A single row may be a source that was not expanded, or have lost its images; the only one of
     * two images has lost the other, and where provenance names them, there must be many. */
    for (int round = 0; round < (groups->is_told ? 1 : 2) && status == 0; round++) {
        struct orbit_walk walk;

        orbit_walk_begin(&walk, groups, NULL, SCAN_GROUPS, err);
        while (orbit_walk_next(&walk))
            for (uint64_t g = 0; g < walk.window.n_groups; g++) {
                const struct lane_image *image = &walk.window.images[walk.window.groups[g]];
                const struct lane_image *end = &walk.window.images[walk.window.groups[g + 1]];
                bool own[BOARD_MAX_TRANSFORMS] = {false}, has_others = false, is_named = false;

                for (; image < end; image++)
                    if (image->transform != NO_TRANSFORM) {
                        own[image->transform] = is_named = true;
                        has_others |= !most[image->transform];
                    }
                const bool is_most = memcmp(own, most, sizeof own) == 0;
                groups->n_groups += round == 0;
                if (!is_named)
                    continue;
                n_named += round == 1;
                n_with_most += round == 1 && is_most;
                n_with_others += round == 1 && has_others;
                n_alone += round == 1 && walk.window.groups[g + 1] - walk.window.groups[g] == 1;
                if (round == 0 && !groups->is_told && !is_most && lead == 0)
                    memcpy(most, own, sizeof own);
                lead = is_most || lead == 0 ? lead + 1 : lead - 1;
            }
        status = orbit_walk_end(&walk);
    }
    for (uint32_t t = 0; t < BOARD_MAX_TRANSFORMS; t++)
        n_expected += most[t];
    if (groups->is_told)
        return status;
    const bool may_be_alone = groups->source == NULL && (n_expected > 2 || n_alone > 1),
               are_many = n_alone >= MANY_ALONE && 4 * n_alone > n_named;
    groups->alone = !may_be_alone ? ALONE_LACKS : are_many ? ALONE_IS_LEFT : ALONE_IS_DOUBTFUL;
    if (may_be_alone)
        n_named -= n_alone;
    groups->expects = n_expected > 1 && !groups->is_drawn && 2 * n_with_most > n_named &&
                      10 * n_with_others <= n_named && (may_be_alone || !are_many);
    return status;
}

void orbit_groups_release(struct orbit_groups *groups)
{
    free(groups->cuts);
    free(groups->entries);
    for (size_t i = 0; i < groups->n_games; i++)
        free(groups->games[i]);
    *groups = (struct orbit_groups){0};
}

bool orbit_walk_next(struct orbit_walk *walk)
{
    const struct orbit_groups *groups = walk->groups;
    struct window *window = &walk->window;
    const struct lane_image *entries = groups->entries;
    const uint64_t first = walk->next_row;
    uint64_t n = 0;
    bool sorted = true;

    /* Whole segments, or whole groups of the list; single rows where there are no groups. */
    if (entries == NULL && groups->cuts == NULL)
        n = smaller(groups->n_rows - first, walk->n_wanted);
    while (entries == NULL && groups->cuts != NULL && walk->segment < groups->n_segments) {
        const struct orbit_cut *cut = &groups->cuts[walk->segment];
        const uint64_t more = cut[1].row - cut[0].row;

        if (n > 0 && n + more > walk->n_wanted)
            break;
        n += more;
        walk->segment++;
    }
    for (uint64_t end = first; entries != NULL && end < groups->n_rows; n = end - first) {
        const uint64_t source = entries[end].source;

        while (end < groups->n_rows && entries[end].source == source)
            end++;
        if (n > 0 && end - first > walk->n_wanted)
            break;
    }
    window->n = window->n_groups = 0;
    if (walk->status == 0)
        walk->status = window_reserve(window, n, walk->err);
    struct lane_image *images = window->images;
    if (walk->status == 0 && entries != NULL) {
        memcpy(images, entries + first, n * sizeof *images);
        walk->next_row += n;
    } else if (walk->status == 0) {
        walk->status = read_images(walk, n, images);
    }
    if (walk->status != 0)
        return false;
    window->n = n;
    for (uint64_t i = 0; i < n; i++) {
        images[i].at = (uint32_t)i;
        window->rows[i] = images[i].row;
        sorted &= i == 0 || lane_image_compare(&images[i - 1], &images[i]) <= 0;
    }
    if (!sorted)
        qsort(images, n, sizeof *images, lane_image_compare);
    for (uint64_t i = 0; i < n; i++)
        if (i == 0 || images[i].source != images[i - 1].source)
            window->groups[window->n_groups++] = i;
    window->groups[window->n_groups] = n;
    return n > 0;
}
