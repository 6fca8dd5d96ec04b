/*
 * pickle_read.c - the pickle reader: opcodes are decoded by one table and carried out on a stack
 * that grows within a budget. REDUCE, BUILD and memory are in pickle_values.c. Nothing here
 * recurses, and nothing is executed or imported.
 */
#include "npy/pickle_values.h"

#include <assert.h>

#define MIN_PROTOCOL 2
#define MAX_PROTOCOL 5
#define MORE_LISTS   (64u << 10) /* than items */

/* No honest pickle needs more memory than this per byte, plus this at the start: the densest has a
 * value per byte, which takes 16 bytes on the stack and again in a list, and both grow by
 * doubling. */
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

/* --- marks, tuples and lists --- */

#define MAX_TUPLE_NSLOTS 256u /* those that numpy writes are far below */

/* Remove the last mark and set *from to the stack index of the first value above it. */
static int pop_mark(struct pickle_reader *r, size_t *from)
{
    if (r->fence == 0)
        return pickle_fail(r, "expected a mark on the stack, found no mark");
    *from = r->fence;
    r->fence = (size_t)r->stack[*from - 1].as.integer;
    return 0;
}

/* Turn the values from stack index `from` on into a tuple that begins at index `to`. */
static int make_tuple(struct pickle_reader *r, size_t from, size_t to)
{
    const size_t n = r->n_stack - from;

    if (n > MAX_TUPLE_NSLOTS) /* tuples in tuples would be moved for each of them */
        return pickle_fail(r, "a tuple of %zu values, which is not accepted, expected " PLAIN_DATA,
                           n);
    for (size_t i = 0; i < n && from != to; i++) /* a few: quicker than a call of memmove */
        r->stack[to + i] = r->stack[from + i];
    r->n_stack = to + n;
    return pickle_push(r,
                       (struct pickle_item){.kind = VALUE_TUPLE, .n_bytes_or_items = (uint32_t)n});
}

/* Move the values from stack index `from` on into the list just below index `to`, where the stack
 * then ends. */
static int append_to_list(struct pickle_reader *r, size_t from, size_t to)
{
    const size_t n = r->n_stack - from;
    const uint64_t most =
        r->limits->n_items > r->limits->list_items ? r->limits->n_items : r->limits->list_items;

    if (to == r->fence)
        return pickle_fail(r, "stack underflow: expected a list below the items, found none");
    const struct pickle_item *target = &r->stack[to - 1];
    struct pickle_list *list = target->as.inner;
    if (target->kind != PICKLE_LIST)
        return pickle_fail(r, "items for %s, not a list", pickle_value_name(target));
    if (list->n + n > most)
        return pickle_fail(r, "list of more than %llu items, expected at most that many",
                           (unsigned long long)most);
    if (list->n + n > list->capacity) { /* exact at first, then doubled */
        size_t capacity = 2 * (size_t)list->capacity;
        if (capacity < list->n + n)
            capacity = list->n + n;
        if (pickle_grow(r, &list->values, list->capacity, capacity) != 0)
            return -1;
        list->capacity = (uint32_t)capacity;
    }
    for (size_t i = 0; i < n; i++) {
        const struct pickle_item *value = &r->stack[from + i];

        if (value->kind == VALUE_TUPLE)
            return pickle_fail(r,
                               "a list holds a tuple, which is not accepted, expected " PLAIN_DATA);
        list->values[list->n + i] = *value;
    }
    list->n += (uint32_t)n;
    r->n_stack = to;
    return 0;
}

/* --- decoding --- */

/* The form of an opcode's argument. */
enum form {
    REFUSED = 0, /* not an accepted opcode */
    WIDTH = 0x0f,
    IS_COUNTED = 0x10,
    NOTHING = 0x20,
    NUMBER1 = NOTHING | 1, /* a little-endian integer of 1 byte, */
    NUMBER2 = NOTHING | 2, /* of 2 bytes, ... */
    NUMBER4 = NOTHING | 4,
    NUMBER8 = NOTHING | 8,
    COUNTED1 = NUMBER1 | IS_COUNTED, /* such an integer, then that many bytes */
    COUNTED4 = NUMBER4 | IS_COUNTED,
    COUNTED8 = NUMBER8 | IS_COUNTED,
    LINES = 0x40, /* two lines, each ended by a newline */
};

