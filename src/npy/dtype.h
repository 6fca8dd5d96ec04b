/*
 * dtype.h - element types of numpy arrays.
 */
#pragma once

#include "base/bytes.h"
#include "base/error.h"

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
    bool big_endian;   /* says something where dtype_has_byte_order */
    bool structured;   /* 'V' from a list of fields: may only be copied */
    uint8_t unit;      /* of dates and durations: see dtype_parse; else 0 */
    uint32_t itemsize; /* bytes of one element; 0 for objects */
};

/* True when elements of both are the same, as far as the fields of structured types are. */
bool dtype_equal(const struct dtype *a, const struct dtype *b);

/* True for b, i, u, f. */
bool dtype_is_number(const struct dtype *dtype);

/* True when the order of an element's bytes means something. */
bool dtype_has_byte_order(const struct dtype *dtype);

/* True for i and u. */
bool dtype_is_integer(const struct dtype *dtype);

/* "<f4", "|u1", ">i8", "|O", "<U7", "|V2": as numpy spells it; "structured(16 bytes)". By
 * value. */
struct dtype_text {
    char text[32];
};
struct dtype_text dtype_name(const struct dtype *dtype);

/*
 * Parse a simple descr string of n_bytes ("<f4", "f4", "|O8"). Anything that numpy's b1 i1-i8
 * u1-u8 f2 f4 f8 c8 c16 M8 m8 U S V O do not cover is ERROR_DATA with a reason ("item size 5");
 * the caller has the file's and member's name: the message is the reason alone. '=', the order of
 * the machine that wrote it, is taken as little-endian, as numpy takes it there.
 */
int dtype_parse(const char *descr, size_t n_bytes, struct dtype *dtype, struct error *err);

/* An integer element (b, i, u) as int64; unsigned values above INT64_MAX saturate. */
int64_t dtype_get_int(const struct dtype *dtype, const void *element);

/* Store an integer that fits. Returns -1 (no error set) when it does not fit the type. */
int dtype_put_int(const struct dtype *dtype, int64_t value, void *element);

/* Store a number in the nearest value of its type (i, u, f2, f4, f8), ties to even. */
void dtype_put_double(const struct dtype *dtype, double value, void *element);

/* A number as a double (b, i, u, f2, f4, f8): of the types that most arrays have without a call. */
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
