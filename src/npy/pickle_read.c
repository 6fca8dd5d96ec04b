/*
 * pickle_read.c - the opcode loop of the pickle reader; see pickle.h and pickle_reader.h.
 */
#include "npy/pickle_reader.h"

#include "base/text.h"

#define MIN_PROTOCOL 2
#define MAX_PROTOCOL 5

/* No honest pickle needs more memory than this for each of its bytes, and to begin with: the
 * densest has a value per byte, which takes 16 bytes on the stack, in a list (both grow by
 * doubling) and in the document. */
#define HEAP_PER_BYTE   128u
#define HEAP_BASE_BYTES (64u << 10)

const struct pickle_limits pickle_default_limits = {
    .n_items = UINT64_C(1) << 24,
    .list_items = UINT64_C(1) << 20,
    .string_nbytes = UINT64_C(64) << 10,
    .array_nbytes = UINT64_C(64) << 20,
    .total_nbytes = UINT64_C(4) << 30,
    .heap_nbytes = UINT64_C(1) << 30,
};

typedef int opcode_fn(struct pickle_reader *r, const struct pickle_code *code);

static int push_int(struct pickle_reader *r, int64_t integer)
{
    return pickle_push(r, (struct pickle_value){.kind = VALUE_INT, .as.integer = integer});
}

static int op_frame(struct pickle_reader *r, const struct pickle_code *code)
{
    if (code->number > (uint64_t)(r->end - r->next))
        return pickle_fail(r, "frame of %llu bytes, %zu are left", (unsigned long long)code->number,
                           (size_t)(r->end - r->next));
    return 0;
}

static int op_mark(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    return pickle_mark_push(r);
}

static int op_none(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    return pickle_push(r, (struct pickle_value){.kind = VALUE_NONE});
}

static int op_bool(struct pickle_reader *r, const struct pickle_code *code)
{
    return pickle_push(
        r, (struct pickle_value){.kind = VALUE_BOOL, .as.integer = code->opcode == OP_NEWTRUE});
}

/* One or two bytes, unsigned. */
static int op_small_int(struct pickle_reader *r, const struct pickle_code *code)
{
    return push_int(r, (int64_t)code->number);
}

static int op_int32(struct pickle_reader *r, const struct pickle_code *code)
{
    return push_int(r, (int32_t)(uint32_t)code->number);
}

/* Two's complement of any length, least significant byte first. */
static int op_long(struct pickle_reader *r, const struct pickle_code *code)
{
    const unsigned n_bits = 8 * (unsigned)code->number;
    uint64_t value;

    if (code->number > 8)
        return pickle_fail(r, "integer beyond 64 bits");
    if (code->number == 0)
        return push_int(r, 0);
    value = bytes_get_uint(code->bytes, (size_t)code->number, false);
    return push_int(r, (int64_t)(value << (64 - n_bits)) >> (64 - n_bits));
}

static int op_float(struct pickle_reader *r, const struct pickle_code *code)
{
    const uint64_t bits = __builtin_bswap64(code->number);
    struct pickle_value value = {.kind = VALUE_FLOAT};

    memcpy(&value.as.number, &bits, sizeof bits);
    return pickle_push(r, value);
}

static int push_bytes(struct pickle_reader *r, const struct pickle_code *code,
                      enum pickle_value_kind kind, uint64_t limit)
{
    if (limit > UINT32_MAX)
        limit = UINT32_MAX;
    if (code->number > limit)
        return pickle_fail(r, "%s of %llu bytes, at most %llu are accepted",
                           kind == VALUE_STRING ? "str" : "bytes", (unsigned long long)code->number,
                           (unsigned long long)limit);
    return pickle_push(r, (struct pickle_value){.kind = (uint8_t)kind,
                                                .n = (uint32_t)code->number,
                                                .as.bytes = code->bytes});
}

static int op_string(struct pickle_reader *r, const struct pickle_code *code)
{
    uint64_t limit = r->limits->string_nbytes;

    /* Protocol 2 has no bytes: Python 3 writes array data as text, up to two bytes per byte. */
    if (r->protocol == 2 && __builtin_mul_overflow(r->limits->array_nbytes, 2u, &limit))
        limit = UINT64_MAX;
    return push_bytes(r, code, VALUE_STRING, limit);
}

