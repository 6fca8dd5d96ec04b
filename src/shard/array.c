/*
 * array.c - one array of a shard. Its bytes, stored or packed, are copied out of the input in
 * chunks that fit a core's cache and decoded from the copy, so that the bytes checked are the bytes
 * used. The end is checked exactly: packed and unpacked sizes, nothing left over, the CRC of what
 * was delivered. The header is compared with the size before anything is allocated. A small value
 * that is damaged or of another type counts as absent, not as an error.
 */
#include "shard/array.h"

#define SCALAR_MAX_NBYTES 1024u /* of a string or number that may say how to read the shard */
#define FIRST_STEP_NBYTES (1u << 20)
#define CHUNK_NBYTES      (256u << 10) /* fits a core's L2 cache along with what is made of it */
#define SKIP_NBYTES       (32u << 10)  /* skipped at a time */
#define OTHER_NBYTES      (64u << 20) /* the CRC of what is no array or pickle is checked up to here */
#define PICKLE_PROTO      0x80        /* the first opcode of a pickle of protocol 2 or later */

bool array_is_fortran(const struct array *array)
{
    unsigned n_long = 0;

    for (unsigned i = 0; i < array->header.n_dims; i++)
        if (array->header.shape[i] != 1)
            n_long++;
    return array->header.fortran_order && n_long > 1;
}

/* --- bytes --- */

int unpack_start(struct unpack *unpack, const struct array *array, struct error *err)
{
    unpack->array = array;
    unpack->io = (struct decoding){0};
    unpack->packed_nbytes = 0;
    unpack->unpacked_nbytes = 0;
    unpack->released = array->offset; /* earlier pages are not ours to release */
    unpack->crc = 0;
    if (array->decoder == NULL || array->held.memory != NULL)
        return 0;
    const size_t n_bytes = (size_t)smaller(array->packed_nbytes, CHUNK_NBYTES);
    if (unpack->buffer_nbytes < n_bytes) {
        if (list_room(&unpack->buffer, n_bytes, 1, "input buffer", err) != 0)
            return -1;
        unpack->buffer_nbytes = n_bytes;
    }
    if (unpack->decoder == array->decoder) {
        unpack->decoder->reset(unpack->state);
        return 0;
    }
    if (unpack->decoder != NULL)
        unpack->decoder->state_free(unpack->state);
    unpack->state = array->decoder->state_new(err);
    unpack->decoder = unpack->state != NULL ? array->decoder : NULL;
    return unpack->state != NULL ? 0 : -1;
}

/* Decode until n_bytes are delivered or the stream ends; *left is how many are missing. */
static int decode_some(struct unpack *unpack, uint8_t *out, size_t n_bytes, size_t *left,
                       struct error *err)
{
    const struct array *array = unpack->array;
    struct decoding *const io = &unpack->io;
    struct error reason = {0};
    int status = 0;

    io->out = out;
    io->out_nbytes = n_bytes;
    while (status == 0 && !io->done && io->out_nbytes > 0) {
        const uint64_t offset = array->offset + unpack->packed_nbytes;
        const size_t n =
            (size_t)smaller(array->packed_nbytes - unpack->packed_nbytes, unpack->buffer_nbytes);

        if (io->in_nbytes == 0 && n > 0) {
            status = input_read(array->input, offset, unpack->buffer, n, err);
            if (status != 0)
                break;
            unpack->packed_nbytes += n;
            io->in = unpack->buffer;
            io->in_nbytes = n;
            input_release_before(array->input, offset + n, &unpack->released);
        }
        /* Even without input: the decoder may hold output that there was no room for. */
        if (array->decoder->decode(unpack->state, io, &reason) != 0)
            status = array_fail_reason(array, err, &reason, "expected a deflate stream, found");
        else if (!io->done && io->out_nbytes > 0 && io->in_nbytes == 0 &&
                 unpack->packed_nbytes == array->packed_nbytes)
            status = array_fail(array, err,
                                "expected the deflate stream to end within %" PRIu64 " bytes, "
                                "found no end",
                                array->packed_nbytes);
    }
    io->out = NULL; /* borrowed for this call alone */
    *left = io->out_nbytes;
    return status;
}

