/*
 * pickle_values.c - the values of a pickle: their memory, the stack, and what REDUCE and BUILD make
 * of them. What would call Python code in a real unpickler is matched against the few patterns that
 * numpy writes, and refused otherwise. At the end the items of the object array are checked against
 * the limits, shared ones each time they are referred to.
 */
#include "npy/pickle_values.h"

#include "base/text.h"

/* --- messages --- */

int pickle_fail(struct pickle_reader *r, const char *format, ...)
{
    const long long at = r->opcode - r->start;
    const struct text_quoted byte = text_format("byte %lld", at);
    va_list args;

    va_start(args, format);
    error_fill_args(r->err, ERROR_DATA, &(struct error_place){.shown = byte.text}, format, args);
    va_end(args);
    return -1;
}

const char *pickle_value_name(const struct pickle_item *value)
{
    static const char *const names[VALUE_N_KINDS] = {
        [PICKLE_NONE] = "None",
        [PICKLE_BOOL] = "a bool",
        [PICKLE_INT] = "an int",
        [PICKLE_FLOAT] = "a float",
        [PICKLE_STRING] = "a str",
        [PICKLE_LIST] = "a list",
        [PICKLE_ARRAY] = "an array",
        [VALUE_BYTES] = "bytes",
        [VALUE_TUPLE] = "a tuple",
        [VALUE_DTYPE] = "a dtype",
        [VALUE_GLOBAL] = "a class or function",
    };

    return names[value->kind];
}

/* --- memory and the stack --- */

#define MIN_CHUNK_NBYTES (size_t)4096
#define MAX_CHUNK_NBYTES ((size_t)1 << 20)

struct pickle_chunk {
    struct pickle_chunk *next;
    size_t n_used;
    size_t n_bytes;
    uint64_t data[]; /* for its alignment */
};

/* Take n_bytes from the budget; ERROR_DATA when less is left. */
static int charge(struct pickle_reader *r, uint64_t n_bytes)
{
    const char *advice = r->limits->heap_advice;

    if (n_bytes > r->heap_left)
        return pickle_fail(r,
                           "needs more than %llu bytes of memory, at most that many are allowed%s",
                           (unsigned long long)r->heap_nbytes, advice != NULL ? advice : "");
    r->heap_left -= n_bytes;
    return 0;
}

void *pickle_alloc(struct pickle_reader *r, size_t n_bytes)
{
    struct pickle_chunk *chunk = r->document->chunks;

    n_bytes = (n_bytes + 7) & ~(size_t)7;
    if (chunk == NULL || chunk->n_bytes - chunk->n_used < n_bytes) {
        size_t capacity = chunk == NULL ? MIN_CHUNK_NBYTES
                                        : (size_t)smaller(2 * chunk->n_bytes, MAX_CHUNK_NBYTES);
        if (capacity < n_bytes)
            capacity = n_bytes;
        if (charge(r, capacity) != 0)
            return NULL;
        chunk = malloc(sizeof *chunk + capacity);
        if (chunk == NULL) {
            error_no_memory(r->err, "object array");
            return NULL;
        }
        *chunk = (struct pickle_chunk){.next = r->document->chunks, .n_bytes = capacity};
        r->document->chunks = chunk;
    }
    void *allocated = (uint8_t *)chunk->data + chunk->n_used;
    chunk->n_used += n_bytes;
    return allocated;
}

void pickle_release(struct pickle_document *document)
{
    for (struct pickle_list *list = document->lists; list != NULL; list = list->next)
        free(list->values);
    while (document->chunks != NULL) {
        struct pickle_chunk *chunk = document->chunks;

        document->chunks = chunk->next;
        free(chunk);
    }
    *document = (struct pickle_document){0};
}

int pickle_grow(struct pickle_reader *r, struct pickle_item **values, size_t from, size_t to)
{
    return charge(r, (to - from) * sizeof **values) != 0
               ? -1
               : list_room(values, to, sizeof **values, "object array", r->err);
}

int pickle_check_depth(struct pickle_reader *r, uint64_t n_values)
{
    if (n_values < r->limits->list_items)
        return 0;
    return pickle_fail(r, "more than %" PRIu64 " values on the stack, expected at most that many",
                       r->limits->list_items);
}

