/*
 * probe.c - reads a sample of the rows, finds the layout that explains them, and names its images.
 *
 * A layout (images per source, rows per block, originals first or not) says which rows are images
 * of one source. Every layout is tried on sources spread over the rows that were read; the one
 * under which most rows repeat a position explains them best: with too few images per source some
 * repetitions are missed, with too many other positions come in. Sketches are made of the first
 * rows and, if these do not tell enough, of rows further on. Then the images of many sources are
 * read and compared, array by array: an image's transform is the one that explains it in most of
 * them.
 */
#include "verify/parts.h"

#define PROBE_NBYTES (32u << 20)
#define PROBE_ROWS   4096
#define CHUNK_NBYTES (1u << 20) /* of far rows, read at a time */
#define MAX_SOURCES  64         /* tried of each layout */
#define FAR_SOURCES  12         /* the same where far rows are needed */
#define FAR_IMAGES   24 /* images per source looked for in far rows; and those of the board */
#define MIN_EVIDENCE 3  /* rows that must repeat a position */

/* --- reading --- */

int probe_read_window(struct window *window, struct error *err)
{
    const struct lanes *lanes = window->lanes;

    for (size_t i = 0; i < lanes->n; i++) {
        struct error why = {0};

        if (window_read_lane(window, i, &why) != 0 && why.kind != ERROR_DATA)
            return error_pass(err, &why); /* no fault of the data */
        lanes->items[i].is_broken |= why.kind != ERROR_NONE;
    }
    return 0;
}

/* Make the sketches of rows[first] and those after it, with their labels or without. If the planes
 * cannot be read, the rows that are left are forgotten. */
static int read_sketches(struct probe *p, uint64_t first, bool with_labels, struct error *err)
{
    struct lane *item = &p->lanes->items[p->lanes->planes];
    struct lanes planes = {.shard = p->lanes->shard,
                           .request = p->lanes->request,
                           .items = item,
                           .n = 1,
                           .row_nbytes = item->array->row_nbytes};
    struct lanes *lanes = with_labels ? p->lanes : &planes;
    const uint64_t capacity = CHUNK_NBYTES / (lanes->row_nbytes + 1) + 1;
    struct window window = {0};
    int status = lanes_open(lanes, false, NULL, err);

    p->has_labels = with_labels;
    if (status == 0)
        status = window_init(&window, lanes, capacity, err);
    for (uint64_t i = first; status == 0 && i < p->n; i += window.n) {
        window.n = smaller(p->n - i, capacity);
        memcpy(window.rows, p->rows + i, window.n * sizeof *window.rows);
        status = probe_read_window(&window, err);
        p->n = item->is_broken ? i : p->n;
        for (uint64_t k = 0; status == 0 && !item->is_broken && k < window.n; k++) {
            sketch_planes(&p->sketcher, window_row(&window, (size_t)lanes->planes, k).bytes,
                          &p->sketches[i + k]);
            sketch_policy(&window, k, &p->sketches[i + k]);
        }
    }
    window_release(&window);
    return status;
}

int probe_open(struct probe *p, struct error *err)
{
    const uint64_t n_held = PROBE_NBYTES / (p->lanes->row_nbytes + 1) + 64;

    p->n_rows = p->lanes->shard->n_rows;
    p->n = p->n_first = smaller(smaller(n_held, PROBE_ROWS), p->n_rows);
    if (new_items(&p->rows, p->n + 1, "rows of a set", err) != 0 ||
        new_items(&p->sketches, p->n + 1, "rows of a set", err) != 0 ||
        sketcher_init(&p->sketcher, p->lanes, err) != 0)
        return -1;
    for (uint64_t i = 0; i < p->n; i++)
        p->rows[i] = i;
    if (read_sketches(p, 0, true, err) != 0)
        return -1;
    p->n_first = p->n = p->planes->is_broken ? 0 : p->n;
    return 0;
}

void probe_close(struct probe *p)
{
    lanes_close(p->lanes);
    sketcher_release(&p->sketcher);
    free(p->sketches);
    free(p->rows);
}

int probe_read_all(struct probe *p, struct window *window, struct error *err)
{
    if (lanes_open(p->lanes, false, NULL, err) != 0 ||
        window_init(window, p->lanes, p->n, err) != 0)
        return -1;
    window->n = p->n;
    memcpy(window->rows, p->rows, p->n * sizeof *p->rows);
    return probe_read_window(window, err);
}

/* --- far rows --- */

static int compare_rows(const void *left, const void *right)
{
    return order_of(*(const uint64_t *)left, *(const uint64_t *)right);
}

