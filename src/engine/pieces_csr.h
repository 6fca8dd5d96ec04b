/*
 * pieces_csr.h - pieces of a sparse policy in CSR form: offsets, indices, values.
 */
#ifndef SYMAUG_ENGINE_PIECES_CSR_H
#define SYMAUG_ENGINE_PIECES_CSR_H

#include "engine/kernel.h"
#include "engine/order.h"
#include "engine/pieces.h"
#include "engine/row_supply.h"
#include "shard/array.h"

/* Where the rows of a CSR triple begin, over all input shards. */
struct csr {
    uint64_t *first; /* owned, n_rows + 1: element at which an input row begins */
    uint64_t n_rows;
    uint64_t n_out; /* elements of all output rows */
};

/* Read the offsets and check them: from 0, never falling, ending at the number of elements of
 * `elements`. The caller releases it. */
int csr_open(struct csr *csr, const struct array *const *offsets,
             const struct array *const *elements, size_t n_arrays, const struct order *order,
             struct error *err);

void csr_release(struct csr *csr);

enum csr_part { CSR_OFFSETS, CSR_ELEMENTS };

/* All borrowed; they must outlive the pieces. */
struct csr_input {
    const struct csr *csr;
    const struct array *array;   /* the part's, in the first input shard */
    struct row_supply *supply;   /* CSR_ELEMENTS: open, a table over all input shards */
    const struct row_move *move; /* CSR_ELEMENTS: MOVE_INDEX moves indices, else copied */
    const struct order *order;
};

/* Pieces of one part. Takes over `header`, which is zeroed. */
struct pieces *pieces_of_csr(enum csr_part part, const struct csr_input *input,
                             struct bytes *header, struct error *err);

#endif
