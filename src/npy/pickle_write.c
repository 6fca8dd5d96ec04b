/*
 * pickle_write.c - object arrays as numpy pickles them, but smaller, and always the same bytes for
 * the same items, which are appended in batches of fixed size. Memo slots 0 to 3 hold what every
 * array needs, slot 4 the dtype of objects; then there is one per dtype of the ndarray items, in
 * order of first use. It is declared in an item, since nothing may stay on the stack and numpy
 * checks the length of every tuple.
 */
#include "npy/pickle_values.h" /* the opcodes */

/* The only mention of numpy's module: numpy 2 still loads it by its name in numpy 1. */
#define MODULE "numpy.core.multiarray"

#define TRAILER "tb." /* TUPLE, BUILD, STOP */

#define SLOT_DTYPE_CLASS   3
#define SLOT_FIRST_DTYPE   5
#define MAX_SHAPE_NBYTES   (2 + 10 * PICKLE_MAX_DIMS) /* MARK, integers, TUPLE */
#define MAX_DTYPE_NBYTES   64                         /* a declaration */
#define MAX_BYTES_NBYTES   5                          /* BINBYTES and its length */
#define MAX_SCALAR_NBYTES  10                         /* any item but its string or data */
#define MAX_ARRAY_NBYTES   (32 + MAX_SHAPE_NBYTES + MAX_DTYPE_NBYTES + MAX_BYTES_NBYTES)
#define MAX_PRELUDE_NBYTES 512

/* All put_ functions store at p, where the caller has made room, and return the end. */

static uint8_t *put_raw(uint8_t *p, const void *bytes, size_t n_bytes)
{
    if (n_bytes > 0)
        memcpy(p, bytes, n_bytes);
    return p + n_bytes;
}

#define PUT_LITERAL(p, literal) put_raw((p), (literal), sizeof(literal) - 1)

/* An opcode with an integer of n_bytes. */
static uint8_t *put_number(uint8_t *p, uint8_t opcode, uint64_t number, size_t n_bytes)
{
    *p++ = opcode;
    bytes_put_le(p, number, n_bytes);
    return p + n_bytes;
}

/* An integer in its shortest form, as Python chooses it. */
static uint8_t *put_int(uint8_t *p, int64_t value)
{
    size_t n_bytes = 5; /* of LONG1: fewer would fit BININT */

    if (value >= 0 && value <= UINT8_MAX)
        return put_number(p, OP_BININT1, (uint64_t)value, 1);
    if (value >= 0 && value <= UINT16_MAX)
        return put_number(p, OP_BININT2, (uint64_t)value, 2);
    if (value >= INT32_MIN && value <= INT32_MAX)
        return put_number(p, OP_BININT, (uint64_t)value, 4);
    while (n_bytes < 8 &&
           (value < -(INT64_C(1) << (8 * n_bytes - 1)) || value >= INT64_C(1) << (8 * n_bytes - 1)))
        n_bytes++;
    *p++ = OP_LONG1;
    return put_number(p, (uint8_t)n_bytes, (uint64_t)value, n_bytes);
}

static uint8_t *put_shape(uint8_t *p, const uint64_t *shape, unsigned n_dims)
{
    static const uint8_t short_tuples[] = {OP_EMPTY_TUPLE, OP_TUPLE1, OP_TUPLE2, OP_TUPLE3};

    if (n_dims > 3)
        *p++ = OP_MARK;
    for (unsigned i = 0; i < n_dims; i++)
        p = put_int(p, (int64_t)shape[i]);
    *p++ = n_dims > 3 ? (uint8_t)OP_TUPLE : short_tuples[n_dims];
    return p;
}

/* dtype(name, False, True) with its state, put into a memo slot. The class is on the stack. */
static uint8_t *put_dtype(uint8_t *p, const struct dtype *dtype, unsigned slot)
{
    const bool is_object = dtype->kind == DTYPE_OBJECT;
    const char order = is_object || dtype->itemsize == 1 ? '|' : dtype->big_endian ? '>' : '<';

    p = PUT_LITERAL(p, "X\x02\0\0\0");
    *p++ = (uint8_t)dtype->kind;
    *p++ = (uint8_t)('0' + (is_object ? 8 : dtype->itemsize));
    p = PUT_LITERAL(p, "\x89\x88\x87Rq");
    *p++ = (uint8_t)slot;
    p = PUT_LITERAL(p, "(K\x03X\x01\0\0\0");
    *p++ = (uint8_t)order;
    /* -1, -1: size and alignment as the type has them */
    p = PUT_LITERAL(p, "NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK");
    *p++ = is_object ? PICKLE_OBJECT_FLAGS : 0;
    return PUT_LITERAL(p, "tb");
}

