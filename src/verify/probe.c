/*
 * probe.c - the rows that are looked at, and the layouts that explain them.
 *
 * A layout (images per source, rows per block, originals first or not) says which rows are images
 * of one source. Every layout is tried on sources all over the rows that were read; the one under
 * which most rows repeat a position is the explanation: too few images per source leave repetitions
 * out, too many bring other positions in. The first rows are held; of rows further on, which are
 * read when these do not tell enough, there are sketches only.
 */
#include "verify/explain.h"

#include <stdlib.h>
#include <string.h>

#define PROBE_NBYTES (32u << 20)
#define PROBE_ROWS   4096
#define CHUNK_NBYTES (1u << 20) /* read at a time further on */
#define FAR_SOURCES  12
#define FAR_IMAGES   24 /* most images per source that are looked for all over a large set */
#define MIN_EVIDENCE 3  /* rows that must repeat a position */

/* --- reading --- */

/* Fill a window with n rows, ascending where lanes are open for rows in sequence; NULL: the first
 * ones. What cannot be read is left out. */
static int read_window(struct lanes *lanes, struct window *window, const uint64_t *rows, uint64_t n,
                       struct error *err)
{
    window->n = n;
    for (uint64_t i = 0; i < n; i++)
        window->images[i].row = rows != NULL ? rows[i] : i;
    for (size_t i = 0; i < lanes->n; i++) {
        struct error why = {0};

        if (window_read_lane(window, lanes, i, &why) == 0)
            continue;
        lanes->items[i].is_broken = true;
        if (why.kind != ERROR_DATA) /* not the data's fault */
            return error_pass(err, &why);
    }
    return 0;
}

static void sketch_row(struct probe *probe, const struct lanes *lanes, const struct window *window,
                       uint64_t at, struct sketch *sketch)
{
    const struct row row = window_row(window, lanes, (size_t)lanes->planes, at);

    if (row.bytes == NULL)
        return;
    sketch_planes(&probe->sketcher, row.bytes, sketch);
    sketch_policy(lanes, window, at, sketch);
}

int probe_open(struct probe *probe, struct lanes *lanes, struct error *err)
{
    uint64_t n = PROBE_NBYTES / (lanes->row_nbytes + 1) + 64;

    probe->lanes = lanes;
    probe->n_rows = lanes->shard->n_rows;
    n = n < PROBE_ROWS ? n : PROBE_ROWS;
    n = n < probe->n_rows ? n : probe->n_rows;
    if (sketcher_init(&probe->sketcher, lanes, err) != 0 ||
        lanes_open(lanes, false, &probe->unused, err) != 0 ||
        window_init(&probe->window, lanes, n, err) != 0 ||
        read_window(lanes, &probe->window, NULL, n, err) != 0)
        return -1;
    probe->n = lanes->items[lanes->planes].is_broken ? 0 : n;
    probe->sketches = calloc(n + 1, sizeof *probe->sketches);
    if (probe->sketches == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint64_t i = 0; i < probe->n; i++)
        sketch_row(probe, lanes, &probe->window, i, &probe->sketches[i]);
    return 0;
}

void probe_close(struct probe *probe)
{
    window_release(&probe->window, probe->lanes);
    lanes_close(probe->lanes);
    sketcher_release(&probe->sketcher);
    free(probe->sketches);
    free(probe->far_rows);
    free(probe->far);
    for (size_t i = 0; i < probe->n_games; i++)
        free(probe->games[i]);
    findings_release(&probe->unused.findings);
    *probe = (struct probe){0};
}

int probe_gather(struct probe *probe, const uint64_t *rows, uint64_t n, struct window *window,
                 struct error *err)
{
    struct lanes *lanes = probe->lanes;

    lanes_close(lanes);
    if (lanes_open(lanes, true, &probe->unused, err) != 0 ||
        window_init(window, lanes, n, err) != 0)
        return -1;
    return read_window(lanes, window, rows, n, err);
}

/* --- rows further on --- */

