/*
 * explain.c - is a set expanded, and which of its rows belong together?
 *
 * What is told comes first: provenance arrays, then the manifest and the command line. Otherwise
 * the rows decide: positions whose shape repeats under the symmetries of the board, or under those
 * of its box (wrong images), or rows whose planes and policies hold the same numbers (planes that
 * were never moved). If the images are in no order, rows are sorted by the shapes of their
 * positions, and those of one shape are a class.
 */
#include "verify/parts.h"

#define MIN_ALIKE   3  /* rows that must look like images of others */
#define MOST_IMAGES 64 /* per source that are looked for, unless the board has more transforms */

/* --- layouts --- */

static int take_layout(struct probe *p, const struct layout *found, struct error *err)
{
    struct layout *layout = &p->groups->layout;
    const struct board *board = p->lanes->shard->found.board;
    uint32_t *ids = layout->ids, base = 0;

    *layout = *found;
    /* Images are named after one of them, which need not be the source if others are told. */
    while (base < layout->n_images && ids[base] != 0)
        base++;
    for (uint32_t k = 0; p->groups->is_told && p->n_ids == layout->n_images && k < p->n_ids; k++)
        if (base < p->n_ids && ids[k] != NO_TRANSFORM)
            ids[k] = board->compose[p->ids[base] * board->n_transforms + ids[k]];
    /* Transforms that are told but shown by no image go to the images that show none, in order. */
    for (uint32_t i = 0, k = 0; p->groups->is_told && i < p->n_ids; i++) {
        bool is_shown = false;

        for (uint32_t j = 0; j < layout->n_images; j++)
            is_shown |= ids[j] == p->ids[i];
        while (k < layout->n_images && ids[k] != NO_TRANSFORM)
            k++;
        if (!is_shown && k < layout->n_images)
            ids[k] = p->ids[i];
    }
    if (orbit_groups_cut(p->groups, &p->lanes->result->findings, err) != 0)
        return -1;
    p->lanes->result->is_expanded = true;
    return text_append(&p->lanes->result->note, err, "expanded, %u images per source, %s",
                       layout->n_images, layout_text(layout).text);
}

/* Take the layout that is told, whether or not the rows show it. */
static int take_told(struct probe *p, struct error *err)
{
    struct layout layout = {.n_images = p->n_ids, .n_sources = p->lanes->shard->n_rows / p->n_ids};

    layout.block_rows = p->block_rows > 0 ? p->block_rows : layout.n_sources;
    for (uint32_t k = 0; k < p->n_ids; k++)
        layout.ids[k] = p->ids[k];
    return take_layout(p, &layout, err);
}

/* --- positions without a layout --- */

/* What the rows say about positions and their images. */
struct classes {
    uint32_t n_images; /* that most positions have; 0: most have none */
    double saved;      /* share of the rows that repeat the position of another row */
    /* Positions seem to be listed one by one rather than expanded: symmetric ones have each of
     * their distinct images once, or the policies of images have nothing to do with each other. */
    bool is_enumeration;
    uint64_t n_alike; /* rows that repeat a position with other planes and the same policies */
};

/* List the first n rows, sorted by the shapes of their positions, which take the place of sources.
 * Those of one shape are sorted by row, or else by planes, of which a part of the hash takes the
 * place of the transform. NULL: err is set. */
static struct lane_image *list_rows(struct probe *p, uint64_t n, bool by_planes, struct error *err)
{
    const bool is_read = p->n >= n && p->rows[n - 1] == n - 1;
    const struct reader rows = {.arrays = &p->planes->array, .n_arrays = 1};
    struct lane_image *list;
    struct sketch one;
    struct walk walk;

