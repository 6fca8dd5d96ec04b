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

struct pickle_chunk {
    struct pickle_chunk *next;
    size_t n_used;
    size_t n_bytes;
    uint64_t data[]; /* for its alignment */
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
    struct pickle_chunk *chunk = r->arena->chunks;
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
        *chunk = (struct pickle_chunk){.next = r->arena->chunks, .n_bytes = capacity};
        r->arena->chunks = chunk;
    }
    allocated = (uint8_t *)chunk->data + chunk->n_used;
    chunk->n_used += n_bytes;
    return allocated;
}

void pickle_arena_free(struct pickle_arena *arena)
{
    if (arena == NULL)
        return;
    for (struct pickle_list *list = arena->lists; list != NULL; list = list->next)
        free(list->values);
    while (arena->chunks != NULL) {
        struct pickle_chunk *chunk = arena->chunks;

        arena->chunks = chunk->next;
        free(chunk);
    }
    free(arena);
}

int pickle_push(struct pickle_reader *r, struct pickle_item value)
{
    const size_t added = r->capacity == 0 ? 64 : r->capacity;
    struct pickle_item *grown;

    if (r->n_stack == r->capacity) {
        if (pickle_charge(r, (uint64_t)added * sizeof *grown) != 0)
            return -1;
        grown = realloc(r->stack, (r->capacity + added) * sizeof *grown);
        if (grown == NULL)
            return error_no_memory(r->err, "object array");
        r->stack = grown;
        r->capacity += added;
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

int pickle_mark_pop(struct pickle_reader *r, size_t *from)
{
    if (r->n_marks == 0)
        return pickle_fail(r, "expected a mark on the stack, found no mark");
    *from = r->fence;
    r->fence = (size_t)r->stack[*from - 1].as.integer;
    r->n_marks--;
    return 0;
}

/* --- tuples and lists --- */

int pickle_tuple_make(struct pickle_reader *r, size_t from, size_t to)
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
    r->n_stack = to;
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

int pickle_list_append(struct pickle_reader *r, size_t from, size_t to)
{
    const size_t n = r->n_stack - from;
    const struct pickle_item *target;
    const uint64_t most =
        r->limits->n_items > r->limits->list_items ? r->limits->n_items : r->limits->list_items;
    struct pickle_list *list;
    struct pickle_item *grown;
    size_t capacity;

    if (to == r->fence)
        return pickle_fail(r, "stack underflow: expected %zu values, found %zu", n + 1, n);
    target = &r->stack[to - 1];
    list = target->as.inner;
    if (target->kind != PICKLE_LIST)
        return pickle_fail(r, "items for %s, not a list", pickle_value_name(target));
    if (n > most || list->n > most - n || list->n + n > UINT32_MAX)
        return pickle_fail(r, "list of more than %llu items, which is the most expected",
                           (unsigned long long)most);
    if (list->n + n > list->capacity) { /* just as many at first, twice as many from then on */
        capacity = 2 * (size_t)list->capacity;
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
    }
    if (n > 0)
        memcpy(list->values + list->n, r->stack + from, n * sizeof *list->values);
    list->n += (uint32_t)n;
    r->n_stack = to;
    return 0;
}
