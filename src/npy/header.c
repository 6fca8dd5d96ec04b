/*
 * header.c - the header of a .npy array. Reading is strict: a few Python literals, exactly the
 * three keys, plain types; what readers could take in different ways is refused, and what is odd
 * but clear is said. Writing is as numpy 1.24 does it.
 */
#include "npy/header.h"

#include "base/text.h"

#define MAGIC             "\x93NUMPY"
#define MAGIC_NBYTES      6
#define POINTER_SIZE      8 /* what numpy counts for an object */
#define MAX_NESTING       4
#define MAX_NAMES         512 /* of the fields of one structured type */
#define ALIGNMENT         64
#define GROWTH_DIGITS     21 /* numpy keeps room for a first dimension of that many digits */
#define V1_MAX_DICT_BYTES 65535

#define refuse(err, ...) error_set(err, ERROR_DATA, __VA_ARGS__)

/* Bytes in front of the dictionary. */
static size_t prefix_nbytes(unsigned version)
{
    return version == 1 ? 10 : 12;
}

/* --- literals: strings without escapes or prefixes, unsigned decimals, tuples of these --- */

struct literal {
    const char *next; /* borrowed: the text of the header */
    const char *end;
    bool long_suffix; /* Python 2's "6L" is an integer */
    struct error *err;
};

/* A string's content, inside its quotes. */
struct string {
    const char *text; /* borrowed */
    size_t n_bytes;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* What stands at p, for messages: at most so many bytes of it. */
static struct text_quoted shown(const struct literal *l, const char *p, size_t at_most)
{
    const size_t n_left = (size_t)(l->end - p);

