/*
 * lane.c - see lane.h.
 *
 * A lane that is read in sequence streams; one that is read at random, or is stored in Fortran
 * order, is unpacked into memory or a temporary file first, all of them out of one budget.
 */
#include "verify/lane.h"

#include <stdlib.h>
#include <string.h>

/* --- making lanes --- */

static bool has_rows(const struct role_binding *b)
{
    return b->role != ROLE_META && b->role != ROLE_DROP && b->role != ROLE_POLICY_OFFSETS;
}

static bool is_provenance(const struct array *array)
{
    return strcmp(array->key, PLAN_SOURCE_KEY) == 0 || strcmp(array->key, PLAN_TRANSFORM_KEY) == 0;
}

/* Whether it is known where some transform sends the planes, so that the others can be checked for
 * their stones. */
static bool is_known(const struct spec *spec)
{
    bool any_known = false;

    for (uint32_t t = 1; t < spec->n_steps; t++)
        any_known |= !spec->steps[t].is_unknown;
    return spec->doubt[0] == '\0' || (any_known && spec->kind == SPEC_AXIS);
}

static int map_lane(struct lanes *lanes, struct lane *lane, struct error *err)
{
    struct finding_place place = {FINDING_SHAPE, false, lane->array->key, FINDING_NO_ROW};
    struct error why = {0};

    if (lanes->maker.board == NULL || is_provenance(lane->array))
        return 0;
    if (spec_init(&lane->spec, &lanes->maker, lane->array, lane->binding, &why) == 0) {
        lane->is_mapped = is_known(&lane->spec);
        if (lane->spec.doubt[0] == '\0')
            return 0;
        error_set(&why, ERROR_DATA, "%s", lane->spec.doubt);
    }
    if (!lane->is_mapped)
        spec_release(&lane->spec);
    if (why.kind != ERROR_DATA)
        return error_pass(err, &why);
    place.is_warning = true;
    findings_add(&lanes->result->findings, &place, "", "", "%s: %s",
                 lane->is_mapped ? "images that swap colours are checked for their stones only"
                                 : "its images cannot be checked",
                 why.message);
    return 0;
}

static bool tells_images(const struct lane *lane)
{
    return lane->array->header.dtype.kind != DTYPE_OBJECT && role_is_on_cells(lane->binding->role);
}

static int add_lane(struct lanes *lanes, size_t i, struct error *err)
{
    struct lane *lane = &lanes->items[lanes->n];
    const struct array *array = &lanes->shard->archive.arrays[i];

    *lane = (struct lane){.array = array, .binding = &lanes->shard->bindings[i], .values = -1};
    if (map_lane(lanes, lane, err) != 0)
        return -1;
    if (lanes->planes < 0 && tells_images(lane))
        lanes->planes = (int)lanes->n;
    lanes->row_nbytes += array->row_nbytes + 1;
    lanes->n++;
    return 0;
}

/* The lane of an array of the archive, or -1. */
static int lane_of(const struct lanes *lanes, int array)
{
    for (size_t i = 0; i < lanes->n && array >= 0; i++)
        if (lanes->items[i].array == &lanes->shard->archive.arrays[array])
            return (int)i;
    return -1;
}

int lanes_init(struct lanes *lanes, struct shard *shard, const struct verify_request *request,
               struct verify_result *result, struct error *err)
{
    const size_t n = shard->archive.n_arrays;

    *lanes = (struct lanes){.shard = shard, .request = request, .result = result, .planes = -1};
    lanes->maker =
        (struct spec_maker){.board = shard_known_board(shard), .conventions = &shard->conventions};
    lanes->items = calloc(n + 1, sizeof *lanes->items);
    lanes->csrs = calloc(n + 1, sizeof *lanes->csrs);
    if (lanes->items == NULL || lanes->csrs == NULL)
        return error_no_memory(err, "arrays");
    for (size_t i = 0; i < n; i++)
        if (has_rows(&shard->bindings[i]) && add_lane(lanes, i, err) != 0)
            return -1;
    for (size_t i = 0; i < lanes->n; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): add_lane has set it */
        if (lanes->items[i].binding->role == ROLE_POLICY_INDEX)
            lanes->items[i].values = lane_of(lanes, lanes->items[i].binding->value_array);
    return 0;
}

/* --- opening --- */

/* Where the lists of a CSR lane begin, which indices and values share: read once. Offsets that do
 * not rise from 0 to the end of the array address nothing. */