int unpack_read(struct unpack *unpack, void *out, uint64_t n_bytes, struct error *err)
{
    const struct array *array = unpack->array;
    uint8_t scrap[SKIP_NBYTES], *at = out != NULL ? out : scrap;

    if (n_bytes > array->unpacked_nbytes - unpack->unpacked_nbytes)
        return array_fail(
            array, err,
            "expected at least %" PRIu64 " more bytes after byte %" PRIu64 ", found %" PRIu64,
            n_bytes, unpack->unpacked_nbytes, array->unpacked_nbytes - unpack->unpacked_nbytes);
    if (array->held.memory != NULL) {
        if (out != NULL)
            memcpy(out, array->held.memory + unpack->unpacked_nbytes, n_bytes);
        unpack->unpacked_nbytes += n_bytes;
        return 0;
    }
    while (n_bytes > 0) {
        const size_t n = (size_t)smaller(n_bytes, out != NULL ? CHUNK_NBYTES : sizeof scrap);
        const uint64_t offset = array->offset + unpack->unpacked_nbytes;
        size_t left = 0;

        if (array->decoder != NULL ? decode_some(unpack, at, n, &left, err) != 0
                                   : input_read(array->input, offset, at, n, err) != 0)
            return -1;
        if (left > 0)
            return array_fail(array, err,
                              "expected to inflate to %" PRIu64 " bytes, found %" PRIu64,
                              array->unpacked_nbytes, unpack->unpacked_nbytes + (n - left));
        if (array->decoder == NULL)
            input_release_before(array->input, offset + n, &unpack->released);
        if (array->has_crc)
            unpack->crc = crc_update(unpack->crc, at, n);
        unpack->unpacked_nbytes += n;
        at += out != NULL ? n : 0;
        n_bytes -= n;
    }
    return 0;
}

int unpack_finish(struct unpack *unpack, struct error *err)
{
    const struct array *array = unpack->array;
    uint64_t unused = 0;
    size_t room = 1;
    uint8_t extra;

    if (unpack_read(unpack, NULL, array->unpacked_nbytes - unpack->unpacked_nbytes, err) != 0)
        return -1;
    if (array->held.memory != NULL) /* checked when they came there */
        return 0;
    /* All declared bytes are out: the stream must end here, and the packed data with it. */
    if (array->decoder != NULL && decode_some(unpack, &extra, 1, &room, err) != 0)
        return -1;
    if (room == 0)
        return array_fail(array, err, "expected to inflate to %" PRIu64 " bytes, found more",
                          array->unpacked_nbytes);
    if (array->decoder != NULL)
        unused = array->packed_nbytes - unpack->packed_nbytes + unpack->io.in_nbytes;
    if (unused != 0)
        return array_fail(array, err,
                          "expected the deflate stream to take %" PRIu64
                          " bytes, found its end after %" PRIu64,
                          array->packed_nbytes, array->packed_nbytes - unused);
    if (array->has_crc && unpack->crc != array->crc)
        return error_set_at(err, ERROR_DATA, ARRAY_PLACE(array, .code = ERROR_CODE_CRC),
                            "expected CRC %08x, found %08x", array->crc, unpack->crc);
    return 0;
}

void unpack_release(struct unpack *unpack)
{
    if (unpack->decoder != NULL)
        unpack->decoder->state_free(unpack->state);
    free(unpack->buffer);
    memset(unpack, 0, sizeof *unpack);
}

int array_read_all(const struct array *array, uint8_t *out, struct error *err)
{
    struct unpack unpack = {0};
    int result = unpack_start(&unpack, array, err);

    if (result == 0 && out != NULL)
        result = unpack_read(&unpack, out, array->unpacked_nbytes, err);
    if (result == 0)
        result = unpack_finish(&unpack, err);
    unpack_release(&unpack);
    return result;
}

