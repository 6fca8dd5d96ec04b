/*
 * explain.c - is a set an expanded one, and which of its rows belong together?
 *
 * What is told comes first: provenance arrays, then the manifest, then the command line. Else the
 * rows are looked at: for stones whose shape repeats under the symmetries of the board, then under
 * those of its box (images that are none), then for planes and policies that hold the same numbers
 * (planes that were never moved), and last for positions that have all their images in no order.
 */
#include "verify/explain.h"

#include "base/text.h"
#include "engine/plan.h"
#include "positions/key.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CLEARLY_MORE 0.05 /* of the rows are explained */

/* What is known before any row is looked at, and what is found. */
struct detection {
    const struct shard *shard;
    struct lanes *lanes;
    struct orbit_groups *groups;
    struct verify_result *result;
    struct probe probe;
    bool allowed[BOARD_MAX_TRANSFORMS]; /* images that are exact under the conventions */
    uint32_t ids[LAYOUT_MAX_IMAGES];    /* told, or all that are allowed */
    uint32_t n_ids;
    bool ids_are_told;
    bool has_block; /* the block is told */
    uint64_t block_rows;
    bool is_irregular; /* the manifest says that rows are shuffled or left out */
};

/* --- what is told --- */

static void take_ids(struct detection *d, const uint8_t *ids, uint32_t n)
{
    d->n_ids = n < LAYOUT_MAX_IMAGES ? n : LAYOUT_MAX_IMAGES;
    for (uint32_t k = 0; k < d->n_ids; k++)
        d->ids[k] = ids[k];
}

/* The order in the manifest, which it need not name. */
static void read_order(struct detection *d, const char *order)
{
    d->block_rows = 0;
    d->has_block =
        order != NULL && (strcmp(order, "transform") == 0 || strcmp(order, "sample") == 0 ||
                          (strncmp(order, "block:", 6) == 0 &&
                           text_parse_u64(order + 6, &d->block_rows) == 0 && d->block_rows > 0));
    if (d->has_block && strcmp(order, "sample") == 0)
        d->block_rows = 1;
}

static void read_told(struct detection *d)
{
    static const char *const irregular[] = {"shuffle", "unique", "pick", "canonical"};
    const struct settings *settings = d->lanes->request->settings;
    const struct manifest *manifest = d->shard->recall.manifest;
    uint8_t exact[BOARD_MAX_TRANSFORMS] = {0};

    take_ids(d, exact, key_ids(d->shard->found.board, &d->shard->conventions, exact));
    for (uint32_t k = 0; k < d->n_ids; k++)
        d->allowed[d->ids[k]] = true;
    if (manifest != NULL && manifest->n_transforms > 0) {
        d->n_ids = 0;
        for (size_t i = 0; i < manifest->n_transforms && d->n_ids < LAYOUT_MAX_IMAGES; i++)
            if (manifest->transforms[i].id < BOARD_MAX_TRANSFORMS)
                d->ids[d->n_ids++] = (uint32_t)manifest->transforms[i].id;
        d->ids_are_told = true;
        d->is_irregular = orbit_groups_are_cut(manifest);
        for (size_t i = 0; i < 3; i++)
            d->is_irregular |= manifest_option(manifest, irregular[i]) != NULL;
        read_order(d, manifest_option(manifest, "order"));
    }
    if (d->groups->n_told > 0) {
        take_ids(d, d->groups->told, d->groups->n_told);
        d->ids_are_told = true;
    }
    if (settings->order_said) {
        d->block_rows = settings->block_rows;
        d->has_block = true;
        d->is_irregular = false;
    }
}

/* --- saying it --- */

static int __attribute__((format(printf, 3, 4)))
set_note(struct detection *d, struct error *err, const char *format, ...)
{
    va_list args;
    int n;

    free(d->result->note);
    va_start(args, format);
    n = vasprintf(&d->result->note, format, args);
    va_end(args);
    if (n >= 0)
        return 0;
    d->result->note = NULL;
    return error_no_memory(err, "note");
}

