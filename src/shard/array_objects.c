/*
 * array_objects.c - the pickle of an object array, read into memory and parsed.
 */
#include "shard/array.h"

#include "base/text.h"
#include "shard/unpack.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_STEP_NBYTES (1u << 20)
#define PICKLE_PROTO      0x80 /* the opcode that every pickle of protocol 2 and up begins with */

/* Spares reading gigabytes of something that is no pickle at all. */
static int check_first_byte(const struct array *array, const uint8_t *bytes, struct error *err)
{
    const uint8_t *first = bytes + array->header.header_nbytes;

    if (*first == PICKLE_PROTO)
        return 0;
    return array_fail(array, err,
                      "expected a pickle of protocol 2 or later, found that the data "
                      "begins with byte 0x%02x",
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
                          "expected an object array of one or more dimensions, found "
                          "another one");
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
