/* header_write.c - see header.h: the header of an output array. */
#include "npy/header.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

#define ALIGNMENT         64
#define GROWTH_DIGITS     21 /* numpy keeps room for a first dimension of that many digits */
#define V1_PREFIX_NBYTES  10
#define V2_PREFIX_NBYTES  12
#define V1_MAX_DICT_BYTES 65535

/* n spaces. */
static int append_spaces(struct text *t, size_t n, struct error *err)
{
    static const char spaces[] = "                                                                ";

    for (size_t part; n > 0; n -= part) {
        part = n < sizeof spaces - 1 ? n : sizeof spaces - 1;
        if (text_append(t, err, "%.*s", (int)part, spaces) != 0)
            return -1;
    }
    return 0;
}

/* The dictionary as numpy prints it, and the room for growth behind it. */
static int append_dictionary(struct text *t, const char *descr, const uint64_t *shape,
                             unsigned n_dims, struct error *err)
{
    char digits[24];
    size_t n_digits;

    if (text_append(t, err, "{'descr': %s, 'fortran_order': False, 'shape': (", descr) != 0)
        return -1;
    for (unsigned i = 0; i < n_dims; i++)
        if (text_append(t, err, i == 0 ? "%llu" : ", %llu", (unsigned long long)shape[i]) != 0)
            return -1;
    if (text_append(t, err, n_dims == 1 ? ",), }" : "), }") != 0)
        return -1;
    if (n_dims == 0)
        return 0;
    n_digits = (size_t)snprintf(digits, sizeof digits, "%llu", (unsigned long long)shape[0]);
    return append_spaces(t, GROWTH_DIGITS - n_digits, err);
}

/* Turn UTF-8 into Latin-1 in place. False, and nothing changed, when a character does not fit. */
static bool to_latin1(struct text *t)
{
    size_t n = 0;

    for (size_t i = 0; i < t->n_bytes; i++)
        if ((uint8_t)t->text[i] > 0xc3) /* the lead byte of U+0100 and up */
            return false;
    for (size_t i = 0; i < t->n_bytes; i++) {
        uint8_t c = (uint8_t)t->text[i];

        if (c >= 0xc2) {
            i++;
            c = (uint8_t)(c << 6 | ((uint8_t)t->text[i] & 0x3f));
        }
        t->text[n++] = (char)c;
    }
    t->n_bytes = n;
    return true;
}

/* Spaces in front of the newline so that the data starts at a multiple of 64; like numpy, a whole
 * 64 when it would do so without any. */
static size_t padding(size_t prefix, size_t dict_nbytes)
{
    return ALIGNMENT - (prefix + dict_nbytes + 1) % ALIGNMENT;
}

static int append_header(struct bytes *out, unsigned version, const struct text *dictionary,
                         size_t n_spaces, struct error *err)
{
    const size_t prefix = version == 1 ? V1_PREFIX_NBYTES : V2_PREFIX_NBYTES;
    const size_t length = dictionary->n_bytes + n_spaces + 1;
    uint8_t *p;

    if (length > UINT32_MAX)
        return error_set(err, ERROR_DATA, "array header is too large");
    p = bytes_reserve(out, prefix + length, err);
    if (p == NULL)
        return -1;
    memcpy(p, "\x93NUMPY", 6);
    p[6] = (uint8_t)version;
    p[7] = 0;
    bytes_put_le(p + 8, length, prefix - 8);
    memcpy(p + prefix, dictionary->text, dictionary->n_bytes);
    memset(p + prefix + dictionary->n_bytes, ' ', n_spaces);
    p[prefix + length - 1] = '\n';
    out->n_bytes += prefix + length;
    return 0;
}

int npy_header_write(const char *descr, const uint64_t *shape, unsigned n_dims,
                     size_t extra_padding, struct bytes *out, struct error *err)
{
    struct text dictionary = {0};
    unsigned version = 3;
    size_t n_spaces;
    int result = -1;

    if (append_dictionary(&dictionary, descr, shape, n_dims, err) != 0)
        goto out;
    n_spaces = padding(V2_PREFIX_NBYTES, dictionary.n_bytes) + extra_padding;
    if (to_latin1(&dictionary)) {
        const size_t v1 = padding(V1_PREFIX_NBYTES, dictionary.n_bytes) + extra_padding;

        version = dictionary.n_bytes + v1 + 1 <= V1_MAX_DICT_BYTES ? 1 : 2;
        n_spaces =
            version == 1 ? v1 : padding(V2_PREFIX_NBYTES, dictionary.n_bytes) + extra_padding;
    }
    result = append_header(out, version, &dictionary, n_spaces, err);
out:
    text_release(&dictionary);
    return result;
}