int probe_reach(struct probe *p, uint64_t block_rows, bool is_shuffled, struct error *err)
{
    const uint64_t max_memory = p->lanes->request->settings->max_memory;
    const uint64_t row_nbytes = sizeof *p->sketches + sizeof *p->rows;
    const uint64_t n_after = p->n_rows - p->n_first;
    const uint64_t n_needed =
        (FAR_IMAGES * FAR_IMAGES + 2 * p->n_ids + p->max_images) * FAR_SOURCES;
    const bool all = (is_shuffled || p->may_be_games) && n_after < max_memory / 4 / row_nbytes;
    uint64_t n = p->n_first;

    if (p->n_first == 0 || n_after == 0 || (is_shuffled && !all))
        return 0;
    if (list_room(&p->rows, n + (all ? n_after : n_needed) + 1, sizeof *p->rows, "rows of a set",
                  err) != 0)
        return -1;
    /* All rows, or those that layouts need. */
    uint64_t *const rows = p->rows;
    for (; all && n < p->n_rows; n++)
        rows[n] = n;
    for (uint32_t images = 2; !all && images <= p->max_images; images++) {
        const uint64_t n_sources = p->n_rows / images;
        const bool is_usual = images <= FAR_IMAGES || images == p->n_ids;

        for (uint64_t i = 0;
             is_usual && p->n_rows % images == 0 && i < smaller(FAR_SOURCES, n_sources); i++)
            for (uint32_t k = 1; k < images; k++) {
                rows[n++] = k * n_sources + i;
                rows[n++] = n_sources + i * (images - 1) + k - 1;
            }
    }
    for (uint64_t i = 0; !all && i < smaller(FAR_SOURCES, block_rows); i++)
        for (uint64_t k = 1; k < p->max_images; k++)
            rows[n++] = k * block_rows + i;
    p->far_block = block_rows;
    /* In ascending order, each once, without the first rows. */
    qsort(rows + p->n_first, n - p->n_first, sizeof *rows, compare_rows);
    p->n = p->n_first;
    for (uint64_t i = p->n_first; i < n; i++)
        if (rows[i] > rows[p->n - 1] && rows[i] < p->n_rows)
            rows[p->n++] = rows[i];
    return list_room(&p->sketches, p->n + 1, sizeof *p->sketches, "rows of a set", err) == 0
               ? read_sketches(p, p->n_first, is_shuffled, err)
               : -1;
}

/* The sketch of a row; NULL: it was not read. */
static inline const struct sketch *sketch_of(const struct probe *p, uint64_t row)
{
    const uint64_t *far = p->rows + p->n_first, n_far = p->n - p->n_first;

    if (row < p->n_first || probe_is_whole(p))
        return &p->sketches[row];
    const uint64_t *found = n_far > 0 ? bsearch(&row, far, n_far, sizeof row, compare_rows) : NULL;
    return found != NULL ? &p->sketches[found - p->rows] : NULL;
}

/* --- trying layouts --- */

/* What must be equal at a level; 0: the row tells nothing. The labels of the first rows are ignored
 * unless those of the far rows were read, too. */
static uint64_t key_of(const struct probe *p, const struct sketch *sketch, enum probe_level level)
{
    if (level == PROBE_POLICY)
        return sketch->is_level ? 0 : sketch->policy;
    if (level == PROBE_STILL || level == PROBE_LABELS)
        return (level == PROBE_STILL ? sketch->planes : sketch->counts) +
               (p->has_labels ? 3 * sketch->policy : 0);
    return level == PROBE_BOX ? sketch->box_shape : sketch->shape;
}

/* How many images of a source are alike; 0 when not all were read or none of them tells anything.
 */
static uint32_t count_alike(const struct probe *p, const struct layout *layout,
                            enum probe_level level, uint64_t source)
{
    const uint64_t base = layout_row(layout, source, 0), second = layout_row(layout, source, 1),
                   step = layout_row(layout, source, 2) - second;
    uint64_t keys[LAYOUT_MAX_IMAGES], bytes = 0;
    uint32_t most = 0;
    bool differ = level >= PROBE_STILL && !p->has_labels, any = false;