void array_hold(struct array *array, struct budget *budget)
{
    struct scratch held;

    if (array->decoder == NULL || array->is_left_out || array->objects != NULL ||
        array_is_fortran(array) || array->unpacked_nbytes > budget->left ||
        scratch_open(&held, array->unpacked_nbytes, budget, NULL) != 0)
        return;
    if (held.memory != NULL && array_read_all(array, held.memory, NULL) == 0)
        array->held = held;
    else
        scratch_close(&held);
}

/* --- small values --- */

int array_read_string(const struct array *array, char *text, size_t n_bytes)
{
    const struct dtype *dtype = &array->header.dtype;
    const size_t step = dtype->kind == DTYPE_UNICODE ? 4 : 1;
    const uint8_t *p = array->scalar;
    size_t n = p != NULL ? dtype->itemsize / step : 0, used = 0;

    if (n_bytes > 0)
        text[0] = '\0';
    if (p == NULL || n_bytes == 0 || (dtype->kind != DTYPE_UNICODE && dtype->kind != DTYPE_BYTES))
        return -1;
    while (n > 0 && bytes_get_uint(p + step * (n - 1), step, false) == 0)
        n--;
    if (dtype->kind == DTYPE_BYTES && !text_is_utf8(p, n))
        return -1;
    for (size_t i = 0; i < n; i++) {
        const uint32_t code = (uint32_t)bytes_get_uint(p + step * i, step, dtype->big_endian);
        char bytes[4] = {(char)code};
        const bool is_code = code > 0 && code <= 0x10ffff && (code < 0xd800 || code >= 0xe000);
        const size_t length = is_code && step == 4 ? text_put_code(code, bytes) : 1;

        if (!is_code || used + length >= n_bytes) {
            text[0] = '\0';
            return -1;
        }
        memcpy(text + used, bytes, length);
        used += length;
    }
    text[used] = '\0';
    return 0;
}

int array_read_int(const struct array *array, int64_t *value)
{
    if (array->scalar == NULL || !dtype_is_integer(&array->header.dtype))
        return -1;
    *value = dtype_get_int(&array->header.dtype, array->scalar);
    return 0;
}

/* --- headers --- */

/* Set n_rows and row_nbytes, which fit 64 bits because the header's size does, and compare the
 * length of the data with the header before anything is allocated. Then read a small value, which
 * may say how to read the shard: I/O errors and lack of memory are reported here, while damage
 * leaves `scalar` NULL and is reported by whoever needs the array. `unpack` is at the data. */
static int take_header(struct array *array, struct unpack *unpack, struct warnings *warnings,
                       struct error *err)
{
    const struct npy_header *header = &array->header;
    const uint64_t found = array->unpacked_nbytes - header->header_nbytes;
    const uint64_t expected = header->data_nbytes;
    const bool has_rows = header->n_dims > 0;
    const char kind = header->dtype.kind;
    struct error reason = {0};

    array->n_rows = has_rows ? header->shape[0] : 0;
    array->row_nbytes = has_rows ? header->dtype.itemsize : 0; /* 0 for objects */
    for (unsigned i = 1; i < header->n_dims; i++)
        array->row_nbytes *= header->shape[i];
    if (kind == DTYPE_OBJECT && found == 0) /* else it is as long as its pickle */
        return array_fail(array, err, "expected a pickle after the header, found the end");
    if (kind != DTYPE_OBJECT &&
        (found < expected ||
         (found > expected && found - expected >= (has_rows ? array->row_nbytes : expected))))
        return array_fail(array, err,
                          "expected %" PRIu64 " bytes of data for shape %s of %s, found %" PRIu64,
                          expected, text_shape(header->shape, header->n_dims).text,
                          dtype_name(&header->dtype).text, found);
    if (kind != DTYPE_OBJECT && found > expected &&
        warnings_add(warnings, err, "member %s: %" PRIu64 " bytes after the array's data",
                     text_quote(array->member).text, found - expected) != 0)
        return -1;
    if (has_rows || expected > SCALAR_MAX_NBYTES ||
        (kind != DTYPE_UNICODE && kind != DTYPE_BYTES && !dtype_is_integer(&header->dtype)))
        return 0;
    array->scalar = malloc((size_t)expected + 1);
    if (array->scalar == NULL)
        return error_no_memory(err, "small arrays");
    if (unpack_read(unpack, array->scalar, expected, &reason) == 0 &&
        unpack_finish(unpack, &reason) == 0)
        return 0;
    free(array->scalar);
    array->scalar = NULL;
    return reason.kind == ERROR_DATA ? 0 : error_pass(err, &reason);
}

