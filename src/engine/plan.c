/*
 * plan.c - what a plan holds, for those who make it (plan_build.c), add to it or read it: warnings
 * and notes, arrays by name, the chosen transforms, the order of the images, arrays that are made
 * and not read, and the shards into which an output is cut.
 */
#include "engine/plan.h"

#include "base/budget.h"

int plan_warn(struct plan *plan, struct error *err, const char *format, ...)
{
    char line[ERROR_MESSAGE_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return text_list_add(&plan->warnings, line, err);
}

void plan_note(struct plan *plan, const char *name, const char *value, uint64_t count)
{
    json_object_set_new(value != NULL ? plan->notes : plan->counts, name,
                        value != NULL ? json_string_nocheck(value)
                                      : json_integer((json_int_t)count));
}

const char *plan_key_planes(const struct plan *plan, const struct plan_array *array)
{
    const size_t n = strlen(array->key);
    const enum role role = array->binding.role;

    /* NAME[:PLANES],...: names may hold colons themselves. */
    for (const char *entry = plan->settings->key; entry != NULL; entry = strchr(entry, ',')) {
        entry += *entry == ',';
        if (strncmp(entry, array->key, n) == 0 &&
            (entry[n] == '\0' || strchr(",:", entry[n]) != NULL))
            return entry + n;
    }
    if (plan->settings->key != NULL)
        return NULL;
    /* Where boards know all members, cells hold targets. */
    const bool has_cells = (role == ROLE_PLANES || role == ROLE_GRID || role == ROLE_TILE) &&
                           !plan->board->family->only_known_members;
    const bool is_player = role == ROLE_TO_MOVE && !(array->binding.options & ROLE_WINNER);
    return role == ROLE_PACKED || has_cells || is_player ? "" : NULL;
}

struct plan_array *plan_find_array(const struct plan *plan, const char *key)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (strcmp(plan->arrays[i].key, key) == 0)
            return &plan->arrays[i];
    return NULL;
}

enum label_op plan_swap_label(const struct plan *plan, const struct plan_array *array)
{
    return plan->swaps ? spec_swap(&array->spec) : LABEL_KEEP;
}

/* --- which transforms --- */

int choose_transforms(struct plan *plan, const char *text, struct error *err)
{
    const struct board *board = plan->board;
    const bool has_tiles = board->family->has_tiles;
    const bool is_canonical = plan->conventions.planes == PLANES_CANONICAL;
    char *copy = strdup(text != NULL ? text : "all"), *rest = copy, *word;
    bool is_taken[BOARD_MAX_TRANSFORMS] = {false};
    int status = copy != NULL ? 0 : error_no_memory(err, "transforms");

    plan->n_chosen = 0;
    plan->swaps = false;
    while (status == 0 && (word = strsep(&rest, ",")) != NULL) {
        const bool all = strcmp(word, "all") == 0, rotations = strcmp(word, "rotations") == 0;
        const bool is_kind = all || rotations || strcmp(word, "reflections") == 0;
        const int t = is_kind ? 0 : board_find_transform(board, word);

        for (uint32_t k = 0; k < board->n_transforms && is_kind; k++) {
            const int sense = board_sense(board, k);

            is_taken[k] |= spec_allows(board, &plan->conventions, k) &&
                           (all || (rotations ? sense > 0 : sense < 0));
        }
        if (is_kind)
            continue;
        if (t < 0)
            status = error_set(
                err, ERROR_USAGE,
                "--transforms: board %s has no transform %s; `symaug boards %s` lists them",
                board->preset, text_quote(word).text, board->preset);
        else if (!spec_allows(board, &plan->conventions, (uint32_t)t))
            status =
                error_set(err, ERROR_USAGE, "--transforms: %d (%s) cannot be used: %s", t,
                          board->transforms[t].name,
                          is_canonical ? "with canonical planes it repeats another image"
                          : has_tiles  ? "tiles would have to be renumbered: use --tiles permute"
                                       : "it is not exact on this board");
        else if (is_taken[t])
            status = error_set(err, ERROR_USAGE, "--transforms: %d (%s) is listed twice", t,
                               board->transforms[t].name);
        else
            is_taken[t] = true;
    }
    free(copy);
    for (uint32_t t = 0; t < board->n_transforms && status == 0; t++)
        if (is_taken[t]) {
            plan->chosen[plan->n_chosen++] = (uint8_t)t;
            plan->swaps |= board->transforms[t].swaps_colours;
        }
    if (status == 0 && plan->n_chosen == 0)
        status = error_set(err, ERROR_USAGE, "--transforms: %s leaves no image on board %s",
                           text_quote(text).text, board->preset);
    return status;
}