    if (new_items(&list, n + 1, "list of rows", err) != 0)
        return NULL;
    walk_begin(&walk, &rows, is_read ? 0 : 1, p->lanes->request->settings->budget, err);
    for (uint64_t i = 0; i < n && (is_read || walk_next(&walk)); i++) {
        const struct sketch *sketch = is_read ? &p->sketches[i] : &one;

        if (!is_read)
            sketch_planes(&p->sketcher, walk.rows->bytes, &one);
        list[i] = (struct lane_image){.row = i,
                                      .source = sketch->shape,
                                      .transform = by_planes ? (uint32_t)sketch->planes : 0};
    }
    qsort(list, n, sizeof *list, lane_image_compare);
    if (walk_end(&walk) == 0)
        return list;
    free(list);
    return NULL;
}

/* The end of the class, the rows of one shape, that begins at `first` in a list of n rows. */
static uint64_t class_end(const struct lane_image *list, uint64_t first, uint64_t n)
{
    uint64_t end = first + 1;

    while (end < n && list[end].source == list[first].source)
        end++;
    return end;
}

/* Group the first rows by position, or all rows if they were read. */
static int find_classes(struct probe *probe, struct classes *classes, struct error *err)
{
    const uint64_t n = probe_is_whole(probe) ? probe->n_rows : probe->n_first;
    const uint32_t n_all = probe->planes->spec.n_steps / probe->sketcher.n_still;
    const struct sketch *sketches = probe->sketches;
    struct lane_image *list = list_rows(probe, n, true, err);
    uint64_t n_of[LAYOUT_MAX_IMAGES + 1] = {0}, n_good = 0, n_alike = 0, n_classes = 0;
    uint64_t n_once = 0, n_repeated = 0, n_saved = 0, first = 0;

    *classes = (struct classes){.n_images = 1};
    if (list == NULL)
        return -1;
    while (first < n && list[first].source == 0) /* nothing is known of these */
        first++;
    /* The first walk finds how many different rows most classes have; the second judges all by
     * that.
     */
    for (int walk = 0; walk < 2; walk++) {
        for (uint64_t i = first, end; i < n; i = end) {
            const struct sketch *base = &sketches[list[i].row];
            uint64_t n_different = 1;
            bool alike = true;

            end = class_end(list, i, n);
            for (uint64_t k = i + 1; k < end; k++) {
                const bool is_other = list[k].transform != list[k - 1].transform;
                const bool same = sketches[list[k].row].policy == base->policy;

                n_different += is_other;
                alike &= same;
                classes->n_alike += walk == 0 && is_other && same;
            }
            if (walk == 0 && n_different <= probe->max_images)
                n_of[n_different] += end - i;
            if (walk == 0)
                continue;
            const bool is_good = 4 * n_different >= 3 * classes->n_images;
            n_once += base->is_symmetric && end - i == n_different;
            n_repeated += base->is_symmetric && end - i > n_different;
            if (n_different == 1 && end - i > 1)
                continue;
            n_classes++;
            n_saved += end - i - 1;
            n_good += is_good;
            n_alike += is_good && alike;
        }
        for (uint32_t k = 2; walk == 0 && k <= probe->max_images; k++)
            classes->n_images = n_of[k] > n_of[classes->n_images] ? k : classes->n_images;
    }
    classes->is_enumeration =
        (n_once > n_repeated && 50 * n_once > n_classes && classes->n_images >= n_all) ||
        2 * n_alike < n_good;
    classes->saved = n > first ? (double)n_saved / (double)(n - first) : 0;
    if (classes->n_images < 2 || 2 * n_good <= n_classes || n_good * (classes->n_images - 1) < 3)
        classes->n_images = 0;
    free(list);
    return 0;
}

/* What is seen of a class: bits that are kept beside its first row. */
enum {
    LABELS_DIFFER = 1, /* a label is not that of the image */
    COPIES_DIFFER = 2, /* numbers differ that every image should repeat */
    IS_REPEATED = 4,   /* two rows are the same image */
    IS_RELATED = 8,    /* some row is an image of the first one */
    N_SEEN = 4
};

/* Name the images of the n rows of a class after its first row, and note what is seen. window->n is
 * n, or 0 if they are too many to be told apart. */
static int relate_class(struct probe *p, struct window *window, struct lane_image *list, uint64_t n,
                        struct error *err)
{
    const struct lanes *lanes = p->lanes;
    uint32_t seen = 0;