int pickle_top(struct pickle_reader *r, size_t n, size_t *from)
{
    *from = r->n_stack;
    for (size_t found = 0; found < n; found++) {
        if (*from == r->fence)
            return pickle_fail(r, "stack underflow: expected %zu values, found %zu", n, found);
        *from = (size_t)(pickle_below(&r->stack[*from - 1]) + 1 - r->stack);
    }
    return 0;
}

/* --- names, and what numpy calls with them --- */

#define NDARRAY       0 /* its place among the globals, below */
#define MAX_ARGUMENTS 8

static struct pickle_dtype *dtype_of(const struct pickle_item *value)
{
    return value->as.inner;
}

static bool is_text(const struct pickle_item *value, const char *text)
{
    return value->n_bytes_or_items == strlen(text) &&
           memcmp(value->as.bytes, text, value->n_bytes_or_items) == 0;
}

/*
 * The arguments of a callable or of BUILD as one letter per value: g global, t tuple, l list,
 * d dtype, s str, b bytes, x either, i int, ? bool or int, n None. Where they match, *values[i]
 * is value i.
 */
static bool matches(const struct pickle_item *tuple, const char *pattern,
                    const struct pickle_item *values[MAX_ARGUMENTS])
{
    static const uint32_t kinds[128] = {
        ['g'] = 1u << VALUE_GLOBAL,
        ['t'] = 1u << VALUE_TUPLE,
        ['l'] = 1u << PICKLE_LIST,
        ['d'] = 1u << VALUE_DTYPE,
        ['s'] = 1u << PICKLE_STRING,
        ['b'] = 1u << VALUE_BYTES,
        ['x'] = 1u << PICKLE_STRING | 1u << VALUE_BYTES,
        ['i'] = 1u << PICKLE_INT,
        ['?'] = 1u << PICKLE_BOOL | 1u << PICKLE_INT,
        ['n'] = 1u << PICKLE_NONE,
    };
    const struct pickle_item *value = tuple - 1, *below = pickle_below(tuple);
    size_t n = strlen(pattern);

    for (; n > 0 && value != below && (kinds[(uint8_t)pattern[n - 1]] >> value->kind & 1) != 0;
         n--) {
        values[n - 1] = value;
        value = pickle_below(value);
    }
    return n == 0 && value == below;
}

/* A complete dtype of numbers, or NULL with the error set. */
static const struct dtype *number_dtype(struct pickle_reader *r, const struct pickle_item *value)
{
    const struct pickle_dtype *type = dtype_of(value);

    if (type->built && dtype_is_number(&type->dtype))
        return &type->dtype;
    pickle_fail(r, "dtype is incomplete or not of numbers, expected a number's, found %s",
                type->built ? dtype_name(&type->dtype).text : "one without its state");
    return NULL;
}

/* Set an array's shape from a tuple of ints, and its counts. */
static int set_shape(struct pickle_reader *r, const struct pickle_item *tuple, uint32_t itemsize,
                     struct pickle_ndarray *array)
{
    uint64_t n_bytes = itemsize;
    bool empty = false;
    uint64_t *shape;

    if (tuple->n_bytes_or_items > PICKLE_MAX_DIMS)
        return pickle_fail(r, "array of %u dimensions, at most %d are accepted",
                           tuple->n_bytes_or_items, PICKLE_MAX_DIMS);
    shape = pickle_alloc(r, tuple->n_bytes_or_items * sizeof *shape);
    if (shape == NULL)
        return -1;
    for (uint32_t i = 0; i < tuple->n_bytes_or_items; i++) {
        const struct pickle_item *dim = tuple - tuple->n_bytes_or_items + i;

        if (dim->kind != PICKLE_INT)
            return pickle_fail(r, "array dimension is %s, expected an int", pickle_value_name(dim));
        if (dim->as.integer < 0)
            return pickle_fail(r, "negative array dimension %lld, expected 0 or more",
                               (long long)dim->as.integer);
        shape[i] = (uint64_t)dim->as.integer;
        empty = empty || shape[i] == 0;
        if (shape[i] != 0 && __builtin_mul_overflow(n_bytes, shape[i], &n_bytes))
            return pickle_fail(
                r, "array is too large, expected a size that fits 64 bits, found shape %s%s",
                text_shape(shape, i + 1).text, i + 1 < tuple->n_bytes_or_items ? "..." : "");
    }
    array->n_dims = (uint8_t)tuple->n_bytes_or_items;
    array->shape = shape;
    array->n_elements = empty ? 0 : n_bytes / itemsize;
    array->n_bytes = empty ? 0 : n_bytes;
    return 0;
}

