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
    unsigned n; /* readers: of the rows, and of the values beside padded indices */
    struct reader readers[2];
    struct batch windows[2][2]; /* of each reader */
    unsigned latest;            /* of the windows */
    struct stone_watch *watch;  /* borrowed: it keeps some rows that pass by, */
    struct kept_rows *kept;     /* here, or none: NULL */
};

/* Open it for an array of the plan: through windows if `streams` (and the arrays are in C order).
 */
int row_supply_open(struct row_supply *supply, const struct plan *plan,
                    const struct plan_array *array, bool streams, struct error *err);

/* Close it and give its memory back; accepts a closed one. */
void row_supply_close(struct row_supply *supply);

/* --- pieces --- */

enum pieces_kind {
    PIECES_ROWS,
    PIECES_SOURCE,    /* symaug_source: int64, little-endian */
    PIECES_TRANSFORM, /* symaug_transform: uint8 */
    PIECES_OFFSETS,   /* of a CSR triple, */
    PIECES_ELEMENTS,  /* moved if the move is SPEC_INDICES, else copied */
    PIECES_OBJECTS,   /* of one or more dimensions, loaded; integers are moved likewise */
    PIECES_COPY,      /* what has no rows */
};

/* The pieces of a member of its kind, which are a part of it, or those of an array that is copied,
 * whose header gets longer where no zip file can hold its size (see member_size_is_unsafe). NULL
 * with err set. */
struct out_member;
struct pieces *pieces_new(struct out_member *out, struct error *err);

/* Those of an array that is copied. */
struct pieces *pieces_of_copy(const struct array *array, struct error *err);

/* How many bytes there will be of an array that is copied, its header included. */
uint64_t pieces_copy_nbytes(const struct array *array);

/* A walk over the images of output rows first .. end - 1, some hundred at a time. */
#define IMAGES_AT_ONCE 512
struct image_walk {
    const struct order *order;
    uint64_t next, end; /* output rows still to come */
    uint64_t first;     /* the row of images[0] */
    size_t n;
    struct image images[IMAGES_AT_ONCE];
};
void image_walk_begin(struct image_walk *walk, const struct order *order, uint64_t first,
                      uint64_t end);
bool image_walk_next(struct image_walk *walk);

/* The elements of output rows first .. end - 1. */
uint64_t csr_length(const struct csr *csr, const struct order *order, uint64_t first, uint64_t end);

/* Pieces of images of any kind: the parts that are about objects stand in a file of their own. */
struct image_pieces {
    struct pieces head;
    const struct out_member *of; /* whose part they are */
    uint64_t *piece_element;     /* owned, CSR, one a piece: output element at which it begins */
    struct pickle_writer writer; /* objects */
};
int objects_begin(struct image_pieces *self, struct error *err);
int objects_make(const struct pieces *pieces, const struct piece_rows *rows, struct bytes *out,
                 struct error *err);

/* Append what distinguishes one row of objects under one transform: its moved items' kinds and
 * bytes. Equal rows give equal bytes and different rows different ones. */
int object_row_bytes(const struct reader *reader, uint64_t row, const struct spec *spec, uint32_t t,
                     struct bytes *out, struct error *err);

#endif