/* --- which rows, in which order --- */

uint64_t plan_seed(const struct plan *plan)
{
    uint64_t seed = plan->settings->seed;

    for (const char *at = plan->settings->seed_name; at != NULL && *at != '\0'; at++)
        seed = shuffle_hash(seed, (unsigned char)*at);
    return seed;
}

int plan_set_order(struct plan *plan, struct error *err)
{
    plan->order = (struct order){
        .n_rows = plan->n_rows,
        .block_rows = plan->settings->block_rows,
        .chosen = plan->chosen,
        .n_chosen = plan->n_chosen,
        .selection = plan->selection.masks != NULL ? &plan->selection : NULL,
        .shuffled = plan->settings->shuffle,
        .seed = plan_seed(plan),
    };
    return order_init(&plan->order, err);
}

/* Copy an array with rows, whatever its role. */
static int copy_array(struct plan *plan, struct plan_array *array, struct error *err)
{
    const struct role_binding copy = {.role = ROLE_COPY};

    spec_release(&array->spec);
    return spec_init(&array->spec, &plan->maker, array->sources[0], &copy, err);
}

int plan_keep_rows(struct plan *plan, struct error *err)
{
    for (size_t i = 0; i < plan->n_arrays; i++)
        if (plan_array_has_rows(&plan->arrays[i]) && copy_array(plan, &plan->arrays[i], err) != 0)
            return -1;
    plan->n_chosen = 1; /* ids ascend, so the first is the identity */
    plan->swaps = plan->provenance = false;
    plan->is_surveyed = true;
    selection_release(&plan->selection);
    return selection_init(&plan->selection, plan->n_rows, 1, err);
}

/* --- arrays that are made and not read --- */

/* Their rows are in an unlinked temp file, which the plan sees as a stored array of its first
 * input, with no rows in the other inputs. So whatever reads, cuts, orders and writes rows need not
 * know of them. */

/* A list of numbers in a made array of objects. */
struct made_list {
    struct made_list *next;
    struct pickle_ndarray array;
    uint64_t n;
    uint8_t data[];
};

struct made {
    struct budget no_memory; /* but a folder: */
    struct scratch file;     /* so this is always a file, which is read through */
    struct input input;      /* with the same fd, which the scratch closes, and its key as path */
    struct array arrays[2];  /* the first input's, with all rows, and any other input's */
    uint64_t row_nbytes;
    struct pickle_item *items; /* owned, by row; NULL: not objects */
    struct made_list *lists;   /* owned: data of some items */
};

struct made *made_new(struct plan *plan, const char *key, const struct npy_header *form,
                      struct error *err)
{
    const bool is_object = form->dtype.kind == DTYPE_OBJECT;
    const struct text_quoted descr = text_format("'%s'", dtype_name(&form->dtype).text);
    uint64_t shape[NPY_MAX_DIMS], row_items, n_bytes;
    struct made *made;

    if (list_room(&plan->made, plan->n_made + 1, sizeof made, "array", err) != 0 ||
        new_items(&made, 1, "array", err) != 0)
        return NULL;
    plan->made[plan->n_made++] = made;
    if (bytes_product(form->shape + 1, form->n_dims - 1, &row_items) != 0 ||
        __builtin_mul_overflow(row_items, form->dtype.itemsize, &made->row_nbytes) ||
        __builtin_mul_overflow(form->shape[0], made->row_nbytes, &n_bytes) || n_bytes > INT64_MAX) {
        error_set(err, ERROR_DATA, "%s: the array is too large", text_path(key).text);
        return NULL;
    }
    made->no_memory.tmpdir = plan->settings->tmpdir;
    if ((is_object && new_items(&made->items, form->shape[0] + 1, "array", err) != 0) ||
        scratch_open(&made->file, n_bytes + 1, &made->no_memory, err) != 0 ||
        scratch_resize(&made->file, n_bytes, err) != 0)
        return NULL;
    made->input = (struct input){.path = strdup(key), .fd = made->file.fd, .n_bytes = n_bytes};
    memcpy(shape, form->shape, sizeof shape);
    for (size_t i = 0; i < 2; i++) {
        struct array *array = &made->arrays[i];

        shape[0] = i == 0 ? form->shape[0] : 0;
        *array = (struct array){.key = strdup(key),
                                .input = &made->input,
                                .packed_nbytes = shape[0] * made->row_nbytes,
                                .unpacked_nbytes = shape[0] * made->row_nbytes + is_object};
        if (asprintf(&array->member, "%s.npy", key) < 0)
            array->member = NULL;
        if (is_object)
            array->objects = calloc(1, sizeof *array->objects);
        if (made->input.path == NULL || array->key == NULL || array->member == NULL ||
            (is_object && array->objects == NULL)) {
            error_no_memory(err, "array");
            return NULL;
        }
        if (array_describe(array, descr.text, shape, form->n_dims, err) != 0)
            return NULL;
        if (!is_object)
            continue;
        array->unpacked_nbytes = 0; /* there is no pickle, which had to have some bytes */
        *array->objects = (struct pickle_document){
            .n_dims = 1, .shape = {shape[0]}, .n_items = shape[0], .items = made->items};
    }
    return made;
}

