/*
 * probe.c - see explain_parts.h.
 *
 * A layout (images per source, rows per block, originals first or not) says which rows are images
 * of one source. Every layout is tried on sources all over the rows that were read; the one under
 * which most rows repeat a position is the explanation: too few images per source leave repetitions
 * out, too many bring other positions in.
 */
#include "verify/explain_parts.h"

#include <stdlib.h>
#include <string.h>

#define PROBE_NBYTES (32u << 20)
#define PROBE_ROWS   4096
#define FAR_SOURCES  12
#define FAR_IMAGES   24 /* most images per source that are looked for all over a large set */
#define MIN_EVIDENCE 3  /* rows that must repeat a position */

/* --- reading --- */

static int read_prefix(struct probe *probe, struct error *err)
{
    struct lanes *lanes = probe->lanes;
    uint64_t n = PROBE_NBYTES / (lanes->row_nbytes + 1) + 64;

    n = n < PROBE_ROWS ? n : PROBE_ROWS;
    n = n < probe->n_rows ? n : probe->n_rows;
    if (lanes_open(lanes, probe->request, false, &probe->unused, err) != 0 ||
        window_init(&probe->window, lanes, n, err) != 0)
        return -1;
    probe->window.n = n;
    for (uint64_t i = 0; i < n; i++)
        probe->window.images[i].row = i;
    for (size_t i = 0; i < lanes->n; i++) {
        struct error why = {0};

        if (window_read_lane(&probe->window, lanes, i, &why) != 0)
            lanes->items[i].is_broken = true;
    }
    probe->n = lanes->items[lanes->planes].is_broken ? 0 : n;
    return 0;
}

int probe_open(struct probe *probe, struct lanes *lanes, const struct verify_request *request,
               const bool *allowed, struct error *err)
{
    *probe = (struct probe){.lanes = lanes, .request = request, .allowed = allowed};
    probe->n_rows = lanes->shard->n_rows;
    if (sketcher_init(&probe->sketcher, lanes, err) != 0 || read_prefix(probe, err) != 0)
        return -1;
    probe->sketches = calloc(probe->n + 1, sizeof *probe->sketches);
    if (probe->sketches == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint64_t i = 0; i < probe->n; i++) {
        const struct lane_row row = window_row(&probe->window, lanes, (size_t)lanes->planes, i);

        if (row.bytes == NULL)
            continue;
        sketch_planes(&probe->sketcher, row.bytes, &probe->sketches[i]);
        sketch_policy(lanes, &probe->window, i, &probe->sketches[i]);
    }
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
    for (int level = 0; level < PROBE_N_LEVELS; level++)
        free(probe->games[level]);
    findings_release(&probe->unused.findings);
    *probe = (struct probe){0};
}

static int compare_rows(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;

    return a < b ? -1 : a > b;
}

static void list_far(struct probe *probe, uint64_t block_rows)
{
    uint64_t n = 0, n_different = 0;

    for (uint32_t images = 2; images <= FAR_IMAGES; images++) {
        const uint64_t n_sources = probe->n_rows / images;

        for (uint64_t i = 0; probe->n_rows % images == 0 && i < FAR_SOURCES && i < n_sources; i++)
            for (uint32_t k = 1; k < images; k++) {
                probe->far_rows[n++] = k * n_sources + i;
                probe->far_rows[n++] = n_sources + i * (images - 1) + k - 1;
            }
    }
    for (uint64_t i = 0; i < FAR_SOURCES && i < block_rows; i++)
        for (uint64_t k = 1; k < LAYOUT_MAX_IMAGES; k++)
            probe->far_rows[n++] = k * block_rows + i;
    probe->far_block = block_rows;
    qsort(probe->far_rows, n, sizeof *probe->far_rows, compare_rows);
    for (uint64_t i = 0; i < n; i++)
        if (probe->far_rows[i] >= probe->n && probe->far_rows[i] < probe->n_rows &&
            (i == 0 || probe->far_rows[i] != probe->far_rows[i - 1]))
            probe->far_rows[n_different++] = probe->far_rows[i];
    probe->n_far = n_different;
}

