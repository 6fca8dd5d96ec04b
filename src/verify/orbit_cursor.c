/*
 * orbit_cursor.c - walking over the groups of images, as many whole groups as fit a window at a
 * time. Sources and transforms of the rows come from the provenance arrays, from arithmetic on the
 * layout, or from a list of all rows; in a window they are sorted, so that a group's images stand
 * together.
 */
#include "verify/orbit_groups.h"

#include <stdlib.h>

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
