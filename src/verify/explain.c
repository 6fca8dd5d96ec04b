/*
 * explain.c - see explain.h.
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
#include "verify/explain_parts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What is known before any row is looked at, and what is found. */
struct detection {
    const struct verify_shard *shard;
    struct lanes *lanes;
    const struct verify_request *request;
    struct orbit_groups *groups;
    struct verify_result *result;
    struct probe probe;
    bool allowed[BOARD_MAX_TRANSFORMS]; /* images that are exact under the conventions */
    uint32_t ids[LAYOUT_MAX_IMAGES];    /* told, or all that are allowed */
    uint32_t n_ids;
    bool ids_are_told;
    struct plan told; /* --transforms: chosen, owned */
    bool has_block;   /* the block is told */
    uint64_t block_rows;
    bool is_irregular; /* the manifest says that rows are shuffled or left out */
};

/* --- what is told --- */

static bool parse_order(const char *text, uint64_t *block_rows)
{
    if (text == NULL)
        return false;
    *block_rows = 0;
    if (strcmp(text, "transform") == 0)
        return true;
    if (strcmp(text, "sample") == 0)
        *block_rows = 1;
    else if (strncmp(text, "block:", 6) != 0 || text_parse_u64(text + 6, block_rows) != 0)
        return false;
    return *block_rows > 0;
}

static void take_ids(struct detection *d, const uint8_t *ids, uint32_t n)
{
    d->n_ids = n < LAYOUT_MAX_IMAGES ? n : LAYOUT_MAX_IMAGES;
    for (uint32_t k = 0; k < d->n_ids; k++)
        d->ids[k] = ids[k];
    d->ids_are_told = true;
}

static void read_told(struct detection *d)
{
    static const char *const irregular[] = {"shuffle", "unique", "pick"};
    const struct verify_manifest *said = &d->shard->said;
    uint8_t exact[BOARD_MAX_TRANSFORMS] = {0};

    take_ids(d, exact, key_ids(d->shard->board, &d->shard->conventions, exact));
    d->ids_are_told = false;
    for (uint32_t k = 0; k < d->n_ids; k++)
        d->allowed[d->ids[k]] = true;
    if (said->manifest != NULL && said->n_transforms > 0) {
        take_ids(d, said->transforms, said->n_transforms);
        d->is_irregular = orbit_groups_are_cut(said);
        for (size_t i = 0; i < 3; i++)
            d->is_irregular |= manifest_option(said->manifest, irregular[i]) != NULL;
        d->has_block = parse_order(manifest_option(said->manifest, "order"), &d->block_rows);
    }
    if (d->told.n_chosen > 0)
        take_ids(d, d->told.chosen, d->told.n_chosen);
    if (d->request->settings->order_said) {
        d->block_rows = d->request->settings->block_rows;
        d->has_block = true;
        d->is_irregular = false;
    }
}

/* --- saying it --- */