    return text_quote_bytes(p, n_left < at_most ? n_left : at_most);
}

/* The next character that is not white space as Python allows it in brackets; NUL at the end. */
static char peek(struct literal *l)
{
    while (l->next < l->end && *l->next != '\0' && strchr(" \t\n\r\f", *l->next) != NULL)
        l->next++;
    return l->next < l->end ? *l->next : '\0';
}

/* Step over white space, then over c if it comes next; false (and only white space gone) if not. */
static bool take(struct literal *l, char c)
{
    if (peek(l) != c || l->next == l->end)
        return false;
    l->next++;
    return true;
}

/* ERROR_DATA that says what follows instead of `expected`. */
static int unexpected(struct literal *l, const char *expected)
{
    peek(l);
    if (l->next == l->end)
        return refuse(l->err, "header ends where %s is expected", expected);
    return refuse(l->err, "header has %s where %s is expected", shown(l, l->next, 16).text,
                  expected);
}

/* As take, but ERROR_DATA when something else follows; `where` names the place. */
static int expect(struct literal *l, char c, const char *where)
{
    char expected[64];

    if (take(l, c))
        return 0;
    snprintf(expected, sizeof expected, "'%c' %s", c, where);
    return unexpected(l, expected);
}

/* True, and stepped over, when `word` follows as a whole word. */
static bool take_word(struct literal *l, const char *word)
{
    const size_t n = strlen(word);

    peek(l);
    if ((size_t)(l->end - l->next) < n || memcmp(l->next, word, n) != 0 ||
        ((size_t)(l->end - l->next) > n && is_word(l->next[n])))
        return false;
    l->next += n;
    return true;
}

/* A string in single or double quotes. Escapes and control characters are refused. */
static int take_string(struct literal *l, struct string *string)
{
    const char quote = peek(l);
    const char *p = l->next;

    if (quote != '\'' && quote != '"')
        return unexpected(l, "a string");
    for (p++; p < l->end && *p != quote && (unsigned char)*p >= 0x20 && *p != 0x7f; p++)
        if (*p == '\\')
            return refuse(l->err, "escape sequence in a header string, expected plain characters");
    if (p == l->end || *p != quote)
        return refuse(l->err, "unterminated string in the header, expected %c, found %s", quote,
                      p == l->end ? "the end" : "a control character");
    *string = (struct string){l->next + 1, (size_t)(p - l->next - 1)};
    l->next = p + 1;
    return 0;
}

static bool string_is(const struct string *string, const char *text, size_t n_bytes)
{
    return string->n_bytes == n_bytes && memcmp(string->text, text, n_bytes) == 0;
}

/* An unsigned integer: digits alone, no sign, no leading zero, at most 64 bits. */
static int take_uint(struct literal *l, uint64_t *value)
{
    const char first = peek(l);
    const char *digits = l->next;
    const char *fault = NULL;
    uint64_t v = 0;

    if (first == '-' || first == '+')
        fault = first == '-' ? "negative dimension" : "signed dimension";
    else if (!is_digit(first))
        return unexpected(l, "a whole number");
    for (; fault == NULL && l->next < l->end && is_digit(*l->next); l->next++)
        if (__builtin_mul_overflow(v, 10u, &v) ||
            __builtin_add_overflow(v, (uint64_t)(*l->next - '0'), &v))
            fault = "dimension does not fit 64 bits";
    if (fault == NULL && first == '0' && l->next - digits > 1)
        fault = "dimension with a leading zero";
    if (fault != NULL)
        return refuse(l->err, "%s: expected a plain decimal number, found %s", fault,
                      shown(l, digits, 24).text);
    if (l->long_suffix && l->next < l->end && *l->next == 'L')
        l->next++;
    if (l->next < l->end && (is_word(*l->next) || *l->next == '.'))
        return unexpected(l, "the end of a decimal number");
    *value = v;
    return 0;
}

/* A tuple of up to NPY_MAX_DIMS integers: "()", "(3,)", "(3, 4)", "(3, 4,)". */
static int take_shape(struct literal *l, uint64_t *shape, unsigned *n_dims)
{
    bool comma = false;
    unsigned n = 0;

    if (!take(l, '('))
        return unexpected(l, "a tuple (the shape)");
    while (!take(l, ')')) {
        if (n > 0 && !comma)
            return unexpected(l, "',' or ')' in the shape");
        if (n == NPY_MAX_DIMS)
            return refuse(l->err, "more than %u dimensions, at most %u are accepted", NPY_MAX_DIMS,
                          NPY_MAX_DIMS);
        if (take_uint(l, &shape[n]) != 0)
            return -1;
        n++;
        comma = take(l, ',');
    }
    if (n == 1 && !comma)
        return refuse(l->err, "shape is a number in brackets, not a tuple: expected (%llu,)",
                      (unsigned long long)shape[0]);
    *n_dims = n;
    return 0;
}

/* --- the descr: a type string, or a list of fields --- */

struct field_names {
    struct string names[MAX_NAMES];
    unsigned n_names;
};

static int take_sub_descr(struct literal *l, unsigned depth, struct dtype *dtype);

static int set_struct(struct literal *l, uint64_t itemsize, struct dtype *dtype)
{
    if (itemsize > UINT32_MAX)
        return refuse(l->err,
                      "structured type is too large: expected below 4 GiB, found %llu bytes or "
                      "more",
                      (unsigned long long)itemsize);
    *dtype = (struct dtype){.kind = DTYPE_VOID, .structured = true, .itemsize = (uint32_t)itemsize};
    return 0;
}

/* Multiply the type by a field's shape, an integer or a tuple; it becomes a structured one. */
static int take_sub_shape(struct literal *l, struct dtype *dtype)
{
    uint64_t factors[NPY_MAX_DIMS + 1], itemsize;
    unsigned n_dims = 1;

    if (peek(l) == '(' ? take_shape(l, factors, &n_dims) != 0 : take_uint(l, &factors[0]) != 0)
        return -1;
    factors[n_dims] = dtype->itemsize;
    if (bytes_product(factors, n_dims + 1, &itemsize) != 0)
        itemsize = UINT64_MAX;
    take(l, ',');
    return set_struct(l, itemsize, dtype);
}

/* Take a name or title, one that no field has yet. Fields without a name are padding, and many. */
static int take_new_name(struct literal *l, struct field_names *names)
{
    struct string taken;

    if (take_string(l, &taken) != 0)
        return -1;
    for (unsigned i = 0; i < names->n_names && taken.n_bytes > 0; i++)
        if (string_is(&names->names[i], taken.text, taken.n_bytes))
            return refuse(l->err, "two fields are named %s, expected one",
                          text_quote_bytes(taken.text, taken.n_bytes).text);
    if (names->n_names == MAX_NAMES)
        return refuse(l->err, "structured type of more than %d names, which is the most accepted",
                      MAX_NAMES);
    names->names[names->n_names++] = taken;
    return 0;
}

/* A list of fields, whose '[' is gone: (name, descr) or (name, descr, shape) each, whose name may
 * be (title, name). */
static int take_fields(struct literal *l, unsigned depth, struct dtype *dtype)
{
    struct field_names names;
    uint64_t itemsize = 0;
    bool comma = true;

    names.n_names = 0;
    while (!take(l, ']')) {
        struct dtype field = {0};

        if (!comma)
            return unexpected(l, "',' or ']' in the list of fields");
        if (expect(l, '(', "before a field") != 0)
            return -1;
        if (take(l, '(')) {
            if (take_new_name(l, &names) != 0 || expect(l, ',', "after a field's title") != 0 ||
                take_new_name(l, &names) != 0)
                return -1;
            take(l, ',');
            if (expect(l, ')', "after a field's name") != 0)
                return -1;
        } else if (take_new_name(l, &names) != 0) {
            return -1;
        }
        if (expect(l, ',', "after a field's name") != 0 ||
            take_sub_descr(l, depth + 1, &field) != 0 ||
            (take(l, ',') && peek(l) != ')' && take_sub_shape(l, &field) != 0) ||
            expect(l, ')', "after a field") != 0)
            return -1;
        itemsize += field.itemsize; /* cannot overflow: fewer than 2^32 fields */
        comma = take(l, ',');
    }
    if (itemsize == 0)
        return refuse(l->err, "structured type without data, expected fields of some bytes");
    return set_struct(l, itemsize, dtype);
}

/* The type of a field: as the descr, but no objects, and (descr, shape) as well. */
static int take_sub_descr(struct literal *l, unsigned depth, struct dtype *dtype)
{
    const char first = peek(l);
    struct string string;

    if ((first == '[' || first == '(') && depth >= MAX_NESTING)
        return refuse(l->err, "structured type is nested too deeply, expected at most %d levels",
                      MAX_NESTING);
    if (take(l, '['))
        return take_fields(l, depth, dtype);
    if (take(l, '('))
        return take_sub_descr(l, depth + 1, dtype) != 0 ||
                       expect(l, ',', "after a subarray's type") != 0 ||
                       take_sub_shape(l, dtype) != 0
                   ? -1
                   : expect(l, ')', "after a subarray");
    if (take_string(l, &string) != 0 ||
        dtype_parse(string.text, string.n_bytes, dtype, l->err) != 0)
        return -1;
    if (dtype->kind == DTYPE_OBJECT)
        return refuse(l->err, "structured type with objects, expected numbers, strings and bytes");
    return 0;
}

/* --- the prefix and the dictionary --- */

int npy_header_length(const uint8_t *bytes, size_t n_bytes, size_t *header_nbytes,
                      struct error *err)
{
    const size_t n = n_bytes < MAGIC_NBYTES ? n_bytes : MAGIC_NBYTES;

