/* fuzz_zip.c - whole shards: container, headers, object arrays, all rows. */
#include "fuzz.h"
#include "shard/archive_in.h"
#include "shard/batch.h"

#define MAX_ROW_NBYTES (1u << 20)
#define MAX_NBYTES     (8u << 20)

static void read_rows(const struct array *array)
{
    uint8_t *row = malloc((size_t)array->row_nbytes + 1);
    struct error err = {0};
    struct reader reader = {.arrays = &array, .n_arrays = 1};
    int status = reader_open(&reader, NULL, &err);

    fuzz_require(row != NULL, "no memory");
    for (uint64_t i = 0; status == 0 && i < array->n_rows; i++)
        status = reader_read(&reader, i, 1, row, &err);
    fuzz_check_error(status, &err);
    reader_close(&reader);
    free(row);
}

static void read_table(const struct array *array)
{
    uint8_t *row = malloc((size_t)array->row_nbytes + 1);
    struct budget budget = {MAX_NBYTES, "/tmp"};
    struct error err = {0};
    struct reader reader = {.arrays = &array, .n_arrays = 1, .at_random = true};
    int status = reader_open(&reader, &budget, &err);

    fuzz_require(row != NULL, "no memory");
    for (uint64_t i = array->n_rows; status == 0 && i > 0; i--)
        status = reader_read(&reader, i - 1, 1, row, &err);
    fuzz_check_error(status, &err);
    reader_close(&reader);
    free(row);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct archive_in archive = {0};
    struct error err = {0};
    int status = archive_in_open(&archive, fuzz_file(bytes, n_bytes), n_bytes % 2 == 0, &err);

    fuzz_check_error(status, &err);
    for (size_t i = 0; status == 0 && i < archive.n_arrays; i++) {
        struct array *array = &archive.arrays[i];
        char text[64];
        int64_t value;

        array_read_string(array, text, sizeof text);
        array_read_int(array, &value);
        if (array->unpacked_nbytes > MAX_NBYTES || array->row_nbytes > MAX_ROW_NBYTES ||
            array->n_rows > MAX_ROW_NBYTES || array->header.n_dims == 0)
            continue;
        if (array->header.dtype.kind == DTYPE_OBJECT) {
            struct error reason = {0};

            fuzz_check_error(array_load_objects(array, &reason), &reason);
            continue;
        }
        if (!array_is_fortran(array))
            read_rows(array);
        read_table(array);
    }
    archive_in_close(&archive);
    return 0;
}