    for (uint32_t k = 0; k < layout->n_images; k++) {
        const struct sketch *sketch = sketch_of(p, k == 0 ? base : second + (k - 1) * step);
        if (sketch == NULL)
            return 0;
        keys[k] = key_of(p, sketch, level);
        any |= keys[k] != 0;
        const uint64_t own = sketch->planes ^ (level >= PROBE_STILL ? sketch->labels : 0);
        differ |= k > 0 && own != bytes;
        bytes = own;
    }
    for (uint32_t first = 0; first < 3 && first < layout->n_images && differ; first++) {
        uint32_t n = 0;

        for (uint32_t k = 0; k < layout->n_images; k++)
            n += keys[k] == keys[first] && keys[k] != 0;
        most = n > most ? n : most;
    }
    /* Rows that tell nothing, such as empty boards, are no images of others that do. */
    return any && differ && most == 0 ? 1 : most;
}

/* How many sources may have been read with all their images: those in whole blocks of the first
 * rows, or some of all where far rows hold the images. */
static uint64_t known_sources(const struct probe *p, const struct layout *layout)
{
    const uint64_t block = layout->block_rows, n = layout->n_images;

    if (probe_is_whole(p))
        return layout->n_sources;
    uint64_t known = p->n_first / (n * block) * block;
    if (layout->originals_first || block >= layout->n_sources ||
        (block == p->far_block && known == 0))
        return smaller(layout->n_sources, FAR_SOURCES);
    if (known == 0 && p->n_first > (n - 1) * block)
        known = p->n_first - (n - 1) * block;
    return smaller(known, layout->n_sources);
}