static int set_data(struct pickle_reader *r, const struct dtype *dtype,
                    const struct pickle_item *shape, const struct pickle_item *data,
                    struct pickle_ndarray *array)
{
    if (set_shape(r, shape, dtype->itemsize, array) != 0)
        return -1;
    if (array->n_bytes != data->n_bytes_or_items)
        return pickle_fail(r, "array data of %u bytes, its shape needs %llu",
                           data->n_bytes_or_items, (unsigned long long)array->n_bytes);
    array->dtype = *dtype;
    array->data = data->as.bytes;
    return 0;
}

/* Make `result` a new array, which is returned; NULL on error. */
static struct pickle_ndarray *make_array(struct pickle_reader *r, struct pickle_item *result)
{
    struct pickle_ndarray *array = pickle_alloc(r, sizeof *array);

    if (array != NULL)
        *array = (struct pickle_ndarray){0};
    result->kind = PICKLE_ARRAY;
    result->as.inner = array;
    return array;
}

/* _reconstruct(ndarray, (0,), b'b') */
static int make_shell(struct pickle_reader *r, const struct pickle_item *const *arguments,
                      struct pickle_item *result)
{
    const struct pickle_item *shape = arguments[1];

    if (arguments[0]->as.integer != NDARRAY || shape->n_bytes_or_items != 1 ||
        shape[-1].kind != PICKLE_INT || shape[-1].as.integer != 0 || !is_text(arguments[2], "b"))
        return pickle_fail(r,
                           "unexpected arguments of _reconstruct, expected (ndarray, (0,), b'b')");
    return make_array(r, result) == NULL ? -1 : 0;
}

/* dtype('f4', False, True) */
static int make_dtype(struct pickle_reader *r, const struct pickle_item *const *arguments,
                      struct pickle_item *result)
{
    const struct pickle_item *name = arguments[0];
    const bool plain = name->n_bytes_or_items == 2 && name->as.bytes[0] != '\0' &&
                       strchr("biufO", name->as.bytes[0]) != NULL;
    struct pickle_dtype *dtype = pickle_alloc(r, sizeof *dtype);
    struct error refused = {0};

    if (dtype == NULL)
        return -1;
    *dtype = (struct pickle_dtype){0};
    if (!plain || dtype_parse((const char *)name->as.bytes, name->n_bytes_or_items, &dtype->dtype,
                              &refused) != 0)
        return pickle_fail(
            r, "dtype %s is not accepted in an object array, expected a number's or an object's",
            text_quote_bytes(name->as.bytes, name->n_bytes_or_items).text);
    *result = (struct pickle_item){.kind = VALUE_DTYPE, .as.inner = dtype};
    return 0;
}

/* scalar(dtype, bytes) */
static int make_scalar(struct pickle_reader *r, const struct pickle_item *const *arguments,
                       struct pickle_item *result)
{
    const struct dtype *dtype = number_dtype(r, arguments[0]);
    const uint8_t *data = arguments[1]->as.bytes;