int made_write(struct made *made, uint64_t row, const void *rows, uint64_t n, struct error *err)
{
    return scratch_write(&made->file, row * made->row_nbytes, rows, n * made->row_nbytes, err);
}

void made_put_item(struct made *made, uint64_t row, const struct pickle_item *item)
{
    made->items[row] = *item;
}

int made_put_list(struct made *made, uint64_t row, const struct dtype *dtype, const void *numbers,
                  uint64_t n, struct error *err)
{
    const uint64_t n_bytes = n * dtype->itemsize;
    struct made_list *list = n_bytes <= UINT32_MAX ? malloc(sizeof *list + n_bytes) : NULL;

    if (list == NULL)
        return error_no_memory(err, "array");
    *list = (struct made_list){.next = made->lists, .n = n};
    list->array = (struct pickle_ndarray){.dtype = *dtype,
                                          .n_dims = 1,
                                          .shape = &list->n,
                                          .n_elements = n,
                                          .n_bytes = n_bytes,
                                          .data = list->data};
    memcpy(list->data, numbers, n_bytes);
    made->lists = list;
    made->arrays[0].objects->n_bytes += n_bytes;
    made->items[row] = (struct pickle_item){
        .kind = PICKLE_ARRAY, .n_bytes_or_items = (uint32_t)n_bytes, .as.array = &list->array};
    return 0;
}

int made_put(struct plan *plan, struct made *made, struct error *err)
{
    struct plan_array *array = plan_find_array(plan, made->input.path);

    if (array == NULL) {
        if (list_room(&plan->arrays, plan->n_arrays + 1, sizeof *array, "array", err) != 0)
            return -1;
        array = &plan->arrays[plan->n_arrays++];
        *array = (struct plan_array){.binding = {.role = ROLE_COPY}};
        if (new_items(&array->sources, plan->n_inputs, "array", err) != 0)
            return -1;
    }
    if (array->binding.role == ROLE_DROP)
        array->binding.role = ROLE_COPY;
    array->key = made->input.path;
    array->is_object = made->items != NULL;
    for (size_t i = 0; i < plan->n_inputs; i++) {
        if (array->is_object && array->sources[i] != NULL) /* some of its items stay */
            made->arrays[0].objects->n_bytes += array->sources[i]->objects->n_bytes;
        array->sources[i] = &made->arrays[i > 0];
    }
    return copy_array(plan, array, err);
}

static void made_free(struct made *made)
{
    for (size_t i = 0; i < 2; i++)
        array_release(&made->arrays[i]);
    while (made->lists != NULL) {
        struct made_list *list = made->lists;

        made->lists = list->next;
        free(list);
    }
    free(made->items);
    scratch_close(&made->file);
    free(made->input.path);
    free(made);
}

/* --- an output cut into shards --- */

/* Output rows of a block from which only --pick leaves out images. */
static uint64_t rows_of_block(const struct plan *plan)
{
    const uint64_t pick = plan->settings->canonical ? 1 : plan->settings->pick;

    return (pick > 0 && pick < plan->n_chosen ? pick : plan->n_chosen) * plan->order.block_rows;
}

