/*
 * pickle.h - object arrays: a restricted pickle reader and a deterministic writer.
 *
 * Nothing is ever called or imported: the (module, name) pairs a pickle may mention are rows of a
 * table, and REDUCE and BUILD match their arguments against patterns. Everything else is refused.
 */
#pragma once

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

/* One element of an object array. It takes 16 bytes, so that millions of them stay small. */
struct pickle_item {
    uint8_t kind;              /* enum pickle_kind */
    uint32_t n_bytes_or_items; /* STRING: bytes; LIST: items; ARRAY: bytes of data */
    union {
        int64_t integer;                    /* BOOL, INT */
        double number;                      /* FLOAT */
        const uint8_t *bytes;               /* STRING: borrowed from the pickle's bytes or chunks */
        const struct pickle_item *items;    /* LIST */
        const struct pickle_ndarray *array; /* ARRAY: may be shared by items */
        void *inner;                        /* internal to the reader */
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

/* Upper limits on what a pickle may hold or cost. */
struct pickle_limits {
    uint64_t n_items;        /* of the object array: the product of the .npy header's shape */
    uint64_t list_items;     /* of one list */
    uint64_t string_nbytes;  /* of one string */
    uint64_t array_nbytes;   /* of one ndarray */
    uint64_t total_nbytes;   /* of all items, shared objects counted once per reference */
    uint64_t heap_nbytes;    /* of the reader's memory, which is also limited by the input's size */
    const char *heap_advice; /* static: what is said where that is too little; or NULL */
};

extern const struct pickle_limits pickle_default_limits;

struct pickle_document {
    unsigned n_dims;
    uint64_t shape[PICKLE_MAX_DIMS];
    uint64_t n_items;
    uint64_t n_bytes; /* of all strings, data and lists' items (16 each), once per reference */
    const struct pickle_item *items; /* C order */
    struct pickle_chunk *chunks;     /* owned: what items refer to, but for lists */
    struct pickle_list *lists;       /* owned: all lists, that of the items among them */
};

/*
 * Read the pickle of one object array. Strings and data of the document point into `bytes`, which
 * must outlive it. ERROR_DATA names the byte offset and the reason. The caller releases the
 * document.
 */
int pickle_read(const uint8_t *bytes, uint64_t n_bytes, const struct pickle_limits *limits,
                struct pickle_document *document, struct error *err);

/*
 * Check the first n_bytes of a pickle, of which more are to come: ERROR_DATA for opcodes and sizes
 * that pickle_read refuses. *n_checked, 0 at first, keeps where to go on when more have come.
 */
int pickle_check_part(const uint8_t *bytes, uint64_t n_bytes, const struct pickle_limits *limits,
                      uint64_t *n_checked, struct error *err);

/* Free a document; accepts a zeroed one. */
void pickle_release(struct pickle_document *document);

/*
 * The writer makes protocol 3: a prelude and the items, which may be written in parts, in parallel,
 * and are then joined in order. A dtype is declared inside the first item that has it, and each
 * part must know which item that is: so before the first part is written, at least the first item
 * of each dtype is noted with its index.
 */
#define PICKLE_BATCH      1000 /* items between MARK and APPENDS: parts are best cut here */
#define PICKLE_MAX_DTYPES 24

/* Owns nothing. */
struct pickle_writer {
    unsigned n_dims;
    uint64_t shape[PICKLE_MAX_DIMS];
    uint64_t n_items;
    unsigned n_dtypes;
    struct {
        struct dtype dtype;
        uint64_t first_item;     /* the lowest index noted */
    } dtypes[PICKLE_MAX_DTYPES]; /* sorted by first_item: the order of their slots */
};

/* Begin an object array of `shape`. ERROR_DATA if it has more than PICKLE_MAX_DIMS dimensions or
 * 2^64 items or more. */
int pickle_writer_init(struct pickle_writer *writer, const uint64_t *shape, unsigned n_dims,
                       struct error *err);

/* Note that `item` has index i (0 to n_items - 1, C order). Items may be noted in any order; only
 * ndarrays need to be. ERROR_DATA for a dtype that is not a number. Not thread-safe. */
int pickle_writer_note(struct pickle_writer *writer, uint64_t i, const struct pickle_item *item,
                       struct error *err);

/* Append what precedes the items; without any, the whole pickle. */
int pickle_write_prelude(const struct pickle_writer *writer, struct bytes *out, struct error *err);

/*
 * Append item i, with the MARK or APPENDS of the batch that begins or ends with it, and after the
 * last item what closes the array. Thread-safe. ERROR_DATA for what protocol 3 cannot hold (4 GiB
 * and more), ERROR_INTERNAL for a dtype that was not noted.
 */
int pickle_write_item(const struct pickle_writer *writer, uint64_t i,
                      const struct pickle_item *item, struct bytes *out, struct error *err);