    if (dtype == NULL)
        return -1;
    if (arguments[1]->n_bytes_or_items != dtype->itemsize)
        return pickle_fail(r, "scalar of %u bytes, its dtype has %u",
                           arguments[1]->n_bytes_or_items, (unsigned)dtype->itemsize);
    if (dtype->kind == DTYPE_FLOAT) {
        result->kind = PICKLE_FLOAT;
        result->as.number = dtype_get_double(dtype, data);
        return 0;
    }
    if (dtype->kind == DTYPE_UINT &&
        bytes_get_uint(data, dtype->itemsize, dtype->big_endian) > INT64_MAX)
        return pickle_fail(r, "integer beyond 64 bits, expected one below 2^63, found %" PRIu64,
                           bytes_get_uint(data, dtype->itemsize, dtype->big_endian));
    result->kind = dtype->kind == DTYPE_BOOL ? PICKLE_BOOL : PICKLE_INT;
    result->as.integer = dtype_get_int(dtype, data);
    return 0;
}

/* _frombuffer(bytes, dtype, shape, 'C') */
static int make_from_buffer(struct pickle_reader *r, const struct pickle_item *const *arguments,
                            struct pickle_item *result)
{
    const struct dtype *dtype = number_dtype(r, arguments[1]);
    const bool fortran_order = is_text(arguments[3], "F");

    if (dtype == NULL)
        return -1;
    if (!fortran_order && !is_text(arguments[3], "C"))
        return pickle_fail(
            r, "unexpected axis order of an array, expected 'C' or 'F', found %s",
            text_quote_bytes(arguments[3]->as.bytes, arguments[3]->n_bytes_or_items).text);
    struct pickle_ndarray *array = make_array(r, result);
    if (array == NULL)
        return -1;
    array->fortran_order = fortran_order;
    return set_data(r, dtype, arguments[2], arguments[0], array);
}

/* encode(str, 'latin1'): bytes in protocol 2, one character below U+0100 per byte. */
static int make_encoded(struct pickle_reader *r, const struct pickle_item *const *arguments,
                        struct pickle_item *result)
{
    const uint8_t *text = arguments[0]->as.bytes;
    const uint32_t n_text = arguments[0]->n_bytes_or_items;
    uint32_t n = 0;

    if (!is_text(arguments[1], "latin1"))
        return pickle_fail(
            r, "unexpected arguments of encode, expected (str, 'latin1'), found (str, %s)",
            text_quote_bytes(arguments[1]->as.bytes, arguments[1]->n_bytes_or_items).text);
    uint8_t *bytes = pickle_alloc(r, n_text);
    if (bytes == NULL)
        return -1;
    for (uint32_t i = 0; i < n_text; i++) {
        uint8_t c = text[i];

        if (c >= 0x80) {
            if ((c != 0xc2 && c != 0xc3) || i + 1 == n_text || (text[i + 1] & 0xc0) != 0x80)
                return pickle_fail(r,
                                   "text to encode is not Latin-1, expected code points below 256");
            c = (uint8_t)(c << 6 | (text[++i] & 0x3f));
        }
        bytes[n++] = c;
    }
    *result = (struct pickle_item){.kind = VALUE_BYTES, .n_bytes_or_items = n, .as.bytes = bytes};
    return 0;
}

/* The names a pickle may mention, what REDUCE accepts as arguments of each, and what it makes. */
static const struct {
    const char *module, *name, *pattern;
    int (*make)(struct pickle_reader *r, const struct pickle_item *const *arguments,
                struct pickle_item *result);
} globals[] = {
    [NDARRAY] = {"numpy", "ndarray", NULL, NULL}, /* never called */
    {"numpy.core.multiarray", "_reconstruct", "gtx", make_shell},
    {"numpy._core.multiarray", "_reconstruct", "gtx", make_shell},
    {"numpy.core._internal", "_reconstruct", "gtx", make_shell},
    {"numpy", "dtype", "x??", make_dtype},
    {"numpy.core.multiarray", "scalar", "db", make_scalar},
    {"numpy._core.multiarray", "scalar", "db", make_scalar},
    {"numpy.core.numeric", "_frombuffer", "bdts", make_from_buffer},
    {"numpy._core.numeric", "_frombuffer", "bdts", make_from_buffer},
    {"_codecs", "encode", "ss", make_encoded},
    {"__builtin__", "bytes", "", NULL}, /* b'' in protocol 2 */
    {"builtins", "bytes", "", NULL},
};