enum shards_cut shards_cut(const struct plan *plan)
{
    if (plan->input_ends != NULL)
        return SHARDS_INPUTS;
    if (plan->settings->rows_per_shard == 0)
        return SHARDS_ONE;
    if (plan->order.shuffled || plan->settings->block_rows == 0) /* transform order: one block */
        return SHARDS_ROWS;
    return plan->settings->unique ? SHARDS_REACH : SHARDS_BLOCKS;
}

static uint64_t blocks_per_shard(const struct plan *plan)
{
    const uint64_t n = plan->settings->rows_per_shard / rows_of_block(plan);

    return n > 0 ? n : 1;
}

struct order shards_slice(const struct plan *plan, uint64_t i, uint64_t first)
{
    const struct order *whole = &plan->order;
    const uint64_t n_rows = plan->settings->rows_per_shard;
    const enum shards_cut cut = shards_cut(plan);
    uint64_t end = whole->n_whole;

    if (cut == SHARDS_INPUTS)
        end = plan->input_ends[i];
    else if (cut == SHARDS_BLOCKS)
        end = order_end_of_blocks(whole, first, blocks_per_shard(plan));
    else if (cut == SHARDS_ROWS && end - first > n_rows)
        end = first + n_rows;
    else if (cut == SHARDS_REACH && end - first > n_rows)
        end = order_end_of_blocks(whole, first + n_rows - 1, 1);
    return order_slice(whole, first, end - first);
}

uint64_t shards_count(const struct plan *plan)
{
    uint64_t n = 0, first = 0;

    if (plan->input_ends != NULL)
        return plan->n_inputs;
    do
        first += shards_slice(plan, n++, first).n_images;
    while (first < plan->order.n_whole);
    return n;
}

int shards_name(const struct plan *plan, const char *output, uint64_t i, struct text *name,
                struct error *err)
{
    static const char *const endings[] = {".npz", ".npy"};
    const char *slash = strrchr(output, '/'), *ending = "";
    const char *at = strchr(slash != NULL ? slash : output, '%');
    const size_t n = text_path_nbytes(output);

    if (shards_cut(plan) == SHARDS_ONE)
        return text_append(name, err, "%s", output);
    /* "%05d", or another width, in the last part of a name that has only one '%'. */
    if (at != NULL && strchr(at + 1, '%') == NULL && at[1] == '0' && at[2] >= '1' && at[2] <= '9' &&
        at[3] == 'd')
        return text_append(name, err, "%.*s%0*llu%.*s", (int)(at - output), output, at[2] - '0',
                           (unsigned long long)i, (int)(n - 4 - (size_t)(at - output)), at + 4);
    for (size_t k = 0; k < N_OF(endings); k++)
        if (n > 4 && strncmp(output + n - 4, endings[k], 4) == 0 && output[n - 5] != '/')
            ending = endings[k];
    return text_append(name, err, "%.*s-%05llu%s", (int)(n - strlen(ending)), output,
                       (unsigned long long)i, ending);
}

int shards_warn(struct plan *plan, struct error *err)
{
    const uint64_t asked = plan->settings->rows_per_shard, n_rows = rows_of_block(plan);
    const uint64_t rounded = blocks_per_shard(plan) * n_rows;

    if (shards_cut(plan) != SHARDS_BLOCKS || rounded == asked)
        return 0;
    return plan_warn(
        plan, err,
        "--rows-per-shard %llu: shards of %llu rows, so that blocks of %llu rows stay whole",
        (unsigned long long)asked, (unsigned long long)rounded, (unsigned long long)n_rows);
}

/* --- the end --- */

void plan_release(struct plan *plan)
{
    for (size_t i = 0; i < plan->n_arrays; i++) {
        free(plan->arrays[i].sources);
        spec_release(&plan->arrays[i].spec);
    }
    for (size_t i = 0; plan->csrs != NULL && i < plan->inputs[0].archive.n_arrays; i++)
        csr_release(&plan->csrs[i]);
    free(plan->arrays);
    free(plan->csrs);
    spec_maker_release(&plan->maker);
    for (size_t i = 0; i < plan->n_inputs; i++)
        shard_close(&plan->inputs[i]);
    free(plan->inputs);
    text_list_release(&plan->warnings);
    json_decref(plan->notes);
    json_decref(plan->counts);
    for (size_t i = 0; i < plan->n_made; i++)
        made_free(plan->made[i]);
    free(plan->made);
    free(plan->input_ends);
    selection_release(&plan->selection);
    *plan = (struct plan){0};
}
