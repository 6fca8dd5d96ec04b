/* fuzz_pickle.c - pickles of object arrays: what is accepted can be written and read again. The
 * first byte says how many items the .npy header promises. */
#include "fuzz.h"
#include "npy/pickle.h"

static struct pickle_limits limits_for(uint64_t n_items)
{
    struct pickle_limits limits = pickle_default_limits;

    limits.n_items = n_items;
    limits.heap_nbytes = 64u << 20;
    limits.total_nbytes = 64u << 20;
    return limits;
}

static int write_all(const struct pickle_document *document, struct bytes *out, struct error *err)
{
    struct pickle_writer writer;

    if (pickle_writer_init(&writer, document->shape, document->n_dims, err) != 0)
        return -1;
    for (uint64_t i = 0; i < document->n_items; i++)
        if (pickle_writer_note(&writer, i, &document->items[i], err) != 0)
            return -1;
    if (pickle_write_prelude(&writer, out, err) != 0)
        return -1;
    for (uint64_t i = 0; i < document->n_items; i++)
        if (pickle_write_item(&writer, i, &document->items[i], out, err) != 0)
            return -1;
    return 0;
}

static void check_round_trip(const struct pickle_document *document)
{
    struct pickle_limits limits = limits_for(document->n_items);
    struct pickle_document again = {0};
    struct bytes first = {0}, second = {0};
    struct error err = {0};

    if (write_all(document, &first, &err) == 0) {
        fuzz_require(pickle_read(first.data, first.n_bytes, &limits, &again, &err) == 0,
                     err.message);
        fuzz_require(again.n_items == document->n_items, "another number of items");
        fuzz_require(write_all(&again, &second, &err) == 0, err.message);
        fuzz_require(first.n_bytes == second.n_bytes &&
                         memcmp(first.data, second.data, first.n_bytes) == 0,
                     "another pickle");
        pickle_release(&again);
    }
    bytes_release(&first);
    bytes_release(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t n_bytes)
{
    struct pickle_document document = {0};
    struct pickle_limits limits;
    struct error err = {0};
    int status;

    if (n_bytes == 0)
        return 0;
    limits = limits_for(bytes[0]);
    status = pickle_read(bytes + 1, n_bytes - 1, &limits, &document, &err);
    fuzz_check_error(status, &err);
    if (status == 0)
        check_round_trip(&document);
    pickle_release(&document);
    return 0;
}
