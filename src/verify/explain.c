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

#include "engine/plan.h"

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

/* --- finding groups --- */

/* True when every row is there n times, one after the other or all rows in turn, and not all are
 * the same: by their sketches, or in all arrays where a window holds all rows (else NULL). */
static bool are_repeated(const struct probe *p, uint32_t n, bool in_turn, const struct window *all)
{
    const struct sketch *sketches = p->sketches;
    uint64_t n_different = 0;

    for (uint64_t i = 1; i < p->n_rows; i++) {
        const uint64_t base = in_turn ? i % (p->n_rows / n) : i - i % n;

        if (sketches[i].planes != sketches[base].planes ||
            (all != NULL && !orbit_same_row(all, base, i, 0)))
            return false;
        n_different += sketches[i].planes != sketches[i - 1].planes;
    }
    return n_different > 2;
}

/* Report rows each of which is there again and again: images that were never made. */
static int find_repeats(struct probe *p, bool *found, struct error *err)
{
    struct window window = {0};
    int status = 0;

    for (uint32_t k = 2 * p->max_images + 1; k > 3 && !*found && status == 0; k--) {
        const uint32_t n = k / 2;
        const bool in_turn = k % 2 == 0;

        if (p->n_rows % n != 0 || !are_repeated(p, n, in_turn, NULL))
            continue;
        status = probe_read_all(p, &window, err);
        *found = status == 0 && are_repeated(p, n, in_turn, &window);
        window_release(&window);
        if (*found)
            findings_add(&p->lanes->result->findings,
                         ERROR_AT(FINDING_ORBIT_DUPLICATE, p->planes->array->key,
                                  in_turn ? p->n_rows / n : 1),
                         "each image once", "the same row again",
                         "every row is there %u times (%s order), as if its images were never made",
                         n, in_turn ? "transform" : "sample");
    }
    return status;
}

static int take_found(struct probe *p, struct fit *fit, uint32_t n_classes, struct error *err)
{
    const uint32_t n = fit->layout.n_images;
    const char *key = p->planes->array->key;
    const bool is_box = fit->level == PROBE_BOX;
    uint64_t n_telling = 0; /* rows whose policies tell them apart */
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
                   ? classes_take(p, n_classes > 0 ? n_classes : n, false, err)
                   : take_layout(p, &fit->layout, err);
    /* Rows that hold the same numbers but are no images of one another. Beside single moves these
     * are no more than numbers of stones, which games of equal length have in common. */
    for (uint64_t i = 0; i < p->n_first; i++)
        n_telling += !p->sketches[i].is_level;
    if (!fit->only_colours && fit->level >= PROBE_STILL && fit->share >= 0.9 &&
        2 * n_telling > p->n_first)
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
    struct classes classes = {0}, alike;
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
    if (!p->planes->is_broken && classes_find(p, &classes, err) != 0)
        return -1;
    /* The images of shuffled rows are anywhere: if the first rows hold some, all rows are read,
     * with their policies, by which the classes of an enumeration are told from images. */
    if (!found.is_confirmed && !(probe_is_whole(p) && p->has_labels) &&
        classes.n_alike >= MIN_ALIKE &&
        (double)classes.n_alike * 8 * (double)p->n_rows >=
            (double)p->n_first * (double)p->n_first &&
        (probe_reach(p, block_rows, true, err) != 0 ||
         (!p->planes->is_broken && classes_find(p, &classes, err) != 0)))
        return -1;
    if (p->planes->is_broken)
        return text_append(&result->note, err, "images not checked: the planes cannot be read");
    const bool is_layout = found.is_confirmed && p->n_rows % found.layout.n_images == 0;
    if (!p->has_block && !is_layout && p->n_first == p->n_rows) {
        bool is_repeated = false;

        if (find_repeats(p, &is_repeated, err) != 0 || is_repeated)
            return is_repeated ? 0 : -1;
        /* Wrong planes of any order: policies tell which rows are images of one source. */
        if (classes_find_alike(p, &alike, err) != 0)
            return -1;
        if (alike.n_images > classes.n_usual && alike.saved > classes.saved + CLEARLY_MORE &&
            (classes_take(p, alike.n_images, true, err) != 0 || result->is_expanded))
            return result->is_expanded ? 0 : -1;
    }
    /* A layout contradicted by rows that are all right as classes. */
    if (!p->has_block && found.is_confirmed && !found.is_exact && classes.n_usual > 1 &&
        p->n_first == p->n_rows) {
        if (classes_are_exact(p, &found.layout, classes.n_usual, &are_exact, err) != 0)
            return -1;
        if (are_exact)
            return classes_take(p, classes.n_usual, false, err);
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
        return classes_take(p, p->groups->is_told ? p->n_ids : classes.n_images, false, err);
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
        status = p->is_irregular ? classes_take(p, p->n_ids, false, err) : look(p, err);
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