static struct finding_text order_text(const struct layout *layout)
{
    if (layout->games != NULL)
        return finding_format("%llu blocks of different lengths",
                              (unsigned long long)layout->n_games);
    if (layout->originals_first)
        return finding_format("all sources first, then the other images of each");
    if (layout->block_rows >= layout->n_sources && layout->n_sources > 1)
        return finding_format("transform order");
    if (layout->block_rows == 1)
        return finding_format("sample order");
    return finding_format("blocks of %llu", (unsigned long long)layout->block_rows);
}

static struct finding_place place_of(const struct detection *d, enum finding_code code)
{
    return (struct finding_place){code, code == FINDING_ORBIT_PLANES,
                                  d->lanes->items[d->lanes->planes].array->key, FINDING_NO_ROW};
}

/* Images under maps that are no symmetries of this board. */
static void report_foreign(struct detection *d, const struct fit *fit)
{
    const struct board *board = d->shard->found.board;
    const struct finding_place place = place_of(d, FINDING_FOREIGN_SYMMETRY);
    char names[256] = "";
    uint32_t n = 0;

    for (uint32_t k = 0; k < fit->layout.n_images; k++) {
        const size_t used = strlen(names);

        if (fit->foreign[k] < 0)
            continue;
        snprintf(names + used, sizeof names - used, "%s%s", n > 0 ? ", " : "",
                 fit->level == PROBE_BOX ? sketch_box_names[fit->foreign[k]]
                                         : board->transforms[fit->foreign[k]].name);
        n++;
    }
    if (n > 0)
        findings_add(&d->result->findings, &place, "", "",
                     "%u of %u images per source are %.100s, no %s", n, fit->layout.n_images, names,
                     fit->level == PROBE_BOX ? "symmetries of this board"
                                             : "exact images under these conventions (--tiles)");
}

/* --- taking groups --- */

/* Transforms that are told but that no image shows are those of the images that show none. */
static void complete_ids(const struct detection *d, const struct layout *layout, uint32_t *ids)
{
    for (uint32_t i = 0, k = 0; d->ids_are_told && i < d->n_ids; i++) {
        bool is_shown = false;

        for (uint32_t j = 0; j < layout->n_images; j++)
            is_shown |= ids[j] == d->ids[i];
        while (k < layout->n_images && ids[k] != ORBIT_NO_TRANSFORM)
            k++;
        if (!is_shown && k < layout->n_images)
            ids[k] = d->ids[i];
    }
}

static int take_layout(struct detection *d, const struct layout *layout, uint32_t *ids,
                       struct error *err)
{
    complete_ids(d, layout, ids);
    if (orbit_groups_of_layout(d->groups, layout, ids, err) != 0)
        return -1;
    d->result->is_expanded = true;
    return set_note(d, err, "expanded, %u images per source, %s", layout->n_images,
                    order_text(layout).text);
}

static int take_classes(struct detection *d, uint32_t n_images, struct error *err)
{
    struct lane_image *entries;

    if (classes_list(&d->probe, n_images, &entries, err) != 0)
        return -1;
    orbit_groups_of_entries(d->groups, entries);
    d->result->is_expanded = true;
    return set_note(d, err, "expanded, %u images per source, rows grouped by their positions",
                    n_images);
}

/* The layout that is told, whether or not it is found. */
static int take_told(struct detection *d, struct error *err)
{
    struct layout layout = {.n_images = d->n_ids, .n_sources = d->shard->n_rows / d->n_ids};

    layout.block_rows = d->block_rows > 0 ? d->block_rows : layout.n_sources;
    return take_layout(d, &layout, d->ids, err);
}

/* --- finding them --- */

static bool is_found(const struct fit *fit)
{
    return fit->share > 0.5;
}

/* Do most images of the layout show a transform, or a map that is none here? Numbers that are equal
 * prove less than shapes. */
static bool is_confirmed(const struct fit *fit)
{
    bool is_foreign = false;

    for (uint32_t k = 0; k < fit->layout.n_images; k++)
        is_foreign |= fit->foreign[k] >= 0;
    return is_found(fit) && fit->level != PROBE_POLICY && fit->n_pairs > 0 &&
           (is_foreign || (fit->level < PROBE_LABELS ? 2 * fit->n_moved >= fit->n_pairs
                                                     : 10 * fit->n_moved >= 8 * fit->n_pairs));
}