static int compare_rows(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

/* Rows that layouts need, each once. */
static void list_far(struct probe *probe, uint64_t block_rows)
{
    uint64_t *rows = probe->far_rows, n = 0;

    for (uint32_t images = 2; images <= FAR_IMAGES; images++) {
        const uint64_t n_sources = probe->n_rows / images;

        for (uint64_t i = 0; probe->n_rows % images == 0 && i < FAR_SOURCES && i < n_sources; i++)
            for (uint32_t k = 1; k < images; k++) {
                rows[n++] = k * n_sources + i;
                rows[n++] = n_sources + i * (images - 1) + k - 1;
            }
    }
    for (uint64_t i = 0; i < FAR_SOURCES && i < block_rows; i++)
        for (uint64_t k = 1; k < LAYOUT_MAX_IMAGES; k++)
            rows[n++] = k * block_rows + i;
    qsort(rows, n, sizeof *rows, compare_rows);
    probe->n_far = 0;
    for (uint64_t i = 0; i < n; i++)
        if (rows[i] >= probe->n && rows[i] < probe->n_rows && (i == 0 || rows[i] != rows[i - 1]))
            rows[probe->n_far++] = rows[i];
}

/* Whether every row of the set was looked at. */
static bool is_whole(const struct probe *probe)
{
    return probe->n + probe->n_far == probe->n_rows;
}

static int sketch_far(struct probe *probe, struct lanes *lanes, struct error *err)
{
    const struct lane *planes = &lanes->items[lanes->planes];
    const uint64_t capacity = CHUNK_NBYTES / (lanes->row_nbytes + 1) + 1;
    struct window window = {0};
    uint64_t i = 0;
    int status;

    lanes_close(lanes);
    status = lanes_open(lanes, false, &probe->unused, err);
    if (status == 0)
        status = window_init(&window, lanes, capacity, err);
    while (status == 0 && i < probe->n_far) {
        status = read_window(lanes, &window, probe->far_rows + i,
                             probe->n_far - i < capacity ? probe->n_far - i : capacity, err);
        if (status != 0 || planes->is_broken)
            break;
        for (uint64_t k = 0; k < window.n; k++)
            sketch_row(probe, lanes, &window, k, &probe->far[i + k]);
        i += window.n;
    }
    probe->n_far = i;
    window_release(&window, lanes);
    return status;
}

int probe_reach(struct probe *probe, uint64_t block_rows, bool with_labels, struct error *err)
{
    const uint64_t max_memory = probe->lanes->request->settings->max_memory;
    const uint64_t n_after = probe->n_rows - probe->n;
    const bool all = probe->may_be_games &&
                     n_after < max_memory / 2 / (sizeof *probe->far + sizeof *probe->far_rows);
    const uint64_t most =
        all ? n_after : (FAR_IMAGES * FAR_IMAGES + LAYOUT_MAX_IMAGES) * FAR_SOURCES;
    struct lanes planes = {.shard = probe->lanes->shard,
                           .request = probe->lanes->request,
                           .result = probe->lanes->result,
                           .n = 1};

    if (probe->n == 0 || n_after == 0)
        return 0;
    if (probe->far_rows == NULL) {
        probe->far_rows = calloc(most + 1, sizeof *probe->far_rows);
        if (probe->far_rows == NULL)
            return error_no_memory(err, "rows of a set");
        for (uint64_t i = 0; all && i < n_after; i++)
            probe->far_rows[i] = probe->n + i;
        probe->n_far = n_after;
        probe->far_block = block_rows;
        if (!all)
            list_far(probe, block_rows);
        probe->far = calloc(probe->n_far + 1, sizeof *probe->far);
        if (probe->far == NULL)
            return error_no_memory(err, "rows of a set");
    }
    planes.items = &probe->lanes->items[probe->lanes->planes];
    planes.row_nbytes = planes.items->array->row_nbytes;
    probe->has_labels = with_labels;
    return sketch_far(probe, with_labels ? probe->lanes : &planes, err);
}

static const struct sketch *far_sketch(const struct probe *probe, uint64_t row)
{
    const uint64_t *found;

    if (is_whole(probe))
        return &probe->far[row - probe->n];
    found = probe->n_far > 0
                ? bsearch(&row, probe->far_rows, probe->n_far, sizeof row, compare_rows)
                : NULL;
    return found != NULL ? &probe->far[found - probe->far_rows] : NULL;
}

/* NULL: the row was not read. */
static inline const struct sketch *sketch_of(const struct probe *probe, uint64_t row)
{
    return row < probe->n ? &probe->sketches[row] : far_sketch(probe, row);
}

/* --- trying layouts --- */

/* Without the labels of all rows, those of the first ones are not looked at either. */
static bool sees_labels(const struct probe *probe)
{
    return probe->n_far == 0 || probe->has_labels;
}

static uint64_t key_of(const struct probe *probe, const struct sketch *sketch,
                       enum probe_level level)
{
    if (level == PROBE_POLICY)
        return sketch->policy;
    if (level == PROBE_LABELS)
        return sketch->counts + (sees_labels(probe) ? 3 * sketch->policy : 0);
    return sketch->shape[level];
}

/* Rows of a source that are alike; 0 when not all were read or they tell nothing. */
static uint32_t count_alike(const struct probe *probe, const struct layout *layout,
                            enum probe_level level, uint64_t source)
{
    uint64_t keys[LAYOUT_MAX_IMAGES], bytes = 0;
    uint32_t most = 0;
    bool differ = level >= PROBE_LABELS && !sees_labels(probe);

    for (uint32_t k = 0; k < layout->n_images; k++) {
        const struct sketch *sketch = sketch_of(probe, layout_row(layout, source, k));
        uint64_t own;

        if (sketch == NULL || (keys[k] = key_of(probe, sketch, level)) == 0)
            return 0;
        own = sketch->planes ^ (level >= PROBE_LABELS ? sketch->labels : 0);
        differ |= k > 0 && own != bytes;
        bytes = own;
    }
    for (uint32_t first = 0; first < 3 && first < layout->n_images && differ; first++) {
        uint32_t n = 0;

        for (uint32_t k = 0; k < layout->n_images; k++)
            n += keys[k] == keys[first];
        most = n > most ? n : most;
    }
    return most;
}

/* Sources of which all rows may have been read: those of whole blocks of the first rows. */
static uint64_t known_sources(const struct probe *probe, const struct layout *layout)
{
    const uint64_t block = layout->block_rows, n = layout->n_images;
    uint64_t known;

    if (is_whole(probe))
        return layout->n_sources;
    known = probe->n / (n * block) * block;
    if (layout->originals_first || block >= layout->n_sources ||
        (block == probe->far_block && known == 0))
        return layout->n_sources < FAR_SOURCES ? layout->n_sources : FAR_SOURCES;
    if (known == 0 && probe->n > (n - 1) * block)
        known = probe->n - (n - 1) * block;
    return known < layout->n_sources ? known : layout->n_sources;
}

uint64_t probe_sources(const struct probe *probe, const struct fit *fit,
                       uint64_t list[PROBE_SOURCES])
{
    const uint64_t known = known_sources(probe, &fit->layout);
    const uint64_t n = known < PROBE_SOURCES ? known : PROBE_SOURCES;
    uint64_t n_listed = 0;

    for (uint64_t i = 0; i < n; i++)
        if (count_alike(probe, &fit->layout, fit->level, i * known / n) > 0)
            list[n_listed++] = i * known / n;
    return n_listed;
}

static void try_layout(const struct probe *probe, const struct layout *layout, struct fit *best)
{
    const enum probe_level level = best->level;
    const uint64_t known = known_sources(probe, layout);
    const uint64_t n = known < PROBE_SOURCES ? known : PROBE_SOURCES;
    uint64_t n_tried = 0, n_good = 0, n_saved = 0, key = 0;
    double saved;

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t source = i * known / n, before = key;
        const uint32_t alike = count_alike(probe, layout, level, source);

        if (alike == 0)
            continue;
        /* Policies that are the same all over the set (all moves alike) tell nothing. */
        key = key_of(probe, sketch_of(probe, layout_row(layout, source, 0)), level);
        if (level == PROBE_POLICY && key == before)
            return;
        n_tried++;
        n_good += 4 * alike >= 3 * layout->n_images;
        n_saved += alike - 1;
        if (n_tried >= 8 && n_saved == 0)
            return;
    }
    if (n_saved < MIN_EVIDENCE)
        return;
    saved = (double)n_saved / (double)(n_tried * layout->n_images);
    if (saved > best->saved + 1e-9)
        *best = (struct fit){.level = level,
                             .layout = *layout,
                             .saved = saved,
                             .share = (double)n_good / (double)n_tried};
}

