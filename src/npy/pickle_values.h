/*
 * pickle_values.h - shared by the pickle sources: opcodes, and the reader's values and memory.
 *
 * A value on the stack is a struct pickle_item, of the kinds below or those of an item. A tuple is
 * not an object of its own: its values stay on the stack, and one more value above them says how
 * many slots they take, so that making and consuming a tuple needs no memory. Everything the reader
 * allocates is charged to one budget. numpy memoises every object it writes but fetches few of
 * them: a first scan finds the slots that are fetched, and only those are kept.
 */
#pragma once

#include "npy/pickle.h"

/* The opcodes of protocols 2 to 5 that numpy's object arrays need: the form of the argument, and
 * the kind of value that is pushed (VALUE_NOT: the opcode does something else). All others are
 * refused. PROTO is accepted only at the start, where the reader checks it by itself. */
/* clang-format off */
#define PICKLE_OPCODES(row) \
    row(MARK, '(', NOTHING, VALUE_NOT) \
    row(EMPTY_TUPLE, ')', NOTHING, VALUE_TUPLE) \
    row(STOP, '.', NOTHING, VALUE_NOT) \
    row(BINBYTES, 'B', COUNTED4, VALUE_BYTES) \
    row(SHORT_BINBYTES, 'C', COUNTED1, VALUE_BYTES) \
    row(BINFLOAT, 'G', NUMBER8, PICKLE_FLOAT) \
    row(BININT, 'J', NUMBER4, PICKLE_INT) \
    row(BININT1, 'K', NUMBER1, PICKLE_INT) \
    row(BININT2, 'M', NUMBER2, PICKLE_INT) \
    row(NONE, 'N', NOTHING, PICKLE_NONE) \
    row(REDUCE, 'R', NOTHING, VALUE_NOT) \
    row(BINSTRING, 'T', COUNTED4, VALUE_BYTES) \
    row(SHORT_BINSTRING, 'U', COUNTED1, VALUE_BYTES) \
    row(BINUNICODE, 'X', COUNTED4, PICKLE_STRING) \
    row(EMPTY_LIST, ']', NOTHING, VALUE_NOT) \
    row(APPEND, 'a', NOTHING, VALUE_NOT) \
    row(BUILD, 'b', NOTHING, VALUE_NOT) \
    row(GLOBAL, 'c', LINES, VALUE_NOT) \
    row(APPENDS, 'e', NOTHING, VALUE_NOT) \
    row(BINGET, 'h', NUMBER1, VALUE_NOT) \
    row(LONG_BINGET, 'j', NUMBER4, VALUE_NOT) \
    row(BINPUT, 'q', NUMBER1, VALUE_NOT) \
    row(LONG_BINPUT, 'r', NUMBER4, VALUE_NOT) \
    row(TUPLE, 't', NOTHING, VALUE_NOT) \
    row(PROTO, 0x80, REFUSED, VALUE_NOT) \
    row(TUPLE1, 0x85, NOTHING, VALUE_NOT) \
    row(TUPLE2, 0x86, NOTHING, VALUE_NOT) \
    row(TUPLE3, 0x87, NOTHING, VALUE_NOT) \
    row(NEWTRUE, 0x88, NOTHING, PICKLE_BOOL) \
    row(NEWFALSE, 0x89, NOTHING, PICKLE_BOOL) \
    row(LONG1, 0x8a, COUNTED1, PICKLE_INT) \
    row(SHORT_BINUNICODE, 0x8c, COUNTED1, PICKLE_STRING) \
    row(BINBYTES8, 0x8e, COUNTED8, VALUE_BYTES) \
    row(STACK_GLOBAL, 0x93, NOTHING, VALUE_NOT) \
    row(MEMOIZE, 0x94, NOTHING, VALUE_NOT) \
    row(FRAME, 0x95, NUMBER8, VALUE_NOT) \
    row(BYTEARRAY8, 0x96, COUNTED8, VALUE_BYTES)
/* clang-format on */

#define PICKLE_OPCODE(name, byte, form, kind) OP_##name = (byte),
enum pickle_op { PICKLE_OPCODES(PICKLE_OPCODE) };

#define PICKLE_OBJECT_FLAGS 63 /* in the state of the dtype of objects */