/* The layout that explains most rows, at any level; of the planes where only those were read. */
static int find_layout(struct detection *d, struct fit *best, struct error *err)
{
    const int end = d->probe.n_far > 0 && !d->probe.has_labels ? PROBE_LABELS : PROBE_N_LEVELS;

    *best = (struct fit){0};
    for (int level = 0; level < end; level++) {
        struct fit fit;

        if ((level == PROBE_POLICY && is_found(best)) ||
            (level == PROBE_BOX && !d->probe.sketcher.has_box))
            continue;
        if (probe_find(&d->probe, (enum probe_level)level, &fit, err) != 0 ||
            (is_found(&fit) && votes_take(&d->probe, &fit, err) != 0))
            return -1;
        if (is_found(&fit) && fit.saved > best->saved + CLEARLY_MORE &&
            is_confirmed(&fit) >= is_confirmed(best))
            *best = fit;
    }
    return 0;
}

static int take_found(struct detection *d, struct fit *fit, uint32_t n_classes, struct error *err)
{
    const struct finding_place place = place_of(d, FINDING_ORBIT_PLANES);
    const uint32_t n = fit->layout.n_images;

    if (is_confirmed(fit)) {
        report_foreign(d, fit);
        if (d->shard->n_rows % n != 0)
            return take_classes(d, n_classes > 0 ? n_classes : n, err);
        return take_layout(d, &fit->layout, fit->ids, err);
    }
    /* Rows that repeat their labels, or their stones, and are no images of one another. */
    if (fit->only_colours && d->lanes->items[d->lanes->planes].spec.codes)
        return take_layout(d, &fit->layout, fit->ids, err);
    if (!fit->only_colours && fit->level >= PROBE_LABELS && fit->share >= 0.9)
        findings_add(&d->result->findings, &place, "", "",
                     "every %u rows (%s) have the same policies, but unrelated planes", n,
                     order_text(&fit->layout).text);
    return 0;
}

/* Look for images further on. Policies are read only where planes hold the same numbers: then it
 * may be planes that were never moved. */
static int look_far(struct detection *d, struct fit *found, struct error *err)
{
    const uint64_t block_rows = found->layout.block_rows;
    struct fit far, alike;

    if (probe_reach(&d->probe, block_rows, false, err) != 0)
        return -1;
    if (d->probe.n_far == 0)
        return 0;
    if (find_layout(d, &far, err) != 0 || probe_find(&d->probe, PROBE_LABELS, &alike, err) != 0)
        return -1;
    if (is_found(&alike) && (!is_confirmed(&far) || alike.saved > far.saved + CLEARLY_MORE) &&
        (probe_reach(&d->probe, block_rows, true, err) != 0 || find_layout(d, &far, err) != 0))
        return -1;
    if (is_found(&far) &&
        (is_confirmed(&far) > is_confirmed(found) ||
         (is_confirmed(&far) == is_confirmed(found) && far.saved + CLEARLY_MORE > found->saved)))
        *found = far;
    return 0;
}

static int look(struct detection *d, struct error *err)
{
    struct fit found;
    struct classes_fit classes;

    if (find_layout(d, &found, err) != 0)
        return -1;
    if ((!is_confirmed(&found) || !probe_is_enough(&d->probe, &found.layout)) &&
        look_far(d, &found, err) != 0)
        return -1;
    if (d->lanes->items[d->lanes->planes].is_broken)
        return set_note(d, err, "not looked at for images: the planes cannot be read");
    if (classes_judge(&d->probe, &classes, err) != 0)
        return -1;
    if (is_confirmed(&found) &&
        (d->has_block || found.share > 0.9 || classes.n_images == 0 || classes.is_enumeration ||
         found.saved + CLEARLY_MORE > classes.saved))
        return take_found(d, &found, classes.n_images, err);
    if (d->has_block && d->shard->n_rows % d->n_ids == 0)
        return take_told(d, err);
    if (is_found(&found) && found.only_colours)
        return take_found(d, &found, classes.n_images, err);
    if (d->ids_are_told || (classes.n_images > 0 && !classes.is_enumeration))
        return take_classes(d, d->ids_are_told ? d->n_ids : classes.n_images, err);
    if (classes.n_images > 0)
        return set_note(d, err,
                        "not taken for an expanded set: every image of a position is listed "
                        "once, as in an enumeration; --transforms or --order says otherwise");
    return is_found(&found) ? take_found(d, &found, classes.n_images, err) : 0;
}

