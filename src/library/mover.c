/*
 * mover.c - the movers of the public API: a plan as `expand` makes it, with the whole survey of the
 * data done, whose moves are applied to the caller's rows. Arrays in memory are read like a file.
 */
#include "symaug.h"

#include "engine/kernel.h"
#include "positions/key.h"

struct symaug_mover {
    struct settings settings; /* owned, except for the caller's texts, used only to make it */
    struct plan plan;
    struct text_quoted *roles; /* owned: the role of each array, as text */
    struct key key;
    struct error no_key; /* why the arrays form no key; key has no arrays then */
};

/* --- failures --- */

static int fail(struct symaug_failure *failure, const struct error *err, bool in_memory)
{
    if (failure == NULL)
        return -1;
    *failure = (struct symaug_failure){.code = error_exit_code(err->kind),
                                       .row = err->has_row ? (int64_t)err->row : -1};
    if (!in_memory)
        snprintf(failure->file, sizeof failure->file, "%.*s", (int)err->file_nbytes,
                 err->message + err->file_at);
    snprintf(failure->array, sizeof failure->array, "%s", err->array);
    snprintf(failure->message, sizeof failure->message, "%s", err->message);
    return -1;
}

/* --- making a mover --- */

/* Set an option: "NAME=VALUE", or "NAME" for one without a value. */
static int set_option(struct settings *settings, const char *text, struct error *err)
{
    const size_t n = strcspn(text, "=");
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int)n, text);
    const struct option_row *row = n < sizeof name ? option_find("mover MOVES READS", name) : NULL;
    if (row == NULL || row->commands == NULL)
        return error_set(err, ERROR_USAGE, "unknown option %s", text_quote_bytes(text, n).text);
    if (row->argument != NULL && text[n] != '=')
        return error_set(err, ERROR_USAGE, "option %s needs a value", name);
    if (row->argument == NULL && text[n] == '=')
        return error_set(err, ERROR_USAGE, "option %s takes no value", name);
    return option_set(settings, row, row->argument != NULL ? text + n + 1 : NULL, err);
}

/* Find the arrays of the orbit key. A mover needs none: without a key only symaug_mover_keys fails,
 * unless an option asks for a key (is_told). */
static int find_key(symaug_mover *mover, bool is_told, struct error *err)
{
    const struct plan *plan = &mover->plan;

    if (!plan->swaps && board_swaps_colours(plan->board) &&
        plan->conventions.planes != PLANES_CANONICAL)
        error_set(&mover->no_key, ERROR_USAGE,
                  "orbit keys need the images with swapped colours, which transforms= leaves out");
    else if (key_of_plan(&mover->key, plan, NULL, &mover->no_key) == 0)
        return 0;
    key_release(&mover->key);
    return is_told ? error_pass(err, &mover->no_key) : 0;
}

/* A list of paths or options. */
struct words {
    const char *const *items; /* borrowed */
    size_t n;
};

static int build(symaug_mover *mover, struct words paths, struct words options, struct error *err)
{
    struct settings *settings = &mover->settings;
    struct plan *plan = &mover->plan;

    if (paths.n == 0)
        return error_set(err, ERROR_USAGE, "no files given");
    for (size_t i = 0; i < options.n; i++)
        if (set_option(settings, options.items[i], err) != 0)
            return -1;
    settings->n_threads = 1;
    if (settings_finish(settings, err) != 0 ||
        plan_build(plan, paths.items, paths.n, settings, err) != 0)
        return -1;
    /* A mover is asked for single images, so none may be left out. */
    if (plan->conventions.ambiguous == AMBIGUOUS_DROP)
        return error_set(err, ERROR_USAGE,
                         "ambiguous=drop leaves images out, which are asked for one by one here: "
                         "use ambiguous=map or ambiguous=keep");
    if (plan->board->family->castling != NULL && plan->conventions.castling == CASTLING_SKIP)
        return error_set(err, ERROR_USAGE,
                         "castling=skip leaves images out, which are asked for one by one here: "
                         "use castling=swap");
    if (plan_survey(plan, err) != 0 || find_key(mover, settings->key != NULL, err) != 0 ||
        new_items(&mover->roles, plan->n_arrays + 1, "roles", err) != 0)
        return -1;
    for (size_t i = 0; i < plan->n_arrays; i++)
        mover->roles[i] = role_binding_spec(&plan->arrays[i].binding);
    for (size_t i = 0; i < plan->n_inputs; i++)
        archive_in_let_go(&plan->inputs[i].archive);
    return 0;
}

/* Make a mover of files, or of the arrays in settings->memory. */
static symaug_mover *make(const struct settings *settings, struct words paths, struct words options,
                          struct symaug_failure *failure)
{
    struct error err = {0};
    symaug_mover *mover = calloc(1, sizeof *mover);

    if (mover == NULL) {
        error_no_memory(&err, "mover");
    } else {
        mover->settings = *settings;
        if (build(mover, paths, options, &err) == 0)
            return mover;
    }
    fail(failure, &err, settings->memory != NULL);
    symaug_mover_free(mover);
    return NULL;
}