    for (uint64_t k = 0; k < window->n; k++)
        window->rows[k] = list[k].row;
    if (probe_read_window(window, err) != 0)
        return -1;
    for (uint64_t k = 0; k < n && !p->planes->is_broken; k++) {
        const struct orbit_pair planes = {window, (size_t)lanes->planes, 0, k, 0};
        const uint32_t t =
            window->n > 0 ? probe_relate_planes(&planes, p->groups->allowed) : NO_TRANSFORM;

        list[k].transform = t;
        seen |= k > 0 && t != NO_TRANSFORM ? IS_RELATED : 0;
        for (uint64_t m = 0; m < k && k < window->n && t != NO_TRANSFORM; m++)
            seen |= list[m].transform == t ? IS_REPEATED : 0;
        for (size_t i = 0; i < lanes->n && k > 0 && t != NO_TRANSFORM; i++) {
            const struct orbit_pair pair = {window, i, 0, k, 0};

            if (lane_is_compared(&lanes->items[i]) && !orbit_same(&pair, t, ORBIT_EXACT))
                seen |= lanes->items[i].binding->role == ROLE_COPY ? COPIES_DIFFER : LABELS_DIFFER;
        }
    }
    list[0].at = seen;
    return 0;
}

/* Which image the first of the n rows of a class is: one that makes all of them images that are
 * told; 0 if there is none, or if nothing is told. */
static uint32_t first_image(const struct probe *p, const struct lane_image *list, uint64_t n)
{
    const struct board *board = p->planes->spec.board;
    const bool *expected = p->groups->expected;

    for (uint32_t t = 0; p->groups->is_told && t < board->n_transforms; t++) {
        const uint8_t *then = &board->compose[t * board->n_transforms];
        uint64_t k = 0;

        while (k < n && (list[k].transform == NO_TRANSFORM || expected[then[list[k].transform]]))
            k++;
        if (k == n)
            return t;
    }
    return 0;
}

/* Group all rows by class: sources are numbers of classes, transforms are relative to the first row
 * of the class, whose own is the identity or one that makes all of them images that are told. A row
 * whose transform is ambiguous, by the position's own symmetry, is a group of its own. So are the
 * rows of a class that may hold one position from several sources, each with some of its images:
 * that is, if images are left out, and most other classes raise no such doubt or, for duplicate
 * images, the manifest says that rows are shuffled or left out.
 */
