/*
 * batch.h - the rows of an array: readers, which deliver them, batches, which hold some, and walks,
 * which go through the rows of several arrays side by side.
 *
 * A reader covers one array, or the same array of several shards one after another: numbers (in C
 * order, however they are stored), lists in CSR form, or pickled objects. It reads in sequence with
 * no memory but its buffers, or at random, for which packed arrays and arrays in Fortran order are
 * unpacked once, into memory within a budget or a temporary file.
 */
#pragma once

#include "shard/array.h"

/* Where the rows of a policy in CSR form begin, in elements counted over all shards. */
struct csr {
    uint64_t *first; /* owned, n_rows + 1 */
    uint64_t n_rows;
    uint64_t *shard_rows; /* owned: rows of each shard */
};

/*
 * Read the offsets of n_arrays shards and check that they start at 0, never decrease, and end at
 * the number of elements of `elements`. ERROR_DATA names the first row that breaks this. The caller
 * releases it.
 */
int csr_open(struct csr *csr, const struct array *const *offsets,
             const struct array *const *elements, size_t n_arrays, struct error *err);

/* The mean bytes of a row's list, rounded up, for elements of that size. */
static inline uint64_t csr_row_nbytes(const struct csr *csr, uint64_t item_nbytes)
{
    return csr->n_rows > 0 ? (csr->first[csr->n_rows] / csr->n_rows + 1) * item_nbytes : 0;
}

void csr_release(struct csr *csr);

/* --- readers --- */

/* Set the first five fields, zero the others, and open it. What it borrows must outlive it. */
struct reader {
    const struct array *const *arrays; /* borrowed: of equal dtype and row shape; one per shard */
    size_t n_arrays;
    const struct csr *csr; /* borrowed: rows are lists of the arrays' elements; or NULL */
    bool at_random;        /* rows are wanted in any order */
    bool is_checked;       /* the CRCs of all arrays are known to be right: in sequence, those
                              without wanted rows are not read */

    uint64_t n_rows;      /* over all arrays */
    uint64_t n_units;     /* the same; for lists, elements */
    uint64_t unit_nbytes; /* of a row, or of an element of a list; 0 for objects */
    uint64_t n_items;     /* objects: of a row */
    bool is_object;
    bool has_table; /* units can be read in any order, by several threads at once */

    /* In sequence. */
    struct unpack unpack;
    uint64_t next;  /* unit to be read */
    size_t current; /* the array that it comes from */

    /* At random. */
    struct reader_part *parts; /* owned, one per array */
    struct scratch scratch;
};

/*
 * Open a reader. At random, or if any array is in Fortran order, all arrays are read and their CRCs
 * checked now; unpacked data goes to memory while the budget lasts, else to a file in the budget's
 * folder. ERROR_DATA for 0-d arrays and for rows of different sizes. Close it in any case.
 */
int reader_open(struct reader *reader, struct budget *budget, struct error *err);

/* The first unit of a row; for the row after the last, the number of units. */
static inline uint64_t reader_unit(const struct reader *reader, uint64_t row)
{
    return reader->csr != NULL ? reader->csr->first[row] : row;
}

/* True when these arrays can be read in sequence: they are all in C order. */
bool reader_can_stream(const struct array *const *arrays, size_t n_arrays);

/*
 * Read units first .. first + n - 1 to out (n * unit_nbytes); not for objects. In sequence, first
 * must not be below the end of the units read before; units between are skipped, and when the last
 * unit of an array has been delivered its CRC and sizes are checked. Messages: "FILE: MEMBER: ...".
 */
int reader_read(struct reader *reader, uint64_t first, uint64_t n, void *out, struct error *err);

/* Prefetch a row of a table that will be read soon. */
void reader_expect(const struct reader *reader, uint64_t row);

/* Set an error of the reason's kind, "FILE: MEMBER: row N: REASON", for a row counted over all
 * arrays. Returns -1. */
int reader_fail(const struct reader *reader, uint64_t row, const struct error *reason,
                struct error *err);

void reader_close(struct reader *reader);

/* --- batches --- */

/* Some rows of a reader. Set `reader`, or set `own` as for reader_open and call batch_open; zero
 * the rest. A batch with a reader of its own must not be moved in memory. */
struct batch {
    struct reader *reader; /* borrowed, open */
    struct reader own;
    uint64_t first, n;  /* rows first .. first + n - 1, unless batch_add put others in */
    struct bytes bytes; /* numbers, row after row */
    uint64_t *starts;   /* owned: for lists, the n + 1 elements of `bytes` where they begin and end;
                           for objects, the n rows */
    uint64_t n_starts;  /* allocated */
};

/* Open a reader of its own. Release the batch in any case. */
int batch_open(struct batch *batch, struct budget *budget, struct error *err);