static int set_note(struct detection *d, const char *text, struct error *err)
{
    free(d->result->note);
    d->result->note = strdup(text);
    return d->result->note != NULL ? 0 : error_no_memory(err, "note");
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

static void warn(struct detection *d, enum finding_code code, bool is_warning, const char *text)
{
    const struct finding_place place = {
        code, is_warning, d->lanes->items[d->lanes->planes].array->key, FINDING_NO_ROW};

    findings_add(&d->result->findings, &place, "", "", "%s", text);
}

/* Images under maps that are no symmetries of this board. */
static void report_foreign(struct detection *d, const struct layout *layout,
                           const struct slots *slots)
{
    const struct board *board = d->shard->board;
    char names[256] = "";
    uint32_t n = 0;

    for (uint32_t k = 0; k < layout->n_images; k++) {
        const size_t used = strlen(names);

        if (slots->foreign[k] < 0)
            continue;
        snprintf(names + used, sizeof names - used, "%s%s", n > 0 ? ", " : "",
                 slots->of_box ? sketch_box_name((uint32_t)slots->foreign[k])
                               : board->transforms[slots->foreign[k]].name);
        n++;
    }
    if (n > 0)
        warn(d, FINDING_FOREIGN_SYMMETRY, false,
             finding_format("%u of %u images per source are %.100s, no %s", n, layout->n_images,
                            names,
                            slots->of_box ? "symmetries of this board"
                                          : "exact images under these conventions (--tiles)")
                 .text);
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
    if (orbit_groups_of_layout(d->groups, d->shard, layout, ids, err) != 0)
        return -1;
    d->result->is_expanded = true;
    return set_note(d,
                    finding_format("expanded, %u images per source, %s", layout->n_images,
                                   order_text(layout).text)
                        .text,
                    err);
}

static int take_classes(struct detection *d, uint32_t n_images, struct error *err)
{
    struct lane_image *entries;

    if (orbit_classes(&d->probe, n_images, &entries, err) != 0)
        return -1;
    orbit_groups_of_entries(d->groups, d->shard, entries);
    d->result->is_expanded = true;
    return set_note(
        d,
        finding_format("expanded, %u images per source, rows grouped by their positions", n_images)
            .text,
        err);
}

/* The layout that is told, whether or not it is found. */
static struct layout told_layout(const struct detection *d)
{
    struct layout layout = {.n_images = d->n_ids, .n_sources = d->shard->n_rows / d->n_ids};

    layout.block_rows = d->block_rows > 0 ? d->block_rows : layout.n_sources;
    return layout;
}

/* --- finding them --- */

/* The layout found at a level, with what its images are. */
struct found {
    enum probe_level level;
    struct probe_fit fit;
    struct slots slots;
};

static bool is_foreign(const struct found *found)
{
    for (uint32_t k = 0; k < found->fit.layout.n_images; k++)
        if (found->slots.foreign[k] >= 0)
            return true;
    return false;
}

/* Do most images of the layout show a transform, or a map that is none here? Numbers that are equal
 * prove less than shapes. */
static bool is_confirmed(const struct found *found)
{
    const uint64_t n = found->slots.n_pairs, n_moved = found->slots.n_moved;

    return found->fit.share > 0.5 && found->level != PROBE_POLICY &&
           (is_foreign(found) ||
            (found->level < PROBE_LABELS ? 2 * n_moved >= n : 10 * n_moved >= 8 * n));
}

static int try_level(struct detection *d, enum probe_level level, struct found *found,
                     struct error *err)
{
    const struct layout told = {
        .n_images = d->ids_are_told ? d->n_ids : 0,
        .block_rows = !d->has_block        ? 0
                      : d->block_rows == 0 ? UINT64_MAX
                                           : d->block_rows,
    };

    found->level = level;
    if (probe_find(&d->probe, level, &told, &found->fit, err) != 0)
        return -1;
    if (found->fit.share <= 0.5)
        return 0;
    return probe_slots(&d->probe, &found->fit.layout, level, &found->slots, err);
}

/* The level whose layout explains most rows; fit.share stays 0 when none is confirmed. */
static int find_layout(struct detection *d, struct found *best, struct error *err)
{
    struct found found;

    *best = (struct found){0};
    for (int level = 0; level < PROBE_N_LEVELS; level++) {
        if (level == PROBE_POLICY && best->fit.share > 0.5)
            break;
        if (level == PROBE_BOX && !d->probe.sketcher.has_box)
            continue;
        found = (struct found){0};
        if (try_level(d, (enum probe_level)level, &found, err) != 0)
            return -1;
        if (found.fit.share > 0.5 && found.fit.saved > best->fit.saved + 0.05 &&
            is_confirmed(&found) >= is_confirmed(best))
            *best = found;
    }
    return 0;
}

/* Rows that repeat their labels, or their stones, and are no images of one another. */
static int report_unconfirmed(struct detection *d, struct found *found, struct error *err)
{
    const uint32_t n = found->fit.layout.n_images;
    const bool is_codes = d->lanes->items[d->lanes->planes].spec.codes;

    if (found->slots.only_colours && is_codes)
        return take_layout(d, &found->fit.layout, found->slots.ids, err);
    if (found->slots.only_colours || found->level < PROBE_LABELS || found->fit.share < 0.9)
        return 0;
    warn(d, FINDING_ORBIT_PLANES, true,
         finding_format("every %u rows (%s) have the same policies, but unrelated planes", n,
                        order_text(&found->fit.layout).text)
             .text);
    return 0;
}

static int take_found(struct detection *d, struct found *found, uint32_t n_classes,
                      struct error *err)
{
    const struct layout *layout = &found->fit.layout;

    if (!is_confirmed(found))
        return report_unconfirmed(d, found, err);
    report_foreign(d, layout, &found->slots);
    if (d->shard->n_rows % layout->n_images != 0)
        return take_classes(d, n_classes > 0 ? n_classes : layout->n_images, err);
    return take_layout(d, layout, found->slots.ids, err);
}

static int look(struct detection *d, struct error *err)
{
    struct found found = {0};
    struct classes_fit classes;

    if (find_layout(d, &found, err) != 0)
        return -1;
    if (!is_confirmed(&found) || !probe_is_enough(&d->probe, &found.fit.layout)) {
        struct found far = {0};

        if (probe_reach(&d->probe, found.fit.layout.block_rows, err) != 0 ||
            (d->probe.n_far > 0 && find_layout(d, &far, err) != 0))
            return -1;
        if (far.fit.share > 0.5 && is_confirmed(&far) >= is_confirmed(&found))
            found = far;
    }
    if (orbit_classes_probe(&d->probe, &classes, err) != 0)
        return -1;
    if (is_confirmed(&found) && (d->has_block || found.fit.share > 0.9 || classes.n_images == 0 ||
                                 classes.is_enumeration || found.fit.saved + 0.05 > classes.saved))
        return take_found(d, &found, classes.n_images, err);
    if (d->has_block && d->shard->n_rows % d->n_ids == 0) {
        const struct layout layout = told_layout(d);

        return take_layout(d, &layout, d->ids, err);
    }
    if (found.fit.share > 0.5 && found.slots.only_colours)
        return take_found(d, &found, classes.n_images, err);
    if (d->ids_are_told || (classes.n_images > 0 && !classes.is_enumeration))
        return take_classes(d, d->ids_are_told ? d->n_ids : classes.n_images, err);
    if (classes.n_images > 0)
        return set_note(d,
                        "not taken for an expanded set: every image of a position is listed "
                        "once, as in an enumeration; --transforms or --order says otherwise",
                        err);
    return found.fit.share > 0.5 ? take_found(d, &found, classes.n_images, err) : 0;
}

static int decide(struct detection *d, struct error *err)
{
    const uint64_t n_rows = d->shard->n_rows;
    int status;

    if (d->n_ids < 2 || n_rows == 0)
        return 0;
    if (!d->is_irregular && d->shard->said.manifest != NULL && d->ids_are_told && d->has_block &&
        n_rows % d->n_ids == 0) {
        const struct layout layout = told_layout(d);

        return take_layout(d, &layout, d->ids, err);
    }
    status = probe_open(&d->probe, d->lanes, d->request, d->allowed, err);
    if (status == 0)
        status = d->is_irregular ? take_classes(d, d->n_ids, err) : look(d, err);
    probe_close(&d->probe);
    return status;
}

/* --- the whole --- */

static bool has_provenance(const struct verify_shard *shard)
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
    const struct verify_shard *shard = d->shard;
    const bool is_expanded = has_provenance(shard);
    const char *why = "not recognised as an expanded set, checked row by row";

    if (d->request->settings->not_expanded)
        why = "a source, as told";
    else if (shard->board == NULL || !shard->board_is_sure)
        why = is_expanded ? "expanded, but its images are not checked: the board is not known, use "
                            "--board"
                          : "not looked at for images: the board is not known, use --board";
    else if (shard->bindings == NULL)
        why = is_expanded ? "expanded, but its images are not checked: its arrays do not fit the "
                            "board"
                          : "not looked at for images: its arrays do not fit the board";
    else if (!has_planes(d->lanes))
        why = "not looked at for images: there are no planes of the board";
    return d->result->note != NULL ? 0 : set_note(d, why, err);
}