static int op_bytes(struct pickle_reader *r, const struct pickle_code *code)
{
    return push_bytes(r, code, VALUE_BYTES, r->limits->array_nbytes);
}

static int op_empty_tuple(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    return pickle_push(r, (struct pickle_value){.kind = VALUE_TUPLE});
}

/* TUPLE1 to TUPLE3 */
static int op_short_tuple(struct pickle_reader *r, const struct pickle_code *code)
{
    const size_t n = (size_t)(code->opcode - OP_TUPLE1) + 1;

    return pickle_need(r, n) != 0 ? -1 : pickle_tuple_make(r, r->n_stack - n);
}

static int op_tuple(struct pickle_reader *r, const struct pickle_code *code)
{
    size_t from;

    (void)code;
    return pickle_mark_pop(r, &from) != 0 ? -1 : pickle_tuple_make(r, from);
}

static int op_empty_list(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    return pickle_list_make(r);
}

/* Move the values from stack index `from` on to the list below them. */
static int append_from(struct pickle_reader *r, size_t from)
{
    const size_t n = r->n_stack - from;
    const struct pickle_value *target;

    if (pickle_need(r, n + 1) != 0)
        return -1;
    target = &r->stack[from - 1];
    if (target->kind != VALUE_LIST)
        return pickle_fail(r, "items for %s, not a list", pickle_value_name(target));
    if (pickle_list_append(r, target->as.list, r->stack + from, n) != 0)
        return -1;
    r->n_stack = from;
    return 0;
}

static int op_append(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    return pickle_need(r, 1) != 0 ? -1 : append_from(r, r->n_stack - 1);
}

static int op_appends(struct pickle_reader *r, const struct pickle_code *code)
{
    size_t from;

    (void)code;
    return pickle_mark_pop(r, &from) != 0 ? -1 : append_from(r, from);
}

static int op_global(struct pickle_reader *r, const struct pickle_code *code)
{
    const uint8_t *module = code->bytes;
    const uint8_t *newline = memchr(module, '\n', code->number);
    const size_t n_module = (size_t)(newline - module);

    return pickle_global_push(r, module, n_module, newline + 1,
                              (size_t)code->number - n_module - 1);
}

static int op_stack_global(struct pickle_reader *r, const struct pickle_code *code)
{
    const struct pickle_value *module, *name;

    (void)code;
    if (pickle_need(r, 2) != 0)
        return -1;
    name = &r->stack[r->n_stack - 1];
    module = name - 1;
    if (module->kind != VALUE_STRING || name->kind != VALUE_STRING)
        return pickle_fail(r, "name made of %s and %s", pickle_value_name(module),
                           pickle_value_name(name));
    r->n_stack -= 2;
    return pickle_global_push(r, module->as.bytes, module->n, name->as.bytes, name->n);
}

static int op_reduce(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    return pickle_reduce(r);
}

static int op_build(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    return pickle_build(r);
}

static int op_put(struct pickle_reader *r, const struct pickle_code *code)
{
    r->has_put = true;
    return pickle_memo_put(r, code->number);
}

static int op_memoize(struct pickle_reader *r, const struct pickle_code *code)
{
    (void)code;
    /* Picklers use one or the other; what the next free slot is after both is not defined. */
    if (r->has_put)
        return pickle_fail(r, "MEMOIZE and PUT in one pickle");
    return pickle_memo_put(r, r->n_memoized++);
}

static int op_get(struct pickle_reader *r, const struct pickle_code *code)
{
    return pickle_memo_get(r, code->number);
}