static int take_classes(struct probe *p, uint32_t n_images, struct error *err)
{
    const uint64_t n = p->n_rows, most = n_images + n_images / 2;
    const struct board *board = p->planes->spec.board;
    struct lane_image *list = list_rows(p, n, false, err);
    struct window window = {0};
    uint64_t n_sources = 0, n_all = 0, n_odd = 0, n_seen[N_SEEN] = {0}; /* classes */
    uint64_t n_left_out[2] = {0}; /* rows of positions that occur too often, or are symmetric */
    uint32_t doubts = 0;          /* which count */
    int status = list != NULL ? lanes_open(p->lanes, true, NULL, err) : -1;

    if (status == 0)
        status = window_init(&window, p->lanes, most, err);
    for (uint64_t i = 0, end; status == 0 && !p->planes->is_broken && i < n; i = end) {
        end = class_end(list, i, n);
        /* If a position has many more rows than images, nothing tells which row is whose image; a
         * few more are taken for duplicates. */
        window.n = end - i <= most ? end - i : 0;
        n_left_out[0] += end - i - window.n;
        status = relate_class(p, &window, list + i, end - i, err);
        n_odd += (end - i) % n_images != 0;
        n_all++;
        for (int k = 0; k < N_SEEN; k++)
            n_seen[k] += list[i].at >> k & 1;
    }
    const uint64_t n_classes = n_seen[N_SEEN - 1];
    const bool is_complete = n_odd <= 1 || 10 * n_odd <= n_all;
    for (int k = 0; k < N_SEEN - 1; k++)
        doubts |= 2 * n_seen[k] <= n_classes ? 1u << k : 0;
    doubts |= p->is_irregular ? IS_REPEATED : 0;
    for (uint64_t i = 0, end; status == 0 && i < n; i = end) {
        const uint64_t source = n_sources++;

        end = class_end(list, i, n);
        if (is_complete)
            list[i].at &= end - i != n_images ? ~(uint32_t)IS_REPEATED : 0;
        const bool is_open = (list[i].at & doubts) != 0;
        const uint8_t *then =
            &board->compose[first_image(p, list + i, end - i) * board->n_transforms];
        n_left_out[0] += is_open ? end - i : 0;
        for (uint64_t k = i; k < end; k++) {
            n_left_out[1] += !is_open && end - i <= most && list[k].transform == NO_TRANSFORM;
            if (is_open || list[k].transform == NO_TRANSFORM)
                list[k].transform = NO_TRANSFORM;
            else
                list[k].transform = then[list[k].transform];
            list[k].source = list[k].transform == NO_TRANSFORM ? n_sources++ : source;
        }
    }
    window_release(&window);
    if (status != 0 || p->planes->is_broken || n_classes == 0) {
        free(list);
        return status != 0 ? -1
                           : text_append(&p->lanes->result->note, err, "images not checked: %s",
                                         p->planes->is_broken
                                             ? "the planes cannot be read"
                                             : "nothing tells which rows of a position are images "
                                               "of one source");
    }
    qsort(list, n, sizeof *list, lane_image_compare);
    p->groups->entries = list;
    p->lanes->result->is_expanded = true;
    struct text_quoted left_out[2] = {0};

    for (int k = 0; k < 2; k++)
        if (n_left_out[k] > 0)
            left_out[k] = text_format("; %" PRIu64 " rows are not compared: their positions %s",
                                      n_left_out[k], k == 0 ? "occur too often" : "are symmetric");
    return text_append(&p->lanes->result->note, err,
                       "expanded, %u images per source, rows grouped by their positions%s%s",
                       n_images, left_out[0].text, left_out[1].text);
}

/* --- finding groups --- */

/* Decide whether all rows of each position are exact images of enough others, each there once: then
 * nothing is wrong with them, whatever their order, and a layout that finds faults is not theirs.
 * Symmetric positions, those that occur too often, and empty boards tell nothing. */
static int are_all_images(struct probe *p, uint32_t n_images, bool *are_exact, struct error *err)
{
    struct window window = {0};
    struct lane_image *list = list_rows(p, p->n, false, err);
    int status = list != NULL ? probe_read_all(p, &window, err) : -1;

    *are_exact = status == 0;
    for (uint64_t k = 0, first = 0, end = 0; *are_exact && k < p->n; k++) {
        const struct sketch *sketch = &p->sketches[list[k].row];
        uint64_t n_exact = 1;

        first = k < end ? first : k;
        end = k < end ? end : class_end(list, k, p->n);
        if (sketch->shape == 0 || sketch->is_symmetric || end - first > 2 * p->max_images)
            continue;
        for (uint64_t m = first; m < end && *are_exact; m++) {
            uint32_t u = m == k ? p->groups->n_transforms : 0;

            while (u < p->groups->n_transforms &&
                   !(p->groups->allowed[u] && orbit_same_row(&window, list[m].row, list[k].row, u)))
                u++;
            n_exact += u < p->groups->n_transforms;
            *are_exact = u > 0;
        }
        *are_exact &= 4 * n_exact >= 3 * n_images;
    }
    window_release(&window);
    free(list);
    return status;
}

