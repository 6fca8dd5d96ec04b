/*
 * tally.h - what the rows of a set add up to: how often each value stands in a label, how sharp the
 * policies are, where stones and policies lie on the board, and whether that is the same in every
 * image.
 *
 * The set is read twice at most, each time file by file and row by row. Rows that belong together
 * (a game, the images of a source) go to the same one of TALLY_MAX_PARTS parts,
 * and every sum is kept for each part: how much the parts differ tells how far chance may take a
 * sum.
 */
#ifndef SYMAUG_REPORT_TALLY_H
#define SYMAUG_REPORT_TALLY_H

#include "engine/shard.h"

#include <stdbool.h>
#include <stdint.h>

#define TALLY_MAX_PARTS  128
#define TALLY_MAX_VALUES 64 /* different ones that are listed; beyond, they are counted in: */
#define TALLY_N_BINS     32

/* The values of a label. */
struct tally_histogram {
    double values[TALLY_MAX_VALUES]; /* ascending; unless is_binned */
    uint64_t counts[TALLY_MAX_VALUES];
    uint32_t n;
    bool is_binned; /* counts are of TALLY_N_BINS equal parts of low .. high */
    double low, high;
};

struct tally_label {
    const char *key; /* borrowed from the first shard, as all of them */
    enum role role;
    struct tally_histogram all;
    struct tally_histogram *by_transform; /* owned: one per transform of the board, or NULL */
};

/* Means over the rows whose policy has mass, divided by its sum. */
struct tally_policy {
    const char *key;
    uint64_t n_rows;
    double entropy, top_share; /* sums until tally_finish, then means; entropy in nats */
};

#define TALLY_NO_PLANE UINT64_MAX /* a policy */

/* One map of the board: a plane of stones, or a policy. Sums are those of each part. */
struct tally_map {
    const char *key;
    uint64_t plane;
    uint64_t n_rows;   /* that count */
    uint32_t *partner; /* owned: per transform, the map that takes this one's place (a colour swap
                          exchanges two); itself elsewhere */
    double *sums;      /* owned: n_parts x n_cells */
    double *mean, *group,
        *z; /* owned, n_cells each, after tally_finish: the mean, its mean over the
               group, and their difference in standard errors; NaN: undefined */
};

/* How far the set is from its image under a transform. */
struct tally_evidence {
    double distance; /* the largest difference of any cell of any map, in sizes of such differences
                        with signs thrown at random */
    double limit;    /* that one set in 200 exceeds which is symmetric */
    bool fits;
};

struct tally {
    const struct settings *settings; /* borrowed */
    const struct board *board;       /* borrowed; NULL: not known, and there is nothing to count */
    uint64_t n_rows;
    uint32_t n_parts;
    struct tally_label *labels; /* owned, as all the others */
    size_t n_labels;
    struct tally_policy *policies;
    size_t n_policies;
    struct tally_map *maps;
    size_t n_maps;
    struct tally_evidence *evidence; /* one per transform, of the identity nothing; or NULL */
    bool needs_bins;                 /* some label has too many values: read the files once more */
};

/* Which row is an image under which transform, of which source; as verify found it. */
struct tally_images {
    const uint64_t *sources; /* borrowed, or NULL: every row is one */
    const uint32_t
        *transforms; /* borrowed, or NULL: the set is not expanded; UINT32_MAX: unknown */
};

/* Make a tally for sets that hold what this shard holds, which must outlive it; the caller releases
 * it. */
int tally_init(struct tally *tally, const struct shard *shard, const struct settings *settings,
               struct error *err);
void tally_release(struct tally *tally);

/* Add the rows of a shard. Arrays that are not those of the first shard are passed over. */
int tally_add(struct tally *tally, const struct shard *shard, const struct tally_images *images,
              struct error *err);

/* When needs_bins is set after the last shard: count the values of those labels, shard by shard. */
int tally_add_bins(struct tally *tally, const struct shard *shard,
                   const struct tally_images *images, struct error *err);

/* After the last shard: means, standard errors, evidence. */
int tally_finish(struct tally *tally, struct error *err);

/* --- parts of it: count.c and evidence.c --- */

static inline bool tally_is_planes(enum role role)
{
    return role == ROLE_PLANES || role == ROLE_PACKED || role == ROLE_GRID;
}

static inline bool tally_is_label(enum role role)
{
    return role == ROLE_VALUE || role == ROLE_WDL || role == ROLE_TO_MOVE;
}

/* The map of that array and plane, or NULL. */
struct tally_map *tally_find_map(const struct tally *tally, const char *key, uint64_t plane);

/* A value more; or, once low and high of all values are known, one more in its bin. */
void tally_note(struct tally_histogram *h, double value);
void tally_count(struct tally_histogram *h, double low, double high, double value);

int tally_weigh(struct tally *tally, struct error *err);

#endif