/* Rows of the game that begins at `first`: the least number after which its rows repeat n times. */
static uint64_t game_length(const struct probe *probe, enum probe_level level, uint64_t first,
                            uint32_t n)
{
    const uint64_t left = probe->n + probe->n_far - first;

    for (uint64_t rows = 1; rows * n <= left && rows <= probe->n; rows++) {
        uint64_t i = 0;

        while (i < rows * (n - 1) && key_of(probe, sketch_of(probe, first + i), level) ==
                                         key_of(probe, sketch_of(probe, first + rows + i), level))
            i++;
        if (i == rows * (n - 1))
            return rows;
    }
    return 0;
}

/* Blocks of different lengths, such as games, that fill all rows; of a part of the rows they are
 * only noted, where they fill half of it. */
static int find_games(struct probe *probe, struct fit *best, struct error *err)
{
    const uint32_t n_images = probe->told.n_images;
    const uint64_t n_known = probe->n + probe->n_far;
    uint64_t *games = calloc(n_known + 1, sizeof *games);

    if (games == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint32_t n = n_images > 0 ? n_images : LAYOUT_MAX_IMAGES;
         n >= 2 && (n_images == 0 || n == n_images) && best->layout.games != games; n--) {
        struct layout layout = {.n_images = n, .games = games, .n_sources = n_known / n};
        uint64_t row = 0, length;

        while (row < n_known && (length = game_length(probe, best->level, row, n)) > 0) {
            row += length * n;
            games[++layout.n_games] = row / n;
        }
        if (row == probe->n_rows)
            try_layout(probe, &layout, best);
        probe->may_be_games |= n_known < probe->n_rows && 2 * row >= n_known;
    }
    if (best->layout.games == games)
        probe->games[probe->n_games++] = games;
    else
        free(games);
    return 0;
}

