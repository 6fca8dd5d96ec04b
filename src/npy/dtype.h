/*
 * dtype.h - element types of numpy arrays.
 */
#pragma once

#include "base/bytes.h"

/* Kinds, by numpy's letters. */
enum dtype_kind {
    DTYPE_BOOL = 'b',
    DTYPE_INT = 'i',
    DTYPE_UINT = 'u',
    DTYPE_FLOAT = 'f',
    DTYPE_COMPLEX = 'c', /* this and the next two are only ever copied */
    DTYPE_DATE = 'M',
    DTYPE_DURATION = 'm',
    DTYPE_BYTES = 'S',   /* fixed-width byte strings */
    DTYPE_UNICODE = 'U', /* fixed-width UCS-4 strings */
    DTYPE_VOID = 'V',    /* opaque bytes: bfloat16, structured types */
    DTYPE_OBJECT = 'O',  /* pickled */
};

struct dtype {
    char kind;         /* enum dtype_kind */
    bool big_endian;   /* false unless dtype_has_byte_order */
    bool structured;   /* 'V' from a list of fields: may only be copied */
    uint8_t unit;      /* of dates and durations, an index in dtype.c; else 0 */
    uint32_t itemsize; /* bytes of one element; 0 for objects */
};

/* True if both are the same type; fields of structured types are not compared. */
bool dtype_equal(const struct dtype *a, const struct dtype *b);

/* True for kinds b, i, u, f. */
bool dtype_is_number(const struct dtype *dtype);

/* True if the order of an element's bytes matters. */
bool dtype_has_byte_order(const struct dtype *dtype);

/* True for kinds i and u. */
bool dtype_is_integer(const struct dtype *dtype);

/* As numpy spells it: "<f4", "|u1", "|O", "<U7", "|V2"; or "structured(16 bytes)". */
struct text_quoted dtype_name(const struct dtype *dtype);

/*
 * Parse a simple descr string of n_bytes ("<f4", "f4", "|O8"). ERROR_DATA, with the reason alone as
 * its message, for anything but numpy's b1 i1-i8 u1-u8 f2 f4 f8 c8 c16 M8 m8 U S V O. '=' and '|',
 * and no order at all, mean little-endian.
 */
int dtype_parse(const char *descr, size_t n_bytes, struct dtype *dtype, struct error *err);

/* Read an integer (b, i, u); unsigned values above INT64_MAX become INT64_MAX. */
int64_t dtype_get_int(const struct dtype *dtype, const void *element);

/* Store an integer. Returns 0, or -1 (no error set) when the type cannot hold it. */
int dtype_put_int(const struct dtype *dtype, int64_t value, void *element);

/* Store the nearest value of the type (i, u, f2, f4, f8), ties to even. */
void dtype_put_double(const struct dtype *dtype, double value, void *element);

/* Read a number (b, i, u, f2, f4, f8); dtype_get_double is faster for the common types. */
double dtype_get_any_double(const struct dtype *dtype, const void *element);

static inline double dtype_get_double(const struct dtype *dtype, const void *element)
{
    if (dtype->kind == DTYPE_FLOAT && dtype->itemsize == 4 && !dtype->big_endian) {
        const uint32_t bits = bytes_get_le32(element);
        float number;

        memcpy(&number, &bits, sizeof number);
        return (double)number;
    }
    return dtype->itemsize == 1 && dtype->kind != DTYPE_INT ? *(const uint8_t *)element
                                                            : dtype_get_any_double(dtype, element);
}