/* The transforms of the command line. */
static int read_transforms(struct detection *d, struct error *err)
{
    if (d->request->settings->transforms == NULL)
        return 0;
    d->told.board = d->shard->board;
    d->told.conventions = d->shard->conventions;
    return choose_transforms(&d->told, d->request->settings->transforms, err);
}

static int find_groups(struct detection *d, struct error *err)
{
    int status = read_transforms(d, err);

    if (status != 0)
        return -1;
    if (has_provenance(d->shard)) {
        status = orbit_groups_of_provenance(d->groups, d->shard, d->result, err);
        d->result->is_expanded = status == 0;
        memset(d->groups->allowed, true, sizeof d->groups->allowed);
    } else if (has_planes(d->lanes)) {
        read_told(d);
        status = decide(d, err);
        memcpy(d->groups->allowed, d->allowed, sizeof d->groups->allowed);
    }
    d->groups->n_told = d->told.n_chosen;
    if (d->told.n_chosen > 0)
        memcpy(d->groups->told, d->told.chosen, d->told.n_chosen);
    return status;
}

int explain_set(struct orbit_groups *groups, const struct verify_shard *shard, struct lanes *lanes,
                const struct verify_request *request, struct verify_result *result,
                struct error *err)
{
    struct detection d = {.shard = shard, .lanes = lanes, .request = request, .groups = groups};
    const bool knows_board =
        shard->board != NULL && shard->board_is_sure && shard->bindings != NULL;
    int status = 0;

    *groups = (struct orbit_groups){0};
    d.result = result;
    if (knows_board && !request->settings->not_expanded)
        status = find_groups(&d, err);
    free(d.told.chosen);
    return status == 0 && !result->is_expanded ? note_unrecognised(&d, err) : status;
}
