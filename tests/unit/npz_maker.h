/*
 * npz_maker.h - shards of arrays whose elements tell where they stand, written with libzip.
 */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "npy/header.h"
#include "scratch.h"

#include <zip.h>

/* An array; its element i (in C order) is made by fill_item. */
struct made_array {
    const char *name;  /* of the member */
    const char *descr; /* with quotes */
    unsigned n_dims;
    uint64_t shape[4];
    size_t item_nbytes;
    bool fortran;
    bool deflated;
    unsigned salt;     /* makes arrays differ */
    size_t n_trailing; /* bytes behind the data; */
    size_t n_missing;  /* or too few */
};

/* Bytes that depend on all of i, and repeat little. */
static inline void fill_item(const struct made_array *a, uint64_t i, uint8_t *item)
{
    uint64_t x = (i + 1) * 0x9e3779b97f4a7c15u ^ a->salt * 0xd1342543de82ef95u;

    for (size_t k = 0; k < a->item_nbytes; k++) {
        item[k] = (uint8_t)(x >> 56);
        x *= 0x2545f4914f6cdd1du;
    }
}

static inline uint64_t count_items(const struct made_array *a)
{
    uint64_t n = 1;

    for (unsigned i = 0; i < a->n_dims; i++)
        n *= a->shape[i];
    return n;
}

/* Where the element with number i in C order stands in the file. */
static inline uint64_t place_in_file(const struct made_array *a, uint64_t i)
{
    uint64_t place = 0, stride = 1, index[4];

    if (!a->fortran)
        return i;
    for (unsigned d = a->n_dims; d-- > 0; i /= a->shape[d])
        index[d] = i % a->shape[d];
    for (unsigned d = 0; d < a->n_dims; stride *= a->shape[d], d++)
        place += index[d] * stride;
    return place;
}

/* The whole .npy: header and data. */
static inline void make_npy(const struct made_array *a, struct bytes *out)
{
    const uint64_t n = count_items(a);
    struct error err = {0};
    size_t header;
    uint8_t *data;

    assert_int_equal(npy_header_write(a->descr, a->shape, a->n_dims, 0, out, &err), 0);
    header = out->n_bytes;
    if (a->fortran)
        memcpy(memmem(out->data, header, "False", 5), "True ", 5);
    data = bytes_reserve(out, n * a->item_nbytes + a->n_trailing + 1, &err);
    assert_non_null(data);
    for (uint64_t i = 0; i < n; i++)
        fill_item(a, i, data + place_in_file(a, i) * a->item_nbytes);
    memset(data + n * a->item_nbytes, 't', a->n_trailing);
    out->n_bytes += n * a->item_nbytes + a->n_trailing - a->n_missing;
}

static inline void make_npz(const char *path, const struct made_array *arrays, size_t n)
{
    struct bytes *contents = calloc(n + 1, sizeof *contents);
    zip_t *zip;

    unlink(path); /* replacing a file may sync it */
    zip = zip_open(path, ZIP_CREATE, NULL);
    assert_non_null(zip);
    assert_non_null(contents);
    for (size_t i = 0; i < n; i++) {
        zip_source_t *source;
        zip_int64_t index;

        make_npy(&arrays[i], &contents[i]);
        source = zip_source_buffer(zip, contents[i].data, contents[i].n_bytes, 0);
        index = zip_file_add(zip, arrays[i].name, source, ZIP_FL_ENC_UTF_8);
        assert_true(index >= 0);
        zip_set_file_compression(zip, (zip_uint64_t)index,
                                 arrays[i].deflated ? ZIP_CM_DEFLATE : ZIP_CM_STORE, 1);
    }
    assert_int_equal(zip_close(zip), 0);
    for (size_t i = 0; i < n; i++)
        bytes_release(&contents[i]);
    free(contents);
}

static inline void make_npy_file(const char *path, const struct made_array *a)
{
    struct bytes npy = {0};
    FILE *file;

    unlink(path); /* rewriting a file may sync it */
    file = fopen(path, "wb");
    assert_non_null(file);
    make_npy(a, &npy);
    assert_int_equal(fwrite(npy.data, 1, npy.n_bytes, file), npy.n_bytes);
    assert_int_equal(fclose(file), 0);
    bytes_release(&npy);
}

/* The first byte of n that is not what the array's items from number first on have; n if none. */
static inline size_t first_difference(const struct made_array *a, uint64_t first,
                                      const uint8_t *bytes, size_t n)
{
    uint8_t item[64];

    for (size_t i = 0; i < n; i++) {
        if (i % a->item_nbytes == 0)
            fill_item(a, first + i / a->item_nbytes, item);
        if (bytes[i] != item[i % a->item_nbytes])
            return i;
    }
    return n;
}

/* A string literal and its length, NULs inside included. */
#define FILE_OF(bytes) bytes, sizeof bytes - 1

static inline void put_bytes(const char *path, const void *bytes, size_t n_bytes)
{
    FILE *file;

    unlink(path); /* rewriting a file may sync it */
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n_bytes, file), n_bytes);
    assert_int_equal(fclose(file), 0);
}

#define IN_SCRATCH(test) cmocka_unit_test_setup_teardown(test, scratch_setup, scratch_teardown)
