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

static int map_lane(struct lane *lane, struct verify_shard *shard, struct verify_result *result,
                    struct error *err)
{
    struct finding_place place = {FINDING_SHAPE, false, lane->array->key, FINDING_NO_ROW};
    struct error why = {0};

    if (shard->board == NULL || !shard->board_is_sure || is_provenance(lane->array))
        return 0;
    shard->maker.board = shard->board;
    shard->maker.conventions = &shard->conventions;
    if (spec_init(&lane->spec, &shard->maker, lane->array, lane->binding, &why) == 0) {
        lane->is_mapped = is_known(&lane->spec);
        if (lane->spec.doubt[0] == '\0')
            return 0;
        error_set(&why, ERROR_DATA, "%s", lane->spec.doubt);
    }
    if (why.kind != ERROR_DATA)
        return error_pass(err, &why);
    place.is_warning = true;
    findings_add(&result->findings, &place, "", "", "%s: %s",
                 lane->is_mapped ? "images that swap colours are checked for their stones only"
                                 : "its images cannot be checked",
                 why.message);
    return 0;
}

static bool tells_images(const struct lane *lane)
{
    return lane->array->header.dtype.kind != DTYPE_OBJECT && role_is_on_cells(lane->binding->role);
}

static int add_lane(struct lanes *lanes, struct verify_shard *shard, size_t i,
                    struct verify_result *result, struct error *err)
{
    struct lane *lane = &lanes->items[lanes->n];
    const struct array *array = &shard->archive.arrays[i];

    *lane = (struct lane){.array = array, .binding = &shard->bindings[i], .values = -1};
    if (map_lane(lane, shard, result, err) != 0)
        return -1;
    lane->per_row =
        array->objects != NULL && array->n_rows > 0 ? array->objects->n_items / array->n_rows : 0;
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

int lanes_init(struct lanes *lanes, struct verify_shard *shard, struct verify_result *result,
               struct error *err)
{
    const size_t n = shard->archive.n_arrays;

    *lanes = (struct lanes){.shard = shard, .planes = -1};
    lanes->items = calloc(n + 1, sizeof *lanes->items);
    lanes->offsets = calloc(n + 1, sizeof *lanes->offsets);
    if (lanes->items == NULL || lanes->offsets == NULL)
        return error_no_memory(err, "arrays");
    for (size_t i = 0; i < n; i++)
        if (has_rows(&shard->bindings[i]) && add_lane(lanes, shard, i, result, err) != 0)
            return -1;
    for (size_t i = 0; i < lanes->n; i++)
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): add_lane has set it */
        if (lanes->items[i].binding->role == ROLE_POLICY_INDEX)
            lanes->items[i].values = lane_of(lanes, lanes->items[i].binding->value_array);
    return 0;
}

/* --- opening --- */

/* Offsets that do not rise from 0 to the end address nothing. */
static bool are_offsets(const uint64_t *offsets, uint64_t n_rows, uint64_t n_elements)
{
    if (offsets[0] != 0 || offsets[n_rows] != n_elements)
        return false;
    for (uint64_t i = 0; i < n_rows; i++)
        if (offsets[i] > offsets[i + 1])
            return false;
    return true;
}

/* The offsets of a CSR lane, which indices and values share: read once. */
static int read_offsets(struct lanes *lanes, int number, struct error *why)
{
    const struct array *array = &lanes->shard->archive.arrays[number];
    const struct dtype *dtype = &array->header.dtype;
    uint64_t *list;
    uint8_t *bytes;
    int status;

    if (lanes->offsets[number] != NULL)
        return 0;
    if (!dtype_is_integer(dtype))
        return error_set(why, ERROR_DATA, "offsets of a sparse policy are no integers");
    list = calloc(array->n_rows + 1, sizeof *list);
    bytes = malloc(array->unpacked_nbytes + 1);
    status = list != NULL && bytes != NULL ? array_read_all(array, bytes, why)
                                           : error_no_memory(why, "offsets of a sparse policy");
    for (uint64_t i = 0; status == 0 && i < array->n_rows; i++)
        list[i] = (uint64_t)dtype_get_int(dtype, bytes + array->header.header_nbytes +
                                                     i * dtype->itemsize);
    free(bytes);
    if (status == 0)
        lanes->offsets[number] = list;
    else
        free(list);
    return status;
}