static unsigned find_dtype(const struct pickle_writer *writer, const struct dtype *dtype)
{
    unsigned i = 0;

    while (i < writer->n_dtypes && !dtype_equal(&writer->dtypes[i].dtype, dtype))
        i++;
    return i;
}

int pickle_writer_init(struct pickle_writer *writer, const uint64_t *shape, unsigned n_dims,
                       struct error *err)
{
    bool is_possible = true;

    *writer = (struct pickle_writer){.n_dims = n_dims};
    if (n_dims > PICKLE_MAX_DIMS)
        return error_set(err, ERROR_DATA, "object array of %u dimensions, at most %d are possible",
                         n_dims, PICKLE_MAX_DIMS);
    for (unsigned i = 0; i < n_dims; i++) {
        writer->shape[i] = shape[i];
        is_possible &= shape[i] <= INT64_MAX;
    }
    if (!is_possible || bytes_product(shape, n_dims, &writer->n_items) != 0)
        return error_set(err, ERROR_DATA,
                         "object array of shape %s is too large, expected dimensions below 2^63 "
                         "and below 2^64 items",
                         text_shape(shape, n_dims).text);
    return 0;
}

int pickle_writer_note(struct pickle_writer *writer, uint64_t i, const struct pickle_item *item,
                       struct error *err)
{
    if (item->kind != PICKLE_ARRAY)
        return 0;
    const struct dtype *dtype = &item->as.array->dtype;
    unsigned at = find_dtype(writer, dtype);
    if (at < writer->n_dtypes && writer->dtypes[at].first_item <= i)
        return 0;
    if (at == writer->n_dtypes) {
        if (!dtype_is_number(dtype) || at == PICKLE_MAX_DTYPES)
            return error_set(err, ERROR_DATA,
                             "item %llu: array in an object array, expected one of numbers, of at "
                             "most %d types in all, found %s",
                             (unsigned long long)i, PICKLE_MAX_DTYPES, dtype_name(dtype).text);
        writer->n_dtypes++;
    }
    for (; at > 0 && writer->dtypes[at - 1].first_item > i; at--)
        writer->dtypes[at] = writer->dtypes[at - 1];
    writer->dtypes[at].dtype = *dtype;
    writer->dtypes[at].first_item = i;
    return 0;
}

int pickle_write_prelude(const struct pickle_writer *writer, struct bytes *out, struct error *err)
{
    static const struct dtype object = {.kind = DTYPE_OBJECT};
    uint8_t *p = bytes_reserve(out, MAX_PRELUDE_NBYTES, err);

    if (p == NULL)
        return -1;
    p = PUT_LITERAL(p, "\x80\x03"
                       "c" MODULE "\n_reconstruct\nq\x00"
                       "cnumpy\nndarray\nq\x01"
                       "K\x00\x85"
                       "C\x01"
                       "bq\x02"
                       "\x87R"
                       "(K\x01");
    p = put_shape(p, writer->shape, writer->n_dims);
    p = PUT_LITERAL(p, "cnumpy\ndtype\nq\x03");
    p = put_dtype(p, &object, SLOT_FIRST_DTYPE - 1);
    *p++ = OP_NEWFALSE;
    *p++ = OP_EMPTY_LIST;
    if (writer->n_items == 0)
        p = PUT_LITERAL(p, TRAILER);
    out->n_bytes = (size_t)(p - out->data);
    return 0;
}