int array_parse(struct array *array, struct unpack *unpack, bool must_be_array,
                struct warnings *warnings, struct error *err)
{
    uint8_t bytes[NPY_PREFIX_NBYTES + NPY_HEADER_MAX_BYTES];
    size_t n_prefix = NPY_PREFIX_NBYTES, n_bytes = 0;
    struct error reason = {0};

    if (array->unpacked_nbytes < n_prefix)
        n_prefix = (size_t)array->unpacked_nbytes;
    if (unpack_start(unpack, array, err) != 0 || unpack_read(unpack, bytes, n_prefix, err) != 0)
        return -1;
    /* Is it none, or was it damaged? A CRC that is wrong tells. */
    if (!must_be_array && (n_prefix < 6 || memcmp(bytes, "\x93NUMPY", 6) != 0))
        return array->unpacked_nbytes > OTHER_NBYTES || unpack_finish(unpack, err) == 0 ? 1 : -1;
    if (npy_header_length(bytes, n_prefix, &n_bytes, &reason) != 0)
        return array_fail_reason(array, err, &reason, "npy header");
    if (n_bytes > array->unpacked_nbytes)
        return array_fail(array, err, "expected an npy header of %zu bytes, found %llu in all",
                          n_bytes, (unsigned long long)array->unpacked_nbytes);
    if (n_bytes > n_prefix && unpack_read(unpack, bytes + n_prefix, n_bytes - n_prefix, err) != 0)
        return -1;
    if (npy_header_parse(bytes, n_bytes, &array->header, &reason) != 0)
        return array_fail_reason(array, err, &reason, "npy header");
    int status = take_header(array, unpack, warnings, err);
    if (status == 0 && array->header.oddity != NULL)
        status = warnings_add(warnings, err, "member %s: %s", text_quote(array->member).text,
                              array->header.oddity);
    return status;
}

int array_describe(struct array *array, const char *descr, const uint64_t *shape, unsigned n_dims,
                   struct error *err)
{
    struct unpack unpack = {0};
    struct warnings warnings = {0};
    struct bytes header = {0};
    struct error reason = {0};
    int result = npy_header_write(descr, shape, n_dims, 0, &header, err);

    if (result == 0 && npy_header_parse(header.data, header.n_bytes, &array->header, &reason) != 0)
        result = array_fail_reason(array, err, &reason, "array");
    array->header.header_nbytes = 0;
    if (result == 0)
        result = unpack_start(&unpack, array, err);
    if (result == 0)
        result = take_header(array, &unpack, &warnings, err);
    text_list_release(&warnings.list);
    unpack_release(&unpack);
    bytes_release(&header);
    return result;
}

/* One object may be referenced by several rows, but a shard that is mostly references is a bomb. */
#define AMPLIFICATION_MAX    64
#define AMPLIFICATION_NBYTES (16u << 20) /* always allowed on top */

/* The memory of all objects of an archive, their pickles included, and what the packed bytes of
 * each array add to it. Only what hardly differs from row to row is packed better. */
#define OBJECTS_NBYTES   (UINT64_C(128) << 20)
#define OBJECTS_PER_BYTE 192u