static int open_csr(struct lanes *lanes, struct lane *lane, struct verify_result *result,
                    struct error *why)
{
    const struct verify_shard *shard = lanes->shard;
    const int number = lane->binding->offsets_array;
    const struct array *array = &shard->archive.arrays[number];
    const struct finding_place place = {FINDING_LENGTH_MISMATCH, false, array->key, FINDING_NO_ROW};

    if (read_offsets(lanes, number, why) != 0)
        return -1;
    lane->offsets = lanes->offsets[number];
    if (array->n_rows == shard->n_rows + 1 &&
        are_offsets(lane->offsets, shard->n_rows, lane->array->n_rows))
        return 0;
    findings_add(&result->findings, &place,
                 finding_format("0, rising to %llu", (unsigned long long)lane->array->n_rows).text,
                 "others", "offsets that do not fit the array");
    lane->is_broken = true;
    return 0;
}

static int open_lane(struct lane *lane, bool at_random, uint64_t *memory_left, const char *tmpdir,
                     struct error *why)
{
    if (lane->is_broken || lane->array->objects != NULL)
        return 0;
    if (at_random || array_is_fortran(lane->array)) {
        lane->table = row_table_open(&lane->array, 1, memory_left, tmpdir, why);
        return lane->table != NULL ? 0 : -1;
    }
    lane->rows = rows_open(&lane->array, 1, why);
    return lane->rows != NULL ? 0 : -1;
}

int lanes_open(struct lanes *lanes, const struct verify_request *request, bool at_random,
               struct verify_result *result, struct error *err)
{
    const struct settings *settings = request->settings;
    uint64_t memory_left = settings->max_memory;

    for (size_t i = 0; i < lanes->n; i++) {
        struct lane *lane = &lanes->items[i];
        const bool is_csr = lane->binding->sparse == SPARSE_CSR && lane->array->objects == NULL;
        struct error why = {0};

        if ((!is_csr || open_csr(lanes, lane, result, &why) == 0) &&
            open_lane(lane, at_random, &memory_left, settings->tmpdir, &why) == 0)
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
        struct lane *lane = &lanes->items[i];

        rows_close(lane->rows);
        row_table_close(lane->table);
        lane->rows = NULL;
        lane->table = NULL;
        lane->offsets = NULL;
        lane->is_broken = false;
    }
    for (size_t i = 0; lanes->offsets != NULL && i < lanes->shard->archive.n_arrays; i++) {
        free(lanes->offsets[i]);
        lanes->offsets[i] = NULL;
    }
}

void lanes_release(struct lanes *lanes)
{
    lanes_close(lanes);
    for (size_t i = 0; i < lanes->n; i++)
        spec_release(&lanes->items[i].spec);
    free(lanes->offsets);
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
    window->buffers = calloc(lanes->n + 1, sizeof *window->buffers);
    if (window->images == NULL || window->members == NULL || window->groups == NULL ||
        window->buffers == NULL)
        return error_no_memory(err, "window of rows");
    return 0;
}

void window_release(struct window *window, const struct lanes *lanes)
{
    for (size_t i = 0; window->buffers != NULL && i < lanes->n; i++) {
        free(window->buffers[i].bytes);
        free(window->buffers[i].starts);
    }
    free(window->buffers);
    free(window->images);
    free(window->members);
    free(window->groups);
    *window = (struct window){0};
}

/* Where each row of a CSR lane begins in the buffer, in elements; the end is the sum. */
static int set_starts(struct window *window, const struct lane *lane, struct lane_buffer *buffer,
                      struct error *err)
{
    uint64_t at = 0;

    if (buffer->starts == NULL)
        buffer->starts = calloc(window->capacity + 1, sizeof *buffer->starts);
    if (buffer->starts == NULL)
        return error_no_memory(err, "window of rows");
    for (uint64_t i = 0; i < window->n; i++) {
        const uint64_t row = window->images[i].row;

        buffer->starts[i] = at;
        at += lane->offsets[row + 1] - lane->offsets[row];
    }
    buffer->starts[window->n] = at;
    return 0;
}