    if (n_bytes == 0)
        return refuse(err, "empty: expected a .npy header, found 0 bytes");
    if (memcmp(bytes, MAGIC, n) != 0)
        return refuse(err, "not a .npy array: it starts with %s, expected %s",
                      text_quote_bytes(bytes, n).text, text_quote(MAGIC).text);
    if (n_bytes >= MAGIC_NBYTES + 2 && (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0))
        return refuse(err, ".npy version %u.%u is not supported (1.0, 2.0, 3.0 are)", bytes[6],
                      bytes[7]);
    const size_t prefix = n_bytes >= MAGIC_NBYTES + 2 ? prefix_nbytes(bytes[6]) : SIZE_MAX;
    if (n_bytes < prefix)
        return refuse(err, "ends inside the .npy header: expected at least %zu bytes, found %zu",
                      prefix == SIZE_MAX ? prefix_nbytes(1) : prefix, n_bytes);
    const uint32_t length = prefix == 10 ? bytes_get_le16(bytes + 8) : bytes_get_le32(bytes + 8);
    if (length > NPY_HEADER_MAX_BYTES)
        return refuse(err, ".npy header of %u bytes, at most %d are accepted", (unsigned)length,
                      NPY_HEADER_MAX_BYTES);
    *header_nbytes = prefix + length;
    return 0;
}

static int take_descr(struct literal *l, struct npy_header *header)
{
    const char first = peek(l), *start = l->next;
    struct string string = {"", 0};
    size_t n = 0;

    if (first != '[' && first != '\'' && first != '"')
        return unexpected(l, "a type string or a list of fields (the descr)");
    if (take(l, '[') ? take_fields(l, 0, &header->dtype) != 0
                     : take_string(l, &string) != 0 ||
                           dtype_parse(string.text, string.n_bytes, &header->dtype, l->err) != 0)
        return -1;
    /* numpy then takes the machine's order */
    if (dtype_has_byte_order(&header->dtype) && (*string.text == '|' || *string.text == '='))
        header->oddity = *string.text == '|' ? "dtype with byte order '|': taken as little-endian"
                                             : "dtype with byte order '=': taken as little-endian";
    header->descr = calloc(1, 2 * (size_t)(l->next - start) + 1); /* Latin-1 may take two bytes */
    if (header->descr == NULL)
        return error_no_memory(l->err, "array header");
    for (; start < l->next; start++)
        if (header->version == 3)
            header->descr[n++] = *start;
        else
            n += text_put_code((uint8_t)*start, header->descr + n);
    return 0;
}

/* The three keys in any order, each once. */
static int take_dictionary(struct literal *l, struct npy_header *header)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {false}, comma = true;