#define FORM_OF(name, byte, form, kind) [OP_##name] = (form),
#define KIND_OF(name, byte, form, kind) [OP_##name] = (kind),
static const uint8_t forms[256] = {PICKLE_OPCODES(FORM_OF)};
static const uint8_t kinds[256] = {PICKLE_OPCODES(KIND_OF)};

/* An opcode and its argument. */
struct code {
    uint8_t opcode;
    uint64_t number;      /* the integer or 0; LINES: length of both without the last newline */
    const uint8_t *bytes; /* borrowed: the counted bytes, or the lines */
};

/* Decode one opcode with its argument, if it is accepted, and advance *next past it. False: the
 * pickle ends before that. */
static inline bool decode(const uint8_t **next, const uint8_t *end, struct code *code)
{
    const uint8_t *p = *next;

    if (p == end)
        return false;
    code->opcode = *p++;
    code->number = 0;
    *next = p;
    const unsigned form = forms[code->opcode];
    if (form == NOTHING || form == REFUSED)
        return true;
    if (form == LINES) {
        const uint8_t *newline = memchr(p, '\n', (size_t)(end - p));
        if (newline != NULL)
            newline = memchr(newline + 1, '\n', (size_t)(end - newline - 1));
        if (newline == NULL)
            return false;
        code->bytes = p;
        code->number = (uint64_t)(newline - p);
        *next = newline + 1;
        return true;
    }
    const size_t width = form & WIDTH;
    if ((size_t)(end - p) < width)
        return false;
    code->number = bytes_get_uint(p, width, false);
    p += width;
    if ((form & IS_COUNTED) != 0) {
        code->bytes = p;
        if ((uint64_t)(end - p) < code->number)
            return false;
        p += code->number;
    }
    *next = p;
    return true;
}

/* --- the memo --- */

/* Find the slots that are fetched and make room for them. Anything wrong with the pickle will be
 * found again, and reported, when it is carried out. */
static int scan_memo(struct pickle_reader *r)
{
    const uint8_t *next = r->next;
    struct code code = {0};

    while (decode(&next, r->end, &code) && code.opcode != OP_STOP &&
           forms[code.opcode] != REFUSED) {
        if (code.opcode != OP_BINGET && code.opcode != OP_LONG_BINGET)
            continue;
        if (code.number > (uint64_t)(next - r->start))
            break;
        if (code.number >= r->n_slots && pickle_grow(r, &r->memo, r->n_slots, code.number + 1) != 0)
            return -1;
        while (r->n_slots <= code.number)
            r->memo[r->n_slots++].kind = VALUE_UNWANTED;
        assert(r->memo != NULL);
        r->memo[code.number].kind = VALUE_WANTED;
    }
    return 0;
}

/* Copy the top value to a slot, a tuple with its values. */
static int memo_put(struct pickle_reader *r, uint64_t slot)
{
    const uint64_t most = (uint64_t)(r->next - r->start);
    size_t from;

    if (slot > most)
        return pickle_fail(r, "memo slot %llu is too large, expected at most %llu here",
                           (unsigned long long)slot, (unsigned long long)most);
    if (pickle_top(r, 1, &from) != 0)
        return -1;
    if (slot >= r->n_slots || r->memo[slot].kind == VALUE_UNWANTED)
        return 0;
    struct pickle_item value = r->stack[r->n_stack - 1];
    if (value.kind == VALUE_TUPLE) {
        const size_t n_bytes = value.n_bytes_or_items * sizeof value;

        value.as.inner = pickle_alloc(r, n_bytes);
        if (value.as.inner == NULL)
            return -1;
        memcpy(value.as.inner, r->stack + from, n_bytes);
    }
    r->memo[slot] = value;
    return 0;
}

static int memo_get(struct pickle_reader *r, uint64_t slot)
{
    if (slot >= r->n_slots || r->memo[slot].kind >= VALUE_N_KINDS)
        return pickle_fail(r, "memo slot %llu is not set, expected one that is",
                           (unsigned long long)slot);
    const struct pickle_item value = r->memo[slot];
    if (value.kind == VALUE_TUPLE)
        for (uint32_t i = 0; i < value.n_bytes_or_items; i++)
            if (pickle_push(r, value.as.items[i]) != 0)
                return -1;
    return pickle_push(r, value);
}