static void try_layout(const struct probe *p, const struct layout *layout, struct fit *best)
{
    const enum probe_level level = best->level;
    const uint64_t known = known_sources(p, layout), n = smaller(known, MAX_SOURCES);
    uint64_t n_tried = 0, n_good = 0, n_saved = 0, key = 0;

    for (uint64_t i = 0; i < n; i++) {
        const uint64_t source = i * known / n, before = key;
        const uint32_t alike = count_alike(p, layout, level, source);

        if (alike == 0)
            continue;
        /* Policies that are the same throughout the set tell nothing. */
        key = key_of(p, sketch_of(p, layout_row(layout, source, 0)), level);
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
    const double saved = (double)n_saved / (double)(n_tried * layout->n_images);
    const double share = (double)n_good / (double)n_tried;
    if (saved > best->saved + 1e-9)
        *best = (struct fit){level, *layout, saved, share, .is_found = share > 0.5};
}

/* Find the layout of at most so many images that saves most rows at a level; its images are neither
 * named nor confirmed. Its share is 0 when no layout saves any. */
static int find(struct probe *p, enum probe_level level, uint32_t most, struct fit *best,
                struct error *err)
{
    const uint32_t least = p->groups->is_told ? p->n_ids : 2;
    const bool has_far = p->n > p->n_first, sees_far = has_far || probe_is_whole(p);

    *best = (struct fit){.level = level};
    for (uint32_t n = least; n <= most && n <= p->n_rows; n++) {
        struct layout layout = {.n_images = n, .n_sources = p->n_rows / n};
        const uint64_t end = smaller(p->n_first / n, layout.n_sources - 1);
        const uint64_t transform_order = layout.n_sources, told = p->block_rows;
        const bool is_any = !p->has_block;

        /* Short blocks show in the first rows: they were tried before far rows were read. */
        for (layout.block_rows = 1; !has_far && layout.block_rows <= end; layout.block_rows++)
            if (is_any || told == layout.block_rows)
                try_layout(p, &layout, best);
        layout.block_rows = p->far_block;
        if (is_any && p->far_block > end && p->far_block < transform_order)
            try_layout(p, &layout, best);
        layout.block_rows = transform_order;
        if (sees_far && (is_any || told == 0 || told >= transform_order))
            try_layout(p, &layout, best);
        layout.block_rows = 1;
        layout.originals_first = true;
        if (sees_far && is_any && n > 2)
            try_layout(p, &layout, best);
    }
    if (p->has_block || (has_far && !probe_is_whole(p)))
        return 0;
    /* Blocks of different lengths, such as games, must fill all rows. They are tried even where
     * equal blocks fit, which may be a part of them: two games of 12 images, of which one is three
     * times as long as the other, are equal blocks of 4. If not all rows were read, it is only
     * noted that blocks fill half of these. */
    uint64_t *games = calloc(p->n + 1, sizeof *games);
    if (games == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint32_t n = most; n >= least && best->layout.games != games; n--) {
        struct layout layout = {.n_images = n, .games = games, .n_sources = p->n / n};
        uint64_t first = 0;

        /* The length of a game is the smallest number after which its rows repeat n times. */
        for (uint64_t rows = 1; rows * n <= p->n - first && rows <= p->n_first; rows++) {
            const struct sketch *game = p->sketches + first;
            uint64_t i = 0;

            while (i < rows * (n - 1) &&
                   key_of(p, &game[i], level) == key_of(p, &game[rows + i], level))
                i++;
            if (i < rows * (n - 1))
                continue;
            first += rows * n;
            games[++layout.n_games] = first / n;
            rows = 0;
        }
        if (first == p->n_rows)
            try_layout(p, &layout, best);
        p->may_be_games |= best->share <= 0.9 && p->n < p->n_rows && 2 * first >= p->n;
    }
    if (best->layout.games == games)
        p->groups->games[p->groups->n_games++] = games;
    else
        free(games);
    return 0;
}

/* --- naming the images --- */

static uint32_t most_votes(const uint32_t votes[BOARD_MAX_TRANSFORMS])
{
    uint32_t best = 0;

    for (uint32_t u = 1; u < BOARD_MAX_TRANSFORMS; u++)
        if (votes[u] > votes[best])
            best = u;
    return best;
}

/* Compare the base image of each source in a window with its other images, and name these. Image k
 * of source g is at position at[g * n_images + k]. */
static void vote(struct probe *p, const struct window *window, const uint64_t *at, uint32_t base,
                 struct fit *fit)
{
    struct layout *layout = &fit->layout;
    const size_t planes = (size_t)p->lanes->planes;
    const uint32_t n_images = layout->n_images, n_transforms = p->groups->n_transforms;
    const uint64_t *const end = at + window->n;
    const bool is_usual = n_images <= n_transforms; /* any layout of more has many ties */
    uint64_t n_still = 0, n_agreed = 0, n_strange = 0;

    fit->n_known = fit->n_moved = fit->n_pairs = fit->n_foreign = 0;
    fit->is_exact = true;
    for (uint32_t k = 0; k < n_images; k++) {
        uint32_t votes[2][BOARD_MAX_TRANSFORMS] = {{0}}, n[2] = {0}; /* transforms, foreign maps */
        uint32_t n_only[BOARD_MAX_TRANSFORMS] = {0}; /* pairs that one transform alone explains, */
        uint32_t n_tied[BOARD_MAX_TRANSFORMS] = {0}; /* and several */

        layout->ids[k] = 0;
        fit->foreign[k] = -1;
        for (const uint64_t *group = at; group < end && k != base; group += n_images) {
            const struct orbit_pair pair = {window, planes, group[base], group[k], 0};
            bool best[BOARD_MAX_TRANSFORMS], is_known = false;

            const uint32_t only = orbit_relate(&pair, p->groups->allowed, false, best);
            for (uint32_t u = 0; u < n_transforms; u++) {
                votes[0][u] += best[u];
                n_only[u] += only == u;
                n_tied[u] += is_usual && only == NO_TRANSFORM && best[u] && !best[0];
                is_known |= best[u];
            }
            const int map = is_known
                                ? -1
                                : sketch_relation(&p->sketcher, fit->level == PROBE_BOX,
                                                  window_row(window, planes, group[base]).bytes,
                                                  window_row(window, planes, group[k]).bytes);
            const struct sketch *a = sketch_of(p, window->rows[group[base]]);
            const struct sketch *b = sketch_of(p, window->rows[group[k]]);
            n_strange += p->has_labels && !a->is_level && !b->is_level && a->policy != b->policy;
            fit->n_pairs++;
            fit->n_known += is_known;
            fit->n_moved += only != NO_TRANSFORM && only != 0;
            n_still += map == 0;
            if (map > 0)
                votes[1][map]++;
            n[0] += is_known;
            n[1] += map > 0;
        }
        if (k == base)
            continue;
        const uint32_t best = most_votes(votes[0]), map = most_votes(votes[1]);
        const bool is_mapped = n[1] > n[0] && 2 * votes[1][map] > n[1];
        const bool is_own = is_mapped && fit->level != PROBE_BOX && p->groups->allowed[map];
        if (is_mapped && !is_own) {
            fit->foreign[k] = (int)map;
            fit->n_foreign++;
        }
        const uint32_t n_best = is_mapped ? votes[1][map] : n_only[most_votes(n_only)];
        n_agreed += n_best - (n_best > 0); /* one more each agree with one by chance */
        fit->n_moved += (is_own ? votes[1][map] : 0) + n_tied[best];
        layout->ids[k] = is_own                                             ? map
                         : fit->foreign[k] < 0 && 2 * votes[0][best] > n[0] ? best
                                                                            : NO_TRANSFORM;
        for (const uint64_t *group = at; group < end; group += n_images)
            fit->is_exact &= layout->ids[k] != NO_TRANSFORM &&
                             orbit_same_row(window, group[base], group[k], layout->ids[k]);
    }
    fit->is_chance =
        2 * n_strange > fit->n_pairs &&
        (n_images > n_transforms || 2 * n_agreed < fit->n_pairs || n_agreed < MIN_EVIDENCE);
    fit->only_colours = 2 * n_still > fit->n_pairs;
}

/* Name the images of a layout, and decide whether they confirm it. */
static int name_images(struct probe *p, struct fit *fit, struct error *err)
{
    const uint32_t n_images = fit->layout.n_images;
    const uint64_t known = known_sources(p, &fit->layout), n_sources = smaller(known, MAX_SOURCES);
    uint64_t *at = calloc(n_sources * n_images + 1, sizeof *at); /* rows, then their positions */
    struct window window = {0};
    int status = at != NULL ? lanes_open(p->lanes, false, NULL, err)
                            : error_no_memory(err, "groups of images");

    if (status == 0)
        status = window_init(&window, p->lanes, n_sources * n_images, err);
    /* Sources spread over the rows that were read, whose images tell something. */
    for (uint64_t i = 0; status == 0 && i < n_sources; i++) {
        const uint64_t source = i * known / n_sources;

        if (count_alike(p, &fit->layout, fit->level, source) > 0)
            for (uint32_t k = 0; k < n_images; k++, window.n++)
                at[window.n] = window.rows[window.n] = layout_row(&fit->layout, source, k);
    }
    if (status == 0) {
        qsort(window.rows, window.n, sizeof *at, compare_rows);
        status = probe_read_window(&window, err);
    }
    for (uint64_t i = 0; status == 0 && i < window.n; i++) {
        const uint64_t *row = bsearch(&at[i], window.rows, window.n, sizeof *at, compare_rows);

        at[i] = (uint64_t)(row - window.rows);
    }
    /* The first image may itself be wrong; then another one may explain more. */
    for (uint32_t base = 0; base < 3 && base < n_images && status == 0 && !p->planes->is_broken;
         base++) {
        struct fit other = *fit;

        vote(p, &window, at, base, &other);
        if (base == 0 || (other.n_moved > fit->n_moved + fit->n_pairs / 4 &&
                          other.n_known > fit->n_known + fit->n_pairs / 4))
            *fit = other;
    }
    fit->is_confirmed =
        fit->n_pairs > 0 && !fit->is_chance &&
        (fit->n_foreign > 0 || (fit->level < PROBE_STILL ? 2 * fit->n_moved >= fit->n_pairs
                                                         : 10 * fit->n_moved >= 8 * fit->n_pairs));
    window_release(&window);
    free(at);
    return status;
}

int probe_explain(struct probe *p, struct fit *best, struct error *err)
{
    uint32_t most = p->groups->is_told ? p->n_ids : p->max_images;

    *best = (struct fit){0};
    for (int level = 0; level < PROBE_N_LEVELS; level++) {
        struct fit fit;

        if ((level == PROBE_POLICY && (best->is_found || !p->has_labels)) ||
            (level == PROBE_STILL && best->is_confirmed) ||
            (level == PROBE_BOX && p->sketcher.box == NULL))
            continue;
        if (find(p, (enum probe_level)level, most, &fit, err) != 0)
            return -1;
        /* The policies of far rows are read only if their planes hold the same numbers: then these
         * may never have been moved. */
        if (level >= PROBE_STILL && !p->has_labels) {
            if (!fit.is_found || (best->is_confirmed && fit.saved <= best->saved + CLEARLY_MORE))
                continue;
            if (read_sketches(p, p->n_first, true, err) != 0 ||
                find(p, (enum probe_level)level, most, &fit, err) != 0)
                return -1;
        }
        const bool is_more = fit.is_found && fit.saved > best->saved + CLEARLY_MORE;
        if (fit.is_found && (is_more || !best->is_confirmed) && name_images(p, &fit, err) != 0)
            return -1;
        if (fit.is_confirmed > best->is_confirmed ||
            (is_more && fit.is_confirmed == best->is_confirmed))
            *best = fit;
        /* Rows of many sources may hold the same numbers: then layouts of no more images than the
         * board has are tried. */
        if (level == PROBE_LABELS && fit.is_found && !best->is_confirmed && most > p->n_ids) {
            most = p->n_ids;
            level--;
        }
    }
    return 0;
}
