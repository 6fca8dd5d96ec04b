/*
 * array.c - an array as the place of an error, and its small values: the text or number of a 0-d
 * array, such as the name of a board, decoded from bytes that were read and checked when the shard
 * was opened. What is damaged or of another type is no value, not an error.
 */
#include "shard/array.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct error_place array_place(const struct array *array)
{
    return (struct error_place){.file = array->input->path,
                                .array = array->key,
                                .shown = array->has_crc ? array->member : ""};
}

int array_fail(const struct array *array, struct error *err, const char *format, ...)
{
    const struct error_place place = array_place(array);
    char reason[ERROR_MESSAGE_NBYTES];
    va_list args;

    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    return error_set_at(err, ERROR_DATA, &place, "%s", reason);
}

int array_fail_reason(const struct array *array, struct error *err, const struct error *reason,
                      const char *what)
{
    const struct error_place place = array_place(array);

    return error_set_at(err, reason->kind, &place, "%s: %s", what, reason->message);
}

int array_fail_row(const struct array *array, uint64_t row, const struct error *reason,
                   struct error *err)
{
    struct error_place place = array_place(array);

    place.has_row = true;
    place.row = row;
    return error_set_at(err, reason->kind, &place, "%s", reason->message);
}

bool array_is_fortran(const struct array *array)
{
    unsigned n_long = 0;

    for (unsigned i = 0; i < array->header.n_dims; i++)
        if (array->header.shape[i] != 1)
            n_long++;
    return array->header.fortran_order && n_long > 1;
}

/* Append a code point as UTF-8; -1 when it is none or there is no room for it and a NUL. */
static int put_code_point(uint32_t code, char *text, size_t n_bytes, size_t *used)
{
    static const uint8_t lead[5] = {0, 0, 0xc0, 0xe0, 0xf0};
    const size_t length = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;

    if (code == 0 || code > 0x10ffff || (code >= 0xd800 && code < 0xe000) ||
        *used + length >= n_bytes)
        return -1;
    for (size_t i = length; i-- > 1; code >>= 6)
        text[*used + i] = (char)(0x80 | (code & 0x3f));
    text[*used] = (char)(lead[length] | code);
    *used += length;
    return 0;
}

static int put_unicode(const struct dtype *dtype, const uint8_t *p, char *text, size_t n_bytes)
{
    size_t n = dtype->itemsize / 4;
    size_t used = 0;

    while (n > 0 && bytes_get_uint(p + 4 * (n - 1), 4, false) == 0)
        n--;
    for (size_t i = 0; i < n; i++)
        if (put_code_point((uint32_t)bytes_get_uint(p + 4 * i, 4, dtype->big_endian), text, n_bytes,
                           &used) != 0)
            return -1;
    text[used] = '\0';
    return 0;
}

static int put_bytes(const struct dtype *dtype, const uint8_t *p, char *text, size_t n_bytes)
{
    size_t n = dtype->itemsize;

    while (n > 0 && p[n - 1] == 0)
        n--;
    if (n >= n_bytes || memchr(p, 0, n) != NULL || !text_is_utf8(p, n))
        return -1;
    memcpy(text, p, n);
    text[n] = '\0';
    return 0;
}

int array_read_string(const struct array *array, char *text, size_t n_bytes)
{
    const struct dtype *dtype = &array->header.dtype;
    int result = -1;

    if (n_bytes == 0)
        return -1;
    text[0] = '\0';
    if (array->scalar != NULL && dtype->kind == DTYPE_UNICODE)
        result = put_unicode(dtype, array->scalar, text, n_bytes);
    else if (array->scalar != NULL && dtype->kind == DTYPE_BYTES)
        result = put_bytes(dtype, array->scalar, text, n_bytes);
    if (result != 0)
        text[0] = '\0';
    return result;
}

int array_read_int(const struct array *array, int64_t *value)
{
    if (array->scalar == NULL || !dtype_is_integer(&array->header.dtype))
        return -1;
    *value = dtype_get_int(&array->header.dtype, array->scalar);
    return 0;
}

void array_release(struct array *array)
{
    if (array->objects != NULL)
        pickle_release(array->objects);
    free(array->objects);
    free(array->pickle_bytes);
    free(array->scalar);
    npy_header_release(&array->header);
    free(array->key);
    free(array->member);
    memset(array, 0, sizeof *array);
}
