/*
 * array_read.c - from a member of a container to an array: its header, held against its size before
 * anything is allocated, small values, the pickle of an object array, all of its bytes.
 */
#include "shard/unpack.h"

#include "base/text.h"

#include <stdlib.h>
#include <string.h>

#define SCALAR_MAX_NBYTES 1024u /* of a string or number that may say how to read the shard */
#define FIRST_STEP_NBYTES (1u << 20)
#define PICKLE_PROTO      0x80 /* the opcode that every pickle of protocol 2 and up begins with */

static const uint8_t magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

static int set_rows(struct array *array, struct error *err)
{
    const struct npy_header *header = &array->header;
    uint64_t factors[NPY_MAX_DIMS];

    array->n_rows = header->n_dims > 0 ? header->shape[0] : 0;
    array->row_nbytes = 0;
    if (header->n_dims == 0 || header->dtype.kind == DTYPE_OBJECT)
        return 0;
    factors[0] = header->dtype.itemsize;
    for (unsigned i = 1; i < header->n_dims; i++)
        factors[i] = header->shape[i];
    if (bytes_product(factors, header->n_dims, &array->row_nbytes) != 0)
        return array_fail(array, err, "expected rows that fit 64-bit sizes, found shape %s",
                          text_shape(header->shape, header->n_dims).text);
    return 0;
}

/* The data's length against the header's. Nothing has been allocated for it yet. */
static int check_length(const struct array *array, struct warnings *warnings, struct error *err)
{
    const struct npy_header *header = &array->header;
    const uint64_t found = array->unpacked_nbytes - header->header_nbytes;
    const uint64_t step = header->n_dims > 0 ? array->row_nbytes : header->data_nbytes;
    char dtype[32];

    if (header->dtype.kind == DTYPE_OBJECT) /* as long as its pickle is */
        return found > 0
                   ? 0
                   : array_fail(array, err, "expected a pickle behind the header, found the end");
    if (found == header->data_nbytes)
        return 0;
    if (found > header->data_nbytes && found - header->data_nbytes < step)
        return warnings_add(warnings, err, "member %s: %llu bytes behind the array's data",
                            text_quote(array->member).text,
                            (unsigned long long)(found - header->data_nbytes));
    dtype_name(&header->dtype, dtype, sizeof dtype);
    return array_fail(array, err, "expected %llu bytes of data for shape %s of %s, found %llu",
                      (unsigned long long)header->data_nbytes,
                      text_shape(header->shape, header->n_dims).text, dtype,
                      (unsigned long long)found);
}

/* The whole header into `bytes`, of which the first n_prefix are there. */
static int read_header(struct array *array, struct unpack *unpack, uint8_t *bytes, size_t n_prefix,
                       struct error *err)
{
    struct error reason = {0};
    size_t header_nbytes = 0;

    if (npy_header_length(bytes, n_prefix, &header_nbytes, &reason) != 0)
        return array_fail_reason(array, err, &reason, "npy header");
    if (header_nbytes > array->unpacked_nbytes)
        return array_fail(array, err, "expected an npy header of %zu bytes, found %llu in all",
                          header_nbytes, (unsigned long long)array->unpacked_nbytes);
    if (header_nbytes > n_prefix &&
        unpack_read(unpack, bytes + n_prefix, header_nbytes - n_prefix, err) != 0)
        return -1;
    if (npy_header_parse(bytes, header_nbytes, &array->header, &reason) != 0)
        return array_fail_reason(array, err, &reason, "npy header");
    return 0;
}

/* What a shard says of itself is read here, where a failing device or a lack of memory can be told
 * from a shard that says nothing. Damage is found by whoever needs the array. */
static int keep_scalar(struct array *array, struct unpack *unpack, struct error *err)
{
    const struct npy_header *header = &array->header;
    const char kind = header->dtype.kind;
    struct error reason = {0};

    if (header->n_dims != 0 || header->data_nbytes > SCALAR_MAX_NBYTES ||
        (kind != DTYPE_UNICODE && kind != DTYPE_BYTES && !dtype_is_integer(&header->dtype)))
        return 0;
    array->scalar = malloc((size_t)header->data_nbytes + 1);
    if (array->scalar == NULL)
        return error_no_memory(err, "small arrays");
    if (unpack_read(unpack, array->scalar, header->data_nbytes, &reason) == 0 &&
        unpack_finish(unpack, &reason) == 0)
        return 0;
    free(array->scalar);
    array->scalar = NULL;
    return reason.kind == ERROR_DATA ? 0 : error_pass(err, &reason);
}

int array_parse(struct array *array, struct unpack *unpack, bool must_be_array, bool *is_array,
                struct warnings *warnings, struct error *err)
{
    uint8_t bytes[NPY_PREFIX_NBYTES + NPY_HEADER_MAX_BYTES];
    size_t n_prefix = NPY_PREFIX_NBYTES;

    if (array->unpacked_nbytes < n_prefix)
        n_prefix = (size_t)array->unpacked_nbytes;
    if (unpack_start(unpack, array, err) != 0 || unpack_read(unpack, bytes, n_prefix, err) != 0)
        return -1;
    *is_array = n_prefix >= sizeof magic && memcmp(bytes, magic, sizeof magic) == 0;
    if (!*is_array && !must_be_array)
        return 0;
    if (read_header(array, unpack, bytes, n_prefix, err) != 0 || set_rows(array, err) != 0 ||
        check_length(array, warnings, err) != 0 || keep_scalar(array, unpack, err) != 0)
        return -1;
    if (array->header.odd)
        return warnings_add(warnings, err, "member %s: %s", text_quote(array->member).text,
                            array->header.oddity);
    return 0;
}