/* Rows in sequence, those between the listed ones thrown away. */
static int read_far(struct probe *probe, struct error *err)
{
    const struct array *array = probe->sketcher.lane->array;
    const uint64_t at_once = (1u << 20) / (array->row_nbytes + 1) + 1;
    uint8_t *bytes = malloc(at_once * array->row_nbytes + 1);
    struct error unused = {0};
    struct rows *rows = array_is_fortran(array) ? NULL : rows_open(&array, 1, &unused);
    uint64_t next = 0, i = 0;

    while (bytes != NULL && rows != NULL && i < probe->n_far) {
        const uint64_t skip = probe->far_rows[i] - next;
        const uint64_t n = skip == 0 ? 1 : skip < at_once ? skip : at_once;

        if (rows_read(rows, n, bytes, &unused) != 0)
            break;
        next += n;
        if (skip == 0)
            sketch_planes(&probe->sketcher, bytes, &probe->far[i++]);
    }
    probe->n_far = i;
    rows_close(rows);
    free(bytes);
    return bytes != NULL ? 0 : error_no_memory(err, "rows");
}

int probe_reach(struct probe *probe, uint64_t block_rows, struct error *err)
{
    const size_t most = (FAR_IMAGES * FAR_IMAGES + LAYOUT_MAX_IMAGES) * FAR_SOURCES + 1;

    if (probe->n == 0 || probe->n == probe->n_rows)
        return 0;
    probe->far_rows = calloc(most, sizeof *probe->far_rows);
    if (probe->far_rows == NULL)
        return error_no_memory(err, "rows of a set");
    list_far(probe, block_rows);
    probe->far = calloc(probe->n_far + 1, sizeof *probe->far);
    return probe->far != NULL ? read_far(probe, err) : error_no_memory(err, "rows of a set");
}

/* NULL: the row was not read. */
static const struct sketch *sketch_of(const struct probe *probe, uint64_t row)
{
    const uint64_t *found;

    if (row < probe->n)
        return &probe->sketches[row];
    found = probe->n_far > 0
                ? bsearch(&row, probe->far_rows, probe->n_far, sizeof row, compare_rows)
                : NULL;
    return found != NULL ? &probe->far[found - probe->far_rows] : NULL;
}

/* --- trying layouts --- */

static uint64_t key_of(const struct sketch *sketch, enum probe_level level)
{
    if (level == PROBE_POLICY)
        return sketch->policy;
    return level == PROBE_LABELS ? sketch->counts + 3 * sketch->policy : sketch->shape[level];
}

/* Rows of a source that are alike; 0 when not all were read or they tell nothing. */
static uint32_t count_alike(const struct probe *probe, const struct layout *layout,
                            enum probe_level level, uint64_t source)
{
    uint64_t keys[LAYOUT_MAX_IMAGES], bytes = 0;
    uint32_t most = 0;
    bool differ = false;

    for (uint32_t k = 0; k < layout->n_images; k++) {
        const struct sketch *sketch = sketch_of(probe, layout_row(layout, source, k));
        uint64_t own;

        if (sketch == NULL || (keys[k] = key_of(sketch, level)) == 0)
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

    if (probe->n == probe->n_rows)
        return layout->n_sources;
    known = probe->n / (n * block) * block;
    if (layout->originals_first || block >= layout->n_sources ||
        (block == probe->far_block && known == 0))
        return layout->n_sources < FAR_SOURCES ? layout->n_sources : FAR_SOURCES;
    if (known == 0 && probe->n > (n - 1) * block)
        known = probe->n - (n - 1) * block;
    return known < layout->n_sources ? known : layout->n_sources;
}

static void try_layout(const struct probe *probe, const struct layout *layout,
                       enum probe_level level, struct probe_fit *best)
{
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
        key = key_of(sketch_of(probe, layout_row(layout, source, 0)), level);
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
        *best = (struct probe_fit){*layout, saved, (double)n_good / (double)n_tried};
}

/* Rows of the game that begins at `first`: the least number after which its rows repeat n times. */
static uint64_t game_length(const struct probe *probe, enum probe_level level, uint64_t first,
                            uint32_t n)
{
    const uint64_t left = probe->n - first;

    for (uint64_t rows = 1; rows * n <= left; rows++) {
        uint64_t i = 0;

        while (i < rows * (n - 1) && key_of(&probe->sketches[first + i], level) ==
                                         key_of(&probe->sketches[first + rows + i], level))
            i++;
        if (i == rows * (n - 1))
            return rows;
    }
    return 0;
}

/* Blocks of different lengths, such as games, that fill all rows. */
static int find_games(struct probe *probe, enum probe_level level, uint32_t n_images,
                      struct probe_fit *best, struct error *err)
{
    uint64_t *games = calloc(probe->n + 1, sizeof *games);

