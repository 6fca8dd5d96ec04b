/*
 * groups.h - which rows of an expanded set are images of one source, and under what.
 *
 * Sources and transforms come from the provenance arrays, from an order, or from a table made
 * elsewhere. Rows are cut into segments that no group crosses: short segments are read in sequence;
 * where there are none (shuffled sets, transform order) all rows are listed, 24 bytes each.
 */
#ifndef SYMAUG_VERIFY_GROUPS_H
#define SYMAUG_VERIFY_GROUPS_H

#include "verify/lane.h"

#define LAYOUT_MAX_IMAGES 64 /* per source */

struct layout {
    uint32_t n_images;   /* per source, the source itself among them */
    uint64_t block_rows; /* sources in blocks, images of a block one transform after the other */
    const uint64_t
        *games;       /* borrowed, or NULL: blocks of different lengths begin at these sources */
    uint64_t n_games; /* games[n_games] is n_sources */
    bool originals_first; /* all first images, and then the layout of the others */
    uint64_t n_sources;
};

/* The row of image k of a source, and the other way round. */
uint64_t layout_row(const struct layout *layout, uint64_t source, uint32_t k);
void layout_image(const struct layout *layout, uint64_t row, uint64_t *source, uint32_t *k);

#define ORBIT_NO_TRANSFORM UINT32_MAX /* the row does not say one that exists */

/* Rows from here on have no source in common with rows before, whose sources are max_before at
 * most. */
struct orbit_cut {
    uint64_t row, max_before;
};

struct orbit_groups {
    uint64_t n_rows, n_groups;
    const struct array *source, *transform; /* borrowed: provenance arrays, or */
    struct layout layout;                   /* whose images are under these transforms: */
    uint32_t ids[LAYOUT_MAX_IMAGES];
    uint64_t *games;                    /* owned: those of the layout */
    uint32_t n_transforms;              /* of the board */
    bool allowed[BOARD_MAX_TRANSFORMS]; /* images under the others are none */

    struct orbit_cut *cuts; /* owned: segment s is rows cuts[s].row .. cuts[s + 1].row - 1 */
    size_t n_segments;
    uint64_t longest;           /* rows of the longest segment */
    struct lane_image *entries; /* owned, or NULL: all rows by source, transform, row */

    uint8_t told[BOARD_MAX_TRANSFORMS]; /* --transforms */
    uint32_t n_told;
    bool expects; /* every group should have all of: */
    bool expected[BOARD_MAX_TRANSFORMS];
    bool is_cut; /* in transform order, and these may stand in another shard: */
    struct lane_image first, last;
};

/* The following three make groups; n_rows and n_transforms are set, all else is zero. */

/* By the provenance arrays of the shard, which are there. Entries that name no transform become
 * findings. */
int orbit_groups_of_provenance(struct orbit_groups *groups, const struct lanes *lanes,
                               struct error *err);

/* By a layout, with the transform of each of its images. */
int orbit_groups_of_layout(struct orbit_groups *groups, const struct layout *layout,
                           const uint32_t *ids, struct error *err);

/* By a list of all rows, which is taken over and sorted. */
void orbit_groups_of_entries(struct orbit_groups *groups, struct lane_image *entries);

/* List all rows when a segment takes more than max_nbytes in memory. */
int orbit_groups_settle(struct orbit_groups *groups, uint64_t row_nbytes, uint64_t max_nbytes,
                        struct error *err);

/* True when the manifest (or NULL) says that the output was cut into shards through the groups: one
 * shard need not hold all images of a position. */
bool orbit_groups_are_cut(const struct manifest *manifest);

/* Decide which images every group should have: those that are told (by --transforms, or the
 * manifest, which may be NULL), else those of most groups when most have exactly them and hardly
 * any have others. Counts the groups. */
int orbit_groups_expect(struct orbit_groups *groups, const struct manifest *manifest,
                        struct error *err);

/* Whether an image of a source may stand in the shard before or after this one. */
bool orbit_groups_may_be_elsewhere(const struct orbit_groups *groups, uint64_t source, uint32_t t);

void orbit_groups_release(struct orbit_groups *groups);

/* Walks over all groups, a window at a time. */
struct orbit_cursor {
    const struct orbit_groups *groups;
    struct reader source, transform; /* of the provenance arrays */
    uint64_t next_row;               /* or entry */
    size_t segment;
};

int orbit_cursor_open(struct orbit_cursor *cursor, const struct orbit_groups *groups,
                      struct error *err);

/* Fill images, members and groups of the window with the next whole groups, at least one, at most
 * its capacity; n is 0 behind the last one. */
int orbit_cursor_next(struct orbit_cursor *cursor, struct window *window, uint64_t n_wanted,
                      struct error *err);
void orbit_cursor_close(struct orbit_cursor *cursor);

/* Room that a window for these groups needs, when n_wanted rows are wanted at a time. */
uint64_t orbit_groups_capacity(const struct orbit_groups *groups, uint64_t n_wanted);

#endif