static opcode_fn *const operations[256] = {
    [OP_FRAME] = op_frame,
    [OP_MARK] = op_mark,
    [OP_NONE] = op_none,
    [OP_NEWTRUE] = op_bool,
    [OP_NEWFALSE] = op_bool,
    [OP_BININT1] = op_small_int,
    [OP_BININT2] = op_small_int,
    [OP_BININT] = op_int32,
    [OP_LONG1] = op_long,
    [OP_BINFLOAT] = op_float,
    [OP_SHORT_BINUNICODE] = op_string,
    [OP_BINUNICODE] = op_string,
    [OP_SHORT_BINBYTES] = op_bytes,
    [OP_BINBYTES] = op_bytes,
    [OP_BINBYTES8] = op_bytes,
    [OP_BYTEARRAY8] = op_bytes,
    [OP_SHORT_BINSTRING] = op_bytes,
    [OP_BINSTRING] = op_bytes,
    [OP_EMPTY_TUPLE] = op_empty_tuple,
    [OP_TUPLE1] = op_short_tuple,
    [OP_TUPLE2] = op_short_tuple,
    [OP_TUPLE3] = op_short_tuple,
    [OP_TUPLE] = op_tuple,
    [OP_EMPTY_LIST] = op_empty_list,
    [OP_APPEND] = op_append,
    [OP_APPENDS] = op_appends,
    [OP_GLOBAL] = op_global,
    [OP_STACK_GLOBAL] = op_stack_global,
    [OP_REDUCE] = op_reduce,
    [OP_BUILD] = op_build,
    [OP_BINPUT] = op_put,
    [OP_LONG_BINPUT] = op_put,
    [OP_MEMOIZE] = op_memoize,
    [OP_BINGET] = op_get,
    [OP_LONG_BINGET] = op_get,
};

static int refuse_opcode(struct pickle_reader *r, uint8_t opcode)
{
    const char *use = pickle_refused_use(opcode);

    if (use == NULL)
        return pickle_fail(r, "opcode 0x%02x is refused; nothing was executed", opcode);
    return pickle_fail(r, "opcode 0x%02x (%s) is refused; nothing was executed", opcode, use);
}

static int run(struct pickle_reader *r)
{
    struct pickle_code code = {0};

    for (;;) {
        r->opcode = r->next;
        switch (pickle_decode(&r->next, r->end, &code)) {
        case DECODED_TRUNCATED:
            return pickle_fail(r, "truncated");
        case DECODED_REFUSED:
            return refuse_opcode(r, code.opcode);
        case DECODED:
            break;
        }
        if (code.opcode == OP_STOP)
            return 0;
        if (operations[code.opcode](r, &code) != 0)
            return -1;
    }
}

static int start(struct pickle_reader *r)
{
    r->opcode = r->next;
    if (r->end - r->next < 2 || r->next[0] != OP_PROTO)
        return pickle_fail(r, "not a pickle of protocol 2 to 5; nothing was executed");
    r->protocol = r->next[1];
    if (r->protocol < MIN_PROTOCOL || r->protocol > MAX_PROTOCOL)
        return pickle_fail(r, "pickle protocol %u is not supported (2 to 5 are)", r->protocol);
    r->next += 2;
    return pickle_memo_scan(r);
}

static uint64_t heap_budget(uint64_t n_bytes, const struct pickle_limits *limits)
{
    uint64_t budget;

    if (__builtin_mul_overflow(n_bytes, HEAP_PER_BYTE, &budget) ||
        __builtin_add_overflow(budget, HEAP_BASE_BYTES, &budget) || budget > limits->heap_nbytes)
        return limits->heap_nbytes;
    return budget;
}

int pickle_read(const uint8_t *bytes, uint64_t n_bytes, const struct pickle_limits *limits,
                struct pickle_document *document, struct error *err)
{
    struct pickle_reader r = {
        .start = bytes, .next = bytes, .end = bytes + n_bytes, .limits = limits, .err = err};
    int result = -1;

    *document = (struct pickle_document){0};
    r.heap_nbytes = r.heap_left = heap_budget(n_bytes, limits);
    if (start(&r) == 0 && run(&r) == 0)
        result = pickle_finish(&r, document);
    if (result != 0)
        pickle_chunks_free(r.document.chunks);
    pickle_reader_release(&r);
    return result;
}

void pickle_release(struct pickle_document *document)
{
    pickle_chunks_free(document->arena);
    *document = (struct pickle_document){0};
}