int pickle_global_push(struct pickle_reader *r, const struct pickle_item *module,
                       const struct pickle_item *name)
{
    for (size_t i = 0; i < N_OF(globals); i++)
        if (is_text(module, globals[i].module) && is_text(name, globals[i].name))
            return pickle_push(
                r, (struct pickle_item){.kind = VALUE_GLOBAL, .as.integer = (int64_t)i});
    const struct text_quoted full = text_format(
        "%.*s.%.*s", (int)smaller(module->n_bytes_or_items, 90), (const char *)module->as.bytes,
        (int)smaller(name->n_bytes_or_items, 90), (const char *)name->as.bytes);
    return pickle_fail(
        r, "refused: it names %s, only plain numpy arrays are accepted; nothing was executed",
        text_quote(full.text).text);
}

int pickle_reduce(struct pickle_reader *r)
{
    struct pickle_item result = {.kind = VALUE_BYTES, .as.bytes = r->start};
    const struct pickle_item *values[MAX_ARGUMENTS], *first = NULL;
    unsigned n = 0;
    size_t from;

    if (pickle_top(r, 2, &from) != 0)
        return -1;
    const struct pickle_item *arguments = &r->stack[r->n_stack - 1];
    const struct pickle_item *callable = pickle_below(arguments);
    if (callable->kind != VALUE_GLOBAL || arguments->kind != VALUE_TUPLE)
        return pickle_fail(r, "call of %s with %s, expected a name and a tuple",
                           pickle_value_name(callable), pickle_value_name(arguments));
    const size_t i = (size_t)callable->as.integer;
    if (globals[i].pattern == NULL || !matches(arguments, globals[i].pattern, values)) {
        for (const struct pickle_item *v = arguments - 1; v != callable; v = pickle_below(v), n++)
            first = v;
        return pickle_fail(
            r, "unexpected arguments of %s, expected those that numpy writes, found %u%s%s",
            globals[i].name, n, n > 0 ? ", the first " : "", n > 0 ? pickle_value_name(first) : "");
    }
    if (globals[i].make != NULL && globals[i].make(r, values, &result) != 0)
        return -1;
    r->stack[from] = result;
    r->n_stack = from + 1;
    return 0;
}

int pickle_build(struct pickle_reader *r)
{
    const struct pickle_item *values[MAX_ARGUMENTS];
    size_t from;

    if (pickle_top(r, 2, &from) != 0)
        return -1;
    const struct pickle_item *state = &r->stack[r->n_stack - 1], *object = pickle_below(state);
    struct pickle_ndarray *array = object->as.inner;
    if (state->kind != VALUE_TUPLE)
        return pickle_fail(r, "state is %s, not a tuple", pickle_value_name(state));
    if (object->kind == VALUE_DTYPE) { /* (3, '<', None, None, None, -1, -1, 0) */
        struct pickle_dtype *dtype = dtype_of(object);
        const bool one_byte = dtype->dtype.itemsize <= 1; /* objects have size 0 here */
        const int64_t flags = dtype->dtype.kind == DTYPE_OBJECT ? PICKLE_OBJECT_FLAGS : 0;

        if (dtype->built || !matches(state, "ixnnniii", values) || values[0]->as.integer != 3 ||
            values[1]->n_bytes_or_items != 1 || values[5]->as.integer != -1 ||
            values[6]->as.integer != -1 || values[7]->as.integer != flags)
            return pickle_fail(r, "unexpected state of a dtype, expected (3, order, None, None, "
                                  "None, -1, -1, flags)");
        const char order = (char)values[1]->as.bytes[0];
        if (one_byte ? order != '|' : order != '<' && order != '>')
            return pickle_fail(r, "unexpected byte order of a dtype, expected %s, found %s",
                               one_byte ? "'|'" : "'<' or '>'", text_quote_bytes(&order, 1).text);
        dtype->dtype.big_endian = order == '>';
        dtype->built = true;
    } else if (object->kind != PICKLE_ARRAY) {
        return pickle_fail(r, "state of %s, expected that of a dtype or an array",
                           pickle_value_name(object));
    } else if (array->dtype.kind != 0) {
        return pickle_fail(r, "second state of an array, expected one");
    } else if (matches(state, "itd?l", values) && dtype_of(values[2])->built &&
               dtype_of(values[2])->dtype.kind == DTYPE_OBJECT && values[0]->as.integer == 1) {
        if (r->object_array != NULL)
            return pickle_fail(r, "object array inside an object array, expected one of numbers");
        if (set_shape(r, values[1], 1, array) != 0)
            return -1;
        if (array->n_elements > r->limits->n_items)
            return pickle_fail(r, "object array of %" PRIu64 " items, expected at most %" PRIu64,
                               array->n_elements, r->limits->n_items);
        array->dtype = dtype_of(values[2])->dtype;
        r->object_array = array;
        r->object_list = values[4]->as.inner;
    } else { /* (1, shape, dtype, fortran_order, data) */
        if (!matches(state, "itd?b", values) || values[0]->as.integer != 1)
            return pickle_fail(
                r, "unexpected state of an array, expected (1, shape, dtype, order, data)");
        const struct dtype *dtype = number_dtype(r, values[2]);
        if (dtype == NULL)
            return -1;
        array->fortran_order = values[3]->as.integer != 0;
        if (set_data(r, dtype, values[1], values[4], array) != 0)
            return -1;
    }
    r->n_stack = from + 1;
    return 0;
}