    if (expect(l, '{', "at the start") != 0)
        return -1;
    while (!take(l, '}')) {
        struct string key;
        size_t i = 0;

        if (!comma)
            return unexpected(l, "',' or '}' in the dictionary");
        if (take_string(l, &key) != 0)
            return -1;
        while (i < 3 && !string_is(&key, keys[i], strlen(keys[i])))
            i++;
        if (i == 3)
            return refuse(l->err,
                          "unknown key %s in the header, expected descr, fortran_order and shape",
                          text_quote_bytes(key.text, key.n_bytes).text);
        if (seen[i])
            return refuse(l->err, "key '%s' twice in the header, expected once", keys[i]);
        seen[i] = true;
        if (expect(l, ':', "after a key") != 0)
            return -1;
        header->fortran_order |= i == 1 && take_word(l, "True");
        if (i == 1 && !header->fortran_order && !take_word(l, "False"))
            return unexpected(l, "True or False (the fortran_order)");
        if ((i == 0 && take_descr(l, header) != 0) ||
            (i == 2 && take_shape(l, header->shape, &header->n_dims) != 0))
            return -1;
        comma = take(l, ',');
    }
    for (size_t i = 0; i < 3; i++)
        if (!seen[i])
            return refuse(l->err,
                          "no key '%s' in the header, expected descr, fortran_order and shape",
                          keys[i]);
    const char *p = l->next;
    while (p < l->end && *p == ' ')
        p++;
    if (p == l->end) {
        if (header->oddity == NULL)
            header->oddity = "header without a newline at its end";
    } else if (*p != '\n' || p + 1 != l->end) {
        return refuse(l->err, "header has %s after its dictionary, expected spaces and a newline",
                      shown(l, p, 16).text);
    }
    return 0;
}

int npy_header_parse(const uint8_t *bytes, size_t n_bytes, struct npy_header *header,
                     struct error *err)
{
    struct literal l = {.err = err};