symaug_mover *symaug_mover_new(const struct symaug_array *arrays, size_t n_arrays,
                               const char *const *options, size_t n_options,
                               struct symaug_failure *failure)
{
    static const char *const name = "arrays";
    static const struct symaug_array none;
    struct settings settings = settings_default;

    settings.memory = n_arrays > 0 ? arrays : &none;
    settings.n_memory = n_arrays;
    return make(&settings, (struct words){&name, 1}, (struct words){options, n_options}, failure);
}

symaug_mover *symaug_mover_open(const char *const *paths, size_t n_paths,
                                const char *const *options, size_t n_options,
                                struct symaug_failure *failure)
{
    return make(&settings_default, (struct words){paths, n_paths},
                (struct words){options, n_options}, failure);
}

void symaug_mover_free(symaug_mover *mover)
{
    if (mover == NULL)
        return;
    key_release(&mover->key);
    plan_release(&mover->plan);
    free(mover->roles);
    settings_release(&mover->settings);
    free(mover);
}

/* --- what a mover holds --- */

const symaug_board *symaug_mover_board(const symaug_mover *mover)
{
    return mover->plan.board;
}

size_t symaug_mover_transforms(const symaug_mover *mover, const uint8_t **ids)
{
    *ids = mover->plan.chosen;
    return mover->plan.n_chosen;
}

uint64_t symaug_mover_rows(const symaug_mover *mover, size_t i)
{
    return i < mover->plan.n_inputs ? mover->plan.inputs[i].n_rows : 0;
}

size_t symaug_mover_arrays(const symaug_mover *mover)
{
    return mover->plan.n_arrays;
}

static enum symaug_form form_of(const struct plan_array *array)
{
    const struct role_binding *binding = &array->binding;

    if (binding->role == ROLE_META || binding->role == ROLE_DROP)
        return SYMAUG_META;
    if (binding->sparse == SPARSE_CSR)
        return binding->role == ROLE_POLICY_OFFSETS ? SYMAUG_CSR_OFFSETS
               : binding->role == ROLE_POLICY_INDEX ? SYMAUG_CSR_INDICES
                                                    : SYMAUG_CSR_VALUES;
    if (array->is_object)
        return binding->role == ROLE_POLICY_INDEX ? SYMAUG_OBJECT_INDICES : SYMAUG_OBJECTS;
    return SYMAUG_ROWS;
}

struct symaug_moved symaug_mover_array(const symaug_mover *mover, size_t i)
{
    const struct plan_array *array = &mover->plan.arrays[i];
    const enum symaug_form form = form_of(array);
    bool is_key = false;

    for (size_t k = 0; k < mover->key.n_arrays; k++)
        is_key |= mover->key.arrays[k].index == i;
    return (struct symaug_moved){
        .name = array->key,
        .role = mover->roles[i].text,
        .form = form,
        .row_nbytes = form == SYMAUG_ROWS ? array->spec.row_nbytes : 0,
        .values = form == SYMAUG_ROWS && array->spec.kind == SPEC_PADDED
                      ? array->binding.value_array
                      : -1,
        .offsets = array->binding.sparse == SPARSE_CSR ? array->binding.offsets_array : -1,
        .is_key = is_key,
    };
}

/* --- moving --- */

/* The array of that number, if it has rows, or lists of indices, to move; else NULL. */
static const struct plan_array *find(const symaug_mover *mover, size_t array, bool as_lists,
                                     struct error *err)
{
    const struct plan_array *found = &mover->plan.arrays[array];
    enum symaug_form form = SYMAUG_META;

    if (array < mover->plan.n_arrays)
        form = form_of(found);
    if (as_lists ? form == SYMAUG_OBJECT_INDICES || form == SYMAUG_CSR_INDICES
                 : form == SYMAUG_ROWS)
        return found;
    error_set(err, ERROR_USAGE, "array %zu has no %s to move", array,
              as_lists ? "lists of indices" : "rows");
    return NULL;
}

static int check_transforms(const symaug_mover *mover, const uint8_t *transforms, size_t n,
                            struct error *err)
{
    bool allowed[256] = {false};

    for (uint32_t k = 0; k < mover->plan.n_chosen; k++)
        allowed[mover->plan.chosen[k]] = true;
    for (size_t k = 0; k < n; k++)
        if (!allowed[transforms[k]])
            return error_set(err, ERROR_USAGE,
                             "image %zu: transform %u is not one of those chosen on board %s", k,
                             transforms[k], mover->plan.board->preset);
    return 0;
}

/* Fail with "ARRAY: row R: reason". */
static int fail_row(const symaug_mover *mover, const struct plan_array *array, uint64_t row,
                    const struct error *reason, struct symaug_failure *failure)
{
    const struct error_place place = {.array = array->key, .has_row = true, .row = row};
    struct error err = {0};

    error_set_at(&err, reason->kind, &place, "%s", reason->message);
    return fail(failure, &err, mover->settings.memory != NULL);
}

