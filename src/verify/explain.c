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

#include "base/text.h"
#include "positions/key.h"

#define MIN_ALIKE   3  /* rows that must look like images of others */
#define MOST_IMAGES 64 /* per source that are looked for, unless the board has more transforms */

/* --- layouts --- */

static struct text_quoted order_text(const struct layout *layout)
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

static int take_layout(struct probe *p, const struct layout *layout, uint32_t *ids,
                       struct error *err)
{
    /* Transforms that are told but shown by no image go to the images that show none, in order. */
    for (uint32_t i = 0, k = 0; p->ids_are_told && i < p->n_ids; i++) {
        bool is_shown = false;

        for (uint32_t j = 0; j < layout->n_images; j++)
            is_shown |= ids[j] == p->ids[i];
        while (k < layout->n_images && ids[k] != NO_TRANSFORM)
            k++;
        if (!is_shown && k < layout->n_images)
            ids[k] = p->ids[i];
    }
    p->groups->layout = *layout;
    memcpy(p->groups->ids, ids, layout->n_images * sizeof *ids);
    if (orbit_groups_cut(p->groups, &p->lanes->result->findings, err) != 0)
        return -1;
    p->lanes->result->is_expanded = true;
    return verify_note(p->lanes->result, err, "expanded, %u images per source, %s",
                       layout->n_images, order_text(layout).text);
}

