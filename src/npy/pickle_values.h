/*
 * pickle_values.h - inside the pickle reader: opcodes, values, stack, memo, and their memory.
 *
 * A value on the stack is a struct pickle_item of more kinds, so that the list of an object array
 * becomes the document's items where it stands. What the document keeps lives in one arena and in
 * the lists; both are charged to one budget, with everything else that a pickle makes the reader
 * allocate. numpy memoises every object that it writes but fetches few: the slots that are ever
 * fetched are looked for first, only those are kept, and tuples that none of them refers to are
 * reused as soon as they are consumed. An array of a million small ndarrays thus costs its index
 * and little else.
 */
#pragma once

#include "npy/pickle.h"

/* The opcodes of protocols 2 to 5 that numpy's object arrays need, and the form of what follows
 * each; all others are refused. PROTO is accepted as the first opcode alone, where the reader looks
 * for it itself. */
/* clang-format off */
#define PICKLE_OPCODES(row) \
    row(MARK, '(', NOTHING) \
    row(EMPTY_TUPLE, ')', NOTHING) \
    row(STOP, '.', NOTHING) \
    row(BINBYTES, 'B', COUNTED4) \
    row(SHORT_BINBYTES, 'C', COUNTED1) \
    row(BINFLOAT, 'G', NUMBER8) \
    row(BININT, 'J', NUMBER4) \
    row(BININT1, 'K', NUMBER1) \
    row(BININT2, 'M', NUMBER2) \
    row(NONE, 'N', NOTHING) \
    row(REDUCE, 'R', NOTHING) \
    row(BINSTRING, 'T', COUNTED4) \
    row(SHORT_BINSTRING, 'U', COUNTED1) \
    row(BINUNICODE, 'X', COUNTED4) \
    row(EMPTY_LIST, ']', NOTHING) \
    row(APPEND, 'a', NOTHING) \
    row(BUILD, 'b', NOTHING) \
    row(GLOBAL, 'c', LINES) \
    row(APPENDS, 'e', NOTHING) \
    row(BINGET, 'h', NUMBER1) \
    row(LONG_BINGET, 'j', NUMBER4) \
    row(BINPUT, 'q', NUMBER1) \
    row(LONG_BINPUT, 'r', NUMBER4) \
    row(TUPLE, 't', NOTHING) \
    row(PROTO, 0x80, REFUSED) \
    row(TUPLE1, 0x85, NOTHING) \
    row(TUPLE2, 0x86, NOTHING) \
    row(TUPLE3, 0x87, NOTHING) \
    row(NEWTRUE, 0x88, NOTHING) \
    row(NEWFALSE, 0x89, NOTHING) \
    row(LONG1, 0x8a, COUNTED1) \
    row(SHORT_BINUNICODE, 0x8c, COUNTED1) \
    row(BINBYTES8, 0x8e, COUNTED8) \
    row(STACK_GLOBAL, 0x93, NOTHING) \
    row(MEMOIZE, 0x94, NOTHING) \
    row(FRAME, 0x95, NUMBER8) \
    row(BYTEARRAY8, 0x96, COUNTED8)
/* clang-format on */

#define PICKLE_OPCODE(name, byte, form) OP_##name = (byte),
enum pickle_op { PICKLE_OPCODES(PICKLE_OPCODE) };

#define PICKLE_OBJECT_FLAGS 63 /* of the dtype of objects, in its state */

/* Kinds of values beside enum pickle_kind. */
enum pickle_value_kind {
    VALUE_BYTES = PICKLE_N_KINDS,
    VALUE_TUPLE,  /* as.inner: its values */
    VALUE_GLOBAL, /* as.integer: which of the names that a pickle may mention */
    VALUE_DTYPE,  /* as.inner: struct pickle_dtype */
    VALUE_MARK,   /* as.integer: the fence before it */
    VALUE_N_KINDS,
};

struct pickle_dtype {
    struct dtype dtype;
    bool built; /* BUILD has given it its byte order */
};

/* as.inner of PICKLE_LIST while it is read. (That of PICKLE_ARRAY is its struct pickle_ndarray,
 * whose dtype.kind is 0 until it is built.) */
struct pickle_list {
    struct pickle_item *values; /* owned */
    uint32_t n;
    uint32_t capacity;
    bool checked;             /* it holds scalars alone, and */
    uint64_t n_bytes;         /* this is what they and their strings take */
    struct pickle_list *next; /* of all lists */
};

#define PICKLE_TUPLE_SIZES 9

/* What a document owns. */
struct pickle_arena {
    struct pickle_chunk *chunks; /* owned */
    struct pickle_list *lists;   /* each in a chunk, its values owned */
};

struct pickle_reader {
    const uint8_t *start, *next, *end; /* borrowed: the pickle */
    const uint8_t *opcode;             /* the one that is being carried out */
    const struct pickle_limits *limits;
    struct error *err;
    unsigned protocol;

    uint64_t heap_nbytes; /* the budget */
    uint64_t heap_left;
    struct pickle_arena *arena;                          /* borrowed: the document's */
    struct pickle_item *free_tuples[PICKLE_TUPLE_SIZES]; /* by length; linked by as.inner */

    struct pickle_item *stack; /* owned */
    size_t n_stack, capacity;
    size_t n_marks; /* on the stack: each holds what `fence` was before it */
    size_t fence;   /* stack index after the last mark: nothing below it can be popped */

    uint8_t *fetched;         /* owned: one bit per memo slot that some opcode fetches */
    struct pickle_item *memo; /* owned */
    uint64_t n_slots;         /* of memo */
    uint64_t n_memoized;
    bool has_put; /* slots come from PUT, else from MEMOIZE */

    struct pickle_ndarray *object_array; /* the one object array, once built */
    struct pickle_list *object_list;
};

/* What an object array may hold, for messages. */
#define PLAIN_DATA "numbers, texts, lists and arrays of numbers"

/* ERROR_DATA "byte N: ...". Returns -1. */
int pickle_fail(struct pickle_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* "a list", "an int": what kind of value it is, for messages. */
const char *pickle_value_name(const struct pickle_item *value);

/* Take n_bytes from the budget; ERROR_DATA when it is spent. */
int pickle_charge(struct pickle_reader *r, uint64_t n_bytes);

/* n_bytes from the arena, for 8-byte alignment, uninitialised; NULL with the error set. */
void *pickle_alloc(struct pickle_reader *r, size_t n_bytes);

/* Room for `to` values where there was room for `from`. */
int pickle_grow(struct pickle_reader *r, struct pickle_item **values, size_t from, size_t to);

static inline int pickle_push(struct pickle_reader *r, struct pickle_item value)
{
    if (r->n_stack == r->capacity) {
        const size_t capacity = r->capacity == 0 ? 64 : 2 * r->capacity;

        if (pickle_grow(r, &r->stack, r->capacity, capacity) != 0)
            return -1;
        r->capacity = capacity;
    }
    r->stack[r->n_stack++] = value;
    return 0;
}

/* The top n values above the last mark are there. Returns 0 or -1. */
int pickle_need(struct pickle_reader *r, size_t n);

/* Push the global of that name, or refuse it. */
int pickle_global_push(struct pickle_reader *r, const struct pickle_item *module,
                       const struct pickle_item *name);

/* Carry out REDUCE and BUILD: match them against the patterns of numpy's own pickles. */
int pickle_reduce(struct pickle_reader *r);
int pickle_build(struct pickle_reader *r);

/* Check the object array's items, and give them the form that a document has. */
int pickle_finish_items(struct pickle_reader *r);