/* --- opcodes --- */

/* Refuse too long a text or bytes. Protocol 2 has no bytes: Python 3 writes array data as text, up
 * to two bytes per byte. */
static int check_length(struct pickle_reader *r, const struct code *code)
{
    const bool is_text = kinds[code->opcode] == PICKLE_STRING;
    uint64_t most = smaller(r->limits->array_nbytes, UINT32_MAX);

    if (is_text)
        most = smaller(r->protocol == 2 ? 2 * most : r->limits->string_nbytes, UINT32_MAX);
    if ((forms[code->opcode] & IS_COUNTED) == 0 || code->number <= most)
        return 0;
    return pickle_fail(r, "%s of %" PRIu64 " bytes, at most %" PRIu64 " are accepted",
                       is_text ? "str" : "bytes", code->number, most);
}

/* Carry out an opcode that pushes a value. */
static int push_value(struct pickle_reader *r, const struct code *code)
{
    const uint64_t n = code->number, bits = __builtin_bswap64(n); /* of a float */
    struct pickle_item value = {.kind = kinds[code->opcode], .as.integer = (int64_t)n};

    switch (code->opcode) {
    case OP_NEWTRUE:
        value.as.integer = 1;
        break;
    case OP_BININT:
        value.as.integer = (int32_t)(uint32_t)n;
        break;
    case OP_LONG1: /* two's complement of any length, low byte first */
        if (n > 8)
            return pickle_fail(
                r, "integer beyond 64 bits: expected at most 8 bytes, found %" PRIu64, n);
        if (n > 0)
            value.as.integer = dtype_get_int(
                &(const struct dtype){.kind = DTYPE_INT, .itemsize = (uint32_t)n}, code->bytes);
        break;
    case OP_BINFLOAT:
        memcpy(&value.as.number, &bits, sizeof bits);
        break;
    default:
        if ((forms[code->opcode] & IS_COUNTED) == 0)
            break;
        if (check_length(r, code) != 0)
            return -1;
        value.n_bytes_or_items = (uint32_t)n;
        value.as.bytes = code->bytes;
    }
    return pickle_push(r, value);
}

/* Refuse many more lists than the one of all items and one for each of them; what holds a few more
 * is told later, by its item. */
static int count_list(struct pickle_reader *r)
{
    return r->n_lists++ <= MORE_LISTS || r->n_lists - MORE_LISTS <= r->limits->n_items
               ? 0
               : pickle_fail(r,
                             "more lists than %" PRIu64 " items may be, expected at most one each",
                             r->limits->n_items);
}

