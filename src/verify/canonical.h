/*
 * canonical.h - one form for all images of a position: the least of them, byte by byte, and its
 * hash. Only cells on board count.
 */
#ifndef SYMAUG_VERIFY_CANONICAL_H
#define SYMAUG_VERIFY_CANONICAL_H

#include "verify/lane.h"

struct canonical {
    const struct lane *lane;   /* borrowed: the planes */
    const struct board *board; /* borrowed */
    uint32_t *cells;           /* owned: axis elements that count, ascending */
    uint64_t n_cells;
    uint64_t form_nbytes;
    uint8_t ids[BOARD_MAX_TRANSFORMS]; /* the transforms whose images are the same position */
    uint32_t n_ids;
};

/* Space for two forms: one per thread. */
struct canonical_room {
    uint8_t *least, *other; /* owned */
};

/* The transforms that give exact images under the conventions, ascending; returns their number. */
uint32_t canonical_ids(const struct board *board, const struct conventions *conventions,
                       uint8_t ids[BOARD_MAX_TRANSFORMS]);

/* Prepare for a lane of planes, packed planes or a grid, which has a map. */
int canonical_init(struct canonical *canonical, const struct lane *lane,
                   const struct conventions *conventions, struct error *err);
void canonical_release(struct canonical *canonical);
int canonical_room_init(struct canonical_room *room, const struct canonical *canonical,
                        struct error *err);
void canonical_room_release(struct canonical_room *room);

/* The canonical form of a row, in room->least, and its hash. */
uint64_t canonical_hash(const struct canonical *canonical, const uint8_t *row,
                        struct canonical_room *room);

/* The image of a row under t as a form. */
void canonical_form(const struct canonical *canonical, uint32_t t, const uint8_t *row,
                    uint8_t *form);

#endif
