/* descr.c - see descr.h. */
#include "npy/descr.h"

#include "base/bytes.h"
#include "base/text.h"

#include <string.h>

#define MAX_NESTING  4
#define MAX_NAMES    512 /* of the fields of one structured type */
#define MAX_SUB_DIMS 32

struct field_names {
    struct literal_string names[MAX_NAMES];
    unsigned n_names;
};

static int take_sub_descr(struct literal *l, unsigned depth, struct dtype *dtype,
                          struct error *err);

/* Multiply the item size by a field's shape: an integer or a tuple. */
static int take_sub_shape(struct literal *l, uint64_t *itemsize, struct error *err)
{
    uint64_t factors[MAX_SUB_DIMS + 1];
    unsigned n_dims = 1;

    if (literal_peek(l) == '(') {
        if (literal_take_shape(l, factors, MAX_SUB_DIMS, &n_dims, err) != 0)
            return -1;
    } else if (literal_take_uint(l, &factors[0], err) != 0) {
        return -1;
    }
    factors[n_dims] = *itemsize;
    if (bytes_product(factors, n_dims + 1, itemsize) != 0)
        return error_set(err, ERROR_DATA, "structured type is too large");
    return 0;
}

static int set_struct(uint64_t itemsize, struct dtype *dtype, struct error *err)
{
    if (itemsize > UINT32_MAX)
        return error_set(err, ERROR_DATA, "structured type is too large");
    *dtype = (struct dtype){.kind = DTYPE_VOID, .structured = true, .itemsize = (uint32_t)itemsize};
    return 0;
}

/* Take a name or title, one that no field has yet. Fields without a name are padding, and many. */
static int take_new_name(struct literal *l, struct field_names *names, struct error *err)
{
    struct literal_string taken;

    if (literal_take_string(l, &taken, err) != 0)
        return -1;
    for (unsigned i = 0; i < names->n_names && taken.n_bytes > 0; i++)
        if (names->names[i].n_bytes == taken.n_bytes &&
            memcmp(names->names[i].text, taken.text, taken.n_bytes) == 0)
            return error_set(err, ERROR_DATA, "two fields are named %s",
                             text_quote_bytes(taken.text, taken.n_bytes).text);
    if (names->n_names == MAX_NAMES)
        return error_set(err, ERROR_DATA, "structured type of more than %d names", MAX_NAMES);
    names->names[names->n_names++] = taken;
    return 0;
}

/* A field's name, or (title, name). */
static int take_name(struct literal *l, struct field_names *names, struct error *err)
{
    if (!literal_take(l, '('))
        return take_new_name(l, names, err);
    if (take_new_name(l, names, err) != 0 ||
        literal_expect(l, ',', "after a field's title", err) != 0 ||
        take_new_name(l, names, err) != 0)
        return -1;
    literal_take(l, ',');
    return literal_expect(l, ')', "after a field's name", err);
}

/* One field: (name, descr) or (name, descr, shape). */
static int take_field(struct literal *l, unsigned depth, struct field_names *names,
                      struct dtype *dtype, struct error *err)
{
    uint64_t itemsize;

    if (literal_expect(l, '(', "before a field", err) != 0 || take_name(l, names, err) != 0 ||
        literal_expect(l, ',', "after a field's name", err) != 0 ||
        take_sub_descr(l, depth, dtype, err) != 0)
        return -1;
    itemsize = dtype->itemsize;
    if (literal_take(l, ',') && literal_peek(l) != ')') {
        if (take_sub_shape(l, &itemsize, err) != 0 || set_struct(itemsize, dtype, err) != 0)
            return -1;
        literal_take(l, ',');
    }
    return literal_expect(l, ')', "after a field", err);
}

/* A list of fields; the '[' is gone. */
static int take_fields(struct literal *l, unsigned depth, struct dtype *dtype, struct error *err)
{
    struct field_names names;
    uint64_t itemsize = 0;
    bool comma = true;

    if (depth >= MAX_NESTING)
        return error_set(err, ERROR_DATA, "structured type is nested too deeply");
    names.n_names = 0;
    while (!literal_take(l, ']')) {
        struct dtype field = {0};

        if (!comma)
            return literal_unexpected(l, "',' or ']' in the list of fields", err);
        if (take_field(l, depth + 1, &names, &field, err) != 0)
            return -1;
        itemsize += field.itemsize; /* cannot overflow: fewer than 2^32 fields */
        comma = literal_take(l, ',');
    }
    if (itemsize == 0)
        return error_set(err, ERROR_DATA, "structured type without data");
    return set_struct(itemsize, dtype, err);
}

/* (descr, shape); the '(' is gone. */
static int take_subarray(struct literal *l, unsigned depth, struct dtype *dtype, struct error *err)
{
    uint64_t itemsize;

    if (depth >= MAX_NESTING)
        return error_set(err, ERROR_DATA, "structured type is nested too deeply");
    if (take_sub_descr(l, depth + 1, dtype, err) != 0 ||
        literal_expect(l, ',', "after a subarray's type", err) != 0)
        return -1;
    itemsize = dtype->itemsize;
    if (take_sub_shape(l, &itemsize, err) != 0)
        return -1;
    literal_take(l, ',');
    if (literal_expect(l, ')', "after a subarray", err) != 0)
        return -1;
    return set_struct(itemsize, dtype, err);
}

/* The type of a field. */
static int take_sub_descr(struct literal *l, unsigned depth, struct dtype *dtype, struct error *err)
{
    struct literal_string string;

    if (literal_take(l, '['))
        return take_fields(l, depth, dtype, err);
    if (literal_take(l, '('))
        return take_subarray(l, depth, dtype, err);
    if (literal_take_string(l, &string, err) != 0 ||
        dtype_parse(string.text, string.n_bytes, dtype, err) != 0)
        return -1;
    if (dtype->kind == DTYPE_OBJECT)
        return error_set(err, ERROR_DATA, "structured type with objects");
    return 0;
}

int descr_take(struct literal *l, struct dtype *dtype, bool *no_order, struct error *err)
{
    const char first = literal_peek(l);
    struct literal_string string;

    *no_order = false;
    if (literal_take(l, '['))
        return take_fields(l, 0, dtype, err);
    if (first != '\'' && first != '"')
        return literal_unexpected(l, "a type string or a list of fields (the descr)", err);
    if (literal_take_string(l, &string, err) != 0 ||
        dtype_parse(string.text, string.n_bytes, dtype, err) != 0)
        return -1;
    *no_order = (string.text[0] == '|' || string.text[0] == '=') && dtype_has_byte_order(dtype);
    return 0;
}
