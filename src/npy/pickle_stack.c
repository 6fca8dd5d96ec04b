/*
 * pickle_stack.c - what the pickle reader works with: messages, memory within its budget, the stack
 * with its marks, tuples that are used again, lists.
 */
#include "npy/pickle_reader.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIN_CHUNK_NBYTES (size_t)4096
#define MAX_CHUNK_NBYTES ((size_t)1 << 20)

struct chunk {
    struct chunk *next;
    size_t n_used;
    size_t n_bytes;
    uint64_t data[]; /* for its alignment */
};

/* What a document owns. */
struct pickle_arena {
    struct chunk *chunks;      /* owned */
    struct pickle_list *lists; /* each in a chunk, its values owned */
};

/* --- messages and memory --- */

int pickle_fail(struct pickle_reader *r, const char *format, ...)
{
    char reason[ERROR_MESSAGE_NBYTES - 64];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return error_set(r->err, ERROR_DATA, "byte %llu: %s",
                     (unsigned long long)(r->opcode - r->start), reason);
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

int pickle_charge(struct pickle_reader *r, uint64_t n_bytes)
{
    if (n_bytes > r->heap_left)
        return pickle_fail(r, "needs more than %llu bytes of memory, which is all it may take",
                           (unsigned long long)r->heap_nbytes);
    r->heap_left -= n_bytes;
    return 0;
}

void *pickle_alloc(struct pickle_reader *r, size_t n_bytes)
{
    struct chunk *chunk = r->arena->chunks;
    size_t capacity = chunk == NULL ? MIN_CHUNK_NBYTES : 2 * chunk->n_bytes;
    void *allocated;

    if (n_bytes > r->heap_nbytes) {
        pickle_charge(r, n_bytes);
        return NULL;
    }
    n_bytes = (n_bytes + 7) & ~(size_t)7;
    if (chunk == NULL || chunk->n_bytes - chunk->n_used < n_bytes) {
        if (capacity > MAX_CHUNK_NBYTES)
            capacity = MAX_CHUNK_NBYTES;
        if (capacity < n_bytes)
            capacity = n_bytes;
        if (pickle_charge(r, capacity) != 0)
            return NULL;
        chunk = malloc(sizeof *chunk + capacity);
        if (chunk == NULL) {
            error_no_memory(r->err, "object array");
            return NULL;
        }
        *chunk = (struct chunk){.next = r->arena->chunks, .n_bytes = capacity};
        r->arena->chunks = chunk;
    }
    allocated = (uint8_t *)chunk->data + chunk->n_used;
    chunk->n_used += n_bytes;
    return allocated;
}

struct pickle_arena *pickle_arena_new(struct error *err)
{
    struct pickle_arena *arena = calloc(1, sizeof *arena);

    if (arena == NULL)
        error_no_memory(err, "object array");
    return arena;
}

void pickle_arena_free(struct pickle_arena *arena)
{
    if (arena == NULL)
        return;
    for (struct pickle_list *list = arena->lists; list != NULL; list = list->next)
        free(list->values);
    while (arena->chunks != NULL) {
        struct chunk *chunk = arena->chunks;

        arena->chunks = chunk->next;
        free(chunk);
    }
    free(arena);
}

/* Double a vector of *capacity elements; the old one is still there on failure. */
static void *grow(struct pickle_reader *r, void *old, size_t *capacity, size_t element_nbytes)
{
    const size_t added = *capacity == 0 ? 64 : *capacity;
    void *grown;

    if (pickle_charge(r, (uint64_t)added * element_nbytes) != 0)
        return NULL;
    grown = realloc(old, (*capacity + added) * element_nbytes);
    if (grown == NULL) {
        error_no_memory(r->err, "object array");
        return NULL;
    }
    *capacity += added;
    return grown;
}

/* --- stack --- */

int pickle_push(struct pickle_reader *r, struct pickle_item value)
{
    if (r->n_stack == r->stack_capacity) {
        struct pickle_item *grown = grow(r, r->stack, &r->stack_capacity, sizeof *grown);

        if (grown == NULL)
            return -1;
        r->stack = grown;
    }
    r->stack[r->n_stack++] = value;
    return 0;
}

int pickle_need(struct pickle_reader *r, size_t n)
{
    const size_t found = r->n_stack - r->fence;

    return found >= n ? 0
                      : pickle_fail(r, "stack underflow: expected %zu values, found %zu", n, found);
}

int pickle_mark_push(struct pickle_reader *r)
{
    if (r->n_marks == r->marks_capacity) {
        size_t *grown = grow(r, r->marks, &r->marks_capacity, sizeof *grown);

        if (grown == NULL)
            return -1;
        r->marks = grown;
    }
    r->marks[r->n_marks++] = r->fence = r->n_stack;
    return 0;
}

int pickle_mark_pop(struct pickle_reader *r, size_t *from)
{
    if (r->n_marks == 0)
        return pickle_fail(r, "expected a mark on the stack, found no mark");
    *from = r->marks[--r->n_marks];
    r->fence = r->n_marks == 0 ? 0 : r->marks[r->n_marks - 1];
    return 0;
}

/* --- tuples and lists --- */

int pickle_tuple_make(struct pickle_reader *r, size_t from)
{
    const size_t n = r->n_stack - from;
    struct pickle_item *tuple = NULL;

    if (n > UINT32_MAX)
        return pickle_fail(r, "tuple of %zu values, expected at most %u", n, UINT32_MAX);
    if (n > 0 && n < PICKLE_TUPLE_SIZES && r->free_tuples[n] != NULL) {
        tuple = r->free_tuples[n];
        r->free_tuples[n] = tuple->as.inner;
    } else if (n > 0) {
        tuple = pickle_alloc(r, n * sizeof *tuple);
        if (tuple == NULL)
            return -1;
    }
    for (size_t i = 0; i < n; i++) /* a few: quicker than a call of memcpy */
        tuple[i] = r->stack[from + i];
    r->n_stack = from;
    return pickle_push(r, (struct pickle_item){.kind = VALUE_TUPLE,
                                               .n_bytes_or_items = (uint32_t)n,
                                               .as.inner = tuple});
}

static void free_tuple(struct pickle_reader *r, struct pickle_item *tuple)
{
    const uint32_t n = tuple->n_bytes_or_items;
    struct pickle_item *values = tuple->as.inner;

    if (tuple->is_kept || n == 0 || n >= PICKLE_TUPLE_SIZES)
        return;
    values[0].as.inner = r->free_tuples[n];
    r->free_tuples[n] = values;
}

void pickle_tuple_drop(struct pickle_reader *r, struct pickle_item *tuple)
{
    struct pickle_item *values = tuple->as.inner;

    if (tuple->is_kept)
        return;
    for (uint32_t i = 0; i < tuple->n_bytes_or_items; i++)
        if (values[i].kind == VALUE_TUPLE)
            free_tuple(r, &values[i]);
    free_tuple(r, tuple);
}

int pickle_list_push(struct pickle_reader *r)
{
    struct pickle_list *list = pickle_alloc(r, sizeof *list);

    if (list == NULL)
        return -1;
    *list = (struct pickle_list){.next = r->arena->lists};
    r->arena->lists = list;
    return pickle_push(r, (struct pickle_item){.kind = PICKLE_LIST, .as.inner = list});
}

/* Room for n more values: exactly what is needed at first, twice as much from then on. */
static int reserve(struct pickle_reader *r, struct pickle_list *list, size_t n)
{
    const uint64_t most =
        r->limits->n_items > r->limits->list_items ? r->limits->n_items : r->limits->list_items;
    size_t capacity = 2 * (size_t)list->capacity;
    struct pickle_item *grown;

    if (n > most || list->n > most - n || list->n + n > UINT32_MAX)
        return pickle_fail(r, "list of more than %llu items, which is the most expected",
                           (unsigned long long)most);
    if (list->n + n <= list->capacity)
        return 0;
    if (capacity < list->n + n)
        capacity = list->n + n;
    if (capacity > UINT32_MAX)
        capacity = UINT32_MAX;
    if (pickle_charge(r, (capacity - list->capacity) * sizeof *grown) != 0)
        return -1;
    grown = realloc(list->values, capacity * sizeof *grown);
    if (grown == NULL)
        return error_no_memory(r->err, "object array");
    list->values = grown;
    list->capacity = (uint32_t)capacity;
    return 0;
}

int pickle_list_append(struct pickle_reader *r, size_t from)
{
    const size_t n = r->n_stack - from;
    const struct pickle_item *target;
    struct pickle_list *list;

    if (pickle_need(r, n + 1) != 0)
        return -1;
    target = &r->stack[from - 1];
    if (target->kind != PICKLE_LIST)
        return pickle_fail(r, "items for %s, not a list", pickle_value_name(target));
    list = target->as.inner;
    if (reserve(r, list, n) != 0)
        return -1;
    if (n > 0)
        memcpy(list->values + list->n, r->stack + from, n * sizeof *list->values);
    list->n += (uint32_t)n;
    r->n_stack = from;
    return 0;
}
