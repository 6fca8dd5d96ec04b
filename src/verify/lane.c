/*
 * lane.c - the rows of all arrays of a shard side by side, a window of rows at a time.
 *
 * A lane is one array with rows; a window holds the same rows of every lane. Lanes opened for
 * reading in sequence stream. Those opened for random access, or stored in Fortran order, are first
 * unpacked into memory or a temporary file, all within one memory budget.
 */
#include "verify/parts.h"

#include "engine/plan.h"

/* --- making lanes --- */

/* Decide what a colour swap does to the numbers of every lane with labels, on boards with
 * transforms that swap colours, as `expand` does (bind_label). Reads those arrays once. */
static int decide_labels(struct lanes *lanes, struct error *err)
{
    const struct board *board = lanes->shard->found.board;
    const json_t *arrays = json_object_get(lanes->shard->recall.output, "arrays");
    struct conventions *c = &lanes->shard->conventions;
    bool has_players = false;

    if (board == NULL || !board_swaps_colours(board) || c->planes == PLANES_CANONICAL)
        return 0;
    /* A winner is coded like the players beside it, so winners come last, in a second round. */
    for (size_t k = 0; k < 2 * lanes->n; k++) {
        struct lane *lane = &lanes->items[k % lanes->n];
        const struct role_binding *b = lane->binding;
        const struct array *array = lane->array;
        const bool is_winner = b->options & ROLE_WINNER;
        struct number_range range = {0}; /* stays so if it cannot be read: reported later */
        struct error why = {0};

        if (is_winner != (k >= lanes->n))
            continue;
        has_players |= b->role == ROLE_TO_MOVE && !is_winner;
        if (!lane->is_mapped || array->objects != NULL ||
            role_kinds[b->role].swap == ROLE_SWAP_NOTHING)
            continue;
        if (dtype_is_number(&array->header.dtype) && array->row_nbytes > 0 &&
            number_range_find(&array, 1, UINT64_MAX, &range, &why) != 0 &&
            why.kind == ERROR_INTERNAL)
            return error_pass(err, &why);
        spec_set_swap(&lane->spec, bind_label(c, b, array, has_players, &range));
        /* The manifest says what the run decided, perhaps from more inputs than this file holds.
         * (A player's values must not be kept: a run that kept them was wrong.) */
        const char *said = manifest_text(manifest_find(arrays, array->key), "swap");
        for (int i = 0; said != NULL && i < LABEL_N_OPS; i++)
            if (strcmp(label_op_name((enum label_op)i), said) == 0 &&
                !(i == LABEL_KEEP && (b->options & ROLE_PLAYERS)))
                spec_set_swap(&lane->spec, (enum label_op)i);
    }
    return 0;
}

int lanes_init(struct lanes *lanes, struct shard *shard, const struct verify_request *request,
               struct verify_result *result, struct error *err)
{
    /* Copied arrays may hold NaN for "not known", unless they are used in training as numbers. */
    static const char numbers[] = "globals gf globalInputNC globalTargetsNC weights sample_weights";
    const size_t n = shard->archive.n_arrays;

    *lanes = (struct lanes){.shard = shard, .request = request, .result = result, .planes = -1};
    lanes->maker =
        (struct spec_maker){.board = shard_known_board(shard), .conventions = &shard->conventions};
    if (new_items(&lanes->items, n + 1, "arrays", err) != 0 ||
        new_items(&lanes->csrs, n + 1, "arrays", err) != 0)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const struct array *array = &shard->archive.arrays[i];
        const struct role_binding *b = &shard->bindings[i];
        struct lane *lane = &lanes->items[lanes->n];
        struct spec *spec = &lane->spec;
        struct error why = {0};

        if (b->role == ROLE_META || b->role == ROLE_DROP || b->role == ROLE_POLICY_OFFSETS)
            continue;
        *lane = (struct lane){.array = array, .binding = b, .values = -1};
        lane->is_finite =
            b->role != ROLE_COPY || role_lists(numbers, array->key, strlen(array->key));
        if (lanes->maker.board != NULL && strcmp(array->key, PLAN_SOURCE_KEY) != 0 &&
            strcmp(array->key, PLAN_TRANSFORM_KEY) != 0 &&
            spec_init(spec, &lanes->maker, array, b, &why) == 0) {
            lane->is_mapped = spec->doubt[0] == '\0';
            /* If it is known where some transforms send the planes, the images under the others
             * can still be checked for their stones. */
            for (uint32_t t = 1; t < spec->n_steps && spec->kind == SPEC_AXIS; t++)
                lane->is_mapped |= !spec->steps[t].is_unknown;
            if (spec->doubt[0] != '\0')
                error_set(&why, ERROR_DATA, "%s", spec->doubt);
        }
        if (!lane->is_mapped)
            spec_release(spec);
        if (why.kind == ERROR_DATA)
            findings_add(&result->findings, WARNING_AT(FINDING_SHAPE, array->key, FINDING_NO_ROW),
                         "", "", "%s: %s",
                         lane->is_mapped
                             ? "images that swap colours are checked for their stones only"
                             : "its images cannot be checked",
                         why.message);
        else if (why.kind != ERROR_NONE)
            return error_pass(err, &why);
        /* Planes are preferred to a grid of codes. */
        if (array->header.dtype.kind != DTYPE_OBJECT && role_is_on_cells(b->role) &&
            (lanes->planes < 0 ||
             (b->role < ROLE_GRID && lanes->items[lanes->planes].binding->role == ROLE_GRID)))
            lanes->planes = (int)lanes->n;
        /* The rows of an array in CSR form are its elements: count an average list. */
        lanes->row_nbytes += array->row_nbytes * (array->n_rows / (shard->n_rows + 1) + 1) + 1;
        lanes->n++;
    }
    for (struct lane *lane = lanes->items; lane < lanes->items + lanes->n; lane++) {
        /* NOLINTNEXTLINE(clang-analyzer-core.NullDereference): set for every lane */
        const int values = lane->binding->value_array;

        for (size_t k = 0; lane->binding->role == ROLE_POLICY_INDEX && k < lanes->n; k++)
            if (values >= 0 && lanes->items[k].array == &shard->archive.arrays[values])
                lane->values = (int)k;
    }
    return decide_labels(lanes, err);
}