static int open_csr(struct lanes *lanes, struct lane *lane, struct verify_result *result,
                    struct error *why)
{
    const struct shard *shard = lanes->shard;
    const int number = lane->binding->offsets_array;
    const struct array *offsets = &shard->archive.arrays[number];
    const struct finding_place place = {FINDING_LENGTH_MISMATCH, false, offsets->key,
                                        FINDING_NO_ROW};
    struct csr *csr = &lanes->csrs[number];

    lane->reader.csr = csr;
    if (csr->first == NULL && csr_open(csr, &offsets, &lane->array, 1, why) != 0 && !why->has_row)
        return -1;
    if (why->kind == ERROR_NONE && csr->n_rows == shard->n_rows &&
        csr->first[csr->n_rows] == lane->array->n_rows)
        return 0;
    findings_add(&result->findings, &place,
                 finding_format("0, rising to %llu", (unsigned long long)lane->array->n_rows).text,
                 "others", "offsets that do not fit the array");
    lane->is_broken = true;
    return 0;
}

int lanes_open(struct lanes *lanes, bool at_random, struct verify_result *result, struct error *err)
{
    for (size_t i = 0; i < lanes->n; i++) {
        struct lane *lane = &lanes->items[i];
        const bool is_csr = lane->binding->sparse == SPARSE_CSR && lane->array->objects == NULL;
        struct error why = {0};

        lane->reader =
            (struct reader){.arrays = &lane->array, .n_arrays = 1, .at_random = at_random};
        if ((!is_csr || open_csr(lanes, lane, result, &why) == 0) &&
            (lane->is_broken ||
             reader_open(&lane->reader, lanes->request->settings->budget, &why) == 0))
            continue;
        lane->is_broken = true;
        if (verify_read_failed(result, lane->array->key, &why, err) != 0)
            return -1;
    }
    return 0;
}

void lanes_close(struct lanes *lanes)
{
    for (size_t i = 0; i < lanes->n; i++) {
        reader_close(&lanes->items[i].reader);
        lanes->items[i].is_broken = false;
    }
    for (size_t i = 0; lanes->csrs != NULL && i < lanes->shard->archive.n_arrays; i++)
        csr_release(&lanes->csrs[i]);
}

void lanes_release(struct lanes *lanes)
{
    lanes_close(lanes);
    for (size_t i = 0; i < lanes->n; i++)
        spec_release(&lanes->items[i].spec);
    spec_maker_release(&lanes->maker);
    free(lanes->csrs);
    free(lanes->items);
    *lanes = (struct lanes){0};
}

/* --- windows --- */

int window_init(struct window *window, const struct lanes *lanes, uint64_t capacity,
                struct error *err)
{
    *window = (struct window){.capacity = capacity};
    window->images = calloc(capacity + 1, sizeof *window->images);
    window->members = calloc(capacity + 1, sizeof *window->members);
    window->groups = calloc(capacity + 1, sizeof *window->groups);
    window->batches = calloc(lanes->n + 1, sizeof *window->batches);
    if (window->images == NULL || window->members == NULL || window->groups == NULL ||
        window->batches == NULL)
        return error_no_memory(err, "window of rows");
    return 0;
}

void window_release(struct window *window, const struct lanes *lanes)
{
    for (size_t i = 0; window->batches != NULL && i < lanes->n; i++)
        batch_release(&window->batches[i]);
    free(window->batches);
    free(window->images);
    free(window->members);
    free(window->groups);
    *window = (struct window){0};
}

int window_read_lane(struct window *window, struct lanes *lanes, size_t i, struct error *err)
{
    struct lane *lane = &lanes->items[i];
    struct batch *batch = &window->batches[i];
    const uint64_t first = window->n > 0 ? window->images[0].row : 0;
    bool is_run = true;

    if (lane->is_broken || lane->reader.n_arrays == 0 || window->n == 0)
        return 0;
    batch->reader = &lane->reader;
    for (uint64_t k = 0; k < window->n && is_run; k++)
        is_run = window->images[k].row == first + k;
    if (is_run)
        return batch_read(batch, first, window->n, err);
    batch_clear(batch);
    if (batch_reserve(batch, window->n, err) != 0)
        return -1;
    for (uint64_t k = 0; k < window->n; k++)
        if (batch_add(batch, window->images[k].row, err) != 0)
            return -1;
    return 0;
}

struct row window_row(const struct window *window, const struct lanes *lanes, size_t i, uint64_t at)
{
    const struct batch *batch = &window->batches[i];

    return at < batch->n ? batch_row(batch, at)
                         : (struct row){.dtype = &lanes->items[i].array->header.dtype};
}
