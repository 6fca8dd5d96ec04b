/* pickle_finish.c - the last value of a pickle becomes the document; nothing here recurses. */
#include "npy/pickle_reader.h"

#include "base/text.h"

#include <string.h>

static const struct {
    const char *name;
    int item_kind; /* enum pickle_kind of the scalars, else -1 */
} value_kinds[] = {
    [VALUE_UNSET] = {"nothing", -1},
    [VALUE_NONE] = {"None", PICKLE_NONE},
    [VALUE_BOOL] = {"a bool", PICKLE_BOOL},
    [VALUE_INT] = {"an int", PICKLE_INT},
    [VALUE_FLOAT] = {"a float", PICKLE_FLOAT},
    [VALUE_STRING] = {"a str", PICKLE_STRING},
    [VALUE_BYTES] = {"bytes", -1},
    [VALUE_TUPLE] = {"a tuple", -1},
    [VALUE_LIST] = {"a list", -1},
    [VALUE_GLOBAL] = {"a class or function", -1},
    [VALUE_DTYPE] = {"a dtype", -1},
    [VALUE_ARRAY] = {"an array", -1},
};

const char *pickle_value_name(const struct pickle_value *value)
{
    return value_kinds[value->kind].name;
}

/* Count what one more reference adds to the document's data. */
static int add_total(struct pickle_reader *r, uint64_t n_bytes, uint64_t *total)
{
    if (__builtin_add_overflow(*total, n_bytes, total) || *total > r->limits->total_nbytes)
        return pickle_fail(r,
                           "more than %llu bytes of data when shared objects are counted each "
                           "time",
                           (unsigned long long)r->limits->total_nbytes);
    return 0;
}

static int convert_scalar(struct pickle_reader *r, const struct pickle_value *value,
                          struct pickle_item *item, uint64_t *total)
{
    const int kind = value_kinds[value->kind].item_kind;

    if (kind < 0)
        return pickle_fail(r, "item %llu is or holds %s, which is not accepted",
                           (unsigned long long)r->item, pickle_value_name(value));
    item->kind = (uint8_t)kind;
    item->as.integer = value->as.integer;
    if (kind == PICKLE_FLOAT)
        item->as.number = value->as.number;
    if (kind != PICKLE_STRING)
        return 0;
    if (value->n > r->limits->string_nbytes)
        return pickle_fail(r, "item %llu: str of %u bytes, at most %llu are accepted",
                           (unsigned long long)r->item, value->n,
                           (unsigned long long)r->limits->string_nbytes);
    if (!text_is_utf8(value->as.bytes, value->n))
        return pickle_fail(r, "item %llu: str is not UTF-8", (unsigned long long)r->item);
    item->as.bytes = value->as.bytes;
    item->n_bytes_or_items = value->n;
    return add_total(r, value->n, total);
}

/* A list's items are converted once, however often it is referred to. */
static int convert_list(struct pickle_reader *r, struct pickle_list *list, struct pickle_item *item,
                        uint64_t *total)
{
    struct pickle_item *items;

    if (list->items == NULL) {
        if (list->n > r->limits->list_items)
            return pickle_fail(r, "item %llu: list of %u items, at most %llu are accepted",
                               (unsigned long long)r->item, list->n,
                               (unsigned long long)r->limits->list_items);
        items = pickle_alloc(r, &r->document, list->n * sizeof *items);
        if (items == NULL)
            return -1;
        memset(items, 0, list->n * sizeof *items);
        list->n_bytes = list->n * sizeof *items;
        for (uint32_t i = 0; i < list->n; i++)
            if (convert_scalar(r, &list->values[i], &items[i], &list->n_bytes) != 0)
                return -1;
        list->items = items;
    }
    item->kind = PICKLE_LIST;
    item->n_bytes_or_items = list->n;
    item->as.items = list->items;
    return add_total(r, list->n_bytes, total);
}

static int convert_array(struct pickle_reader *r, const struct pickle_ndarray *array,
                         struct pickle_item *item, uint64_t *total)
{
    if (array->dtype.kind == 0)
        return pickle_fail(r, "item %llu: array without data", (unsigned long long)r->item);
    if (array->dtype.kind == DTYPE_OBJECT)
        return pickle_fail(r, "object array inside an object array");
    item->kind = PICKLE_ARRAY;
    item->n_bytes_or_items = (uint32_t)array->n_bytes;
    item->as.array = array;
    return add_total(r, array->n_bytes, total);
}

static int convert(struct pickle_reader *r, const struct pickle_value *value,
                   struct pickle_item *item, uint64_t *total)
{
    if (value->kind == VALUE_ARRAY)
        return convert_array(r, value->as.array, item, total);
    if (value->kind == VALUE_LIST)
        return convert_list(r, value->as.list, item, total);
    return convert_scalar(r, value, item, total);
}

static int check_end(struct pickle_reader *r)
{
    const struct pickle_value *top;

    if (r->n_stack != 1 || r->n_marks != 0)
        return pickle_fail(r, "%zu values on the stack at the end, expected one", r->n_stack);
    if (r->next != r->end)
        return pickle_fail(r, "%zu bytes behind the end of the pickle", (size_t)(r->end - r->next));
    top = &r->stack[0];
    if (top->kind != VALUE_ARRAY || top->as.array != r->object_array)
        return pickle_fail(r, "it holds %s, not an object array", pickle_value_name(top));
    /* Not at BUILD: a list that is memoised can still grow after it. */
    if (r->object_list->n != r->object_array->n_elements)
        return pickle_fail(r, "object array of %u items, its shape needs %llu", r->object_list->n,
                           (unsigned long long)r->object_array->n_elements);
    return 0;
}

int pickle_finish(struct pickle_reader *r, struct pickle_document *document)
{
    const struct pickle_ndarray *array = r->object_array;
    struct pickle_item *items;
    uint64_t total = 0;

    if (check_end(r) != 0)
        return -1;
    items = pickle_alloc(r, &r->document, array->n_elements * sizeof *items);
    if (items == NULL)
        return -1;
    memset(items, 0, array->n_elements * sizeof *items);
    for (; r->item < array->n_elements; r->item++)
        if (convert(r, &r->object_list->values[r->item], &items[r->item], &total) != 0)
            return -1;
    document->protocol = (int)r->protocol;
    document->n_dims = array->n_dims;
    memcpy(document->shape, array->shape, array->n_dims * sizeof *array->shape);
    document->n_items = array->n_elements;
    document->items = items;
    document->arena = r->document.chunks;
    return 0;
}