/* Report rows each of which is there again and again: images that were never made. */
static int find_repeats(struct probe *p, bool *found, struct error *err)
{
    struct window window = {0};
    int status = 0;

    for (uint32_t n = p->max_images; n > 1 && !*found && status == 0; n--)
        for (int order = 0; order < 2 && !*found && p->n_rows % n == 0 && status == 0; order++) {
            struct layout layout = {.n_images = n, .n_sources = p->n_rows / n};

            layout.block_rows = order == 0 ? 1 : layout.n_sources;
            if (probe_repeats(p, &layout, NULL) && (status = probe_read_all(p, &window, err)) == 0)
                *found = probe_repeats(p, &layout, &window);
            window_release(&window);
            if (*found)
                findings_add(&p->lanes->result->findings,
                             ERROR_AT(FINDING_ORBIT_DUPLICATE, p->planes->array->key,
                                      layout_row(&layout, 0, 1)),
                             "each image once", "the same row again",
                             "every row is there %u times (%s), as if its images were never made",
                             n, layout_text(&layout).text);
        }
    return status;
}

static int take_found(struct probe *p, struct fit *fit, uint32_t n_classes, struct error *err)
{
    const uint32_t n = fit->layout.n_images;
    const char *key = p->planes->array->key;
    const bool is_box = fit->level == PROBE_BOX;
    const struct board *board = is_box ? p->sketcher.box : p->lanes->shard->found.board;
    char names[256] = "";

    /* Images under maps that are no symmetries of this board. */
    for (uint32_t k = 0; fit->is_confirmed && k < n; k++)
        if (fit->foreign[k] >= 0)
            text_add(names, sizeof names, "%s%s", names[0] != '\0' ? ", " : "",
                     board->transforms[fit->foreign[k]].name);
    if (names[0] != '\0')
        findings_add(
            &p->lanes->result->findings, ERROR_AT(FINDING_FOREIGN_SYMMETRY, key, FINDING_NO_ROW),
            "", "", "%u of %u images per source are %.100s: not %s", fit->n_foreign, n, names,
            is_box ? "symmetries of this board" : "exact images under these conventions (--tiles)");
    if (fit->is_confirmed || (fit->only_colours && p->planes->spec.codes))
        return p->lanes->shard->n_rows % n != 0
                   ? take_classes(p, n_classes > 0 ? n_classes : n, err)
                   : take_layout(p, &fit->layout, err);
    /* Rows that hold the same numbers but are no images of one another. */
    if (!fit->only_colours && fit->level >= PROBE_LABELS && fit->share >= 0.9)
        findings_add(&p->lanes->result->findings,
                     WARNING_AT(FINDING_ORBIT_PLANES, key, FINDING_NO_ROW), "", "",
                     fit->level == PROBE_POLICY
                         ? "every %u rows (%s) have the same policies, but unrelated planes"
                         : "every %u rows (%s) hold the same numbers, but are no images",
                     n, layout_text(&fit->layout).text);
    return 0;
}

