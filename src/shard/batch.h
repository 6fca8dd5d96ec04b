/*
 * batch.h - the rows of an array: the reader that brings them, and the batch that holds some.
 *
 * A reader knows one array, or the same array of several shards one after another: numbers in C
 * order however they are stored, lists in CSR form, pickled objects. It reads in sequence, with no
 * more memory than its buffers, or at random, for which what is not stored in C order is unpacked
 * once, into memory of a budget or a temp file.
 */
#pragma once

#include "base/budget.h"
#include "base/bytes.h"
#include "base/error.h"
#include "shard/array.h"

/* Where the rows of a policy in CSR form begin: elements are counted over all shards. */
struct csr {
    uint64_t *first; /* owned, n_rows + 1 */
    uint64_t n_rows;
};

/*
 * Read the offsets of n_arrays shards, and check them: from 0, never falling, ending at the number
 * of elements of `elements`. ERROR_DATA with ERROR_CODE_LENGTH naming the first row that is none.
 * The caller releases it.
 */
int csr_open(struct csr *csr, const struct array *const *offsets,
             const struct array *const *elements, size_t n_arrays, struct error *err);

/* The bytes of a row's list of elements of that size: on average, rounded up. */
static inline uint64_t csr_row_nbytes(const struct csr *csr, uint64_t item_nbytes)
{
    return csr->n_rows > 0 ? (csr->first[csr->n_rows] / csr->n_rows + 1) * item_nbytes : 0;
}

/* Free it; accepts a zeroed one. */
void csr_release(struct csr *csr);

/* --- readers --- */

/* Set the first four fields, the others to 0, then open it. What is borrowed must outlive it. */
struct reader {
    const struct array *const *arrays; /* borrowed: of equal dtype and row shape; one per shard */
    size_t n_arrays;
    const struct csr *csr; /* borrowed: rows are lists of the arrays' elements; or NULL */
    bool at_random;        /* rows are wanted in no order */

    uint64_t n_rows;      /* over all arrays */
    uint64_t n_units;     /* the same; of lists, their elements */
    uint64_t unit_nbytes; /* of a row, or of an element of a list; 0 for objects */
    uint64_t n_items;     /* objects: of a row */
    bool is_object;
    bool has_table; /* every unit is at hand: reads are thread-safe */

    /* In sequence. */
    struct unpack unpack;
    uint64_t next;      /* unit */
    size_t current;     /* the array that it comes from */
    uint64_t left_here; /* units of that array, once it is begun */
    bool begun;

    /* At random. */
    struct reader_part *parts; /* owned, one per array */
    struct scratch scratch;
};

/*
 * Open a reader. At random, or where some array is in Fortran order, all of it is read, and its
 * CRC checked; what is to be unpacked goes to memory while the budget lasts, else to a file in its
 * folder. ERROR_DATA for arrays of no rows (0-d), or of several sizes. Close it in any case.
 */
int reader_open(struct reader *reader, struct budget *budget, struct error *err);

/* Whether a reader of these arrays can do without a table: they are in C order. */
bool reader_can_stream(const struct array *const *arrays, size_t n_arrays);

/*
 * Units first .. first + n - 1 to out (n * unit_nbytes; not of objects). In sequence, first must
 * not be below the end of the units read before; what lies between is read over, and as the last
 * unit of an array is delivered its CRC and size are checked. Messages: "FILE: MEMBER: ...".
 */
int reader_read(struct reader *reader, uint64_t first, uint64_t n, void *out, struct error *err);

/* A row of a table is soon to be read: memory may begin to fetch it. */
void reader_expect(const struct reader *reader, uint64_t row);

/* ERROR of that kind, "FILE: MEMBER: row N: REASON", for a row over all arrays; always -1. */
int reader_fail(const struct reader *reader, uint64_t row, const struct error *reason,
                struct error *err);

void reader_close(struct reader *reader);

/* --- batches --- */