int array_load_objects(struct array *array, struct error *err)
{
    const struct npy_header *header = &array->header;
    struct pickle_limits limits = pickle_default_limits;
    struct pickle_document *document = NULL;
    struct unpack unpack = {0};
    struct error reason = {0};
    const uint64_t total = array->unpacked_nbytes;
    const size_t first = header->header_nbytes;
    const uint64_t most = OBJECTS_NBYTES / (array->n_with_objects + (array->n_with_objects == 0)) +
                          array->packed_nbytes * OBJECTS_PER_BYTE;
    uint64_t have = 0, capacity = first + FIRST_STEP_NBYTES, n_checked = 0;
    uint8_t *bytes = NULL;

    if (array->objects != NULL)
        return 0;
    if (header->dtype.kind != DTYPE_OBJECT || header->n_dims == 0)
        return array_fail(
            array, err, "expected an object array of one or more dimensions, found another array");
    limits.n_items = header->n_elements;
    int result = unpack_start(&unpack, array, err);
    /* Memory grows with the bytes that really come: the declared size is only a promise. What is
     * no pickle that is accepted is refused before gigabytes of it are unpacked. */
    for (; result == 0 && have < total; capacity *= 2) {
        capacity = smaller(capacity, total);
        if (array->decoder != NULL && total > most && have > 2 * FIRST_STEP_NBYTES)
            result =
                array_fail(array, err,
                           "expected a pickle of at most %" PRIu64 " bytes, as it takes %" PRIu64
                           " packed, found %" PRIu64 "; store it without compression",
                           most, array->packed_nbytes, total);
        else if (list_room(&bytes, capacity, 1, "object array", err) != 0 ||
                 unpack_read(&unpack, bytes + have, capacity - have, err) != 0)
            result = -1;
        else if (bytes[first] != PICKLE_PROTO)
            result = array_fail(array, err,
                                "expected a pickle of protocol 2 or later, found that the data "
                                "begins with byte 0x%02x",
                                bytes[first]);
        else if (array->decoder != NULL && capacity < total &&
                 pickle_check_part(bytes + first, capacity - first, &limits, &n_checked, &reason) !=
                     0)
            result = total <= OTHER_NBYTES && unpack_finish(&unpack, err) != 0
                         ? -1 /* it was damaged */
                         : array_fail_reason(array, err, &reason, "pickle");
        have = capacity;
    }
    if (result == 0)
        result = unpack_finish(&unpack, err);
    unpack_release(&unpack);
    if (result == 0 && (document = calloc(1, sizeof *document)) == NULL)
        result = error_no_memory(err, "object array");
    if (total < limits.total_nbytes / AMPLIFICATION_MAX)
        limits.total_nbytes =
            smaller(limits.total_nbytes, total * AMPLIFICATION_MAX + AMPLIFICATION_NBYTES);
    if (array->decoder != NULL && most - total < limits.heap_nbytes) {
        limits.heap_nbytes = most - total;
        limits.heap_advice = "; store it without compression";
    }
    if (result == 0 && pickle_read(bytes + first, total - first, &limits, document, &reason) != 0)
        result = array_fail_reason(array, err, &reason, "pickle");
    if (result == 0 &&
        (document->n_dims != header->n_dims ||
         memcmp(document->shape, header->shape, header->n_dims * sizeof *header->shape) != 0))
        result = array_fail(array, err,
                            "expected a pickled array of shape %s, as in the header, found %s",
                            text_shape(header->shape, header->n_dims).text,
                            text_shape(document->shape, document->n_dims).text);
    if (result == 0) {
        array->pickle_bytes = bytes;
        array->objects = document;
        return 0;
    }
    if (document != NULL)
        pickle_release(document);
    free(document);
    free(bytes);
    return -1;
}

void array_forget_objects(struct array *array)
{
    if (array->objects != NULL)
        pickle_release(array->objects);
    free(array->objects);
    free(array->pickle_bytes);
    array->objects = NULL;
    array->pickle_bytes = NULL;
}

void array_release(struct array *array)
{
    array_forget_objects(array);
    scratch_close(&array->held);
    free(array->scalar);
    npy_header_release(&array->header);
    free(array->key);
    free(array->member);
    memset(array, 0, sizeof *array);
}