/* Take the layout that is told, whether or not the rows show it. */
static int take_told(struct probe *p, struct error *err)
{
    struct layout layout = {.n_images = p->n_ids, .n_sources = p->lanes->shard->n_rows / p->n_ids};

    layout.block_rows = p->block_rows > 0 ? p->block_rows : layout.n_sources;
    return take_layout(p, &layout, p->ids, err);
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

static int compare_sketches(const void *left, const void *right)
{
    const struct sketch *a = left, *b = right;

    if (a->shape != b->shape)
        return order_of(a->shape, b->shape);
    return a->planes != b->planes ? order_of(a->planes, b->planes) : order_of(a->policy, b->policy);
}

/* Group the first rows by position, or all rows if they were read. */
static int find_classes(const struct probe *probe, struct classes *classes, struct error *err)
{
    const uint64_t n_read = probe_is_whole(probe) ? probe->n_rows : probe->n;
    const uint32_t n_all = probe->planes->spec.n_steps / probe->sketcher.n_still;
    struct sketch *list = calloc(n_read + 1, sizeof *list);
    uint64_t n_of[LAYOUT_MAX_IMAGES + 1] = {0}, n_good = 0, n_alike = 0, n_classes = 0;
    uint64_t n_once = 0, n_repeated = 0, n_saved = 0, n = 0;

    *classes = (struct classes){.n_images = 1};
    if (list == NULL)
        return error_no_memory(err, "rows of a set");
    for (uint64_t i = 0; i < n_read; i++)
        if (probe->sketches[i].shape != 0)
            list[n++] = probe->sketches[i];
    qsort(list, n, sizeof *list, compare_sketches);
    /* The first walk finds how many different rows most classes have; the second judges all by
     * that.
     */
    for (int walk = 0; walk < 2; walk++) {
        for (uint64_t i = 0, end; i < n; i = end) {
            uint64_t n_different = 1;
            bool alike = true;

            for (end = i + 1; end < n && list[end].shape == list[i].shape; end++) {
                const bool is_other = list[end].planes != list[end - 1].planes;

                n_different += is_other;
                alike &= list[end].policy == list[i].policy;
                classes->n_alike += walk == 0 && is_other && list[end].policy == list[i].policy;
            }
            if (walk == 0 && n_different <= probe->max_images)
                n_of[n_different] += end - i;
            if (walk == 0)
                continue;
            const bool is_good = 4 * n_different >= 3 * classes->n_images;
            n_once += list[i].is_symmetric && end - i == n_different;
            n_repeated += list[i].is_symmetric && end - i > n_different;
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
    classes->saved = n > 0 ? (double)n_saved / (double)n : 0;
    if (classes->n_images < 2 || 2 * n_good <= n_classes || n_good * (classes->n_images - 1) < 3)
        classes->n_images = 0;
    free(list);
    return 0;
}

/* List all rows, sorted by the shapes of their positions, which take the place of sources. */
static int list_by_shape(struct probe *p, struct lane_image *list, struct error *err)
{
    const bool is_whole = probe_is_whole(p);
    const struct reader rows = {.arrays = &p->planes->array, .n_arrays = 1};
    struct sketch sketch;
    struct walk walk;

    walk_begin(&walk, &rows, is_whole ? 0 : 1, p->lanes->request->settings->budget, err);
    for (uint64_t i = 0; i < p->n_rows && (is_whole || walk_next(&walk)); i++) {
        if (!is_whole)
            sketch_planes(&p->sketcher, walk.rows->bytes, &sketch);
        list[i] =
            (struct lane_image){.row = i, .source = is_whole ? p->sketches[i].shape : sketch.shape};
    }
    qsort(list, p->n_rows, sizeof *list, lane_image_compare);
    return walk_end(&walk);
}

#define DOUBT       1u /* a label is not that of the image */
#define COPY_DOUBTS 2u /* numbers differ that every image should repeat */
#define REPEATS     4u /* two rows are the same image */

/* The doubts that the rows of a window, of one shape, are images of one source. */
static uint32_t doubts_of(const struct window *window, const struct lane_image *list)
{
    const struct lanes *lanes = window->lanes;
    uint32_t doubts = 0;

    for (uint64_t k = 1; k < window->n; k++) {
        for (uint64_t m = 0; m < k && list[k].transform != NO_TRANSFORM; m++)
            doubts |= list[m].transform == list[k].transform ? REPEATS : 0;
        for (size_t i = 0; i < lanes->n && list[k].transform != NO_TRANSFORM; i++) {
            const struct orbit_pair pair = {window, i, 0, k, 0};

            if (lane_is_compared(&lanes->items[i]) &&
                !orbit_same(&pair, list[k].transform, ORBIT_EXACT))
                doubts |= lanes->items[i].binding->role == ROLE_COPY ? COPY_DOUBTS : DOUBT;
        }
    }
    return doubts;
}

/* Group all rows by class: sources are numbers of classes, transforms are relative to the first row
 * of the class. A row whose transform is ambiguous, by the position's own symmetry, is a group of
 * its own. So are the rows of a class that may hold one position from several sources, each with
 * some of its images: that is, if images are left out, and most other classes raise no such doubt
 * or, for duplicate images, the manifest says that rows are shuffled or left out.
 */
static int take_classes(struct probe *p, uint32_t n_images, struct error *err)
{
    const uint64_t n = p->n_rows, most = n_images + n_images / 2;
    struct lane_image *list = calloc(n + 1, sizeof *list);
    struct window window = {0};
    uint64_t n_sources = 0, n_all = 0, n_odd = 0, n_classes = 0, n_doubtful[REPEATS + 1] = {0};
    uint64_t n_crowded = 0; /* rows of positions that are not compared */
    int status =
        list != NULL ? list_by_shape(p, list, err) : error_no_memory(err, "list of all images");

    if (status == 0)
        status = lanes_open(p->lanes, true, NULL, err);
    if (status == 0)
        status = window_init(&window, p->lanes, most, err);
    for (uint64_t i = 0, end; status == 0 && i < n; i = end) {
        bool is_related = false;

        for (end = i; end < n && list[end].source == list[i].source; end++)
            if (end - i < most)
                window.rows[end - i] = list[end].row;
        /* If a position has many more rows than images, nothing tells which row is whose image; a
         * few more are taken for duplicates. */
        window.n = end - i <= most ? end - i : 0;
        n_crowded += end - i - window.n;
        status = probe_read_window(p, &window, NULL, err);
        if (status == 0 && p->planes->is_broken)
            break;
        for (uint64_t k = i; k < end && status == 0; k++) {
            const struct orbit_pair pair = {&window, (size_t)p->lanes->planes, 0, k - i, 0};

            list[k].transform =
                window.n > 0 ? probe_relate_planes(&pair, p->groups->allowed) : NO_TRANSFORM;
            is_related |= k > i && list[k].transform != NO_TRANSFORM;
        }
        list[i].at = is_related ? doubts_of(&window, &list[i]) : 0;
        n_classes += is_related;
        n_odd += (end - i) % n_images != 0;
        n_all++;
        for (uint32_t doubt = DOUBT; doubt <= REPEATS; doubt <<= 1)
            n_doubtful[doubt] += (list[i].at & doubt) != 0;
    }
    const bool is_complete = n_odd <= 1 || 10 * n_odd <= n_all;
    for (uint64_t i = 0, end; status == 0 && i < n; i = end) {
        const uint64_t shape = list[i].source, source = n_sources++;
        bool is_open = false;

        for (end = i + 1; end < n && list[end].source == shape;)
            end++;
        for (uint32_t doubt = DOUBT; doubt <= REPEATS; doubt <<= 1)
            is_open |=
                (list[i].at & doubt) != 0 &&
                (2 * n_doubtful[doubt] <= n_classes || (doubt == REPEATS && p->is_irregular)) &&
                (!is_complete || (end - i != n_images && doubt != REPEATS));
        n_crowded += is_open ? end - i : 0;
        for (uint64_t k = i; k < end; k++) {
            list[k].transform = is_open ? NO_TRANSFORM : list[k].transform;
            list[k].source = list[k].transform == NO_TRANSFORM ? n_sources++ : source;
        }
    }
    window_release(&window);
    if (status != 0 || p->planes->is_broken || n_classes == 0) {
        free(list);
        return status != 0 ? -1
                           : verify_note(p->lanes->result, err, "images not checked: %s",
                                         p->planes->is_broken
                                             ? "the planes cannot be read"
                                             : "nothing tells which rows of a position are images "
                                               "of one source");
    }
    qsort(list, n, sizeof *list, lane_image_compare);
    p->groups->entries = list;
    p->lanes->result->is_expanded = true;
    struct text_quoted left_out = {0};

    if (n_crowded > 0)
        left_out = text_format(
            "; %" PRIu64 " rows are not compared: their positions occur too often", n_crowded);
    return verify_note(p->lanes->result, err,
                       "expanded, %u images per source, rows grouped by their positions%s",
                       n_images, left_out.text);
}

/* --- finding groups --- */

/* True when all rows of each position are exact images of its first row: then nothing is wrong with
 * them, whatever their order, and a layout that finds faults is not theirs. */
static bool are_all_images(const struct probe *p)
{
    for (uint64_t i = 0; i < p->n; i++) {
        uint64_t first = 0;
        uint32_t u = 0;

        while (p->sketches[first].shape != p->sketches[i].shape)
            first++;
        while (u < p->groups->n_transforms &&
               !(p->groups->allowed[u] && orbit_same_row(&p->window, first, i, u)))
            u++;
        if (u == p->groups->n_transforms)
            return false;
    }
    return p->n == p->n_rows;
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
                   : take_layout(p, &fit->layout, fit->ids, err);
    /* Rows that hold the same numbers but are no images of one another. */
    if (!fit->only_colours && fit->level >= PROBE_LABELS && fit->share >= 0.9)
        findings_add(&p->lanes->result->findings,
                     WARNING_AT(FINDING_ORBIT_PLANES, key, FINDING_NO_ROW), "", "",
                     "every %u rows (%s) have the same policies, but unrelated planes", n,
                     order_text(&fit->layout).text);
    return 0;
}

/* Find groups by what the rows show. */
static int look(struct probe *p, struct error *err)
{
    struct verify_result *result = p->lanes->result;
    struct fit found, far = {0}, alike;
    struct classes classes = {0};

    if (probe_explain(p, &found, err) != 0)
        return -1;
    const uint64_t block_rows = found.layout.block_rows;
    const bool is_near = found.is_confirmed && (p->n == p->n_rows || p->n_far > 0 ||
                                                p->n / 2 >= found.layout.n_images * block_rows);
    /* Short blocks have all their images in the first rows. Else images are looked for in far rows;
     * policies of these are read only if their planes hold the same numbers, for then planes may
     * never have been moved. */
    if (!is_near && probe_reach(p, block_rows, false, err) != 0)
        return -1;
    if (!is_near && p->n_far > 0) {
        if (probe_explain(p, &far, err) != 0 || probe_find(p, PROBE_LABELS, &alike, err) != 0)
            return -1;
        if (alike.is_found && (!far.is_confirmed || alike.saved > far.saved + CLEARLY_MORE) &&
            (probe_reach(p, block_rows, true, err) != 0 || probe_explain(p, &far, err) != 0))
            return -1;
        if (far.is_found &&
            (far.is_confirmed > found.is_confirmed ||
             (far.is_confirmed == found.is_confirmed && far.saved + CLEARLY_MORE > found.saved)))
            found = far;
    }
    if (!p->planes->is_broken && find_classes(p, &classes, err) != 0)
        return -1;
    /* The images of shuffled rows are anywhere: if the first rows hold some, all rows are read. */
    if (!found.is_confirmed && !probe_is_whole(p) && classes.n_alike >= MIN_ALIKE &&
        (double)classes.n_alike * 8 * (double)p->n_rows >= (double)p->n * (double)p->n) {
        p->may_be_shuffled = true;
        if (probe_reach(p, block_rows, true, err) != 0 ||
            (!p->planes->is_broken && find_classes(p, &classes, err) != 0))
            return -1;
    }
    if (p->planes->is_broken)
        return verify_note(result, err, "images not checked: the planes cannot be read");
    /* A layout with too few images, contradicted by rows that are all right as classes. */
    if (!p->has_block && found.is_confirmed && !found.is_exact &&
        classes.n_images > found.layout.n_images && classes.saved > found.saved &&
        are_all_images(p))
        return take_classes(p, classes.n_images, err);
    if (found.is_confirmed &&
        (p->has_block || found.share > 0.9 || classes.n_images == 0 || classes.is_enumeration ||
         found.saved + CLEARLY_MORE > classes.saved))
        return take_found(p, &found, classes.n_images, err);
    if (p->has_block && p->n_rows % p->n_ids == 0)
        return take_told(p, err);
    if (found.is_found && found.only_colours)
        return take_found(p, &found, classes.n_images, err);
    if (p->ids_are_told || (classes.n_images > 0 && !classes.is_enumeration))
        return take_classes(p, p->ids_are_told ? p->n_ids : classes.n_images, err);
    if (classes.n_images > 0)
        return verify_note(result, err,
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
    uint8_t exact[BOARD_MAX_TRANSFORMS] = {0};
    const uint32_t n_exact = key_ids(shard->found.board, &shard->conventions, exact);
    const uint8_t *ids = groups->is_told ? groups->told : exact;

    for (uint32_t k = 0; k < n_exact; k++)
        groups->allowed[exact[k]] = true;
    p->ids_are_told = groups->is_told;
    p->n_ids = groups->is_told ? groups->n_told : n_exact;
    p->max_images = n_exact > MOST_IMAGES ? n_exact : MOST_IMAGES;
    for (uint32_t k = 0; k < p->n_ids; k++)
        p->ids[k] = ids[k];
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
        return verify_note(p->lanes->result, err,
                           "images not checked: one of each source, as its manifest says");
    if (!p->is_irregular && manifest != NULL && p->ids_are_told && p->has_block &&
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
        if (status == 0 && plan.n_chosen > 0)
            memcpy(groups->told, plan.chosen, plan.n_chosen);
        groups->n_told = plan.n_chosen;
        groups->may_lack = manifest_option(manifest, "pick") != NULL ||
                           manifest_option(manifest, "canonical") != NULL || is_cut(manifest);
        groups->is_told = plan.n_chosen > 0 || json_array_size(transforms) > 0;
        for (size_t i = 0; plan.n_chosen == 0 && i < json_array_size(transforms); i++) {
            const uint64_t id = manifest_number(json_array_get(transforms, i), "id");

            if (id < groups->n_transforms && groups->n_told < BOARD_MAX_TRANSFORMS)
                groups->told[groups->n_told++] = (uint8_t)id;
        }
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
    return status != 0 || result->is_expanded || result->note != NULL
               ? status
               : verify_note(result, err, "%s", note);
}
