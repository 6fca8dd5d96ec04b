/*
 * pickle_reader.h - inside the pickle reader: values, stack, memo, and the memory they live in.
 *
 * Memory. What the document keeps (arrays, shapes, items, decoded data) lives in one arena; what
 * only reading needs lives in another, in the stack and in the lists, and goes when reading ends.
 * All of it is charged to one budget. numpy memoises every object it writes but fetches few, so a
 * first pass over the opcodes (pickle_memo_scan) finds the slots that are ever fetched, and only
 * those are kept; tuples that no such slot refers to are reused as soon as they are consumed.
 * An array of a million small ndarrays thus costs its index and little else.
 */
#ifndef SYMAUG_NPY_PICKLE_READER_H
#define SYMAUG_NPY_PICKLE_READER_H

#include "npy/pickle.h"
#include "npy/pickle_opcode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pickle_value_kind {
    VALUE_UNSET, /* an empty memo slot */
    VALUE_NONE,
    VALUE_BOOL,
    VALUE_INT,
    VALUE_FLOAT,
    VALUE_STRING,
    VALUE_BYTES,
    VALUE_TUPLE,
    VALUE_LIST,
    VALUE_GLOBAL,
    VALUE_DTYPE,
    VALUE_ARRAY,
};

/* The names a pickle may mention. None of them is ever called. */
enum pickle_global {
    GLOBAL_RECONSTRUCT,
    GLOBAL_DTYPE,
    GLOBAL_SCALAR,
    GLOBAL_FROMBUFFER,
    GLOBAL_ENCODE,
    GLOBAL_BYTES,
    GLOBAL_NDARRAY,
};

struct pickle_dtype {
    struct dtype dtype;
    bool built; /* BUILD has given it its byte order */
};

struct pickle_value {
    uint8_t kind; /* enum pickle_value_kind */
    bool kept;    /* a memo slot refers to it */
    uint32_t n;   /* STRING, BYTES: bytes; TUPLE: values */
    union {
        int64_t integer; /* BOOL, INT */
        double number;
        const uint8_t *bytes; /* borrowed from the pickle, or in the document's arena */
        struct pickle_value *tuple;
        struct pickle_list *list;
        enum pickle_global global;
        struct pickle_dtype *dtype;
        struct pickle_ndarray *array; /* dtype.kind is 0 until it is built */
    } as;
};

struct pickle_list {
    struct pickle_value *values; /* owned */
    uint32_t n;
    uint32_t capacity;
    const struct pickle_item *items; /* once converted: in the document's arena */
    uint64_t n_bytes;                /* of the converted items and their strings */
    struct pickle_list *next;        /* of all lists */
};

struct pickle_chunk;

struct pickle_arena {
    struct pickle_chunk *chunks; /* owned */
};

#define PICKLE_TUPLE_SIZES 9

struct pickle_reader {
    const uint8_t *start, *next, *end; /* borrowed: the pickle */
    const uint8_t *opcode;             /* the one that is being carried out */
    const struct pickle_limits *limits;
    struct error *err;
    unsigned protocol;

    uint64_t heap_nbytes; /* the budget */
    uint64_t heap_left;
    struct pickle_arena document, scratch;
    struct pickle_list *lists;                            /* owned */
    struct pickle_value *free_tuples[PICKLE_TUPLE_SIZES]; /* by length; linked by as.tuple */

    struct pickle_value *stack; /* owned */
    size_t n_stack, stack_capacity;
    size_t *marks; /* owned: where on the stack the marks are */
    size_t n_marks, marks_capacity;
    size_t fence; /* stack index of the last mark: nothing below it can be popped */

    uint8_t *fetched;          /* owned: one bit per memo slot that some opcode fetches */
    struct pickle_value *memo; /* owned */
    uint64_t n_slots;          /* of memo, and bits of fetched */
    uint64_t n_memoized;
    bool has_put; /* slots come from PUT, else from MEMOIZE */

    struct pickle_ndarray *object_array; /* the one object array, once built */
    struct pickle_list *object_list;
    uint64_t item; /* of it, that is being converted */
};

/* ERROR_DATA "byte N: ...". Returns -1. */
int pickle_fail(struct pickle_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "a list", "an int": what kind of value it is, for messages. */
const char *pickle_value_name(const struct pickle_value *value);

/* Take n_bytes from the budget; ERROR_DATA when it is spent. */
int pickle_charge(struct pickle_reader *r, uint64_t n_bytes);

/* n_bytes from an arena, for 8-byte alignment, uninitialised; NULL with the error set. */
void *pickle_alloc(struct pickle_reader *r, struct pickle_arena *arena, size_t n_bytes);

/* Free an arena's chunks. */
void pickle_chunks_free(struct pickle_chunk *chunks);

/* Free everything but the document's arena. */
void pickle_reader_release(struct pickle_reader *r);

int pickle_stack_grow(struct pickle_reader *r);

static inline int pickle_push(struct pickle_reader *r, struct pickle_value value)
{
    if (r->n_stack == r->stack_capacity && pickle_stack_grow(r) != 0)
        return -1;
    r->stack[r->n_stack++] = value;
    return 0;
}

/* The top n values above the last mark are there. Returns 0 or -1. */
static inline int pickle_need(struct pickle_reader *r, size_t n)
{
    return r->n_stack - r->fence >= n ? 0 : pickle_fail(r, "stack underflow");
}

int pickle_mark_push(struct pickle_reader *r);

/* Remove the last mark; *from is the stack index of the first value above it. */
int pickle_mark_pop(struct pickle_reader *r, size_t *from);

/* Replace the values from stack index `from` on by a tuple of them. */
int pickle_tuple_make(struct pickle_reader *r, size_t from);

/* A tuple has been consumed: reuse it, and tuples directly in it, unless they are kept. */
void pickle_tuple_drop(struct pickle_reader *r, struct pickle_value *tuple);

/* A new empty list on the stack. */
int pickle_list_make(struct pickle_reader *r);

int pickle_list_append(struct pickle_reader *r, struct pickle_list *list,
                       const struct pickle_value *values, size_t n);

/* Find out which memo slots are fetched, and make room for them. */
int pickle_memo_scan(struct pickle_reader *r);

/* Put the top value into a slot. */
int pickle_memo_put(struct pickle_reader *r, uint64_t slot);

/* Push a slot's value. */
int pickle_memo_get(struct pickle_reader *r, uint64_t slot);

/* Push the global of that name, or refuse it. */
int pickle_global_push(struct pickle_reader *r, const uint8_t *module, size_t n_module,
                       const uint8_t *name, size_t n_name);

/* Carry out REDUCE and BUILD: match them against the patterns of numpy's own pickles. */
int pickle_reduce(struct pickle_reader *r);
int pickle_build(struct pickle_reader *r);

/* Turn the one value left on the stack into the document. */
int pickle_finish(struct pickle_reader *r, struct pickle_document *document);

#endif
