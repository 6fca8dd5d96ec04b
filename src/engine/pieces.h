/*
 * pieces.h - what the members of an expanded shard are made of, a kind of pieces each: rows and
 * their images, provenance, copies, sparse policies in CSR form, pickled objects.
 */
#ifndef SYMAUG_ENGINE_PIECES_H
#define SYMAUG_ENGINE_PIECES_H

#include "engine/kernel.h"
#include "engine/order.h"
#include "engine/plan.h"
#include "shard/batch.h"
#include "write/member.h"

/* --- where input rows come from --- */

/* Two batches that leapfrog over the input, or all rows at hand when they are needed in no order. A
 * supply outlives the pieces that draw on it, so that an output cut into several shards reads its
 * input once. */

/* Zero-initialise; closed until it is opened. It stays where it is while it is open. */
struct row_supply {
    bool is_open;
    bool streams;
    bool has_values;
    struct reader rows, values; /* values: beside padded indices */
    struct batch windows[2], value_windows[2];
    unsigned latest;           /* of the windows */
    struct stone_watch *watch; /* borrowed: it keeps some rows that pass by, */
    struct kept_rows *kept;    /* here, or none: NULL */
};

/* Open it for an array of the plan: through windows if `streams` (and the arrays are in C order).
 */
int row_supply_open(struct row_supply *supply, const struct plan *plan,
                    const struct plan_array *array, bool streams, struct error *err);

/* Windows: fetch rows [begin, end) (no row before those of the latest window) into the older one,
 * which becomes the latest: *window tells which. May run while others read the one before. Else:
 * nothing to do. */
int row_supply_load(struct row_supply *supply, uint64_t begin, uint64_t end, unsigned *window,
                    struct error *err);

/* A row as bytes, and its values (NULL without). Those of a window stay until it is loaded again,
 * others are copied to `room` of row_supply_room_nbytes. Thread-safe. */
int row_supply_get(struct row_supply *supply, unsigned window, uint64_t row, uint8_t *room,
                   const uint8_t *both[2], struct error *err);
size_t row_supply_room_nbytes(const struct row_supply *supply);

/* Close it and give its memory back; accepts a closed one. */
void row_supply_close(struct row_supply *supply);

/* --- pieces --- */

/* What the rows of a member are made from. All borrowed; they must outlive the pieces. */
struct image_input {
    const struct plan_array *array;
    const struct order *order;
    struct row_supply *supply; /* open; NULL: none is needed, for provenance and offsets */
};

/* The load of pieces that are made from a supply. */
int image_input_load(const struct image_input *in, const struct pieces *pieces,
                     struct piece_rows *rows, struct error *err);

/* All pieces_of_* take over `header` (the .npy header), which is zeroed. NULL with err set. */

/* Pieces of a moved array. */
struct pieces *pieces_of_rows(const struct image_input *in, struct bytes *header,
                              struct error *err);

enum provenance { PROVENANCE_SOURCE, PROVENANCE_TRANSFORM };

/* Pieces of symaug_source (int64, little-endian) or symaug_transform (uint8). */
struct pieces *pieces_of_provenance(enum provenance what, const struct order *order,
                                    struct bytes *header, struct error *err);

/* Streams the array's unpacked bytes, its header included; the array is borrowed. The header of an
 * array whose size no zip file can hold (see member_size_is_unsafe) gets longer. */
struct pieces *pieces_of_copy(const struct array *array, struct error *err);

/* How many bytes that will be. */
uint64_t pieces_copy_nbytes(const struct array *array);

/* The elements of all output rows. */
uint64_t csr_length(const struct csr *csr, const struct order *order);

enum csr_part { CSR_OFFSETS, CSR_ELEMENTS };

/* Pieces of one part of a CSR triple; elements are moved if the move is SPEC_INDICES, else copied.
 */
struct pieces *pieces_of_csr(enum csr_part part, const struct image_input *in, struct bytes *header,
                             struct error *err);

/* Pieces of an object array of one or more dimensions, whose objects are loaded: integers in the
 * items are moved if the move is SPEC_INDICES, else copied. */
struct pieces *pieces_of_objects(const struct image_input *in, struct bytes *header,
                                 struct error *err);

/* Append what distinguishes one row of objects under one transform: its moved items' kinds and
 * bytes. Equal rows give equal bytes and different rows different ones. */
int object_row_bytes(const struct reader *reader, uint64_t row, const struct spec *spec, uint32_t t,
                     struct bytes *out, struct error *err);

#endif
