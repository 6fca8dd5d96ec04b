/*
 * pieces_rows.h - pieces of arrays with rows of fixed size: read, move, provenance.
 */
#ifndef SYMAUG_ENGINE_PIECES_ROWS_H
#define SYMAUG_ENGINE_PIECES_ROWS_H

#include "engine/kernel.h"
#include "engine/order.h"
#include "engine/pieces.h"
#include "engine/row_supply.h"

/* What the rows of a member are made from. All borrowed; they must outlive the pieces. */
struct row_input {
    struct row_supply *supply; /* open */
    const struct row_move *move;
    const struct order *order;
};

/* Pieces of a moved array. Takes over `header` (the .npy header), which is zeroed. */
struct pieces *pieces_of_rows(const struct row_input *input, struct bytes *header,
                              struct error *err);

enum provenance { PROVENANCE_SOURCE, PROVENANCE_TRANSFORM };

/* Pieces of symaug_source (int64, little-endian) or symaug_transform (uint8). */
struct pieces *pieces_of_provenance(enum provenance what, const struct order *order,
                                    struct bytes *header, struct error *err);

#endif
