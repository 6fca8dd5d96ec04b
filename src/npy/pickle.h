/*
 * pickle.h - object arrays: a restricted pickle reader and a deterministic writer.
 *
 * No callable is ever called and nothing is imported: each allowed (module, name) pair is a row,
 * and REDUCE and BUILD are pattern matches on their arguments. Everything else is refused.
 */
#pragma once

#include "base/bytes.h"
#include "base/error.h"
#include "npy/dtype.h"

#define PICKLE_MAX_DIMS 8

enum pickle_kind {
    PICKLE_NONE,
    PICKLE_BOOL,
    PICKLE_INT,
    PICKLE_FLOAT,
    PICKLE_STRING, /* UTF-8 */
    PICKLE_LIST,   /* of scalars */
    PICKLE_ARRAY,  /* numeric ndarray */
    PICKLE_N_KINDS,
};

/* One element of an object array: 16 bytes, so that an index of millions stays small. */
struct pickle_item {
    uint8_t kind;              /* enum pickle_kind */
    uint32_t n_bytes_or_items; /* STRING: bytes; LIST: items; ARRAY: bytes of data */
    union {
        int64_t integer;                    /* BOOL, INT */
        double number;                      /* FLOAT */
        const uint8_t *bytes;               /* STRING: borrowed from the pickle's bytes or chunks */
        const struct pickle_item *items;    /* LIST */
        const struct pickle_ndarray *array; /* ARRAY: may be shared by items */
        void *inner;                        /* the reader's own */
    } as;
};

struct pickle_ndarray {
    struct dtype dtype; /* number */
    bool fortran_order;
    uint8_t n_dims;
    const uint64_t *shape; /* borrowed: n_dims numbers */
    uint64_t n_elements;
    uint64_t n_bytes;    /* below 4 GiB */
    const uint8_t *data; /* borrowed from the pickle's bytes or chunks; any alignment */
};

/* What a pickle may use; see pickle_default_limits. */
struct pickle_limits {
    uint64_t n_items;       /* of the object array: the product of the .npy header's shape */
    uint64_t list_items;    /* of one list */
    uint64_t string_nbytes; /* of one string */
    uint64_t array_nbytes;  /* of one ndarray */
    uint64_t total_nbytes;  /* sum over all references (amplification) */
    uint64_t heap_nbytes;   /* of the reader's memory; 128 bytes per byte read is the most anyway */
};

extern const struct pickle_limits pickle_default_limits;

struct pickle_document {
    int protocol;
    unsigned n_dims;
    uint64_t shape[PICKLE_MAX_DIMS];
    uint64_t n_items;
    const struct pickle_item *items; /* C order */
    struct pickle_chunk *chunks;     /* owned: all that items refer to, but */
    struct pickle_list *lists;       /* owned: lists, that of the items too */
};

/*
 * Read the pickle of one object array. `bytes` must outlive the document, whose strings and data
 * point into it. ERROR_DATA names the byte offset and the reason; memory stays within the limits.
 * The caller releases the document.
 */
int pickle_read(const uint8_t *bytes, uint64_t n_bytes, const struct pickle_limits *limits,
                struct pickle_document *document, struct error *err);

/* Free a document; accepts a zeroed one. */
void pickle_release(struct pickle_document *document);

/*
 * The writer makes protocol 3 with numpy 1.x module names: a prelude, the items, a trailer. Items
 * may be written in any number of parts, in parallel, and the parts joined in order: the bytes
 * depend on the values alone.
 *
 * Memo slots: 0 to 3 for what every array needs, 4 for the dtype of objects, then one per dtype of
 * the ndarray items, in order of first use. A dtype is declared inside the first item that has it
 * (a pickle has no other place for it: nothing may stay on the stack, and numpy checks the length
 * of every tuple), and fetched from its slot by all others. So a part must know which items come
 * first: before the first part is written, every ndarray item - or at least the first one of
 * each dtype - is noted with its place in the array.
 */
#define PICKLE_BATCH      1000 /* items between MARK and APPENDS: where parts are best cut */
#define PICKLE_MAX_DTYPES 24

/* Zero-initialise through pickle_writer_init; owns nothing. */
struct pickle_writer {
    unsigned n_dims;
    uint64_t shape[PICKLE_MAX_DIMS];
    uint64_t n_items;
    unsigned n_dtypes;
    struct {
        struct dtype dtype;
        uint64_t first_item;     /* the lowest place noted */
    } dtypes[PICKLE_MAX_DTYPES]; /* in the order of first_item, which is that of the slots */
};

/* Begin an object array of `shape`. ERROR_DATA for more than PICKLE_MAX_DIMS dimensions or a
 * product beyond 64 bits. */
int pickle_writer_init(struct pickle_writer *writer, const uint64_t *shape, unsigned n_dims,
                       struct error *err);

/* Note that `item` has place i (0 to n_items - 1, C order). Any order, and items that are not
 * ndarrays need not be noted. ERROR_DATA for a dtype that is not a number. Not thread-safe. */
int pickle_writer_note(struct pickle_writer *writer, uint64_t i, const struct pickle_item *item,
                       struct error *err);

/* Append what comes before the items, up to and including the empty list. */
int pickle_write_prelude(const struct pickle_writer *writer, struct bytes *out, struct error *err);

/*
 * Append item i, with the MARK and APPENDS of the batch that begins or ends with it. Thread-safe on
 * a const writer. ERROR_DATA for what protocol 3 cannot hold (4 GiB and more), ERROR_INTERNAL for a
 * dtype that was not noted.
 */
int pickle_write_item(const struct pickle_writer *writer, uint64_t i,
                      const struct pickle_item *item, struct bytes *out, struct error *err);

/* Append what closes the array. */
int pickle_write_trailer(struct bytes *out, struct error *err);