/* Find groups by what the rows show. */
static int look(struct probe *p, struct error *err)
{
    struct verify_result *result = p->lanes->result;
    struct fit found, far = {0};
    struct classes classes = {0};
    bool are_exact = false;

    if (probe_explain(p, &found, err) != 0)
        return -1;
    const uint64_t block_rows = found.layout.block_rows;
    const bool is_near =
        found.is_confirmed && (p->n == p->n_rows || p->n / 2 >= found.layout.n_images * block_rows);
    /* Short blocks have all their images in the first rows. Else images are looked for in far rows.
     */
    if (!is_near && (probe_reach(p, block_rows, false, err) != 0 ||
                     (p->n > p->n_first && probe_explain(p, &far, err) != 0)))
        return -1;
    if (far.is_found &&
        (far.is_confirmed > found.is_confirmed ||
         (far.is_confirmed == found.is_confirmed && far.saved + CLEARLY_MORE > found.saved)))
        found = far;
    if (!p->planes->is_broken && find_classes(p, &classes, err) != 0)
        return -1;
    /* The images of shuffled rows are anywhere: if the first rows hold some, all rows are read. */
    if (!found.is_confirmed && !probe_is_whole(p) && classes.n_alike >= MIN_ALIKE &&
        (double)classes.n_alike * 8 * (double)p->n_rows >=
            (double)p->n_first * (double)p->n_first &&
        (probe_reach(p, block_rows, true, err) != 0 ||
         (!p->planes->is_broken && find_classes(p, &classes, err) != 0)))
        return -1;
    if (p->planes->is_broken)
        return text_append(&result->note, err, "images not checked: the planes cannot be read");
    bool is_repeated = false;
    if (!p->has_block && !found.is_confirmed && p->n_first == p->n_rows &&
        (find_repeats(p, &is_repeated, err) != 0 || is_repeated))
        return is_repeated ? 0 : -1;
    /* A layout contradicted by rows that are all right as classes. */
    if (!p->has_block && found.is_confirmed && !found.is_exact && found.level == PROBE_SHAPE &&
        classes.n_images > found.layout.n_images && p->n_first == p->n_rows) {
        if (are_all_images(p, classes.n_images, &are_exact, err) != 0)
            return -1;
        if (are_exact)
            return take_classes(p, classes.n_images, err);
    }
    if (found.is_confirmed &&
        (p->has_block || found.share > 0.9 || classes.n_images == 0 || classes.is_enumeration ||
         found.saved + CLEARLY_MORE > classes.saved))
        return take_found(p, &found, classes.n_images, err);
    if (p->has_block && p->n_rows % p->n_ids == 0)
        return take_told(p, err);
    if (found.is_found && found.only_colours)
        return take_found(p, &found, classes.n_images, err);
    if (p->groups->is_told || (classes.n_images > 0 && !classes.is_enumeration))
        return take_classes(p, p->groups->is_told ? p->n_ids : classes.n_images, err);
    if (classes.n_images > 0)
        return text_append(&result->note, err,
                           "not taken for an expanded set: every image of a position is listed "
                           "once, as in an enumeration; --transforms or --order says otherwise");
    return found.is_found ? take_found(p, &found, classes.n_images, err) : 0;
}

/* True when the manifest (or NULL) says that the output was cut into shards across groups: one
 * shard need not hold all images of a position. */
static bool is_cut(const json_t *manifest)
{
    const char *order = manifest_option(manifest, "order");

    return manifest_option(manifest, "rows-per-shard") != NULL &&
           (manifest_option(manifest, "shuffle") != NULL ||
            (order != NULL && strcmp(order, "transform") == 0));
}

/* Find groups without provenance arrays: by what is known beforehand, else by the rows. */
static int find_groups(struct probe *p, struct error *err)
{
    const struct shard *shard = p->lanes->shard;
    const struct settings *settings = p->lanes->request->settings;
    struct orbit_groups *groups = p->groups;
    const json_t *manifest = shard->recall.manifest;
    const char *order = manifest_option(manifest, "order"); /* or NULL */
    uint32_t n_allowed = 0;

    for (uint32_t t = 0; t < groups->n_transforms; t++) {
        groups->allowed[t] = spec_allows(shard->found.board, &shard->conventions, t);
        n_allowed += groups->allowed[t];
        if (groups->allowed[t] && !groups->is_told)
            p->ids[p->n_ids++] = t;
    }
    p->max_images = n_allowed > MOST_IMAGES ? n_allowed : MOST_IMAGES;
    if (json_array_size(json_object_get(manifest, "transforms")) > 0) {
        const bool is_sample = order != NULL && strcmp(order, "sample") == 0;

        p->is_irregular = is_cut(manifest) || manifest_option(manifest, "shuffle") != NULL ||
                          manifest_option(manifest, "unique") != NULL ||
                          manifest_option(manifest, "pick") != NULL;
        p->block_rows = is_sample;
        p->has_block = is_sample || (order != NULL && strcmp(order, "transform") == 0) ||
                       (order != NULL && strncmp(order, "block:", 6) == 0 &&
                        text_parse_u64(order + 6, &p->block_rows) == 0 && p->block_rows > 0);
    }
    if (settings->order_said) {
        p->block_rows = settings->block_rows;
        p->has_block = true;
        p->is_irregular = false;
    }
    if (p->n_ids < 2 || shard->n_rows == 0)
        return 0;
    if (manifest_option(manifest, "canonical") != NULL)
        return text_append(&p->lanes->result->note, err,
                           "images not checked: one of each source, as its manifest says");
    if (!p->is_irregular && manifest != NULL && p->groups->is_told && p->has_block &&
        shard->n_rows % p->n_ids == 0)
        return take_told(p, err);
    int status = probe_open(p, err);
    if (status == 0)
        status = p->is_irregular ? take_classes(p, p->n_ids, err) : look(p, err);
    probe_close(p);
    return status;
}

