/*
 * orbit_probe.h - a look at some rows of a set: which of them are images of one position, and what
 * order of images does that make likely?
 */
#ifndef SYMAUG_VERIFY_ORBIT_PROBE_H
#define SYMAUG_VERIFY_ORBIT_PROBE_H

#include "verify/canonical.h"
#include "verify/verify_shard.h"

/* Some rows of the planes with their hashes. */
struct probe {
    const struct canonical *canonical; /* borrowed */
    uint64_t n;
    uint8_t *rows;   /* owned: n rows */
    uint64_t *forms; /* owned: hash of the canonical form: equal for all images of a position */
    uint64_t *bytes; /* owned: hash of the row itself */
};

/* Images of `n_ids` transforms per source, sources in blocks of block_rows. */
struct probe_order {
    uint32_t n_ids;
    uint8_t ids[BOARD_MAX_TRANSFORMS];
    uint64_t block_rows; /* 0: all sources, transform order */
    bool is_unordered;   /* rows belong together, but in no order */
    double fit;          /* share of the groups looked at that are images of one position */
};

/* Read the rows whose numbers are listed, ascending. What cannot be read leaves n at 0. */
int probe_open(struct probe *probe, const struct canonical *canonical, const uint64_t *list,
               uint64_t n, struct error *err);
void probe_close(struct probe *probe);

/* Do rows start, start + step, ... (n_ids of them) belong together? 1 yes, 0 no, -1 cannot tell:
 * they are all equal, or not all were read. */
int probe_group(const struct probe *probe, uint64_t start, uint64_t step, uint32_t n_ids);

/* Share of the positions that n_ids different rows are images of, or nearly; for sets of which all
 * rows were read. */
double probe_classes(const struct probe *probe, uint32_t n_ids, struct error *err);

/* The transform that leads from row a to row b, ORBIT_NO_TRANSFORM for none or several. */
uint32_t probe_relation(const struct probe *probe, uint64_t a, uint64_t b,
                        struct canonical_room *room);

/* The transforms of a group's images, as most groups have them; the given ids stay where groups do
 * not tell. `starts` are the first rows of groups whose rows are `step` apart. */
int probe_ids(const struct probe *probe, const uint64_t *starts, uint64_t n_starts, uint64_t step,
              struct probe_order *order, struct error *err);

#endif