/* Without provenance. */
static int find_groups(struct detection *d, struct error *err)
{
    int status;

    read_told(d);
    if (d->n_ids < 2 || d->shard->n_rows == 0)
        return 0;
    if (!d->is_irregular && d->shard->recall.manifest != NULL && d->ids_are_told && d->has_block &&
        d->shard->n_rows % d->n_ids == 0)
        return take_told(d, err);
    d->probe.allowed = d->allowed;
    if (d->ids_are_told)
        d->probe.told.n_images = d->n_ids;
    if (d->has_block) /* 0: transform order */
        d->probe.told.block_rows = d->block_rows > 0 ? d->block_rows : UINT64_MAX;
    status = probe_open(&d->probe, d->lanes, err);
    if (status == 0)
        status = d->is_irregular ? take_classes(d, d->n_ids, err) : look(d, err);
    probe_close(&d->probe);
    return status;
}

/* --- the whole --- */

static bool has_provenance(const struct shard *shard)
{
    static const char *const keys[] = {PLAN_SOURCE_KEY, PLAN_TRANSFORM_KEY};

    for (size_t i = 0; i < 2; i++) {
        const struct array *array = archive_in_find(&shard->archive, keys[i]);

        if (array == NULL || !dtype_is_integer(&array->header.dtype) || array->header.n_dims != 1 ||
            array->n_rows != shard->n_rows)
            return false;
    }
    return true;
}

static bool has_planes(const struct lanes *lanes)
{
    return lanes->planes >= 0 && lanes->items[lanes->planes].is_mapped &&
           lanes->items[lanes->planes].spec.kind != SPEC_KEEP;
}

/* Why groups of images are not checked. */
static int note_unrecognised(struct detection *d, struct error *err)
{
    const struct shard *shard = d->shard;
    const bool is_expanded = has_provenance(shard);
    const char *why = "not recognised as an expanded set, checked row by row";

    if (d->lanes->request->settings->not_expanded)
        why = "a source, as told";
    else if (shard_known_board(shard) == NULL)
        why = is_expanded ? "expanded, but its images are not checked: the board is not known, use "
                            "--board"
                          : "not looked at for images: the board is not known, use --board";
    else if (shard->bindings == NULL)
        why = is_expanded ? "expanded, but its images are not checked: its arrays do not fit the "
                            "board"
                          : "not looked at for images: its arrays do not fit the board";
    else if (!has_planes(d->lanes))
        why = "not looked at for images: there are no planes of the board";
    return d->result->note != NULL ? 0 : set_note(d, err, "%s", why);
}

/* The transforms of the command line. */
static int read_transforms(struct detection *d, struct error *err)
{
    const char *text = d->lanes->request->settings->transforms;
    struct plan plan = {.board = d->shard->found.board, .conventions = d->shard->conventions};
    int status = text != NULL ? choose_transforms(&plan, text, err) : 0;

    if (status == 0 && plan.n_chosen > 0)
        memcpy(d->groups->told, plan.chosen, plan.n_chosen);
    d->groups->n_told = plan.n_chosen;
    free(plan.chosen);
    return status;
}

int explain_set(struct orbit_groups *groups, struct lanes *lanes, struct error *err)
{
    const struct shard *shard = lanes->shard;
    struct verify_result *result = lanes->result;
    struct detection d = {.shard = shard, .lanes = lanes, .groups = groups, .result = result};
    int status = 0;

    *groups = (struct orbit_groups){.n_rows = shard->n_rows};
    if (shard_known_board(shard) != NULL && shard->bindings != NULL &&
        !lanes->request->settings->not_expanded) {
        groups->n_transforms = shard->found.board->n_transforms;
        status = read_transforms(&d, err);
        if (status == 0 && has_provenance(shard)) {
            status = orbit_groups_of_provenance(groups, lanes, err);
            result->is_expanded = status == 0;
            memset(groups->allowed, true, sizeof groups->allowed);
        } else if (status == 0 && has_planes(lanes)) {
            status = find_groups(&d, err);
            memcpy(groups->allowed, d.allowed, sizeof groups->allowed);
        }
    }
    return status == 0 && !result->is_expanded ? note_unrecognised(&d, err) : status;
}