int array_describe(struct array *array, const char *descr, const uint64_t *shape, unsigned n_dims,
                   struct error *err)
{
    struct unpack unpack = {0};
    struct warnings warnings = {0};
    struct bytes header = {0};
    struct error reason = {0};
    int result = -1;

    if (npy_header_write(descr, shape, n_dims, 0, &header, err) != 0)
        goto out;
    if (npy_header_parse(header.data, header.n_bytes, &array->header, &reason) != 0) {
        array_fail_reason(array, err, &reason, "array");
        goto out;
    }
    array->header.header_nbytes = 0;
    if (set_rows(array, err) == 0 && check_length(array, &warnings, err) == 0 &&
        unpack_start(&unpack, array, err) == 0)
        result = keep_scalar(array, &unpack, err);
out:
    warnings_release(&warnings);
    unpack_release(&unpack);
    bytes_release(&header);
    return result;
}

int array_read_all(const struct array *array, uint8_t *out, struct error *err)
{
    struct unpack unpack = {0};
    int result = -1;

    if (unpack_start(&unpack, array, err) == 0 &&
        unpack_read(&unpack, out, array->unpacked_nbytes, err) == 0)
        result = unpack_finish(&unpack, err);
    unpack_release(&unpack);
    return result;
}

int array_check(const struct array *array, struct error *err)
{
    struct unpack unpack = {0};
    const int result = unpack_start(&unpack, array, err) == 0 ? unpack_finish(&unpack, err) : -1;

    unpack_release(&unpack);
    return result;
}

/* --- object arrays --- */

/* Spares reading gigabytes of something that is no pickle at all. */
static int check_first_byte(const struct array *array, const uint8_t *bytes, struct error *err)
{
    const uint8_t *first = bytes + array->header.header_nbytes;

    if (*first == PICKLE_PROTO)
        return 0;
    return array_fail(
        array, err,
        "expected a pickle of protocol 2 or later, found that the data begins with byte 0x%02x",
        *first);
}

/*
 * Read all unpacked bytes into memory that grows with what has really come: the declared size is
 * only a promise. The caller frees *bytes, also on failure.
 */
static int read_growing(const struct array *array, struct unpack *unpack, uint8_t **bytes,
                        struct error *err)
{
    const uint64_t total = array->unpacked_nbytes;
    uint64_t have = 0;
    uint64_t capacity = array->header.header_nbytes + FIRST_STEP_NBYTES;

    while (have < total) {
        uint8_t *larger;

        if (capacity > total)
            capacity = total;
        larger = realloc(*bytes, (size_t)capacity);
        if (larger == NULL)
            return error_no_memory(err, "object array");
        *bytes = larger;
        if (unpack_read(unpack, larger + have, capacity - have, err) != 0 ||
            (have == 0 && check_first_byte(array, larger, err) != 0))
            return -1;
        have = capacity;
        capacity *= 2;
    }
    return unpack_finish(unpack, err);
}

static int check_shape(const struct array *array, const struct pickle_document *document,
                       struct error *err)
{
    const struct npy_header *header = &array->header;

    if (document->n_dims == header->n_dims &&
        memcmp(document->shape, header->shape, header->n_dims * sizeof *header->shape) == 0)
        return 0;
    return array_fail(array, err,
                      "expected a pickled array of shape %s, as in the header, found %s",
                      text_shape(header->shape, header->n_dims).text,
                      text_shape(document->shape, document->n_dims).text);
}

/* One array may stand in several rows, but a shard that is mostly such references is a bomb. */
#define AMPLIFICATION_MAX    64
#define AMPLIFICATION_NBYTES (16u << 20) /* that much is always allowed */

static uint64_t total_limit(const struct array *array, uint64_t limit)
{
    uint64_t n_bytes;

    if (__builtin_mul_overflow(array->unpacked_nbytes, AMPLIFICATION_MAX, &n_bytes) ||
        __builtin_add_overflow(n_bytes, AMPLIFICATION_NBYTES, &n_bytes))
        return limit;
    return n_bytes < limit ? n_bytes : limit;
}

static int parse(const struct array *array, const uint8_t *bytes,
                 const struct pickle_limits *limits, struct pickle_document *document,
                 struct error *err)
{
    struct pickle_limits own = limits != NULL ? *limits : pickle_default_limits;
    struct error reason = {0};

    own.n_items = array->header.n_elements;
    own.total_nbytes = total_limit(array, own.total_nbytes);
    if (pickle_read(bytes + array->header.header_nbytes,
                    array->unpacked_nbytes - array->header.header_nbytes, &own, document,
                    &reason) != 0)
        return array_fail_reason(array, err, &reason, "pickle");
    return check_shape(array, document, err);
}

int array_load_objects(struct array *array, const struct pickle_limits *limits, struct error *err)
{
    struct pickle_document *document = NULL;
    struct unpack unpack = {0};
    uint8_t *bytes = NULL;
    int result = -1;

    if (array->objects != NULL)
        return 0;
    if (array->header.dtype.kind != DTYPE_OBJECT || array->header.n_dims == 0)
        return array_fail(array, err,
                          "expected an object array of one or more dimensions, found another one");
    if (unpack_start(&unpack, array, err) != 0 || read_growing(array, &unpack, &bytes, err) != 0)
        goto out;
    document = calloc(1, sizeof *document);
    if (document == NULL) {
        error_no_memory(err, "object array");
        goto out;
    }
    if (parse(array, bytes, limits, document, err) != 0)
        goto out;
    array->pickle_bytes = bytes;
    array->objects = document;
    bytes = NULL;
    document = NULL;
    result = 0;
out:
    if (document != NULL)
        pickle_release(document);
    free(document);
    free(bytes);
    unpack_release(&unpack);
    return result;
}
