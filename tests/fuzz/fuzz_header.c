/* fuzz_header.c - .npy headers: what is accepted can be written and read again. */
#include "fuzz.h"
#include "npy/header.h"

static void check_round_trip(const struct npy_header *header)
{
    struct npy_header again = {0};
    struct bytes out = {0};
    struct error err = {0};

    if (npy_header_write(header->descr, header->shape, header->n_dims, 0, &out, &err) == 0) {
        fuzz_require(out.n_bytes % 64 == 0, "header is not padded");
        fuzz_require(npy_header_parse(out.data, out.n_bytes, &again, &err) == 0, err.message);
        fuzz_require(
            again.n_dims == header->n_dims && again.n_elements == header->n_elements &&
                again.data_nbytes == header->data_nbytes &&
                memcmp(again.shape, header->shape, header->n_dims * sizeof *header->shape) == 0,
            "another shape");
        fuzz_require(again.dtype.kind == header->dtype.kind &&
                         again.dtype.itemsize == header->dtype.itemsize &&
                         again.dtype.big_endian == header->dtype.big_endian,
                     "another dtype");
        npy_header_release(&again);
    }
    bytes_release(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct npy_header header = {0};
    struct error err = {0};
    size_t header_nbytes = 0;
    int status = npy_header_length(bytes, n_bytes, &header_nbytes, &err);

    fuzz_check_error(status, &err);
    if (status != 0 || header_nbytes > n_bytes)
        return 0;
    status = npy_header_parse(bytes, header_nbytes, &header, &err);
    fuzz_check_error(status, &err);
    if (status == 0) {
        fuzz_require(header.header_nbytes == header_nbytes, "another length");
        check_round_trip(&header);
    }
    npy_header_release(&header);
    return 0;
}
