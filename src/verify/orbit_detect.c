/* orbit_detect.c - see orbit_detect.h. */
#include "verify/orbit_detect.h"

#include "base/text.h"
#include "verify/orbit_classes.h"
#include "verify/orbit_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROBE_NBYTES  (32u << 20)
#define PROBE_ROWS    4096
#define PROBE_SOURCES 64 /* groups that an order is tried on */
#define MIN_EVIDENCE  3  /* images, besides the first ones, that must belong to their groups */

/* What is known before any row is looked at. */
struct detection {
    const struct verify_shard *shard;
    const struct lanes *lanes;
    const struct verify_request *request;
    struct canonical canonical;
    struct probe_order usual; /* all images, in the order of their ids */
    bool is_said;             /* by the command line or the manifest: an expanded set for sure */
    bool has_block;           /* usual.block_rows is said */
    bool is_irregular;        /* the manifest says that rows are shuffled or left out */
};

/* --- what is said --- */

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

static void read_said(struct detection *d)
{
    const struct verify_manifest *said = &d->shard->said;

    d->usual.n_ids = canonical_ids(d->shard->board, &d->shard->conventions, d->usual.ids);
    if (said->manifest != NULL && said->n_transforms > 0) {
        static const char *const irregular[] = {"shuffle", "unique", "pick"};

        d->usual.n_ids = said->n_transforms;
        memcpy(d->usual.ids, said->transforms, said->n_transforms);
        d->is_said = true;
        d->is_irregular = orbit_groups_are_cut(said);
        for (size_t i = 0; i < 3; i++)
            d->is_irregular |= manifest_option(said->manifest, irregular[i]) != NULL;
        d->has_block = parse_order(manifest_option(said->manifest, "order"), &d->usual.block_rows);
    }
    if (d->request->settings->order_said) {
        d->usual.block_rows = d->request->settings->block_rows;
        d->has_block = d->is_said = true;
        d->is_irregular = false;
    }
}

/* --- trying orders --- */

/* How well n_ids images in blocks of block_rows explain the first rows. */
static double try_order(const struct probe *probe, uint32_t n_ids, uint64_t block_rows,
                        uint64_t *starts, uint64_t *n_starts)
{
    uint64_t n_tried = 0, n_good = 0;

    *n_starts = 0;
    for (uint64_t source = 0; n_tried < PROBE_SOURCES; source++) {
        const uint64_t start = source / block_rows * block_rows * n_ids + source % block_rows;
        int verdict;

        if (start + (n_ids - 1) * block_rows >= probe->n)
            break;
        verdict = probe_group(probe, start, block_rows, n_ids);
        if (verdict < 0)
            continue;
        n_tried++;
        n_good += verdict > 0;
        if (verdict > 0)
            starts[(*n_starts)++] = start;
    }
    return n_good * (n_ids - 1) >= MIN_EVIDENCE ? (double)n_good / (double)n_tried : 0;
}

/* The best order of n_ids images over the rows that were read. */
static void find_block(const struct detection *d, const struct probe *probe, uint32_t n_ids,
                       uint64_t n_sources, struct probe_order *best)
{
    const bool fixed = d->has_block && d->usual.block_rows > 0;
    const uint64_t first = fixed ? d->usual.block_rows : 1;
    const uint64_t last = fixed ? d->usual.block_rows : probe->n / n_ids;
    uint64_t starts[PROBE_SOURCES], n_starts;

    for (uint64_t block = first; block <= last && block <= n_sources; block++) {
        const double fit = try_order(probe, n_ids, block, starts, &n_starts);

        if (fit > best->fit) {
            best->fit = fit;
            best->n_ids = n_ids;
            best->block_rows = block;
        }
    }
}

/* No order, but most positions have all their images: rows are missing, or stand anywhere. */
static int find_classes(const struct detection *d, const struct probe *probe,
                        struct probe_order *best, struct error *err)
{
    const double fit = probe_classes(probe, d->usual.n_ids, err);

