/* header_parse.c - see header.h: from bytes to a struct npy_header. */
#include "npy/header.h"

#include "base/text.h"
#include "npy/descr.h"

#include <stdlib.h>
#include <string.h>

#define MAGIC_NBYTES 6
#define POINTER_SIZE 8 /* what numpy counts for an object */

static const uint8_t magic[MAGIC_NBYTES] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

/* Bytes in front of the dictionary. */
static size_t prefix_nbytes(unsigned version)
{
    return version == 1 ? 10 : 12;
}

static int check_magic(const uint8_t *bytes, size_t n_bytes, struct error *err)
{
    const size_t n = n_bytes < MAGIC_NBYTES ? n_bytes : MAGIC_NBYTES;

    if (n_bytes == 0)
        return error_set(err, ERROR_DATA, "empty: no .npy header");
    if (memcmp(bytes, magic, n) != 0)
        return error_set(err, ERROR_DATA, "not a .npy array: it starts with %s",
                         text_quote_bytes(bytes, n).text);
    if (n_bytes < MAGIC_NBYTES + 2)
        return error_set(err, ERROR_DATA, "ends inside the .npy header: %zu bytes", n_bytes);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0)
        return error_set(err, ERROR_DATA, ".npy version %u.%u is not supported (1.0, 2.0, 3.0 are)",
                         bytes[6], bytes[7]);
    return 0;
}

int npy_header_length(const uint8_t *bytes, size_t n_bytes, size_t *header_nbytes,
                      struct error *err)
{
    size_t prefix;
    uint32_t length;

    if (check_magic(bytes, n_bytes, err) != 0)
        return -1;
    prefix = prefix_nbytes(bytes[6]);
    if (n_bytes < prefix)
        return error_set(err, ERROR_DATA, "ends inside the .npy header: %zu bytes", n_bytes);
    length = prefix == 10 ? bytes_get_le16(bytes + 8) : bytes_get_le32(bytes + 8);
    if (length > NPY_HEADER_MAX_BYTES)
        return error_set(err, ERROR_DATA, ".npy header of %u bytes, at most %d are accepted",
                         (unsigned)length, NPY_HEADER_MAX_BYTES);
    *header_nbytes = prefix + length;
    return 0;
}

/* What the dictionary's keys stand for; used as bits of "seen". */
enum header_key { KEY_DESCR = 1, KEY_FORTRAN_ORDER = 2, KEY_SHAPE = 4, KEY_ALL = 7 };

static const struct {
    const char *name;
    enum header_key key;
} header_keys[] = {
    {"descr", KEY_DESCR}, {"fortran_order", KEY_FORTRAN_ORDER}, {"shape", KEY_SHAPE}};

static int take_key(struct literal *l, unsigned *seen, enum header_key *key, struct error *err)
{
    struct literal_string string;

    if (literal_take_string(l, &string, err) != 0)
        return -1;
    for (size_t i = 0; i < sizeof header_keys / sizeof *header_keys; i++) {
        if (strlen(header_keys[i].name) != string.n_bytes ||
            memcmp(header_keys[i].name, string.text, string.n_bytes) != 0)
            continue;
        *key = header_keys[i].key;
        if ((*seen & *key) != 0)
            return error_set(err, ERROR_DATA, "key '%s' twice in the header", header_keys[i].name);
        *seen |= *key;
        return literal_expect(l, ':', "after a key", err);
    }
    return error_set(err, ERROR_DATA, "unknown key %s in the header",
                     text_quote_bytes(string.text, string.n_bytes).text);
}

static int check_all_keys(unsigned seen, struct error *err)
{
    for (size_t i = 0; i < sizeof header_keys / sizeof *header_keys; i++)
        if ((seen & header_keys[i].key) == 0)
            return error_set(err, ERROR_DATA, "no key '%s' in the header", header_keys[i].name);
    return 0;
}

/* A copy of n_bytes as a UTF-8 string: Latin-1 grows to two bytes per byte at most. */
static char *copy_utf8(const char *text, size_t n_bytes, bool is_utf8)
{
    char *copy = malloc(2 * n_bytes + 1);
    size_t n = 0;

    if (copy == NULL)
        return NULL;
    for (size_t i = 0; i < n_bytes; i++) {
        const uint8_t c = (uint8_t)text[i];

        if (c < 0x80 || is_utf8) {
            copy[n++] = text[i];
        } else {
            copy[n++] = (char)(0xc0 | c >> 6);
            copy[n++] = (char)(0x80 | (c & 0x3f));
        }
    }
    copy[n] = '\0';
    return copy;
}

static void set_odd(struct npy_header *header, const char *oddity)
{
    if (!header->odd)
        header->oddity = oddity;
    header->odd = true;
}