/* --- opening --- */

int lanes_open(struct lanes *lanes, bool at_random, struct verify_result *result, struct error *err)
{
    lanes_close(lanes);
    for (size_t i = 0; i < lanes->n; i++) {
        struct lane *lane = &lanes->items[i];
        const int number = lane->binding->offsets_array;
        const bool is_csr = lane->binding->sparse == SPARSE_CSR && lane->array->objects == NULL;
        struct error why = {0};

        lane->is_broken &= result == NULL;
        if (lane->is_broken)
            continue;
        lane->reader =
            (struct reader){.arrays = &lane->array, .n_arrays = 1, .at_random = at_random};
        /* Indices and values share the offsets of their lists, which are read once. They must rise
         * from 0 to the end of the array. */
        if (is_csr) {
            const struct array *offsets = &lanes->shard->archive.arrays[number];
            struct csr *csr = &lanes->csrs[number];

            lane->reader.csr = csr;
            if ((csr->first != NULL || csr_open(csr, &offsets, &lane->array, 1, &why) == 0 ||
                 why.has_row) &&
                (why.kind != ERROR_NONE || csr->n_rows != lanes->shard->n_rows ||
                 csr->first[csr->n_rows] != lane->array->n_rows)) {
                lane->is_broken = true;
                if (result == NULL)
                    continue;
                findings_add(
                    &result->findings,
                    ERROR_AT(FINDING_LENGTH_MISMATCH, offsets->key, FINDING_NO_ROW),
                    text_format("0, rising to %llu", (unsigned long long)lane->array->n_rows).text,
                    "other numbers", "offsets that do not fit the array");
                continue;
            }
        }
        if (why.kind == ERROR_NONE &&
            reader_open(&lane->reader, lanes->request->settings->budget, &why) == 0)
            continue;
        lane->is_broken = true;
        if (result == NULL && why.kind != ERROR_DATA)
            return error_pass(err, &why);
        if (result != NULL && verify_read_failed(result, lane->array->key, &why, err) != 0)
            return -1;
    }
    return 0;
}

void lanes_close(struct lanes *lanes)
{
    for (size_t i = 0; i < lanes->n; i++)
        reader_close(&lanes->items[i].reader);
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

int window_init(struct window *window, struct lanes *lanes, uint64_t n, struct error *err)
{
    *window = (struct window){.lanes = lanes};
    return lanes != NULL && new_items(&window->batches, lanes->n + 1, "window of rows", err) != 0
               ? -1
               : window_reserve(window, n + 1, err);
}

int window_reserve(struct window *window, uint64_t n, struct error *err)
{
    if (n < window->capacity)
        return 0;
    window->capacity = n + 1;
    return list_room(&window->rows, n + 1, sizeof *window->rows, "window of rows", err) != 0 ||
                   list_room(&window->images, n + 1, sizeof *window->images, "window of rows",
                             err) != 0
               ? -1
               : list_room(&window->groups, n + 1, sizeof *window->groups, "window of rows", err);
}

void window_release(struct window *window)
{
    for (size_t i = 0; window->batches != NULL && i < window->lanes->n; i++)
        batch_release(&window->batches[i]);
    free(window->batches);
    free(window->rows);
    free(window->images);
    free(window->groups);
    *window = (struct window){0};
}

int window_read_lane(struct window *window, size_t i, struct error *err)
{
    struct lane *lane = &window->lanes->items[i];
    struct batch *batch = &window->batches[i];
    bool is_run = true;

    if (lane->is_broken || lane->reader.n_arrays == 0 || window->n == 0)
        return 0;
    batch->reader = &lane->reader;
    for (uint64_t k = 0; k < window->n && is_run; k++)
        is_run = window->rows[k] == window->rows[0] + k;
    if (is_run)
        return batch_read(batch, window->rows[0], window->n, err);
    batch_clear(batch);
    return batch_add(batch, window->rows, window->n, err);
}

struct row window_row(const struct window *window, size_t i, uint64_t at)
{
    const struct batch *batch = &window->batches[i];

    return at < batch->n ? batch_row(batch, at)
                         : (struct row){.dtype = &window->lanes->items[i].array->header.dtype};
}