    *header = (struct npy_header){.n_elements = 1};
    if (npy_header_length(bytes, n_bytes, &header->header_nbytes, err) != 0)
        return -1;
    if (n_bytes < header->header_nbytes)
        return refuse(err, "ends inside the .npy header: expected %zu bytes, found %zu",
                      header->header_nbytes, n_bytes);
    header->version = bytes[6];
    l.next = (const char *)bytes + prefix_nbytes(header->version);
    l.end = (const char *)bytes + header->header_nbytes;
    l.long_suffix = header->version < 3;
    if (header->version == 3 && !text_is_utf8(l.next, (size_t)(l.end - l.next)))
        return refuse(err, "header is not UTF-8, expected it in version 3");
    if (take_dictionary(&l, header) != 0) {
        npy_header_release(header);
        return -1;
    }
    /* As in numpy, the dimensions that are not zero must give a possible size even when another one
     * is zero. */
    uint64_t most = header->dtype.kind == DTYPE_OBJECT ? POINTER_SIZE : header->dtype.itemsize;
    for (unsigned i = 0; i < header->n_dims; i++) {
        header->n_elements *= header->shape[i];
        if (header->shape[i] > 0 && __builtin_mul_overflow(most, header->shape[i], &most))
            most = UINT64_MAX;
    }
    header->data_nbytes = header->n_elements * header->dtype.itemsize;
    if (most <= INT64_MAX)
        return 0;
    refuse(err, "shape %s is too large, expected below 2^63 bytes",
           text_shape(header->shape, header->n_dims).text);
    npy_header_release(header);
    return -1;
}

bool npy_header_same_type(const struct npy_header *a, const struct npy_header *b)
{
    return dtype_equal(&a->dtype, &b->dtype) &&
           (!a->dtype.structured || strcmp(a->descr, b->descr) == 0);
}

void npy_header_release(struct npy_header *header)
{
    free(header->descr);
    *header = (struct npy_header){0};
}

/* --- writing --- */

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
static size_t padding(unsigned version, size_t dict_nbytes)
{
    return ALIGNMENT - (prefix_nbytes(version) + dict_nbytes + 1) % ALIGNMENT;
}

int npy_header_write(const char *descr, const uint64_t *shape, unsigned n_dims,
                     size_t extra_padding, struct bytes *out, struct error *err)
{
    struct text dictionary = {0};
    size_t n_bytes, n_spaces, prefix, length;
    unsigned version = 3;
    char dims[22 * NPY_MAX_DIMS + 4] = "(";
    int result;
    uint8_t *p;

    for (unsigned i = 0; i < n_dims; i++)
        text_add(dims, sizeof dims, i == 0 ? "%llu" : ", %llu", (unsigned long long)shape[i]);
    result = text_append(&dictionary, err, "{'descr': %s, 'fortran_order': False, 'shape': %s%s, }",
                         descr, dims, n_dims == 1 ? ",)" : ")");
    if (result == 0 && n_dims > 0) /* room for the first dimension to grow */
        result = text_append(
            &dictionary, err, "%*s",
            GROWTH_DIGITS - snprintf(NULL, 0, "%llu", (unsigned long long)shape[0]), "");
    if (result != 0)
        goto out;
    if (to_latin1(&dictionary)) {
        n_bytes = dictionary.n_bytes;
        version = n_bytes + padding(1, n_bytes) + extra_padding + 1 <= V1_MAX_DICT_BYTES ? 1 : 2;
    }
    n_bytes = dictionary.n_bytes;
    prefix = prefix_nbytes(version);
    n_spaces = padding(version, n_bytes) + extra_padding;
    length = n_bytes + n_spaces + 1;
    if (length > UINT32_MAX)
        result = refuse(err, "array header of %zu bytes, expected below 4 GiB", length);
    else if ((p = bytes_reserve(out, prefix + length, err)) == NULL)
        result = -1;
    if (result != 0)
        goto out;
    memcpy(p, MAGIC, MAGIC_NBYTES);
    p[6] = (uint8_t)version;
    p[7] = 0;
    bytes_put_le(p + 8, length, prefix - 8);
    memcpy(p + prefix, dictionary.text, n_bytes);
    memset(p + prefix + n_bytes, ' ', n_spaces);
    p[prefix + length - 1] = '\n';
    out->n_bytes += prefix + length;
out:
    text_release(&dictionary);
    return result;
}