/* Carry out one of the other opcodes. */
static int carry_out(struct pickle_reader *r, const struct code *code)
{
    struct pickle_item module = {.kind = PICKLE_STRING, .as.bytes = code->bytes}, name = module;
    struct pickle_list *list;
    size_t from = 0;

    switch (code->opcode) {
    case OP_FRAME:
        if (code->number <= (uint64_t)(r->end - r->next))
            return 0;
        return pickle_fail(r, "frame of %llu bytes, %zu are left", (unsigned long long)code->number,
                           (size_t)(r->end - r->next));
    case OP_MARK:
        if (pickle_push(
                r, (struct pickle_item){.kind = VALUE_MARK, .as.integer = (int64_t)r->fence}) != 0)
            return -1;
        r->fence = r->n_stack;
        return 0;
    case OP_TUPLE1:
    case OP_TUPLE2:
    case OP_TUPLE3:
        return pickle_top(r, (size_t)(code->opcode - OP_TUPLE1) + 1, &from) != 0
                   ? -1
                   : make_tuple(r, from, from);
    case OP_TUPLE:
        return pop_mark(r, &from) != 0 ? -1 : make_tuple(r, from, from - 1);
    case OP_EMPTY_LIST:
        if (count_list(r) != 0)
            return -1;
        list = pickle_alloc(r, sizeof *list);
        if (list == NULL)
            return -1;
        *list = (struct pickle_list){.next = r->document->lists};
        r->document->lists = list;
        return pickle_push(r, (struct pickle_item){.kind = PICKLE_LIST, .as.inner = list});
    case OP_APPEND:
        return pickle_top(r, 1, &from) != 0 ? -1 : append_to_list(r, from, from);
    case OP_APPENDS:
        return pop_mark(r, &from) != 0 ? -1 : append_to_list(r, from, from - 1);
    case OP_GLOBAL:
        name.as.bytes = (const uint8_t *)memchr(code->bytes, '\n', code->number) + 1;
        from = (size_t)(name.as.bytes - code->bytes);
        module.n_bytes_or_items = (uint32_t)smaller(from - 1, UINT32_MAX);
        name.n_bytes_or_items = (uint32_t)smaller(code->number - from, UINT32_MAX);
        return pickle_global_push(r, &module, &name);
    case OP_STACK_GLOBAL:
        if (pickle_top(r, 2, &from) != 0)
            return -1;
        name = r->stack[r->n_stack - 1];
        module = *pickle_below(&r->stack[r->n_stack - 1]);
        r->n_stack = from;
        if (module.kind != PICKLE_STRING || name.kind != PICKLE_STRING)
            return pickle_fail(r, "name made of %s and %s, expected two of str",
                               pickle_value_name(&module), pickle_value_name(&name));
        return pickle_global_push(r, &module, &name);
    case OP_REDUCE:
        return pickle_reduce(r);
    case OP_BUILD:
        return pickle_build(r);
    case OP_BINPUT:
    case OP_LONG_BINPUT:
        r->has_put = true;
        return memo_put(r, code->number);
    case OP_MEMOIZE:
        /* Picklers use one or the other; the next free slot after both is not defined. */
        if (r->has_put)
            return pickle_fail(r, "MEMOIZE and PUT in one pickle, expected one of them");
        return memo_put(r, r->n_memoized++);
    default: /* BINGET, LONG_BINGET */
        return memo_get(r, code->number);
    }
}

/* --- what is refused --- */

static const struct {
    const char *opcodes;
    const char *use;
} refused[] = {
    {"\x80", "a second protocol number"},
    {"io\x81\x92", "an instance of a class"},
    {"\x82\x83\x84", "an object of the extension registry"},
    {"PQ", "a persistent object"},
    {"\x97\x98", "an out-of-band buffer"},
    {"}dsu", "a dict"},
    {"\x8f\x90\x91", "a set"},
    {"\x8b", "an integer beyond 64 bits"},
};

static int refuse(struct pickle_reader *r, uint8_t opcode)
{
    const char *use = "";

    for (size_t i = 0; i < N_OF(refused); i++)
        if (opcode != 0 && strchr(refused[i].opcodes, (char)opcode) != NULL)
            use = refused[i].use;
    return pickle_fail(
        r, "opcode 0x%02x%s%s%s is refused, expected " PLAIN_DATA "; nothing was executed", opcode,
        *use != '\0' ? " (" : "", use, *use != '\0' ? ")" : "");
}

/* Read the protocol, which comes first. */
static int begin(struct pickle_reader *r)
{
    r->opcode = r->next;
    if (r->end - r->next < 2 || r->next[0] != OP_PROTO)
        return pickle_fail(
            r,
            "not a pickle of protocol 2 to 5: expected it to start with '\\x80' and the protocol, "
            "found %s; nothing was executed",
            text_quote_bytes(r->next, r->end - r->next < 2 ? (size_t)(r->end - r->next) : 2).text);
    r->protocol = r->next[1];
    if (r->protocol < MIN_PROTOCOL || r->protocol > MAX_PROTOCOL)
        return pickle_fail(r, "pickle protocol %u is not supported (2 to 5 are)", r->protocol);
    r->next += 2;
    return 0;
}

static int run(struct pickle_reader *r)
{
    struct code code = {.bytes = r->next};

    if (begin(r) != 0 || scan_memo(r) != 0)
        return -1;
    for (;;) {
        r->opcode = r->next;
        if (!decode(&r->next, r->end, &code))
            return pickle_fail(r, "truncated: expected an opcode and its argument, found the end");
        if (forms[code.opcode] == REFUSED)
            return refuse(r, code.opcode);
        if (code.opcode == OP_STOP)
            return 0;
        if (kinds[code.opcode] == VALUE_NOT ? carry_out(r, &code) != 0 : push_value(r, &code) != 0)
            return -1;
    }
}