    if (fit < 0)
        return -1;
    if (fit > 0.5)
        *best = (struct probe_order){.fit = fit, .n_ids = d->usual.n_ids, .is_unordered = true};
    return 0;
}

/* Orders that show within the first rows. */
static int find_by_prefix(const struct detection *d, struct probe_order *best, struct error *err)
{
    const struct array *planes = d->canonical.lane->array;
    uint64_t n = PROBE_NBYTES / (planes->row_nbytes + 1) + 64;
    uint64_t list[PROBE_ROWS], starts[PROBE_SOURCES], n_starts;
    struct probe probe;
    int status;

    if (n > PROBE_ROWS)
        n = PROBE_ROWS;
    if (n > planes->n_rows)
        n = planes->n_rows;
    for (uint64_t i = 0; i < n; i++)
        list[i] = i;
    status = probe_open(&probe, &d->canonical, list, n, err);
    for (uint32_t n_ids = d->usual.n_ids; status == 0 && n_ids > 1 && best->fit <= 0.5; n_ids--)
        if (d->usual.n_ids % n_ids == 0)
            find_block(d, &probe, n_ids, planes->n_rows / n_ids + 1, best);
    if (status == 0 && best->fit > 0.5) {
        memcpy(best->ids, d->usual.ids, best->n_ids);
        try_order(&probe, best->n_ids, best->block_rows, starts, &n_starts);
        if (!(d->shard->said.manifest != NULL && d->shard->said.n_transforms == best->n_ids))
            status = probe_ids(&probe, starts, n_starts, best->block_rows, best, err);
    }
    if (status == 0 && best->fit <= 0.5 && probe.n == d->shard->n_rows && !d->has_block)
        status = find_classes(d, &probe, best, err);
    probe_close(&probe);
    return status;
}

/* Transform order: image k of source i stands in row k * n_sources + i. */
static int try_transform_order(const struct detection *d, uint32_t n_ids, struct probe_order *best,
                               struct error *err)
{
    const uint64_t n_sources = d->shard->n_rows / n_ids;
    const uint64_t n_looked = n_sources < 16 ? n_sources : 16;
    uint64_t list[BOARD_MAX_TRANSFORMS * 16], starts[16], n_starts = 0, n_tried = 0;
    struct probe probe;
    int status;

    for (uint32_t k = 0; k < n_ids; k++)
        for (uint64_t i = 0; i < n_looked; i++)
            list[k * n_looked + i] = k * n_sources + i;
    status = probe_open(&probe, &d->canonical, list, n_ids * n_looked, err);
    for (uint64_t i = 0; status == 0 && i < n_looked; i++) {
        const int verdict = probe_group(&probe, i, n_looked, n_ids);

        n_tried += verdict >= 0;
        if (verdict > 0)
            starts[n_starts++] = i;
    }
    if (status == 0 && n_starts * (n_ids - 1) >= MIN_EVIDENCE && 2 * n_starts > n_tried) {
        best->fit = (double)n_starts / (double)n_tried;
        best->n_ids = n_ids;
        best->block_rows = 0;
        memcpy(best->ids, d->usual.ids, n_ids);
        status = probe_ids(&probe, starts, n_starts, n_looked, best, err);
    }
    probe_close(&probe);
    return status;
}

static int find_order(const struct detection *d, struct probe_order *best, struct error *err)
{
    *best = (struct probe_order){0};
    if (!(d->has_block && d->usual.block_rows == 0) && find_by_prefix(d, best, err) != 0)
        return -1;
    for (uint32_t n_ids = d->usual.n_ids;
         n_ids > 1 && best->fit <= 0.5 && !(d->has_block && d->usual.block_rows > 0); n_ids--)
        if (d->usual.n_ids % n_ids == 0 && d->shard->n_rows % n_ids == 0 &&
            d->shard->n_rows >= n_ids && try_transform_order(d, n_ids, best, err) != 0)
            return -1;
    return 0;
}