static int write_array(const struct pickle_writer *writer, uint64_t i,
                       const struct pickle_ndarray *array, struct bytes *out, struct error *err)
{
    const uint64_t n_bytes = array->n_bytes;
    const unsigned at = find_dtype(writer, &array->dtype), slot = SLOT_FIRST_DTYPE + at;

    if (n_bytes > UINT32_MAX)
        return error_set(
            err, ERROR_DATA,
            "item %llu: array in an object array, expected below 4 GiB, found %llu bytes",
            (unsigned long long)i, (unsigned long long)n_bytes);
    if (array->n_dims > PICKLE_MAX_DIMS)
        return error_set(err, ERROR_DATA, "array of %u dimensions, at most %d are possible",
                         array->n_dims, PICKLE_MAX_DIMS);
    uint8_t *p = bytes_reserve(out, MAX_ARRAY_NBYTES + (size_t)n_bytes, err);
    if (p == NULL)
        return -1;
    p = PUT_LITERAL(p, "h\x00h\x01K\x00\x85h\x02\x87R(K\x01");
    p = put_shape(p, array->shape, array->n_dims);
    if (at == writer->n_dtypes || i < writer->dtypes[at].first_item)
        return error_set(err, ERROR_INTERNAL, "type of item %llu of an object array was not noted",
                         (unsigned long long)i);
    if (i > writer->dtypes[at].first_item) /* otherwise it is declared here */
        p = put_number(p, OP_BINGET, slot, 1);
    else
        p = put_dtype(put_number(p, OP_BINGET, SLOT_DTYPE_CLASS, 1), &array->dtype, slot);
    *p++ = array->fortran_order ? OP_NEWTRUE : OP_NEWFALSE;
    if (n_bytes <= UINT8_MAX)
        p = put_number(p, OP_SHORT_BINBYTES, n_bytes, 1);
    else
        p = put_number(p, OP_BINBYTES, n_bytes, 4);
    p = put_raw(p, array->data, (size_t)n_bytes);
    *p++ = OP_TUPLE;
    *p++ = OP_BUILD;
    out->n_bytes = (size_t)(p - out->data);
    return 0;
}

/* None, bool, int, float, str. */
static int write_scalar(const struct pickle_item *item, struct bytes *out, struct error *err)
{
    const size_t n_string = item->kind == PICKLE_STRING ? item->n_bytes_or_items : 0;
    uint8_t *p = bytes_reserve(out, MAX_SCALAR_NBYTES + n_string, err);
    uint64_t bits;

    if (p == NULL)
        return -1;
    switch (item->kind) {
    case PICKLE_NONE:
        *p++ = OP_NONE;
        break;
    case PICKLE_BOOL:
        *p++ = item->as.integer != 0 ? OP_NEWTRUE : OP_NEWFALSE;
        break;
    case PICKLE_INT:
        p = put_int(p, item->as.integer);
        break;
    case PICKLE_FLOAT:
        memcpy(&bits, &item->as.number, sizeof bits);
        p = put_number(p, OP_BINFLOAT, __builtin_bswap64(bits), 8);
        break;
    case PICKLE_STRING:
        p = put_number(p, OP_BINUNICODE, n_string, 4);
        p = put_raw(p, item->as.bytes, n_string);
        break;
    default:
        return error_set(err, ERROR_INTERNAL, "item of kind %u in a list", item->kind);
    }
    out->n_bytes = (size_t)(p - out->data);
    return 0;
}

static int write_if(bool is_due, uint8_t opcode, struct bytes *out, struct error *err)
{
    return is_due ? bytes_append(out, &opcode, 1, err) : 0;
}

int pickle_write_item(const struct pickle_writer *writer, uint64_t i,
                      const struct pickle_item *item, struct bytes *out, struct error *err)
{
    const uint32_t n = item->n_bytes_or_items;

    if (i >= writer->n_items)
        return error_set(err, ERROR_INTERNAL, "more items than the object array has");
    int rc = write_if(i % PICKLE_BATCH == 0, OP_MARK, out, err);
    if (rc == 0 && item->kind == PICKLE_ARRAY)
        rc = write_array(writer, i, item->as.array, out, err);
    else if (rc == 0)
        rc = item->kind == PICKLE_LIST ? write_if(true, OP_EMPTY_LIST, out, err)
                                       : write_scalar(item, out, err);
    for (uint32_t k = 0; k < n && item->kind == PICKLE_LIST && rc == 0; k++)
        rc = write_if(k % PICKLE_BATCH == 0, OP_MARK, out, err) != 0 ||
                     write_scalar(&item->as.items[k], out, err) != 0
                 ? -1
                 : write_if((k + 1) % PICKLE_BATCH == 0 || k + 1 == n, OP_APPENDS, out, err);
    if (rc == 0 && i + 1 == writer->n_items)
        return bytes_append(out, "e" TRAILER, sizeof TRAILER, err);
    return rc == 0 ? write_if((i + 1) % PICKLE_BATCH == 0, OP_APPENDS, out, err) : -1;
}
