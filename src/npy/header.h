/*
 * header.h - the header of a .npy array: bytes to struct and back.
 */
#pragma once

#include "npy/dtype.h"

#define NPY_MAX_DIMS         32
#define NPY_N_FIELDS         16    /* of a structured type are kept */
#define NPY_PREFIX_NBYTES    12    /* from these bytes the header's length is known */
#define NPY_HEADER_MAX_BYTES 10000 /* of the dictionary: the limit of numpy's loader */

struct npy_header {
    unsigned version; /* 1, 2 or 3 */
    struct dtype dtype;
    char *descr; /* owned: the descr's Python source with its quotes, in UTF-8 */
    struct dtype fields[NPY_N_FIELDS]; /* n_fields: the first ones, one after the other */
    unsigned n_fields;
    bool fortran_order;
    unsigned n_dims;
    uint64_t shape[NPY_MAX_DIMS];
    uint64_t n_elements;  /* product of the shape, below 2^63 */
    uint64_t data_nbytes; /* n_elements * itemsize, below 2^63; 0 for objects */
    size_t header_nbytes; /* of the whole header: where the data starts */
    const char *oddity;   /* static text: a warning about what is accepted, or NULL */
};

/*
 * Get the header's length (magic, version, length field and dictionary) from the first n_bytes of
 * an array: NPY_PREFIX_NBYTES, or all if there are fewer. ERROR_DATA, with the reason alone as its
 * message: wrong magic, unknown version, too long a header, too few bytes.
 */
int npy_header_length(const uint8_t *bytes, size_t n_bytes, size_t *header_nbytes,
                      struct error *err);

/*
 * Parse a whole header strictly: exactly the keys descr, fortran_order and shape, plain Python
 * literals, nothing after the dictionary but spaces and one newline. ERROR_DATA, with the reason
 * alone as its message ("negative dimension"). The caller releases the header.
 */
int npy_header_parse(const uint8_t *bytes, size_t n_bytes, struct npy_header *header,
                     struct error *err);

/*
 * Append a header for the descr (UTF-8), C order and `shape`, exactly as numpy 1.24 writes it:
 * version 1 if it fits, else 2, or 3 for names outside Latin-1, with room for the first dimension
 * to grow and padded so that the data starts at a multiple of 64. extra_padding, a multiple of 64,
 * is added.
 */
int npy_header_write(const char *descr, const uint64_t *shape, unsigned n_dims,
                     size_t extra_padding, struct bytes *out, struct error *err);

/* Free what a header owns; accepts a zeroed one. */
void npy_header_release(struct npy_header *header);