/* --- deciding --- */

static int set_note(struct verify_result *result, const char *how, uint32_t n_ids,
                    struct error *err)
{
    if (asprintf(&result->note, "expanded, %u images per source, %s", n_ids, how) < 0) {
        result->note = NULL;
        return error_no_memory(err, "note");
    }
    result->is_expanded = true;
    return 0;
}

static int take_order(const struct detection *d, const struct probe_order *order,
                      struct orbit_groups *groups, struct verify_result *result, struct error *err)
{
    const struct finding_text how =
        order->block_rows == 0 ? finding_format("transform order")
        : order->block_rows == 1
            ? finding_format("sample order")
            : finding_format("blocks of %llu", (unsigned long long)order->block_rows);

    if (orbit_groups_of_order(groups, d->shard, order->ids, order->n_ids, order->block_rows, err) !=
        0)
        return -1;
    return set_note(result, how.text, order->n_ids, err);
}

static int take_classes(const struct detection *d, uint32_t n_ids, struct orbit_groups *groups,
                        struct verify_result *result, struct error *err)
{
    struct lane_image *entries;

    if (orbit_classes(&d->canonical, d->request, &entries, err) != 0)
        return -1;
    orbit_groups_of_entries(groups, d->shard, entries);
    return set_note(result, "rows grouped by their positions", n_ids, err);
}

static int decide(struct detection *d, struct orbit_groups *groups, struct verify_result *result,
                  struct error *err)
{
    struct probe_order best;
    const uint64_t n_rows = d->shard->n_rows;

    if (d->usual.n_ids < 2 || n_rows == 0)
        return 0;
    if (d->is_irregular)
        return take_classes(d, d->usual.n_ids, groups, result, err);
    if (d->shard->said.manifest != NULL && d->has_block && n_rows % d->usual.n_ids == 0)
        return take_order(d, &d->usual, groups, result, err);
    if (find_order(d, &best, err) != 0)
        return -1;
    if (best.fit > 0.5)
        return n_rows % best.n_ids == 0 && !best.is_unordered
                   ? take_order(d, &best, groups, result, err)
                   : take_classes(d, best.n_ids, groups, result, err);
    if (!d->is_said)
        return 0;
    return d->has_block && n_rows % d->usual.n_ids == 0
               ? take_order(d, &d->usual, groups, result, err)
               : take_classes(d, d->usual.n_ids, groups, result, err);
}

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

static int set_unchecked(const struct verify_shard *shard, struct verify_result *result,
                         struct error *err)
{
    result->note = strdup(shard->board_is_sure
                              ? "expanded, but its images are not checked: its arrays do not fit "
                                "the board"
                              : "expanded, but its images are not checked: the board is not known, "
                                "use --board");
    return result->note != NULL ? 0 : error_no_memory(err, "note");
}

int orbit_detect(struct orbit_groups *groups, const struct verify_shard *shard,
                 const struct lanes *lanes, const struct verify_request *request,
                 struct verify_result *result, struct error *err)
{
    struct detection d = {.shard = shard, .lanes = lanes, .request = request};
    int status;

    *groups = (struct orbit_groups){0};
    if (shard->board == NULL || !shard->board_is_sure || shard->bindings == NULL)
        return has_provenance(shard) ? set_unchecked(shard, result, err) : 0;
    if (has_provenance(shard)) {
        status = orbit_groups_of_provenance(groups, shard, result, err);
        result->is_expanded = status == 0;
        return status;
    }
    if (lanes->planes < 0 || !lanes->items[lanes->planes].is_mapped ||
        lanes->items[lanes->planes].map.kind == ORBIT_KEEP)
        return 0;
    read_said(&d);
    status = canonical_init(&d.canonical, &lanes->items[lanes->planes], &shard->conventions, err);
    if (status == 0)
        status = decide(&d, groups, result, err);
    canonical_release(&d.canonical);
    return status;
}
