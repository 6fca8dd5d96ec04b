/*
 * header.c - the header of a .npy array. It is parsed by recursive descent over a few Python
 * literals: what different readers might take differently is refused, what is odd but unambiguous
 * gets a warning. It is written as numpy 1.24 does.
 */
#include "npy/header.h"

#include "base/text.h"

#define MAGIC             "\x93NUMPY"
#define MAGIC_NBYTES      6
#define POINTER_SIZE      8 /* numpy's item size of objects */
#define MAX_NESTING       4
#define MAX_NAMES         512 /* of fields in one structured type */
#define ALIGNMENT         64
#define GROWTH_DIGITS     21 /* numpy leaves room for a first dimension of so many digits */
#define V1_MAX_DICT_BYTES 65535

#define refuse(err, ...) error_set(err, ERROR_DATA, __VA_ARGS__)

/* The number of bytes before the dictionary. */
static size_t prefix_nbytes(unsigned version)
{
    return version == 1 ? 10 : 12;
}

/*
 * Literals: strings without escapes or prefixes, unsigned decimals, tuples of these. Each take_
 * function consumes what it is named for. The first fault is kept in err; after it parsing goes on
 * with whatever comes, and all loops end.
 */

struct literal {
    const char *next; /* borrowed: the text of the header */
    const char *end;
    bool long_suffix;          /* Python 2's "6L" is an integer */
    struct npy_header *header; /* borrowed */
    struct error *err;
};

/* The content of a string literal, without its quotes. */
struct string {
    const char *text; /* borrowed */
    size_t n_bytes;
};