static bool is_numbers(const struct shard *shard, const char *key)
{
    const struct array *array = archive_in_find(&shard->archive, key);

    return array != NULL && dtype_is_integer(&array->header.dtype) && array->header.n_dims == 1 &&
           array->n_rows == shard->n_rows;
}

int explain_set(struct orbit_groups *groups, struct lanes *lanes, uint64_t max_nbytes,
                struct error *err)
{
    const struct shard *shard = lanes->shard;
    const struct settings *settings = lanes->request->settings;
    const json_t *manifest = shard->recall.manifest;
    const json_t *transforms = json_object_get(manifest, "transforms");
    struct verify_result *result = lanes->result;
    struct probe p = {.lanes = lanes, .groups = groups};
    struct plan plan = {.board = shard->found.board, .conventions = shard->conventions};
    const bool is_known = shard_known_board(shard) != NULL;
    const bool is_expansion =
        is_numbers(shard, PLAN_SOURCE_KEY) && is_numbers(shard, PLAN_TRANSFORM_KEY);
    const char *note = "not recognised as an expanded set, checked row by row";
    int status = 0;

    *groups = (struct orbit_groups){
        .n_rows = shard->n_rows,
        .max_held = max_nbytes / (lanes->row_nbytes + (lanes->row_nbytes == 0)),
        .layout = {.n_images = 1, .block_rows = 1, .n_sources = shard->n_rows}};
    if (lanes->planes >= 0 && lanes->items[lanes->planes].is_mapped &&
        lanes->items[lanes->planes].spec.kind != SPEC_KEEP)
        p.planes = &lanes->items[lanes->planes];
    if (settings->not_expanded) {
        note = "a source, as told";
    } else if (!is_known) {
        note = is_expansion ? "expanded, but its images are not checked: the board is not known, "
                              "use --board"
                            : "images not checked: the board is not known, use --board";
    } else {
        groups->n_transforms = plan.board->n_transforms;
        if (settings->transforms != NULL)
            status = choose_transforms(&plan, settings->transforms, err);
        groups->is_told = plan.n_chosen > 0 || json_array_size(transforms) > 0;
        groups->expects = groups->is_told && manifest_option(manifest, "pick") == NULL &&
                          manifest_option(manifest, "canonical") == NULL && !is_cut(manifest);
        for (; p.n_ids < plan.n_chosen; p.n_ids++)
            p.ids[p.n_ids] = plan.chosen[p.n_ids];
        for (size_t i = 0; plan.n_chosen == 0 && i < json_array_size(transforms); i++) {
            const uint64_t id = manifest_number(json_array_get(transforms, i), "id");

            if (id < groups->n_transforms && p.n_ids < LAYOUT_MAX_IMAGES)
                p.ids[p.n_ids++] = (uint32_t)id;
        }
        for (uint32_t k = 0; k < p.n_ids; k++)
            groups->expected[p.ids[k]] = true;
        if (status == 0 && is_expansion) {
            memset(groups->allowed, true, sizeof groups->allowed);
            groups->source = archive_in_find(&shard->archive, PLAN_SOURCE_KEY);
            groups->transform = archive_in_find(&shard->archive, PLAN_TRANSFORM_KEY);
            status = orbit_groups_cut(groups, &result->findings, err);
            result->is_expanded = status == 0;
        } else if (p.planes == NULL) {
            note = "images not checked: there are no planes of the board";
        } else if (status == 0) {
            status = find_groups(&p, err);
        }
    }
    return status != 0 || result->is_expanded || result->note.text != NULL
               ? status
               : text_append(&result->note, err, "%s", note);
}