int pickle_check_part(const uint8_t *bytes, uint64_t n_bytes, const struct pickle_limits *limits,
                      uint64_t *n_checked, struct error *err)
{
    struct pickle_reader r = {
        .start = bytes, .next = bytes, .end = bytes + n_bytes, .limits = limits, .err = err};
    struct code code = {.opcode = OP_STOP};
    uint64_t n_pushed = 0; /* of this part, as are the lists: since what may have taken some */

    if (begin(&r) != 0)
        return -1;
    if (*n_checked > 0)
        r.next = bytes + *n_checked;
    for (bool is_whole = true; is_whole;) {
        r.opcode = r.next;
        is_whole = decode(&r.next, r.end, &code);
        *n_checked = (uint64_t)(r.opcode - bytes);
        if (is_whole && forms[code.opcode] == REFUSED)
            return refuse(&r, code.opcode);
        if (is_whole && code.opcode == OP_STOP)
            return pickle_fail(&r, "bytes after the end of the pickle, expected none");
        if (r.opcode < r.end &&
            (check_length(&r, &code) != 0 || pickle_check_depth(&r, n_pushed) != 0))
            return -1;
        if (is_whole && code.opcode == OP_EMPTY_LIST && count_list(&r) != 0)
            return -1;
        n_pushed = kinds[code.opcode] != VALUE_NOT ? n_pushed + 1 : 0;
    }
    return 0;
}

int pickle_read(const uint8_t *bytes, uint64_t n_bytes, const struct pickle_limits *limits,
                struct pickle_document *document, struct error *err)
{
    struct pickle_reader r = {.start = bytes,
                              .next = bytes,
                              .end = bytes + n_bytes,
                              .limits = limits,
                              .document = document,
                              .err = err};
    const struct pickle_ndarray *array;
    size_t n_values = 0;
    int result = -1;

    *document = (struct pickle_document){0};
    r.heap_left = r.heap_nbytes =
        smaller(n_bytes * HEAP_PER_BYTE + HEAP_BASE_BYTES, limits->heap_nbytes);
    if (run(&r) != 0)
        goto out;
    /* The one value left is the document. */
    array = r.object_array;
    for (size_t i = r.n_stack; i > 0; i = (size_t)(pickle_below(&r.stack[i - 1]) + 1 - r.stack))
        n_values += r.stack[i - 1].kind != VALUE_MARK;
    if (n_values == 1 && r.fence != 0)
        pickle_fail(&r, "a mark is left on the stack at the end, expected none");
    else if (n_values != 1)
        pickle_fail(&r, "%zu values on the stack at the end, expected one", n_values);
    else if (r.next != r.end)
        pickle_fail(&r, "%zu bytes after the end of the pickle, expected none",
                    (size_t)(r.end - r.next));
    else if (r.n_stack != 1 || r.stack->kind != PICKLE_ARRAY || r.stack->as.array != array)
        pickle_fail(&r, "it holds %s, not an object array",
                    pickle_value_name(&r.stack[r.n_stack - 1]));
    /* Not checked at BUILD: a memoised list can still grow after it. */
    else if (r.object_list->n != array->n_elements)
        pickle_fail(&r, "object array of %u items, its shape needs %llu", r.object_list->n,
                    (unsigned long long)array->n_elements);
    else
        result = pickle_finish_items(&r);
    if (result != 0)
        goto out;
    if (array->n_elements > 0) {
        void *shrunk = realloc(r.object_list->values, array->n_elements * sizeof *r.stack);

        r.object_list->values = shrunk != NULL ? shrunk : r.object_list->values;
    }
    document->n_dims = array->n_dims;
    document->n_items = array->n_elements;
    document->items = r.object_list->values;
    memcpy(document->shape, array->shape, array->n_dims * sizeof *array->shape);
out:
    if (result != 0)
        pickle_release(document);
    free(r.stack);
    free(r.memo);
    return result;
}