int probe_find(struct probe *probe, enum probe_level level, struct fit *best, struct error *err)
{
    const uint32_t n_images = probe->told.n_images;
    const uint64_t block_rows = probe->told.block_rows;
    const uint32_t first = n_images > 0 ? n_images : 2;
    const uint32_t last = n_images > 0 ? n_images : LAYOUT_MAX_IMAGES;
    const bool sees_far = is_whole(probe) || probe->n_far > 0;

    *best = (struct fit){.level = level};
    for (uint32_t n = first; n <= last && n <= probe->n_rows; n++) {
        struct layout layout = {.n_images = n, .n_sources = probe->n_rows / n};
        const uint64_t end = probe->n / n < layout.n_sources ? probe->n / n : layout.n_sources - 1;

        /* Those of the first rows have been tried when only these were read. */
        for (uint64_t block = 1; probe->n_far == 0 && block <= end; block++) {
            layout.block_rows = block;
            if (block_rows == 0 || block_rows == block)
                try_layout(probe, &layout, best);
        }
        layout.block_rows = probe->far_block;
        if (block_rows == 0 && probe->far_block > end && probe->far_block < layout.n_sources)
            try_layout(probe, &layout, best);
        layout.block_rows = layout.n_sources;
        if ((block_rows == 0 || block_rows >= layout.n_sources) && sees_far)
            try_layout(probe, &layout, best);
        layout.block_rows = 1;
        layout.originals_first = true;
        if (block_rows == 0 && n > 2 && sees_far)
            try_layout(probe, &layout, best);
    }
    return block_rows == 0 && best->share <= 0.9 && (probe->n_far == 0 || is_whole(probe))
               ? find_games(probe, best, err)
               : 0;
}

bool probe_is_enough(const struct probe *probe, const struct layout *layout)
{
    return is_whole(probe) || probe->n_far > 0 ||
           probe->n / 2 >= layout->n_images * layout->block_rows;
}