/* Hold rows first .. first + n - 1 and nothing else. */
int batch_read(struct batch *batch, uint64_t first, uint64_t n, struct error *err);

/* The same for rows that begin within those of `before` or after them: rows that it holds are
 * copied from it. Both batches share one reader in sequence. */
int batch_follow(struct batch *batch, const struct batch *before, uint64_t first, uint64_t n,
                 struct error *err);

/* Add n rows; a reader in sequence needs them in ascending order. */
int batch_add(struct batch *batch, const uint64_t *rows, uint64_t n, struct error *err);

/* Drop the rows but keep the memory. */
void batch_clear(struct batch *batch);

/* Free it, and its own reader if it has one. */
void batch_release(struct batch *batch);

/* --- numbers --- */

struct number_range {
    double min, max;   /* 0, 0 when there are none; NaN is left out */
    bool has_fraction; /* some value is not a whole number */
    unsigned codes;    /* which of -1, 0, 1, 2 occur: NUMBER_CODE bits */
    uint64_t n;        /* how many numbers */
};

#define NUMBER_CODE(code) (1u << ((code) + 1))

/* The range of the same array of numbers over several shards, of about the first max_nbytes as they
 * are stored. */
int number_range_find(const struct array *const *arrays, size_t n_arrays, uint64_t max_nbytes,
                      struct number_range *range, struct error *err);

/* A row as a list of numbers. */
struct row {
    const uint8_t *bytes;            /* n elements of dtype; or NULL: */
    const struct pickle_item *items; /* n items */
    const struct dtype *dtype;
    uint64_t n;
};

/* The i-th row of a batch; bytes and items are NULL for rows of no elements. Rows of an object
 * array (N,) are the lists or arrays in it, rows of (N, k) its k items. */
struct row batch_row(const struct batch *batch, uint64_t i);

/* row_double of elements first .. first + n - 1. */
void row_doubles(const struct row *row, uint64_t first, uint64_t n, double *out);

/* The sum of elements first .. first + n - 1, which is NaN if one of them is, and the lowest and
 * highest of the others; INFINITY and -INFINITY if there are none. */
struct row_summary {
    double sum, min, max;
};
struct row_summary row_summarize(const struct row *row, uint64_t first, uint64_t n);

/* The items of a row of objects. */
const struct pickle_item *reader_items(const struct reader *reader, uint64_t row);

/* Element i of a row as an integer (-1 if it is not one), or as a number (0 if it is not one). */
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

/* --- walks --- */

/* A walk through the rows of several arrays side by side, in sequence, some rows of each read at a
 * time. One thread at a time; the rows that were read may be looked at by several. */
struct walk {
    uint64_t number;  /* of the current row */
    struct row *rows; /* owned, n_arrays: that row in each array */
    int status;       /* 0; set it to -1, with an error, to end the walk */

    uint64_t row_nbytes;   /* of a row in all arrays, on average */
    uint64_t at_once;      /* rows to read at a time; may be changed before the first are read */
    struct batch *batches; /* owned, n_arrays: the rows that were read last: */
    uint64_t first, n;     /* first .. first + n - 1 */
    uint64_t at;           /* the current row is first + at */
    struct batch *ahead;   /* owned, or NULL: n_ahead rows after them */
    uint64_t n_ahead;
    size_t n_arrays;
    struct error *err; /* borrowed; NULL: messages are not wanted */
};

/*
 * Begin to walk through n arrays. There are as many rows as the first array has; past its end,
 * another array has empty rows, and so has one whose reader has no arrays. The first three fields
 * of each reader are set; what they point to must outlive the walk. Errors set walk->status and are
 * returned by walk_end, which must be called in any case.
 */
void walk_begin(struct walk *walk, const struct reader *readers, size_t n, struct budget *budget,
                struct error *err);

/* Go to the next row; false after the last one, or when rows cannot be read. */
bool walk_next(struct walk *walk);

/* What is done with row first + i. Several workers do rows at once; none changes the walk. */
typedef int (*walk_do)(void *self, uint64_t i, int worker, struct error *err);

/* For a walk that goes from batch to batch and sets no current row: read the next rows, at_once of
 * them or those that are left, and let a crew call do_row for each of them, which also reads the
 * rows after them. If do_row fails for any, the walk ends with the error of the first such row, for
 * which it is called once more. */
bool walk_each(struct walk *walk, int n_threads, walk_do do_row, void *self);

/* The same for the rows that are there, once more: none are read. */
bool walk_again(struct walk *walk, int n_threads, walk_do do_row, void *self);

/* Free what it owns. Returns -1 when rows could not be read or status was set. */
int walk_end(struct walk *walk);
