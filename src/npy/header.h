/*
 * header.h - the header of a .npy array: bytes to struct and back.
 */
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "npy/dtype.h"

#define NPY_MAX_DIMS         32
#define NPY_PREFIX_NBYTES    12    /* enough of a file to know its header's length */
#define NPY_HEADER_MAX_BYTES 10000 /* of the dictionary, as numpy's loader allows */

struct npy_header {
    unsigned version; /* 1, 2 or 3 */
    struct dtype dtype;
    char *descr; /* owned: the descr as Python source, quotes included, as written, in UTF-8 */
    bool fortran_order;
    unsigned n_dims;
    uint64_t shape[NPY_MAX_DIMS];
    uint64_t n_elements;  /* product of the shape: checked */
    uint64_t data_nbytes; /* n_elements * itemsize: checked; 0 for objects */
    size_t header_nbytes; /* of the whole header: where the data starts */
    const char *oddity;   /* static text: it is accepted, but worth this warning; or NULL */
};

/*
 * How many bytes the header takes (magic, version, length field and dictionary), from the first
 * n_bytes of an array; at least NPY_PREFIX_NBYTES unless the array is shorter. Errors: wrong
 * magic, unknown version, too long a header, too few bytes. Messages are reasons alone.
 */
int npy_header_length(const uint8_t *bytes, size_t n_bytes, size_t *header_nbytes,
                      struct error *err);

/*
 * Parse a header of which all header_nbytes are present. Strict: exactly the keys descr,
 * fortran_order and shape, plain Python literals, nothing after the dictionary but spaces and one
 * newline. ERROR_DATA with the reason alone ("negative dimension"). The caller releases the header.
 */
int npy_header_parse(const uint8_t *bytes, size_t n_bytes, struct npy_header *header,
                     struct error *err);

/*
 * Append a header for the descr (UTF-8), C order, `shape`: version 1 where it fits (else 2, or 3
 * for names outside Latin-1), padded with spaces so that the data starts at a multiple of 64,
 * exactly as numpy 1.24 writes it, with room for the first dimension to grow. extra_padding (a
 * multiple of 64) is added to it.
 */
int npy_header_write(const char *descr, const uint64_t *shape, unsigned n_dims,
                     size_t extra_padding, struct bytes *out, struct error *err);

/* True when elements of both mean the same: structured types when their fields are written alike.
 */
bool npy_header_same_type(const struct npy_header *a, const struct npy_header *b);

/* Free what the header owns; accepts a zeroed one. */
void npy_header_release(struct npy_header *header);