/* Some rows of a reader: set `reader`, or `own` as for reader_open and then call batch_open. The
 * rest is 0. It stays where it is while it has a reader of its own. */
struct batch {
    struct reader *reader; /* borrowed, open */
    struct reader own;
    uint64_t first, n;  /* rows first .. first + n - 1, when they were read in sequence */
    struct bytes bytes; /* numbers, one row after the other */
    uint64_t *starts; /* owned: of lists, n + 1 elements of `bytes` at which they begin; of objects,
                         n rows */
    uint64_t n_starts; /* allocated */
};

/* Open a reader of its own. Release the batch in any case. */
int batch_open(struct batch *batch, struct budget *budget, struct error *err);

/* Hold rows first .. first + n - 1 and nothing else. */
int batch_read(struct batch *batch, uint64_t first, uint64_t n, struct error *err);

/* Hold the next rows, at most so many; n is 0 after the last one. */
int batch_next(struct batch *batch, uint64_t at_most, struct error *err);

/* Hold rows first .. first + n - 1, which begin in those of `before` or after it: what it holds is
 * copied. Both are of one reader in sequence. */
int batch_follow(struct batch *batch, const struct batch *before, uint64_t first, uint64_t n,
                 struct error *err);

/* Make room for n rows, which will be added; of lists, for where they begin. */
int batch_reserve(struct batch *batch, uint64_t n, struct error *err);

/* Hold n rows more; what is read in sequence has them in rising order. */
int batch_add(struct batch *batch, const uint64_t *rows, uint64_t n, struct error *err);

/* Hold nothing, and keep the room. */
void batch_clear(struct batch *batch);

/* Free it, and the reader if it is its own. */
void batch_release(struct batch *batch);

/* --- what numbers there are --- */

struct number_range {
    double min, max;   /* 0, 0 when there are none; NaN is left out */
    bool has_fraction; /* some value is not a whole number */
    unsigned codes;    /* which of -1, 0, 1, 2 occur: NUMBER_CODE bits */
    uint64_t n;        /* how many numbers */
};

#define NUMBER_CODE(code) (1u << ((code) + 1))

/* The range of the same array of numbers in several shards, of the first max_nbytes or so as they
 * are stored. */
int number_range_find(const struct array *const *arrays, size_t n_arrays, uint64_t max_nbytes,
                      struct number_range *range, struct error *err);

/* A row as a list of numbers. */
struct row {
    const uint8_t *bytes;            /* n elements of dtype, or */
    const struct pickle_item *items; /* n items */
    const struct dtype *dtype;
    uint64_t n;
};

/* The i-th row of a batch: bytes and items are NULL when it has none. An object array of one
 * dimension has lists or arrays as rows, one of more has its items. */
struct row batch_row(const struct batch *batch, uint64_t i);

/* Elements first .. first + n - 1 of a row as row_double tells them. */
void row_doubles(const struct row *row, uint64_t first, uint64_t n, double *out);

/* The items of a row of objects. */
const struct pickle_item *reader_items(const struct reader *reader, uint64_t row);

/* Element i of a row as an integer (-1: it is none) or a number (0: it is none). */
static inline int64_t row_int(const struct row *row, uint64_t i)
{
    if (row->items == NULL)
        return dtype_get_int(row->dtype, row->bytes + i * row->dtype->itemsize);
    return row->items[i].kind == PICKLE_INT || row->items[i].kind == PICKLE_BOOL
               ? row->items[i].as.integer
               : -1;
}

static inline double row_double(const struct row *row, uint64_t i)
{
    if (row->items == NULL)
        return dtype_get_double(row->dtype, row->bytes + i * row->dtype->itemsize);
    switch (row->items[i].kind) {
    case PICKLE_INT:
    case PICKLE_BOOL:
        return (double)row->items[i].as.integer;
    case PICKLE_FLOAT:
        return row->items[i].as.number;
    default:
        return 0;
    }
}