static int fetch(const struct window *window, const struct lane *lane, uint8_t *out,
                 struct error *err)
{
    const uint64_t row_nbytes = lane->array->row_nbytes;

    for (uint64_t i = 0; i < window->n; i++) {
        const uint64_t row = window->images[i].row;
        const uint64_t first = lane->offsets != NULL ? lane->offsets[row] : row;
        const uint64_t end = lane->offsets != NULL ? lane->offsets[row + 1] : row + 1;

        for (uint64_t k = first; k < end; k++, out += row_nbytes)
            if (row_table_get(lane->table, k, out, err) != 0)
                return -1;
    }
    return 0;
}

int window_read_lane(struct window *window, struct lanes *lanes, size_t i, struct error *err)
{
    struct lane *lane = &lanes->items[i];
    struct lane_buffer *buffer = &window->buffers[i];
    uint64_t n = window->n, n_bytes;

    if (lane->is_broken || (lane->rows == NULL && lane->table == NULL))
        return 0;
    if (lane->offsets != NULL) {
        if (set_starts(window, lane, buffer, err) != 0)
            return -1;
        n = buffer->starts[window->n];
    }
    if (__builtin_mul_overflow(n, lane->array->row_nbytes, &n_bytes) || n_bytes >= SIZE_MAX)
        return error_no_memory(err, "window of rows");
    if (n_bytes > buffer->capacity) {
        free(buffer->bytes);
        buffer->capacity = 0;
        buffer->bytes = malloc(n_bytes);
        if (buffer->bytes == NULL)
            return error_no_memory(err, "window of rows");
        buffer->capacity = n_bytes;
    }
    return lane->table != NULL ? fetch(window, lane, buffer->bytes, err)
                               : rows_read(lane->rows, n, buffer->bytes, err);
}

struct lane_row window_row(const struct window *window, const struct lanes *lanes, size_t i,
                           uint64_t at)
{
    const struct lane *lane = &lanes->items[i];
    const struct lane_buffer *buffer = &window->buffers[i];
    const struct array *array = lane->array;
    struct lane_row row = {.dtype = &array->header.dtype};

    if (array->objects != NULL) {
        const struct pickle_item *item =
            &array->objects->items[window->images[at].row * lane->per_row];

        if (array->header.n_dims == 1 && item->kind == PICKLE_ARRAY)
            return (struct lane_row){item->as.array->data, NULL, &item->as.array->dtype,
                                     item->as.array->n_elements};
        row.items = item;
        row.n = lane->per_row;
        if (array->header.n_dims == 1 && item->kind == PICKLE_LIST) {
            row.items = item->as.items;
            row.n = item->n_bytes_or_items;
        }
        return row;
    }
    if (buffer->bytes == NULL || array->row_nbytes == 0)
        return row;
    if (lane->offsets != NULL) {
        row.bytes = buffer->bytes + buffer->starts[at] * array->row_nbytes;
        row.n = buffer->starts[at + 1] - buffer->starts[at];
        return row;
    }
    row.bytes = buffer->bytes + at * array->row_nbytes;
    row.n = array->row_nbytes / array->header.dtype.itemsize;
    return row;
}

int64_t lane_row_int(const struct lane_row *row, uint64_t i)
{
    if (row->items == NULL)
        return dtype_get_int(row->dtype, row->bytes + i * row->dtype->itemsize);
    return row->items[i].kind == PICKLE_INT || row->items[i].kind == PICKLE_BOOL
               ? row->items[i].as.integer
               : -1;
}

double lane_row_double(const struct lane_row *row, uint64_t i)
{
    if (row->items == NULL)
        return dtype_get_double(row->dtype, row->bytes + i * row->dtype->itemsize);
    switch (row->items[i].kind) {
    case PICKLE_INT:
    case PICKLE_BOOL:
        return (double)row->items[i].as.integer;
    case PICKLE_FLOAT:
        return row->items[i].as.number;
    default:
        return 0;
    }
}