static int take_descr(struct literal *l, struct npy_header *header, struct error *err)
{
    const char *start;
    bool no_order;

    literal_peek(l);
    start = l->next;
    if (descr_take(l, &header->dtype, &no_order, err) != 0)
        return -1;
    if (no_order)
        set_odd(header, start[1] == '|' ? "dtype with byte order '|': taken as little-endian"
                                        : "dtype with byte order '=': taken as little-endian");
    header->descr = copy_utf8(start, (size_t)(l->next - start), header->version == 3);
    if (header->descr == NULL)
        return error_no_memory(err, "array header");
    return 0;
}

static int take_bool(struct literal *l, bool *value, struct error *err)
{
    *value = literal_take_word(l, "True");
    if (*value || literal_take_word(l, "False"))
        return 0;
    return literal_unexpected(l, "True or False (the fortran_order)", err);
}

static int take_value(struct literal *l, enum header_key key, struct npy_header *header,
                      struct error *err)
{
    switch (key) {
    case KEY_DESCR:
        return take_descr(l, header, err);
    case KEY_FORTRAN_ORDER:
        return take_bool(l, &header->fortran_order, err);
    default:
        return literal_take_shape(l, header->shape, NPY_MAX_DIMS, &header->n_dims, err);
    }
}

/* What may stand behind the dictionary: spaces, then one newline. */
static int check_tail(const struct literal *l, struct npy_header *header, struct error *err)
{
    const char *p = l->next;

    while (p < l->end && *p == ' ')
        p++;
    if (p == l->end) {
        set_odd(header, "header without a newline at its end");
        return 0;
    }
    if (*p == '\n' && p + 1 == l->end)
        return 0;
    return error_set(
        err, ERROR_DATA, "header has %s behind its dictionary",
        text_quote_bytes(p, (size_t)(l->end - p) < 16 ? (size_t)(l->end - p) : 16).text);
}

static int take_dictionary(struct literal *l, struct npy_header *header, struct error *err)
{
    unsigned seen = 0;
    bool comma = true;

    if (literal_expect(l, '{', "at the start", err) != 0)
        return -1;
    while (!literal_take(l, '}')) {
        enum header_key key = KEY_ALL;

        if (!comma)
            return literal_unexpected(l, "',' or '}' in the dictionary", err);
        if (take_key(l, &seen, &key, err) != 0 || take_value(l, key, header, err) != 0)
            return -1;
        comma = literal_take(l, ',');
    }
    if (check_all_keys(seen, err) != 0)
        return -1;
    return check_tail(l, header, err);
}

/* Counts and sizes. As in numpy, the dimensions that are not zero must give a possible size even
 * when another one is zero. */
static int set_sizes(struct npy_header *header, struct error *err)
{
    const bool is_object = header->dtype.kind == DTYPE_OBJECT;
    uint64_t factors[NPY_MAX_DIMS + 1];
    bool empty = false;
    uint64_t n_bytes;

    for (unsigned i = 0; i < header->n_dims; i++) {
        empty = empty || header->shape[i] == 0;
        factors[i] = header->shape[i] == 0 ? 1 : header->shape[i];
    }
    factors[header->n_dims] = is_object ? POINTER_SIZE : header->dtype.itemsize;
    if (bytes_product(factors, header->n_dims + 1, &n_bytes) != 0 || n_bytes > INT64_MAX)
        return error_set(err, ERROR_DATA, "shape %s is too large",
                         text_shape(header->shape, header->n_dims).text);
    header->n_elements = empty ? 0 : n_bytes / factors[header->n_dims];
    header->data_nbytes = is_object ? 0 : header->n_elements * header->dtype.itemsize;
    return 0;
}

int npy_header_parse(const uint8_t *bytes, size_t n_bytes, struct npy_header *header,
                     struct error *err)
{
    struct literal l;
    size_t prefix;

    *header = (struct npy_header){0};
    if (npy_header_length(bytes, n_bytes, &header->header_nbytes, err) != 0)
        return -1;
    if (n_bytes < header->header_nbytes)
        return error_set(err, ERROR_DATA, "ends inside the .npy header: %zu of %zu bytes", n_bytes,
                         header->header_nbytes);
    header->version = bytes[6];
    prefix = prefix_nbytes(header->version);
    l = (struct literal){.next = (const char *)bytes + prefix,
                         .end = (const char *)bytes + header->header_nbytes,
                         .long_suffix = header->version < 3};
    if (header->version == 3 && !text_is_utf8(l.next, (size_t)(l.end - l.next)))
        return error_set(err, ERROR_DATA, "header of version 3 is not UTF-8");
    if (take_dictionary(&l, header, err) != 0 || set_sizes(header, err) != 0) {
        npy_header_release(header);
        return -1;
    }
    return 0;
}

bool npy_header_same_type(const struct npy_header *a, const struct npy_header *b)
{
    return a->dtype.kind == b->dtype.kind && a->dtype.itemsize == b->dtype.itemsize &&
           a->dtype.big_endian == b->dtype.big_endian && a->dtype.unit == b->dtype.unit &&
           a->dtype.structured == b->dtype.structured &&
           (!a->dtype.structured || strcmp(a->descr, b->descr) == 0);
}

void npy_header_release(struct npy_header *header)
{
    free(header->descr);
    *header = (struct npy_header){0};
}
