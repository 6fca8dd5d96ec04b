/*
 * made.c - arrays that are made and not read. Their rows lie in an unlinked temp file, which is
 * described to the plan as stored arrays of its inputs are: one array for each input, all of them
 * in the one file. So whatever reads, cuts, orders and writes rows need not know of them.
 */
#include "engine/plan.h"

#include "base/budget.h"
#include "base/text.h"

/* A row of objects that was made. */
struct made_list {
    struct made_list *next;
    struct pickle_ndarray array;
    uint64_t n;
    uint8_t data[];
};

struct made {
    char *key;               /* owned */
    struct budget no_memory; /* but a folder */
    struct scratch file;     /* always a file; reading goes through: */
    struct input input;      /* with the same fd, which is the scratch's to close */
    struct array *arrays;    /* owned, one for each input */
    size_t n_arrays;
    uint64_t row_nbytes;
    struct pickle_item *items; /* owned, or NULL: of objects, by row */
    struct made_list *lists;   /* owned: what some of them hold */
};

struct made *made_new(struct plan *plan, const struct made_form *form, struct error *err)
{
    const bool is_object = form->dtype.kind == DTYPE_OBJECT;
    const struct text_quoted descr = text_format("'%s'", dtype_name(&form->dtype).text);
    struct made *made = calloc(1, sizeof *made);
    uint64_t shape[1 + sizeof form->row_shape / sizeof *form->row_shape];
    uint64_t row_items, first = 0, n_bytes;

    if (list_room(&plan->made, plan->n_made + 1, sizeof made, "array", err) != 0 || made == NULL) {
        free(made);
        error_no_memory(err, "array");
        return NULL;
    }
    plan->made[plan->n_made++] = made;
    if (bytes_product(form->row_shape, form->n_dims, &row_items) != 0 ||
        __builtin_mul_overflow(row_items, form->dtype.itemsize, &made->row_nbytes) ||
        __builtin_mul_overflow(plan->n_rows + form->n_elements, made->row_nbytes, &n_bytes) ||
        n_bytes > INT64_MAX) {
        error_set(err, ERROR_DATA, "%s: the array is too large", text_path(form->key).text);
        return NULL;
    }
    made->key = strdup(form->key);
    made->arrays = calloc(plan->n_archives + 1, sizeof *made->arrays);
    made->items = is_object ? calloc(plan->n_rows + 1, sizeof *made->items) : NULL;
    made->no_memory.tmpdir = plan->settings->tmpdir;
    int status = made->key == NULL || made->arrays == NULL || (is_object && made->items == NULL)
                     ? error_no_memory(err, "array")
                     : scratch_open(&made->file, n_bytes + 1, &made->no_memory, err);
    if (status == 0)
        status = scratch_resize(&made->file, n_bytes, err);
    made->input.path = made->key;
    made->input.fd = made->file.fd;
    made->input.n_bytes = n_bytes;
    memcpy(shape + 1, form->row_shape, sizeof form->row_shape);
    /* The rows of each input are the next part of the file. */
    for (size_t i = 0; i < plan->n_archives && status == 0; i++, first += shape[0]) {
        struct array *array = &made->arrays[made->n_arrays++];

        shape[0] = form->n_elements == 0 ? plan->archive_rows[i] : i == 0 ? form->n_elements : 0;
        *array = (struct array){.key = strdup(form->key),
                                .input = &made->input,
                                .offset = first * made->row_nbytes,
                                .packed_nbytes = shape[0] * made->row_nbytes,
                                .unpacked_nbytes = shape[0] * made->row_nbytes + is_object};
        if (asprintf(&array->member, "%s.npy", form->key) < 0)
            array->member = NULL;
        if (is_object)
            array->objects = calloc(1, sizeof *array->objects);
        if (array->key == NULL || array->member == NULL || (is_object && array->objects == NULL))
            status = error_no_memory(err, "array");
        else
            status = array_describe(array, descr.text, shape, form->n_dims + 1, err);
        if (status == 0 && is_object) {
            array->unpacked_nbytes = 0; /* there is no pickle, which had to have some bytes */
            *array->objects = (struct pickle_document){.n_dims = 1,
                                                       .shape = {shape[0]},
                                                       .n_items = shape[0],
                                                       .items = made->items + first};
        }
    }
    return status == 0 ? made : NULL;
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
    made->items[row] = (struct pickle_item){
        .kind = PICKLE_ARRAY, .n_bytes_or_items = (uint32_t)n_bytes, .as.array = &list->array};
    return 0;
}

int made_put(struct plan *plan, struct made *made, struct error *err)
{
    struct plan_array *array = plan_find_array(plan, made->key);

    if (array == NULL) {
        if (list_room(&plan->arrays, plan->n_arrays + 1, sizeof *array, "array", err) != 0)
            return -1;
        array = &plan->arrays[plan->n_arrays++];
        *array = (struct plan_array){.binding = {.role = ROLE_COPY}};
        array->sources = calloc(plan->n_archives, sizeof(struct array *));
        if (array->sources == NULL)
            return error_no_memory(err, "array");
    }
    array->key = made->key;
    array->member = made->arrays[0].member;
    array->is_object = made->items != NULL;
    for (size_t i = 0; i < plan->n_archives; i++)
        array->sources[i] = &made->arrays[i];
    return plan_copy_array(plan, array, err);
}

void made_free(struct made *made)
{
    if (made == NULL)
        return;
    for (size_t i = 0; i < made->n_arrays; i++)
        array_release(&made->arrays[i]);
    while (made->lists != NULL) {
        struct made_list *list = made->lists;

        made->lists = list->next;
        free(list);
    }
    free(made->items);
    scratch_close(&made->file);
    free(made->arrays);
    free(made->key);
    free(made);
}