/* --- the items of the object array --- */

/* Check a scalar and add the size of its string, if it is one, to *n_bytes. */
static int check_scalar(struct pickle_reader *r, uint32_t i, const struct pickle_item *item,
                        uint64_t *n_bytes)
{
    if (item->kind > PICKLE_STRING)
        return pickle_fail(r, "item %u is or holds %s, which is not accepted, expected " PLAIN_DATA,
                           i, pickle_value_name(item));
    if (item->kind != PICKLE_STRING)
        return 0;
    if (item->n_bytes_or_items > r->limits->string_nbytes)
        return pickle_fail(r, "item %u: str of %u bytes, at most %llu are accepted", i,
                           item->n_bytes_or_items, (unsigned long long)r->limits->string_nbytes);
    if (!text_is_utf8(item->as.bytes, item->n_bytes_or_items))
        return pickle_fail(r, "item %u: str is not UTF-8, expected text", i);
    *n_bytes += item->n_bytes_or_items;
    return 0;
}

int pickle_finish_items(struct pickle_reader *r)
{
    const struct pickle_list *all = r->object_list;
    uint64_t *total = &r->document->n_bytes;

    for (uint32_t i = 0; i < all->n; i++) {
        struct pickle_item *item = &all->values[i];
        const struct pickle_ndarray *array = item->as.array;
        struct pickle_list *list = item->as.inner;
        uint64_t n_bytes = 0;

        if (item->kind == PICKLE_ARRAY) {
            if (array->dtype.kind == 0)
                return pickle_fail(r, "item %u: array without data, expected its state", i);
            if (array->dtype.kind == DTYPE_OBJECT)
                return pickle_fail(
                    r, "item %u: object array inside an object array, expected one of numbers", i);
            item->n_bytes_or_items = (uint32_t)array->n_bytes;
            n_bytes = array->n_bytes;
        } else if (item->kind == PICKLE_LIST) {
            if (!list->checked) { /* once, however often it is referred to */
                if (list->n > r->limits->list_items)
                    return pickle_fail(r, "item %u: list of %u items, at most %llu are accepted", i,
                                       list->n, (unsigned long long)r->limits->list_items);
                list->n_bytes = list->n * sizeof *list->values;
                for (uint32_t k = 0; k < list->n; k++)
                    if (check_scalar(r, i, &list->values[k], &list->n_bytes) != 0)
                        return -1;
                list->checked = true;
            }
            item->n_bytes_or_items = list->n;
            item->as.items = list->values;
            n_bytes = list->n_bytes;
        } else if (check_scalar(r, i, item, &n_bytes) != 0) {
            return -1;
        }
        if (__builtin_add_overflow(*total, n_bytes, total) || *total > r->limits->total_nbytes)
            return pickle_fail(
                r, "more than %llu bytes of data when shared objects are counted each time",
                (unsigned long long)r->limits->total_nbytes);
    }
    return 0;
}
