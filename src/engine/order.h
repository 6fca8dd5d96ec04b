/*
 * order.h - which image each output row holds.
 *
 * Input rows are taken in blocks of B: all rows of a block under the first chosen transform, then
 * all under the second, and so on. `sample` is B = 1, `transform` is B = N. A selection may leave
 * out images of single rows; a shuffle permutes the output rows. A slice is a range of the output
 * rows; functions that take one count its rows from 0.
 */
#pragma once

#include "base/error.h"

#define ORDER_DEFAULT_BLOCK 16

/* One output row: image `transform` (an id of the board) of input row `row`. */
struct image {
    uint64_t row;
    uint32_t transform;
};

/* Under which of the chosen transforms each input row is written: bit k of a row's mask stands for
 * the k-th chosen transform. */
struct selection {
    size_t mask_nbytes; /* per row: (n_chosen + 7) / 8 */
    uint8_t *masks;     /* owned, n_rows x mask_nbytes */
    uint64_t *before;   /* owned: images before every so many places (order.c) */
};

struct order {
    uint64_t n_rows;       /* input rows */
    uint64_t block_rows;   /* B, at least 1 */
    const uint8_t *chosen; /* borrowed: ids of the chosen transforms, in output order */
    uint32_t n_chosen;
    struct selection *selection; /* borrowed, NULL: every row takes every transform */
    bool shuffled;
    uint64_t seed;        /* of the shuffle; what follows is set by order_init: */
    uint64_t n_whole;     /* output rows of the whole */
    uint64_t first_image; /* of a slice: where it begins in the whole; else 0 */
    uint64_t n_images;    /* output rows: those of the slice, or of the whole */
};

/* Complete an order, and count the images of its selection. ERROR_DATA if rows x images overflow.
 */
int order_init(struct order *order, struct error *err);

/* The slice of output rows first .. first + n - 1. */
struct order order_slice(const struct order *whole, uint64_t first, uint64_t n);

/* True for the whole, and for the slice that ends with it. */
bool order_is_last(const struct order *order);

/* The output row after n_blocks blocks (at least 1), of which the first is the one that holds
 * output row `image`; at most the number of rows. */
uint64_t order_end_of_blocks(const struct order *whole, uint64_t image, uint64_t n_blocks);

/* True if writing the output rows in sequence reads input rows of row_nbytes nearly in sequence, so
 * that one pass with a window of a few blocks is enough. */
bool order_streams(const struct order *order, uint64_t row_nbytes);

/* The images of output rows first .. first + n - 1 (all must exist). */
void order_images(const struct order *order, uint64_t first, size_t n, struct image *images);

/* The input rows [*begin, *end) that output rows first .. first + n - 1 may need, in an order that
 * streams; n may be 0. */
void order_span(const struct order *order, uint64_t first, uint64_t n, uint64_t *begin,
                uint64_t *end);

/* Select all images, unless the selection is initialised already; clear bits, then call order_init.
 * masks is NULL on failure. */
int selection_init(struct selection *selection, uint64_t n_rows, uint32_t n_chosen,
                   struct error *err);

void selection_release(struct selection *selection);

static inline bool selection_has(const struct selection *selection, uint64_t row, uint32_t k)
{
    return selection->masks[row * selection->mask_nbytes + (k >> 3)] >> (k & 7) & 1;
}

static inline void selection_clear(struct selection *selection, uint64_t row, uint32_t k)
{
    selection->masks[row * selection->mask_nbytes + (k >> 3)] &= (uint8_t) ~(1u << (k & 7));
}

/* A well-mixed 64-bit hash of two numbers: the same on every machine. */
uint64_t shuffle_hash(uint64_t a, uint64_t b);