static bool has_failed(const struct literal *l)
{
    return l->err->kind != ERROR_NONE;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_word(char c)
{
    return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') || c == '_' ||
           (unsigned char)c >= 0x80;
}

/* The text at p for messages, at most so many bytes. */
static struct text_quoted shown(const struct literal *l, const char *p, size_t at_most)
{
    return text_quote_bytes(p, (size_t)smaller((uint64_t)(l->end - p), at_most));
}

/* Skip white space and return the next character, NUL at the end. */
static char peek(struct literal *l)
{
    while (l->next < l->end && *l->next != '\0' && strchr(" \t\n\r\f", *l->next) != NULL)
        l->next++;
    return l->next < l->end ? *l->next : '\0';
}

/* Skip white space, and then c if it comes next; false if it does not. */
static bool take(struct literal *l, char c)
{
    if (peek(l) != c || l->next == l->end)
        return false;
    l->next++;
    return true;
}

/* Refuse what comes next instead of `expected`. */
static void unexpected(struct literal *l, const char *expected)
{
    peek(l);
    if (l->next == l->end)
        refuse(l->err, "header ends where %s is expected", expected);
    else
        refuse(l->err, "header has %s where %s is expected", shown(l, l->next, 16).text, expected);
}

/* As take, but c is required; `where` says at which place. */
static void expect(struct literal *l, char c, const char *where)
{
    if (!take(l, c))
        unexpected(l, text_format("'%c' %s", c, where).text);
}

/* A string in single or double quotes, without escapes and control characters. */
static struct string take_string(struct literal *l)
{
    const char quote = peek(l);

    if (quote != '\'' && quote != '"') {
        unexpected(l, "a string");
        return (struct string){"", 0};
    }
    const char *start = l->next + 1, *p = start;
    for (; p < l->end && *p != quote && (unsigned char)*p >= 0x20 && *p != 0x7f; p++)
        if (*p == '\\')
            refuse(l->err, "escape sequence in a header string, expected plain characters");
    if (p == l->end || *p != quote)
        refuse(l->err, "unterminated string in the header, expected %c, found %s", quote,
               p == l->end ? "the end" : "a control character");
    l->next = p < l->end ? p + 1 : p;
    return (struct string){start, (size_t)(p - start)};
}

static bool string_is(const struct string *string, const char *text, size_t n_bytes)
{
    return string->n_bytes == n_bytes && memcmp(string->text, text, n_bytes) == 0;
}

/* An unsigned integer of at most 64 bits: digits alone, without sign or leading zero. */
static uint64_t take_uint(struct literal *l)
{
    const char first = peek(l);
    const char *digits = l->next, *fault = NULL;
    uint64_t value = 0;

    while (l->next < l->end && is_digit(*l->next))
        l->next++;
    if (first == '-' || first == '+')
        fault = first == '-' ? "negative dimension" : "signed dimension";
    else if (l->next == digits)
        unexpected(l, "a whole number");
    else if (text_parse_digits(digits, (size_t)(l->next - digits), &value) != 0)
        fault = "dimension does not fit 64 bits";
    else if (first == '0' && l->next - digits > 1)
        fault = "dimension with a leading zero";
    if (fault != NULL)
        refuse(l->err, "%s: expected a plain decimal number, found %s", fault,
               shown(l, digits, 24).text);
    if (l->long_suffix && l->next < l->end && *l->next == 'L')
        l->next++;
    if (l->next < l->end && (is_word(*l->next) || *l->next == '.'))
        unexpected(l, "the end of a decimal number");
    return value;
}

/* A tuple of up to NPY_MAX_DIMS integers: "()", "(3,)", "(3, 4)", "(3, 4,)". Returns their number.
 */
static unsigned take_shape(struct literal *l, uint64_t *shape)
{
    bool comma = true;
    unsigned n = 0;

    if (!take(l, '('))
        unexpected(l, "a tuple (the shape)");
    while (!has_failed(l) && !take(l, ')')) {
        if (!comma)
            unexpected(l, "',' or ')' in the shape");
        else if (n == NPY_MAX_DIMS)
            refuse(l->err, "more than %u dimensions, at most %u are accepted", NPY_MAX_DIMS,
                   NPY_MAX_DIMS);
        else
            shape[n++] = take_uint(l);
        comma = take(l, ',');
    }
    if (n == 1 && !comma)
        refuse(l->err, "shape is a number in brackets, not a tuple: expected (%llu,)",
               (unsigned long long)shape[0]);
    return n;
}

/* --- the descr: a type string, or a list of fields --- */

struct field_names {
    struct string names[MAX_NAMES];
    unsigned n_names;
};

static struct dtype take_type(struct literal *l, unsigned depth);

static struct dtype struct_of(struct literal *l, uint64_t itemsize)
{
    if (itemsize > UINT32_MAX)
        refuse(l->err,
               "structured type is too large: expected below 4 GiB, found %llu bytes or more",
               (unsigned long long)itemsize);
    return (struct dtype){.kind = DTYPE_VOID, .structured = true, .itemsize = (uint32_t)itemsize};
}

/* The shape of a field, an integer or a tuple. Returns the type of all its elements. */
static struct dtype take_sub_shape(struct literal *l, const struct dtype *dtype)
{
    uint64_t factors[NPY_MAX_DIMS + 1], itemsize;
    unsigned n_dims = 1;

    if (peek(l) == '(')
        n_dims = take_shape(l, factors);
    else
        factors[0] = take_uint(l);
    factors[n_dims] = dtype->itemsize;
    if (bytes_product(factors, n_dims + 1, &itemsize) != 0)
        itemsize = UINT64_MAX;
    take(l, ',');
    return struct_of(l, itemsize);
}

/* A name or title that no other field has. Fields with an empty name are padding, and may be many.
 */
static void take_new_name(struct literal *l, struct field_names *names)
{
    const struct string taken = take_string(l);

    for (unsigned i = 0; i < names->n_names && taken.n_bytes > 0; i++)
        if (string_is(&names->names[i], taken.text, taken.n_bytes))
            refuse(l->err, "two fields are named %s, expected one",
                   text_quote_bytes(taken.text, taken.n_bytes).text);
    if (names->n_names == MAX_NAMES)
        refuse(l->err, "structured type of more than %d names, at most that many are accepted",
               MAX_NAMES);
    else
        names->names[names->n_names++] = taken;
}

/* The fields after '[', each (name, descr) or (name, descr, shape); name may be (title, name). */
static struct dtype take_fields(struct literal *l, unsigned depth)
{
    struct field_names names;
    uint64_t itemsize = 0;
    bool comma = true;

    names.n_names = 0;
    while (!has_failed(l) && !take(l, ']')) {
        if (!comma)
            unexpected(l, "',' or ']' in the list of fields");
        expect(l, '(', "before a field");
        if (take(l, '(')) {
            take_new_name(l, &names);
            expect(l, ',', "after a field's title");
            take_new_name(l, &names);
            take(l, ',');
            expect(l, ')', "after a field's name");
        } else {
            take_new_name(l, &names);
        }
        expect(l, ',', "after a field's name");
        struct dtype field = take_type(l, depth + 1);
        if (take(l, ',') && peek(l) != ')')
            field = take_sub_shape(l, &field);
        expect(l, ')', "after a field");
        if (depth == 0 && l->header->n_fields < NPY_N_FIELDS)
            l->header->fields[l->header->n_fields++] = field;
        itemsize += field.itemsize; /* cannot overflow: fewer than 2^32 fields */
        comma = take(l, ',');
    }
    if (itemsize == 0)
        refuse(l->err, "structured type without data, expected fields of some bytes");
    return struct_of(l, itemsize);
}

/* The descr, at depth 0, or the type of a field, which may also be (descr, shape) but not objects.
 */
static struct dtype take_type(struct literal *l, unsigned depth)
{
    const char first = peek(l);
    struct dtype dtype = {0};

    if (depth == 0 && first != '[' && first != '\'' && first != '"') {
        unexpected(l, "a type string or a list of fields (the descr)");
    } else if ((first == '[' || first == '(') && depth >= MAX_NESTING) {
        refuse(l->err, "structured type is nested too deeply, expected at most %d levels",
               MAX_NESTING);
    } else if (take(l, '[')) {
        dtype = take_fields(l, depth);
    } else if (take(l, '(')) {
        dtype = take_type(l, depth + 1);
        expect(l, ',', "after a subarray's type");
        dtype = take_sub_shape(l, &dtype);
        expect(l, ')', "after a subarray");
    } else {
        const struct string string = take_string(l);

        (void)dtype_parse(string.text, string.n_bytes, &dtype, l->err);
        if (dtype.kind == DTYPE_OBJECT && depth > 0)
            refuse(l->err, "structured type with objects, expected numbers, strings and bytes");
    }
    return dtype;
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
    const size_t prefix = prefix_nbytes(n_bytes >= MAGIC_NBYTES + 2 ? bytes[6] : 1);
    if (n_bytes < prefix)
        return refuse(err, "ends inside the .npy header: expected at least %zu bytes, found %zu",
                      prefix, n_bytes);
    const uint32_t length = prefix == 10 ? bytes_get_le16(bytes + 8) : bytes_get_le32(bytes + 8);
    if (length > NPY_HEADER_MAX_BYTES)
        return refuse(err, ".npy header of %u bytes, at most %d are accepted", (unsigned)length,
                      NPY_HEADER_MAX_BYTES);
    *header_nbytes = prefix + length;
    return 0;
}

static void take_descr(struct literal *l, struct npy_header *header)
{
    size_t n = 0;

    peek(l);
    const char *start = l->next;
    header->dtype = take_type(l, 0);
    /* numpy takes these as the machine's order. */
    if (dtype_has_byte_order(&header->dtype) && (start[1] == '|' || start[1] == '='))
        header->oddity = start[1] == '|' ? "dtype with byte order '|': taken as little-endian"
                                         : "dtype with byte order '=': taken as little-endian";
    /* A Latin-1 character takes up to two bytes in UTF-8. */
    header->descr = calloc(1, 2 * (size_t)(l->next - start) + 1);
    if (header->descr == NULL) {
        error_no_memory(l->err, "array header");
        return;
    }
    for (; start < l->next; start++)
        if (header->version == 3)
            header->descr[n++] = *start;
        else
            n += text_put_code((uint8_t)*start, header->descr + n);
}

/* The three keys, in any order, each once; then only padding. */
static void take_dictionary(struct literal *l, struct npy_header *header)
{
    static const char *const keys[] = {"descr", "fortran_order", "shape"};
    bool seen[4] = {false}, comma = true;

    expect(l, '{', "at the start");
    while (!has_failed(l) && !take(l, '}')) {
        size_t i = 0;

        if (!comma)
            unexpected(l, "',' or '}' in the dictionary");
        const struct string key = take_string(l);
        while (i < 3 && !string_is(&key, keys[i], strlen(keys[i])))
            i++;
        if (i == 3)
            refuse(l->err, "unknown key %s in the header, expected descr, fortran_order and shape",
                   text_quote_bytes(key.text, key.n_bytes).text);
        if (seen[i])
            refuse(l->err, "key '%s' twice in the header, expected once", keys[i]);
        seen[i] = true;
        expect(l, ':', "after a key");
        if (has_failed(l))
            return;
        if (i == 0) {
            take_descr(l, header);
        } else if (i == 2) {
            header->n_dims = take_shape(l, header->shape);
        } else {
            peek(l);
            struct string word = {l->next, 0};
            while (l->next < l->end && is_word(*l->next))
                l->next++;
            word.n_bytes = (size_t)(l->next - word.text);
            header->fortran_order = string_is(&word, "True", 4);
            if (!header->fortran_order && !string_is(&word, "False", 5)) {
                l->next = word.text;
                unexpected(l, "True or False (the fortran_order)");
            }
        }
        comma = take(l, ',');
    }
    for (size_t i = 0; i < 3; i++)
        if (!seen[i])
            refuse(l->err, "no key '%s' in the header, expected descr, fortran_order and shape",
                   keys[i]);
    while (l->next < l->end && *l->next == ' ')
        l->next++;
    if (l->next == l->end) {
        if (header->oddity == NULL)
            header->oddity = "header without a newline at its end";
    } else if (*l->next != '\n' || l->next + 1 != l->end) {
        refuse(l->err, "header has %s after its dictionary, expected spaces and a newline",
               shown(l, l->next, 16).text);
    }
}

int npy_header_parse(const uint8_t *bytes, size_t n_bytes, struct npy_header *header,
                     struct error *err)
{
    struct error fault = {0};
    struct literal l = {.header = header, .err = &fault};

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
    take_dictionary(&l, header);
    /* As in numpy, the product of the dimensions other than 0 must be possible, even if one is 0.
     */
    uint64_t most = header->dtype.kind == DTYPE_OBJECT ? POINTER_SIZE : header->dtype.itemsize;
    for (unsigned i = 0; i < header->n_dims; i++) {
        header->n_elements *= header->shape[i];
        if (header->shape[i] > 0 && __builtin_mul_overflow(most, header->shape[i], &most))
            most = UINT64_MAX;
    }
    header->data_nbytes = header->n_elements * header->dtype.itemsize;
    if (most > INT64_MAX)
        refuse(&fault, "shape %s is too large, expected below 2^63 bytes",
               text_shape(header->shape, header->n_dims).text);
    if (!has_failed(&l))
        return 0;
    npy_header_release(header);
    return error_pass(err, &fault);
}

void npy_header_release(struct npy_header *header)
{
    free(header->descr);
    *header = (struct npy_header){0};
}

/* --- writing --- */

/* The number of spaces before the newline for the data to start at a multiple of 64; like numpy, 64
 * rather than 0. */
static size_t padding(unsigned version, size_t dict_nbytes)
{
    return ALIGNMENT - (prefix_nbytes(version) + dict_nbytes + 1) % ALIGNMENT;
}

int npy_header_write(const char *descr, const uint64_t *shape, unsigned n_dims,
                     size_t extra_padding, struct bytes *out, struct error *err)
{
    struct text d = {0}; /* the dictionary */
    unsigned version = 3;
    uint8_t *p = NULL;
    int status = text_append(&d, err, "{'descr': %s, 'fortran_order': False, 'shape': (", descr);

    for (unsigned i = 0; i < n_dims; i++)
        status |= text_append(&d, err, i == 0 ? "%llu" : ", %llu", (unsigned long long)shape[i]);
    status |= text_append(&d, err, n_dims == 1 ? ",), }" : "), }");
    if (n_dims > 0) /* leave room for the first dimension to grow */
        status |= text_append(&d, err, "%*s",
                              GROWTH_DIGITS - snprintf(NULL, 0, "%" PRIu64, shape[0]), "");
    bool is_latin1 = status == 0;
    for (size_t i = 0; i < d.n_bytes; i++)
        is_latin1 &= (uint8_t)d.text[i] <= 0xc3; /* U+0100 and up have higher lead bytes */
    if (is_latin1) {
        size_t n = 0; /* converted in place */

        for (size_t i = 0; i < d.n_bytes; i++) {
            const bool is_lead = (uint8_t)d.text[i] >= 0xc2;

            d.text[n++] =
                !is_lead ? d.text[i] : (char)((uint8_t)d.text[i] << 6 | (d.text[i + 1] & 0x3f));
            i += is_lead;
        }
        d.n_bytes = n;
        version = n + padding(1, n) + extra_padding < V1_MAX_DICT_BYTES ? 1 : 2;
    }
    const size_t prefix = prefix_nbytes(version);
    const size_t n_spaces = padding(version, d.n_bytes) + extra_padding;
    const size_t length = d.n_bytes + n_spaces + 1;
    if (status == 0)
        p = bytes_reserve(out, prefix + length, err);
    if (p != NULL) {
        memcpy(p, MAGIC, MAGIC_NBYTES);
        p[6] = (uint8_t)version;
        p[7] = 0;
        bytes_put_le(p + 8, length, prefix - 8);
        memcpy(p + prefix, d.text, d.n_bytes);
        memset(p + prefix + d.n_bytes, ' ', n_spaces);
        p[prefix + length - 1] = '\n';
        out->n_bytes += prefix + length;
    }
    text_release(&d);
    return p != NULL ? 0 : -1;
}