    if (games == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint32_t n = n_images > 0 ? n_images : LAYOUT_MAX_IMAGES;
         n >= 2 && (n_images == 0 || n == n_images); n--) {
        struct layout layout = {.n_images = n, .games = games, .n_sources = probe->n / n};
        uint64_t row = 0, length;

        while (row < probe->n && (length = game_length(probe, level, row, n)) > 0) {
            row += length * n;
            games[++layout.n_games] = row / n;
        }
        if (row == probe->n)
            try_layout(probe, &layout, level, best);
        if (best->layout.games == games)
            break;
    }
    if (best->layout.games != games)
        free(games);
    else
        probe->games[level] = games;
    return 0;
}

int probe_find(struct probe *probe, enum probe_level level, const struct layout *told,
               struct probe_fit *best, struct error *err)
{
    const uint32_t n_images = told->n_images;
    const uint64_t block_rows = told->block_rows;
    const uint32_t first = n_images > 0 ? n_images : 2;
    const uint32_t last = n_images > 0 ? n_images : LAYOUT_MAX_IMAGES;

    for (uint32_t n = first; n <= last && n <= probe->n_rows; n++) {
        struct layout layout = {.n_images = n, .n_sources = probe->n_rows / n};
        const uint64_t end = probe->n / n < layout.n_sources ? probe->n / n : layout.n_sources - 1;

        for (uint64_t block = 1; block <= end; block++) {
            layout.block_rows = block;
            if (block_rows == 0 || block_rows == block)
                try_layout(probe, &layout, level, best);
        }
        layout.block_rows = probe->far_block;
        if (block_rows == 0 && probe->far_block > end && probe->far_block < layout.n_sources)
            try_layout(probe, &layout, level, best);
        layout.block_rows = layout.n_sources;
        if ((block_rows == 0 || block_rows >= layout.n_sources) &&
            (probe->n == probe->n_rows || probe->n_far > 0))
            try_layout(probe, &layout, level, best);
        layout.block_rows = 1;
        layout.originals_first = true;
        if (block_rows == 0 && n > 2 && (probe->n == probe->n_rows || probe->n_far > 0))
            try_layout(probe, &layout, level, best);
    }
    if (block_rows == 0 && probe->n == probe->n_rows && best->share <= 0.9 &&
        probe->games[level] == NULL)
        return find_games(probe, level, n_images, best, err);
    return 0;
}

bool probe_is_enough(const struct probe *probe, const struct layout *layout)
{
    return probe->n == probe->n_rows || probe->n_far > 0 ||
           probe->n / 2 >= layout->n_images * layout->block_rows;
}

uint64_t probe_sources(const struct probe *probe, const struct layout *layout,
                       enum probe_level level, uint64_t list[PROBE_SOURCES])
{
    const uint64_t known = known_sources(probe, layout);
    const uint64_t n = known < PROBE_SOURCES ? known : PROBE_SOURCES;
    uint64_t n_listed = 0;

    for (uint64_t i = 0; i < n; i++)
        if (count_alike(probe, layout, level, i * known / n) > 0)
            list[n_listed++] = i * known / n;
    return n_listed;
}