/* The row of image k; a negative one becomes larger than any n_data. */
static inline uint64_t row_of(const struct symaug_rows *rows, size_t k)
{
    return rows->rows != NULL ? (uint64_t)rows->rows[k] : k;
}

/* Rows are read in random order, which no hardware prefetcher predicts, and waiting for memory
 * takes longer than moving them: each is prefetched this many bytes of other rows ahead. */
#define FETCH_NBYTES 4096u

/* Always inlined: gcc drops calls of a function that only prefetches. */
static inline __attribute__((always_inline)) void fetch(const struct symaug_rows *rows, size_t k,
                                                        uint64_t row_nbytes)
{
    const uint64_t row = k < rows->n ? row_of(rows, k) : rows->n_data;
    const uint8_t *data = rows->data;

    for (uint64_t i = 0; row < rows->n_data && i < row_nbytes; i += CACHE_LINE_NBYTES)
        __builtin_prefetch(data + row * row_nbytes + i);
}

int symaug_mover_move(const symaug_mover *mover, size_t array, const struct symaug_rows *rows,
                      void *out, struct symaug_failure *failure)
{
    struct error err = {0};
    const struct plan_array *found = find(mover, array, false, &err);
    const uint8_t *data = rows->data, *values = rows->values;
    uint8_t *to = out;

    if (found == NULL || check_transforms(mover, rows->transforms, rows->n, &err) != 0)
        return fail(failure, &err, true);
    if (found->spec.kind == SPEC_PADDED && values == NULL) {
        error_set(&err, ERROR_USAGE,
                  "array %zu: padded indices move by their values, but there are "
                  "none",
                  array);
        return fail(failure, &err, true);
    }
    const size_t n_ahead = (size_t)(FETCH_NBYTES / (found->spec.row_nbytes + 1)) + 1;
    for (size_t k = 0; k < rows->n; k++) {
        const uint64_t row = row_of(rows, k);

        fetch(rows, k + n_ahead, found->spec.row_nbytes);
        if (row >= rows->n_data) {
            error_set(&err, ERROR_USAGE, "image %zu: row %lld, but there are only %llu rows", k,
                      (long long)row, (unsigned long long)rows->n_data);
            return fail(failure, &err, true);
        }
        if (kernel_row(&found->spec, rows->transforms[k], data + row * found->spec.row_nbytes,
                       values != NULL ? values + row * found->spec.value_row_nbytes : NULL, to,
                       &err) != 0)
            return fail_row(mover, found, row, &err, failure);
        to += found->spec.row_nbytes;
    }
    return 0;
}

int symaug_mover_move_lists(const symaug_mover *mover, size_t array, const int64_t *starts,
                            const uint8_t *transforms, size_t n, const void *in, void *out,
                            struct symaug_failure *failure)
{
    static const struct dtype int64 = {.kind = DTYPE_INT, .itemsize = 8};
    struct error err = {0};
    const struct plan_array *found = find(mover, array, true, &err);

    if (found == NULL || check_transforms(mover, transforms, n, &err) != 0)
        return fail(failure, &err, true);
    const struct dtype *dtype = found->is_object ? &int64 : &found->spec.dtype;
    for (size_t k = 0; k < n; k++) {
        const uint64_t first = (uint64_t)starts[k], end = (uint64_t)starts[k + 1];

        if (end < first) {
            error_set(&err, ERROR_USAGE, "list %zu: ends before it begins", k);
            return fail(failure, &err, true);
        }
        if (kernel_indices(&found->spec, transforms[k], dtype,
                           (const uint8_t *)in + first * dtype->itemsize,
                           (uint8_t *)out + first * dtype->itemsize, end - first, &err) != 0)
            return fail_row(mover, found, k, &err, failure);
    }
    return 0;
}

int symaug_mover_keys(const symaug_mover *mover, const void *const *data, size_t n, uint64_t *keys,
                      struct symaug_failure *failure)
{
    struct key_room room = {0};
    struct error err = mover->no_key;
    int status = err.kind != ERROR_NONE ? -1 : 0;

    if (status == 0)
        status = key_room_init(&room, &mover->key, &err);
    for (size_t k = 0; k < n && status == 0; k++) {
        for (size_t i = 0; i < mover->key.n_arrays; i++) {
            const size_t array = mover->key.arrays[i].index;

            room.from[i] =
                (const uint8_t *)data[array] + k * mover->plan.arrays[array].spec.row_nbytes;
        }
        struct key_value value = key_of(&mover->key, &room);
        if (room.misfit != NULL) {
            status =
                fail_row(mover, &mover->plan.arrays[room.misfit->index], k, &room.why, failure);
            key_room_release(&room);
            return status;
        }
        keys[2 * k] = value.high;
        keys[2 * k + 1] = value.low;
    }
    key_room_release(&room);
    return status == 0 ? 0 : fail(failure, &err, mover->settings.memory != NULL);
}
