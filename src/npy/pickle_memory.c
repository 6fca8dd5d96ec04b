/* pickle_memory.c - the reader's memory: budget, arenas, stack, tuples, lists. */
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

int pickle_charge(struct pickle_reader *r, uint64_t n_bytes)
{
    if (n_bytes > r->heap_left)
        return pickle_fail(r, "needs more than %llu bytes of memory",
                           (unsigned long long)r->heap_nbytes);
    r->heap_left -= n_bytes;
    return 0;
}

static struct pickle_chunk *chunk_new(struct pickle_reader *r, const struct pickle_chunk *last,
                                      size_t n_bytes)
{
    size_t capacity = last == NULL ? MIN_CHUNK_NBYTES : 2 * last->n_bytes;
    struct pickle_chunk *chunk;

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
    chunk->n_used = 0;
    chunk->n_bytes = capacity;
    return chunk;
}

void *pickle_alloc(struct pickle_reader *r, struct pickle_arena *arena, size_t n_bytes)
{
    struct pickle_chunk *chunk = arena->chunks;
    void *allocated;

    if (n_bytes > r->heap_nbytes) {
        pickle_charge(r, n_bytes);
        return NULL;
    }
    n_bytes = (n_bytes + 7) & ~(size_t)7;
    if (chunk == NULL || chunk->n_bytes - chunk->n_used < n_bytes) {
        chunk = chunk_new(r, arena->chunks, n_bytes);
        if (chunk == NULL)
            return NULL;
        chunk->next = arena->chunks;
        arena->chunks = chunk;
    }
    allocated = (uint8_t *)chunk->data + chunk->n_used;
    chunk->n_used += n_bytes;
    return allocated;
}

void pickle_chunks_free(struct pickle_chunk *chunks)
{
    while (chunks != NULL) {
        struct pickle_chunk *next = chunks->next;

        free(chunks);
        chunks = next;
    }
}

void pickle_reader_release(struct pickle_reader *r)
{
    while (r->lists != NULL) {
        struct pickle_list *list = r->lists;

        r->lists = list->next;
        free(list->values);
    }
    pickle_chunks_free(r->scratch.chunks);
    free(r->stack);
    free(r->marks);
    free(r->fetched);
    free(r->memo);
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

int pickle_stack_grow(struct pickle_reader *r)
{
    struct pickle_value *grown = grow(r, r->stack, &r->stack_capacity, sizeof *grown);

    if (grown == NULL)
        return -1;
    r->stack = grown;
    return 0;
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
        return pickle_fail(r, "no mark on the stack");
    *from = r->marks[--r->n_marks];
    r->fence = r->n_marks == 0 ? 0 : r->marks[r->n_marks - 1];
    return 0;
}

static struct pickle_value *tuple_alloc(struct pickle_reader *r, size_t n)
{
    struct pickle_value *tuple;

    if (n >= PICKLE_TUPLE_SIZES || r->free_tuples[n] == NULL)
        return pickle_alloc(r, &r->scratch, n * sizeof *tuple);
    tuple = r->free_tuples[n];
    r->free_tuples[n] = tuple->as.tuple;
    return tuple;
}

int pickle_tuple_make(struct pickle_reader *r, size_t from)
{
    const size_t n = r->n_stack - from;
    struct pickle_value value = {.kind = VALUE_TUPLE, .n = (uint32_t)n};

    if (n > UINT32_MAX)
        return pickle_fail(r, "tuple is too long");
    if (n > 0) {
        value.as.tuple = tuple_alloc(r, n);
        if (value.as.tuple == NULL)
            return -1;
        for (size_t i = 0; i < n; i++) /* a few: quicker than a call of memcpy */
            value.as.tuple[i] = r->stack[from + i];
    }
    r->n_stack = from;
    return pickle_push(r, value);
}

static void tuple_free(struct pickle_reader *r, struct pickle_value *tuple)
{
    if (tuple->kept || tuple->n == 0 || tuple->n >= PICKLE_TUPLE_SIZES)
        return;
    tuple->as.tuple[0].as.tuple = r->free_tuples[tuple->n];
    r->free_tuples[tuple->n] = tuple->as.tuple;
}

void pickle_tuple_drop(struct pickle_reader *r, struct pickle_value *tuple)
{
    if (tuple->kept)
        return;
    for (uint32_t i = 0; i < tuple->n; i++)
        if (tuple->as.tuple[i].kind == VALUE_TUPLE)
            tuple_free(r, &tuple->as.tuple[i]);
    tuple_free(r, tuple);
}

int pickle_list_make(struct pickle_reader *r)
{
    struct pickle_list *list = pickle_alloc(r, &r->scratch, sizeof *list);

    if (list == NULL)
        return -1;
    *list = (struct pickle_list){.next = r->lists};
    r->lists = list;
    return pickle_push(r, (struct pickle_value){.kind = VALUE_LIST, .as.list = list});
}

/* Room for n more values: exactly what is needed at first, twice as much from then on. */
static int list_reserve(struct pickle_reader *r, struct pickle_list *list, size_t n)
{
    const size_t needed = list->n + n;
    size_t capacity = 2 * (size_t)list->capacity;
    struct pickle_value *grown;

    if (needed <= list->capacity)
        return 0;
    if (capacity < needed)
        capacity = needed;
    if (capacity > UINT32_MAX)
        return pickle_fail(r, "list is too long");
    if (pickle_charge(r, (capacity - list->capacity) * sizeof *grown) != 0)
        return -1;
    grown = realloc(list->values, capacity * sizeof *grown);
    if (grown == NULL)
        return error_no_memory(r->err, "object array");
    list->values = grown;
    list->capacity = (uint32_t)capacity;
    return 0;
}

int pickle_list_append(struct pickle_reader *r, struct pickle_list *list,
                       const struct pickle_value *values, size_t n)
{
    const struct pickle_limits *limits = r->limits;
    const uint64_t longest =
        limits->n_items > limits->list_items ? limits->n_items : limits->list_items;

    if (n > longest || list->n > longest - n)
        return pickle_fail(r, "list of more than %llu items", (unsigned long long)longest);
    if (n == 0)
        return 0;
    if (list_reserve(r, list, n) != 0)
        return -1;
    memcpy(list->values + list->n, values, n * sizeof *values);
    list->n += (uint32_t)n;
    return 0;
}