/* Kinds of values, after those of enum pickle_kind. */
enum pickle_value_kind {
    VALUE_BYTES = PICKLE_N_KINDS,
    VALUE_TUPLE,  /* n_bytes_or_items: stack slots below it that its values take */
    VALUE_GLOBAL, /* as.integer: index in the table of allowed names */
    VALUE_DTYPE,  /* as.inner: struct pickle_dtype */
    VALUE_N_KINDS,
    VALUE_NOT = VALUE_N_KINDS,
    VALUE_MARK,     /* as.integer: the fence before it */
    VALUE_WANTED,   /* a memo slot that is fetched, but not set yet */
    VALUE_UNWANTED, /* a memo slot that is never fetched */
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
    bool checked;             /* the values are known to be scalars, and */
    uint64_t n_bytes;         /* this is their size including strings */
    struct pickle_list *next; /* of all lists */
};

struct pickle_reader {
    const uint8_t *start, *next, *end; /* borrowed: the pickle */
    const uint8_t *opcode;             /* borrowed: the current one */
    const struct pickle_limits *limits;
    struct pickle_document *document; /* borrowed: owns chunks and lists */
    struct error *err;
    unsigned protocol;

    uint64_t heap_nbytes; /* the budget, */
    uint64_t heap_left;   /* and what remains of it */

    struct pickle_item *stack; /* owned */
    size_t n_stack, capacity;
    size_t fence; /* stack index above the last mark; nothing below it can be popped; 0: no mark */

    struct pickle_item *memo; /* owned */
    uint64_t n_slots;         /* of memo: one more than the highest slot that is fetched */
    uint64_t n_memoized;
    bool has_put; /* PUT names the slots; otherwise MEMOIZE counts them */
    uint64_t n_lists;

    struct pickle_ndarray *object_array; /* the one object array, once built */
    struct pickle_list *object_list;
};

/* What an object array may hold, for messages. */
#define PLAIN_DATA "numbers, texts, lists and arrays of numbers"

/* ERROR_DATA "byte N: ...". Returns -1. */
int pickle_fail(struct pickle_reader *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The kind of a value for messages: "a list", "an int". */
const char *pickle_value_name(const struct pickle_item *value);

/* Allocate n_bytes, uninitialised and aligned to 8, which the document owns; NULL on error. */
void *pickle_alloc(struct pickle_reader *r, size_t n_bytes);

/* Refuse more values that wait for an opcode than any list may take at once: picklers append to a
 * list after every thousand. */
int pickle_check_depth(struct pickle_reader *r, uint64_t n_values);

/* Enlarge an array from `from` to `to` values. */
int pickle_grow(struct pickle_reader *r, struct pickle_item **values, size_t from, size_t to);

static inline int pickle_push(struct pickle_reader *r, struct pickle_item value)
{
    if (r->n_stack == r->capacity) {
        const size_t capacity = r->capacity == 0 ? 64 : 2 * r->capacity;

        if (pickle_check_depth(r, r->n_stack) != 0 ||
            pickle_grow(r, &r->stack, r->capacity, capacity) != 0)
            return -1;
        r->capacity = capacity;
    }
    r->stack[r->n_stack++] = value;
    return 0;
}

/* The value below this one on the stack: a tuple's own values are skipped. */
static inline struct pickle_item *pickle_below(const struct pickle_item *value)
{
    return (struct pickle_item *)(uintptr_t)value - 1 -
           (value->kind == VALUE_TUPLE ? value->n_bytes_or_items : 0);
}

/* Set *from to the stack index where the top n values begin. ERROR_DATA when there are fewer above
 * the last mark. */
int pickle_top(struct pickle_reader *r, size_t n, size_t *from);

/* Push the global of this name, or refuse it. */
int pickle_global_push(struct pickle_reader *r, const struct pickle_item *module,
                       const struct pickle_item *name);

/* Carry out REDUCE or BUILD if it matches a pattern of numpy's own pickles. */
int pickle_reduce(struct pickle_reader *r);
int pickle_build(struct pickle_reader *r);

/* Check the items of the object array and give them the form they have in a document. */
int pickle_finish_items(struct pickle_reader *r);
