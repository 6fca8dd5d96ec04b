/*
 * sketch.h - a row reduced to what no image changes, right or wrong: which rows can be images of
 * one source shows in numbers that are equal for all of them.
 */
#ifndef SYMAUG_VERIFY_SKETCH_H
#define SYMAUG_VERIFY_SKETCH_H

#include "verify/lane.h"

enum sketch_group {
    SKETCH_BOARD, /* images under the symmetries of the board */
    SKETCH_BOX,   /* under all those of its box: quarter turns, flips, transpositions */
    SKETCH_N_GROUPS
};

struct sketch {
    /* Equal for all images of the stones without their colours; 0: the same in every image. */
    uint64_t shape[SKETCH_N_GROUPS];
    bool is_symmetric; /* under the board's, some of its images are equal */
    uint64_t planes;   /* the bytes of the planes */
    uint64_t counts;   /* what the channels hold, wherever it stands */
    uint64_t policy;   /* the numbers of the policies, wherever they stand; 0: there are none */
    uint64_t labels;   /* the bytes of the policies */
};

/* Makes sketches of the rows of the lane that tells images apart. */
struct sketcher {
    const struct lanes *lanes; /* borrowed */
    const struct lane *lane;   /* borrowed: the planes */
    uint32_t n_cells;
    const uint32_t *const *maps[SKETCH_N_GROUPS]; /* dst maps of each group */
    uint32_t n_maps[SKETCH_N_GROUPS];
    const uint32_t *board[BOARD_MAX_TRANSFORMS]; /* borrowed: maps[SKETCH_BOARD] */
    const uint32_t **box;                        /* owned list */
    uint32_t *box_maps;                          /* owned */
    bool has_box;                                /* the box has symmetries that the board has not */
    uint32_t *room;                              /* owned: three times n_cells */
};

/* Names of the symmetries of a box, by their number in maps[SKETCH_BOX]. */
const char *sketch_box_name(uint32_t map);

int sketcher_init(struct sketcher *sketcher, const struct lanes *lanes, struct error *err);
void sketcher_release(struct sketcher *sketcher);

/* Shape, planes and counts of a row of planes. */
void sketch_planes(struct sketcher *sketcher, const uint8_t *row, struct sketch *sketch);

/* Policy and labels of the row at `at` of a window. */
void sketch_policy(const struct lanes *lanes, const struct window *window, uint64_t at,
                   struct sketch *sketch);

/* The number of the only map of the group that takes the stones of row a to those of row b, their
 * colours left aside; -1 for none or several. */
int sketch_relation(struct sketcher *sketcher, enum sketch_group group, const uint8_t *a,
                    const uint8_t *b);

#endif
